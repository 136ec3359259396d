/*
 * replay/fleet/device_time.c - one sweep over the instants at which work
 * begins and ends.
 */
#include "replay/fleet/fleet.h"

#include "core/base/containers.h"
#include "core/work/kernel/infer.h"
#include "core/work/opmap/opmap.h"

#include <stdlib.h>
#include <string.h>

/* An instant from which on one more, or one less, of a kind runs. */
struct boundary {
    msim_ps at;
    uint32_t device; /* number of it in the trace */
    uint8_t kind;
    int8_t step;
};

struct boundaries {
    struct boundary *all;
    uint32_t n;
};

const char *msim_time_kind_text(uint32_t kind)
{
    if (kind == MSIM_TIME_IDLE)
        return "idle";
    return kind == MSIM_FAMILY_BOUND ? "other"
                                     : msim_family_text((enum msim_family)kind);
}

double msim_device_time_total(const struct msim_device_time *d)
{
    double sum = 0;

    for (uint32_t k = 0; k < MSIM_TIME_KINDS; k++)
        sum += d->us[k];
    return sum;
}

/* Of a trace without GPU events: are they just not recorded? */
static bool uses_gpu(const struct msim_trace *t)
{
    bool launches = false;

    for (uint32_t i = 0; i < t->n_calls && !launches; i++)
        launches = t->calls[i].kind == MSIM_CALL_LAUNCH ||
                   t->calls[i].kind == MSIM_CALL_GRAPH_LAUNCH;
    return launches || !t->cpu_only;
}

const char *msim_device_time_absent(const struct msim_trace *t)
{
    if (!t->has_times)
        return t->has_et ? "an execution trace alone has no times"
                         : "it has no times";
    if (!t->has_gpu_events && uses_gpu(t))
        return "its operators use a GPU, and its kernels are not recorded";
    return "nothing in it takes time";
}

static bool has_time(msim_ps start, msim_ps dur)
{
    return start != MSIM_TIME_NONE && dur != MSIM_TIME_NONE && dur > 0;
}

static void put(struct boundaries *b, msim_ps at, int64_t device, uint32_t kind,
                int step)
{
    b->all[b->n++] =
        (struct boundary){at, (uint32_t)device, (uint8_t)kind, (int8_t)step};
}

/* ---- GPUs --------------------------------------------------------------- */

uint32_t msim_gpu_time_kind(const struct msim_trace *t, const uint8_t *family,
                            uint32_t i)
{
    if (family[i] == MSIM_FAMILY_BOUND && t->gpu[i].kind == MSIM_GPU_KERNEL)
        return msim_kernel_family(msim_trace_text(t, t->gpu[i].name));
    return family[i];
}

static void put_gpu(struct boundaries *b, const struct msim_trace *t,
                    const uint8_t *family)
{
    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct msim_gpu *e = &t->gpu[i];
        int64_t device = t->streams[e->stream].device;
        uint32_t kind;

        if (!has_time(e->start, e->dur))
            continue;
        kind = msim_gpu_time_kind(t, family, i);
        put(b, e->start, device, kind, 1);
        put(b, e->start + e->dur, device, kind, -1);
    }
}

static enum msim_status gpu_boundaries(struct boundaries *b,
                                       const struct msim_trace *t,
                                       const struct msim_works *works)
{
    uint8_t *family = malloc((size_t)t->n_gpu + 1);

    b->all = malloc((2 * (size_t)t->n_gpu + 1) * sizeof(*b->all));
    if (family && b->all) {
        msim_gpu_families(works, family);
        put_gpu(b, t, family);
    }
    free(family);
    return family && b->all ? MSIM_OK : MSIM_ENOMEM;
}

/* ---- the CPU ------------------------------------------------------------ */

/* An operator that encloses the one that is looked at, labels apart. */
struct caller {
    msim_ps end;
    uint8_t kind;
    bool runs; /* else it is a label or a root, or has no time */
};

static uint32_t kind_of_op(const struct msim_works *works, uint32_t op,
                           const struct caller *from)
{
    uint32_t kind = msim_op_family(works, op);

    return kind == MSIM_FAMILY_BOUND && from->runs ? from->kind : kind;
}

