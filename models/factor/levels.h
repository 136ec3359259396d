/*
 * models/factor/levels.h - factors learned level by level, and what traces of a
 * machine say of them.
 */
#ifndef MSIM_MODELS_FACTOR_LEVELS_H
#define MSIM_MODELS_FACTOR_LEVELS_H
#include "core/base/json.h"
#include "core/base/status.h"
#include "core/work/estimate.h"

/* ---- levels -------------------------------------------------------------- */
/*
 * By which factors measured times differ from models, learned at four levels:
 * of a name (an operator, a kind of work), of names that are kin (kernels of
 * one operator), of a family, of all.
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

/* ---- evidence ------------------------------------------------------------ */
/*
 * What traces of one machine say of the laws of its GPU: factors of start and
 * of rate, by kind of work, by family, for all.
 *
 * A platform file has them as "evidence" (predict/learn makes it):
 *
 *     {"traces": [...], "clock": 0.9,
 *      "all": [1.05, 1.1], "families": {"gemm": [1.02, 1.2]},
 *      "kin": {"gemm half": [1.0, 1.2, 130]},
 *      "kinds": {"gemm half, odd rows": [1.0, 1.25, 96]}}
 *
 * The pairs are factors of start and of rate ("levels"), kinds
 * those of models/law/law.h; the third figure is how many observations
 * there were. A kind that no trace had takes the factors of its kin, kin that
 * none had those of the family, a family that none had those of all.
 */

#define MSIM_EVIDENCE_KIND 96 /* bytes of a kind at most */

struct msim_evidence_kind {
    char text[MSIM_EVIDENCE_KIND];
    struct msim_level factors; /* logarithms */
};

struct msim_evidence {
    struct msim_evidence_kind *kinds, *kin; /* by text; owned */
    uint32_t n, n_kin;
    struct msim_level families[MSIM_FAMILY_COUNT];
    double clock; /* of the machine's SMs over the usual one; 0: no evidence */
};

/* Read the member "evidence" of a platform file; NULL: none. EFORMAT names
 * `file`; ENOMEM. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_evidence_read(struct msim_evidence *e, const cJSON *json,
                                    const char *file, struct msim_error *err);
void msim_evidence_release(struct msim_evidence *e);

/* How much of a kind's text kin have in common: what comes before the words for
 * the kernel, 9 bytes of "gemm half, odd rows". */
size_t msim_evidence_kin(const char *kind);

/* Correct an estimate of a work of the kind `kind`. */
void msim_evidence_apply(const struct msim_evidence *e, const char *kind,
                         struct msim_estimate *estimate);

#endif
