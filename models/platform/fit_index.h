/*
 * models/platform/fit_index.h - the fits that a platform can use, and the
 * choice of one of them for a work.
 *
 * A platform uses its own fits, those of platforms that stand in for it, and
 * the laws that all GPUs share. The choice takes the fit with the least
 * variance: another GPU, another stack and another key add a variance each.
 * Every row of `op` picks a fit, a million of them in a run, so the index is
 * sorted by a hash of law and key, and keeps answers: few questions differ.
 */
#ifndef MSIM_MODELS_PLATFORM_FIT_INDEX_H
#define MSIM_MODELS_PLATFORM_FIT_INDEX_H
#include "models/platform/fit.h"

struct msim_platform;  /* models/platform/platform_data.h */
struct msim_fit_index; /* likewise */

/* A fit that was picked, and how it differs from what was asked for. */
struct msim_pick {
    const struct msim_fit *fit;
    const struct msim_platform *platform; /* that the fit is of; NULL: a shared
                                             law */
    bool other_key;                       /* another dtype or kind stands in */
    bool other_framework;                 /* another stack stands in */
    bool bare;       /* of a kernel without the fit's launch gap */
    bool trees;      /* correct by the fit's trees or kriging */
    double variance; /* of the logarithm, to add to the fit's own */
};

/*
 * Pick the fit of law `law` with the least variance for the stack `framework`
 * among `keys` (ended by NULL, the wanted one first). `framework` NULL or
 * "pytorch": a bare kernel by any stack, those of `prefer` (ended by NULL)
 * first. Of equal variances the earlier key, platform and stack win. False
 * where there is no fit, or no memory to read it. The words of `prefer` are
 * constants: the answer may be one that was given for an array at the same
 * place.
 */
bool msim_fit_pick(const struct msim_platform *p, const struct msim_law *law,
                   const char *framework, const char *const *prefer,
                   const char *const *keys, struct msim_pick *out);

/* Whether a platform has, or inherits, a fit of a law with this key. */
bool msim_fit_has_key(const struct msim_platform *p, const struct msim_law *law,
                      const char *key);

/*
 * Make the index of `p` from its fits, those of the platforms that stand in for
 * it, its shared laws and the fits of `partner` (NULL: none), which come right
 * after its own (msim_platform_pair()). All of these must stay where they are
 * in memory. An earlier index is replaced. ENOMEM; release with
 * msim_fit_index_release().
 */
MSIM_MUST_CHECK
enum msim_status msim_fit_index_make(struct msim_platform *p,
                                     const struct msim_platform *partner);
void msim_fit_index_release(struct msim_fit_index *index);

/*
 * Iterate over what a platform inherits: for each law, stack and key that it
 * has no fit of, the fit that is used. `*at` is 0 before the first call; false
 * at the end.
 */
bool msim_fit_index_inherited(const struct msim_platform *p, uint32_t *at,
                              struct msim_pick *out);

/* The mean |predicted / measured - 1| of such fits on held-out GPUs; NAN where
 * it is not known. */
double msim_pick_held_out_error(const struct msim_platform *p,
                                const struct msim_pick *pick);

/* Half of the 90 % interval inside the fitted sizes, a logarithm. */
double msim_pick_half_width(const struct msim_pick *pick);

#endif
