/*
 * calibrate/machine/machine_network.c - a platform's collectives as a network
 * file.
 */
#include "calibrate/machine/machine.h"

#include <stdbool.h>
#include <string.h>

#define LAW "collective"

/* Those members of an array whose law is of collectives. */
static cJSON *of_collectives(const cJSON *list)
{
    cJSON *out = cJSON_CreateArray();
    const cJSON *item;

    cJSON_ArrayForEach(item, list)
    {
        const char *law = msim_json_get_text(item, "law");

        /* scores of the ways to hold rows out have longer names */
        if (law && strncmp(law, LAW, strlen(LAW)) == 0)
            cJSON_AddItemToArray(out, cJSON_Duplicate(item, true));
    }
    return out;
}

static void copy_members(cJSON *to, const cJSON *platform)
{
    static const char *const KEYS[] = {"name",       "kind",      "title",
                                       "generation", "stand_ins", "data_sheet",
                                       "provenance"};

    for (size_t i = 0; i < sizeof(KEYS) / sizeof(*KEYS); i++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(platform, KEYS[i]);

        if (item)
            cJSON_AddItemToObject(to, KEYS[i], cJSON_Duplicate(item, true));
    }
}

enum msim_status msim_cal_network(cJSON **out, const cJSON *platform)
{
    cJSON *fits =
        of_collectives(cJSON_GetObjectItemCaseSensitive(platform, "cells"));
    bool none = cJSON_GetArraySize(fits) == 0;
    cJSON *network = fits && !none ? cJSON_CreateObject() : NULL;

    *out = network;
    if (!network) {
        cJSON_Delete(fits);
        return none ? MSIM_OK : MSIM_ENOMEM;
    }
    cJSON_AddStringToObject(network, "schema", "mystique-sim/network/1");
    copy_members(network, platform);
    cJSON_AddStringToObject(
        network, "note",
        "Collectives between ranks of one machine. What joins several is not "
        "in "
        "it: groups that span nodes keep the platform's own network.");
    cJSON_AddItemToObject(network, "cells", fits);
    cJSON_AddItemToObject(network, "validation",
                          of_collectives(cJSON_GetObjectItemCaseSensitive(
                              platform, "validation")));
    return MSIM_OK;
}
