/*
 * replay/validate/family_times.c - what the operators of a step took.
 */
#include "replay/validate/validation.h"

#include "core/base/containers.h"
#include "core/trace/trace_steps.h"
#include "core/work/opmap/opmap.h"

#include <stdlib.h>
#include <string.h>

static double microseconds(msim_ps time)
{
    return (double)time / MSIM_PS_PER_US;
}

/* The family of an operator's first work; COUNT: it has none. */
static enum msim_family family_of(const struct msim_works *w, uint32_t op)
{
    const struct msim_work *works;
    uint32_t n;

    (void)msim_works_of(w, op, &works, &n);
    return n ? works[0].family : MSIM_FAMILY_COUNT;
}

static void add(struct msim_family_times *s, enum msim_family f, double us)
{
    s->us[f] += us;
    s->operators_us += us;
}

static void add_ops(struct msim_family_times *s, const struct msim_works *w,
                    const struct msim_step_window *in, bool timed)
{
    const struct msim_trace *t = w->trace;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        enum msim_family f = family_of(w, i);

        if (t->ops[i].kind != MSIM_OP_OPERATOR || f == MSIM_FAMILY_COUNT ||
            !msim_step_holds(in, t->ops[i].start))
            continue;
        s->ops[f]++;
        if (timed)
            add(s, f, microseconds(t->ops[i].dur));
    }
}

static enum msim_family family_of_gpu(const struct msim_works *w,
                                      const struct msim_gpu *g)
{
    enum msim_family f = MSIM_FAMILY_COUNT;

    if (g->kind == MSIM_GPU_COMM)
        return MSIM_FAMILY_COLLECTIVE;
    if (g->kind != MSIM_GPU_KERNEL)
        return MSIM_FAMILY_COPY;
    if (g->op != MSIM_NONE)
        f = family_of(w, g->op);
    return f == MSIM_FAMILY_COUNT ? MSIM_FAMILY_BOUND : f;
}

static void add_gpu(struct msim_family_times *s, const struct msim_works *w,
                    const struct msim_step_window *in)
{
    const struct msim_trace *t = w->trace;

    for (uint32_t i = 0; i < t->n_gpu; i++)
        if (t->gpu[i].op != MSIM_NONE &&
            msim_step_holds(in, t->ops[t->gpu[i].op].start))
            add(s, family_of_gpu(w, &t->gpu[i]), microseconds(t->gpu[i].dur));
}

static uint32_t ops_of(const struct msim_family_times *s)
{
    uint32_t n = 0;

    for (int f = 0; f < MSIM_FAMILY_COUNT; f++)
        n += s->ops[f];
    return n;
}

/* One step; false where it asks nothing of a device. */
static bool add_step(struct msim_family_times *s, const struct msim_works *w,
                     uint32_t step)
{
    const struct msim_trace *t = w->trace;
    struct msim_step_window in = msim_step_window_of(t, step);
    uint32_t before[MSIM_FAMILY_COUNT];

    memcpy(before, s->ops, sizeof(before));
    memset(s->ops, 0, sizeof(s->ops));
    add_ops(s, w, &in, !t->has_gpu_events);
    if (ops_of(s) == 0) {
        memcpy(s->ops, before, sizeof(before));
        return false;
    }
    if (t->has_gpu_events)
        add_gpu(s, w, &in);
    s->steps++;
    s->number = step == MSIM_NONE ? -1 : t->steps[step].number;
    s->step_us += step == MSIM_NONE ? 0 : microseconds(t->steps[step].dur);
    return true;
}

/* How often a trace without marks runs its execution trace, which is one
 * step's: as often as it has each node. */
static enum msim_status count_passes(uint32_t *passes,
                                     const struct msim_trace *t)
{
    struct msim_idmap nodes = {0};
    enum msim_status status = MSIM_OK;
    uint32_t linked = 0, *slot;

    for (uint32_t i = 0; i < t->n_ops && status == MSIM_OK; i++)
        if (t->ops[i].et_id) {
            status = msim_idmap_put(&nodes, t->ops[i].et_id, i, &slot);
            linked++;
        }
    *passes = nodes.count ? (linked + nodes.count / 2) / nodes.count : 1;
    msim_idmap_release(&nodes);
    return status;
}

static void take_mean(struct msim_family_times *s)
{
    for (int f = 0; f < MSIM_FAMILY_COUNT; f++)
        s->us[f] /= s->steps;
    s->operators_us /= s->steps;
    s->step_us /= s->steps;
}

static enum msim_status make_works(struct msim_works **w,
                                   const struct msim_trace *t)
{
    return msim_works_new(w, t, NULL,
                          msim_opmap_place_of(t, !t->has_gpu_events));
}

enum msim_status msim_family_times_of(struct msim_family_times *out,
                                      const struct msim_trace *t, uint32_t step,
                                      struct msim_error *err)
{
    struct msim_works *w;
    uint32_t n = step == MSIM_NONE && t->n_steps ? t->n_steps : 1;

    *out = (struct msim_family_times){.number = -1};
    if (!t->has_times)
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "found no times, want a Kineto trace (an execution "
                         "trace alone has none)");
    MSIM_TRY(make_works(&w, t));
    for (uint32_t i = 0; i < n; i++)
        (void)add_step(out, w, step == MSIM_NONE && t->n_steps ? i : step);
    msim_works_free(w);
    if (out->steps == 0)
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "found no operator that asks anything of a device, "
                         "want shapes in the trace (record_shapes=True)");
    if (t->n_steps == 0) {
        MSIM_TRY(count_passes(&out->steps, t));
        for (int f = 0; f < MSIM_FAMILY_COUNT; f++)
            out->ops[f] /= out->steps;
    }
    take_mean(out);
    return MSIM_OK;
}

enum msim_status msim_family_times_each(struct msim_family_times **out,
                                        uint32_t *n, const struct msim_trace *t)
{
    struct msim_family_times *each =
        calloc((size_t)t->n_steps + 1, sizeof(*each));
    struct msim_works *w = NULL;
    enum msim_status status = each ? make_works(&w, t) : MSIM_ENOMEM;

    *out = each;
    *n = 0;
    for (uint32_t i = 0; status == MSIM_OK && i < t->n_steps; i++)
        if (add_step(&each[*n], w, i))
            ++*n;
    msim_works_free(w);
    return status;
}
