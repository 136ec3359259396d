/* Families of kernels by the kind that their names say; nodes, blocks and
 * threads of launches. */
#include "core/work/kernel/infer.h"
#include "tests/unit/made_ops.h"

static void test_kernel_family__kinds(void)
{
    static const struct {
        const char *name;
        enum msim_family want;
    } cases[] = {
        {"ampere_sgemm_128x64_nn", MSIM_FAMILY_GEMM},
        {"void gemv2T_kernel_val<int, int, float>", MSIM_FAMILY_GEMM},
        {"void splitKreduce_kernel<32, 16, int, float>", MSIM_FAMILY_GEMM},
        {"implicit_convolve_sgemm", MSIM_FAMILY_CONV},
        {"flash_fwd_kernel", MSIM_FAMILY_ATTENTION},
        {"void at::native::vectorized_elementwise_kernel<4>",
         MSIM_FAMILY_POINTWISE},
        {"void at::native::multi_tensor_apply_kernel<>", MSIM_FAMILY_POINTWISE},
        {"void at::native::CatArrayBatchedCopy<float>", MSIM_FAMILY_COPY},
        {"void at::native::reduce_kernel<512, 1>", MSIM_FAMILY_REDUCTION},
        {"void softmax_warp_forward<float>", MSIM_FAMILY_SOFTMAX},
        {"void vectorized_layer_norm_kernel<float>", MSIM_FAMILY_NORM},
        {"void at::native::batch_norm_collect_statistics_kernel<>",
         MSIM_FAMILY_NORM},
        {"void at::native::max_pool_forward_nchw<float>",
         MSIM_FAMILY_REDUCTION},
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", MSIM_FAMILY_COLLECTIVE},
        {"no such kernel", MSIM_FAMILY_BOUND},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (!CHECK_INT(msim_kernel_family(cases[i].name), cases[i].want))
            fprintf(stderr, "  of %s\n", cases[i].name);
}

/* 2 x 3 x 5 blocks of 7 x 11 x 13 threads; none where nothing is recorded. */
static void test_kernel_family__launches(void)
{
    static struct build b;
    struct msim_infer l = {.t = &b.t};
    struct msim_gpu *g;

    build_init(&b);
    build_op(&b, 0, "x", "", NULL);
    g = build_kernel(&b, 0, "k", 2, 7);
    b.configs[0].grid[1] = 3;
    b.configs[0].grid[2] = 5;
    b.configs[0].block[1] = 11;
    b.configs[0].block[2] = 13;
    CHECK_INT((int64_t)msim_infer_blocks(&l, 0), 30);
    CHECK_INT((int64_t)msim_infer_threads(&l, 0), 30 * 1001);
    g->config = MSIM_NONE;
    CHECK_INT((int64_t)msim_infer_blocks(&l, 0), 0);
    CHECK_INT((int64_t)msim_infer_threads(&l, 0), 0);
    build_release(&b);
}

/* The next operator around a kernel that has a number, and its pass. */
static void test_kernel_family__nodes(void)
{
    static const struct {
        int32_t seq[3]; /* of the operators, from outside in */
        uint8_t scope;  /* of the one with the number */
        uint32_t fw_thread;
        int64_t node; /* -1: none */
        bool backward;
    } cases[] = {
        {{-1, -1, -1}, 0, MSIM_NONE, -1, false},
        {{-1, -1, 4}, 0, MSIM_NONE, 4, false},
        {{-1, 0, -1}, 0, MSIM_NONE, 0, false},
        {{7, -1, -1}, 0, MSIM_NONE, 7, false},
        {{7, 4, -1}, 1, MSIM_NONE, 4, true},
        {{7, 4, -1}, 0, 0, 4, true},
        {{7, 4, -1}, 2, MSIM_NONE, 4, false},
    };
    static struct build b;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t node = -1;
        bool backward = false;

        build_init(&b);
        for (uint32_t k = 0; k < 3; k++) {
            build_op(&b, k, "x", "", NULL);
            b.ops[k].seq = cases[i].seq[k];
            if (cases[i].seq[k] == cases[i].node) {
                b.ops[k].scope = cases[i].scope;
                b.ops[k].fw_thread = cases[i].fw_thread;
            }
        }
        build_kernel(&b, 2, "k", 1, 1);
        CHECK_INT(msim_infer_node(&b.t, 0, &node, &backward),
                  cases[i].node >= 0);
        CHECK_INT(node, cases[i].node);
        CHECK_INT(backward, cases[i].backward);
        b.gpu[0].op = MSIM_NONE;
        CHECK(!msim_infer_node(&b.t, 0, &node, &backward));
        build_release(&b);
    }
}

int main(void)
{
    RUN(test_kernel_family__kinds);
    RUN(test_kernel_family__launches);
    RUN(test_kernel_family__nodes);
    return check_summary();
}
