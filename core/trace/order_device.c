/*
 * core/trace/order_device.c - which call started a GPU activity, and which
 * operator made the call.
 *
 * Both follow from the correlation alone. In traces of 2023 and before, the
 * `External id` of a device event is a copy of its correlation and collides
 * with unrelated operators; where it is right, it names the operator that
 * encloses the call anyway.
 */
#include "core/base/containers.h"
#include "core/trace/trace_columns.h"

#include <stdlib.h>

static bool gpu_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_trace *t = ctx;
    const struct msim_gpu *x = &t->gpu[a], *y = &t->gpu[b];

    /* Of two that start in one microsecond, the shorter one is first. */
    if (x->start != y->start)
        return x->start < y->start;
    return x->dur != y->dur ? x->dur < y->dur : x->correlation < y->correlation;
}

static uint32_t gpu_stream(const void *ctx, uint32_t i)
{
    const struct msim_trace *t = ctx;

    return t->gpu[i].stream;
}

static enum msim_status order_gpu(struct msim_trace *t)
{
    return msim_sort_groups(t->gpu, t->n_gpu, sizeof(*t->gpu), gpu_stream,
                            t->n_streams, gpu_before, t);
}

static void find_streams(struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_gpu; i++) {
        struct msim_stream *s = &t->streams[t->gpu[i].stream];

        if (s->gpu_end == 0)
            s->gpu_begin = i;
        s->gpu_end = i + 1;
    }
}

static bool has_kernels(const struct msim_trace *t, const struct msim_stream *s)
{
    for (uint32_t i = s->gpu_begin; i < s->gpu_end; i++)
        if (t->gpu[i].kind == MSIM_GPU_KERNEL ||
            t->gpu[i].kind == MSIM_GPU_COMM)
            return true;
    return false;
}

enum msim_status msim_order_gpus(struct msim_trace *t)
{
    struct msim_idmap devices = {0};
    enum msim_status status = MSIM_OK;

    for (uint32_t s = 0; s < t->n_streams && status == MSIM_OK; s++) {
        uint32_t *seen;

        if (has_kernels(t, &t->streams[s]))
            status = msim_idmap_put(&devices, (uint64_t)t->streams[s].device, 0,
                                    &seen);
    }
    t->gpus = devices.count;
    msim_idmap_release(&devices);
    return status;
}

/* Kinds of all calls by name; each name is parsed once. */
static enum msim_status classify_calls(struct msim_trace *t)
{
    uint32_t i, n = msim_strtab_count(t->strings);
    uint8_t *kinds = calloc(n, 1); /* kind + 1 */

    if (!kinds)
        return MSIM_ENOMEM;
    for (i = 0; i < t->n_calls; i++) {
        uint32_t name = t->calls[i].name;

        if (!kinds[name])
            kinds[name] =
                (uint8_t)(msim_name_call(msim_trace_text(t, name)) + 1);
        t->calls[i].kind = (uint8_t)(kinds[name] - 1);
    }
    free(kinds);
    return MSIM_OK;
}

/* Starts and durations in whole microseconds are cut, each by up to one: a call
 * that ends inside another may begin so much behind its end. */
#define CUT_PS MSIM_PS_PER_US

static bool is_behind(const struct msim_call *a, const struct msim_call *b)
{
    return a->start > b->start + b->dur + CUT_PS;
}

/* One process has a number once, but for a call inside a call. */
static bool is_repeated(const struct msim_call *a, const struct msim_call *b)
{
    return msim_call_starts_work(a->kind) && msim_call_starts_work(b->kind) &&
           (a->thread != b->thread || is_behind(a, b) || is_behind(b, a));
}

/* Correlation -> call. Of two calls with one number: the one that starts
 * work. */
static enum msim_status map_calls(struct msim_trace *t, struct msim_idmap *map,
                                  uint32_t *repeated)
{
    uint32_t i, *slot;

    for (i = 0; i < t->n_calls; i++) {
        if (t->calls[i].correlation == 0)
            continue;
        MSIM_TRY(msim_idmap_put(map, t->calls[i].correlation, i, &slot));
        *repeated += *slot != i && is_repeated(&t->calls[*slot], &t->calls[i]);
        if (*slot != i && msim_call_starts_work(t->calls[i].kind) &&
            !msim_call_starts_work(t->calls[*slot].kind))
            *slot = i;
    }
    return MSIM_OK;
}

