/*
 * models/platform/platform.c - finding, loading and asking platforms.
 */
#include "models/platform/platform.h"

#include "core/base/vec.h"
#include "models/platform/platform_data.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define STAND_INS_MAX 16

static enum msim_status wrong(const struct msim_platform *p, const char *key,
                              const char *want, struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, p->path, MSIM_OFFSET_NONE,
                     "'%s' is missing or wrong, want %s", key, want);
}

static enum msim_status read_fits(struct msim_platform *p, const cJSON *json,
                                  struct msim_error *err)
{
    const cJSON *fits = cJSON_GetObjectItemCaseSensitive(json, "cells");
    const cJSON *fit;

    p->fits = calloc((size_t)cJSON_GetArraySize(fits) + 1, sizeof(*p->fits));
    if (!p->fits)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(fit, fits)
    {
        MSIM_TRY(msim_fit_read(&p->fits[p->n_fits], fit, p->path, err));
        p->n_fits++;
    }
    return MSIM_OK;
}

/* Everything but the data sheet, which may leave figures to the kin. */
static enum msim_status read_head(struct msim_platform *p, const cJSON *json,
                                  struct msim_error *err)
{
    const char *name = msim_json_get_text(json, "name");
    const char *title = msim_json_get_text(json, "title");
    const char *generation = msim_json_get_text(json, "generation");
    const char *kind = msim_json_get_text(json, "kind");
    const cJSON *more = cJSON_GetObjectItemCaseSensitive(json, "parameters");
    const cJSON *beside = cJSON_GetObjectItemCaseSensitive(json, "beside");

    if (kind && strcmp(kind, "cpu") != 0 && strcmp(kind, "gpu") != 0)
        return wrong(p, "kind", "cpu or gpu", err);
    p->is_host = kind && strcmp(kind, "cpu") == 0;
    if (!name || !generation)
        return wrong(p, name ? "generation" : "name", "a text", err);
    snprintf(p->name, sizeof(p->name), "%s", name);
    snprintf(p->title, sizeof(p->title), "%s", title ? title : name);
    snprintf(p->generation, sizeof(p->generation), "%s", generation);
    p->conv_strided_data =
        msim_json_get_number(more, "conv_strided_data_gradient", 1);
    p->conv_weight = msim_json_get_number(more, "conv_weight_gradient", 1);
    p->slowdown =
        beside ? fmax(msim_json_get_number(beside, "median", 1), 1) : 0;
    return read_fits(p, json, err);
}

static enum msim_status read_sheet(struct msim_platform *p, const cJSON *json,
                                   const struct msim_data_sheet *like,
                                   struct msim_error *err)
{
    return msim_data_sheet_read(
        &p->sheet, cJSON_GetObjectItemCaseSensitive(json, "data_sheet"), like,
        p->path, err);
}

static enum msim_status open_file(struct msim_platform **out, cJSON **json,
                                  const char *path, struct msim_error *err)
{
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return MSIM_ENOMEM;
    snprintf((*out)->path, sizeof((*out)->path), "%s", path);
    MSIM_TRY(msim_json_read(json, path, err));
    return read_head(*out, *json, err);
}

/* A file for itself, without those that stand in for it. */
static enum msim_status load_alone(struct msim_platform **out, const char *path,
                                   struct msim_error *err)
{
    cJSON *json = NULL;
    enum msim_status status = open_file(out, &json, path, err);

    if (status == MSIM_OK)
        status = read_sheet(*out, json, NULL, err);
    cJSON_Delete(json);
    if (status != MSIM_OK) {
        msim_platform_free(*out);
        *out = NULL;
    }
    return status;
}

/* ---- the directory ---------------------------------------------------- */

