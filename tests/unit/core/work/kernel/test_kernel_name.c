/*
 * core/work/kernel/kernel_name.c: real names of kernels, and what they say.
 */
#include "core/work/kernel/infer.h"

#include "tests/check.h"

static struct msim_kernel_name read(const char *name)
{
    struct msim_kernel_name k;

    msim_kernel_name_read(&k, name);
    return k;
}

static void check_kind(const char *name, enum msim_kernel_kind want)
{
    if (!CHECK_INT(read(name).kind, want))
        fprintf(stderr, "  of '%s'\n", name);
}

static void test_kernel_name__kinds(void)
{
    static const struct {
        const char *name;
        enum msim_kernel_kind kind;
    } NAMES[] = {
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
         MSIM_KERNEL_COLLECTIVE},
        {"volta_sgemm_128x64_tn", MSIM_KERNEL_MATRIX},
        {"void gemv2T_kernel_val<int, int, float>", MSIM_KERNEL_GEMV},
        {"void cublasLt::splitKreduce_kernel<32, 16>", MSIM_KERNEL_SPLIT_K},
        {"sm80_xmma_dgrad_implicit_gemm_tf32f32_tilesize128x128x16",
         MSIM_KERNEL_CONV},
        {"void cudnn::winograd_nonfused::winogradForwardData4x4<float>",
         MSIM_KERNEL_COPY},
        {"cask_cudnn::computeWgradBOffsetsKernel(cask_cudnn::Params)",
         MSIM_KERNEL_OTHER},
        {"void cudnn::bn_bw_1C11_singleread<float, 512>",
         MSIM_KERNEL_BATCH_NORM},
        {"void at::native::(anonymous namespace)::max_pool_backward_nchw",
         MSIM_KERNEL_POOL},
        {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>",
         MSIM_KERNEL_COPY},
        {"fmhaSm100fKernel_QkvBfloat16PagedKvCausalForGen", MSIM_KERNEL_DECODE},
        {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>",
         MSIM_KERNEL_ATTENTION},
        {"kernel_cutlass_kernel_flashinfernormkernelsrmsnormRMSNormKernel",
         MSIM_KERNEL_NORM},
        {"void cub::DeviceRadixSortOnesweepKernel<>", MSIM_KERNEL_SORT},
        /* A namespace, and types of parameters, are no kind of work. */
        {"void fbgemm_gpu::permute_2D_data_kernel<false, int>(int, int)",
         MSIM_KERNEL_OTHER},
        {"void bounds_check_kernel<long>(fbgemm_gpu::gemm_params, float*)",
         MSIM_KERNEL_OTHER},
        {"", MSIM_KERNEL_OTHER},
        {")", MSIM_KERNEL_OTHER},
    };

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
        check_kind(NAMES[i].name, NAMES[i].kind);
}

/* Pointers count the output; the functor tells what an array does not. */
static void test_kernel_name__elementwise(void)
{
    struct msim_kernel_name k =
        read("void at::native::vectorized_elementwise_kernel<4, "
             "at::native::CUDAFunctor_add<c10::Half>, "
             "at::detail::Array<char*, 3> >(int, at::detail::Array<char*, 3>)");

    CHECK_INT(k.kind, MSIM_KERNEL_ELEMENTWISE);
    CHECK_INT(k.dtype, MSIM_DT_F16);
    CHECK_REL(k.items, 4, 0);
    CHECK_REL(k.reads, 2, 0);
    CHECK_REL(k.writes, 1, 0);
    k = read("void at::native::elementwise_kernel<128, 2, void "
             "at::native::gpu_kernel_impl_nocast<at::native::BinaryFunctor<"
             "float, float, float, MulFunctor<float> > >(TensorIteratorBase&)"
             "::{lambda(int)#1}>(int, Functor)");
    CHECK_REL(k.items, 2, 0);
    CHECK_REL(k.reads, 2, 0);
    CHECK_INT(k.dtype, MSIM_DT_F32);
    k = read("void at::native::vectorized_elementwise_kernel<4, "
             "at::native::FillFunctor<long>, at::detail::Array<char*, 1> >");
    CHECK_REL(k.reads + 1, 1, 0);
    CHECK_INT(k.dtype, MSIM_DT_I64);
}

