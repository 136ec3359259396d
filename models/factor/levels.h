/*
 * models/factor/levels.h - by which factors measured times differ from models,
 * learned at four levels: of a name (an operator, a kind of work), of names
 * that are kin (kernels of one operator), of a family, of all.
 *
 *     time = start * model_start + rate * (model - model_start)
 *
 * model_start is the launch and latency part of the model's time, so that small
 * kernels and large ones do not stand for each other. Example: kernels of 2 us
 * by the model, all of it start, took 6 us: start is 3. Kernels of 100 us took
 * 153 us: rate is (153 - 6) / 98 = 1.5. One of 500 us becomes
 * 6 + 1.5 * 498 = 753 us.
 *
 * Both factors are fitted as logarithms, by least squares of the logarithms of
 * times: for all observations, then for those of a family, of kin, of a name.
 * At each level the factors of the level above count as one more observation
 * (above all: 1, the models as they are). So a name with many observations has
 * factors of its own, and one without has those of the level above. The
 * equations are solved by the Gauss-Newton method; an observation counts at
 * most as if it were off by a factor of e.
 */
#ifndef MSIM_MODELS_FACTOR_LEVELS_H
#define MSIM_MODELS_FACTOR_LEVELS_H
#include "core/base/status.h"
#include "core/work/estimate.h"

/* One measured time, and what the models say of it. */
struct msim_observation {
    uint32_t name; /* below the number of names */
    uint32_t kin;  /* so is this: equal for names that are kin; MSIM_NONE: the
                      name has none */
    enum msim_family family;
    double us, model_us, start_us; /* start_us <= model_us */
};

/* Logarithms of both factors. */
struct msim_level {
    double start, rate;
};

struct msim_levels {
    struct msim_level all, families[MSIM_FAMILY_COUNT];
    struct msim_level *names, *kin;
    uint32_t n_names;
    double *seen, *kin_seen; /* by name, by kin: observations */
};

/* Fit. ENOMEM; release with msim_levels_release() in any case. */
MSIM_MUST_CHECK
enum msim_status msim_levels_fit(struct msim_levels *out,
                                 const struct msim_observation *seen,
                                 uint32_t n, uint32_t n_names);
void msim_levels_release(struct msim_levels *l);

/* Of `name`; where it was never seen (or is beyond the names) of its `kin`, and
 * where no name of that was, or it is MSIM_NONE, of `family`. */
const struct msim_level *msim_levels_of(const struct msim_levels *l,
                                        uint32_t name, uint32_t kin,
                                        enum msim_family family);

/* The time `us`, of which `start_us` is start, by the factors `x`; what becomes
 * of its start goes to `*start` (may be NULL). */
double msim_level_apply(const struct msim_level *x, double us, double start_us,
                        double *start);

#endif
