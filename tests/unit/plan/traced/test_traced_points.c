/* plan/traced/traced_open.c and traced_points.c: what a plan knows of the trace
 * that it is of, and what follows from the members of a point. The traces are
 * the samples of data/traces: one rank of 512 samples, two of those, and one of
 * a single sample; and one without a backward pass, that is made here. */
#include "plan/traced/traced_points.h"

#include "core/base/units.h"
#include "plan/search/spec.h"
#include "plan/synth/et_writer.h"
#include "tests/unit/made_plan.h"

#include <unistd.h>

#define ONE   MSIM_DATA "/traces/dlrm"
#define TWO   MSIM_DATA "/traces/dlrm-ddp-2ranks"
#define SMALL MSIM_DATA "/traces/llama-block"

static char serving[] = P_tmpdir "/msim-traced-XXXXXX.json";
static struct msim_traced_points points;
static struct msim_error err;

static struct msim_spec *begin(const char *trace)
{
    struct msim_spec *s = &made_plan.spec;

    made_plan_begin();
    err = (struct msim_error){0};
    s->traced = true;
    s->file = "spec.json";
    s->n_traces = 1;
    s->global_batch = 0;
    snprintf(s->trace[0], sizeof(s->trace[0]), "%s", trace);
    for (uint32_t i = 0; msim_spec_dimension_at(true, i); i++)
        s->values[i].n = 1;
    return s;
}

static enum msim_status look(void)
{
    return msim_traced_points_open(&points, &made_plan.spec, MSIM_DATA, &err);
}

/* The place of a member among the spec's values. */
static uint32_t place_of(const char *name)
{
    uint32_t i = 0;

    while (strcmp(msim_spec_dimension_at(true, i)->name, name) != 0)
        i++;
    return i;
}

static enum msim_status write_bytes(void *ctx, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, ctx) == n ? MSIM_OK : MSIM_EWRITE;
}

/* A batch of 6 through two layers. */
static bool make_serving(void)
{
    static struct msim_etw e;
    int fd = mkstemps(serving, 5);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    struct msim_etw_tensor x, w, y;
    struct msim_etw_arg in[2];
    enum msim_status status;

    if (!f)
        return false;
    msim_etw_begin(&e, write_bytes, f, 0);
    msim_etw_thread(&e, 1);
    x = msim_etw_new(&e, MSIM_DT_F32, 2, (int64_t)6, (int64_t)32);
    in[0] = msim_etw_of(&x);
    msim_etw_leaf(&e, "aten::batch_norm", "", in, 1, &x, 1); /* of samples */
    for (int i = 0; i < 2; i++) {
        w = msim_etw_new(&e, MSIM_DT_F32, 2, (int64_t)32, (int64_t)32);
        y = msim_etw_new(&e, MSIM_DT_F32, 2, (int64_t)6, (int64_t)32);
        in[0] = msim_etw_of(&x);
        in[1] = msim_etw_of(&w);
        msim_etw_leaf(&e, "aten::mm",
                      "aten::mm(Tensor self, Tensor mat2) -> Tensor", in, 2, &y,
                      1);
        x = y;
    }
    status = msim_etw_end(&e);
    return fclose(f) == 0 && status == MSIM_OK;
}

/* ---- what it is of ------------------------------------------------------- */

static void test_traced_open__knows_the_trace(void)
{
    const struct {
        const char *trace;
        int64_t batch, ranks;
        bool serves;
    } CASES[] = {{ONE, 512, 1, false},
                 {TWO, 512, 2, false},
                 {SMALL, 1, 1, false},
                 {serving, 6, 1, true}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        const struct msim_plan_traced *t = &points.about;

        begin(CASES[i].trace);
        CHECK_INT(look(), MSIM_OK);
        CHECK_STR(err.text, "");
        CHECK_INT(t->batch, CASES[i].batch);
        CHECK_INT(t->ranks, CASES[i].ranks);
        CHECK_INT(t->serves, CASES[i].serves);
        CHECK_INT(t->passes, 1);
        CHECK(t->knows_memory);
        CHECK(isnan(t->measured_us) && isnan(t->predicted_us)); /* no GPU's */
        CHECK_STR(t->host, "");
        CHECK_INT(made_plan.spec.unit == MSIM_SPEC_UNIT_REQUESTS,
                  CASES[i].serves);
    }
    begin(ONE)->traced_batch = 64; /* as the spec says */
    snprintf(made_plan.spec.host, sizeof(made_plan.spec.host), "generic");
    CHECK_INT(look(), MSIM_OK);
    CHECK_INT(points.about.batch, 64);
    CHECK_STR(points.about.host, "generic");
}

