/*
 * calibrate/machine/machine_internal.h - what the files of calibrate/machine
 * share; no other room includes it.
 */
#ifndef MSIM_CALIBRATE_MACHINE_MACHINE_INTERNAL_H
#define MSIM_CALIBRATE_MACHINE_MACHINE_INTERNAL_H
#include "calibrate/measure/experiment_space.h"
#include "calibrate/measure/journal.h"
#include "core/base/json.h"
#include "core/base/status.h"

#include <stdint.h>

/* ---- ratio table --------------------------------------------------------- */
/* Median and deciles of ratios. */

/* A list of ratios: zeroed at first, released at the end. */
struct msim_cal_ratios {
    double *list; /* owned */
    uint32_t n, capacity;
};

MSIM_MUST_CHECK
enum msim_status msim_cal_ratios_add(struct msim_cal_ratios *r, double ratio);
void msim_cal_ratios_release(struct msim_cal_ratios *r);

/* Median and deciles. */
struct msim_cal_ratio {
    uint32_t n; /* 0: the others mean nothing */
    double median, p10, p90;
};

/* Sorts the list. */
struct msim_cal_ratio msim_cal_ratio_of(const struct msim_cal_ratios *r);

/* As members of `o`. */
void msim_cal_ratio_write(cJSON *o, const struct msim_cal_ratio *r);

/* ---- backend compare ----------------------------------------------------- */
/* Two backends on the same experiments: the ratios of their times. */

#define MSIM_CAL_DIFFERENCES 32

/* Times of `backend` over those of `other` in one table. */
struct msim_cal_difference {
    enum msim_table table;
    char backend[24], other[24];
    uint32_t pairs;
    double median, p10, p90;
};

struct msim_cal_differences {
    struct msim_cal_difference list[MSIM_CAL_DIFFERENCES];
    uint32_t n;
};

/* One difference for every table and pair of backends that timed the same
 * experiments; `backend` is the one that was asked first. */
MSIM_MUST_CHECK
enum msim_status msim_cal_compare(struct msim_cal_differences *out,
                                  const struct msim_cal_journal *j);

/* ---- concurrent ---------------------------------------------------------- */
/* Compute beside a collective: its time over its time alone. */

/* ---- which experiments --------------------------------------------------- */

/* Takes kinds of compute in turn, and the collectives in turn. The same
 * greeting and seed give the same experiments. */
struct msim_cal_pairing {
    uint64_t random;
    uint32_t turn;
};

/*
 * The next experiment; false where there were enough, or there is none.
 * `computes` is what msim_cal_space_concurrent() read, `space` and `design`
 * have the collectives; both spaces outlive it. `*p` begins with the seed and
 * turn 0.
 */
bool msim_cal_concurrent_next(struct msim_cal_pairing *p,
                              const struct msim_cal_space *computes,
                              const struct msim_cal_space *space,
                              const struct msim_cal_design *design,
                              struct msim_cal_experiment *out);

/* Seconds of a backend's pairs with collectives of so many ranks. */
double msim_cal_concurrent_seconds(const struct msim_cal_journal *j,
                                   const char *backend, uint32_t ranks);

/* ---- what came out ------------------------------------------------------- */

struct msim_cal_slowed {
    enum msim_table table;
    char collective[24], backend[24];
    struct msim_cal_ratio ratio;
};

#define MSIM_CAL_SLOWED 32

struct msim_cal_concurrents {
    struct msim_cal_slowed list[MSIM_CAL_SLOWED];
    uint32_t n;
    struct msim_cal_ratio all; /* n 0: nothing was timed so */
};

/* One ratio for every table of compute, collective and backend. */
MSIM_MUST_CHECK
enum msim_status msim_cal_concurrent(struct msim_cal_concurrents *out,
                                     const struct msim_cal_journal *j);

/* Write "beside" of a platform file; nothing where no pair was timed. */
void msim_cal_concurrent_write(cJSON *platform,
                               const struct msim_cal_concurrents *b);

/* ---- counter ratio ------------------------------------------------------- */
/*
 * Hardware counters over the bytes and operations that works assume: does the
 * device do what the rooflines say?
 */

/* ---- which experiments --------------------------------------------------- */

/* Takes tables in turn, and the kinds of each in turn, at random points. The
 * same greeting and seed give the same experiments. */
struct msim_cal_counting {
    uint64_t random;
    uint32_t turn;
};

