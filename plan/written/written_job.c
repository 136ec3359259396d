/*
 * plan/written/written_job.c - reading what traces were written of, and what
 * measured jobs like it take.
 */
#include "plan/written/written_job.h"

#include "core/base/json.h"
#include "models/platform/platform.h"
#include "plan/memory/job_memory.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define USUAL_NODE 8 /* GPUs, where no GPU is named yet */

/* As on that GPU; false where model and strategy do not go together, and why.
 */
static bool complete(struct msim_strategy *s,
                     const struct msim_written_job *job, int64_t gpus_a_node,
                     char reason[256])
{
    char defaults[512];

    *s = job->strategy;
    return !msim_strategy_complete(s, job->given, &job->model, gpus_a_node,
                                   defaults, sizeof(defaults), reason, 256);
}

/* Measured peaks are of Adam. */
static bool knows_memory(const struct msim_strategy *s)
{
    return s->optimizer == MSIM_OPTIMIZER_ADAMW;
}

static enum msim_status ask(struct msim_measured_step *out, void *own,
                            const struct msim_platform *on,
                            struct msim_error *err)
{
    const struct msim_written_job *job = own;
    struct msim_strategy s;
    struct msim_pricer pricer = {.platform = on};
    struct msim_memory_gpu gpu = {.usable = msim_platform_usable_bytes(on),
                                  .link = msim_platform_link_rate(on)};
    struct msim_error why = {0};
    struct msim_step_estimate e;
    struct msim_job_memory m;
    struct msim_terms terms;
    char reason[256];
    enum msim_status status;

    *out = (struct msim_measured_step){0};
    if (!complete(&s, job, msim_platform_gpus_a_node(on), reason))
        return MSIM_OK;
    status = msim_terms_make(&terms, &pricer, &job->model, &s, &why);
    msim_pricer_release(&pricer);
    if (status != MSIM_OK) /* what no description has, its traces have not */
        return msim_fail(err, status == MSIM_ENOMODEL ? MSIM_EUSAGE : status,
                         NULL, MSIM_OFFSET_NONE, "%s", why.text);
    e = msim_step_predict(&terms, &job->fit);
    m = msim_job_memory_of(&job->model, &s, &job->memory, &gpu);
    *out = (struct msim_measured_step){.us = e.us,
                                       .low_us = e.low_us,
                                       .high_us = e.high_us,
                                       .peak = knows_memory(&s) ? m.at.most : 0,
                                       .low_peak = m.low,
                                       .high_peak = m.high};
    return MSIM_OK;
}

static enum msim_status read_job(struct msim_written_job *job,
                                 const cJSON *described, const char *path,
                                 const char *data_dir, struct msim_error *err)
{
    MSIM_TRY(msim_described_parse(
        &job->model, cJSON_GetObjectItemCaseSensitive(described, "model"), path,
        err));
    MSIM_TRY(msim_strategy_parse(
        &job->strategy, &job->given,
        cJSON_GetObjectItemCaseSensitive(described, "strategy"), path, err));
    if (job->model.type == MSIM_MODEL_DLRM)
        return MSIM_OK;
    MSIM_TRY(msim_memory_fit_read(&job->memory, data_dir, NULL, err));
    return msim_step_fit_read(&job->fit, data_dir, NULL, err);
}

/* Ranks of the job, and files that stand for them. */
static enum msim_status count_ranks(struct msim_written_job *job,
                                    const cJSON *json, const char *path,
                                    struct msim_error *err)
{
    double a_file = msim_json_get_number(json, "ranks_a_file", 0);
    struct msim_strategy whole;
    char reason[256];

    if (!complete(&whole, job, USUAL_NODE, reason))
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "described: %s", reason);
    job->source.ranks = (uint32_t)whole.gpus;
    if (job->given >> MSIM_GIVEN_nodes & 1)
        job->gpus_a_node = (uint32_t)whole.gpus_a_node;
    if (a_file >= 1)
        job->source.files = (uint32_t)((double)whole.gpus / a_file);
    return MSIM_OK;
}

enum msim_status msim_written_job_open(struct msim_written_job *job, bool *is,
                                       const char *path, const char *data_dir,
                                       struct msim_error *err)
{
    char file[PATH_MAX];
    struct stat info;
    const cJSON *described;
    enum msim_status status = MSIM_OK;
    cJSON *json;
    int n = snprintf(file, sizeof(file), "%s/synth.json", path);

    *is = false;
    memset(job, 0, sizeof(*job));
    if (n < 0 || n >= (int)sizeof(file) || stat(file, &info) != 0)
        return MSIM_OK;
    if (!S_ISREG(info.st_mode))
        return msim_fail(err, MSIM_EIO, file, MSIM_OFFSET_NONE,
                         "is no regular file, want what synth wrote");
    MSIM_TRY(msim_json_read(&json, file, err));
    job->source = (struct msim_step_source){.own = job, .ask = ask};
    described = cJSON_GetObjectItemCaseSensitive(json, "described");
    if (described)
        status = read_job(job, described, file, data_dir, err);
    *is = described && job->model.type != MSIM_MODEL_DLRM;
    if (status == MSIM_OK && *is)
        status = count_ranks(job, json, file, err);
    *is &= status == MSIM_OK;
    cJSON_Delete(json);
    if (!*is)
        msim_step_fit_release(&job->fit);
    return status;
}

void msim_written_job_release(struct msim_written_job *job)
{
    msim_step_fit_release(&job->fit);
}
