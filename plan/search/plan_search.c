/*
 * plan/search/plan_search.c - predicting points, by all threads.
 *
 * Points are cut into blocks. A thread takes the next block and keeps what is
 * feasible; blocks are put together in their order.
 */
#include "plan/search/plan_search.h"

#include "core/base/vec.h"
#include "models/platform/platform.h"
#include "plan/search/plan_parts.h"
#include "plan/search/recommend.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB          1073741824.0
#define BLOCK        2048 /* points */
#define THREADS_MOST 64
#define DAY_US       86400e6

struct search {
    const struct msim_spec *spec;
    struct msim_platform *platforms[MSIM_SPEC_PLATFORMS];
    struct msim_network networks[MSIM_SPEC_PLATFORMS];
    const struct msim_step_fit *fit; /* the plan's */
    struct msim_memory_fit memory;
    struct msim_strategy first; /* the first value of every dimension */
    uint64_t n_points;
    struct msim_plan_block *blocks;
    const struct msim_plan_options *o;
    const struct msim_plan_share *share; /* or NULL */
    pthread_t reporter;                  /* the thread that tells progress */
    uint64_t key;
    uint64_t n_blocks;
    pthread_mutex_t lock; /* guards what follows */
    uint64_t next;
    struct msim_plan *plan;
    enum msim_status status;
};

/* ---- one point ----------------------------------------------------------- */

/* The point with that number: the first dimension changes slowest. */
static void point_of(const struct search *k, uint64_t number,
                     struct msim_plan_point *p, uint32_t *given)
{
    struct msim_strategy *s = &p->strategy;

    memset(p, 0, sizeof(*p));
    p->number = number;
    *s = k->first;
    for (uint32_t d = 0; d < MSIM_SPEC_DIMENSIONS; d++) {
        const struct msim_spec_values *values = &k->spec->values[d];

        if (values->n == 1)
            continue;
        msim_strategy_put(s, msim_spec_dimension_at(d)->given,
                          values->v[number % values->n]);
        number /= values->n;
    }
    p->platform = (uint32_t)number;
    *given = (1u << MSIM_GIVEN_COUNT) - 1;
    *given &= ~(1u << MSIM_GIVEN_nodes | 1u << MSIM_GIVEN_dp |
                1u << MSIM_GIVEN_grad_accum);
}

/* Of the GPU that a point is on, as far as the spec lets it hold. */
static struct msim_memory_gpu gpu_of(const struct search *k,
                                     const struct msim_plan_point *p)
{
    const struct msim_platform *on = k->platforms[p->platform];

    return (struct msim_memory_gpu){
        .usable = fmin(msim_platform_usable_bytes(on),
                       k->spec->most_memory_gib * GIB),
        .link = msim_platform_link_rate(on),
        .gpus_a_node = msim_platform_gpus_a_node(on)};
}

static bool fits(const struct search *k, struct msim_plan_point *p)
{
    struct msim_memory_gpu gpu = gpu_of(k, p);
    struct msim_job_memory m =
        msim_job_memory_of(&k->spec->model, &p->strategy, &k->memory, &gpu);

    p->peak_gib = m.at.most / GIB;
    p->low_gib = m.low / GIB;
    p->high_gib = m.high / GIB;
    p->room_gib = m.room / GIB;
    p->beside = m.beside;
    p->fits = m.fits;
    return p->fits != MSIM_FITS_NO && m.at.most <= m.room;
}

/* The data sheet's dense rate of what the products run in, FLOP/s. */
static double peak_rate(const struct msim_platform *platform,
                        const struct msim_strategy *s)
{
    return msim_platform_peak_flops(
        platform, s->precision == MSIM_PRECISION_FP32      ? MSIM_DT_F32
                  : s->precision >= MSIM_PRECISION_AMP_FP8 ? MSIM_DT_F8
                                                           : MSIM_DT_BF16);
}

