/*
 * predict/target.c: what settings leave open is chosen by what traces hold;
 * what goes not together is refused.
 */
#include "predict/inputs.h"

#include "models/platform/platform_data.h"
#include "tests/check.h"
#include "tests/unit/made_ops.h"

#include <math.h>

#define RANKS 2

/* A job of empty traces, and what is asked. */
static struct build b;
static struct msim_trace traces[RANKS];
static struct msim_job job;
static struct msim_predict_settings s;
static struct msim_inputs in;
static struct msim_target to;
static struct msim_error err;

/* What is traced. */
enum gpu { A100, LIKE_V100, UNSAID, TWO };

static void trace(struct msim_trace *t, enum gpu gpu)
{
    *t = b.t;
    t->world_size = 1;
    t->has_times = t->has_gpu_events = true;
    if (gpu == A100)
        t->gpu_properties = (struct msim_gpu_properties){
            build_text(&b, "NVIDIA A100-SXM4-80GB"), 85000000000, 108, 8, 0};
    else if (gpu != UNSAID)
        t->gpu_properties = (struct msim_gpu_properties){
            build_text(&b, "NVIDIA Unheard"), 17000000000, 84, 7, 0};
}

static void begin(enum gpu gpu)
{
    static const char *const PATHS[] = {"made.json"};
    static struct msim_trace *ranks[RANKS];

    build_init(&b);
    for (int r = 0; r < RANKS; r++) {
        trace(&traces[r], gpu == TWO ? (r ? LIKE_V100 : A100) : gpu);
        ranks[r] = &traces[r];
    }
    job = (struct msim_job){
        .strings = b.strings, .ranks = ranks, .n_ranks = gpu == TWO ? 2 : 1};
    msim_arena_init(&job.arena);
    s = (struct msim_predict_settings){
        .data = MSIM_DATA, .paths = PATHS, .n_paths = 1};
    in = (struct msim_inputs){.job = &job};
    err = (struct msim_error){0};
}

static enum msim_status choose(void)
{
    CHECK_INT(msim_target_load(&to, &s, &err), MSIM_OK);
    return msim_target_choose(&to, &s, &in, &err);
}

static void done(void)
{
    msim_target_release(&to);
    msim_arena_release(&job.arena);
    build_release(&b);
}

static const char *name_of(const struct msim_platform *p)
{
    return p ? msim_platform_name(p) : "";
}

/* ---- costs and GPUs ------------------------------------------------------ */

enum { AUTO = MSIM_COSTS_AUTO, MEASURED, MODEL, SCALED };

static int number_of(enum msim_cost_mode costs)
{
    return costs == MSIM_COSTS_MEASURED ? MEASURED
           : costs == MSIM_COSTS_MODEL  ? MODEL
           : costs == MSIM_COSTS_SCALED ? SCALED
                                        : AUTO;
}

static enum msim_cost_mode mode_of(int number)
{
    static const enum msim_cost_mode MODE[] = {[AUTO] = MSIM_COSTS_AUTO,
                                               [MEASURED] = MSIM_COSTS_MEASURED,
                                               [MODEL] = MSIM_COSTS_MODEL,
                                               [SCALED] = MSIM_COSTS_SCALED};

    return MODE[number];
}

/* What a trace lacks. */
enum { ALL, NO_GPU_TIMES, NO_TIMES, UNRECORDED };

