/*
 * predict/scenario/list/scenario_grid.c - all combinations of several changes.
 */
#include "predict/scenario/list/scenario_list.h"

#include "core/base/csv.h"
#include "core/base/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void msim_scenario_grid_release(struct msim_scenario_grid *g)
{
    cJSON_Delete(g->axes);
    g->axes = NULL;
}

/* ---- what stands in the file --------------------------------------------- */

/* A kind of durations, whose values are factors; "host" may be a name, too. */
static bool is_selection(const char *axis)
{
    static const char *const SELECTED[] = {"kernels", "communication", "copies",
                                           "host"};

    for (size_t i = 0; i < sizeof(SELECTED) / sizeof(SELECTED[0]); i++)
        if (strcmp(axis, SELECTED[i]) == 0)
            return true;
    return false;
}

/* Values of changes are looked at by those who read changes. */
static enum msim_status look_at_factors(const cJSON *axis, const char *path,
                                        struct msim_error *err)
{
    const cJSON *value;
    char *text;

    if (!is_selection(axis->string))
        return MSIM_OK;
    cJSON_ArrayForEach(value, axis)
    {
        if (cJSON_IsNumber(value) ? value->valuedouble > 0
                                  : strcmp(axis->string, "host") == 0)
            continue;
        text = cJSON_PrintUnformatted(value);
        (void)msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                        "grid.%s is %.60s, want a number above 0: a factor of "
                        "such durations",
                        axis->string, text ? text : "no number");
        free(text);
        return MSIM_EFORMAT;
    }
    return MSIM_OK;
}

/* "h100", 0.5, {"to":2}; the caller frees it. */
static char *text_of(const cJSON *value)
{
    return cJSON_IsString(value) ? strdup(value->valuestring)
                                 : cJSON_PrintUnformatted(value);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Points are told apart by the texts of their values. */
static enum msim_status look_for_twins(const cJSON *axis, const char *path,
                                       struct msim_error *err)
{
    int most = cJSON_GetArraySize(axis), n = 0;
    char **texts = calloc((size_t)most + 1, sizeof(*texts));
    enum msim_status status = texts ? MSIM_OK : MSIM_ENOMEM;
    const cJSON *value;

    for (value = axis->child; status == MSIM_OK && value; value = value->next) {
        texts[n] = text_of(value);
        status = texts[n] ? MSIM_OK : MSIM_ENOMEM;
        n += texts[n] != NULL;
    }
    if (status == MSIM_OK)
        qsort(texts, (size_t)n, sizeof(*texts), by_text);
    for (int i = 1; status == MSIM_OK && i < n; i++)
        if (strcmp(texts[i - 1], texts[i]) == 0)
            status = msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                               "grid.%.60s has %.60s twice, want each value "
                               "once",
                               axis->string, texts[i]);
    while (n > 0)
        free(texts[--n]);
    free(texts);
    return status;
}

/* How many points; EFORMAT where there are none, or too many. */
static enum msim_status count_points(uint32_t *n, const cJSON *axes,
                                     const char *path, struct msim_error *err)
{
    double points = 1;
    const cJSON *axis;

    if (!cJSON_IsObject(axes) || cJSON_GetArraySize(axes) == 0)
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "grid is no object of changes with their values, want "
                         "{\"gpu\": [\"a100\", \"h100\"], \"batch\": [8, 16]}");
    cJSON_ArrayForEach(axis, axes)
    {
        if (!cJSON_IsArray(axis) || cJSON_GetArraySize(axis) == 0)
            return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "grid.%.60s is no array of values, want one or "
                             "more",
                             axis->string);
        MSIM_TRY(look_at_factors(axis, path, err));
        points *= cJSON_GetArraySize(axis);
    }
    if (points > MSIM_GRID_POINTS)
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "grid has %.0f points, want at most %d", points,
                         MSIM_GRID_POINTS);
    cJSON_ArrayForEach(axis, axes) MSIM_TRY(look_for_twins(axis, path, err));
    *n = (uint32_t)points;
    return MSIM_OK;
}

/* The value of an axis at a point: the last axis turns fastest. */
static const cJSON *value_at(const cJSON *axis, uint32_t point)
{
    const cJSON *behind;

    for (behind = axis->next; behind; behind = behind->next)
        point /= (uint32_t)cJSON_GetArraySize(behind);
    return cJSON_GetArrayItem(axis, (int)point % cJSON_GetArraySize(axis));
}

/* ---- points as scenarios ------------------------------------------------- */

static bool is_factor(const char *axis, const cJSON *value)
{
    return cJSON_IsNumber(value) && is_selection(axis);
}

