/*
 * tests/unit/core/report/write/test_report_csv.c - operators as CSV.
 */
#include "core/report/write/report.h"
#include "tests/unit/made_prediction.h"
#include "tests/unit/written_text.h"

#define HEAD                                                                   \
    "name,calls,predicted_us,low_us,high_us,measured_us,model,source,options," \
    "communication,limit,peak_share,slack_us,flops,bytes,intensity,"           \
    "flops_per_second,bytes_per_second,peak_flops_per_second\n"

static void check_csv(const struct msim_prediction *p, const char *want)
{
    struct written w = written_begin();

    CHECK_INT(msim_report_csv(p, w.out), MSIM_OK);
    WRITTEN(&w, want);
}

/* 8e9 FLOP and 4e6 bytes in 800 us: 2000 FLOP a byte, 1e13 a second, and 5e9
 * bytes. What is not known is an empty cell; no options are one, too. What a
 * spreadsheet would take for a formula has a quote before it. */
static void test_report_csv__rows(void)
{
    const char *options[] = {"--platform", "h100"};
    struct made m;

    made_fill(&m);
    m.ops[0].limit = "compute";
    m.ops[0].peak_share = 0.5;
    m.ops[0].slack_us = 12.5;
    m.ops[1].name = "a,\"b\"";
    m.ops[1].model = NULL;
    check_csv(&m.p, HEAD
              "aten::mm,4,800,700,900,820,gemm,law,,false,compute,0.5,12.5,"
              "8000000000,4000000,2000,10000000000000,5000000000,"
              "20000000000000\n"
              "\"a,\"\"b\"\"\",1,120,100,150,,,table,,true,,0,0,,,,,,\n"
              "my::op,1.5,80,20,320,,bound,bound,,false,,0,0,,,,,,\n");
    m.p.n_ops = 1;
    m.p.scenario.options = options;
    m.p.scenario.n_options = 2;
    m.ops[0].calls = 0.25;
    m.ops[0].peak_share = m.ops[0].slack_us = NAN;
    m.ops[0].limit = NULL;
    check_csv(&m.p, HEAD
              "aten::mm,0.25,800,700,900,820,gemm,law,'--platform h100,false,,,"
              ",8000000000,4000000,2000,10000000000000,5000000000,"
              "20000000000000\n");
    m.p.n_ops = 0;
    check_csv(&m.p, HEAD);
}

int main(void)
{
    RUN(test_report_csv__rows);
    return check_summary();
}
