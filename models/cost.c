/*
 * Durations of a graph's tasks.
 *
 * An operator's works are estimated together and shared out over the kernels
 * that it launched, evenly: only their sum is known from shapes. Copies and
 * collectives are estimated from their own event. A kernel whose operator is
 * not known gets a bound from its launch configuration.
 */
#include "models/cost.h"

#include "models/memo.h"
#include "models/opmap.h"
#include "models/platform_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PS_PER_US 1e6

/* An operator's estimate and what it computes. */
struct demand {
    struct msim_estimate e;
    double flops, ideal_us;
};

/* Kernels (not copies, not collectives) by the operator that launched them. */
struct launched {
    uint32_t *begin; /* n_ops + 1, into gpu */
    uint32_t *gpu;   /* indices of GPU events */
};

struct costing {
    struct msim_costs *c;
    const struct msim_graph *g;
    const struct msim_cost_options *opt;
    struct msim_error *err;
    struct msim_memo memo;
    struct launched *launched; /* one a rank; begin NULL: not built */
    uint32_t *task_of;         /* of each GPU event of the rank at hand */
    uint32_t rank;
};

/* ---- filling in -------------------------------------------------------- */

/* What a run cannot last (core/run/engine.h) needs no more digits. */
static msim_ps rounded(double ps)
{
    return ps < (double)MSIM_RUN_MAX ? (msim_ps)llround(ps) : MSIM_RUN_MAX;
}

static msim_ps to_ps(double us)
{
    return us > 0 ? rounded(us * PS_PER_US) : 0;
}

static void set(struct costing *k, uint32_t task, const struct demand *d,
                double share)
{
    struct msim_costs *c = k->c;
    const struct msim_estimate *e = &d->e;

    c->mid[task] = to_ps(e->us * share);
    c->low[task] = to_ps(e->low_us * share);
    c->high[task] = to_ps(e->high_us * share);
    c->source[task] = (uint8_t)e->source;
    c->made_by[task] = (uint8_t)e->family;
    c->flops[task] = (float)(d->flops * share);
    c->ideal_us[task] = (float)(d->ideal_us * share);
}

static void set_host(struct costing *k, uint32_t task,
                     const struct msim_estimate *e)
{
    const struct demand d = {.e = *e};

    set(k, task, &d, 1);
    k->c->made_by[task] = MSIM_COST_HOST;
}

static msim_ps times(msim_ps ps, double factor)
{
    return rounded((double)ps * factor);
}

/*
 * As traced. Beside modelled GPU work that is a prediction too, for a run that
 * was not recorded: the host would not take exactly as long again.
 */
static void set_traced(struct costing *k, uint32_t task)
{
    msim_ps ps = k->g->traced[task];
    double low = 1, high = 1;

    if (ps < 0) /* no time in the trace, or one that clocks spoilt */
        ps = 0;
    if (k->opt->platform)
        msim_host_repeat(k->opt->host, &low, &high);
    k->c->mid[task] = ps;
    k->c->low[task] = times(ps, low);
    k->c->high[task] = times(ps, high);
    k->c->source[task] = MSIM_SOURCE_MEASURED;
    k->c->made_by[task] = MSIM_COST_TRACED;
}

/* ---- GPU tasks --------------------------------------------------------- */

static void add(struct msim_estimate *sum, const struct msim_estimate *e)
{
    /* The family, and how it is known, of the larger part. */
    if (e->us > sum->us) {
        sum->family = e->family;
        sum->source = e->source;
    }
    sum->us += e->us;
    sum->low_us += e->low_us;
    sum->high_us += e->high_us;
}

static struct msim_work copy_work(const struct msim_gpu *e)
{
    struct msim_work w;
    bool set = e->kind == MSIM_GPU_MEMSET;

    memset(&w, 0, sizeof w);
    w.family = MSIM_FAMILY_COPY;
    w.dtype = MSIM_DT_U8;
    w.variant = set ? "fill" : "copy";
    w.kernels = 1;
    w.bytes_read = set ? 0 : (double)e->bytes;
    w.bytes_written = (double)e->bytes;
    w.u.vector.elems = (int64_t)e->bytes;
    w.u.vector.rows = 1;
    w.u.vector.cols = w.u.vector.elems;
    w.u.vector.copy = set ? MSIM_COPY_D2D : (enum msim_copy_kind)e->copy_kind;
    w.u.vector.pageable = e->pageable;
    return w;
}

