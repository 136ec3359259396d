/*
 * predict/scenario/scenario_list.c - walking a file of scenarios.
 */
#include "predict/scenario/scenario_list.h"

#include <stdio.h>
#include <string.h>

/* "cuda-graph" is cuda_graph: names of changes are members, which have
 * underscores, and words that people write with hyphens. */
static void settle_names(cJSON *change)
{
    cJSON *member;

    cJSON_ArrayForEach(member, change)
    {
        for (char *c = member->string; c && *c; c++)
            if (*c == '-')
                *c = '_';
    }
}

static void read_change(const struct msim_scenario_reader *r,
                        struct msim_fields *f)
{
    msim_fields_only(f, r->names);
    if (f->status != MSIM_OK)
        return;
    if (cJSON_GetArraySize(f->object) == 1)
        r->change(r->ctx, f, f->object->child->string);
    else
        f->status = msim_fail(f->err, MSIM_EFORMAT, f->file, MSIM_OFFSET_NONE,
                              "%.*s has %d members, want one change",
                              (int)strlen(f->path) - 1, f->path,
                              cJSON_GetArraySize(f->object));
}

static void read_changes(const struct msim_scenario_reader *r,
                         struct msim_fields *f, uint32_t index)
{
    cJSON *list = cJSON_GetObjectItemCaseSensitive(f->object, "changes");
    cJSON *item;
    uint32_t n = 0;

    if (!cJSON_IsArray(list)) {
        msim_field_refuse(f, "changes", "an array of changes");
        return;
    }
    cJSON_ArrayForEach(item, list)
    {
        struct msim_fields in =
            msim_fields_of(cJSON_IsObject(item) ? item : NULL, f->file, f->err);

        settle_names(item);
        snprintf(in.path, sizeof(in.path), "scenarios[%u].changes[%u].", index,
                 n++);
        in.status = f->status;
        if (in.object)
            read_change(r, &in);
        else
            msim_field_refuse(f, "changes", "an array of objects");
        msim_fields_close(f, &in);
    }
}

static enum msim_status read_scenario(const struct msim_scenario_reader *r,
                                      const cJSON *item, uint32_t index,
                                      struct msim_fields *file)
{
    static const char *const KEYS[] = {"name", "changes", NULL};
    struct msim_fields f = msim_fields_of(cJSON_IsObject(item) ? item : NULL,
                                          file->file, file->err);
    const char *name;

    snprintf(f.path, sizeof(f.path), "scenarios[%u].", index);
    msim_fields_only(&f, KEYS);
    name = msim_field_text(&f, "name");
    if (!name || !*name)
        msim_field_refuse(&f, "name", "a text");
    MSIM_TRY(f.status);
    MSIM_TRY(r->begin(r->ctx, index, name));
    read_changes(r, &f, index);
    r->end(r->ctx);
    return f.status;
}

static enum msim_status read_all(const struct msim_scenario_reader *r,
                                 struct msim_fields *f)
{
    static const char *const KEYS[] = {"scenarios", NULL};
    const cJSON *list =
        cJSON_GetObjectItemCaseSensitive(f->object, "scenarios");
    const cJSON *item;
    uint32_t index = 0;

    msim_fields_only(f, KEYS);
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) == 0)
        msim_field_refuse(f, "scenarios",
                          "an array of {\"name\": ..., \"changes\": [...]}");
    MSIM_TRY(f->status);
    MSIM_TRY(r->count(r->ctx, (uint32_t)cJSON_GetArraySize(list)));
    cJSON_ArrayForEach(item, list) MSIM_TRY(read_scenario(r, item, index++, f));
    return MSIM_OK;
}

enum msim_status msim_scenario_list_read(const struct msim_scenario_reader *r,
                                         const char *path,
                                         struct msim_error *err)
{
    enum msim_status status;
    struct msim_fields f;
    cJSON *json;

    MSIM_TRY(msim_json_read(&json, path, err));
    f = msim_fields_of(cJSON_IsObject(json) ? json : NULL, path, err);
    status = f.object
                 ? read_all(r, &f)
                 : msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "this is not a JSON object, want {\"scenarios\": "
                             "[...]}");
    cJSON_Delete(json);
    return status;
}
