/*
 * calibrate/measure/ask_loop.c - a backend, the journal of its answers, and how
 * often it is asked the same.
 *
 * A shared machine is slower for seconds at a time, and runs in a row are slow
 * together: their spread is small, their median wrong. Visits that lie seconds
 * apart do not share that. On a machine where visits agree to 2 % (median of 20
 * experiments or more) one visit is enough.
 */
#include "calibrate/measure/ask_loop.h"

#include "core/base/containers.h"
#include "core/base/quantile.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of its patience: a backend that is started again has its files in memory. */
#define GREET_AGAIN    2.0
#define ROUND_MAX      1024 /* experiments */
#define CRASHES_MAX    20   /* one after the other */
#define LIES_MAX       3    /* answers that are none to the question */
#define SPREAD         0.02 /* of a median: less than laws are wrong by */
#define ROUND_SECONDS  10.0 /* that first visits take */
#define VISITS         3    /* where it is not repeatable */
#define RUNS_A_VISIT   3
#define RUNS_ONCE      5     /* where one visit is all */
#define CHEAP_SECONDS  0.005 /* a visit; more than the usual number of those */
#define PAIR_SECONDS   0.4  /* of runs beside a collective and alone, in turn */
#define REPEATABLE     1.02 /* longest over shortest visit: one is enough */
#define REPEATABLE_MIN 20   /* experiments that tell so */

/* Whether visits of one experiment agree on this machine. */
static bool is_repeatable(const struct msim_cal_ask_loop *a)
{
    double *ratios = malloc(((size_t)a->j->n + 1) * sizeof(*ratios));
    uint32_t n = 0;
    bool repeatable;

    for (uint32_t i = 0; ratios && i < a->j->n; i++) {
        const struct msim_cal_entry *e = &a->j->entries[i];

        if (e->timed > 1 && strcmp(e->backend, a->name) == 0)
            ratios[n++] = msim_cal_entry_repeatability(e);
    }
    repeatable = n >= REPEATABLE_MIN && msim_median(ratios, n) < REPEATABLE;
    free(ratios);
    return repeatable;
}

/* ---- the process --------------------------------------------------------- */

enum msim_status msim_cal_ask_loop_start(struct msim_cal_ask_loop *a,
                                         struct msim_error *err)
{
    double seconds =
        a->o->patience * (*a->name ? GREET_AGAIN : MSIM_CHILD_START);
    cJSON *greeting;
    const char *name;

    MSIM_TRY(msim_child_start(&a->child, a->command, seconds, &greeting, err));
    name = msim_json_get_text(greeting, "backend");
    if (!name) {
        cJSON_Delete(greeting);
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "'%s' does not greet as a backend: no 'backend' in "
                         "its first line",
                         a->command);
    }
    snprintf(a->name, sizeof(a->name), "%s", name);
    a->repeatable = is_repeatable(a);
    return msim_cal_journal_greet(a->j, a->name, greeting, err);
}

void msim_cal_ask_loop_stop(struct msim_cal_ask_loop *a)
{
    msim_child_stop(&a->child);
    free(a->round.list);
    a->round = (struct msim_cal_round){.n = 0};
}

/* ---- one question -------------------------------------------------------- */

static uint32_t visits_of(const struct msim_cal_ask_loop *a)
{
    return a->repeatable ? 1 : VISITS;
}

/* Seconds for one visit: all visits together hold four of the longest runs, and
 * take at most a second. */
static double policy_seconds(const struct msim_cal_ask_loop *a)
{
    return fmin(fmax(4e-6 * a->longest_us, 0.05), 1) / visits_of(a);
}

static cJSON *question_of(struct msim_cal_ask_loop *a,
                          const struct msim_cal_experiment *e)
{
    cJSON *q = msim_cal_experiment_json(e);
    cJSON *policy = q ? cJSON_AddObjectToObject(q, "policy") : NULL;

    if (!policy) {
        cJSON_Delete(q);
        return NULL;
    }
    cJSON_AddNumberToObject(q, "id", ++a->id);
    cJSON_AddNumberToObject(policy, "warm_up", 1);
    cJSON_AddNumberToObject(policy, "least",
                            a->repeatable ? RUNS_ONCE : RUNS_A_VISIT);
    cJSON_AddNumberToObject(policy, "spread", SPREAD * sqrt(visits_of(a)));
    cJSON_AddNumberToObject(policy, "seconds",
                            e->is_pair ? PAIR_SECONDS : policy_seconds(a));
    if (a->counting)
        cJSON_AddTrueToObject(q, "counters");
    if (a->sustaining > 0)
        cJSON_AddNumberToObject(q, "sustained", a->sustaining);
    return q;
}

