/* cli/plan/option_values.c - values of an option, as a list of JSON. */
#include "cli/plan/option_values.h"

#include <stdio.h>
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

cJSON *msim_option_values(const char *text)
{
    cJSON *list = as_json(text);

    return list ? list : as_words(text);
}
