/*
 * predict/whatif/whatif.c: what is a change, what it is held against, and the
 * options that are listed beside it.
 */
#include "predict/whatif/whatif.h"

#include "tests/unit/predict/made_steps.h"

/* 10 us of host, 5 to the kernel, 200 of it, 60 of a copy, 5 to the end of the
 * wait and 10 of host: 290. */
static const struct step STEP = {
    .before = 10, .kernel = 200, .copy = 60, .after = 10};

/* "--scale kernels=0.5 --peers fixed " */
static const char *options(const struct msim_prediction *p)
{
    static char text[512];

    text[0] = '\0';
    for (uint32_t i = 0; i < p->scenario.n_options; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ",
                 p->scenario.options[i]);
    return text;
}

static bool warns(const struct msim_prediction *p, const char *what)
{
    for (uint32_t i = 0; i < p->n_warnings; i++)
        if (strstr(p->warnings[i], what))
            return true;
    return false;
}

/* Of the recorded step: factors but 1. */
static void test_whatif__changes_durations(void)
{
    static const struct {
        const char *scale;
        double us; /* 0: no change */
        const char *options;
    } CASE[] = {
        {NULL, 0, ""},
        {"kernels=1", 0, ""},
        {"kernels=0.5", 190,
         "--costs measured --scale kernels=0.5 --peers fixed "},
        {"copies=2", 350, "--costs measured --scale copies=2 --peers fixed "},
    };
    struct made_run r;

    if (run_steps(&r, &STEP, MSIM_DATA))
        for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
            struct msim_prediction_run run;
            struct msim_scale scale;
            const struct msim_scenario_note *n;

            r.s.scales = &scale;
            r.s.n_scales = CASE[i].scale != NULL;
            if (CASE[i].scale)
                CHECK_INT(msim_scale_parse(&scale, CASE[i].scale, NULL),
                          MSIM_OK);
            REQUIRE(msim_whatif_predict(&run, &r.s, &r.in, &r.to, NULL) ==
                    MSIM_OK);
            n = &run.prediction->scenario;
            CHECK_STR(options(run.prediction), CASE[i].options);
            CHECK_INT(run.prediction->elsewhere, CASE[i].us > 0);
            CHECK_REL(run.prediction->period.us.predicted,
                      CASE[i].us > 0 ? CASE[i].us : 290, 1e-9);
            if (CASE[i].us > 0) {
                CHECK(n->traced);
                CHECK_REL(n->baseline_us, 290, 1e-9);
                CHECK_REL(n->ratio, CASE[i].us / 290, 1e-9);
            }
            msim_prediction_run_release(&run);
        }
    r.s.n_scales = 0;
    run_free(&r);
}

/* ---- other machines ------------------------------------------------------ */

static const char *const DDP[] = {MSIM_DATA "/traces/dlrm-ddp-2ranks"};
static const char *const GPT2[] = {MSIM_DATA "/traces/gpt2"};

struct asked {
    struct msim_predict_settings s;
    struct msim_inputs in;
    struct msim_target to;
    struct msim_prediction_run run;
    bool loaded, ran;
};

static struct msim_predict_settings settings(const char *const *paths,
                                             enum msim_cost_mode costs)
{
    return (struct msim_predict_settings){.data = MSIM_DATA,
                                          .paths = paths,
                                          .n_paths = 1,
                                          .load = {.threads = 1},
                                          .platform = "a100",
                                          .costs = costs,
                                          .peers = MSIM_PEERS_FIXED,
                                          .iteration = MSIM_ITERATION_ALL};
}

static bool predict(struct asked *a, struct msim_predict_settings s)
{
    struct msim_error err = {0};

    *a = (struct asked){.s = s};
    a->loaded =
        CHECK_INT(msim_predict_load(&a->in, &a->to, &a->s, &err), MSIM_OK);
    a->ran = a->loaded && CHECK_INT(msim_whatif_predict(&a->run, &a->s, &a->in,
                                                        &a->to, &err),
                                    MSIM_OK);
    CHECK_STR(err.text, "");
    return a->ran;
}

static void forget(struct asked *a)
{
    if (a->ran)
        msim_prediction_run_release(&a->run);
    msim_target_release(&a->to);
    msim_inputs_release(&a->in);
}

static double plain_us(struct msim_predict_settings s)
{
    struct asked a;
    double us = 0;

    if (predict(&a, s)) {
        us = a.run.prediction->period.us.predicted;
        CHECK_INT(a.run.prediction->scenario.n_options, 0);
    }
    forget(&a);
    return us;
}

/* All options of the target, in their order; without them the same costs on the
 * same GPU. */
