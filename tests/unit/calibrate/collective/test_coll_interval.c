/*
 * Intervals of collectives: which misses of held-out rows count for a point,
 * and how much, against a second account; factors of versions; what is written.
 */
#include "calibrate/collective/coll_covariance.h"
#include "calibrate/collective/coll_fit.h"

#include "tests/check.h"

#include <stdlib.h>

#define N 40

static const struct msim_coll_constants CONSTANTS = {
    .weights = {.octaves = 3,
                .log_sd_ratio = 0.5,
                .own_gpu = 2,
                .own_group = 3,
                .same_collective = 5,
                .same_ranks = 7,
                .prior = 1.5,
                .next = 2,
                .change_share = 0.25}};

static struct msim_coll_point points[N];
static struct msim_coll_target targets[N];
static struct msim_coll_miss list[N];
static double weights[N];
static const struct msim_coll_points ALL = {.points = points,
                                            .targets = targets};

static uint32_t drawn(uint32_t n)
{
    static uint32_t state = 12345;

    state = state * 1103515245 + 12345;
    return (state >> 16) % n;
}

/* Points of 2 GPUs, 3 groups, 2 numbers of ranks, 2 collectives, 8 sizes. */
static struct msim_coll_misses draw_misses(enum msim_coll_holdout what)
{
    for (uint32_t i = 0; i < N; i++) {
        points[i] = (struct msim_coll_point){
            .gpu = drawn(2), .group = drawn(3), .ranks_key = drawn(2)};
        points[i].work.u.coll.bytes = UINT64_C(1024) << drawn(8);
        points[i].work.u.coll.collective =
            drawn(2) ? MSIM_COLL_ALL_GATHER : MSIM_COLL_ALL_REDUCE;
        targets[N - 1 - i].point = i;
        list[i] = (struct msim_coll_miss){.size = 0.1 * (1 + drawn(30)),
                                          .log_log_sd = -0.1 * drawn(30),
                                          .weight = 0.25 * (1 + drawn(4)),
                                          .target = i};
    }
    return (struct msim_coll_misses){what, list, weights, N};
}

static double weight_of(const struct msim_coll_miss *m,
                        const struct msim_coll_point *p, double log_sd,
                        bool held_out, bool ranks)
{
    const struct msim_coll_point *of = &points[N - 1 - m->target];
    double octaves = fabs(log2((double)of->work.u.coll.bytes) -
                          log2((double)p->work.u.coll.bytes));
    double w =
        m->weight * exp(-octaves / 3 - fabs(m->log_log_sd - log(log_sd)) / 0.5);

    if (held_out && of->ranks_key == p->ranks_key && (ranks || octaves < 2))
        return 0;
    if (of->gpu == p->gpu)
        w *= 2;
    if (of->group == p->group)
        w *= 3;
    if (of->ranks_key == p->ranks_key)
        w *= 7;
    if (of->work.u.coll.collective == p->work.u.coll.collective)
        w *= 5;
    return w;
}

/* The first size up to which nine tenths of the weight lie, of which 1.5 are a
 * normal distribution's; without one 1.645 deviations. */
static double expected(const struct msim_coll_point *p, double log_sd,
                       bool held_out, bool ranks)
{
    double all = 1.5, below = 0;

    for (uint32_t i = 0; i < N; i++)
        all += weight_of(&list[i], p, log_sd, held_out, ranks);
    for (uint32_t i = 0; i < N; i++) {
        below += weight_of(&list[i], p, log_sd, held_out, ranks);
        if (below + 1.5 * erf(list[i].size * M_SQRT1_2) >= 0.9 * all)
            return list[i].size * log_sd;
    }
    return 1.645 * log_sd;
}

static void test_coll_interval__weighs_misses(void)
{
    struct msim_coll_block b = {.constants = &CONSTANTS, .all = &ALL};

    for (int turn = 0; turn < 200; turn++) {
        bool ranks = turn % 2, held_out = turn / 2 % 2;
        struct msim_coll_misses m = draw_misses(
            ranks ? MSIM_COLL_HOLD_OUT_RANKS : MSIM_COLL_HOLD_OUT_SIZES);
        double log_sd = 0.05 * (1 + drawn(20));

        msim_coll_misses_sort(&m);
        for (uint32_t i = 1; i < N; i++) /* of one size as their targets lie */
            CHECK(list[i - 1].size < list[i].size ||
                  (list[i - 1].size <= list[i].size &&
                   list[i - 1].target < list[i].target));
        CHECK_REL(msim_coll_half_width(&b, &m, &points[0], log_sd, held_out),
                  expected(&points[0], log_sd, held_out, ranks), 1e-12);
    }
}

