/* plan/rows/job_report.c: a table of jobs, answered row by row: its columns,
 * how many have a prediction, and how runs were called. */
#include "plan/rows/job_rows.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static char table[] = P_tmpdir "/msim-report-XXXXXX.csv";
static struct msim_job_report_options options;
static struct msim_error err;
static enum msim_status status;
static char *text;

/* What is said of a table with that header and these rows. */
static const char *says(const char *header, const char *rows)
{
    FILE *f = fopen(table, "w"), *out;
    size_t size;

    free(text);
    text = NULL;
    out = open_memstream(&text, &size);
    if (!CHECK(f != NULL && out != NULL))
        return "";
    fprintf(f, "%s\n%s", header, rows);
    fclose(f);
    err = (struct msim_error){0};
    options.data_dir = MSIM_DATA;
    status = msim_job_report(&options, table, out, &err);
    fclose(out);
    return text;
}

static bool has(const char *part)
{
    if (strstr(text, part))
        return true;
    CHECK_STR(text, part);
    return false;
}

/* Field `at` of line `line`, of those that hold no comma. */
static const char *field(int line, int at)
{
    static char found[64];
    const char *s = text;

    while (line-- > 0 && s)
        s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL;
    while (at-- > 0 && s)
        s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL;
    snprintf(found, sizeof(found), "%.*s", s ? (int)strcspn(s, ",\n") : 0,
             s ? s : "");
    return found;
}

#define JOB                                                                    \
    "model,platform,gpus,zero,micro_batch,global_batch,sequence,recompute,"    \
    "status"
#define SMALL "mpt-125m,h100,8,1,1,16,1024,none,ok\n"
#define LARGE "llama3-70b,h100,8,0,1,16,1024,none,oom\n"
#define ODD   "mpt-125m,h100,8,1,3,16,1024,none,\n"

static void test_job_report__csv(void)
{
    options = (struct msim_job_report_options){.csv = true};
    says(JOB, SMALL ODD LARGE);
    CHECK_INT(status, MSIM_OK);
    has(JOB ",predicted_ms,low_ms,high_ms,predicted_memory_gib,fits,uses_rows,"
            "defaults,reason,guards\nmpt-125m,h100,8,1,1,16,1024,none,ok,");
    CHECK(strtod(field(1, 9), NULL) > strtod(field(1, 10), NULL));
    CHECK(strtod(field(1, 11), NULL) > strtod(field(1, 9), NULL));
    CHECK_STR(field(1, 13), "yes");
    CHECK_STR(field(1, 14), "0");
    has("\n"
        "mpt-125m,h100,8,1,3,16,1024,none,,,,,,,,");
    has("global_batch 16 cannot be split by dp x micro_batch 24,");
    CHECK_STR(field(3, 13), "no");
    options.would_fit = true;
    says(JOB, SMALL LARGE ODD);
    has(",defaults,reason,would_fit,guards\n");
    has(" GiB)"); /* of the large one */
    options.would_fit = false;
    options.simulate = true;
    says(JOB, ODD);
    CHECK_INT(status, MSIM_ECHECK); /* no row has a prediction */
    has(",defaults,reason,simulated_ms,simulated_memory_gib,guards\n");
    has("dp x micro_batch 24,,,\n");
}

/* Rows that name no platform take that of the question, to simulate, too. */
static void test_job_report__simulates(void)
{
    options = (struct msim_job_report_options){.csv = true, .platform = "a100"};
    says("model,gpus,micro_batch,global_batch,sequence",
         "mpt-125m,1,1,2,512\n");
    CHECK_INT(status, MSIM_OK);
    options.simulate = true;
    says("model,gpus,micro_batch,global_batch,sequence,step_ms",
         "mpt-125m,1,1,2,512,100\n");
    CHECK_INT(status, MSIM_OK);
    CHECK(strtod(field(1, 6), NULL) > 10);
}

