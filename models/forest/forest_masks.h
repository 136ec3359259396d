/*
 * models/forest/forest_masks.h - trees as masks, many at once.
 *
 * QuickScorer (Lucchese et al., SIGIR 2015). A tree's mask has a bit for each
 * leaf, the leftmost lowest. A split that sends a row to the right rules out
 * the leaves on its left; the lowest bit that no split rules out is the row's
 * leaf. What the splits at one feature leave depends on its rank alone, and so
 * is a table: as many ANDs as features do for all trees.
 */
#ifndef MSIM_MODELS_FOREST_FOREST_MASKS_H
#define MSIM_MODELS_FOREST_FOREST_MASKS_H
#include "models/forest/forest.h"

struct msim_forest_masks;

/* Of trees of up to 32 leaves that were read; NULL where a tree has more, or
 * leaves are too large to be added up, or there is no memory. */
struct msim_forest_masks *msim_forest_masks_new(const struct msim_forest *f);
/* Accepts NULL. */
void msim_forest_masks_free(struct msim_forest_masks *m);

/* The sum of the leaves that a row with the features `x` has. */
int32_t msim_forest_masks_sum(const struct msim_forest *f,
                              const struct msim_forest_masks *m,
                              const double *x);

#endif
