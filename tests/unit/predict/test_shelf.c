/*
 * What is kept for many runs is as if it was made for each.
 */
#include "predict/shelf.h"

#include "models/estimate/model.h"
#include "tests/check.h"

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

int main(void)
{
    RUN(test_shelf__platforms);
    return check_summary();
}
