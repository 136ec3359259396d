/*
 * tests/unit/core/report/write/test_report_where.c - the critical path, waits
 * and how dependencies are known.
 */
#include "core/report/write/report_internal.h"
#include "tests/unit/written_text.h"

#define COLUMNS 25

static void check_page(const struct msim_prediction *p,
                       void (*put)(const struct msim_page *), const char *want)
{
    static struct msim_short_names names;
    struct written w = written_begin();
    struct msim_page page = {
        .p = p, .out = w.out, .names = &names, .name_columns = COLUMNS};

    names.n = 0;
    msim_page_add_owners(&page);
    msim_short_names_fit(&names, COLUMNS);
    put(&page);
    WRITTEN(&w, want);
}

/* ---- the critical path --------------------------------------------------- */

#define PATH "\ncritical path, by owner                      time/us    share\n"

/* Rows of one operator and kind are one; of equal times, by name. Classes have
 * the words of the breakdown, and the rows that are of them. */
static void test_report_where__path(void)
{
    struct msim_owner_row rows[] = {
        {.kind = "kernel", .name = "k1", .op = "op", .us = 25, .share = 0.125},
        {.kind = "host", .name = "op", .us = 50, .share = 0.25},
        {.kind = "kernel", .name = "k2", .op = "op", .us = 50, .share = 0.25},
        {.kind = "gap", .name = "b", .us = 25, .share = 0.125},
        {.kind = "call", .name = "a", .us = 25, .share = 0.125},
        {.kind = "held", .name = "c", .us = 25, .share = 0.125},
    };
    struct msim_prediction p = {.owners = rows, .n_owners = 6};

    check_page(&p, msim_page_path,
               PATH "  op                         kernel             75.0   "
                    "37.5 %\n"
                    "  op                         host               50.0   "
                    "25.0 %\n"
                    "  a                          call               25.0   "
                    "12.5 %\n"
                    "  b                          gap                25.0   "
                    "12.5 %\n"
                    "  c                          held               25.0   "
                    "12.5 %\n"
                    "  in all                                       200.0  "
                    "100.0 %\n"
                    "  by class          host 50.0 %, compute 37.5 %, held "
                    "from outside 12.5 %\n");
    rows[0].kind = "communication";
    rows[1].kind = "copy";
    rows[2].kind = "latency";
    rows[3].share = 4.9e-4; /* not worth a word */
    rows[4].share = 0;
    rows[5].share = 5e-4;
    check_page(&p, msim_page_path,
               PATH "  op                         copy               50.0   "
                    "25.0 %\n"
                    "  op                         latency            50.0   "
                    "25.0 %\n"
                    "  a                          call               25.0    "
                    "0.0 %\n"
                    "  b                          gap                25.0    "
                    "0.0 %\n"
                    "  c                          held               25.0    "
                    "0.1 %\n"
                    "  op                         communication      25.0   "
                    "12.5 %\n"
                    "  in all                                       200.0   "
                    "62.6 %\n"
                    "  by class          communication 12.5 %, memory copy "
                    "25.0 %, latency 25.0 %,\n"
                    "                    held from outside 0.1 %\n");
    p.n_owners = 0;
    check_page(&p, msim_page_path, "");
}

/* Eight, and the sum of the others. */
static void test_report_where__long_path(void)
{
    struct msim_owner_row rows[10];
    char names[10][4];
    struct msim_prediction p = {.owners = rows};

    for (int i = 0; i < 10; i++) {
        snprintf(names[i], sizeof(names[i]), "o%d", i);
        rows[i] = (struct msim_owner_row){
            .kind = "other", .name = names[i], .us = 10, .share = 0.0625};
    }
    for (p.n_owners = 8; p.n_owners < 11; p.n_owners++) {
        struct written want = written_begin();
        uint32_t more = p.n_owners - 8;
        char *text;

        fputs(PATH, want.out);
        for (int i = 0; i < 8; i++)
            fprintf(want.out,
                    "  o%d                         other             "
                    " 10.0    6.2 %%\n",
                    i);
        if (more)
            fprintf(want.out,
                    "  %u more (--json lists all)                "
                    "%9.1f%7.1f %%\n",
                    more, 10.0 * more, 6.25 * more);
        fprintf(want.out,
                "  in all                                   %9.1f"
                "%7.1f %%\n",
                10.0 * p.n_owners, 6.25 * p.n_owners);
        text = written_end(&want);
        check_page(&p, msim_page_path, text);
        free(text);
    }
}

/* Forty owners have short names that are told apart. */
static void test_report_where__names(void)
{
    static struct msim_short_names names;
    struct msim_owner_row rows[41] = {{.name = NULL}};
    char words[41][8];
    struct msim_prediction p = {.owners = rows};
    struct msim_page page = {.p = &p, .names = &names};

    for (int i = 0; i < 41; i++) {
        snprintf(words[i], sizeof(words[i]), "o%d", i);
        rows[i].name = "the same";
        rows[i].op = words[i];
    }
    for (uint32_t n = 39; n < 42; n++) {
        names.n = 0;
        p.n_owners = n;
        msim_page_add_owners(&page);
        CHECK_UINT(names.n, n < 40 ? n : 40);
    }
}

