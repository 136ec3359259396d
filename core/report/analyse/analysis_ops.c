/*
 * core/report/analyse/analysis_ops.c - operators and families: kernel time by
 * topmost operator of one rank, and how much of it rests on a law.
 */
#include "core/base/containers.h"
#include "core/report/analyse/analysis_internal.h"
#include "core/trace/trace_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    uint32_t name; /* string */
    double us, low, high, measured;
    double bound_us, bound_low, bound_high; /* the part that bounds made */
    double by[MSIM_MADE_BY_MAX];            /* time by what made it */
    double best_source_us;
    msim_ps slack; /* the least of its calls */
    uint8_t source;
    struct msim_limits limits; /* of the tasks whose sizes are known */
    double limited_us;         /* what those take */
    double flops;              /* what they compute */
    uint32_t calls;
    bool communication;
    uint8_t collective; /* of its calls; UNKNOWN: of several kinds */
    bool nccl;          /* its kernels are a collective library's */
    const char *shapes;
};

struct ops {
    const struct msim_findings *f;
    struct msim_prediction *p;
    const struct msim_outcome *o;
    const struct msim_graph *g;
    const struct msim_trace *t;
    uint32_t rank, iteration, n_windows;
    struct row *rows;
    uint32_t n, capacity;
    uint32_t *row_of; /* by string number, NONE: none yet */
    uint8_t *seen;    /* by op: its call is counted */
    uint8_t *seen_inner;
    struct msim_strtab *pairs; /* of rows by shape: names with shapes, by which
                                  `row_of` is then; NULL: rows by name */
    struct msim_op_shapes shapes;
    double covered_us, all_us, covered_calls, all_calls;
    struct msim_family_row families[MSIM_MADE_BY_MAX];
};

/* A copy is none, but where nothing tells what it moves. */
static bool is_work(const struct ops *a, uint32_t task)
{
    uint8_t kind = a->g->kind[task];

    return kind == MSIM_TASK_KERNEL || kind == MSIM_TASK_COMM ||
           (kind == MSIM_TASK_COPY &&
            a->o->source[task] >= a->o->source_uncovered);
}

static uint32_t name_of(const struct ops *a, uint32_t task, uint32_t top)
{
    const struct msim_task_ref *ref = &a->g->refs[task];

    if (top != MSIM_NONE)
        return a->t->ops[top].name;
    return ref->index == MSIM_NONE ? 0 : a->t->gpu[ref->index].name;
}

/* What rows are told apart by: names, or names with the shapes that the topmost
 * operator is given, else the innermost. */
static enum msim_status key_of(struct ops *a, uint32_t task, uint32_t top,
                               uint32_t *key, const char **shapes)
{
    uint32_t name = name_of(a, task, top);
    char pair[320];

    *key = name;
    *shapes = NULL;
    if (!a->pairs)
        return MSIM_OK;
    *shapes = msim_op_shapes_of(&a->shapes, top);
    if (!*shapes)
        *shapes = msim_op_shapes_of(&a->shapes, a->g->refs[task].op);
    snprintf(pair, sizeof(pair), "%u %s", name, *shapes ? *shapes : "");
    return msim_strtab_add(a->pairs, pair, strlen(pair), key);
}

/* The row of a name; collectives of an operator have a row of their own. */
static enum msim_status find_row(struct ops *a, uint32_t task, uint32_t top,
                                 bool comm, struct row **out)
{
    uint32_t name = name_of(a, task, top), key, *slot;
    const char *shapes;

    MSIM_TRY(key_of(a, task, top, &key, &shapes));
    slot = &a->row_of[2 * (size_t)key + comm];

    if (*slot == MSIM_NONE) {
        MSIM_TRY(
            msim_grow((void **)&a->rows, &a->capacity, a->n, sizeof(*a->rows)));
        *slot = a->n++;
        memset(&a->rows[*slot], 0, sizeof(a->rows[*slot]));
        a->rows[*slot].slack = INT64_MAX;
        a->rows[*slot].name = name;
        a->rows[*slot].shapes = shapes;
        a->rows[*slot].communication = comm;
    }
    *out = &a->rows[*slot];
    return MSIM_OK;
}

static void add_family(struct ops *a, uint32_t task, double measured)
{
    const struct msim_outcome *o = a->o;
    struct msim_family_row *f = &a->families[o->made_by[task]];

    f->calls++;
    f->us.predicted += msim_us(o->mid.dur[task]);
    f->us.low += msim_us(msim_task_bound(o, o->task_low, task));
    f->us.high += msim_us(msim_task_bound(o, o->task_high, task));
    f->us.measured += measured;
}

