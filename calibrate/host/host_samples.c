/*
 * calibrate/host/host_samples.c - times of a CPU, read from recorded traces.
 */
#include "calibrate/host/host_fit.h"

#include "core/base/containers.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CAP_TIMES  10.0
#define CAP_MIN    50.0 /* us */
#define CORE_TIMES 4.0
#define GAP_LONGEST                                                            \
    1000.0                 /* us: a longer pause is more than the interpreter  \
                            */
#define QUEUE_LONGEST 20.0 /* us: a longer pause is a wait */
#define SKEW_MAX      0.01 /* share of kernels that begin before their launch */

static double to_us(msim_ps ps)
{
    return (double)ps / MSIM_PS_PER_US;
}

/* ---- series ------------------------------------------------------------- */

static enum msim_status push(struct msim_series *s, double v)
{
    MSIM_TRY(msim_grow((void **)&s->v, &s->capacity, s->n, sizeof(*s->v)));
    s->v[s->n++] = v;
    return MSIM_OK;
}

double msim_series_quantile(struct msim_series *s, double p)
{
    if (s->n == 0)
        return NAN;
    gsl_sort(s->v, 1, s->n);
    return gsl_stats_quantile_from_sorted_data(s->v, 1, s->n, p);
}

static double cap_of(double median)
{
    return fmax(CAP_TIMES * median, CAP_MIN);
}

double msim_series_mean(struct msim_series *s)
{
    double cap = cap_of(msim_series_quantile(s, 0.5)), sum = 0;

    for (uint32_t i = 0; i < s->n; i++)
        sum += fmin(s->v[i], cap);
    return s->n ? sum / s->n : NAN;
}

double msim_series_core(struct msim_series *s)
{
    double most = CORE_TIMES * msim_series_quantile(s, 0.5) + 1, sum = 0;
    uint32_t n = 0;

    while (n < s->n && s->v[n] <= most)
        sum += s->v[n++];
    return n ? sum / n : NAN;
}

/* ---- keys --------------------------------------------------------------- */

enum msim_status msim_host_keys_init(struct msim_host_keys *k)
{
    *k = (struct msim_host_keys){0};
    return msim_strtab_new(&k->names);
}

void msim_host_keys_release(struct msim_host_keys *k)
{
    msim_strtab_free(k->names);
    free(k->classes);
}

enum msim_status msim_host_keys_add(struct msim_host_keys *k, const char *name,
                                    enum msim_host_class class, uint32_t *key)
{
    MSIM_TRY(msim_strtab_add(k->names, name, msim_host_name_length(name), key));
    while (k->n <= *key) {
        MSIM_TRY(msim_grow((void **)&k->classes, &k->capacity, k->n,
                           sizeof(*k->classes)));
        k->classes[k->n++] = (uint8_t) class;
    }
    return MSIM_OK;
}

/* ---- operators ---------------------------------------------------------- */

/* One trace that is read. */
struct reader {
    struct msim_host_samples *s;
    struct msim_host_keys *keys;
    const struct msim_trace *t;
    double *self;      /* by op */
    double *rest;      /* by op: calls that did not wait, and the pause after */
    uint32_t *op_keys; /* by op, MSIM_NONE: not counted */
    uint32_t first_op; /* of the host: the first of this trace */
    bool repeats;
};

/* Whether call `c` lies in a call that ends at `until`: a driver call of a
 * runtime call. */
static bool is_inner(const struct msim_trace *t, uint32_t c, msim_ps until)
{
    return t->calls[c].start < until;
}

/* Self times: durations less those of children and of the operator's calls. */
static void own_times(struct reader *r)
{
    const struct msim_trace *t = r->t;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        double us = to_us(t->ops[i].dur);

        r->self[i] += us;
        if (t->ops[i].parent != MSIM_NONE)
            r->self[t->ops[i].parent] -= us;
    }
    for (uint32_t th = 0; th < t->n_threads; th++) {
        msim_ps until = INT64_MIN;

        for (uint32_t c = t->threads[th].call_begin;
             c < t->threads[th].call_end; c++) {
            if (is_inner(t, c, until))
                continue;
            until = t->calls[c].start + t->calls[c].dur;
            if (t->calls[c].op != MSIM_NONE)
                r->self[t->calls[c].op] -= to_us(t->calls[c].dur);
        }
    }
}