/* ---- waits --------------------------------------------------------------- */

/* Three ranks at most; four operators that can wait, of those that take a
 * thousandth of an iteration: by what they could win, then by name. */
static void test_report_where__waits(void)
{
    struct msim_named_us main_waits[] = {{"launch", 12.5}, {"event", 2000}};
    struct msim_named_us idle[] = {{"host work", 1}};
    struct msim_straggler_row late[] = {
        {.rank = 3, .last_in = 1.5, .wait_caused_us = 40},
        {.rank = 1, .last_in = 1, .wait_caused_us = 30},
        {.rank = 0, .last_in = 1, .wait_caused_us = 20},
        {.rank = 2, .last_in = 1, .wait_caused_us = 10}};
    struct msim_op_row ops[] = {
        {.name = "b", .us = {.predicted = 5}, .slack_us = 9},
        {.name = "a", .us = {.predicted = 9}, .slack_us = 5},
        {.name = "most", .us = {.predicted = 30}, .slack_us = 20},
        {.name = "short", .us = {.predicted = 0.9}, .slack_us = 90},
        {.name = "bound", .us = {.predicted = 90}, .slack_us = 0},
        {.name = "least", .us = {.predicted = 1}, .slack_us = 0.5},
        {.name = "fifth", .us = {.predicted = 1}, .slack_us = 0.25},
    };
    struct msim_prediction p = {.ranks = 1,
                                .iteration_us = {.predicted = 1000},
                                .ops = ops,
                                .n_ops = 7,
                                .stragglers = late,
                                .n_stragglers = 1};

    p.waits.main_thread = (struct msim_wait_list){main_waits, 2};
    p.waits.gpu_idle = (struct msim_wait_list){idle, 1};
    check_page(&p, msim_page_waits,
               "\nwaiting, in an iteration\n"
               "  main thread, for  launch 12.5 us, event 2.000 ms\n"
               "  idle GPU, for     host work 1.0 us\n"
               "  last to arrive    rank 3 in 1.50 collectives (the others "
               "wait 40.0 us)\n"
               "  time to spare     most 20.0 us a call, a 5.0 us a call, b "
               "9.0 us a call, least 0.5 us a call\n");
    p.ranks = 2;
    p.waits.main_thread.n = p.waits.gpu_idle.n = 0;
    p.n_ops = 0;
    p.n_stragglers = 4;
    check_page(&p, msim_page_waits,
               "\nwaiting, in an iteration of the slowest rank\n"
               "  last to arrive    rank 3 in 1.50 collectives (the others "
               "wait 40.0 us),\n"
               "                    rank 1 in 1 collectives (the others wait "
               "30.0 us),\n"
               "                    rank 0 in 1 collectives (the others wait "
               "20.0 us)\n");
    p.n_stragglers = 0;
    p.n_ops = 7;
    check_page(&p, msim_page_waits, "");
}

/* A line has 96 columns, the comma among them. */
static void test_report_where__long_lists(void)
{
    static const struct {
        unsigned letters;
        const char *between;
    } ROWS[] = {{29, ", "}, {30, ", "}, {31, ",\n                    "}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        char a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", b[40] = ""; /* 30 */
        struct msim_named_us rows[] = {{a, 1}, {b, 1}};
        struct msim_prediction p = {.ranks = 1};
        char want[256];

        memset(b, 'b', ROWS[i].letters - 2);
        p.waits.gpu_idle = (struct msim_wait_list){rows, 2};
        /* 20 and "a... 1.0 us", 37, and "b... 1.0 us" and two more. */
        snprintf(
            want, sizeof(want),
            "\nwaiting, in an iteration\n  idle GPU, for     %s 1.0 us%s%s "
            "1.0 us\n",
            a, ROWS[i].between, b);
        check_page(&p, msim_page_waits, want);
    }
}

/* ---- how it is known ----------------------------------------------------- */

/* Sources as they first come, each with its kinds. */
static void test_report_where__known(void)
{
    struct msim_edge_row edges[] = {{"launch", "recorded ids", 20, 7},
                                    {"order", "time", 9, 1},
                                    {"event", "recorded ids", 3, 0}};
    struct msim_named_us copied[] = {{"host work", 15}, {"latency", 0.5}};
    struct msim_prediction p = {
        .edges = edges, .n_edges = 3, .copied = copied, .n_copied = 2};

#define KNOWN                                                                  \
    "\nhow dependencies are known: how many decide when something starts, of " \
    "all\n"                                                                    \
    "  recorded ids      launch 7 of 20, event 0 of 3\n"                       \
    "  time              order 1 of 9\n"
    check_page(&p, msim_page_known,
               KNOWN "  copied times      host work 15.0 us, latency 0.5 us\n");
    p.n_copied = 0;
    check_page(&p, msim_page_known, KNOWN);
    p.n_edges = 0;
    check_page(&p, msim_page_known, "");
}

int main(void)
{
    RUN(test_report_where__path);
    RUN(test_report_where__long_path);
    RUN(test_report_where__names);
    RUN(test_report_where__waits);
    RUN(test_report_where__long_lists);
    RUN(test_report_where__known);
    return check_summary();
}