/* Coverage: operators by count, device time by duration. */
static void add_coverage(struct ops *a, uint32_t task)
{
    uint32_t op = a->g->refs[task].op;
    bool open = a->o->source[task] >= a->o->source_uncovered;
    double time = msim_us(a->o->mid.dur[task]);

    a->all_us += time;
    a->covered_us += open ? 0 : time;
    if (op != MSIM_NONE && a->seen_inner[op])
        return;
    if (op != MSIM_NONE)
        a->seen_inner[op] = 1;
    a->all_calls++;
    a->covered_calls += open ? 0 : 1;
}

/* An operator is a call however many kernels it launches; collectives of one
 * operator are a call each. */
static void add_call(struct ops *a, struct row *r, uint32_t task, uint32_t top)
{
    uint32_t gpu = a->g->refs[task].index, op = a->g->refs[task].op;
    uint32_t comm = MSIM_NONE;
    uint8_t kind = MSIM_COLL_UNKNOWN;

    if (!r->communication) {
        if (top == MSIM_NONE || !a->seen[top])
            r->calls++;
        if (top != MSIM_NONE)
            a->seen[top] = 1;
        return;
    }
    if (gpu != MSIM_NONE)
        comm = a->t->gpu[gpu].comm;
    else if (op != MSIM_NONE)
        comm = a->t->ops[op].comm;
    if (comm != MSIM_NONE)
        kind = a->t->comms[comm].collective;
    if (gpu != MSIM_NONE)
        r->nccl |=
            strncmp(msim_trace_text(a->t, a->t->gpu[gpu].name), "nccl", 4) == 0;
    if (!r->calls++)
        r->collective = kind;
    else if (r->collective != kind)
        r->collective = MSIM_COLL_UNKNOWN;
}

static void add_limits(const struct msim_outcome *o, uint32_t task,
                       struct row *r)
{
    if (!o->limits || o->source[task] >= o->source_uncovered)
        return;
    r->limits.tensor += o->limits[task].tensor;
    r->limits.vector += o->limits[task].vector;
    r->limits.memory += o->limits[task].memory;
    r->limits.latency += o->limits[task].latency;
    r->limited_us += msim_us(o->mid.dur[task]);
    r->flops += (double)o->flops[task];
}

static enum msim_status add_task(struct ops *a, uint32_t task)
{
    const struct msim_outcome *o = a->o;
    const struct msim_task_ref *ref = &a->g->refs[task];
    uint32_t top = msim_op_topmost(a->t, ref->op);
    double time = msim_us(o->mid.dur[task]), measured;
    struct row *r;

    MSIM_TRY(find_row(a, task, top, a->g->kind[task] == MSIM_TASK_COMM, &r));
    measured = msim_traced_us(a->t, ref->index);
    r->us += time;
    r->low += msim_us(msim_task_bound(o, o->task_low, task));
    r->high += msim_us(msim_task_bound(o, o->task_high, task));
    r->measured += measured;
    r->by[o->made_by[task]] += time;
    add_limits(o, task, r);
    if (a->f->slack[task] < r->slack)
        r->slack = a->f->slack[task];
    if (time >= r->best_source_us) {
        r->best_source_us = time;
        r->source = o->source[task];
    }
    if (o->source[task] >= o->source_uncovered) {
        r->bound_us += time;
        r->bound_low += msim_us(msim_task_bound(o, o->task_low, task));
        r->bound_high += msim_us(msim_task_bound(o, o->task_high, task));
    }
    add_call(a, r, task,
             r->shapes && !msim_op_shapes_of(&a->shapes, top) ? ref->op : top);
    add_family(a, task, measured);
    add_coverage(a, task);
    return MSIM_OK;
}

static uint8_t most(const double *by)
{
    int best = 0;

    for (int i = 1; i < MSIM_MADE_BY_MAX; i++)
        if (by[i] > by[best])
            best = i;
    return (uint8_t)best;
}

/*
 * What launches a collective says whose it is: gradients are reduced from
 * hooks of autograd's accumulation, by DDP to every rank and by FSDP to a
 * share each.
 */
static const char *origin(const struct row *r, const char *name)
{
    bool hook = strstr(name, "AccumulateGrad") != NULL;

    if (hook && r->collective == MSIM_COLL_ALL_REDUCE)
        return "DDP";
    if (hook && r->collective == MSIM_COLL_REDUCE_SCATTER)
        return "FSDP";
    if (strcmp(name, "record_param_comms") == 0)
        return NULL;
    return name;
}

