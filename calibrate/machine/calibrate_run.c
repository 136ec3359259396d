/*
 * calibrate/machine/calibrate_run.c - the measuring part of a calibration.
 *
 * A backend's share of the budget goes, in this order, to
 *   the shapes of a trace                     trace_experiments.c (--for)
 *   points that fill its space, 60 %          experiment_design.c
 *   batches of points with the widest intervals, a fit before each
 *                                             interval_width.c
 *   (without fits, further points that fill its space instead)
 *   compute beside collectives                concurrent.c
 *   products back to back                     sustained.c
 *   hardware counters                         counter_ratio.c
 * Counters come last: a device that they leave unusable costs nothing then.
 */
#include "calibrate/machine/machine.h"

#include "calibrate/machine/machine_internal.h"
#include "calibrate/measure/ask_loop.h"
#include "calibrate/measure/experiment_space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SHARE 0.6 /* of the budget, that fills the space */
#define BATCHES     4   /* in the rest */
#define BATCH_MAX   200
#define BATCH_MIN   8
#define COUNT_SHARE 0.05 /* for what is counted as well */
/* Of all backends' budget: for compute beside collectives. */
#define CONCURRENT_SHARE 0.015
/* At most, of a backend's: for products back to back. */
#define SUSTAINED_SHARE 0.1

/* The longest expected run: several hundred experiments of several runs each
 * must fit the budget. */
#define LONGEST_SHARE 8e-5
#define LONGEST_MIN   2e4 /* us */
#define LONGEST_MAX   3e5

/* A backend, and the experiments that it offers. */
struct asking {
    struct msim_cal_ask_loop of;
    struct msim_cal_space space;
    struct msim_cal_design *design; /* owned */
    double budget;                  /* seconds: its share */
    double all;                     /* the share with what comes last */
    bool cut_short;                 /* failures ended it before its time */
};

static bool is_over(const struct asking *a, double seconds)
{
    return msim_cal_ask_loop_spent(&a->of) >= seconds;
}

/* Whether failures left no time for what comes last, as hangs may. */
static bool is_late(const struct asking *a)
{
    return a->of.watch.lost && is_over(a, a->all);
}

/* ---- one backend --------------------------------------------------------- */

static double longest_us(double budget)
{
    return fmin(fmax(budget * LONGEST_SHARE * 1e6, LONGEST_MIN), LONGEST_MAX);
}

static enum msim_status open_backend(struct asking *a, struct msim_error *err)
{
    a->of.longest_us = longest_us(a->of.o->budget);
    MSIM_TRY(msim_cal_ask_loop_start(&a->of, err));
    MSIM_TRY(msim_cal_space_read(&a->space,
                                 msim_cal_journal_greeting(a->of.j, a->of.name),
                                 a->of.longest_us, err));
    MSIM_TRY(msim_cal_design_new(&a->design, &a->space, a->of.o->seed));
    a->of.space = &a->space;
    a->of.design = a->design;
    return MSIM_OK;
}

static void close_backend(struct asking *a)
{
    msim_cal_ask_loop_stop(&a->of);
    msim_cal_design_free(a->design);
    a->design = NULL;
}

/* ---- all of them --------------------------------------------------------- */

static enum msim_status take_first(struct asking *a, struct msim_error *err)
{
    const struct msim_cal_shapes *first = a->of.o->first;

    for (uint32_t i = 0; first && i < first->n; i++) {
        if (is_over(a, a->budget))
            return MSIM_OK;
        if (msim_cal_space_offers(&a->space, &first->list[i]))
            MSIM_TRY(msim_cal_ask_loop_take(&a->of, &first->list[i], err));
    }
    return MSIM_OK;
}

/* Points that fill the space, until so many seconds are spent. */
static enum msim_status fill_space(struct asking *a, double seconds,
                                   struct msim_error *err)
{
    struct msim_cal_experiment e;
    uint32_t kind;

    while (!is_over(a, seconds)) {
        if (!msim_cal_design_next(a->design, &e, &kind)) {
            a->cut_short = a->of.watch.lost;
            break;
        }
        MSIM_TRY(msim_cal_ask_loop_take(&a->of, &e, err));
    }
    return msim_cal_ask_loop_end_round(&a->of, err);
}

