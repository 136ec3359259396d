/*
 * core/read/kineto/kineto_split.c - a file that several processes were merged
 * into, as one trace a process.
 *
 * Each process whose calls launched work on a GPU is a rank, whether or not
 * that was recorded, or, without a GPU, each that marked steps. Its threads say
 * so themselves; a GPU activity has no process, but a correlation, which counts
 * within a process. Where several have a call of that correlation, the activity
 * is of the process whose events stand before it, if the file has one behind
 * the other, and else of the one that has its turn with the device.
 *
 * Beside ranks that have operators another process that has some, but launched
 * nothing, is a bystander, such as one that loads data or serves requests: its
 * steps and its time are not the job's. What has no operators is a part of a
 * rank that a writer gave a process of its own (its runtime, its marks).
 */
#include "core/base/containers.h"
#include "core/read/kineto/read_kineto_internal.h"
#include "core/trace/trace_columns.h"

#include <stdlib.h>
#include <string.h>

/* More than a node has; each gets what all of them share. */
#define PROCESSES_MAX 1024

struct process {
    int64_t pid;
    bool follows; /* GPU activities stand behind its events */
};

struct split {
    struct msim_reader *r;
    struct msim_trace *t;
    struct process *all; /* ranks, and behind these the bystanders */
    uint32_t n, cap;
    uint32_t n_apart;          /* bystanders */
    uint32_t turns, last;      /* how often another one acts; which did last */
    uint32_t *of_thread;       /* by thread: a process */
    uint32_t *of_gpu;          /* by activity */
    uint32_t *of_sync;         /* by synchronisation */
    struct msim_idmap calls;   /* process and correlation of every call */
    struct msim_idmap started; /* correlations of GPU activities */
    struct msim_idmap devices; /* device to its place in order */
    uint64_t n_guessed;        /* activities whose process no number tells */
    bool in_order;             /* the file has one process behind the other */
    bool unsure;
};

static int64_t pid_of(const struct split *s, uint32_t thread)
{
    return s->t->threads[thread].pid;
}

static uint32_t find(const struct split *s, int64_t pid)
{
    for (uint32_t p = 0; p < s->n + s->n_apart; p++)
        if (s->all[p].pid == pid)
            return p;
    return MSIM_NONE;
}

/* ---- which processes ----------------------------------------------------- */

/* As good as always; nothing else is done then. */
static bool is_alone(const struct msim_trace *t)
{
    for (uint32_t i = 1; i < t->n_threads; i++)
        if (t->threads[i].pid != t->threads[0].pid)
            return false;
    return true;
}

/* The process `pid` acts; it is new, or it has acted before. */
static enum msim_status act(struct split *s, int64_t pid)
{
    uint32_t p = find(s, pid);

    if (p == MSIM_NONE) {
        if (s->n == PROCESSES_MAX)
            return MSIM_ELIMIT;
        MSIM_TRY(msim_grow((void **)&s->all, &s->cap, s->n, sizeof(*s->all)));
        p = s->n++;
        s->all[p] = (struct process){.pid = pid};
    }
    s->turns += p != s->last;
    s->last = p;
    return MSIM_OK;
}

static bool is_launch(const struct split *s, const struct msim_call *c)
{
    enum msim_call_kind kind;

    if (msim_idmap_get(&s->started, c->correlation) != MSIM_NONE)
        return true;
    kind = msim_name_call(msim_trace_text(s->t, c->name));
    return s->t->n_gpu &&
           (kind == MSIM_CALL_LAUNCH || kind == MSIM_CALL_GRAPH_LAUNCH);
}

/* Those that launched work on a GPU. */
static enum msim_status find_launching(struct split *s)
{
    const struct msim_trace *t = s->t;
    uint32_t *slot;

    for (uint32_t i = 0; i < t->n_gpu; i++)
        if (t->gpu[i].correlation)
            MSIM_TRY(
                msim_idmap_put(&s->started, t->gpu[i].correlation, 0, &slot));
    for (uint32_t i = 0; i < t->n_calls; i++)
        if (is_launch(s, &t->calls[i]))
            MSIM_TRY(act(s, pid_of(s, t->calls[i].thread)));
    return MSIM_OK;
}

