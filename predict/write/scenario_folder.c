/*
 * predict/write/scenario_folder.c - names of scenarios as those of folders.
 */
#include "predict/write/scenario_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 100 /* bytes of a folder's own name */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

char *msim_scenario_folder(const char *dir, const char *name)
{
    size_t n = strlen(dir), length = strlen(name);
    char *path, *own;

    length = length < LONGEST ? length : LONGEST;
    path = malloc(n + length + 2);
    if (!path)
        return NULL;
    memcpy(path, dir, n);
    path[n] = '/';
    own = path + n + 1;
    for (size_t i = 0; i < length; i++)
        own[i] = is_plain(name[i]) && (i || name[i] != '.') ? name[i] : '-';
    own[length] = '\0';
    return path;
}

/* The scenario before `i` that has the folder `path`; `i`: none has. */
static uint32_t namesake(const char *dir, const char *const *names, uint32_t i,
                         const char *path, bool *failed)
{
    uint32_t k = 0;

    for (; k < i && !*failed; k++) {
        char *other = msim_scenario_folder(dir, names[k]);
        bool same = other && strcmp(other, path) == 0;

        *failed = !other;
        free(other);
        if (same)
            break;
    }
    return k;
}

static enum msim_status look(const char *dir, const char *const *names,
                             uint32_t i, const struct msim_folder_kinds *kinds,
                             struct msim_error *err)
{
    char *path = msim_scenario_folder(dir, names[i]);
    bool failed = !path;
    uint32_t other = failed ? i : namesake(dir, names, i, path, &failed);
    enum msim_status status = failed ? MSIM_ENOMEM : MSIM_OK;

    if (!failed && other < i)
        status = msim_fail(err, MSIM_EUSAGE, path, MSIM_OFFSET_NONE,
                           "would be the folder of scenario '%.80s' and of "
                           "'%.80s', want names that differ in letters or "
                           "digits",
                           names[other], names[i]);
    if (status == MSIM_OK)
        status = msim_folder_look(path, kinds, err);
    free(path);
    return status;
}

enum msim_status
msim_scenario_folders_look(const char *dir, const char *const *names,
                           uint32_t n, const struct msim_folder_kinds *kinds,
                           struct msim_error *err)
{
    for (uint32_t i = 0; i < n; i++)
        MSIM_TRY(look(dir, names, i, kinds, err));
    return MSIM_OK;
}