/* Of a backend that did not answer. */
static cJSON *failure(const struct msim_error *why)
{
    cJSON *answer = cJSON_CreateObject();

    if (answer) {
        cJSON_AddStringToObject(answer, "error", why->text);
        cJSON_AddTrueToObject(answer, "lost");
        cJSON_AddBoolToObject(answer, "hung", why->status == MSIM_ELIMIT);
    }
    return answer;
}

/* A backend that crashed or hung: its experiment has failed, and it is started
 * again. */
static enum msim_status revive(struct msim_cal_ask_loop *a,
                               const struct msim_error *why, cJSON **answer,
                               struct msim_error *err)
{
    a->counting = false; /* it may have been that */
    *answer = failure(why);
    if (!*answer)
        return MSIM_ENOMEM;
    if (why->status == MSIM_EFORMAT && ++a->lies >= LIES_MAX)
        return msim_fail(err, MSIM_ECHECK, NULL, MSIM_OFFSET_NONE,
                         "backend '%s' cannot be trusted: %d times its answers "
                         "were none to the question, the last time: %s",
                         a->name, LIES_MAX, why->text);
    if (++a->crashes >= CRASHES_MAX)
        return msim_fail(err, MSIM_ECHECK, NULL, MSIM_OFFSET_NONE,
                         "backend '%s' failed %d times one after the other, "
                         "the last time: %s",
                         a->name, CRASHES_MAX, why->text);
    return MSIM_OK;
}

/* An answer that cannot be true is none, and whoever gives it is ended. */
static enum msim_status ask(struct msim_cal_ask_loop *a, const cJSON *question,
                            cJSON **answer, struct msim_error *why)
{
    enum msim_status status;

    MSIM_TRY(msim_child_ask(&a->child, question, a->o->patience, answer, why));
    status = msim_cal_answer_check(*answer, why);
    if (status == MSIM_OK)
        return MSIM_OK;
    msim_child_stop(&a->child);
    cJSON_Delete(*answer);
    *answer = NULL;
    return status;
}

/* Start it where it does not run, and ask once. Without an answer `*answer` is
 * NULL, and `*why` says why. */
static enum msim_status ask_once(struct msim_cal_ask_loop *a,
                                 const cJSON *question, cJSON **answer,
                                 struct msim_error *why, struct msim_error *err)
{
    enum msim_status status;

    *answer = NULL;
    if (a->child.pid == 0)
        MSIM_TRY(msim_cal_ask_loop_start(a, err));
    *why = (struct msim_error){0};
    status = ask(a, question, answer, why);
    return status == MSIM_ENOMEM ? status : MSIM_OK;
}

/* A backend that left its device unusable ended after its last answer, and has
 * not read this question: it is asked again. */
static enum msim_status ask_child(struct msim_cal_ask_loop *a,
                                  const struct msim_cal_experiment *e,
                                  cJSON **answer, struct msim_error *err)
{
    cJSON *question = question_of(a, e);
    struct msim_error why;
    enum msim_status status;

    if (!question)
        return MSIM_ENOMEM;
    status = ask_once(a, question, answer, &why, err);
    if (status == MSIM_OK && !*answer && a->child.unusable)
        status = ask_once(a, question, answer, &why, err);
    cJSON_Delete(question);
    if (status == MSIM_OK && !*answer)
        return revive(a, &why, answer, err);
    a->crashes = 0;
    return status;
}

static void report(struct msim_cal_ask_loop *a,
                   const struct msim_cal_experiment *e, const cJSON *answer)
{
    const char *error = msim_json_get_text(answer, "error");
    struct msim_cal_progress p = {
        .backend = a->name,
        .experiment = e,
        .error = error,
        .seconds = msim_cal_journal_seconds(a->j, NULL),
        .budget = a->o->budget,
    };

    a->failed += error != NULL;
    a->rows +=
        !error && !msim_cal_journal_find(a->j, msim_cal_hash(e, a->name));
    p.rows = a->rows;
    p.failed = a->failed;
    if (a->o->progress)
        a->o->progress(a->o->ctx, &p);
}

/* ---- failures ------------------------------------------------------------ */

static uint32_t kind_of(const struct msim_cal_ask_loop *a,
                        const struct msim_cal_experiment *e)
{
    return e->is_pair ? MSIM_CAL_PAIRS
                      : msim_cal_space_kind(a->space, &e->timed);
}

