/*
 * predict/edit/fuse_optimizer.c - the step of an optimizer in PyTorch's fused
 * form (fused=True): one kernel over lists of tensors that reads parameters,
 * gradients and state once and writes parameters and state once.
 *
 *     Adam, AdamW   reads 4 tensors of each parameter, writes 3
 *     SGD           2 and 1; with momentum 3 and 2
 *     Adagrad       3 and 2
 *
 * The number of elements N is that of the operator of the step that sees each
 * parameter once: of the sums over operators of one name the least that is a
 * tenth of the largest (others, of scalars, are far below; an operator that is
 * called twice a parameter has 2 N).
 *
 * What the step takes is the model's time for the fused kernels, times what the
 * kernels of the trace take over the models' time for them; where a kernel has
 * no work the model's time alone.
 */
#include "core/work/kernel_fact.h"
#include "core/work/work.h"
#include "predict/edit/edit_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTS 4 /* of Adam: parameters, gradients, two of its state */

static const struct {
    const char *name; /* in the label of the step */
    const char *variant;
    int reads, writes, flops;
} FORMS[] = {
    {"#AdamW.", "_fused_adamw_", 4, 3, 14},
    {"#Adam.", "_fused_adam_", 4, 3, 14},
    {"#Adagrad.", "_fused_adagrad_", 3, 2, 8},
    {"#SGD.", "_fused_sgd_", 2, 1, 4},
};
#define N_FORMS (sizeof(FORMS) / sizeof(FORMS[0]))

/* What one operator name does in a step. */
struct name_sum {
    uint32_t name, tensors;
    double elems;
};

struct step {
    struct msim_remake *d;
    struct msim_works **works;
    uint32_t mark; /* the label's operator */
    const struct msim_trace *t;
    uint32_t *tasks, n;
    struct name_sum *names;
    uint32_t n_names;
    uint32_t fused; /* steps so far */
};

static uint32_t step_of(const struct msim_trace *t, uint32_t op)
{
    for (; op != MSIM_NONE; op = t->ops[op].parent)
        if (!strncmp(msim_trace_text(t, t->ops[op].name), "Optimizer.step#",
                     15))
            return op;
    return MSIM_NONE;
}

/* ---- sizes --------------------------------------------------------------- */

static double elems_of(const struct msim_trace *t, uint32_t op,
                       uint32_t *tensors)
{
    const struct msim_arg *a = msim_args_get(t, t->ops[op].args, 0);
    double sum = 0;

    *tensors = 0;
    if (!a || (a->kind != MSIM_ARG_TENSOR && a->kind != MSIM_ARG_LIST))
        return 0;
    for (const struct msim_arg *x = a, *end = msim_arg_next(a); x < end; x++)
        if (x->kind == MSIM_ARG_TENSOR) {
            sum += (double)msim_arg_elems(t, x);
            ++*tensors;
        }
    return sum;
}

/* Add an operator once, however many kernels it has. */
static void add_op(struct step *s, uint32_t op)
{
    uint32_t name = s->t->ops[op].name, tensors, i = 0;
    double elems = elems_of(s->t, op, &tensors);

    while (i < s->n_names && s->names[i].name != name)
        i++;
    if (i == s->n_names)
        s->names[s->n_names++] = (struct name_sum){.name = name};
    s->names[i].elems += elems;
    s->names[i].tensors += tensors;
}

static struct name_sum size_of(const struct step *s)
{
    struct name_sum most = {0, 0, 0}, least;

    for (uint32_t i = 0; i < s->n_names; i++)
        if (s->names[i].elems > most.elems)
            most = s->names[i];
    least = most;
    for (uint32_t i = 0; i < s->n_names; i++)
        if (s->names[i].elems >= most.elems / 10 &&
            s->names[i].elems < least.elems)
            least = s->names[i];
    return least;
}

/* SGD keeps momentum where it multiplies a state. */
static bool has_momentum(const struct step *s, double elems)
{
    for (uint32_t i = 0; i < s->n_names; i++)
        if (strstr(msim_trace_text(s->t, s->names[i].name), "mul_") &&
            s->names[i].elems >= elems)
            return true;
    return false;
}

/* ---- times --------------------------------------------------------------- */

static enum msim_status find_form(struct step *s, struct msim_work *w,
                                  uint32_t *kernels)
{
    const char *label = msim_trace_text(s->t, s->t->ops[s->mark].name);
    struct name_sum size = size_of(s);
    size_t f = 0;
    int more;

    while (f < N_FORMS && !strstr(label, FORMS[f].name))
        f++;
    if (f == N_FORMS)
        return msim_remake_refuse(s->d,
                                  "'%.80s' has no fused form in PyTorch: Adam, "
                                  "AdamW, SGD and Adagrad have",
                                  label);
    if (!(size.elems > 0))
        return msim_remake_refuse(
            s->d, "the trace does not record the sizes of the parameters");
    more = f == N_FORMS - 1 && has_momentum(s, size.elems);
    memset(w, 0, sizeof(*w));
    w->family = MSIM_FAMILY_OPTIMIZER;
    w->dtype = MSIM_DT_F32;
    w->variant = FORMS[f].variant;
    w->u.vector.elems = msim_whole(size.elems);
    w->u.vector.rows = 1;
    w->u.vector.cols = msim_whole(size.elems);
    w->flops = size.elems * FORMS[f].flops;
    w->bytes_read = 4 * size.elems * (FORMS[f].reads + more);
    w->bytes_written = 4 * size.elems * (FORMS[f].writes + more);
    *kernels = (uint32_t)fmin(
        ceil(msim_foreach_kernels(
            size.tensors, size.elems / MSIM_FACT(NULL, FOREACH_CHUNK), LISTS)),
        s->n);
    *kernels = *kernels ? *kernels : 1;
    w->kernels = *kernels;
    return MSIM_OK;
}