static bool is_platform_file(const char *file)
{
    size_t n = strlen(file);

    return n > 5 && file[0] != '.' && strcmp(file + n - 5, ".json") == 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of the *.json files in an open directory, not yet sorted. */
static enum msim_status collect(struct msim_arena *arena, DIR *dir,
                                const char ***names, uint32_t *n)
{
    const char **list = NULL;
    uint32_t capacity = 0, count = 0;
    enum msim_status status = MSIM_OK;
    struct dirent *entry;

    while (status == MSIM_OK && (entry = readdir(dir))) {
        size_t length = strlen(entry->d_name);
        char *text;

        if (!is_platform_file(entry->d_name))
            continue;
        status = msim_grow((void **)&list, &capacity, count, sizeof(*list));
        text = msim_arena_alloc(arena, length);
        if (status != MSIM_OK || !text)
            break;
        memcpy(text, entry->d_name, length - 5);
        list[count++] = text;
    }
    *names = msim_arena_alloc(arena, ((size_t)count + 1) * sizeof(*list));
    if (status == MSIM_OK && !*names)
        status = MSIM_ENOMEM;
    if (status == MSIM_OK && count)
        memcpy(*names, list, count * sizeof(*list));
    *n = count;
    free(list);
    return status;
}

enum msim_status msim_platform_list(struct msim_arena *arena,
                                    const char *data_dir,
                                    const char *const **names, uint32_t *n,
                                    struct msim_error *err)
{
    char path[1024];
    const char **list = NULL;
    enum msim_status status;
    DIR *dir;

    *n = 0;
    snprintf(path, sizeof(path), "%s/platforms", data_dir);
    dir = opendir(path);
    if (!dir)
        return msim_fail(err, MSIM_EIO, path, MSIM_OFFSET_NONE,
                         "the folder of platforms cannot be opened");
    status = collect(arena, dir, &list, n);
    closedir(dir);
    if (status == MSIM_OK)
        qsort(list, *n, sizeof(*list), by_text);
    *names = list;
    return status;
}

/* Read `data_dir`/platforms/NAME.json as a tree; NULL where it fails. */
static cJSON *read_entry(const char *data_dir, const char *name)
{
    char path[1024];
    cJSON *json = NULL;

    snprintf(path, sizeof(path), "%s/platforms/%s.json", data_dir, name);
    return msim_json_read(&json, path, NULL) == MSIM_OK ? json : NULL;
}

static bool has_alias(const cJSON *json, const char *name)
{
    const cJSON *alias;

    cJSON_ArrayForEach(alias, cJSON_GetObjectItemCaseSensitive(json, "aliases"))
    {
        if (cJSON_IsString(alias) && strcasecmp(alias->valuestring, name) == 0)
            return true;
    }
    return false;
}

/* The platform with this name or alias, or NULL. */
static const char *resolve(const char *data_dir, const char *const *names,
                           uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcasecmp(names[i], name) == 0)
            return names[i];
    for (uint32_t i = 0; i < n; i++) {
        cJSON *json = read_entry(data_dir, names[i]);
        bool found = json && has_alias(json, name);

        cJSON_Delete(json);
        if (found)
            return names[i];
    }
    return NULL;
}

static enum msim_status unknown(const char *name, const char *const *names,
                                uint32_t n, struct msim_error *err)
{
    char known[400] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < n && used < sizeof(known); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
                                 i ? ", " : "", names[i]);
    return msim_fail(err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE,
                     "unknown platform '%s', known are: %s", name, known);
}

/* ---- one platform with what it inherits -----------------------------------
 */

/* Add the platform `name` to those that stand in: from beside the file, else
 * from the directory. */
static enum msim_status add_stand_in(struct msim_platform *p,
                                     struct msim_platform **end,
                                     const char *data_dir, const char *name,
                                     struct msim_error *err)
{
    char path[sizeof(p->path) + 64];
    const char *slash = strrchr(p->path, '/');
    int dir = slash ? (int)(slash - p->path) + 1 : 0;

    snprintf(path, sizeof(path), "%.*s%s.json", dir, p->path, name);
    if (access(path, F_OK) != 0)
        snprintf(path, sizeof(path), "%s/platforms/%s.json", data_dir, name);
    return load_alone(end, path, err);
}

