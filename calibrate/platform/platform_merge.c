/*
 * calibrate/platform/platform_merge.c - keeping the rest of a platform
 * file and a report where only some tables are fitted again.
 */
#include "calibrate/platform/platform_fit.h"

#include "core/base/containers.h"
#include "core/base/files.h"

#include <stdlib.h>
#include <string.h>

static bool has_rows(const struct msim_samples *s, const struct msim_law *law)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->rows[i].law == law)
            return true;
    return false;
}

/* ---- fits ---------------------------------------------------------------- */

static bool is_short(const cJSON *item)
{
    const cJSON *child;

    cJSON_ArrayForEach(child, item)
    {
        if (cJSON_IsArray(child) || cJSON_IsObject(child))
            return false;
    }
    return true;
}

/*
 * Put on one line again what was written on one line and read as a tree:
 * corrections, arrays of numbers, and the elements of intervals. `parent_name`
 * is the member that `parent` is.
 */
static enum msim_status flatten(cJSON *parent, const char *parent_name)
{
    cJSON *item, *next;

    for (item = parent->child; item; item = next) {
        const char *name = item->string ? item->string : parent_name;
        bool line =
            strcmp(name, "forest") == 0 || strcmp(name, "nearby") == 0 ||
            (cJSON_IsArray(item) && item->child && is_short(item)) ||
            (strcmp(parent_name, "interval") == 0 && cJSON_IsObject(item));
        char *text;

        next = item->next;
        if (!line) {
            MSIM_TRY(flatten(item, name));
            continue;
        }
        text = cJSON_PrintUnformatted(item);
        if (!text)
            return MSIM_ENOMEM;
        cJSON_Delete(item->child);
        item->child = NULL;
        item->type = cJSON_Raw;
        item->valuestring = text;
    }
    return MSIM_OK;
}

static const struct msim_law *law_of_fit(const cJSON *fit)
{
    const char *name = msim_json_get_text(fit, "law");

    return name ? msim_law_find(name) : NULL;
}

/* The parameters are ratios of convolutions' passes, from their table. */
static void keep_parameters(cJSON *json, cJSON *old,
                            const struct msim_samples *s)
{
    cJSON *from = cJSON_DetachItemFromObjectCaseSensitive(old, "parameters");

    if (from && !has_rows(s, &MSIM_LAW_CONV))
        (void)cJSON_ReplaceItemInObjectCaseSensitive(json, "parameters", from);
    else
        cJSON_Delete(from);
}

/* Drop the fits of `from` that are fitted again. */
static enum msim_status drop_refitted(cJSON *from, const struct msim_samples *s)
{
    cJSON *fit = from ? from->child : NULL;

    while (fit) {
        const struct msim_law *law = law_of_fit(fit);
        cJSON *next = fit->next;

        if (!law)
            return MSIM_EFORMAT;
        if (has_rows(s, law))
            cJSON_Delete(cJSON_DetachItemViaPointer(from, fit));
        else
            MSIM_TRY(flatten(fit, ""));
        fit = next;
    }
    return MSIM_OK;
}

/* Whether the first of `a` comes before that of `b`. Fits are sorted by the
 * names of their laws. */
static bool comes_first(const cJSON *a, const cJSON *b)
{
    const char *x = a ? msim_json_get_text(a->child, "law") : NULL;
    const char *y = b ? msim_json_get_text(b->child, "law") : NULL;

    return x && (!y || strcmp(x, y) < 0);
}

enum msim_status msim_platform_merge(cJSON *json, cJSON *old,
                                     const struct msim_samples *s)
{
    cJSON *fresh = cJSON_GetObjectItemCaseSensitive(json, "cells");
    cJSON *kept = cJSON_GetObjectItemCaseSensitive(old, "cells");
    cJSON *merged;

    keep_parameters(json, old, s);
    MSIM_TRY(drop_refitted(kept, s));
    merged = cJSON_CreateArray();
    if (!merged)
        return MSIM_ENOMEM;
    while (comes_first(fresh, NULL) || comes_first(kept, NULL))
        (void)cJSON_AddItemToArray(
            merged, cJSON_DetachItemFromArray(
                        comes_first(fresh, kept) ? fresh : kept, 0));
    return cJSON_ReplaceItemInObjectCaseSensitive(json, "cells", merged)
               ? MSIM_OK
               : MSIM_EINTERNAL;
}

