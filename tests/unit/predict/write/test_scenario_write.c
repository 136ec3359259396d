/*
 * predict/write/scenario_write.c: which scenarios are written, what is said of
 * the others, and who describes them.
 */
#include "predict/write/scenario_write.h"

#include "core/base/files.h"
#include "core/job/job.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const GPT2[] = {MSIM_DATA "/traces/gpt2"};

enum { BF16, MICRO, REFUSED, DURATIONS, BOTH, NOT_SO, ROWS };

static struct msim_scenario_row rows[ROWS];
static struct msim_inputs in;
static struct msim_target to;
static char dir[32];

/* What the describer was asked. */
static struct {
    uint32_t times, files[ROWS];
    struct msim_reshape reshape;
    struct msim_trace *const *ranks;
} described;

static enum msim_status describe(void *own, struct msim_folder *folder,
                                 const struct msim_step_change *by,
                                 uint32_t files, struct msim_error *err)
{
    (void)err;
    CHECK(own == &described && folder != NULL);
    described.files[described.times++] = files;
    described.ranks = by->ranks;
    if (by->reshape->dtype)
        described.reshape = *by->reshape;
    return MSIM_OK;
}

static struct msim_scenarios scenarios(const struct msim_predict_settings *s)
{
    static const char *const NAMES[ROWS] = {"bf16",      "micro", "refused",
                                            "durations", "both",  "not so"};

    memset(rows, 0, sizeof(rows));
    memset(&described, 0, sizeof(described));
    for (int i = 0; i < ROWS; i++) {
        rows[i].name = NAMES[i];
        rows[i].settings = *s;
    }
    rows[BF16].settings.reshape.dtype = MSIM_DT_BF16;
    rows[MICRO].settings.rewrite.accumulate = 2;
    rows[REFUSED].settings.rewrite.accumulate = 2;
    snprintf(rows[REFUSED].reason, sizeof(rows[REFUSED].reason), "no");
    rows[DURATIONS].settings.n_scales = 1;
    rows[BOTH].settings.reshape.dtype = MSIM_DT_BF16;
    rows[BOTH].settings.n_scales = 1;
    rows[NOT_SO].settings.reshape.n_axes = 1;
    rows[NOT_SO].settings.reshape.axes[0] =
        (struct msim_axis){.from = 123457, .to = 2, .every = true};
    return (struct msim_scenarios){.rows = rows, .n = ROWS};
}

static const char *file_of(const char *name, const char *file)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s%s%s", dir, name, *file ? "/" : "",
             file);
    return path;
}

static void clean(void)
{
    for (int i = 0; i < ROWS; i++) {
        unlink(file_of(rows[i].name, "rank-0.et.json"));
        rmdir(file_of(rows[i].name, ""));
    }
    rmdir(dir);
}

static void test_scenario_write__writes_what_changes_traces(void)
{
    static const char *const WHY[ROWS] = {
        [BF16] = "",
        [MICRO] = "",
        [REFUSED] = "it has no answer",
        [DURATIONS] = "it changes durations, the graph or the machine, and "
                      "not the trace",
        [BOTH] = "its changes of durations and of the graph are not"};
    const struct msim_predict_settings s = {.data = MSIM_DATA};
    struct msim_scenarios all = scenarios(&s);
    const struct msim_scenario_describer with = {&described, describe};
    struct msim_scenario_written *out;

    REQUIRE(msim_scenarios_write(&out, &all, &in, &with, dir, NULL) == MSIM_OK);
    for (int i = 0; i < ROWS; i++) {
        bool written = i == BF16 || i == MICRO || i == BOTH;

        if (i != NOT_SO)
            CHECK_STR(out[i].why, WHY[i]);
        CHECK_INT(out[i].folder != NULL, written);
        CHECK_INT(out[i].files, written);
        CHECK_INT(out[i].nodes > 0, written);
        CHECK_INT(access(file_of(rows[i].name, "rank-0.et.json"), R_OK) == 0,
                  written);
    }
    CHECK(*out[NOT_SO].why && strcmp(out[NOT_SO].why, WHY[REFUSED]) != 0);
    CHECK_STR(out[BF16].folder, file_of("bf16", ""));
    CHECK(out[MICRO].nodes > out[BF16].nodes);
    CHECK_UINT(out[BOTH].nodes, out[BF16].nodes);
    /* three were written; each of one rank */
    CHECK(described.times >= 3);
    CHECK_INT(described.files[0], 1);
    CHECK_INT(described.reshape.dtype, MSIM_DT_BF16);
    CHECK(described.ranks != NULL);
    msim_scenarios_written_free(out, all.n);
    msim_scenarios_written_free(NULL, 3);
    clean();
}

