/*
 * models/forest/forest_data.h - the members of trees that were read, or will
 * be. Private to this room; others ask forest.h.
 */
#ifndef MSIM_MODELS_FOREST_FOREST_DATA_H
#define MSIM_MODELS_FOREST_FOREST_DATA_H
#include "core/base/json.h"

#include <stdbool.h>
#include <stdint.h>

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

#endif