/* By how much a point may be slower and still keeps all limits of time;
 * INFINITY where there are none. */
static double slack_of(const struct msim_spec *spec,
                       const struct msim_plan_point *p)
{
    double slack = p->tokens_per_second / spec->least_tokens_per_second;

    if (!isnan(p->days))
        slack = fmin(slack, spec->most_days / p->days);
    if (!isnan(p->cost))
        slack = fmin(slack, spec->most_cost / p->cost);
    return slack;
}

static void set_limits(const struct msim_spec *spec, struct msim_plan_point *p)
{
    double slack = slack_of(spec, p);

    p->allowed = slack >= 1 && (double)p->strategy.gpus <= spec->most_gpus;
    p->chance = isinf(slack) ? NAN
                             : msim_chance_below(slack * p->us, p->us,
                                                 p->low_us, p->high_us);
}

static void set_figures(const struct search *k, struct msim_plan_point *p,
                        const struct msim_step_estimate *e)
{
    const struct msim_spec *spec = k->spec;
    const struct msim_spec_platform *on = &spec->platforms[p->platform];
    double tokens = (double)(spec->global_batch * spec->sequence);
    double hours;

    p->us = e->us;
    p->low_us = e->low_us;
    p->high_us = e->high_us;
    p->parts = e->parts;
    p->tokens_per_second = tokens / e->us * 1e6;
    p->mfu = e->flops / (e->us * 1e-6 *
                         peak_rate(k->platforms[p->platform], &p->strategy));
    p->days = spec->tokens > 0 ? spec->tokens / tokens * e->us / DAY_US : NAN;
    hours = p->days * 24 * (double)p->strategy.gpus;
    p->cost = on->price > 0 ? hours * on->price : NAN;
    p->kwh = on->power_w > 0 ? hours * on->power_w / 1000 : NAN;
    p->correction = e->correction;
    set_limits(spec, p);
}

/* Predict one point; MSIM_PLAN_REASONS where it is feasible. */
static enum msim_plan_reason answer(const struct search *k,
                                    struct msim_pricer *pricers,
                                    struct msim_plan_point *p, uint32_t given)
{
    struct msim_pricer *pricer = &pricers[p->platform];
    struct msim_step_estimate e;
    struct msim_error why = {0};
    struct msim_terms terms;
    char defaults[256], reason[256];

