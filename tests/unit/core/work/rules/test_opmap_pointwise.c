/*
 * Operators on each element: what they read and write, in which type, and
 * whether each address is computed.
 */
#include "tests/unit/made_works.h"

static struct build b;

/* 3 x 5 numbers. A number or a smaller tensor stretches, both ways. */
static void test_opmap_pointwise__results(void)
{
    static const struct works_row rows[] = {
        {"aten::add", "f32[3,5] f32[3,5] 1", NULL,
         "pointwise:add fp32 1x15 15/120/60"},
        {"aten::add", "f32[3,5] f32[5] 1", NULL,
         "pointwise:add fp32 1x15 addressed 15/80/60"},
        {"aten::add", "f32[3,1] f32[5] 1", NULL,
         "pointwise:add fp32 1x15 addressed 15/32/60"},
        {"aten::add", "f32[3,5] f32[] 1", NULL,
         "pointwise:addu fp32 1x15 15/64/60"},
        {"aten::mul", "f32[3,5] 2.0", NULL,
         "pointwise:mulu fp32 1x15 15/60/60"},
        {"aten::div", "f32[3,5] f32[]", NULL,
         "pointwise:divu fp32 1x15 15/64/60"},
        {"aten::sub", "f32[3,5] f32[]", NULL,
         "pointwise:sub fp32 1x15 15/64/60"},
        {"aten::pow", "f32[3,5] 2", NULL, "pointwise:powu fp32 1x15 150/60/60"},
        {"aten::add", "f16[3,5] f32[] 1", NULL,
         "pointwise:addu fp16 1x15 15/34/30"},
        {"aten::add", "f16[3,5] f32[3,5] 1", NULL,
         "pointwise:add fp32 1x15 15/90/60"},
        {"aten::add", "i64[3,5] f16[3,5] 1", NULL,
         "pointwise:add fp16 1x15 15/150/30"},
        {"aten::add", "f32[3,5] i64[3,5] 1", NULL,
         "pointwise:add fp32 1x15 15/180/60"},
        {"aten::add", "f16[3,5] f16[3,5] 1", "f32[3,5]",
         "pointwise:add fp16 1x15 15/60/60"},
        {"aten::add_", "f16[3,5] f32[5] 1", "f32[9,9]",
         "pointwise:add fp32 1x15 addressed 15/50/30 in_place"},
        {"aten::eq", "f32[3,5] f32[3,5]", NULL,
         "pointwise:eq fp32 1x15 15/120/15"},
        {"aten::addcmul", "f32[3,5] f32[3,5] f32[5]", NULL,
         "pointwise:addcmul fp32 1x15 addressed 45/140/60"},
        {"aten::bernoulli_", "f16[3,5] 0.5", NULL,
         "pointwise:bernoulli_ fp16 1x15 15/0/30 in_place"},
        {"aten::add", "none none", NULL, "unknown"},
        {"aten::arange", "5 none", "i64[5]",
         "pointwise:arange int64 1x5 5/0/40"},
        {"aten::arange", "5 none", NULL, "unknown"},
        {"aten::arange", "i64[7]", NULL, "pointwise:arange int64 1x7 7/0/56"},
        {"aten::_fused_dropout", "f16[3,5] 0.5", NULL,
         "pointwise:dropout fp16 1x15 60/30/45"},
        {"aten::_fused_dropout", "none 0.5", NULL, "unknown"},
        {"aten::abs", "f32[]", NULL, "pointwise:abs fp32 1x1 1/4/4"},
    };

    WORKS_CHECK(rows);
}

/* Operands of the result's size with gaps, or of different orders; a smaller
 * one. One number is none, and what is only written is not looked at. */