/* How many experiments are likely to fit so many seconds. */
static uint32_t batch_size(const struct asking *a, double seconds)
{
    double each = 0.1;
    uint32_t n = 0;

    for (uint32_t i = 0; i < a->of.j->n; i++)
        n += strcmp(a->of.j->entries[i].backend, a->of.name) == 0;
    if (n)
        each = msim_cal_journal_seconds(a->of.j, a->of.name) / n;
    return (uint32_t)fmin(fmax(seconds / fmax(each, 1e-3), BATCH_MIN),
                          BATCH_MAX);
}

static enum msim_status take_batch(struct asking *a,
                                   const struct msim_cal_experiment *batch,
                                   uint32_t n, struct msim_error *err)
{
    for (uint32_t i = 0; i < n && !is_over(a, a->budget); i++)
        MSIM_TRY(msim_cal_ask_loop_take(&a->of, &batch[i], err));
    return msim_cal_ask_loop_end_round(&a->of, err);
}

static bool has_only_collectives(const struct asking *a)
{
    for (uint32_t i = 0; i < a->space.n; i++)
        if (a->space.kinds[i].table != MSIM_TABLE_COLLECTIVE)
            return false;
    return a->space.n > 0;
}

/* Fit, and choose what to time next; `*n` 0 where nothing is left to choose or
 * the intervals are narrow enough. */
static enum msim_status choose_batch(struct asking *a, uint64_t *random,
                                     struct msim_cal_experiment *batch,
                                     uint32_t *n, struct msim_error *err)
{
    struct msim_cal_fit_options fit = {.name = a->of.o->name,
                                       .data = a->of.o->data,
                                       .backend = a->of.name,
                                       .threads = a->of.o->threads,
                                       .collectives = a->of.o->collectives};
    struct msim_cal_widths *widths = NULL;
    double begin = msim_child_now(), mean = INFINITY;
    cJSON *platform;
    enum msim_status status;

    MSIM_TRY(msim_cal_fit(&platform, a->of.j, &fit, NULL, err));
    status = msim_cal_widths_new(&widths, platform, err);
    if (status == MSIM_OK)
        *n = msim_cal_widest(widths, a->design, &a->space, a->of.j, a->of.name,
                             random, batch, *n, &mean);
    msim_cal_widths_free(widths);
    cJSON_Delete(platform);
    if (status == MSIM_OK)
        status = msim_cal_journal_fitted(
            a->of.j, a->of.name,
            a->of.keeps_time ? 0 : msim_child_now() - begin, err);
    if (status == MSIM_OK && a->of.o->target > 0 &&
        mean / 2 <= log(1 + a->of.o->target))
        *n = 0;
    return status;
}

/* Batches of points with the widest intervals, a fit before each. With too few
 * rows for a fit the space is filled further. `batch` has room for BATCH_MAX.
 */
static enum msim_status narrow_by(struct asking *a,
                                  struct msim_cal_experiment *batch,
                                  struct msim_error *err)
{
    double each = a->budget * (1 - FIRST_SHARE) / BATCHES;
    uint64_t random = a->of.o->seed ^ (uint64_t)a->of.j->n << 32;

    while (msim_cal_ask_loop_spent(&a->of) < a->budget) {
        uint32_t n = batch_size(
            a, fmin(each, a->budget - msim_cal_ask_loop_spent(&a->of)));
        struct msim_error why = {0};
        enum msim_status status = choose_batch(a, &random, batch, &n, &why);

        if (status == MSIM_ECHECK)
            return fill_space(a, a->budget, err);
        if (status != MSIM_OK)
            return msim_fail(err, status, why.file, MSIM_OFFSET_NONE, "%s",
                             why.text);
        if (n == 0)
            return MSIM_OK;
        MSIM_TRY(take_batch(a, batch, n, err));
    }
    return MSIM_OK;
}

static enum msim_status narrow(struct asking *a, struct msim_error *err)
{
    struct msim_cal_experiment *batch = malloc(BATCH_MAX * sizeof(*batch));
    enum msim_status status = batch ? narrow_by(a, batch, err) : MSIM_ENOMEM;