/* The next experiment; false where there were enough, or there is none. `*k`
 * begins with the seed and turn 0. */
bool msim_cal_count_next(struct msim_cal_counting *k,
                         const struct msim_cal_space *space,
                         const struct msim_cal_design *design,
                         struct msim_cal_experiment *out);

/* Seconds of a backend's experiments with counters. */
double msim_cal_count_seconds(const struct msim_cal_journal *j,
                              const char *backend);

/* ---- what came out ------------------------------------------------------- */

struct msim_cal_counted {
    enum msim_table table;
    char backend[24];
    uint32_t experiments;
    /* Counted over assumed. */
    struct msim_cal_ratio read, written; /* bytes of memory */
    struct msim_cal_ratio flops;         /* in tensor cores and outside */
};

#define MSIM_CAL_COUNTED 16

struct msim_cal_counts {
    struct msim_cal_counted list[MSIM_CAL_COUNTED];
    uint32_t n;
};

/* One line for every table and backend whose answers have counters. */
MSIM_MUST_CHECK
enum msim_status msim_cal_count(struct msim_cal_counts *out,
                                const struct msim_cal_journal *j);

/* ---- interval width ------------------------------------------------------ */
/* Choose what to time next: the points with the widest intervals. */

struct msim_cal_widths; /* opaque: a fitted platform, to ask for intervals */

/* From a tree of msim_cal_fit(). `*out` is owned by the caller. */
MSIM_MUST_CHECK
enum msim_status msim_cal_widths_new(struct msim_cal_widths **out,
                                     const cJSON *platform,
                                     struct msim_error *err);
/* Accepts NULL. */
void msim_cal_widths_free(struct msim_cal_widths *w);

/*
 * log(high / low) of the interval of an experiment by this backend. INFINITY
 * where its kind has no fit, NAN where it is no work of a law.
 */
double msim_cal_width(const struct msim_cal_widths *w,
                      const struct msim_cal_experiment *e, const char *backend);

/*
 * Choose up to `n` experiments into `out`; returns how many. Random candidates
 * of every kind are ranked by the width of their interval times their distance
 * from the experiments in the journal; every choice lowers the rank of its
 * kind. `random` is the state of the random numbers, any value at first. `mean`
 * gets the mean width of candidates whose kind has a fit.
 */
uint32_t msim_cal_widest(const struct msim_cal_widths *w,
                         const struct msim_cal_design *design,
                         const struct msim_cal_space *space,
                         const struct msim_cal_journal *j, const char *backend,
                         uint64_t *random, struct msim_cal_experiment *out,
                         uint32_t n, double *mean);

/* ---- sustained ----------------------------------------------------------- */
/*
 * Large products back to back, over the same products by themselves: what power
 * leaves of the clock under load.
 *
 * An experiment takes a millisecond behind waits, so that a device never comes
 * near its power limit, as it does in a training step. No law uses the ratio.
 */

#define MSIM_CAL_SUSTAINED         12  /* products */
#define MSIM_CAL_SUSTAINED_SECONDS 0.4 /* back to back, each */

/* ---- which experiments --------------------------------------------------- */

/* Takes the types that models compute in, in turn. The same greeting and seed
 * give the same experiments. */
struct msim_cal_sustaining {
    uint64_t random;
    uint32_t turn;
};

/* The next product; false where there were enough, or none is offered. `*s`
 * begins with the seed and turn 0; the experiment's texts point into `space`.
 */
bool msim_cal_sustained_next(struct msim_cal_sustaining *s,
                             const struct msim_cal_space *space,
                             struct msim_cal_experiment *out);

/* Seconds of a backend's experiments that were sustained. */
double msim_cal_sustained_seconds(const struct msim_cal_journal *j,
                                  const char *backend);

/* ---- what came out ------------------------------------------------------- */

struct msim_cal_sustained {
    struct msim_cal_ratio time;  /* sustained over alone; n 0: there is none */
    struct msim_cal_ratio clock; /* MHz, and W, while it was; n 0: not said */
    struct msim_cal_ratio power;
};

MSIM_MUST_CHECK
enum msim_status msim_cal_sustain(struct msim_cal_sustained *out,
                                  const struct msim_cal_journal *j);

/* Write "sustained" of a platform file; nothing where none was. */
void msim_cal_sustained_write(cJSON *platform,
                              const struct msim_cal_sustained *s);

#endif
