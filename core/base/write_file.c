/*
 * core/base/write_file.c - a file that is either complete or as it was before.
 */
#include "core/base/write_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Level 4 packs timelines about as well as the default 6 in half the time. */
#define GZIP_MODE "wb4"
#define ATTEMPTS  100

struct msim_file {
    char *path;  /* as the caller named it, for messages */
    char *final; /* what the draft is renamed to */
    char *draft; /* what is written; the same as `final` for a device */
    FILE *plain;
    gzFile gzip;
};

static void release(struct msim_file *f)
{
    free(f->path);
    free(f->final);
    free(f->draft);
    free(f);
}

static enum msim_status fail(const struct msim_file *f, struct msim_error *err,
                             const char *what)
{
    return msim_fail(err, MSIM_EIO, f->path, MSIM_OFFSET_NONE, "%s: %s", what,
                     strerror(errno));
}

/* Create the draft under a name that nobody has; its descriptor, or -1. */
static int create_draft(struct msim_file *f)
{
    size_t size = strlen(f->final) + 32;

    f->draft = malloc(size);
    if (!f->draft)
        return -1;
    for (int i = 0; i < ATTEMPTS; i++) {
        int fd;

        snprintf(f->draft, size, "%s.part%ld-%d", f->final, (long)getpid(), i);
        fd = open(f->draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static int open_descriptor(struct msim_file *f)
{
    struct stat st;

    f->final = realpath(f->path, NULL);
    if (!f->final)
        f->final = strdup(f->path);
    if (!f->final)
        return -1;
    if (stat(f->final, &st) == 0 && !S_ISREG(st.st_mode)) {
        f->draft = strdup(f->final);
        return f->draft ? open(f->draft, O_WRONLY | O_CLOEXEC) : -1;
    }
    return create_draft(f);
}

enum msim_status msim_file_open(struct msim_file **out, const char *path,
                                bool gzip, struct msim_error *err)
{
    struct msim_file *f = calloc(1, sizeof(*f));
    enum msim_status status;
    int fd = -1;

    *out = NULL;
    if (!f || !(f->path = strdup(path))) {
        free(f);
        return MSIM_ENOMEM;
    }
    fd = open_descriptor(f);
    if (fd >= 0 && gzip)
        f->gzip = gzdopen(fd, GZIP_MODE);
    else if (fd >= 0)
        f->plain = fdopen(fd, "wb");
    if (f->plain || f->gzip) {
        *out = f;
        return MSIM_OK;
    }
    status = fail(f, err, "cannot write");
    if (fd >= 0) {
        close(fd);
        if (strcmp(f->draft, f->final) != 0)
            unlink(f->draft);
    }
    release(f);
    return status;
}

enum msim_status msim_file_write(void *file, const char *bytes, size_t n)
{
    struct msim_file *f = file;

    if (!n) /* `bytes` may be NULL, which fwrite() must not be given */
        return MSIM_OK;
    if (f->gzip)
        return gzfwrite(bytes, 1, n, f->gzip) == n ? MSIM_OK : MSIM_EIO;
    return fwrite(bytes, 1, n, f->plain) == n ? MSIM_OK : MSIM_EIO;
}

/* Close the stream; false where bytes were lost. */
static bool close_stream(struct msim_file *f)
{
    bool ok;

    if (f->gzip)
        ok = gzclose(f->gzip) == Z_OK;
    else
        ok = fclose(f->plain) == 0;
    f->gzip = NULL;
    f->plain = NULL;
    return ok;
}

enum msim_status msim_file_commit(struct msim_file *f, struct msim_error *err)
{
    enum msim_status status = MSIM_OK;
    bool drafted = strcmp(f->draft, f->final) != 0;

    errno = 0;
    if (!close_stream(f) || (drafted && rename(f->draft, f->final) != 0)) {
        status = fail(f, err, "cannot write");
        if (drafted)
            unlink(f->draft);
    }
    release(f);
    return status;
}

void msim_file_abandon(struct msim_file *f)
{
    if (!f)
        return;
    close_stream(f);
    if (strcmp(f->draft, f->final) != 0)
        unlink(f->draft);
    release(f);
}

const char *msim_file_draft(const struct msim_file *f)
{
    return f->draft;
}
