/*
 * tests/unit/core/job/test_rank_name.c - ranks that names of files say.
 */
#include "core/job/job_files.h"
#include "tests/check.h"

#define MOST 8

/* The ranks of files that record none, as "0 1 -"; `paths` are separated by
 * blanks. */
static const char *ranks_of(const char *paths, uint64_t known)
{
    static char said[64];
    struct msim_rank_name names[MOST] = {0};
    char text[512];
    uint32_t n = 0;
    size_t len = 0;

    snprintf(text, sizeof(text), "%s", paths);
    for (char *s = text, *end; s && n < MOST; s = end) {
        end = strchr(s, ' ');
        if (end)
            *end++ = '\0';
        names[n++] = (struct msim_rank_name){.path = s, .rank = -1};
    }
    CHECK_INT(msim_rank_names_settle(names, n, MSIM_RANK_ALL, known), MSIM_OK);
    for (uint32_t i = 0; i < n; i++)
        len += (size_t)(names[i].rank < 0
                            ? snprintf(said + len, sizeof(said) - len, " -")
                            : snprintf(said + len, sizeof(said) - len, " %lld",
                                       (long long)names[i].rank));
    return said + 1;
}

/* A name that says it is believed, alone and with gaps. */
static void test_rank_name__said(void)
{
    CHECK_STR(ranks_of("a/rank-3.json.gz b/rank-5.json.gz", 0), "3 5");
    CHECK_STR(ranks_of("x_rank12_of_16.json", 0), "12");
    CHECK_STR(ranks_of("rank-3-of-8.json.gz", 0), "3");
    /* of a node's own rank only where there is no other */
    CHECK_STR(ranks_of("local_rank_0_global_rank_1.json "
                       "local_rank_1_global_rank_0.json",
                       0),
              "1 0");
    CHECK_STR(ranks_of("local-rank0_rank4.json local-rank1_rank5.json", 0),
              "4 5");
    CHECK_STR(ranks_of("local_rank_0.json local_rank_1.json", 0), "0 1");
    CHECK_STR(ranks_of("two-ranks.1.et.gz", 0), "1");
    CHECK_STR(ranks_of("dp0_pp0_tp1_dcp0_ep1_rank1.175.pt.trace.json.gz", 0),
              "1");
    CHECK_STR(ranks_of("ranking.json", 0), "-");
    CHECK_STR(ranks_of("frank2_4711.json frank3_4711.json", 0), "- -");
    CHECK_STR(ranks_of("rank-99999999999.json", 0), "-");
    CHECK_STR(ranks_of("batch-128.json", 0), "-");
}

/* A number before the suffix is a rank where all are, from 0 on. */
static void test_rank_name__suffix(void)
{
    CHECK_STR(ranks_of("run.1.json run.0.json", 0), "1 0");
    CHECK_STR(ranks_of("step.100.json step.200.json", 0), "- -");
    CHECK_STR(ranks_of("step.1.json step.2.json step.3.json", 0), "- - -");
    CHECK_STR(ranks_of("t.0.json t.20260101.json", 0), "- -");
    CHECK_STR(ranks_of("t.0.json t.6.json", 0), "- -");
    CHECK_STR(ranks_of("t.0.json t.6.json", 8), "0 6");
    CHECK_STR(ranks_of("t.0.json t.8.json", 8), "- -");
    CHECK_STR(ranks_of("trace.7.json", 8), "-");
    CHECK_STR(ranks_of("schema-1.0.3.json.gz schema-1.0.0.json.gz", 0), "- -");
    CHECK_STR(ranks_of("h_17.1754301234567.pt.trace.json "
                       "h_18.1754301234599.pt.trace.json",
                       0),
              "- -");
}

/* Places in a parallel job: the innermost where it tells files apart. */
/* et_0.json beside files that say how many ranks there are; without them it is
 * any number. */
