/*
 * calibrate/measure/failure_watch.h - when a backend's failures are too many.
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
#ifndef MSIM_CALIBRATE_MEASURE_FAILURE_WATCH_H
#define MSIM_CALIBRATE_MEASURE_FAILURE_WATCH_H
#include "calibrate/measure/experiment_space.h"

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

#endif