static void test_opmap_pointwise__addresses(void)
{
    enum {
        P = MSIM_LAYOUT_PLAIN,
        T = MSIM_LAYOUT_TURNED,
        G = MSIM_LAYOUT_GAPS
    };
    static const struct {
        const char *name, *args;
        uint8_t layouts[2];
        bool addressed;
    } cases[] = {
        {"aten::add", "f32[3,5] f32[3,5]", {P, P}, false},
        {"aten::add", "f32[3,5] f32[3,5]", {T, T}, false},
        {"aten::add", "f32[3,5] f32[3,5]", {T, P}, true},
        {"aten::add", "f32[3,5] f32[3,5]", {P, T}, true},
        {"aten::add", "f32[3,5] f32[3,5]", {P, G}, true},
        {"aten::add", "f32[3,5] f32[5]", {P, P}, true},
        {"aten::add", "f32[3,5] f32[1]", {P, P}, false},
        {"aten::add", "f32[3,5] f32[1]", {P, G}, false},
        {"aten::add", "f32[3,5] f32[1]", {T, P}, false},
        {"aten::bernoulli_", "f32[3,5] 0.5", {G, P}, false},
    };
    struct works_text x;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        build_init(&b);
        build_op(&b, 0, cases[i].name, cases[i].args, NULL);
        b.args[0].layout = cases[i].layouts[0];
        b.args[1].layout = cases[i].layouts[1];
        works_of(&x, &b.t, 0, -1, MSIM_OPMAP_AS_TRACED);
        if (!CHECK_INT(strstr(x.s, "addressed") != NULL, cases[i].addressed))
            fprintf(stderr, "  case %zu: %s\n", i, x.s);
        build_release(&b);
    }
}

/* Arguments may begin with what is written: that is not read. */
static void test_opmap_pointwise__out_first(void)
{
    struct works_text x;

    build_init(&b);
    build_op(&b, 0, "_C::silu_and_mul", "f16[3,5] f16[3,10] f16[7]", NULL);
    works_of(&x, &b.t, 0, -1, MSIM_OPMAP_AS_TRACED);
    CHECK(strstr(x.s, " fp16 1x30 "));
    CHECK(strstr(x.s, "/60/"));
    build_release(&b);
}

/* Leave out the FLOPs of the first work: its bytes are what is asked here. */
static void cut_flops(struct works_text *x)
{
    char *end = strchr(x->s, '/'), *begin = end;

    while (begin > x->s && begin[-1] != ' ')
        begin--;
    if (end)
        memmove(begin, end, strlen(end) + 1);
}

/* Sizes that are not recorded are those of the launch: 3 blocks of 64 threads,
 * with 4 values each where operands are read. */
static void test_opmap_pointwise__launches(void)
{
    static const struct {
        const char *name, *args, *want;
    } cases[] = {
        {"aten::add", "none none", "pointwise:add fp32 1x768 /6144/3072"},
        {"aten::abs", "none", "pointwise:abs fp32 1x768 /3072/3072"},
        {"aten::arange", "5", "pointwise:arange fp32 1x192 /0/768"},
        {"aten::mse_loss", "none none 0",
         "pointwise:mse_loss fp32 1x768 /6144/3072"},
        {"aten::_fused_dropout", "none 0.5", "unknown"},
    };
    struct works_text x;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        build_init(&b);
        build_op(&b, 0, cases[i].name, cases[i].args, NULL);
        build_kernel(&b, 0, "void at::native::elementwise_kernel<4>", 3, 64);
        works_of(&x, &b.t, 0, 1, MSIM_OPMAP_AS_TRACED);
        cut_flops(&x);
        CHECK_STR(x.s, cases[i].want);
        build_release(&b);
    }
    build_init(&b);
    build_op(&b, 0, "aten::arange", "5", NULL);
    build_kernel(&b, 0, "k", 3, 64)->config = MSIM_NONE;
    works_of(&x, &b.t, 0, 1, MSIM_OPMAP_AS_TRACED);
    CHECK_STR(x.s, "unknown");
    build_release(&b);
}

/* A mean or a sum of losses is a second kernel, unless an operator below makes
 * it; on a GPU what a CPU calls below has no work. */
