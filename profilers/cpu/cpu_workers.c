/*
 * profilers/cpu/cpu_workers.c - threads that share loops.
 */
#include "profilers/cpu/cpu_workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define LOOKS 4000 /* before a thread sleeps: about 20 us */

struct worker {
    struct msim_workers *all;
    uint32_t index; /* from 1; the caller is 0 */
    pthread_t id;
};

struct msim_workers {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_uint turn; /* counts what was handed out */
    atomic_uint busy; /* threads that are not done with it */
    msim_range_fn *fn;
    void *ctx;
    int64_t n;
    uint32_t parts;
    bool stop;
    uint32_t count; /* without the caller */
    struct worker list[];
};

static void run_part(struct msim_workers *w, uint32_t part)
{
    int64_t n = w->n, parts = w->parts;

    if (part < w->parts)
        w->fn(w->ctx, n * part / parts, n * (part + 1) / parts);
}

/* The number of the next turn after `seen`. */
static unsigned wait_for_turn(struct msim_workers *w, unsigned seen)
{
    unsigned turn;

    for (int i = 0; i < LOOKS; i++)
        if ((turn = atomic_load(&w->turn)) != seen)
            return turn;
    pthread_mutex_lock(&w->lock);
    while ((turn = atomic_load(&w->turn)) == seen)
        pthread_cond_wait(&w->wake, &w->lock);
    pthread_mutex_unlock(&w->lock);
    return turn;
}

static void *work(void *arg)
{
    struct worker *self = arg;
    struct msim_workers *w = self->all;
    unsigned turn = 0;

    for (;;) {
        turn = wait_for_turn(w, turn);
        if (w->stop)
            return NULL;
        run_part(w, self->index);
        atomic_fetch_sub(&w->busy, 1);
    }
}

static void hand_out(struct msim_workers *w)
{
    atomic_store(&w->busy, w->count);
    pthread_mutex_lock(&w->lock);
    atomic_fetch_add(&w->turn, 1);
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

enum msim_status msim_workers_new(struct msim_workers **out, uint32_t threads)
{
    uint32_t wanted = threads > 1 ? threads - 1 : 0;
    struct msim_workers *w =
        calloc(1, sizeof(*w) + wanted * sizeof(struct worker));

    *out = w;
    if (!w)
        return MSIM_ENOMEM;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    for (uint32_t i = 0; i < wanted; i++) {
        struct worker *one = &w->list[i];

        *one = (struct worker){.all = w, .index = i + 1};
        if (pthread_create(&one->id, NULL, work, one) != 0)
            break;
        w->count++;
    }
    return MSIM_OK;
}

void msim_workers_free(struct msim_workers *w)
{
    if (!w)
        return;
    w->stop = true; /* seen by all: they read it after the turn */
    hand_out(w);
    for (uint32_t i = 0; i < w->count; i++)
        pthread_join(w->list[i].id, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

void msim_workers_run(struct msim_workers *w, msim_range_fn *fn, void *ctx,
                      int64_t n, int64_t grain)
{
    int64_t parts = grain > 0 ? n / grain : n;

    if (parts > (int64_t)w->count + 1)
        parts = (int64_t)w->count + 1;
    if (parts <= 1) {
        fn(ctx, 0, n);
        return;
    }
    w->fn = fn;
    w->ctx = ctx;
    w->n = n;
    w->parts = (uint32_t)parts;
    hand_out(w);
    run_part(w, 0);
    while (atomic_load(&w->busy) > 0)
        sched_yield();
}
