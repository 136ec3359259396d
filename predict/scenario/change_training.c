/*
 * predict/scenario/change_training.c - changes of how a model is trained.
 */
#include "predict/scenario/change.h"

#include <stdio.h>
#include <string.h>

#define MICRO_BATCHES_MOST 4096

/* Blocks that are computed again: all, some, or some operators of them. */
void msim_change_read_recompute(struct msim_change_reader *r, const char *key)
{
    static const char *const KEYS[] = {"every", NULL};
    static const char WANT[] =
        "\"full\", {\"every\": 2} or operators such as \"aten::gelu*\"";
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->f->object, key);
    struct msim_rewrite *w = &r->row->settings.rewrite;

    r->row->other_target = true;
    w->recompute_every = 1;
    if (cJSON_IsObject(item)) {
        struct msim_fields in = msim_fields_open(r->f, key);

        msim_fields_only(&in, KEYS);
        w->recompute_every =
            (uint32_t)msim_field_int(&in, "every", 1, MSIM_FIELD_WANTED);
        msim_fields_close(r->f, &in);
    } else if (!cJSON_IsString(item) || !*item->valuestring ||
               strlen(item->valuestring) >= sizeof(w->recompute_ops)) {
        msim_field_refuse(r->f, key, WANT);
    } else if (strcmp(item->valuestring, "full") != 0) {
        if (!strpbrk(item->valuestring, ":*?["))
            msim_field_refuse(r->f, key, WANT);
        snprintf(w->recompute_ops, sizeof(w->recompute_ops), "%s",
                 item->valuestring);
    }
}

void msim_change_read_accumulate(struct msim_change_reader *r, const char *key)
{
    int64_t n = msim_field_int(r->f, key, 1, 1);

    if (n > MICRO_BATCHES_MOST)
        msim_field_refuse(r->f, key, "at most 4096 micro batches");
    r->row->other_target |= n > 1;
    r->row->settings.rewrite.accumulate = (uint32_t)n;
}