    if (msim_strategy_complete(&p->strategy, given, &k->spec->model,
                               pricer->gpus_a_node, defaults, sizeof(defaults),
                               reason, sizeof(reason)))
        return MSIM_PLAN_SPLIT;
    if (!fits(k, p))
        return MSIM_PLAN_MEMORY;
    if (msim_terms_make(&terms, pricer, &k->spec->model, &p->strategy, &why) !=
        MSIM_OK)
        return MSIM_PLAN_NO_MODEL;
    e = msim_step_predict(&terms, k->fit);
    set_figures(k, p, &e);
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

static enum msim_status predict_block(const struct search *k,
                                      struct msim_pricer *pricers,
                                      uint64_t which)
{
    struct msim_plan_block *b = &k->blocks[which];
    uint64_t from = which * BLOCK, to = from + BLOCK;

    for (uint64_t i = from; i < to && i < k->n_points; i++) {
        struct msim_plan_point p;
        enum msim_plan_reason why;
        uint32_t given;

        point_of(k, i, &p, &given);
        why = answer(k, pricers, &p, given);
        if (why < MSIM_PLAN_REASONS)
            b->left_out[why]++;
        else
            MSIM_TRY(keep(b, &p));
    }
    b->known = true;
    return MSIM_OK;
}

/* Predict a block that is not known yet. */
static enum msim_status answer_block(const struct search *k,
                                     struct msim_pricer *pricers,
                                     uint64_t which)
{
    struct msim_plan_block *b = &k->blocks[which];

    if (b->known ||
        (k->share && msim_plan_part_read(b, k->share, k->key, which)))
        return MSIM_OK;
    MSIM_TRY(predict_block(k, pricers, which));
    return k->share ? msim_plan_part_write(b, k->share, k->key, which)
                    : MSIM_OK;
}

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

static void *work(void *arg)
{
    struct search *k = arg;
    struct msim_pricer pricers[MSIM_SPEC_PLATFORMS] = {{0}};
    enum msim_status status = MSIM_OK;
    uint64_t which, turn;
    bool skip;

    for (uint32_t i = 0; i < k->spec->n_platforms; i++) {
        pricers[i].platform = k->platforms[i];
        pricers[i].gpus_a_node = msim_platform_gpus_a_node(k->platforms[i]);
    }
    for (;;) {
        pthread_mutex_lock(&k->lock);
        turn = k->next++;
        pthread_mutex_unlock(&k->lock);
        which = block_of(k, turn, &skip);
        tell(k, turn);
        if (which == UINT64_MAX || status != MSIM_OK)
            break;
        if (!skip)
            status = answer_block(k, pricers, which);
    }
    pthread_mutex_lock(&k->lock);
    if (status != MSIM_OK)
        k->status = status;
    pthread_mutex_unlock(&k->lock);
    for (uint32_t i = 0; i < k->spec->n_platforms; i++)
        msim_pricer_release(&pricers[i]);
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

static enum msim_status collect(struct search *k)
{
    struct msim_plan *plan = k->plan;

    MSIM_TRY(k->status);
    for (uint64_t b = 0; b < k->n_blocks; b++) {
        for (int i = 0; i < MSIM_PLAN_REASONS; i++)
            plan->left_out[i] += k->blocks[b].left_out[i];
        for (uint32_t i = 0; i < k->blocks[b].n; i++) {
            MSIM_TRY(msim_grow((void **)&plan->points, &plan->cap, plan->n,
                               sizeof(*plan->points)));
            plan->points[plan->n++] = k->blocks[b].points[i];
        }
    }
    return MSIM_OK;
}

/* ---- all of it ----------------------------------------------------------- */

static enum msim_status load(struct search *k, const char *data_dir,
                             struct msim_error *err)
{
    for (uint32_t i = 0; i < k->spec->n_platforms; i++) {
        const struct msim_spec_platform *p = &k->spec->platforms[i];

        MSIM_TRY(msim_platform_load(&k->platforms[i], data_dir, p->name, err));
        if (!*p->network)
            continue;
        MSIM_TRY(msim_network_load(&k->networks[i], data_dir, p->network, err));
        msim_platform_join(k->platforms[i], &k->networks[i]);
    }
    MSIM_TRY(msim_memory_fit_read(&k->memory, data_dir, NULL, err));
    k->plan->basis.memory = k->memory.constants;
    k->fit = &k->plan->basis.fit;
    return msim_step_fit_read(&k->plan->basis.fit, data_dir, NULL, err);
}

static void note_basis(const struct search *k)
{
    struct msim_plan_basis *b = &k->plan->basis;

    for (uint32_t i = 0; i < k->spec->n_platforms; i++) {
        const struct msim_platform *p = k->platforms[i];

        snprintf(b->platforms[i].title, sizeof(b->platforms[i].title), "%s",
                 msim_platform_title(p));
        b->platforms[i].memory = msim_platform_usable_bytes(p);
        b->platforms[i].bandwidth = msim_platform_bandwidth(p);
        b->platforms[i].rows = msim_platform_rows(p);
        b->platforms[i].gpus_a_node = msim_platform_gpus_a_node(p);
        snprintf(b->platforms[i].network, sizeof(b->platforms[i].network), "%s",
                 k->networks[i].title);
    }
    b->memory_low = k->memory.interval[MSIM_MEMORY_OTHER].low;
    b->memory_high = k->memory.interval[MSIM_MEMORY_OTHER].high;
}

/* ---- where nothing is feasible ------------------------------------------- */

/* Can the point be split so, and does it hold the smallest share of its GPU
 * yet? */
static bool is_nearer(const struct search *k, struct msim_plan_point *p,
                      uint32_t given, double *least)
{
    char defaults[256], reason[256];
    double share;

    if (msim_strategy_complete(
            &p->strategy, given, &k->spec->model,
            msim_platform_gpus_a_node(k->platforms[p->platform]), defaults,
            sizeof(defaults), reason, sizeof(reason)) ||
        fits(k, p))
        return false;
    share = p->peak_gib / p->room_gib;
    if (share >= *least)
        return false;
    *least = share;
    return true;
}

static void find_nearest(struct search *k)
{
    struct msim_plan *plan = k->plan;
    double least = INFINITY;

    if (plan->n || !plan->left_out[MSIM_PLAN_MEMORY])
        return;
    for (uint64_t i = 0; i < k->n_points; i++) {
        struct msim_plan_point p;
        uint32_t given;

        point_of(k, i, &p, &given);
        if (!is_nearer(k, &p, given, &least))
            continue;
        plan->has_nearest = true;
        plan->nearest = p;
    }
    if (!plan->has_nearest)
        return;
    msim_memory_ways_find(
        &plan->nearest_ways,
        &(struct msim_memory_asked){&k->spec->model, &plan->nearest.strategy,
                                    &k->memory, gpu_of(k, &plan->nearest)});
}

/* ---- all of it ----------------------------------------------------------- */

static struct msim_strategy first_of(const struct msim_spec *spec)
{
    struct msim_strategy s = {.sequence = spec->sequence,
                              .global_batch = spec->global_batch};

    for (uint32_t d = 0; d < MSIM_SPEC_DIMENSIONS; d++)
        msim_strategy_put(&s, msim_spec_dimension_at(d)->given,
                          spec->values[d].v[0]);
    return s;
}

static enum msim_status search(struct search *k)
{
    k->first = first_of(k->spec);
    k->n_points = (uint64_t)msim_spec_points(k->spec);
    k->plan->looked_at = k->n_points;
    k->n_blocks = (k->n_points + BLOCK - 1) / BLOCK;
    k->blocks = calloc(k->n_blocks + 1, sizeof(*k->blocks));
    if (!k->blocks)
        return MSIM_ENOMEM;
    if (k->share)
        k->key = msim_plan_key(k->share, k->spec);
    run_threads(k, k->o->threads);
    if (k->share && k->share->process > 0)
        return k->status;
    MSIM_TRY(collect(k));
    if (k->share)
        msim_plan_parts_remove(k->share, k->n_blocks);
    find_nearest(k);
    return msim_plan_recommend(k->plan);
}

enum msim_status msim_plan_search(struct msim_plan *plan,
                                  const struct msim_spec *spec,
                                  const char *data_dir,
                                  const struct msim_plan_options *o,
                                  struct msim_error *err)
{
    struct search k = {.spec = spec, .plan = plan, .o = o, .share = o->share};
    enum msim_status status;

    *plan = (struct msim_plan){
        .best = UINT32_MAX, .runner_up = UINT32_MAX, .safe = UINT32_MAX};
    pthread_mutex_init(&k.lock, NULL);
    status = load(&k, data_dir, err);
    if (status == MSIM_OK)
        note_basis(&k);
    if (status == MSIM_OK)
        status = search(&k);
    for (uint64_t b = 0; k.blocks && b < k.n_blocks; b++)
        free(k.blocks[b].points);
    free(k.blocks);
    for (uint32_t i = 0; i < spec->n_platforms; i++)
        msim_platform_free(k.platforms[i]);
    pthread_mutex_destroy(&k.lock);
    return status;
}

void msim_plan_release(struct msim_plan *plan)
{
    free(plan->points);
    free(plan->frontier);
    msim_step_fit_release(&plan->basis.fit);
    *plan = (struct msim_plan){0};
}