/* "nccl all_reduce (DDP)"; NULL: the row's own name says as much. */
static enum msim_status label_of(const struct ops *a, const struct row *r,
                                 const char **out)
{
    static const char BACKWARD[] = "autograd::engine::evaluate_function: ";
    const char *name = msim_trace_text(a->t, r->name), *from = origin(r, name);
    const char *what =
        r->collective == MSIM_COLL_UNKNOWN
            ? "collectives"
            : msim_collective_text((enum msim_collective)r->collective);
    const char *by = r->nccl ? "nccl " : "";
    size_t size = strlen(name) + 64;
    char *text;

    *out = NULL;
    if (!r->communication || (r->collective == MSIM_COLL_UNKNOWN && !r->nccl))
        return MSIM_OK;
    text = msim_arena_alloc(&a->p->arena, size);
    if (!text)
        return MSIM_ENOMEM;
    if (from && strncmp(from, BACKWARD, sizeof(BACKWARD) - 1) == 0)
        from += sizeof(BACKWARD) - 1;
    if (from)
        snprintf(text, size, "%s%s (%s)", by, what, from);
    else
        snprintf(text, size, "%s%s", by, what);
    *out = text;
    return MSIM_OK;
}

/* The time that only bounds are known of, with its own interval. */
static struct msim_figure bound_part(const struct ops *a, const struct row *r,
                                     double measured)
{
    double n = a->n_windows;
    struct msim_figure us = {r->bound_us / n, r->bound_low / n,
                             r->bound_high / n, measured};

    if (!r->communication)
        msim_widen(a->o, &us);
    return us;
}

/* What takes longest by the data sheet limits the row. Bytes that would take
 * longer than the kernels do come from a cache, whose rate no data sheet has.
 */
static void find_limit(const struct row *r, struct msim_op_row *op)
{
    const struct {
        const char *text;
        double us;
    } by[] = {{"tensor", (double)r->limits.tensor},
              {"vector", (double)r->limits.vector},
              {"memory", (double)r->limits.memory},
              {"latency", (double)r->limits.latency}};
    size_t most = 0;

    op->peak_share = NAN;
    if (r->communication || !(r->limited_us > 0.5 * r->us))
        return;
    for (size_t i = 1; i < sizeof(by) / sizeof(by[0]); i++)
        if (by[i].us > by[most].us)
            most = i;
    op->limit = by[most].text;
    if (by[most].us <= r->limited_us)
        op->peak_share = by[most].us / r->limited_us;
    else if (strcmp(op->limit, "memory") == 0)
        op->limit = "cache";
}

/* What the data sheet's limits were made of (predict/cost.h). */
static struct msim_op_sizes sizes_of(const struct ops *a, const struct row *r)
{
    double n = a->n_windows,
           arithmetic = (double)r->limits.tensor + (double)r->limits.vector;
    struct msim_op_sizes s = {NAN, NAN, NAN, NAN};

    if (r->communication || !(r->limited_us > 0.5 * r->us))
        return s;
    s.us = r->limited_us / n;
    s.flops = r->flops / n;
    s.bytes = (double)r->limits.memory * 1e-6 * a->o->bandwidth / n;
    if (arithmetic > 0 && r->flops > 0)
        s.peak_flops_per_second = r->flops / arithmetic * 1e6;
    return s;
}

static struct msim_op_row finish(const struct ops *a, const struct row *r)
{
    double n = a->n_windows;
    struct msim_figure us = {r->us / n, r->low / n, r->high / n,
                             r->measured / n};
    struct msim_op_row op;

    if (!r->communication)
        msim_widen(a->o, &us);
    op = (struct msim_op_row){.name = msim_trace_text(a->t, r->name),
                              .shapes = r->shapes,
                              .model = a->o->made_by_names[most(r->by)],
                              .source = a->o->source_names[r->source],
                              .calls = r->calls / n,
                              .us = us,
                              .communication = r->communication,
                              .open = r->source >= a->o->source_uncovered,
                              .slack_us = msim_us(r->slack)};
    find_limit(r, &op);
    op.sizes = sizes_of(a, r);
    return op;
}

static int by_time(const void *a, const void *b)
{
    const struct msim_op_row *x = a, *y = b;

    if (x->us.predicted != y->us.predicted)
        return MSIM_ORDER(y->us.predicted, x->us.predicted);
    if (strcmp(x->name, y->name) != 0 || !x->shapes || !y->shapes)
        return strcmp(x->name, y->name);
    return strcmp(x->shapes, y->shapes);
}

static enum msim_status write_shapes(struct ops *a)
{
    struct msim_prediction *p = a->p;

    p->shapes =
        msim_arena_alloc(&p->arena, ((size_t)a->n + 1) * sizeof(*p->shapes));
    if (!p->shapes)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < a->n; i++)
        p->shapes[p->n_shapes++] = finish(a, &a->rows[i]);
    qsort(p->shapes, p->n_shapes, sizeof(*p->shapes), by_time);
    return MSIM_OK;
}

static enum msim_status write_rows(struct ops *a)
{
    struct msim_prediction *p = a->p;
    size_t bytes = ((size_t)a->n + 1) * sizeof(*p->ops);