/* Those that the file names; what stands in for them is not followed. */
static enum msim_status add_named(struct msim_platform *p, const char *data_dir,
                                  const cJSON *names, struct msim_error *err)
{
    struct msim_platform **end = &p->next;
    const cJSON *name;

    if (cJSON_GetArraySize(names) > STAND_INS_MAX)
        return msim_fail(err, MSIM_EFORMAT, p->path, MSIM_OFFSET_NONE,
                         "more than %d 'stand_ins'", STAND_INS_MAX);
    cJSON_ArrayForEach(name, names)
    {
        if (!cJSON_IsString(name))
            return wrong(p, "stand_ins", "names of platforms", err);
        MSIM_TRY(add_stand_in(p, end, data_dir, name->valuestring, err));
        end = &(*end)->next;
    }
    return MSIM_OK;
}

/* Where a file names none: all of its generation. */
static enum msim_status add_generation(struct msim_platform *p,
                                       const char *data_dir,
                                       struct msim_error *err)
{
    struct msim_platform **end = &p->next;
    struct msim_arena arena;
    const char *const *names;
    uint32_t n, added = 0;
    enum msim_status status;

    msim_arena_init(&arena);
    status = msim_platform_list(&arena, data_dir, &names, &n, err);
    for (uint32_t i = 0; status == MSIM_OK && i < n && added < STAND_INS_MAX;
         i++) {
        cJSON *json = read_entry(data_dir, names[i]);
        const char *g = json ? msim_json_get_text(json, "generation") : NULL;
        bool shared = g && strcmp(g, p->generation) == 0 &&
                      strcmp(names[i], p->name) != 0;

        cJSON_Delete(json);
        if (!shared)
            continue;
        status = add_stand_in(p, end, data_dir, names[i], err);
        if (status == MSIM_OK)
            end = &(*end)->next;
        added++;
    }
    msim_arena_release(&arena);
    return status;
}

static enum msim_status read_common(struct msim_platform *p,
                                    const char *data_dir,
                                    struct msim_error *err)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s/laws/common.json", data_dir);
    return msim_shared_laws_read(&p->common, path, err);
}

static enum msim_status inherit(struct msim_platform *p, const cJSON *json,
                                const char *data_dir, struct msim_error *err)
{
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(json, "stand_ins");

    MSIM_TRY(names ? add_named(p, data_dir, names, err)
                   : add_generation(p, data_dir, err));
    MSIM_TRY(read_sheet(p, json, p->next ? &p->next->sheet : NULL, err));
    MSIM_TRY(read_common(p, data_dir, err));
    return msim_fit_index_make(p, NULL);
}

static enum msim_status load_file(struct msim_platform **out, const char *path,
                                  const char *data_dir, struct msim_error *err)
{
    cJSON *json = NULL;
    enum msim_status status = open_file(out, &json, path, err);

    if (status == MSIM_OK)
        status = inherit(*out, json, data_dir, err);
    cJSON_Delete(json);
    if (status != MSIM_OK) {
        msim_platform_free(*out);
        *out = NULL;
    }
    return status;
}

enum msim_status msim_platform_load(struct msim_platform **out,
                                    const char *data_dir, const char *name,
                                    struct msim_error *err)
{
    char path[1024];
    struct msim_arena arena;
    const char *const *names;
    const char *found;
    enum msim_status status;
    uint32_t n;

    *out = NULL;
    if (strchr(name, '/') || is_platform_file(name))
        return load_file(out, name, data_dir, err);
    msim_arena_init(&arena);
    status = msim_platform_list(&arena, data_dir, &names, &n, err);
    if (status == MSIM_OK) {
        found = resolve(data_dir, names, n, name);
        if (found) {
            snprintf(path, sizeof(path), "%s/platforms/%s.json", data_dir,
                     found);
            status = load_file(out, path, data_dir, err);
        } else {
            status = unknown(name, names, n, err);
        }
    }
    msim_arena_release(&arena);
    return status;
}

enum msim_status msim_platform_pair(struct msim_platform *a,
                                    struct msim_platform *b)
{
    MSIM_TRY(msim_fit_index_make(a, b));
    return msim_fit_index_make(b, a);
}

void msim_platform_free(struct msim_platform *p)
{
    while (p) {
        struct msim_platform *next = p->next;

        for (uint32_t i = 0; i < p->n_fits; i++)
            msim_fit_release(&p->fits[i]);
        free(p->fits);
        msim_shared_laws_release(&p->common);
        msim_fit_index_release(&p->index);
        free(p);
        p = next;
    }
}

