/*
 * core/base/files_read.c - the files and folders that this process has read.
 */
#include "core/base/files.h"

#include "core/base/containers.h"
#include "core/base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    char *path; /* owned; "": forgotten */
    struct stat st;
};

static struct {
    pthread_mutex_t lock;
    struct file *files;
    uint32_t n, cap;
} files_read = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
    return is_same(a, b) && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* `> FILE` empties a file before this program begins, `>> FILE` does not. */
static bool is_standard_output(const struct stat *st)
{
    struct stat out;
    int flags = fcntl(STDOUT_FILENO, F_GETFL);

    return S_ISREG(st->st_mode) && flags >= 0 &&
           (flags & O_ACCMODE) != O_RDONLY && fstat(STDOUT_FILENO, &out) == 0 &&
           is_same(&out, st);
}

/* The list is locked. */
static enum msim_status add(const char *path, const struct stat *st)
{
    char *copy = strdup(path);
    enum msim_status status =
        copy ? msim_grow((void **)&files_read.files, &files_read.cap,
                         files_read.n, sizeof(*files_read.files))
             : MSIM_ENOMEM;

    if (status != MSIM_OK) {
        free(copy);
        return status;
    }
    files_read.files[files_read.n++] = (struct file){copy, *st};
    return MSIM_OK;
}

static bool look_at(const char *path, struct stat *st)
{
    return (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, st)
                                   : stat(path, st)) == 0;
}

enum msim_status msim_files_read_note(const char *path, struct msim_error *err)
{
    struct stat st;
    enum msim_status status;

    if (!look_at(path, &st) || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return MSIM_OK;
    if (is_standard_output(&st))
        return msim_fail(err, MSIM_EUSAGE, path, MSIM_OFFSET_NONE,
                         "is an input and standard output, too; want another "
                         "file to write to");
    pthread_mutex_lock(&files_read.lock);
    status = add(path, &st);
    pthread_mutex_unlock(&files_read.lock);
    return status;
}

/* The inode of a file that is gone may be that of another one by now. */
static bool is_there(const struct file *f)
{
    struct stat now;

    return *f->path && look_at(f->path, &now) && is_same(&now, &f->st);
}

/* The list is locked; NULL: none. */
static struct file *find(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return NULL;
    for (uint32_t i = 0; i < files_read.n; i++)
        if (is_same(&st, &files_read.files[i].st) &&
            is_there(&files_read.files[i]))
            return &files_read.files[i];
    return NULL;
}

void msim_files_read_forget(const char *path)
{
    struct file *f;

    pthread_mutex_lock(&files_read.lock);
    while ((f = find(path)))
        f->path[0] = '\0';
    pthread_mutex_unlock(&files_read.lock);
}

enum msim_status msim_files_read_spare(const char *path, struct msim_error *err)
{
    enum msim_status status = MSIM_OK;
    const struct file *f;
    struct stat st;

    if (stat(path, &st) == 0 && is_standard_output(&st))
        return msim_fail(err, MSIM_EUSAGE, path, MSIM_OFFSET_NONE,
                         "is standard output, too; want another file to write "
                         "to");
    pthread_mutex_lock(&files_read.lock);
    f = find(path);
    if (f)
        status = msim_fail(
            err, MSIM_EUSAGE, path, MSIM_OFFSET_NONE,
            "is %s that this run reads%s%.400s%s; want another to write to",
            S_ISDIR(f->st.st_mode) ? "a folder" : "a file",
            strcmp(f->path, path) ? " as '" : "",
            strcmp(f->path, path) ? f->path : "",
            strcmp(f->path, path) ? "'" : "");
    pthread_mutex_unlock(&files_read.lock);
    return status;
}

/* ---- a hash of the contents ---------------------------------------------- */

static enum msim_status fail_io(const struct file *f, struct msim_error *err)
{
    return msim_fail(err, MSIM_EIO, f->path, MSIM_OFFSET_NONE,
                     "cannot be read again: %s", strerror(errno));
}

static enum msim_status fail_changed(const struct file *f,
                                     struct msim_error *err)
{
    return msim_fail(err, MSIM_EIO, f->path, MSIM_OFFSET_NONE,
                     "was changed while this run read it");
}

static enum msim_status hash_open(uint64_t *hash, const struct file *f, int fd,
                                  struct msim_error *err)
{
    struct stat st;
    char bytes[1 << 16];
    ssize_t n;

    while ((n = read(fd, bytes, sizeof(bytes))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_io(f, err);
        *hash = msim_hash_bytes(*hash, bytes, (size_t)n);
    }
    if (fstat(fd, &st) != 0)
        return fail_io(f, err);
    return is_unchanged(&st, &f->st) ? MSIM_OK : fail_changed(f, err);
}

static enum msim_status hash_file(uint64_t *hash, const struct file *f,
                                  struct msim_error *err)
{
    int fd = open(f->path, O_RDONLY | O_CLOEXEC);
    enum msim_status status;

    if (fd < 0)
        return fail_io(f, err);
    *hash = msim_hash_byte(msim_hash_text(*hash, f->path), 0);
    status = hash_open(hash, f, fd, err);
    close(fd);
    return status;
}

static int by_path(const void *a, const void *b)
{
    const struct file *x = a, *y = b;

    return strcmp(x->path, y->path);
}

/* The list is locked. */
static enum msim_status hash_all(uint64_t *hash, struct msim_error *err)
{
    if (files_read.n)
        qsort(files_read.files, files_read.n, sizeof(*files_read.files),
              by_path);
    for (uint32_t i = 0; i < files_read.n; i++) {
        const struct file *f = &files_read.files[i];
        bool again = i > 0 && strcmp(f->path, f[-1].path) == 0;

        if (!S_ISREG(f->st.st_mode) || !*f->path)
            continue;
        if (!again)
            MSIM_TRY(hash_file(hash, f, err));
        else if (!is_unchanged(&f->st, &f[-1].st))
            return fail_changed(f, err);
    }
    return MSIM_OK;
}

enum msim_status msim_files_read_hash(uint64_t *hash, struct msim_error *err)
{
    enum msim_status status;

    *hash = MSIM_HASH_START;
    pthread_mutex_lock(&files_read.lock);
    status = hash_all(hash, err);
    pthread_mutex_unlock(&files_read.lock);
    return status;
}

void msim_files_read_release(void)
{
    pthread_mutex_lock(&files_read.lock);
    for (uint32_t i = 0; i < files_read.n; i++)
        free(files_read.files[i].path);
    free(files_read.files);
    files_read.files = NULL;
    files_read.n = files_read.cap = 0;
    pthread_mutex_unlock(&files_read.lock);
}
