/*
 * plan/search/plan_search.c - predicting points, by all threads.
 *
 * Points are cut into blocks. A thread takes the next block and keeps what is
 * feasible; blocks are put together in their order.
 */
#include "plan/search/plan.h"

#include "core/base/containers.h"
#include "core/base/units.h"
#include "plan/memory/job_memory.h"
#include "plan/search/plan_guard.h"
#include "plan/search/spec.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MOST 64
#define DAY_US       86400e6

struct search {
    const struct msim_spec *spec;
    const struct msim_plan_predictor *ask;
    struct msim_plan_platforms platforms;
    struct msim_plan_point first; /* the first value of every dimension */
    uint64_t n_points;
    struct msim_plan_block *blocks;
    const struct msim_plan_options *o;
    const struct msim_plan_share *share; /* or NULL */
    pthread_t reporter;                  /* the thread that tells progress */
    uint64_t n_blocks;
    pthread_mutex_t lock; /* guards what follows */
    uint64_t key;         /* of kept parts */
    bool has_key;
    uint64_t next;
    struct msim_plan *plan;
    enum msim_status status;
    struct msim_error *err; /* of the first that failed */
};

/* ---- one point ----------------------------------------------------------- */

/* The point with that number: the first dimension changes fastest, and the
 * platform slowest. */
static void point_of(const struct search *k, uint64_t number,
                     struct msim_plan_point *p)
{
    const struct msim_spec *spec = k->spec;

    *p = k->first;
    p->number = number;
    for (uint32_t d = 0; d < msim_spec_dimension_count(spec->traced); d++) {
        const struct msim_spec_values *values = &spec->values[d];

        if (values->n == 1)
            continue;
        msim_plan_point_put(p, msim_spec_dimension_at(spec->traced, d),
                            values->v[number % values->n]);
        number /= values->n;
    }
    p->platform = (uint32_t)number;
}

static void first_point(struct search *k)
{
    const struct msim_spec *spec = k->spec;

    memset(&k->first, 0, sizeof(k->first));
    k->first.strategy.sequence = spec->sequence;
    k->first.strategy.global_batch = spec->global_batch;
    for (uint32_t d = 0; d < msim_spec_dimension_count(spec->traced); d++)
        msim_plan_point_put(&k->first, msim_spec_dimension_at(spec->traced, d),
                            spec->values[d].v[0]);
}

/* What programs get of the GPU, as far as the spec lets them; GiB. */
static double usable_gib(const struct search *k,
                         const struct msim_plan_point *p)
{
    return fmin(msim_platform_usable_bytes(k->platforms.of[p->platform]) /
                    MSIM_GIB,
                k->spec->most_memory_gib);
}

/* Its peak, which may not be known, fits as predicted. */
static bool fits(const struct msim_plan_point *p)
{
    return p->fits != MSIM_FITS_NO && !(p->peak_gib > p->room_gib);
}

/* By how much a point may be slower and still keeps all limits of time;
 * INFINITY where there are none. Cost of an hour does not depend on time. */
static double slack_of(const struct msim_spec *spec,
                       const struct msim_plan_point *p)
{
    double slack =
        fmin(p->rate / spec->least_rate, spec->most_latency_us / p->us);

    if (!isnan(p->days))
        slack = fmin(slack, spec->most_days / p->days);
    if (!isnan(p->cost) && !msim_spec_is_hourly(spec))
        slack = fmin(slack, spec->most_cost / p->cost);
    return slack;
}

static void set_limits(const struct msim_spec *spec, struct msim_plan_point *p)
{
    double slack = slack_of(spec, p);

    p->allowed = slack >= 1 && (double)p->strategy.gpus <= spec->most_gpus &&
                 (isinf(spec->most_cost) || p->cost <= spec->most_cost);
    p->chance = isinf(slack) ? NAN
                             : msim_chance_below(slack * p->us, p->us,
                                                 p->low_us, p->high_us);
}

