/*
 * models/platform/data_path.c - the files of data/platforms, data/hosts and
 * data/networks by their names.
 */
#include "models/platform/platform.h"

#include "core/base/containers.h"
#include "core/base/texts.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define ENDING ".json"

static bool is_file(const char *name)
{
    size_t n = strlen(name), end = strlen(ENDING);

    return n > end && name[0] != '.' && strcmp(name + n - end, ENDING) == 0;
}

bool msim_data_is_path(const char *name)
{
    return strchr(name, '/') || is_file(name);
}

bool msim_data_folder(char *path, size_t size, const char *base,
                      const char *tail)
{
    char inside[PATH_MAX];
    struct stat st;
    int n = snprintf(path, size, "%s%s", base, tail);
    int m = snprintf(inside, sizeof(inside), "%s%s/platforms", base, tail);

    return n > 0 && (size_t)n < size && (size_t)m < sizeof(inside) &&
           stat(inside, &st) == 0 && S_ISDIR(st.st_mode);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of the files in an open directory, not yet sorted. */
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

        if (!is_file(entry->d_name))
            continue;
        status = msim_grow((void **)&list, &capacity, count, sizeof(*list));
        text = msim_arena_alloc(arena, length);
        if (status == MSIM_OK && !text)
            status = MSIM_ENOMEM;
        if (status != MSIM_OK)
            break;
        memcpy(text, entry->d_name, length - strlen(ENDING));
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

enum msim_status msim_data_list(struct msim_arena *arena, const char *data_dir,
                                const char *kind, const char *const **names,
                                uint32_t *n, struct msim_error *err)
{
    char path[1024];
    const char **list = NULL;
    enum msim_status status;
    DIR *dir;

    *n = 0;
    snprintf(path, sizeof(path), "%s/%ss", data_dir, kind);
    dir = opendir(path);
    if (!dir)
        return msim_fail(err, MSIM_EIO, path, MSIM_OFFSET_NONE,
                         "the folder of %ss cannot be opened", kind);
    status = collect(arena, dir, &list, n);
    closedir(dir);
    if (status == MSIM_OK)
        qsort(list, *n, sizeof(*list), by_text);
    *names = list;
    return status;
}

/* The first number of a name, "4090" of "rtx-4090-d": which GPU it is, as
 * people know it. NULL where none has two digits. */
static const char *number_of(const char *name, size_t *digits)
{
    for (*digits = 0; *name; name += *digits ? *digits : 1) {
        *digits = strspn(name, "0123456789");
        if (*digits > 1)
            return name;
    }
    return NULL;
}

static bool has_number_of(const char *name, const char *other)
{
    size_t n, m;
    const char *a = number_of(name, &n), *b = number_of(other, &m);

    return a && b && n == m && memcmp(a, b, n) == 0;
}

/* The shortest name of the same number and first letter: "rtx4090ti" is rather
 * rtx-4090 than rtx-2080ti. */
static const char *same_number(const char *typed, const char *const *names,
                               uint32_t n)
{
    const char *best = NULL;

    for (uint32_t i = 0; i < n; i++)
        if (has_number_of(typed, names[i]) && names[i][0] == typed[0] &&
            (!best || strlen(names[i]) < strlen(best)))
            best = names[i];
    return best;
}

/* What a mistyped name was meant to be; NULL. */
static const char *near_name(const char *typed, const char *const *names,
                             uint32_t n)
{
    const char *near = msim_nearest_word(typed, names, n);
    const char *number = same_number(typed, names, n);

    return number && !(near && has_number_of(near, typed)) ? number : near;
}

enum msim_status msim_data_unknown(const char *kind, const char *name,
                                   const char *const *names, uint32_t n,
                                   struct msim_error *err)
{
    bool is_list = strchr(name, ',');
    const char *near = is_list ? NULL : near_name(name, names, n);
    char known[900] = "", meant[96] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < n && used < sizeof(known); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
                                 i ? ", " : "", names[i]);
    if (near)
        snprintf(meant, sizeof(meant), "did you mean '%.64s'? ", near);
    return msim_fail(err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE,
                     "unknown %s '%s', %s%s: %s", kind, name, meant,
                     is_list ? "want one name here, of" : "known are", known);
}

static enum msim_status find(char *path, size_t size, struct msim_arena *arena,
                             const char *data_dir, const char *kind,
                             const char *name, struct msim_error *err)
{
    const char *const *names;
    uint32_t n;

    MSIM_TRY(msim_data_list(arena, data_dir, kind, &names, &n, err));
    for (uint32_t i = 0; i < n; i++)
        if (strcasecmp(names[i], name) == 0) {
            snprintf(path, size, "%s/%ss/%s" ENDING, data_dir, kind, names[i]);
            return MSIM_OK;
        }
    return msim_data_unknown(kind, name, names, n, err);
}

enum msim_status msim_data_path(char *path, size_t size, const char *data_dir,
                                const char *kind, const char *name,
                                struct msim_error *err)
{
    struct msim_arena arena;
    enum msim_status status;

    if (msim_data_is_path(name)) {
        snprintf(path, size, "%s", name);
        return MSIM_OK;
    }
    msim_arena_init(&arena);
    status = find(path, size, &arena, data_dir, kind, name, err);
    msim_arena_release(&arena);
    return status;
}
