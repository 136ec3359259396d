/* Gathers, scatters, and look-ups in tables of fbgemm: which argument is
 * what. */
#include "core/work/opmap/opmap.h"
#include "tests/unit/made_works.h"

static struct msim_work work_of(struct build *b, uint32_t op)
{
    struct msim_work w[MSIM_OPMAP_MAX];
    uint32_t n = 0;

    memset(w, 0, sizeof(w));
    CHECK_INT(msim_opmap(&b->t, NULL, op, 1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(n, 1);
    return w[0];
}

/*
 * Two tables, 300 bags each, 1000 indices; rows of 16 and 48 numbers, so that
 * one has 32 in the mean. Of the forms below each has the two lists behind
 * another number of arguments; the tables' sizes, too, are lists of integers,
 * and in two of the forms longer than the offsets.
 */
static void test_opmap_embedding__forms(void)
{
    static const char *const FORMS[][2] = {
        {"fbgemm::split_embedding_codegen_lookup_adagrad_function",
         "f32[0] f32[64000] f32[0] f32[0,0] i32[2] i64[2] i32[3] 64 48 i64[3] "
         "11 i64[1000] i64[601] 0 none none i32[0]"},
        {"fbgemm::split_embedding_codegen_lookup_sgd_function_pt2",
         "f32[0] (f32[64000] f32[0] i32[2] i64[2] f32[0,0]) i32[3] 64 48 "
         "i64[3] 11 i64[1000] i64[601] 0 none none i32[9000]"},
        {"fbgemm::dense_embedding_codegen_lookup_function",
         "f32[64000] i64[2] i32[3] 64 48 i64[3] 11 i64[1000] i64[601] 0"},
        {"fbgemm::split_embedding_codegen_forward_unweighted_cuda",
         "f32[64000] f32[0] none i32[2] i64[2] i32[3] 64 48 i64[1000] "
         "i64[601] 0 i32[9000]"},
    };

    for (size_t i = 0; i < sizeof(FORMS) / sizeof(FORMS[0]); i++) {
        static struct build b;
        struct msim_work w;

        build_init(&b);
        build_op(&b, 0, FORMS[i][0], FORMS[i][1], "f32[300,64]");
        w = work_of(&b, 0);
        CHECK_INT(w.u.vector.lookups, 1000);
        CHECK_INT(w.u.vector.row_bytes, 32 * 4);
        CHECK_INT(w.bytes_read, 1000 * 32 * 4 + 1000 * 8);
        CHECK_INT(w.bytes_written, 300 * 64 * 4);
        build_release(&b);
    }
}

/* A look-up of `args` that makes `out`, and its gradient. */
static void build_pair(struct build *b, const char *args, const char *out,
                       uint32_t *fw, uint32_t *bw)
{
    build_init(b);
    *fw = build_op(b, 0,
                   "fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_"
                   "function",
                   args, out);
    *bw = build_op(b, 0,
                   "torch::autograd::CppNode<SplitLookupFunction_rowwise_"
                   "adagrad_Op>",
                   out, NULL);
    b->ops[*fw].seq = b->ops[*bw].seq = 7;
    b->ops[*bw].fw_thread = 0;
}

/* The offsets are not the indices where they are more, nor where there are no
 * indices: 65,536 bags of one table are not 65,537 rows of 4,194,304 numbers.
 */
static void test_opmap_embedding__empty_bags(void)
{
    static struct build b;
    struct msim_work w;
    uint32_t fw, bw;

    build_pair(&b,
               "f32[0] f32[64] f32[0] f32[0,0] i32[1] i64[1] i32[2] 64 64 "
               "i64[2] 1 i64[0] i64[65537] 0 f32[0]",
               "f32[65536,64]", &fw, &bw);
    w = work_of(&b, fw);
    CHECK_INT(w.bytes_read, 65537 * 8);
    CHECK_INT(w.bytes_written, 65536 * 64 * 4);
    w = work_of(&b, bw);
    CHECK_INT(w.bytes_read, 65536 * 64 * 4 + 65537 * 8);
    CHECK_INT(w.bytes_written, 65537 * 8);
    build_release(&b);
}

/* 33,398 rows of 64 numbers for 393,216 bags in six tables. */
static void test_opmap_embedding__fewer_rows_than_bags(void)
{
    static struct build b;
    struct msim_work w;
    uint32_t fw, bw;

    build_pair(&b,
               "f32[0] f32[25657792] f32[0] f32[0,0] i32[6] i64[6] i32[7] "
               "384 64 i64[7] 19 i64[33398] i64[393217] 0 none",
               "f32[65536,384]", &fw, &bw);
    CHECK_INT(work_of(&b, fw).bytes_written, 65536 * 384 * 4);
    w = work_of(&b, bw);
    CHECK_INT(w.bytes_read,
              33398 * 64 * 4 + 65536 * 384 * 4 + (8 + 1) * 33398 * 8);
    build_release(&b);
}

/*
 * 7 rows of a table of 20 x 3: narrow rows are counted in blocks of 1024
 * elements. 21 numbers of 4 bytes and 7 indices of 8.
 */
static void test_opmap_embedding__gathers(void)
{
    static const struct works_row rows[] = {
        {"aten::embedding", "f32[20,3] i64[7] -1", NULL,
         "embedding:embedding fp32 1x21 lookups 7 of 20 row_bytes 12 0/140/84"},
        {"aten::embedding", "f16[20,2048] i32[7]", NULL,
         "embedding:embedding fp16 7x2048 lookups 7 of 20 row_bytes 4096 "
         "0/28700/28672"},
        {"aten::embedding", "f32[20,1024] i64[7]", NULL,
         "embedding:embedding fp32 7x1024 lookups 7 of 20 row_bytes 4096 "
         "0/28728/28672"},
        {"aten::embedding", "f32[20,500] i64[7]", NULL,
         "embedding:embedding fp32 4x1024 elems 3500 lookups 7 of 20 row_bytes "
         "2000 0/14056/14000"},
        {"aten::embedding", "f32[20,3] none", NULL, "unknown"},
        {"aten::embedding", "none i64[7]", NULL, "unknown"},
        {"aten::index_select", "f32[20,3] 0 i64[7]", NULL,
         "embedding:index_select fp32 1x21 lookups 7 of 20 row_bytes 12 "
         "0/140/84"},
        {"aten::index_select", "f32[20,3] 1 i64[7]", NULL,
         "embedding:index_select fp32 1x140 lookups 7 of 3 row_bytes 80 "
         "0/616/560"},
        {"aten::index_select", "f32[20,3] -2 i64[7]", NULL,
         "embedding:index_select fp32 1x21 lookups 7 of 20 row_bytes 12 "
         "0/140/84"},
        {"aten::index_select", "f32[20,3] 0", NULL, "unknown"},
        {"aten::index_add", "f32[20,3] 0 i64[7] f32[7,3]", NULL,
         "embedding:index_add fp32 1x21 lookups 7 of 20 row_bytes 12 "
         "21/140/84"},
        /* an index for each element: a sector of 32 bytes at most, and no
         * more than there is */
        {"aten::gather", "f32[20,30] 1 i64[7,2]", NULL,
         "embedding:gather fp32 1x14 0/560/56"},
        {"aten::gather", "f32[20,3] 1 i64[7,2]", NULL,
         "embedding:gather fp32 1x14 0/352/56"},
        {"aten::scatter_add", "f32[20,3] 1 i64[7,2] f32[7,2]", NULL,
         "embedding:scatter_add fp32 1x14 14/168/56"},
        {"aten::gather", "f32[20,3] 1", NULL, "unknown"},
        {"aten::_embedding_bag", "f32[20,3] i64[7] i64[2]", NULL,
         "embedding:embedding_bag fp32 1x21 lookups 7 of 20 row_bytes 12 "
         "21/156/24"},
        {"aten::_embedding_bag", "f32[20,3] i64[7] none", NULL,
         "embedding:embedding_bag fp32 1x21 lookups 7 of 20 row_bytes 12 "
         "21/140/84"},
        {"aten::_embedding_bag", "f32[20,3] none", NULL, "unknown"},
        {"aten::embedding_dense_backward", "f32[7,3] i64[7] 20 -1 false", NULL,
         "embedding:embedding_backward fp32 1x21 lookups 7 of 20 row_bytes 12 "
         "21/140/324"},
        /* more than 3,072 are sorted first */
        {"aten::embedding_dense_backward", "f32[3072,3] i64[3072] 20 -1 false",
         NULL,
         "embedding:embedding_backward fp32 9x1024 lookups 3072 of 20 "
         "row_bytes "
         "12 9216/61440/37104"},
        {"aten::embedding_dense_backward", "f32[3073,3] i64[3073] 20 -1 false",
         NULL,
         "embedding:embedding_backward fp32 10x1024 elems 9219 lookups 3073 of "
         "20 "
         "row_bytes "
         "12 9219/61460/37116 kernels 15"},
        {"aten::embedding_dense_backward", "f32[7,3] none 20", NULL, "unknown"},
    };
    static struct build b;

    WORKS_CHECK(rows);
    /* where zeros() is below, it has the clearing */
    build_init(&b);
    build_op(&b, 0, "aten::embedding_dense_backward",
             "f32[7,3] i64[7] 20 -1 false", NULL);
    build_op(&b, 1, "aten::zeros", "(20 3)", NULL);
    works_check(&b.t, 0,
                "embedding:embedding_backward fp32 1x21 lookups 7 of 20 "
                "row_bytes 12 21/140/84");
    build_release(&b);
}

/* self[indices] of 20 x 6 x 5: indices, broadcast, times what has none. A mask
 * selects what is not recorded: all at most. */
static void test_opmap_embedding__indices(void)
{
    static const struct works_row rows[] = {
        {"aten::index", "f32[20,6,5] (i64[7])", NULL,
         "embedding:index fp32 1x210 0/896/840"},
        {"aten::index", "f32[20,6,5] (i64[7] i64[7])", NULL,
         "embedding:index fp32 1x35 0/252/140"},
        {"aten::index", "f32[20,6,5] (none i64[7])", NULL,
         "embedding:index fp32 1x700 0/2856/2800"},
        {"aten::index", "f32[20,6,5] (i64[7] i64[7] i64[7])", NULL,
         "embedding:index fp32 1x7 0/196/28"},
        {"aten::index", "f32[20,6,5] (i64[7,1] i64[2])", NULL, /* 7 x 2 */
         "embedding:index fp32 1x70 0/352/280"},
        {"aten::index", "f32[20,6,5] (i64[2] i64[7,1])", NULL,
         "embedding:index fp32 1x70 0/352/280"},
        {"aten::index", "f32[20,6,5] (i64[] i64[3,7])", NULL,
         "embedding:index fp32 1x105 0/596/420"},
        {"aten::index", "f32[20,6,5] (i64[0] i64[1])", NULL, /* of none */
         "embedding:index fp32 1x600 0/7200/2400"},
        {"aten::index", "f32[20,6,5] (bool[20])", NULL,
         "embedding:index fp32 1x600 0/7200/2400"},
        {"aten::index", "f32[20,6,5] (u8[20])", NULL,
         "embedding:index fp32 1x600 0/7200/2400"},
        {"aten::index", "f32[20,6,5] (bool[20])", "f32[9,6,5]",
         "embedding:index fp32 1x270 0/3240/1080"},
        {"aten::index", "f32[20,6,5] ()", NULL,
         "embedding:index fp32 1x600 0/7200/2400"},
        {"aten::index", "f32[20] (i64[7])", NULL,
         "embedding:index fp32 1x7 0/84/28"},
        {"aten::index", "none (i64[7])", NULL, "unknown"},
        {"aten::_index_put_impl_", "f32[20,6] (i64[7]) f32[7,6] false", NULL,
         "embedding:index_put fp32 1x42 42/224/168 in_place"},
        {"aten::_index_put_impl_", "f32[20,6] (i64[7]) f32[7,6] true", NULL,
         "embedding:index_put fp32 1x42 42/392/168 kernels 6 in_place"},
        {"aten::_index_put_impl_", "f32[20,6] (bool[20]) f32[9,6] false", NULL,
         "embedding:index_put fp32 1x54 54/648/216 in_place"},
        {"aten::_index_put_impl_", "f32[20,6] (i64[1]) f32[9,6] false", NULL,
         "embedding:index_put fp32 1x54 54/648/216 in_place"},
        {"aten::_index_put_impl_", "f32[20,6] (i64[7]) none", NULL, "unknown"},
    };
    static struct build b;

    WORKS_CHECK(rows);
    build_init(&b);
    build_op(&b, 0, "aten::_index_put_impl_", "f32[20,6] (bool[20]) f32[]",
             NULL);
    build_op(&b, 1, "aten::masked_fill_", "f32[20,6] bool[20] 0", NULL);
    works_check(&b.t, 0, "none");
    build_release(&b);
}

/* All tensors are read and written; a check writes nothing. */
static void test_opmap_embedding__jagged(void)
{
    static const struct works_row rows[] = {
        {"fbgemm::permute_2D_sparse_data", "i32[3] i64[4,5] i64[90]", NULL,
         "copy:permute int64 1x90 segments 20 0/892/892 kernels 6"},
        {"fbgemm::permute_2D_sparse_data", "i64[90] i64[4,5] i32[3]", NULL,
         "copy:permute int64 1x90 segments 20 0/892/892 kernels 6"},
        {"fbgemm::bounds_check_indices", "i64[4] i64[90] i64[5]", NULL,
         "copy:bounds_check int64 1x90 segments 5 0/792/0"},
        {"fbgemm::permute_2D_sparse_data", "3", NULL, "unknown"},
    };

    WORKS_CHECK(rows);
}

int main(void)
{
    RUN(test_opmap_embedding__gathers);
    RUN(test_opmap_embedding__indices);
    RUN(test_opmap_embedding__jagged);
    RUN(test_opmap_embedding__forms);
    RUN(test_opmap_embedding__empty_bags);
    RUN(test_opmap_embedding__fewer_rows_than_bags);
    return check_summary();
}
