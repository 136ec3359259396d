/*
 * core/rewrite/weave/repeats.c - which blocks are one after the other of the
 * same kind, what they are called, and who is refused.
 */
#include "core/rewrite/weave/repeats.h"

#include "tests/unit/core/rewrite/trained_step.h"

/* A weave of the step of two layers, and what repeats in it. */
struct seen {
    struct msim_job *job;
    struct msim_weave w;
    struct msim_repeats r;
    struct msim_error err;
};

static bool see(struct seen *x, const struct made_node *nodes, size_t n)
{
    *x = (struct seen){.job = made_nodes(nodes, n)};
    return CHECK(x->job != NULL) &&
           CHECK_INT(msim_weave_open(&x->w, x->job->ranks[0], x->job->strings,
                                     &x->err),
                     MSIM_OK) &&
           CHECK_INT(msim_repeats_find(&x->r, &x->w), MSIM_OK);
}

static void done(struct seen *x)
{
    msim_repeats_release(&x->r);
    msim_weave_close(&x->w);
    msim_job_free(x->job);
}

/* Two blocks of linear and relu, one behind the other. */
static void test_repeats__one(void)
{
    const struct msim_repeat *row;
    struct seen x;

    REQUIRE(see(&x, MADE_STEP, N_MADE));
    CHECK_UINT(x.r.n, 1);
    CHECK_INT(msim_repeats_choose(&row, &x.r, &x.w, NULL), MSIM_OK);
    CHECK_STR(row->name, "blocks");
    CHECK_UINT(row->n, 2);
    /* linear relu, linear relu, loss; backward of the second, of the first */
    CHECK_UINT(msim_repeat_place(row, &x.w.a, 0), 1);
    CHECK_UINT(msim_repeat_place(row, &x.w.a, 3), 2);
    CHECK_UINT(msim_repeat_place(row, &x.w.a, 4), 0);
    CHECK_UINT(msim_repeat_place(row, &x.w.a, 6), 2);
    CHECK_UINT(msim_repeat_place(row, &x.w.a, 9), 1);
    CHECK_INT(msim_repeats_choose(&row, &x.r, &x.w, "decoder"), MSIM_EUSAGE);
    CHECK_STR(x.err.text,
              "no block \"decoder\" in the trace; it has \"blocks\" (2)");
    done(&x);
}

/* The second layer has half the width: equal operators, other sizes. */
static void test_repeats__other_sizes(void)
{
    struct made_node nodes[N_MADE];
    const struct msim_repeat *row;
    struct seen x;

    memcpy(nodes, MADE_STEP, sizeof(nodes));
    nodes[2].out = "22:2000";
    nodes[3].in = "22:2000";
    nodes[3].out = "23:2000";
    REQUIRE(see(&x, nodes, N_MADE));
    CHECK_UINT(x.r.n, 0);
    CHECK_INT(msim_repeats_choose(&row, &x.r, &x.w, NULL), MSIM_EUSAGE);
    CHECK(strstr(x.err.text, "2 blocks of layers") != NULL);
    done(&x);
}

int main(void)
{
    RUN(test_repeats__one);
    RUN(test_repeats__other_sizes);
    return check_summary();
}