/*
 * All that is known of a kernel without shapes: how many threads it has. Each
 * is taken to move 16 bytes in and 8 out, two loads and a store of the widest
 * kind that elementwise kernels use.
 */
static struct msim_work kernel_work(const struct msim_trace *t,
                                    const struct msim_gpu *e)
{
    struct msim_work w;
    double threads = 1;

    memset(&w, 0, sizeof w);
    w.family = MSIM_FAMILY_BOUND;
    w.dtype = MSIM_DT_F32;
    w.variant = "";
    w.kernels = 1;
    for (int i = 0; i < 3 && e->config != MSIM_NONE; i++)
        threads *= (double)t->configs[e->config].grid[i] *
                   t->configs[e->config].block[i];
    w.u.vector.elems = (int64_t)threads;
    w.u.vector.rows = 1;
    w.u.vector.cols = w.u.vector.elems;
    w.bytes_read = 16 * threads;
    w.bytes_written = 8 * threads;
    return w;
}

/* All works of one operator; `n` 0 leaves `d` at zero. */
static enum msim_status estimate(struct costing *k,
                                 const struct msim_work *works, uint32_t n,
                                 struct demand *d)
{
    memset(d, 0, sizeof *d);
    for (uint32_t i = 0; i < n; i++) {
        struct msim_estimate e;

        MSIM_TRY(msim_memo_predict(&k->memo, k->opt->platform, &works[i],
                                   k->opt->strict, &e, k->err));
        add(&d->e, &e);
        d->flops += works[i].flops;
        d->ideal_us += works[i].flops / msim_spec_flops_per_us(
                                            &k->opt->platform->spec, &works[i]);
    }
    return MSIM_OK;
}

static enum msim_status cost_one(struct costing *k, uint32_t task,
                                 const struct msim_work *w)
{
    struct demand d;

    MSIM_TRY(estimate(k, w, 1, &d));
    set(k, task, &d, 1);
    return MSIM_OK;
}

/* Under --strict what no model covers is refused, by name. */
static enum msim_status bounded(struct costing *k, uint32_t op,
                                const struct msim_gpu *e)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];

    if (!k->opt->strict)
        return MSIM_OK;
    return msim_fail(k->err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                     "no model covers %s '%s' on '%s'; without --strict it is "
                     "bounded by its memory traffic",
                     op == MSIM_NONE ? "kernel" : "operator",
                     op != MSIM_NONE ? msim_trace_text(t, t->ops[op].name)
                     : e             ? msim_trace_text(t, e->name)
                                     : "",
                     msim_platform_name(k->opt->platform));
}

/* The kernels that op `i` of the rank at hand launched. */
static enum msim_status cost_op(struct costing *k, uint32_t i)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];
    const struct launched *l = &k->launched[k->rank];
    uint32_t begin = l->begin[i], end = l->begin[i + 1], n = 0;
    struct msim_work works[MSIM_OPMAP_MAX];
    enum msim_opmap_result r;
    struct demand d;

    if (begin == end)
        return MSIM_OK;
    memset(works, 0, sizeof works);
    r = msim_opmap(t, i, (int)(end - begin), false, works, &n);
    if (r == MSIM_OPMAP_NOTHING)
        n = 0;
    if (r != MSIM_OPMAP_WORKS)
        MSIM_TRY(bounded(k, i, NULL));
    MSIM_TRY(estimate(k, works, n, &d));
    for (uint32_t j = begin; j < end; j++) {
        uint32_t task = k->task_of[l->gpu[j]];
        struct msim_work w;

        if (n) {
            set(k, task, &d, 1.0 / (end - begin));
            continue;
        }
        w = kernel_work(t, &t->gpu[l->gpu[j]]);
        MSIM_TRY(cost_one(k, task, &w));
    }
    return MSIM_OK;
}

/* A transfer between the ranks at hand, in the job that they stand for. */
static struct msim_work grow(const struct costing *k, struct msim_work w,
                             uint32_t comm)
{
    const struct msim_job *job = k->g->job;

    if (!k->opt->ranks || w.family != MSIM_FAMILY_COLLECTIVE)
        return w;
    return msim_comm_grow(w, job->ranks[k->rank], comm, job->n_ranks,
                          k->opt->ranks);
}

