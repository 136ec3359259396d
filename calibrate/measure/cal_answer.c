/*
 * calibrate/measure/cal_answer.c - what a backend answered.
 */
#include "calibrate/measure/journal.h"

#include <math.h>
#include <stdlib.h>

static enum msim_status read_counts(struct msim_cal_answer *a,
                                    const cJSON *counters)
{
    if (!counters)
        return MSIM_OK;
    a->counts = calloc(1, sizeof(*a->counts));
    if (!a->counts)
        return MSIM_ENOMEM;
    for (int f = 0; f < MSIM_FIGURE_COUNT; f++)
        a->counts->of[f] = msim_json_get_number(
            counters, msim_figure_text((enum msim_counter_figure)f),
            (double)NAN);
    return MSIM_OK;
}

static struct msim_cal_operator read_operator(const cJSON *o)
{
    const char *name = msim_json_get_text(o, "name");

    return (struct msim_cal_operator){
        .name = name ? name : "",
        .leaf = msim_json_get_true(o, "leaf"),
        .count = msim_json_get_number(o, "count", 1),
        .self_us = msim_json_get_number(o, "self_us", 0),
        .calls_us = msim_json_get_number(o, "calls_us", 0),
    };
}

static enum msim_status read_operators(struct msim_cal_answer *a,
                                       const cJSON *list)
{
    size_t n = (size_t)cJSON_GetArraySize(list);
    const cJSON *o;

    a->has_operators = list != NULL;
    if (n == 0)
        return MSIM_OK;
    a->operators = malloc(n * sizeof(*a->operators));
    if (!a->operators)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(o, list) a->operators[a->n_operators++] =
        read_operator(o);
    return MSIM_OK;
}

static enum msim_status read_lists(struct msim_cal_answer *a, const cJSON *o)
{
    MSIM_TRY(read_counts(a, cJSON_GetObjectItemCaseSensitive(o, "counters")));
    return read_operators(a, cJSON_GetObjectItemCaseSensitive(o, "operators"));
}

/* Sums of floating point numbers are not exact. */
#define SLACK (1 + 1e-9)

/* Is it from `low` to `high`, above 0 and finite? What is not said is. */
static bool is_within(double us, double low, double high)
{
    return isnan(us) ||
           (us > 0 && us * SLACK >= low && us <= high * SLACK && isfinite(us));
}

/* Each is a number where it is said. */
static enum msim_status check_numbers(const cJSON *answer,
                                      struct msim_error *err)
{
    static const char *const KEYS[] = {"low_us", "high_us", "alone_us"};

    for (size_t i = 0; i < sizeof(KEYS) / sizeof(*KEYS); i++) {
        const cJSON *o = cJSON_GetObjectItemCaseSensitive(answer, KEYS[i]);

        if (o && !cJSON_IsNumber(o) && !cJSON_IsNull(o))
            return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                             "the backend answered with a '%s' that is no "
                             "number",
                             KEYS[i]);
    }
    return MSIM_OK;
}

enum msim_status msim_cal_answer_check(const cJSON *answer,
                                       struct msim_error *err)
{
    double us = msim_json_get_number(answer, "time_us", (double)NAN);
    double low = msim_json_get_number(answer, "low_us", (double)NAN);
    double high = msim_json_get_number(answer, "high_us", (double)NAN);
    double alone = msim_json_get_number(answer, "alone_us", (double)NAN);

    if (msim_json_get_text(answer, "error"))
        return MSIM_OK;
    if (isnan(us))
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "the backend answered with neither 'time_us' nor "
                         "'error'");
    MSIM_TRY(check_numbers(answer, err));
    if (!is_within(alone, 0, INFINITY))
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "the backend answered with alone_us %g, want a time",
                         alone);
    if (is_within(us, 0, INFINITY) && is_within(low, 0, us) &&
        is_within(high, us, INFINITY))
        return MSIM_OK;
    return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                     "the backend answered with time_us %g, low_us %g, high_us "
                     "%g: want 0 < low <= time <= high, finite",
                     us, low, high);
}

enum msim_status msim_cal_answer_read(struct msim_cal_answer *out,
                                      const cJSON *answer)
{
    const cJSON *pauses = cJSON_GetObjectItemCaseSensitive(answer, "pauses_us");
    const cJSON *many = cJSON_GetObjectItemCaseSensitive(answer, "sustained");
    enum msim_status status;

    *out = (struct msim_cal_answer){
        .us = msim_json_get_number(answer, "time_us", 0),
        .low_us = msim_json_get_number(answer, "low_us", (double)NAN),
        .high_us = msim_json_get_number(answer, "high_us", (double)NAN),
        .alone_us = msim_json_get_number(answer, "alone_us", 0),
        .sustained_us = msim_json_get_number(many, "time_us", 0),
        .sm_mhz = msim_json_get_number(many, "sm_mhz", (double)NAN),
        .power_w = msim_json_get_number(many, "power_w", (double)NAN),
        .error = msim_json_get_text(answer, "error"),
        .crashed = msim_json_get_true(answer, "lost"),
        .unsupported = msim_json_get_true(answer, "unsupported"),
        .counted = cJSON_HasObjectItem(answer, "counters") ||
                   cJSON_HasObjectItem(answer, "counters_error"),
        .rounds = msim_json_get_number(answer, "rounds", 1),
        .after_operator_us =
            msim_json_get_number(pauses, "operator", (double)NAN),
        .after_autograd_us =
            msim_json_get_number(pauses, "autograd", (double)NAN),
    };
    if (msim_cal_answer_check(answer, NULL) != MSIM_OK) {
        out->error = "its times cannot be true";
        out->us = 0;
    }
    status = read_lists(out, answer);
    if (status != MSIM_OK)
        msim_cal_answer_release(out);
    return status;
}

void msim_cal_answer_release(struct msim_cal_answer *a)
{
    free(a->counts);
    free(a->operators);
    *a = (struct msim_cal_answer){.us = 0};
}
