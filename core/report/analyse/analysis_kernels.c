/*
 * core/report/analyse/analysis_kernels.c - kernels, copies and transfers of one
 * rank by name.
 *
 * A model knows what an operator takes and not how its kernels share it, so
 * there are no rows where durations come from models alone.
 */
#include "core/base/containers.h"
#include "core/graph/graph.h"
#include "core/report/analyse/analysis_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct kernels {
    const struct msim_findings *f;
    const struct msim_trace *t;
    struct msim_idmap row_of; /* by name and kind of task */
    struct msim_kernel_row *rows;
    uint32_t n, capacity;
};

static enum msim_status add_task(struct kernels *k, uint32_t task)
{
    const struct msim_graph *g = k->f->g;
    uint32_t index = g->refs[task].index, name = msim_task_own_name(g, task);
    double us = msim_us(k->f->o->mid.dur[task]);
    struct msim_kernel_row *row;
    uint32_t *slot;

    MSIM_TRY(msim_idmap_put(&k->row_of, (uint64_t)name << 8 | g->kind[task],
                            k->n, &slot));
    if (*slot == k->n) {
        MSIM_TRY(
            msim_grow((void **)&k->rows, &k->capacity, k->n, sizeof(*k->rows)));
        k->rows[k->n++] = (struct msim_kernel_row){
            .name = msim_trace_text(k->t, name),
            .kind = msim_task_kind_text((enum msim_task_kind)g->kind[task]),
        };
    }
    row = &k->rows[*slot];
    row->calls++;
    row->us += us;
    if (index != MSIM_NONE)
        row->measured_us += msim_us(k->t->gpu[index].dur);
    row->longest_us = fmax(row->longest_us, us);
    return MSIM_OK;
}

static int by_time(const void *a, const void *b)
{
    const struct msim_kernel_row *x = a, *y = b;
    int order;

    if (x->us != y->us)
        return MSIM_ORDER(y->us, x->us);
    order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->kind, y->kind);
}

static enum msim_status write_rows(struct kernels *k, uint32_t windows)
{
    struct msim_prediction *p = k->f->p;

    p->kernels =
        msim_arena_alloc(&p->arena, ((size_t)k->n + 1) * sizeof(*p->kernels));
    if (!p->kernels)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < k->n; i++) {
        k->rows[i].calls /= windows;
        k->rows[i].us /= windows;
        k->rows[i].measured_us /= windows;
        p->kernels[p->n_kernels++] = k->rows[i];
    }
    if (k->n)
        qsort(p->kernels, p->n_kernels, sizeof(*p->kernels), by_time);
    return MSIM_OK;
}

/* A removed activity is none. */
static bool is_counted(const struct msim_findings *f, uint32_t t, uint32_t rank)
{
    const uint8_t *removed = f->o->mid.removed;

    return f->g->refs[t].rank == rank && f->g->kind[t] >= MSIM_TASK_KERNEL &&
           f->g->kind[t] <= MSIM_TASK_COMM && msim_task_own_name(f->g, t) &&
           !(removed && removed[t]) &&
           msim_window_selected(f->g, f->g->window[t], f->iteration);
}

enum msim_status msim_analyse_kernels(const struct msim_findings *f,
                                      uint32_t rank)
{
    struct kernels k = {.f = f, .t = f->g->job->ranks[rank]};
    enum msim_status status = MSIM_OK;

    if (!f->o->gpu_times || !k.t->has_gpu_events)
        return MSIM_OK;
    for (uint32_t t = 0; t < f->g->n_tasks && status == MSIM_OK; t++)
        if (is_counted(f, t, rank))
            status = add_task(&k, t);
    if (status == MSIM_OK)
        status = write_rows(&k, msim_findings_windows(f, rank));
    msim_idmap_release(&k.row_of);
    free(k.rows);
    return status;
}
