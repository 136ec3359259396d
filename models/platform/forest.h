/*
 * models/platform/forest.h - a sum of small regression trees, the correction of
 * a law.
 *
 * The trees answer log(measured / law). They are small (some 200 trees of about
 * 30 leaves at most), stored as whole numbers, so that the same bytes come out
 * of every fit and a prediction takes well under a microsecond.
 *
 * XGBoost grows them when platforms are fitted (calibrate/stat/boost.h), but is
 * not asked for predictions: they then need no C++ library beside the program,
 * and platform files stay readable, small and apart from XGBoost's own format,
 * which changes with its versions. What is left to do here is a sum over trees.
 *
 * In a platform file, as texts of numbers with spaces between them, which are
 * read some ten times as fast as arrays:
 *   cuts    for every feature, the values it may be split at, and ';'
 *   splits  all trees one after the other, each in preorder; 0 is a leaf, else
 *           1 + feature * 64 + cut; a row goes left where feature < cut, both
 *           as floats
 *   leaves  values of the leaves in the same order, in ten-thousandths
 *   low, high  bounds of the sum: the residuals seen when it was fitted
 */
#ifndef MSIM_MODELS_PLATFORM_FOREST_H
#define MSIM_MODELS_PLATFORM_FOREST_H
#include "core/base/json.h"

#include <stdbool.h>
#include <stdint.h>

#define MSIM_FOREST_CUTS 63
#define MSIM_FOREST_UNIT 1e-4

struct msim_forest {
    /* Trees one after the other, each in preorder. A split goes left, to the
     * next node, where fewer cuts than its `place` are not above the feature;
     * to node `right` else, as a leaf does to itself. */
    uint32_t *nodes; /* feature, place << 8, right << 16 */
    float *values;   /* of leaves, in ten-thousandths */
    float *cuts;     /* of every feature in turn, infinite ones at the end */
    uint32_t *roots;
    uint8_t *depths;
    uint32_t n_nodes, n_trees, n_features;
    double low, high;
};

/* The sum of the trees for features `x`, within low..high; 0 for no trees. */
double msim_forest_eval(const struct msim_forest *f, const double *x);

/*
 * Read the "forest" object of a cell with `n_features` features. On failure
 * EFORMAT (or ENOMEM), and `f` is released.
 */
MSIM_MUST_CHECK
enum msim_status msim_forest_read(struct msim_forest *f, const cJSON *json,
                                  uint32_t n_features);
void msim_forest_release(struct msim_forest *f);

#endif
