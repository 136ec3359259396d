/*
 * predict/measured_step.c: what measured jobs make of the walk of a graph, who
 * is asked for it, and which answers are another job's.
 */
#include "predict/pipeline.h"

#include "models/platform/platform_data.h"
#include "tests/unit/predict/made_steps.h"

/* A step of 290 us: 10 of host, 5 to the kernel, 200 of it, 60 of a copy, 5 to
 * the end of the wait and 10 of host. */
static const struct step STEP = {
    .before = 10, .kernel = 200, .copy = 60, .after = 10};
#define WALK 290

static struct made_run r;
static struct msim_platform *a100, *h100;
static struct msim_target to;
static struct msim_held_rank rank;
static struct msim_rank_memory memory; /* of 2000 bytes */
static struct msim_step_source source;

/* What the description says, and what it was asked. */
static struct {
    struct msim_measured_step says, says_changed;
    uint32_t times;
    const struct msim_step_change *change;
    struct msim_step_change changed;
} asked;

static enum msim_status ask(struct msim_measured_step *out, void *own,
                            const struct msim_step_change *change,
                            const struct msim_platform *on,
                            struct msim_error *err)
{
    (void)err;
    CHECK(own == &asked && on != NULL);
    asked.times++;
    asked.change = change;
    if (change)
        asked.changed = *change;
    *out = change ? asked.says_changed : asked.says;
    return MSIM_OK;
}

/* So many times the walk, and the memory. */
static struct msim_measured_step says(double us, double peak)
{
    return (struct msim_measured_step){us * WALK,         0.9 * us * WALK,
                                       1.2 * us * WALK,   peak * 2000,
                                       0.8 * peak * 2000, 1.1 * peak * 2000};
}

static void begin(double us, double peak)
{
    memset(&asked, 0, sizeof(asked));
    asked.says = asked.says_changed = says(us, peak);
    source = (struct msim_step_source){.own = &asked, .ask = ask};
    r.s.described = &source;
    r.s.ranks = r.s.nodes = 0;
    r.s.host = NULL;
    r.in.origin = NULL;
    r.in.job->n_warnings = 0;
    to = (struct msim_target){.platform = a100, .costs = MSIM_COSTS_MODEL};
    rank = (struct msim_held_rank){.known = true};
    rank.peak.allocated = 2000;
    memory = (struct msim_rank_memory){
        .ranks = &rank, .n = 1, .most = 0, .low = 1, .high = 1};
}

static struct msim_step_factor find(void)
{
    struct msim_step_factor f = {.us = -1};

    CHECK_INT(msim_step_factor_find(&f, &r.s, &r.in, &to, r.run.graph,
                                    r.run.costs, &memory, NULL),
              MSIM_OK);
    return f;
}

static void test_measured_step__walks(void)
{
    double us = -1;

    CHECK_INT(msim_graph_walk(&us, r.run.graph, r.run.costs, NULL), MSIM_OK);
    CHECK_REL(us, WALK, 1e-9);
}

static void test_measured_step__is_a_factor(void)
{
    struct msim_step_factor f;

    begin(1.5, 0.75);
    f = find();
    CHECK_REL(f.us, 1.5, 1e-9);
    CHECK_REL(f.low, 0.9, 1e-9);
    CHECK_REL(f.high, 1.2, 1e-9);
    CHECK_REL(f.peak, 0.75, 1e-9);
    CHECK_REL(f.low_peak, 0.8, 1e-9);
    CHECK_REL(f.high_peak, 1.1, 1e-9);
    CHECK_REL(f.walk_us, WALK, 1e-9);
    CHECK_INT(asked.times, 1);
    CHECK(!asked.change);
    CHECK_INT(r.in.job->n_warnings, 0);
    /* memory that one of the two does not know has no factor */
    for (int i = 0; i < 3; i++) {
        begin(1.5, i == 0 ? 0 : 0.75);
        if (i == 1)
            memory.most = MSIM_NONE;
        else if (i == 2)
            rank.peak.allocated = 0;
        f = find();
        CHECK_REL(f.us, 1.5, 1e-9);
        CHECK_REL(f.peak, 0, 0);
    }
    begin(0, 1); /* nor does a job of which nothing is known */
    CHECK_REL(find().us, 0, 0);
}