static uint32_t step_at(const struct msim_trace *t, msim_ps at)
{
    for (uint32_t i = 0; i < t->n_steps; i++)
        if (at >= t->steps[i].start && at < t->steps[i].start + t->steps[i].dur)
            return i;
    return MSIM_NONE;
}

/* The unit that an operator of `step` belongs to. */
static uint32_t unit_of(const struct reader *r, uint32_t step)
{
    if (!r->repeats || (step == MSIM_NONE && r->t->n_steps))
        return MSIM_NONE;
    return r->s->n_units + (step == MSIM_NONE ? 0 : step);
}

static enum msim_status add_units(struct reader *r)
{
    struct msim_host_samples *s = r->s;
    uint32_t n = r->t->n_steps ? r->t->n_steps : 1;

    for (uint32_t i = 0; i < n && r->repeats; i++) {
        MSIM_TRY(msim_grow((void **)&s->units, &s->cap_units, s->n_units,
                           sizeof(*s->units)));
        s->units[s->n_units++].recording = s->n_traces;
    }
    return MSIM_OK;
}

/*
 * Add what calls and pauses gave since read_ops(). A self time is below 0 where
 * a call outlasts its operator, which then had no other work.
 */
static void finish_work(struct reader *r)
{
    uint32_t next = r->first_op;

    for (uint32_t i = 0; i < r->t->n_ops; i++)
        if (r->op_keys[i] != MSIM_NONE)
            r->s->ops[next++].work = fmax(r->self[i], 0) + r->rest[i];
}

static enum msim_status read_ops(struct reader *r)
{
    const struct msim_trace *t = r->t;
    struct msim_host_samples *s = r->s;

    own_times(r);
    r->first_op = s->n_ops;
    for (uint32_t i = 0; i < t->n_ops; i++) {
        enum msim_host_class class = msim_host_op_class(t, i);
        const char *name = msim_trace_text(t, t->ops[i].name);
        struct msim_host_op *op;
        uint32_t step;

        r->op_keys[i] = MSIM_NONE;
        if (class == MSIM_HOST_NOTHING)
            continue;
        MSIM_TRY(msim_host_keys_add(r->keys, name, class, &r->op_keys[i]));
        MSIM_TRY(msim_grow((void **)&s->ops, &s->cap_ops, s->n_ops,
                           sizeof(*s->ops)));
        step = step_at(t, t->ops[i].start);
        op = &s->ops[s->n_ops++];
        op->self = r->self[i];
        op->key = r->op_keys[i];
        op->step = step == MSIM_NONE ? step : s->n_steps + step;
        op->unit = unit_of(r, step);
        if (msim_host_does_nothing(name))
            MSIM_TRY(push(&s->probe, r->self[i]));
    }
    s->n_steps += t->n_steps;
    return MSIM_OK;
}

/* ---- calls -------------------------------------------------------------- */

/* The calls that wait for the GPU if it has work. */
static bool synchronises(enum msim_call_kind kind)
{
    switch (kind) {
    case MSIM_CALL_MEMCPY_SYNC:
    case MSIM_CALL_DEVICE_SYNC:
    case MSIM_CALL_STREAM_SYNC:
    case MSIM_CALL_EVENT_SYNC:
    case MSIM_CALL_EVENT_ELAPSED:
        return true;
    default:
        return false;
    }
}

/* Whether the GPU had work, running or launched, when call `c` was made. */
static bool is_gpu_busy(const struct msim_trace *t, const struct msim_call *c)
{
    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct msim_gpu *g = &t->gpu[i];
        msim_ps begun =
            g->call == MSIM_NONE ? g->start : t->calls[g->call].start;

        if (begun < c->start && g->start + g->dur > c->start)
            return true;
    }
    return false;
}

/*
 * Whether the call may have waited. A copy that ended before its call returned
 * may have been waited for; the allocator waits for the driver's lock, which no
 * trace shows.
 */
