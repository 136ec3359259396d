/*
 * calibrate/measure/ask_loop.h - a backend that is asked, and its answers in
 * the journal.
 */
#ifndef MSIM_CALIBRATE_MEASURE_ASK_LOOP_H
#define MSIM_CALIBRATE_MEASURE_ASK_LOOP_H
#include "calibrate/measure/backend_child.h"
#include "calibrate/measure/cal_options.h"
#include "calibrate/measure/journal.h"

/* Experiments that are to be visited again. */
struct msim_cal_round {
    struct msim_cal_experiment *list; /* owned */
    uint32_t n, capacity;
    double seconds; /* that their first visits took */
};

/* Zeroed but for the first three, and stopped at last. */
struct msim_cal_ask_loop {
    struct msim_cal_journal *j;
    const struct msim_cal_options *o;
    const char *command;
    char name[32];     /* as it greets */
    double longest_us; /* of a run */
    bool counting;     /* hardware counters are asked for */
    bool repeatable;   /* one visit is enough on this machine */
    struct msim_cal_child child;
    struct msim_cal_round round;
    uint32_t id, rows, failed, crashes;
};

/* Start it, and keep its greeting, which tells `name`. */
MSIM_MUST_CHECK
enum msim_status msim_cal_ask_loop_start(struct msim_cal_ask_loop *a,
                                         struct msim_error *err);
void msim_cal_ask_loop_stop(struct msim_cal_ask_loop *a);

/*
 * Time an experiment unless the journal has it; its texts live until the loop
 * is stopped. A failure of the backend is kept as the answer; ECHECK where it
 * fails time after time. Now and then this ends a round, in which case it takes
 * longer.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_ask_loop_take(struct msim_cal_ask_loop *a,
                                        const struct msim_cal_experiment *e,
                                        struct msim_error *err);

/* Visit again what was timed since the last round: before a fit, and at last.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_ask_loop_end_round(struct msim_cal_ask_loop *a,
                                             struct msim_error *err);

/* Seconds that were spent on this backend, with those that the later visits of
 * the round will take. */
double msim_cal_ask_loop_spent(const struct msim_cal_ask_loop *a);

/* Seconds that an experiment may be expected to take, all visits together,
 * whose runs take `us`. */
double msim_cal_ask_loop_expected(const struct msim_cal_ask_loop *a, double us);

#endif
