/*
 * cli/plan/grid_option.c - an axis of a grid of scenarios from the command
 * line.
 */
#include "cli/plan/option_values.h"

#include <string.h>

static cJSON *axes_of(cJSON **file)
{
    cJSON *axes;

    if (!*file)
        *file = cJSON_CreateObject();
    axes = cJSON_GetObjectItemCaseSensitive(*file, "grid");
    return axes ? axes : cJSON_AddObjectToObject(*file, "grid");
}

enum msim_status msim_grid_option(cJSON **file, const char *text,
                                  struct msim_error *err)
{
    const char *equals = strchr(text, '=');
    cJSON *axes = axes_of(file), *list;
    char name[64];

    if (!axes)
        return MSIM_ENOMEM;
    if (!equals || equals == text || !equals[1] ||
        (size_t)(equals - text) >= sizeof(name))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--grid' is '%s', want a change and its "
                         "values, as 'gpu=a100,h100' or 'batch=8,16,32'",
                         text);
    snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
    if (cJSON_GetObjectItemCaseSensitive(axes, name))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--grid' names '%s' twice, want all of its "
                         "values at once",
                         name);
    list = msim_option_values(equals + 1);
    return cJSON_AddItemToObject(axes, name, list) ? MSIM_OK : MSIM_ENOMEM;
}
