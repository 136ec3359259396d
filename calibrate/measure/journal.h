/*
 * calibrate/measure/journal.h - the journal of a calibration: every answer,
 * kept as soon as it arrives, and read once.
 */
#ifndef MSIM_CALIBRATE_MEASURE_JOURNAL_H
#define MSIM_CALIBRATE_MEASURE_JOURNAL_H
#include "calibrate/measure/experiment_space.h"
#include "core/base/json.h"
#include "profilers/counters.h"

#include <stdbool.h>

/* ---- cal answer ---------------------------------------------------------- */
/* What a backend answered, read once (profilers/serve.h has the members). */

/* An operator of what the table "dispatch" times. */
struct msim_cal_operator {
    const char *name;
    bool leaf; /* it calls no other */
    double count;
    double self_us, calls_us; /* of its own, and in calls of the runtime */
};

struct msim_cal_answer {
    double us;                  /* 0: it failed */
    double low_us, high_us;     /* deciles; NAN: not said */
    double alone_us;            /* 0: it ran beside nothing */
    double sustained_us;        /* of a run among many; 0: it was not asked */
    double sm_mhz, power_w;     /* while many ran; NAN: not said */
    const char *error;          /* why it failed; NULL: it did not */
    bool crashed;               /* the backend ended, or was ended */
    bool unsupported;           /* the device cannot do it */
    bool counted;               /* counters were read, or tried to */
    struct msim_counts *counts; /* owned; NULL: none were read */
    /* Of "dispatch" alone. */
    double rounds;                       /* over which `count` is the mean */
    struct msim_cal_operator *operators; /* owned */
    uint32_t n_operators;
    bool has_operators;                          /* perhaps none */
    double after_operator_us, after_autograd_us; /* pauses; NAN: not said */
};

/*
 * Can it be true? With a time: 0 < low_us <= time_us <= high_us, all finite,
 * where it has them; without one it has an error. EFORMAT says what it has.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_answer_check(const cJSON *answer,
                                       struct msim_error *err);

/* Texts point into `answer`; one that cannot be true has failed. ENOMEM;
 * release it after a success. */
MSIM_MUST_CHECK
enum msim_status msim_cal_answer_read(struct msim_cal_answer *out,
                                      const cJSON *answer);
void msim_cal_answer_release(struct msim_cal_answer *a);

/* ---- journal entry ------------------------------------------------------- */
/*
 * An experiment and its answers, read once: what fits, compares and plans is
 * asked of these structures, not of JSON.
 */

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

/* ---- journal ------------------------------------------------------------- */
/*
 * The journal of a calibration: every answer, kept as soon as it arrives.
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
 * ("journal entry"), which is parsed here and nowhere else. Opening a journal
 * that exists continues it. A kill may leave a last line without its end, which
 * is removed. Of two answers to one visit the first counts.
 *
 * One process has a journal at a time: it is locked.
 */

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

/* ---- failure list -------------------------------------------------------- */
/* Distinct failures of experiments, and how often each came. */

struct msim_cal_failure {
    uint64_t hash;   /* msim_cal_failure_hash() */
    char text[200];  /* of the first */
    char first[160]; /* the experiment that it came of */
    uint32_t n;
};

/* Zeroed at first, released at the end. */
struct msim_cal_failures {
    struct msim_cal_failure *list; /* owned; in the order of the first ones */
    uint32_t n, capacity;
};

/*
 * A hash of what a failure says but for its numbers: "takes 1.5 GB, 1 are free"
 * and "takes 0.3 GB, 0.2 are free" are one failure.
 */
uint64_t msim_cal_failure_hash(const char *text);

MSIM_MUST_CHECK
enum msim_status msim_cal_failures_add(struct msim_cal_failures *f,
                                       const char *text,
                                       const struct msim_cal_experiment *e);
void msim_cal_failures_release(struct msim_cal_failures *f);

/* "58 experiments were asked, and 42 failed, 40 of them with 'out of memory'":
 * what a journal's first visits came to; cut to `size`. */
MSIM_MUST_CHECK
enum msim_status msim_cal_failures_tell(char *text, size_t size,
                                        const struct msim_cal_journal *j);

#endif
