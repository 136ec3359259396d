/*
 * predict/edit/edit_price.c - operators that the trace does not have: a trace
 * of one operator, mapped and estimated like any.
 */
#include "predict/edit/edit_internal.h"

#include "models/estimate/model.h"
#include "predict/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum msim_status msim_price_platform(struct msim_remake *d,
                                     const struct msim_platform **p)
{
    if (!d->to->platform && !d->platform && !d->to->traced)
        return msim_remake_refuse(
            d, "what inserted work takes is not known: the trace names no GPU "
               "that is known; want '--platform NAME'");
    if (!d->to->platform && !d->platform)
        MSIM_TRY(msim_shelf_platform(d->s->shelf, &d->platform, d->s->data,
                                     d->to->traced, d->err));
    *p = d->to->platform ? d->to->platform : d->platform;
    return MSIM_OK;
}

static msim_ps ps_of(double us)
{
    return us < (double)MSIM_RUN_MAX / MSIM_PS_PER_US
               ? (msim_ps)llround(us * MSIM_PS_PER_US)
               : MSIM_RUN_MAX;
}

enum msim_status msim_price_work(struct msim_remake *d,
                                 const struct msim_work *w,
                                 struct msim_cost_added *cost)
{
    const struct msim_platform *p = NULL;
    double factor = d->costs->step.factor > 0 ? d->costs->step.factor : 1;
    struct msim_work asked = *w;
    struct msim_estimate e;

    asked.asked = true;
    MSIM_TRY(msim_price_platform(d, &p));
    MSIM_TRY(msim_model_predict(p, &asked, d->s->strict, &e, d->err));
    msim_whole_job_widen(p, w, msim_costs_alone(d->g), &e);
    *cost = (struct msim_cost_added){
        .mid = ps_of(factor * e.us),
        .low = ps_of(factor * e.low_us),
        .high = ps_of(factor * e.high_us),
        .source = (uint8_t)e.source,
        .made_by = (uint8_t)e.family,
        .flops = (float)(w->flops * msim_work_repeats(w))};
    msim_limits_add(&cost->limits, p, w);
    return MSIM_OK;
}

/* ---- a trace of one operator --------------------------------------------- */

struct one {
    struct msim_trace trace;
    struct msim_op op;
    struct msim_arg_block block;
    struct msim_arg args[MSIM_EDIT_TENSORS];
    int64_t dims[MSIM_EDIT_TENSORS * MSIM_EDIT_DIMS];
};

static void make(struct one *o, struct msim_remake *d,
                 const struct msim_edit_op *op)
{
    uint32_t n = 0;

    memset(o, 0, sizeof(*o));
    for (uint32_t i = 0; i < op->n; i++) {
        const struct msim_edit_tensor *t = &op->tensors[i];

        o->args[i] = (struct msim_arg){.kind = MSIM_ARG_TENSOR,
                                       .dtype = (uint8_t)t->dtype,
                                       .device = MSIM_DEV_GPU,
                                       .n = t->n};
        o->args[i].v.i = n;
        memcpy(o->dims + n, t->sizes, t->n * sizeof(*o->dims));
        n += t->n;
    }
    o->block = (struct msim_arg_block){0, op->n};
    o->op = msim_op_empty();
    o->op.name = msim_remake_name(d, op->name);
    o->op.end = 1;
    o->op.args = 0;
    o->trace.strings = d->g->job->strings;
    o->trace.ops = &o->op;
    o->trace.n_ops = 1;
    o->trace.blocks = &o->block;
    o->trace.n_blocks = 1;
    o->trace.args = o->args;
    o->trace.n_args = op->n;
    o->trace.dims = o->dims;
    o->trace.n_dims = n;
}

static void add(struct msim_cost_added *sum, const struct msim_cost_added *c)
{
    if (c->mid >= sum->mid) {
        sum->source = c->source;
        sum->made_by = c->made_by;
    }
    sum->mid += c->mid;
    sum->low += c->low;
    sum->high += c->high;
    sum->flops += c->flops;
    sum->limits.tensor += c->limits.tensor;
    sum->limits.vector += c->limits.vector;
    sum->limits.memory += c->limits.memory;
    sum->limits.latency += c->limits.latency;
}

static enum msim_status price(struct msim_remake *d, const char *name,
                              const struct msim_works *works,
                              struct msim_cost_added *cost)
{
    const struct msim_work *w;
    uint32_t n;

    if (msim_works_of(works, 0, &w, &n) != MSIM_OPMAP_WORKS || !n)
        return msim_remake_refuse(
            d, "no kernel is known of an operator '%.80s' with these sizes",
            name);
    for (uint32_t i = 0; i < n; i++) {
        struct msim_cost_added one;

        MSIM_TRY(msim_price_work(d, &w[i], &one));
        add(cost, &one);
    }
    return MSIM_OK;
}

enum msim_status msim_price_op(struct msim_remake *d,
                               const struct msim_edit_op *op,
                               struct msim_cost_added *cost)
{
    struct msim_works *works;
    struct one o;
    enum msim_status status;

    memset(cost, 0, sizeof(*cost));
    make(&o, d, op);
    if (!o.op.name)
        return MSIM_ENOMEM;
    MSIM_TRY(msim_works_new(&works, &o.trace, NULL, MSIM_OPMAP_ON_GPU));
    status = price(d, op->name, works, cost);
    msim_works_free(works);
    return status;
}