static void test_opmap_pointwise__losses(void)
{
    static const struct {
        const char *args, *below, *outs;
        enum msim_opmap_place place;
        const char *want;
    } cases[] = {
        {"f16[3,5] f16[3,5] 0", NULL, NULL, MSIM_OPMAP_AS_TRACED,
         "pointwise:mse_loss fp16 1x15 /60/30"},
        {"f16[3,5] f16[3,5] 1", NULL, "f16[]", MSIM_OPMAP_AS_TRACED,
         "pointwise:mse_loss fp16 1x15 /60/30; reduction:mean fp16 1x15 along "
         "15/30/2"},
        {"f16[3,5] f16[5] 2", NULL, NULL, MSIM_OPMAP_AS_TRACED,
         "pointwise:mse_loss fp16 1x15 addressed /40/30; reduction:mean fp16 "
         "1x15 along 15/30/2"},
        {"f16[3,5] f16[3,5] 1", "aten::mean", "f16[]", MSIM_OPMAP_AS_TRACED,
         "pointwise:mse_loss fp16 1x15 /60/30"},
        {"f16[3,5] f16[3,5] 1", "aten::sum", "f16[]", MSIM_OPMAP_AS_TRACED,
         "pointwise:mse_loss fp16 1x15 /60/30"},
        {"f16[3,5] f16[3,5] 1", "aten::view", "f16[]", MSIM_OPMAP_AS_TRACED,
         "pointwise:mse_loss fp16 1x15 /60/30; reduction:mean fp16 1x15 along "
         "15/30/2"},
        {"f16[3,5] f16[3,5] 1", "aten::mean", "f16[]", MSIM_OPMAP_ON_GPU,
         "pointwise:mse_loss fp16 1x15 /60/30; reduction:mean fp16 1x15 along "
         "15/30/2"},
        {"f16[3,5] f16[3,5]", NULL, NULL, MSIM_OPMAP_AS_TRACED,
         "pointwise:mse_loss fp16 1x15 /60/30"},
    };
    struct works_text x;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        build_init(&b);
        build_op(&b, 0, "aten::mse_loss", cases[i].args, cases[i].outs);
        if (cases[i].below)
            build_op(&b, 1, cases[i].below, "f16[3,5]", NULL);
        build_op(&b, 0, "aten::mean", "f16[3,5]", NULL);
        works_of(&x, &b.t, 0, cases[i].place == MSIM_OPMAP_ON_GPU ? -1 : 1,
                 cases[i].place);
        cut_flops(&x);
        CHECK_STR(x.s, cases[i].want);
        build_release(&b);
    }
}

/* aten::dropout stands for the kernel where a CPU's chain is below it. */
static void test_opmap_pointwise__dropout_chain(void)
{
    struct works_text x;

    build_init(&b);
    build_op(&b, 0, "aten::dropout", "f16[3,5] 0.5 true", NULL);
    build_op(&b, 1, "aten::mul", "f16[3,5] f16[3,5]", NULL);
    build_op(&b, 0, "aten::dropout", "f16[3,5] 0.5 false", NULL);
    works_of(&x, &b.t, 0, -1, MSIM_OPMAP_ON_GPU);
    CHECK_STR(x.s, "pointwise:dropout fp16 1x15 60/30/45");
    works_of(&x, &b.t, 0, -1, MSIM_OPMAP_AS_TRACED);
    CHECK_STR(x.s, "none");
    works_of(&x, &b.t, 2, -1, MSIM_OPMAP_ON_GPU);
    CHECK_STR(x.s, "none");
    build_release(&b);
}

int main(void)
{
    RUN(test_opmap_pointwise__results);
    RUN(test_opmap_pointwise__addresses);
    RUN(test_opmap_pointwise__out_first);
    RUN(test_opmap_pointwise__launches);
    RUN(test_opmap_pointwise__losses);
    RUN(test_opmap_pointwise__dropout_chain);
    return check_summary();
}
