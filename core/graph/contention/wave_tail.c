/*
 * core/graph/contention/wave_tail.c - who fills a device, as a trace shows it.
 */
#include "core/graph/contention/graph_contention_internal.h"

#include "core/base/containers.h"
#include "core/graph/contention.h"

#include <stdlib.h>

#define US ((msim_ps)MSIM_PS_PER_US)

/*
 * Clocks (old traces have whole microseconds) and launches blur starts by so
 * much; a kernel's blocks are equal to about a fiftieth. A start counts as
 * held within this of the last wave, and as early only if it is a whole wave
 * earlier still, since waves drift.
 */
#define BLUR     (6 * US)
#define BLUR_PER 50
/* Starts that show a stream to be of higher priority: at least so many. */
#define EARLY_MIN 3
/* Held up: it was ready for longer than a launch takes. */
#define READY_MIN (10 * US)

struct scan {
    struct msim_wave_tail *f;
    const struct msim_trace *t;
    uint32_t *order;        /* GPU events by start, then room for as many */
    uint32_t *held, *early; /* of each stream; then of each key */
    struct msim_idmap keys; /* name and launch of a kernel to its number */
    bool per_key;
};

static bool starts_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_gpu *gpu = ctx;

    return gpu[a].start < gpu[b].start;
}

/* When GPU event `j` issues its last block. */
static msim_ps drained(const struct scan *s, uint32_t j)
{
    const struct msim_gpu *e = &s->t->gpu[j];

    return e->start + e->dur -
           (msim_ps)((double)s->f->tail[j] * (double)e->dur);
}

/* Could it have started well before it did, as far as anything is recorded? */
static bool was_ready(const struct msim_trace *t, uint32_t i)
{
    const struct msim_gpu *e = &t->gpu[i];
    msim_ps ready = e->start - READY_MIN;

    if (e->call == MSIM_NONE || t->calls[e->call].start > ready)
        return false;
    return i == t->streams[e->stream].gpu_begin ||
           e[-1].start + e[-1].dur <= ready;
}

static enum msim_status key_of(struct scan *s, uint32_t j, uint32_t *key)
{
    const struct msim_gpu *e = &s->t->gpu[j];
    uint32_t *value;

    MSIM_TRY(msim_idmap_put(&s->keys, (uint64_t)e->name << 32 | e->config,
                            s->keys.count, &value));
    *key = *value;
    return MSIM_OK;
}

static msim_ps blur_of(const struct msim_gpu *e)
{
    return BLUR + e->dur / BLUR_PER;
}

/* GPU event `i` started while `j` ran: did it wait for the last wave? */
static enum msim_status judge(struct scan *s, uint32_t i, uint32_t j)
{
    const struct msim_gpu *x = &s->t->gpu[i], *y = &s->t->gpu[j];
    msim_ps blur = blur_of(y), late = x->start - drained(s, j);
    msim_ps wave = y->start + y->dur - drained(s, j);
    uint32_t at = x->stream;

    if (s->per_key) {
        if (s->f->first[x->stream])
            return MSIM_OK;
        MSIM_TRY(key_of(s, j, &at));
    }
    if (late < -blur - wave)
        s->early[at]++;
    else if (late >= -blur && late <= blur && was_ready(s->t, i))
        s->held[at]++;
    return MSIM_OK;
}

static bool is_kernel(const struct msim_gpu *e)
{
    return e->kind != MSIM_GPU_MEMCPY;
}

/* Kernels that may hold others up: of each stream the last that has started, in
 * the order of their starts; the latest MSIM_RESIDENT_MOST of them. */
struct fillers {
    uint32_t event[MSIM_RESIDENT_MOST], n;
};

static void drop(struct fillers *l, uint32_t at)
{
    l->n--;
    for (uint32_t i = at; i < l->n; i++)
        l->event[i] = l->event[i + 1];
}

