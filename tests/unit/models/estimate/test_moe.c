/*
 * tests/unit/models/estimate/test_moe.c - what the routing leaves one rank to
 * do, the counts of a layer of experts, and its rows in tables.
 */
#include "core/base/csv.h"
#include "core/work/rows.h"
#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct msim_moe_load load_of(int64_t tokens, int64_t topk,
                                    int64_t experts, int64_t ep,
                                    enum msim_routing_kind kind, double alpha)
{
    const struct msim_moe_routing r = {tokens, topk, experts, ep, kind, alpha};
    struct msim_moe_load load;

    msim_moe_load_make(&load, &r);
    return load;
}

/* 16 tokens to 2 of 8 experts: 32 pairs, 4 an expert, a tile each; 80 tokens:
 * 20 an expert, two tiles of 16. */
static void test_moe__shares_out_evenly(void)
{
    struct msim_moe_load l = load_of(16, 2, 8, 1, MSIM_ROUTING_EVEN, 0);

    CHECK_REL(l.pairs, 32, 1e-12);
    CHECK_REL(l.active, 8, 1e-12);
    CHECK_REL(l.most, 4, 1e-12);
    CHECK_REL(l.tiles[0], 8, 1e-12);
    l = load_of(80, 2, 8, 1, MSIM_ROUTING_EVEN, 0);
    CHECK_REL(l.tiles[0], 16, 1e-12);
    CHECK_REL(l.tiles[1], 8, 1e-12);
    l = load_of(80, 2, 8, 4, MSIM_ROUTING_EVEN, 0);
    CHECK_REL(l.local, 2, 1e-12);
    CHECK_REL(l.pairs, 40, 1e-12);
}

/* One token to 4 of 64 experts on 16 ranks: a rank that has one has one. And 64
 * tokens to 8 of 384 (stride 48) on 128 ranks of 3: tokens 0..47 fill each
 * expert once, 48..63 those from 0 on again, so that the first rank has 6. */
static void test_moe__few_pairs_and_uneven_ends(void)
{
    struct msim_moe_load l = load_of(1, 4, 64, 16, MSIM_ROUTING_EVEN, 0);

    CHECK_REL(l.pairs, 1, 1e-12);
    CHECK_REL(l.active, 1, 1e-12);
    l = load_of(64, 8, 384, 128, MSIM_ROUTING_EVEN, 0);
    CHECK_REL(l.pairs, 6, 1e-12);
    CHECK_REL(l.most, 2, 1e-12);
}

/* 64 (1 - exp(-8 * 8 / 64)) experts of 64 have something to do. */
static void test_moe__leaves_some_idle_at_random(void)
{
    struct msim_moe_load l = load_of(8, 8, 64, 1, MSIM_ROUTING_RANDOM, 0);

    CHECK_REL(l.active, 64 * (1 - exp(-1)), 1e-12);
    CHECK_REL(l.pairs, 64, 1e-12);
}

/* One rank has all pairs, however they lie; of several the busiest has more
 * than its share, and more the more skewed they are; the busiest expert has
 * at most one pair a token. */
static void test_moe__skews_by_power_law(void)
{
    struct msim_moe_load one =
        load_of(4096, 8, 128, 1, MSIM_ROUTING_POWER_LAW, 1.2);
    struct msim_moe_load mild =
        load_of(4096, 8, 128, 16, MSIM_ROUTING_POWER_LAW, 1.01);
    struct msim_moe_load strong =
        load_of(4096, 8, 128, 16, MSIM_ROUTING_POWER_LAW, 1.2);

    CHECK_REL(one.pairs, 4096 * 8, 1e-12);
    CHECK(mild.pairs > 1.2 * 4096 * 8 / 16);
    CHECK(strong.pairs > mild.pairs);
    CHECK(strong.pairs < 4096 * 8);
    CHECK(one.most <= 4096);
    CHECK(one.active <= 128);
}

/* The means of 24 draws, made outside: (tokens, k, experts, ranks, alpha),
 * pairs and active experts of the busiest rank. The closed form is 6 % off in
 * the mean over all routings, at most 15 % for these. */
static void test_moe__agrees_with_draws(void)
{
    static const double DRAWS[][7] = {
        {2048, 22, 512, 32, 1.2, 3263, 15.8},
        {768, 8, 128, 4, 1.2, 2115, 32},
        {12288, 8, 256, 64, 1.01, 6211, 3.9},
        {16384, 6, 384, 2, 1.2, 55311, 185},
        {768, 10, 512, 4, 1.2, 2225, 106},
        {6144, 1, 128, 8, 1.01, 1402, 13.4},
    };

    for (size_t i = 0; i < sizeof(DRAWS) / sizeof(*DRAWS); i++) {
        const double *d = DRAWS[i];
        struct msim_moe_load l =
            load_of((int64_t)d[0], (int64_t)d[1], (int64_t)d[2], (int64_t)d[3],
                    MSIM_ROUTING_POWER_LAW, d[4]);

        CHECK_REL(l.pairs, d[5], 0.15);
        CHECK_REL(l.active, d[6], 0.15);
    }
}

