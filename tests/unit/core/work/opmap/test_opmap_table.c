/*
 * Rows of operators by their names, names that tables of vector operators may
 * have, and the kinds of GPU activities by who launched them.
 */
#include "core/work/opmap/opmap.h"
#include "core/work/opmap/opmap_internal.h"
#include "tests/unit/made_ops.h"

static const char *found(const char *name)
{
    const struct msim_opmap_row *row = msim_opmap_find(name);

    return row ? row->name : NULL;
}

static void test_opmap_table__bare_names(void)
{
    static const char *const NAMES[][2] = {{"aten::mm", "mm"},
                                           {"prims::iota", "iota"},
                                           {"aten::", ""},
                                           {"extern_kernels.mm", "mm"},
                                           {"aten:mm", "aten:mm"},
                                           {"fbgemm::mm", "fbgemm::mm"},
                                           {"mm", "mm"},
                                           {"", ""},
                                           {"xaten::mm", "xaten::mm"}};

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
        CHECK_STR(msim_opmap_bare_name(NAMES[i][0]), NAMES[i][1]);
}

/* Whole names; in place the plain one, unless there is a row of its own. */
static void test_opmap_table__names(void)
{
    CHECK_STR(found("aten::mm"), "mm");
    CHECK_STR(found("mm"), "mm");
    CHECK_STR(found("aten::relu_"), "relu");
    CHECK_STR(found("aten::masked_scatter_"), "masked_scatter_");
    CHECK_STR(found("aten::no_such"), NULL);
    CHECK_STR(found("aten::no_such_"), NULL);
    CHECK_STR(found("aten::m"), NULL);
    CHECK_STR(found("aten::mmm"), NULL);
    CHECK_STR(found("aten::"), NULL);
    CHECK_STR(found(""), NULL);
    CHECK_STR(found("_"), NULL);
    CHECK_STR(found("fbgemm::dense_to_jagged"), "fbgemm::dense_to_jagged");
}

/* Every name is found as it is, which bisection needs them in order for. */
static void test_opmap_table__all_names(void)
{
    for (uint32_t i = 0; i < msim_opmap_names.n; i++) {
        const struct msim_opmap_row *row = &msim_opmap_names.rows[i];

        CHECK(msim_opmap_find(row->name) == (row->like ? row->like : row));
        CHECK(i == 0 || strcmp(row[-1].name, row->name) < 0);
    }
}

/* Autograd's nodes end in digits, and launch nothing. */
static void test_opmap_table__nodes_of_autograd(void)
{
    CHECK_STR(found("MyNewThingBackward0"), "Backward");
    CHECK_STR(found("MyNewThingBackward12"), "Backward");
    CHECK_STR(found("Backward9"), "Backward");
    CHECK_STR(found("MyNewThingBackward"), NULL);
    CHECK_STR(found("MyNewThingBackwards0"), NULL);
    CHECK_STR(found("ackward0"), NULL);
    CHECK_STR(found("MyNewThingBackward."), NULL);
    CHECK_STR(found("12345678"), NULL);
    CHECK_STR(found("aten::MyNewThingBackward0"), NULL);
    CHECK(!msim_opmap_find("MyNewThingBackward0")->rule);
}

static void test_opmap_table__made_names(void)
{
    for (uint32_t i = 0; i < msim_opmap_prefixes.n; i++) {
        const struct msim_opmap_row *row = &msim_opmap_prefixes.rows[i];
        char name[128];

        snprintf(name, sizeof(name), "%s_x", row->name);
        CHECK(msim_opmap_find(name) == row);
        snprintf(name, sizeof(name), "aten::%s_x", row->name);
        CHECK(!msim_opmap_find(name));
    }
}

/* ---- names of tables ------------------------------------------------------
 */

