/*
 * predict/usage/task_holding.c - what every task keeps on the SMs.
 */
#include "predict/usage/task_holding.h"

#include "core/work/kernel/infer.h"
#include "models/estimate/model.h"
#include "predict/usage/work_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one task ------------------------------------------------------------ */

/* Blocks of all works of an operator; 0: not known. */
static double blocks_of(const struct msim_holding_ask *ask,
                        struct msim_works *works, uint32_t op)
{
    const struct msim_work *w;
    double blocks = 0;
    uint32_t n;

    (void)msim_works_of(works, op, &w, &n);
    for (uint32_t i = 0; i < n; i++)
        blocks += (double)msim_work_grid(&ask->gpu, &w[i]).blocks;
    return blocks;
}

/* By how much the grids of an operator grow with the sizes that it is given. */
static double growth(const struct msim_holding_ask *ask, uint32_t rank,
                     uint32_t op)
{
    double now, traced;

    if (!ask->traced || op == MSIM_NONE)
        return 1;
    now = blocks_of(ask, ask->works[rank], op);
    traced = blocks_of(ask, ask->traced[rank], op);
    return now > 0 && traced > 0 ? now / traced : 1;
}

/* Without a launch: a work of its operator, which may have more of them. */
static struct msim_residency by_work(const struct msim_holding_ask *ask,
                                     const struct msim_task_ref *ref)
{
    const struct msim_residency none = {0};
    const struct msim_work *w;
    uint32_t n;

    if (ref->op == MSIM_NONE)
        return none;
    (void)msim_works_of(ask->works[ref->rank], ref->op, &w, &n);
    if (!n)
        return none;
    return msim_work_grid(&ask->gpu, &w[ref->work < n ? ref->work : n - 1]);
}

static uint32_t config_of(const struct msim_graph *g, uint32_t task)
{
    const struct msim_task_ref *ref = &g->refs[task];

    return ref->index == MSIM_NONE
               ? MSIM_NONE
               : g->job->ranks[ref->rank]->gpu[ref->index].config;
}

/* A kernel that is not in the trace: 4 bytes in and 4 out an element. */
static struct msim_residency of_added(const struct msim_holding_ask *ask,
                                      uint32_t task)
{
    struct msim_work w;
    double bytes;

    if (!ask->limits)
        return (struct msim_residency){0};
    bytes = (double)ask->limits[task].memory * 1e-6 * ask->bandwidth;
    memset(&w, 0, sizeof(w));
    w.family = MSIM_FAMILY_POINTWISE;
    w.u.vector.elems = (int64_t)(bytes / 8);
    return bytes > 0 ? msim_work_grid(&ask->gpu, &w)
                     : (struct msim_residency){0};
}

static struct msim_residency of_launch(const struct msim_holding_ask *ask,
                                       uint32_t task)
{
    const struct msim_task_ref *ref = &ask->g->refs[task];
    const struct msim_trace *t = ask->g->job->ranks[ref->rank];
    uint32_t config = config_of(ask->g, task);
    struct msim_residency r = {0}, other;

    if (config == MSIM_NONE)
        return by_work(ask, ref);
    r = msim_occupancy_residency(&ask->gpu, &t->configs[config]);
    r.blocks *= (float)growth(ask, ref->rank, ref->op);
    if (r.resident > 0 || !msim_occupancy_threads(&ask->gpu))
        return r;
    other = by_work(ask, ref);
    return other.blocks > 0 ? other : r;
}

static struct msim_holding of_task(const struct msim_holding_ask *ask,
                                   uint32_t task)
{
    const struct msim_graph *g = ask->g;
    struct msim_residency r = g->own_name && g->own_name[task]
                                  ? of_added(ask, task)
                                  : of_launch(ask, task);

    return msim_occupancy_holding(&r, ask->gpu.sms,
                                  msim_occupancy_threads(&ask->gpu));
}

/* ---- kernels of one operator --------------------------------------------- */

/* What a kernel takes by itself, us; 0: not known. */
struct part {
    double us;
    bool product; /* a matrix product, a convolution or attention */
};

struct mixing {
    const struct msim_holding_ask *ask;
    struct msim_holding *out;
    struct msim_infer infer;
    struct msim_estimate_cache cache;
    uint32_t *task_of;  /* of each GPU event of the rank at hand */
    struct part *parts; /* room for as many */
    struct msim_error *err;
};

static enum msim_status alone(struct mixing *m, uint32_t gpu_event,
                              struct part *out)
{
    struct msim_estimate e;
    struct msim_work w;
    double log_sd;

    *out = (struct part){0};
    if (!msim_infer_work(&m->infer, gpu_event, &w, &log_sd))
        return MSIM_OK;
    MSIM_TRY(msim_estimate_cache_predict(&m->cache, m->ask->platform, &w, false,
                                         &e, m->err));
    out->us = e.us;
    out->product = w.family == MSIM_FAMILY_GEMM ||
                   w.family == MSIM_FAMILY_CONV ||
                   w.family == MSIM_FAMILY_ATTENTION;
    return MSIM_OK;
}

static struct msim_filling mean_of(const struct msim_holding *h)
{
    struct msim_filling f = {.share = 1};

    for (uint32_t i = 0; i < h->n; i++) {
        f.sms += h->of[i].share * h->of[i].sms;
        f.threads += h->of[i].share * h->of[i].threads;
    }
    return f;
}