/* Sizes of a head and of a block, and the mask, in each version's own order. */
static void test_kernel_name__flash(void)
{
    struct msim_kernel_name k =
        read("void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 32, 4, "
             "false, false, half, Flash_kernel_traits<64, 128, 32, 4, half> >, "
             "false, true, false>");

    CHECK_INT(k.kind, MSIM_KERNEL_ATTENTION);
    CHECK_REL(k.cols, 64, 0);
    CHECK_REL(k.tile[0], 128, 0);
    k = read("void flash::compute_attn_ws<Flash_fwd_kernel_traits<192, 128, "
             "64, 12, 2, false, 1, bf16>, true, flash::SingleTileScheduler>");
    CHECK_REL(k.cols, 192, 0);
    CHECK_REL(k.tile[0], 128, 0);
    CHECK(k.causal);
    k = read("void cutlass::device_kernel<flash::FlashAttnBwd<flash::"
             "CollectiveMainloopBwd<2, cute::tuple<cute::C<1>, cute::C<1>, "
             "cute::C<1> >, cute::tuple<cute::C<64>, cute::C<128>, "
             "cute::C<192> >, bf16, float, arch::Sm90, false, true> > >");
    CHECK_INT(k.kind, MSIM_KERNEL_ATTENTION);
    CHECK(k.backward && !k.causal);
    CHECK_REL(k.cols, 192, 0);
    CHECK_REL(k.tile[0], 128, 0);
    k = read("void cutlass::device_kernel<flash::FlashAttnBwdPreprocess<"
             "cute::tuple<cute::C<64>, cute::C<192> > > >");
    CHECK_INT(k.kind, MSIM_KERNEL_OTHER);
}

static void test_kernel_name__products(void)
{
    struct msim_kernel_name k = read("ampere_sgemm_32x128_nt");

    CHECK_REL(k.tile[0], 32, 0);
    CHECK_REL(k.tile[1], 128, 0);
    CHECK_REL(msim_kernel_name_narrow(&k), 32, 0);
    CHECK_INT(k.rate, MSIM_RATE_FP32);
    k = read("_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemm"
             "ConvolutionINS_4gemm9GemmShapeILi64ELi128ELi32EEENS4_52Conv2d"
             "WgradOutputGradientTileAccessIteratorNS_10tfloat32_t");
    CHECK_INT(k.kind, MSIM_KERNEL_CONV);
    CHECK_INT(k.pass, MSIM_CONV_BACKWARD_WEIGHT);
    CHECK_INT(k.rate, MSIM_RATE_TF32);
    CHECK_REL(k.tile[0], 64, 0);
    CHECK_REL(k.tile[1], 128, 0);
    k = read("Cijk_Alik_Bljk_BBS_BH_MT64x16x256_MI16x16x1_SN");
    CHECK_INT(k.dtype, MSIM_DT_BF16);
    CHECK_REL(msim_kernel_name_narrow(&k), 16, 0);
    /* Tensor instructions are no 8-bit numbers. */
    k = read("volta_s884gemm_128x128_ldg8_nn");
    CHECK_INT(k.rate, MSIM_RATE_FP16);
    k = read("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4>");
    CHECK_INT(k.rate, MSIM_RATE_TF32);
}

static void test_kernel_name__rows(void)
{
    struct msim_kernel_name k =
        read("void (anonymous namespace)::softmax_warp_forward<float, float, "
             "float, 10, true, false>(float*, float const*, int)");

    CHECK_REL(k.cols, 1024, 0);
    k = read("void split_embedding_codegen_forward_unweighted_kernel<float, "
             "float, float, false, long, 8ul, 32ul>(Accessor<float, 1ul>)");
    CHECK_INT(k.kind, MSIM_KERNEL_EMBEDDING);
    CHECK_REL(k.cols, 1024, 0);
    k = read("void at::native::(anonymous namespace)::multi_tensor_apply_kernel"
             "<at::native::TensorListMetadata<3>, PointwiseOpScalarFunctor<"
             "float, 3, 3, 0>, std::divides<float>, float>");
    CHECK_REL(k.items, 65536, 0);
    CHECK_REL(k.reads, 3, 0);
}

int main(void)
{
    RUN(test_kernel_name__kinds);
    RUN(test_kernel_name__elementwise);
    RUN(test_kernel_name__flash);
    RUN(test_kernel_name__products);
    RUN(test_kernel_name__rows);
    return check_summary();
}
