/*
 * core/report/compare/compare_side.c - one side of a comparison: what is kept
 * of a prediction, and what only its tasks know, kernels by name and streams.
 */
#include "core/report/compare/compare.h"

#include "core/base/containers.h"
#include "core/job/job.h"
#include "core/report/write/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS 1024 /* bytes */

static const char IN_FILE[] = "a prediction's file does not hold them";
static const char NO_EVENTS[] = "the trace has no GPU activities";
static const char MODELLED[] = "a model knows an operator's time, not how its "
                               "kernels share it";

static double us(msim_ps ps)
{
    return (double)ps / MSIM_PS_PER_US;
}

/* ---- copying ------------------------------------------------------------ */

static const char *copy_text(struct msim_arena *a, const char *text)
{
    size_t size = text ? strlen(text) + 1 : 0;
    char *copy = text ? msim_arena_alloc(a, size) : NULL;

    return copy ? memcpy(copy, text, size) : NULL;
}

static bool is_measured(const struct msim_side *s)
{
    return s->costs && strcmp(s->costs, "measured") == 0;
}

/*
 * What was measured on one machine says nothing of the one predicted for, and
 * a measured time has no interval.
 */
static struct msim_figure fitting(const struct msim_side *s,
                                  struct msim_figure f)
{
    if (is_measured(s))
        f.low = f.high = f.predicted;
    else
        f.measured = (double)NAN;
    return f;
}

static enum msim_status new_rows(struct msim_side *s, struct msim_side_rows *r,
                                 uint32_t capacity)
{
    r->n = 0;
    r->absent = NULL;
    r->rows =
        msim_arena_alloc(&s->arena, ((size_t)capacity + 1) * sizeof(*r->rows));
    return r->rows ? MSIM_OK : MSIM_ENOMEM;
}

/* Kinds of what the host does, the last that of all others. */
static const char *const KINDS[] = {
    "host", "call",       "gap",     "compilation",   "kernel",  "copy",
    "held", "rendezvous", "latency", "communication", "several", "other",
};
#define N_KINDS (sizeof(KINDS) / sizeof(KINDS[0]))

static uint32_t kind_number(const char *kind)
{
    uint32_t i = 0;

    while (i < N_KINDS - 1 && !(kind && strcmp(KINDS[i], kind) == 0))
        i++;
    return i;
}

/* A kind's text that outlives the prediction. */
static const char *kind_of(const char *kind)
{
    return KINDS[kind_number(kind)];
}

static enum msim_status add_row(struct msim_side *s, struct msim_side_rows *r,
                                const char *name, const char *kind,
                                double calls, const struct msim_figure *f)
{
    struct msim_side_row *row = &r->rows[r->n];

    row->name = copy_text(&s->arena, name ? name : "");
    row->kind = kind;
    row->calls = calls;
    row->us = fitting(s, *f);
    r->n++;
    return row->name ? MSIM_OK : MSIM_ENOMEM;
}

static enum msim_status copy_iterations(struct msim_side *s,
                                        const struct msim_prediction *p)
{
    MSIM_TRY(new_rows(s, &s->iterations, p->n_iterations));
    for (uint32_t i = 0; i < p->n_iterations; i++)
        MSIM_TRY(add_row(s, &s->iterations, p->iterations[i].name, NULL,
                         (double)NAN, &p->iterations[i].us));
    return MSIM_OK;
}

static enum msim_status copy_ops(struct msim_side *s,
                                 const struct msim_prediction *p)
{
    MSIM_TRY(new_rows(s, &s->ops, p->n_ops));
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const struct msim_op_row *op = &p->ops[i];

        MSIM_TRY(add_row(s, &s->ops, op->name,
                         op->communication ? "communication" : "kernel",
                         op->calls, &op->us));
    }
    return MSIM_OK;
}

