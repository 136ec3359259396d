/*
 * tests/unit/core/report/write/test_report_tables.c - tables of operators, of
 * what is not covered, and of ranks.
 */
#include "core/report/write/report_internal.h"
#include "tests/unit/made_prediction.h"
#include "tests/unit/written_text.h"

/* A page of `p`, fitted as the report does it. */
static void check_page(const struct msim_prediction *p,
                       void (*put)(const struct msim_page *), const char *want)
{
    static struct msim_short_names names;
    struct written w = written_begin();
    struct msim_page page = {.p = p, .out = w.out, .names = &names};

    names.n = 0;
    msim_page_add_ops(&page);
    msim_page_fit(&page);
    put(&page);
    WRITTEN(&w, want);
}

/* ---- operators ----------------------------------------------------------- */

/* Of 1000 us. -12.5 % is rounded to even; a bound, a law and a table. */
static void test_report_tables__operators(void)
{
    struct made m;

    made_fill(&m);
    check_page(&m.p, msim_page_ops,
               "\noperators, by device time    calls    time/us    share"
               "          90 %   measured  model\n"
               "  aten::mm                       4      800.0   80.0 %"
               "     -12 +12 %      820.0  gemm\n"
               "  record_param_comms             1      120.0   12.0 %"
               "     -17 +25 %          -  collective (table)\n"
               "  my::op                      1.50       80.0    8.0 %"
               "    -75 +300 %          -  bound\n"
               "  in all                               1000.0  100.0 %\n");
    /* Of another machine: what is measured there is traced here. */
    m.p.elsewhere = true;
    m.ops[0].label = "a matrix";
    m.p.n_ops = 1;
    check_page(&m.p, msim_page_ops,
               "\noperators, by device time    calls    time/us    share"
               "          90 %     traced  model\n"
               "  a matrix                       4      800.0  100.0 %"
               "     -12 +12 %      820.0  gemm\n");
    m.p.n_ops = 0;
    check_page(&m.p, msim_page_ops, "\nno operator takes device time\n");
}

/* Without intervals a column of errors; what waited has none. Times that are
 * those of the trace are no measurement of it. */
static void test_report_tables__measured(void)
{
    struct made m;

    made_fill(&m);
    for (int i = 0; i < 2; i++)
        m.ops[i].us = (struct msim_figure){1500, 1500, 1500, 1000};
    m.p.n_ops = 2;
    m.ops[0].limit = "memory";
    m.ops[0].peak_share = 0.714;
    m.ops[1].limit = "a limit of many letters";
    m.ops[1].peak_share = NAN;
    m.ops[1].model = m.ops[1].source = NULL;
    check_page(&m.p, msim_page_ops,
               "\noperators, by device time    calls    time/ms    share"
               "   measured     error  limited by    model\n"
               "  aten::mm                       4      1.500   50.0 %"
               "      1.000   +50.0 %  memory  71 %  gemm\n"
               "  record_param_comms             1      1.500   50.0 %"
               "      1.000 with wait  a limit of m  -\n"
               "  in all                                3.000  100.0 %\n");
    m.p.elsewhere = true;
    m.ops[0].us.measured = 1499.5; /* a difference of a third of 1 in 1000 */
    m.ops[1].us.measured = 1500;
    m.ops[0].limit = m.ops[1].limit = NULL;
    check_page(&m.p, msim_page_ops,
               "\noperators, by device time    calls    time/ms    share  model"
               "\n"
               "  aten::mm                       4      1.500   50.0 %  gemm\n"
               "  record_param_comms             1      1.500   50.0 %  -\n"
               "  in all                                3.000  100.0 %\n");
    m.ops[1].us.measured = 1499; /* and of two thirds */
    check_page(&m.p, msim_page_ops,
               "\noperators, by device time    calls    time/ms    share"
               "     traced    change  model\n"
               "  aten::mm                       4      1.500   50.0 %"
               "      1.500    +0.0 %  gemm\n"
               "  record_param_comms             1      1.500   50.0 %"
               "      1.499 with wait  -\n"
               "  in all                                3.000  100.0 %\n");
}

/* Fifteen, and the sum of the others. */
static void test_report_tables__many(void)
{
    for (uint32_t n = 15; n < 18; n++) {
        struct msim_op_row ops[17];
        struct written want = written_begin();
        struct made m;
        char *text;

        made_fill(&m);
        for (int i = 0; i < 17; i++)
            ops[i] = (struct msim_op_row){.name = "op",
                                          .model = "m",
                                          .source = "law",
                                          .calls = 1,
                                          .us = {10, 10, 10, NAN}};
        m.p.ops = ops;
        m.p.n_ops = n;
        fputs("\noperators, by device time    calls    time/us    share  "
              "model\n",
              want.out);
        for (int i = 0; i < 15; i++)
            fprintf(want.out,
                    "  op                             1       10.0"
                    "%7.1f %%  m\n",
                    100.0 / n);
        if (n > 15)
            fprintf(want.out,
                    "  %u more (--csv lists all)            %7.1f%7.1f %%\n",
                    n - 15, 10.0 * (n - 15), 100.0 * (n - 15) / n);
        fprintf(want.out,
                "  in all                                %5.1f  100.0 "
                "%%\n",
                10.0 * n);
        text = written_end(&want);
        check_page(&m.p, msim_page_ops, text);
        free(text);
    }
}

