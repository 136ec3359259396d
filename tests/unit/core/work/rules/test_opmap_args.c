/*
 * Reading of an operator's arguments, launches and passes, by the functions
 * that rules call.
 */
#include "core/work/rules/opmap_rule.h"
#include "tests/unit/made_ops.h"

static struct build b;

static struct msim_opmap_ctx ctx_of(uint32_t op, int launched)
{
    return (struct msim_opmap_ctx){.t = &b.t,
                                   .op = &b.ops[op],
                                   .index = op,
                                   .launched = launched,
                                   .missing = MSIM_DT_F16};
}

static void test_opmap_args__counts(void)
{
    static const struct {
        double x;
        int64_t want;
    } cases[] = {
        {-1, 0},
        {0, 0},
        {(double)NAN, 0},
        {0.9, 0},
        {1, 1},
        {1.9, 1},
        {8e18, INT64_C(8000000000000000000)},
        {9e18, INT64_C(9000000000000000000)},
        {1e19, INT64_C(9000000000000000000)},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_INT(msim_opmap_count(cases[i].x), cases[i].want);
}

/* Tensors by their place and by their number; a type that is not recorded is
 * that of the kernels, of other operators fp32. */
static void test_opmap_args__tensors(void)
{
    struct msim_opmap_ctx c;
    struct msim_operand o;

    build_init(&b);
    build_op(&b, 0, "x", "f32[3,5] none any[7]@ (f32[2]) f32[]",
             "none f16[11] f32[0,4]");
    c = ctx_of(0, -1);
    CHECK(msim_opmap_tensor(&c, 0, &o));
    CHECK_INT((int64_t)o.elems, 15);
    CHECK_INT((int64_t)o.bytes, 60);
    CHECK_INT(o.rank, 2);
    CHECK_INT(o.dtype, MSIM_DT_F32);
    CHECK_INT(o.device, MSIM_DEV_GPU);
    CHECK_INT(msim_operand_dim(&o, 0), 3);
    CHECK_INT(msim_operand_dim(&o, 1), 5);
    CHECK_INT(msim_operand_dim(&o, 2), 1);
    CHECK_INT(msim_operand_dim(&o, -1), 5);
    CHECK_INT(msim_operand_dim(&o, -2), 3);
    CHECK_INT(msim_operand_dim(&o, -3), 1);
    CHECK(!msim_opmap_tensor(&c, 1, &o));
    CHECK(!msim_opmap_tensor(&c, 3, &o));
    CHECK(!msim_opmap_tensor(&c, 5, &o));
    CHECK(msim_opmap_tensor(&c, 2, &o));
    CHECK_INT(o.dtype, MSIM_DT_F16);
    CHECK_INT((int64_t)o.bytes, 14);
    CHECK_INT(o.device, MSIM_DEV_CPU);
    CHECK(msim_opmap_tensor_of(&b.t, 0, 2, &o));
    CHECK_INT(o.dtype, MSIM_DT_F32);
    CHECK(msim_opmap_nth_tensor(&c, 1, &o));
    CHECK_INT((int64_t)o.elems, 7);
    CHECK(msim_opmap_nth_tensor(&c, 2, &o));
    CHECK_INT((int64_t)o.elems, 1);
    CHECK(!msim_opmap_nth_tensor(&c, 3, &o));
    CHECK(msim_opmap_output(&c, 0, &o));
    CHECK_INT((int64_t)o.elems, 11);
    CHECK(msim_opmap_output(&c, 1, &o));
    CHECK_INT((int64_t)o.elems, 0);
    CHECK(!msim_opmap_output(&c, 2, &o));
    b.ops[0].outs = MSIM_NONE;
    CHECK(!msim_opmap_output(&c, 0, &o));
    b.dims[0] = -3; /* a size that is not known */
    CHECK(msim_opmap_tensor(&c, 0, &o));
    CHECK_INT((int64_t)o.elems, 0);
    CHECK_INT(msim_operand_dim(&o, 0), 1);
    build_release(&b);
}

/* Blocks are of 65,536 elements, one for what is left of each tensor. */
static void test_opmap_args__lists(void)
{
    struct msim_opmap_ctx c;
    struct msim_tensor_list l;
    int64_t v[3] = {-7, -7, -7};

    build_init(&b);
    build_op(&b, 0, "x",
             "(f16[3,5]@ none 4 f32[65535] any[65536]) () f32[3] (2 true none "
             "3 5) (9)",
             NULL);
    c = ctx_of(0, -1);
    CHECK(msim_opmap_list(&c, 0, &l));
    CHECK_INT(l.n, 3);
    CHECK_INT((int64_t)l.elems, 15 + 65535 + 65536);
    CHECK_INT((int64_t)l.bytes, 30 + 4 * (65535 + 65536));
    CHECK_INT((int64_t)l.chunks, 1 + 1 + 2);
    CHECK_INT(l.dtype, MSIM_DT_F16);
    CHECK_INT(l.device, MSIM_DEV_CPU);
    CHECK(l.plain);
    b.args[1].layout = MSIM_LAYOUT_TURNED;
    CHECK(msim_opmap_list(&c, 0, &l));
    CHECK(!l.plain);
    CHECK(!msim_opmap_list(&c, 1, &l));
    CHECK_INT(l.n, 0);
    CHECK(!msim_opmap_list(&c, 2, &l));
    CHECK(!msim_opmap_list(&c, 9, &l));
    CHECK_INT(msim_opmap_ints(&c, 3, v, 2), 2);
    CHECK_INT(v[0], 2);
    CHECK_INT(v[1], 1);
    CHECK_INT(v[2], -7);
    CHECK_INT(msim_opmap_ints(&c, 3, v, 3), 3);
    CHECK_INT(v[2], 3);
    CHECK_INT(msim_opmap_ints(&c, 4, v, 3), 1);
    CHECK_INT(v[0], 9);
    CHECK_INT(v[1], 1);
    CHECK_INT(msim_opmap_ints(&c, 2, v, 3), 0);
    CHECK_INT(msim_opmap_ints(&c, 9, v, 3), 0);
    build_release(&b);
}

static void test_opmap_args__scalars(void)
{
    /* the kind of each argument: may it be an integer, a real? */
    static const struct {
        bool is_int, is_real;
        int64_t i;
        double f;
    } cases[] = {{true, true, 3, 3},    {true, false, 1, 0},
                 {false, true, 0, 2.5}, {false, false, 0, 0},
                 {false, false, 0, 0},  {false, false, 0, 0}};
    struct msim_opmap_ctx c;

    build_init(&b);
    build_op(&b, 0, "x", "3 true 2.5 none f32[3]", NULL);
    c = ctx_of(0, -1);
    for (uint32_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        int64_t i = -7;
        double f = -7;

        CHECK_INT(msim_opmap_int(&c, k, &i), cases[k].is_int);
        CHECK_INT(i, cases[k].is_int ? cases[k].i : -7);
        CHECK_INT(msim_opmap_real(&c, k, &f), cases[k].is_real);
        CHECK_REL(f, cases[k].is_real ? cases[k].f : -7, 0);
    }
    build_release(&b);
}

/* The most works of an operator, and what each starts as. */
static void test_opmap_args__works(void)
{
    struct msim_work works[MSIM_OPMAP_MAX];
    const struct msim_opmap_row rows[] = {{.name = "add"},
                                          {.name = "add", .variant = "sum"}};
    struct msim_opmap_ctx c;

    build_init(&b);
    build_op(&b, 0, "aten::add", "f32[3]", NULL);
    memset(works, 0x55, sizeof(works));
    c = ctx_of(0, -1);
    c.works = works;
    for (uint32_t k = 0; k < MSIM_OPMAP_MAX; k++) {
        struct msim_work *w =
            msim_opmap_work(&c, MSIM_FAMILY_COPY, MSIM_DT_F64, "v");

        CHECK(w == &works[k]);
        CHECK_INT(w->family, MSIM_FAMILY_COPY);
        CHECK_INT(w->dtype, MSIM_DT_F64);
        CHECK_STR(w->variant, "v");
        CHECK_INT(w->kernels, 1);
        CHECK_INT(w->u.vector.elems, 0);
        CHECK(!w->in_place);
    }
    CHECK(!msim_opmap_work(&c, MSIM_FAMILY_COPY, MSIM_DT_F64, "v"));
    CHECK_INT(c.n, MSIM_OPMAP_MAX);
    CHECK_STR(msim_opmap_variant(&rows[0]), "add");
    CHECK_STR(msim_opmap_variant(&rows[1]), "sum");
    build_release(&b);
}

/* Memory that empty() has just made is new, whatever names write it. */
static void test_opmap_args__in_place(void)
{
    static const struct {
        const char *before, *outer, *name;
        bool in_place;
    } cases[] = {
        {"aten::relu", NULL, "aten::fill_", true},
        {"aten::empty", "aten::zeros", "aten::fill_", false},
        {"aten::empty_like", "aten::zeros", "aten::fill_", false},
        {"aten::view", "aten::zeros", "aten::fill_", true},
        {NULL, NULL, "aten::fill_", true},
        {NULL, "Optimizer.step", "aten::fill_", true}, /* its first child */
        {NULL, NULL, "aten::fill", false},
        {NULL, NULL, "aten::zero", true}, /* for the caller's own operand */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_work works[MSIM_OPMAP_MAX];
        struct msim_opmap_ctx c;
        uint32_t depth = cases[i].outer != NULL, op;

        build_init(&b);
        if (cases[i].outer)
            build_op(&b, 0, cases[i].outer, "", NULL);
        if (cases[i].before)
            build_op(&b, depth, cases[i].before, "", NULL);
        build_op(&b, depth, "aten::zero_", "f32[3]", NULL);
        op = build_op(&b, depth + 1, cases[i].name, "f32[3]", NULL);
        c = ctx_of(op, -1);
        c.works = works;
        CHECK_INT(
            msim_opmap_work(&c, MSIM_FAMILY_COPY, MSIM_DT_F32, "")->in_place,
            cases[i].in_place);
        build_release(&b);
    }
}

/* Kernels in their order, as many as were counted; copies between them, and
 * behind them where they are wanted. */
static void test_opmap_args__launches(void)
{
    static const enum msim_gpu_kind kinds[] = {
        MSIM_GPU_KERNEL, MSIM_GPU_MEMCPY, MSIM_GPU_KERNEL, MSIM_GPU_MEMCPY};
    static const struct {
        int launched;
        bool copies;
        uint32_t found;
    } cases[] = {{-1, false, 0}, {0, false, 0}, {1, false, 1},
                 {2, false, 3},  {2, true, 4},  {9, false, 4}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_opmap_launches l = {.copies = cases[i].copies};
        struct msim_opmap_ctx c;
        uint32_t n = 0, other;

        build_init(&b);
        other = build_op(&b, 0, "before", "", NULL);
        build_kernel(&b, other, "k", 1, 1);
        build_op(&b, 0, "x", "", NULL);
        for (uint32_t k = 0; k < 4; k++)
            build_kernel(&b, 1, "k", 1, 1)->kind = kinds[k];
        build_op(&b, 0, "after", "", NULL);
        build_kernel(&b, 2, "k", 1, 1);
        c = ctx_of(1, cases[i].launched);
        for (const struct msim_gpu *g; (g = msim_opmap_kernel(&c, &l)); n++)
            CHECK(g == &b.gpu[1 + n]);
        CHECK_INT(n, cases[i].found);
        build_release(&b);
    }
}

/* What is not the operator's own, launched nothing, or came after its end. */
static void test_opmap_args__launches_that_do_not_count(void)
{
    struct msim_opmap_ctx c;

    for (int what = 0; what < 5; what++) {
        struct msim_opmap_launches l = {0};

        build_init(&b);
        build_op(&b, 0, "x", "", NULL);
        build_op(&b, 0, "y", "", NULL);
        build_kernel(&b, 0, "k", 1, 1);
        c = ctx_of(0, 1);
        if (what == 1)
            b.calls[0].op = 1;
        if (what == 2)
            b.calls[0].gpu = MSIM_NONE;
        if (what == 3)
            b.calls[0].start = b.ops[0].start + b.ops[0].dur + 1;
        if (what == 4)
            b.ops[0].thread = 1;
        CHECK_INT(msim_opmap_kernel(&c, &l) != NULL, what == 0);
        build_release(&b);
    }
    /* both ends count */
    for (int end = 0; end < 2; end++) {
        struct msim_opmap_launches l = {0};

        build_init(&b);
        build_op(&b, 0, "x", "", NULL);
        build_kernel(&b, 0, "k", 1, 1);
        b.calls[0].start = b.ops[0].start + (end ? b.ops[0].dur : 0);
        c = ctx_of(0, 1);
        CHECK(msim_opmap_kernel(&c, &l));
        build_release(&b);
    }
}

/* 3 blocks of 64 threads have 4 values each, a block of a list 65,536. */
static void test_opmap_args__elements_by_launches(void)
{
    static const struct {
        const char *name;
        int64_t elems;
    } cases[] = {
        {"void at::native::elementwise_kernel<4>", 3 * 64 * 4},
        {"void at::native::vectorized_elementwise_kernel<4>", 3 * 64 * 4},
        {"void at::native::multi_tensor_apply_kernel<>", 3 * 65536},
        {"ampere_sgemm", 0},
    };
    struct msim_opmap_ctx c;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int what = 0; what < 3; what++) {
            struct msim_gpu *g;

            build_init(&b);
            build_op(&b, 0, "x", "", NULL);
            g = build_kernel(&b, 0, cases[i].name, 3, 64);
            build_kernel(&b, 0, cases[i].name, 3, 64);
            if (what == 1)
                g->config = MSIM_NONE;
            if (what == 2)
                g->kind = MSIM_GPU_MEMSET;
            c = ctx_of(0, 2);
            CHECK_INT((int64_t)msim_opmap_grid_elems(&c),
                      (what ? 1 : 2) * cases[i].elems);
            build_release(&b);
        }
}

