/*
 * serving/size/size_search.c - a plan by simulation.
 *
 * It begins with the plan of the convolution. While requests are late, a
 * replica is added where the simulation says that one helps most, of the few
 * stages that distributions, or queues, point to; then replicas are taken away
 * one by one, least missed first. Fewer replicas elsewhere make no stage more
 * dispensable, so each is asked until it is missed once.
 */
#include "serving/size/size_plan_internal.h"

#include <math.h>
#include <stdlib.h>

#define CANDIDATES 4 /* stages that are simulated with one replica more */
#define STEPS_MOST 60
#define FAR        1.1 /* so late, more is added at a time */
#define COARSE     16  /* one replica of so many comes or goes, at first */
#define FINE       400 /* ... and in the end */

struct search {
    struct msim_latency_sum *l;
    struct msim_rehearsal *r;
    int64_t *plan; /* owned */
    double *score; /* by stage; owned */
    int64_t *step; /* that is taken of a stage; 0: it is missed; owned */
    double late;
    struct msim_error *err;
};

static uint32_t n_stages(const struct search *s)
{
    return s->l->load->app->n_stages;
}

static bool is_visited(const struct search *s, uint32_t at)
{
    return s->l->load->stages[at].visits > 0;
}

/* One of `part`, but at least one. */
static int64_t share_of(int64_t replicas, int64_t part)
{
    return replicas > part ? replicas / part : 1;
}

static enum msim_status rehearse(struct search *s,
                                 enum msim_rehearsal_depth depth)
{
    return msim_rehearsal_run(s->r, s->plan, depth, s->err);
}

/* The plan as distributions see it. */
static enum msim_status pass(struct search *s)
{
    for (uint32_t i = 0; i < n_stages(s); i++)
        s->l->replicas[i] = s->plan[i];
    return msim_latency_pass(s->l);
}

/* Late requests with `more` replicas of each stage, by distributions. */
static enum msim_status score_all(struct search *s, int64_t more)
{
    for (uint32_t i = 0; i < n_stages(s); i++) {
        s->score[i] = INFINITY;
        if (is_visited(s, i) && s->plan[i] + more >= 1)
            MSIM_TRY(msim_latency_try(s->l, i, s->plan[i] + more, false,
                                      &s->score[i]));
    }
    return MSIM_OK;
}

/* ---- more ---------------------------------------------------------------- */

/* The stages with the lowest scores for their price, and those that requests
 * wait for longest, half of each. */
static uint32_t choose(const struct search *s, uint32_t *out)
{
    double now = msim_latency_late(s->l);
    uint32_t n = 0;

    while (n < CANDIDATES) {
        uint32_t best = MSIM_NONE;
        double most = 0;

        for (uint32_t i = 0; i < n_stages(s); i++) {
            double gain =
                n < CANDIDATES / 2 ? now - s->score[i] : s->r->wait_ms[i];
            bool taken = false;

            gain /= msim_sizing_price(s->l->load->app, i);
            for (uint32_t k = 0; k < n; k++)
                taken = taken || out[k] == i;
            if (!taken && is_visited(s, i) && gain > most) {
                most = gain;
                best = i;
            }
        }
        if (best == MSIM_NONE && n >= CANDIDATES / 2)
            return n;
        if (best != MSIM_NONE)
            out[n] = best;
        else
            out[n] = out[0];
        n++;
    }
    return n;
}

static enum msim_status add_some(struct search *s, bool *added)
{
    uint32_t of[CANDIDATES] = {0}, n, best = MSIM_NONE;
    int64_t part = s->late > FAR ? COARSE : FINE;
    double least = s->late * (1 - 1e-3);

    MSIM_TRY(pass(s));
    MSIM_TRY(score_all(s, 1));
    n = choose(s, of);
    for (uint32_t i = 0; i < n; i++) {
        int64_t before = s->plan[of[i]];

        s->plan[of[i]] += share_of(before, part);
        MSIM_TRY(rehearse(s, MSIM_REHEARSAL_FEW));
        s->plan[of[i]] = before;
        if (s->r->late < least) {
            least = s->r->late;
            best = of[i];
        }
    }
    *added = best != MSIM_NONE;
    if (!*added)
        return MSIM_OK;
    s->plan[best] += share_of(s->plan[best], part);
    s->late = least;
    return MSIM_OK;
}

