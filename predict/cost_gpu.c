/*
 * predict/cost_gpu.c - durations of GPU tasks.
 *
 * The works of an operator are estimated together. Under model costs its
 * kernels get equal shares: shapes give only their sum. Under scaled costs each
 * kernel keeps its measured share, and all are multiplied by one ratio. Copies
 * and collectives are estimated from their own event. A kernel without an
 * operator, or of an operator without shapes, is estimated from its name, its
 * launch and its neighbours (core/work/kernel/infer.h), or scaled by its class.
 */
#include "core/reshape/reshape.h"
#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "predict/carry/scaled.h"
#include "predict/predict_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PS_PER_US 1e6

/*
 * The work of a kernel of which only the number of threads is known. Each
 * thread is taken to read 16 bytes and write 8: two loads and a store of the
 * widest kind that elementwise kernels use.
 */
static struct msim_work kernel_work(const struct msim_trace *t,
                                    const struct msim_gpu *e)
{
    struct msim_work w;
    double threads = 1;

    memset(&w, 0, sizeof(w));
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

/* Keep that an estimate was bounded, for a warning an operator. */
static void note_bounded(const struct msim_costing *k, const char *name,
                         enum msim_bounded why)
{
    struct msim_costs *c = k->c;
    uint32_t i = 0, alike = msim_job_alike(k->g->job, k->rank);

    while (i < c->n_bounded && i < MSIM_COST_BOUNDED_MAX &&
           (c->bounded[i].why != why || strcmp(c->bounded[i].name, name) != 0))
        i++;
    if (i < c->n_bounded && i < MSIM_COST_BOUNDED_MAX)
        c->bounded[i].times += alike;
    else if (i < MSIM_COST_BOUNDED_MAX)
        c->bounded[c->n_bounded++] =
            (struct msim_cost_bounded){name, why, alike};
    else
        c->n_bounded += alike;
}

/* Do operators of a family deviate together? Not where the trace tells how far
 * they do: in scaled times, and in what another trace corrects. */
static bool deviates(const struct msim_costing *k)
{
    return !k->opt->source && !k->opt->correction;
}

/* All works of one operator, or of a kernel, of that name; `n` 0 leaves `d` at
 * zero. */
static enum msim_status estimate(struct msim_costing *k, const char *name,
                                 const struct msim_work *works, uint32_t n,
                                 struct msim_demand_estimate *d)
{
    memset(d, 0, sizeof(*d));
    for (uint32_t i = 0; i < n; i++) {
        const struct msim_work w = msim_costing_work(k, &works[i]);
        struct msim_estimate e;

        MSIM_TRY(msim_estimate_cache_predict(&k->cache, k->opt->platform, &w,
                                             k->opt->strict, &e, k->err));
        if (e.bounded)
            note_bounded(k, name, e.bounded);
        k->c->marks |= e.marks & MSIM_GUARD_BIT(MEMORY);
        if (deviates(k))
            msim_whole_job_widen(k->opt->platform, &w, k->alone, &e);
        msim_costing_add(&d->e, &e);
        d->flops += w.flops * msim_work_repeats(&w);
        msim_limits_add(&d->limits, k->opt->platform, &w);
        k->c->emulated |= 1u << msim_emulation_of(k->opt->platform, &w);
    }
    return MSIM_OK;
}

/* Correct an estimate by what the source trace shows of its machine. */
static void correct(const struct msim_costing *k, const char *name,
                    struct msim_estimate *e)
{
    if (k->opt->correction)
        msim_correction_apply(k->opt->correction, name, e);
}

/* The same works on the GPU that was traced; 0 unless costs are scaled. */
static enum msim_status estimate_source(struct msim_costing *k,
                                        const char *name,
                                        const struct msim_work *works,
                                        uint32_t n, struct msim_estimate *sum)
{
    memset(sum, 0, sizeof(*sum));
    for (uint32_t i = 0; i < n && k->opt->source; i++) {
        struct msim_estimate e;

        MSIM_TRY(msim_estimate_cache_predict(&k->cache_source, k->opt->source,
                                             &works[i], k->opt->strict, &e,
                                             k->err));
        msim_costing_add(sum, &e);
    }
    if (n && k->opt->source)
        correct(k, name, sum);
    return MSIM_OK;
}

/* Are operators given other sizes than those that took the traced times? */
static bool is_reshaped(const struct msim_costing *k)
{
    return k->opt->works_traced != NULL;
}

/* The rank at hand with the sizes that are asked for. */
static const struct msim_trace *asked_of(const struct msim_costing *k)
{
    return k->opt->works[k->rank]->trace;
}

/* Is there a time to scale? A negative one is an artefact of clocks. */
static bool has_time(const struct msim_costing *k, uint32_t task)
{
    return k->opt->source && k->g->traced[task] >= 0;
}

static double traced_us(const struct msim_costing *k, uint32_t task)
{
    return (double)k->g->traced[task] / PS_PER_US;
}

/* One task of the `n` that do the work which takes `to` on the target and
 * `from` on the source; all `n` were measured at `whole_us`. */
static void set_share(struct msim_costing *k, uint32_t task,
                      const struct msim_demand_estimate *to,
                      const struct msim_estimate *from, uint32_t n,
                      double whole_us)
{
    const struct msim_scaling s = {k->opt->source, k->opt->platform, *from,
                                   to->e,          is_reshaped(k),   whole_us};
    double share = 1.0 / n;
    struct msim_demand_estimate d = {.flops = to->flops * share,
                                     .limits =
                                         msim_limits_share(&to->limits, share)};

    if (!has_time(k, task) || (s.reshaped && !(whole_us > 0))) {
        msim_costing_set(k, task, to, share);
        return;
    }
    msim_scaled_by_model(&s, traced_us(k, task), &d.e);
    msim_costing_set(k, task, &d, 1);
}

/* What the `n` kernels of the rank at hand took together; those without a time
 * as long as the others. */
static double whole_us(const struct msim_costing *k, const uint32_t *kernels,
                       uint32_t n)
{
    double us = 0;
    uint32_t timed = 0;

    for (uint32_t i = 0; i < n; i++)
        if (has_time(k, k->task_of[kernels[i]])) {
            us += traced_us(k, k->task_of[kernels[i]]);
            timed++;
        }
    return timed ? us * n / timed : 0;
}

/* `name` is the operator's, or the event's where no operator launched it. */
static enum msim_status cost_one(struct msim_costing *k, uint32_t task,
                                 const char *name, const struct msim_work *to,
                                 const struct msim_work *from)
{
    struct msim_demand_estimate d;
    struct msim_estimate source;

    MSIM_TRY(estimate(k, name, to, 1, &d));
    correct(k, name, &d.e);
    MSIM_TRY(estimate_source(k, name, from, 1, &source));
    set_share(k, task, &d, &source, 1,
              has_time(k, task) ? traced_us(k, task) : 0);
    return MSIM_OK;
}

/* Under --strict an error, by name, for what no model covers. */
static enum msim_status uncovered(struct msim_costing *k, uint32_t op,
                                  const struct msim_gpu *e)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];

    if (!k->opt->strict)
        return MSIM_OK;
    return msim_fail(k->err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                     "no model covers %s '%s' on '%s'; without --strict it is "
                     "%s",
                     op != MSIM_NONE                   ? "operator"
                     : e && e->kind >= MSIM_GPU_MEMCPY ? "copy"
                                                       : "kernel",
                     op != MSIM_NONE ? msim_trace_text(t, t->ops[op].name)
                     : e             ? msim_trace_text(t, e->name)
                                     : "",
                     msim_platform_name(k->opt->platform),
                     k->opt->source ? "scaled by what its name and launch say"
                     : e            ? "guessed from its name and launch"
                                    : "bounded by its memory traffic");
}

