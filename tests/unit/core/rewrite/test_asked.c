/*
 * tests/unit/core/rewrite/test_asked.c - what a rewritten step is asked for,
 * and what is told of a trace before: its passes, whether a GPU runs another
 * form of it.
 */
#include "tests/unit/core/rewrite/made_passes.h"

/* Each option alone is a change; how one is done, or a number that leaves all
 * as it is, is none. */
static void test_asked__is_none(void)
{
    static const struct {
        struct msim_rewrite r;
        bool none;
    } cases[] = {
        {{.layers = 1}, false},
        {{.n_more_layers = 1, .more_layers = {{2, "b"}}}, false},
        {{.n_more_layers = 2, .more_layers = {{0, "a"}, {1, "b"}}}, false},
        {{.parallel.joins = 2}, false},
        {{.parallel.tp = 2}, false},
        {{.parallel.pp = 2}, false},
        {{.parallel.cp = 2}, false},
        {{.parallel.dp = 2}, false},
        {{.parallel.micro_batches = 1}, false},
        {{.autocast = MSIM_DT_F16}, false},
        {{.mixed = MSIM_DT_BF16}, false},
        {{.fp8 = true}, false},
        {{.recompute_every = 1}, false},
        {{.offload_activations = true}, false},
        {{.accumulate = 1}, false},
        {{.anew = true}, false},
        {{.world = 2}, false},
        {{.shard = MSIM_SHARD_DDP}, false},
        {{.shard = MSIM_SHARD_ZERO1}, false},
        {{.shard = MSIM_SHARD_ZERO2}, false},
        {{.shard = MSIM_SHARD_FULL}, false},
        {{.optimizer_8bit = true}, false},
        {{.offload_states = true}, false},
        {{.in_backward = true}, false},
        {{.layers = 0}, true},
        {{.n_more_layers = 2, .more_layers = {{0, "a"}, {0, "b"}}}, true},
        {{.more_layers = {{2, "b"}}}, true},
        {{.parallel = {.joins = 1, .tp = 1, .pp = 1, .cp = 1, .dp = 1}}, true},
        {{.parallel = {.rows = true, .vp = 2, .recorded = 2}}, true},
        {{.world = 1}, true},
        {{.bucket_mib = 5, .bucket_views = true}, true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (!CHECK(msim_rewrite_is_none(&cases[i].r) == cases[i].none))
            fprintf(stderr, "case %zu\n", i);
}

static void test_asked__stages(void)
{
    static const uint32_t pp[] = {0, 1, 2, 7}, want[] = {1, 1, 2, 7};

    for (size_t i = 0; i < 4; i++) {
        const struct msim_rewrite r = {.parallel.pp = pp[i]};

        CHECK_UINT(msim_rewrite_stages(&r), want[i]);
    }
}

/* ---- passes of a step ---------------------------------------------------- */

static void test_asked__passes(void)
{
    static const struct {
        const char *text;
        uint32_t want;
    } cases[] = {
        {"ps", 1},    {"pps", 2},   {"ppps", 3}, {"psps", 1}, {"ppspps", 2},
        {"pspps", 0}, {"ppsps", 0}, {"pp", 0},   {"pspp", 0}, {"ppspp", 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct msim_job *job = made_passes(cases[i].text);
        struct msim_error err = {0};
        uint32_t n = 99;

        REQUIRE(job != NULL);
        CHECK_INT(
            msim_rewrite_count_passes(&n, job->ranks[0], job->strings, &err),
            MSIM_OK);
        if (!CHECK_UINT(n, cases[i].want))
            fprintf(stderr, "of '%s'\n", cases[i].text);
        msim_job_free(job);
    }
}

static void test_asked__passes_of_no_execution_trace(void)
{
    struct msim_job *job = made_passes("ps");
    struct msim_error err = {0};
    uint32_t n = 99;

    REQUIRE(job != NULL);
    job->ranks[0]->has_et = false;
    CHECK_INT(msim_rewrite_count_passes(&n, job->ranks[0], job->strings, &err),
              MSIM_EUSAGE);
    CHECK_UINT(n, 0);
    CHECK(strstr(err.text, "has no ids of tensors") != NULL);
    err = (struct msim_error){0};
    n = 99;
    CHECK_INT(
        msim_rewrite_count_layers(&n, job->ranks[0], job->strings, "", &err),
        MSIM_EUSAGE);
    CHECK_UINT(n, 0);
    msim_job_free(job);
}

/* ---- a forward pass alone ------------------------------------------------ */

/* What changes backward, gradients or a step wants one; layers and ranks of
 * tensors do not, and say what else they lack. */
static void test_asked__forward_alone(void)
{
    static const struct {
        struct msim_rewrite r;
        bool forward;
    } cases[] = {
        {{.autocast = MSIM_DT_F16}, false},
        {{.mixed = MSIM_DT_BF16}, false},
        {{.fp8 = true}, false},
        {{.recompute_every = 1}, false},
        {{.offload_activations = true}, false},
        {{.accumulate = 2}, false},
        {{.world = 2}, false},
        {{.world = 2, .shard = MSIM_SHARD_FULL}, false},
        {{.optimizer_8bit = true}, false},
        {{.offload_states = true}, false},
        {{.in_backward = true}, false},
        {{.layers = 4, .layers_block = "other"}, true},
        {{.parallel.tp = 2}, true},
        {{.parallel.pp = 7}, true},
        {{.parallel.cp = 2}, true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct msim_job *job = made_step(4);
        struct msim_error err = {0};
        struct msim_trace *out;

        REQUIRE(job != NULL);
        CHECK_INT(msim_rewritten_new(&out, job->ranks[0], job->strings,
                                     &cases[i].r, &err),
                  MSIM_EUSAGE);
        CHECK(out == NULL);
        if (!CHECK((strstr(err.text, "no backward pass") == NULL) ==
                   cases[i].forward))
            fprintf(stderr, "case %zu: %s\n", i, err.text);
        msim_job_free(job);
    }
}

/* ---- the form of a GPU --------------------------------------------------- */

#define MATH "aten::_scaled_dot_product_attention_math"

static const struct made_node INFERENCE[] = {
    {10, 0, "aten::linear", 0, -1, "3:4000 1:4000", "20:4000"},
    {11, 0, MATH, 0, -1, "20:4000 20:4000 20:4000", "21:4000"},
    {12, 0, "aten::dropout", 0, -1, "21:4000", "22:4000"},
};

/* Nothing is kept for backward where there is none: that is no failure. */
static void test_asked__form_of_inference(void)
{
    struct msim_job *job = made_nodes(INFERENCE, 3);
    struct msim_trace *t = job ? job->ranks[0] : NULL;

    REQUIRE(job != NULL);
    CHECK(msim_gpu_form_is_other(job->ranks[0]));
    job->ranks[0]->cpu_only = true;
    CHECK_INT(msim_gpu_form_new(&t, job->ranks[0], job->strings), MSIM_OK);
    CHECK(t == NULL);
    msim_job_free(job);
}

/* A step on lists is another form, without attention and dropout, too; not of
 * what is no execution trace. */
static void test_asked__form_of_a_step(void)
{
    struct msim_job *job = made_step(N_MADE);
    struct msim_trace *t = NULL;

    REQUIRE(job != NULL);
    CHECK(!msim_gpu_form_is_other(job->ranks[0]));
    job->ranks[0]->cpu_only = true;
    CHECK_INT(msim_gpu_form_new(&t, job->ranks[0], job->strings), MSIM_OK);
    REQUIRE(t != NULL);
    CHECK(find_op(t, "aten::_foreach_addcdiv_", 0) != MSIM_NONE);
    msim_trace_free(t);
    t = job->ranks[0];
    job->ranks[0]->has_et = false;
    CHECK_INT(msim_gpu_form_new(&t, job->ranks[0], job->strings), MSIM_OK);
    CHECK(t == NULL);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_asked__is_none);
    RUN(test_asked__stages);
    RUN(test_asked__passes);
    RUN(test_asked__passes_of_no_execution_trace);
    RUN(test_asked__forward_alone);
    RUN(test_asked__form_of_inference);
    RUN(test_asked__form_of_a_step);
    return check_summary();
}