/* ---- which platform a traced GPU is ----------------------------------- */

/* Zero memory or SMs: the trace does not say, so they do not count. */
static bool device_matches(const cJSON *json, const char *gpu,
                           uint64_t memory_bytes, uint32_t sms)
{
    const cJSON *device;

    cJSON_ArrayForEach(device,
                       cJSON_GetObjectItemCaseSensitive(json, "devices"))
    {
        const char *name = msim_json_get_text(device, "name");
        double low = msim_json_get_number(device, "memory_from", 0);
        double high = msim_json_get_number(device, "memory_to", INFINITY);
        double units = msim_json_get_number(device, "sms", 0);

        if (name && strcasecmp(name, gpu) == 0 &&
            (memory_bytes == 0 ||
             ((double)memory_bytes >= low && (double)memory_bytes <= high)) &&
            (sms == 0 || units == sms))
            return true;
    }
    return false;
}

const char *msim_platform_match(struct msim_arena *arena, const char *data_dir,
                                const char *gpu, uint64_t memory_bytes,
                                uint32_t sms)
{
    const char *const *names;
    uint32_t n;

    if (msim_platform_list(arena, data_dir, &names, &n, NULL) != MSIM_OK)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        cJSON *json = read_entry(data_dir, names[i]);
        bool found = json && device_matches(json, gpu, memory_bytes, sms);

        cJSON_Delete(json);
        if (found)
            return names[i];
    }
    return NULL;
}

/* ---- questions ---------------------------------------------------------- */

static void join(struct msim_data_sheet *s, const struct msim_network *n)
{
    s->network = n->card_rate;
    s->cards_per_gpu = n->cards_per_node / n->gpus_per_node;
    s->latency_us = n->latency_us;
}

void msim_platform_join(struct msim_platform *p, const struct msim_network *n)
{
    p->joined = true;
    join(&p->sheet, n);
    join(&p->usual, n);
}

void msim_platform_link(struct msim_platform *p,
                        const struct msim_platform *links)
{
    p->links = links;
}

enum msim_status msim_platform_set_clock(struct msim_platform *p,
                                         const struct msim_clock_wish *w,
                                         struct msim_error *err)
{
    const struct msim_data_sheet usual = *msim_platform_usual(p);
    struct msim_sm_clock clock;

    MSIM_TRY(msim_clock_solve(&clock, w, &usual, p->name, err));
    p->clock = clock;
    p->usual = usual;
    p->sheet = msim_clock_sheet(&usual, clock.ratio);
    return MSIM_OK;
}

void msim_platform_set_index_skew(struct msim_platform *p, double skew)
{
    p->sheet.index_skew = skew;
    p->usual.index_skew = skew;
}

const struct msim_sm_clock *msim_platform_clock(const struct msim_platform *p)
{
    return &p->clock;
}

const char *msim_platform_name(const struct msim_platform *p)
{
    return p->name;
}

const char *msim_platform_title(const struct msim_platform *p)
{
    return p->title;
}

const char *msim_platform_file(const struct msim_platform *p)
{
    return p->path;
}

bool msim_platform_is_host(const struct msim_platform *p)
{
    return p->is_host;
}

double msim_platform_peak_flops(const struct msim_platform *p,
                                enum msim_dtype dtype)
{
    return p->sheet.rate[msim_data_sheet_rate(dtype, NULL)];
}

double msim_platform_bandwidth(const struct msim_platform *p)
{
    return p->sheet.bandwidth;
}

double msim_platform_memory_bytes(const struct msim_platform *p)
{
    return p->sheet.memory_bytes;
}

uint32_t msim_platform_sms(const struct msim_platform *p)
{
    return (uint32_t)p->sheet.sms;
}

double msim_platform_trace_factor(const struct msim_platform *p)
{
    return p->sheet.trace_factor;
}

double msim_platform_slowdown(const struct msim_platform *p)
{
    return p->slowdown;
}

double msim_platform_kernel_floor_us(const struct msim_platform *p)
{
    return p->sheet.floor_us;
}