static void test_whatif__changes_targets(void)
{
    struct msim_predict_settings s = settings(DDP, MSIM_COSTS_MODEL);
    double base = plain_us(s);
    struct asked a;

    s.host = "generic";
    s.network = "infiniband-ndr400";
    s.nodes = 2;
    s.ranks = 4;
    s.clock.ratio = 0.8;
    s.index_skew = 0.5;
    if (predict(&a, s)) {
        const struct msim_scenario_note *n = &a.run.prediction->scenario;

        CHECK_STR(options(a.run.prediction),
                  "--platform a100 --costs model --host generic --network "
                  "infiniband-ndr400 --nodes 2 --clock 0.8 --index-skew 0.5 "
                  "--peers fixed --ranks 4 ");
        CHECK_REL(n->baseline_us, base, 1e-9);
        CHECK_REL(n->ratio, a.run.prediction->period.us.predicted / base, 1e-6);
        CHECK(!n->traced && n->ratio > 1);
        CHECK(!warns(a.run.prediction, "change no duration"));
    }
    forget(&a);
    s = settings(DDP, MSIM_COSTS_MODEL);
    s.clock.hz = 1.1e9;
    s.peers = MSIM_PEERS_FOLLOW;
    if (predict(&a, s)) {
        CHECK_STR(options(a.run.prediction),
                  "--platform a100 --costs model --clock 1100MHz ");
        CHECK_REL(a.run.prediction->scenario.baseline_us, base, 1e-9);
    }
    forget(&a);
}

/* What is not chosen takes no time: a part of the job is held against all. */
static void test_whatif__chooses_parts(void)
{
    struct msim_predict_settings s = settings(DDP, MSIM_COSTS_MODEL);
    struct asked a;

    s.choice.kind = MSIM_CHOICE_COMPUTE;
    s.choice.exclude = "aten::linear";
    if (predict(&a, s)) {
        CHECK_STR(options(a.run.prediction),
                  "--platform a100 --costs model --peers fixed --kind compute "
                  "--exclude aten::linear ");
        CHECK(a.run.prediction->scenario.ratio < 1);
    }
    forget(&a);
}

/* Options that ask for what is there already change nothing, and that is said;
 * a clock of 1 and as many ranks as there are do not count. */
static void test_whatif__says_what_changes_nothing(void)
{
    struct msim_predict_settings s = settings(DDP, MSIM_COSTS_MODEL);
    struct asked a;

    s.nodes = 1;
    if (predict(&a, s)) {
        CHECK(warns(a.run.prediction,
                    "the options change no duration of this job"));
        CHECK_REL(a.run.prediction->scenario.ratio, 1, 1e-12);
    }
    forget(&a);
    s.nodes = 0;
    s.clock.ratio = 1;
    s.ranks = 2;
    if (predict(&a, s))
        CHECK_INT(a.run.prediction->scenario.n_options, 0);
    forget(&a);
}

/* The traced run on another GPU is held against the trace, which is known; by
 * models alone there is no change, only another place. */
static void test_whatif__leaves_the_gpu(void)
{
    struct made_run r;
    struct asked a;

    if (run_steps(&r, &STEP, MSIM_DATA)) {
        struct msim_predict_settings s = r.s;

        s.platform = "h100";
        s.source_platform = "a100";
        s.costs = MSIM_COSTS_SCALED;
        s.groups = false;
        if (predict(&a, s)) {
            const struct msim_scenario_note *n = &a.run.prediction->scenario;
            const struct msim_figure *us = &a.run.prediction->period.us;

            CHECK(n->traced && a.run.prediction->elsewhere);
            CHECK_REL(us->measured, 290, 1e-9);
            CHECK_REL(n->baseline_us, 290, 1e-9);
            CHECK_REL(n->ratio, us->predicted / 290, 1e-9);
            CHECK_REL(n->ratio_low, us->low / 290, 1e-9);
            CHECK_REL(n->ratio_high, us->high / 290, 1e-9);
            CHECK_STR(options(a.run.prediction),
                      "--platform h100 --costs scaled --source-platform a100 "
                      "--peers fixed ");
        }
        forget(&a);
        s.source_platform = NULL;
        s.costs = MSIM_COSTS_MODEL;
        if (predict(&a, s)) {
            CHECK_INT(a.run.prediction->scenario.n_options, 0);
            CHECK(a.run.prediction->elsewhere); /* which GPU is not known */
        }
        forget(&a);
    }
    run_free(&r);
    /* what was recorded on a CPU ran on no other GPU */
    if (predict(&a, settings(GPT2, MSIM_COSTS_MODEL)))
        CHECK(!a.run.prediction->elsewhere);
    forget(&a);
}

int main(void)
{
    RUN(test_whatif__changes_durations);
    RUN(test_whatif__changes_targets);
    RUN(test_whatif__chooses_parts);
    RUN(test_whatif__says_what_changes_nothing);
    RUN(test_whatif__leaves_the_gpu);
    return check_summary();
}