/* What follows from the time of a step. */
static void set_figures(const struct msim_spec *spec, struct msim_plan_point *p)
{
    const struct msim_spec_platform *on = &spec->platforms[p->platform];
    double units = (double)(p->strategy.global_batch * p->strategy.sequence);
    double each = msim_spec_batch_varies(spec) ? units : 1, hours;

    p->rate = units / p->us * 1e6;
    p->gpu_us = (double)p->strategy.gpus * p->us / each;
    p->time = spec->unit == MSIM_SPEC_UNIT_REQUESTS ? p->us : p->us / each;
    p->days = spec->total > 0 ? spec->total / units * p->us / DAY_US : NAN;
    hours = msim_spec_is_hourly(spec) ? 1 : p->days * 24;
    hours *= (double)p->strategy.gpus;
    p->cost = on->price > 0 ? hours * on->price : NAN;
    p->kwh = on->power_w > 0 ? hours * on->power_w / 1000 : NAN;
    set_limits(spec, p);
}

/* Predict one point; MSIM_PLAN_REASONS where it is feasible. */
static enum msim_plan_reason answer(const struct search *k, void *thread,
                                    struct msim_plan_point *p,
                                    char why[MSIM_PLAN_WHY])
{
    if (!k->ask->split(thread, p, why))
        return MSIM_PLAN_SPLIT;
    p->room_gib = usable_gib(k, p);
    if (!k->ask->memory(thread, p, why))
        return MSIM_PLAN_SPLIT;
    if (!fits(p))
        return MSIM_PLAN_MEMORY;
    if (!k->ask->step(thread, p, why))
        return MSIM_PLAN_NO_MODEL;
    set_figures(k->spec, p);
    return MSIM_PLAN_REASONS;
}

/* ---- threads ------------------------------------------------------------- */

static enum msim_status keep(struct msim_plan_block *b,
                             const struct msim_plan_point *p)
{
    MSIM_TRY(msim_grow((void **)&b->points, &b->cap, b->n, sizeof(*b->points)));
    b->points[b->n++] = *p;
    return MSIM_OK;
}

/* Of points that do not fit, the one that holds least of its GPU. */
static void keep_nearest(struct msim_plan_block *b,
                         const struct msim_plan_point *p)
{
    double share = p->peak_gib / p->room_gib;

    if (b->left_out[MSIM_PLAN_MEMORY] > 1 && !(share < b->nearest_share))
        return;
    b->nearest = *p;
    b->nearest_share = share;
}

static enum msim_status refuse(struct msim_plan_block *b, const char *why,
                               uint64_t number)
{
    struct msim_plan_refusal r = {.points = 1, .first = number};

    snprintf(r.text, sizeof(r.text), "%.199s", why);
    return msim_plan_refuse(&b->refusals, &r);
}

static enum msim_status predict_block(const struct search *k, void *thread,
                                      uint64_t which)
{
    struct msim_plan_block *b = &k->blocks[which];
    uint64_t from = which * k->ask->block, to = from + k->ask->block;

    for (uint64_t i = from; i < to && i < k->n_points; i++) {
        struct msim_plan_point p;
        enum msim_plan_reason reason;
        char why[MSIM_PLAN_WHY] = "";

        point_of(k, i, &p);
        reason = answer(k, thread, &p, why);
        if (reason == MSIM_PLAN_REASONS) {
            MSIM_TRY(keep(b, &p));
            continue;
        }
        b->left_out[reason]++;
        if (reason == MSIM_PLAN_MEMORY)
            keep_nearest(b, &p);
        else if (k->ask->says_why)
            MSIM_TRY(refuse(b, why, i));
    }
    return MSIM_OK;
}

/* ---- kept blocks --------------------------------------------------------- */

static bool is_of_block(const struct search *k, uint64_t which, uint64_t number)
{
    return number / k->ask->block == which && number < k->n_points;
}

/* Give a kept point the values of its number; false where it cannot be a point
 * of this block. */
static bool renew(const struct search *k, void *thread, uint64_t which,
                  struct msim_plan_point *p)
{
    struct msim_plan_point bare;
    char why[MSIM_PLAN_WHY];

