/*
 * Works of kernels by their names and launches: families and sizes, what is
 * read and written, and how wide the interval gets. Figures are those of
 * data/laws/kernels.csv.
 */
#include "core/work/kernel/infer.h"
#include "tests/unit/made_works.h"

static struct build b;

/* A kernel of grid x, y, z and blocks of 128 threads, which an addition of
 * 512,000 numbers precedes where `after`; then a shape as a text. */
static void told(struct works_text *x, const char *name, const uint32_t grid[3],
                 bool after, double *spread)
{
    struct msim_infer l;
    struct msim_work w;
    uint32_t i;

    build_init(&b);
    b.t.gpu_properties.sms = 80;
    if (after)
        build_kernel(&b, build_op(&b, 0, "aten::add", "", NULL),
                     "void at::native::vectorized_elementwise_kernel<4, "
                     "at::native::CUDAFunctor_add<float>, "
                     "at::detail::Array<char*, 3> >",
                     1000, 128);
    i = build_op(&b, 0, "x", "", NULL);
    i = build_kernel(&b, i, name, grid[0], 128)->config;
    b.configs[i].grid[1] = grid[1];
    b.configs[i].grid[2] = grid[2];
    x->n = 0;
    x->s[0] = '\0';
    CHECK_INT(msim_infer_init(&l, &b.t), MSIM_OK);
    if (msim_infer_work(&l, i, &w, spread))
        works_add_one(x, &w);
    else
        works_add(x, "none");
    works_add(x, "%s", msim_infer_blind(&l, i) ? " blind" : "");
    msim_infer_release(&l);
    build_release(&b);
}

static void test_infer_work__kinds(void)
{
    static const struct {
        const char *name;
        uint32_t grid[3];
        bool after;
        const char *want;
        double spread;
    } cases[] = {
        {"void at::native::vectorized_elementwise_kernel<4, "
         "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >",
         {10, 1, 1},
         false,
         "pointwise fp32 1x5120 5120/40960/20480",
         0.2},
        {"void at::native::vectorized_elementwise_kernel<4, "
         "at::native::FillFunctor<float>, at::detail::Array<char*, 1> >",
         {10, 1, 1},
         false,
         "pointwise fp32 1x5120 5120/0/20480",
         0.2},
        {"void at::native::multi_tensor_apply_kernel<>",
         {5, 1, 1},
         false,
         "optimizer fp32 1x294912 294912/2359296/1179648",
         0.15},
        {"void at::native::reduce_kernel<512, 1, float>",
         {10, 1, 1},
         true,
         "reduction fp32 5120x64 across 327680/1310720/0",
         0.95},
        {"void cunn_SoftMaxForward<4, float, float, float>",
         {1000, 1, 1},
         true,
         "softmax fp32 1000x512 512000/2048000/2048000",
         0.65},
        /* a row a warp, 4 of them a block */
        {"void (anonymous namespace)::softmax_warp_forward<float, float, "
         "float, 9, false, false>",
         {1000, 1, 1},
         false,
         "softmax fp32 4000x512 2048000/8192000/8192000",
         0.65},
        {"void vectorized_layer_norm_kernel<float>",
         {1000, 1, 1},
         true,
         "norm fp32 1000x512 512000/2048000/2048000",
         0.5},
        {"void at::native::batch_norm_collect_statistics_kernel<float>",
         {64, 1, 1},
         true,
         "norm:batch_norm fp32 64x8000 512000/2048000/2048000",
         0.9},
        {"unheard_of",
         {10, 1, 1},
         true,
         "pointwise fp32 1x1280 1280/20480/5120 blind",
         1.55},
        {"flash_fwd_kernel",
         {4, 6, 2},
         false,
         "attention fp16 encoder 2 of 6/6 heads 256x256 of 64 "
         "201326592/1179648/393216",
         0.5},
        {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, "
         "128, 128, 4>, false, true>",
         {4, 6, 2},
         false,
         "attention fp16 prefill 2 of 6/6 heads 512x512 of 64 "
         "403439616/2359296/786432",
         0.5},
        {"void splitKreduce_kernel<32, 16, int, float>",
         {10, 1, 1},
         false,
         "reduction fp32 1x1280 1280/20480/5120",
         0.4},
        {"paged_attention_kernel",
         {4, 6, 2},
         false,
         "attention fp16 decode 2 of 6/6 heads 1x1024 of 64 "
         "3145728/3147264/1536",
         1},
        /* a quarter of the numbers, each with its place */
        {"void max_pool_backward_nchw<float>",
         {10, 1, 1},
         false,
         "pointwise:max_pool2d_with_indices_backward fp32 1x1280 "
         "1280/3840/5120",
         0.45},
        {"void split_embedding_codegen_forward_unweighted_kernel<float, "
         "float, float, false, long, 8ul, 32ul>(Accessor<float, 1ul>)",
         {10, 1, 1},
         false,
         "embedding fp32 10x1024 10240/40960/40960",
         1.5},
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL",
         {10, 1, 1},
         false,
         "none",
         0},
    };
    struct works_text x;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double spread = 0;

        told(&x, cases[i].name, cases[i].grid, cases[i].after, &spread);
        if (!CHECK_STR(x.s, cases[i].want))
            fprintf(stderr, "  of %s\n", cases[i].name);
        CHECK_REL(spread, cases[i].spread, 1e-12);
    }
}

