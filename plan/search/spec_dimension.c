/*
 * plan/search/spec_dimension.c - which dimensions there are, and their values.
 */
#include "plan/search/spec_dimension.h"

#include <stdio.h>
#include <string.h>

/* X(member, values that are tried where the file has none) */
#define SPLIT_MAP(X)                                                           \
    X(tp, 1, 2, 4, 8)                                                          \
    X(pp, 1, 2, 4, 8, 16)                                                      \
    X(vp, 1)                                                                   \
    X(cp, 1)                                                                   \
    X(ep, 1)                                                                   \
    X(zero, 1, 3)                                                              \
    X(micro_batch, 1, 2, 4, 8)                                                 \
    X(recompute, MSIM_RECOMPUTE_NONE, MSIM_RECOMPUTE_FULL)                     \
    X(precision, MSIM_PRECISION_BF16)                                          \
    X(offload, MSIM_OFFLOAD_NONE)

#define COUNT(...) (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* Techniques are not stated where the file does not name them. */
static const struct msim_spec_dimension DIMENSIONS[] = {
#define X(name, ...) {MSIM_GIVEN_##name, COUNT(__VA_ARGS__), {__VA_ARGS__}},
    SPLIT_MAP(X)
#undef X
#define X(name, accepted) {MSIM_GIVEN_##name, 1, {0}},
        MSIM_TECHNIQUE_MAP(X)
#undef X
            {MSIM_GIVEN_gpus, 0, {0}}};

_Static_assert(sizeof(DIMENSIONS) / sizeof(*DIMENSIONS) == MSIM_SPEC_DIMENSIONS,
               "a spec has room for all of them");

const struct msim_spec_dimension *msim_spec_dimension_at(uint32_t d)
{
    return &DIMENSIONS[d];
}

const char *msim_spec_dimension_text(uint32_t d)
{
    return msim_given_text(DIMENSIONS[d].given);
}

static bool is_technique(enum msim_given g)
{
    return g > MSIM_GIVEN_offload;
}

/* One value; NULL, or what is wanted, in `want`. */
static const char *read_value(enum msim_given g, const cJSON *item,
                              int64_t *out, char *want, size_t size)
{
    struct msim_strategy s = {0};
    uint32_t given = 0;
    const char *wrong;
    size_t used;

    *out = 0;
    if (cJSON_IsNull(item) && is_technique(g))
        return NULL;
    wrong = msim_strategy_read_item(&s, &given, g, item, want, size);
    *out = msim_strategy_value(&s, g);
    if (!wrong)
        return NULL;
    used = strlen(wrong);
    memmove(want, wrong, used + 1);
    snprintf(want + used, size - used, "%s, or an array of them",
             is_technique(g) ? ", null (not stated)" : "");
    return want;
}

static bool is_there(const int64_t *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (values[i] == values[n])
            return true;
    return false;
}

static void read_array(struct msim_spec_values *values, struct msim_fields *f,
                       uint32_t d, const cJSON *array)
{
    const char *key = msim_spec_dimension_text(d), *wrong;
    char want[320];
    const cJSON *item;

    cJSON_ArrayForEach(item, array)
    {
        uint32_t n = values->n;

        if (n == MSIM_SPEC_VALUES) {
            msim_field_refuse(f, key, "at most 24 values");
            return;
        }
        wrong = read_value(DIMENSIONS[d].given, item, &values->v[n], want,
                           sizeof(want));
        if (!wrong && is_there(values->v, n))
            wrong = "every value once";
        if (wrong) {
            msim_field_refuse_item(f, key, n, wrong);
            return;
        }
        values->n = n + 1;
    }
    if (values->n == 0)
        msim_field_refuse(f, key, "a value, or an array of values");
}

/* A value or an array of values. */
static void read_dimension(struct msim_spec_values *values,
                           struct msim_fields *f, uint32_t d)
{
    const struct msim_spec_dimension *at = &DIMENSIONS[d];
    const char *key = msim_spec_dimension_text(d), *wrong;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(f->object, key);
    char want[320];

    values->n = 0;
    if (cJSON_IsArray(item)) {
        read_array(values, f, d, item);
    } else if (item || at->n_usual == 0) {
        wrong = read_value(at->given, item, &values->v[0], want, sizeof(want));
        values->n = 1;
        if (wrong)
            msim_field_refuse(f, key, wrong);
    } else {
        values->n = at->n_usual;
        memcpy(values->v, at->usual, sizeof(at->usual));
    }
}

void msim_spec_dimensions_read(struct msim_spec_values *values,
                               struct msim_fields *f)
{
    for (uint32_t d = 0; d < MSIM_SPEC_DIMENSIONS; d++)
        read_dimension(&values[d], f, d);
}
