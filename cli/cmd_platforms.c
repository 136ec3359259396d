/*
 * cli/cmd_platforms.c - `platforms`: the GPUs that are known, or one of them
 * with where its parameters come from and how good they are.
 */
#include "cli/cmd.h"
#include "cli/datadir.h"
#include "cli/message.h"
#include "cli/options.h"
#include "core/base/json.h"
#include "core/base/json_out.h"
#include "models/pick_index.h"
#include "models/platform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    bool json;
};

static const struct msim_option OPTIONS[] = {
    {.name = "json",
     .type = MSIM_OPTION_FLAG,
     .field = offsetof(struct settings, json),
     .help = "print JSON: of a list schema mystique-sim/platforms/1, of one\n"
             "platform its file without the trees of the corrections, and\n"
             "what it inherits"},
};

static const char *const EXAMPLES[] = {
    "mystique-sim platforms",
    "mystique-sim platforms a100",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "platforms",
    .operands = "[NAME|FILE]",
    .summary = "List the known GPUs, or show one with the provenance of its "
               "parameters and\nthe errors of its models.",
    .options = OPTIONS,
    .n_options = sizeof OPTIONS / sizeof OPTIONS[0],
    .examples = EXAMPLES,
    .min_operands = 0,
    .max_operands = 1,
};

/* ---- the list -------------------------------------------------------------
 */

struct totals {
    double rows, cells;
};

static struct totals count(const cJSON *file)
{
    struct totals t = {0};
    const cJSON *cell;

    cJSON_ArrayForEach(cell, cJSON_GetObjectItemCaseSensitive(file, "cells"))
    {
        t.rows += msim_json_get_number(cell, "rows", 0);
        t.cells++;
    }
    return t;
}

static void list_text(const char *name, const cJSON *file)
{
    const char *title = msim_json_get_text(file, "title");
    const cJSON *sheet = cJSON_GetObjectItemCaseSensitive(file, "data_sheet");
    const char *first = cJSON_GetStringValue(cJSON_GetArrayItem(
        cJSON_GetObjectItemCaseSensitive(file, "stand_ins"), 0));
    struct totals t = count(file);

    printf("%-15s %-46s %5.0f GB %5.1f TB/s %8.0f rows", name,
           title ? title : "",
           msim_json_get_number(sheet, "memory_bytes", 0) * 1e-9,
           msim_json_get_number(sheet, "memory_bandwidth", 0) * 1e-12, t.rows);
    if (first)
        printf(", else as %s", first);
    putchar('\n');
}

static void list_words(struct msim_json *j, const char *key, const cJSON *file)
{
    const cJSON *word;

    msim_json_open(j, key, '[', false);
    cJSON_ArrayForEach(word, cJSON_GetObjectItemCaseSensitive(file, key))
        msim_json_text(j, NULL, cJSON_GetStringValue(word));
    msim_json_close(j);
}

static void list_json(struct msim_json *j, const char *name, const cJSON *file)
{
    const cJSON *sheet = cJSON_GetObjectItemCaseSensitive(file, "data_sheet");
    struct totals t = count(file);

    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "name", name);
    msim_json_text(j, "title", msim_json_get_text(file, "title"));
    msim_json_number(j, "memory_bytes",
                     msim_json_get_number(sheet, "memory_bytes", 0));
    msim_json_number(j, "rows", t.rows);
    msim_json_number(j, "cells", t.cells);
    list_words(j, "stand_ins", file);
    list_words(j, "aliases", file);
    msim_json_close(j);
}

static enum msim_status list_one(const char *data, const char *name,
                                 struct msim_json *j, struct msim_error *err)
{
    char path[1200];
    cJSON *file;

    snprintf(path, sizeof(path), "%s/platforms/%s.json", data, name);
    MSIM_TRY(msim_json_read(&file, path, err));
    if (j)
        list_json(j, name, file);
    else
        list_text(name, file);
    cJSON_Delete(file);
    return MSIM_OK;
}

/* `j` is NULL for text. */
static enum msim_status list_names(const char *data, struct msim_json *j,
                                   struct msim_error *err)
{
    struct msim_arena arena;
    const char *const *names;
    enum msim_status status;
    uint32_t n;

    msim_arena_init(&arena);
    status = msim_platform_list(&arena, data, &names, &n, err);
    for (uint32_t i = 0; status == MSIM_OK && i < n; i++)
        status = list_one(data, names[i], j, err);
    msim_arena_release(&arena);
    return status;
}