static enum msim_status cost_event(struct costing *k, uint32_t i)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];
    const struct msim_gpu *e = &t->gpu[i];
    struct msim_work w;

    if (e->kind == MSIM_GPU_KERNEL && e->op != MSIM_NONE)
        return MSIM_OK; /* with its operator */
    if (e->kind == MSIM_GPU_COMM && e->comm != MSIM_NONE) {
        w = grow(k, msim_comm_work(t, e->comm), e->comm);
    } else if (e->kind == MSIM_GPU_KERNEL || e->kind == MSIM_GPU_COMM) {
        MSIM_TRY(bounded(k, MSIM_NONE, e));
        w = kernel_work(t, e);
    } else {
        w = copy_work(e);
    }
    return cost_one(k, k->task_of[i], &w);
}

static enum msim_status index_launched(struct costing *k)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];
    struct launched *l = &k->launched[k->rank];

    l->begin = calloc((size_t)t->n_ops + 2, sizeof *l->begin);
    l->gpu = malloc(((size_t)t->n_gpu + 1) * sizeof *l->gpu);
    if (!l->begin || !l->gpu)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_gpu; i++)
        if (t->gpu[i].kind == MSIM_GPU_KERNEL && t->gpu[i].op != MSIM_NONE)
            l->begin[t->gpu[i].op + 2]++;
    for (uint32_t i = 1; i < t->n_ops + 2; i++)
        l->begin[i] += l->begin[i - 1];
    for (uint32_t i = 0; i < t->n_gpu; i++)
        if (t->gpu[i].kind == MSIM_GPU_KERNEL && t->gpu[i].op != MSIM_NONE)
            l->gpu[l->begin[t->gpu[i].op + 1]++] = i;
    return MSIM_OK;
}

/* GPU tasks of a rank whose GPU events are in the trace. */
static enum msim_status cost_rank(struct costing *k)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];
    enum msim_status st = MSIM_OK;

    k->task_of = malloc(((size_t)t->n_gpu + 1) * sizeof *k->task_of);
    if (!k->task_of)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < k->g->n_tasks; i++)
        if (k->g->refs[i].rank == k->rank &&
            k->g->kind[i] >= MSIM_TASK_KERNEL &&
            k->g->kind[i] <= MSIM_TASK_COMM)
            k->task_of[k->g->refs[i].index] = i;
    st = index_launched(k);
    for (uint32_t i = 0; i < t->n_ops && st == MSIM_OK; i++)
        st = cost_op(k, i);
    for (uint32_t i = 0; i < t->n_gpu && st == MSIM_OK; i++)
        st = cost_event(k, i);
    free(k->task_of);
    k->task_of = NULL;
    return st;
}

/* A task of a planned rank: one work of one operator. */
static enum msim_status cost_planned(struct costing *k, uint32_t task)
{
    const struct msim_task_ref *ref = &k->g->refs[task];
    const struct msim_trace *t = k->g->job->ranks[ref->rank];
    struct msim_work works[MSIM_OPMAP_MAX];
    uint32_t n = 0;

    memset(works, 0, sizeof works);
    (void)msim_opmap(t, ref->op, -1, t->cpu_only, works, &n);
    if (ref->work >= n)
        return msim_fail(k->err, MSIM_EINTERNAL, NULL, MSIM_OFFSET_NONE,
                         "operator %u lost its work %u", ref->op, ref->work);
    k->rank = ref->rank;
    if (works[ref->work].family == MSIM_FAMILY_BOUND)
        MSIM_TRY(bounded(k, ref->op, NULL));
    works[ref->work] = grow(k, works[ref->work], t->ops[ref->op].comm);
    return cost_one(k, task, &works[ref->work]);
}

/* ---- host tasks -------------------------------------------------------- */

static bool waits(enum msim_call_kind kind)
{
    switch (kind) {
    case MSIM_CALL_DEVICE_SYNC:
    case MSIM_CALL_STREAM_SYNC:
    case MSIM_CALL_EVENT_SYNC:
    case MSIM_CALL_EVENT_ELAPSED:
    case MSIM_CALL_MEMCPY:
    case MSIM_CALL_MEMCPY_SYNC:
    case MSIM_CALL_MALLOC:
    case MSIM_CALL_FREE:
        return true;
    default:
        return false;
    }
}

