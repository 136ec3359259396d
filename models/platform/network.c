/*
 * models/platform/network.c - reading files of data/networks.
 */
#include "models/platform/platform.h"

#include "core/base/json.h"

#include <math.h>
#include <stdio.h>

static enum msim_status read_network(struct msim_network *n, const cJSON *json,
                                     const char *path, struct msim_error *err)
{
    const struct {
        const char *key;
        double *to;
        double most; /* beyond it the unit is wrong */
    } fields[] = {
        {"card_rate", &n->card_rate, 1e14},
        {"cards_per_node", &n->cards_per_node, 1e4},
        {"gpus_per_node", &n->gpus_per_node, 1e5},
        {"latency_us", &n->latency_us, 1e6},
    };
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(json, "parameters");
    const char *name = msim_json_get_text(json, "name");
    const char *title = msim_json_get_text(json, "title");

    if (!name)
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "'name' is missing or wrong, want a text");
    snprintf(n->name, sizeof(n->name), "%s", name);
    snprintf(n->title, sizeof(n->title), "%s", title ? title : name);
    snprintf(n->path, sizeof(n->path), "%s", path);
    n->measured = cJSON_HasObjectItem(json, "cells");
    if (n->measured && !all)
        return MSIM_OK;
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        *fields[i].to = msim_json_get_number(all, fields[i].key, 0);
        if (!(*fields[i].to > 0) || !(*fields[i].to <= fields[i].most))
            return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "'%s' is missing or wrong, want a number above 0, "
                             "at most %g",
                             fields[i].key, fields[i].most);
    }
    return MSIM_OK;
}

enum msim_status msim_network_load(struct msim_network *out,
                                   const char *data_dir, const char *name,
                                   struct msim_error *err)
{
    char path[1400];
    cJSON *json;
    enum msim_status status;

    *out = (struct msim_network){0};
    MSIM_TRY(
        msim_data_path(path, sizeof(path), data_dir, "network", name, err));
    MSIM_TRY(msim_json_read_our(&json, path, "network", err));
    status = read_network(out, json, path, err);
    cJSON_Delete(json);
    return status;
}