/* A launch starts one activity, but for that of a graph. */
static bool is_copy(const struct msim_trace *t, const struct msim_idmap *map,
                    const struct msim_gpu *a, const struct msim_gpu *b)
{
    uint32_t call;

    if (a->stream != b->stream || a->start != b->start || a->dur != b->dur ||
        a->name != b->name || a->correlation != b->correlation ||
        a->correlation == 0)
        return false;
    call = msim_idmap_get(map, a->correlation);
    return call != MSIM_NONE && t->calls[call].kind != MSIM_CALL_GRAPH_LAUNCH;
}

/* Copies of an activity follow it. */
static void drop_copies(struct msim_trace *t, const struct msim_idmap *map)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_gpu; i++)
        if (!n || !is_copy(t, map, &t->gpu[n - 1], &t->gpu[i]))
            t->gpu[n++] = t->gpu[i];
    msim_import_add(&t->import, MSIM_IMPORT_TWICE, t->n_gpu - n);
    t->n_gpu = n;
}

/* Of every op the innermost operator, from itself outwards, that is not a mere
 * label; parents come first. The caller frees it. */
static uint32_t *real_ops(const struct msim_trace *t)
{
    uint32_t *real = malloc(((size_t)t->n_ops + 1) * sizeof(*real));

    for (uint32_t i = 0; real && i < t->n_ops; i++) {
        const struct msim_op *op = &t->ops[i];

        real[i] = op->kind == MSIM_OP_OPERATOR ? i
                  : op->parent == MSIM_NONE    ? MSIM_NONE
                                               : real[op->parent];
    }
    return real;
}

/* A call whose name says nothing gets the kind of what it started. */
static void learn_kind(struct msim_trace *t, struct msim_call *c,
                       const struct msim_gpu *g)
{
    if (msim_call_starts_work(c->kind))
        return;
    msim_import_add(&t->import, MSIM_IMPORT_CALL_KIND, 1);
    c->kind = g->kind == MSIM_GPU_MEMCPY   ? MSIM_CALL_MEMCPY
              : g->kind == MSIM_GPU_MEMSET ? MSIM_CALL_MEMSET
                                           : MSIM_CALL_LAUNCH;
}

static enum msim_status link_gpu(struct msim_trace *t,
                                 const struct msim_idmap *map)
{
    uint32_t i, *real = real_ops(t);

    if (!real)
        return MSIM_ENOMEM;

    t->unlinked_gpu = 0;
    for (i = 0; i < t->n_gpu; i++) {
        struct msim_gpu *g = &t->gpu[i];
        struct msim_call *c;

        if (g->correlation)
            g->call = msim_idmap_get(map, g->correlation);
        if (g->call == MSIM_NONE) {
            t->unlinked_gpu++;
            continue;
        }
        c = &t->calls[g->call];
        if (c->gpu == MSIM_NONE || t->gpu[c->gpu].start > g->start)
            c->gpu = i;
        learn_kind(t, c, g);
        g->in_graph = c->kind == MSIM_CALL_GRAPH_LAUNCH;
        g->op = c->op == MSIM_NONE ? MSIM_NONE : real[c->op];
    }
    free(real);
    return MSIM_OK;
}

/* When the first graph was launched of which no activity names its launch: such
 * activities begin from then on. None: never. */
static msim_ps first_unnamed(const struct msim_trace *t)
{
    msim_ps first = INT64_MAX;

    for (uint32_t i = 0; i < t->n_calls; i++)
        if (t->calls[i].kind == MSIM_CALL_GRAPH_LAUNCH &&
            t->calls[i].gpu == MSIM_NONE && t->calls[i].start < first)
            first = t->calls[i].start;
    return first;
}

/* What has no launch, and is ahead of all of its stream that have one, unless a
 * graph may have brought it; or has a lower number than all calls: numbers
 * grow. */
