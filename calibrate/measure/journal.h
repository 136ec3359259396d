/*
 * calibrate/measure/journal.h - the journal of a calibration: every answer,
 * kept as soon as it arrives.
 *
 * The journal is a file of JSON objects, one a line. Lines are only appended,
 * each in one write that is flushed to the disk: a crash or a kill costs at
 * most the experiment that was running.
 *   {"schema": "mystique-sim/calibration/1"}
 *   {"backend": "cpu", "date": "2026-11-20", "greeting": {...}}
 *   {"backend": "cpu", "seconds": 0.2, "experiment": {...}, "answer": {...}}
 *   {"backend": "cpu", "visit": 2, "seconds": 0.2, ...}
 *   {"backend": "cpu", "fitting_seconds": 2.5}
 * An answer may be a failure: then it has "error", and "lost" where the backend
 * crashed, or, with "hung", was not waited for any longer. An experiment that
 * was visited several times has a line for each visit, and is one entry
 * (journal_entry.h), which is parsed here and nowhere else. Opening a journal
 * that exists continues it. A kill may leave a last line without its end, which
 * is removed. Of two answers to one visit the first counts.
 *
 * One process has a journal at a time: it is locked.
 */
#ifndef MSIM_CALIBRATE_MEASURE_JOURNAL_H
#define MSIM_CALIBRATE_MEASURE_JOURNAL_H
#include "calibrate/measure/journal_entry.h"

struct msim_cal_journal {
    struct msim_cal_entry *entries;
    uint64_t *hashes;  /* of the entries: to be found soon */
    cJSON **greetings; /* lines, of each backend the last; owned */
    uint32_t n, capacity, cap_hashes, n_greetings, cap_greetings;
    struct msim_cal_spent {
        char backend[32];
        double seconds;
    } fits[8]; /* spent fitting */
    uint32_t n_fits;
    uint64_t torn; /* bytes of a last line that was cut; removed */
    int fd;
    char path[1024];
};

/*
 * Open or create `path`; NULL: keep nothing, of which there may be any number
 * at a time. EIO where it cannot be, or another process has it;
 * EFORMAT with the line where it is no journal. On success close it.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_journal_open(struct msim_cal_journal *j,
                                       const char *path,
                                       struct msim_error *err);
void msim_cal_journal_close(struct msim_cal_journal *j);

/* The answered experiment with this hash, or NULL. */
const struct msim_cal_entry *
msim_cal_journal_find(const struct msim_cal_journal *j, uint64_t hash);

/* Keep a backend's greeting, which is taken. No line is written where the last
 * greeting of this backend is the same. */
MSIM_MUST_CHECK
enum msim_status msim_cal_journal_greet(struct msim_cal_journal *j,
                                        const char *backend, cJSON *greeting,
                                        struct msim_error *err);

/* Whether a backend gave a time, or with NULL any did. */
bool msim_cal_journal_has_rows(const struct msim_cal_journal *j,
                               const char *backend);

/* The greeting of a backend, or NULL; with NULL that of the first one. */
const cJSON *msim_cal_journal_greeting(const struct msim_cal_journal *j,
                                       const char *backend);

/* Keep the answer of an experiment's next visit; `answer` is taken, also on
 * failure. */
MSIM_MUST_CHECK
enum msim_status msim_cal_journal_add(struct msim_cal_journal *j,
                                      const char *backend,
                                      const struct msim_cal_experiment *e,
                                      cJSON *answer, double seconds,
                                      struct msim_error *err);

/* Keep the seconds of a fit between a backend's experiments: the budget counts
 * them. */
MSIM_MUST_CHECK
enum msim_status msim_cal_journal_fitted(struct msim_cal_journal *j,
                                         const char *backend, double seconds,
                                         struct msim_error *err);

/* Seconds that a backend's experiments took, and the fits between them; NULL:
 * of all backends. */
double msim_cal_journal_seconds(const struct msim_cal_journal *j,
                                const char *backend);

#endif