/* What the trace's kernels take over what the models say of them; 1 where one
 * of them has no work. */
static enum msim_status find_bias(struct step *s, double *bias)
{
    const uint32_t rank = s->d->g->refs[s->tasks[0]].rank;
    double traced = 0, modelled = 0;
    uint32_t last = MSIM_NONE;

    *bias = 1;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t op = s->d->g->refs[s->tasks[i]].op, n;
        const struct msim_work *w;
        struct msim_cost_added one;

        traced += (double)s->d->costs->mid[s->tasks[i]];
        if (op == last)
            continue;
        last = op;
        if (msim_works_of(s->works[rank], op, &w, &n) != MSIM_OPMAP_WORKS)
            return MSIM_OK;
        for (uint32_t k = 0; k < n; k++) {
            MSIM_TRY(msim_price_work(s->d, &w[k], &one));
            modelled += (double)one.mid;
        }
    }
    if (modelled > 0 && traced > 0)
        *bias = traced / modelled;
    return MSIM_OK;
}

static msim_ps times(msim_ps ps, double factor)
{
    return msim_whole(round((double)ps * factor));
}

/* The kernels of the step at hand become fused ones of equal shares. */
static enum msim_status end_step(struct step *s)
{
    struct msim_cost_added cost;
    struct msim_work w;
    uint32_t kernels = 1, first = 0;
    double bias;

    if (s->n < 2) {
        s->n = 0;
        return MSIM_OK;
    }
    for (uint32_t i = 0, last = MSIM_NONE; i < s->n; i++)
        if (s->d->g->refs[s->tasks[i]].op != last)
            add_op(s, last = s->d->g->refs[s->tasks[i]].op);
    MSIM_TRY(find_form(s, &w, &kernels));
    MSIM_TRY(msim_price_work(s->d, &w, &cost));
    MSIM_TRY(find_bias(s, &bias));
    cost.mid = times(cost.mid, bias / kernels);
    cost.low = times(cost.low, bias / kernels);
    cost.high = times(cost.high, bias / kernels);
    cost.flops /= (float)kernels;
    cost.limits.tensor /= (float)kernels;
    cost.limits.vector /= (float)kernels;
    cost.limits.memory /= (float)kernels;
    cost.limits.latency /= (float)kernels;
    for (uint32_t k = 0; k < kernels; k++) {
        uint32_t end = (uint32_t)((uint64_t)s->n * (k + 1) / kernels);

        msim_fuse_tasks(s->d, s->tasks + first, end - first, &cost);
        first = end;
    }
    s->fused++;
    s->n = s->n_names = 0;
    return MSIM_OK;
}

static enum msim_status walk(struct step *s)
{
    const struct msim_graph *g = s->d->g;

    for (uint32_t t = 0; t < g->n_tasks; t++) {
        const struct msim_trace *trace = s->d->ranks[g->refs[t].rank];
        uint32_t mark;

        if (g->kind[t] != MSIM_TASK_KERNEL || s->d->costs->removed[t])
            continue;
        mark = step_of(trace, g->refs[t].op);
        if (s->n && (mark != s->mark || trace != s->t))
            MSIM_TRY(end_step(s));
        s->mark = mark;
        s->t = trace;
        if (mark != MSIM_NONE)
            s->tasks[s->n++] = t;
    }
    MSIM_TRY(end_step(s));
    return s->fused ? MSIM_OK
                    : msim_remake_refuse(s->d,
                                         "no optimizer step of several kernels "
                                         "is marked in the traces "
                                         "(Optimizer.step#...)");
}

enum msim_status msim_fuse_optimizer(struct msim_remake *d)
{
    struct step s = {.d = d, .mark = MSIM_NONE};
    enum msim_status status = MSIM_ENOMEM;
    size_t n = (size_t)d->g->n_tasks + 1;

    s.tasks = malloc(n * sizeof(*s.tasks));
    s.names = malloc(n * sizeof(*s.names));
    if (s.tasks && s.names)
        status =
            msim_works_new_ranks(&s.works, d->ranks, d->g->job->n_ranks,
                                 d->in->ops[0], msim_target_is_host(d->to));
    if (status == MSIM_OK)
        status = walk(&s);
    msim_works_free_ranks(s.works, d->g->job->n_ranks);
    free(s.tasks);
    free(s.names);
    return status;
}
