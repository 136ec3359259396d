/*
 * models/forest/forest.h - regression trees that correct a law.
 *
 * The sum of the trees is log(measured / law). There are at most some 200 trees
 * of about 30 leaves. Their values are whole numbers, so that every fit writes
 * the same bytes; a prediction takes well under a microsecond.
 *
 * XGBoost grows the trees when a platform is fitted (calibrate/stat/boost.h).
 * Predictions do not use it: they then need no C++ library, and platform files
 * stay small, readable and independent of XGBoost's own format, which changes
 * with its versions.
 *
 * In a platform file, "forest" has texts of numbers with spaces between them,
 * which are read some ten times as fast as arrays:
 *   cuts    for every feature, the values at which it can be split, and ';'
 *   splits  all trees, one after the other, each in preorder: 0 is a leaf,
 * other numbers are 1 + feature * 64 + cut; a row goes left where feature <
 *           cut, compared as floats
 *   leaves  the values of the leaves in the same order, in ten-thousandths
 *   low, high  bounds of the sum: the residuals of the rows fitted on
 */
#ifndef MSIM_MODELS_FOREST_FOREST_H
#define MSIM_MODELS_FOREST_FOREST_H
#include "core/base/json.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- forest data --------------------------------------------------------- */
/*
 * The members of trees that were read, or will be. Private to this room; others
 * ask "forest".
 */

#define MSIM_FOREST_FEATURES 128
#define MSIM_FOREST_CUTS     63
#define MSIM_FOREST_ROOM     (MSIM_FOREST_CUTS + 1) /* cuts of a feature */
#define MSIM_FOREST_UNIT     1e-4

struct msim_forest_made;

/* The texts of a file that are not read yet. */
struct msim_forest_text {
    const char *cuts, *splits, *leaves; /* NULL: of none */
};

struct msim_forest {
    struct msim_forest_text later; /* then all that follows is by `made` */
    uint16_t *splits;              /* as in the file */
    float *leaves;                 /* whole numbers */
    float *cuts;     /* MSIM_FOREST_CUTS + 1 a feature, padded with infinity */
    uint8_t *n_cuts; /* of each feature */
    struct msim_forest_made *made; /* by evaluations; copies share it */
    uint32_t n_nodes, n_trees, n_features, most_leaves;
    double low, high;
};

/*
 * The number of a feature's cuts that are <= `x`. Features and cuts are
 * compared as floats, as in XGBoost: a row that was equal to a cut in the fit
 * is equal to it here, too.
 */
static inline uint32_t msim_forest_rank(const struct msim_forest *f,
                                        uint32_t feature, double x)
{
    const float *cuts = f->cuts + (size_t)feature * MSIM_FOREST_ROOM, *c = cuts;
    const float key = (float)x;
    uint32_t at;

    for (uint32_t half = MSIM_FOREST_ROOM / 2; half > 0; half /= 2)
        c = key < c[half - 1] ? c : c + half;
    at = (uint32_t)(c - cuts);
    /* what is no number is not below the padding either */
    return at < f->n_cuts[feature] ? at : f->n_cuts[feature];
}

/* ---- forest -------------------------------------------------------------- */

/* The sum of the trees for the features `x`, limited to low..high; 0 where
 * there are no trees. */
double msim_forest_eval(const struct msim_forest *f, const double *x);

/*
 * Read the "forest" object of a fit with `n_features` features. EFORMAT where
 * it does not hold whole trees, ELIMIT where it is too large, ENOMEM; on
 * failure `f` is released.
 */
MSIM_MUST_CHECK
enum msim_status msim_forest_read(struct msim_forest *f, const cJSON *json,
                                  uint32_t n_features);
/*
 * The same, but the texts are read when they are needed, mostly never: they
 * have to stay, and to hold whole trees. ENOMEM. Of such a forest the numbers
 * of trees and nodes are 0; where there is no memory to read it, it has no
 * trees.
 */
MSIM_MUST_CHECK
enum msim_status msim_forest_read_later(struct msim_forest *f,
                                        const cJSON *json, uint32_t n_features);
void msim_forest_release(struct msim_forest *f);

#endif
