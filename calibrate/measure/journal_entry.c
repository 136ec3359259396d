/*
 * calibrate/measure/journal_entry.c - an experiment and its answers, read once.
 */
#include "calibrate/measure/journal.h"

#include "core/base/quantile.h"

#include <math.h>
#include <string.h>

static void add_time(struct msim_cal_entry *e, double us)
{
    if (us > 0 && e->timed < MSIM_CAL_VISITS)
        e->us[e->timed++] = us;
}

void msim_cal_entry_merge(struct msim_cal_entry *e,
                          const struct msim_cal_entry *later)
{
    if (later->visits <= e->visits)
        return;
    e->visits = later->visits;
    e->seconds += later->seconds;
    add_time(e, later->answer.us);
}

enum msim_status msim_cal_entry_read(struct msim_cal_entry *out, cJSON *line)
{
    const cJSON *experiment =
        cJSON_GetObjectItemCaseSensitive(line, "experiment");
    const char *backend = msim_json_get_text(line, "backend");

    *out = (struct msim_cal_entry){
        .backend = backend,
        .line = line,
        .hash = msim_cal_hash_json(experiment, backend),
        .experiment_hash = msim_cal_hash_json(experiment, ""),
        .seconds = msim_json_get_number(line, "seconds", 0),
        .visits = (uint32_t)msim_json_get_count(line, "visit", UINT32_MAX, 1),
    };
    msim_cal_experiment_read(&out->experiment, experiment);
    out->experiment.timed.work.framework = backend;
    out->experiment.concurrent.work.framework = backend;
    MSIM_TRY(msim_cal_answer_read(
        &out->answer, cJSON_GetObjectItemCaseSensitive(line, "answer")));
    add_time(out, out->answer.us);
    return MSIM_OK;
}

void msim_cal_entry_release(struct msim_cal_entry *e)
{
    msim_cal_answer_release(&e->answer);
    cJSON_Delete(e->line);
}

bool msim_cal_entry_is_row(const struct msim_cal_entry *e)
{
    return e->answer.us > 0;
}

double msim_cal_entry_us(const struct msim_cal_entry *e)
{
    double times[MSIM_CAL_VISITS];

    memcpy(times, e->us, sizeof(times));
    return msim_median(times, e->timed);
}

double msim_cal_entry_repeatability(const struct msim_cal_entry *e)
{
    double least = INFINITY, most = 0;

    for (uint32_t i = 0; i < e->timed; i++) {
        least = fmin(least, e->us[i]);
        most = fmax(most, e->us[i]);
    }
    return e->timed > 1 ? most / least : NAN;
}
