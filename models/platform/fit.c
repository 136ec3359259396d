/*
 * models/platform/fit.c - reading fits.
 */
#include "models/platform/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum msim_status bad(const struct msim_fit *c, const char *file,
                            const char *what, struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                     "fit '%s' of '%s': %s", c->key, c->framework, what);
}

static bool read_texts(struct msim_fit *c, const cJSON *json)
{
    const char *framework = msim_json_get_text(json, "framework");
    const char *key = msim_json_get_text(json, "key");
    const char *table = msim_json_get_text(json, "table_gpu");

    if (!framework || !key || !table)
        return false;
    snprintf(c->framework, sizeof(c->framework), "%s", framework);
    snprintf(c->key, sizeof(c->key), "%s", key);
    snprintf(c->table, sizeof(c->table), "%s", table);
    return true;
}

static bool read_params(struct msim_fit *c, const cJSON *json)
{
    const cJSON *o = cJSON_GetObjectItemCaseSensitive(json, "constants");

    for (uint32_t i = 0; i < c->law->n_params; i++) {
        c->params[i] = msim_json_get_number(o, c->law->params[i].name, -1);
        if (!(c->params[i] > 0))
            return false;
    }
    c->gap.least_us = msim_json_get_number(o, "launch_gap", 0);
    c->gap.added_us = msim_json_get_number(o, "launch_added", 0);
    return c->gap.least_us >= 0 && c->gap.added_us >= 0;
}

/* "range": {feature: [low, high]}; features without a range are not bounded. */
static void read_range(struct msim_fit *c, const cJSON *json)
{
    const cJSON *o = cJSON_GetObjectItemCaseSensitive(json, "range");

    for (uint32_t i = 0; i < c->law->n_sizes; i++) {
        const cJSON *r =
            cJSON_GetObjectItemCaseSensitive(o, c->law->features[i]);
        const cJSON *low = cJSON_GetArrayItem(r, 0);
        const cJSON *high = cJSON_GetArrayItem(r, 1);

        c->range_low[i] = cJSON_IsNumber(low) ? low->valuedouble : -INFINITY;
        c->range_high[i] = cJSON_IsNumber(high) ? high->valuedouble : INFINITY;
    }
}

static bool read_bins(struct msim_fit *c, const cJSON *json)
{
    const cJSON *o = cJSON_GetObjectItemCaseSensitive(json, "interval");
    const cJSON *bin;

    cJSON_ArrayForEach(bin, o)
    {
        struct msim_fit_bin *b = &c->bins[c->n_bins];

        if (c->n_bins == MSIM_FIT_BINS)
            return false;
        b->upto_us = msim_json_get_number(bin, "upto_us", INFINITY);
        b->low = msim_json_get_number(bin, "low", NAN);
        b->high = msim_json_get_number(bin, "high", NAN);
        if (!(b->low <= b->high))
            return false;
        c->n_bins++;
    }
    return true;
}

/* The correction: trees, or kriging, or none. */
static enum msim_status read_learned(struct msim_fit *c, const cJSON *json,
                                     enum msim_fit_trees trees,
                                     const char *file, struct msim_error *err)
{
    const cJSON *forest = cJSON_GetObjectItemCaseSensitive(json, "forest");
    const cJSON *kriging = cJSON_GetObjectItemCaseSensitive(json, "nearby");
    enum msim_status status = MSIM_OK;

    if (forest && trees == MSIM_TREES_READ)
        status = msim_forest_read(&c->forest, forest, c->law->n_features);
    else if (forest && trees == MSIM_TREES_LATER)
        status = msim_forest_read_later(&c->forest, forest, c->law->n_features);
    if (status == MSIM_EFORMAT)
        return bad(c, file, "'forest' does not hold whole trees", err);
    if (status == MSIM_OK && kriging)
        status = msim_kriging_read(&c->kriging, kriging, c->law);
    if (status == MSIM_EFORMAT)
        return bad(c, file,
                   "'nearby' wants a 'reach' above 0 for features of the law, "
                   "and 'rows' of a number for each feature and weight",
                   err);
    return status;
}

enum msim_status msim_fit_read(struct msim_fit *c, const cJSON *json,
                               enum msim_fit_trees trees, const char *file,
                               struct msim_error *err)
{
    const char *law = msim_json_get_text(json, "law");
    enum msim_status status;

    memset(c, 0, sizeof(*c));
    c->law = law ? msim_law_find(law) : NULL;
    if (!c->law)
        return bad(c, file, "'law' is no law of this program", err);
    if (!read_texts(c, json))
        return bad(c, file, "'framework', 'key' or 'table_gpu' is missing",
                   err);
    if (!read_params(c, json))
        return bad(c, file, "'constants' are missing or not above 0", err);
    read_range(c, json);
    if (!read_bins(c, json))
        return bad(c, file, "'interval' wants bins with low <= high", err);
    c->rows = (uint32_t)msim_json_get_number(json, "rows", 0);
    c->models = (uint32_t)msim_json_get_number(json, "models", 0);
    c->error = msim_json_get_number(json, "error_fitted", 0);
    c->heldout = msim_json_get_number(json, "error_held_back", 0);
    status = msim_curves_read(&c->curves, json);
    if (status == MSIM_EFORMAT)
        return bad(c, file,
                   "'curves' want a collective, ranks, and as many bytes "
                   "(rising) as us and spread, all above 0; 'variants' and "
                   "'logs' a version and factors above 0",
                   err);
    if (status == MSIM_OK)
        status = read_learned(c, json, trees, file, err);
    if (status != MSIM_OK)
        msim_fit_release(c);
    return status;
}

void msim_fit_release(struct msim_fit *c)
{
    msim_forest_release(&c->forest);
    msim_kriging_release(&c->kriging);
    msim_curves_release(&c->curves);
}
