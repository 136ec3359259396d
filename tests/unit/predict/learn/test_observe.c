/*
 * tests/unit/predict/learn/test_observe.c - a trace's kernels as observations:
 * which of them, how long, and what models say at each clock.
 */
#include "predict/learn/learn_internal.h"

#include "models/estimate/model.h"
#include "models/platform/platform_data.h"
#include "tests/unit/made_job.h"

/* A product of rows x 512 by 512 x 512, with up to two kernels. */
static void product(struct made *m, int at, int rows, int first, int second)
{
    made_event(m, "cpu_op", "aten::mm", MADE_HOST, 1, at, 20);
    made_add(m,
             "\"Input Dims\":[[%d,512],[512,512]],"
             "\"Input type\":[\"c10::Half\",\"c10::Half\"]}},",
             rows);
    made_call(m, 1, "cudaLaunchKernel", at + 2, 2, at + 1);
    made_kernel(m, 7, "gemm", at + 10, first, at + 1);
    if (!second)
        return;
    made_call(m, 1, "cudaLaunchKernel", at + 6, 2, at + 2);
    made_kernel(m, 7, "gemm", at + 10 + first, second, at + 2);
}

static void check_row(const struct msim_learn_row *r, int rows, double us,
                      double times, int kernels, const struct msim_platform *p)
{
    const struct msim_work w = {
        .family = MSIM_FAMILY_GEMM,
        .dtype = MSIM_DT_F16,
        .variant = "",
        .kernels = (uint32_t)kernels,
        .u.gemm = {.m = rows, .n = 512, .k = 512, .batch = 1}};

    CHECK_INT(r->family, MSIM_FAMILY_GEMM);
    CHECK_UINT(r->trace, 3);
    CHECK_REL(r->us, us, 1e-12);
    CHECK_REL(r->times, times, 1e-12);
    for (int c = 0; c < MSIM_LEARN_CLOCKS; c++) {
        const struct msim_clock_wish wish = {.ratio = msim_learn_clocks[c]};
        struct msim_platform at = *p;
        struct msim_estimate e = {0};

        if (c)
            CHECK_INT(msim_platform_set_clock(&at, &wish, NULL), MSIM_OK);
        CHECK_INT(msim_model_predict(&at, &w, false, &e, NULL), MSIM_OK);
        CHECK_REL(r->model_us[c], e.us, 1e-9);
        CHECK_REL(r->start_us[c], fmin(e.start_us, e.us), 1e-9);
    }
}

/* Shapes that repeat are one row of their mean; kernels of one operator that
 * are more than its works count together; a kernel of no time says nothing, nor
 * does an operator that no law knows. */
static void test_observe__rows(void)
{
    struct made m = made_trace(0, 1);
    struct msim_learn_rows out = {0};
    struct msim_platform *p = NULL;
    struct made_job j;

    product(&m, 0, 256, 10, 0);
    product(&m, 100, 4096, 40, 0);
    product(&m, 200, 256, 20, 0);
    product(&m, 300, 256, 60, 0);
    product(&m, 400, 2048, 0, 0);
    product(&m, 500, 8192, 30, 12);
    made_op(&m, 1, "my::op", 600, 20);
    made_call(&m, 1, "cudaLaunchKernel", 602, 2, 601);
    made_kernel(&m, 7, "k", 610, 10, 601);
    REQUIRE(made_load(&j, &m, 1));
    REQUIRE(msim_platform_load(&p, MSIM_DATA, "a100", NULL) == MSIM_OK);
    REQUIRE(msim_strtab_new(&out.kinds) == MSIM_OK);
    CHECK_INT(msim_learn_observe(&out, j.job, 3, p, NULL), MSIM_OK);
    CHECK_UINT(out.n, 3);
    if (out.n == 3) {
        check_row(&out.rows[0], 256, 30, 3, 1, p);
        check_row(&out.rows[1], 4096, 40, 1, 1, p);
        check_row(&out.rows[2], 8192, 42, 1, 2, p);
        CHECK_STR(msim_strtab_text(out.kinds, out.rows[0].name), "gemm half");
        CHECK_STR(msim_strtab_text(out.kinds, out.rows[0].kin), "gemm half");
    }
    /* Those of another trace are rows of their own. */
    CHECK_INT(msim_learn_observe(&out, j.job, 4, p, NULL), MSIM_OK);
    CHECK_UINT(out.n, 6);
    free(out.rows);
    msim_strtab_free(out.kinds);
    msim_platform_free(p);
    made_unload(&j);
}

int main(void)
{
    RUN(test_observe__rows);
    return check_summary();
}
