/*
 * calibrate/measure/experiment_space.h - the space of experiments: the kinds of
 * operation that a backend offers, and the limits of their sizes.
 *
 * A point of the unit cube is an experiment: each coordinate is a size between
 * its limits on a logarithmic scale, or a choice. Sizes have eight steps an
 * octave, where most sizes of real models lie.
 */
#ifndef MSIM_CALIBRATE_MEASURE_EXPERIMENT_SPACE_H
#define MSIM_CALIBRATE_MEASURE_EXPERIMENT_SPACE_H
#include "calibrate/measure/cal_experiment.h"

#define MSIM_CAL_AXES  9
#define MSIM_CAL_KINDS 384

/* A copy of so many times the last-level cache shows the rate of a GPU's
 * memory: what it wrote last may still lie in the cache when it ends. */
#define MSIM_CAL_PAST_CACHE 8

/* One kind of operation: a table and, say, "fp32" or "add:fp32". */
struct msim_cal_kind {
    enum msim_table table;
    char kind[48];          /* as it is offered */
    char op[48], dtype[48]; /* its words; "": it has none */
    bool pageable;          /* of a copy: "h2d:pageable" */
    uint32_t axes;          /* coordinates; 0: there is one experiment only */
    uint32_t sizes;         /* of these, the first; the others are choices */
    uint32_t weight; /* points of it that go with one of the simplest kind */
};

struct msim_cal_space {
    struct msim_cal_kind kinds[MSIM_CAL_KINDS];
    uint32_t n;
    uint32_t ranks;        /* of collectives */
    char interconnect[48]; /* between them */
    double bytes_most;     /* of one experiment's operands */
    double copy_most;      /* of the bytes that a copy copies */
    double longest_us;     /* that one run is expected to take */
    struct msim_cal_guess guess;
};

/*
 * The space that a greeting offers. `longest_us` as in the structure. EFORMAT
 * where the greeting has no device or tables; unknown tables are skipped.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_space_read(struct msim_cal_space *s,
                                     const cJSON *greeting, double longest_us,
                                     struct msim_error *err);

/* The space of what can be timed beside a collective; the greeting is one that
 * msim_cal_space_read() takes. */
void msim_cal_space_concurrent(struct msim_cal_space *s, const cJSON *greeting,
                               double longest_us);

/*
 * The experiment at point `u` (coordinates from [0, 1)) of a kind; its texts
 * point into `s` and `kind`. False where it is outside the limits.
 */
bool msim_cal_space_point(const struct msim_cal_space *s,
                          const struct msim_cal_kind *kind, const double *u,
                          struct msim_cal_experiment *out);

/* The index of the kind that an experiment is of; `s->n` where it is of none.
 */
uint32_t msim_cal_space_kind(const struct msim_cal_space *s,
                             const struct msim_experiment *e);

#endif
