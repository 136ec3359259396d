/*
 * plan/written/written_job.c - reading what traces were written of, and what
 * measured jobs like it take.
 */
#include "plan/written/written_job.h"

#include "core/json/fields.h"
#include "models/platform/platform.h"
#include "plan/memory/job_memory.h"
#include "plan/synth/synth.h"
#include "predict/inputs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* As on that GPU; false where model and strategy do not go together, and why.
 */
static bool complete(struct msim_strategy *s, uint64_t given,
                     const struct msim_described *model, int64_t gpus_a_node,
                     char reason[256])
{
    char defaults[512];

    return !msim_strategy_complete(s, given, model, gpus_a_node, defaults,
                                   sizeof(defaults), reason, 256);
}

/* Measured peaks are of Adam. */
static bool knows_memory(const struct msim_strategy *s)
{
    return s->optimizer == MSIM_OPTIMIZER_ADAMW;
}

/* What measured jobs like `c` take and hold. */
static enum msim_status price(struct msim_measured_step *out,
                              const struct msim_written_job *job,
                              const struct msim_written_is *c,
                              const struct msim_platform *on,
                              struct msim_error *err)
{
    struct msim_strategy s = c->strategy;
    struct msim_pricer pricer = {.platform = on};
    struct msim_memory_gpu gpu = {.usable = msim_platform_usable_bytes(on),
                                  .link = msim_platform_link_rate(on)};
    struct msim_error why = {0};
    struct msim_step_estimate e;
    struct msim_job_memory m;
    struct msim_terms terms;
    char reason[256];
    enum msim_status status;

    if (!complete(&s, c->given, &c->model, msim_platform_gpus_a_node(on),
                  reason))
        return MSIM_OK;
    status = msim_terms_make(&terms, &pricer, &c->model, &s, &why);
    msim_pricer_release(&pricer);
    if (status != MSIM_OK) /* what no description has, its traces have not */
        return msim_fail(err, status == MSIM_ENOMODEL ? MSIM_EUSAGE : status,
                         NULL, MSIM_OFFSET_NONE, "%s", why.text);
    e = msim_step_predict(&terms, &job->fit);
    m = msim_job_memory_of(&c->model, &s, &job->memory, &gpu);
    *out = (struct msim_measured_step){.us = e.us,
                                       .low_us = e.low_us,
                                       .high_us = e.high_us,
                                       .peak = knows_memory(&s) ? m.at.most : 0,
                                       .low_peak = m.low,
                                       .high_peak = m.high};
    return MSIM_OK;
}

static enum msim_status ask(struct msim_measured_step *out, void *own,
                            const struct msim_step_change *change,
                            const struct msim_platform *on,
                            struct msim_error *err)
{
    const struct msim_written_job *job = own;
    struct msim_written_is changed;
    struct msim_job_model sizes;
    bool is = true;

    *out = (struct msim_measured_step){0};
    if (!change)
        return price(out, job, &job->is, on, err);
    MSIM_TRY(
        msim_written_change_make(&changed, &sizes, &is, &job->is, change, err));
    return is ? price(out, job, &changed, on, err) : MSIM_OK;
}

/* The model is the one of its file, changed so, one after the other. */
static enum msim_status read_changes(struct msim_written_job *job,
                                     const cJSON *described, const char *path,
                                     struct msim_error *err)
{
    static const char *const KEYS[] = {
#define X(name) #name,
        MSIM_JOB_SIZE_MAP(X)
#undef X
            "layers",
        NULL};
    struct msim_fields f = msim_fields_of(described, path, err);
    const cJSON *list = msim_field_array(&f, "changes"), *item;

    cJSON_ArrayForEach(item, list)
    {
        struct msim_job_model *c = &job->changes[job->n_changes];
        const struct msim_described from = job->is.model;
        struct msim_fields in;
        char why[256];

        if (job->n_changes == MSIM_WRITTEN_CHANGES) {
            msim_field_refuse(&f, "changes", "at most 16 changes");
            break;
        }
        in = msim_fields_open_item(&f, "changes", job->n_changes, item);
        msim_fields_only(&in, KEYS);
        for (int i = 0; KEYS[i]; i++)
            if (msim_field_json(&in, KEYS[i]))
                msim_job_model_read(c, &in, KEYS[i]);
        if (in.status == MSIM_OK &&
            !msim_job_model_make(&job->is.model, &from, c, why, sizeof(why)))
            in.status =
                msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                          "described.changes[%u]: %s", job->n_changes, why);
        msim_fields_close(&f, &in);
        job->n_changes++;
    }
    return f.status;
}

