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

#define MSIM_SPEC_DIMENSIONS (13 + MSIM_TECHNIQUE_COUNT) /* at most */
#define MSIM_SPEC_VALUES     24

/* Places beside those of a strategy (enum msim_given): what a traced step alone
 * may be changed by, as the index of a word, or a number; 0: as traced. */
enum msim_spec_place {
    MSIM_SPEC_SHARD = MSIM_GIVEN_COUNT, /* how data parallel ranks share it */
    MSIM_SPEC_DTYPE,                    /* "precision" */
    MSIM_SPEC_BITS,                     /* "optimizer_bits" */
    MSIM_SPEC_LAYERS,                   /* numbers, from here on */
    MSIM_SPEC_HIDDEN,
    MSIM_SPEC_PLACES
};

/* As msim_strategy_put() takes them. */
struct msim_spec_values {
    int64_t v[MSIM_SPEC_VALUES];
    uint32_t n;
};

struct msim_spec_dimension {
    const char *name;         /* of the member */
    int place;                /* enum msim_given or msim_spec_place */
    const char *const *words; /* of a traced step: what is accepted, the end is
                                 NULL; NULL: whole numbers */
    uint32_t n_usual;         /* 0: the file must say it */
    int64_t usual[8];         /* values where the file has none */
};

/* Dimension `d` of a described model, or a traced step; the GPUs are the last,
 * after that NULL. */
const struct msim_spec_dimension *msim_spec_dimension_at(bool traced,
                                                         uint32_t d);
uint32_t msim_spec_dimension_count(bool traced);

/* A value as the file may have it; "" for what is not stated. */
void msim_spec_value_text(const struct msim_spec_dimension *d, int64_t v,
                          char *text, size_t size);

/* Read the values of all dimensions from the spec's members; what is wrong is
 * refused by its path, "tp[2]". */
void msim_spec_dimensions_read(struct msim_spec_values *values, bool traced,
                               struct msim_fields *f);

#endif
