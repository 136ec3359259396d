/*
 * profilers/run_sequence.c - time experiments one after the other.
 */
#include "profilers/serve_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WARM_UP    1
#define ITERATIONS 5
#define MOST       100000 /* iterations */

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* ---- reading ------------------------------------------------------------- */

static const cJSON *list_of(const cJSON *sequence, const char *key, uint32_t *n,
                            uint32_t most)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(sequence, key);
    int size = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;

    *n = size > 0 && (uint32_t)size <= most ? (uint32_t)size : 0;
    return list;
}

static enum msim_status wrong(struct msim_error *err, const char *what)
{
    return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                     "'sequence' has %s", what);
}

static enum msim_status read_count(const cJSON *sequence, const char *key,
                                   double least, double missing, uint32_t *out,
                                   struct msim_error *err)
{
    double v = msim_json_get_number(sequence, key, missing);

    if (!(v >= least && v <= MOST && floor(v) == v))
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "'%s' is %g, want a whole number from %g to %d", key,
                         v, least, MOST);
    *out = (uint32_t)v;
    return MSIM_OK;
}

static enum msim_status read_order(struct msim_sequence *s, const cJSON *order,
                                   struct msim_error *err)
{
    const cJSON *item;
    uint32_t at = 0;

    cJSON_ArrayForEach(item, order)
    {
        double v = cJSON_IsNumber(item) ? item->valuedouble : -1;

        if (!(v >= 0 && v < s->n_cases && floor(v) == v))
            return wrong(err, "an 'order' with a number of no experiment");
        s->order[at++] = (uint32_t)v;
    }
    return MSIM_OK;
}

static enum msim_status make_room(struct msim_sequence *s)
{
    s->cases = calloc(s->n_cases, sizeof(*s->cases));
    s->refused = calloc(s->n_cases, sizeof(*s->refused));
    s->order = calloc(s->n, sizeof(*s->order));
    s->at_us = calloc(s->n, sizeof(*s->at_us));
    s->time_us = calloc(s->n, sizeof(*s->time_us));
    return s->cases && s->refused && s->order && s->at_us && s->time_us
               ? MSIM_OK
               : MSIM_ENOMEM;
}

/* A case that the device cannot do is noted, so that all of them are known at
 * once. */
static enum msim_status make_cases(struct msim_sequence *s,
                                   const cJSON *experiments,
                                   struct msim_error *err)
{
    const cJSON *item;
    uint32_t i = 0;

    cJSON_ArrayForEach(item, experiments)
    {
        struct msim_error why = {0};
        enum msim_status status =
            s->b->prepare(s->self, item, &s->cases[i], &why);

        if (status == MSIM_ENOMODEL) {
            s->cases[i] = (struct msim_case){0};
            snprintf(s->refused[i], sizeof(*s->refused), "%.150s",
                     why.text[0] ? why.text : msim_status_text(status));
            s->n_refused++;
        } else if (status != MSIM_OK) {
            s->cases[i] = (struct msim_case){0}; /* released already */
            return msim_fail(err, status, NULL, MSIM_OFFSET_NONE,
                             "experiment %u: %s", i,
                             why.text[0] ? why.text : msim_status_text(status));
        }
        i++;
    }
    return MSIM_OK;
}

static enum msim_status first_refused(const struct msim_sequence *s,
                                      struct msim_error *err)
{
    for (uint32_t i = 0; i < s->n_cases; i++)
        if (s->refused[i][0])
            return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                             "experiment %u: %s", i, s->refused[i]);
    return MSIM_OK;
}

enum msim_status msim_sequence_ready(struct msim_sequence *s,
                                     const struct msim_backend *b, void *self,
                                     const cJSON *sequence,
                                     struct msim_error *err)
{
    const cJSON *experiments, *order;

