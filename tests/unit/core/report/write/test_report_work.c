/*
 * tests/unit/core/report/write/test_report_work.c - phases, marked regions and
 * kernels as tables.
 */
#include "core/report/write/report_internal.h"
#include "tests/unit/written_text.h"

static void check_page(const struct msim_prediction *p,
                       void (*put)(const struct msim_page *), const char *want)
{
    static struct msim_short_names names;
    struct written w = written_begin();
    struct msim_page page = {
        .p = p, .out = w.out, .names = &names, .name_columns = 25};

    names.n = 0;
    msim_page_add_work(&page);
    msim_short_names_fit(&names, 25);
    put(&page);
    WRITTEN(&w, want);
}

/* Of kernels and regions ten names each are shortened with regard to others. */
static void test_report_work__names(void)
{
    static struct msim_short_names names;
    struct msim_kernel_row kernels[11] = {{.name = NULL}};
    struct msim_region_row regions[11] = {{.name = NULL}};
    char words[22][8];
    struct msim_prediction p = {.kernels = kernels, .regions = regions};
    struct msim_page page = {.p = &p, .names = &names};

    for (int i = 0; i < 22; i++)
        snprintf(words[i], sizeof(words[i]), "n%d", i);
    for (int i = 0; i < 11; i++) {
        kernels[i].name = words[i];
        regions[i].name = words[11 + i];
    }
    for (uint32_t n = 9; n < 12; n++) {
        names.n = 0;
        p.n_kernels = n;
        p.n_regions = 0;
        msim_page_add_work(&page);
        CHECK_UINT(names.n, n < 10 ? n : 10);
        p.n_regions = n;
        names.n = 0;
        msim_page_add_work(&page);
        CHECK_UINT(names.n, n < 10 ? 2 * n : 20);
    }
}

/* Shares are of all phases: 100 us; without phases, of all kernels. The unit is
 * that of the longest time, of either side. */
static void test_report_work__phases(void)
{
    struct msim_region_row phases[] = {{"forward", 1, 25, 40},
                                       {"backward", 1, 75, 0}};
    struct msim_region_row regions[] = {{"a", 2, 50, 10}, {"b", 0.5, 0, 2000}};
    struct msim_kernel_row kernel = {.name = "k", .us = 200, .kind = "kernel"};
    struct msim_prediction p = {.phases = phases, .n_phases = 2};

    check_page(&p, msim_page_phases,
               "\nphases                                 GPU/us    share     "
               "host/us\n"
               "  forward                                25.0   25.0 %        "
               "40.0\n"
               "  backward                               75.0   75.0 %         "
               "0.0\n");
    phases[0].gpu_us = 2925;
    check_page(&p, msim_page_phases,
               "\nphases                                 GPU/ms    share     "
               "host/ms\n"
               "  forward                               2.925   97.5 %       "
               "0.040\n"
               "  backward                              0.075    2.5 %       "
               "0.000\n");
    p.regions = regions;
    p.n_regions = 2;
    p.n_phases = 0;
    p.kernels = &kernel;
    p.n_kernels = 1;
    check_page(&p, msim_page_phases,
               "\nmarked regions (may nest)    calls     GPU/ms    share     "
               "host/ms\n"
               "  a                              2      0.050   25.0 %       "
               "0.010\n"
               "  b                           0.50      0.000    0.0 %       "
               "2.000\n");
    p.n_kernels = 0; /* of nothing */
    p.n_regions = 1;
    check_page(&p, msim_page_phases,
               "\nmarked regions (may nest)    calls     GPU/us    share     "
               "host/us\n"
               "  a                              2       50.0    0.0 %        "
               "10.0\n");
    p.n_regions = 0;
    check_page(&p, msim_page_phases, "");
}

/* Ten regions, and how many more there are. */
static void test_report_work__many_regions(void)
{
    struct msim_region_row regions[12];
    struct msim_prediction p = {.regions = regions};

    for (int i = 0; i < 12; i++)
        regions[i] = (struct msim_region_row){"r", 1, 1, 1};
    for (p.n_regions = 10; p.n_regions < 13; p.n_regions++) {
        struct written want = written_begin();
        char *text;

        fputs("\nmarked regions (may nest)    calls     GPU/us    share     "
              "host/us\n",
              want.out);
        for (int i = 0; i < 10; i++)
            fputs("  r                              1        1.0    0.0 %     "
                  "    1.0\n",
                  want.out);
        if (p.n_regions > 10)
            fprintf(want.out, "  %u more (--json lists all)\n",
                    p.n_regions - 10);
        text = written_end(&want);
        check_page(&p, msim_page_phases, text);
        free(text);
    }
}

/* What is no kernel says what it is; each call's time has its own unit. */
static void test_report_work__kernels(void)
{
    struct msim_kernel_row rows[] = {
        {.name = "gemm", .calls = 0.5, .us = 1500, .kind = "kernel"},
        {.name = "Memcpy", .calls = 2, .us = 500, .kind = "copy"},
        {.name = "none", .kind = "kernel"}};
    struct msim_prediction p = {.kernels = rows, .n_kernels = 3};

    check_page(&p, msim_page_kernels,
               "\nkernels and copies           calls    time/ms    share       "
               " each\n"
               "  gemm                        0.50      1.500   75.0 %    "
               "3.000 ms\n"
               "  Memcpy                         2      0.500   25.0 %    "
               "250.0 us  copy\n"
               "  none                           0      0.000    0.0 %      "
               "0.0 us\n"
               "  in all                                2.000  100.0 %\n");
    p.n_kernels = 2;
    check_page(&p, msim_page_kernels,
               "\nkernels and copies           calls    time/ms    share       "
               " each\n"
               "  gemm                        0.50      1.500   75.0 %    "
               "3.000 ms\n"
               "  Memcpy                         2      0.500   25.0 %    "
               "250.0 us  copy\n"
               "  in all                                2.000  100.0 %\n");
    p.n_kernels = 1;
    check_page(&p, msim_page_kernels,
               "\nkernels and copies           calls    time/ms    share       "
               " each\n"
               "  gemm                        0.50      1.500  100.0 %    "
               "3.000 ms\n");
    p.n_kernels = 0;
    check_page(&p, msim_page_kernels, "");
}

static void test_report_work__many_kernels(void)
{
    struct msim_kernel_row rows[12];
    struct msim_prediction p = {.kernels = rows};

    for (int i = 0; i < 12; i++)
        rows[i] = (struct msim_kernel_row){
            .name = "k", .calls = 1, .us = 10, .kind = "kernel"};
    for (p.n_kernels = 10; p.n_kernels < 13; p.n_kernels++) {
        struct written want = written_begin();
        uint32_t n = p.n_kernels;
        char *text;

        fputs("\nkernels and copies           calls    time/us    share       "
              " each\n",
              want.out);
        for (int i = 0; i < 10; i++)
            fprintf(want.out,
                    "  k                              1       10.0%7.1f %%     "
                    "10.0 us\n",
                    100.0 / n);
        if (n > 10)
            fprintf(want.out,
                    "  %u more (--json lists all)       %11.1f%7.1f %%\n",
                    n - 10, 10.0 * (n - 10), 100.0 * (n - 10) / n);
        fprintf(want.out,
                "  in all                          %11.1f  100.0 %%\n",
                10.0 * n);
        text = written_end(&want);
        check_page(&p, msim_page_kernels, text);
        free(text);
    }
}

int main(void)
{
    RUN(test_report_work__names);
    RUN(test_report_work__phases);
    RUN(test_report_work__many_regions);
    RUN(test_report_work__kernels);
    RUN(test_report_work__many_kernels);
    return check_summary();
}