/* What is written is a trace of as many operators with other types. */
static void test_scenario_write__can_be_read(void)
{
    const struct msim_predict_settings s = {.data = MSIM_DATA};
    struct msim_scenarios all = scenarios(&s);
    const struct msim_load_options opt = {.threads = 1};
    const char *path;
    struct msim_scenario_written *out;
    struct msim_job *job;
    uint32_t narrow = 0;

    all.n = 1;
    REQUIRE(msim_scenarios_write(&out, &all, &in, NULL, dir, NULL) == MSIM_OK);
    path = file_of("bf16", "rank-0.et.json");
    if (CHECK_INT(msim_job_load(&job, &path, 1, &opt, NULL), MSIM_OK)) {
        const struct msim_trace *t = job->ranks[0];

        for (uint32_t i = 0; i < t->n_args; i++)
            narrow += t->args[i].kind == MSIM_ARG_TENSOR &&
                      t->args[i].dtype == MSIM_DT_BF16;
        CHECK(narrow > 0);
        msim_job_free(job);
    }
    msim_files_read_release(); /* it is no input of the next test */
    msim_scenarios_written_free(out, all.n);
    clean();
}

/* What is ours may be written again, another's of that name is in the
 * way. */
static void test_scenario_write__looks_first(void)
{
    const struct msim_predict_settings s = {.data = MSIM_DATA};
    struct msim_scenarios all = scenarios(&s);
    struct msim_scenario_written *out;
    struct msim_error err = {0};
    FILE *mine;

    CHECK_INT(msim_scenarios_write_look(&all, dir, &err), MSIM_OK);
    all.n = 1;
    REQUIRE(msim_scenarios_write(&out, &all, &in, NULL, dir, NULL) == MSIM_OK);
    msim_scenarios_written_free(out, all.n);
    CHECK_INT(msim_scenarios_write_look(&all, dir, &err), MSIM_OK);
    mine = fopen(file_of("bf16", "rank-0.et.json"), "w");
    REQUIRE(mine != NULL);
    fputs("{\"schema\": \"of somebody else\"}\n", mine);
    fclose(mine);
    CHECK_INT(msim_scenarios_write_look(&all, dir, &err), MSIM_EUSAGE);
    CHECK(*err.text);
    clean();
}

int main(void)
{
    const struct msim_predict_settings s = {.data = MSIM_DATA,
                                            .paths = GPT2,
                                            .n_paths = 1,
                                            .load = {.threads = 1},
                                            .platform = "a100",
                                            .peers = MSIM_PEERS_FIXED,
                                            .iteration = MSIM_ITERATION_ALL};

    snprintf(dir, sizeof(dir), "msim-test-XXXXXX");
    if (CHECK(mkdtemp(dir) != NULL) &&
        CHECK_INT(msim_predict_load(&in, &to, &s, NULL), MSIM_OK)) {
        RUN(test_scenario_write__writes_what_changes_traces);
        RUN(test_scenario_write__can_be_read);
        RUN(test_scenario_write__looks_first);
    }
    msim_target_release(&to);
    msim_inputs_release(&in);
    return check_summary();
}