static enum msim_status list_all(const char *data, bool json,
                                 struct msim_error *err)
{
    struct msim_json j;
    enum msim_status status, ended;

    if (!json)
        return list_names(data, NULL, err);
    msim_json_begin(&j, msim_sink_file, stdout);
    msim_json_open(&j, NULL, '{', true);
    msim_json_text(&j, "schema", "mystique-sim/platforms/1");
    msim_json_open(&j, "platforms", '[', true);
    status = list_names(data, &j, err);
    msim_json_close(&j);
    msim_json_close(&j);
    ended = msim_json_end(&j);
    return status == MSIM_OK ? ended : status;
}

/* ---- one platform -----------------------------------------------------------
 */

static void show_parameter(const cJSON *p)
{
    const char *unit = msim_json_get_text(p, "unit");
    const char *source = msim_json_get_text(p, "source");
    const char *how = msim_json_get_text(p, "how");

    if (!cJSON_IsObject(p) || !unit)
        return;
    printf("  %-22s %12.6g %-7s %s\n", p->string,
           msim_json_get_number(p, "value", 0),
           strcmp(unit, "1") == 0 ? "" : unit,
           source ? source
           : how  ? how
                  : "");
}

static void show_cell(const cJSON *cell)
{
    const char *framework = msim_json_get_text(cell, "framework");
    const char *table = msim_json_get_text(cell, "table_gpu");

    printf("  %-10s %-10s %-34s %6.0f %7.1f %7.1f %7.1f   %s\n",
           msim_json_get_text(cell, "law"), framework ? framework : "",
           msim_json_get_text(cell, "key"),
           msim_json_get_number(cell, "rows", 0),
           100 * msim_json_get_number(cell, "error_fitted", 0),
           100 * msim_json_get_number(cell, "error_held_back", 0),
           100 * msim_json_get_number(cell, "interval_coverage", 0),
           table ? table : "");
}

static void show_words(const cJSON *words)
{
    const cJSON *word;

    cJSON_ArrayForEach(word, words)
    {
        printf("%s %s", word == words->child ? "" : ",",
               cJSON_IsString(word) ? word->valuestring : "");
    }
    putchar('\n');
}

/* ---- what it inherits ------------------------------------------------------
 */

static int by_name(const void *pa, const void *pb)
{
    const struct msim_pick *a = pa;
    const struct msim_pick *b = pb;
    int c = strcmp(a->cell->law->name, b->cell->law->name);

    if (c == 0)
        c = strcmp(a->cell->framework, b->cell->framework);
    return c ? c : strcmp(a->cell->key, b->cell->key);
}

/* Everything that is inherited, sorted; `*list` is the caller's. */
static enum msim_status inherited(const struct msim_platform *p,
                                  struct msim_pick **list, uint32_t *n)
{
    struct msim_pick pick;
    uint32_t capacity = 0, at = 0;

    *list = NULL;
    *n = 0;
    while (msim_pick_inherited(p, &at, &pick)) {
        MSIM_TRY(msim_grow((void **)list, &capacity, *n, sizeof(**list)));
        (*list)[(*n)++] = pick;
    }
    if (*n)
        qsort(*list, *n, sizeof(**list), by_name);
    return MSIM_OK;
}

static const char *whose(const struct msim_pick *pick)
{
    return pick->platform ? msim_platform_name(pick->platform)
                          : "common to all GPUs";
}

static void show_inherited(const struct msim_platform *p,
                           const struct msim_pick *pick)
{
    double error = msim_pick_left_out_error(p, pick);
    char text[16] = "-";

    if (!isnan(error))
        snprintf(text, sizeof(text), "%.1f", 100 * error);
    printf("  %-10s %-10s %-34s %9s  x %5.2f   %s%s\n", pick->cell->law->name,
           pick->cell->framework, pick->cell->key, text,
           exp(msim_pick_half_width(pick)), whose(pick),
           pick->platform && !pick->trees ? ", law alone" : "");
}

static enum msim_status show_all_inherited(const struct msim_platform *p)
{
    struct msim_pick *list;
    uint32_t n;
    enum msim_status status = inherited(p, &list, &n);

    if (status == MSIM_OK && n > 0)
        printf("\ninherited, scaled by the data sheets; mean error in %% on "
               "GPUs left out, and the\n90 %% interval as a factor either "
               "way:\n  law        framework  cell                         "
               "       left out    within   from\n");
    for (uint32_t i = 0; status == MSIM_OK && i < n; i++)
        show_inherited(p, &list[i]);
    free(list);
    return status;
}

