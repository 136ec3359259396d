/*
 * predict/scenario/scenario_rank.c - what a tenth less of each part of a job
 * would bring, most first.
 */
#include "core/report/write/report_format.h"
#include "predict/scenario/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT      320
#define NAME      200 /* of an operator, that is selected by: a glob is short */
#define SHOWN     23  /* that fits into the column of a report */
#define MOST_OPS  20  /* operators with the most time on the GPU */
#define MOST_HOST 10  /* and on the host */

static const char *const KINDS[] = {"kernels", "communication", "copies",
                                    "host"};
#define N_KINDS (sizeof(KINDS) / sizeof(KINDS[0]))

/* Is the last row's selection one of those before? */
static bool is_there(const struct msim_scenarios *s, const char *text)
{
    for (uint32_t i = 0; i + 1 < s->n; i++)
        if (!strcmp(s->rows[i].scales->text, text))
            return true;
    return false;
}

/* A scenario in which what `select` and `name` say takes a tenth less. */
static enum msim_status add(struct msim_scenarios *s, const char *select,
                            const char *name, struct msim_error *err)
{
    struct msim_scenario_row *row = &s->rows[s->n];
    char *text = msim_arena_alloc(&s->arena, TEXT), *shown;

    row->settings = s->base.settings;
    row->scales = calloc(1, sizeof(*row->scales));
    if (!text || !row->scales)
        return MSIM_ENOMEM;
    s->n++;
    snprintf(text, TEXT, "%s%.*s%s=0.9", select, NAME, name,
             strlen(name) > NAME ? "*" : "");
    row->settings.scales = row->scales;
    row->settings.n_scales = 1;
    MSIM_TRY(msim_scale_parse(row->scales, text, err));
    if (is_there(s, text)) { /* two long names that begin alike */
        free(row->scales);
        s->n--;
        return MSIM_OK;
    }
    shown = msim_arena_alloc(&s->arena, TEXT);
    if (!shown)
        return MSIM_ENOMEM;
    snprintf(shown, TEXT, "%s", select);
    msim_format_op(shown + strlen(shown), TEXT - strlen(shown), name, SHOWN);
    row->name = shown;
    return MSIM_OK;
}

/* Names of operators that have the most time, by the whole analysis. */
static enum msim_status add_operators(struct msim_scenarios *s,
                                      const struct msim_prediction *p,
                                      struct msim_error *err)
{
    uint32_t host = 0;

    for (uint32_t i = 0; i < p->n_ops && i < MOST_OPS; i++)
        if (p->ops[i].us.predicted > 0)
            MSIM_TRY(add(s, "op:", p->ops[i].name, err));
    for (uint32_t i = 0; i < p->n_host_ops && host < MOST_HOST; i++)
        if (strcmp(p->host_ops[i].kind, "host") == 0) {
            MSIM_TRY(add(s, "host:", p->host_ops[i].name, err));
            host++;
        }
    return MSIM_OK;
}

/* Most is brought by the smallest ratio; what has no answer comes last. */
static int by_ratio(const void *a, const void *b)
{
    const struct msim_scenario_row *x = a, *y = b;

    if ((*x->reason != 0) != (*y->reason != 0))
        return *x->reason ? 1 : -1;
    if (*x->reason)
        return strcmp(x->name, y->name);
    if (x->ratio.predicted < y->ratio.predicted)
        return -1;
    return x->ratio.predicted > y->ratio.predicted ? 1
                                                   : strcmp(x->name, y->name);
}

/* Kinds of work that the job does not have change nothing to the last
 * picosecond; a list of them helps nobody. */
static void drop_without_effect(struct msim_scenarios *s)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        struct msim_scenario_row *row = &s->rows[i];

        if (!*row->reason && row->period.predicted < s->base.period.predicted)
            s->rows[kept++] = *row;
        else
            free(row->scales);
    }
    s->n = kept;
}

enum msim_status
msim_scenarios_rank(struct msim_scenarios *out,
                    const struct msim_predict_settings *settings,
                    const struct msim_inputs *in, const struct msim_target *to,
                    struct msim_error *err)
{
    struct msim_prediction_run run = {0};
    enum msim_status status;

    *out = (struct msim_scenarios){
        .base = {.name = "base", .settings = *settings}};
    out->base.settings.totals_only = true;
    msim_arena_init(&out->arena);
    out->rows = calloc(N_KINDS + MOST_OPS + MOST_HOST, sizeof(*out->rows));
    if (!out->rows)
        return MSIM_ENOMEM;
    status = msim_predict(&run, settings, in, to, err);
    for (size_t i = 0; i < N_KINDS && status == MSIM_OK; i++)
        status = add(out, KINDS[i], "", err);
    if (status == MSIM_OK)
        status = add_operators(out, run.prediction, err);
    msim_prediction_run_release(&run);
    if (status == MSIM_OK)
        status = msim_scenarios_run(out, in, to, err);
    if (status != MSIM_OK)
        return status;
    drop_without_effect(out);
    qsort(out->rows, out->n, sizeof(*out->rows), by_ratio);
    return MSIM_OK;
}
