/*
 * models/platform/platform_find.c - platforms by name, alias and device.
 */
#include "models/platform/platform.h"

#include "core/base/containers.h"
#include "core/base/csv.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum msim_status msim_platform_list(struct msim_arena *arena,
                                    const char *data_dir,
                                    const char *const **names, uint32_t *n,
                                    struct msim_error *err)
{
    return msim_data_list(arena, data_dir, "platform", names, n, err);
}

cJSON *msim_platform_json(const char *data_dir, const char *name)
{
    char path[1024];
    cJSON *json = NULL;

    snprintf(path, sizeof(path), "%s/platforms/%s.json", data_dir, name);
    return msim_json_read(&json, path, NULL) == MSIM_OK ? json : NULL;
}

/* ---- what each is called ------------------------------------------------- */

struct rows {
    struct msim_arena *arena;
    struct msim_platform_called *at;
    uint32_t n, cap;
};

static enum msim_status add(struct rows *r, struct msim_platform_called row)
{
    size_t size = strlen(row.name) + 1;
    char *name = msim_arena_alloc(r->arena, size);

    if (!name)
        return MSIM_ENOMEM;
    MSIM_TRY(msim_grow((void **)&r->at, &r->cap, r->n, sizeof(*r->at)));
    row.name = memcpy(name, row.name, size);
    r->at[r->n++] = row;
    return MSIM_OK;
}

/* What its file says. One that cannot be read is called nothing. */
static enum msim_status add_file(struct rows *r, const char *data_dir,
                                 const char *platform)
{
    cJSON *json = msim_platform_json(data_dir, platform);
    const char *name = msim_json_get_text(json, "generation");
    enum msim_status status = MSIM_OK;
    const cJSON *at;

    if (name)
        status = add(r, (struct msim_platform_called){
                            platform, MSIM_CALLED_GENERATION, name, 0, 0, 0});
    cJSON_ArrayForEach(at, cJSON_GetObjectItemCaseSensitive(json, "aliases"))
    {
        if (status == MSIM_OK && cJSON_IsString(at))
            status = add(
                r, (struct msim_platform_called){platform, MSIM_CALLED_ALIAS,
                                                 at->valuestring, 0, 0, 0});
    }
    cJSON_ArrayForEach(at, cJSON_GetObjectItemCaseSensitive(json, "devices"))
    {
        name = msim_json_get_text(at, "name");
        if (status == MSIM_OK && name)
            status = add(r, (struct msim_platform_called){
                                platform, MSIM_CALLED_DEVICE, name,
                                msim_json_get_number(at, "memory_from", 0),
                                msim_json_get_number(at, "memory_to", INFINITY),
                                msim_json_get_number(at, "sms", 0)});
    }
    cJSON_Delete(json);
    return status;
}

/* names.csv, and the platform that its next row is of. */
struct table {
    struct msim_csv *csv; /* NULL: there is none, or it is at its end */
    char *const *row;
};

enum column {
    PLATFORM,
    BYTES,
    HASH,
    KIND,
    NAME,
    MEMORY_FROM,
    MEMORY_TO,
    SMS,
    COLUMNS
};

static void next(struct table *t)
{
    if (t->csv && msim_csv_next(t->csv, &t->row, NULL) == MSIM_OK && t->row)
        return;
    msim_csv_close(t->csv);
    *t = (struct table){0};
}

static void open_table(struct table *t, const char *data_dir)
{
    static const char *const HEADER[COLUMNS] = {
        "platform", "bytes",       "hash",      "kind",
        "name",     "memory_from", "memory_to", "sms"};
    char path[1024];

    snprintf(path, sizeof(path), "%s/platforms/names.csv", data_dir);
    if (access(path, R_OK) != 0 ||
        msim_csv_open(&t->csv, path, NULL) != MSIM_OK)
        return;
    for (uint32_t i = 0; i < COLUMNS; i++)
        if (msim_csv_columns(t->csv) != COLUMNS ||
            strcmp(msim_csv_header(t->csv, i), HEADER[i]) != 0) {
            msim_csv_close(t->csv);
            t->csv = NULL;
            return;
        }
    next(t);
}

static double number_or(const char *field, double otherwise)
{
    return *field ? strtod(field, NULL) : otherwise;
}

static enum msim_status add_row(struct rows *r, const char *platform,
                                char *const *row)
{
    static const char *const KINDS[] = {[MSIM_CALLED_GENERATION] = "generation",
                                        [MSIM_CALLED_ALIAS] = "alias",
                                        [MSIM_CALLED_DEVICE] = "device"};
    struct msim_platform_called called = {platform,
                                          MSIM_CALLED_GENERATION,
                                          row[NAME],
                                          number_or(row[MEMORY_FROM], 0),
                                          number_or(row[MEMORY_TO], INFINITY),
                                          number_or(row[SMS], 0)};

    while (called.kind < MSIM_CALLED_DEVICE &&
           strcmp(KINDS[called.kind], row[KIND]) != 0)
        called.kind++;
    return add(r, called);
}

static bool is_of_file(const struct table *t, const char *data_dir,
                       const char *platform)
{
    char path[1024];
    struct stat file;

    snprintf(path, sizeof(path), "%s/platforms/%s.json", data_dir, platform);
    return t->row && strcmp(t->row[PLATFORM], platform) == 0 &&
           stat(path, &file) == 0 &&
           strtoll(t->row[BYTES], NULL, 10) == (long long)file.st_size;
}