static void test_target__chooses_costs(void)
{
    static const struct {
        enum gpu gpu;
        int lacks;
        const char *platform, *source_platform;
        int asked;
        double clock;
        int costs;
        const char *to, *from;
    } CASE[] = {
        /* measured on the GPU itself, else scaled */
        {A100, ALL, NULL, NULL, AUTO, 0, MEASURED, "", ""},
        {A100, ALL, "a100", NULL, AUTO, 0, MEASURED, "a100", ""},
        {A100, ALL, "h100", NULL, AUTO, 0, SCALED, "h100", "a100"},
        {A100, ALL, "a100", NULL, AUTO, 0.8, SCALED, "a100", "a100"},
        {A100, ALL, NULL, NULL, AUTO, 0.8, SCALED, "a100", "a100"},
        {A100, UNRECORDED, "a100", NULL, AUTO, 0, SCALED, "a100", "a100"},
        {A100, ALL, "h100", "v100", AUTO, 0, SCALED, "h100", "v100"},
        {A100, ALL, "v100", "v100", AUTO, 0, MEASURED, "v100", "v100"},
        /* without times, or GPU times, by models */
        {A100, NO_TIMES, NULL, NULL, AUTO, 0, MODEL, "a100", ""},
        {A100, NO_TIMES, "h100", NULL, AUTO, 0, MODEL, "h100", ""},
        {A100, NO_GPU_TIMES, NULL, NULL, AUTO, 0, MEASURED, "", ""},
        {A100, NO_GPU_TIMES, "h100", NULL, AUTO, 0, MODEL, "h100", ""},
        /* a GPU that nobody knows is like the nearest, where there is one */
        {LIKE_V100, ALL, NULL, NULL, AUTO, 0, MEASURED, "", ""},
        {LIKE_V100, ALL, "h100", NULL, AUTO, 0, SCALED, "h100", "near v100"},
        {UNSAID, ALL, NULL, NULL, AUTO, 0, MEASURED, "", ""},
        {TWO, ALL, NULL, NULL, AUTO, 0, MEASURED, "", ""},
        /* what is asked for is taken */
        {A100, ALL, NULL, NULL, MODEL, 0, MODEL, "a100", ""},
        {A100, ALL, NULL, NULL, SCALED, 0, SCALED, "a100", "a100"},
        {A100, ALL, "h100", NULL, MEASURED, 0, MEASURED, "h100", ""},
        {UNSAID, ALL, "h100", NULL, MODEL, 0, MODEL, "h100", ""},
        {UNSAID, ALL, "h100", "a100", SCALED, 0, SCALED, "h100", "a100"},
    };

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        begin(CASE[i].gpu);
        traces[0].has_gpu_events = CASE[i].lacks != NO_GPU_TIMES;
        traces[0].has_times = CASE[i].lacks != NO_TIMES;
        job.unrecorded = CASE[i].lacks == UNRECORDED;
        s.platform = CASE[i].platform;
        s.source_platform = CASE[i].source_platform;
        s.costs = mode_of(CASE[i].asked);
        s.clock.ratio = CASE[i].clock;
        if (!CHECK_INT(choose(), MSIM_OK))
            CHECK_STR(err.text, "");
        if (!CHECK_INT(number_of(to.costs), CASE[i].costs) ||
            !CHECK_STR(name_of(to.platform), CASE[i].to) ||
            !CHECK_STR(name_of(to.source), CASE[i].from))
            CHECK_INT(i, -1); /* names the case */
        CHECK_INT(to.unknown != NULL, !strncmp(CASE[i].from, "near ", 5));
        CHECK(!to.reshaped);
        if (CASE[i].clock > 0) /* of what is predicted, not of the source */
            CHECK_REL(msim_platform_clock_ratio(to.platform), 0.8, 1e-9);
        done();
    }
}

#define NO_SOURCE                                                              \
    "no platform to scale from: the trace names no GPU that is known; want "   \
    "'--source-platform NAME' ('mystique-sim platforms' lists them)"
#define NO_TARGET                                                              \
    "no platform to predict for: the trace names no GPU that is known; want "  \
    "'--platform NAME' ('mystique-sim platforms' lists them)"
#define NO_SHAPES                                                              \
    "the trace has times but does not say of which GPU, and no shapes; want "  \
    "'--source-platform NAME' to scale its times, or '--costs model' to "      \
    "guess from names of kernels"