    *s = (struct msim_sequence){.b = b, .self = self};
    experiments = list_of(sequence, "experiments", &s->n_cases,
                          MSIM_SEQUENCE_EXPERIMENTS);
    order = list_of(sequence, "order", &s->n, MSIM_SEQUENCE_ORDER);
    if (s->n_cases == 0 || s->n == 0)
        return wrong(err, s->n_cases ? "no 'order', or one that is too long"
                                     : "no 'experiments', or too many");
    MSIM_TRY(read_count(sequence, "warm_up", 0, WARM_UP, &s->warm_up, err));
    MSIM_TRY(
        read_count(sequence, "iterations", 1, ITERATIONS, &s->iterations, err));
    MSIM_TRY(make_room(s));
    MSIM_TRY(read_order(s, order, err));
    MSIM_TRY(make_cases(s, experiments, err));
    return first_refused(s, err);
}

void msim_sequence_release(struct msim_sequence *s)
{
    for (uint32_t i = 0; s->cases && i < s->n_cases; i++)
        if (s->cases[i].release)
            s->cases[i].release(s->cases[i].state);
    msim_host_metrics_free(s->metrics);
    free(s->cases);
    free(s->refused);
    free(s->order);
    free(s->at_us);
    free(s->time_us);
    *s = (struct msim_sequence){0};
}

/* ---- running ------------------------------------------------------------- */

static enum msim_status run_order(struct msim_sequence *s,
                                  struct msim_error *err)
{
    double begin = now_us(), sum = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        struct msim_case *c = &s->cases[s->order[i]];

        MSIM_TRY(c->time(c->state, &s->time_us[i], err));
        s->at_us[i] = s->b->apart ? sum : now_us() - begin - s->time_us[i];
        sum += s->time_us[i];
    }
    s->us = s->b->apart ? sum : now_us() - begin;
    return MSIM_OK;
}

/* An order that cannot run in a row has no such time. */
static enum msim_status run_together(struct msim_sequence *s,
                                     struct msim_error *err)
{
    struct msim_error why = {0};
    enum msim_status status;

    s->together_us = 0;
    if (!s->b->together)
        return MSIM_OK;
    status = s->b->together(s->self, s->cases, s->order, s->n, &s->together_us,
                            &why);
    if (status == MSIM_OK || status == MSIM_ENOMODEL)
        return MSIM_OK;
    return msim_fail(err, status, NULL, MSIM_OFFSET_NONE, "in a row: %s",
                     why.text);
}

enum msim_status msim_sequence_run(struct msim_sequence *s,
                                   struct msim_error *err)
{
    /* The first iterations start the threads that are to be watched. */
    for (; s->warm_up > 0; s->warm_up--)
        MSIM_TRY(run_order(s, err));
    if (!s->metrics)
        MSIM_TRY(msim_host_metrics_new(&s->metrics));
    msim_host_metrics_take(s->metrics, &s->figures);
    MSIM_TRY(run_order(s, err));
    msim_host_metrics_take(s->metrics, &s->figures);
    return run_together(s, err);
}

/* ---- answers ------------------------------------------------------------- */

/* In whole nanoseconds, which is what clocks tell. */
static void write_times(struct msim_json *out, const char *key,
                        const double *us, uint32_t n)
{
    msim_json_open(out, key, '[', false);
    for (uint32_t i = 0; i < n; i++)
        msim_json_number(out, NULL, round(us[i] * 1e3) / 1e3);
    msim_json_close(out);
}

void msim_sequence_write(const struct msim_sequence *s, struct msim_json *out)
{
    msim_json_number(out, "us", round(s->us * 1e3) / 1e3);
    if (s->together_us > 0)
        msim_json_number(out, "together_us", round(s->together_us * 1e3) / 1e3);
    write_times(out, "at_us", s->at_us, s->n);
    write_times(out, "time_us", s->time_us, s->n);
    msim_host_figures_write(&s->figures, out);
    if (s->b->state) {
        msim_json_open(out, "state", '{', false);
        s->b->state(s->self, out);
        msim_json_close(out);
    }
}

void msim_sequence_write_refused(const struct msim_sequence *s,
                                 struct msim_json *out)
{
    msim_json_open(out, "refused", '[', false);
    for (uint32_t i = 0; s->refused && i < s->n_cases; i++) {
        if (!s->refused[i][0])
            continue;
        msim_json_open(out, NULL, '{', false);
        msim_json_unsigned(out, "experiment", i);
        msim_json_text(out, "error", s->refused[i]);
        msim_json_close(out);
    }
    msim_json_close(out);
}
