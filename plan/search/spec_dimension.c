/*
 * plan/search/spec_dimension.c - which dimensions there are, and their values.
 */
#include "plan/search/spec.h"

#include <stdio.h>
#include <string.h>

/* X(member, values that are tried where the file has none) */
#define SPLIT_MAP(X)                                                           \
    X(nodes, 0) /* as many as the platform's servers make */                   \
    X(tp, 1, 2, 4, 8)                                                          \
    X(pp, 1, 2, 4, 8, 16)                                                      \
    X(vp, 1)                                                                   \
    X(cp, 1)                                                                   \
    X(ep, 1)                                                                   \
    X(etp, 0) /* as tp, where ep leaves it its ranks */                        \
    X(zero, 1, 3)                                                              \
    X(micro_batch, 1, 2, 4, 8)                                                 \
    X(recompute, MSIM_RECOMPUTE_NONE, MSIM_RECOMPUTE_FULL)                     \
    X(precision, MSIM_PRECISION_BF16)                                          \
    X(offload, MSIM_OFFLOAD_NONE)

#define COUNT(...) (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* Techniques are not stated where the file does not name them. */
static const struct msim_spec_dimension DESCRIBED[] = {
#define X(name, ...)                                                           \
    {#name, MSIM_GIVEN_##name, NULL, COUNT(__VA_ARGS__), {__VA_ARGS__}},
    SPLIT_MAP(X)
#undef X
#define X(name, accepted) {#name, MSIM_GIVEN_##name, NULL, 1, {0}},
        MSIM_TECHNIQUE_MAP(X)
#undef X
            {"gpus", MSIM_GIVEN_gpus, NULL, 0, {0}}};

static const char *const SHARDS[] = {
    "ddp", "zero1", "zero2", "zero3", "no_shard", "shard_grad_op", NULL};
static const char *const DTYPES[] = {"traced",   "fp16",     "bf16",
                                     "amp_fp16", "amp_bf16", "fp8",
                                     "amp_fp8",  "tf32",     NULL};
/* In the order of enum msim_recompute, enum msim_offload and of techniques. */
static const char *const RECOMPUTES[] = {"none", "full", NULL};
static const char *const OFFLOADS[] = {"none", "activations", "optimizer",
                                       NULL};
static const char *const BITS[] = {"", "8", "32", NULL};
static const char *const STATED[] = {"", "no", "yes", NULL};

/* A traced step is what it is where the file does not say otherwise. */
static const struct msim_spec_dimension TRACED[] = {
    {"shard", MSIM_SPEC_SHARD, SHARDS, 1, {0}},
    {"micro_batch", MSIM_GIVEN_micro_batch, NULL, 1, {0}},
    {"grad_accum", MSIM_GIVEN_grad_accum, NULL, 1, {0}},
    {"recompute", MSIM_GIVEN_recompute, RECOMPUTES, 1, {0}},
    {"precision", MSIM_SPEC_DTYPE, DTYPES, 1, {0}},
    {"offload", MSIM_GIVEN_offload, OFFLOADS, 1, {0}},
    {"optimizer_bits", MSIM_SPEC_BITS, BITS, 1, {0}},
    {"optimizer_in_backward", MSIM_GIVEN_optimizer_in_backward, STATED, 1, {0}},
    {"tp", MSIM_GIVEN_tp, NULL, 1, {1}},
    {"pp", MSIM_GIVEN_pp, NULL, 1, {1}},
    {"layers", MSIM_SPEC_LAYERS, NULL, 1, {0}},
    {"hidden", MSIM_SPEC_HIDDEN, NULL, 1, {0}},
    {"gpus", MSIM_GIVEN_gpus, NULL, 0, {0}}};

#define N(table) ((uint32_t)(sizeof(table) / sizeof(*(table))))
_Static_assert(N(DESCRIBED) == MSIM_SPEC_DIMENSIONS,
               "a spec has room for all of them");

uint32_t msim_spec_dimension_count(bool traced)
{
    return traced ? N(TRACED) : N(DESCRIBED);
}

const struct msim_spec_dimension *msim_spec_dimension_at(bool traced,
                                                         uint32_t d)
{
    return d >= msim_spec_dimension_count(traced) ? NULL
           : traced                               ? &TRACED[d]
                                                  : &DESCRIBED[d];
}

/* A number that no strategy has. */
static bool is_own_number(const struct msim_spec_dimension *d)
{
    return d->place >= MSIM_GIVEN_COUNT && !d->words;
}

void msim_spec_value_text(const struct msim_spec_dimension *d, int64_t v,
                          char *text, size_t size)
{
    if (d->words)
        snprintf(text, size, "%s", d->words[v]);
    else if (is_own_number(d))
        snprintf(text, size, "%.0lld", (long long)v); /* "" for 0 */
    else
        msim_strategy_value_text((enum msim_given)d->place, v, text, size);
}

static bool may_be_null(const struct msim_spec_dimension *d)
{
    return (d->place > MSIM_GIVEN_offload && d->place < MSIM_GIVEN_COUNT) ||
           d->place >= MSIM_SPEC_BITS || d->place == MSIM_GIVEN_nodes ||
           d->place == MSIM_GIVEN_etp;
}

/* The index of a word; -1: it is none. What is "" is not offered. */
static int64_t read_word(const struct msim_spec_dimension *d, const cJSON *item,
                         char *want, size_t size)
{
    const char *text = cJSON_IsBool(item) ? cJSON_IsTrue(item) ? "yes" : "no"
                                          : cJSON_GetStringValue(item);
    char number[32];
    size_t used = (size_t)snprintf(want, size, "one of");

    if (cJSON_IsNumber(item)) {
        snprintf(number, sizeof(number), "%.15g", item->valuedouble);
        text = number;
    }
    for (int64_t i = 0; d->words[i]; i++) {
        if (text && *text && strcmp(d->words[i], text) == 0)
            return i;
        if (*d->words[i] && used < size)
            used +=
                (size_t)snprintf(want + used, size - used, " %s", d->words[i]);
    }
    return -1;
}

#define NUMBER_MOST 1000000000

static const char *read_number(const cJSON *item, int64_t *out, char *want,
                               size_t size)
{
    double v = cJSON_IsNumber(item) ? item->valuedouble : 0;

    if (v >= 1 && v <= NUMBER_MOST && v == (double)(int64_t)v) {
        *out = (int64_t)v;
        return NULL;
    }
    snprintf(want, size, "a whole number from 1 to 1,000,000,000");
    return want;
}

/* One value; NULL, or what is wanted, in `want`. */
static const char *read_value(const struct msim_spec_dimension *d,
                              const cJSON *item, int64_t *out, char *want,
                              size_t size)
{
    struct msim_strategy s = {0};
    uint64_t given = 0;
    const char *wrong;
    size_t used;

    *out = 0;
    if (cJSON_IsNull(item) && may_be_null(d))
        return NULL;
    if (d->words) {
        *out = read_word(d, item, want, size);
        wrong = *out < 0 ? want : NULL;
    } else if (is_own_number(d)) {
        wrong = read_number(item, out, want, size);
    } else {
        wrong = msim_strategy_read_item(&s, &given, (enum msim_given)d->place,
                                        item, want, size);
        *out = msim_strategy_value(&s, (enum msim_given)d->place);
    }
    if (!wrong)
        return NULL;
    used = strlen(wrong);
    memmove(want, wrong, used + 1);
    snprintf(want + used, size - used, "%s, or an array of them",
             may_be_null(d) ? ", null (not stated)" : "");
    return want;
}

static bool is_there(const int64_t *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (values[i] == values[n])
            return true;
    return false;
}

static void read_array(struct msim_spec_values *values,
                       const struct msim_spec_dimension *d,
                       struct msim_fields *f, const cJSON *array)
{
    char want[320];
    const char *wrong;
    const cJSON *item;

    cJSON_ArrayForEach(item, array)
    {
        uint32_t n = values->n;

        if (n == MSIM_SPEC_VALUES) {
            msim_field_refuse(f, d->name, "at most 24 values");
            return;
        }
        wrong = read_value(d, item, &values->v[n], want, sizeof(want));
        if (!wrong && is_there(values->v, n))
            wrong = "every value once";
        if (wrong) {
            msim_field_refuse_item(f, d->name, n, wrong);
            return;
        }
        values->n = n + 1;
    }
    if (values->n == 0)
        msim_field_refuse(f, d->name, "a value, or an array of values");
}

/* A value or an array of values. */
static void read_dimension(struct msim_spec_values *values,
                           const struct msim_spec_dimension *d,
                           struct msim_fields *f)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(f->object, d->name);
    const char *wrong;
    char want[320];

    values->n = 0;
    if (cJSON_IsArray(item)) {
        read_array(values, d, f, item);
    } else if (item || d->n_usual == 0) {
        wrong = read_value(d, item, &values->v[0], want, sizeof(want));
        values->n = 1;
        if (wrong)
            msim_field_refuse(f, d->name, wrong);
    } else {
        values->n = d->n_usual;
        memcpy(values->v, d->usual, sizeof(d->usual));
    }
}

void msim_spec_dimensions_read(struct msim_spec_values *values, bool traced,
                               struct msim_fields *f)
{
    for (uint32_t d = 0; d < msim_spec_dimension_count(traced); d++)
        read_dimension(&values[d], msim_spec_dimension_at(traced, d), f);
}