/* Measured durations do not show what kind of work they are. */
static enum msim_status copy_families(struct msim_side *s,
                                      const struct msim_prediction *p)
{
    MSIM_TRY(new_rows(s, &s->families, p->n_families));
    if (is_measured(s)) {
        s->families.absent = "a prediction from measured times does not tell "
                             "what kind of work they are";
        return MSIM_OK;
    }
    for (uint32_t i = 0; i < p->n_families; i++)
        MSIM_TRY(add_row(s, &s->families, p->families[i].model, NULL,
                         p->families[i].calls, &p->families[i].us));
    return MSIM_OK;
}

/* A file of a version without them has none at all. */
static enum msim_status copy_host_ops(struct msim_side *s,
                                      const struct msim_prediction *p)
{
    MSIM_TRY(new_rows(s, &s->host_ops, p->n_host_ops));
    s->host_ops.absent = s->is_file && !p->host_ops ? IN_FILE : NULL;
    for (uint32_t i = 0; i < p->n_host_ops; i++) {
        const struct msim_host_row *h = &p->host_ops[i];
        const char *kind = kind_of(h->kind);

        MSIM_TRY(add_row(s, &s->host_ops, h->name, kind, h->calls, &h->us));
    }
    return MSIM_OK;
}

/* Rows by name and kind. */
struct row_index {
    struct msim_strtab *names;
    struct msim_idmap rows;
};

/* The row of that name and kind, or that of the number that comes next. */
static enum msim_status find_row(struct row_index *x,
                                 struct msim_side_rows *rows, const char *name,
                                 uint32_t kind, struct msim_side_row **row)
{
    uint32_t id, *at;

    MSIM_TRY(msim_strtab_add(x->names, name, strlen(name), &id));
    MSIM_TRY(
        msim_idmap_put(&x->rows, (uint64_t)id * N_KINDS + kind, rows->n, &at));
    *row = &rows->rows[*at];
    return MSIM_OK;
}

static enum msim_status add_owner(struct msim_side *s, struct row_index *x,
                                  const struct msim_owner_row *o)
{
    const char *name = o->op ? o->op : o->name;
    uint32_t kind = kind_number(o->kind);
    struct msim_figure us = {o->us, o->us, o->us, (double)NAN};
    struct msim_side_row *row;

    name = name ? name : "";
    MSIM_TRY(find_row(x, &s->owners, name, kind, &row));
    if (row == &s->owners.rows[s->owners.n])
        return add_row(s, &s->owners, name, KINDS[kind], o->pieces, &us);
    row->calls += o->pieces;
    row->us.predicted += o->us;
    row->us.low = row->us.high = row->us.predicted;
    return MSIM_OK;
}

/* An operator's kernels are one owner, as in the report. */
static enum msim_status copy_owners(struct msim_side *s,
                                    const struct msim_prediction *p)
{
    struct row_index x = {0};
    enum msim_status status;

    MSIM_TRY(new_rows(s, &s->owners, p->n_owners));
    s->owners.absent = s->is_file && !p->owners ? IN_FILE : NULL;
    status = msim_strtab_new(&x.names);
    for (uint32_t i = 0; status == MSIM_OK && i < p->n_owners; i++)
        status = add_owner(s, &x, &p->owners[i]);
    msim_strtab_free(x.names);
    msim_idmap_release(&x.rows);
    return status;
}

static enum msim_status copy_waits(struct msim_side *s,
                                   struct msim_side_rows *rows,
                                   const struct msim_wait_list *w, bool known)
{
    MSIM_TRY(new_rows(s, rows, w->n));
    rows->absent = known ? NULL : IN_FILE;
    for (uint32_t i = 0; i < w->n; i++) {
        struct msim_figure f = {w->rows[i].us, w->rows[i].us, w->rows[i].us,
                                (double)NAN};

        MSIM_TRY(add_row(s, rows, w->rows[i].name, NULL, (double)NAN, &f));
    }
    return MSIM_OK;
}

/* A file of a version without waits has none at all. */
static enum msim_status copy_all_waits(struct msim_side *s,
                                       const struct msim_prediction *p)
{
    bool known =
        !s->is_file || p->waits.main_thread.rows || p->waits.gpu_idle.rows;

    MSIM_TRY(copy_waits(s, &s->main_waits, &p->waits.main_thread, known));
    return copy_waits(s, &s->gpu_idle, &p->waits.gpu_idle, known);
}

