/*
 * Platforms: found by name, alias, device and file; broken files are refused.
 */
#include "core/work/data_sheet.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static void test_platform__loads_all(void)
{
    static const char *const NAMES[] = {
        "a100", "a100-40gb", "a100-pcie-40gb", "v100", "v100-pcie",
        "t4",   "l40s",      "h100",           "h200", "b200"};

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        struct msim_platform *p;
        struct msim_error err = {0};

        CHECK_INT(msim_platform_load(&p, MSIM_DATA, NAMES[i], &err), MSIM_OK);
        if (!p)
            continue;
        CHECK_STR(msim_platform_name(p), NAMES[i]);
        CHECK(msim_platform_peak_flops(p, MSIM_DT_F32, NULL) > 1e12);
        CHECK(msim_platform_bandwidth(p) > 1e11);
        CHECK(msim_platform_memory_bytes(p) > 1e10);
        msim_platform_free(p);
    }
}

/* 312 and 19.5 TFLOP/s are the A100 data sheet's. */
static void test_platform__knows_aliases(void)
{
    struct msim_platform *p;

    REQUIRE(msim_platform_load(&p, MSIM_DATA, "nvidia a100-sxm4-80gb", NULL) ==
            MSIM_OK);
    CHECK_STR(msim_platform_name(p), "a100");
    CHECK_REL(msim_platform_peak_flops(p, MSIM_DT_BF16, NULL), 312e12, 0);
    CHECK_REL(msim_platform_peak_flops(p, MSIM_DT_F32, NULL), 19.5e12, 0);
    CHECK_UINT(msim_platform_sms(p), 108);
    msim_platform_free(p);
}

static const char *nearest(struct msim_arena *a, const char *gpu, uint32_t sms,
                           double gigabytes, uint32_t major, uint32_t minor)
{
    const struct msim_gpu_properties g = {.memory_bytes =
                                              (uint64_t)(gigabytes * 1e9),
                                          .sms = sms,
                                          .cc_major = major,
                                          .cc_minor = minor};

    return msim_platform_nearest(a, MSIM_DATA, gpu, &g);
}

/* By maker, compute capability and sizes, in this order: an RTX 4070 is nearer
 * to an RTX 4080 than to an A10 of its memory and SMs. */
static void test_platform__nearest(void)
{
    struct msim_arena a;

    msim_arena_init(&a);
    CHECK_STR(nearest(&a, "NVIDIA H100 SXM5 96GB", 132, 101, 9, 0), "gh200");
    CHECK_STR(nearest(&a, "NVIDIA GeForce RTX 4070", 72, 12, 8, 9), "rtx-4080");
    CHECK_STR(nearest(&a, "NVIDIA GeForce RTX 3060", 28, 12, 8, 6), "rtx-3080");
    CHECK_STR(nearest(&a, "Quadro RTX 6000", 72, 25, 7, 5), "rtx-2080ti");
    CHECK_STR(nearest(&a, "AMD Instinct MI308X", 80, 206, 9, 4), "mi300x");
    CHECK(nearest(&a, "no properties", 0, 80, 9, 0) == NULL);
    CHECK(nearest(&a, "no capability", 132, 80, 0, 0) == NULL);
    msim_arena_release(&a);
}

/* Half the SMs are half the rates; the bandwidth is not in a trace. */
static void test_platform__likened(void)
{
    const struct msim_gpu_properties g = {.memory_bytes = 40000000000,
                                          .sms = 66};
    struct msim_platform *p;
    double rate, factor;

    CHECK_INT(msim_platform_load(&p, MSIM_DATA, "h100", NULL), MSIM_OK);
    rate = msim_platform_peak_flops(p, MSIM_DT_BF16, NULL);
    factor = msim_platform_trace_factor(p);
    msim_platform_liken(p, &g);
    CHECK_STR(msim_platform_name(p), "near h100");
    CHECK_REL(msim_platform_peak_flops(p, MSIM_DT_BF16, NULL), rate / 2, 1e-12);
    CHECK_REL(msim_platform_bandwidth(p), 3.35e12, 1e-12);
    CHECK_REL(msim_platform_memory_bytes(p), 40e9, 1e-12);
    CHECK_UINT(msim_platform_sms(p), 66);
    CHECK(msim_platform_trace_factor(p) > factor);
    CHECK(p->jobs.slower > 0.33 && p->jobs.faster >= 0.33);
    msim_platform_free(p);
}