/* Of what is priced by models, on a GPU, and described. */
static void test_measured_step__is_of_models(void)
{
    for (int i = 0; i < 6; i++) {
        begin(1.5, 1);
        if (i == 1)
            r.s.described = NULL;
        else if (i == 2)
            to.platform = NULL;
        else if (i == 3)
            to.costs = MSIM_COSTS_SCALED;
        else if (i == 4)
            to.costs = MSIM_COSTS_MEASURED;
        a100->is_host = i == 5;
        CHECK_REL(find().us, i ? 0 : 1.5, 1e-9);
        CHECK_INT(asked.times, i == 0);
        a100->is_host = false;
    }
}

#define BOUNDS                                                                 \
    "measured jobs take x %.2f of what the graph takes: what bounds them is "  \
    "not in it, and what a change brings is told better by a whatif of the "   \
    "model"
#define OTHERS                                                                 \
    "synth.json describes a job of x %.3g the time, x %.3g the memory of "     \
    "these traces: it is taken for another's, and the graph is predicted by "  \
    "itself"

/* Up to twice either way without a word, up to ten times with one; beyond, and
 * of memory alike, it is another job's. */
static void test_measured_step__tells_others(void)
{
    static const struct {
        double us, peak;
        bool taken;
        const char *says;
    } CASE[] = {{1.99, 1, true, NULL},    {2.01, 1, true, BOUNDS},
                {0.51, 1, true, NULL},    {0.49, 1, true, BOUNDS},
                {9.9, 1, true, BOUNDS},   {10.1, 1, false, OTHERS},
                {0.101, 1, true, BOUNDS}, {0.099, 1, false, OTHERS},
                {1, 9.9, true, NULL},     {1, 10.1, false, OTHERS},
                {1, 0.101, true, NULL},   {1, 0.099, false, OTHERS}};
    char text[512];

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        begin(CASE[i].us, CASE[i].peak);
        CHECK_REL(find().us, CASE[i].taken ? CASE[i].us : 0, 1e-9);
        CHECK_INT(r.in.job->n_warnings, CASE[i].says != NULL);
        if (!CASE[i].says || !r.in.job->n_warnings)
            continue;
        if (CASE[i].taken)
            snprintf(text, sizeof(text), BOUNDS, CASE[i].us);
        else
            snprintf(text, sizeof(text), OTHERS, CASE[i].us, CASE[i].peak);
        CHECK_STR(r.in.job->warnings[0], text);
    }
}

/* A description of other files is another's, however near. */
static void test_measured_step__counts_files(void)
{
    for (uint32_t files = 0; files < 3; files++) {
        begin(1.5, 1);
        source.files = files;
        CHECK_REL(find().us, files < 2 ? 1.5 : 0, 1e-9);
        CHECK_INT(r.in.job->n_warnings, files == 2);
        if (files == 2 && r.in.job->n_warnings)
            CHECK_STR(r.in.job->warnings[0],
                      "synth.json describes 2 files, here are 1: it is taken "
                      "for another's, and the graph is predicted by itself");
    }
}

/* ---- changed jobs -------------------------------------------------------- */

static struct msim_origin origin;

static void change(void)
{
    origin = (struct msim_origin){.ranks = r.in.job->ranks};
    origin.rewrite.accumulate = 3;
    origin.reshape.tf32 = true;
    r.in.origin = &origin;
}

/* It is asked for by what was changed; its own factor, where that is near, else
 * the described job's on that GPU, or on the first. */
