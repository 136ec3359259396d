/*
 * models/platform/fit_index.h - all cells that a platform can draw on, by key.
 *
 * Rows of a table ask for a cell each, a million of them in a run: hashes of
 * law and key, sorted, find the few candidates at once.
 */
#ifndef MSIM_MODELS_PLATFORM_FIT_INDEX_H
#define MSIM_MODELS_PLATFORM_FIT_INDEX_H
#include "models/platform/fit.h"

struct msim_platform;  /* models/platform/platform_data.h */
struct msim_fit_index; /* likewise */

/* A cell and how far it is from what was asked for. */
struct msim_pick {
    const struct msim_fit *fit;
    const struct msim_platform *platform; /* whose cell it is; NULL: the law
                                             is common to all */
    bool other_key;                       /* another dtype or kind stands in */
    bool other_framework; /* the stack that was asked for has no rows */
    bool bare;            /* leave the source's launch gap out */
    bool trees;           /* correct by the cell's trees or rows */
    double variance;      /* further doubt: of the logarithm */
};

/*
 * The cell of law `law` with least doubt for framework `framework` (NULL or
 * "pytorch": the bare kernel, preferring the stacks of `prefer`, ended by NULL)
 * among `keys` (ended by NULL, best first): `p`'s own, those of platforms that
 * stand in for it, and laws common to all GPUs. Doubt comes from another GPU,
 * another stack and another key; of equal ones the earlier key, platform and
 * stack win. False where there is none.
 */
bool msim_fit_pick(const struct msim_platform *p, const struct msim_law *law,
                   const char *framework, const char *const *prefer,
                   const char *const *keys, struct msim_pick *out);

/* Make the index of `p`, of the platforms that stand in for it, of its common
 * laws, and of the partner that it is compared with (NULL: none), whose cells
 * then come before those of others; these must not move. An earlier index is
 * replaced. Release with msim_fit_index_release(). */
MSIM_MUST_CHECK
enum msim_status msim_fit_index_make(struct msim_platform *p,
                                     const struct msim_platform *partner);
void msim_fit_index_release(struct msim_fit_index *index);

/*
 * What a platform inherits: for each law, stack and key that it has no cell of,
 * the one that answers. `*at` is 0 before the first call; false at the end.
 */
bool msim_fit_index_inherited(const struct msim_platform *p, uint32_t *at,
                              struct msim_pick *out);

/* Its mean error on GPUs left out; NAN where that was not seen. */
double msim_pick_held_out_error(const struct msim_platform *p,
                                const struct msim_pick *pick);

/* Half of its 90 % interval inside the sizes fitted on, as a logarithm. */
double msim_pick_half_width(const struct msim_pick *pick);

#endif