/* Make the context for inferred works of the rank at hand, on first use. */
static enum msim_status need_infer(struct msim_costing *k)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];
    enum msim_status status;

    if (k->infer.t)
        return MSIM_OK;
    status = msim_infer_init(&k->infer, t);
    if (status != MSIM_OK)
        msim_infer_release(&k->infer);
    return status;
}

/* The operator that launched kernel `i`, else the kernel itself. */
static const char *shown_name(const struct msim_trace *t, uint32_t i)
{
    uint32_t op = t->gpu[i].op;

    return msim_trace_text(t,
                           op != MSIM_NONE ? t->ops[op].name : t->gpu[i].name);
}

/* Nothing in the name of a kernel says what it does: it may be all that its
 * operator's tensors can ask for, of which it is one of `n` kernels. */
static enum msim_status hold_operator(struct msim_costing *k, uint32_t op,
                                      struct msim_estimate *e)
{
    const struct msim_works *all = k->opt->works[k->rank];
    const struct msim_work *works;
    struct msim_demand_estimate d;
    uint32_t n;

    if (op == MSIM_NONE ||
        msim_works_of(all, op, &works, &n) != MSIM_OPMAP_UNKNOWN)
        return MSIM_OK;
    MSIM_TRY(estimate(k, "", works, n, &d));
    n = all->kernels.begin[op + 1] - all->kernels.begin[op];
    e->high_us = fmax(e->high_us, d.e.high_us / n);
    return MSIM_OK;
}

