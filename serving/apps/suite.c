/*
 * serving/apps/suite.c - the files of a suite, in order of their names, so that
 * points are numbered alike on every machine.
 */
#include "serving/apps/app_sweep.h"

#include "serving/app/app.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SUFFIX    ".json"
#define MOST_APPS 10000

static bool is_app(const char *name)
{
    size_t n = strlen(name), suffix = strlen(SUFFIX);

    return name[0] != '.' && n > suffix &&
           strcmp(name + n - suffix, SUFFIX) == 0;
}

/* The file's name without folders and suffix. */
static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t n = strlen(base), suffix = strlen(SUFFIX);

    return strndup(base, is_app(base) ? n - suffix : n);
}

static enum msim_status add(struct msim_suite *s, const char *path,
                            struct msim_error *err)
{
    struct msim_suite_app *more =
        realloc(s->apps, (s->n + 1u) * sizeof(*s->apps));
    struct msim_suite_app *a;
    struct msim_app app;

    if (!more)
        return MSIM_ENOMEM;
    s->apps = more;
    a = &s->apps[s->n];
    *a = (struct msim_suite_app){.path = strdup(path), .name = name_of(path)};
    s->n++;
    if (!a->path || !a->name)
        return MSIM_ENOMEM;
    MSIM_TRY(msim_json_read(&a->json, path, err));
    MSIM_TRY(msim_app_of_json(&app, a->json, path, err));
    msim_app_release(&app);
    return MSIM_OK;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_wanted(const struct dirent *e)
{
    return is_app(e->d_name);
}

static enum msim_status add_folder(struct msim_suite *s, const char *folder,
                                   struct msim_error *err)
{
    struct dirent **files;
    int n = scandir(folder, &files, is_wanted, by_name);
    enum msim_status status = MSIM_OK;
    char path[4096];

    if (n < 0)
        return msim_fail(err, MSIM_EIO, folder, MSIM_OFFSET_NONE,
                         "cannot be read: %s", strerror(errno));
    if (n == 0 || n > MOST_APPS)
        status = msim_fail(err, MSIM_EFORMAT, folder, MSIM_OFFSET_NONE,
                           "has %d files NAME.json, want applications, one a "
                           "file (1 to %d)",
                           n, MOST_APPS);
    for (int i = 0; i < n && status == MSIM_OK; i++) {
        if (snprintf(path, sizeof(path), "%s/%s", folder, files[i]->d_name) >=
            (int)sizeof(path))
            status = msim_fail(err, MSIM_EIO, folder, MSIM_OFFSET_NONE,
                               "its path is too long");
        else
            status = add(s, path, err);
    }
    for (int i = 0; i < n; i++)
        free(files[i]);
    free(files);
    return status;
}

enum msim_status msim_suite_read(struct msim_suite *s, const char *path,
                                 struct msim_error *err)
{
    struct stat st;
    enum msim_status status;

    memset(s, 0, sizeof(*s));
    status = stat(path, &st) == 0 && S_ISDIR(st.st_mode)
                 ? add_folder(s, path, err)
                 : add(s, path, err);
    if (status != MSIM_OK)
        msim_suite_release(s);
    return status;
}

void msim_suite_release(struct msim_suite *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        free(s->apps[i].path);
        free(s->apps[i].name);
        cJSON_Delete(s->apps[i].json);
    }
    free(s->apps);
    memset(s, 0, sizeof(*s));
}