static bool is_wait(const struct msim_trace *t, const struct msim_call *call)
{
    const struct msim_gpu *g;

    if (call->kind == MSIM_CALL_MEMSET)
        return call->gpu == MSIM_NONE; /* of no bytes: no work */
    if (synchronises((enum msim_call_kind)call->kind))
        return is_gpu_busy(t, call);
    if (call->kind != MSIM_CALL_MEMCPY)
        return call->kind == MSIM_CALL_MALLOC || call->kind == MSIM_CALL_FREE;
    if (call->gpu == MSIM_NONE)
        return true;
    g = &t->gpu[call->gpu];
    return g->pageable || g->start + g->dur <= call->start + call->dur;
}

static enum msim_status read_calls(struct reader *r)
{
    const struct msim_trace *t = r->t;
    struct msim_host_samples *s = r->s;

    for (uint32_t th = 0; th < t->n_threads; th++) {
        msim_ps until = INT64_MIN;

        for (uint32_t c = t->threads[th].call_begin;
             c < t->threads[th].call_end; c++) {
            const struct msim_call *call = &t->calls[c];

            if (is_inner(t, c, until))
                continue;
            until = call->start + call->dur;
            MSIM_TRY(push(&s->all_calls[call->kind], to_us(call->dur)));
            if (!is_wait(t, call)) {
                MSIM_TRY(push(&s->calls[call->kind], to_us(call->dur)));
                if (call->op != MSIM_NONE)
                    r->rest[call->op] += to_us(call->dur);
            }
            if (call->op == MSIM_NONE || r->op_keys[call->op] == MSIM_NONE)
                continue;
            MSIM_TRY(msim_grow((void **)&s->made, &s->cap_made, s->n_made,
                               sizeof(*s->made)));
            s->made[s->n_made++] =
                (struct msim_host_made){r->op_keys[call->op], call->kind};
        }
    }
    return MSIM_OK;
}

/* ---- between operators -------------------------------------------------- */

/* us of the calls of thread `th` in [from, to), from call `*c` on. */
static double calls_between(const struct msim_trace *t, uint32_t th,
                            uint32_t *c, msim_ps from, msim_ps to)
{
    double sum = 0;

    for (; *c < t->threads[th].call_end && t->calls[*c].start < to; (*c)++)
        if (t->calls[*c].start >= from)
            sum += to_us(t->calls[*c].dur);
    return sum;
}

static enum msim_status read_after(struct reader *r, uint32_t th)
{
    const struct msim_trace *t = r->t;
    uint32_t call = t->threads[th].call_begin, last = MSIM_NONE;

    for (uint32_t i = t->threads[th].op_begin; i < t->threads[th].op_end;) {
        const struct msim_op *op = &t->ops[i];

        if (op->kind != MSIM_OP_OPERATOR) {
            i++;
            continue;
        }
        if (last != MSIM_NONE) {
            msim_ps end = t->ops[last].start + t->ops[last].dur;
            double us = to_us(op->start - end);
            enum msim_host_class c = msim_host_op_class(t, last);

            us -= calls_between(t, th, &call, end, op->start);
            if (us >= 0 && us < GAP_LONGEST) {
                MSIM_TRY(push(&r->s->after[c == MSIM_HOST_ENGINE ||
                                           c == MSIM_HOST_BACKWARD],
                              us));
                r->rest[last] += us;
            }
        }
        last = i;
        i = op->end;
    }
    return MSIM_OK;
}

/* ---- the device's side -------------------------------------------------- */

static bool has_launch(const struct msim_trace *t, const struct msim_gpu *g)
{
    return g->kind == MSIM_GPU_KERNEL && !g->in_graph && g->call != MSIM_NONE &&
           t->calls[g->call].kind == MSIM_CALL_LAUNCH;
}

/* Whether the two clocks disagree: kernels that start before their launch. */
static bool is_skewed(const struct msim_trace *t)
{
    uint32_t n = 0, early = 0;

    for (uint32_t i = 0; i < t->n_gpu; i++)
        if (has_launch(t, &t->gpu[i])) {
            n++;
            early += t->gpu[i].start < t->calls[t->gpu[i].call].start;
        }
    return early > SKEW_MAX * n;
}

static enum msim_status read_gpu(struct reader *r)
{
    const struct msim_trace *t = r->t;
    bool skewed = is_skewed(t);

