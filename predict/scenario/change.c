/*
 * predict/scenario/change.c - what kinds of changes share.
 */
#include "predict/scenario/change.h"

#include <string.h>

const char *msim_change_text(struct msim_change_reader *r, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = msim_arena_alloc(&r->all->arena, size);

    return copy ? memcpy(copy, text, size) : NULL;
}

struct msim_fields msim_change_open(struct msim_change_reader *r,
                                    const char *key, const char *want)
{
    if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(r->f->object, key)))
        msim_field_refuse(r->f, key, want);
    return msim_fields_open(r->f, key);
}