static void test_known_name__of_traces_and_tables(void)
{
    static const char *const KNOWN[] = {
        "aten::gelu", "gelu_backward", "add_", "mulu_", "addu", "add",
        /* of tables alone, with a choice behind a colon */
        "ln", "emb", "rope", "softmax_backward", "silu_mul", "scale_matrix",
        "scale_matrix:fp8", "input_layernorm", "post_attention_layernorm",
        "batch_norm_backward", "layer_norm_backward", "group_norm_backward",
        "embedding_backward", "copy", "fill", "adam", "adamw", "sgd", "ln:x",
        "add:x", "addu_:x"};
    static const char *const UNKNOWN[] = {
        "", ":x", "no_such", "no_such_", "no_suchu", "lnu", "u", "_", "u_",
        "ln::x", "mylib::add", "addx", "adduu",
        /* as long as what is compared, and longer */
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};

    for (size_t i = 0; i < sizeof(KNOWN) / sizeof(*KNOWN); i++)
        if (!CHECK(msim_vector_name_known(KNOWN[i])))
            fprintf(stderr, "%s\n", KNOWN[i]);
    for (size_t i = 0; i < sizeof(UNKNOWN) / sizeof(*UNKNOWN); i++)
        if (!CHECK(!msim_vector_name_known(UNKNOWN[i])))
            fprintf(stderr, "%s\n", UNKNOWN[i]);
}

static void test_known_name__nearest_kernels(void)
{
    CHECK(msim_vector_name_nearest("aten::isin"));
    CHECK(msim_vector_name_nearest("masked_scatter_"));
    CHECK(!msim_vector_name_nearest("aten::add"));
    CHECK(!msim_vector_name_nearest("no_such"));
}

static void test_known_name__what_is_said(void)
{
    char text[160];

    msim_vector_name_unknown("aten::geluu_backward", text, sizeof(text));
    CHECK_STR(text, "op 'aten::geluu_backward' is not known, did you mean "
                    "'gelu_backward'?");
    msim_vector_name_unknown("scale_matix", text, sizeof(text));
    CHECK_STR(text, "op 'scale_matix' is not known, did you mean "
                    "'scale_matrix'?");
    /* the first of all rows, too */
    msim_vector_name_unknown("All2All_Poled_Req", text, sizeof(text));
    CHECK_STR(text, "op 'All2All_Poled_Req' is not known, did you mean "
                    "'All2All_Pooled_Req'?");
    msim_vector_name_unknown("zzzzqqqqxxxxwwww", text, sizeof(text));
    CHECK_STR(text, "op 'zzzzqqqqxxxxwwww' is not known");
    /* 40 letters of a long name */
    msim_vector_name_unknown("zzzzzzzzz0zzzzzzzzz0zzzzzzzzz0zzzzzzzzz0ZZ", text,
                             sizeof(text));
    CHECK_STR(text, "op 'zzzzzzzzz0zzzzzzzzz0zzzzzzzzz0zzzzzzzzz0' is not "
                    "known");
    /* none that begins with an underscore is proposed */
    msim_vector_name_unknown("_int_mmm", text, sizeof(text));
    CHECK(!strstr(text, "'_int_mm'"));
}

/* ---- families of activities ---------------------------------------------- */

