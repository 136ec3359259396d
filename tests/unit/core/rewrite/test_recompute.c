/*
 * tests/unit/core/rewrite/test_recompute.c - blocks that are computed again,
 * and those that a trace computes again already.
 */
#include "tests/unit/core/rewrite/trained_step.h"

#define EXTRA 4

/* The step with products, of which backward has one of each layer and `extra`
 * more. */
static size_t make(struct made_node to[N_MADE + EXTRA], uint32_t extra)
{
    size_t n = 0;

    for (size_t i = 0; i < N_MADE; i++) {
        struct made_node *x = &to[n++];

        *x = MADE_STEP[i];
        if (strncmp(x->name, "aten::linear", 12) != 0)
            continue;
        x->name = "aten::mm";
        if (!x->parent)
            continue;
        for (uint32_t k = 0; k < 2 && extra; k++, extra--) {
            to[n] = *x;
            to[n].id += 1 + k;
            to[n++].out = "";
        }
    }
    return n;
}

/* Two products of each of forward are backward's, and a third is forward once
 * more: five for two may be either, and are taken for backward. */
static void test_recompute__recorded(void)
{
    static const char *const why =
        "the backward passes of the trace have three products for each of "
        "forward: its blocks are computed again already";
    struct made_node nodes[N_MADE + EXTRA];

    for (uint32_t extra = 2; extra <= EXTRA; extra++) {
        struct msim_rewrite r = {.recompute_every = 1};
        struct msim_job *job = made_nodes(nodes, make(nodes, extra));
        struct msim_error err = {0};
        struct msim_trace *t;

        REQUIRE(job != NULL);
        CHECK_INT(msim_rewritten_new(&t, job->ranks[0], job->strings, &r, &err),
                  extra < 4 ? MSIM_OK : MSIM_EUSAGE);
        CHECK_STR(err.text, extra < 4 ? "" : why);
        if (t)
            CHECK_UINT(count_ops(t, "aten::mm"), 2 + 2 + 2 + extra);
        msim_trace_free(t);
        /* who names operators knows which */
        snprintf(r.recompute_ops, sizeof(r.recompute_ops), "aten::relu");
        CHECK_INT(msim_rewritten_new(&t, job->ranks[0], job->strings, &r, NULL),
                  MSIM_OK);
        REQUIRE(t != NULL);
        CHECK_UINT(count_ops(t, "aten::mm"), 2 + 2 + extra);
        CHECK_UINT(count_ops(t, "aten::relu"), 4);
        msim_trace_free(t);
        msim_job_free(job);
    }
}

/* One of two: the first, whose second run comes before its backward alone. */
static void test_recompute__some(void)
{
    const struct msim_rewrite r = {.recompute_every = 2};
    struct made_changed m;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(count_ops(m.t, "aten::linear"), 3);
    CHECK(find_op(m.t, "aten::linear", 2) >
          find_op(m.t, "aten::linear_backward", 0));
    CHECK_UINT(life_in(&m, "aten::linear", 2, 1),
               life_in(&m, "aten::linear", 0, 1));
    done_step(&m);
}

/* A forward pass that backward reads nothing of. */
static void test_recompute__not_read(void)
{
    const struct msim_rewrite r = {.recompute_every = 1};
    struct made_node nodes[N_MADE];
    struct msim_error err = {0};
    struct msim_trace *t;
    struct msim_job *job;

    memcpy(nodes, MADE_STEP, sizeof(nodes));
    for (size_t i = 0; i < N_MADE; i++)
        if (strstr(nodes[i].name, "_backward"))
            nodes[i].in = "30:4000";
    job = made_nodes(nodes, N_MADE);
    REQUIRE(job != NULL);
    CHECK_INT(msim_rewritten_new(&t, job->ranks[0], job->strings, &r, &err),
              MSIM_EUSAGE);
    CHECK_STR(err.text, "what the blocks of the trace compute is not read "
                        "again by their backward passes, so that nothing can "
                        "be computed again");
    msim_job_free(job);
}

int main(void)
{
    RUN(test_recompute__recorded);
    RUN(test_recompute__some);
    RUN(test_recompute__not_read);
    return check_summary();
}