static void cost_ops(struct costing *k, uint32_t task)
{
    const struct msim_task_ref *ref = &k->g->refs[task];
    const struct msim_trace *t = k->g->job->ranks[ref->rank];
    struct msim_estimate sum = {.source = MSIM_SOURCE_LAW};

    for (uint32_t i = ref->index; i < ref->op_end; i++) {
        struct msim_estimate e = msim_host_dispatch(k->opt->host, t, i);

        add(&sum, &e);
    }
    set_host(k, task, &sum);
}

/*
 * A call that may wait: how long it really worked cannot be told from its
 * traced time without the GPU's, so the host's figure caps it.
 */
static void cost_call(struct costing *k, uint32_t task)
{
    const struct msim_task_ref *ref = &k->g->refs[task];
    const struct msim_trace *t = k->g->job->ranks[ref->rank];
    enum msim_call_kind kind = (enum msim_call_kind)t->calls[ref->index].kind;
    struct msim_estimate e;

    if (!k->opt->host_modelled && !waits(kind)) {
        set_traced(k, task);
        return;
    }
    e = msim_host_call(k->opt->host, kind);
    if (!k->opt->host_modelled && to_ps(e.us) > k->g->traced[task])
        set_traced(k, task);
    else
        set_host(k, task, &e);
}

static void cost_host(struct costing *k, uint32_t task)
{
    bool planned = k->g->traced[task] == MSIM_TIME_NONE;

    if (k->g->kind[task] == MSIM_TASK_HOST &&
        (planned || k->opt->host_modelled))
        cost_ops(k, task);
    else if (k->g->kind[task] == MSIM_TASK_CALL && k->opt->platform)
        cost_call(k, task);
    else
        set_traced(k, task);
}

/* ---- scaling ----------------------------------------------------------- */

static const char *topmost(const struct msim_graph *g, uint32_t task)
{
    const struct msim_trace *t = g->job->ranks[g->refs[task].rank];
    uint32_t op = msim_op_topmost(t, g->refs[task].op);

    return op == MSIM_NONE ? "" : msim_trace_text(t, t->ops[op].name);
}

static bool is_gpu(enum msim_task_kind kind)
{
    return kind >= MSIM_TASK_KERNEL && kind <= MSIM_TASK_COMM;
}

static bool selects(const struct msim_scale *s, const struct msim_graph *g,
                    uint32_t task)
{
    enum msim_task_kind kind = (enum msim_task_kind)g->kind[task];

    switch (s->select) {
    case MSIM_SELECT_KERNELS:
        return kind == MSIM_TASK_KERNEL;
    case MSIM_SELECT_COMMUNICATION:
        return kind == MSIM_TASK_COMM;
    case MSIM_SELECT_COPIES:
        return kind == MSIM_TASK_COPY;
    case MSIM_SELECT_HOST:
        return kind <= MSIM_TASK_CALL;
    case MSIM_SELECT_OP:
        return is_gpu(kind) && msim_scale_matches(s, topmost(g, task));
    case MSIM_SELECT_HOST_OP:
        return kind <= MSIM_TASK_CALL &&
               msim_scale_matches(s, topmost(g, task));
    }
    return false;
}

static void scale(struct costing *k, const struct msim_scale *s)
{
    struct msim_costs *c = k->c;

    for (uint32_t i = 0; i < k->g->n_tasks; i++) {
        if (!selects(s, k->g, i))
            continue;
        c->mid[i] = times(c->mid[i], s->factor);
        c->low[i] = times(c->low[i], s->factor);
        c->high[i] = times(c->high[i], s->factor);
        c->out[i] |=
            s->factor == 0 && is_gpu((enum msim_task_kind)k->g->kind[i]);
    }
}

/*
 * Nobody arrives at a collective whose transfer, the next task, is out; a
 * meeting, which is on no lane, holds nobody when all its transfers are.
 */
static bool join_is_out(const struct costing *k, uint32_t join)
{
    const struct msim_graph *g = k->g;
    uint32_t e = g->edge_begin[join], end = g->edge_begin[join + 1];

    if (g->lane[join] != MSIM_NONE)
        return k->c->out[join + 1];
    for (; e < end; e++)
        if (!k->c->out[g->edges[e].to])
            return false;
    return true;
}

static void take_out_joins(struct costing *k)
{
    for (uint32_t i = 0; i < k->g->n_tasks; i++)
        if (k->g->kind[i] == MSIM_TASK_JOIN)
            k->c->out[i] = join_is_out(k, i);
}

