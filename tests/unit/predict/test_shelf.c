/*
 * What is kept for many runs is as if it was made for each.
 */
#include "predict/inputs.h"

#include "models/estimate/model.h"
#include "tests/unit/made_job.h"

static double product_us(const struct msim_platform *p)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM,
                          .dtype = MSIM_DT_F16,
                          .u.gemm = {4096, 4096, 4096, 1, false, false}};
    struct msim_estimate e = {0};

    CHECK_INT(msim_model_predict(p, &w, true, &e, NULL), MSIM_OK);
    return e.us;
}

/* What is taken is as loaded, also from stand-ins (an H800 has no rows), and
 * set without a trace in what is taken next. */
static void test_shelf__platforms(void)
{
    struct msim_shelf shelf = {.job = NULL};
    const struct msim_clock_wish half = {.ratio = 0.5};
    struct msim_platform *loaded, *first, *second;
    struct msim_error err = {0};

    CHECK_INT(msim_shelf_platform(NULL, &loaded, MSIM_DATA, "h800", &err),
              MSIM_OK);
    CHECK_INT(msim_shelf_platform(&shelf, &first, MSIM_DATA, "h800", &err),
              MSIM_OK);
    REQUIRE(loaded && first);
    CHECK_REL(product_us(first), product_us(loaded), 0);
    CHECK_INT(msim_platform_set_clock(first, &half, &err), MSIM_OK);
    CHECK(product_us(first) > 1.2 * product_us(loaded));
    CHECK_INT(msim_shelf_platform(&shelf, &second, MSIM_DATA, "h800", &err),
              MSIM_OK);
    REQUIRE(second);
    CHECK_UINT(shelf.n_platforms, 1);
    msim_platform_free(first);
    CHECK_REL(product_us(second), product_us(loaded), 0);
    CHECK_INT(msim_shelf_platform(&shelf, &first, MSIM_DATA, "h8000", &err),
              MSIM_EUNKNOWN);
    CHECK(first == NULL && strstr(err.text, "h8000"));
    CHECK_UINT(shelf.n_platforms, 1);
    msim_platform_free(second);
    msim_platform_free(loaded);
    msim_shelf_release(&shelf);
}

/* A job of one product, whose GPU took 50 us for it. */
static bool one_product(struct made_job *j)
{
    struct made m = made_trace(0, 1);

    made_event(&m, "cpu_op", "aten::mm", MADE_HOST, 1, 0, 10);
    made_add(&m, "\"Input Dims\":[[512,512],[512,512]],"
                 "\"Input type\":[\"c10::Half\",\"c10::Half\"]}},");
    made_call(&m, 1, "cudaLaunchKernel", 2, 2, 1);
    made_kernel(&m, 7, "gemm", 10, 50, 1);
    return made_load(j, &m, 1);
}

/* The correction of the shelf's job is kept for the platform that asked first;
 * any other is the caller's. */
static void test_shelf__corrections(void)
{
    struct msim_shelf shelf = {.job = NULL};
    struct msim_correction *first, *out;
    struct msim_platform *a100, *h100;
    struct made_job mine, other;
    bool is_kept;

    REQUIRE(one_product(&mine) && one_product(&other));
    REQUIRE(msim_platform_load(&a100, MSIM_DATA, "a100", NULL) == MSIM_OK &&
            msim_platform_load(&h100, MSIM_DATA, "h100", NULL) == MSIM_OK);
    shelf.job = mine.job;
    CHECK_INT(msim_shelf_correction(&shelf, &first, &is_kept, mine.job, NULL,
                                    a100, NULL),
              MSIM_OK);
    CHECK(first && is_kept);
    CHECK_INT(msim_shelf_correction(&shelf, &out, &is_kept, mine.job, NULL,
                                    a100, NULL),
              MSIM_OK);
    CHECK(out == first && is_kept);
    CHECK_INT(msim_shelf_correction(&shelf, &out, &is_kept, mine.job, NULL,
                                    h100, NULL),
              MSIM_OK);
    CHECK(out != first && !is_kept && msim_correction_is_on(out, h100));
    if (!is_kept)
        msim_correction_free(out);
    CHECK_INT(msim_shelf_correction(&shelf, &out, &is_kept, other.job, NULL,
                                    a100, NULL),
              MSIM_OK);
    CHECK(out != first && !is_kept);
    if (!is_kept)
        msim_correction_free(out);
    msim_shelf_release(&shelf);
    msim_platform_free(a100);
    msim_platform_free(h100);
    made_unload(&mine);
    made_unload(&other);
}

int main(void)
{
    RUN(test_shelf__corrections);
    RUN(test_shelf__platforms);
    return check_summary();
}
