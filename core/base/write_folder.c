/*
 * core/base/write_folder.c - a folder that this program fills with its files.
 */
#include "core/base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define LOOK 1024 /* bytes from either end: a mark is there */

/* Paths of files in it fit wherever one is put together. */
#define MOST_PATH 880

/* ---- whose file it is ---------------------------------------------------- */

bool msim_folder_matches(const char *pattern, const char *name, size_t n)
{
    const char *end = name + n;

    for (; *pattern; pattern++) {
        const char *from = name;

        if (*pattern != '#') {
            if (name == end || *name++ != *pattern)
                return false;
            continue;
        }
        while (name < end && *name >= '0' && *name <= '9')
            name++;
        if (name == from)
            return false;
    }
    return name == end;
}

static const struct msim_folder_kind *
kind_of(const struct msim_folder_kinds *kinds, const char *name, size_t n)
{
    for (uint32_t i = 0; i < kinds->n; i++)
        if (msim_folder_matches(kinds->of[i].name, name, n))
            return &kinds->of[i];
    return NULL;
}

static bool is_wanted(const void *kinds, const char *name, size_t n)
{
    return kind_of(kinds, name, n) != NULL;
}

static bool holds(int fd, off_t from, const char *mark)
{
    char bytes[LOOK];
    ssize_t n = pread(fd, bytes, sizeof(bytes), from);

    return n > 0 && memmem(bytes, (size_t)n, mark, strlen(mark));
}

/* The first bytes of what is packed; zlib hands out other files as they are. */
static bool begins_with(int fd, const char *mark)
{
    char bytes[LOOK];
    gzFile f = lseek(fd, 0, SEEK_SET) == 0 ? gzdopen(dup(fd), "rb") : NULL;
    int n = f ? gzread(f, bytes, sizeof(bytes)) : 0;

    gzclose(f);
    return n > 0 && memmem(bytes, (size_t)n, mark, strlen(mark));
}

bool msim_folder_is_marked(const char *path, const char *mark)
{
    /* A pipe of that name would wait for its other end. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    bool is = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
              (holds(fd, st.st_size > LOOK ? st.st_size - LOOK : 0, mark) ||
               begins_with(fd, mark));

    if (fd >= 0)
        close(fd);
    return is;
}

enum msim_status msim_folder_spare(const char *path, const char *mark,
                                   struct msim_error *err)
{
    struct stat st;

    MSIM_TRY(msim_files_read_spare(path, err));
    if (stat(path, &st) != 0 || msim_folder_is_marked(path, mark))
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, path, MSIM_OFFSET_NONE,
                     "would be replaced, but was not written by "
                     "mystique-sim; want another output, or move it");
}

static enum msim_status look_at(const char *folder, const char *name,
                                const struct msim_folder_kind *kind,
                                struct msim_error *err)
{
    enum msim_status status;
    char *path;

    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return MSIM_ENOMEM;
    status = msim_folder_spare(path, kind->mark, err);
    free(path);
    return status;
}

static enum msim_status look_at_all(DIR *d, const char *path,
                                    const struct msim_folder_kinds *kinds,
                                    struct msim_error *err)
{
    const struct dirent *entry;

    while ((entry = readdir(d))) {
        const struct msim_folder_kind *kind =
            kind_of(kinds, entry->d_name, strlen(entry->d_name));

        if (kind)
            MSIM_TRY(look_at(path, entry->d_name, kind, err));
    }
    return MSIM_OK;
}

enum msim_status msim_folder_look(const char *path,
                                  const struct msim_folder_kinds *kinds,
                                  struct msim_error *err)
{
    enum msim_status status;
    DIR *d;

    MSIM_TRY(msim_files_read_spare(path, err));
    if (strlen(path) > MOST_PATH)
        return msim_fail(err, MSIM_EUSAGE, path, MSIM_OFFSET_NONE,
                         "the folder's path has %zu bytes, want at most %d",
                         strlen(path), MOST_PATH);
    d = opendir(path);
    if (!d) /* it is not there, or making files in it will say why not */
        return MSIM_OK;
    status = look_at_all(d, path, kinds, err);
    closedir(d);
    if (status == MSIM_OK)
        msim_file_sweep(path, is_wanted, kinds);
    return status;
}

/* ---- filling ------------------------------------------------------------- */

