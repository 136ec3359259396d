/*
 * Copies, fills and concatenations: which way, how many bytes, and what
 * becomes of the order of elements.
 */
#include "tests/unit/made_works.h"

static struct build b;

/* Between devices the narrower side goes over the bus: 15 numbers of 2 or 4
 * bytes. */
static void test_opmap_memory__copies(void)
{
    static const struct works_row rows[] = {
        {"aten::copy_", "f32[3,5] f16[3,5] false", NULL,
         "copy:copy fp16 1x15 0/30/60 in_place"},
        {"aten::copy_", "f32[3,5] f16[3,5]@ false", NULL,
         "copy:copy fp16 1x15 from_host 0/30/30 in_place"},
        {"aten::copy_", "f16[3,5]@ f32[3,5] false", NULL,
         "copy:copy fp32 1x15 to_host 0/30/30 in_place"},
        {"aten::copy_", "f32[3,5]? f16[3,5]@ false", NULL,
         "copy:copy fp16 1x15 from_host 0/30/30 in_place"},
        {"aten::copy_", "f32[3,5]@ f32[3,5]? false", NULL,
         "copy:copy fp32 1x15 to_host 0/60/60 in_place"},
        {"aten::copy_", "f32[3,5]? f32[3,5] false", NULL,
         "copy:copy fp32 1x15 0/60/60 in_place"},
        {"aten::_copy_from", "f16[3,5] f32[3,5] false", NULL,
         "copy:copy fp16 1x15 0/30/60"},
        {"aten::copy_", "f32[3,5] none", NULL, "unknown"},
        {"aten::_local_scalar_dense", "f16[]", NULL,
         "copy:item fp16 1x1 to_host pageable 0/2/2"},
        {"aten::_local_scalar_dense", "", NULL,
         "copy:item fp32 1x1 to_host pageable 0/4/4"},
        {"aten::nonzero", "bool[3,5]", "i64[7,2]",
         "reduction:nonzero bool 1x15 30/30/112 kernels 4; copy:nonzero bool "
         "1x1 to_host pageable 0/1/1"},
        {"aten::nonzero", "f32[3,5]", NULL,
         "reduction:nonzero fp32 1x15 30/120/0 kernels 4; copy:nonzero fp32 "
         "1x1 to_host pageable 0/4/4"},
        {"aten::fill_", "f16[3,5] 0", NULL,
         "copy:fill fp16 1x15 0/0/30 in_place"},
        {"aten::fill_", "none 0", NULL, "unknown"},
        {"aten::flip", "f16[3,5] (0)", NULL, "copy:flip fp16 1x15 0/30/30"},
        {"aten::repeat_interleave", "f16[3,5] 2", "f16[6,5]",
         "copy:repeat_interleave fp16 1x30 0/60/60"},
        {"aten::roll", "f16[3,5] (1)", "f16[2,5]",
         "copy:roll fp16 1x15 0/30/30"},
        {"aten::flip", "f16[3,5] (0)", "f32[3,5]",
         "copy:flip fp16 1x15 0/30/30"},
        {"aten::flip", "none", NULL, "unknown"},
    };

    WORKS_CHECK(rows);
}

