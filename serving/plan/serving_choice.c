/*
 * serving/plan/serving_choice.c - configurations in threads; the frontier; what
 * to take.
 */
#include "serving/plan/serving_choice.h"

#include "core/turns/turns.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct work {
    struct msim_serving_choice *c;
    const char *data_dir;
    msim_serving_progress *progress;
    void *ctx;
    pthread_mutex_t lock; /* of the progress, and what was told */
    uint32_t done;
};

/* ---- all configurations -------------------------------------------------- */

static void tell(struct work *k)
{
    if (!k->progress)
        return;
    pthread_mutex_lock(&k->lock);
    k->progress(k->ctx, ++k->done, k->c->n);
    pthread_mutex_unlock(&k->lock);
}

static enum msim_status work(struct msim_turns *turns, void *ctx,
                             struct msim_error *err)
{
    struct work *k = ctx;
    uint32_t i;

    (void)err;
    while (msim_turns_next(turns, &i)) {
        MSIM_TRY(msim_served_fleet_find(&k->c->fleets[i], k->c->spec, i,
                                        k->data_dir));
        tell(k);
    }
    return MSIM_OK;
}

/* ---- which to take ------------------------------------------------------- */

const struct msim_fleet_point *
msim_serving_choice_next(const struct msim_serving_choice *c, uint32_t *at)
{
    while (*at < c->n * MSIM_FLEET_KINDS) {
        uint32_t i = (*at)++;
        const struct msim_fleet_point *all =
            c->fleets[i / MSIM_FLEET_KINDS].points;
        const struct msim_fleet_point *p = &all[i % MSIM_FLEET_KINDS];

        /* as many that are sure are said once */
        if (p->replicas > 0 &&
            !(p == &all[MSIM_FLEET_SURE] &&
              p->replicas == all[MSIM_FLEET_MIDDLE].replicas))
            return p;
    }
    return NULL;
}

double msim_serving_choice_price(const struct msim_serving_choice *c,
                                 const struct msim_fleet_point *p)
{
    return c->priced ? p->cost_per_hour : p->gpus;
}

bool msim_serving_choice_is_better(const struct msim_serving_choice *c,
                                   const struct msim_fleet_point *a,
                                   const struct msim_fleet_point *b)
{
    double x = fmin(msim_serving_choice_price(c, a), INFINITY);
    double y =
        b ? fmin(msim_serving_choice_price(c, b), INFINITY) : (double)INFINITY;

    return !b || x < y || (x == y && a->of_limit.high < b->of_limit.high);
}

static const struct msim_fleet_point *
cheapest(const struct msim_serving_choice *c, enum msim_fleet_kind kind)
{
    const struct msim_fleet_point *best = NULL;

    for (uint32_t i = 0; i < c->n; i++) {
        const struct msim_fleet_point *p = &c->fleets[i].points[kind];

        if (p->replicas > 0 && p->within_limits &&
            msim_serving_choice_is_better(c, p, best))
            best = p;
    }
    return best;
}

static void mark_frontier(struct msim_serving_choice *c)
{
    for (uint32_t i = 0; i < c->n * MSIM_FLEET_KINDS; i++) {
        struct msim_fleet_point *p =
            &c->fleets[i / MSIM_FLEET_KINDS].points[i % MSIM_FLEET_KINDS];
        double x = msim_serving_choice_price(c, p);
        const struct msim_fleet_point *q;
        uint32_t at = 0;

        p->frontier = p->replicas > 0 && p->within_limits && !isnan(x);
        while (p->frontier && (q = msim_serving_choice_next(c, &at))) {
            double y = msim_serving_choice_price(c, q);

            p->frontier = !(q->within_limits && y <= x &&
                            q->of_limit.middle <= p->of_limit.middle &&
                            (y < x || q->of_limit.middle < p->of_limit.middle));
        }
    }
}

static void find_nearest(struct msim_serving_choice *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const struct msim_served_fleet *f = &c->fleets[i];

        if (f->fits && !isnan(f->alone) &&
            (!c->nearest || f->alone < c->nearest->alone))
            c->nearest = f;
    }
}

static void recommend(struct msim_serving_choice *c)
{
    const struct msim_fleet_point *middle;

    mark_frontier(c);
    middle = cheapest(c, MSIM_FLEET_MIDDLE);
    c->best = cheapest(c, MSIM_FLEET_SURE);
    c->sure = c->best;
    if (!c->best)
        c->best = middle;
    else if (middle && msim_serving_choice_price(c, middle) <
                           msim_serving_choice_price(c, c->best))
        c->cheaper = middle;
    if (!c->best)
        find_nearest(c);
}

enum msim_status msim_serving_choose(struct msim_serving_choice *c,
                                     const struct msim_serving_spec *spec,
                                     const char *data_dir, uint32_t threads,
                                     msim_serving_progress *progress, void *ctx,
                                     struct msim_error *err)
{
    struct work k = {.c = c,
                     .data_dir = data_dir,
                     .progress = progress,
                     .ctx = ctx,
                     .lock = PTHREAD_MUTEX_INITIALIZER};
    enum msim_status status;

    *c = (struct msim_serving_choice){.spec = spec};
    MSIM_TRY(msim_serving_spec_app(&c->app, spec, 0, err));
    c->n = msim_serving_spec_configs(spec);
    for (uint32_t i = 0; i < spec->n_platforms; i++)
        c->priced |= !isnan(spec->platforms[i].price);
    c->fleets = calloc(c->n, sizeof(*c->fleets));
    status =
        c->fleets ? msim_turns_run(c->n, threads, work, &k, NULL) : MSIM_ENOMEM;
    if (status == MSIM_OK)
        recommend(c);
    else
        msim_serving_choice_release(c);
    return status;
}

void msim_serving_choice_release(struct msim_serving_choice *c)
{
    free(c->fleets);
    if (c->spec)
        msim_app_release(&c->app);
    memset(c, 0, sizeof(*c));
}
