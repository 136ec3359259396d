/*
 * Kinds of kernels by words in their names: every word, every word that
 * excludes a kind, and which of two kinds counts; and the family of each kind.
 */
#include "core/work/kernel/infer.h"
#include "tests/check.h"

struct named {
    enum msim_kernel_kind kind;
    const char *names[16];
};

/* One word a name: each is enough, in the middle of others. */
static const struct named WORDS[] = {
    {MSIM_KERNEL_COLLECTIVE,
     {"ncclKernel", "ncclDevKernel", "rcclGeneric", "mscclKernel",
      "all_reduce_kernel", "allreduce", "reduce_scatter"}},
    {MSIM_KERNEL_DECODE,
     {"decode", "paged_attention", "PagedKv", "ForGen", "splitkv"}},
    {MSIM_KERNEL_ATTENTION,
     {"fmha", "flash", "attn", "attention", "triton_tem_fused_flex"}},
    {MSIM_KERNEL_MATRIX, {"triton_tem", "triton_mm", "triton_bmm"}},
    {MSIM_KERNEL_SPLIT_K,
     {"splitKreduce", "ReduceSplitK", "split_k_kernel", "reduce_wgrad"}},
    {MSIM_KERNEL_EMBEDDING,
     {"split_embedding", "embedding_bag", "EmbeddingBag"}},
    {MSIM_KERNEL_SORT,
     {"RadixSort", "DeviceScan", "DeviceReduceByKey", "MergeSort", "scan_impl",
      "sort_impl", "bitonicSort", "MoeSorting", "radix", "DeviceSelect",
      "DeviceRunLength", "histogram"}},
    {MSIM_KERNEL_BATCH_NORM, {"bn_fw", "bn_bw", "batch_norm", "batchnorm"}},
    {MSIM_KERNEL_SOFTMAX, {"softmax"}},
    {MSIM_KERNEL_NORM,
     {"layer_norm", "LayerNorm", "rmsnorm", "rms_norm", "GammaBeta", "qknorm",
      "RowwiseMoments", "group_norm", "GroupNorm"}},
    {MSIM_KERNEL_POOL,
     {"max_pool", "avg_pool", "average_pool", "MaxPool", "AvgPool",
      "pooling_fw", "pooling_bw"}},
    {MSIM_KERNEL_FOREACH, {"multi_tensor_apply", "FusedAdam", "fused_adam"}},
    {MSIM_KERNEL_GEMV, {"gemv"}},
    {MSIM_KERNEL_CONV,
     {"fprop", "dgrad", "wgrad", "winograd", "scudnn", "convolve", "conv2d",
      "conv3d", "implicit_gemm", "Conv2d", "conv_", "naive_conv", "igemm"}},
    {MSIM_KERNEL_INDEX,
     {"index_elementwise", "indexSelect", "indexing_backward", "index_kernel",
      "scatter_gather", "gather", "embedding", "indexFunc", "take_put"}},
    {MSIM_KERNEL_REDUCTION,
     {"reduce_kernel", "triton_red", "triton_per", "nll_loss", "reduce_1Block",
      "DeviceReduce"}},
    {MSIM_KERNEL_COPY,
     {"CatArray", "nchwToNhwc", "nhwcToNchw", "transpose", "direct_copy",
      "copy_kernel", "batched_memcpy", "im2col", "col2im", "convertTensor",
      "winogradForward", "winogradWgrad"}},
    {MSIM_KERNEL_ELEMENTWISE,
     {"elementwise", "triton_poi", "scalePackedTensor", "op_tensor", "OpTensor",
      "kernelPointwiseApply", "fused_dropout", "tril", "triu"}},
    {MSIM_KERNEL_MATRIX,
     {"gemm", "cutlass", "Cijk_", "mfma", "xmma", "nvjet", "bmm_", "wgmma",
      "mma_", "_dot", "matmul", "mm_kernel", "conv"}},
    {MSIM_KERNEL_OTHER, {"", "kernel", "vectorized"}},
};