/* Without a GPU: those that marked steps. */
static enum msim_status find_stepping(struct split *s)
{
    int64_t number;

    for (uint32_t i = 0; i < s->t->n_ops; i++)
        if (msim_name_step(msim_trace_text(s->t, s->t->ops[i].name), &number))
            MSIM_TRY(act(s, pid_of(s, s->t->ops[i].thread)));
    return MSIM_OK;
}

/* Which threads have operators, for the caller to free. */
static bool *find_operators(const struct split *s)
{
    bool *has = calloc((size_t)s->t->n_threads + 1, sizeof(*has));

    for (uint32_t i = 0; has && i < s->t->n_ops; i++)
        if (s->t->ops[i].kind == MSIM_OP_OPERATOR)
            has[s->t->ops[i].thread] = true;
    return has;
}

static bool have_all_operators(const struct split *s, const bool *has)
{
    for (uint32_t p = 0; p < s->n; p++) {
        uint32_t i = 0;

        while (i < s->t->n_threads &&
               !(has[i] && pid_of(s, i) == s->all[p].pid))
            i++;
        if (i == s->t->n_threads)
            return false;
    }
    return true;
}

/* Once all ranks are found. */
static enum msim_status find_bystanders(struct split *s, const bool *has)
{
    bool any = s->n && s->t->n_gpu && have_all_operators(s, has);

    for (uint32_t i = 0; any && i < s->t->n_threads; i++) {
        if (!has[i] || find(s, pid_of(s, i)) != MSIM_NONE)
            continue;
        if (s->n + s->n_apart == PROCESSES_MAX)
            return MSIM_ELIMIT;
        MSIM_TRY(msim_grow((void **)&s->all, &s->cap, s->n + s->n_apart,
                           sizeof(*s->all)));
        s->all[s->n + s->n_apart++] = (struct process){.pid = pid_of(s, i)};
    }
    return MSIM_OK;
}

/* Ranks and bystanders. */
static enum msim_status find_processes(struct split *s)
{
    bool *has;
    enum msim_status status;

    MSIM_TRY(find_launching(s));
    if (s->n == 0)
        MSIM_TRY(find_stepping(s));
    has = find_operators(s);
    status = has ? find_bystanders(s, has) : MSIM_ENOMEM;
    free(has);
    return status;
}

static int by_pid(const void *a, const void *b)
{
    const struct process *x = a, *y = b;

    return MSIM_ORDER(x->pid, y->pid);
}

/* ---- whose a row is ------------------------------------------------------ */

/* What is neither a rank nor a bystander goes with the first. */
static uint32_t place_of(const struct split *s, int64_t pid)
{
    uint32_t p = find(s, pid);

    return p == MSIM_NONE ? 0 : p;
}

static void place_threads(struct split *s)
{
    for (uint32_t i = 0; i < s->t->n_threads; i++)
        s->of_thread[i] = place_of(s, pid_of(s, i));
}

/* Where the process before some activity is never another one, all activities
 * stand behind all calls. */
static void check_order(struct split *s)
{
    const uint32_t *before = msim_kineto_of(s->r)->before_gpu.data;

    for (uint32_t i = 0; i < s->t->n_gpu; i++)
        if (before[i] != MSIM_NONE)
            s->all[s->of_thread[before[i]]].follows = true;
    for (uint32_t p = 0; p < s->n && s->t->n_gpu; p++)
        s->in_order = s->in_order && s->all[p].follows;
}

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return MSIM_ORDER(*x, *y);
}

static enum msim_status index_devices(struct split *s)
{
    uint32_t n = s->t->n_streams, *slot;
    int64_t *all = malloc(((size_t)n + 1) * sizeof(*all));
    enum msim_status status = all ? MSIM_OK : MSIM_ENOMEM;

