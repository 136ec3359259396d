/*
 * plan/search/spec_dimension.h - a dimension of a spec: a member of a strategy,
 * with one value or several that are tried.
 *
 *     "tp": [1, 2, 4]           three values
 *     "compile": true           one
 *     "lora_rank": [null, 64]   without adapters, and with
 *
 * Thread-safe; nothing is allocated.
 */
#ifndef MSIM_PLAN_SEARCH_SPEC_DIMENSION_H
#define MSIM_PLAN_SEARCH_SPEC_DIMENSION_H
#include "core/json/fields.h"
#include "plan/describe/strategy.h"

#define MSIM_SPEC_DIMENSIONS (11 + MSIM_TECHNIQUE_COUNT)
#define MSIM_SPEC_GPUS       (MSIM_SPEC_DIMENSIONS - 1) /* the last */
#define MSIM_SPEC_VALUES     24

/* As msim_strategy_put() takes them. */
struct msim_spec_values {
    int64_t v[MSIM_SPEC_VALUES];
    uint32_t n;
};

struct msim_spec_dimension {
    enum msim_given given; /* the member */
    uint32_t n_usual;      /* 0: the file must say it */
    int64_t usual[8];      /* values where the file has none */
};

/* Dimension `d` of MSIM_SPEC_DIMENSIONS, and its name. */
const struct msim_spec_dimension *msim_spec_dimension_at(uint32_t d);
const char *msim_spec_dimension_text(uint32_t d);

/* Read the values of all dimensions from the spec's members; what is wrong is
 * refused by its path, "tp[2]". */
void msim_spec_dimensions_read(struct msim_spec_values *values,
                               struct msim_fields *f);

#endif