/* Two words a name, and the kind that counts. */
static const struct named PAIRS[] = {
    {MSIM_KERNEL_COLLECTIVE, {"ncclKernel_copy_kernel", "allreduce_rms_norm"}},
    /* Parts around attention are none. */
    {MSIM_KERNEL_OTHER,
     {"decode_combine", "decode_merge", "decode_alloc", "flash_combine",
      "flash_merge", "flash_indices", "flash_process", "flash_reduce",
      "decode_reduce", "decode_norm", "flash_norm", "fmha_softmax_combine",
      "routing_softmax"}},
    {MSIM_KERNEL_ELEMENTWISE,
     {"flash_elementwise", "decode_elementwise", "rms_norm_elementwise",
      "conv2d_elementwise", "gemm_elementwise"}},
    {MSIM_KERNEL_INDEX, {"split_embedding_find_long"}},
    {MSIM_KERNEL_COPY,
     {"conv2d_transpose", "winogradForward", "winogradWgrad",
      "convertTensor_conv_"}},
    {MSIM_KERNEL_OTHER,
     {"conv_convert", "gemm_norm", "fbgemm", "generateWinograd",
      "FlashAttn_norm_gemm"}},
    {MSIM_KERNEL_MATRIX, {"conv_Offsets", "triton_mm_attentive"}},
    {MSIM_KERNEL_SPLIT_K, {"splitKreduce_kernel", "reduce_wgrad"}},
    {MSIM_KERNEL_SOFTMAX, {"softmax_gemm", "softmax_elementwise"}},
    {MSIM_KERNEL_SORT, {"DeviceReduceByKey_histogram"}},
    {MSIM_KERNEL_EMBEDDING, {"EmbeddingBag_gather"}},
    {MSIM_KERNEL_ATTENTION, {"flash_gemm", "attn_softmax", "fmha_softmax"}},
    {MSIM_KERNEL_DECODE, {"attention_decode"}},
    {MSIM_KERNEL_BATCH_NORM, {"batch_norm_elementwise"}},
    {MSIM_KERNEL_GEMV, {"gemv_gemm"}},
};

static void hold(const struct named *rows, size_t n, bool inside)
{
    char name[96];

    for (size_t i = 0; i < n; i++)
        for (const char *const *w = rows[i].names; *w; w++) {
            snprintf(name, sizeof(name), inside ? "x1%s2y" : "%s", *w);
            if (!CHECK_INT(msim_kernel_kind_read(name), rows[i].kind))
                fprintf(stderr, "%s\n", name);
        }
}

static void test_kernel_kind__each_word(void)
{
    hold(WORDS, sizeof(WORDS) / sizeof(*WORDS), true);
}

static void test_kernel_kind__which_of_two_counts(void)
{
    hold(PAIRS, sizeof(PAIRS) / sizeof(*PAIRS), false);
}

static void test_kernel_kind__families(void)
{
    static const struct {
        const char *name;
        enum msim_family family;
    } NAMES[] = {
        {"kernel", MSIM_FAMILY_BOUND},
        {"gemm", MSIM_FAMILY_GEMM},
        {"gemv", MSIM_FAMILY_GEMM},
        {"conv2d", MSIM_FAMILY_CONV},
        {"fmha", MSIM_FAMILY_ATTENTION},
        {"paged_attention", MSIM_FAMILY_ATTENTION},
        {"splitKreduce_kernel", MSIM_FAMILY_GEMM},
        {"elementwise_kernel", MSIM_FAMILY_POINTWISE},
        {"multi_tensor_apply_kernel", MSIM_FAMILY_POINTWISE},
        {"direct_copy", MSIM_FAMILY_COPY},
        {"reduce_kernel", MSIM_FAMILY_REDUCTION},
        {"softmax", MSIM_FAMILY_SOFTMAX},
        {"rms_norm", MSIM_FAMILY_NORM},
        {"batch_norm", MSIM_FAMILY_NORM},
        {"max_pool", MSIM_FAMILY_REDUCTION},
        {"index_kernel", MSIM_FAMILY_EMBEDDING},
        {"embedding_bag", MSIM_FAMILY_EMBEDDING},
        {"DeviceScan", MSIM_FAMILY_REDUCTION},
        {"ncclDevKernel", MSIM_FAMILY_COLLECTIVE},
    };

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
        if (!CHECK_INT(msim_kernel_family(NAMES[i].name), NAMES[i].family))
            fprintf(stderr, "%s\n", NAMES[i].name);
}

int main(void)
{
    RUN(test_kernel_kind__each_word);
    RUN(test_kernel_kind__which_of_two_counts);
    RUN(test_kernel_kind__families);
    return check_summary();
}
