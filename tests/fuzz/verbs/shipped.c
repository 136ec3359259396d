/*
 * tests/fuzz/verbs/shipped.c - what the product ships is read once a process,
 * so that the time of a run goes to what the fuzzer made.
 *
 * The linker (--wrap) puts these functions before those of their names.
 */
#include "core/base/json.h"
#include "models/platform/platform.h"

#include <string.h>

#define MOST_KEPT 100

enum msim_status __real_msim_json_read(cJSON **out, const char *path,
                                       struct msim_error *err);
enum msim_status __wrap_msim_json_read(cJSON **out, const char *path,
                                       struct msim_error *err);
void __real_cJSON_Delete(cJSON *item);
void __wrap_cJSON_Delete(cJSON *item);
enum msim_status __real_msim_platform_load(struct msim_platform **out,
                                           const char *data_dir,
                                           const char *name,
                                           struct msim_error *err);
enum msim_status __wrap_msim_platform_load(struct msim_platform **out,
                                           const char *data_dir,
                                           const char *name,
                                           struct msim_error *err);

/* ---- JSON ---------------------------------------------------------------- */

static struct {
    char path[512];
    cJSON *json;
} kept[MOST_KEPT];

enum msim_status __wrap_msim_json_read(cJSON **out, const char *path,
                                       struct msim_error *err)
{
    size_t i = 0;

    if (strncmp(path, MSIM_DATA, strlen(MSIM_DATA)) != 0)
        return __real_msim_json_read(out, path, err);
    while (i < MOST_KEPT && kept[i].json && strcmp(kept[i].path, path) != 0)
        i++;
    if (i == MOST_KEPT || strlen(path) >= sizeof(kept->path))
        return __real_msim_json_read(out, path, err);
    if (!kept[i].json) {
        MSIM_TRY(__real_msim_json_read(&kept[i].json, path, err));
        snprintf(kept[i].path, sizeof(kept->path), "%s", path);
    }
    *out = kept[i].json;
    return MSIM_OK;
}

void __wrap_cJSON_Delete(cJSON *item)
{
    for (size_t i = 0; i < MOST_KEPT && kept[i].json; i++)
        if (kept[i].json == item)
            return;
    __real_cJSON_Delete(item);
}

/* ---- platforms ----------------------------------------------------------- */

/* Those that targets name. */
enum msim_status __wrap_msim_platform_load(struct msim_platform **out,
                                           const char *data_dir,
                                           const char *name,
                                           struct msim_error *err)
{
    static struct {
        const char *name;
        struct msim_platform *p;
    } shipped[] = {{"a30", NULL}, {"a10", NULL}};
    size_t i = 0, n = sizeof(shipped) / sizeof(*shipped);

    while (i < n && strcmp(shipped[i].name, name) != 0)
        i++;
    if (i == n)
        return __real_msim_platform_load(out, data_dir, name, err);
    if (!shipped[i].p)
        MSIM_TRY(__real_msim_platform_load(&shipped[i].p, data_dir, name, err));
    return msim_platform_copy(out, shipped[i].p);
}