/* By the law of its family and inferred sizes; `*known` is false where none can
 * be inferred. */
static enum msim_status cost_inferred(struct msim_costing *k, uint32_t op,
                                      uint32_t i, bool *known)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];
    struct msim_demand_estimate d;
    struct msim_work w;
    double log_sd;

    MSIM_TRY(need_infer(k));
    *known = msim_infer_work(&k->infer, i, &w, &log_sd);
    if (!*known)
        return MSIM_OK;
    MSIM_TRY(estimate(k, shown_name(t, i), &w, 1, &d));
    correct(k, msim_trace_text(t, t->gpu[i].name), &d.e);
    msim_infer_widen(&d.e, log_sd);
    if (msim_infer_blind(&k->infer, i))
        MSIM_TRY(hold_operator(k, op, &d.e));
    msim_costing_set(k, k->task_of[i], &d, 1);
    return MSIM_OK;
}

/* A kernel with a traced time and no work: scaled by its class. */
static void cost_class(struct msim_costing *k, uint32_t i)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];
    const struct msim_gpu *e = &t->gpu[i];
    struct msim_kernel_facts facts = {
        .name = msim_trace_text(t, e->name),
        .config = e->config == MSIM_NONE ? NULL : &t->configs[e->config],
        .us = traced_us(k, k->task_of[i]),
        .communication = e->kind == MSIM_GPU_COMM,
    };
    struct msim_demand_estimate d = {0};

    msim_scaled_by_class(k->opt->source, k->opt->platform, &facts, &d.e);
    msim_costing_set(k, k->task_of[i], &d, 1);
    k->c->made_by[k->task_of[i]] = MSIM_COST_CLASS;
}

/*
 * What a generator states of a node: its time, else the operations and bytes of
 * a roofline, which nothing says more of. Tensor cores do the operations: in
 * 16 bits, as is usual.
 */
static enum msim_status cost_stated(struct msim_costing *k, uint32_t i)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];
    const struct msim_gpu *e = &t->gpu[i];
    const struct msim_stated_work *s = &t->stated[e->stated - 1];
    struct msim_demand_estimate d;
    struct msim_work w;

    memset(&w, 0, sizeof(w)); /* works are compared by their bytes */
    w.family = MSIM_FAMILY_BOUND;
    w.dtype = MSIM_DT_F16;
    w.variant = "";
    w.kernels = 1;
    w.flops = s->flops;
    w.bytes_read = s->bytes;
    w.user.us = (double)s->dur / PS_PER_US;
    if (!s->dur)
        MSIM_TRY(uncovered(k, MSIM_NONE, e));
    MSIM_TRY(estimate(k, msim_trace_text(t, e->name), &w, 1, &d));
    if (s->dur)
        d.e.source = MSIM_SOURCE_MEASURED;
    msim_costing_set(k, k->task_of[i], &d, 1);
    if (s->dur)
        k->c->made_by[k->task_of[i]] = MSIM_COST_TRACED;
    return MSIM_OK;
}

/* A kernel without an operator or without shapes: by its class where it has a
 * time to scale, by inferred sizes where there are some, else a bound. */
static enum msim_status cost_unknown(struct msim_costing *k, uint32_t op,
                                     uint32_t i)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];
    const struct msim_gpu *e = &t->gpu[i];
    struct msim_work w = kernel_work(t, e);
    bool known = false;

    if (e->stated)
        return cost_stated(k, i);
    MSIM_TRY(uncovered(k, op, e));
    if (has_time(k, k->task_of[i])) {
        cost_class(k, i);
        return MSIM_OK;
    }
    MSIM_TRY(cost_inferred(k, op, i, &known));
    if (known)
        return MSIM_OK;
    return cost_one(k, k->task_of[i], msim_trace_text(t, e->name), &w, &w);
}