static void test_traced_open__refuses(void)
{
    struct msim_spec *s = begin("no such trace");

    snprintf(s->platforms[1].name, sizeof(s->platforms[1].name), "a99");
    CHECK_INT(look(), MSIM_EUNKNOWN); /* before the trace is read */
    CHECK(strncmp(err.text, "platforms[1]: ", 14) == 0);
    s = begin(ONE);
    s->unit_given = true;
    s->unit = MSIM_SPEC_UNIT_REQUESTS;
    snprintf(s->unit_member, sizeof(s->unit_member), "limits.latency_ms");
    CHECK_INT(look(), MSIM_EFORMAT);
    CHECK_STR(err.file, "spec.json");
    CHECK_STR(err.text, "limits.latency_ms does not go with the trace: the "
                        "trace has a backward pass, so that it trains: want "
                        "\"samples\" and limits \"samples_per_second\"");
    s = begin(serving);
    s->unit_given = true;
    s->unit = MSIM_SPEC_UNIT_SAMPLES;
    snprintf(s->unit_member, sizeof(s->unit_member), "samples");
    CHECK_INT(look(), MSIM_EFORMAT);
    CHECK(strstr(err.text, "samples does not go with the trace: the trace has "
                           "no backward pass, so that it answers requests: "
                           "want \"requests\"") != NULL);
    s = begin(serving);
    s->global_batch = 64;
    CHECK_INT(look(), MSIM_EFORMAT);
    CHECK(strncmp(err.text, "global_batch does not go with the trace: ", 41) ==
          0);
}

/* What a service can be asked for: other numbers of GPUs, batches, types. */
static void test_traced_open__of_a_service(void)
{
    static const struct {
        const char *name;
        int64_t v;
        bool goes;
    } CASES[] = {
        {"gpus", 8, true},        {"micro_batch", 12, true},
        {"precision", 2, true},   {"tp", 1, true},
        {"pp", 1, true},          {"tp", 2, false},
        {"pp", 2, false},         {"shard", 1, false},
        {"recompute", 1, false},  {"offload", 1, false},
        {"grad_accum", 2, false}, {"layers", 3, false},
        {"hidden", 64, false},    {"optimizer_bits", 1, false},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct msim_spec_values *v =
            &begin(serving)->values[place_of(CASES[i].name)];
        char want[64];

        v->n = 2; /* the second of two, too */
        v->v[1] = CASES[i].v;
        CHECK_INT(look(), CASES[i].goes ? MSIM_OK : MSIM_EFORMAT);
        snprintf(want, sizeof(want),
                 "%s does not go with the trace: ", CASES[i].name);
        CHECK(CASES[i].goes || strncmp(err.text, want, strlen(want)) == 0);
        CHECK(!points.settings.rewrite.anew);
    }
}

/* Where one point is a rewritten step all of them are, on one host. */
static void test_traced_open__rewrites_all(void)
{
    static const struct {
        const char *name;
        int64_t as_it_is, anew; /* 0: none is */
    } CASES[] = {
        {"grad_accum", 1, 2},   {"tp", 1, 2},
        {"pp", 1, 2},           {"gpus", 1, 2},
        {"precision", 2, 3},    {"recompute", 0, 1},
        {"offload", 0, 1},      {"optimizer_bits", 0, 1},
        {"layers", 0, 1},       {"optimizer_in_backward", 0, 1},
        {"micro_batch", 64, 0}, {"hidden", 128, 0},
        {"shard", 3, 0},
    };
    const size_t n = sizeof(CASES) / sizeof(CASES[0]);

    for (size_t k = 0; k <= n; k++) { /* the last is of all as they are */
        struct msim_spec *s = begin(ONE);
        bool anew = k < n && CASES[k].anew;

        if (k < n && !anew)
            continue;
        for (size_t i = 0; i < n; i++) {
            struct msim_spec_values *v = &s->values[place_of(CASES[i].name)];

            v->n = 2; /* the second of two, too */
            v->v[1] = i == k ? CASES[i].anew : CASES[i].as_it_is;
        }
        CHECK_INT(look(), MSIM_OK);
        if (!CHECK_INT(points.settings.rewrite.anew, anew))
            CHECK_STR(k < n ? CASES[k].name : "all", "");
        CHECK_STR(points.about.host, anew ? "generic" : "");
    }
    begin(ONE)->global_batch = 1024;
    CHECK_INT(look(), MSIM_OK);
    CHECK(points.settings.rewrite.anew);
}