/* Attention of which no launch is recorded: 8 blocks of 64 queries, 16 heads.
 */
static void test_infer_work__no_launch(void)
{
    static const char *const cases[][2] = {
        {"flash_fwd_kernel", "attention fp16 encoder 1 of 16/16 heads 512x512 "
                             "of 64 1073741824/3145728/1048576"},
        {"paged_attention_kernel", "attention fp16 decode 1 of 16/16 heads "
                                   "1x1024 of 64 4194304/4196352/2048"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct works_text x = {.n = 0};
        struct msim_infer l;
        struct msim_work w;
        double spread;

        build_init(&b);
        build_kernel(&b, build_op(&b, 0, "x", "", NULL), cases[i][0], 1, 1)
            ->config = MSIM_NONE;
        CHECK_INT(msim_infer_init(&l, &b.t), MSIM_OK);
        CHECK(msim_infer_work(&l, 0, &w, &spread));
        CHECK_REL(spread, 1.5, 0);
        works_add_one(&x, &w);
        CHECK_STR(x.s, cases[i][1]);
        msim_infer_release(&l);
        build_release(&b);
    }
}

/* A transfer whose size is not recorded takes what was written before it; a
 * barrier has none, and what is recorded stays. */
static void test_infer_work__transfers(void)
{
    static const struct {
        enum msim_collective collective;
        uint64_t bytes;
        bool after;
        uint64_t want;
        double spread;
    } cases[] = {
        {MSIM_COLL_ALL_REDUCE, 0, true, 4 * 512000, 1.55},
        {MSIM_COLL_ALL_REDUCE, 0, false, 0, 1.55},
        {MSIM_COLL_ALL_REDUCE, 7, true, 7, 0},
        {MSIM_COLL_BARRIER, 0, true, 0, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE};
        struct msim_infer l;
        double spread = -1;
        uint32_t op;

        w.u.coll.collective = cases[i].collective;
        w.u.coll.bytes = cases[i].bytes;
        build_init(&b);
        b.t.gpu_properties.sms = 80;
        if (cases[i].after)
            build_kernel(&b, build_op(&b, 0, "aten::add", "", NULL),
                         "void at::native::vectorized_elementwise_kernel<4, "
                         "at::native::CUDAFunctor_add<float>, "
                         "at::detail::Array<char*, 3> >",
                         1000, 128);
        op = build_op(&b, 0, "x", "", NULL);
        build_kernel(&b, op, "ncclDevKernel_AllReduce", 8, 128);
        CHECK_INT(msim_infer_init(&l, &b.t), MSIM_OK);
        msim_infer_comm(&l, b.t.n_gpu - 1, &w, &spread);
        CHECK_INT(w.u.coll.bytes, cases[i].want);
        CHECK_INT((int64_t)w.bytes_read, cases[i].bytes ? 0 : cases[i].want);
        CHECK_INT((int64_t)w.bytes_written, cases[i].bytes ? 0 : cases[i].want);
        CHECK_REL(spread, cases[i].spread, 1e-12);
        msim_infer_release(&l);
        build_release(&b);
    }
}

/*
 * Sums: blocks of up to 128 threads have four outputs side by side, up to 256
 * two, each of a column of threads; larger ones sum rows, a line of threads or
 * a block each.
 */
static void test_infer_work__sums(void)
{
    static const struct {
        uint32_t blocks, wide, high;
        const char *want;
    } cases[] = {
        {10, 32, 4, "reduction fp32 1280x256 across 327680/1310720/0"},
        {10, 32, 8, "reduction fp32 640x800 across 512000/2048000/0"},
        {10, 32, 16, "reduction fp32 160x3200 along 512000/2048000/0"},
        {100, 32, 16, "reduction fp32 1600x320 along 512000/2048000/0"},
        {2, 32, 16, "reduction fp32 2x131072 along 262144/1048576/0"},
        {10, 512, 1, "reduction fp32 10x51200 along 512000/2048000/0"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct works_text x = {.n = 0};
        struct msim_infer l;
        struct msim_work w;
        double spread;
        uint32_t k;

        build_init(&b);
        b.t.gpu_properties.sms = 80;
        build_kernel(&b, build_op(&b, 0, "aten::add", "", NULL),
                     "void at::native::vectorized_elementwise_kernel<4, "
                     "at::native::CUDAFunctor_add<float>, "
                     "at::detail::Array<char*, 3> >",
                     1000, 128);
        k = build_kernel(&b, build_op(&b, 0, "aten::sum", "", NULL),
                         "void at::native::reduce_kernel<512, 1, float>",
                         cases[i].blocks, cases[i].wide)
                ->config;
        b.configs[k].block[1] = cases[i].high;
        CHECK_INT(msim_infer_init(&l, &b.t), MSIM_OK);
        CHECK(msim_infer_work(&l, k, &w, &spread));
        works_add_one(&x, &w);
        CHECK_STR(x.s, cases[i].want);
        msim_infer_release(&l);
        build_release(&b);
    }
}

int main(void)
{
    RUN(test_infer_work__kinds);
    RUN(test_infer_work__no_launch);
    RUN(test_infer_work__transfers);
    RUN(test_infer_work__sums);
    return check_summary();
}