static void test_opmap_family__of_activities(void)
{
    static const struct {
        const char *name, *args;
        enum msim_family family;
    } OPS[] = {
        {"aten::mm", "f32[8,4] f32[4,16]", MSIM_FAMILY_GEMM},
        /* without shapes by the name */
        {"aten::mm", "", MSIM_FAMILY_GEMM},
        {"aten::_softmax", "", MSIM_FAMILY_SOFTMAX},
        {"aten::add", "", MSIM_FAMILY_POINTWISE},
        {"aten::sum", "", MSIM_FAMILY_REDUCTION},
        {"aten::native_layer_norm", "", MSIM_FAMILY_NORM},
        {"aten::embedding", "", MSIM_FAMILY_EMBEDDING},
        {"aten::copy_", "", MSIM_FAMILY_COPY},
        {"aten::convolution_backward", "", MSIM_FAMILY_CONV},
        {"aten::_flash_attention_forward", "", MSIM_FAMILY_ATTENTION},
        {"fbgemm::split_embedding_codegen_forward_x", "",
         MSIM_FAMILY_EMBEDDING},
        {"fbgemm::permute_multi_embedding", "", MSIM_FAMILY_EMBEDDING},
        {"triton_poi_fused_add_0", "", MSIM_FAMILY_BOUND},
        {"aten::view", "", MSIM_FAMILY_BOUND},
        {"mylib::no_such", "", MSIM_FAMILY_BOUND},
    };
    enum { N = sizeof(OPS) / sizeof(*OPS) };
    static struct build b;
    struct msim_works *works;
    uint8_t family[N + 5];

    build_init(&b);
    for (uint32_t i = 0; i < N; i++) {
        build_op(&b, 0, OPS[i].name, OPS[i].args, NULL);
        build_kernel(&b, i, "k", 1, 32);
    }
    for (uint32_t i = 0; i < 4; i++)
        build_kernel(&b, 0, "k", 1, 32)->kind = (uint8_t)i;
    b.gpu[N].op = MSIM_NONE;
    REQUIRE(msim_works_new(&works, &b.t, NULL, MSIM_OPMAP_AS_TRACED) ==
            MSIM_OK);
    memset(family, 99, sizeof(family));
    msim_gpu_families(works, family);
    for (uint32_t i = 0; i < N; i++)
        if (!CHECK_STR(msim_family_text((enum msim_family)family[i]),
                       msim_family_text(OPS[i].family)))
            fprintf(stderr, "%s\n", OPS[i].name);
    CHECK_INT(family[N], MSIM_FAMILY_BOUND);
    CHECK_INT(family[N + 4], 99);
    CHECK_INT(family[N + MSIM_GPU_COMM], MSIM_FAMILY_COLLECTIVE);
    CHECK_INT(family[N + MSIM_GPU_MEMCPY], MSIM_FAMILY_COPY);
    CHECK_INT(family[N + MSIM_GPU_MEMSET], MSIM_FAMILY_COPY);
    msim_works_free(works);
    build_release(&b);
}

/* Of several works the one with most FLOPs, then most bytes either way; of
 * equals the first. What lies behind them is another operator's. */
static void test_opmap_family__heaviest_work(void)
{
    static const struct {
        struct {
            double flops, read, written;
        } works[3];
        uint32_t n, heaviest;
    } CASES[] = {
        {{{5, 1, 1}, {4, 9, 9}, {9, 9, 9}}, 2, 0},
        {{{4, 9, 9}, {5, 1, 1}, {9, 9, 9}}, 2, 1},
        {{{5, 9, 9}, {4, 1, 1}, {6, 0, 0}}, 3, 2},
        {{{5, 2, 2}, {5, 2, 3}, {0, 0, 0}}, 3, 1},
        {{{5, 2, 2}, {5, 3, 0}, {0, 0, 0}}, 3, 0},
        {{{5, 2, 2}, {5, 0, 5}, {5, 4, 0}}, 3, 1},
        {{{5, 2, 2}, {5, 3, 1}, {5, 0, 4}}, 3, 0},
        {{{0, 0, 0}, {9, 9, 9}, {9, 9, 9}}, 1, 0},
    };
    static const enum msim_family FAMILIES[] = {
        MSIM_FAMILY_GEMM, MSIM_FAMILY_NORM, MSIM_FAMILY_SOFTMAX};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct msim_work works[3] = {0};
        struct msim_work_list list = {
            .first = 0, .n = (uint8_t)CASES[i].n, .result = MSIM_OPMAP_WORKS};
        uint32_t list_of = 0;
        struct msim_works w = {
            .list_of = &list_of, .lists = &list, .works = works};

        for (int k = 0; k < 3; k++) {
            works[k].family = FAMILIES[k];
            works[k].flops = CASES[i].works[k].flops;
            works[k].bytes_read = CASES[i].works[k].read;
            works[k].bytes_written = CASES[i].works[k].written;
        }
        CHECK_INT(msim_op_family(&w, 0), FAMILIES[CASES[i].heaviest]);
    }
}