/* The operator runs and its caller does not, until it ends or its caller
 * does. */
static void put_op(struct boundaries *b, const struct msim_op *op,
                   const struct caller *from, struct caller *self)
{
    msim_ps end = op->start + op->dur;

    if (from->runs && from->end < end)
        end = from->end;
    self->end = end;
    if (end <= op->start)
        return;
    put(b, op->start, 0, self->kind, 1);
    put(b, end, 0, self->kind, -1);
    if (from->runs) {
        put(b, op->start, 0, from->kind, -1);
        put(b, end, 0, from->kind, 1);
    }
}

static void put_ops(struct boundaries *b, const struct msim_trace *t,
                    const struct msim_works *works, struct caller *of)
{
    static const struct caller NOBODY = {0, MSIM_FAMILY_BOUND, false};

    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct msim_op *op = &t->ops[i];
        const struct caller *from =
            op->parent == MSIM_NONE ? &NOBODY : &of[op->parent];

        of[i] = *from;
        if (op->kind != MSIM_OP_OPERATOR || !has_time(op->start, op->dur))
            continue;
        of[i] = (struct caller){0, (uint8_t)kind_of_op(works, i, from), true};
        put_op(b, op, from, &of[i]);
    }
}

static enum msim_status cpu_boundaries(struct boundaries *b,
                                       const struct msim_trace *t,
                                       const struct msim_works *works)
{
    struct caller *of = malloc(((size_t)t->n_ops + 1) * sizeof(*of));

    b->all = malloc((4 * (size_t)t->n_ops + 1) * sizeof(*b->all));
    if (of && b->all)
        put_ops(b, t, works, of);
    free(of);
    return of && b->all ? MSIM_OK : MSIM_ENOMEM;
}

/* ---- the sweep ---------------------------------------------------------- */

static int by_device_and_time(const void *a, const void *b)
{
    const struct boundary *x = a, *y = b;

    if (x->device != y->device)
        return MSIM_ORDER(x->device, y->device);
    return MSIM_ORDER(x->at, y->at);
}

/* `ps` go to what runs. */
static void give(struct msim_device_time *sum, const int32_t *running,
                 msim_ps ps)
{
    double us = (double)ps / (double)MSIM_PS_PER_US;
    int32_t all = 0;

    for (uint32_t k = 0; k < MSIM_TIME_IDLE; k++)
        all += running[k];
    for (uint32_t k = 0; k < MSIM_TIME_IDLE; k++)
        if (running[k])
            sum->us[k] += us * running[k] / all;
    if (!all)
        sum->us[MSIM_TIME_IDLE] += us;
}

/* How many devices there were. */
static uint32_t sweep(struct msim_device_time *sum, struct boundaries *b)
{
    int32_t running[MSIM_FAMILY_COUNT] = {0};
    uint32_t devices = 0;

    qsort(b->all, b->n, sizeof(*b->all), by_device_and_time);
    for (uint32_t i = 0; i < b->n; i++) {
        bool first = i == 0 || b->all[i].device != b->all[i - 1].device;

        devices += first;
        if (!first && b->all[i].at > b->all[i - 1].at)
            give(sum, running, b->all[i].at - b->all[i - 1].at);
        running[b->all[i].kind] += b->all[i].step;
    }
    return devices;
}

enum msim_status msim_device_time_add(struct msim_device_time *sum,
                                      const struct msim_trace *t)
{
    struct boundaries b = {0};
    struct msim_works *works;
    enum msim_status status = MSIM_OK;

    if (!t->has_times || (!t->has_gpu_events && uses_gpu(t)))
        return MSIM_OK;
    MSIM_TRY(msim_works_new(&works, t, NULL,
                            msim_opmap_place_of(t, !t->has_gpu_events)));
    status = t->has_gpu_events ? gpu_boundaries(&b, t, works)
                               : cpu_boundaries(&b, t, works);
    if (status == MSIM_OK)
        *(t->has_gpu_events ? &sum->gpus : &sum->cpus) += sweep(sum, &b);
    free(b.all);
    msim_works_free(works);
    return status;
}
