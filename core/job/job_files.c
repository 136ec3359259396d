/*
 * core/job/job_files.c - which files a job is made of.
 */
#include "core/job/job_files.h"

#include "core/base/containers.h"
#include "core/base/files.h"
#include "core/stream/input.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_FILES 1000000

void msim_job_files_release(struct msim_job_files *files)
{
    uint32_t i;

    for (i = 0; i < files->n; i++)
        free(files->all[i].path);
    free(files->all);
    *files = (struct msim_job_files){0};
}

static enum msim_status add_path(struct msim_job_files *files, char *path,
                                 bool named)
{
    if (!path)
        return MSIM_ENOMEM;
    if (files->n >= MAX_FILES ||
        msim_grow((void **)&files->all, &files->cap, files->n,
                  sizeof(*files->all)) != MSIM_OK) {
        free(path);
        return files->n >= MAX_FILES ? MSIM_ELIMIT : MSIM_ENOMEM;
    }
    files->all[files->n++] = (struct msim_job_file){path, named};
    return MSIM_OK;
}

static char *joined(const char *dir, const char *name)
{
    size_t len = strlen(dir);
    char *path;

    while (len > 1 && dir[len - 1] == '/')
        len--;
    if (asprintf(&path, "%.*s/%s", (int)len, dir, name) < 0)
        return NULL;
    return path;
}

/* Put the regular files of `dir` on `files`, its directories on `dirs`. */
static enum msim_status list_dir(const char *dir, struct msim_job_files *files,
                                 struct msim_job_files *dirs,
                                 struct msim_error *err)
{
    DIR *d = opendir(dir);
    enum msim_status status = MSIM_OK;
    struct dirent *entry;

    if (!d)
        return msim_fail(err, MSIM_EIO, dir, MSIM_OFFSET_NONE,
                         "cannot open: %s", strerror(errno));
    while (status == MSIM_OK && (entry = readdir(d))) {
        struct stat st;
        char *path;

        if (entry->d_name[0] == '.')
            continue;
        path = joined(dir, entry->d_name);
        if (!path) {
            status = MSIM_ENOMEM;
        } else if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            status = add_path(dirs, path, false);
        } else if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            status = add_path(files, path, false);
        } else {
            free(path);
        }
    }
    closedir(d);
    return status;
}

static int by_path(const void *a, const void *b)
{
    const struct msim_job_file *x = a, *y = b;

    return strcmp(x->path, y->path);
}

/* A directory and all below it, without recursion. */
static enum msim_status search(const char *root, struct msim_job_files *files,
                               struct msim_error *err)
{
    struct msim_job_files dirs = {0};
    uint32_t from = files->n, i;
    enum msim_status status = add_path(&dirs, strdup(root), false);

    for (i = 0; status == MSIM_OK && i < dirs.n; i++) {
        /* list_dir() may move dirs.all. */
        char *dir = dirs.all[i].path;

        status = list_dir(dir, files, &dirs, err);
    }
    msim_job_files_release(&dirs);
    if (files->n > from)
        qsort(files->all + from, files->n - from, sizeof(*files->all), by_path);
    return status;
}

enum msim_status msim_job_files_find(struct msim_job_files *files,
                                     const char *const *paths, uint32_t n,
                                     struct msim_error *err)
{
    enum msim_status status = MSIM_OK;
    uint32_t i;

    for (i = 0; i < n && status == MSIM_OK; i++) {
        struct stat st;

        if (!strcmp(paths[i], "-")) {
            status = add_path(files, strdup("-"), true);
        } else if (stat(paths[i], &st) != 0) {
            status = msim_fail(err, MSIM_EIO, paths[i], MSIM_OFFSET_NONE,
                               "cannot open: %s", strerror(errno));
        } else if (S_ISDIR(st.st_mode)) {
            status = msim_files_read_note(paths[i], err);
            if (status == MSIM_OK)
                status = search(paths[i], files, err);
        } else {
            status = add_path(files, strdup(paths[i]), true);
        }
    }
    if (status != MSIM_OK)
        msim_fail(err, status, NULL, MSIM_OFFSET_NONE, "%s",
                  msim_status_text(status));
    return status;
}

/* ---- names -------------------------------------------------------------- */

/* Length of `name` without one suffix of `suffixes`; 0 if it has none. */
static size_t without(const char *name, size_t len, const char *const *suffixes)
{
    for (; *suffixes; suffixes++) {
        size_t s = strlen(*suffixes);

        if (len > s && !memcmp(name + len - s, *suffixes, s))
            return len - s;
    }
    return 0;
}

static const char *const packed[] = {".gz", ".zst", NULL};
static const char *const traces[] = {".json", ".et", ".sqlite", NULL};

size_t msim_job_stem(const char *name)
{
    size_t len = strlen(name), unpacked = without(name, len, packed);

    return without(name, unpacked ? unpacked : len, traces);
}

bool msim_job_looks_like_trace(const char *path)
{
    return msim_job_stem(msim_path_name(path)) != 0;
}
