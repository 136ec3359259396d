/*
 * plan/whatif/job_write.c - scenarios of a described job, written.
 */
#include "plan/whatif/job_whatif.h"

#include "core/base/texts.h"
#include "plan/synth/synth.h"
#include "predict/write/scenario_write.h"

#include <stdlib.h>
#include <string.h>

/* What synth finds there it judges itself, since it has marks of its own. */
static const struct msim_folder_kinds NONE = {NULL, 0};

enum msim_status msim_job_write_look(const struct msim_job_whatif *w,
                                     const char *dir, struct msim_error *err)
{
    const char **names = calloc((size_t)w->n + 1, sizeof(*names));
    enum msim_status status;

    if (!names)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < w->n; i++)
        names[i] = w->rows[i].name;
    status = msim_scenario_folders_look(dir, names, w->n, &NONE, err);
    free(names);
    return status;
}

/* What the scenario is asked as: all that the base says and what is changed,
 * so that the folder is that job and no other. */
static uint64_t given_of(const struct msim_job_whatif *w,
                         const struct msim_job_scenario *row)
{
    uint64_t given = w->given;

    for (int g = 0; g < MSIM_GIVEN_COUNT; g++)
        if (msim_strategy_value(&row->strategy, (enum msim_given)g) !=
            msim_strategy_value(&w->base.strategy, (enum msim_given)g))
            given |= 1ULL << g;
    return given;
}

static bool is_scaled(const struct msim_job_factors *f)
{
    return f->kernels != 1 || f->communication != 1 || f->copies != 1 ||
           f->host != 1 || f->overlap >= 0 || f->graph;
}

static enum msim_status write_one(struct msim_scenario_written *out,
                                  const struct msim_job_whatif *w,
                                  const struct msim_job_scenario *row,
                                  const char *source, const char *dir,
                                  struct msim_error *err)
{
    const struct msim_job_model *change = &row->change.model;
    struct msim_described model;
    const struct msim_synth_options o = {.model = &model,
                                         .strategy = &row->strategy,
                                         .given = given_of(w, row),
                                         .source = source,
                                         .changes = change,
                                         .n_changes =
                                             !msim_job_model_is_same(change)};
    struct msim_synth_result made;
    struct msim_error own = {0};
    enum msim_status status;

    if (*row->reason) {
        msim_cut_text(out->why, sizeof(out->why), "it has no answer");
        return MSIM_OK;
    }
    if (!msim_job_model_make(&model, &w->model, change, out->why,
                             sizeof(out->why)))
        return MSIM_OK; /* it was predicted: cannot be */
    out->folder = msim_scenario_folder(dir, row->name);
    if (!out->folder)
        return MSIM_ENOMEM;
    status = msim_synth_write(out->folder, &o, &made, &own);
    if (status == MSIM_OK) {
        out->files = made.files;
        out->nodes = made.nodes;
        if (is_scaled(&row->change.factors))
            msim_cut_text(out->why, sizeof(out->why),
                          "its changes of durations are not");
        return MSIM_OK;
    }
    if (status != MSIM_EUSAGE || *own.file)
        return msim_fail(err, status, *own.file ? own.file : NULL, own.offset,
                         "%s", own.text);
    free(out->folder);
    out->folder = NULL;
    msim_cut_text(out->why, sizeof(out->why), own.text);
    return MSIM_OK;
}

enum msim_status msim_jobs_write(struct msim_scenario_written **out,
                                 const struct msim_job_whatif *w,
                                 const char *source, const char *dir,
                                 struct msim_error *err)
{
    struct msim_scenario_written *rows =
        calloc((size_t)w->n + 1, sizeof(*rows));
    enum msim_status status = rows ? msim_folder_make(dir, err) : MSIM_ENOMEM;

    *out = NULL;
    for (uint32_t i = 0; i < w->n && status == MSIM_OK; i++)
        status = write_one(&rows[i], w, &w->rows[i], source, dir, err);
    if (status == MSIM_OK)
        *out = rows;
    else
        msim_scenarios_written_free(rows, w->n);
    return status;
}