/* ---- all of it --------------------------------------------------------- */

static enum msim_status allocate(struct msim_costs *c, uint32_t n)
{
    c->mid = calloc((size_t)n + 1, sizeof *c->mid);
    c->low = calloc((size_t)n + 1, sizeof *c->low);
    c->high = calloc((size_t)n + 1, sizeof *c->high);
    c->out = calloc((size_t)n + 1, 1);
    c->source = calloc((size_t)n + 1, 1);
    c->made_by = calloc((size_t)n + 1, 1);
    c->flops = calloc((size_t)n + 1, sizeof *c->flops);
    c->ideal_us = calloc((size_t)n + 1, sizeof *c->ideal_us);
    return c->mid && c->low && c->high && c->out && c->source && c->made_by &&
                   c->flops && c->ideal_us
               ? MSIM_OK
               : MSIM_ENOMEM;
}

static void set_lags(struct costing *k)
{
    for (int kind = 0; kind < MSIM_EDGE_KINDS; kind++)
        k->c->lag[kind] = -1;
    k->c->gpu_factor = 1;
    if (!k->opt->platform)
        return;
    k->c->gpu_factor = msim_platform_trace_factor(k->opt->platform);
    k->c->lag[MSIM_EDGE_LAUNCH] =
        to_ps(msim_host_launch_latency(k->opt->host).us);
    k->c->lag[MSIM_EDGE_STREAM] = to_ps(msim_host_kernel_gap(k->opt->host).us);
}

static enum msim_status cost_tasks(struct costing *k)
{
    const struct msim_graph *g = k->g;

    for (uint32_t i = 0; i < g->n_tasks; i++) {
        bool gpu =
            g->kind[i] >= MSIM_TASK_KERNEL && g->kind[i] <= MSIM_TASK_COMM;

        if (!gpu)
            cost_host(k, i);
        else if (!k->opt->platform)
            set_traced(k, i);
        else if (g->refs[i].index == MSIM_NONE)
            MSIM_TRY(cost_planned(k, i));
    }
    for (k->rank = 0; k->opt->platform && k->rank < g->job->n_ranks; k->rank++)
        if (g->job->ranks[k->rank]->has_gpu_events)
            MSIM_TRY(cost_rank(k));
    set_lags(k);
    for (uint32_t i = 0; i < k->opt->n_scales; i++)
        scale(k, &k->opt->scales[i]);
    take_out_joins(k);
    return MSIM_OK;
}

static enum msim_status run(struct costing *k)
{
    MSIM_TRY(allocate(k->c, k->g->n_tasks));
    k->launched = calloc((size_t)k->g->job->n_ranks + 1, sizeof *k->launched);
    return k->launched ? cost_tasks(k) : MSIM_ENOMEM;
}

enum msim_status msim_costs_new(struct msim_costs **out,
                                const struct msim_graph *g,
                                const struct msim_cost_options *opt,
                                struct msim_error *err)
{
    struct costing k = {.g = g, .opt = opt, .err = err};
    enum msim_status st;

    *out = NULL;
    k.c = calloc(1, sizeof *k.c);
    if (!k.c)
        return MSIM_ENOMEM;
    st = run(&k);
    for (uint32_t i = 0; k.launched && i < g->job->n_ranks; i++) {
        free(k.launched[i].begin);
        free(k.launched[i].gpu);
    }
    free(k.launched);
    msim_memo_release(&k.memo);
    if (st != MSIM_OK) {
        msim_costs_free(k.c);
        return msim_fail(err, st, NULL, MSIM_OFFSET_NONE,
                         "cannot estimate durations: %s", msim_status_text(st));
    }
    *out = k.c;
    return MSIM_OK;
}

void msim_costs_free(struct msim_costs *c)
{
    if (!c)
        return;
    free(c->mid);
    free(c->low);
    free(c->high);
    free(c->out);
    free(c->source);
    free(c->made_by);
    free(c->flops);
    free(c->ideal_us);
    free(c);
}

const char *msim_costs_text(uint8_t made_by)
{
    if (made_by == MSIM_COST_TRACED)
        return "measured";
    if (made_by == MSIM_COST_HOST)
        return "host";
    return msim_family_text((enum msim_family)made_by);
}