    for (uint32_t i = 0; i < n && all; i++)
        all[i] = s->t->streams[i].device;
    if (all)
        qsort(all, n, sizeof(*all), by_number);
    for (uint32_t i = 0; i < n && status == MSIM_OK; i++)
        status = msim_idmap_put(&s->devices, (uint64_t)all[i], s->devices.count,
                                &slot);
    free(all);
    return status;
}

static enum msim_status index_calls(struct split *s)
{
    for (uint32_t i = 0; i < s->t->n_calls; i++) {
        const struct msim_call *c = &s->t->calls[i];
        uint32_t *slot;

        if (c->correlation)
            MSIM_TRY(msim_idmap_put(
                &s->calls,
                msim_idmap_pair(s->of_thread[c->thread], c->correlation), i,
                &slot));
    }
    return MSIM_OK;
}

/* `before`: the thread of the last event before it that has one. */
static uint32_t owner_of(struct split *s, uint32_t correlation, uint32_t before,
                         uint32_t stream)
{
    uint32_t n = 0, owner = before == MSIM_NONE ? 0 : s->of_thread[before];
    uint32_t only = MSIM_NONE;

    if (s->n == 1)
        return 0;
    if (owner >= s->n)
        owner = 0;
    for (uint32_t p = 0; p < s->n && correlation; p++)
        if (msim_idmap_get(&s->calls, msim_idmap_pair(p, correlation)) !=
            MSIM_NONE) {
            only = p;
            n++;
        }
    if (n == 1)
        return only;
    s->n_guessed++;
    if (s->in_order || stream == MSIM_NONE)
        return owner;
    s->unsure = s->unsure || s->devices.count != s->n;
    return s->unsure ? owner
                     : msim_idmap_get(&s->devices,
                                      (uint64_t)s->t->streams[stream].device);
}

static void place_rows(struct split *s)
{
    const struct msim_kineto *k = msim_kineto_of(s->r);
    const uint32_t *before = k->before_gpu.data;

    for (uint32_t i = 0; i < s->t->n_gpu; i++)
        s->of_gpu[i] = owner_of(s, s->t->gpu[i].correlation, before[i],
                                s->t->gpu[i].stream);
    before = k->before_sync.data;
    for (uint32_t i = 0; i < s->t->n_syncs; i++)
        s->of_sync[i] =
            owner_of(s, s->t->syncs[i].call, before[i], s->t->syncs[i].stream);
}

/* ---- a trace for each ---------------------------------------------------- */

static enum msim_status copy_of(const struct msim_trace *t,
                                struct msim_trace **out)
{
    struct msim_trace *copy = malloc(sizeof(*copy));