/* A GPU or a cluster is one observation: its misses say nothing. So do none. */
static void test_coll_interval__of_the_process(void)
{
    struct msim_coll_block b = {.constants = &CONSTANTS, .all = &ALL};
    struct msim_coll_misses m = draw_misses(MSIM_COLL_HOLD_OUT_GPU);

    CHECK_REL(msim_coll_half_width(&b, &m, points, 0.1, false), 0.1645, 1e-12);
    m.what = MSIM_COLL_HOLD_OUT_CLUSTER;
    CHECK_REL(msim_coll_half_width(&b, &m, points, 0.2, true), 0.329, 1e-12);
    m = (struct msim_coll_misses){MSIM_COLL_HOLD_OUT_RANKS, NULL, NULL, 0};
    CHECK_REL(msim_coll_half_width(&b, &m, points, 0.2, true), 0.329, 1e-12);
    /* 0.25 x 8 = 2, and a variance of 2.25: the root of 6.25 */
    CHECK_REL(msim_coll_deviation(&CONSTANTS.weights, 2.25, 8), 2.5, 1e-12);
    CHECK_REL(msim_coll_deviation(&CONSTANTS.weights, 2.25, -8), 2.5, 1e-12);
}

/* ---- versions ------------------------------------------------------------ */

static struct msim_coll_gpu gpu = {
    .table = "G",
    .sheet = {.link = 1e11, .network = 1e10, .cards_per_gpu = 1, .sms = 100}};
static struct msim_sample rows[N];
static struct msim_coll_points of_versions = {
    .gpus = &gpu, .targets = targets, .points = points};

/* A row of a version, by `log` slower than its point says. */
static void add_row(uint32_t group, const char *version, uint64_t bytes,
                    uint64_t ranks_key, double log)
{
    uint32_t i = of_versions.n_targets++;
    struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE,
                          .dtype = MSIM_DT_F32,
                          .version = version};

    w.u.coll.collective = MSIM_COLL_ALL_REDUCE;
    w.u.coll.bytes = bytes;
    w.u.coll.ranks = 8;
    w.u.coll.nodes = 1;
    rows[i] = (struct msim_sample){.work = w};
    points[i] = (struct msim_coll_point){.work = w,
                                         .group = group,
                                         .y = 0.5,
                                         .ranks_key = ranks_key,
                                         .size_key = ranks_key * 1000 + bytes};
    targets[i] = (struct msim_coll_target){
        .row = &rows[i],
        .us = msim_coll_typical_us(&gpu.sheet, &w) * exp(0.5 + log),
        .point = i};
}

static double log_of(uint32_t target, enum msim_coll_holdout held_out)
{
    return msim_coll_variant_log(&of_versions, target, held_out);
}

/* The sum of what rows of a version are off, over their number and two. */
static void test_coll_variant__mean_of_a_version(void)
{
    struct msim_curves c = {.n = 0};

    of_versions.n_targets = 0;
    add_row(0, "2", 4096, 1, 9); /* another group */
    add_row(1, "2", 4096, 1, 0.1);
    add_row(1, "2", 2048, 1, 0.2);
    add_row(1, "2", 4096, 2, 0.4);
    add_row(1, "2", UINT64_C(1) << 20, 1, 1.5); /* another bin */
    add_row(1, "3", 4096, 1, 7);
    add_row(1, NULL, 4096, 1, 3);
    add_row(2, "2", 4096, 1, 5);
    CHECK_REL(log_of(1, MSIM_COLL_HOLDOUTS), 0.7 / 5, 1e-12);
    CHECK_REL(log_of(3, MSIM_COLL_HOLDOUTS), 0.7 / 5, 1e-12);
    CHECK_REL(log_of(1, MSIM_COLL_HOLD_OUT_CLUSTER), 0.7 / 5, 1e-12);
    CHECK_REL(log_of(1, MSIM_COLL_HOLD_OUT_SIZES), 0.6 / 4, 1e-12);
    CHECK_REL(log_of(1, MSIM_COLL_HOLD_OUT_RANKS), 0.4 / 3, 1e-12);
    CHECK_REL(log_of(1, MSIM_COLL_HOLD_OUT_GPU), 0, 0);
    CHECK_REL(log_of(0, MSIM_COLL_HOLDOUTS), 3, 1e-12);
    CHECK_REL(log_of(4, MSIM_COLL_HOLDOUTS), 0.5, 1e-12);
    CHECK_REL(log_of(6, MSIM_COLL_HOLDOUTS), 0, 0); /* it has no version */
    rows[7].work.u.coll.nodes = 2;
    CHECK_REL(log_of(7, MSIM_COLL_HOLDOUTS), 0, 0);
    rows[7].work.u.coll.nodes = 1;
    rows[3].work.dtype = MSIM_DT_F16; /* a variant of its own */
    CHECK_REL(log_of(3, MSIM_COLL_HOLDOUTS), 0.4 / 3, 1e-12);
    REQUIRE(msim_coll_variants_make(&c, &of_versions, 1) == MSIM_OK);
    REQUIRE(c.n_variants == 3);
    CHECK_STR(c.variants[0].version, "2");
    CHECK_INT(c.variants[1].dtype, MSIM_DT_F16);
    CHECK_STR(c.variants[2].version, "3");
    CHECK_REL(c.variants[0].log_factor[0], 0.3 / 4, 1e-12);
    CHECK_REL(c.variants[0].log_factor[1], 0, 0);
    CHECK_REL(c.variants[0].log_factor[2], 0.5, 1e-12);
    CHECK_REL(c.variants[2].log_factor[0], 7.0 / 3, 1e-12);
    rows[2].work.u.coll.nodes = 2; /* between nodes: none */
    rows[1].work.u.coll.nodes = 2;
    free(c.variants);
    c = (struct msim_curves){.n = 0};
    REQUIRE(msim_coll_variants_make(&c, &of_versions, 2) == MSIM_OK);
    CHECK_UINT(c.n_variants, 1);
    rows[7].work.u.coll.nodes = 2;
    free(c.variants);
    c = (struct msim_curves){.n = 0};
    REQUIRE(msim_coll_variants_make(&c, &of_versions, 2) == MSIM_OK);
    CHECK_UINT(c.n_variants, 0);
}

