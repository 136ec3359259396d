/*
 * calibrate/measure/ask_loop.h - asking one backend experiment after
 * experiment, as options say, until its failures are too many.
 */
#ifndef MSIM_CALIBRATE_MEASURE_ASK_LOOP_H
#define MSIM_CALIBRATE_MEASURE_ASK_LOOP_H
#include "calibrate/measure/experiment_space.h"
#include "calibrate/measure/journal.h"
#include "profilers/ask/backend_child.h"

/* ---- cal options --------------------------------------------------------- */
/*
 * How to calibrate: the backends to ask, the budget, and callbacks for
 * progress.
 */

struct msim_coll_constants; /* calibrate/collective/coll_fit.h */

/* Of an answer that just came. */
struct msim_cal_progress {
    const char *backend;
    const struct msim_cal_experiment *experiment; /* that was answered */
    const char *error; /* why it failed; NULL: it did not */
    uint32_t rows, failed;
    double seconds, budget; /* spent and to be spent */
};

struct msim_cal_options {
    const struct msim_backend_command *backends;
    uint32_t n_backends;
    double budget; /* seconds of measuring, over all runs on this journal */
    /* The calibration ends once the mean half width of intervals, as a share,
     * is below this; 0: the budget alone decides. */
    double target;
    bool no_fits; /* between batches: the whole budget fills the space */
    uint64_t seed;
    double patience; /* seconds that an experiment may take */
    const char *name;
    const char *data; /* folder of platforms/ */
    uint32_t threads; /* of a fit */
    /* To fit collectives with; NULL where no backend times any. */
    const struct msim_coll_constants *collectives;
    /* Experiments that come first; may be NULL. A backend skips those that it
     * does not offer. */
    const struct msim_cal_shapes *first;
    void (*progress)(void *ctx, const struct msim_cal_progress *p);
    /* Of a dry run: an experiment that would be asked. */
    void (*would_ask)(void *ctx, const char *backend,
                      const struct msim_cal_experiment *e, double expected_us,
                      double expected_seconds);
    /* What is started again, or is not asked any longer. */
    void (*warn)(void *ctx, const char *text);
    void *ctx;
};

/* ---- failure watch ------------------------------------------------------- */
/*
 * When a backend's failures are too many.
 *
 * A kind whose experiments are refused whatever their sizes is asked no more.
 * Where one fails with the same text time after time, the backend is started
 * again; where that text comes back, the kind is asked no more. Where it comes
 * back in more than one table, and nothing succeeds in between, it is the
 * backend that is given up.
 *
 * A hang costs as long as calibrate is patient, so that few are too many: a
 * table that hangs is asked no more, and the backend is given up where table
 * after table does.
 */

/* Failures of one text, one after the other: of one kind, and of all. */
#define MSIM_CAL_IN_A_ROW     8
#define MSIM_CAL_IN_A_ROW_ALL 16

/* Hangs of a table without a row in between, and in all. */
#define MSIM_CAL_HANGS     2
#define MSIM_CAL_HANGS_ALL 4
/* Tables that hang, and nothing succeeds in between. */
#define MSIM_CAL_HUNG_TABLES 3

/* Failures of one text, one after the other. */
struct msim_cal_streak {
    uint64_t text; /* msim_cal_failure_hash() */
    uint32_t n;
};

/* Of one kind. Experiments beside collectives are a kind of their own, behind
 * those of the space. */
struct msim_cal_watched {
    struct msim_cal_streak streak;
    uint32_t refused; /* UINT32_MAX: it gave rows */
    bool dropped;
};

struct msim_cal_hangs {
    uint32_t in_a_row, all;
};

#define MSIM_CAL_PAIRS   MSIM_CAL_KINDS
#define MSIM_CAL_STARTED 8 /* texts for which it is started again */

/* Zeroed at first. */
struct msim_cal_watch {
    struct msim_cal_watched of[MSIM_CAL_KINDS + 1];
    struct msim_cal_streak all;
    enum msim_table table;                             /* that `all` began in */
    bool tables;                                       /* it came to others */
    struct msim_cal_hangs hangs[MSIM_TABLE_COUNT + 1]; /* the last: of pairs */
    uint32_t hung; /* tables that hung since the last row: a bit each */
    uint64_t started[MSIM_CAL_STARTED];
    uint32_t n_started;
    bool lost; /* something was dropped that failed or hung */
};