/* The figures are those of the slowest rank, the first of several. */
static enum msim_status copy_ranks(struct msim_side *s,
                                   const struct msim_prediction *p)
{
    double most = -1;

    s->ranks_detail = msim_arena_alloc(
        &s->arena, ((size_t)p->n_ranks_detail + 1) * sizeof(*s->ranks_detail));
    if (!s->ranks_detail)
        return MSIM_ENOMEM;
    s->n_ranks_detail = p->n_ranks_detail;
    s->rank = -1;
    for (uint32_t i = 0; i < p->n_ranks_detail; i++) {
        struct msim_rank_row *r = &s->ranks_detail[i];

        *r = p->ranks_detail[i];
        r->iteration_us = fitting(s, r->iteration_us);
        r->kernel_us = fitting(s, r->kernel_us);
        memset(&r->waits, 0, sizeof(r->waits)); /* the caller's */
        if (p->ranks_detail[i].iteration_us.predicted > most) {
            most = p->ranks_detail[i].iteration_us.predicted;
            s->rank = p->ranks_detail[i].rank;
        }
    }
    return MSIM_OK;
}

static enum msim_status copy_warnings(struct msim_side *s,
                                      const struct msim_prediction *p)
{
    s->warnings = msim_arena_alloc(&s->arena, ((size_t)p->n_warnings + 1) *
                                                  sizeof(*s->warnings));
    if (!s->warnings)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < p->n_warnings; i++) {
        s->warnings[i] = copy_text(&s->arena, p->warnings[i]);
        if (!s->warnings[i])
            return MSIM_ENOMEM;
        s->n_warnings++;
    }
    return MSIM_OK;
}

static enum msim_status copy_scenario(struct msim_side *s,
                                      const struct msim_prediction *p)
{
    const struct msim_scenario_note *n = &p->scenario;
    char text[OPTIONS];

    if (!n->options)
        return MSIM_OK;
    msim_format_options(text, sizeof(text), n);
    s->options = copy_text(&s->arena, text);
    s->baseline_us = n->baseline_us;
    s->ratio = n->ratio;
    s->ratio_low = n->ratio_low;
    s->ratio_high = n->ratio_high;
    return s->options ? MSIM_OK : MSIM_ENOMEM;
}

static void copy_figures(struct msim_side *s, const struct msim_prediction *p)
{
    s->ranks = p->ranks;
    s->iteration_us = fitting(s, p->iteration_us);
    s->period_us = fitting(s, p->period.us);
    s->kernel_us = fitting(s, p->kernel_us);
    s->transfer_us = p->transfer_us;
    s->wait_us = p->wait_us;
    s->external_wait_us = p->external_wait_us;
    s->breakdown_us = p->breakdown_us;
    s->overlapped_communication_us = p->overlapped_communication_us;
    s->overlapped_copy_us = p->overlapped_copy_us;
}

static enum msim_status copy(struct msim_side *s,
                             const struct msim_prediction *p)
{
    s->n_inputs = p->n_inputs;
    s->input = copy_text(&s->arena, p->n_inputs ? p->inputs[0] : "");
    s->platform = copy_text(&s->arena, p->platform);
    s->costs = copy_text(&s->arena, p->costs);
    s->host = copy_text(&s->arena, p->host);
    s->kernels.absent = s->streams.absent = IN_FILE;
    s->step = p->step;
    copy_figures(s, p);
    MSIM_TRY(copy_scenario(s, p));
    MSIM_TRY(copy_iterations(s, p));
    MSIM_TRY(copy_families(s, p));
    MSIM_TRY(copy_ops(s, p));
    MSIM_TRY(copy_host_ops(s, p));
    MSIM_TRY(copy_owners(s, p));
    MSIM_TRY(copy_all_waits(s, p));
    MSIM_TRY(copy_ranks(s, p));
    MSIM_TRY(msim_import_copy(&s->arena, p->files, p->n_files, &s->files));
    s->n_files = p->n_files;
    return copy_warnings(s, p);
}

