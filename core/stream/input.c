/*
 * core/stream/input.c - a file's bytes, inflated ahead of the reader.
 *
 * The producer fills the buffers of a ring in order and the consumer hands them
 * out in order; `filled` counts those that wait. One mutex and one condition
 * are enough, since a buffer holds a quarter of a megabyte.
 */
#include "core/stream/input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFERS    4
#define BUFFER_LEN ((size_t)256 << 10)
#define RAW_LEN    ((size_t)64 << 10)

/* From here on a file must not have become too much longer by unpacking. */
#define UNPACKED_FREE ((uint64_t)64 << 20)

struct buffer {
    char *bytes;
    size_t len;
};

struct msim_input {
    char *name;
    int fd; /* -1: from memory */
    const unsigned char *memory;
    size_t memory_len, memory_at;

    bool started, ended;
    struct msim_unpack *unpack; /* NULL: it is not packed */
    unsigned char *raw;         /* bytes on their way in */
    size_t raw_at, raw_len;
    uint64_t inflated; /* bytes handed to the ring */
    char note[128];    /* what was odd about the file, or "" */
    uint64_t total;
    struct msim_error error; /* of the producer */

    struct buffer ring[BUFFERS];
    uint32_t head; /* next buffer handed out */

    bool threaded, holding, quit;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t filled;
    uint64_t done; /* under the lock */
};