/* The kernels that op `i` of the rank at hand launched. */
static enum msim_status cost_op(struct msim_costing *k, uint32_t i)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];
    const struct msim_op_kernels *l = &k->opt->works[k->rank]->kernels;
    uint32_t begin = l->begin[i], end = l->begin[i + 1], n;
    const struct msim_work *works, *traced;
    struct msim_demand_estimate d;
    struct msim_estimate source;
    enum msim_opmap_result r;
    uint32_t n_traced;
    double whole;

    if (begin == end)
        return MSIM_OK;
    whole = whole_us(k, l->gpu + begin, end - begin);
    r = msim_works_of(k->opt->works[k->rank], i, &works, &n);
    (void)msim_works_of(is_reshaped(k) ? k->opt->works_traced[k->rank]
                                       : k->opt->works[k->rank],
                        i, &traced, &n_traced);
    /* A bound is no basis for a ratio of two GPUs; for one of two sizes it
     * is. */
    if (r == MSIM_OPMAP_NO_KERNEL ||
        (r == MSIM_OPMAP_UNKNOWN && k->opt->source && !is_reshaped(k)))
        n = 0;
    if (!k->opt->source) {
        MSIM_TRY(need_infer(k));
        if (msim_infer_decides(&k->infer, l, i, r, works, n))
            n = 0;
    }
    if (n && r != MSIM_OPMAP_WORKS)
        MSIM_TRY(uncovered(k, i, NULL));
    MSIM_TRY(estimate(k, msim_trace_text(t, t->ops[i].name), works, n, &d));
    correct(k, msim_trace_text(t, t->ops[i].name), &d.e);
    MSIM_TRY(estimate_source(k, msim_trace_text(t, t->ops[i].name), traced,
                             n ? n_traced : 0, &source));
    for (uint32_t j = begin; j < end; j++)
        if (n)
            set_share(k, k->task_of[l->gpu[j]], &d, &source, end - begin,
                      whole);
        else
            MSIM_TRY(cost_unknown(k, i, l->gpu[j]));
    return MSIM_OK;
}

/* The work of a transfer in the whole job, of which the ranks at hand are a
 * part, on its nodes. */
static struct msim_work grow(const struct msim_costing *k, struct msim_work w,
                             uint32_t comm)
{
    const struct msim_job *job = k->g->job;
    const struct msim_trace *t = job->ranks[k->rank];

    if (w.family != MSIM_FAMILY_COLLECTIVE)
        return w;
    if (k->opt->ranks)
        w = msim_comm_grow(w, t, comm, job->n_ranks, k->opt->ranks);
    msim_comm_place(&w, t, comm, k->opt->gpus_a_node);
    return w;
}

/* A transfer whose size is not recorded: the size is inferred. */
static enum msim_status cost_unsized(struct msim_costing *k, uint32_t i,
                                     struct msim_work w)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];
    const struct msim_gpu *e = &t->gpu[i];
    struct msim_demand_estimate d;
    double log_sd;

    MSIM_TRY(need_infer(k));
    msim_infer_comm(&k->infer, i, &w, &log_sd);
    w = grow(k, w, e->comm);
    MSIM_TRY(estimate(k, msim_trace_text(t, e->name), &w, 1, &d));
    correct(k, msim_trace_text(t, e->name), &d.e);
    msim_infer_widen(&d.e, log_sd);
    msim_costing_set(k, k->task_of[i], &d, 1);
    return MSIM_OK;
}

/* A collective or one half of a point-to-point pair. Where the trace does not
 * have its size, a time is scaled by its class; else the size is inferred. */
static enum msim_status cost_transfer(struct msim_costing *k, uint32_t i)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];
    const struct msim_gpu *e = &t->gpu[i];
    struct msim_work from = msim_comm_work(t, e->comm);
    struct msim_work to = msim_comm_work(asked_of(k), e->comm);

    if (to.u.coll.bytes == 0 && to.u.coll.collective != MSIM_COLL_BARRIER)
        return k->opt->source ? cost_unknown(k, MSIM_NONE, i)
                              : cost_unsized(k, i, to);
    to = grow(k, to, e->comm);
    return cost_one(k, k->task_of[i], msim_trace_text(t, e->name), &to, &from);
}

/* A kernel that only its name shows to be communication. */
static enum msim_status cost_named_transfer(struct msim_costing *k, uint32_t i)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];

    if (k->opt->source)
        return cost_unknown(k, MSIM_NONE, i);
    return cost_unsized(
        k, i, msim_comm_work_by_name(t, msim_trace_text(t, t->gpu[i].name)));
}

