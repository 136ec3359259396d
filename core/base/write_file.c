/*
 * core/base/write_file.c - a file that is either complete or as it was before.
 */
#include "core/base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Level 4 packs timelines about as well as the default 6 in half the time. */
#define GZIP_MODE "wb4"
#define ATTEMPTS  100

/* Where a file goes; all three are owned. */
struct place {
    char *path;  /* as the caller named it, for messages */
    char *final; /* what the draft is renamed to */
    char *draft; /* what is written; the same as `final` for a device */
};

struct msim_file {
    struct place place;
    struct msim_file_how how;
    FILE *plain;
    gzFile gzip;
    int failed; /* errno of the first write that failed */
};

static bool is_drafted(const struct place *p)
{
    return p->draft && strcmp(p->draft, p->final) != 0;
}

static void release_place(struct place *p)
{
    free(p->path);
    free(p->final);
    free(p->draft);
}

/* A place that was named wrongly is not a disk that is full. */
static enum msim_status status_of(int why)
{
    switch (why) {
    case EACCES:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOENT:
    case ENOTDIR:
    case EPERM:
    case EROFS:
        return MSIM_EIO;
    case ENOMEM:
        return MSIM_ENOMEM;
    default:
        return MSIM_EWRITE;
    }
}

static enum msim_status fail(const struct place *p, int why,
                             struct msim_error *err)
{
    return msim_fail(err, status_of(why), p->path, MSIM_OFFSET_NONE,
                     "cannot write: %s", strerror(why));
}

/* ---- drafts of processes that are gone ----------------------------------- */

/* The process that writes NAME.partPID-N, and how long NAME is; 0: that is no
 * draft. */
static pid_t writer_of(const char *draft, size_t *n)
{
    const char *part = NULL, *at = draft;
    char *end;
    long pid;

    while ((at = strstr(at, ".part")))
        part = at++;
    if (!part || part[5] < '1' || part[5] > '9')
        return 0;
    pid = strtol(part + 5, &end, 10);
    if (*end != '-' || !end[1] || end[1 + strspn(end + 1, "0123456789")])
        return 0;
    *n = (size_t)(part - draft);
    return (pid_t)pid;
}

/* Numbers of processes are those of one machine, or container; who writes a
 * draft has it locked, too. */