    if (!is_of_block(k, which, p->number))
        return false;
    point_of(k, p->number, &bare);
    if (p->fits > MSIM_FITS_NO || !k->ask->split(thread, &bare, why))
        return false;
    p->platform = bare.platform;
    p->strategy = bare.strategy;
    memcpy(p->traced, bare.traced, sizeof(p->traced));
    return true;
}

static bool renew_points(const struct search *k, void *thread, uint64_t which,
                         struct msim_plan_block *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        if ((i && b->points[i].number <= b->points[i - 1].number) ||
            !renew(k, thread, which, &b->points[i]) || !fits(&b->points[i]))
            return false;
        set_figures(k->spec, &b->points[i]);
    }
    return !b->left_out[MSIM_PLAN_MEMORY] ||
           renew(k, thread, which, &b->nearest);
}

/* Are all points of the block counted, and its reasons texts? */
static bool is_complete(const struct search *k, uint64_t which,
                        const struct msim_plan_block *b)
{
    uint64_t rest = k->n_points - which * k->ask->block, n = b->n;

    for (int i = 0; i < MSIM_PLAN_REASONS; i++)
        n += b->left_out[i];
    for (uint32_t i = 0; i < b->refusals.n; i++) {
        const struct msim_plan_refusal *r = &b->refusals.of[i];

        if (!is_of_block(k, which, r->first) ||
            !memchr(r->text, '\0', sizeof(r->text)))
            return false;
    }
    return n == (rest < k->ask->block ? rest : k->ask->block);
}

/* A part that another process kept; what is wrong with it costs its time. */
static bool read_block(const struct search *k, void *thread, uint64_t which)
{
    struct msim_plan_block *b = &k->blocks[which];

    if (!k->share || !msim_plan_part_read(b, k->share, k->key, which))
        return false;
    if (is_complete(k, which, b) && renew_points(k, thread, which, b))
        return true;
    msim_plan_block_release(b);
    return false;
}

/* Predict a block, unless another process has. */
static enum msim_status answer_block(const struct search *k, void *thread,
                                     uint64_t which, struct msim_error *err)
{
    struct msim_plan_block *b = &k->blocks[which];

    if (read_block(k, thread, which))
        return MSIM_OK;
    MSIM_TRY(predict_block(k, thread, which));
    return k->share ? msim_plan_part_write(b, k->share, k->key, which, err)
                    : MSIM_OK;
}

/* ---- turns --------------------------------------------------------------- */

/*
 * The block of the `turn`th turn of this process: its own in order; then, for
 * the first, those of the others from the last on. `*skip`: there is nothing to
 * do in this turn. UINT64_MAX: there are no more.
 */
static uint64_t block_of(const struct search *k, uint64_t turn, bool *skip)
{
    uint64_t n = k->share ? k->share->processes : 1;
    uint64_t first = k->share ? k->share->process : 0;
    uint64_t own = k->n_blocks > first ? (k->n_blocks - first + n - 1) / n : 0;
    uint64_t which;

    *skip = false;
    if (turn < own)
        return first + turn * n;
    if (n == 1 || first > 0 || turn - own >= k->n_blocks)
        return UINT64_MAX;
    which = k->n_blocks - 1 - (turn - own);
    *skip = which % n == first; /* one of its threads has it */
    return which;
}

/* Blocks are begun in turns, so that a turn says how many are. */
static void tell(const struct search *k, uint64_t turn)
{
    uint64_t n = k->share ? k->share->processes : 1;
    uint64_t own = (k->n_blocks + n - 1) / n;

    if (k->o->progress && turn < own &&
        pthread_equal(k->reporter, pthread_self()))
        k->o->progress(k->o->ctx, (uint32_t)turn, (uint32_t)own);
}

/* Take turns until there are no more. */
static enum msim_status take_turns(struct search *k, void *thread,
                                   struct msim_error *err)
{
    uint64_t which, turn;
    bool skip;