static void test_target__refuses_costs(void)
{
    static const struct {
        enum gpu gpu;
        int lacks;
        const char *platform;
        int asked;
        double clock;
        bool reshape;
        enum msim_status status;
        const char *says;
    } CASE[] = {
        {A100, NO_TIMES, NULL, MEASURED, 0, false, MSIM_EFORMAT,
         "no times in the trace, so nothing is measured; want '--costs model' "
         "with a '--platform'"},
        {A100, NO_GPU_TIMES, "h100", SCALED, 0, false, MSIM_EFORMAT,
         "not every rank's trace has GPU times, so there is nothing to scale; "
         "want '--costs model'"},
        {A100, NO_TIMES, "h100", SCALED, 0, false, MSIM_EFORMAT,
         "not every rank's trace has GPU times, so there is nothing to scale; "
         "want '--costs model'"},
        {UNSAID, ALL, "h100", SCALED, 0, false, MSIM_EUSAGE, NO_SOURCE},
        {TWO, ALL, "h100", SCALED, 0, false, MSIM_EUSAGE, NO_SOURCE},
        {UNSAID, ALL, NULL, MODEL, 0, false, MSIM_EUSAGE, NO_TARGET},
        {LIKE_V100, ALL, NULL, MODEL, 0, false, MSIM_EUSAGE, NO_TARGET},
        {UNSAID, NO_TIMES, NULL, AUTO, 0, false, MSIM_EUSAGE, NO_TARGET},
        {UNSAID, ALL, "h100", AUTO, 0, false, MSIM_EUSAGE, NO_SHAPES},
        {LIKE_V100, ALL, NULL, AUTO, 0.8, false, MSIM_EUSAGE, NO_SHAPES},
        {A100, ALL, NULL, MEASURED, 0, true, MSIM_EUSAGE,
         "other sizes are asked for with measured costs, which are those of "
         "the traced sizes; want '--costs scaled' or model"},
        {A100, ALL, NULL, MEASURED, 0.8, false, MSIM_EUSAGE,
         "got --clock with measured costs, want it with '--costs scaled' or "
         "model"},
    };

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        begin(CASE[i].gpu);
        traces[0].has_gpu_events = CASE[i].lacks != NO_GPU_TIMES;
        traces[0].has_times = CASE[i].lacks != NO_TIMES;
        s.platform = CASE[i].platform;
        s.costs = mode_of(CASE[i].asked);
        s.clock.ratio = CASE[i].clock;
        s.reshape.tf32 = CASE[i].reshape;
        CHECK_INT(choose(), CASE[i].status);
        if (!CHECK_STR(err.text, CASE[i].says))
            CHECK_INT(i, -1);
        done();
    }
}

/* With shapes a guess is none: models know sizes. A list of tensors, or one of
 * another rank, is enough. */
static void test_target__knows_shapes(void)
{
    for (int i = 0; i < 3; i++) {
        begin(UNSAID);
        (void)build_op(&b, 0, "aten::mm", i ? "3 f32[4]" : "3 4", NULL);
        trace(&traces[i == 2], UNSAID);
        job.n_ranks = i == 2 ? 2 : 1;
        s.platform = "h100";
        CHECK_INT(choose(), i ? MSIM_OK : MSIM_EUSAGE);
        CHECK_STR(err.text, i ? "" : NO_SHAPES);
        if (i)
            CHECK_INT(to.costs, MSIM_COSTS_MODEL);
        done();
    }
}

/* One GPU of all ranks: by its name, size and capability. */
static void test_target__wants_one_gpu(void)
{
    for (int i = 0; i < 5; i++) {
        struct msim_gpu_properties *g = &traces[1].gpu_properties;

        begin(LIKE_V100);
        job.n_ranks = 2;
        if (i == 1)
            g->name = build_text(&b, "NVIDIA Other");
        else if (i == 2)
            g->sms++;
        else if (i == 3)
            g->cc_major++;
        else if (i == 4)
            g->cc_minor++;
        s.platform = "h100";
        s.costs = MSIM_COSTS_SCALED;
        CHECK_INT(choose(), i ? MSIM_EUSAGE : MSIM_OK);
        CHECK_STR(err.text, i ? NO_SOURCE : "");
        done();
    }
}

/* Times of all ranks, or none: one that has none counts. */
static void test_target__wants_times_of_all(void)
{
    begin(A100);
    job.n_ranks = 2;
    CHECK(msim_all_have_times(&job) && msim_all_have_gpu_times(&job));
    traces[1].has_gpu_events = false;
    CHECK(msim_all_have_times(&job) && !msim_all_have_gpu_times(&job));
    traces[1] = traces[0];
    traces[1].has_times = false;
    CHECK(!msim_all_have_times(&job) && !msim_all_have_gpu_times(&job));
    traces[1] = traces[0];
    traces[0].has_times = false;
    CHECK(!msim_all_have_times(&job) && !msim_all_have_gpu_times(&job));
    msim_arena_release(&job.arena);
    build_release(&b);
}

/* ---- ranks and nodes ----------------------------------------------------- */