/* Any sizes: finite and above 0. */
static void test_moe__survives_any_sizes(void)
{
    static const int64_t ODD[] = {INT64_MIN, -1, 0, 1, 7, INT64_MAX};
    const size_t n = sizeof(ODD) / sizeof(*ODD);

    for (size_t i = 0; i < n * n * n * n * 3; i++) {
        struct msim_moe_load l =
            load_of(ODD[i % n], ODD[i / n % n], ODD[i / n / n % n],
                    ODD[i / n / n / n % n],
                    (enum msim_routing_kind)(i / (n * n * n * n)), 1.01);

        if (!(l.local > 0 && l.pairs > 0 && l.active > 0 && l.most > 0 &&
              l.tiles[0] > 0 && l.tiles[3] > 0 && isfinite(l.pairs) &&
              isfinite(l.tiles[0])))
            CHECK_INT(i, -1); /* names the case */
    }
}

/* 16 tokens to 2 of 8 experts of 3 matrices of 64 x 32 in 16 bits: 2 * 3 * 32 *
 * 64 * 32 flops; all matrices once, and without a gate a third less. */
static void test_moe__counts_work(void)
{
    struct msim_work w = {
        .family = MSIM_FAMILY_MOE,
        .dtype = MSIM_DT_BF16,
        .u.moe = {.hidden = 64,
                  .inter = 64,
                  .tp = 2,
                  .routing = {16, 2, 8, 1, MSIM_ROUTING_EVEN, 0}}};
    double gated;

    msim_work_count(&w);
    CHECK_REL(w.flops, 2 * 3 * 32 * 64 * 32, 1e-12);
    CHECK(w.bytes_read > 8 * 3 * 64 * 32 * 2);
    CHECK(w.bytes_read < 2 * 8 * 3 * 64 * 32 * 2);
    gated = w.flops;
    w.u.moe.plain = true;
    msim_work_count(&w);
    CHECK_REL(w.flops, gated * 2 / 3, 1e-12);
}

/* ---- rows --------------------------------------------------------------- */

/* The work of the only row of a table. */
static const char *row(const char *table, struct msim_work *w)
{
    static char reason[128];
    static char kept[16][64];
    char path[] = "test_moe_XXXXXX";
    struct msim_row_map map;
    struct msim_csv *csv;
    struct msim_error err = {0};
    char *const *fields;
    const char *why;
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");

    fputs(table, f);
    fclose(f);
    if (msim_csv_open(&csv, path, &err) != MSIM_OK ||
        msim_row_map_init(&map, csv, &err) != MSIM_OK ||
        msim_csv_next(csv, &fields, &err) != MSIM_OK)
        return "unreadable";
    why = msim_row_work(&map, fields, w, reason, sizeof(reason));
    snprintf(kept[0], sizeof(kept[0]), "%s", why ? why : "");
    w->framework = w->source = w->version = w->backend = NULL;
    msim_csv_close(csv);
    remove(path);
    return why ? kept[0] : NULL;
}

#define MOE_HEADER                                                             \
    "framework,backend,dtype,tokens,hidden,inter,topk,experts,tp,ep,"          \
    "distribution\n"

static void test_moe__reads_rows(void)
{
    struct msim_work w;

    CHECK(!row(MOE_HEADER "vllm,x_triton_y,fp8_block,64,4096,1536,8,128,2,4,"
                          "power_law_1.2\n",
               &w));
    CHECK_INT(w.family, MSIM_FAMILY_MOE);
    CHECK_STR(w.variant, "fp8_block");
    CHECK_INT(w.u.moe.tp, 2);
    CHECK_INT(w.u.moe.routing.ep, 4);
    CHECK_INT(w.u.moe.routing.kind, MSIM_ROUTING_POWER_LAW);
    CHECK_REL(w.u.moe.routing.alpha, 1.2, 1e-12);
    CHECK(!w.u.moe.plain);
    CHECK(!row(MOE_HEADER "t,nongated,bfloat16,64,4096,1536,8,128,2,4,\n", &w));
    CHECK(w.u.moe.plain);
    CHECK_INT(w.u.moe.routing.kind, MSIM_ROUTING_RANDOM);
    CHECK(!row(MOE_HEADER "vllm,,bfloat16,64,2688,1856,6,128,1,1,balanced\n",
               &w));
    CHECK(w.u.moe.plain);
    CHECK(row(MOE_HEADER "vllm,,bfloat16,64,4096,1536,8,128,1,1,zipf\n", &w) !=
          NULL);
    CHECK(row(MOE_HEADER "vllm,,bfloat16,64,0,1536,8,128,1,1,balanced\n", &w) !=
          NULL);
}

