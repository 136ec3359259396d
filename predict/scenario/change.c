/*
 * predict/scenario/change.c - what kinds of changes share.
 */
#include "predict/scenario/scenario.h"

#include "core/base/texts.h"

#include <stdio.h>
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

void msim_change_contradicts(struct msim_change_reader *r,
                             struct msim_fields *in, const char *key,
                             const char *want)
{
    const struct msim_scenarios *all = r->all;
    bool is_point = all->grid.axes && all->n > all->grid.first;

    if (in->status != MSIM_OK)
        return;
    msim_field_refuse(in, key, want);
    if (!is_point)
        return;
    if (!*r->row->reason) /* the first */
        msim_cut_text(r->row->reason, sizeof(r->row->reason), in->err->text);
    *in->err = (struct msim_error){0};
    in->status = MSIM_OK;
}

/* A recorded step holds what one rank ran: how else a model could be split, or
 * which weights could be frozen, is not in it. */
void msim_change_read_described(struct msim_change_reader *r, const char *key)
{
    snprintf(r->row->reason, sizeof(r->row->reason),
             "'%s' is a change of a described model: whatif SCENARIOS.json "
             "MODEL, or synth",
             key);
}