    for (;;) {
        pthread_mutex_lock(&k->lock);
        turn = k->status == MSIM_OK ? k->next++ : UINT64_MAX;
        pthread_mutex_unlock(&k->lock);
        which = turn == UINT64_MAX ? turn : block_of(k, turn, &skip);
        if (which == UINT64_MAX)
            return MSIM_OK;
        tell(k, turn);
        if (!skip)
            MSIM_TRY(answer_block(k, thread, which, err));
    }
}

/* By the first thread that has begun: all files have been read then. */
static enum msim_status find_key(struct search *k, struct msim_error *err)
{
    enum msim_status status = MSIM_OK;

    pthread_mutex_lock(&k->lock);
    if (!k->has_key)
        status = msim_plan_key(&k->key, err);
    k->has_key = true;
    pthread_mutex_unlock(&k->lock);
    return status;
}

static void *work(void *arg)
{
    struct search *k = arg;
    struct msim_error err = {0};
    void *thread = NULL;
    enum msim_status status =
        k->ask->begin(&thread, k->ask->own, k->platforms.of, &err);

    if (status == MSIM_OK && k->share)
        status = find_key(k, &err);
    if (status == MSIM_OK)
        status = take_turns(k, thread, &err);
    k->ask->end(thread);
    pthread_mutex_lock(&k->lock);
    if (status != MSIM_OK && k->status == MSIM_OK) {
        k->status = status;
        *k->err = err;
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

static void run_threads(struct search *k, uint32_t threads)
{
    pthread_t others[THREADS_MOST];
    uint32_t n = 0;

    k->reporter = pthread_self();
    while (n + 1 < threads && n < THREADS_MOST &&
           pthread_create(&others[n], NULL, work, k) == 0)
        n++;
    (void)work(k);
    while (n > 0)
        pthread_join(others[--n], NULL);
}

static enum msim_status collect_left_out(struct msim_plan *plan,
                                         const struct msim_plan_block *b)
{
    const struct msim_plan_refusals *r = &b->refusals;

    if (b->left_out[MSIM_PLAN_MEMORY] &&
        (!plan->has_nearest || b->nearest_share < plan->nearest_share)) {
        plan->has_nearest = true;
        plan->nearest = b->nearest;
        plan->nearest_share = b->nearest_share;
    }
    for (int i = 0; i < MSIM_PLAN_REASONS; i++)
        plan->left_out[i] += b->left_out[i];
    for (uint32_t i = 0; i < r->n; i++)
        MSIM_TRY(msim_plan_refuse(&plan->refusals, &r->of[i]));
    plan->refusals.others += r->others;
    return MSIM_OK;
}

static enum msim_status collect(struct search *k)
{
    struct msim_plan *plan = k->plan;

    MSIM_TRY(k->status);
    for (uint64_t b = 0; b < k->n_blocks; b++) {
        MSIM_TRY(collect_left_out(plan, &k->blocks[b]));
        for (uint32_t i = 0; i < k->blocks[b].n; i++) {
            MSIM_TRY(msim_grow((void **)&plan->points, &plan->cap, plan->n,
                               sizeof(*plan->points)));
            plan->points[plan->n++] = k->blocks[b].points[i];
        }
    }
    for (uint32_t i = 0; i < plan->refusals.n; i++)
        point_of(k, plan->refusals.of[i].first, &plan->refused[i]);
    return MSIM_OK;
}

/* ---- where nothing is feasible ------------------------------------------- */

static enum msim_status find_ways(struct search *k, struct msim_error *err)
{
    struct msim_plan *plan = k->plan;
    struct msim_plan_point p;
    char why[MSIM_PLAN_WHY];
    void *thread = NULL;
    enum msim_status status;

    plan->has_nearest &= plan->n == 0;
    if (!plan->has_nearest)
        return MSIM_OK;
    status = k->ask->begin(&thread, k->ask->own, k->platforms.of, err);
    point_of(k, plan->nearest.number, &p);
    p.room_gib = usable_gib(k, &p);
    if (status == MSIM_OK && k->ask->split(thread, &p, why) &&
        k->ask->memory(thread, &p, why))
        k->ask->ways(thread, &p, &plan->nearest_ways);
    k->ask->end(thread);
    return status;
}

/* ---- all of it ----------------------------------------------------------- */

static void note_platforms(const struct search *k)
{
    struct msim_plan_basis *b = &k->plan->basis;

    for (uint32_t i = 0; i < k->spec->n_platforms; i++) {
        const struct msim_platform *p = k->platforms.of[i];

        snprintf(b->platforms[i].title, sizeof(b->platforms[i].title), "%s",
                 msim_platform_title(p));
        b->platforms[i].memory = msim_platform_usable_bytes(p);
        b->platforms[i].bandwidth = msim_platform_bandwidth(p);
        b->platforms[i].rows = msim_platform_rows(p);
        b->platforms[i].gpus_a_node = msim_platform_gpus_a_node(p);
        snprintf(b->platforms[i].network, sizeof(b->platforms[i].network), "%s",
                 k->platforms.networks[i].title);
    }
}

static enum msim_status search(struct search *k, struct msim_error *err)
{
    first_point(k);
    k->n_points = (uint64_t)msim_spec_points(k->spec);
    k->plan->looked_at = k->n_points;
    k->n_blocks = (k->n_points + k->ask->block - 1) / k->ask->block;
    k->blocks = calloc(k->n_blocks + 1, sizeof(*k->blocks));
    if (!k->blocks)
        return MSIM_ENOMEM;
    run_threads(k, k->o->threads);
    if (k->share && k->share->process > 0)
        return k->status;
    MSIM_TRY(collect(k));
    if (k->share)
        msim_plan_parts_remove(k->share);
    MSIM_TRY(find_ways(k, err));
    MSIM_TRY(msim_plan_guard(k->plan));
    return msim_plan_recommend(k->plan);
}

static enum msim_status
search_all(struct msim_plan *plan, const struct msim_spec *spec,
           const struct msim_plan_predictor *ask, const char *data_dir,
           const struct msim_plan_options *o, struct msim_error *err)
{
    struct search k = {.spec = spec,
                       .ask = ask,
                       .plan = plan,
                       .o = o,
                       .share = o->share,
                       .err = err};
    enum msim_status status;

    pthread_mutex_init(&k.lock, NULL);
    plan->step_parts = ask->step_parts;
    plan->memory_parts = ask->memory_parts;
    status = msim_plan_platforms_load(&k.platforms, spec, data_dir, err);
    if (status == MSIM_OK) {
        note_platforms(&k);
        status = search(&k, err);
    }
    for (uint64_t b = 0; k.blocks && b < k.n_blocks; b++)
        msim_plan_block_release(&k.blocks[b]);
    free(k.blocks);
    msim_plan_platforms_release(&k.platforms);
    pthread_mutex_destroy(&k.lock);
    return status;
}

enum msim_status msim_plan_search(struct msim_plan *plan,
                                  const struct msim_spec *spec,
                                  const char *data_dir,
                                  const struct msim_plan_options *o,
                                  struct msim_error *err)
{
    struct msim_memory_fit memory;
    struct msim_described_points of = {spec, &plan->basis.fit, &memory};
    struct msim_plan_predictor described = msim_described_predictor(&of);

    *plan = (struct msim_plan){.best = UINT32_MAX,
                               .runner_up = UINT32_MAX,
                               .cheaper = UINT32_MAX,
                               .test = UINT32_MAX};
    if (o->traced)
        plan->basis.traced = *o->traced;
    if (o->predictor)
        return search_all(plan, spec, o->predictor, data_dir, o, err);
    MSIM_TRY(msim_steps_read(&plan->basis.fit, &memory, data_dir, NULL, err));
    plan->basis.memory = memory.constants;
    plan->basis.memory_low = memory.interval[MSIM_MEMORY_OTHER].low;
    plan->basis.memory_high = memory.interval[MSIM_MEMORY_OTHER].high;
    return search_all(plan, spec, &described, data_dir, o, err);
}

void msim_plan_release(struct msim_plan *plan)
{
    free(plan->points);
    free(plan->frontier);
    free(plan->refusals.of);
    msim_step_fit_release(&plan->basis.fit);
    *plan = (struct msim_plan){0};
}
