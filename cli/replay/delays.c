/*
 * cli/replay/delays.c - how long the collectives of a program take in the whole
 * job.
 */
#include "cli/replay/cli_replay_internal.h"

#include "core/work/rules/opmap_rule.h"
#include "models/estimate/model.h"

#include <stdlib.h>
#include <string.h>

#define PS_A_US 1e6

/* gloo's runs on the CPU: its label holds all of it. 0: not known. */
static msim_ps label_time(const struct msim_trace *t, uint32_t op)
{
    for (uint32_t i = op; t->has_times && i < t->ops[op].end; i++)
        if (!strncmp(msim_trace_text(t, t->ops[i].name), "gloo:", 5))
            return t->ops[i].dur;
    return 0;
}

/* Of all activities that carry out one call of it, the longest. */
static msim_ps call_time(const struct msim_trace *t, uint32_t op)
{
    msim_ps longest = label_time(t, op);

    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct msim_gpu *g = &t->gpu[i];
        uint32_t by = g->kind == MSIM_GPU_COMM && g->comm != MSIM_NONE
                          ? t->comms[g->comm].op
                          : MSIM_NONE;

        if (by != MSIM_NONE && by >= op && by < t->ops[op].end &&
            g->dur > longest)
            longest = g->dur;
    }
    return longest;
}

/* The mean of all calls of one node, in microseconds; 0: not known. */
static double measured_us(const struct msim_trace *timed, uint32_t node)
{
    double sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < timed->n_ops; i++)
        if (timed->ops[i].et_id == node) {
            sum += (double)call_time(timed, i) / PS_A_US;
            n++;
        }
    return n ? sum / n : 0;
}

static enum msim_status predicted_us(const struct msim_trace *t,
                                     const struct msim_statement *s,
                                     const struct msim_platform *platform,
                                     double *us, struct msim_error *err)
{
    struct msim_estimate e;
    struct msim_work w;

    if (s->comm == MSIM_NONE)
        return MSIM_OK; /* nothing is known of it */
    w = msim_comm_work(t, s->comm);
    MSIM_TRY(msim_model_predict(platform, &w, false, &e, err));
    *us = e.us;
    return MSIM_OK;
}

static enum msim_status fill(double *us, bool *known,
                             const struct msim_program *p,
                             const struct msim_trace *timed,
                             const struct msim_platform *platform,
                             struct msim_error *err)
{
    *known = true;
    for (uint32_t i = 0, n = 0; i < p->statements.n; i++) {
        const struct msim_statement *s = msim_program_statement(p, i);

        if (s->kind != MSIM_STATEMENT_COLLECTIVE)
            continue;
        if (platform)
            MSIM_TRY(predicted_us(p->trace, s, platform, &us[n], err));
        else
            us[n] = measured_us(timed, p->trace->ops[s->op].et_id);
        *known &= platform || us[n] > 0;
        n++;
    }
    return MSIM_OK;
}

enum msim_status msim_delays_find(double **out, const struct msim_program *p,
                                  const struct msim_trace *timed,
                                  const struct msim_platform *platform,
                                  struct msim_error *err)
{
    enum msim_status status;
    bool known;

    *out = NULL;
    if (p->n_collectives == 0)
        return MSIM_OK;
    *out = calloc(p->n_collectives, sizeof(**out));
    if (!*out)
        return MSIM_ENOMEM;
    status = fill(*out, &known, p, timed, platform, err);
    if (status != MSIM_OK || !known) {
        free(*out);
        *out = NULL;
    }
    return status;
}
