/*
 * tests/unit/core/rewrite/test_offload_activations.c - which tensors wait on
 * the host between forward and backward.
 */
#include "tests/unit/core/rewrite/made_passes.h"

static const struct msim_rewrite R = {.offload_activations = true};

/* The step with results of relu of other sizes, in all nodes that name them. */
static void resize(struct made_node nodes[N_MADE], const char *first,
                   const char *second, char texts[2 * N_MADE][64])
{
    memcpy(nodes, MADE_STEP, sizeof(MADE_STEP));
    for (size_t i = 0; i < 2 * N_MADE; i++) {
        const char **side = i % 2 ? &nodes[i / 2].out : &nodes[i / 2].in;
        size_t n = 0;

        for (const char *at = *side; *at;) {
            const char *size = !strncmp(at, "21:4000", 7)   ? first
                               : !strncmp(at, "23:4000", 7) ? second
                                                            : NULL;

            if (size)
                n += (size_t)snprintf(texts[i] + n, 64 - n, "%.3s%s", at, size);
            else
                texts[i][n++] = *at;
            at += size ? 7 : 1;
        }
        texts[i][n] = '\0';
        *side = texts[i];
    }
}

/* From 1 KiB on, which are 256 numbers. */
static void test_offload_activations__sizes(void)
{
    static const struct {
        const char *first, *second;
        uint32_t copies;
    } cases[] = {{"256", "256", 4}, {"255", "256", 2}, {"256", "255", 2}};
    static char texts[2 * N_MADE][64];
    struct made_node nodes[N_MADE];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct made_changed m;

        resize(nodes, cases[i].first, cases[i].second, texts);
        REQUIRE(change_nodes(&m, nodes, N_MADE, &R));
        CHECK_UINT(count_ops(m.t, "aten::copy_"), cases[i].copies);
        CHECK_UINT(count_ops(m.t, "aten::empty"), cases[i].copies);
        done_step(&m);
    }
}

static void test_offload_activations__none(void)
{
    static char texts[2 * N_MADE][64];
    struct made_node nodes[N_MADE];
    struct msim_error err = {0};
    struct msim_trace *out;
    struct msim_job *job;

    resize(nodes, "255", "10", texts);
    job = made_nodes(nodes, N_MADE);
    REQUIRE(job != NULL);
    CHECK_INT(msim_rewritten_new(&out, job->ranks[0], job->strings, &R, &err),
              MSIM_EUSAGE);
    CHECK_STR(err.text, "backward reads no tensor of 1 KiB or more that "
                        "forward of the trace makes, so that none can be "
                        "offloaded");
    msim_job_free(job);
}

/* Each micro batch has its own: down behind its forward, up before its
 * backward. */
static void test_offload_activations__micro_batches(void)
{
    struct msim_job *job = made_passes("pps");
    struct msim_error err = {0};
    struct msim_trace *t;

    REQUIRE(job != NULL);
    CHECK_INT(msim_rewritten_new(&t, job->ranks[0], job->strings, &R, &err),
              MSIM_OK);
    REQUIRE(t != NULL);
    CHECK_UINT(count_ops(t, "aten::copy_"), 4);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t down = find_op(t, "aten::copy_", 2 * k),
                 up = find_op(t, "aten::copy_", 2 * k + 1);

        CHECK(find_op(t, "aten::linear", k) < down);
        CHECK(down < up && up < find_op(t, "aten::linear_backward", k));
        CHECK_ARGS(t, t->ops[down].args, "fp32[4000]@host fp32[4000]@gpu");
        CHECK_ARGS(t, t->ops[up].args, "fp32[4000]@gpu fp32[4000]@host");
    }
    msim_trace_free(t);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_offload_activations__sizes);
    RUN(test_offload_activations__none);
    RUN(test_offload_activations__micro_batches);
    return check_summary();
}
