/*
 * serving/app/arrivals.c - requests, one after another.
 *
 * Every random number is of a stream of its own purpose and request, so that
 * none moves another.
 */
#include "serving/app/arrivals.h"

#include "core/base/hash.h"
#include "serving/log/request_log.h"

#include <math.h>
#include <stdlib.h>

enum stream { GAP = 0x61727200, STATE, REQUEST, PROMPT, THINK };

/* Where the rate is straight: between two points of the profile, within one
 * state of the MMPP. */
struct clock {
    double t_s;
    uint32_t next_point; /* of the profile; n_profile: none is left */
    bool on;             /* MMPP */
    double state_end_s;  /* infinite without states */
    uint64_t n_states;
};

struct msim_arrival_source {
    const struct msim_app *app;
    enum msim_arrival_process process;
    uint64_t seed, next;
    double rate, scale; /* of a log: seconds here over seconds there */
    int64_t clients;
    double mean_tokens; /* of a request; 0: they have none */
    struct clock clock;
    struct msim_request_log log;
    uint32_t *class_of; /* of the log's classes; MSIM_NONE: drawn */
};

/* ---- time ---------------------------------------------------------------- */

static void next_state(struct msim_arrival_source *s)
{
    const struct msim_arrivals *a = &s->app->arrivals;
    struct msim_random r = msim_random_of(s->seed, STATE, s->clock.n_states);

    if (s->clock.n_states++ == 0)
        s->clock.on = msim_random_unit(&r) < a->on_s / (a->on_s + a->off_s);
    else
        s->clock.on = !s->clock.on;
    s->clock.state_end_s = s->clock.t_s + (s->clock.on ? a->on_s : a->off_s) *
                                              msim_random_exponential(&r);
}

static double state_factor(const struct msim_arrival_source *s)
{
    const struct msim_arrivals *a = &s->app->arrivals;

    if (s->process != MSIM_ARRIVAL_MMPP)
        return 1;
    return s->clock.on
               ? a->factor
               : fmax((a->on_s + a->off_s - a->factor * a->on_s) / a->off_s, 0);
}

/* The rate now and its slope, and the seconds for which that holds. */
static double rate_now(const struct msim_arrival_source *s, double *slope,
                       double *left)
{
    const struct msim_arrivals *a = &s->app->arrivals;
    const struct msim_profile_point *p = a->profile;
    double rate = s->rate * state_factor(s), now = 1, t = s->clock.t_s;
    uint32_t i = s->clock.next_point;

    *slope = 0;
    *left = INFINITY;
    if (i < a->n_profile)
        *left = fmax(p[i].t_s - t, 0);
    if (a->n_profile && i == a->n_profile)
        now = p[i - 1].factor;
    else if (a->n_profile && i == 0)
        now = p[0].factor;
    else if (a->n_profile) {
        *slope = (p[i].factor - p[i - 1].factor) / (p[i].t_s - p[i - 1].t_s);
        now = fmax(p[i - 1].factor + *slope * (t - p[i - 1].t_s), 0);
    }
    *slope *= rate;
    *left = fmin(*left, fmax(s->clock.state_end_s - t, 0));
    return rate * now;
}

/* To the end of the straight part. */
static void step_over(struct msim_arrival_source *s)
{
    const struct msim_arrivals *a = &s->app->arrivals;
    uint32_t i = s->clock.next_point;
    double point = i < a->n_profile ? a->profile[i].t_s : INFINITY;

    if (point <= s->clock.state_end_s) {
        s->clock.t_s = fmax(s->clock.t_s, point);
        s->clock.next_point++;
    } else {
        s->clock.t_s = s->clock.state_end_s;
        next_state(s);
    }
}

/* Move on until the integral of the rate is `need`. */
static void move(struct msim_arrival_source *s, double need)
{
    for (;;) {
        double slope, left, rate = rate_now(s, &slope, &left);
        double area = isinf(left) ? INFINITY : (rate + slope * left / 2) * left;

        if (need <= area && (rate > 0 || slope > 0)) {
            /* need = rate dt + slope dt^2 / 2, without cancellation. */
            s->clock.t_s +=
                2 * need /
                (rate + sqrt(fmax(rate * rate + 2 * slope * need, 0)));
            return;
        }
        need -= area;
        step_over(s);
    }
}

/* Of mean 1. */
static double draw_gap(const struct msim_arrival_source *s)
{
    struct msim_random r = msim_random_of(s->seed, GAP, s->next);
    double cv2 = s->app->arrivals.cv * s->app->arrivals.cv;

    if (s->process == MSIM_ARRIVAL_CONSTANT)
        return 1;
    if (s->process == MSIM_ARRIVAL_GAMMA)
        return msim_random_gamma(&r, 1 / cv2) * cv2;
    return msim_random_exponential(&r);
}

/* ---- what arrives -------------------------------------------------------- */

