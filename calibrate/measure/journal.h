/*
 * calibrate/measure/journal.h - every answer, kept as soon as it is there.
 *
 * A file of one JSON object a line, to which is only appended, each line in one
 * write and flushed to the disk, so that whatever ends a calibration takes at
 * most the measurement that was running:
 *   {"schema": "mystique-sim/calibration/1"}
 *   {"backend": "cpu", "date": "2026-11-20", "greeting": {...}}
 *   {"backend": "cpu", "seconds": 0.2, "experiment": {...}, "answer": {...}}
 *   {"backend": "cpu", "visit": 2, "seconds": 0.2, ...}
 *   {"backend": "cpu", "fitting_seconds": 2.5}
 * An answer may be a failure: then it has "error", and "lost" where the backend
 * ended or was not waited for any longer. An experiment that was timed at
 * several moments has a line of each visit, and is one entry. Opening a
 * journal that exists goes on with it. A last line without its end is what a
 * kill leaves; it is taken away. Of two answers to one visit the first counts.
 *
 * One process has a journal at a time.
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
    uint64_t torn; /* bytes of a line that was cut; taken away */
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

/* Keep a backend's greeting, whose ownership is taken; no line where the last
 * one is the same. */
MSIM_MUST_CHECK
enum msim_status msim_cal_journal_greet(struct msim_cal_journal *j,
                                        const char *backend, cJSON *greeting,
                                        struct msim_error *err);

/* The greeting of a backend, or NULL; with NULL that of the first one. */
const cJSON *msim_cal_journal_greeting(const struct msim_cal_journal *j,
                                       const char *backend);

/* Keep the answer of an experiment's next visit; `answer` is taken, whatever
 * comes out. */
MSIM_MUST_CHECK
enum msim_status msim_cal_journal_add(struct msim_cal_journal *j,
                                      const char *backend,
                                      const struct msim_cal_experiment *e,
                                      cJSON *answer, double seconds,
                                      struct msim_error *err);

/* Keep that so long was spent fitting between a backend's experiments. */
MSIM_MUST_CHECK
enum msim_status msim_cal_journal_fitted(struct msim_cal_journal *j,
                                         const char *backend, double seconds,
                                         struct msim_error *err);

/* Seconds that the experiments of a backend took, with the fits between them;
 * NULL: of all. */
double msim_cal_journal_seconds(const struct msim_cal_journal *j,
                                const char *backend);

#endif
