/*
 * serving/watch/watch_advice.c - replicas for what comes.
 */
#include "serving/watch/watch_advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define START_S  2    /* until new replicas serve */
#define HELD     0.70 /* of their time workers are to be held, at most */
#define PATIENCE 20   /* seconds of less need until replicas go */
#define LIKELY   0.5  /* a violation is to be done something about */

struct msim_advice_stage {
    int64_t asked;    /* replicas: 0, none yet */
    uint32_t surplus; /* seconds in which fewer were enough */
    int64_t enough;   /* the most that was enough in those */
};

const char *msim_action_text(enum msim_action a)
{
    static const char *const WORDS[] = {
#define X(name, word) [MSIM_ACTION_##name] = (word),
        MSIM_ACTION_MAP(X)
#undef X
    };

    return WORDS[a];
}

enum msim_status msim_advice_init(struct msim_advice *a, uint32_t n_stages)
{
    *a = (struct msim_advice){.n = n_stages};
    a->replicas = calloc(n_stages, sizeof(*a->replicas));
    a->stages = calloc(n_stages, sizeof(*a->stages));
    return a->replicas && a->stages ? MSIM_OK : MSIM_ENOMEM;
}

void msim_advice_release(struct msim_advice *a)
{
    free(a->replicas);
    free(a->stages);
    memset(a, 0, sizeof(*a));
}

/* Replicas that keep workers held for HELD of the time when new ones serve,
 * by the trend, and that serve what waits within a few seconds. */
static int64_t need_of(const struct msim_watch *w, uint32_t s, double now)
{
    const struct msim_history *h = &w->history;
    double workers = (double)w->app->stages[s].workers;
    double busy = fmax(msim_history_mean(h, s, MSIM_TRACK_BUSY, 1),
                       msim_history_mean(h, s, MSIM_TRACK_BUSY, 4));
    double slope = msim_history_slope(h, s, MSIM_TRACK_BUSY, 4);
    double queue = msim_history_mean(h, s, MSIM_TRACK_QUEUE, 1);
    double self = exp(msim_history_mean(h, s, MSIM_TRACK_SELF, 3)) / 1000;
    double held = busy + fmax(0, slope) * START_S;

    if (isnan(held))
        return (int64_t)now;
    held = held * now;
    if (queue > now * workers)
        held += queue * (isnan(self) ? 0 : self) / workers / START_S;
    return (int64_t)fmax(1, ceil(held / HELD - 0.1));
}

/* More at once; fewer when fewer were enough for a while. */
static int64_t choose(struct msim_advice_stage *a, int64_t need, int64_t now)
{
    if (need >= now) {
        a->surplus = 0;
        a->enough = 0;
        return need;
    }
    a->surplus++;
    a->enough = need > a->enough ? need : a->enough;
    if (a->surplus < PATIENCE)
        return now;
    need = a->enough;
    a->surplus = 0;
    a->enough = 0;
    return need;
}

static enum msim_action other_than_replicas(const struct msim_verdict *v)
{
    switch (v->resource) {
    case MSIM_RESOURCE_WORKERS:
        return MSIM_ACTION_RESTART;
    case MSIM_RESOURCE_LOAD:
        return MSIM_ACTION_SHED;
    default:
        return MSIM_ACTION_MOVE;
    }
}

void msim_advice_decide(struct msim_advice *a, const struct msim_watch *w,
                        const struct msim_verdict *v)
{
    a->action = MSIM_ACTION_NONE;
    for (uint32_t s = 0; s < a->n; s++) {
        double now = w->seconds.stages[s].v[MSIM_COUNTER_REPLICAS];
        int64_t next;

        a->replicas[s] = 0;
        if (!(now >= 1))
            continue;
        if (a->stages[s].asked == 0)
            a->stages[s].asked = (int64_t)now;
        next = choose(&a->stages[s], need_of(w, s, now), (int64_t)now);
        if (next == a->stages[s].asked)
            continue;
        a->stages[s].asked = a->replicas[s] = next;
        a->action = MSIM_ACTION_SCALE;
    }
    if (a->action == MSIM_ACTION_NONE && v->p_violation > LIKELY)
        a->action = other_than_replicas(v);
}