static void test_rank_name__tail(void)
{
    CHECK_STR(ranks_of("et_1.json et_0.json", 2), "1 0");
    CHECK_STR(ranks_of("pytorch-et-0.json.gz pytorch-et-1.json.gz", 2), "0 1");
    CHECK_STR(ranks_of("et_1.json et_0.json", 0), "- -");
    CHECK_STR(ranks_of("et_1.json et_0.json", 1), "- -");
    CHECK_STR(ranks_of("step_100.json step_200.json", 8), "- -");
    CHECK_STR(ranks_of("step_1.json step_2.json", 8), "- -");
    CHECK_STR(ranks_of("t_2026-11-27.json t_2026-11-28.json", 64), "- -");
    CHECK_STR(ranks_of("rank0_1.json rank1_1.json", 2), "0 1");
}

static void test_rank_name__places(void)
{
    CHECK_STR(ranks_of("1.5-TP-1.trace.json 1.5-TP-0.trace.json", 0), "1 0");
    CHECK_STR(ranks_of("9-TP-0-EP-0.json.gz 9-TP-1-EP-1.json.gz", 0), "0 1");
    /* Attention in replicas: TP numbers all ranks. */
    CHECK_STR(ranks_of("9-TP-0-DP-0.json 9-TP-1-DP-0.json 9-TP-2-DP-1.json "
                       "9-TP-3-DP-1.json",
                       0),
              "0 1 2 3");
    CHECK_STR(ranks_of("9-TP-0-PP-0.json 9-TP-1-PP-0.json 9-TP-0-PP-1.json "
                       "9-TP-1-PP-1.json",
                       0),
              "0 1 2 3");
    CHECK_STR(
        ranks_of("dp0_tp0.json dp0_tp1.json dp1_tp0.json dp1_tp1.json", 0),
        "0 1 2 3");
    CHECK_STR(ranks_of("9-TP-0-PP-0-DP-0.json 9-TP-0-PP-1-DP-0.json "
                       "9-TP-0-PP-0-DP-1.json 9-TP-0-PP-1-DP-1.json",
                       0),
              "0 1 2 3");
    CHECK_STR(ranks_of("dp0_rank0.json dp0_rank1.json dp1_rank0.json "
                       "dp1_rank1.json",
                       0),
              "0 1 2 3");
    CHECK_STR(ranks_of("worker0.17.pt.trace.json worker1.19.pt.trace.json", 0),
              "0 1");
    /* Two stages of one rank's recording. */
    CHECK_STR(ranks_of("9-TP-0-EXTEND.json 9-TP-0-DECODE.json", 0), "- -");
    CHECK_STR(ranks_of("llama-tp4.json llama-tp8.json", 0), "- -");
    CHECK_STR(ranks_of("llama-tp8-x.0.json llama-tp8-x.1.json", 0), "0 1");
}

static void test_rank_name__folders(void)
{
    CHECK_STR(ranks_of("j/rank0/trace.json j/rank1/trace.json", 0), "0 1");
    CHECK_STR(ranks_of("rank_1/p/t.json rank_0/p/t.json", 0), "1 0");
    CHECK_STR(ranks_of("rank0/step.100.json rank1/step.100.json", 0), "0 1");
    CHECK_STR(ranks_of("lora-rank-8/t.json lora-rank-16/t.json", 0), "- -");
    CHECK_STR(ranks_of("lora-rank-8/t.0.json lora-rank-8/t.1.json", 0), "0 1");
    CHECK_STR(ranks_of("rank-5/trace.json", 0), "-");
}

/* What files record comes first, and counts among the ranks. */
static void test_rank_name__recorded(void)
{
    struct msim_rank_name names[] = {
        {.path = "k/a.json", .kind = 1, .rank = 0},
        {.path = "k/b.json", .kind = 1, .rank = 1},
        {.path = "e/x.1.json", .rank = -1},
        {.path = "e/x.9.json", .kind = 1, .rank = 2},
    };

    CHECK_INT(msim_rank_names_settle(names, 4, MSIM_RANK_ALL, 0), MSIM_OK);
    CHECK_INT(names[2].rank, 1);
    CHECK_INT(names[3].rank, 2);
}

int main(void)
{
    RUN(test_rank_name__said);
    RUN(test_rank_name__suffix);
    RUN(test_rank_name__tail);
    RUN(test_rank_name__places);
    RUN(test_rank_name__folders);
    RUN(test_rank_name__recorded);
    return check_summary();
}