static enum msim_status add_inherited(cJSON *file,
                                      const struct msim_platform *p)
{
    cJSON *all = cJSON_AddArrayToObject(file, "inherited");
    struct msim_pick *list;
    uint32_t n;
    enum msim_status status = inherited(p, &list, &n);

    for (uint32_t i = 0; status == MSIM_OK && i < n; i++) {
        double error = msim_pick_left_out_error(p, &list[i]);
        cJSON *one = cJSON_CreateObject();

        if (!one || !cJSON_AddItemToArray(all, one)) {
            status = MSIM_ENOMEM;
            break;
        }
        cJSON_AddStringToObject(one, "law", list[i].cell->law->name);
        cJSON_AddStringToObject(one, "framework", list[i].cell->framework);
        cJSON_AddStringToObject(one, "key", list[i].cell->key);
        cJSON_AddStringToObject(one, "from", whose(&list[i]));
        cJSON_AddBoolToObject(one, "trees", list[i].trees);
        if (!isnan(error))
            cJSON_AddNumberToObject(one, "error_left_out", error);
        cJSON_AddNumberToObject(one, "interval_factor",
                                exp(msim_pick_half_width(&list[i])));
    }
    free(list);
    return status;
}

/* ---- all of it --------------------------------------------------------------
 */

static enum msim_status show_text(const struct msim_platform *p,
                                  const cJSON *file)
{
    const cJSON *item;

    printf("%s: %s\nfile: %s\n", msim_platform_name(p), msim_platform_title(p),
           msim_platform_file(p));
    printf("where rows are missing, others stand in, scaled by the data sheets "
           "and with a wider interval:");
    show_words(cJSON_GetObjectItemCaseSensitive(file, "stand_ins"));
    printf("also known as:");
    show_words(cJSON_GetObjectItemCaseSensitive(file, "aliases"));
    printf("\ndata sheet:\n");
    cJSON_ArrayForEach(item,
                       cJSON_GetObjectItemCaseSensitive(file, "data_sheet"))
        show_parameter(item);
    printf("\nfitted for all platforms alike:\n");
    cJSON_ArrayForEach(item,
                       cJSON_GetObjectItemCaseSensitive(file, "parameters"))
        show_parameter(item);
    printf("\nfitted to measured rows; mean errors on rows fitted on and on "
           "rows held back,\nand the share of held-back rows inside their 90 "
           "%% interval, in %%:\n"
           "  law        framework  cell                                 rows  "
           "fitted    held  inside   GPU of the rows\n");
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(file, "cells"))
        show_cell(item);
    return show_all_inherited(p);
}

static enum msim_status show_json(const struct msim_platform *p, cJSON *file)
{
    cJSON *cell;
    char *text;

    cJSON_ArrayForEach(cell, cJSON_GetObjectItemCaseSensitive(file, "cells"))
        cJSON_DeleteItemFromObjectCaseSensitive(cell, "forest");
    MSIM_TRY(add_inherited(file, p));
    text = cJSON_Print(file);
    if (!text)
        return MSIM_ENOMEM;
    puts(text);
    cJSON_free(text);
    return MSIM_OK;
}

static enum msim_status show(const char *data, const char *name, bool json,
                             struct msim_error *err)
{
    struct msim_platform *p;
    cJSON *file;
    enum msim_status status;

    MSIM_TRY(msim_platform_load(&p, data, name, err));
    status = msim_json_read(&file, msim_platform_file(p), err);
    if (status == MSIM_OK && json)
        status = show_json(p, file);
    else if (status == MSIM_OK)
        status = show_text(p, file);
    cJSON_Delete(file);
    msim_platform_free(p);
    return status;
}

int msim_cmd_platforms(int argc, char **argv)
{
    struct settings s = {0};
    struct msim_operands names;
    struct msim_error err = {0};
    char data[1024];
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &names);

    if (rc >= 0)
        return rc;
    status = msim_datadir_find(data, sizeof(data), &err);
    if (status == MSIM_OK)
        status = names.n ? show(data, names.items[0], s.json, &err)
                         : list_all(data, s.json, &err);
    if (status == MSIM_OK && (fflush(stdout) != 0 || ferror(stdout)))
        status = msim_fail(&err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                           "standard output cannot be written");
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}