/* ---- points -------------------------------------------------------------- */

static struct msim_plan_predictor predictor;
static struct msim_plan_platforms platforms;
static void *thread;

static bool ask(const char *trace)
{
    thread = NULL;
    begin(trace);
    if (!CHECK_INT(look(), MSIM_OK))
        return false;
    predictor = msim_traced_predictor(&points);
    return CHECK_INT(msim_plan_platforms_load(&platforms, &made_plan.spec,
                                              MSIM_DATA, &err),
                     MSIM_OK) &&
           CHECK_INT(
               predictor.begin(&thread, predictor.own, platforms.of, &err),
               MSIM_OK);
}

static void finish(void)
{
    predictor.end(thread);
    msim_plan_platforms_release(&platforms);
}

static struct msim_plan_point point(int64_t gpus)
{
    return (struct msim_plan_point){
        .strategy = {.gpus = gpus, .tp = 1, .pp = 1}, .room_gib = 79};
}

#define ONCE ": it is looked at once, not for every \"shard\""

struct asked {
    int64_t gpus, parts, shard, micro_batch, grad_accum, whole;
    /* dp, micro batch, micro batches, batch of a step; or why not. */
    const char *want;
};

static void check_points(const char *trace, const struct asked *cases, size_t n)
{
    if (!ask(trace))
        return;
    for (size_t i = 0; i < n; i++) {
        struct msim_plan_point p = point(cases[i].gpus);
        char why[MSIM_PLAN_WHY] = "", got[MSIM_PLAN_WHY];

        made_plan.spec.global_batch = cases[i].whole;
        p.strategy.tp = cases[i].parts;
        p.strategy.micro_batch = cases[i].micro_batch;
        p.strategy.grad_accum = cases[i].grad_accum;
        p.traced[MSIM_SPEC_SHARD - MSIM_GIVEN_COUNT] = cases[i].shard;
        if (predictor.split(thread, &p, why))
            snprintf(got, sizeof(got), "%lld %lld %lld %lld",
                     (long long)p.strategy.dp,
                     (long long)p.strategy.micro_batch,
                     (long long)p.strategy.grad_accum,
                     (long long)p.strategy.global_batch);
        else
            snprintf(got, sizeof(got), "%s", why);
        CHECK_STR(got, cases[i].want);
    }
    finish();
}

static void test_traced_points__split(void)
{
    static const struct asked ALONE[] = {
        {1, 1, 0, 0, 0, 0, "1 512 1 512"},
        {4, 1, 0, 0, 0, 0, "4 512 1 2048"},
        {4, 1, 1, 0, 0, 0, "4 512 1 2048"},
        {4, 1, 0, 256, 3, 0, "4 256 3 3072"},
        {4, 1, 0, 0, 0, 2048, "4 512 1 2048"},
        {4, 1, 0, 256, 0, 2048, "4 256 2 2048"},
        {4, 1, 0, 256, 2, 2048, "4 256 2 2048"},
        {4, 1, 0, 0, 0, 1000,
         "global_batch 1000 cannot be split by gpus x micro_batch"},
        {4, 1, 0, 0, 3, 2048,
         "gpus x micro_batch x grad_accum is not global_batch, 2048"},
        {3, 2, 0, 0, 0, 0, "gpus 3 cannot be split by tp x pp, 2"},
        {1, 1, 1, 0, 0, 0, "one GPU shares nothing" ONCE},
        {2, 2, 1, 0, 0, 0, "one copy of the model shares nothing" ONCE},
    };
    static const struct asked PAIR[] = {
        {2, 1, 0, 0, 0, 0, "1 512 1 1024"},
        {2, 1, 1, 0, 0, 0,
         "ranks share what they shared when they were recorded" ONCE},
        {4, 1, 0, 0, 0, 0,
         "the trace is of a job of 2 ranks already: want gpus 2, or the trace "
         "of one rank that works alone"},
        {3, 2, 0, 0, 0, 0, "gpus 3 cannot be split by tp x pp, 2"},
    };
    static const struct asked SINGLE[] = {
        {1, 1, 0, 1, 0, 0, "1 1 1 1"},
        {1, 1, 0, 2, 0, 0,
         "the recorded batch is 1, which cannot be told from other sizes: want "
         "a trace of 2 samples or more"},
    };
    static const struct asked SERVES[] = {
        {1, 1, 0, 0, 0, 0, "1 6 1 6"},
        {3, 1, 0, 12, 0, 0, "1 12 1 36"}, /* each answers its own */
        {3, 1, 1, 0, 0, 0, "one copy of the model shares nothing" ONCE},
    };

    check_points(ONE, ALONE, sizeof(ALONE) / sizeof(ALONE[0]));
    check_points(TWO, PAIR, sizeof(PAIR) / sizeof(PAIR[0]));
    check_points(SMALL, SINGLE, sizeof(SINGLE) / sizeof(SINGLE[0]));
    check_points(serving, SERVES, sizeof(SERVES) / sizeof(SERVES[0]));
}

