/*
 * predict/write/scenario_write.c - traces of scenarios as files.
 */
#include "predict/write/scenario_write.h"

#include "core/base/files.h"
#include "core/base/texts.h"
#include "core/rewrite/rewrite.h"
#include "core/write_et/write_et.h"
#include "predict/scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

#define GENERATOR "mystique-sim/whatif"

static const struct msim_folder_kind EACH[] = {
    {"rank-#.et.json", "\"generator\": \"" GENERATOR "\""},
    {"synth.json", "\"schema\": \"mystique-sim/synth/"},
};
static const struct msim_folder_kinds KINDS = {EACH,
                                               sizeof(EACH) / sizeof(EACH[0])};

enum msim_status msim_scenarios_write_look(const struct msim_scenarios *s,
                                           const char *dir,
                                           struct msim_error *err)
{
    const char **names = calloc((size_t)s->n + 1, sizeof(*names));
    enum msim_status status;

    if (!names)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < s->n; i++)
        names[i] = s->rows[i].name;
    status = msim_scenario_folders_look(dir, names, s->n, &KINDS, err);
    free(names);
    return status;
}

/* ---- traces as they are written ------------------------------------------ */

/* A capture of a CPU is written as it was captured, which PyTorch can replay.
 * Where a GPU runs other operators the changes were made on those, as they were
 * where the capture itself cannot be changed so (`predicted`). */
static struct msim_trace *as_written(const struct msim_inputs *in, uint32_t i,
                                     bool predicted)
{
    struct msim_trace *captured = in->captured ? in->captured[i] : NULL;

    return captured && !predicted && !msim_gpu_form_is_other(captured)
               ? captured
               : in->job->ranks[i];
}

/* A job of execution traces alone: of a rank that has both formats the one that
 * was linked, which has all nodes. */
struct recorded {
    struct msim_inputs in;
    struct msim_job job;
};

static enum msim_status
open_recorded(struct recorded *r, const struct msim_inputs *in, bool predicted)
{
    *r = (struct recorded){.in = *in, .job = *in->job};
    r->in.job = &r->job;
    r->job.ranks = calloc((size_t)in->job->n_ranks + 1, sizeof(*r->job.ranks));
    if (!r->job.ranks)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < in->job->n_ranks; i++) {
        struct msim_trace *t = as_written(in, i, predicted);

        r->job.ranks[i] = t->et ? t->et : t;
    }
    return MSIM_OK;
}

/* ---- one scenario ---------------------------------------------------------
 */

struct placed {
    struct msim_folder folder;
    struct msim_scenario_written *row;
    const struct msim_scenario_describer *with;
    struct msim_step_change by;
};

static enum msim_status write_rank(struct placed *p, const struct msim_trace *t,
                                   uint32_t index, struct msim_error *err)
{
    long long number = t->rank >= 0 ? (long long)t->rank : (long long)index;
    struct msim_file *file;
    enum msim_status status;
    uint64_t nodes = 0;
    char name[64];

    snprintf(name, sizeof(name), "rank-%lld.et.json", number);
    MSIM_TRY(msim_folder_file(&file, &p->folder, name, err));
    status =
        msim_write_et(t, number, GENERATOR, msim_file_write, file, &nodes, err);
    p->row->nodes += nodes;
    p->row->files++;
    return msim_file_close(file, status, err);
}

static enum msim_status write_ranks(struct placed *p,
                                    struct msim_trace *const *ranks, uint32_t n,
                                    struct msim_error *err)
{
    enum msim_status status;

    for (uint32_t i = 0; i < n; i++)
        MSIM_TRY(msim_write_et_check(ranks[i], err));
    status = msim_folder_begin(&p->folder, p->row->folder, &KINDS, err);
    for (uint32_t i = 0; i < n && status == MSIM_OK; i++)
        status = write_rank(p, ranks[i], i, err);
    if (status == MSIM_OK && p->with)
        status = p->with->write(p->with->own, &p->folder, &p->by, n, err);
    return msim_folder_end(&p->folder, status, err);
}

