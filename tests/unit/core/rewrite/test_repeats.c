/*
 * core/rewrite/weave/repeats.c - which blocks are one after the other of the
 * same kind, what they are called, and who is refused.
 */
#include "core/rewrite/weave/weave.h"

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

/* Statements of a block, each of which reads what the one before has made; the
 * last of each block reads `table`, too, unless that is 0. */
static void add_block(struct made_node *nodes, size_t *n, char (*texts)[64],
                      const char *const names[4], unsigned table)
{
    for (int i = 0; i < 4; i++, ++*n) {
        unsigned at = 100 + (unsigned)*n;
        char *in = texts[2 * *n], *out = texts[2 * *n + 1];

        snprintf(in, 64, "%u:4000 %u:4000", at - 1,
                 i == 3 && table ? table : 500 + at);
        snprintf(out, 64, "%u:4000", at);
        nodes[*n] =
            (struct made_node){(unsigned)*n + 10, 0, names[i], 0, -1, in, out};
    }
}

/*
 * Three blocks that all read what the first statement makes, and four of
 * another kind behind them that read what the third has made:
 *
 *     table | linear relu linear add(x, table) | x 3 | matmul gelu matmul
 * sub(x, memory) | x 4
 */
static void test_repeats__tables_and_memory(void)
{
    static const char *const A[] = {"aten::linear", "aten::relu",
                                    "aten::linear", "aten::add"};
    static const char *const B[] = {"aten::matmul", "aten::gelu",
                                    "aten::matmul", "aten::sub"};
    static char texts[80][64];
    struct made_node nodes[40] = {{0}};
    struct seen x = {0};
    size_t n = 1;

    nodes[0] = (struct made_node){9, 0, "aten::arange", 0, -1, "", "100:4000"};
    for (int i = 0; i < 3; i++)
        add_block(nodes, &n, texts, A, 100);
    for (int i = 0; i < 4; i++)
        add_block(nodes, &n, texts, B, 112);
    x.job = made_nodes(nodes, n);
    REQUIRE(x.job != NULL);
    CHECK_INT(
        msim_weave_open_forward(&x.w, x.job->ranks[0], x.job->strings, &x.err),
        MSIM_OK);
    CHECK_INT(msim_repeats_find(&x.r, &x.w), MSIM_OK);
    CHECK_UINT(x.r.n, 2);
    if (x.r.n == 2) {
        CHECK_STR(x.r.rows[0].name, "encoder");
        CHECK_UINT(x.r.rows[0].n, 3);
        CHECK_STR(x.r.rows[1].name, "decoder");
        CHECK_UINT(x.r.rows[1].n, 4);
    }
    done(&x);
}

int main(void)
{
    RUN(test_repeats__one);
    RUN(test_repeats__other_sizes);
    RUN(test_repeats__tables_and_memory);
    return check_summary();
}