    free(batch);
    return status;
}

/* Collectives have one size each: filling the space is enough. */
static enum msim_status time_all(struct asking *a, struct msim_error *err)
{
    bool fills = a->of.o->no_fits || has_only_collectives(a);

    MSIM_TRY(take_first(a, err));
    MSIM_TRY(fill_space(a, a->budget * (fills ? 1 : FIRST_SHARE), err));
    return fills ? MSIM_OK : narrow(a, err);
}

/* Computing beside collectives of as many ranks as this backend has, for so
 * many seconds over all runs on this journal. These seconds are its own: they
 * do not depend on how long the rest took. */
static enum msim_status pair_some(struct asking *a, double seconds,
                                  const struct msim_cal_space *computes,
                                  struct msim_error *err)
{
    struct msim_cal_pairing p = {.random = a->of.o->seed};
    struct msim_cal_experiment e;

    while (!is_late(a) &&
           msim_cal_concurrent_seconds(a->of.j, a->of.name, a->space.ranks) <
               seconds &&
           msim_cal_concurrent_next(&p, computes, &a->space, a->design, &e))
        MSIM_TRY(msim_cal_ask_loop_take(&a->of, &e, err));
    return MSIM_OK;
}

/* Products back to back, for so many seconds over all runs. */
static enum msim_status sustain_some(struct asking *a, double seconds,
                                     struct msim_error *err)
{
    struct msim_cal_sustaining s = {.random = a->of.o->seed};
    enum msim_status status = MSIM_OK;
    struct msim_cal_experiment e;

    a->of.sustaining = MSIM_CAL_SUSTAINED_SECONDS;
    while (status == MSIM_OK && !is_late(a) &&
           msim_cal_sustained_seconds(a->of.j, a->of.name) < seconds &&
           msim_cal_sustained_next(&s, &a->space, &e))
        status = msim_cal_ask_loop_take(&a->of, &e, err);
    a->of.sustaining = 0;
    return status;
}

/* Experiments with hardware counters, for so many seconds over all runs. */
static enum msim_status count_some(struct asking *a, double seconds,
                                   struct msim_error *err)
{
    struct msim_cal_counting k = {.random = a->of.o->seed};
    enum msim_status status = MSIM_OK;
    struct msim_cal_experiment e;

    a->of.counting = true;
    while (status == MSIM_OK && a->of.counting && !is_late(a) &&
           msim_cal_count_seconds(a->of.j, a->of.name) < seconds &&
           msim_cal_count_next(&k, &a->space, a->design, &e))
        status = msim_cal_ask_loop_take(&a->of, &e, err);
    a->of.counting = false;
    return status;
}

/* Each is timed by itself, too. */
static double sustained_seconds(const struct asking *a, const cJSON *greeting)
{
    return msim_json_get_true(greeting, "sustained")
               ? fmin(1.5 * MSIM_CAL_SUSTAINED * MSIM_CAL_SUSTAINED_SECONDS,
                      SUSTAINED_SHARE * a->budget)
               : 0;
}

static enum msim_status ask_all(struct asking *a, struct msim_error *err)
{
    const cJSON *greeting = msim_cal_journal_greeting(a->of.j, a->of.name);
    bool counts = msim_json_get_true(greeting, "counters");
    double count = counts ? COUNT_SHARE * a->budget : 0;
    double sustain = sustained_seconds(a, greeting), pair;
    struct msim_cal_space computes;

    msim_cal_space_concurrent(&computes, greeting, a->of.longest_us);
    pair = computes.n ? CONCURRENT_SHARE * a->of.o->budget : 0;
    a->all = a->budget;
    a->budget -= count + pair + sustain;
    MSIM_TRY(time_all(a, err));
    MSIM_TRY(pair_some(a, pair, &computes, err));
    MSIM_TRY(sustain_some(a, sustain, err));
    return counts ? count_some(a, count, err) : MSIM_OK;
}

static double share_of(const struct msim_cal_options *o, uint32_t i)
{
    double sum = 0;

    for (uint32_t k = 0; k < o->n_backends; k++)
        sum += o->backends[k].share;
    return o->backends[i].share / sum;
}

