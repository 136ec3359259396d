/*
 * predict/learn/learn_write.c - what was learned, as a platform file.
 */
#include "predict/learn/learn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double rounded(double v)
{
    return round(v * 1e4) / 1e4;
}

static cJSON *pair_of(const struct msim_level *x)
{
    const double pair[] = {rounded(exp(x->start)), rounded(exp(x->rate))};

    return cJSON_CreateDoubleArray(pair, 2);
}

static void add_traces(cJSON *to, const struct msim_learned *l)
{
    cJSON *list = cJSON_AddArrayToObject(to, "traces");

    for (uint32_t i = 0; i < l->n_traces; i++) {
        const struct msim_learned_trace *t = &l->traces[i];
        const char *slash = strrchr(t->path, '/');
        cJSON *o = cJSON_CreateObject();

        cJSON_AddStringToObject(o, "file", slash ? slash + 1 : t->path);
        cJSON_AddStringToObject(o, "gpu", t->gpu);
        cJSON_AddNumberToObject(o, "kernels", t->observations);
        cJSON_AddNumberToObject(o, "us", rounded(t->us));
        if (t->observations > 0) {
            cJSON_AddNumberToObject(o, "error_base",
                                    rounded(t->base_us / t->us - 1));
            cJSON_AddNumberToObject(o, "error_fitted",
                                    rounded(t->fitted_us / t->us - 1));
            cJSON_AddNumberToObject(o, "error_held_out",
                                    rounded(t->held_out_us / t->us - 1));
        }
        cJSON_AddItemToArray(list, o);
    }
}

static void add_families(cJSON *to, const struct msim_learned *l)
{
    cJSON *o = cJSON_AddObjectToObject(to, "families");
    const struct msim_level *all = &l->levels.all;

    for (int f = 0; f < MSIM_FAMILY_COUNT; f++) {
        const struct msim_level *x = &l->levels.families[f];

        if (fabs(x->start - all->start) > 0 || fabs(x->rate - all->rate) > 0)
            cJSON_AddItemToObject(o, msim_family_text((enum msim_family)f),
                                  pair_of(x));
    }
}

/* The factors `x`, and how many observations each has. */
static void add_seen(cJSON *to, const char *member,
                     const struct msim_learned *l, const struct msim_level *x,
                     const double *seen)
{
    cJSON *o = cJSON_AddObjectToObject(to, member);

    for (uint32_t i = 0; i < l->levels.n_names; i++) {
        cJSON *pair;

        if (!(seen[i] > 0))
            continue;
        pair = pair_of(&x[i]);
        cJSON_AddItemToArray(pair, cJSON_CreateNumber(seen[i]));
        cJSON_AddItemToObject(o, msim_strtab_text(l->kinds, i), pair);
    }
}

static cJSON *evidence_of(const struct msim_learned *l)
{
    cJSON *e = cJSON_CreateObject();

    cJSON_AddStringToObject(
        e, "how",
        "measured kernels over the models of the base: factors of start and of "
        "rate by least squares of logarithms, kinds of work drawn to their "
        "kin, these to their family and families to all (mystique-sim "
        "calibrate --from)");
    cJSON_AddStringToObject(e, "held_out",
                            l->by_shapes ? "a fifth of the shapes at a time"
                                         : "one trace after the other");
    cJSON_AddNumberToObject(e, "error_base", rounded(l->error_base));
    cJSON_AddNumberToObject(e, "error_fitted", rounded(l->error_fitted));
    cJSON_AddNumberToObject(e, "error_held_out", rounded(l->error_held_out));
    add_traces(e, l);
    cJSON_AddNumberToObject(e, "clock", l->clock);
    cJSON_AddItemToObject(e, "all", pair_of(&l->levels.all));
    add_families(e, l);
    add_seen(e, "kin", l, l->levels.kin, l->levels.kin_seen);
    add_seen(e, "kinds", l, l->levels.names, l->levels.seen);
    return e;
}

static void set_text(cJSON *json, const char *key, const char *text)
{
    cJSON_DeleteItemFromObjectCaseSensitive(json, key);
    cJSON_AddStringToObject(json, key, text);
}

enum msim_status msim_learned_json(cJSON **out, const struct msim_learned *l,
                                   const char *name, struct msim_error *err)
{
    char title[160];

    MSIM_TRY(msim_json_read(out, l->base_file, err));
    if (!cJSON_GetObjectItemCaseSensitive(*out, "base")) {
        snprintf(title, sizeof(title), "%.90s, as traced",
                 msim_json_get_text(*out, "title"));
        set_text(*out, "title", title);
        set_text(*out, "base", l->base);
    }
    set_text(*out, "name", name);
    cJSON_DeleteItemFromObjectCaseSensitive(*out, "aliases");
    cJSON_DeleteItemFromObjectCaseSensitive(*out, "devices");
    cJSON_DeleteItemFromObjectCaseSensitive(*out, "evidence");
    cJSON_AddItemToObject(*out, "evidence", evidence_of(l));
    return MSIM_OK;
}