static void test_measured_step__asks_for_changes(void)
{
    struct msim_step_factor f;

    begin(1.5, 0.75);
    (void)find();
    asked.says_changed = says(1.25, 0.5);
    change();
    f = find();
    CHECK_REL(f.us, 1.25, 1e-9);
    CHECK_REL(f.peak, 0.5, 1e-9);
    CHECK_REL(f.walk_us, WALK, 1e-9);
    CHECK_INT(asked.times, 2);
    CHECK(asked.changed.ranks == origin.ranks);
    CHECK(asked.changed.strings == r.in.job->strings);
    CHECK(asked.changed.rewrite == &origin.rewrite);
    CHECK(asked.changed.reshape == &origin.reshape);
    for (int i = 0; i < 2; i++) { /* nothing is known, or it is far off */
        asked.says_changed = says(i ? 11 : 0, 0.5);
        f = find();
        CHECK_REL(f.us, 1.5, 1e-9);
        CHECK_REL(f.peak, 0.75, 1e-9);
        CHECK_REL(f.walk_us, 0, 0);
    }
    r.in.origin = NULL; /* sizes alone */
    r.s.reshape.tf32 = true;
    asked.says_changed = says(1.125, 0.5);
    CHECK_REL(find().us, 1.125, 1e-9);
    CHECK(asked.changed.ranks == r.in.job->ranks);
    CHECK(asked.changed.reshape == &r.s.reshape);
    CHECK(msim_rewrite_is_none(asked.changed.rewrite));
    r.s.reshape.tf32 = false;
}

/* Other ranks, nodes and hosts are not told apart: nobody is asked. */
static void test_measured_step__keeps_factors_elsewhere(void)
{
    for (int i = 0; i < 3; i++) {
        begin(1.5, 0.75);
        CHECK(!msim_step_wants_described(&r.s, &r.in, &to));
        r.s.ranks = i == 0 ? 4 : 0;
        r.s.nodes = i == 1 ? 2 : 0;
        r.s.host = i == 2 ? "generic" : NULL;
        CHECK(msim_step_wants_described(&r.s, &r.in, &to));
        CHECK_REL(find().us, 0, 0); /* nobody asked before */
        CHECK_INT(asked.times, 0);
        change();
        CHECK(!msim_step_wants_described(&r.s, &r.in, &to));
        begin(1.5, 0.75);
        (void)find();
        r.s.ranks = i == 0 ? 4 : 0;
        r.s.nodes = i == 1 ? 2 : 0;
        r.s.host = i == 2 ? "generic" : NULL;
        CHECK(!msim_step_wants_described(&r.s, &r.in, &to));
        CHECK_REL(find().us, 1.5, 1e-9);
        CHECK_INT(asked.times, 1);
    }
}

/* Of each GPU the first factor stays, of eight; of another the first one's. */
static void test_measured_step__remembers(void)
{
    char name[sizeof(h100->name)];

    memcpy(name, h100->name, sizeof(name));
    begin(1.5, 0.75);
    (void)find();
    asked.says = says(1.75, 0.75);
    CHECK_REL(find().us, 1.75, 1e-9); /* another clock */
    to.platform = h100;
    asked.says = says(1.25, 0.75);
    for (int i = 0; i < 9; i++) {
        snprintf(h100->name, sizeof(h100->name), "h%d", i);
        CHECK_REL(find().us, 1.25, 1e-9);
    }
    CHECK_INT(source.n_known, MSIM_STEP_FACTORS);
    CHECK_STR(source.known[7].platform, "h6");
    r.s.nodes = 2;
    CHECK_REL(find().us, 1.5, 1e-9); /* h8: that of the first */
    snprintf(h100->name, sizeof(h100->name), "h6");
    CHECK_REL(find().us, 1.25, 1e-9);
    to.platform = a100;
    CHECK_REL(find().us, 1.5, 1e-9);
    memcpy(h100->name, name, sizeof(name));
}

/* ---- into durations and memory ------------------------------------------- */