/* Seconds for backend `i` and those before it with the same name (the same
 * collectives on other numbers of ranks): the journal counts seconds by name.
 */
static double budget_of(const struct msim_cal_options *o, uint32_t i,
                        char names[][32])
{
    double budget = 0;

    for (uint32_t k = 0; k <= i; k++)
        if (strcmp(names[k], names[i]) == 0)
            budget += o->budget * share_of(o, k);
    return budget;
}

/* Whether the calibration goes on without this backend, with the others or with
 * the rows that it gave. A failure about a file is the calibration's, and ends
 * it. */
static bool is_given_up(const struct asking *a, bool has_others,
                        enum msim_status status, const struct msim_error *why)
{
    bool has_rows = a->design && msim_cal_journal_has_rows(a->of.j, a->of.name);

    return status != MSIM_ENOMEM && !*why->file && (has_others || has_rows);
}

static void warn_of_backend(const struct msim_cal_options *o,
                            const char *command, const char *why)
{
    char text[sizeof(((struct msim_error *)NULL)->text) + 1500];

    snprintf(text, sizeof(text), "goes on without '%s': %s", command, why);
    if (o->warn)
        o->warn(o->ctx, text);
}

/* Start each backend in turn, do `each`, and stop it. */
static enum msim_status
with_backends(struct msim_cal_journal *j, const struct msim_cal_options *o,
              enum msim_status (*each)(struct asking *, struct msim_error *),
              bool *cut_short, struct msim_error *err)
{
    char names[MSIM_BACKENDS][32] = {{0}};
    uint32_t left = o->n_backends;

    for (uint32_t i = 0; i < o->n_backends; i++) {
        struct asking a = {.of = {j, o, .command = o->backends[i].command}};
        struct msim_error why = {0};
        enum msim_status status = open_backend(&a, &why);

        if (status == MSIM_OK) {
            memcpy(names[i], a.of.name, sizeof(names[i]));
            a.budget = budget_of(o, i, names);
            status = each(&a, &why);
        }
        if (status != MSIM_OK && is_given_up(&a, --left > 0, status, &why)) {
            warn_of_backend(o, a.of.command, why.text);
            a.cut_short = true;
            status = MSIM_OK;
        }
        *cut_short |= a.cut_short;
        close_backend(&a);
        if (status != MSIM_OK)
            return msim_fail(err, status, why.file, MSIM_OFFSET_NONE, "%s",
                             why.text);
    }
    return MSIM_OK;
}

enum msim_status msim_cal_run(struct msim_cal_journal *j,
                              const struct msim_cal_options *options,
                              bool *cut_short, struct msim_error *err)
{
    *cut_short = false;
    return with_backends(j, options, ask_all, cut_short, err);
}

/* ---- what would be asked ------------------------------------------------- */

/* Seconds that it is expected to take; 0 where it was answered before. */
static double list_one(struct asking *a, const struct msim_cal_experiment *e)
{
    double us = msim_cal_expected_us(e, &a->space.guess);
    double seconds = msim_cal_ask_loop_expected(&a->of, us);

    if (msim_cal_journal_find(a->of.j, msim_cal_hash(e, a->of.name)))
        return 0;
    a->of.o->would_ask(a->of.o->ctx, a->of.name, e, us, seconds);
    return seconds;
}

static enum msim_status list(struct asking *a, struct msim_error *err)
{
    double left = a->budget - msim_cal_ask_loop_spent(&a->of);
    const struct msim_cal_shapes *first = a->of.o->first;
    struct msim_cal_experiment e;
    uint32_t kind;

    (void)err;
    for (uint32_t i = 0; first && i < first->n; i++)
        if (left > 0 && msim_cal_space_offers(&a->space, &first->list[i]))
            left -= list_one(a, &first->list[i]);
    left -= a->budget * (1 - FIRST_SHARE);
    while (left > 0 && msim_cal_design_next(a->design, &e, &kind))
        left -= list_one(a, &e);
    return MSIM_OK;
}

enum msim_status msim_cal_dry_run(struct msim_cal_journal *j,
                                  const struct msim_cal_options *options,
                                  struct msim_error *err)
{
    bool cut_short = false;

    return with_backends(j, options, list, &cut_short, err);
}