    *out = copy;
    if (!copy)
        return MSIM_ENOMEM;
    *copy = *t;
#define X(field, type) copy->field = NULL;
    MSIM_TRACE_COLUMNS(X)
#undef X
#define X(field, type)                                                         \
    copy->field = malloc(((size_t)t->n_##field + 1) * sizeof(type));           \
    if (!copy->field)                                                          \
        return MSIM_ENOMEM;                                                    \
    copy->cap_##field = t->n_##field + 1;                                      \
    if (t->n_##field)                                                          \
        memcpy(copy->field, t->field, t->n_##field * sizeof(type));
    MSIM_TRACE_COLUMNS(X)
#undef X
    return MSIM_OK;
}

/* The rows of `field` for which `owner` is `p`. */
#define KEEP(t, field, p, owner)                                               \
    do {                                                                       \
        uint32_t kept = 0;                                                     \
        for (uint32_t i = 0; i < (t)->n_##field; i++)                          \
            if ((owner) == (p))                                                \
                (t)->field[kept++] = (t)->field[i];                            \
        (t)->n_##field = kept;                                                 \
    } while (0)

static void keep_threads(const struct split *s, struct msim_trace *t,
                         uint32_t p, uint32_t *place)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_threads; i++)
        place[i] = s->of_thread[i] == p ? n++ : MSIM_NONE;
    for (uint32_t i = 0; i < t->n_ops; i++)
        t->ops[i].thread = place[t->ops[i].thread];
    for (uint32_t i = 0; i < t->n_calls; i++)
        t->calls[i].thread = place[t->calls[i].thread];
    KEEP(t, threads, p, s->of_thread[i]);
}

static void keep_process(const struct split *s, struct msim_trace *t,
                         uint32_t p, uint32_t *place)
{
    KEEP(t, ops, p, s->of_thread[t->ops[i].thread]);
    KEEP(t, calls, p, s->of_thread[t->calls[i].thread]);
    KEEP(t, gpu, p, s->of_gpu[i]);
    KEEP(t, syncs, p, s->of_sync[i]);
    KEEP(t, memory, p, place_of(s, t->memory[i].pid));
    keep_threads(s, t, p, place);
}

static uint64_t rows_of(const struct msim_trace *t)
{
    return (uint64_t)t->n_ops + t->n_calls + t->n_gpu + t->n_syncs +
           t->n_memory;
}

/* What they share, such as metadata, counts as the first's. */
static void share_records(struct msim_trace *t, struct msim_trace *of)
{
    uint64_t rows = rows_of(of);

    of->import = (struct msim_import_log){.records = rows, .read = rows};
    t->import.records -= rows;
    t->import.read -= rows;
}

static enum msim_status make_traces(struct split *s)
{
    struct msim_read_result *out = s->r->out;
    uint64_t apart = rows_of(s->t);
    uint32_t *place = malloc(((size_t)s->t->n_threads + 1) * sizeof(*place));
    enum msim_status status = MSIM_OK;

    out->others = calloc(s->n, sizeof(*out->others));
    if (!place || !out->others)
        status = MSIM_ENOMEM;
    for (uint32_t p = 1; p < s->n && status == MSIM_OK; p++) {
        status = copy_of(s->t, &out->others[out->n_others]);
        out->n_others += out->others[out->n_others] != NULL;
        if (status == MSIM_OK) {
            keep_process(s, out->others[p - 1], p, place);
            share_records(s->t, out->others[p - 1]);
            apart -= rows_of(out->others[p - 1]);
        }
    }
    if (status == MSIM_OK) {
        keep_process(s, s->t, 0, place);
        apart -= rows_of(s->t);
        s->t->import.read -= apart;
        msim_import_add(&s->t->import, MSIM_IMPORT_BYSTANDER, apart);
    }
    free(place);
    return status;
}

static enum msim_status split(struct split *s)
{
    size_t threads = (size_t)s->t->n_threads + 1;

    MSIM_TRY(find_processes(s));
    if (s->n + s->n_apart < 2)
        return MSIM_OK;
    s->in_order = s->turns == s->n;
    s->of_thread = malloc(threads * sizeof(*s->of_thread));
    s->of_gpu = malloc(((size_t)s->t->n_gpu + 1) * sizeof(*s->of_gpu));
    s->of_sync = malloc(((size_t)s->t->n_syncs + 1) * sizeof(*s->of_sync));
    if (!s->of_thread || !s->of_gpu || !s->of_sync)
        return MSIM_ENOMEM;
    if (!s->in_order)
        qsort(s->all, s->n, sizeof(*s->all), by_pid);
    place_threads(s);
    check_order(s);
    MSIM_TRY(index_devices(s));
    MSIM_TRY(index_calls(s));
    place_rows(s);
    if (s->unsure)
        return (enum msim_status)msim_read_problem(
            s->r, MSIM_EFORMAT,
            "%u processes were merged into this file, and the correlation ids "
            "of their calls do not tell whose the GPU activities are; want "
            "the file of each rank",
            s->n);
    msim_import_add(&s->t->import, MSIM_IMPORT_OWNER, s->n_guessed);
    return make_traces(s);
}

enum msim_status msim_kineto_split(struct msim_reader *r)
{
    struct split s = {.r = r, .t = r->trace, .last = MSIM_NONE};
    enum msim_status status = is_alone(r->trace) ? MSIM_OK : split(&s);

    free(s.all);
    free(s.of_thread);
    free(s.of_gpu);
    free(s.of_sync);
    msim_idmap_release(&s.calls);
    msim_idmap_release(&s.started);
    msim_idmap_release(&s.devices);
    return status;
}
