/*
 * predict/edit/edit_fuse.c - several kernels as one: which, and what it takes.
 *
 *   pointwise  neighbours on a stream over equally many elements. What one of
 *              them writes and the next reads stays in registers: each loses
 *              its share of the traffic.
 *
 *                  t = sum over kernels of t(i) * (1 - lost(i) / (r + w))
 *
 *              where a kernel reads r tensors and writes w, and loses one for
 *              each neighbour in the chain. Example: two kernels of 10 us, each
 *              one in, one out: 10 * 1/2 + 10 * 1/2 = 10 us.
 *   select     the same of all neighbours that are selected; what is not
 *              pointwise keeps its time.
 *   attention  fuse_attention.c
 *   optimizer  fuse_optimizer.c
 *
 * The first kernel becomes the fused one; of the others launch and work are
 * gone.
 */
#include "core/work/kernel/infer.h"
#include "predict/edit/edit_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- chains -------------------------------------------------------------- */

/* What is known of a kernel. */
struct fact {
    bool fits;
    bool light; /* its time is its traffic */
    double reads, writes, elems;
};

struct chains {
    struct msim_remake *d;
    struct msim_infer *infer;  /* of the rank at hand; t NULL: not made yet */
    struct msim_works **works; /* of ranks without GPU events, or NULL */
    uint32_t rank;
    uint32_t *tasks; /* of the chain at hand */
    struct fact *facts;
    uint32_t n, fused;
};

static struct fact fact_by_launch(const struct chains *c, uint32_t gpu)
{
    const struct msim_kernel_name *k = msim_infer_name(c->infer, gpu);

    bool light = k->kind == MSIM_KERNEL_ELEMENTWISE;

    return (struct fact){light, light, k->reads, k->writes,
                         c->infer->elems[gpu]};
}

static struct fact fact_by_work(const struct chains *c,
                                const struct msim_task_ref *ref)
{
    const struct msim_work *w;
    struct fact f = {.fits = false};
    double tensor;
    uint32_t n;

    (void)msim_works_of(c->works[ref->rank], ref->op, &w, &n);
    if (ref->work >= n || w[ref->work].family != MSIM_FAMILY_POINTWISE)
        return f;
    w += ref->work;
    tensor = (double)w->u.vector.elems * msim_dtype_bytes(w->dtype);
    return tensor > 0 ? (struct fact){true, true, w->bytes_read / tensor,
                                      w->bytes_written / tensor,
                                      (double)w->u.vector.elems}
                      : f;
}

static enum msim_status fact_of(struct chains *c, uint32_t task, struct fact *f)
{
    const struct msim_task_ref *ref = &c->d->g->refs[task];

    *f = (struct fact){.fits = false};
    if (c->d->g->kind[task] != MSIM_TASK_KERNEL || c->d->costs->removed[task])
        return MSIM_OK;
    if (ref->rank != c->rank) {
        msim_infer_release(c->infer);
        memset(c->infer, 0, sizeof(*c->infer));
        c->rank = ref->rank;
    }
    if (ref->index != MSIM_NONE) {
        if (!c->infer->t)
            MSIM_TRY(msim_infer_init(c->infer, c->d->ranks[ref->rank]));
        *f = fact_by_launch(c, ref->index);
    } else if (ref->op != MSIM_NONE && c->works) {
        *f = fact_by_work(c, ref);
    }
    if (!(f->reads + f->writes > 0))
        f->reads = f->writes = 1;
    if (c->d->edit->selects)
        f->fits = c->d->selected[task];
    return MSIM_OK;
}

/* Does anything but the stream and the launch hold it? */
static bool is_held(const struct msim_remake *d, uint32_t task)
{
    for (uint32_t i = d->cause_begin[task]; i < d->cause_begin[task + 1]; i++) {
        enum msim_edge_kind kind =
            msim_edge_kind_of(d->g->edge_kind[d->causes[i].edge]);

        if (kind != MSIM_EDGE_STREAM && kind != MSIM_EDGE_LAUNCH &&
            kind != MSIM_EDGE_PROGRAM)
            return true;
    }
    return false;
}