static enum msim_status add_until_kept(struct search *s)
{
    for (int i = 0; i < STEPS_MOST && s->late > 1; i++) {
        bool added;

        MSIM_TRY(rehearse(s, MSIM_REHEARSAL_FEW)); /* its waits choose the
                                                      candidates */
        s->late = s->r->late;
        if (s->late <= 1)
            return MSIM_OK;
        MSIM_TRY(add_some(s, &added));
        if (!added)
            return MSIM_OK;
    }
    return MSIM_OK;
}

/* ---- fewer --------------------------------------------------------------- */

static uint32_t least_missed(const struct search *s)
{
    uint32_t best = MSIM_NONE;
    double least = INFINITY;

    for (uint32_t i = 0; i < n_stages(s); i++) {
        double price = msim_sizing_price(s->l->load->app, i);

        if (s->step[i] > 0 && is_visited(s, i) && s->plan[i] > s->step[i] &&
            s->score[i] / price < least) {
            least = s->score[i] / price;
            best = i;
        }
    }
    return best;
}

/* A step of stage `at` less, rehearsed. */
static enum msim_status take(struct search *s, uint32_t at, bool *missed)
{
    *missed = !msim_sizing_bears(s->l, at, s->plan[at] - s->step[at]);
    s->plan[at] -= s->step[at];
    if (*missed)
        return MSIM_OK;
    MSIM_TRY(rehearse(s, MSIM_REHEARSAL_QUICK));
    if (s->r->late <= 1)
        MSIM_TRY(rehearse(s, MSIM_REHEARSAL_FEW));
    *missed = s->r->late > 1;
    return MSIM_OK;
}

/* A stage that misses many may miss half of them less; as few as matter, and it
 * is left alone. */
static enum msim_status take_until_missed(struct search *s)
{
    MSIM_TRY(pass(s));
    MSIM_TRY(score_all(s, -1));
    for (uint32_t i = 0; i < n_stages(s); i++)
        s->step[i] = share_of(s->plan[i], COARSE);
    for (;;) {
        uint32_t at = least_missed(s);
        bool missed;

        if (at == MSIM_NONE)
            return MSIM_OK;
        MSIM_TRY(take(s, at, &missed));
        if (!missed) {
            s->late = s->r->late;
            s->score[at] *= 2; /* the next one will be missed more */
            continue;
        }
        s->plan[at] += s->step[at];
        s->step[at] = s->step[at] > share_of(s->plan[at], FINE)
                          ? (s->step[at] + 1) / 2
                          : 0;
    }
}

/* ---- both ---------------------------------------------------------------- */

/* What a few runs let pass, all of them may not. */
static enum msim_status make_sure(struct search *s)
{
    for (int i = 0; i < STEPS_MOST; i++) {
        bool added;

        MSIM_TRY(rehearse(s, MSIM_REHEARSAL_CHECK));
        if (s->r->late <= 1)
            return MSIM_OK;
        MSIM_TRY(rehearse(s, MSIM_REHEARSAL_FEW));
        s->late = s->r->late;
        MSIM_TRY(add_some(s, &added));
        if (!added)
            return MSIM_OK;
    }
    return MSIM_OK;
}

static enum msim_status search(struct search *s)
{
    for (uint32_t i = 0; i < n_stages(s); i++)
        s->plan[i] = s->l->replicas[i];
    MSIM_TRY(rehearse(s, MSIM_REHEARSAL_FEW));
    s->late = s->r->late;
    MSIM_TRY(add_until_kept(s));
    if (s->late <= 1) {
        MSIM_TRY(take_until_missed(s));
        MSIM_TRY(make_sure(s));
    }
    MSIM_TRY(pass(s));
    return rehearse(s, MSIM_REHEARSAL_ALL);
}

enum msim_status msim_sizing_search(struct msim_latency_sum *l,
                                    struct msim_rehearsal *r,
                                    struct msim_error *err)
{
    struct search s = {.l = l, .r = r, .err = err};
    enum msim_status status;

    s.plan = calloc(n_stages(&s), sizeof(*s.plan));
    s.score = calloc(n_stages(&s), sizeof(*s.score));
    s.step = calloc(n_stages(&s), sizeof(*s.step));
    status = s.plan && s.score && s.step ? search(&s) : MSIM_ENOMEM;
    free(s.plan);
    free(s.score);
    free(s.step);
    return status;
}
