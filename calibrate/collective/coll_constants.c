/*
 * calibrate/collective/coll_constants.c - reading and writing the constants of
 * collectives.
 */
#include "calibrate/collective/coll_fit.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *const FABRICS[MSIM_COLL_FABRICS] = {
    [MSIM_COLL_SWITCHED] = "switched",
    [MSIM_COLL_PCIE] = "pcie",
    [MSIM_COLL_NETWORK] = "network",
};

static const char *const REGIMES[MSIM_COLL_REGIMES] = {
    [MSIM_COLL_START] = "start",
    [MSIM_COLL_WIRE] = "wire",
    [MSIM_COLL_BETWEEN] = "between",
    [MSIM_COLL_HOST] = "host",
};

static const char *const SHAPES[MSIM_COLL_SHAPES] = {
    [MSIM_COLL_SMOOTH] = "smooth",
    [MSIM_COLL_ROUGH] = "rough",
    [MSIM_COLL_TREND] = "trend",
};

/* A number of a file, where it goes, and the largest that it may be. */
struct field {
    const char *key;
    size_t offset;
    double most;
};

#define OF_COMPONENT(name, most)                                               \
    {                                                                          \
#name, offsetof(struct msim_coll_component, name), most                \
    }
static const struct field COMPONENT[] = {
    OF_COMPONENT(log_sd, INFINITY), OF_COMPONENT(size, INFINITY),
    OF_COMPONENT(ranks, INFINITY),  OF_COMPONENT(nodes, INFINITY),
    OF_COMPONENT(gpu, 1),           OF_COMPONENT(generation, 1),
    OF_COMPONENT(source, 1),        OF_COMPONENT(stack, 1),
    OF_COMPONENT(mode, 1),          OF_COMPONENT(collective, 1),
};

#define OF_WEIGHTS(name)                                                       \
    {                                                                          \
#name, offsetof(struct msim_coll_weights, name), INFINITY              \
    }
static const struct field WEIGHTS[] = {
    OF_WEIGHTS(octaves),      OF_WEIGHTS(log_sd_ratio),
    OF_WEIGHTS(own_gpu),      OF_WEIGHTS(own_group),
    OF_WEIGHTS(same_ranks),   OF_WEIGHTS(same_collective),
    OF_WEIGHTS(prior),        OF_WEIGHTS(next),
    OF_WEIGHTS(change_share),
};

#define N_OF(list) (sizeof(list) / sizeof(*(list)))

const char *msim_coll_fabric_text(enum msim_coll_fabric f)
{
    return FABRICS[f];
}

/* ---- reading ------------------------------------------------------------- */

struct reader {
    const char *file;
    struct msim_error *err;
};

static enum msim_status fail(const struct reader *r, const char *key,
                             const char *want)
{
    return msim_fail(r->err, MSIM_EFORMAT, r->file, MSIM_OFFSET_NONE,
                     "'%s' is missing or wrong, want %s", key, want);
}

static enum msim_status read_number(const struct reader *r, const cJSON *from,
                                    const char *key, double most, double *out)
{
    *out = msim_json_get_number(from, key, NAN);
    return *out > 0 && *out <= most
               ? MSIM_OK
               : fail(r, key,
                      most < INFINITY ? "a number above 0, at most 1"
                                      : "a number above 0");
}

static enum msim_status read_fields(const struct reader *r, const cJSON *from,
                                    const struct field *list, size_t n,
                                    void *out)
{
    for (size_t i = 0; i < n; i++) {
        double *to = (double *)((char *)out + list[i].offset);

        MSIM_TRY(read_number(r, from, list[i].key, list[i].most, to));
    }
    return MSIM_OK;
}

/* The index of the word at `key` in a list of `n`. */
static enum msim_status read_word(const struct reader *r, const cJSON *from,
                                  const char *key, const char *const *words,
                                  int n, int *out)
{
    const char *text = msim_json_get_text(from, key);

    for (*out = 0; text && *out < n; (*out)++)
        if (strcmp(text, words[*out]) == 0)
            return MSIM_OK;
    return fail(r, key, "a known word");
}

