/*
 * tests/unit/predict/test_kernel_class.c - what bounds a kernel by its name,
 * its launch and its time, and what it takes on another GPU.
 */
#include "predict/carry/scaled.h"

#include "tests/check.h"

/* 100 SMs, a floor of 2 us, so that a head is 5. */
static struct msim_data_sheet sheet(double faster)
{
    struct msim_data_sheet s = {.sustained = 1,
                                .sms = 100,
                                .bandwidth = 1e12 * faster,
                                .floor_us = 2,
                                .link = 3e11 * faster,
                                .network = 5e10,
                                .cards_per_gpu = 1};

    for (int r = 0; r < MSIM_RATE_COUNT; r++)
        s.rate[r] = 1e14 * faster * faster;
    return s;
}

static enum msim_kernel_class class_of(const char *name, double us,
                                       uint32_t blocks)
{
    const struct msim_launch_config config = {.grid = {blocks, 1, 1}};
    const struct msim_data_sheet s = sheet(1);
    const struct msim_kernel_facts k = {
        .name = name, .us = us, .config = blocks ? &config : NULL};

    return msim_kernel_class_of(&s, &k);
}

static void test_kernel_class__by_name(void)
{
    static const struct {
        const char *name;
        enum msim_kernel_class want;
    } names[] = {
        {"ampere_fp16_s16816gemm_fp16_128x32_ldg8_f2f_stages_64x5_nn",
         MSIM_CLASS_MEMORY},
        {"ampere_fp16_s16816gemm_fp16_32x128_ldg8_f2f_stages_64x5_nn",
         MSIM_CLASS_MEMORY},
        {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_nn",
         MSIM_CLASS_TENSOR},
        {"ampere_fp16_s16816gemm_fp16_256x48_ldg8_f2f_stages_64x3_nn",
         MSIM_CLASS_TENSOR},
        {"void cutlass::Kernel<gemm>()", MSIM_CLASS_TENSOR}, /* no tile */
        {"flash_fwd_kernel", MSIM_CLASS_TENSOR},
        {"void at::native::vectorized_elementwise_kernel<4>()",
         MSIM_CLASS_MEMORY},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        check_int(class_of(names[i].name, 100, 0), names[i].want, names[i].name,
                  __FILE__, __LINE__);
}

/* As long as its head, or of blocks for less than half of the GPU: latency. */
static void test_kernel_class__latency(void)
{
    struct msim_data_sheet s = sheet(1);
    const struct msim_kernel_facts link = {
        .name = "nccl", .us = 1, .communication = true};

    CHECK_INT(class_of("k", 5, 0), MSIM_CLASS_LATENCY);
    CHECK_INT(class_of("k", 5.1, 0), MSIM_CLASS_MEMORY);
    CHECK_INT(class_of("k", 100, 49), MSIM_CLASS_LATENCY);
    CHECK_INT(class_of("k", 100, 50), MSIM_CLASS_MEMORY);
    CHECK_INT(msim_kernel_class_of(&s, &link), MSIM_CLASS_LINK);
}

static double us_of(const char *name, uint32_t x, uint32_t y, uint32_t z,
                    bool communication)
{
    const struct msim_launch_config config = {.grid = {x, y, z}};
    struct msim_data_sheet from = sheet(1), to = sheet(2);
    const struct msim_kernel_facts k = {.name = name,
                                        .us = 85,
                                        .config = x ? &config : NULL,
                                        .communication = communication};

    from.sustained = 0.5;
    to.floor_us = 4;
    to.network = 2e11;
    to.cards_per_gpu = 0.5;
    return msim_kernel_class_us(&from, &to, &k);
}

/* 85 us, of which 5 are head: 10 on a GPU with twice the floor, and 80 by twice
 * the bandwidth, four times the rate, of which this GPU sustains half, twice
 * the link, twice the network cards' bytes. */
static void test_kernel_class__elsewhere(void)
{
    CHECK_REL(us_of("k", 0, 0, 0, false), 10 + 80 / 2, 1e-12);
    CHECK_REL(us_of("k", 5, 5, 2, false), 10 + 80 / 2, 1e-12);
    CHECK_REL(us_of("k", 7, 7, 1, false), 2 * 85, 1e-12);
    CHECK_REL(us_of("flash_fwd_kernel", 0, 0, 0, false), 10 + 80 / 8, 1e-12);
    CHECK_REL(us_of("ncclDevKernel_AllReduce", 0, 0, 0, true), 10 + 80 / 2,
              1e-12);
    CHECK_REL(us_of("ncclDevKernel_AllReduce", 7, 7, 1, true), 10 + 80 / 2,
              1e-12);
    CHECK_REL(us_of("deep_ep::internode::dispatch", 0, 0, 0, true), 10 + 80 / 2,
              1e-12);
}

int main(void)
{
    RUN(test_kernel_class__by_name);
    RUN(test_kernel_class__latency);
    RUN(test_kernel_class__elsewhere);
    return check_summary();
}
