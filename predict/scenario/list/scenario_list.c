/*
 * predict/scenario/list/scenario_list.c - walking a file of scenarios.
 */
#include "predict/scenario/list/scenario_list.h"

#include <stdio.h>
#include <stdlib.h>
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

/* How ranks split a model is one change, whose members are asked for alone. */
static void refuse_part(struct msim_fields *f)
{
    static const char *const PARTS[] = {
        "tp",  "pp", "vp",     "dp",       "ep",
        "etp", "cp", "stages", "schedule", "micro_batches"};
    const cJSON *member = f->object->child;
    char *change;

    for (size_t i = 0; member && i < sizeof(PARTS) / sizeof(*PARTS); i++) {
        if (strcmp(PARTS[i], member->string) != 0)
            continue;
        change = cJSON_PrintUnformatted(f->object);
        f->status = msim_fail(f->err, MSIM_EFORMAT, f->file, MSIM_OFFSET_NONE,
                              "%s%s is no change, want %.80s as a value of "
                              "parallel",
                              f->path, PARTS[i], change ? change : "it");
        free(change);
        return;
    }
}

static void read_change(const struct msim_scenario_reader *r,
                        struct msim_fields *f)
{
    refuse_part(f);
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

/* Where a change stands in the file. */
static void name_place(struct msim_fields *in, uint32_t scenario,
                       uint32_t change, const struct msim_scenario_grid *grid)
{
    if (grid->axes && scenario >= grid->first)
        snprintf(in->path, sizeof(in->path), "grid.");
    else
        snprintf(in->path, sizeof(in->path), "scenarios[%u].changes[%u].",
                 scenario, change);
}

static void read_changes(const struct msim_scenario_reader *r,
                         struct msim_fields *f, uint32_t index,
                         const struct msim_scenario_grid *grid)
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
        name_place(&in, index, n++, grid);
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
                                      const struct msim_scenario_grid *grid,
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
    read_changes(r, &f, index, grid);
    r->end(r->ctx);
    return f.status;
}

static enum msim_status read_all(const struct msim_scenario_reader *r,
                                 const struct msim_scenario_grid *grid,
                                 struct msim_fields *f)
{
    static const char *const KEYS[] = {"scenarios", "grid", NULL};
    const cJSON *list =
        cJSON_GetObjectItemCaseSensitive(f->object, "scenarios");
    const cJSON *item;
    uint32_t index = 0;

    msim_fields_only(f, KEYS);
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) == 0)
        msim_field_refuse(f, "scenarios",
                          "an array of {\"name\": ..., \"changes\": [...]}, or "
                          "\"grid\"");
    MSIM_TRY(f->status);
    MSIM_TRY(r->count(r->ctx, (uint32_t)cJSON_GetArraySize(list)));
    cJSON_ArrayForEach(item, list)
        MSIM_TRY(read_scenario(r, item, index++, grid, f));
    return MSIM_OK;
}

static enum msim_status read_tree(const struct msim_scenario_reader *r,
                                  cJSON *json, const char *path,
                                  struct msim_scenario_grid *grid,
                                  struct msim_error *err)
{
    struct msim_fields f = msim_fields_of(json, path, err);

    if (!cJSON_IsObject(json))
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "this is not a JSON object, want {\"scenarios\": "
                         "[...]} or {\"grid\": {...}}");
    MSIM_TRY(msim_scenario_grid_expand(grid, json, path, err));
    return read_all(r, grid, &f);
}

enum msim_status
msim_scenario_list_read(const struct msim_scenario_reader *r,
                        const struct msim_scenario_source *from,
                        struct msim_scenario_grid *grid, struct msim_error *err)
{
    enum msim_status status;
    cJSON *json;

    *grid = (struct msim_scenario_grid){0};
    if (from->tree)
        return read_tree(r, from->tree, from->path, grid, err);
    MSIM_TRY(msim_json_read(&json, from->path, err));
    status = read_tree(r, json, from->path, grid, err);
    cJSON_Delete(json);
    return status;
}