static void test_platform__matches_devices(void)
{
    struct msim_arena a;

    msim_arena_init(&a);
    CHECK_STR(msim_platform_match(&a, MSIM_DATA, "NVIDIA A100-PG509-200",
                                  42505273344u, 108),
              "a100-40gb");
    CHECK_STR(msim_platform_match(&a, MSIM_DATA, "NVIDIA A100-PCIE-40GB",
                                  42346610688u, 108),
              "a100-pcie-40gb");
    CHECK_STR(msim_platform_match(&a, MSIM_DATA, "NVIDIA A100-SXM4-80GB",
                                  85049802752u, 108),
              "a100");
    CHECK_STR(msim_platform_match(&a, MSIM_DATA, "Tesla V100-DGXS-32GB",
                                  34084028416u, 80),
              "v100");
    CHECK_STR(msim_platform_match(&a, MSIM_DATA, "Tesla V100-SXM2-16GB",
                                  16945512448u, 80),
              "v100");
    CHECK_STR(msim_platform_match(&a, MSIM_DATA, "NVIDIA H100 80GB HBM3",
                                  84929347584u, 132),
              "h100");
    CHECK_STR(msim_platform_match(&a, MSIM_DATA, "AMD Instinct MI300X VF",
                                  205571227648u, 304),
              "mi300x");
    CHECK_STR(msim_platform_match(&a, MSIM_DATA, "NVIDIA GeForce RTX 2080 Ti",
                                  11554717696u, 68),
              "rtx-2080ti");
    /* an A100 of 80 GB under the name of one of 40, another SM count, a GPU
     * of no file: none */
    CHECK(msim_platform_match(&a, MSIM_DATA, "NVIDIA A100-PG509-200",
                              85049802752u, 108) == NULL);
    CHECK(msim_platform_match(&a, MSIM_DATA, "NVIDIA H100 80GB HBM3",
                              84929347584u, 114) == NULL);
    CHECK(msim_platform_match(&a, MSIM_DATA, "AMD Instinct MI250X",
                              68702699520u, 110) == NULL);
    msim_arena_release(&a);
}

/* A name of a stack behind a name, an alias or a file; a file may have an '@'
 * of its own. */
static void test_platform__stacks(void)
{
    struct msim_platform *p = NULL;
    struct msim_error err = {0};

    CHECK_INT(msim_platform_load(&p, MSIM_DATA, "H100@pytorch-2.9", &err),
              MSIM_OK);
    CHECK_STR(msim_platform_name(p), "h100@pytorch-2.9");
    msim_platform_free(p);
    CHECK_INT(msim_platform_load(&p, MSIM_DATA,
                                 MSIM_DATA "/platforms/h100.json@pytorch-2.5",
                                 &err),
              MSIM_OK);
    CHECK_STR(msim_platform_name(p), "h100@pytorch-2.5");
    msim_platform_free(p);
    CHECK_INT(msim_platform_load(&p, MSIM_DATA, "h100@pytorch-3", &err),
              MSIM_EUNKNOWN);
    CHECK(p == NULL);
    CHECK(strstr(err.text, "'pytorch-3'") && strstr(err.text, "pytorch-2.9"));
    CHECK(msim_stack_in("a@b/h100") == NULL);
    CHECK(msim_stack_in("h100") == NULL);
}

static void test_platform__lists_the_known(void)
{
    struct msim_error err = {0};
    struct msim_platform *p;

    CHECK_INT(msim_platform_load(&p, MSIM_DATA, "h1000", &err), MSIM_EUNKNOWN);
    CHECK(p == NULL);
    CHECK(strstr(err.text, "'h1000'") != NULL);
    CHECK(strstr(err.text, "a100-pcie-40gb") != NULL);
    CHECK(strstr(err.text, "v100-pcie") != NULL);
}