static void test_traced_points__names(void)
{
    static const char *const STEP[] = {"compute", "communication", "copies",
                                       "host", "idle"};

    predictor = msim_traced_predictor(&points);
    CHECK(predictor.says_why);
    CHECK_INT(predictor.block, 1);
    for (int i = 0; i < 5; i++)
        CHECK_STR(predictor.step_parts[i], STEP[i]);
    CHECK(predictor.step_parts[5] == NULL);
    CHECK_STR(predictor.memory_parts[0], "parameters");
    CHECK_STR(predictor.memory_parts[6], "workspace");
    CHECK(predictor.memory_parts[7] == NULL);
}

/* A larger batch computes longer; parts make the whole; a faster GPU takes
 * less. */
static void test_traced_points__answers(void)
{
    struct msim_plan_point p[3];
    char why[MSIM_PLAN_WHY] = "";

    REQUIRE(ask(ONE));
    for (int i = 0; i < 3; i++) {
        double us = 0, gib = 0;

        p[i] = point(1);
        p[i].strategy.micro_batch = i == 1 ? 8192 : 0;
        p[i].platform = i == 2;
        REQUIRE(predictor.split(thread, &p[i], why));
        REQUIRE(predictor.memory(thread, &p[i], why));
        REQUIRE(predictor.step(thread, &p[i], why));
        for (int k = 0; k < 7; k++) {
            us += p[i].part_us[k];
            gib += p[i].part_gib[k];
        }
        CHECK_REL(us, p[i].us, 1e-6);
        CHECK_REL(gib, p[i].peak_gib, 1e-6);
        CHECK(p[i].low_us <= p[i].us && p[i].us <= p[i].high_us);
        CHECK(p[i].low_gib <= p[i].peak_gib && p[i].peak_gib <= p[i].high_gib);
        CHECK_REL(p[i].room_gib + msim_beside_bytes(&p[i].beside) / MSIM_GIB,
                  79, 1e-12);
        CHECK(!p[i].ran && p[i].mfu > 0 && p[i].mfu < 1);
        CHECK_REL(p[i].correction, 1, 0);
        CHECK_INT(p[i].fits, MSIM_FITS_YES);
    }
    CHECK(p[1].part_us[0] > p[0].part_us[0]);
    CHECK(p[1].peak_gib >= p[0].peak_gib);
    CHECK_REL(p[2].peak_gib, p[0].peak_gib, 0.1); /* but for a workspace */
    CHECK(p[2].part_us[0] > p[0].part_us[0]);     /* an A100 computes longer */
    p[0] = point(1);
    p[0].room_gib = msim_beside_bytes(&p[1].beside) / MSIM_GIB + 0.001;
    REQUIRE(predictor.split(thread, &p[0], why));
    REQUIRE(predictor.memory(thread, &p[0], why));
    CHECK_INT(p[0].fits, MSIM_FITS_NO);
    finish();
}

int main(void)
{
    if (!make_serving())
        return 1;
    RUN(test_traced_open__knows_the_trace);
    RUN(test_traced_open__refuses);
    RUN(test_traced_open__of_a_service);
    RUN(test_traced_open__rewrites_all);
    RUN(test_traced_points__split);
    RUN(test_traced_points__names);
    RUN(test_traced_points__answers);
    CHECK(unlink(serving) == 0);
    return check_summary();
}