static uint32_t draw_class(const struct msim_app *app, double u)
{
    uint32_t c = 0;

    while (c + 1 < app->n_classes && u >= app->classes[c].share)
        u -= app->classes[c++].share;
    return c;
}

static uint32_t draw_tokens(const struct msim_dist *d, struct msim_random *r)
{
    double n = d->kind == MSIM_DIST_NONE ? 0 : round(msim_dist_draw(d, r));

    if (d->kind == MSIM_DIST_NONE)
        return 0;
    return n < 1 ? 1 : n < 1e9 ? (uint32_t)n : 1000000000;
}

/* The number of one of `n`, whatever its class, never 0. */
static uint64_t name_of(const struct msim_arrival *a, uint64_t what, uint64_t n)
{
    return msim_hash_mix(msim_hash_mix(what, a->cls), n);
}

/* Equal prompts are equally long: their length is drawn by their number. */
static void draw_prompt(const struct msim_arrival_source *s,
                        const struct msim_app_class *c, struct msim_random *r,
                        struct msim_arrival *a)
{
    double u = msim_random_unit(r);
    uint64_t distinct = (uint64_t)c->prefix.distinct_prompts;
    uint64_t groups = c->prefix.groups ? (uint64_t)c->prefix.groups : 1;
    uint64_t n = (uint64_t)(u * (double)(distinct ? distinct : groups));
    struct msim_random own = msim_random_of(s->seed, PROMPT, name_of(a, 0, n));

    a->input_tokens = draw_tokens(&c->input_tokens, distinct ? &own : r);
    if (c->prefix.shared_tokens == 0 && distinct == 0)
        return;
    a->group = name_of(a, 1, n % groups);
    a->prompt = name_of(a, 2, distinct ? n : s->next + ((uint64_t)1 << 63));
    a->shared_tokens = c->prefix.shared_tokens < a->input_tokens
                           ? (uint32_t)c->prefix.shared_tokens
                           : a->input_tokens;
}

static void take_logged(const struct msim_arrival_source *s,
                        struct msim_arrival *a)
{
    const struct msim_logged *row = &s->log.rows[a->index];

    if (row->input_tokens)
        a->input_tokens = row->input_tokens;
    if (row->output_tokens)
        a->output_tokens = row->output_tokens;
    if (row->prefix) {
        a->group = a->prompt = row->prefix;
        a->shared_tokens = a->input_tokens;
    }
    a->blocks = row->n_blocks ? &s->log.blocks[row->first_block] : NULL;
    a->n_blocks = row->n_blocks;
}

static void draw_request(const struct msim_arrival_source *s,
                         struct msim_arrival *a)
{
    struct msim_random r = msim_random_of(s->seed, REQUEST, a->index);
    const struct msim_app_class *c;
    double tokens;

    a->cls = draw_class(s->app, msim_random_unit(&r));
    if (s->log.n && s->class_of[s->log.rows[a->index].cls] != MSIM_NONE)
        a->cls = s->class_of[s->log.rows[a->index].cls];
    c = &s->app->classes[a->cls];
    draw_prompt(s, c, &r, a);
    a->output_tokens = draw_tokens(&c->output_tokens, &r);
    if (s->log.n)
        take_logged(s, a);
    tokens = (double)a->input_tokens + a->output_tokens;
    a->size = c->size.kind != MSIM_DIST_NONE ? msim_dist_draw(&c->size, &r)
              : s->mean_tokens > 0           ? tokens / s->mean_tokens
                                             : 1;
}

bool msim_arrival_source_next(struct msim_arrival_source *s,
                              struct msim_arrival *a)
{
    if (s->log.n && s->next == s->log.n)
        return false;
    *a = (struct msim_arrival){.index = s->next};
    if (s->log.n) {
        a->t_s = s->log.rows[s->next].t_s * s->scale;
    } else if (s->clients == 0) {
        move(s, draw_gap(s));
        a->t_s = s->clock.t_s;
    }
    draw_request(s, a);
    s->next++;
    return true;
}

/* ---- beginning ----------------------------------------------------------- */

static double mean_tokens(const struct msim_arrival_source *s)
{
    const struct msim_app *app = s->app;
    double sum = 0;

    for (uint32_t i = 0; i < s->log.n; i++)
        sum += ((double)s->log.rows[i].input_tokens +
                s->log.rows[i].output_tokens) /
               s->log.n;
    for (uint32_t c = 0; c < app->n_classes && sum <= 0; c++)
        sum += app->classes[c].share *
               (msim_dist_mean(&app->classes[c].input_tokens) +
                msim_dist_mean(&app->classes[c].output_tokens));
    return sum;
}

static enum msim_status match_classes(struct msim_arrival_source *s,
                                      const char *path, struct msim_error *err)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->log.n; i++)
        n = s->log.rows[i].cls >= n ? s->log.rows[i].cls + 1 : n;
    s->class_of = malloc((n ? n : 1) * sizeof(*s->class_of));
    if (!s->class_of)
        return MSIM_ENOMEM;
    for (uint32_t c = 0; c < n; c++) {
        const char *name = msim_request_log_class(&s->log, c);

        s->class_of[c] = *name ? msim_app_class_find(s->app, name) : MSIM_NONE;
        if (*name && s->class_of[c] == MSIM_NONE)
            return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "class '%.60s' is none of the application's",
                             name);
    }
    return MSIM_OK;
}

