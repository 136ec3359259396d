/*
 * core/work/kernel/kernel_kind.c - kinds of kernels by words in their names.
 */
#include "core/work/kernel/infer.h"

#include <stdbool.h>
#include <string.h>

/* Does the name hold one of the words, in any case? NULL ends them. */
static bool has_any(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strcasestr(name, *words))
            return true;
    return false;
}

#define WORDS_MAX 14

/*
 * The first row counts that has a word of the name and none of whose excluding
 * words is in it. Attention and products come first, since the names of fused
 * kernels hold what is fused into them; then the most specific kinds.
 */
static const struct kind_row {
    enum msim_kernel_kind kind;
    const char *words[WORDS_MAX];
    const char *without[8];
} KINDS[] = {
    {MSIM_KERNEL_COLLECTIVE,
     {"ncclKernel", "ncclDevKernel", "rcclGeneric", "mscclKernel",
      "all_reduce_kernel", "allreduce", "reduce_scatter", NULL},
     {NULL}},
    {MSIM_KERNEL_DECODE,
     {"decode", "paged_attention", "PagedKv", "ForGen", "splitkv", NULL},
     {"reduce", "combine", "merge", "norm", "elementwise", "alloc", NULL}},
    {MSIM_KERNEL_ATTENTION,
     {"fmha", "flash", "attn", "attention", "triton_tem_fused_flex", NULL},
     {"reduce", "combine", "merge", "norm", "elementwise", "indices", "process",
      NULL}},
    {MSIM_KERNEL_MATRIX,
     {"triton_tem", "triton_mm", "triton_bmm", NULL},
     {NULL}},
    {MSIM_KERNEL_SPLIT_K,
     {"splitKreduce", "ReduceSplitK", "split_k_kernel", "reduce_wgrad", NULL},
     {NULL}},
    {MSIM_KERNEL_EMBEDDING,
     {"split_embedding", "embedding_bag", "EmbeddingBag", NULL},
     {"find_long", NULL}},
    {MSIM_KERNEL_SORT,
     {"RadixSort", "DeviceScan", "DeviceReduceByKey", "MergeSort", "scan_impl",
      "sort_impl", "bitonicSort", "MoeSorting", "radix", "DeviceSelect",
      "DeviceRunLength", "histogram", NULL},
     {NULL}},
    {MSIM_KERNEL_BATCH_NORM,
     {"bn_fw", "bn_bw", "batch_norm", "batchnorm", NULL},
     {NULL}},
    {MSIM_KERNEL_SOFTMAX, {"softmax", NULL}, {"fmha", "routing", NULL}},
    {MSIM_KERNEL_NORM,
     {"layer_norm", "LayerNorm", "rmsnorm", "rms_norm", "GammaBeta", "qknorm",
      "RowwiseMoments", "group_norm", "GroupNorm", NULL},
     {"elementwise", NULL}},
    {MSIM_KERNEL_POOL,
     {"max_pool", "avg_pool", "average_pool", "MaxPool", "AvgPool",
      "pooling_fw", "pooling_bw", NULL},
     {NULL}},
    {MSIM_KERNEL_FOREACH,
     {"multi_tensor_apply", "FusedAdam", "fused_adam", NULL},
     {NULL}},
    {MSIM_KERNEL_GEMV, {"gemv", NULL}, {NULL}},
    {MSIM_KERNEL_CONV,
     {"fprop", "dgrad", "wgrad", "winograd", "scudnn", "convolve", "conv2d",
      "conv3d", "implicit_gemm", "Conv2d", "conv_", "naive_conv", "igemm",
      NULL},
     {"transpose", "winogradForward", "winogradWgrad", "convert", "elementwise",
      "Offsets", "generateWinograd", NULL}},
    {MSIM_KERNEL_INDEX,
     {"index_elementwise", "indexSelect", "indexing_backward", "index_kernel",
      "scatter_gather", "gather", "embedding", "indexFunc", "take_put", NULL},
     {NULL}},
    {MSIM_KERNEL_REDUCTION,
     {"reduce_kernel", "triton_red", "triton_per", "nll_loss", "reduce_1Block",
      "DeviceReduce", NULL},
     {"splitK", NULL}},
    {MSIM_KERNEL_COPY,
     {"CatArray", "nchwToNhwc", "nhwcToNchw", "transpose", "direct_copy",
      "copy_kernel", "batched_memcpy", "im2col", "col2im", "convertTensor",
      "winogradForward", "winogradWgrad", NULL},
     {NULL}},
    {MSIM_KERNEL_ELEMENTWISE,
     {"elementwise", "triton_poi", "scalePackedTensor", "op_tensor", "OpTensor",
      "kernelPointwiseApply", "fused_dropout", "tril", "triu", NULL},
     {NULL}},
    {MSIM_KERNEL_MATRIX,
     {"gemm", "cutlass", "Cijk_", "mfma", "xmma", "nvjet", "bmm_", "wgmma",
      "mma_", "_dot", "matmul", "mm_kernel", "conv", NULL},
     {"norm", "softmax", "elementwise", "convert", "fbgemm", "FlashAttn",
      NULL}},
};

enum msim_kernel_kind msim_kernel_kind_read(const char *name)
{
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(*KINDS); i++)
        if (has_any(name, KINDS[i].words) && !has_any(name, KINDS[i].without))
            return KINDS[i].kind;
    return MSIM_KERNEL_OTHER;
}