static bool add_change(cJSON *changes, const char *axis, const cJSON *value)
{
    cJSON *change = cJSON_CreateObject(), *scale;

    if (!cJSON_AddItemToArray(changes, change))
        return false;
    if (!is_factor(axis, value))
        return cJSON_AddItemToObject(change, axis,
                                     cJSON_Duplicate(value, true));
    scale = cJSON_AddObjectToObject(change, "scale");
    return cJSON_AddStringToObject(scale, "select", axis) &&
           cJSON_AddNumberToObject(scale, "factor", value->valuedouble);
}

static bool add_point(struct msim_scenario_grid *g, cJSON *scenarios,
                      uint32_t point)
{
    cJSON *scenario = cJSON_CreateObject(), *changes;
    const cJSON *axis;
    char *name = NULL, *value;
    size_t size;
    FILE *out;
    bool ok;

    if (!cJSON_AddItemToArray(scenarios, scenario))
        return false;
    changes = cJSON_AddArrayToObject(scenario, "changes");
    out = open_memstream(&name, &size);
    ok = changes && out;
    for (axis = g->axes->child; ok && axis; axis = axis->next) {
        value = text_of(value_at(axis, point));
        ok = value && add_change(changes, axis->string, value_at(axis, point));
        if (ok)
            msim_print(out, "%s%s %s", axis == g->axes->child ? "" : ", ",
                       axis->string, value);
        free(value);
    }
    if (out && fclose(out) != 0)
        ok = false;
    ok = ok && cJSON_AddStringToObject(scenario, "name", name);
    if (ok && (int)size > g->width)
        g->width = (int)size;
    free(name);
    return ok;
}

enum msim_status msim_scenario_grid_expand(struct msim_scenario_grid *g,
                                           cJSON *file, const char *path,
                                           struct msim_error *err)
{
    cJSON *scenarios;
    uint32_t n = 0;

    *g = (struct msim_scenario_grid){0};
    g->axes = cJSON_DetachItemFromObjectCaseSensitive(file, "grid");
    if (!g->axes)
        return MSIM_OK;
    MSIM_TRY(count_points(&n, g->axes, path, err));
    scenarios = cJSON_GetObjectItemCaseSensitive(file, "scenarios");
    if (!scenarios)
        scenarios = cJSON_AddArrayToObject(file, "scenarios");
    if (!cJSON_IsArray(scenarios))
        return scenarios ? MSIM_OK /* its reader says so */ : MSIM_ENOMEM;
    g->first = (uint32_t)cJSON_GetArraySize(scenarios);
    for (uint32_t i = 0; i < n; i++)
        if (!add_point(g, scenarios, i))
            return MSIM_ENOMEM;
    return MSIM_OK;
}

/* ---- in answers ---------------------------------------------------------- */

static void put_value(struct msim_json *j, const char *key, const cJSON *value)
{
    const cJSON *item;

    if (cJSON_IsString(value))
        msim_json_text(j, key, value->valuestring);
    else if (cJSON_IsBool(value))
        msim_json_bool(j, key, cJSON_IsTrue(value));
    else if (!cJSON_IsObject(value) && !cJSON_IsArray(value))
        msim_json_number(
            j, key, cJSON_IsNumber(value) ? value->valuedouble : (double)NAN);
    else {
        msim_json_open(j, key, cJSON_IsObject(value) ? '{' : '[', false);
        cJSON_ArrayForEach(item, value) put_value(j, item->string, item);
        msim_json_close(j);
    }
}

static bool is_point(const struct msim_scenario_grid *g, uint32_t index)
{
    return g->axes && index != MSIM_GRID_BASE && index >= g->first;
}

void msim_scenario_grid_json(const struct msim_scenario_grid *g, uint32_t index,
                             struct msim_json *j)
{
    const cJSON *axis;

    if (!is_point(g, index))
        return;
    msim_json_open(j, "grid", '{', false);
    cJSON_ArrayForEach(axis, g->axes)
        put_value(j, axis->string, value_at(axis, index - g->first));
    msim_json_close(j);
}

void msim_scenario_grid_csv_head(const struct msim_scenario_grid *g, FILE *out)
{
    const cJSON *axis;
    char name[80];

    cJSON_ArrayForEach(axis, g->axes)
    {
        snprintf(name, sizeof(name), "grid.%.70s", axis->string);
        msim_csv_add(out, name);
    }
}

void msim_scenario_grid_csv(const struct msim_scenario_grid *g, uint32_t index,
                            FILE *out)
{
    const cJSON *axis;
    char *text;

    cJSON_ArrayForEach(axis, g->axes)
    {
        text = is_point(g, index) ? text_of(value_at(axis, index - g->first))
                                  : NULL;
        msim_csv_add(out, text);
        free(text);
    }
}

#define WIDTH_MOST 72

int msim_scenario_grid_width(const struct msim_scenario_grid *g)
{
    return g->width < MSIM_SCENARIO_WIDTH ? MSIM_SCENARIO_WIDTH
           : g->width < WIDTH_MOST        ? g->width
                                          : WIDTH_MOST;
}