    for (uint32_t i = 1; i < t->n_gpu; i++) {
        const struct msim_gpu *g = &t->gpu[i], *before = g - 1;
        const struct msim_call *call;
        msim_ps end = before->start + before->dur;
        double us;

        if (!has_launch(t, g) || before->stream != g->stream || skewed)
            continue;
        call = &t->calls[g->call];
        if (end < call->start)
            MSIM_TRY(push(&r->s->latency, to_us(g->start - call->start)));
        us = to_us(g->start - end);
        if (call->start + call->dur < before->start && us >= 0 &&
            us < QUEUE_LONGEST && has_launch(t, before))
            MSIM_TRY(push(&r->s->gap, us));
    }
    return MSIM_OK;
}

/* ---- all of it ---------------------------------------------------------- */

static enum msim_status read_trace(struct reader *r)
{
    MSIM_TRY(read_ops(r));
    MSIM_TRY(read_calls(r));
    for (uint32_t th = 0; th < r->t->n_threads; th++)
        MSIM_TRY(read_after(r, th));
    finish_work(r);
    MSIM_TRY(add_units(r));
    return read_gpu(r);
}

enum msim_status msim_host_samples_add(struct msim_host_samples *s,
                                       struct msim_host_keys *keys,
                                       const struct msim_trace *t, bool repeats)
{
    struct reader r = {.s = s, .keys = keys, .t = t, .repeats = repeats};
    enum msim_status status = MSIM_ENOMEM;

    if (!t->has_times)
        return MSIM_OK;
    r.self = calloc((size_t)t->n_ops + 1, sizeof(*r.self));
    r.rest = calloc((size_t)t->n_ops + 1, sizeof(*r.rest));
    r.op_keys = calloc((size_t)t->n_ops + 1, sizeof(*r.op_keys));
    if (r.self && r.rest && r.op_keys)
        status = read_trace(&r);
    s->n_traces++;
    free(r.self);
    free(r.rest);
    free(r.op_keys);
    return status;
}

void msim_host_samples_release(struct msim_host_samples *s)
{
    for (int k = 0; k < MSIM_HOST_CALL_KINDS; k++) {
        free(s->calls[k].v);
        free(s->all_calls[k].v);
    }
    for (int k = 0; k < MSIM_AFTER_KINDS; k++)
        free(s->after[k].v);
    free(s->latency.v);
    free(s->gap.v);
    free(s->probe.v);
    free(s->units);
    free(s->ops);
    free(s->made);
}

static double *member(struct msim_host_op *op, bool work)
{
    return work ? &op->work : &op->self;
}

static enum msim_status cap(struct msim_host_samples *s, uint32_t n_keys,
                            bool work)
{
    uint32_t *begin = calloc((size_t)n_keys + 2, sizeof(*begin));
    double *values = calloc((size_t)s->n_ops + 1, sizeof(*values));
    double *caps = calloc((size_t)n_keys + 1, sizeof(*caps));
    bool ok = begin && values && caps;

    for (uint32_t i = 0; ok && i < s->n_ops; i++)
        begin[s->ops[i].key + 2]++;
    for (uint32_t k = 1; ok && k < n_keys + 2; k++)
        begin[k] += begin[k - 1];
    for (uint32_t i = 0; ok && i < s->n_ops; i++)
        values[begin[s->ops[i].key + 1]++] = *member(&s->ops[i], work);
    for (uint32_t k = 0; ok && k < n_keys; k++) {
        struct msim_series one = {values + begin[k], begin[k + 1] - begin[k],
                                  0};

        caps[k] = cap_of(msim_series_quantile(&one, 0.5));
    }
    for (uint32_t i = 0; ok && i < s->n_ops; i++) {
        double *v = member(&s->ops[i], work);

        *v = fmin(*v, caps[s->ops[i].key]);
    }
    free(begin);
    free(values);
    free(caps);
    return ok ? MSIM_OK : MSIM_ENOMEM;
}

enum msim_status msim_host_samples_cap(struct msim_host_samples *s,
                                       uint32_t n_keys)
{
    MSIM_TRY(cap(s, n_keys, false));
    return cap(s, n_keys, true);
}