static void test_job_report__text(void)
{
    options = (struct msim_job_report_options){.csv = false};
    says(JOB, SMALL ODD LARGE LARGE ODD);
    CHECK_INT(status, MSIM_OK);
    has("3 of 5 jobs predicted\nthe first without a prediction: global_batch "
        "16 cannot be split by dp x micro_batch 24\nno row has a measured "
        "time\n");
    has(" row  job ");
    has("\n   1  mpt-125m, 8 x h100  ");
    has("\n   2  mpt-125m, 8 x h100                 global_batch 16 cannot be "
        "split by dp x micro_batch 24\n");
    has("  no\n   5  mpt-125m");
    has("\nin the GPU's memory      fits   edge     no\njobs that ran          "
        " "
        "    1      0      0\njobs that failed            0      0      2\n");
    says(JOB, SMALL);
    has("1 of 1 jobs predicted\nno row has");
    CHECK(strstr(text, "jobs that failed") == NULL);
    says(JOB, LARGE);
    CHECK(strstr(text, "jobs that ran") == NULL);
    has("jobs that failed            0      0      1\n");
    says(JOB, ODD);
    CHECK_INT(status, MSIM_ECHECK);
    CHECK(strstr(text, "jobs that ran") == NULL);
}

/* Of many rows the first ones, with what was measured. */
static void test_job_report__lists(void)
{
    char rows[4096] = "";
    size_t n = 0;

    for (int k = 0; k < 21; k++)
        n += (size_t)snprintf(rows + n, sizeof(rows) - n,
                              "mpt-125m,h100,8,1,1,16,1024,none,ok,1000\n");
    options = (struct msim_job_report_options){.csv = false};
    says(JOB ",step_ms", rows);
    has("\n  20  mpt-125m, 8 x h100                     1.000 s ");
    CHECK(strstr(text, "\n  21  ") == NULL);
    has("\n      and 1 more row, which --csv prints\n\n21 of 21 jobs");
    has(" ms    -9");
    has("  yes\n");
    says(JOB ",step_ms", "mpt-125m,h100,8,1,1,16,1024,none,ok,0.001\n");
    has(" %");
    CHECK(strstr(text, "more row") == NULL);
}

/* Where recomputation is not stated it may be any: what fits with all of it is
 * at the edge, not out. */
static void test_job_report__any_recomputation(void)
{
#define LONG "model,platform,gpus,zero,micro_batch,global_batch,sequence"
#define ROW  "llama3-8b,h100,8,3,2,16,8192"
    options = (struct msim_job_report_options){.csv = true};
    says(LONG ",recompute", ROW ",none\n");
    CHECK_STR(field(1, 12), "no");
    says(LONG ",recompute", ROW ",full\n");
    CHECK_STR(field(1, 12), "yes");
    says(LONG, ROW "\n");
    CHECK_STR(field(1, 11), "edge");
}

/* Measured rows by their source, failed ones not among them; a limit. */
static void test_job_report__measured(void)
{
    options = (struct msim_job_report_options){.wish.limit = 1};
    says("source," JOB ",step_ms,memory_gib",
         "made up,mpt-125m,h100,8,1,1,16,1024,none,ok,1000,20\n"
         "other,mpt-125m,h100,8,1,1,16,1024,none,oom,1000,20\n");
    CHECK_INT(status, MSIM_ECHECK); /* it takes no second */
    has("made up");
    has("not seen");
    CHECK(strstr(text, "other") == NULL);
    options.wish.limit = 0;
    says(JOB ",step_ms", "mpt-125m,h100,8,1,1,16,1024,none,ok,1000\n");
    CHECK_INT(status, MSIM_OK);
    has("(none)");
}

int main(void)
{
    int fd = mkstemps(table, 4);

    if (fd < 0)
        return 1;
    close(fd);
    RUN(test_job_report__csv);
    RUN(test_job_report__simulates);
    RUN(test_job_report__text);
    RUN(test_job_report__lists);
    RUN(test_job_report__any_recomputation);
    RUN(test_job_report__measured);
    free(text);
    CHECK(unlink(table) == 0);
    return check_summary();
}
