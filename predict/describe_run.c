/*
 * predict/describe_run.c - the texts that a prediction has from its settings.
 */
#include "predict/pipeline.h"

#include "models/estimate/model.h"

#include <math.h>

struct describing {
    struct msim_prediction *out;
    const struct msim_predict_settings *s;
    const struct msim_inputs *in;
    const struct msim_target *to;
    bool planned;
};

/* Whose times host tasks have, and how far they may be off. */
static void note_host(const struct describing *d)
{
    struct msim_prediction *out = d->out;
    const struct msim_host *host = d->to->host;

    if (!d->s->host && d->to->costs == MSIM_COSTS_MEASURED)
        return;
    if (!d->s->host && msim_all_have_times(d->in->job) && !d->planned) {
        out->host = MSIM_HOST_TRACED;
        msim_host_repeat(host, &out->host_low, &out->host_high);
    } else {
        out->host = msim_host_name(host);
        msim_host_spread(host, &out->host_low, &out->host_high);
        out->host_speed = msim_host_speed(host);
    }
}

/* The clock that was asked for, into the report. */
static void note_clock(const struct msim_target *to, struct msim_prediction *p)
{
    const struct msim_sm_clock *c =
        to->platform ? msim_platform_clock(to->platform) : NULL;
    char *text;

    if (!c || !(c->ratio > 0))
        return;
    text = msim_arena_alloc(&p->arena, MSIM_CLOCK_TEXT);
    if (!text)
        return;
    msim_clock_text(c, text, MSIM_CLOCK_TEXT);
    p->clock = (struct msim_clock_note){
        .text = text,
        .ratio = c->ratio,
        .hz = c->usual_hz > 0 ? c->ratio * c->usual_hz : (double)NAN,
        .usual_hz = c->usual_hz > 0 ? c->usual_hz : (double)NAN,
        .power_cap_watts = c->watts > 0 ? c->watts : (double)NAN,
        .interval_factor = exp(msim_clock_half_width(c, 1 / c->ratio)),
    };
}

#define LINKS_TEXT 160

static const char *links(const struct describing *d, uint32_t ranks,
                         uint32_t nodes)
{
    char *text = msim_arena_alloc(&d->out->arena, LINKS_TEXT);

    if (text)
        msim_collective_links(d->to->platform, ranks, nodes, text, LINKS_TEXT);
    return text;
}

/* What the times of collectives rest on, where they are not the trace's. */
static void note_links(const struct describing *d)
{
    struct msim_prediction *out = d->out;
    uint32_t gpus = d->to->gpus_a_node, ranks = d->s->ranks;

    if (!d->to->platform || msim_target_replays(d->to) ||
        !(out->transfer_us > 0))
        return;
    if (ranks < msim_job_world(d->in->job))
        ranks = msim_job_world(d->in->job);
    if (ranks > 1 && gpus > 1)
        out->links_inside = links(d, ranks < gpus ? ranks : gpus, 1);
    if (ranks > gpus)
        out->links_between = links(d, ranks, (ranks + gpus - 1) / gpus);
}

void msim_run_describe(struct msim_prediction *out,
                       const struct msim_predict_settings *s,
                       const struct msim_inputs *in,
                       const struct msim_target *to, bool planned)
{
    const struct describing d = {out, s, in, to, planned};

    out->version = MSIM_VERSION;
    out->platform = to->platform ? msim_platform_name(to->platform) : NULL;
    out->source_platform =
        to->costs == MSIM_COSTS_SCALED ? msim_platform_name(to->source) : NULL;
    out->source_trace = s->source_trace;
    out->costs = msim_cost_mode_text(to->costs);
    note_host(&d);
    note_clock(to, out);
    note_links(&d);
    out->network = s->network ? to->network.name : NULL;
    out->nodes = s->nodes;
    out->inputs = s->paths;
    out->n_inputs = s->n_paths;
    out->files = in->job->files;
    out->n_files = in->job->n_files;
}

/* ---- without what was measured ------------------------------------------- */

static void drop(struct msim_figure *f)
{
    f->measured = (double)NAN;
}

void msim_run_drop_measured(struct msim_prediction *p, bool marked)
{
    drop(&p->kernel_us);
    drop(&p->period.us); /* it is read off GPU times, too */
    if (!marked)
        drop(&p->iteration_us);
    for (uint32_t i = 0; i < p->n_iterations && !marked; i++)
        drop(&p->iterations[i].us);
    for (uint32_t i = 0; i < p->n_ops; i++)
        drop(&p->ops[i].us);
    for (uint32_t i = 0; i < p->n_uncovered; i++)
        drop(&p->uncovered[i].us);
    for (uint32_t i = 0; i < p->n_families; i++)
        drop(&p->families[i].us);
    for (uint32_t i = 0; i < p->n_ranks_detail; i++) {
        drop(&p->ranks_detail[i].kernel_us);
        drop(&p->ranks_detail[i].period_us);
        if (!marked)
            drop(&p->ranks_detail[i].iteration_us);
    }
}
