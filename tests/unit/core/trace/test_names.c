/*
 * tests/unit/core/trace/test_names.c - tests of core/trace/names.h.
 */
#include "core/trace/names.h"

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

static void test_names__kernels_and_copies(void)
{
    bool pageable = false;

    CHECK(msim_name_is_comm_kernel("ncclKernel_SendRecv_RING_SIMPLE(...)"));
    CHECK(msim_name_is_comm_kernel("ncclAllReduceRingLLKernel_sum_f32()"));
    CHECK(!msim_name_is_comm_kernel("void reduce_kernel<512, 1>()"));
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
    RUN(test_names__kernels_and_copies);
    RUN(test_names__steps_and_roots);
    return check_summary();
}
