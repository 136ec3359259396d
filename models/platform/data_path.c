/*
 * models/platform/data_path.c - the files of data/hosts and data/networks by
 * their names.
 */
#include "models/platform/data_path.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_file(const char *name)
{
    size_t n = strlen(name);

    return n > 5 && name[0] != '.' && strcmp(name + n - 5, ".json") == 0;
}

static int only_files(const struct dirent *entry)
{
    return is_file(entry->d_name);
}

static enum msim_status unknown(const char *kind, const char *name,
                                struct dirent *const *files, int n,
                                struct msim_error *err)
{
    char known[400] = "";
    size_t used = 0;

    for (int i = 0; i < n && used < sizeof(known); i++)
        used += (size_t)snprintf(
            known + used, sizeof(known) - used, "%s%.*s", i ? ", " : "",
            (int)strlen(files[i]->d_name) - 5, files[i]->d_name);
    return msim_fail(err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE,
                     "unknown %s '%s', known are: %s", kind, name, known);
}

static enum msim_status find(char *path, size_t size, const char *dir,
                             const char *kind, const char *name,
                             struct msim_error *err)
{
    struct dirent **files;
    int n = scandir(dir, &files, only_files, alphasort), found = -1;
    enum msim_status status = MSIM_OK;

    if (n < 0)
        return msim_fail(err, MSIM_EIO, dir, MSIM_OFFSET_NONE,
                         "the folder of %ss cannot be opened", kind);
    for (int i = 0; i < n && found < 0; i++)
        if (strlen(name) + 5 == strlen(files[i]->d_name) &&
            strncasecmp(files[i]->d_name, name, strlen(name)) == 0)
            found = i;
    if (found < 0)
        status = unknown(kind, name, files, n, err);
    else
        snprintf(path, size, "%s/%s", dir, files[found]->d_name);
    for (int i = 0; i < n; i++)
        free(files[i]);
    free(files);
    return status;
}

enum msim_status msim_data_path(char *path, size_t size, const char *data_dir,
                                const char *kind, const char *name,
                                struct msim_error *err)
{
    char dir[1024];

    if (strchr(name, '/') || is_file(name)) {
        snprintf(path, size, "%s", name);
        return MSIM_OK;
    }
    snprintf(dir, sizeof(dir), "%s/%ss", data_dir, kind);
    return find(path, size, dir, kind, name, err);
}