/* Do all take equally long? Then nothing was known of each by itself. */
static bool are_equal(const struct mixing *m, const uint32_t *gpu, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (m->ask->dur[m->task_of[gpu[i]]] != m->ask->dur[m->task_of[gpu[0]]])
            return false;
    return n > 1;
}

/* By how much the estimates of products are to be multiplied, so that with the
 * others (`sum`: of both) they take what the operator does: a grid as large as
 * the GPU says nothing of a product's size. Never less than 1. */
static double rest(const struct mixing *m, const uint32_t *gpu, uint32_t n,
                   const double sum[2])
{
    double all = (double)m->ask->dur[m->task_of[gpu[0]]] * n / MSIM_PS_PER_US;

    return sum[1] > 0 ? fmax(1, (all - sum[0]) / sum[1]) : 1;
}

/* What prepares a product may be named after it, and has a block or two: below
 * this share of the most threads it is none. */
#define FEW 0.02

/* Estimates of all; false where one of them is not known. */
static enum msim_status parts_of(struct mixing *m, const uint32_t *gpu,
                                 uint32_t n, bool *known)
{
    double sum[2] = {0, 0}, most = 0, more;

    *known = false;
    for (uint32_t i = 0; i < n; i++) {
        MSIM_TRY(alone(m, gpu[i], &m->parts[i]));
        if (!(m->parts[i].us > 0) || !m->out[m->task_of[gpu[i]]].n)
            return MSIM_OK;
        if (m->parts[i].product)
            most = fmax(most, msim_infer_threads(&m->infer, gpu[i]));
    }
    for (uint32_t i = 0; i < n; i++) {
        if (msim_infer_threads(&m->infer, gpu[i]) < FEW * most)
            m->parts[i].product = false;
        sum[m->parts[i].product] += m->parts[i].us;
    }
    more = rest(m, gpu, n, sum);
    for (uint32_t i = 0; i < n; i++)
        if (m->parts[i].product)
            m->parts[i].us *= more;
    *known = true;
    return MSIM_OK;
}

static enum msim_status mix(struct mixing *m, const uint32_t *gpu, uint32_t n)
{
    struct msim_holding all = {.n = 1, .of = {{.share = 1}}};
    double sum = 0;
    bool known;

    if (!are_equal(m, gpu, n))
        return MSIM_OK;
    MSIM_TRY(parts_of(m, gpu, n, &known));
    if (!known)
        return MSIM_OK;
    for (uint32_t i = 0; i < n; i++) {
        struct msim_filling f = mean_of(&m->out[m->task_of[gpu[i]]]);

        all.of[0].sms += m->parts[i].us * f.sms;
        all.of[0].threads += m->parts[i].us * f.threads;
        sum += m->parts[i].us;
    }
    all.of[0].sms /= sum;
    all.of[0].threads /= sum;
    for (uint32_t i = 0; i < n; i++)
        m->out[m->task_of[gpu[i]]] = all;
    return MSIM_OK;
}

static enum msim_status mix_rank(struct mixing *m, uint32_t rank)
{
    const struct msim_graph *g = m->ask->g;
    const struct msim_trace *t = g->job->ranks[rank];
    const struct msim_op_kernels *k = &m->ask->works[rank]->kernels;

    MSIM_TRY(msim_infer_init(&m->infer, t));
    m->task_of = malloc(((size_t)t->n_gpu + 1) * sizeof(*m->task_of));
    m->parts = malloc(((size_t)t->n_gpu + 1) * sizeof(*m->parts));
    if (!m->task_of || !m->parts)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_gpu; i++)
        m->task_of[i] = MSIM_NONE;
    for (uint32_t i = 0; i < g->n_tasks; i++)
        if (g->refs[i].rank == rank && g->kind[i] == MSIM_TASK_KERNEL &&
            g->refs[i].index != MSIM_NONE)
            m->task_of[g->refs[i].index] = i;
    for (uint32_t i = 0; i < t->n_ops; i++) {
        uint32_t begin = k->begin[i], end = k->begin[i + 1], n = 0;

        while (begin + n < end && m->task_of[k->gpu[begin + n]] != MSIM_NONE)
            n++;
        MSIM_TRY(mix(m, &k->gpu[begin], n));
    }
    return MSIM_OK;
}

static enum msim_status mix_all(struct msim_holding *out,
                                const struct msim_holding_ask *ask,
                                struct msim_error *err)
{
    enum msim_status status = MSIM_OK;

    for (uint32_t r = 0; r < ask->g->job->n_ranks && status == MSIM_OK; r++) {
        struct mixing m = {.ask = ask, .out = out, .err = err};

        if (ask->g->job->ranks[r]->has_gpu_events)
            status = mix_rank(&m, r);
        msim_infer_release(&m.infer);
        msim_estimate_cache_release(&m.cache);
        free(m.task_of);
        free(m.parts);
    }
    return status;
}

enum msim_status msim_task_holding_new(struct msim_holding **out,
                                       const struct msim_holding_ask *ask,
                                       struct msim_error *err)
{
    const struct msim_graph *g = ask->g;
    enum msim_status status = MSIM_OK;

    *out = calloc((size_t)g->n_tasks + 1, sizeof(**out));
    if (!*out)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < g->n_tasks; i++)
        if (g->kind[i] == MSIM_TASK_KERNEL || g->kind[i] == MSIM_TASK_COMM)
            (*out)[i] = of_task(ask, i);
    if (ask->platform)
        status = mix_all(*out, ask, err);
    if (status != MSIM_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}
