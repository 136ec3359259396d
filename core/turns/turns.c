/*
 * core/turns/turns.c - one lock around the next number and the first failure.
 */
#include "core/turns/turns.h"

#include <pthread.h>

#define THREADS_MOST 64

struct pool {
    msim_turns_work *work;
    void *ctx;
    uint32_t n;
    pthread_mutex_t lock; /* guards what follows */
    uint32_t next;
    enum msim_status status;
    uint32_t failed_at;
    struct msim_error err;
};

struct msim_turns {
    struct pool *pool;
    uint32_t at; /* taken last */
};

bool msim_turns_next(struct msim_turns *t, uint32_t *i)
{
    struct pool *p = t->pool;
    bool left;

    pthread_mutex_lock(&p->lock);
    left = p->status == MSIM_OK && p->next < p->n;
    if (left)
        *i = t->at = p->next++;
    pthread_mutex_unlock(&p->lock);
    return left;
}

static void *run(void *arg)
{
    struct pool *p = arg;
    struct msim_turns t = {p, 0};
    struct msim_error err = {0};
    enum msim_status status = p->work(&t, p->ctx, &err);

    if (status == MSIM_OK)
        return NULL;
    pthread_mutex_lock(&p->lock);
    if (p->status == MSIM_OK || t.at < p->failed_at) {
        p->status = status;
        p->failed_at = t.at;
        p->err = err;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

enum msim_status msim_turns_run(uint32_t n, uint32_t threads,
                                msim_turns_work *work, void *ctx,
                                struct msim_error *err)
{
    struct pool p = {.work = work, .ctx = ctx, .n = n};
    pthread_t others[THREADS_MOST];
    uint32_t started = 0;

    pthread_mutex_init(&p.lock, NULL);
    while (started + 1 < threads && started + 1 < n &&
           started < THREADS_MOST - 1 &&
           pthread_create(&others[started], NULL, run, &p) == 0)
        started++;
    (void)run(&p);
    while (started > 0)
        pthread_join(others[--started], NULL);
    pthread_mutex_destroy(&p.lock);
    if (p.status != MSIM_OK && err && err->status == MSIM_OK)
        *err = p.err;
    return p.status;
}
