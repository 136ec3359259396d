/*
 * How a machine was calibrated, as `platforms NAME` says it.
 */
#include "cli/platforms/platform_page.h"
#include "tests/check.h"

#include <stdlib.h>

/* Every line of the page once; what a file lacks is "?" or 0. */
static const struct {
    const char *file, *page;
} PAGES[] = {
    {"{}", ""},
    {"{\"evidence\": 3, \"provenance\": \"by hand\"}", ""},
    {"{\"provenance\": {}}", "\nCalibrated by ?, rows in ?\n"},
    {"{\"provenance\": {\"program\": \"p\", \"rows_file\": \"r.csv\", "
     "\"backends\": [{\"backend\": \"cuda\", \"rows\": 1234, \"date\": "
     "\"2026-01-02\", \"version\": \"7\", \"libraries\": {\"cublas\": \"12.1\","
     " \"none\": null, \"nccl\": \"2.19\"}}, {}]}}",
     "\nCalibrated by p, rows in r.csv\n"
     "  cuda        1234 rows  2026-01-02  version 7\n"
     "             cublas: 12.1\n"
     "             nccl: 2.19\n"
     "  ?              0 rows  ?  version ?\n"},
    {"{\"provenance\": {}, \"differences\": [{\"table\": \"gemm\", "
     "\"backend\": \"cuda\", \"over\": \"torch\", \"median\": 1.25, "
     "\"pairs\": 40, \"p10\": 0.5, \"p90\": 2.75}, {}]}",
     "\nCalibrated by ?, rows in ?\n"
     "  gemm       cuda takes x 1.25 of torch's times (median of 40; 80 %: "
     "0.50 to 2.75)\n"
     "  ?          ? takes x 0.00 of ?'s times (median of 0; 80 %: 0.00 to "
     "0.00)\n"},
    {"{\"provenance\": {}, \"beside\": {\"median\": 1.5, \"experiments\": 9, "
     "\"p10\": 1.25, \"p90\": 3.5, \"of\": [{\"table\": \"gemm\", "
     "\"collective\": \"all_reduce\", \"median\": 1.75, \"experiments\": 4, "
     "\"p10\": 1, \"p90\": 2}, {}]}}",
     "\nCalibrated by ?, rows in ?\n"
     "  gemm       x 1.75 as long while all_reduce runs (median of 4; 80 %: "
     "1.00 to 2.00)\n"
     "  all        x 0.00 as long while a collective runs (median of 0; 80 %: "
     "0.00 to 0.00)\n"
     "  all        x 1.50 as long while a collective runs (median of 9; 80 %: "
     "1.25 to 3.50)\n"},
    {"{\"provenance\": {}, \"sustained\": {\"sm_mhz\": 1395, \"power_w\": 650, "
     "\"time_ratio\": {\"median\": 1.125, \"experiments\": 12, \"p10\": 1, "
     "\"p90\": 1.5}}}",
     "\nCalibrated by ?, rows in ?\n"
     "  products   x 1.12 as long back to back (median of 12; 80 %: 1.00 to "
     "1.50), at 1395 MHz and 650 W\n"},
    {"{\"provenance\": {}, \"sustained\": {\"power_w\": 1}}",
     "\nCalibrated by ?, rows in ?\n"
     "  products   x 0.00 as long back to back (median of 0; 80 %: 0.00 to "
     "0.00), at 1 W\n"},
    {"{\"provenance\": {}, \"sustained\": {\"sm_mhz\": 1}}",
     "\nCalibrated by ?, rows in ?\n"
     "  products   x 0.00 as long back to back (median of 0; 80 %: 0.00 to "
     "0.00), at 1 MHz\n"},
    {"{\"provenance\": {}, \"sustained\": {}}",
     "\nCalibrated by ?, rows in ?\n"
     "  products   x 0.00 as long back to back (median of 0; 80 %: 0.00 to "
     "0.00)\n"},
    {"{\"provenance\": {}, \"counters\": [{\"table\": \"copy\", \"backend\": "
     "\"cuda\", \"experiments\": 5, \"read_over_assumed\": {\"median\": 1.5, "
     "\"p10\": 1.25, \"p90\": 2}, \"written_over_assumed\": {\"median\": 0.75, "
     "\"p10\": 0.5, \"p90\": 1}, \"operations_over_assumed\": {}}, {}]}",
     "\nCalibrated by ?, rows in ?\n"
     "  copy       cuda counted, over what works assume (medians of 5):\n"
     "             bytes read    x 1.50 (80 %: 1.25 to 2.00)\n"
     "             bytes written x 0.75 (80 %: 0.50 to 1.00)\n"
     "             operations    x 0.00 (80 %: 0.00 to 0.00)\n"
     "  ?          ? counted, over what works assume (medians of 0):\n"},
    /* errors are shares, shown in percent; the clock is 1 where none is said */
    {"{\"base\": \"h100\", \"evidence\": {\"held_out\": \"each trace\", "
     "\"error_base\": 0.25, \"error_fitted\": 0.125, \"error_held_out\": 0.5, "
     "\"clock\": 0.75, \"traces\": [{\"file\": \"a.json\", \"kernels\": 12, "
     "\"us\": 1500, \"error_base\": 0.25, \"error_fitted\": -0.125, "
     "\"error_held_out\": 1}, {\"file\": \"b.json\", \"us\": 3, "
     "\"error_base\": 0.25}, {\"kernels\": 1}]}}",
     "\nMade of h100, and learned from these traces: errors of kernels in % by "
     "h100, as learned,\nand held out (each trace); means 25.0, 12.5, 50.0; "
     "SM clock 75 % of the usual one\n"
     "  a.json                               12 kernels      1.500 ms   +25.0 "
     "  -12.5  +100.0\n"
     "  b.json                                0 kernels      0.003 ms\n"
     "  ?                                     1 kernels      0.000 ms    +0.0 "
     "   +0.0    +0.0\n"},
    {"{\"evidence\": {}}",
     "\nMade of ?, and learned from these traces: errors of kernels in % by ?, "
     "as learned,\nand held out (?); means 0.0, 0.0, 0.0; SM clock 100 % of "
     "the usual one\n"},
};

static void test_calibration__every_line(void)
{
    for (size_t i = 0; i < sizeof(PAGES) / sizeof(*PAGES); i++) {
        cJSON *file = cJSON_Parse(PAGES[i].file);
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);

        CHECK(file != NULL);
        msim_platform_page_put_calibration(file, out);
        fclose(out);
        CHECK_STR(text, PAGES[i].page);
        free(text);
        cJSON_Delete(file);
    }
}

int main(void)
{
    RUN(test_calibration__every_line);
    return check_summary();
}