static void test_target__places_ranks(void)
{
    static const struct {
        int32_t world;
        uint32_t ranks, nodes, given;
        const char *network;
        uint32_t a_node;
    } CASE[] = {
        {8, 0, 0, 0, NULL, 8},
        {8, 0, 2, 0, NULL, 4},
        {8, 0, 3, 0, NULL, 3},
        {1, 16, 2, 0, NULL, 8},
        {8, 4, 2, 0, NULL, 4},
        {8, 0, 8, 0, NULL, 1},
        {8, 0, 0, 5, NULL, 5},
        {8, 0, 2, 5, NULL, 4},
        {8, 0, 0, 5, "infiniband-ndr400", 8},
        {8, 0, 4, 5, "infiniband-ndr400", 2},
        {8, 0, 0, 5, "slingshot-200", 4},
    };

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        begin(A100);
        traces[0].world_size = CASE[i].world;
        s.platform = "h100";
        s.ranks = CASE[i].ranks;
        s.nodes = CASE[i].nodes;
        s.gpus_a_node = CASE[i].given;
        s.network = CASE[i].network;
        CHECK_INT(choose(), MSIM_OK);
        CHECK_STR(err.text, "");
        if (!CHECK_INT(to.gpus_a_node, CASE[i].a_node))
            CHECK_INT(i, -1);
        /* an H100's own network was measured with it */
        CHECK_INT(to.platform->joined,
                  CASE[i].network && !strcmp(CASE[i].network, "slingshot-200"));
        if (to.links)
            CHECK(to.platform->links == to.links);
        done();
    }
}

/* Described jobs have the servers of their GPU; a recorded one eight. */
static void test_target__has_the_usual_node(void)
{
    for (int described = 0; described < 2; described++) {
        begin(A100);
        s.platform = "gb200";
        s.described = described ? (struct msim_step_source *)(void *)&s : NULL;
        CHECK_INT(choose(), MSIM_OK);
        CHECK_INT(to.gpus_a_node, described ? 72 : 8);
        done();
    }
}

static void test_target__refuses_ranks_and_nodes(void)
{
    static const struct {
        const char *platform, *network;
        uint32_t n_ranks, ranks, nodes;
        double skew, watts;
        const char *says;
    } CASE[] = {
        {"h100", NULL, 2, 3, 0, 0, 0,
         "option '--ranks' is 3, want a multiple of the 2 ranks in the "
         "traces"},
        {"h100", NULL, 2, 4, 5, 0, 0,
         "option '--nodes' is 5, want at most the job's 4 ranks"},
        {"h100", NULL, 1, 0, 2, 0, 0,
         "option '--nodes' is 2, want at most the job's 1 rank"},
        {NULL, NULL, 1, 0, 2, 0, 0,
         "got --nodes with measured costs, want it with '--costs model' or "
         "scaled"},
        {NULL, "infiniband-ndr400", 1, 0, 2, 0, 0,
         "got --network with measured costs, want it with '--costs model' or "
         "scaled"},
        {NULL, NULL, 1, 0, 0, 0.5, 0,
         "got --index-skew with measured costs, want it with '--costs model' "
         "or scaled"},
        {NULL, NULL, 1, 0, 0, 0, 300,
         "got --power-cap with measured costs, want it with '--costs scaled' "
         "or model"},
    };

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        begin(A100);
        job.n_ranks = CASE[i].n_ranks;
        s.platform = CASE[i].platform;
        s.network = CASE[i].network;
        s.ranks = CASE[i].ranks;
        s.nodes = CASE[i].nodes;
        s.index_skew = CASE[i].skew;
        s.clock.watts = CASE[i].watts;
        if (!CASE[i].platform)
            s.costs = MSIM_COSTS_MEASURED;
        CHECK_INT(choose(), MSIM_EUSAGE);
        CHECK_STR(err.text, CASE[i].says);
        done();
    }
}

/* On both GPUs alike, and the host is that of the GPU. */
static void test_target__skews_look_ups(void)
{
    for (int scaled = 0; scaled < 2; scaled++) {
        begin(A100);
        s.platform = "h100";
        s.costs = scaled ? MSIM_COSTS_SCALED : MSIM_COSTS_MODEL;
        s.index_skew = 0.5;
        CHECK_INT(choose(), MSIM_OK);
        CHECK_REL(to.platform->sheet.index_skew, 0.5, 0);
        if (scaled)
            CHECK_REL(to.source->sheet.index_skew, 0.5, 0);
        done();
    }
}