static void test_report_tables__coverage(void)
{
    struct made m;

    made_fill(&m);
    check_page(&m.p, msim_page_coverage,
               "\ncovered by laws and tables: 75.0 % of operators, 92.0 % of "
               "device time\n"
               "\nnot covered by a law of their own  calls    time/us    share"
               "          90 %  model\n"
               "  my::op                      1.50       80.0    8.0 %"
               "    -75 +300 %  bound\n");
    m.p.n_uncovered = 0;
    m.p.coverage_ops = NAN;
    check_page(&m.p, msim_page_coverage,
               "\ncovered by laws and tables: - of operators, 92.0 % of device "
               "time\n");
    m.p.coverage_time = NAN;
    check_page(&m.p, msim_page_coverage, "");
    m.p.coverage_ops = 1;
    m.p.costs = "measured"; /* which need neither */
    check_page(&m.p, msim_page_coverage, "");
}

/* ---- ranks --------------------------------------------------------------- */

#define RANKS                                                                  \
    "\nranks, in ms\n  rank     time measured  kernels transfer    wait "      \
    "hidden"                                                                   \
    "  compute   comm.  copies     host    idle\n"

/* Neighbours that look the same share a line; what hides behind compute is a
 * share of all communication: 30 of 80. */
static void test_report_tables__ranks(void)
{
    struct msim_rank_row rows[5];
    struct made m;

    made_fill(&m);
    m.p.ranks_detail = rows;
    m.p.n_ranks_detail = 5;
    for (int i = 0; i < 5; i++) {
        rows[i] = m.ranks[0];
        rows[i].rank = i < 4 ? i : 9; /* 4 to 8 are not recorded */
    }
    rows[2].overlapped_communication_us = 30;
    check_page(&m.p, msim_page_ranks,
               RANKS
               "   0-1    1.000        -    0.880    0.120   0.010    0 %    "
               "0.900   0.050   0.030    0.015   0.005\n"
               "     2    1.000        -    0.880    0.120   0.010   38 %    "
               "0.900   0.050   0.030    0.015   0.005\n"
               "     3    1.000        -    0.880    0.120   0.010    0 %    "
               "0.900   0.050   0.030    0.015   0.005\n"
               "     9    1.000        -    0.880    0.120   0.010    0 %    "
               "0.900   0.050   0.030    0.015   0.005\n");
    rows[0].rank = rows[1].rank = -1; /* not known */
    rows[0].breakdown_us.communication = 0;
    m.p.n_ranks_detail = 2;
    check_page(&m.p, msim_page_ranks,
               RANKS
               "     -    1.000        -    0.880    0.120   0.010      -    "
               "0.900   0.000   0.030    0.015   0.005\n"
               "     -    1.000        -    0.880    0.120   0.010    0 %    "
               "0.900   0.050   0.030    0.015   0.005\n");
    m.p.n_ranks_detail = 1;
    check_page(&m.p, msim_page_ranks, "");
}

/* At most 64 lines, and how many ranks there are beyond. */
static void test_report_tables__many_ranks(void)
{
    for (uint32_t n = 64; n < 67; n++) {
        struct msim_rank_row rows[66];
        struct written w = written_begin();
        struct made m;
        struct msim_page page = {.p = &m.p, .out = w.out};
        char *text, want[64];
        uint32_t lines = 0;

        made_fill(&m);
        for (uint32_t i = 0; i < 66; i++) {
            rows[i] = m.ranks[0];
            rows[i].rank = 2 * i;
        }
        m.p.ranks_detail = rows;
        m.p.n_ranks_detail = n;
        msim_page_ranks(&page);
        text = written_end(&w);
        for (const char *at = text; (at = strchr(at, '\n')); at++)
            lines++;
        CHECK_UINT(lines, 3 + 64 + (n > 64));
        snprintf(want, sizeof(want), "\n  %u more (--json lists all)\n",
                 n - 64);
        CHECK((strstr(text, want) != NULL) == (n > 64));
        free(text);
    }
}

int main(void)
{
    RUN(test_report_tables__operators);
    RUN(test_report_tables__measured);
    RUN(test_report_tables__many);
    RUN(test_report_tables__coverage);
    RUN(test_report_tables__ranks);
    RUN(test_report_tables__many_ranks);
    return check_summary();
}