enum msim_status msim_side_new(struct msim_side **out,
                               const struct msim_prediction *p, bool is_file)
{
    struct msim_side *s = calloc(1, sizeof(*s));

    *out = NULL;
    if (!s)
        return MSIM_ENOMEM;
    msim_arena_init(&s->arena);
    s->is_file = is_file;
    if (copy(s, p) != MSIM_OK) {
        msim_side_free(s);
        return MSIM_ENOMEM;
    }
    *out = s;
    return MSIM_OK;
}

void msim_side_free(struct msim_side *s)
{
    if (!s)
        return;
    msim_arena_release(&s->arena);
    free(s);
}

/* ---- tasks -------------------------------------------------------------- */

/* Sums over the tasks of one rank, by a number of each task. */
struct tally {
    double *calls;
    struct msim_figure *us;
    uint32_t n;
};

struct tasks {
    struct msim_side *s;
    const struct msim_outcome *o;
    const struct msim_graph *g;
    const struct msim_trace *t;
    const struct msim_side_families *families;
    uint32_t rank, iteration, windows; /* rank: index into job->ranks */
    struct tally names;                /* GPU_KINDS a string */
    struct tally streams, kinds;
};

/* Kernels, communication, copies: what a row's kind can be. */
#define GPU_KINDS 3
static const char *const GPU_KIND[GPU_KINDS] = {"kernel", "copy",
                                                "communication"};

static enum msim_status tally_new(struct tally *t, uint32_t n)
{
    t->n = n;
    t->calls = calloc((size_t)n + 1, sizeof(*t->calls));
    t->us = calloc((size_t)n + 1, sizeof(*t->us));
    return t->calls && t->us ? MSIM_OK : MSIM_ENOMEM;
}

static void tally_release(struct tally *t)
{
    free(t->calls);
    free(t->us);
}

static void tally_add(struct tally *t, uint32_t i, const struct msim_outcome *o,
                      uint32_t task, double measured)
{
    t->calls[i]++;
    t->us[i].predicted += us(o->mid.dur[task]);
    t->us[i].low += us(o->task_low[task]);
    t->us[i].high += us(o->task_high[task]);
    t->us[i].measured += measured;
}

/* Row `i` of a table, as a mean over the windows. */
static enum msim_status tally_row(const struct tasks *k, const struct tally *t,
                                  uint32_t i, struct msim_side_rows *rows,
                                  const char *name, const char *kind)
{
    double n = k->windows;
    struct msim_figure f = {t->us[i].predicted / n, t->us[i].low / n,
                            t->us[i].high / n, t->us[i].measured / n};

    if (!(t->calls[i] > 0))
        return MSIM_OK;
    return add_row(k->s, rows, name, kind, t->calls[i] / n, &f);
}

static uint32_t tally_count(const struct tally *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n; i++)
        n += t->calls[i] > 0;
    return n;
}

static bool is_ours(const struct tasks *k, uint32_t task)
{
    return k->g->refs[task].rank == k->rank &&
           k->g->kind[task] >= MSIM_TASK_KERNEL &&
           k->g->kind[task] <= MSIM_TASK_COMM &&
           k->g->refs[task].index != MSIM_NONE &&
           msim_window_selected(k->g, k->g->window[task], k->iteration);
}

static void add_task(struct tasks *k, uint32_t task)
{
    uint32_t i = k->g->refs[task].index;
    const struct msim_gpu *e = &k->t->gpu[i];
    uint32_t kind = (uint32_t)(k->g->kind[task] - MSIM_TASK_KERNEL);

    tally_add(&k->names, GPU_KINDS * e->name + kind, k->o, task, us(e->dur));
    tally_add(&k->streams, e->stream, k->o, task, us(e->dur));
    if (k->families && k->g->kind[task] != MSIM_TASK_COPY)
        tally_add(&k->kinds, k->families->of_gpu[i], k->o, task, us(e->dur));
}

