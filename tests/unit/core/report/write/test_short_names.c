/*
 * tests/unit/core/report/write/test_short_names.c - names that stay apart.
 */
#include "core/report/write/report_internal.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static struct msim_short_names names;

static const char *shown(const char *name)
{
    unsigned used;
    const char *text = msim_short_name(&names, name, 30, &used);

    CHECK_UINT(used, strlen(text));
    CHECK(used <= 30);
    return text;
}

static void fit(const char *const *of, uint32_t n)
{
    names.n = 0;
    for (uint32_t i = 0; i < n; i++)
        msim_short_names_add(&names, of[i]);
    msim_short_names_fit(&names, 30);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++) {
            char first[MSIM_SHORT_BYTES];

            snprintf(first, sizeof(first), "%s", shown(of[i]));
            CHECK(strcmp(first, shown(of[k])) != 0);
        }
}

/* They differ in the middle, which is what a long name loses. */
static void test_short_names__show_what_differs(void)
{
    static const char *const OF[] = {
        "cutlass::device_kernel<lib::fp8_dense_acc::c::GemmKernel>",
        "cutlass::device_kernel<lib::fp8_grouped_x::c::GemmKernel>",
        "aten::mm",
    };

    fit(OF, 3);
    CHECK_STR(shown(OF[0]), "cutlass:...fp8_dense_acc::c...");
    CHECK_STR(shown(OF[1]), "cutlass:...fp8_grouped_x::c...");
    CHECK_STR(shown(OF[2]), "aten::mm");
}

/* Two pairs that differ early, and within a pair late. */
static void test_short_names__differ_twice(void)
{
    static const char *const OF[] = {
        "kernel_with_a_long_name<first_kind, 1111111111111111111111111, x>",
        "kernel_with_a_long_name<first_kind, 1111111111111111111111111, y>",
        "kernel_with_a_long_name<other_kind, 1111111111111111111111111, x>",
        "kernel_with_a_long_name<other_kind, 1111111111111111111111111, y>",
    };

    fit(OF, 4);
}

/* Parameters are left out, unless they alone tell two kernels apart. */
static void test_short_names__differ_in_parameters(void)
{
    static const char *const OF[] = {"void fill(float*, int)",
                                     "void fill(double*, int)"};

    fit(OF, 2);
    CHECK(strstr(shown(OF[0]), "float"));
}

/* No window of 30 columns shows a digit that stands once in 8,000. */
static void test_short_names__numbered_at_last(void)
{
    static char of[2][8000];
    const char *const list[] = {of[0], of[1]};

    memset(of[0], 'x', 7999);
    memcpy(of[1], of[0], 8000);
    of[1][5000] = 'y';
    fit(list, 2);
    CHECK(strstr(shown(of[0]), "#2") || strstr(shown(of[1]), "#2"));
}

static void test_short_names__beyond_the_room(void)
{
    static char of[MSIM_SHORT_NAMES + 2][8];

    names.n = 0;
    for (uint32_t i = 0; i < MSIM_SHORT_NAMES + 2; i++) {
        snprintf(of[i], sizeof(of[i]), "k%u", i);
        msim_short_names_add(&names, of[i]);
    }
    msim_short_names_add(&names, NULL);
    CHECK_UINT(names.n, MSIM_SHORT_NAMES);
    msim_short_names_fit(&names, 30);
    CHECK_STR(shown(of[MSIM_SHORT_NAMES + 1]), of[MSIM_SHORT_NAMES + 1]);
    CHECK_UINT(msim_short_names_widest(&names), 4);
}

int main(void)
{
    RUN(test_short_names__show_what_differs);
    RUN(test_short_names__differ_twice);
    RUN(test_short_names__differ_in_parameters);
    RUN(test_short_names__numbered_at_last);
    RUN(test_short_names__beyond_the_room);
    return check_summary();
}
