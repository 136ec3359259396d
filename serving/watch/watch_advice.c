/*
 * serving/watch/watch_advice.c - replicas for what comes.
 */
#include "serving/watch/watch.h"

#include "core/base/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define START_S 2    /* until new replicas serve */
#define TAIL    3    /* a mean wait in the p99: an exponential one has 4.6 */
#define FULL    0.95 /* share of time that workers are held, at most */
#define FACTOR_MOST                                                            \
    3 /* waits of visits that come together no replica takes off */
#define BATCHED 0.85 /* as FULL, of stages that serve batches */
#define MARGIN  0.75 /* of the limit, that the p99 may take */
/* Of the limit: a replica that takes less than this off the p99 is not worth
 * it. Where the limit is near what requests take without any queue, no number
 * of replicas makes enough room, and many that do nothing were asked for. Set
 * by hand: the largest with no day above 2 % late of 24 others than those that
 * advice is judged on (scripts/accuracy/serving_watch.py --days 2,3). */
#define WORTH         0.015
#define PATIENCE      12 /* seconds of less need until replicas go */
#define REPLICAS_MOST 1e6
#define LIKELY        0.5  /* a violation is to be done something about */
#define MOST          2000 /* replicas added in one second */

struct msim_advice_stage {
    int64_t asked;    /* replicas: 0, none yet */
    uint32_t surplus; /* seconds in which fewer were enough */
    int64_t enough;   /* the most that was enough in those */
    double factor;    /* of the approximated wait: 0, not known */
    /* of this second */
    int64_t now, need;
    double workers; /* of a replica */
    bool pooled;    /* one queue for all */
    bool batches;   /* which grow where replicas are few */
    double held;    /* workers, when new replicas serve */
    double service; /* ms that a visit holds one */
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

/* The limit of a class; the application's where it has none of its own. */
static double limit_of(const struct msim_app *app, uint32_t cls, double most)
{
    double limit = most;

    for (uint32_t i = 0; i < app->n_promises; i++) {
        const struct msim_promise *p = &app->promises[i];

        if (p->metric == msim_watch_metric(app) &&
            (p->cls == cls || p->cls == MSIM_CLASS_ALL))
            limit = fmin(limit, p->limit_ms);
    }
    return limit;
}

enum msim_status msim_advice_init(struct msim_advice *a, struct msim_watch *w)
{
    uint32_t n = w->app->n_stages, classes = w->app->n_classes;