/* `*p`: to be freed, NULL on failure. */
static enum msim_status load(struct msim_platform **p, const char *text)
{
    char path[] = "./msim-test-platform-XXXXXX.json";
    struct msim_error err = {0};
    enum msim_status status;
    int fd = mkstemps(path, 5);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;

    *p = NULL;
    if (!f)
        return MSIM_EIO;
    fputs(text, f);
    fclose(f);
    status = msim_platform_load(p, MSIM_DATA, path, &err);
    CHECK(status == MSIM_OK || *err.text != '\0');
    unlink(path);
    return status;
}

static enum msim_status load_text(const char *text)
{
    struct msim_platform *p;
    enum msim_status status = load(&p, text);

    msim_platform_free(p);
    return status;
}

#define SHEET                                                                  \
    "\"data_sheet\":{\"fp32_flops\":{\"value\":1e13},\"sms\":{\"value\":80},"  \
    "\"memory_bytes\":1e10,\"l2_bytes\":1e6,\"memory_bandwidth\":1e12,"        \
    "\"kernel_floor_us\":2,\"pcie_bandwidth\":1e10,"                           \
    "\"pageable_bandwidth\":5e9,\"link_bandwidth\":1e11,"                      \
    "\"network_bandwidth\":1e10,\"trace_factor\":1.5}"
#define NAMED(more) "{\"name\":\"x\",\"generation\":\"g\"," more "}"

static void test_platform__refuses_broken_files(void)
{
    CHECK_INT(load_text(NAMED(SHEET)), MSIM_OK);
    CHECK_INT(load_text(""), MSIM_ESYNTAX);
    CHECK_INT(load_text("{\"name\":"), MSIM_ESYNTAX);
    CHECK_INT(load_text("[]"), MSIM_EFORMAT);
    CHECK_INT(load_text("{" SHEET "}"), MSIM_EFORMAT);
    CHECK_INT(load_text(NAMED("\"data_sheet\":{}")), MSIM_EFORMAT);
    CHECK_INT(load_text(NAMED(SHEET ",\"cells\":[{}]")), MSIM_EFORMAT);
    CHECK_INT(load_text(NAMED(SHEET ",\"cells\":[{\"law\":\"gemm\"}]")),
              MSIM_EFORMAT);
    CHECK_INT(load_text(NAMED(SHEET ",\"cells\":[{\"law\":\"no law\"}]")),
              MSIM_EFORMAT);
    CHECK_INT(load_text(NAMED(SHEET ",\"stand_ins\":[1]")), MSIM_EFORMAT);
    CHECK_INT(load_text(NAMED(SHEET ",\"stand_ins\":[\"not there\"]")),
              MSIM_EIO);
}

static void check_slowdown(const char *text, double want)
{
    struct msim_platform *p;

    REQUIRE(load(&p, text) == MSIM_OK);
    CHECK_REL(msim_platform_slowdown(p), want, 0);
    msim_platform_free(p);
}

/* No kernel is faster while a collective runs: a ratio below 1 is noise. */
static void test_platform__reads_the_slowdown(void)
{
    check_slowdown(NAMED(SHEET), 0);
    check_slowdown(NAMED(SHEET ",\"beside\":{\"median\":1.25}"), 1.25);
    check_slowdown(NAMED(SHEET ",\"beside\":{\"median\":0.99}"), 1);
}

int main(void)
{
    RUN(test_platform__reads_the_slowdown);
    RUN(test_platform__loads_all);
    RUN(test_platform__knows_aliases);
    RUN(test_platform__nearest);
    RUN(test_platform__likened);
    RUN(test_platform__matches_devices);
    RUN(test_platform__lists_the_known);
    RUN(test_platform__stacks);
    RUN(test_platform__refuses_broken_files);
    return check_summary();
}
