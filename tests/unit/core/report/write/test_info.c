/*
 * tests/unit/core/report/write/test_info.c - `info`.
 */
#include "core/job/job.h"
#include "core/report/write/report.h"
#include "tests/check.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>

/* A job made by hand: an ET and a Kineto file of rank 0 of a job of four. */
struct made_job {
    struct msim_job job;
    struct msim_trace trace;
    struct msim_trace *ranks[1];
    struct msim_file_info files[2];
    struct msim_op op;
    struct msim_arg arg;
    struct msim_step steps[2];
    const char *warnings[1];
};

static void fill(struct made_job *m)
{
    memset(m, 0, sizeof(*m));
    m->arg.kind = MSIM_ARG_TENSOR;
    m->steps[0] = (struct msim_step){.number = 5, .dur = 2000000000};
    m->steps[1] = (struct msim_step){.number = 6, .dur = 1500000000};
    m->trace = (struct msim_trace){.ops = &m->op,
                                   .n_ops = 1,
                                   .args = &m->arg,
                                   .n_args = 1,
                                   .steps = m->steps,
                                   .n_steps = 2,
                                   .world_size = 4,
                                   .has_times = true,
                                   .has_et = true,
                                   .has_gpu_events = true};
    m->ranks[0] = &m->trace;
    m->files[0] = (struct msim_file_info){.path = "run/et.json",
                                          .format = MSIM_FORMAT_ET,
                                          .version = "1.1.1-chakra.0.0.4",
                                          .gpu = "",
                                          .events = 12,
                                          .ops = 10,
                                          .linked = (double)NAN};
    m->files[1] = (struct msim_file_info){.path = "run/k\xff.json",
                                          .format = MSIM_FORMAT_KINETO,
                                          .version = "",
                                          .rank = -1,
                                          .gpu = "A100",
                                          .events = 99,
                                          .kernels = 7,
                                          .linked = 0.5,
                                          .salvaged = true};
    m->warnings[0] = "look out";
    m->job = (struct msim_job){.ranks = m->ranks,
                               .n_ranks = 1,
                               .files = m->files,
                               .n_files = 2,
                               .warnings = m->warnings,
                               .n_warnings = 1};
}

/* The caller frees the text. */
static char *written(const struct msim_job *job,
                     enum msim_status (*write)(const struct msim_job *, FILE *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    CHECK_INT(write(job, out), MSIM_OK);
    fclose(out);
    return text;
}

static const cJSON *at(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

static void test_info__json(void)
{
    struct made_job m;
    const cJSON *f;
    cJSON *o;
    char *text;

    fill(&m);
    text = written(&m.job, msim_info_json);
    o = cJSON_Parse(text);
    REQUIRE(o);
    CHECK_STR(cJSON_GetStringValue(at(o, "schema")), "mystique-sim/info/1");
    f = cJSON_GetArrayItem(at(o, "files"), 0);
    CHECK_STR(cJSON_GetStringValue(at(f, "format")), "et");
    CHECK_INT(cJSON_GetNumberValue(at(f, "rank")), 0);
    CHECK(cJSON_IsNull(at(f, "gpu")));
    CHECK(cJSON_IsNull(at(f, "linked")));
    f = cJSON_GetArrayItem(at(o, "files"), 1);
    CHECK_STR(cJSON_GetStringValue(at(f, "path")), "run/k\xef\xbf\xbd.json");
    CHECK(cJSON_IsNull(at(f, "version")));
    CHECK(cJSON_IsNull(at(f, "rank")));
    CHECK_REL(cJSON_GetNumberValue(at(f, "linked")), 0.5, 0);
    CHECK(cJSON_IsTrue(at(f, "salvaged")));
    CHECK_STR(cJSON_GetStringValue(cJSON_GetArrayItem(at(o, "warnings"), 0)),
              "look out");
    cJSON_Delete(o);
    free(text);
}

static void test_info__text(void)
{
    struct made_job m;
    char *text;

    fill(&m);
    text = written(&m.job, msim_info_text);
    REQUIRE(text);
    CHECK(strncmp(text, "2 files, 1 rank\n", 16) == 0);
    CHECK(strstr(text, " 50.0%  run/k?.json (broken: a part was salvaged)"));
    CHECK(strstr(text, "steps: ProfilerStep#5 to #6, 1.500 to 2.000 ms each"));
    CHECK(strstr(text, "traces of 3 of the job's 4 ranks: 1-3"));
    CHECK(strstr(text, "warning: look out\n"));
    CHECK(!strstr(text, "no shapes"));
    free(text);
}

static void check_missing(struct made_job *m, const char *want)
{
    char *text = written(&m->job, msim_info_text);

    CHECK(text && strstr(text, want));
    free(text);
}

static void test_info__missing(void)
{
    struct made_job m;

    fill(&m);
    m.trace.has_times = false;
    check_missing(&m, "  - no times (an execution trace has none)");
    fill(&m);
    m.trace.n_args = 0;
    check_missing(&m, "  - no shapes of operator inputs");
    fill(&m);
    m.trace.has_gpu_events = false;
    check_missing(&m, "  - no GPU activity");
    fill(&m);
    m.trace.n_steps = 0;
    check_missing(&m, "  - no ProfilerStep marks");
    fill(&m);
    m.trace.has_et = false;
    check_missing(&m, "  - no execution trace beside the Kineto file");
    fill(&m);
    m.trace.n_ops = 0;
    check_missing(&m, "  - no operators");
    fill(&m);
    m.trace.unlinked_gpu = 3;
    check_missing(&m, "  - the launches of 3 of 0 GPU activities");
    fill(&m);
    m.trace.rank = -1;
    check_missing(&m, "  - traces of 3 of the job's 4 ranks\n");
}

/* Ranks that lack something are named where others have it. */
static void test_info__names_the_ranks(void)
{
    struct msim_trace traces[6];
    struct msim_trace *ranks[6];
    struct made_job m;

    fill(&m);
    for (int i = 0; i < 6; i++) {
        traces[i] = m.trace;
        traces[i].rank = i;
        traces[i].world_size = 6;
        traces[i].has_et = i == 3;
        ranks[i] = &traces[i];
    }
    m.job.ranks = ranks;
    m.job.n_ranks = 6;
    check_missing(&m, "is not known (rank 0-2, 4-5)\n");
}

/* A list that would be too long is cut, not overrun. */
static void test_info__many_ranks(void)
{
    static struct msim_trace traces[2000];
    static struct msim_trace *ranks[2000];
    struct made_job m;

    fill(&m);
    for (int i = 0; i < 2000; i++) {
        traces[i] = m.trace;
        traces[i].rank = i;
        traces[i].world_size = 4000;
        traces[i].has_et = i % 2;
        ranks[i] = &traces[i];
    }
    m.job.ranks = ranks;
    m.job.n_ranks = 2000;
    check_missing(&m, ", ...)\n");
    check_missing(&m, "traces of 2000 of the job's 4000 ranks: 2000-3999\n");
}

int main(void)
{
    RUN(test_info__json);
    RUN(test_info__text);
    RUN(test_info__missing);
    RUN(test_info__names_the_ranks);
    RUN(test_info__many_ranks);
    return check_summary();
}
