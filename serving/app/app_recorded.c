/*
 * serving/app/app_recorded.c - recorded passes of a stage: the member "trace".
 */
#include "serving/app/app_internal.h"

#define MOST_PASSES 100

static const char WANTED[] =
    "a trace's file or folder, or {\"file\", \"batch\", \"tokens\", "
    "\"context\"}";

static void read_sizes(struct msim_app *app, struct msim_recorded_pass *p,
                       struct msim_fields *f)
{
    static const char *const KEYS[] = {"file", "batch", "tokens", "context",
                                       NULL};
    const char *file = msim_field_text(f, "file");

    msim_fields_only(f, KEYS);
    if (!file || !*file)
        msim_field_refuse(f, "file", "a trace's file or folder");
    p->file = file ? msim_app_join(app, f, file) : NULL;
    p->batch = msim_field_int(f, "batch", 1, 0);
    p->tokens = msim_field_int(f, "tokens", 1, 0);
    p->context = msim_field_int(f, "context", 0, -1);
}

static void read_pass(struct msim_app *app, struct msim_recorded_pass *p,
                      struct msim_fields *f, const char *key, uint32_t i,
                      const cJSON *item)
{
    struct msim_fields in;

    *p = (struct msim_recorded_pass){.context = -1};
    if (cJSON_IsString(item) && *item->valuestring) {
        p->file = msim_app_join(app, f, item->valuestring);
        return;
    }
    if (!cJSON_IsObject(item)) {
        msim_field_refuse_item(f, key, i, WANTED);
        return;
    }
    in = msim_fields_open_item(f, key, i, item);
    read_sizes(app, p, &in);
    msim_fields_close(f, &in);
}

void msim_app_read_recorded(struct msim_app *app, struct msim_recorded *r,
                            struct msim_fields *f, const char *key)
{
    const cJSON *list = msim_field_json(f, key), *item;
    uint32_t n = cJSON_IsArray(list) ? (uint32_t)cJSON_GetArraySize(list) : 0;
    uint32_t i = 0;
    struct msim_recorded_pass *of;

    if (list && (n == 0 || n > MOST_PASSES))
        msim_field_refuse(
            f, key, "a list of 1 to 100 recorded passes: files of traces");
    if (n == 0 || f->status != MSIM_OK)
        return;
    of = msim_app_room(app, f, n, sizeof(*of));
    cJSON_ArrayForEach(item, list)
    {
        if (of && f->status == MSIM_OK)
            read_pass(app, &of[i], f, key, i, item);
        i++;
    }
    *r = (struct msim_recorded){of, of ? n : 0};
}
