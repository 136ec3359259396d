/*
 * tests/unit/core/trace/test_names.c - tests of core/trace/names.c.
 */
#include "core/trace/trace_columns.h"

#include "tests/check.h"

static void check_call(const char *name, enum msim_call_kind want)
{
    if (msim_name_call(name) != want) {
        CHECK_STR(name, "of another kind");
        CHECK_INT(msim_name_call(name), want);
    }
    CHECK(true);
}

/* Any launch whatever its name, of CUDA's runtime, its driver, and HIP. */
static void test_names__launches(void)
{
    check_call("cudaLaunchKernel", MSIM_CALL_LAUNCH);
    check_call("cudaLaunchKernelExC", MSIM_CALL_LAUNCH);
    check_call("cuLaunchKernel", MSIM_CALL_LAUNCH);
    check_call("cuLaunchKernelEx", MSIM_CALL_LAUNCH);
    check_call("cudaLaunchCooperativeKernel", MSIM_CALL_LAUNCH);
    check_call("hipLaunchKernel", MSIM_CALL_LAUNCH);
    check_call("hipExtModuleLaunchKernel", MSIM_CALL_LAUNCH);
    check_call("cudaGraphLaunch", MSIM_CALL_GRAPH_LAUNCH);
    check_call("hipGraphLaunch", MSIM_CALL_GRAPH_LAUNCH);
    check_call("cudaLaunchHostFunc", MSIM_CALL_OTHER);
}

static void test_names__other_calls(void)
{
    check_call("cudaMemcpyAsync", MSIM_CALL_MEMCPY);
    check_call("cuMemcpyHtoDAsync_v2", MSIM_CALL_MEMCPY);
    check_call("cudaMemcpy", MSIM_CALL_MEMCPY_SYNC);
    check_call("hipMemcpyWithStream", MSIM_CALL_MEMCPY_SYNC);
    check_call("cudaMemsetAsync", MSIM_CALL_MEMSET);
    check_call("cuMemsetD32Async", MSIM_CALL_MEMSET);
    check_call("cudaDeviceSynchronize", MSIM_CALL_DEVICE_SYNC);
    check_call("cuCtxSynchronize", MSIM_CALL_DEVICE_SYNC);
    check_call("cudaStreamSynchronize", MSIM_CALL_STREAM_SYNC);
    check_call("cudaEventSynchronize", MSIM_CALL_EVENT_SYNC);
    check_call("cudaEventRecordWithFlags", MSIM_CALL_EVENT_RECORD);
    check_call("cudaStreamWaitEvent", MSIM_CALL_STREAM_WAIT);
    check_call("cudaEventQuery", MSIM_CALL_EVENT_QUERY);
    check_call("cudaEventElapsedTime", MSIM_CALL_EVENT_ELAPSED);
    check_call("cudaMalloc", MSIM_CALL_MALLOC);
    check_call("cuMemAlloc_v2", MSIM_CALL_MALLOC);
    check_call("hipFree", MSIM_CALL_FREE);
    check_call("cudaMallocAsync", MSIM_CALL_OTHER);
    check_call("cudaMallocHost", MSIM_CALL_OTHER);
    check_call("cudaFuncGetAttributes", MSIM_CALL_OTHER);
    check_call("zeCommandQueueSynchronize", MSIM_CALL_STREAM_SYNC);
    check_call("urQueueFinish", MSIM_CALL_STREAM_SYNC);
    check_call("urEventWait", MSIM_CALL_EVENT_SYNC);
    check_call("zeEventHostSynchronize", MSIM_CALL_EVENT_SYNC);
    check_call("aclrtSynchronizeDevice", MSIM_CALL_DEVICE_SYNC);
    check_call("urEnqueueKernelLaunch", MSIM_CALL_LAUNCH);
    check_call("urEnqueueUSMMemcpy", MSIM_CALL_OTHER);
    check_call("INVALID", MSIM_CALL_OTHER);
    check_call("", MSIM_CALL_OTHER);
}

static enum msim_dtype dtype(const char *s)
{
    return msim_name_dtype(s, strlen(s));
}

static void test_names__element_types(void)
{
    CHECK_INT(dtype("float"), MSIM_DT_F32);
    CHECK_INT(dtype("Float"), MSIM_DT_F32);
    CHECK_INT(dtype("c10::Half"), MSIM_DT_F16);
    CHECK_INT(dtype("BFloat16"), MSIM_DT_BF16);
    CHECK_INT(dtype("c10::Float8_e4m3fn"), MSIM_DT_F8);
    CHECK_INT(dtype("long int"), MSIM_DT_I64);
    CHECK_INT(dtype("long"), MSIM_DT_I64);
    CHECK_INT(dtype("unsigned char"), MSIM_DT_U8);
    CHECK_INT(dtype("Byte"), MSIM_DT_U8);
    CHECK_INT(dtype("c10::complex<float>"), MSIM_DT_C64);
    CHECK_INT(dtype("c10::complex<double>"), MSIM_DT_C128);
    CHECK_INT(dtype("nullptr (uninitialized)"), MSIM_DT_UNKNOWN);
}

static enum msim_collective coll(const char *s)
{
    return msim_name_collective(s, strlen(s));
}