#define DISPATCH_HEADER "collective,tokens,topk,hidden,experts,ranks,sms\n"

static void test_moe__reads_dispatch(void)
{
    struct msim_work w;

    CHECK(!row(DISPATCH_HEADER "deepep_normal_combine,4096,8,7168,256,8,20\n",
               &w));
    CHECK_INT(w.family, MSIM_FAMILY_DISPATCH);
    CHECK(w.u.dispatch.combine);
    CHECK(!w.u.dispatch.low_latency);
    CHECK_INT(w.u.dispatch.sms, 20);
    CHECK(!row(DISPATCH_HEADER "deepep_ll_dispatch,16,8,7168,256,8,\n", &w));
    CHECK(!w.u.dispatch.combine);
    CHECK(w.u.dispatch.low_latency);
    CHECK(row(DISPATCH_HEADER "all_gather,16,8,7168,256,8,\n", &w) != NULL);
}

/* ---- laws ---------------------------------------------------------------- */

static struct msim_estimate on(const char *platform, const struct msim_work *w)
{
    struct msim_estimate e = {0};
    struct msim_error err = {0};
    struct msim_platform *p;

    if (msim_platform_load(&p, MSIM_DATA, platform, &err) != MSIM_OK)
        return e;
    CHECK(msim_model_predict(p, w, false, &e, &err) == MSIM_OK);
    msim_platform_free(p);
    return e;
}

static struct msim_work layer(int64_t tokens)
{
    return (struct msim_work){
        .family = MSIM_FAMILY_MOE,
        .dtype = MSIM_DT_BF16,
        .u.moe = {.hidden = 4096,
                  .inter = 1536,
                  .tp = 1,
                  .routing = {tokens, 8, 128, 1, MSIM_ROUTING_EVEN, 0}}};
}

/* A layer by its law: more tokens take longer. A GPU without fits uses those of
 * its generation, with a wider interval. */
static void test_moe__predicts_layers(void)
{
    const struct msim_work few = layer(16);
    const struct msim_work many = layer(16384);
    struct msim_estimate a = on("h100", &few);
    struct msim_estimate b = on("h100", &many);
    struct msim_estimate c = on("b200", &many);
    struct msim_estimate shared = on("b300", &many);

    CHECK_INT(a.source, MSIM_SOURCE_LAW);
    CHECK_INT(a.family, MSIM_FAMILY_MOE);
    CHECK(b.us > 4 * a.us);
    CHECK(c.us < b.us);
    CHECK_INT(shared.source, MSIM_SOURCE_LAW);
    CHECK(shared.high_us / shared.low_us > c.high_us / c.low_us);
}

/* Kernels that a GPU has no rows of: those that stand in are as likely faster
 * as slower, which their own rows do not tell. */
static void test_moe__doubts_other_kernels(void)
{
    struct msim_work w = layer(1024);
    struct msim_estimate own, other;

    w.framework = "vllm";
    w.backend = "triton";
    own = on("h100", &w);
    w.backend = "trtllm";
    other = on("h100", &w);
    CHECK_REL(other.us, own.us, 0);
    CHECK(other.high_us / other.low_us > 1.5 * own.high_us / own.low_us);
}

/* Dispatch is reported as collective; fewer SMs take longer. */
static void test_moe__predicts_dispatch(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_DISPATCH,
                          .dtype = MSIM_DT_F8,
                          .u.dispatch = {.tokens = 16384,
                                         .hidden = 7168,
                                         .topk = 8,
                                         .experts = 256,
                                         .ranks = 8,
                                         .sms = 24}};
    struct msim_estimate all = on("h100", &w), few;

    w.u.dispatch.sms = 8;
    few = on("h100", &w);
    CHECK_INT(all.family, MSIM_FAMILY_COLLECTIVE);
    CHECK_INT(all.source, MSIM_SOURCE_LAW);
    CHECK(few.us > 2 * all.us);
}

int main(void)
{
    RUN(test_moe__shares_out_evenly);
    RUN(test_moe__few_pairs_and_uneven_ends);
    RUN(test_moe__leaves_some_idle_at_random);
    RUN(test_moe__skews_by_power_law);
    RUN(test_moe__agrees_with_draws);
    RUN(test_moe__survives_any_sizes);
    RUN(test_moe__counts_work);
    RUN(test_moe__reads_rows);
    RUN(test_moe__reads_dispatch);
    RUN(test_moe__predicts_layers);
    RUN(test_moe__doubts_other_kernels);
    RUN(test_moe__predicts_dispatch);
    return check_summary();
}
