/*
 * cli/platforms/cmd_platforms.c - `platforms`: the GPUs that are known, or one
 * of them with where its parameters come from and how good they are.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/platforms/platform_page.h"
#include "core/base/json.h"
#include "core/base/print.h"
#include "core/report/write/report.h"
#include "models/platform/platform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    bool json, constants;
};

static const struct msim_option OPTIONS[] = {
    MSIM_OPTION(
        struct settings, json, FLAG, "json",
        .help =
            "print JSON: of a list schema mystique-sim/platforms/1, of one\n"
            "platform its file without the trees of the corrections, means\n"
            "by family, and what it inherits"),
    MSIM_OPTION(struct settings, constants, FLAG, "constants",
                .help = "of one platform, show the constants of every law"),
};

static const char *const EXAMPLES[] = {
    "mystique-sim platforms",
    "mystique-sim platforms a100 | less",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "platforms",
    .operands = "[NAME|FILE]",
    .summary = "List the known GPUs, or show one with the provenance of its "
               "parameters and\nthe errors of its models.",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 0,
    .max_operands = 1,
};

#define TITLE 40 /* columns */

/* ---- the list ------------------------------------------------------------ */

struct totals {
    double rows, fits;
};

static struct totals count(const cJSON *file)
{
    struct totals t = {0};
    const cJSON *fit;

    cJSON_ArrayForEach(fit, cJSON_GetObjectItemCaseSensitive(file, "cells"))
    {
        t.rows += msim_json_get_number(fit, "rows", 0);
        t.fits++;
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
    char shown[160];
    unsigned used =
        msim_format_name(shown, sizeof(shown), title ? title : "", TITLE);

    msim_print(stdout, "%-15s %s%*s %4.0f GB %5.2f TB/s %7.0f  %s\n", name,
               shown, TITLE - (int)used, "",
               msim_json_get_number(sheet, "memory_bytes", 0) * 1e-9,
               msim_json_get_number(sheet, "memory_bandwidth", 0) * 1e-12,
               t.rows, first ? first : "");
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
    msim_json_number(j, "cells", t.fits);
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

    if (!json) {
        msim_print(stdout,
                   "%-15s %-*s  memory  bandwidth    rows  inherits from\n",
                   "name", TITLE, "GPU");
        return list_names(data, NULL, err);
    }
    msim_json_begin(&j, msim_sink_file, stdout);
    msim_json_open(&j, NULL, '{', true);
    msim_json_text(&j, "schema", "mystique-sim/platforms/1");
    msim_json_open(&j, "platforms", '[', true);
    status = list_names(data, &j, err);
    msim_json_close(&j);
    ended = msim_json_end(&j);
    return status == MSIM_OK ? ended : status;
}

/* ---- one platform -------------------------------------------------------- */

/* Add a member; none where the value is not known. */
static void add_known(cJSON *o, const char *key, double v)
{
    if (!isnan(v))
        cJSON_AddNumberToObject(o, key, v);
}

static enum msim_status add_summary(cJSON *file,
                                    const struct msim_platform_page *page)
{
    cJSON *all = cJSON_AddArrayToObject(file, "families");

    for (size_t i = 0; i < MSIM_PLATFORM_PAGE_FAMILIES; i++) {
        const struct msim_platform_page_family *f = &page->families[i];
        cJSON *one = cJSON_CreateObject();

        if (!one || !cJSON_AddItemToArray(all, one))
            return MSIM_ENOMEM;
        cJSON_AddStringToObject(one, "law", f->law);
        cJSON_AddNumberToObject(one, "cells", f->fits);
        cJSON_AddNumberToObject(one, "rows", f->rows);
        add_known(one, "error_held_back", f->mean);
        add_known(one, "error_held_back_median", f->median);
        add_known(one, "error_held_back_p90", f->p90);
        add_known(one, "error_held_back_worst", f->worst);
        add_known(one, "interval_coverage", f->inside);
        add_known(one, "interval_high_over_low", f->width);
        cJSON_AddNumberToObject(one, "inherited", f->inherited);
        add_known(one, "error_left_out", f->held_out);
        add_known(one, "interval_factor", f->interval_factor);
    }
    return MSIM_OK;
}

static enum msim_status add_inherited(cJSON *file,
                                      const struct msim_platform_page *page)
{
    cJSON *all = cJSON_AddArrayToObject(file, "inherited");

    for (uint32_t i = 0; i < page->n_picks; i++) {
        const struct msim_pick *pick = &page->picks[i];
        cJSON *one = cJSON_CreateObject();

        if (!one || !cJSON_AddItemToArray(all, one))
            return MSIM_ENOMEM;
        cJSON_AddStringToObject(one, "law", pick->fit->law->name);
        cJSON_AddStringToObject(one, "framework", pick->fit->framework);
        cJSON_AddStringToObject(one, "key", pick->fit->key);
        cJSON_AddStringToObject(one, "from", msim_platform_page_whose(pick));
        cJSON_AddBoolToObject(one, "trees", pick->trees);
        add_known(one, "error_left_out",
                  msim_pick_held_out_error(page->p, pick));
        cJSON_AddNumberToObject(one, "interval_factor",
                                exp(msim_pick_half_width(pick)));
    }
    return MSIM_OK;
}

static enum msim_status show_json(const struct msim_platform_page *page,
                                  cJSON *file)
{
    cJSON *fit;

    cJSON_ArrayForEach(fit, cJSON_GetObjectItemCaseSensitive(file, "cells"))
        cJSON_DeleteItemFromObjectCaseSensitive(fit, "forest");
    MSIM_TRY(add_summary(file, page));
    MSIM_TRY(add_inherited(file, page));
    return msim_json_show(file, stdout);
}

static enum msim_status show_page(const struct settings *s,
                                  const struct msim_platform *p, cJSON *file)
{
    struct msim_platform_page page;
    enum msim_status status = msim_platform_page_make(&page, p, file);

    if (status == MSIM_OK)
        status = s->json
                     ? show_json(&page, file)
                     : msim_platform_page_print(&page, s->constants, stdout);
    msim_platform_page_release(&page);
    return status;
}

static enum msim_status show(const char *data, const char *name,
                             const struct settings *s, struct msim_error *err)
{
    struct msim_platform *p;
    cJSON *file;
    enum msim_status status;

    MSIM_TRY(msim_platform_load(&p, data, name, err));
    status = msim_json_read(&file, msim_platform_file(p), err);
    if (status == MSIM_OK)
        status = show_page(s, p, file);
    cJSON_Delete(file);
    msim_platform_free(p);
    return status;
}

int msim_cmd_platforms(int argc, char **argv)
{
    struct settings s = {0};
    struct msim_cli_operands names;
    struct msim_error err = {0};
    char data[1024];
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &names);

    if (rc >= 0)
        return rc;
    status = msim_datadir_find(data, sizeof(data), &err);
    if (status == MSIM_OK)
        status = names.n ? show(data, names.items[0], &s, &err)
                         : list_all(data, s.json, &err);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}