/*
 * A forward op shows the number of the next node; one of another library none,
 * then one of at most 15 operators before it does. The node has that number, a
 * forward thread and arguments.
 */
static void test_opmap_args__passes(void)
{
    for (uint32_t before = 1; before <= 17; before++) {
        struct msim_opmap_ctx c;
        uint32_t op = 0, node;

        build_init(&b);
        build_op(&b, 0, "aten::relu", "f32[3]", NULL);
        b.ops[0].seq = 0;
        for (uint32_t k = 0; k < before; k++)
            op = build_op(&b, 0, "lib::attention", "f32[3]", NULL);
        node = build_op(&b, 0, "Other", "", NULL);
        b.ops[node].seq = 0;
        b.ops[node].fw_thread = 0;
        node = build_op(&b, 0, "Other", "f32[3]", NULL);
        b.ops[node].seq = 0;
        node = build_op(&b, 0, "Other", "f32[3]", NULL);
        b.ops[node].seq = 1;
        b.ops[node].fw_thread = 0;
        node = build_op(&b, 0, "AttentionBackward", "f32[3]", NULL);
        b.ops[node].seq = 0;
        b.ops[node].fw_thread = 0;
        c = ctx_of(op, -1);
        CHECK_INT(msim_opmap_backward_of(&c), before <= 15 ? node : MSIM_NONE);
        b.ops[op].thread = 1;
        CHECK_INT(msim_opmap_backward_of(&c), MSIM_NONE);
        b.ops[op].thread = 0;
        c = ctx_of(node, -1);
        CHECK_INT(msim_opmap_forward_of(&c, "lib::", "tent"),
                  before <= 15 ? op : 15);
        CHECK_INT(msim_opmap_forward_of(&c, "lib::", "tens"), MSIM_NONE);
        CHECK_INT(msim_opmap_forward_of(&c, "bib::", "tent"), MSIM_NONE);
        CHECK_INT(msim_opmap_forward_of(&c, "aten::relu", ""), 0);
        b.ops[node].seq = -1;
        CHECK_INT(msim_opmap_forward_of(&c, "lib::", "tent"), MSIM_NONE);
        build_release(&b);
    }
}

