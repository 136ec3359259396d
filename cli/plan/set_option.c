/*
 * cli/plan/set_option.c - a member of a spec from the command line.
 */
#include "cli/plan/option_values.h"

#include <stdio.h>
#include <string.h>

#define NAME 64

static enum msim_status refuse(const char *text, struct msim_error *err)
{
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--set' is '%s', want a member of the spec and "
                     "its value, as 'gpus=512', 'platforms=h100,b200' or "
                     "'limits.days=30'",
                     text);
}

/* One value is itself; several are an array. */
static cJSON *value_of(const char *text)
{
    cJSON *list = msim_option_values(text), *one;

    if (cJSON_GetArraySize(list) != 1)
        return list;
    one = cJSON_DetachItemFromArray(list, 0);
    cJSON_Delete(list);
    return one;
}

/* The name before `end`; false: it is none. */
static bool take_name(char name[NAME], const char *from, const char *end)
{
    if (end == from || end - from >= NAME)
        return false;
    snprintf(name, NAME, "%.*s", (int)(end - from), from);
    return true;
}

static enum msim_status put(cJSON *in, const char *name, cJSON *value)
{
    bool ok;

    if (!value)
        return MSIM_ENOMEM;
    ok = cJSON_GetObjectItemCaseSensitive(in, name)
             ? cJSON_ReplaceItemInObjectCaseSensitive(in, name, value)
             : cJSON_AddItemToObject(in, name, value);
    return ok ? MSIM_OK : MSIM_ENOMEM;
}

enum msim_status msim_set_option(cJSON *spec, const char *text,
                                 struct msim_error *err)
{
    const char *equals = strchr(text, '='), *from = text, *dot;
    char name[NAME];

    if (!equals || !equals[1])
        return refuse(text, err);
    while ((dot = memchr(from, '.', (size_t)(equals - from)))) {
        cJSON *in;

        if (!take_name(name, from, dot))
            return refuse(text, err);
        in = cJSON_GetObjectItemCaseSensitive(spec, name);
        if (!in)
            in = cJSON_AddObjectToObject(spec, name);
        if (!in)
            return MSIM_ENOMEM;
        if (!cJSON_IsObject(in))
            return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "option '--set' is '%s', but '%s' is no object",
                             text, name);
        spec = in;
        from = dot + 1;
    }
    if (!take_name(name, from, equals))
        return refuse(text, err);
    return put(spec, name, value_of(equals + 1));
}
