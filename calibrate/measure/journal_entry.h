/*
 * calibrate/measure/journal_entry.h - an experiment and its answers, read once:
 * what fits, compares and plans is asked of these structures, not of JSON.
 */
#ifndef MSIM_CALIBRATE_MEASURE_JOURNAL_ENTRY_H
#define MSIM_CALIBRATE_MEASURE_JOURNAL_ENTRY_H
#include "calibrate/measure/cal_answer.h"
#include "calibrate/measure/cal_experiment.h"

#define MSIM_CAL_VISITS 5 /* of an experiment whose times are kept */

/* An experiment and what was answered, read once; texts point into the line. */
struct msim_cal_entry {
    const char *backend;
    struct msim_cal_experiment experiment; /* its works' framework: backend */
    struct msim_cal_answer answer;         /* of the first visit */
    cJSON *line;                           /* of the first visit; owned */
    uint64_t hash;                         /* msim_cal_hash() by its backend */
    uint64_t experiment_hash;              /* and by none */
    double seconds; /* from question to answer, all visits together */
    uint32_t visits, timed;
    double us[MSIM_CAL_VISITS]; /* of the visits that gave a time: `timed` */
};

/*
 * The entry of a journal's line of one visit, which has a backend, an
 * experiment and an answer. Takes `line` where it succeeds; then release it.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_entry_read(struct msim_cal_entry *out, cJSON *line);
void msim_cal_entry_release(struct msim_cal_entry *e);

/* Count a further visit of the same experiment; nothing where it has as many
 * visits already. */
void msim_cal_entry_merge(struct msim_cal_entry *e,
                          const struct msim_cal_entry *later);

/* Whether an entry holds a time. */
bool msim_cal_entry_is_row(const struct msim_cal_entry *e);

/* Its time in microseconds, the median of its visits; 0 where it has none. */
double msim_cal_entry_us(const struct msim_cal_entry *e);

/* Longest over shortest of its visits; NAN where there are not two. */
double msim_cal_entry_repeatability(const struct msim_cal_entry *e);

#endif