/* Without a node that has its number there is none, here of number 0. */
static void test_opmap_args__no_other_pass(void)
{
    struct msim_opmap_ctx c;

    build_init(&b);
    build_op(&b, 0, "aten::relu", "f32[3]", NULL);
    b.ops[0].seq = 0;
    c = ctx_of(0, -1);
    CHECK_INT(msim_opmap_backward_of(&c), MSIM_NONE);
    CHECK_INT(msim_opmap_forward_of(&c, "aten::", ""), MSIM_NONE);
    build_release(&b);
}

/* An ET has no times: its numbers are the order. */
static void test_opmap_args__order_by_numbers(void)
{
    struct msim_opmap_ctx c;

    build_init(&b);
    for (uint32_t k = 0; k < 5; k++) {
        build_op(&b, 0, k == 1 ? "lib::f" : "Node", "f32[3]", NULL);
        b.ops[k].start = MSIM_TIME_NONE;
        b.ops[k].et_id = 10 * k + 10;
        b.ops[k].seq = 4;
        b.ops[k].fw_thread = k == 1 ? MSIM_NONE : 0;
    }
    c = ctx_of(1, -1);
    CHECK_INT(msim_opmap_backward_of(&c), 2);
    c = ctx_of(3, -1);
    CHECK_INT(msim_opmap_forward_of(&c, "lib::", "f"), 1);
    c = ctx_of(1, -1);
    CHECK_INT(msim_opmap_forward_of(&c, "lib::", "f"), MSIM_NONE);
    build_release(&b);
}

int main(void)
{
    RUN(test_opmap_args__counts);
    RUN(test_opmap_args__tensors);
    RUN(test_opmap_args__lists);
    RUN(test_opmap_args__scalars);
    RUN(test_opmap_args__works);
    RUN(test_opmap_args__in_place);
    RUN(test_opmap_args__launches);
    RUN(test_opmap_args__launches_that_do_not_count);
    RUN(test_opmap_args__elements_by_launches);
    RUN(test_opmap_args__passes);
    RUN(test_opmap_args__no_other_pass);
    RUN(test_opmap_args__order_by_numbers);
    return check_summary();
}
