/*
 * core/memory/fits.c: a peak and its interval against a GPU's memory.
 */
#include "core/memory/life_memory.h"
#include "tests/check.h"

static void test_fits__at_the_edges(void)
{
    CHECK_INT(msim_memory_fits(1, 2, 3), MSIM_FITS_YES);
    CHECK_INT(msim_memory_fits(1, 3, 3), MSIM_FITS_YES); /* all of it */
    CHECK_INT(msim_memory_fits(1, 4, 3), MSIM_FITS_EDGE);
    CHECK_INT(msim_memory_fits(3, 4, 3), MSIM_FITS_EDGE);
    CHECK_INT(msim_memory_fits(4, 5, 3), MSIM_FITS_NO);
    CHECK_STR(msim_fits_text(MSIM_FITS_YES), "yes");
    CHECK_STR(msim_fits_text(MSIM_FITS_EDGE), "edge");
    CHECK_STR(msim_fits_text(MSIM_FITS_NO), "no");
}

int main(void)
{
    RUN(test_fits__at_the_edges);
    return check_summary();
}
