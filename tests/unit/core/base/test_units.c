/*
 * tests/unit/core/base/test_units.c - numbers of files as whole numbers.
 */
#include "core/base/units.h"

#include "tests/check.h"

#include <math.h>

static void test_units__whole(void)
{
    CHECK_INT(msim_whole(3.9), 3);
    CHECK_INT(msim_whole(-3.9), -3);
    CHECK_INT(msim_whole(0x1p62), INT64_C(1) << 62);
    CHECK_INT(msim_whole(0x1p63), INT64_MAX);
    CHECK_INT(msim_whole(1e300), INT64_MAX);
    CHECK_INT(msim_whole(-0x1p63), INT64_MIN);
    CHECK_INT(msim_whole(-1e300), INT64_MIN);
    CHECK_INT(msim_whole(INFINITY), INT64_MAX);
    CHECK_INT(msim_whole(NAN), 0);
}

int main(void)
{
    RUN(test_units__whole);
    return check_summary();
}