static void test_names__collectives(void)
{
    CHECK_INT(coll("allreduce"), MSIM_COLL_ALL_REDUCE);
    CHECK_INT(coll("nccl:all_reduce"), MSIM_COLL_ALL_REDUCE);
    CHECK_INT(coll("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)"),
              MSIM_COLL_ALL_REDUCE);
    CHECK_INT(coll("_allgather_base"), MSIM_COLL_ALL_GATHER);
    CHECK_INT(coll("all_gather_into_tensor"), MSIM_COLL_ALL_GATHER);
    CHECK_INT(coll("nccl:_reduce_scatter_base"), MSIM_COLL_REDUCE_SCATTER);
    CHECK_INT(coll("all_to_allv"), MSIM_COLL_ALL_TO_ALL);
    CHECK_INT(coll("reduce"), MSIM_COLL_REDUCE);
    CHECK_INT(coll("scatter"), MSIM_COLL_SCATTER);
    CHECK_INT(coll("gather"), MSIM_COLL_GATHER);
    CHECK_INT(coll("broadcast"), MSIM_COLL_BROADCAST);
    CHECK_INT(coll("wait"), MSIM_COLL_WAIT);
    CHECK_INT(coll("nccl:send 0->1"), MSIM_COLL_SEND);
    CHECK_INT(coll("recv"), MSIM_COLL_RECV);
    CHECK_INT(coll("init"), MSIM_COLL_UNKNOWN);
}

static void check_kernel(const char *name, enum msim_comm_kernel want)
{
    if (msim_name_comm_kernel(name) != want)
        CHECK_STR(name, "of another kind");
    CHECK_INT(msim_name_comm_kernel(name), want);
}

/* Names as the public sources of each library spell them. */
static void test_names__kernels_of_libraries(void)
{
    static const char *const WHOLE[] = {
        "void deep_ep::internode::dispatch<false, 8, true, 8>(int4*, float*)",
        "void dpsk::ep::internode::combine<false, 8, __nv_bfloat16>(int4*)",
        "void dpsk::ep::internode::notify_dispatch<false, 8>(int const*)",
        "void deep_ep::internode_ll::combine<true, 7168, 9>(void*, void*)",
        "void deep_ep::intranode::cached_notify_combine<8>(void**, int*)",
        "void vllm::cross_device_reduce_1stage<__half, 8>(vllm::RankData*)",
        "void aiter::cross_device_reduce_2stage<__hip_bfloat16, 8>()",
        "void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8>()",
        "void tensorrt_llm::kernels::ar_fusion::allreduce_fusion_kernel_oneshot"
        "_lamport<1>()",
        "void flashinfer::trtllm_mnnvl_allreduce::twoshotAllreduceKernel<4>()",
        "void c10d::symmetric_memory::(anonymous namespace)::"
        "one_shot_all_reduce_kernel<float, 16, 8>(float**)",
        "multimem_all_reduce_kernel",
        "two_shot_all_reduce_kernel_0d1d2d",
        "void quickreduce::allreduce_prototype_twoshot<AllReduceTwoshot>()",
        "nvshmemi_barrier_on_stream_kernel",
        "userbuffers_fp16_sum_inplace_gpu_rw(int, int)",
        "void mscclpp::collective::allreduceNvls()",
        "void mori::moe::EpDispatchIntraNodeKernel<__hip_bfloat16>()",
        "hcom_allReduce__123_0_1",
    };
    static const char *const NONE[] = {
        "void reduce_kernel<512, 1>()",
        "void small_reduce_kernel<4>()",
        "void dpsk::ep::cuda::get_dispatch_layout<256, 32, 8>(long const*)",
        "void flash::flash_fwd_splitkv_combine_kernel<4>()",
        "void softmax_warp_forward<warpAllReduce<SumOp>>()",
        "gemm_all_reduce_fused_kernel",
        "void at::native::_scatter_gather_elementwise_kernel<128, 8>()",
        "",
    };

    check_kernel("ncclKernel_SendRecv_RING_SIMPLE()", MSIM_COMM_KERNEL_MEETS);
    check_kernel("ncclAllReduceRingLLKernel_sum()", MSIM_COMM_KERNEL_MEETS);
    check_kernel("rcclGenericKernel<1>()", MSIM_COMM_KERNEL_MEETS);
    for (size_t i = 0; i < sizeof(WHOLE) / sizeof(*WHOLE); i++)
        check_kernel(WHOLE[i], MSIM_COMM_KERNEL_WHOLE);
    for (size_t i = 0; i < sizeof(NONE) / sizeof(*NONE); i++)
        check_kernel(NONE[i], MSIM_COMM_KERNEL_NONE);
}

static void test_names__copies(void)
{
    bool pageable = false;

    CHECK_INT(msim_name_copy("Memcpy HtoD (Pageable -> Device)", &pageable),
              MSIM_COPY_H2D);
    CHECK(pageable);
    CHECK_INT(msim_name_copy("Memcpy DtoH (Device -> Pinned)", &pageable),
              MSIM_COPY_D2H);
    CHECK(!pageable);
    CHECK_INT(msim_name_copy("Memcpy PtoP (Device -> Device)", &pageable),
              MSIM_COPY_P2P);
    CHECK_INT(msim_name_copy("CopyDeviceToDevice", &pageable), MSIM_COPY_D2D);
}

static void test_names__steps_and_roots(void)
{
    int64_t n = 0;

    CHECK(msim_name_step("ProfilerStep#1009", &n));
    CHECK_INT(n, 1009);
    CHECK(!msim_name_step("ProfilerStep#", &n));
    CHECK(!msim_name_step("ProfilerStep#1x", &n));
    CHECK(!msim_name_step("Optimizer.step#SGD.step", &n));
    CHECK(msim_name_is_root("[pytorch|profiler|execution_graph|thread]"));
    CHECK(msim_name_is_root("[pytorch|profiler|execution_trace|process]"));
    CHECK(!msim_name_is_root("aten::mm"));
}

int main(void)
{
    RUN(test_names__launches);
    RUN(test_names__other_calls);
    RUN(test_names__element_types);
    RUN(test_names__collectives);
    RUN(test_names__kernels_of_libraries);
    RUN(test_names__copies);
    RUN(test_names__steps_and_roots);
    return check_summary();
}
