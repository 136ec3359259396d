/*
 * core/report/analyse/analysis_host.c - the host's own work in an iteration of
 * one rank: by topmost operator, by call, and between operators.
 *
 * Waits are no work. Time between operators counts on the thread that iterates
 * only, as in the breakdown. Compilation is told from its marks, which
 * TorchDynamo and Inductor leave in traces.
 */
#include "core/base/containers.h"
#include "core/graph/graph.h"
#include "core/report/analyse/analysis_internal.h"

#include <stdlib.h>
#include <string.h>

struct host {
    const struct msim_findings *f;
    const struct msim_graph *g;
    const struct msim_trace *t;
    uint32_t rank, main_lane;
    struct msim_idmap row_of;
    struct msim_host_row *rows;
    uint32_t n, capacity;
    uint8_t *seen;     /* one an op: its call is counted */
    uint8_t *compiles; /* one an op: it, or what encloses it, is the compiler's
                        */
    struct msim_windows windows;
};

static bool is_compilation(const char *name)
{
    static const char *const MARKS[] = {"(dynamo_timed)", "compile_inner",
                                        "async_compile"};

    for (size_t i = 0; i < sizeof(MARKS) / sizeof(MARKS[0]); i++)
        if (strstr(name, MARKS[i]))
            return true;
    return false;
}

/* Parents come before their children. */
static void find_compilation(struct host *h)
{
    for (uint32_t i = 0; i < h->t->n_ops; i++) {
        const struct msim_op *op = &h->t->ops[i];

        h->compiles[i] = (op->parent != MSIM_NONE && h->compiles[op->parent]) ||
                         (op->kind == MSIM_OP_ANNOTATION &&
                          is_compilation(msim_trace_text(h->t, op->name)));
    }
}

/* Does it begin in a selected iteration? */
static bool in_window(const struct host *h, uint32_t task)
{
    return msim_windows_at(&h->windows, h->rank, h->f->o->mid.start[task]) !=
           MSIM_NONE;
}

static struct msim_host_row row_for(const struct host *h, uint32_t task,
                                    bool compilation)
{
    uint32_t name = h->g->kind[task] == MSIM_TASK_CALL
                        ? msim_task_own_name(h->g, task)
                        : msim_task_topmost(h->g, task);

    if (compilation)
        return (struct msim_host_row){.name = "compilation",
                                      .kind = "compilation"};
    if (h->g->kind[task] == MSIM_TASK_GAP)
        return (struct msim_host_row){.name = "between operators",
                                      .kind = "gap"};
    return (struct msim_host_row){
        .name = name ? msim_trace_text(h->t, name) : "no operator",
        .kind = msim_task_kind_text((enum msim_task_kind)h->g->kind[task])};
}

/* Strings are numbered far below 2^32. */
static uint64_t key_of(const struct host *h, uint32_t task, bool compilation)
{
    uint8_t kind = h->g->kind[task];

    if (compilation)
        return UINT64_C(1) << 40;
    if (kind == MSIM_TASK_GAP)
        return UINT64_C(1) << 41;
    return (uint64_t)kind << 32 |
           (kind == MSIM_TASK_CALL ? msim_task_own_name(h->g, task)
                                   : msim_task_topmost(h->g, task));
}

static bool is_first(struct host *h, uint32_t task)
{
    uint32_t op = h->g->refs[task].op;

    if (h->g->kind[task] != MSIM_TASK_HOST || op == MSIM_NONE)
        return true;
    op = msim_op_topmost(h->t, op);
    if (op == MSIM_NONE)
        return true;
    if (h->seen[op])
        return false;
    h->seen[op] = 1;
    return true;
}

static enum msim_status add_task(struct host *h, uint32_t task)
{
    const struct msim_outcome *o = h->f->o;
    uint32_t op = h->g->refs[task].op;
    bool compilation = op != MSIM_NONE && h->compiles[op];
    struct msim_host_row *row;
    uint32_t *slot;

    MSIM_TRY(
        msim_idmap_put(&h->row_of, key_of(h, task, compilation), h->n, &slot));
    if (*slot == h->n) {
        MSIM_TRY(
            msim_grow((void **)&h->rows, &h->capacity, h->n, sizeof(*h->rows)));
        h->rows[h->n++] = row_for(h, task, compilation);
    }
    row = &h->rows[*slot];
    row->calls += is_first(h, task);
    row->us.predicted += msim_us(o->mid.dur[task]);
    row->us.low += msim_us(msim_task_bound(o, o->task_low, task));
    row->us.high += msim_us(msim_task_bound(o, o->task_high, task));
    return MSIM_OK;
}

static bool is_ours(const struct host *h, uint32_t task)
{
    const struct msim_graph *g = h->g;

    return g->refs[task].rank == h->rank && g->kind[task] <= MSIM_TASK_CALL &&
           (g->kind[task] != MSIM_TASK_GAP || g->lane[task] == h->main_lane) &&
           h->f->o->mid.dur[task] > 0 && in_window(h, task);
}

static int by_time(const void *a, const void *b)
{
    const struct msim_host_row *x = a, *y = b;
    int order;

    if (x->us.predicted != y->us.predicted)
        return MSIM_ORDER(y->us.predicted, x->us.predicted);
    order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->kind, y->kind);
}

static enum msim_status write_rows(struct host *h)
{
    struct msim_prediction *p = h->f->p;
    double n = msim_findings_windows(h->f, h->rank);

    p->host_ops =
        msim_arena_alloc(&p->arena, ((size_t)h->n + 1) * sizeof(*p->host_ops));
    if (!p->host_ops)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < h->n; i++) {
        struct msim_host_row r = h->rows[i];

        r.calls /= n;
        r.us = (struct msim_figure){r.us.predicted / n, r.us.low / n,
                                    r.us.high / n, (double)NAN};
        p->host_ops[p->n_host_ops++] = r;
    }
    if (h->n)
        qsort(p->host_ops, p->n_host_ops, sizeof(*p->host_ops), by_time);
    return MSIM_OK;
}

static enum msim_status find_rows(struct host *h)
{
    uint32_t *main_lanes = msim_main_lanes(h->g);
    enum msim_status status = msim_findings_place(&h->windows, h->f, h->rank);

    h->seen = calloc((size_t)h->t->n_ops + 1, 1);
    h->compiles = calloc((size_t)h->t->n_ops + 1, 1);
    if (!main_lanes || !h->seen || !h->compiles)
        status = MSIM_ENOMEM;
    if (status == MSIM_OK) {
        h->main_lane = main_lanes[h->rank];
        find_compilation(h);
    }
    free(main_lanes);
    for (uint32_t t = 0; t < h->g->n_tasks && status == MSIM_OK; t++)
        if (is_ours(h, t))
            status = add_task(h, t);
    return status == MSIM_OK ? write_rows(h) : status;
}

enum msim_status msim_analyse_host(const struct msim_findings *f, uint32_t rank)
{
    struct host h = {
        .f = f, .g = f->g, .t = f->g->job->ranks[rank], .rank = rank};
    enum msim_status status = find_rows(&h);

    msim_idmap_release(&h.row_of);
    free(h.rows);
    free(h.seen);
    free(h.compiles);
    msim_windows_release(&h.windows);
    return status;
}