/* `i` is the last of its stream now. */
static void follow(const struct scan *s, struct fillers *l, uint32_t i)
{
    const struct msim_gpu *gpu = s->t->gpu;

    for (uint32_t k = l->n; k-- > 0;)
        if (gpu[l->event[k]].stream == gpu[i].stream)
            drop(l, k);
    if (s->f->tail[i] >= 1)
        return;
    if (l->n == MSIM_RESIDENT_MOST)
        drop(l, 0);
    l->event[l->n++] = i;
}

/* All events in order of start, each with what fills the other streams. */
static enum msim_status scan(struct scan *s)
{
    const struct msim_trace *t = s->t;
    struct fillers l = {.n = 0};

    for (uint32_t k = 0; k < t->n_gpu; k++) {
        const struct msim_gpu *x = &t->gpu[s->order[k]];

        for (uint32_t n = l.n; n-- > 0 && is_kernel(x);) {
            const struct msim_gpu *y = &t->gpu[l.event[n]];

            if (x->start >= y->start + y->dur + blur_of(y))
                drop(&l, n);
            else if (x->stream != y->stream && t->streams[x->stream].device ==
                                                   t->streams[y->stream].device)
                MSIM_TRY(judge(s, s->order[k], l.event[n]));
        }
        follow(s, &l, s->order[k]);
    }
    return MSIM_OK;
}

static enum msim_status find_priorities(struct scan *s)
{
    MSIM_TRY(scan(s));
    for (uint32_t status = 0; status < s->t->n_streams; status++) {
        s->f->first[status] =
            s->early[status] >= EARLY_MIN && s->early[status] > s->held[status];
        s->held[status] = s->early[status] = 0;
    }
    return MSIM_OK;
}

static enum msim_status find_uneven(struct scan *s)
{
    s->per_key = true;
    MSIM_TRY(scan(s));
    for (uint32_t k = 0; k < s->keys.count; k++) {
        s->f->held += s->held[k];
        s->f->early += s->early[k];
    }
    for (uint32_t i = 0; i < s->t->n_gpu; i++) {
        const struct msim_gpu *e = &s->t->gpu[i];
        uint32_t key =
            msim_idmap_get(&s->keys, (uint64_t)e->name << 32 | e->config);

        if (s->f->tail[i] >= 1 || key == UINT32_MAX ||
            s->early[key] <= s->held[key])
            continue;
        s->f->tail[i] = 1;
        s->f->uneven++;
    }
    return MSIM_OK;
}

static enum msim_status read_times(struct scan *s)
{
    uint32_t n = s->t->n_gpu, room = n + s->t->n_streams + 1;
    enum msim_status status = MSIM_ENOMEM;

    s->order = malloc(2 * (size_t)room * sizeof(*s->order));
    s->held = calloc(room, sizeof(*s->held));
    s->early = calloc(room, sizeof(*s->early));
    if (s->order && s->held && s->early) {
        for (uint32_t i = 0; i < n; i++)
            s->order[i] = i;
        msim_sort_index(s->order, s->order + n, n, starts_before, s->t->gpu);
        status = find_priorities(s);
        if (status == MSIM_OK)
            status = find_uneven(s);
    }
    free(s->order);
    free(s->held);
    free(s->early);
    msim_idmap_release(&s->keys);
    return status;
}

enum msim_status msim_wave_tail_init(struct msim_wave_tail *f,
                                     const struct msim_trace *t,
                                     bool device_times)
{
    struct scan s = {.f = f, .t = t};

    *f = (struct msim_wave_tail){0};
    f->tail = malloc(((size_t)t->n_gpu + 1) * sizeof(*f->tail));
    f->first = calloc((size_t)t->n_streams + 1, sizeof(*f->first));
    if (!f->tail || !f->first)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_gpu; i++)
        f->tail[i] = (float)msim_occupancy_tail(t, i);
    return device_times ? read_times(&s) : MSIM_OK;
}

void msim_wave_tail_release(struct msim_wave_tail *f)
{
    free(f->tail);
    free(f->first);
}