static enum msim_status cost_event(struct msim_costing *k, uint32_t i)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];
    const struct msim_gpu *e = &t->gpu[i];
    struct msim_work w, to;
    uint64_t bytes;

    if (e->kind == MSIM_GPU_KERNEL && e->op != MSIM_NONE)
        return MSIM_OK; /* with its operator */
    if (e->stated)
        return cost_stated(k, i);
    if (e->kind == MSIM_GPU_COMM)
        return e->comm == MSIM_NONE ? cost_named_transfer(k, i)
                                    : cost_transfer(k, i);
    if (e->kind == MSIM_GPU_KERNEL)
        return cost_unknown(k, MSIM_NONE, i);
    bytes = msim_copied_bytes(t, e);
    if (bytes == 0)
        return cost_unknown(k, MSIM_NONE, i);
    w = msim_copy_work(e, bytes);
    bytes =
        (uint64_t)((double)bytes * msim_reshaped_growth(asked_of(k), t, e->op));
    to = msim_copy_work(e, bytes);
    return cost_one(k, k->task_of[i], msim_trace_text(t, e->name), &to, &w);
}

/* GPU tasks of a rank whose GPU events are in the trace. */
enum msim_status msim_cost_rank(struct msim_costing *k)
{
    const struct msim_trace *t = k->g->job->ranks[k->rank];
    enum msim_status status = MSIM_OK;

    k->task_of = malloc(((size_t)t->n_gpu + 1) * sizeof(*k->task_of));
    if (!k->task_of)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < k->g->n_tasks; i++)
        if (k->g->refs[i].rank == k->rank &&
            k->g->kind[i] >= MSIM_TASK_KERNEL &&
            k->g->kind[i] <= MSIM_TASK_COMM)
            k->task_of[k->g->refs[i].index] = i;
    for (uint32_t i = 0; i < t->n_ops && status == MSIM_OK; i++)
        status = cost_op(k, i);
    for (uint32_t i = 0; i < t->n_gpu && status == MSIM_OK; i++)
        status = cost_event(k, i);
    msim_infer_release(&k->infer);
    free(k->task_of);
    k->task_of = NULL;
    return status;
}

/* What all works of an operator take by the models. */
static enum msim_status sum_of(struct msim_costing *k,
                               const struct msim_work *works, uint32_t n,
                               double *us)
{
    struct msim_estimate e;

    *us = 0;
    for (uint32_t i = 0; i < n; i++, *us += e.us) {
        const struct msim_work w = msim_costing_work(k, &works[i]);

        MSIM_TRY(msim_estimate_cache_predict(&k->cache, k->opt->platform, &w,
                                             k->opt->strict, &e, k->err));
    }
    return MSIM_OK;
}

/* Is the job made of the trace that corrects the models, on its GPU? */
static bool is_as_recorded(const struct msim_costing *k)
{
    return k->opt->recorded && k->opt->correction && !k->opt->source &&
           msim_correction_is_on(k->opt->correction, k->opt->platform);
}

/* One of an operator's works, whose kernels together take what they took in the
 * trace that the job is made of; by the models where no such call is there. */
static enum msim_status cost_recorded(struct msim_costing *k, uint32_t task,
                                      const struct msim_work *w,
                                      const struct msim_work *works, uint32_t n)
{
    const struct msim_task_ref *ref = &k->g->refs[task];
    const struct msim_trace *t = k->g->job->ranks[ref->rank];
    const char *name = msim_trace_text(t, t->ops[ref->op].name);
    struct msim_recorded_time r;
    struct msim_demand_estimate d;
    double sum;

    if (!is_as_recorded(k) || w->family == MSIM_FAMILY_COLLECTIVE ||
        !msim_correction_recorded(k->opt->correction, t, ref->op, &r))
        return cost_one(k, task, name, w, w);
    MSIM_TRY(estimate(k, name, w, 1, &d));
    MSIM_TRY(sum_of(k, works, n, &sum));
    if (sum > 0) {
        d.e.low_us = d.e.us * r.least_us / sum;
        d.e.high_us = d.e.us * r.most_us / sum;
        d.e.us *= r.us / sum;
        d.e.source = MSIM_SOURCE_SCALED;
    }
    msim_costing_set(k, task, &d, 1);
    return MSIM_OK;
}

/* A task of a planned rank: one work of one operator. */
enum msim_status msim_cost_planned(struct msim_costing *k, uint32_t task)
{
    const struct msim_task_ref *ref = &k->g->refs[task];
    const struct msim_trace *t = k->g->job->ranks[ref->rank];
    const struct msim_work *works;
    struct msim_work w;
    uint32_t n;

    (void)msim_works_of(k->opt->works[ref->rank], ref->op, &works, &n);
    assert(ref->work < n); /* the plan was made of the same works */
    k->rank = ref->rank;
    if (works[ref->work].family == MSIM_FAMILY_BOUND)
        MSIM_TRY(uncovered(k, ref->op, NULL));
    w = grow(k, works[ref->work], t->ops[ref->op].comm);
    return cost_recorded(k, task, &w, works, n);
}