static enum msim_status read_job(struct msim_written_job *job,
                                 const cJSON *described, const char *path,
                                 const char *data_dir, struct msim_error *err)
{
    const cJSON *model = cJSON_GetObjectItemCaseSensitive(described, "model");

    MSIM_TRY(msim_described_parse(&job->is.model, model, path, err));
    MSIM_TRY(msim_strategy_parse(
        &job->is.strategy, &job->is.given,
        cJSON_GetObjectItemCaseSensitive(described, "strategy"), path, err));
    if (job->is.model.type == MSIM_MODEL_DLRM)
        return MSIM_OK;
    MSIM_TRY(read_changes(job, described, path, err));
    job->file = cJSON_PrintUnformatted(model);
    if (!job->file)
        return MSIM_ENOMEM;
    return msim_steps_read(&job->fit, &job->memory, data_dir, NULL, err);
}

/* Ranks of the job, and files that stand for them. */
static enum msim_status count_ranks(struct msim_written_job *job,
                                    const cJSON *json, const char *path,
                                    struct msim_error *err)
{
    double a_file = msim_json_get_number(json, "ranks_a_file", 0);
    struct msim_strategy whole = job->is.strategy;
    char reason[256];

    if (!complete(&whole, job->is.given, &job->is.model, MSIM_WRITTEN_NODE,
                  reason))
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "described: %s", reason);
    job->source.ranks = (uint32_t)whole.gpus;
    if (job->is.given >> MSIM_GIVEN_nodes & 1)
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
    *is = described && job->is.model.type != MSIM_MODEL_DLRM;
    if (status == MSIM_OK && *is)
        status = count_ranks(job, json, file, err);
    *is &= status == MSIM_OK;
    cJSON_Delete(json);
    if (!*is)
        msim_written_job_release(job);
    return status;
}

void msim_written_job_release(struct msim_written_job *job)
{
    msim_step_fit_release(&job->fit);
    free(job->file);
    job->file = NULL;
}

enum msim_status msim_written_job_let_know(struct msim_written_job *job,
                                           struct msim_predict_settings *s,
                                           const char *data_dir,
                                           struct msim_error *err)
{
    bool is;

    memset(job, 0, sizeof(*job));
    if (s->n_paths != 1)
        return MSIM_OK;
    MSIM_TRY(msim_written_job_open(job, &is, s->paths[0], data_dir, err));
    if (is) {
        s->described = &job->source;
        s->gpus_a_node = job->gpus_a_node;
        s->load.stand_for_all = true;
    }
    return MSIM_OK;
}

/* ---- the job of changed traces ------------------------------------------- */

enum msim_status msim_written_job_write(const struct msim_written_job *job,
                                        struct msim_folder *folder,
                                        const struct msim_step_change *by,
                                        uint32_t files, struct msim_error *err)
{
    struct msim_job_model changes[MSIM_WRITTEN_CHANGES + 1];
    struct msim_written_is now;
    struct msim_synth_options o = {.model = &now.model,
                                   .strategy = &now.strategy,
                                   .source = job->file,
                                   .changes = changes,
                                   .n_changes = job->n_changes};
    char reason[256];
    bool is;

    memcpy(changes, job->changes, sizeof(job->changes));
    MSIM_TRY(msim_written_change_make(&now, &changes[job->n_changes], &is,
                                      &job->is, by, err));
    o.given = now.given;
    o.n_changes += !msim_job_model_is_same(&changes[job->n_changes]);
    if (!is || o.n_changes > MSIM_WRITTEN_CHANGES ||
        !complete(&now.strategy, now.given, &now.model, MSIM_WRITTEN_NODE,
                  reason))
        return MSIM_OK;
    return msim_synth_manifest(folder, &o, now.strategy.gpus / files, err);
}
