/*
 * cli/plan/cmd_plan.c - `plan`: which GPUs, how many, split how, at what cost.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/plan/cli_plan_internal.h"
#include "cli/plan/option_values.h"
#include "core/base/files.h"
#include "core/base/print.h"
#include "core/base/texts.h"
#include "core/stream/input.h"
#include "plan/describe/describe.h"
#include "plan/outcome/plan_report.h"
#include "plan/search/plan.h"
#include "plan/simulate/job_graph.h"
#include "plan/traced/traced_points.h"
#include "serving/plan/serving_choice.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct settings {
    const char *folder;
    uint32_t threads;
    bool json, law_only;
    cJSON *set; /* what --set says of the spec, in its order; NULL: nothing */
};

/* It is said of the spec once that is read. */
static enum msim_status parse_set(void *settings, const char *value,
                                  struct msim_error *err)
{
    struct settings *s = settings;

    (void)err;
    if (!s->set)
        s->set = cJSON_CreateArray();
    return cJSON_AddItemToArray(s->set, cJSON_CreateStringReference(value))
               ? MSIM_OK
               : MSIM_ENOMEM;
}

/* The spec's platforms by the word that other verbs have for them. */
static enum msim_status parse_platform(void *settings, const char *value,
                                       struct msim_error *err)
{
    struct settings *s = settings;
    char *text = NULL;
    cJSON *item;

    (void)err;
    if (!s->set)
        s->set = cJSON_CreateArray();
    if (asprintf(&text, "platforms=%s", value) < 0)
        return MSIM_ENOMEM;
    item = cJSON_CreateString(text);
    free(text);
    return cJSON_AddItemToArray(s->set, item) ? MSIM_OK : MSIM_ENOMEM;
}

static const struct msim_option OPTIONS[] = {
    {.name = "platform",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_platform,
     .metavar = "NAME|FILE[,...]",
     .help = "the spec's platforms: --set platforms=NAME"},
    {.name = "set",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_set,
     .metavar = "MEMBER=VALUE",
     .help = "a member of the spec, also instead of the file's: gpus=256,512, "
             "platforms=h100,b200, limits.days=30. May be given repeatedly"},
    MSIM_OPTION(
        struct settings, folder, TEXT, "o", .metavar = "DIR",
        .help = "write report.html, report.pdf (with WeasyPrint), points.csv, "
                "frontier.csv and plan.json there"),
    MSIM_OPTION(struct settings, json, FLAG, "json",
                .help =
                    "print JSON (schema mystique-sim/plan/1) instead of text"),
    MSIM_OPTION(
        struct settings, law_only, FLAG, "law-only",
        .help =
            "do not simulate what is recommended and those next to it, of a "
            "described model"),
    MSIM_OPTION_THREADS_ROW(struct settings, threads),
};

static const char *const EXAMPLES[] = {
    "mystique-sim plan spec.json -o plan",
    "mystique-sim plan llama3-8b --platform h100,b200 --set gpus=64 "
    "--set global_batch=512 --set tokens=1e12",
    "mpirun -n 4 mystique-sim plan spec.json -o plan",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "plan",
    .operands = "[SPEC.json|MODEL|TRACES]",
    .summary =
        "Predict every way to train a described model, or to run a traced "
        "step, on the\nGPUs of a spec: time, cost, memory; the frontier of "
        "time and cost, and a\nrecommendation (docs/plan.md). With "
        "\"workload\": \"serving\": how many GPUs keep\nlatency promises at a "
        "rate of requests (docs/serving.md). Of "
        "its\nplatforms " MSIM_PLATFORM_STACK_HELP ".",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .max_operands = 1,
};

/* ---- the verb ------------------------------------------------------------ */

static enum msim_status report(const struct msim_plan *plan,
                               const struct msim_spec *spec,
                               const struct settings *s, struct msim_error *err)
{
    if (s->folder)
        MSIM_TRY(msim_plan_folder_write(plan, spec, s->folder, err));
    if (s->json)
        return msim_plan_json(plan, spec, stdout);
    msim_plan_text(plan, spec, stdout);
    if (s->folder)
        msim_print(stdout,
                   "\nwritten: %s/report.html, points.csv, frontier.csv, "
                   "plan.json\n",
                   s->folder);
    return MSIM_OK;
}

/* ---- several processes ----------------------------------------------------
 */

/* A number that the launcher of parallel programs sets; `otherwise` without
 * one. */
static uint32_t launched(const char *open_mpi, const char *mpich,
                         uint32_t otherwise)
{
    const char *text = getenv(open_mpi);
    int64_t v;

    if (!text)
        text = getenv(mpich);
    return text && msim_decimal_int(text, strlen(text), &v) && v >= 0 &&
                   v < UINT32_MAX
               ? (uint32_t)v
               : otherwise;
}

/* With a folder points are kept in it until all are there. */
static enum msim_status open_share(struct msim_plan_share *share,
                                   const struct settings *s, char *folder,
                                   size_t size, struct msim_error *err)
{
    share->processes = launched("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", 1);
    share->process = launched("OMPI_COMM_WORLD_RANK", "PMI_RANK", 0);
    if (!s->folder && share->processes > 1)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "%u processes share a plan through its folder, want "
                         "'-o DIR', which all of them see",
                         share->processes);
    if (!s->folder)
        return MSIM_OK;
    MSIM_TRY(msim_plan_folder_look(s->folder, err));
    MSIM_TRY(msim_folder_make(s->folder, err));
    snprintf(folder, size, "%.1024s/parts", s->folder);
    share->folder = folder;
    return msim_plan_parts_begin(share, err);
}