enum msim_status msim_folder_make(const char *path, struct msim_error *err)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST
               ? MSIM_OK
               : msim_fail(err, errno == ENOSPC ? MSIM_EWRITE : MSIM_EIO, path,
                           MSIM_OFFSET_NONE, "cannot be made: %s",
                           strerror(errno));
}

enum msim_status msim_folder_begin(struct msim_folder *f, const char *path,
                                   const struct msim_folder_kinds *kinds,
                                   struct msim_error *err)
{
    *f = (struct msim_folder){.path = strdup(path), .kinds = kinds, .lock = -1};
    if (!f->path)
        return MSIM_ENOMEM;
    MSIM_TRY(msim_files_read_spare(path, err));
    MSIM_TRY(msim_folder_make(path, err));
    /* Not every file system has locks: then nobody waits. */
    f->lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (f->lock >= 0 && flock(f->lock, LOCK_EX) != 0 && errno == EINTR)
        ;
    return msim_folder_look(path, kinds, err);
}

static enum msim_status note_name(struct msim_folder *f, const char *name)
{
    char *copy = strdup(name);
    char **slot = copy ? msim_vec_add(&f->names, sizeof(*slot)) : NULL;

    if (!slot) {
        free(copy);
        return MSIM_ENOMEM;
    }
    *slot = copy;
    return MSIM_OK;
}

enum msim_status msim_folder_file(struct msim_file **out, struct msim_folder *f,
                                  const char *name, struct msim_error *err)
{
    enum msim_status status;
    char *path;

    *out = NULL;
    MSIM_TRY(note_name(f, name));
    if (asprintf(&path, "%s/%s", f->path, name) < 0)
        return MSIM_ENOMEM;
    status = msim_file_open(
        out, path, &(struct msim_file_how){.swept = true, .set = &f->set}, err);
    free(path);
    return status;
}

static bool was_written(const struct msim_folder *f, const char *name)
{
    char *const *names = f->names.data;
    uint32_t i = 0;

    while (i < f->names.n && strcmp(names[i], name) != 0)
        i++;
    return i < f->names.n;
}

static void remove_old(const struct msim_folder *f, const char *name)
{
    const struct msim_folder_kind *kind = kind_of(f->kinds, name, strlen(name));
    char *path;

    if (!kind || was_written(f, name) ||
        asprintf(&path, "%s/%s", f->path, name) < 0)
        return;
    if (msim_folder_is_marked(path, kind->mark))
        (void)unlink(path);
    free(path);
}

static void remove_all_old(const struct msim_folder *f)
{
    DIR *d = opendir(f->path);
    const struct dirent *entry;

    while (d && (entry = readdir(d)))
        remove_old(f, entry->d_name);
    if (d)
        closedir(d);
}

enum msim_status msim_folder_end(struct msim_folder *f, enum msim_status status,
                                 struct msim_error *err)
{
    char **names = f->names.data;

    if (status == MSIM_OK)
        status = msim_file_set_sync(&f->set, err);
    if (status == MSIM_OK)
        remove_all_old(f);
    status = msim_file_set_end(&f->set, status, err);
    if (f->lock >= 0)
        close(f->lock);
    for (uint32_t i = 0; i < f->names.n; i++)
        free(names[i]);
    free(names);
    free(f->path);
    *f = (struct msim_folder){.lock = -1};
    return status;
}

/* ---- one in the other -----------------------------------------------------
 */

/* Without its last name: "a/b/c" is "a/b", "a" is "." and "/a" is "/". */
static void cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash)
        memcpy(path, ".", 2); /* a path has a character or more */
    else
        slash[slash == path] = '\0';
}

/* The whole path of what is there of `path`; owned. NULL: no memory. */
static char *whole_path(const char *path)
{
    char *at = strdup(*path ? path : "."), *whole = NULL;

    while (at && !(whole = realpath(at, NULL)) && strcmp(at, ".") != 0 &&
           strcmp(at, "/") != 0)
        cut_last(at);
    free(at);
    return whole;
}

bool msim_folder_is_within(const char *path, const char *folder)
{
    char *at = whole_path(path), *top = realpath(folder, NULL);
    size_t n = top ? strlen(top) : 0;
    struct stat s;
    bool within = at && top && stat(top, &s) == 0 && S_ISDIR(s.st_mode) &&
                  strncmp(at, top, n) == 0 &&
                  (!at[n] || at[n] == '/' || top[n - 1] == '/');

    free(at);
    free(top);
    return within;
}