/* ---- questions ----------------------------------------------------------- */

static void test_target__answers(void)
{
    static const struct {
        int costs;
        bool corrected, reshaped, same;
        bool reads, replays, forms;
    } CASE[] = {
        {MEASURED, false, false, true, true, true, false},
        {MODEL, false, false, true, false, false, true},
        {MODEL, false, true, true, false, false, true},
        {SCALED, false, false, true, true, true, false},
        {SCALED, false, false, false, true, false, false},
        {SCALED, false, true, true, true, false, false},
        {SCALED, true, false, true, false, false, false},
        {SCALED, true, true, true, true, false, false},
    };
    struct msim_platform *a, *h;

    REQUIRE(msim_platform_load(&a, MSIM_DATA, "a100", NULL) == MSIM_OK);
    REQUIRE(msim_platform_load(&h, MSIM_DATA, "h100", NULL) == MSIM_OK);
    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_trace bare = {0}, recorded = {.has_gpu_events = true};
        struct msim_target t = {
            .costs = mode_of(CASE[i].costs),
            .platform = CASE[i].same ? a : h,
            .source = a,
            .correction =
                CASE[i].corrected ? (struct msim_correction *)(void *)a : NULL,
            .reshaped = CASE[i].reshaped};

        CHECK_INT(msim_target_reads_gpu_times(&t), CASE[i].reads);
        CHECK_INT(msim_target_replays(&t), CASE[i].replays);
        CHECK_INT(msim_target_forms_gpu(&t), CASE[i].forms);
        CHECK_INT(msim_target_plans(&t, &bare), !CASE[i].reads);
        CHECK(!msim_target_plans(&t, &recorded));
        CHECK(!msim_target_is_host(&t));
        t.platform = NULL;
        CHECK(!msim_target_is_host(&t) && !msim_target_forms_gpu(&t));
    }
    a->is_host = true; /* a CPU forms nothing */
    CHECK(msim_target_is_host(&(struct msim_target){.platform = a}));
    CHECK(!msim_target_forms_gpu(
        &(struct msim_target){.platform = a, .costs = MSIM_COSTS_MODEL}));
    msim_platform_free(a);
    msim_platform_free(h);
}

/* Hosts of one name may be of other years. */
static void test_target__tells_hosts_apart(void)
{
    struct msim_target x, y;

    begin(A100);
    REQUIRE(msim_target_load(&x, &s, &err) == MSIM_OK);
    REQUIRE(msim_target_load(&y, &s, &err) == MSIM_OK);
    CHECK_STR(msim_host_name(x.host), "generic");
    CHECK(msim_target_is_one_host(&x, &y));
    msim_host_set_gpu(x.host, "m40");
    msim_host_set_gpu(y.host, "b200");
    CHECK(msim_host_speed(x.host) / msim_host_speed(y.host) != 1);
    CHECK(!msim_target_is_one_host(&x, &y));
    msim_target_release(&x);
    msim_target_release(&y);
    CHECK(!x.host);
    CHECK_STR(msim_cost_mode_text(MSIM_COSTS_AUTO), "auto");
    CHECK_STR(msim_cost_mode_text(MSIM_COSTS_MEASURED), "measured");
    CHECK_STR(msim_cost_mode_text(MSIM_COSTS_MODEL), "model");
    CHECK_STR(msim_cost_mode_text(MSIM_COSTS_SCALED), "scaled");
    msim_arena_release(&job.arena);
    build_release(&b);
}

int main(void)
{
    RUN(test_target__chooses_costs);
    RUN(test_target__refuses_costs);
    RUN(test_target__knows_shapes);
    RUN(test_target__wants_one_gpu);
    RUN(test_target__wants_times_of_all);
    RUN(test_target__places_ranks);
    RUN(test_target__has_the_usual_node);
    RUN(test_target__refuses_ranks_and_nodes);
    RUN(test_target__skews_look_ups);
    RUN(test_target__answers);
    RUN(test_target__tells_hosts_apart);
    return check_summary();
}
