/*
 * calibrate/measure/ask_loop.h - ask one backend experiment after experiment,
 * and keep its answers in the journal.
 *
 * Experiments are timed in rounds of a few seconds, and every experiment of a
 * round is visited again when the round is over: its time is the median of
 * visits that lie apart.
 */
#ifndef MSIM_CALIBRATE_MEASURE_ASK_LOOP_H
#define MSIM_CALIBRATE_MEASURE_ASK_LOOP_H
#include "calibrate/measure/cal_options.h"
#include "calibrate/measure/experiment_design.h"
#include "calibrate/measure/failure_watch.h"
#include "calibrate/measure/journal.h"
#include "profilers/ask/backend_child.h"

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
 * answer; ECHECK where it fails time after time (failure_watch.h). Now and then
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