static bool follows(const struct chains *c, uint32_t task, const struct fact *f)
{
    const struct msim_graph *g = c->d->g;
    uint32_t last;

    if (!c->n || !f->fits)
        return false;
    last = c->tasks[c->n - 1];
    return g->lane[last] == g->lane[task] &&
           g->window[last] == g->window[task] && !is_held(c->d, task) &&
           (c->d->edit->selects ||
            (f->elems > 0 && f->elems == c->facts[c->n - 1].elems));
}

/* The chain at hand becomes one kernel. */
static void end_chain(struct chains *c)
{
    struct msim_cost_added sum = {0};
    const struct msim_costs *costs = c->d->costs;
    double mid = 0, low = 0, high = 0;
    msim_ps least = MSIM_RUN_MAX;

    for (uint32_t i = 0; i < c->n; i++) {
        const struct fact *f = &c->facts[i];
        uint32_t t = c->tasks[i];
        double all = f->reads + f->writes;
        double kept = (all - (i > 0) - (i + 1 < c->n)) / all;

        kept = !f->light ? 1 : kept > 0 ? kept : 0;
        mid += kept * (double)costs->mid[t];
        low += kept * (double)costs->low[t];
        high += kept * (double)costs->high[t];
        sum.flops += costs->flops[t];
        sum.limits.tensor += costs->limits[t].tensor;
        sum.limits.vector += costs->limits[t].vector;
        sum.limits.memory += (float)kept * costs->limits[t].memory;
        sum.limits.latency = costs->limits[t].latency; /* one kernel */
        least = costs->mid[t] < least ? costs->mid[t] : least;
    }
    if (c->n > 1) {
        sum.mid = mid > (double)least ? (msim_ps)mid : least;
        sum.low = low < (double)sum.mid ? (msim_ps)low : sum.mid;
        sum.high = high > (double)sum.mid ? (msim_ps)high : sum.mid;
        sum.source = costs->source[c->tasks[0]];
        sum.made_by = costs->made_by[c->tasks[0]];
        msim_fuse_tasks(c->d, c->tasks, c->n, &sum);
        c->fused++;
    }
    c->n = 0;
}

static enum msim_status find_chains(struct chains *c)
{
    const struct msim_graph *g = c->d->g;

    for (uint32_t t = 0; t < g->n_tasks; t++) {
        struct fact f;

        if (!msim_remake_is_gpu(c->d, t))
            continue;
        MSIM_TRY(fact_of(c, t, &f));
        if (!follows(c, t, &f))
            end_chain(c);
        if (!f.fits)
            continue;
        c->tasks[c->n] = t;
        c->facts[c->n++] = f;
    }
    end_chain(c);
    return c->fused ? MSIM_OK
                    : msim_remake_refuse(c->d, "no two kernels that could be "
                                               "fused follow each other");
}

/* Sizes of ranks without GPU events come from their operators. */
static enum msim_status need_works(struct msim_remake *d,
                                   struct msim_works ***works)
{
    bool planned = false;

    *works = NULL;
    for (uint32_t r = 0; r < d->g->job->n_ranks; r++)
        planned |= !d->ranks[r]->has_gpu_events;
    return planned
               ? msim_works_new_ranks(works, d->ranks, d->g->job->n_ranks,
                                      d->in->ops[0], msim_target_is_host(d->to))
               : MSIM_OK;
}

static enum msim_status fuse_chains(struct msim_remake *d)
{
    struct msim_infer infer = {.t = NULL};
    struct chains c = {.d = d, .infer = &infer, .rank = MSIM_NONE};
    size_t n = (size_t)d->g->n_tasks + 1;
    enum msim_status status = MSIM_ENOMEM;

    c.tasks = malloc(n * sizeof(*c.tasks));
    c.facts = malloc(n * sizeof(*c.facts));
    if (c.tasks && c.facts)
        status = need_works(d, &c.works);
    if (status == MSIM_OK)
        status = find_chains(&c);
    msim_infer_release(&infer);
    msim_works_free_ranks(c.works, d->g->job->n_ranks);
    free(c.tasks);
    free(c.facts);
    return status;
}

enum msim_status msim_edit_fuse(struct msim_remake *d)
{
    switch (d->edit->fuse) {
    case MSIM_FUSE_ATTENTION:
        return msim_fuse_attention(d);
    case MSIM_FUSE_OPTIMIZER:
        return msim_fuse_optimizer(d);
    case MSIM_FUSE_SELECT:
    case MSIM_FUSE_POINTWISE:
        break;
    }
    return fuse_chains(d);
}