static enum msim_status write_kernels(struct tasks *k)
{
    struct msim_side_rows *rows = &k->s->kernels;

    if (!is_measured(k->s)) {
        rows->absent = MODELLED;
        return MSIM_OK;
    }
    MSIM_TRY(new_rows(k->s, rows, tally_count(&k->names)));
    for (uint32_t i = 0; i < k->names.n; i++)
        MSIM_TRY(tally_row(k, &k->names, i, rows,
                           msim_trace_text(k->t, i / GPU_KINDS),
                           GPU_KIND[i % GPU_KINDS]));
    return MSIM_OK;
}

static bool on_one_device(const struct msim_trace *t)
{
    for (uint32_t i = 1; i < t->n_streams; i++)
        if (t->streams[i].device != t->streams[0].device)
            return false;
    return true;
}

/*
 * Ranks of one job use devices of different numbers. A stream is named with
 * its device only where a rank uses several, so that streams of different
 * ranks and machines can be paired.
 */
static enum msim_status write_streams(struct tasks *k)
{
    struct msim_side_rows *rows = &k->s->streams;
    bool one = on_one_device(k->t);
    char name[64];

    MSIM_TRY(new_rows(k->s, rows, tally_count(&k->streams)));
    for (uint32_t i = 0; i < k->streams.n; i++) {
        const struct msim_stream *s = &k->t->streams[i];

        if (one)
            snprintf(name, sizeof(name), "stream %lld", (long long)s->id);
        else
            snprintf(name, sizeof(name), "device %lld stream %lld",
                     (long long)s->device, (long long)s->id);
        MSIM_TRY(tally_row(k, &k->streams, i, rows, name, NULL));
    }
    return MSIM_OK;
}

static enum msim_status write_families(struct tasks *k)
{
    struct msim_side_rows *rows = &k->s->families;

    if (!k->families)
        return MSIM_OK;
    MSIM_TRY(new_rows(k->s, rows, tally_count(&k->kinds)));
    for (uint32_t i = 0; i < k->kinds.n; i++)
        MSIM_TRY(tally_row(k, &k->kinds, i, rows, k->families->names[i], NULL));
    return MSIM_OK;
}

static enum msim_status run(struct tasks *k)
{
    uint32_t strings = msim_strtab_count(k->g->job->strings);

    if (strings > UINT32_MAX / GPU_KINDS)
        return MSIM_ELIMIT;
    MSIM_TRY(tally_new(&k->names, GPU_KINDS * strings));
    MSIM_TRY(tally_new(&k->streams, k->t->n_streams));
    MSIM_TRY(tally_new(&k->kinds, k->families ? k->families->n_names : 0));
    for (uint32_t w = 0; w < k->g->n_windows; w++)
        k->windows += k->g->windows[w].rank == k->rank &&
                      msim_window_selected(k->g, w, k->iteration);
    for (uint32_t i = 0; i < k->g->n_tasks; i++)
        if (is_ours(k, i))
            add_task(k, i);
    MSIM_TRY(write_kernels(k));
    MSIM_TRY(write_streams(k));
    return write_families(k);
}

enum msim_status msim_side_add_tasks(struct msim_side *s,
                                     const struct msim_outcome *o,
                                     uint32_t iteration,
                                     const struct msim_side_families *families)
{
    const struct msim_job *job = o->graph->job;
    struct tasks k = {
        .s = s,
        .o = o,
        .g = o->graph,
        .families = families,
        .iteration = iteration,
    };
    enum msim_status status;

    while (k.rank < job->n_ranks && job->ranks[k.rank]->rank != s->rank)
        k.rank++;
    if (k.rank == job->n_ranks)
        return MSIM_EINTERNAL;
    k.t = job->ranks[k.rank];
    if (!k.t->has_gpu_events) {
        s->kernels.absent = s->streams.absent = NO_EVENTS;
        s->families.absent = s->families.absent ? NO_EVENTS : NULL;
        return MSIM_OK;
    }
    status = run(&k);
    tally_release(&k.names);
    tally_release(&k.streams);
    tally_release(&k.kinds);
    return status;
}