/* A CPU's trace on a GPU: all is on the GPU. But for the host's memory. */
static void test_opmap_memory__directions(void)
{
    static const struct {
        uint8_t to, from;
        enum msim_opmap_place place;
        const char *want;
    } cases[] = {
        {MSIM_DEV_GPU, MSIM_DEV_CPU, MSIM_OPMAP_AS_TRACED, "from_host"},
        {MSIM_DEV_CPU, MSIM_DEV_GPU, MSIM_OPMAP_AS_TRACED, "to_host"},
        {MSIM_DEV_GPU, MSIM_DEV_GPU, MSIM_OPMAP_AS_TRACED, "0"},
        {MSIM_DEV_GPU, MSIM_DEV_UNKNOWN, MSIM_OPMAP_AS_TRACED, "0"},
        {MSIM_DEV_HOST, MSIM_DEV_GPU, MSIM_OPMAP_ON_GPU, "to_host"},
        {MSIM_DEV_GPU, MSIM_DEV_HOST, MSIM_OPMAP_ON_GPU, "from_host"},
        {MSIM_DEV_HOST, MSIM_DEV_CPU, MSIM_OPMAP_ON_GPU, "to_host"},
        {MSIM_DEV_GPU, MSIM_DEV_CPU, MSIM_OPMAP_ON_GPU, "0"},
        {MSIM_DEV_CPU, MSIM_DEV_GPU, MSIM_OPMAP_ON_GPU, "0"},
    };
    struct works_text x;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        build_init(&b);
        build_op(&b, 0, "aten::copy_", "f32[3,5] f32[3,5] false", NULL);
        b.args[0].device = cases[i].to;
        b.args[1].device = cases[i].from;
        works_of(&x, &b.t, 0, 1, cases[i].place);
        if (!CHECK(strstr(x.s, cases[i].want)) ||
            !CHECK_INT(strstr(x.s, "host") != NULL, *cases[i].want != '0'))
            fprintf(stderr, "  case %zu: %s\n", i, x.s);
        build_release(&b);
    }
}

/*
 * A view shortly before says how the source lies: with another dimension last
 * neighbours are none in memory, else each address is computed. It has the same
 * dimensions and elements, and is at most 8 operators away.
 */
static void test_opmap_memory__turned_sources(void)
{
    static const struct {
        const char *name, *args;
        uint32_t between;
        const char *want;
    } cases[] = {
        {"aten::t", "f32[5,3]", 0, "strided"},
        {"aten::t", "f32[5,3]", 7, "strided"},
        {"aten::t", "f32[5,3]", 8, ""},
        {"aten::t", "f32[5,4]", 0, ""},
        {"aten::t", "f32[15]", 0, ""},
        {"aten::transpose", "f32[5,3] 0 1", 0, "strided"},
        {"aten::transpose", "f32[5,3] 0 -1", 0, "strided"},
        {"aten::transpose", "f32[5,3] 1 0", 0, "strided"},
        {"aten::transpose", "f32[5,3] -1 0", 0, "strided"},
        {"aten::transpose", "f32[5,3] 0 0", 0, "addressed"},
        {"aten::transpose", "f32[5,3] 0", 0, ""},
        {"aten::permute", "f32[5,3] (1 0)", 0, "strided"},
        {"aten::permute", "f32[5,3] (0 1)", 0, "addressed"},
        {"aten::permute", "f32[5,3] (0 -1)", 0, "addressed"},
        {"aten::permute", "f32[5,3] (0)", 0, ""},
        {"aten::permute", "f32[5,3] none", 0, ""},
        {"aten::view", "f32[5,3]", 0, ""},
    };
    struct works_text x;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char want[80];
        uint32_t op;

        build_init(&b);
        build_op(&b, 0, cases[i].name, cases[i].args, NULL);
        for (uint32_t k = 0; k < cases[i].between; k++)
            build_op(&b, 0, "aten::view", "f32[2]", NULL);
        op = build_op(&b, 0, "aten::copy_", "f32[3,5] f32[3,5] false", NULL);
        snprintf(want, sizeof(want), "copy:copy fp32 1x15%s%s 0/60/60 in_place",
                 *cases[i].want ? " " : "", cases[i].want);
        works_check(&b.t, op, want);
        b.ops[op].thread = 1; /* another one's views are not its own */
        works_of(&x, &b.t, op, -1, MSIM_OPMAP_AS_TRACED);
        CHECK_STR(x.s, "copy:copy fp32 1x15 0/60/60 in_place");
        build_release(&b);
    }
}

/* contiguous() and reshape() copy what is not in order, by themselves or
 * through clone(). */