static void find_early(struct msim_trace *t)
{
    msim_ps unnamed = first_unnamed(t);
    uint32_t least = UINT32_MAX, n = 0;

    for (uint32_t i = 0; i < t->n_calls; i++)
        if (t->calls[i].correlation - 1 < least)
            least = t->calls[i].correlation - 1;
    for (uint32_t s = 0; s < t->n_streams && least < UINT32_MAX; s++) {
        uint32_t begin = t->streams[s].gpu_begin, end = t->streams[s].gpu_end;
        uint32_t linked = begin;

        while (linked < end && t->gpu[linked].call == MSIM_NONE)
            linked++;
        for (uint32_t i = begin; i < linked; i++)
            t->gpu[i].early = t->gpu[i].correlation - 1 < least ||
                              (linked < end && t->gpu[i].start < unnamed);
    }
    for (uint32_t i = 0; i < t->n_gpu; i++)
        n += t->gpu[i].early;
    msim_import_add(&t->import, MSIM_IMPORT_EARLY, n);
    msim_import_add(&t->import, MSIM_IMPORT_UNLAUNCHED, t->unlinked_gpu - n);
}

/* ---- launches whose kernels are not recorded ----------------------------- */

static bool launches(const struct msim_call *c)
{
    return c->kind == MSIM_CALL_LAUNCH || c->kind == MSIM_CALL_GRAPH_LAUNCH;
}

/* A driver call inside a runtime call launches nothing of its own. */
static bool nested(const struct msim_trace *t, uint32_t i)
{
    const struct msim_call *c = &t->calls[i];

    return i > t->threads[c->thread].call_begin &&
           c[-1].start + c[-1].dur >= c->start + c->dur;
}

/* Launches of a thread; what a graph captures runs nothing. A capture may have
 * begun before the recording. */
static void find_lost(struct msim_trace *t, const struct msim_thread *thread,
                      const int8_t *captures)
{
    bool capturing = false;
    uint32_t begin = thread->call_begin;

    for (uint32_t i = begin; i < thread->call_end; i++) {
        struct msim_call *c = &t->calls[i];

        c->lost =
            launches(c) && c->gpu == MSIM_NONE && !capturing && !nested(t, i);
        if (!captures[c->name])
            continue;
        for (; captures[c->name] < 0 && begin < i; begin++)
            t->calls[begin].lost = false;
        capturing = captures[c->name] > 0;
        begin = thread->call_end;
    }
}

static enum msim_status find_all_lost(struct msim_trace *t)
{
    uint32_t i, n = msim_strtab_count(t->strings);
    int8_t *captures = calloc(n, 1);

    if (!captures)
        return MSIM_ENOMEM;
    for (i = 0; i < t->n_calls; i++)
        if (t->calls[i].kind == MSIM_CALL_OTHER)
            captures[t->calls[i].name] =
                (int8_t)msim_name_capture(msim_trace_text(t, t->calls[i].name));
    for (i = 0; i < t->n_threads; i++)
        find_lost(t, &t->threads[i], captures);
    for (i = 0; i < t->n_calls; i++)
        msim_import_add(&t->import, MSIM_IMPORT_LOST, t->calls[i].lost);
    free(captures);
    return MSIM_OK;
}

static bool sync_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_trace *t = ctx;

    if (t->syncs[a].start != t->syncs[b].start)
        return t->syncs[a].start < t->syncs[b].start;
    return t->syncs[a].call < t->syncs[b].call;
}

static enum msim_status link_syncs(struct msim_trace *t,
                                   const struct msim_idmap *map)
{
    uint32_t i;

    for (i = 0; i < t->n_syncs; i++) {
        struct msim_sync *s = &t->syncs[i];

        s->call = s->call ? msim_idmap_get(map, s->call) : MSIM_NONE;
        s->record_call =
            s->record_call ? msim_idmap_get(map, s->record_call) : MSIM_NONE;
    }
    return msim_sort_rows(t->syncs, t->n_syncs, sizeof(*t->syncs), sync_before,
                          t);
}

enum msim_status msim_order_device(struct msim_trace *t, uint32_t *repeated)
{
    struct msim_idmap map = {0};
    enum msim_status status = order_gpu(t);

    *repeated = 0;

    if (status == MSIM_OK)
        status = classify_calls(t);
    if (status == MSIM_OK)
        status = map_calls(t, &map, repeated);
    if (status == MSIM_OK) {
        drop_copies(t, &map);
        find_streams(t);
        status = link_gpu(t, &map);
    }
    if (status == MSIM_OK) {
        find_early(t);
        status = msim_order_room(t);
    }
    if (status == MSIM_OK)
        status = link_syncs(t, &map);
    msim_idmap_release(&map);
    t->has_gpu_events = t->n_gpu != 0;
    return status == MSIM_OK ? find_all_lost(t) : status;
}