static enum msim_status read_component(const struct reader *r,
                                       const cJSON *from,
                                       struct msim_coll_component *c)
{
    int regime, shape;

    MSIM_TRY(read_word(r, from, "regime", REGIMES, MSIM_COLL_REGIMES, &regime));
    MSIM_TRY(read_word(r, from, "shape", SHAPES, MSIM_COLL_SHAPES, &shape));
    c->regime = (enum msim_coll_regime)regime;
    c->shape = (enum msim_coll_shape)shape;
    return read_fields(r, from, COMPONENT, N_OF(COMPONENT), c);
}

static enum msim_status read_process(const struct reader *r, const cJSON *from,
                                     struct msim_coll_process *p)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(from, "components");
    const cJSON *one;

    MSIM_TRY(read_number(r, from, "noise", INFINITY, &p->noise));
    cJSON_ArrayForEach(one, list)
    {
        if (p->n_components == MSIM_COLL_COMPONENTS)
            return fail(r, "components", "8 at most");
        MSIM_TRY(read_component(r, one, &p->components[p->n_components++]));
    }
    return p->n_components ? MSIM_OK : fail(r, "components", "one at least");
}

static const cJSON *fabric_of(const cJSON *tree, enum msim_coll_fabric f)
{
    const cJSON *covariance =
        cJSON_GetObjectItemCaseSensitive(tree, "covariance");

    return cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(covariance, "fabrics"), FABRICS[f]);
}

static enum msim_status read_all(const struct reader *r, const cJSON *tree,
                                 struct msim_coll_constants *out)
{
    for (int f = 0; f < MSIM_COLL_FABRICS; f++) {
        const cJSON *from = fabric_of(tree, (enum msim_coll_fabric)f);

        if (!from)
            return fail(r, FABRICS[f], "the constants of that fabric");
        MSIM_TRY(read_process(r, from, &out->fabrics[f]));
    }
    return read_fields(
        r,
        cJSON_GetObjectItemCaseSensitive(
            cJSON_GetObjectItemCaseSensitive(tree, "intervals"), "weights"),
        WEIGHTS, N_OF(WEIGHTS), &out->weights);
}

enum msim_status msim_coll_constants_read(struct msim_coll_constants *out,
                                          const char *file,
                                          struct msim_error *err)
{
    cJSON *tree;
    enum msim_status status;

    memset(out, 0, sizeof(*out));
    MSIM_TRY(msim_json_read(&tree, file, err));
    status = read_all(&(struct reader){file, err}, tree, out);
    cJSON_Delete(tree);
    return status;
}

/* ---- writing ------------------------------------------------------------- */

static cJSON *component_json(const struct msim_coll_component *c)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "regime", REGIMES[c->regime]);
    cJSON_AddStringToObject(o, "shape", SHAPES[c->shape]);
    for (size_t i = 0; i < N_OF(COMPONENT); i++)
        cJSON_AddNumberToObject(
            o, COMPONENT[i].key,
            *(const double *)((const char *)c + COMPONENT[i].offset));
    return o;
}

enum msim_status msim_coll_constants_put(cJSON *tree, enum msim_coll_fabric f,
                                         const struct msim_coll_process *p,
                                         uint32_t points, double log_likelihood,
                                         const char *date)
{
    cJSON *fabrics = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(tree, "covariance"), "fabrics");
    cJSON *o = cJSON_CreateObject(), *list;

    if (!o)
        return MSIM_ENOMEM;
    cJSON_AddStringToObject(o, "date", date);
    cJSON_AddNumberToObject(o, "points", points);
    cJSON_AddNumberToObject(o, "log_likelihood", log_likelihood);
    cJSON_AddNumberToObject(o, "noise", p->noise);
    list = cJSON_AddArrayToObject(o, "components");
    for (uint32_t i = 0; i < p->n_components; i++)
        cJSON_AddItemToArray(list, component_json(&p->components[i]));
    if (list && cJSON_ReplaceItemInObjectCaseSensitive(fabrics, FABRICS[f], o))
        return MSIM_OK;
    cJSON_Delete(o);
    return MSIM_EINTERNAL;
}
