/*
 * core/json/fields.c - members of a JSON object, with errors by path.
 */
#include "core/json/fields.h"

#include "core/base/texts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1e15 /* exact in a double; named where it is what is wrong */

struct msim_fields msim_fields_of(const cJSON *object, const char *file,
                                  struct msim_error *err)
{
    return (struct msim_fields){.object = object, .file = file, .err = err};
}

const cJSON *msim_field_json(const struct msim_fields *f, const char *key)
{
    const cJSON *item =
        f->object ? cJSON_GetObjectItemCaseSensitive(f->object, key) : NULL;

    return cJSON_IsNull(item) ? NULL : item;
}

static void fail(struct msim_fields *f, const char *text)
{
    if (f->status == MSIM_OK)
        f->status = msim_fail(f->err, MSIM_EFORMAT, f->file, MSIM_OFFSET_NONE,
                              "%s", text);
}

static void refuse(struct msim_fields *f, const char *name, const cJSON *item,
                   const char *want)
{
    /* 1e400 reads as infinite, which JSON writes as null. */
    bool beyond = cJSON_IsNumber(item) && isinf(item->valuedouble);
    char *found = item && !beyond ? cJSON_PrintUnformatted(item) : NULL;
    char text[512];

    snprintf(text, sizeof(text), "%s%s is %.60s, want %s", f->path, name,
             found    ? found
             : beyond ? "a number beyond 1.8e308"
                      : "missing",
             want);
    free(found);
    fail(f, text);
}

void msim_field_refuse(struct msim_fields *f, const char *key, const char *want)
{
    refuse(f, key, msim_field_json(f, key), want);
}

void msim_field_refuse_item(struct msim_fields *f, const char *key,
                            uint32_t index, const char *want)
{
    const cJSON *item = cJSON_GetArrayItem(msim_field_json(f, key), (int)index);
    char name[128];

    snprintf(name, sizeof(name), "%.100s[%u]", key, index);
    refuse(f, name, item, want);
}

struct msim_fields msim_fields_open(struct msim_fields *f, const char *key)
{
    const cJSON *item = msim_field_json(f, key);
    struct msim_fields inner =
        msim_fields_of(cJSON_IsObject(item) ? item : NULL, f->file, f->err);

    (void)snprintf(inner.path, sizeof(inner.path), "%.60s%.60s.", f->path, key);
    if (item && !inner.object)
        msim_field_refuse(f, key, "an object");
    inner.status = f->status;
    return inner;
}

struct msim_fields msim_fields_open_item(struct msim_fields *f, const char *key,
                                         uint32_t index, const cJSON *item)
{
    struct msim_fields inner =
        msim_fields_of(cJSON_IsObject(item) ? item : NULL, f->file, f->err);

    (void)snprintf(inner.path, sizeof(inner.path), "%.60s%.40s[%u].", f->path,
                   key, index);
    if (!inner.object)
        msim_field_refuse_item(f, key, index, "an object");
    inner.status = f->status;
    return inner;
}

void msim_fields_close(struct msim_fields *f, const struct msim_fields *inner)
{
    if (f->status == MSIM_OK)
        f->status = inner->status;
}

int64_t msim_field_int(struct msim_fields *f, const char *key, int64_t least,
                       int64_t missing)
{
    const cJSON *item = msim_field_json(f, key);
    char want[64];
    double v = cJSON_IsNumber(item) ? item->valuedouble : NAN;

    if (!item && missing != MSIM_FIELD_WANTED)
        return missing;
    if (v == floor(v) && v >= (double)least && v <= MOST)
        return (int64_t)v;
    snprintf(want, sizeof(want), "a whole number from %lld%s", (long long)least,
             v > MOST ? " to 1e15" : "");
    msim_field_refuse(f, key, want);
    return least;
}

/* Is a number that may be left out not there? */
static bool is_left_out(const cJSON *item, double missing)
{
    return !item && missing != (double)MSIM_FIELD_WANTED;
}

double msim_field_real(struct msim_fields *f, const char *key, double missing)
{
    const cJSON *item = msim_field_json(f, key);

    if (is_left_out(item, missing))
        return missing;
    if (cJSON_IsNumber(item) && item->valuedouble > 0 &&
        isfinite(item->valuedouble))
        return item->valuedouble;
    msim_field_refuse(f, key, "a number above 0");
    return 1;
}

double msim_field_between(struct msim_fields *f, const char *key, double least,
                          double most, double missing)
{
    const cJSON *item = msim_field_json(f, key);
    double v = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    char want[96];

    if (is_left_out(item, missing))
        return missing;
    if (v >= least && v <= most && isfinite(v))
        return v;
    if (isfinite(most))
        snprintf(want, sizeof(want), "a number from %.10g to %.10g", least,
                 most);
    else
        snprintf(want, sizeof(want), "a number from %.10g", least);
    msim_field_refuse(f, key, want);
    return least;
}

bool msim_field_bool(struct msim_fields *f, const char *key, bool missing)
{
    const cJSON *item = msim_field_json(f, key);

    if (!item)
        return missing;
    if (!cJSON_IsBool(item))
        msim_field_refuse(f, key, "true or false");
    return cJSON_IsTrue(item);
}

const cJSON *msim_field_array(struct msim_fields *f, const char *key)
{
    const cJSON *item = msim_field_json(f, key);

    if (item && !cJSON_IsArray(item))
        msim_field_refuse(f, key, "an array");
    return cJSON_IsArray(item) ? item : NULL;
}

const char *msim_field_text(struct msim_fields *f, const char *key)
{
    const cJSON *item = msim_field_json(f, key);

    if (item && !cJSON_IsString(item))
        msim_field_refuse(f, key, "a text");
    return cJSON_GetStringValue(item);
}

/* "a, b or c" */
static void list_words(char *text, size_t size, const char *const *words)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; words[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0         ? ""
                                 : words[i + 1] ? ", "
                                                : " or ",
                                 words[i]);
}

int msim_field_word(struct msim_fields *f, const char *key,
                    const char *const *words, int missing)
{
    const cJSON *item = msim_field_json(f, key);
    const char *text = cJSON_GetStringValue(item);
    char want[256];

    if (!item)
        return missing;
    for (int i = 0; text && words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    list_words(want, sizeof(want), words);
    msim_field_refuse(f, key, want);
    return missing;
}

void msim_fields_only(struct msim_fields *f, const char *const *keys)
{
    const cJSON *item;
    size_t n = 0;

    while (keys[n])
        n++;
    cJSON_ArrayForEach(item, f->object)
    {
        const char *near;
        char text[1024];
        size_t i = 0;

        while (i < n && strcmp(keys[i], item->string) != 0)
            i++;
        if (i < n)
            continue;
        near = msim_nearest_word(item->string, keys, n);
        if (near)
            snprintf(text, sizeof(text),
                     "%s%.60s is not known, did you mean %.60s?", f->path,
                     item->string, near);
        else {
            char all[800];

            list_words(all, sizeof(all), keys);
            snprintf(text, sizeof(text), "%s%.60s is not known, want %s",
                     f->path, item->string, all);
        }
        fail(f, text);
    }
}
