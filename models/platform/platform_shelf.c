/*
 * models/platform/platform_shelf.c - platforms that are read once.
 */
#include "models/platform/platform_shelf.h"

#include "core/base/vec.h"

#include <stdlib.h>
#include <string.h>

struct msim_shelf_entry {
    char *data_dir, *name;
    struct msim_platform *platform;
};

static const struct msim_platform *find(const struct msim_platform_shelf *shelf,
                                        const char *data_dir, const char *name)
{
    for (uint32_t i = 0; i < shelf->n; i++)
        if (strcmp(shelf->entries[i].name, name) == 0 &&
            strcmp(shelf->entries[i].data_dir, data_dir) == 0)
            return shelf->entries[i].platform;
    return NULL;
}

static void drop(struct msim_shelf_entry *e)
{
    free(e->data_dir);
    free(e->name);
    msim_platform_free(e->platform);
}

static enum msim_status add(struct msim_platform_shelf *shelf,
                            const char *data_dir, const char *name,
                            struct msim_error *err)
{
    struct msim_shelf_entry e = {.data_dir = strdup(data_dir),
                                 .name = strdup(name)};
    enum msim_status status = e.data_dir && e.name ? MSIM_OK : MSIM_ENOMEM;

    if (status == MSIM_OK)
        status = msim_platform_load(&e.platform, data_dir, name, err);
    if (status == MSIM_OK)
        status = msim_grow((void **)&shelf->entries, &shelf->cap, shelf->n,
                           sizeof(e));
    if (status == MSIM_OK)
        shelf->entries[shelf->n++] = e;
    else
        drop(&e);
    return status;
}

enum msim_status msim_platform_take(struct msim_platform_shelf *shelf,
                                    struct msim_platform **out,
                                    const char *data_dir, const char *name,
                                    struct msim_error *err)
{
    *out = NULL;
    if (!shelf)
        return msim_platform_load(out, data_dir, name, err);
    if (!find(shelf, data_dir, name))
        MSIM_TRY(add(shelf, data_dir, name, err));
    return msim_platform_copy(out, find(shelf, data_dir, name));
}

void msim_platform_shelf_release(struct msim_platform_shelf *shelf)
{
    for (uint32_t i = 0; i < shelf->n; i++)
        drop(&shelf->entries[i]);
    free(shelf->entries);
    memset(shelf, 0, sizeof(*shelf));
}