static bool is_dropped_kind(const struct msim_cal_ask_loop *a,
                            const struct msim_experiment *e)
{
    uint32_t kind = msim_cal_space_kind(a->space, e);

    return kind < a->space->n && a->watch.of[kind].dropped;
}

static bool is_dropped(const struct msim_cal_ask_loop *a,
                       const struct msim_cal_experiment *e)
{
    if (a->watch.of[kind_of(a, e)].dropped)
        return true;
    return e->is_pair && (is_dropped_kind(a, &e->timed) ||
                          is_dropped_kind(a, &e->concurrent));
}

MSIM_PRINTF(2, 3)
static void warn(const struct msim_cal_ask_loop *a, const char *fmt, ...)
{
    char text[600];
    va_list args;

    if (!a->o->warn)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    a->o->warn(a->o->ctx, text);
}

static void drop(struct msim_cal_ask_loop *a, uint32_t kind)
{
    if (kind < a->space->n) /* no pairs */
        msim_cal_design_drop(a->design, kind);
}

/* All kinds of a kind's table. */
static void drop_table(struct msim_cal_ask_loop *a, uint32_t kind,
                       const char *error)
{
    enum msim_table table = a->space->kinds[kind].table;

    warn(a, "asks '%s' for no more of %s, which hangs: %s", a->name,
         msim_table_text(table), error);
    for (uint32_t i = 0; i < a->space->n; i++) {
        if (a->space->kinds[i].table != table)
            continue;
        a->watch.of[i].dropped = true;
        drop(a, i);
    }
}

static void drop_pairs(struct msim_cal_ask_loop *a, const char *error)
{
    warn(a,
         "asks '%s' for no more computing beside collectives, which hangs: %s",
         a->name, error);
    a->watch.of[MSIM_CAL_PAIRS].dropped = true;
}

static void warn_of_kind(const struct msim_cal_ask_loop *a, uint32_t kind,
                         const char *error)
{
    const struct msim_cal_kind *k = &a->space->kinds[kind];
    bool pairs = kind == MSIM_CAL_PAIRS;

    warn(a,
         "asks '%s' for no more %s %s: %d failures in a row, also after it was "
         "started again: %s",
         a->name, pairs ? "computing" : msim_table_text(k->table),
         pairs ? "beside collectives" : k->kind, MSIM_CAL_IN_A_ROW, error);
}

static enum msim_status give_up(const struct msim_cal_ask_loop *a,
                                const struct msim_cal_outcome *o,
                                struct msim_error *err)
{
    if (o->hung)
        return msim_fail(err, MSIM_ECHECK, NULL, MSIM_OFFSET_NONE,
                         "backend '%s' hung in %d tables, one after the other: "
                         "%s",
                         a->name, MSIM_CAL_HUNG_TABLES, o->error);
    return msim_fail(err, MSIM_ECHECK, NULL, MSIM_OFFSET_NONE,
                     "backend '%s' failed %d times in a row, also after it was "
                     "started again: %s",
                     a->name, MSIM_CAL_IN_A_ROW_ALL, o->error);
}

/* What follows from an answer. */
static enum msim_status judge(struct msim_cal_ask_loop *a,
                              const struct msim_cal_experiment *e,
                              const cJSON *answer, struct msim_error *err)
{
    const struct msim_cal_outcome o = {
        .error = msim_json_get_text(answer, "error"),
        .crashed = msim_json_get_true(answer, "lost"),
        .hung = msim_json_get_true(answer, "hung"),
        .unsupported = msim_json_get_true(answer, "unsupported"),
    };
    uint32_t kind = kind_of(a, e);

    switch (msim_cal_watch_note(&a->watch, kind, e->timed.table, &o)) {
    case MSIM_CAL_START_AGAIN:
        warn(a, "starts '%s' again after failures in a row: %s", a->name,
             o.error);
        msim_child_stop(&a->child);
        return MSIM_OK;
    case MSIM_CAL_DROP:
        warn_of_kind(a, kind, o.error);
        drop(a, kind);
        return MSIM_OK;
    case MSIM_CAL_REFUSED:
        drop(a, kind);
        return MSIM_OK;
    case MSIM_CAL_DROP_TABLE:
        if (kind == MSIM_CAL_PAIRS)
            drop_pairs(a, o.error);
        else
            drop_table(a, kind, o.error);
        return MSIM_OK;
    case MSIM_CAL_GIVE_UP:
        return give_up(a, &o, err);
    default:
        return MSIM_OK;
    }
}

