/*
 * tests/unit/core/report/page/test_page_planes.c - a period as the largest of
 * sums.
 */
#include "core/report/page/page.h"
#include "tests/check.h"

/* 30 us of kernels beside 40 us of host, of which 5 are nobody's. */
static void test_page_planes__period(void)
{
    struct msim_plane of[] = {
        {.constant = 0, .us = {[MSIM_PLANE_KERNELS] = 30}},
        {.constant = 5, .us = {[MSIM_PLANE_HOST] = 35}},
    };
    struct msim_planes p = {.planes = of, .n = 2};

    CHECK_REL(msim_planes_period(&p, (double[]){1, 1, 1, 1}), 40, 1e-12);
    CHECK_REL(msim_planes_period(&p, (double[]){2, 1, 1, 1}), 60, 1e-12);
    CHECK_REL(msim_planes_period(&p, (double[]){1, 2, 1, 1}), 75, 1e-12);
    CHECK_REL(msim_planes_period(&p, (double[]){0, 0, 9, 9}), 5, 1e-12);
    p.n = 0;
    CHECK(msim_planes_period(&p, (double[]){1, 1, 1, 1}) == 0);
}

int main(void)
{
    RUN(test_page_planes__period);
    return check_summary();
}