/* ---- writing ------------------------------------------------------------- */

/* The logs of the fit alone, in the last of the fits. */
static void test_coll_write__logs(void)
{
    struct msim_coll_log logs[] = {{NULL, "a", 0, 3, 1.25, true},
                                   {"2", "b", 1, 4, 1, false},
                                   {"3", "c", 0, 5, 1, false}};
    struct msim_coll_fit_result fits[3] = {{.scores = {{0}}}};
    struct msim_coll_fits all = {.points = {.logs = logs, .n_logs = 3},
                                 .fits = fits};
    cJSON *tree = cJSON_Parse("[{},{}]");
    char *text;

    CHECK_INT(msim_coll_logs_write(tree, &all, &fits[2]), MSIM_OK);
    CHECK_INT(msim_coll_logs_write(tree, &all, &fits[0]), MSIM_OK);
    text = cJSON_PrintUnformatted(tree);
    CHECK_STR(text,
              "[{},{\"logs\":[{\"version\":\"\",\"setting\":\"a\",\"rows\":3,"
              "\"factor\":1.25,\"misconfigured\":true},{\"version\":\"3\","
              "\"setting\":\"c\",\"rows\":5,\"factor\":1,"
              "\"misconfigured\":false}]}]");
    cJSON_free(text);
    cJSON_Delete(tree);
}

/* A line for each way that has rows, with its own figures. */
static void test_coll_write__report(void)
{
    const struct msim_sample first = {
        .gpu = "G", .framework = "nccl", .key = "NVLink"};
    const struct msim_coll_fit_result c = {
        .fit = {.rows = 100, .groups = 50, .fitted = {.mean = 0.01}},
        .scores = {[MSIM_COLL_HOLD_OUT_RANKS] = {.rows = 0, .groups = 9},
                   [MSIM_COLL_HOLD_OUT_SIZES] =
                       {1, 2, {0.1, 0.2, 0.3, 0.4}, 0.5, 6, 7},
                   [MSIM_COLL_HOLD_OUT_GPU] = {
                       3, 4, {0.5, 0.6, 0.7, 0.8}, 0.9, 10, 11}}};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    REQUIRE(out);
    msim_coll_report(out, "p", &first, &c);
    fclose(out);
    CHECK_STR(text,
              "p,G,collective_sizes,nccl,NVLink,1,2,1.00,0.00,10.00,20.00,"
              "30.00,40.0,50.0,6.000,7.00\n"
              "p,G,collective_gpu,nccl,NVLink,3,4,1.00,0.00,50.00,60.00,70.00,"
              "80.0,90.0,10.000,11.00\n");
    free(text);
}

int main(void)
{
    RUN(test_coll_interval__weighs_misses);
    RUN(test_coll_interval__of_the_process);
    RUN(test_coll_variant__mean_of_a_version);
    RUN(test_coll_write__logs);
    RUN(test_coll_write__report);
    return check_summary();
}
