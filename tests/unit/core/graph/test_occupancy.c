/*
 * tests/unit/core/graph/test_occupancy.c - tests of core/graph/occupancy.c.
 */
#include "core/graph/contention.h"
#include "tests/check.h"

#include <math.h>

#define V100                                                                   \
    {                                                                          \
        .sms = 80, .cc_major = 7, .cc_minor = 0                                \
    }
#define A100                                                                   \
    {                                                                          \
        .sms = 108, .cc_major = 8, .cc_minor = 0                               \
    }

/*
 * 128 threads are 4 warps, of 122 registers a thread: 3904 a warp, given out
 * as 4096, so a quarter of 65536 holds 4 warps and the SM 16: 4 blocks.
 * Threads would allow 16, shared memory (12800 of 98304) 7.
 */
static void test_occupancy__registers_limit(void)
{
    struct msim_gpu_properties gpu = V100;
    struct msim_launch_config c = {
        .grid = {17, 64, 2}, .block = {128, 1, 1}, .registers = 122};

    c.shared_bytes = 12800;
    CHECK_INT(msim_occupancy_blocks(&gpu, &c), 4);
}

/* 65536 bytes and the system's 1024 fit twice into 167936. */
static void test_occupancy__shared_memory_limits(void)
{
    struct msim_gpu_properties gpu = A100;
    struct msim_launch_config c = {
        .grid = {1, 1, 1}, .block = {64, 1, 1}, .registers = 168};

    c.shared_bytes = 65536;
    CHECK_INT(msim_occupancy_blocks(&gpu, &c), 2);
}

/* 2048 threads: two blocks of 1024, 32 of 33 (64 as warps), never more. */
static void test_occupancy__threads_and_slots_limit(void)
{
    struct msim_gpu_properties gpu = A100;
    struct msim_launch_config c = {.grid = {1, 1, 1}, .block = {32, 32, 1}};

    CHECK_INT(msim_occupancy_blocks(&gpu, &c), 2);
    c.block[1] = 1;
    CHECK_INT(msim_occupancy_blocks(&gpu, &c), 32);
    c.block[0] = 33;
    CHECK_INT(msim_occupancy_blocks(&gpu, &c), 32);
}

/* A GPU that no table has, and launches that no GPU runs. */
static void test_occupancy__unknown_is_zero(void)
{
    struct msim_gpu_properties gpu = A100, other = {.cc_major = 9};
    struct msim_launch_config c = {.grid = {1, 1, 1}, .block = {256, 1, 1}};

    other.cc_minor = 4;
    CHECK_INT(msim_occupancy_blocks(&other, &c), 0);
    c.block[0] = 0;
    CHECK_INT(msim_occupancy_blocks(&gpu, &c), 0);
    c.block[0] = c.block[1] = c.block[2] = UINT32_MAX;
    CHECK_INT(msim_occupancy_blocks(&gpu, &c), 0);
    c.block[0] = 256;
    c.block[1] = c.block[2] = 1;
    c.shared_bytes = UINT32_MAX;
    CHECK_INT(msim_occupancy_blocks(&gpu, &c), 0);
}

static double tail(uint32_t grid, uint8_t kind)
{
    struct msim_launch_config c = {
        .grid = {grid, 1, 1}, .block = {128, 1, 1}, .registers = 122};
    struct msim_gpu e = {.kind = kind};
    struct msim_trace t = {.gpu = &e,
                           .n_gpu = 1,
                           .configs = &c,
                           .n_configs = 1,
                           .gpu_properties = V100};

    return msim_occupancy_tail(&t, 0);
}

/* 320 blocks fill the device; 2176 take 7 waves. */
static void test_occupancy__tail_is_the_last_wave(void)
{
    CHECK_REL(tail(2176, MSIM_GPU_KERNEL), 1 / 7.0, 1e-12);
    CHECK_REL(tail(321, MSIM_GPU_KERNEL), 0.5, 1e-12);
    CHECK_REL(tail(319, MSIM_GPU_KERNEL), 1.0, 1e-12);
    CHECK(tail(320, MSIM_GPU_KERNEL) == 0);
    CHECK_REL(tail(2176, MSIM_GPU_COMM), 1.0, 1e-12);
    CHECK_REL(tail(2176, MSIM_GPU_MEMCPY), 1.0, 1e-12);
}

static struct msim_holding holding(uint32_t grid)
{
    struct msim_gpu_properties gpu = A100;
    struct msim_launch_config c = {
        .grid = {grid, 1, 1}, .block = {256, 1, 1}, .registers = 64};
    struct msim_residency r = msim_occupancy_residency(&gpu, &c);

    return msim_occupancy_holding(&r, gpu.sms, msim_occupancy_threads(&gpu));
}

/*
 * 256 threads of 64 registers: 4 blocks an SM, 432 at once, half of its
 * threads. 600 blocks are a wave of 432 and one of 168, 54 half of the SMs.
 */
static void test_occupancy__holding(void)
{
    struct msim_holding h = holding(600);

    CHECK_UINT(h.n, 2);
    CHECK_REL(h.of[0].share, 0.5, 1e-12);
    CHECK_REL(h.of[0].sms, 1.0, 1e-12);
    CHECK_REL(h.of[0].threads, 0.5, 1e-12);
    CHECK_REL(h.of[1].share, 0.5, 1e-12);
    CHECK_REL(h.of[1].sms, 1.0, 1e-12);
    CHECK_REL(h.of[1].threads, 0.5 * 168 / 432, 1e-12);
    h = holding(54);
    CHECK_UINT(h.n, 1);
    CHECK_REL(h.of[0].sms, 0.5, 1e-12);
    CHECK_REL(h.of[0].threads, 54 * 256 / (108 * 2048.0), 1e-12);
    h = holding(864);
    CHECK_UINT(h.n, 1);
    CHECK_REL(h.of[0].threads, 0.5, 1e-12);
    h = holding(3 * 432 + 27);
    CHECK_REL(h.of[0].share, 0.75, 1e-12);
    CHECK_REL(h.of[1].sms, 0.25, 1e-12);
}

/* Without a compute capability, SMs are known and warps are not. */
static void test_occupancy__holding_of_unknown(void)
{
    struct msim_residency r = {.blocks = 27, .threads = 256};
    struct msim_holding h = msim_occupancy_holding(&r, 108, 0);

    CHECK_UINT(h.n, 1);
    CHECK_REL(h.of[0].sms, 0.25, 1e-12);
    CHECK(isnan(h.of[0].threads));
    CHECK_UINT(msim_occupancy_holding(&r, 0, 0).n, 0);
    r.blocks = 0;
    CHECK_UINT(msim_occupancy_holding(&r, 108, 2048).n, 0);
}

int main(void)
{
    RUN(test_occupancy__holding);
    RUN(test_occupancy__holding_of_unknown);
    RUN(test_occupancy__registers_limit);
    RUN(test_occupancy__shared_memory_limits);
    RUN(test_occupancy__threads_and_slots_limit);
    RUN(test_occupancy__unknown_is_zero);
    RUN(test_occupancy__tail_is_the_last_wave);
    return check_summary();
}
