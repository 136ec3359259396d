/*
 * cli/replay/delays.c - how long the collectives of a program take in the whole
 * job.
 */
#include "cli/replay/delays.h"

#include "core/work/rules/opmap_comm.h"
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

/* Of all activities that carry it out, the longest. */
static msim_ps measured_time(const struct msim_trace *t,
                             const struct msim_statement *s)
{
    msim_ps longest = label_time(t, s->op);

    for (uint32_t i = 0; s->comm != MSIM_NONE && i < t->n_gpu; i++)
        if (t->gpu[i].kind == MSIM_GPU_COMM && t->gpu[i].comm == s->comm &&
            t->gpu[i].dur > longest)
            longest = t->gpu[i].dur;
    return longest;
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
            us[n] = (double)measured_time(p->trace, s) / PS_A_US;
        *known &= platform || us[n] > 0;
        n++;
    }
    return MSIM_OK;
}

enum msim_status msim_delays_find(double **out, const struct msim_program *p,
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
    status = fill(*out, &known, p, platform, err);
    if (status != MSIM_OK || !known) {
        free(*out);
        *out = NULL;
    }
    return status;
}