bool msim_platform_is_shipped(const char *data_dir, const char *platform,
                              uint64_t hash)
{
    struct table t = {0};
    bool is = false;

    open_table(&t, data_dir);
    while (t.row && strcmp(t.row[PLATFORM], platform) < 0)
        next(&t);
    if (t.row && strcmp(t.row[PLATFORM], platform) == 0)
        is = strtoull(t.row[HASH], NULL, 16) == hash;
    msim_csv_close(t.csv);
    return is;
}

/* From the table where it has rows of that very file, else from the file. Both
 * are in the order of names. */
static enum msim_status add_platform(struct rows *r, struct table *t,
                                     const char *data_dir, const char *platform)
{
    enum msim_status status = MSIM_OK;
    bool known;

    while (t->row && strcmp(t->row[PLATFORM], platform) < 0)
        next(t);
    known = is_of_file(t, data_dir, platform);
    for (; t->row && strcmp(t->row[PLATFORM], platform) == 0; next(t))
        if (known && status == MSIM_OK)
            status = add_row(r, platform, t->row);
    return known ? status : add_file(r, data_dir, platform);
}

enum msim_status msim_platform_calls(struct msim_arena *arena,
                                     const char *data_dir,
                                     struct msim_platform_called **rows,
                                     uint32_t *n, struct msim_error *err)
{
    struct rows r = {.arena = arena};
    struct table table = {0};
    const char *const *names;
    enum msim_status status;
    uint32_t n_names;

    *rows = NULL;
    *n = 0;
    MSIM_TRY(msim_platform_list(arena, data_dir, &names, &n_names, err));
    open_table(&table, data_dir);
    status = MSIM_OK;
    for (uint32_t i = 0; status == MSIM_OK && i < n_names; i++)
        status = add_platform(&r, &table, data_dir, names[i]);
    msim_csv_close(table.csv);
    if (status != MSIM_OK) {
        free(r.at);
        return status;
    }
    *rows = r.at;
    *n = r.n;
    return MSIM_OK;
}

static int letter(char c)
{
    return c == ' ' || c == '_' ? '-' : tolower((unsigned char)c);
}

/* "RTX 4090" and "rtx_4090" are rtx-4090, too. */
static bool is_name(const char *name, const char *typed)
{
    while (*name && letter(*name) == letter(*typed)) {
        name++;
        typed++;
    }
    return !*name && !*typed;
}

/* The platform with this name or alias, or NULL. */
static enum msim_status resolve(struct msim_arena *arena, const char *data_dir,
                                const char *name, const char **found,
                                struct msim_error *err)
{
    struct msim_platform_called *rows;
    const char *const *names;
    uint32_t n;

    *found = NULL;
    MSIM_TRY(msim_platform_list(arena, data_dir, &names, &n, err));
    for (uint32_t i = 0; i < n && !*found; i++)
        if (is_name(names[i], name))
            *found = names[i];
    if (*found)
        return MSIM_OK;
    MSIM_TRY(msim_platform_calls(arena, data_dir, &rows, &n, err));
    for (uint32_t i = 0; i < n && !*found; i++)
        if (rows[i].kind == MSIM_CALLED_ALIAS && is_name(rows[i].name, name))
            *found = rows[i].platform;
    free(rows);
    return MSIM_OK;
}

static enum msim_status find(char *path, size_t size, struct msim_arena *arena,
                             const char *data_dir, const char *name,
                             struct msim_error *err)
{
    const char *const *names;
    const char *found;
    uint32_t n;

    MSIM_TRY(resolve(arena, data_dir, name, &found, err));
    if (!found) {
        MSIM_TRY(msim_platform_list(arena, data_dir, &names, &n, err));
        return msim_data_unknown("platform", name, names, n, err);
    }
    snprintf(path, size, "%s/platforms/%s.json", data_dir, found);
    return MSIM_OK;
}

enum msim_status msim_platform_find(char *path, size_t size,
                                    const char *data_dir, const char *name,
                                    struct msim_error *err)
{
    struct msim_arena arena;
    enum msim_status status;

    if (msim_data_is_path(name)) {
        snprintf(path, size, "%s", name);
        return MSIM_OK;
    }
    msim_arena_init(&arena);
    status = find(path, size, &arena, data_dir, name, err);
    msim_arena_release(&arena);
    return status;
}

/* ---- traced GPUs -------------------------------------------------------- */

/* Memory or SMs of 0 are unknown and match all. */
static bool is_device(const struct msim_platform_called *row, const char *gpu,
                      uint64_t memory_bytes, uint32_t sms)
{
    double memory = (double)memory_bytes;

    return row->kind == MSIM_CALLED_DEVICE && strcasecmp(row->name, gpu) == 0 &&
           (memory_bytes == 0 ||
            (memory >= row->memory_from && memory <= row->memory_to)) &&
           (sms == 0 || row->sms == sms);
}

const char *msim_platform_match(struct msim_arena *arena, const char *data_dir,
                                const char *gpu, uint64_t memory_bytes,
                                uint32_t sms)
{
    struct msim_platform_called *rows;
    const char *found = NULL;
    uint32_t n;

    if (msim_platform_calls(arena, data_dir, &rows, &n, NULL) != MSIM_OK)
        return NULL;
    for (uint32_t i = 0; i < n && !found; i++)
        if (is_device(&rows[i], gpu, memory_bytes, sms))
            found = rows[i].platform;
    free(rows);
    return found;
}
