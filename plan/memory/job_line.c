/*
 * plan/memory/job_line.c - the memory of a described job within a step.
 */
#include "plan/memory/job_memory.h"

#include "plan/describe/strategy.h"

#include <math.h>

struct drawing {
    struct msim_job_line *out;
    const struct msim_memory *m;
    double at, unit;  /* now; what a forward pass takes */
    double in_flight; /* micro batches */
    double most;      /* of them */
    double backward;  /* a pass, in forward passes */
};

static void put(struct drawing *d, double loss, double temporary)
{
    if (d->out->n == MSIM_JOB_LINE_POINTS)
        return;
    d->out->points[d->out->n++] = (struct msim_job_line_point){
        .at = d->at,
        .activations = d->m->activations * d->in_flight / d->most,
        .loss = loss,
        .temporary = temporary};
}

static void forward(struct drawing *d)
{
    d->at += d->unit;
    d->in_flight += 1;
    put(d, 0, 0);
}

/* Logits are there where it begins. */
static void backward(struct drawing *d)
{
    if (d->m->loss > 0) {
        put(d, d->m->loss, 0);
        put(d, 0, 0);
    }
    d->at += d->backward * d->unit;
    d->in_flight -= 1;
    put(d, 0, 0);
}

void msim_job_line_find(struct msim_job_line *out, const struct msim_memory *m,
                        const struct msim_strategy *s, double passes,
                        double update)
{
    int64_t n = s->grad_accum < MSIM_JOB_LINE_BATCHES ? s->grad_accum
                                                      : MSIM_JOB_LINE_BATCHES;
    int64_t first = s->pp < n ? s->pp : n;
    struct drawing d = {.out = out,
                        .m = m,
                        .most = (double)first,
                        .backward =
                            msim_again_of(s) == MSIM_AGAIN_LAYERS ? 3 : 2};

    *out = (struct msim_job_line){.batches = n};
    out->held = m->peak - fmax(m->activations + m->loss, m->temporary);
    d.unit = passes / ((double)n * (1 + d.backward));
    put(&d, 0, 0);
    for (int64_t i = 0; i < first; i++)
        forward(&d);
    for (int64_t i = first; i < n; i++) {
        backward(&d);
        forward(&d);
    }
    for (int64_t i = 0; i < first; i++)
        backward(&d);
    d.at = fmax(1 - update, passes);
    put(&d, 0, 0);
    put(&d, 0, m->temporary);
    d.at = 1;
    put(&d, 0, m->temporary);
    put(&d, 0, 0);
}
