/*
 * core/graph/contention/wave_tail.c - who fills a device, as a trace shows it.
 */
#include "core/graph/contention/wave_tail.h"

#include "core/base/idmap.h"
#include "core/base/sort.h"
#include "core/graph/occupancy.h"

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
    uint32_t *order;        /* GPU events by start */
    uint32_t *current;      /* of each stream: the last one that has started */
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

/* GPU event `i` started while `j` ran: did it wait for the last wave? */
static enum msim_status judge(struct scan *s, uint32_t i, uint32_t j)
{
    const struct msim_gpu *x = &s->t->gpu[i], *y = &s->t->gpu[j];
    msim_ps blur = BLUR + y->dur / BLUR_PER, late = x->start - drained(s, j);
    msim_ps wave = y->start + y->dur - drained(s, j);
    uint32_t at = x->stream;

    if (s->f->tail[j] >= 1 || x->start >= y->start + y->dur + blur)
        return MSIM_OK;
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

/* All events in order of start, each with what runs on the other streams. */
static enum msim_status scan(struct scan *s)
{
    const struct msim_trace *t = s->t;

    for (uint32_t status = 0; status < t->n_streams; status++)
        s->current[status] = MSIM_NONE;
    for (uint32_t k = 0; k < t->n_gpu; k++) {
        uint32_t i = s->order[k], stream = t->gpu[i].stream;

        for (uint32_t status = 0;
             status < t->n_streams && is_kernel(&t->gpu[i]); status++)
            if (status != stream && s->current[status] != MSIM_NONE &&
                t->streams[status].device == t->streams[stream].device)
                MSIM_TRY(judge(s, i, s->current[status]));
        s->current[stream] = i;
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

    s->order = malloc(room * sizeof(*s->order));
    s->current = malloc(room * sizeof(*s->current));
    s->held = calloc(room, sizeof(*s->held));
    s->early = calloc(room, sizeof(*s->early));
    if (s->order && s->current && s->held && s->early) {
        for (uint32_t i = 0; i < n; i++)
            s->order[i] = i;
        msim_sort_index(s->order, s->current, n, starts_before, s->t->gpu);
        status = find_priorities(s);
        if (status == MSIM_OK)
            status = find_uneven(s);
    }
    free(s->order);
    free(s->current);
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