static enum msim_status open_log(struct msim_arrival_source *s,
                                 const char *path, struct msim_error *err)
{
    MSIM_TRY(msim_request_log_read(&s->log, path, err));
    MSIM_TRY(match_classes(s, path, err));
    if (s->rate > 0) {
        double own = msim_request_log_rate(&s->log);

        if (!isfinite(own))
            return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "all requests come at once, want times that can "
                             "be scaled to a rate");
        s->scale = own / s->rate;
    }
    return MSIM_OK;
}

static enum msim_status begin(struct msim_arrival_source *s,
                              const struct msim_arrival_how *how,
                              struct msim_error *err)
{
    const struct msim_arrivals *a = &s->app->arrivals;
    const char *log = how->log ? how->log : a->log;

    s->process = how->log ? MSIM_ARRIVAL_LOG : a->process;
    if (how->concurrency > 0)
        s->process = MSIM_ARRIVAL_CLOSED;
    else if (how->rate > 0 && s->process == MSIM_ARRIVAL_CLOSED)
        s->process = MSIM_ARRIVAL_POISSON;
    s->rate = how->rate > 0 ? how->rate : how->log ? 0 : a->rate;
    if (s->process == MSIM_ARRIVAL_CLOSED)
        s->clients = how->concurrency > 0 ? how->concurrency : a->concurrency;
    if (s->process == MSIM_ARRIVAL_LOG)
        return open_log(s, log, err);
    if (s->process == MSIM_ARRIVAL_CLOSED && s->clients <= 0)
        return msim_fail(err, MSIM_EFORMAT, s->app->path, MSIM_OFFSET_NONE,
                         "arrivals.concurrency is missing, want a whole number "
                         "from 1, or --concurrency");
    if (s->process != MSIM_ARRIVAL_CLOSED && s->rate <= 0)
        return msim_fail(err, MSIM_EFORMAT, s->app->path, MSIM_OFFSET_NONE,
                         "arrivals.rate is missing, want a number above 0, or "
                         "--rate");
    return MSIM_OK;
}

enum msim_status msim_arrival_source_new(struct msim_arrival_source **out,
                                         const struct msim_app *app,
                                         const struct msim_arrival_how *how,
                                         struct msim_error *err)
{
    struct msim_arrival_source *s = calloc(1, sizeof(*s));
    enum msim_status status;

    *out = NULL;
    if (!s)
        return MSIM_ENOMEM;
    s->app = app;
    s->scale = 1;
    status = begin(s, how, err);
    if (status != MSIM_OK) {
        msim_arrival_source_free(s);
        return status;
    }
    s->mean_tokens = mean_tokens(s);
    msim_arrival_source_rewind(s, how->seed);
    *out = s;
    return MSIM_OK;
}

void msim_arrival_source_rewind(struct msim_arrival_source *s, uint64_t seed)
{
    s->seed = seed;
    s->next = 0;
    s->clock = (struct clock){.state_end_s = INFINITY};
    if (s->process == MSIM_ARRIVAL_MMPP)
        next_state(s);
}

void msim_arrival_source_free(struct msim_arrival_source *s)
{
    if (!s)
        return;
    msim_request_log_release(&s->log);
    free(s->class_of);
    free(s);
}

/* ---- what is asked of a source ------------------------------------------- */

int64_t msim_arrival_source_clients(const struct msim_arrival_source *s)
{
    return s->clients;
}

double msim_arrival_source_think_ms(const struct msim_arrival_source *s,
                                    uint64_t index)
{
    struct msim_random r = msim_random_of(s->seed, THINK, index);

    return msim_dist_draw(&s->app->arrivals.think_ms, &r);
}

uint32_t msim_arrival_source_count(const struct msim_arrival_source *s)
{
    return s->log.n;
}

uint32_t msim_arrival_hashes(const struct msim_arrival *a, uint32_t unit,
                             uint64_t *hashes, uint32_t room)
{
    uint64_t known = a->prompt ? a->input_tokens
                     : a->n_blocks
                         ? (uint64_t)a->n_blocks * MSIM_LOG_BLOCK_TOKENS
                         : 0;
    uint64_t n = (known < a->input_tokens ? known : a->input_tokens) / unit;

    if (n > room)
        n = room;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t end = (i + 1) * unit; /* tokens of this unit and before */

        if (a->n_blocks)
            hashes[i] = msim_hash_mix(
                a->blocks[(end - 1) / MSIM_LOG_BLOCK_TOKENS], end);
        else
            hashes[i] = msim_hash_mix(
                end <= a->shared_tokens ? a->group : a->prompt, end);
    }
    return (uint32_t)n;
}