static void test_measured_step__multiplies(void)
{
    const struct msim_step_factor f = {2, 0.9, 1.2, 0.5, 0.8, 1.1, 1};
    const struct msim_step_factor none = {0};
    const struct msim_graph *g = r.run.graph;
    struct msim_costs *c;

    begin(1, 1);
    REQUIRE(msim_costs_scaled(&c, r.run.costs, g, NULL, 0) == MSIM_OK);
    c->lag[MSIM_EDGE_LAUNCH] = 5000;
    c->lag[MSIM_EDGE_STREAM] = 1;
    msim_step_factor_apply(&none, g, c, &memory);
    CHECK_INT(c->lag[MSIM_EDGE_LAUNCH], 5000);
    CHECK(!memory.as_measured);
    msim_step_factor_apply(&f, g, c, &memory);
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        CHECK_INT(c->mid[t], 2 * r.run.costs->mid[t]);
        CHECK_INT(c->low[t], 2 * r.run.costs->low[t]);
        CHECK_INT(c->high[t], 2 * r.run.costs->high[t]);
    }
    CHECK_INT(c->lag[MSIM_EDGE_LAUNCH], 10000);
    CHECK_INT(c->lag[MSIM_EDGE_STREAM], 2);
    CHECK_INT(c->lag[MSIM_EDGE_EVENT], -1); /* as traced */
    CHECK_REL(c->step.factor, 2, 0);
    CHECK_REL(c->step.low, 0.9, 0);
    CHECK_REL(c->step.high, 1.2, 0);
    CHECK(memory.as_measured);
    CHECK_UINT(rank.peak.allocated, 1000);
    CHECK_REL(memory.low, 0.8, 0);
    CHECK_REL(memory.high, 1.1, 0);
    msim_costs_free(c);
}

/* By the factor of who was asked for before, or by what the changed job
 * holds. */
static void test_measured_step__of_memory_alone(void)
{
    static const struct {
        double changed; /* of memory; 0: not known */
        bool before, change;
        uint64_t want;
    } CASE[] = {{0, false, false, 2000}, {0, true, false, 1500},
                {0.5, true, true, 1000}, {0, true, true, 1500},
                {11, true, true, 1500},  {0.5, false, true, 2000},
                {0.5, true, false, 1500}};

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        begin(1.5, 0.75);
        if (CASE[i].before)
            (void)find();
        asked.says_changed = says(1, CASE[i].changed);
        if (CASE[i].change)
            change();
        CHECK_INT(msim_step_factor_memory(&r.s, &r.in, a100, &memory, NULL),
                  MSIM_OK);
        if (!CHECK_UINT(rank.peak.allocated, CASE[i].want))
            CHECK_INT(i, -1);
    }
    begin(1.5, 0.75);
    r.s.described = NULL;
    CHECK_INT(msim_step_factor_memory(&r.s, &r.in, a100, &memory, NULL),
              MSIM_OK);
    CHECK(!memory.as_measured);
}

int main(void)
{
    if (run_steps(&r, &STEP, MSIM_DATA) &&
        CHECK_INT(msim_platform_load(&a100, MSIM_DATA, "a100", NULL),
                  MSIM_OK) &&
        CHECK_INT(msim_platform_load(&h100, MSIM_DATA, "h100", NULL),
                  MSIM_OK)) {
        RUN(test_measured_step__walks);
        RUN(test_measured_step__is_a_factor);
        RUN(test_measured_step__is_of_models);
        RUN(test_measured_step__tells_others);
        RUN(test_measured_step__counts_files);
        RUN(test_measured_step__asks_for_changes);
        RUN(test_measured_step__keeps_factors_elsewhere);
        RUN(test_measured_step__remembers);
        RUN(test_measured_step__multiplies);
        RUN(test_measured_step__of_memory_alone);
    }
    msim_platform_free(a100);
    msim_platform_free(h100);
    r.in.origin = NULL;
    run_free(&r);
    return check_summary();
}