static void test_opmap_memory__puts_in_order(void)
{
    static const struct {
        const char *outer, *inner;
        bool strided;
    } cases[] = {
        {"aten::to", "aten::contiguous", true},
        {"aten::to", "aten::reshape", true},
        {"aten::contiguous", "aten::clone", true},
        {"aten::to", "aten::clone", false},
        {"aten::contiguous", "aten::to", false},
    };
    struct works_text x;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        build_init(&b);
        build_op(&b, 0, cases[i].outer, "f32[3,5]", NULL);
        build_op(&b, 1, cases[i].inner, "f32[3,5]", NULL);
        build_op(&b, 2, "aten::copy_", "f32[3,5] f32[3,5] false", NULL);
        works_of(&x, &b.t, 2, -1, MSIM_OPMAP_AS_TRACED);
        CHECK_INT(strstr(x.s, "strided") != NULL, cases[i].strided);
        build_release(&b);
    }
}

/* What was recorded of the copies themselves counts: 40 + 12 bytes, behind the
 * last kernel too. Without sizes it is all that is known. */
static void test_opmap_memory__recorded_copies(void)
{
    static const struct works_row rows[] = {
        {"", "f32[3,5] f32[3,5]@ false", NULL,
         "copy:copy fp32 1x15 to_host pageable 0/52/52 kernels 2 in_place"},
        {"", "none none", NULL,
         "copy:copy fp32 1x13 to_host pageable 0/52/52 kernels 2 in_place"},
        {"", "f32[3,5] f32[3,5] false", NULL,
         "copy:copy fp32 1x15 to_host pageable 0/52/52 kernels 2 in_place"},
    };
    struct works_text x;
    struct msim_gpu *g;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        build_init(&b);
        build_op(&b, 0, "aten::copy_", rows[i].args, NULL);
        for (int k = 0; k < 2; k++) {
            g = build_kernel(&b, 0, "Memcpy DtoH", 1, 1);
            g->kind = MSIM_GPU_MEMCPY;
            g->copy_kind = MSIM_COPY_D2H;
            g->pageable = k == 0;
            g->bytes = k ? 12 : 40;
        }
        works_of(&x, &b.t, 0, 2, MSIM_OPMAP_AS_TRACED);
        CHECK_STR(x.s, rows[i].want);
        build_release(&b);
    }
    /* of a kernel its threads: 3 blocks of 64 with 4 values each */
    build_init(&b);
    build_op(&b, 0, "aten::copy_", "none none", NULL);
    build_op(&b, 0, "aten::fill_", "none 0", NULL);
    build_kernel(&b, 0, "void at::native::elementwise_kernel<128>", 3, 64);
    build_kernel(&b, 1, "void at::native::elementwise_kernel<128>", 3, 64);
    works_of(&x, &b.t, 0, 1, MSIM_OPMAP_AS_TRACED);
    CHECK_STR(x.s, "copy:copy fp32 1x768 0/3072/3072 in_place");
    works_of(&x, &b.t, 1, 1, MSIM_OPMAP_AS_TRACED);
    CHECK_STR(x.s, "copy:fill fp32 1x768 0/0/3072 in_place");
    build_release(&b);
    /* the copy of a count is one of its own where kernels were seen */
    build_init(&b);
    build_op(&b, 0, "aten::nonzero", "f32[3,5]", NULL);
    build_kernel(&b, 0, "k", 1, 64);
    works_of(&x, &b.t, 0, 1, MSIM_OPMAP_AS_TRACED);
    CHECK_STR(x.s, "reduction:nonzero fp32 1x15 30/120/0");
    build_release(&b);
}

/* What a concatenation joins: its list; else the gradients that a split took,
 * else its result, which is also what comes next. */