static bool is_left(int folder, const char *draft, pid_t writer)
{
    int fd;
    bool left;

    if (kill(writer, 0) == 0 || errno != ESRCH)
        return false;
    fd = openat(folder, draft, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    left = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return left;
}

void msim_file_sweep(const char *folder,
                     bool (*wanted)(const void *ctx, const char *name,
                                    size_t n),
                     const void *ctx)
{
    DIR *d = opendir(folder);
    const struct dirent *entry;
    size_t n = 0;

    while (d && (entry = readdir(d))) {
        pid_t writer = writer_of(entry->d_name, &n);

        if (writer > 0 && wanted(ctx, entry->d_name, n) &&
            is_left(dirfd(d), entry->d_name, writer))
            (void)unlinkat(dirfd(d), entry->d_name, 0);
    }
    if (d)
        closedir(d);
}

static bool is_name(const void *ctx, const char *name, size_t n)
{
    return strncmp(ctx, name, n) == 0 && ((const char *)ctx)[n] == '\0';
}

/* The folder of a path: the caller's; NULL without memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return strdup(".");
    return strndup(path, slash > path ? (size_t)(slash - path) : 1);
}

/* The name of a path in its folder. */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void sweep_for(const struct place *p)
{
    char *folder = folder_of(p->final);

    if (folder)
        msim_file_sweep(folder, is_name, name_of(p->final));
    free(folder);
}

static bool is_folder_same(const char *a, const char *b)
{
    char *x = folder_of(a), *y = folder_of(b);
    struct stat s, t;
    bool same = x && y && stat(x, &s) == 0 && stat(y, &t) == 0 &&
                s.st_dev == t.st_dev && s.st_ino == t.st_ino;

    free(x);
    free(y);
    return same;
}

bool msim_file_is_same(const char *a, const char *b)
{
    struct stat s, t;

    if (stat(a, &s) == 0 && stat(b, &t) == 0)
        return s.st_dev == t.st_dev && s.st_ino == t.st_ino;
    return strcmp(name_of(a), name_of(b)) == 0 && is_folder_same(a, b);
}

/* ---- opening ------------------------------------------------------------- */

/* Create the draft under a name that nobody has; its descriptor, or -1. */
static int create_draft(struct place *p)
{
    size_t size = strlen(p->final) + 32;

    p->draft = malloc(size);
    if (!p->draft)
        return -1;
    for (int i = 0; i < ATTEMPTS; i++) {
        int fd;

        snprintf(p->draft, size, "%s.part%ld-%d", p->final, (long)getpid(), i);
        fd = open(p->draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            (void)flock(fd, LOCK_EX | LOCK_NB);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* What takes the place of a file has its mode, and wants the same right. */
static int replace_draft(struct place *p, mode_t mode)
{
    int fd = access(p->final, W_OK) == 0 ? create_draft(p) : -1;

    if (fd >= 0)
        (void)fchmod(fd, mode & 07777);
    return fd;
}

static int open_descriptor(struct msim_file *f)
{
    struct place *p = &f->place;
    bool there;
    struct stat st;

    p->final = realpath(p->path, NULL);
    if (!p->final)
        p->final = strdup(p->path);
    if (!p->final)
        return -1;
    there = stat(p->final, &st) == 0;
    if (there && !S_ISREG(st.st_mode)) {
        p->draft = strdup(p->final);
        return p->draft ? open(p->draft, O_WRONLY | O_CLOEXEC) : -1;
    }
    if (!f->how.swept)
        sweep_for(p);
    return there ? replace_draft(p, st.st_mode) : create_draft(p);
}

static enum msim_status open_stream(struct msim_file *f, struct msim_error *err)
{
    int fd = open_descriptor(f), why;

    if (fd >= 0 && f->how.gzip)
        f->gzip = gzdopen(fd, GZIP_MODE);
    else if (fd >= 0)
        f->plain = fdopen(fd, "wb");
    if (f->plain || f->gzip)
        return MSIM_OK;
    why = errno;
    if (fd >= 0) {
        close(fd);
        if (is_drafted(&f->place))
            unlink(f->place.draft);
    }
    return fail(&f->place, why, err);
}

enum msim_status msim_file_open(struct msim_file **out, const char *path,
                                const struct msim_file_how *how,
                                struct msim_error *err)
{
    struct msim_file *f;
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    MSIM_TRY(msim_files_read_spare(path, err));
    f = calloc(1, sizeof(*f));
    if (f && how)
        f->how = *how;
    if (f && (f->place.path = strdup(path)))
        status = open_stream(f, err);
    if (status == MSIM_OK) {
        *out = f;
        return MSIM_OK;
    }
    if (f)
        release_place(&f->place);
    free(f);
    return status;
}

/* ---- writing ------------------------------------------------------------- */

/* A write that failed may succeed when it is tried again, with bytes missing
 * before it: the first failure counts. */
static void note_failure(struct msim_file *f)
{
    if (!f->failed)
        f->failed = errno ? errno : EIO;
}

enum msim_status msim_file_write(void *file, const char *bytes, size_t n)
{
    struct msim_file *f = file;
    size_t done;

    if (!n) /* `bytes` may be NULL, which fwrite() must not be given */
        return MSIM_OK;
    errno = 0;
    done = f->gzip ? gzfwrite(bytes, 1, n, f->gzip)
                   : fwrite(bytes, 1, n, f->plain);
    if (done == n)
        return MSIM_OK;
    note_failure(f);
    return MSIM_EWRITE;
}

const char *msim_file_draft(struct msim_file *f)
{
    errno = 0;
    if (f->gzip ? gzflush(f->gzip, Z_SYNC_FLUSH) != Z_OK
                : fflush(f->plain) != 0)
        note_failure(f);
    return f->place.draft;
}

/* ---- closing ------------------------------------------------------------- */

static void close_stream(struct msim_file *f)
{
    errno = 0;
    if (f->gzip ? gzclose(f->gzip) != Z_OK : fclose(f->plain) != 0)
        note_failure(f);
}

/* What was written may be renamed before it is on the disk, and be empty after
 * the power has failed. Not every file system has this for folders. */
static bool sync_path(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), why;
    bool ok = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);

    why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return ok;
}

static void sync_folder_of(const struct place *p)
{
    char *folder = folder_of(p->final);

    if (folder)
        (void)sync_path(folder);
    free(folder);
}

static void throw_away(const struct place *p)
{
    if (is_drafted(p))
        unlink(p->draft);
}

/* Rename a draft whose bytes are where they are wanted. */
static enum msim_status put(const struct place *p, struct msim_error *err)
{
    return !is_drafted(p) || rename(p->draft, p->final) == 0
               ? MSIM_OK
               : fail(p, errno, err);
}

static enum msim_status publish(struct msim_file *f, struct msim_error *err)
{
    const struct place *p = &f->place;
    bool sync = !f->how.passing && is_drafted(p);

    if (sync && !sync_path(p->draft))
        return fail(p, errno, err);
    MSIM_TRY(put(p, err));
    if (sync)
        sync_folder_of(p);
    return MSIM_OK;
}

/* Moves the place into the set. */
static enum msim_status wait_for_set(struct msim_file *f)
{
    struct place *slot = msim_vec_add(&f->how.set->waiting, sizeof(*slot));

    if (!slot)
        return MSIM_ENOMEM;
    *slot = f->place;
    f->place = (struct place){NULL};
    return MSIM_OK;
}

enum msim_status msim_file_close(struct msim_file *f, enum msim_status status,
                                 struct msim_error *err)
{
    if (!f)
        return status;
    close_stream(f);
    if (f->failed && (status == MSIM_OK || status == MSIM_EWRITE))
        status = fail(&f->place, f->failed, err);
    if (status == MSIM_OK)
        status = f->how.set ? wait_for_set(f) : publish(f, err);
    if (status != MSIM_OK)
        throw_away(&f->place);
    release_place(&f->place);
    free(f);
    return status;
}

enum msim_status msim_file_set_sync(const struct msim_file_set *b,
                                    struct msim_error *err)
{
    const struct place *all = b->waiting.data;

    for (uint32_t i = 0; i < b->waiting.n; i++)
        if (is_drafted(&all[i]) && !sync_path(all[i].draft))
            return fail(&all[i], errno, err);
    return MSIM_OK;
}

/* What the files of a set replace goes before the first of them comes: whoever
 * is killed in between leaves no files of two runs. */
static void make_room(const struct place *all, uint32_t n)
{
    for (uint32_t i = 0; n > 1 && i < n; i++)
        if (is_drafted(&all[i]))
            (void)unlink(all[i].final);
}

/* One that fails does not take the others along: theirs are gone already. */
static enum msim_status put_all(const struct place *all, uint32_t n,
                                struct msim_error *err)
{
    enum msim_status status = MSIM_OK;

    make_room(all, n);
    for (uint32_t i = 0; i < n; i++) {
        enum msim_status one = put(&all[i], status == MSIM_OK ? err : NULL);

        if (one != MSIM_OK)
            throw_away(&all[i]);
        if (status == MSIM_OK)
            status = one;
    }
    if (n)
        sync_folder_of(&all[n - 1]);
    return status;
}

enum msim_status msim_file_set_end(struct msim_file_set *b,
                                   enum msim_status status,
                                   struct msim_error *err)
{
    struct place *all = b->waiting.data;
    uint32_t n = b->waiting.n;

    if (status == MSIM_OK)
        status = msim_file_set_sync(b, err);
    for (uint32_t i = 0; i < n && status != MSIM_OK; i++)
        throw_away(&all[i]);
    if (status == MSIM_OK)
        status = put_all(all, n, err);
    for (uint32_t i = 0; i < n; i++)
        release_place(&all[i]);
    free(b->waiting.data);
    *b = (struct msim_file_set){{NULL, 0, 0}};
    return status;
}

enum msim_status msim_file_save(const char *path, const char *bytes, size_t n,
                                const struct msim_file_how *how,
                                struct msim_error *err)
{
    struct msim_file *f;

    MSIM_TRY(msim_file_open(&f, path, how, err));
    return msim_file_close(f, msim_file_write(f, bytes, n), err);
}