/* ---- the report ---------------------------------------------------------- */

struct line {
    char *text;      /* without its end */
    int platform;    /* index of its sheet */
    const char *law; /* of the family in its third column */
    uint32_t number;
};

struct lines {
    struct line *list;
    uint32_t n, capacity;
};

static int place_of(const cJSON *sheets, const char *line)
{
    const cJSON *sheet;
    int i = 0;

    cJSON_ArrayForEach(sheet, sheets)
    {
        const char *name = msim_json_get_text(sheet, "name");
        size_t n = name ? strlen(name) : 0;

        if (n && strncmp(line, name, n) == 0 && line[n] == ',')
            return i;
        i++;
    }
    return -1;
}

/* A family is the name of a law, or that with "_WORD" after it. */
static const struct msim_law *law_of(const char *line)
{
    const char *gpu = strchr(line, ',');
    const char *text = gpu ? strchr(gpu + 1, ',') : NULL;
    char family[64];
    char *end;

    if (!text)
        return NULL;
    snprintf(family, sizeof(family), "%.*s", (int)strcspn(text + 1, ",\n"),
             text + 1);
    while (!msim_law_find(family) && (end = strrchr(family, '_')))
        *end = '\0';
    return msim_law_find(family);
}

static enum msim_status add_lines(struct lines *to, const char *text,
                                  const cJSON *sheets,
                                  const struct msim_samples *skip)
{
    const char *end;

    for (; (end = strchr(text, '\n')); text = end + 1) {
        const struct msim_law *law = law_of(text);
        int platform = place_of(sheets, text);
        struct line *l;

        if (!law || platform < 0 || (skip && has_rows(skip, law)))
            continue;
        MSIM_TRY(msim_grow((void **)&to->list, &to->capacity, to->n,
                           sizeof(*to->list)));
        l = &to->list[to->n];
        *l = (struct line){strndup(text, (size_t)(end - text)), platform,
                           law->name, to->n};
        if (!l->text)
            return MSIM_ENOMEM;
        to->n++;
    }
    return MSIM_OK;
}

static int by_place(const void *pa, const void *pb)
{
    const struct line *a = pa, *b = pb;
    int c = MSIM_ORDER(a->platform, b->platform);

    if (c == 0)
        c = strcmp(a->law, b->law);
    return c ? c : MSIM_ORDER(a->number, b->number);
}

static enum msim_status add_old(struct lines *to, const char *path,
                                const cJSON *sheets,
                                const struct msim_samples *s)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    enum msim_status status = MSIM_OK;

    while (f && status == MSIM_OK && getline(&text, &size, f) > 0)
        status = add_lines(to, text, sheets, s);
    free(text);
    if (f)
        fclose(f);
    return status;
}

static enum msim_status write_lines(const struct lines *l, const char *path,
                                    const char *header, struct msim_error *err)
{
    struct msim_file *file;
    enum msim_status status;

    MSIM_TRY(msim_file_open(&file, path, NULL, err));
    status = msim_file_write(file, header, strlen(header));
    for (uint32_t i = 0; status == MSIM_OK && i < l->n; i++) {
        status =
            msim_file_write(file, l->list[i].text, strlen(l->list[i].text));
        if (status == MSIM_OK)
            status = msim_file_write(file, "\n", 1);
    }
    return msim_file_close(file, status, err);
}

enum msim_status msim_report_merge(const char *path, const char *header,
                                   const char *fresh, const cJSON *sheets,
                                   const struct msim_samples *s,
                                   struct msim_error *err)
{
    struct lines l = {0};
    enum msim_status status = add_old(&l, path, sheets, s);

    if (status == MSIM_OK)
        status = add_lines(&l, fresh, sheets, NULL);
    if (l.n)
        qsort(l.list, l.n, sizeof(*l.list), by_place);
    if (status == MSIM_OK)
        status = write_lines(&l, path, header, err);
    for (uint32_t i = 0; i < l.n; i++)
        free(l.list[i].text);
    free(l.list);
    return status;
}