static void test_opmap_memory__concatenations(void)
{
    static const struct works_row rows[] = {
        {"aten::cat", "(f32[2,3] f32[4,3]) 0", "f32[6,3]",
         "copy:cat fp32 1x18 0/72/72"},
        {"aten::cat", "none 0", "f16[6,3]", "copy:cat fp16 1x18 0/36/36"},
        {"aten::cat", "none 0 f16[5,3]", NULL, "copy:cat fp16 1x15 0/30/30"},
        {"aten::cat", "none 0", NULL, "unknown"},
        {"aten::stack", "(f32[2,3] f32[2,3]) 0", NULL,
         "copy:cat fp32 1x12 0/48/48"},
    };
    static const struct {
        const char *parent, *args, *later;
        uint32_t between;
        const char *want;
    } cases[] = {
        {"SplitBackward0", "f32[2,3] none f16[4,3]", "f32[7]", 0,
         "copy:cat fp16 1x18 0/48/48"},
        {"UnbindBackward0", "f32[2,3] f32[4,3]", "f32[7]", 0,
         "copy:cat fp32 1x18 0/72/72"},
        {"SliceBackward0", "f32[2,3] f32[4,3]", "f32[7]", 0,
         "copy:cat fp32 1x7 0/28/28"},
        {"SplitBackward0", "none", "f32[7]", 0, "copy:cat fp32 1x7 0/28/28"},
        {"SliceBackward0", "f32[2,3]", "f32[7]", 7,
         "copy:cat fp32 1x7 0/28/28"},
        {"SliceBackward0", "f32[2,3]", "f32[7]", 8, "unknown"},
        {"SliceBackward0", "f32[2,3]", "f32[1]", 0, "unknown"},
    };

    WORKS_CHECK(rows);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        build_init(&b);
        build_op(&b, 0, cases[i].parent, cases[i].args, NULL);
        build_op(&b, 1, "aten::cat", "none 0", NULL);
        for (uint32_t k = 0; k < cases[i].between; k++)
            build_op(&b, 0, "aten::view", "f32[1]", NULL);
        build_op(&b, 0, "aten::relu", cases[i].later, NULL);
        works_check(&b.t, 1, cases[i].want);
        build_release(&b);
    }
    /* parts that do not lie in order are taken element by element */
    build_init(&b);
    build_op(&b, 0, "aten::cat", "(f32[2,3] f32[4,3]) 0", NULL);
    b.args[2].layout = MSIM_LAYOUT_TURNED;
    works_check(&b.t, 0, "copy:cat fp32 1x18 addressed 0/72/72");
    build_release(&b);
}

/* The gradient of what was joined has its sizes, wherever it is. */
static void test_opmap_memory__gradient_of_a_concatenation(void)
{
    static const struct {
        int32_t seq, node;
        const char *want;
    } cases[] = {
        {4, 4, "copy:cat fp32 1x9 0/36/36"},
        {0, 0, "copy:cat fp32 1x9 0/36/36"},
        {4, 5, "copy:cat fp32 1x7 0/28/28"},
        {-1, -1, "copy:cat fp32 1x7 0/28/28"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t op;

        build_init(&b);
        op = build_op(&b, 0, "aten::cat", "none 0", NULL);
        b.ops[op].seq = cases[i].seq;
        build_op(&b, 0, "aten::relu", "f32[7]", NULL);
        op = build_op(&b, 0, "CatBackward0", "f32[9]", NULL);
        b.ops[op].seq = cases[i].node;
        b.ops[op].fw_thread = 0;
        works_check(&b.t, 0, cases[i].want);
        build_release(&b);
    }
}

int main(void)
{
    RUN(test_opmap_memory__copies);
    RUN(test_opmap_memory__directions);
    RUN(test_opmap_memory__turned_sources);
    RUN(test_opmap_memory__puts_in_order);
    RUN(test_opmap_memory__recorded_copies);
    RUN(test_opmap_memory__concatenations);
    RUN(test_opmap_memory__gradient_of_a_concatenation);
    return check_summary();
}