    *a = (struct msim_advice){.n = n, .n_classes = classes, .share = 1};
    a->replicas = calloc(n, sizeof(*a->replicas));
    a->stages = calloc(n, sizeof(*a->stages));
    a->visits = calloc((size_t)n * classes + 1, sizeof(*a->visits));
    a->limits = calloc((size_t)classes + 1, sizeof(*a->limits));
    a->sums = calloc((size_t)classes + 1, sizeof(*a->sums));
    if (!a->replicas || !a->stages || !a->visits || !a->limits || !a->sums)
        return MSIM_ENOMEM;
    for (uint32_t c = 0; c < classes; c++) {
        msim_watch_flow_visits(&w->flow, c, a->visits + (size_t)c * n);
        a->limits[c] = limit_of(w->app, c, w->limit_ms) / w->limit_ms;
    }
    return MSIM_OK;
}

void msim_advice_release(struct msim_advice *a)
{
    free(a->replicas);
    free(a->stages);
    free(a->visits);
    free(a->limits);
    free(a->sums);
    memset(a, 0, sizeof(*a));
}

/* ---- queues ------------------------------------------------------ */

/* The mean wait in ms with `n` replicas of which `held` workers are busy. */
static double wait_of(const struct msim_advice_stage *a, double held, double n)
{
    double c = a->pooled ? n * a->workers : a->workers;
    double rho = held / (n * a->workers);

    if (rho >= 1)
        return INFINITY;
    return a->service * pow(rho, sqrt(2 * (c + 1)) - 1) / (c * (1 - rho));
}

static double or_zero(double v)
{
    return isfinite(v) ? v : 0;
}

/* The noise of a second's rate, from one second to the next: over a day rates
 * differ for other reasons, too. */
static double noise_of(const struct msim_history *h)
{
    const double MEDIAN_TO_SD = 1.4826 / sqrt(2), LEAST = 0.01;
    double steps[MSIM_HISTORY_KEPT];
    uint32_t n = 0;

    for (uint32_t ago = 0; ago + 1 < MSIM_HISTORY_KEPT; ago++) {
        double d = msim_history_at(h, h->n_stages, MSIM_TRACK_RATE, ago) -
                   msim_history_at(h, h->n_stages, MSIM_TRACK_RATE, ago + 1);

        if (!isnan(d))
            steps[n++] = fabs(d);
    }
    return n ? fmax(LEAST, MEDIAN_TO_SD * msim_median(steps, n)) : LEAST;
}

/* Growth of the arrivals of requests until new replicas serve, as a factor from
 * 1 to 2; less of it where it may be noise. */
static double growth_of(const struct msim_history *h)
{
    enum { LINE = 4 };
    uint32_t e = h->n_stages;
    double slope = msim_history_slope(h, e, MSIM_TRACK_RATE, LINE);
    double noise = noise_of(h) / sqrt(5);
    double z = slope / noise; /* 5: the squares of 0 .. 3 about their mean */

    if (!(z > 0))
        return 1;
    return exp(fmin(log(2), slope * z * z / (z * z + 2) * (START_S + 1)));
}

static void look_at(struct msim_advice_stage *a, const struct msim_watch *w,
                    uint32_t s, double growth)
{
    const struct msim_history *h = &w->history;
    const struct msim_stage *stage = &w->app->stages[s];
    double rate = msim_history_mean(h, s, MSIM_TRACK_RATE, 4);
    double last = msim_history_mean(h, s, MSIM_TRACK_BUSY, 1);
    double some = msim_history_mean(h, s, MSIM_TRACK_BUSY, 4);
    double busy = fmax(some, last);
    double queue = or_zero(msim_history_mean(h, s, MSIM_TRACK_QUEUE, 1));
    double wait = msim_history_mean(h, s, MSIM_TRACK_WAIT, 1), guess;

    a->now = (int64_t)or_zero(w->seconds.stages[s].v[MSIM_COUNTER_REPLICAS]);
    a->workers = (double)stage->workers;
    a->pooled = stage->routing == MSIM_ROUTING_SHARED ||
                stage->routing == MSIM_ROUTING_LEAST;
    a->batches = stage->batching.on;
    a->held = or_zero(busy) * (double)a->now * a->workers;
    a->service = or_zero(1000 * a->held * exp(-rate));
    guess = wait_of(a, a->held, (double)a->now);
    if (isfinite(guess) && guess > 1e-3 && wait > 0) {
        double factor = fmin(fmax(wait / guess, 0.2), FACTOR_MOST);

        a->factor = a->factor > 0 ? 0.9 * a->factor + 0.1 * factor : factor;
    }
    /* what waits beyond a visit a worker is served while replicas start */
    queue = fmax(0, queue - a->workers * (double)a->now);
    a->held = a->held * growth + queue * a->service / 1000 / START_S;
    a->need = (int64_t)fmin(
        REPLICAS_MOST,
        fmax(1, ceil(a->held / ((a->batches ? BATCHED : FULL) * a->workers))));
}

/* What the queue of a stage adds to the p99 of a request that comes once. */
static double cost_of(const struct msim_advice_stage *a, int64_t n)
{
    if (a->batches)
        return 0;
    return TAIL * (a->factor > 0 ? a->factor : 1) *
           wait_of(a, a->held, (double)n);
}

static double visits_of(const struct msim_advice *a, uint32_t c, uint32_t s)
{
    return fmin(1, a->visits[(size_t)c * a->n + s]);
}

/* The class that is furthest above its part of `most`; n_classes: none is. */
static uint32_t worst_class(const struct msim_advice *a, double most)
{
    uint32_t worst = a->n_classes;
    double ratio = 1;

    for (uint32_t c = 0; c < a->n_classes; c++) {
        double r = a->sums[c] / (most * a->limits[c]);

        if (r > ratio) {
            ratio = r;
            worst = c;
        }
    }
    return worst;
}

/* The stage where one replica more takes most off class `c`, and more than
 * `least` ms; or n. */
static uint32_t best_stage(const struct msim_advice *a, uint32_t c,
                           double least)
{
    uint32_t best = a->n;
    double saved = least;

    for (uint32_t s = 0; s < a->n; s++) {
        const struct msim_advice_stage *t = &a->stages[s];
        double d;

        if (t->now == 0)
            continue;
        d = visits_of(a, c, s) *
            (cost_of(t, t->need) - cost_of(t, t->need + 1));
        if (d > saved) {
            saved = d;
            best = s;
        }
    }
    return best;
}

static void add_up(struct msim_advice *a)
{
    for (uint32_t c = 0; c < a->n_classes; c++) {
        a->sums[c] = 0;
        for (uint32_t s = 0; s < a->n; s++)
            if (a->stages[s].now > 0)
                a->sums[c] += visits_of(a, c, s) *
                              cost_of(&a->stages[s], a->stages[s].need);
    }
}

/* Add replicas, each where it takes most off, until queues add no more than
 * `most` ms to the p99, and to that of a class as much less as its limit is; or
 * none takes more than `least` ms off. */
static void add_replicas(struct msim_advice *a, double most, double least)
{
    for (int i = 0; i < MOST; i++) {
        uint32_t c, s;

        add_up(a);
        c = worst_class(a, most);
        if (c == a->n_classes)
            return;
        s = best_stage(a, c, least);
        if (s == a->n)
            return;
        a->stages[s].need++;
    }
}

/* ---- the limit --------------------------------------------------- */

static double mean_visits(const struct msim_advice *a,
                          const struct msim_app *app, uint32_t s)
{
    double sum = 0;

    for (uint32_t c = 0; c < a->n_classes; c++)
        sum += app->classes[c].share * visits_of(a, c, s);
    return sum;
}

/* What is left below the limit for queues. */
static double room_of(struct msim_advice *a, const struct msim_watch *w)
{
    double p99 = w->seconds.stages[a->n].v[MSIM_COUNTER_P99_MS], queues = 0;
    double sorted[MSIM_ADVICE_KEPT];
    uint32_t n = a->seconds < MSIM_ADVICE_KEPT ? a->seconds : MSIM_ADVICE_KEPT;

    for (uint32_t s = 0; s < a->n; s++)
        queues +=
            a->stages[s].batches
                ? 0
                : TAIL * mean_visits(a, w->app, s) *
                      or_zero(w->seconds.stages[s].v[MSIM_COUNTER_WAIT_MS]);
    if (p99 > 0) {
        a->rest[a->seconds++ % MSIM_ADVICE_KEPT] = fmax(0, p99 - queues);
        a->share = p99 > w->limit_ms ? fmax(0.3, a->share * 0.9)
                                     : fmin(1.5, a->share * 1.004);
        n = n < MSIM_ADVICE_KEPT ? n + 1 : n;
    }
    if (n == 0)
        return 0.1 * w->limit_ms;
    memcpy(sorted, a->rest, n * sizeof(*sorted));
    return a->share * fmax(MARGIN * w->limit_ms - msim_median(sorted, n),
                           0.05 * w->limit_ms);
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
    double growth = growth_of(&w->history);

    a->action = MSIM_ACTION_NONE;
    for (uint32_t s = 0; s < a->n; s++)
        look_at(&a->stages[s], w, s, growth);
    add_replicas(a, room_of(a, w), WORTH * w->limit_ms);
    for (uint32_t s = 0; s < a->n; s++) {
        struct msim_advice_stage *t = &a->stages[s];
        int64_t next;

        a->replicas[s] = 0;
        if (t->now == 0)
            continue;
        if (t->asked == 0)
            t->asked = t->now;
        next = choose(t, t->need, t->asked);
        if (next == t->asked)
            continue;
        t->asked = a->replicas[s] = next;
        a->action = MSIM_ACTION_SCALE;
    }
    if (a->action == MSIM_ACTION_NONE && v->p_violation > LIKELY)
        a->action = other_than_replicas(v);
}