/* What an experiment came to. */
struct msim_cal_outcome {
    const char *error;               /* NULL: it has a time */
    bool crashed, hung, unsupported; /* what hung has crashed, too */
};

enum msim_cal_verdict {
    MSIM_CAL_GO_ON,
    MSIM_CAL_START_AGAIN, /* the backend */
    MSIM_CAL_REFUSED,     /* the kind is dropped, as the device refuses it */
    MSIM_CAL_DROP,        /* the kind is dropped, as it fails all the time */
    MSIM_CAL_DROP_TABLE,  /* all kinds of the table (or pairs) are to be */
    MSIM_CAL_GIVE_UP,     /* the backend */
};

/* Note an answer to an experiment of a kind, which is of a table. */
enum msim_cal_verdict msim_cal_watch_note(struct msim_cal_watch *w,
                                          uint32_t kind, enum msim_table table,
                                          const struct msim_cal_outcome *o);

/* Note an answer of an earlier run, whose failures a new start may have
 * mended: refusals alone count. True where the kind is dropped by it. */
bool msim_cal_watch_recall(struct msim_cal_watch *w, uint32_t kind,
                           const struct msim_cal_outcome *o);

/* ---- ask loop ------------------------------------------------------------ */
/*
 * Ask one backend experiment after experiment, and keep its answers in the
 * journal.
 *
 * Experiments are timed in rounds of a few seconds, and every experiment of a
 * round is visited again when the round is over: its time is the median of
 * visits that lie apart.
 */

/* Experiments that are to be visited again. */
struct msim_cal_round {
    struct msim_cal_experiment *list; /* owned */
    uint32_t n, capacity;
    double seconds; /* that those of their first visits took that gave a row */
};

/* Set the first three members, zero the others, set the next two once it is
 * started; stop it at the end. */
struct msim_cal_ask_loop {
    struct msim_cal_journal *j;
    const struct msim_cal_options *o;
    const char *command;
    const struct msim_cal_space *space; /* of its experiments */
    struct msim_cal_design *design; /* kinds that fail are dropped from it */
    char name[32];                  /* of the backend, from its greeting */
    double longest_us;              /* that a run is expected to take */
    bool counting;                  /* hardware counters are asked for */
    double sustaining; /* seconds for which each is run back to back, too */
    bool repeatable;   /* one visit is enough on this machine */
    /* Its answers say what they took: the time of their machine is not ours, as
     * that of a simulator or behind a queue. */
    bool keeps_time;
    double took; /* seconds, the last visit */
    struct msim_child child;
    struct msim_cal_round round;
    struct msim_cal_watch watch;
    uint32_t id, rows, failed, crashes, lies;
};

/* Start the backend, and keep its greeting, which has `name`. */
MSIM_MUST_CHECK
enum msim_status msim_cal_ask_loop_start(struct msim_cal_ask_loop *a,
                                         struct msim_error *err);
void msim_cal_ask_loop_stop(struct msim_cal_ask_loop *a);

/*
 * Time an experiment unless the journal has it, or its kind was dropped; its
 * texts live until the loop is stopped. A failure of the backend is kept as the
 * answer; ECHECK where it fails time after time ("failure watch"). Now and then
 * this ends a round, in which case it takes longer.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_ask_loop_take(struct msim_cal_ask_loop *a,
                                        const struct msim_cal_experiment *e,
                                        struct msim_error *err);

/* End the round: visit its experiments again. Wanted before a fit, and at the
 * end. */
MSIM_MUST_CHECK
enum msim_status msim_cal_ask_loop_end_round(struct msim_cal_ask_loop *a,
                                             struct msim_error *err);

/* Seconds that this backend took so far, and those that later visits of the
 * round will take. */
double msim_cal_ask_loop_spent(const struct msim_cal_ask_loop *a);

/* Expected seconds of an experiment whose runs take `us` each, all visits
 * together. */
double msim_cal_ask_loop_expected(const struct msim_cal_ask_loop *a, double us);

#endif
