/*
 * The operators of a step, in the order in which they began.
 */
#include "replay/run/replay_plan.h"

#include "tests/unit/made_ops.h"

/* Operators a, b(c(d)), label(e), a on two threads: their node ids and times
 * are in other orders than they stand in. */
static void fill(struct build *b, struct msim_step *steps)
{
    static const struct {
        uint32_t depth;
        const char *name;
        uint32_t node, us;
        uint8_t kind;
    } ROWS[] = {{0, "aten::a", 30, 5, MSIM_OP_OPERATOR},
                {0, "aten::b", 31, 6, MSIM_OP_OPERATOR},
                {1, "aten::c", 32, 7, MSIM_OP_OPERATOR},
                {2, "aten::d", 33, 8, MSIM_OP_OPERATOR},
                {0, "label", 40, 20, MSIM_OP_ANNOTATION},
                {1, "aten::e", 41, 22, MSIM_OP_OPERATOR},
                {0, "aten::a", 10, 5, MSIM_OP_OPERATOR},
                {0, "aten::f", 42, 1, MSIM_OP_OPERATOR}};

    build_init(b);
    for (uint32_t i = 0; i < 8; i++) {
        struct msim_op *op =
            &b->ops[build_op(b, ROWS[i].depth, ROWS[i].name, "", NULL)];

        op->et_id = ROWS[i].node;
        op->start = ROWS[i].us;
        op->kind = ROWS[i].kind;
    }
    steps[0] = (struct msim_step){
        .start = 5, .dur = 17, .node_from = 31, .node_to = 42};
    b->t.steps = steps;
    b->t.n_steps = 1;
}

/* By time where there are times, else by node; of equals the first. */
static void test_ops__in_order(void)
{
    static const struct {
        bool has_times;
        uint32_t step;
        struct msim_choice choice;
        const char *ops;
    } ROWS[] = {
        {true, MSIM_NONE, {0}, "7 0 6 1 2 3 5 "},
        {false, MSIM_NONE, {0}, "6 0 1 2 3 5 7 "},
        {true, 0, {0}, "0 6 1 2 3 "}, /* from 5 to 21 */
        {false, 0, {0}, "1 2 3 5 "},  /* from 31 to 41 */
        /* by the name of an operator, or of one around it; a label is none */
        {true, MSIM_NONE, {.ops = "aten::a"}, "0 6 "},
        {true, MSIM_NONE, {.ops = "aten::c"}, "2 3 "},
        {true, MSIM_NONE, {.ops = "aten::b"}, "1 2 3 "},
        {true, MSIM_NONE, {.ops = "label"}, ""},
        {true, MSIM_NONE, {.ops = "aten::[ce]"}, "2 3 5 "},
        {true, MSIM_NONE, {.exclude = "aten::c"}, "7 0 6 1 5 "},
        {true, MSIM_NONE, {.ops = "aten::b", .exclude = "aten::d"}, "1 2 "},
        {true, MSIM_NONE, {.exclude = "label"}, "7 0 6 1 2 3 5 "},
        {true, MSIM_NONE, {.ops = "aten::z"}, ""},
        /* and by what else a choice says */
        {true, MSIM_NONE, {.from = 31, .to = 33}, "1 2 3 "},
        {true, 0, {.from = 10, .to = 31, .ops = "aten::a"}, "0 6 "},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        static struct build b;
        struct msim_step steps[1];
        struct msim_vec ops = {0};
        char text[64] = "";
        size_t n = 0;

        fill(&b, steps);
        b.t.has_times = ROWS[i].has_times;
        for (int again = 0; again < 2; again++) /* what was there is gone */
            CHECK_INT(msim_step_ops(&ops, &b.t, ROWS[i].step, &ROWS[i].choice),
                      MSIM_OK);
        for (uint32_t k = 0; k < ops.n; k++)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%u ",
                                  ((uint32_t *)ops.data)[k]);
        CHECK_STR(text, ROWS[i].ops);
        free(ops.data);
        build_release(&b);
    }
}

int main(void)
{
    RUN(test_ops__in_order);
    return check_summary();
}
