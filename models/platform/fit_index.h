/*
 * models/platform/fit_index.h - all cells that a platform can draw on, by key.
 *
 * Rows of a table ask for a cell each, a million of them in a run: hashes of
 * law and key, sorted, find the few candidates at once.
 */
#ifndef MSIM_MODELS_PLATFORM_FIT_INDEX_H
#define MSIM_MODELS_PLATFORM_FIT_INDEX_H
#include "models/platform/fit.h"

struct msim_fit_index_entry {
    uint64_t key, framework; /* hashes */
    uint32_t order;          /* own cells first, common laws last */
    bool trees;
    const struct msim_fit *fit;
    const struct msim_platform *platform; /* NULL: common to all */
    /* For being another GPU's, of the logarithm: to choose by, and to add to
     * the cell's interval (which for a common law has it already). */
    double doubt, added;
};

struct msim_fit_index {
    struct msim_fit_index_entry *entries; /* sorted by key, then order */
    uint32_t n;
};

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
