/* Look-ups in tables of fbgemm: which argument is what. */
#include "core/work/opmap/opmap.h"
#include "tests/unit/made_ops.h"

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

int main(void)
{
    RUN(test_opmap_embedding__forms);
    RUN(test_opmap_embedding__empty_bags);
    RUN(test_opmap_embedding__fewer_rows_than_bags);
    return check_summary();
}