/* ---- copies ---------------------------------------------------------------
 */

/* As recorded, else what the operator writes: 8 x 4 numbers of 4 bytes. */
static void test_opmap_copy__bytes(void)
{
    static struct build b;
    struct msim_gpu *e;

    build_init(&b);
    build_op(&b, 0, "aten::copy_", "f32[8,4] f32[8,4]@", NULL);
    e = build_kernel(&b, 0, "Memcpy HtoD", 1, 1);
    e->kind = MSIM_GPU_MEMCPY;
    CHECK_INT(msim_copied_bytes(&b.t, e), 128);
    e->bytes = 7;
    CHECK_INT(msim_copied_bytes(&b.t, e), 7);
    e->bytes = 0;
    e->op = MSIM_NONE;
    CHECK_INT(msim_copied_bytes(&b.t, e), 0);
    build_op(&b, 0, "aten::add", "f32[8,4] f32[8,4]", "f32[8,4]");
    e->op = 1;
    CHECK_INT(msim_copied_bytes(&b.t, e), 0);
    build_op(&b, 0, "aten::fill_", "f32[8,4] 0", NULL);
    e->op = 2;
    CHECK_INT(msim_copied_bytes(&b.t, e), 128);
    /* a join of several is no one copy */
    build_op(&b, 0, "aten::cat", "(f32[8,4] f32[8,4]) 0", "f32[16,4]");
    e->op = 3;
    CHECK_INT(msim_copied_bytes(&b.t, e), 0);
    build_op(&b, 0, "aten::view", "f32[8,4]", NULL);
    e->op = 4;
    CHECK_INT(msim_copied_bytes(&b.t, e), 0);
    build_release(&b);
}

static void test_opmap_copy__works(void)
{
    struct msim_gpu e = {
        .kind = MSIM_GPU_MEMCPY, .copy_kind = MSIM_COPY_D2H, .pageable = true};
    struct msim_work w = msim_copy_work(&e, 4096);

    CHECK_INT(w.family, MSIM_FAMILY_COPY);
    CHECK_INT(w.dtype, MSIM_DT_U8);
    CHECK_STR(w.variant, "copy");
    CHECK_INT(w.kernels, 1);
    CHECK_REL(w.bytes_read, 4096, 0);
    CHECK_REL(w.bytes_written, 4096, 0);
    CHECK_INT(w.u.vector.elems, 4096);
    CHECK_INT(w.u.vector.rows, 1);
    CHECK_INT(w.u.vector.cols, 4096);
    CHECK_INT(w.u.vector.copy, MSIM_COPY_D2H);
    CHECK(w.u.vector.pageable);
    CHECK(w.flops == 0 && w.repeats == 0);
    e.kind = MSIM_GPU_MEMSET;
    e.pageable = false;
    w = msim_copy_work(&e, 4096);
    CHECK_STR(w.variant, "fill");
    CHECK(w.bytes_read == 0);
    CHECK_REL(w.bytes_written, 4096, 0);
    CHECK_INT(w.u.vector.copy, MSIM_COPY_D2D);
    CHECK(!w.u.vector.pageable);
}

int main(void)
{
    RUN(test_opmap_table__bare_names);
    RUN(test_opmap_table__names);
    RUN(test_opmap_table__all_names);
    RUN(test_opmap_table__nodes_of_autograd);
    RUN(test_opmap_table__made_names);
    RUN(test_known_name__of_traces_and_tables);
    RUN(test_known_name__nearest_kernels);
    RUN(test_known_name__what_is_said);
    RUN(test_opmap_family__of_activities);
    RUN(test_opmap_family__heaviest_work);
    RUN(test_opmap_copy__bytes);
    RUN(test_opmap_copy__works);
    return check_summary();
}
