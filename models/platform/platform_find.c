/*
 * models/platform/platform_find.c - platforms by name, alias and device.
 */
#include "models/platform/platform_find.h"

#include "models/platform/data_path.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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
        cJSON *json = msim_platform_json(data_dir, names[i]);
        bool found = json && has_alias(json, name);

        cJSON_Delete(json);
        if (found)
            return names[i];
    }
    return NULL;
}

static enum msim_status find(char *path, size_t size, struct msim_arena *arena,
                             const char *data_dir, const char *name,
                             struct msim_error *err)
{
    const char *const *names;
    const char *found;
    uint32_t n;

    MSIM_TRY(msim_platform_list(arena, data_dir, &names, &n, err));
    found = resolve(data_dir, names, n, name);
    if (!found)
        return msim_data_unknown("platform", name, names, n, err);
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
        cJSON *json = msim_platform_json(data_dir, names[i]);
        bool found = json && device_matches(json, gpu, memory_bytes, sms);

        cJSON_Delete(json);
        if (found)
            return names[i];
    }
    return NULL;
}