/* Read up to `cap` bytes as they are in the file; 0 at its end. */
static enum msim_status raw_read(struct msim_input *in, unsigned char *to,
                                 size_t cap, size_t *len)
{
    ssize_t n;

    *len = 0;
    if (in->fd < 0) {
        *len = in->memory_len - in->memory_at;
        if (*len > cap)
            *len = cap;
        memcpy(to, in->memory + in->memory_at, *len);
        in->memory_at += *len;
        return MSIM_OK;
    }
    do {
        n = read(in->fd, to, cap);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return msim_fail(&in->error, MSIM_EIO, in->name, in->inflated,
                         "cannot read: %s", strerror(errno));
    *len = (size_t)n;
    return MSIM_OK;
}

static void count_done(struct msim_input *in, size_t len)
{
    if (in->threaded)
        pthread_mutex_lock(&in->lock);
    in->done += len;
    if (in->threaded)
        pthread_mutex_unlock(&in->lock);
}

/* Fill the raw buffer as far as one read brings it. */
static enum msim_status refill(struct msim_input *in)
{
    in->raw_at = 0;
    MSIM_TRY(raw_read(in, in->raw, RAW_LEN, &in->raw_len));
    count_done(in, in->raw_len);
    return MSIM_OK;
}

/* The first bytes say what it is; a pipe may bring them one by one. */
static enum msim_status sniff(struct msim_input *in)
{
    const char *foreign;
    size_t len;

    while (in->raw_len < MSIM_UNPACK_SNIFF) {
        MSIM_TRY(
            raw_read(in, in->raw + in->raw_len, RAW_LEN - in->raw_len, &len));
        if (len == 0)
            break;
        in->raw_len += len;
    }
    in->started = true;
    count_done(in, in->raw_len);
    foreign = msim_unpack_foreign(in->raw, in->raw_len);
    if (foreign)
        return msim_fail(&in->error, MSIM_EFORMAT, in->name, MSIM_OFFSET_NONE,
                         "%s", foreign);
    if (msim_unpack_new(&in->unpack, in->raw, in->raw_len) != MSIM_OK)
        return msim_fail(&in->error, MSIM_ENOMEM, in->name, MSIM_OFFSET_NONE,
                         "out of memory");
    return MSIM_OK;
}

static enum msim_status plain_fill(struct msim_input *in, struct buffer *b)
{
    size_t len;

    if (in->raw_len) {
        memcpy(b->bytes, in->raw, in->raw_len);
        b->len = in->raw_len;
        in->raw_len = 0;
        return MSIM_OK;
    }
    MSIM_TRY(raw_read(in, (unsigned char *)b->bytes, BUFFER_LEN, &len));
    b->len = len;
    in->ended = len == 0;
    count_done(in, len);
    return MSIM_OK;
}

/* What the state after some packed bytes, or at their end, means. */
static enum msim_status judge(struct msim_input *in,
                              enum msim_unpack_state state, uint64_t at)
{
    const char *kind = msim_unpack_name(in->unpack);

    switch (state) {
    case MSIM_UNPACK_RUBBISH:
        in->ended = true;
        snprintf(in->note, sizeof(in->note),
                 "the bytes behind the end of the %s stream, from byte %llu of "
                 "the file on, are no %s: left out",
                 kind,
                 (unsigned long long)(in->done - (in->raw_len - in->raw_at)),
                 kind);
        return MSIM_OK;
    case MSIM_UNPACK_BROKEN:
        return msim_fail(&in->error, MSIM_ESYNTAX, in->name, at,
                         "broken %s data: %s", kind,
                         msim_unpack_why(in->unpack));
    case MSIM_UNPACK_NO_MEMORY:
        return msim_fail(&in->error, MSIM_ENOMEM, in->name, MSIM_OFFSET_NONE,
                         "out of memory");
    case MSIM_UNPACK_WITHIN:
        if (in->raw_len) /* else this is the end of the file */
            return MSIM_OK;
        return msim_fail(&in->error, MSIM_ETRUNCATED, in->name, at,
                         "the %s stream ends early: the file is cut", kind);
    default:
        return MSIM_OK;
    }
}

static enum msim_status check_ratio(struct msim_input *in, uint64_t unpacked)
{
    unsigned most = msim_unpack_ratio_max(in->unpack);

    if (unpacked < UNPACKED_FREE || unpacked / most <= in->done)
        return MSIM_OK;
    return msim_fail(
        &in->error, MSIM_ELIMIT, in->name, unpacked,
        "%llu packed bytes have become more than %u times as many, "
        "which no trace does; if this is one, unpack it first (%s "
        "-d)",
        (unsigned long long)in->done, most, msim_unpack_name(in->unpack));
}

static enum msim_status packed_fill(struct msim_input *in, struct buffer *b)
{
    struct msim_unpack_io io = {.out = (unsigned char *)b->bytes,
                                .n_out = BUFFER_LEN};

    while (io.n_out && !in->ended) {
        enum msim_unpack_state state;

        if (in->raw_at == in->raw_len)
            MSIM_TRY(refill(in));
        io.in = in->raw + in->raw_at;
        io.n_in = in->raw_len - in->raw_at;
        state = msim_unpack_run(in->unpack, &io);
        in->raw_at = in->raw_len - io.n_in;
        b->len = BUFFER_LEN - io.n_out;
        in->ended = in->raw_len == 0;
        MSIM_TRY(judge(in, state, in->inflated + b->len));
    }
    return check_ratio(in, in->inflated + b->len);
}

/* Fill one buffer; an empty one says that no more will come. */
static void produce(struct msim_input *in, struct buffer *b)
{
    enum msim_status status = in->error.status;

    b->len = 0;
    if (status == MSIM_OK && !in->started)
        status = sniff(in);
    if (status == MSIM_OK && !in->ended)
        status = in->unpack ? packed_fill(in, b) : plain_fill(in, b);
    if (status != MSIM_OK)
        in->ended = true;
    in->inflated += b->len;
}

static void *producer(void *p)
{
    struct msim_input *in = p;
    uint32_t at = 0;
    bool more = true;

    while (more) {
        pthread_mutex_lock(&in->lock);
        while (in->filled == BUFFERS && !in->quit)
            pthread_cond_wait(&in->changed, &in->lock);
        more = !in->quit;
        pthread_mutex_unlock(&in->lock);
        if (!more)
            break;
        produce(in, &in->ring[at]);
        more = in->ring[at].len != 0;
        at = (at + 1) % BUFFERS;
        pthread_mutex_lock(&in->lock);
        in->filled++;
        pthread_cond_signal(&in->changed);
        pthread_mutex_unlock(&in->lock);
    }
    return NULL;
}

static enum msim_status allocate(struct msim_input *in, const char *name)
{
    uint32_t i, n = in->threaded ? BUFFERS : 1;

    in->name = strdup(name);
    in->raw = malloc(RAW_LEN);
    if (!in->name || !in->raw)
        return MSIM_ENOMEM;
    for (i = 0; i < n; i++) {
        in->ring[i].bytes = malloc(BUFFER_LEN);
        if (!in->ring[i].bytes)
            return MSIM_ENOMEM;
    }
    return MSIM_OK;
}

static void release(struct msim_input *in)
{
    uint32_t i;

    msim_unpack_free(in->unpack);
    for (i = 0; i < BUFFERS; i++)
        free(in->ring[i].bytes);
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    free(in->raw);
    free(in->name);
    free(in);
}

/* Take over `in` (heap) and start it. */
static enum msim_status start(struct msim_input **out, struct msim_input *in,
                              const char *name, struct msim_error *err)
{
    if (allocate(in, name) != MSIM_OK) {
        release(in);
        return msim_fail(err, MSIM_ENOMEM, name, MSIM_OFFSET_NONE,
                         "out of memory");
    }
    if (in->threaded) {
        pthread_mutex_init(&in->lock, NULL);
        pthread_cond_init(&in->changed, NULL);
        if (pthread_create(&in->thread, NULL, producer, in)) {
            /* There is no second thread: read and inflate in turn, the same
             * bytes. */
            pthread_mutex_destroy(&in->lock);
            pthread_cond_destroy(&in->changed);
            in->threaded = false;
        }
    }
    *out = in;
    return MSIM_OK;
}

static enum msim_status open_fd(struct msim_input *in, const char *path,
                                struct msim_error *err)
{
    struct stat st;

    in->fd =
        strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (in->fd < 0)
        return msim_fail(err, MSIM_EIO, path, MSIM_OFFSET_NONE,
                         "cannot open: %s", strerror(errno));
    if (fstat(in->fd, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return msim_fail(err, MSIM_EIO, path, MSIM_OFFSET_NONE,
                             "is a directory, want a file");
        if (S_ISREG(st.st_mode) && st.st_size > 0)
            in->total = (uint64_t)st.st_size;
        /* One read takes all of it: nothing is left to read ahead. */
        if (S_ISREG(st.st_mode) && st.st_size <= (off_t)RAW_LEN)
            in->threaded = false;
    }
    return MSIM_OK;
}

enum msim_status msim_input_open(struct msim_input **out, const char *path,
                                 bool threaded, struct msim_error *err)
{
    struct msim_input *in = calloc(1, sizeof(*in));
    enum msim_status status;

    *out = NULL;
    if (!in)
        return msim_fail(err, MSIM_ENOMEM, path, MSIM_OFFSET_NONE,
                         "out of memory");
    in->threaded = threaded;
    status = open_fd(in, path, err);
    if (status != MSIM_OK) {
        release(in);
        return status;
    }
    return start(out, in, path, err);
}

enum msim_status msim_input_memory(struct msim_input **out, const char *name,
                                   const void *bytes, size_t len, bool threaded,
                                   struct msim_error *err)
{
    struct msim_input *in = calloc(1, sizeof(*in));

    *out = NULL;
    if (!in)
        return msim_fail(err, MSIM_ENOMEM, name, MSIM_OFFSET_NONE,
                         "out of memory");
    in->threaded = threaded;
    in->fd = -1;
    in->memory = bytes;
    in->memory_len = len;
    in->total = len;
    return start(out, in, name, err);
}

void msim_input_close(struct msim_input *in)
{
    if (!in)
        return;
    if (in->threaded) {
        pthread_mutex_lock(&in->lock);
        in->quit = true;
        pthread_cond_signal(&in->changed);
        pthread_mutex_unlock(&in->lock);
        pthread_join(in->thread, NULL);
        pthread_mutex_destroy(&in->lock);
        pthread_cond_destroy(&in->changed);
    }
    release(in);
}

/* Wait for a full buffer; give back the one handed out before. */
static struct buffer *take(struct msim_input *in)
{
    struct buffer *b;

    pthread_mutex_lock(&in->lock);
    if (in->holding) {
        in->head = (in->head + 1) % BUFFERS;
        in->filled--;
        pthread_cond_signal(&in->changed);
    }
    while (in->filled == 0)
        pthread_cond_wait(&in->changed, &in->lock);
    b = &in->ring[in->head];
    in->holding = b->len != 0; /* the last, empty one stays */
    pthread_mutex_unlock(&in->lock);
    return b;
}

enum msim_status msim_input_next(struct msim_input *in, const char **bytes,
                                 size_t *len, struct msim_error *err)
{
    struct buffer *b = &in->ring[0];

    if (in->threaded)
        b = take(in);
    else
        produce(in, b);
    *bytes = b->bytes;
    *len = b->len;
    /* The producer is done once it has handed over an empty buffer. */
    if (b->len == 0 && in->error.status != MSIM_OK) {
        if (err && err->status == MSIM_OK)
            *err = in->error;
        return in->error.status;
    }
    return MSIM_OK;
}

const char *msim_input_note(const struct msim_input *in)
{
    return in->note;
}

const char *msim_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool msim_path_is_packed(const char *path)
{
    unsigned char bytes[MSIM_UNPACK_SNIFF];
    struct msim_unpack *unpack = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : 0;
    bool is = n > 0 && msim_unpack_new(&unpack, bytes, (size_t)n) == MSIM_OK &&
              unpack;

    msim_unpack_free(unpack);
    if (fd >= 0)
        (void)close(fd);
    return is;
}

const char *msim_input_name(const struct msim_input *in)
{
    return in->name;
}

void msim_input_progress(struct msim_input *in, uint64_t *done, uint64_t *total)
{
    if (in->threaded)
        pthread_mutex_lock(&in->lock);
    *done = in->done;
    *total = in->total;
    if (in->threaded)
        pthread_mutex_unlock(&in->lock);
}
