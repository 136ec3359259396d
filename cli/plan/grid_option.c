/*
 * cli/plan/grid_option.c - an axis of a grid of scenarios from the command
 * line.
 */
#include "cli/plan/grid_option.h"

#include <stdlib.h>
#include <string.h>

/* "8,16" as [8, 16]; NULL where that is no JSON. */
static cJSON *as_json(const char *values)
{
    size_t n = strlen(values) + 3;
    char *text = malloc(n);
    cJSON *list = NULL;

    if (text) {
        snprintf(text, n, "[%s]", values);
        list = cJSON_ParseWithOpts(text, NULL, true);
    }
    free(text);
    return list;
}

/* Blanks around a word are none of it: "a100, h100". */
static bool add_word(cJSON *list, const char *word, size_t n)
{
    char *text;
    cJSON *item;

    for (; n > 0 && *word == ' '; n--)
        word++;
    while (n > 0 && word[n - 1] == ' ')
        n--;
    text = strndup(word, n);
    item = text ? cJSON_CreateString(text) : NULL;
    free(text);
    return cJSON_AddItemToArray(list, item);
}

static cJSON *as_words(const char *values)
{
    cJSON *list = cJSON_CreateArray();
    bool ok = list != NULL;

    for (const char *end; ok && values; values = end ? end + 1 : NULL) {
        end = strchr(values, ',');
        ok = add_word(list, values,
                      end ? (size_t)(end - values) : strlen(values));
    }
    if (ok)
        return list;
    cJSON_Delete(list);
    return NULL;
}

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
    list = as_json(equals + 1);
    if (!list)
        list = as_words(equals + 1);
    return cJSON_AddItemToObject(axes, name, list) ? MSIM_OK : MSIM_ENOMEM;
}