static enum msim_status
search(struct msim_plan *plan, const struct msim_spec *spec, const char *data,
       const struct settings *s, const struct msim_plan_share *share,
       struct msim_traced_points *traced, struct msim_error *err)
{
    struct msim_plan_predictor predictor = msim_traced_predictor(traced);
    struct msim_progress progress;
    enum msim_status status;

    msim_progress_start(&progress, "predicting");
    status = msim_plan_search(plan, spec, data,
                              &(struct msim_plan_options){
                                  .threads = s->threads,
                                  .predictor = spec->traced ? &predictor : NULL,
                                  .traced = &traced->about,
                                  .share = share,
                                  .progress = msim_progress_parts,
                                  .ctx = &progress},
                              err);
    msim_progress_end(&progress);
    if (status != MSIM_OK || s->law_only || (share && share->process > 0))
        return status;
    return msim_plan_simulate(plan, spec, data, s->threads, err);
}

static enum msim_status make_plan(const cJSON *json, const char *file,
                                  const char *data, const struct settings *s,
                                  struct msim_error *err)
{
    struct msim_plan_share share = {0};
    struct msim_traced_points traced = {0};
    struct msim_plan plan = {0};
    struct msim_spec spec;
    char folder[1200];
    enum msim_status status = msim_spec_of_json(&spec, json, file, data, err);

    if (status == MSIM_OK && spec.traced)
        status = msim_traced_points_open(&traced, &spec, data, err);
    if (status == MSIM_OK)
        status = open_share(&share, s, folder, sizeof(folder), err);
    if (status == MSIM_OK)
        status = search(&plan, &spec, data, s, share.folder ? &share : NULL,
                        &traced, err);
    if (status == MSIM_OK && share.process == 0)
        status = report(&plan, &spec, s, err);
    if (status == MSIM_OK && share.process == 0 && plan.best == UINT32_MAX)
        status = msim_fail(err, MSIM_ECHECK, file, MSIM_OFFSET_NONE,
                           "check failed: nothing is recommended, %s",
                           msim_plan_none_word(&plan));
    msim_plan_release(&plan);
    return status;
}

#define OPTIONS_ALONE "--set" /* stands for a file in messages */

/* What an operand is that is no spec: a member of one that says no more. NULL:
 * it is a spec's file. */
static const char *member_of(const char *operand)
{
    struct stat of;

    if (stat(operand, &of) == 0)
        return S_ISDIR(of.st_mode) ? "trace" : NULL;
    return msim_described_may_be_name(operand) ? "model" : NULL;
}

/* What a file holds that is no spec, likewise. A spec may have "nodes", too,
 * which are numbers. */
static const char *member_held(const cJSON *json)
{
    const cJSON *nodes = cJSON_GetObjectItemCaseSensitive(json, "nodes");

    return (cJSON_IsArray(nodes) && cJSON_IsObject(nodes->child)) ||
                   cJSON_HasObjectItem(json, "traceEvents")
               ? "trace"
           : msim_described_looks(json) ? "model"
                                        : NULL;
}

/* A spec, or what the file holds instead: what is packed, or longer than any
 * spec, is a trace. */
static enum msim_status read_file(cJSON **json, const char **member,
                                  const char *operand, struct msim_error *err)
{
    enum msim_status status = msim_json_read(json, operand, err);

    if (status == MSIM_ELIMIT ||
        (status == MSIM_ESYNTAX && msim_path_is_packed(operand))) {
        *err = (struct msim_error){0};
        *member = "trace";
        return MSIM_OK;
    }
    if (status == MSIM_OK)
        *member = member_held(*json);
    return status;
}

/* The spec that `--set` says of a model or trace. */
static enum msim_status spec_of(cJSON **json, const char *member,
                                const char *operand)
{
    cJSON_Delete(*json);
    *json = cJSON_CreateObject();
    return *json && (!member || cJSON_AddStringToObject(*json, member, operand))
               ? MSIM_OK
               : MSIM_ENOMEM;
}

/* The spec is read once: it may come from a pipe. `*file` is what messages
 * name.
 * `*json` is the caller's in any case. */
static enum msim_status read_spec(cJSON **json, const char **file,
                                  const char *operand, const struct settings *s,
                                  struct msim_error *err)
{
    const char *member = operand ? member_of(operand) : NULL;
    const cJSON *set;

    if (operand && !member)
        MSIM_TRY(read_file(json, &member, operand, err));
    *file = operand && !member ? operand : OPTIONS_ALONE;
    if (!*json || member)
        MSIM_TRY(spec_of(json, member, operand));
    cJSON_ArrayForEach(set, s->set)
        MSIM_TRY(msim_set_option(*json, set->valuestring, err));
    return MSIM_OK;
}

static enum msim_status plan(const char *operand, const struct settings *s,
                             struct msim_error *err)
{
    const struct msim_plan_serving_how how = {s->folder, s->threads, s->json};
    const char *file = OPTIONS_ALONE;
    struct msim_described model;
    char data[1024];
    cJSON *json = NULL;
    enum msim_status status;

    if (!operand && !s->set)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "want a spec, a model, traces, or '--set'");
    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    if (operand && msim_described_may_be_name(operand) &&
        access(operand, F_OK) != 0) /* before all that it lacks */
        MSIM_TRY(msim_described_find(&model, operand, data, NULL, err));
    status = read_spec(&json, &file, operand, s, err);
    if (status == MSIM_OK && msim_serving_spec_is(json))
        return msim_plan_serving(json, file, data, &how, err);
    if (status == MSIM_OK)
        status = make_plan(json, file, data, s, err);
    cJSON_Delete(json);
    return status;
}

int msim_cmd_plan(int argc, char **argv)
{
    struct settings s = {.threads = 2};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    status = plan(files.n ? files.items[0] : NULL, &s, &err);
    cJSON_Delete(s.set);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}
