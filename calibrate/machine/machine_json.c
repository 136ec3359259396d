/*
 * calibrate/machine/machine_json.c - calibrations as JSON.
 */
#include "calibrate/machine/machine.h"

#include "calibrate/measure/journal.h"

static void begin(struct msim_json *j, FILE *out, const char *schema)
{
    msim_json_document(j, msim_sink_file, out, schema);
}

static void put_score(struct msim_json *j, const struct msim_cal_score *s)
{
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "law", s->law);
    msim_json_text(j, "backend", s->framework);
    msim_json_unsigned(j, "rows_held_back", s->rows);
    msim_json_number(j, "error_median", s->median);
    msim_json_number(j, "error_mean", s->mean);
    msim_json_number(j, "error_p90", s->p90);
    msim_json_number(j, "interval_coverage", s->coverage);
    msim_json_number(j, "repeats_high_over_low", s->repeats);
    msim_json_close(j);
}

enum msim_status msim_cal_left_json(FILE *out, const struct msim_cal_left *left)
{
    const struct msim_cal_scores *scores = left->scores;
    struct msim_json j;

    begin(&j, out, "mystique-sim/calibrated/1");
    msim_json_text(&j, "platform", left->platform);
    msim_json_text(&j, "host", left->host);
    msim_json_text(&j, "network", left->network);
    msim_json_text(&j, "journal", left->journal_path);
    msim_json_unsigned(&j, "experiments", left->journal->n);
    msim_json_unsigned(&j, "in_no_fit", scores ? scores->too_few : 0);
    msim_json_open(&j, "validation", '[', true);
    for (uint32_t i = 0; scores && i < scores->n; i++)
        put_score(&j, &scores->list[i]);
    msim_json_close(&j);
    return msim_json_end(&j);
}

void msim_cal_questions_begin(struct msim_json *j, FILE *out)
{
    begin(j, out, "mystique-sim/experiments/1");
    msim_json_open(j, "experiments", '[', true);
}

void msim_cal_questions_add(struct msim_json *j, const char *backend,
                            const char *experiment, double run_us,
                            double seconds)
{
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "backend", backend);
    msim_json_text(j, "experiment", experiment);
    msim_json_number(j, "run_us", run_us);
    msim_json_number(j, "seconds", seconds);
    msim_json_close(j);
}

enum msim_status msim_cal_questions_end(struct msim_json *j, double seconds)
{
    msim_json_close(j);
    msim_json_number(j, "seconds", seconds);
    return msim_json_end(j);
}
