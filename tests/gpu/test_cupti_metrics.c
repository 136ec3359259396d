/*
 * Which counters the chips have, by the toolkit's own library, which knows them
 * without a GPU: from Turing to Blackwell all figures are made, in a few runs.
 * Skips with a library before CUDA 12.6.
 */
#include "profilers/cuda/cupti/cupti_metrics.h"

#include "tests/check.h"

#include <math.h>

/* TU102 to GB202: one chip of each generation that the backend is compiled for,
 * with compute capability 7.5, 8.0, 8.6, 8.9, 9.0, 10.0 and 12.0. */
static const char *const CHIPS[] = {"TU102", "GA100", "GA102", "AD102",
                                    "GH100", "GB100", "GB202"};

static struct msim_cupti_range api;

static bool has(const struct msim_cupti_metrics *m, const char *name)
{
    for (uint32_t i = 0; i < m->chosen.n; i++)
        if (strcmp(m->chosen.list[i].name, name) == 0)
            return true;
    return false;
}

static void test_metrics__of_chips(void)
{
    for (size_t i = 0; i < sizeof(CHIPS) / sizeof(*CHIPS); i++) {
        struct msim_cupti_metrics m;
        double ones[MSIM_METRICS];
        struct msim_counts c;
        struct msim_error err = {0};

        if (CHECK_INT(msim_cupti_metrics_init(&m, &api, CHIPS[i], NULL, &err),
                      MSIM_OK)) {
            for (uint32_t k = 0; k < MSIM_METRICS; k++)
                ones[k] = 1;
            msim_metrics_sum(&m.chosen, ones, &c);
            for (int f = 0; f < MSIM_FIGURE_COUNT; f++)
                CHECK(!isnan(c.of[f]));
            CHECK(m.passes >= 1 && m.passes <= 16);
            CHECK(m.config_size > 0);
            printf("%s: %u metrics in %zu passes\n", CHIPS[i], m.chosen.n,
                   m.passes);
        } else {
            printf("%s: %s\n", CHIPS[i], err.text);
        }
        msim_cupti_metrics_release(&m);
    }
}

/* Kinds of numbers came one after the other. */
static void test_metrics__of_generations(void)
{
    struct msim_cupti_metrics m;

    CHECK_INT(msim_cupti_metrics_init(&m, &api, "GA100", NULL, NULL), MSIM_OK);
    CHECK(has(&m, "sm__ops_path_tensor_src_tf32_dst_fp32.sum"));
    CHECK(!has(&m, "sm__ops_path_tensor_src_fp8.sum"));
    msim_cupti_metrics_release(&m);
    CHECK_INT(msim_cupti_metrics_init(&m, &api, "GH100", NULL, NULL), MSIM_OK);
    CHECK(has(&m, "sm__ops_path_tensor_src_fp8.sum"));
    CHECK(has(&m, "dram__bytes_read.sum"));
    msim_cupti_metrics_release(&m);
    CHECK_INT(msim_cupti_metrics_init(&m, &api, "GB202", NULL, NULL), MSIM_OK);
    CHECK(has(&m, "dram__bytes_op_read.sum"));
    msim_cupti_metrics_release(&m);
}

static void test_metrics__unknown_chip(void)
{
    struct msim_cupti_metrics m;
    struct msim_error err = {0};

    CHECK_INT(msim_cupti_metrics_init(&m, &api, "NV1", NULL, &err),
              MSIM_ENOMODEL);
    CHECK(strstr(err.text, "cuptiProfilerHostInitialize: ") == err.text);
    msim_cupti_metrics_release(&m);
}

int main(void)
{
    const char *missing;

    if (!msim_cupti_range_find(&api, &missing)) {
        printf("CUPTI has no %s: skipped\n", missing);
        return 77;
    }
    RUN(test_metrics__of_chips);
    RUN(test_metrics__of_generations);
    RUN(test_metrics__unknown_chip);
    return check_summary();
}