/* The journal's answers tell what is refused. */
static void recall(struct msim_cal_ask_loop *a,
                   const struct msim_cal_experiment *e,
                   const struct msim_cal_entry *known)
{
    const struct msim_cal_outcome o = {
        .error = known->answer.error,
        .crashed = known->answer.crashed,
        .unsupported = known->answer.unsupported,
    };
    uint32_t kind = kind_of(a, e);

    if (msim_cal_watch_recall(&a->watch, kind, &o))
        drop(a, kind);
}

/* ---- a visit ------------------------------------------------------------- */

/* What the budget counts for an answer, which may say so. */
static double seconds_of(struct msim_cal_ask_loop *a, const cJSON *answer,
                         double begin)
{
    double took = msim_json_get_number(answer, "took_s", -1);

    if (!(took >= 0 && took < INFINITY))
        return msim_child_now() - begin;
    a->keeps_time = true;
    return took;
}

static enum msim_status visit(struct msim_cal_ask_loop *a,
                              const struct msim_cal_experiment *e,
                              struct msim_error *err)
{
    double begin = msim_child_now();
    cJSON *answer = NULL;
    enum msim_status status = ask_child(a, e, &answer, err), kept;

    if (!answer)
        return status;
    report(a, e, answer);
    if (status == MSIM_OK)
        status = judge(a, e, answer, err);
    a->took = seconds_of(a, answer, begin);
    kept = msim_cal_journal_add(a->j, a->name, e, answer, a->took, err);
    return status == MSIM_OK ? kept : status;
}

/* ---- rounds -------------------------------------------------------------- */

/* Latencies and dispatch times are no rows of a fit, and of a pair only the
 * ratio to its time alone counts: one visit is enough for them. */
static bool has_visits(const struct msim_cal_ask_loop *a,
                       const struct msim_cal_experiment *e)
{
    return !a->counting && !(a->sustaining > 0) &&
           e->timed.table != MSIM_TABLE_LATENCY &&
           e->timed.table != MSIM_TABLE_DISPATCH && !e->is_pair;
}

static bool wants_visit(const struct msim_cal_entry *e, uint32_t number)
{
    bool cheap = e && e->seconds < CHEAP_SECONDS * e->visits;

    return e && msim_cal_entry_is_row(e) && e->visits < number &&
           number <= (cheap ? MSIM_CAL_VISITS : VISITS);
}

enum msim_status msim_cal_ask_loop_end_round(struct msim_cal_ask_loop *a,
                                             struct msim_error *err)
{
    struct msim_cal_round *r = &a->round;
    uint32_t last = a->repeatable ? 1 : MSIM_CAL_VISITS;
    enum msim_status status = MSIM_OK;

    for (uint32_t number = 2; number <= last; number++) {
        for (uint32_t i = 0; status == MSIM_OK && i < r->n; i++) {
            uint64_t hash = msim_cal_hash(&r->list[i], a->name);

            if (!is_dropped(a, &r->list[i]) &&
                wants_visit(msim_cal_journal_find(a->j, hash), number))
                status = visit(a, &r->list[i], err);
        }
    }
    r->n = 0;
    r->seconds = 0;
    a->repeatable = is_repeatable(a);
    return status;
}

double msim_cal_ask_loop_spent(const struct msim_cal_ask_loop *a)
{
    return msim_cal_journal_seconds(a->j, a->name) +
           (visits_of(a) - 1) * a->round.seconds;
}

double msim_cal_ask_loop_expected(const struct msim_cal_ask_loop *a, double us)
{
    return visits_of(a) * fmax(4e-6 * us, policy_seconds(a) / 2);
}

enum msim_status msim_cal_ask_loop_take(struct msim_cal_ask_loop *a,
                                        const struct msim_cal_experiment *e,
                                        struct msim_error *err)
{
    const struct msim_cal_entry *known =
        msim_cal_journal_find(a->j, msim_cal_hash(e, a->name));
    struct msim_cal_round *r = &a->round;
    bool again = has_visits(a, e);
    uint32_t failed = a->failed;

    if (is_dropped(a, e))
        return MSIM_OK;
    if (again) {
        MSIM_TRY(
            msim_grow((void **)&r->list, &r->capacity, r->n, sizeof(*r->list)));
        r->list[r->n++] = *e;
    }
    a->took = 0;
    if (known)
        recall(a, e, known);
    else
        MSIM_TRY(visit(a, e, err));
    if (again && a->failed == failed)
        r->seconds += a->took;
    return r->n == ROUND_MAX || r->seconds >= ROUND_SECONDS
               ? msim_cal_ask_loop_end_round(a, err)
               : MSIM_OK;
}