    p->ops = msim_arena_alloc(&p->arena, bytes);
    p->uncovered = msim_arena_alloc(&p->arena, bytes);
    if (!p->ops || !p->uncovered)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < a->n; i++) {
        p->ops[p->n_ops] = finish(a, &a->rows[i]);
        MSIM_TRY(label_of(a, &a->rows[i], &p->ops[p->n_ops++].label));
        if (a->rows[i].bound_us > 0) {
            struct msim_op_row *u = &p->uncovered[p->n_uncovered++];

            *u = p->ops[p->n_ops - 1];
            u->us = bound_part(a, &a->rows[i], u->us.measured);
        }
    }
    qsort(p->ops, p->n_ops, sizeof(*p->ops), by_time);
    qsort(p->uncovered, p->n_uncovered, sizeof(*p->uncovered), by_time);
    return MSIM_OK;
}

static int family_by_time(const void *a, const void *b)
{
    const struct msim_family_row *x = a, *y = b;

    if (x->us.predicted != y->us.predicted)
        return MSIM_ORDER(y->us.predicted, x->us.predicted);
    return strcmp(x->model, y->model);
}

static enum msim_status write_families(struct ops *a)
{
    struct msim_prediction *p = a->p;

    p->families =
        msim_arena_alloc(&p->arena, a->o->n_made_by * sizeof(*p->families));
    if (!p->families)
        return MSIM_ENOMEM;
    for (uint32_t f = 0; f < a->o->n_made_by; f++) {
        struct msim_family_row *row = &p->families[p->n_families];

        if (!(a->families[f].calls > 0))
            continue;
        *row = a->families[f];
        row->model = a->o->made_by_names[f];
        row->calls /= a->n_windows;
        row->us.predicted /= a->n_windows;
        row->us.low /= a->n_windows;
        row->us.high /= a->n_windows;
        row->us.measured /= a->n_windows;
        p->n_families++;
    }
    qsort(p->families, p->n_families, sizeof(*p->families), family_by_time);
    return MSIM_OK;
}

static enum msim_status add_tasks(struct ops *a, size_t keys)
{
    a->row_of = malloc(2 * keys * sizeof(*a->row_of));
    a->seen = calloc((size_t)a->t->n_ops + 1, 1);
    a->seen_inner = calloc((size_t)a->t->n_ops + 1, 1);
    if (!a->row_of || !a->seen || !a->seen_inner)
        return MSIM_ENOMEM;
    memset(a->row_of, 0xff, 2 * keys * sizeof(*a->row_of));
    a->n_windows = msim_findings_windows(a->f, a->rank);
    for (uint32_t t = 0; t < a->g->n_tasks; t++)
        if (a->g->refs[t].rank == a->rank && is_work(a, t) &&
            msim_window_selected(a->g, a->g->window[t], a->iteration))
            MSIM_TRY(add_task(a, t));
    return MSIM_OK;
}

static enum msim_status run(struct ops *a)
{
    MSIM_TRY(add_tasks(a, (size_t)msim_strtab_count(a->g->job->strings) + 1));
    a->p->coverage_ops = a->all_calls > 0 ? a->covered_calls / a->all_calls : 1;
    a->p->coverage_time = a->all_us > 0 ? a->covered_us / a->all_us : 1;
    MSIM_TRY(write_rows(a));
    return write_families(a);
}

/* There are no more pairs than tasks. */
static enum msim_status run_by_shape(struct ops *a)
{
    MSIM_TRY(msim_strtab_new(&a->pairs));
    MSIM_TRY(msim_op_shapes_init(&a->shapes, a->t, &a->p->arena));
    MSIM_TRY(add_tasks(a, (size_t)a->g->n_tasks + 2));
    return write_shapes(a);
}

static enum msim_status analyse(const struct msim_findings *f, uint32_t rank,
                                enum msim_status (*by)(struct ops *))
{
    struct ops *a = calloc(1, sizeof(*a));
    enum msim_status status;

    if (!a)
        return MSIM_ENOMEM;
    a->f = f;
    a->p = f->p;
    a->o = f->o;
    a->g = f->g;
    a->t = f->g->job->ranks[rank];
    a->rank = rank;
    a->iteration = f->iteration;
    status = by(a);
    free(a->rows);
    free(a->row_of);
    free(a->seen);
    free(a->seen_inner);
    msim_strtab_free(a->pairs);
    msim_op_shapes_release(&a->shapes);
    free(a);
    return status;
}

enum msim_status msim_analyse_ops(const struct msim_findings *f, uint32_t rank)
{
    MSIM_TRY(analyse(f, rank, run));
    return f->o->shapes ? analyse(f, rank, run_by_shape) : MSIM_OK;
}