/* As the scenario was predicted: other sizes, then another way to train. */
static enum msim_status write_changed(
    struct msim_scenario_written *row, const struct msim_predict_settings *s,
    const struct msim_inputs *in, const struct msim_scenario_describer *with,
    struct msim_error *err)
{
    struct placed p = {
        .row = row,
        .with = with,
        .by = {in->job->ranks, in->job->strings, &s->reshape, &s->rewrite}};
    struct msim_scenario_inputs x = {0};
    struct msim_asked asked = {0};
    enum msim_status status;

    if (msim_rewrite_is_none(&s->rewrite)) {
        status = msim_asked_views(&asked, in, &s->reshape, err);
        if (status == MSIM_OK)
            status =
                write_ranks(&p, msim_asked_ranks(&asked, in), asked.n, err);
        msim_asked_release(&asked);
        return status;
    }
    status = msim_scenario_inputs_new(&x, in, s, err);
    if (status == MSIM_OK)
        status = write_ranks(&p, x.job.ranks, x.job.n_ranks, err);
    msim_scenario_inputs_release(&x);
    return status;
}

/* Why nothing of it can be written; NULL: something can. */
static const char *unwritten(const struct msim_scenario_row *row)
{
    return *row->reason ? "it has no answer"
           : msim_reshape_is_none(&row->settings.reshape) &&
                   msim_rewrite_is_none(&row->settings.rewrite)
               ? "it changes durations, the graph or the machine, and not the "
                 "trace"
               : NULL;
}

/* What a trace alone cannot say is the scenario's reason, no failure. */
static enum msim_status write_one(struct msim_scenario_written *out,
                                  const struct msim_scenario_row *row,
                                  const struct recorded r[2],
                                  const struct msim_scenario_describer *with,
                                  const char *dir, struct msim_error *err)
{
    const char *why = unwritten(row);
    struct msim_error own = {0};
    enum msim_status status;

    if (why) {
        msim_cut_text(out->why, sizeof(out->why), why);
        return MSIM_OK;
    }
    if (row->n_edits || row->settings.n_scales)
        msim_cut_text(out->why, sizeof(out->why),
                      "its changes of durations and of the graph are not");
    out->folder = msim_scenario_folder(dir, row->name);
    if (!out->folder)
        return MSIM_ENOMEM;
    status = write_changed(out, &row->settings, &r[0].in, with, &own);
    if (status == MSIM_EUSAGE && !*own.file) {
        own = (struct msim_error){0};
        status = write_changed(out, &row->settings, &r[1].in, with, &own);
    }
    if (status == MSIM_OK)
        return MSIM_OK;
    if (status != MSIM_EUSAGE || *own.file)
        return msim_fail(err, status, *own.file ? own.file : NULL, own.offset,
                         "%s", own.text);
    free(out->folder);
    *out = (struct msim_scenario_written){.folder = NULL};
    msim_cut_text(out->why, sizeof(out->why), own.text);
    return MSIM_OK;
}

enum msim_status msim_scenarios_write(
    struct msim_scenario_written **out, const struct msim_scenarios *s,
    const struct msim_inputs *in, const struct msim_scenario_describer *with,
    const char *dir, struct msim_error *err)
{
    struct msim_scenario_written *rows =
        calloc((size_t)s->n + 1, sizeof(*rows));
    struct recorded r[2] = {{.job = {.ranks = NULL}}, {.job = {.ranks = NULL}}};
    enum msim_status status = rows ? MSIM_OK : MSIM_ENOMEM;

    *out = NULL;
    for (int i = 0; i < 2 && status == MSIM_OK; i++)
        status = open_recorded(&r[i], in, i == 1);
    if (status == MSIM_OK)
        status = msim_folder_make(dir, err);
    for (uint32_t i = 0; i < s->n && status == MSIM_OK; i++)
        status = write_one(&rows[i], &s->rows[i], r, with, dir, err);
    free(r[0].job.ranks);
    free(r[1].job.ranks);
    if (status == MSIM_OK)
        *out = rows;
    else
        msim_scenarios_written_free(rows, s->n);
    return status;
}

void msim_scenarios_written_free(struct msim_scenario_written *rows, uint32_t n)
{
    for (uint32_t i = 0; rows && i < n; i++)
        free(rows[i].folder);
    free(rows);
}
