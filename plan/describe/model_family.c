/*
 * plan/describe/model_family.c - rows of data/models/types.csv by their names.
 */
#include "plan/describe/describe_internal.h"

#include <stdlib.h>
#include <string.h>

static int by_type(const void *type, const void *row)
{
    return strcmp(type, ((const struct msim_model_family *)row)->type);
}

const struct msim_model_family *msim_model_family_find(const char *type)
{
    return bsearch(type ? type : "llama", msim_model_families,
                   msim_model_families_n, sizeof(*msim_model_families),
                   by_type);
}
