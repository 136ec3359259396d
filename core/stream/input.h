/*
 * core/stream/input.h - a file as a stream of bytes, unpacked; and how much
 * memory there is for it.
 */
#ifndef MSIM_CORE_STREAM_INPUT_H
#define MSIM_CORE_STREAM_INPUT_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- unpack -------------------------------------------------------------- */
/*
 * Compressed bytes to plain ones, whatever packed them.
 *
 * The first bytes say what packed a file. gzip and zstd are unpacked, of one
 * piece or of several joined ones; what else is used for traces is named, so
 * that a message can say how to unpack it. Not thread-safe.
 */

/* Bytes that show what packed a file; fewer only at its end. */
#define MSIM_UNPACK_SNIFF 6

struct msim_unpack; /* opaque */

/* What has to be said of bytes that are packed in a way that is not read: which
 * and what to do. NULL: they are none of those. `len` up to a piece of a file;
 * a tar archive shows at byte 257. */
const char *msim_unpack_foreign(const unsigned char *bytes, size_t len);

/*
 * For what begins with `bytes`. `*out` NULL and OK: it is not packed. Otherwise
 * it is owned by the caller. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_unpack_new(struct msim_unpack **out,
                                 const unsigned char *bytes, size_t len);

/* Accepts NULL. */
void msim_unpack_free(struct msim_unpack *u);

/* Packed bytes that are not used yet, and room for plain ones. */
struct msim_unpack_io {
    const unsigned char *in;
    size_t n_in;
    unsigned char *out;
    size_t n_out;
};

enum msim_unpack_state {
    MSIM_UNPACK_WITHIN,  /* more must come */
    MSIM_UNPACK_BETWEEN, /* the end, or a further piece, may come */
    MSIM_UNPACK_RUBBISH, /* what comes is no further piece; it is left */
    MSIM_UNPACK_BROKEN,  /* msim_unpack_why() */
    MSIM_UNPACK_NO_MEMORY,
};

/* Unpack until `in` is used up, `out` is full or the state is neither of the
 * first two; `io` moves on. */
enum msim_unpack_state msim_unpack_run(struct msim_unpack *u,
                                       struct msim_unpack_io *io);

/* "gzip" or "zstd"; a static text. */
const char *msim_unpack_name(const struct msim_unpack *u);
const char *msim_unpack_why(const struct msim_unpack *u);

/*
 * How many times longer than its file a trace may become. The longest of real
 * traces become 35 times as long as packed by gzip, 95 times as by zstd -19: a
 * file of four times that is made to fill the memory, or needs another look.
 */
unsigned msim_unpack_ratio_max(const struct msim_unpack *u);

/* ---- input --------------------------------------------------------------- */
/*
 * A file's bytes, inflated, piece by piece.
 *
 * Plain, gzip or zstd is told by content ("unpack"). With `threaded`, a second
 * thread reads and inflates ahead into a ring of buffers, so that inflating and
 * parsing overlap; the bytes and the errors are the same either way. Pieces are
 * handed out to one thread.
 */

struct msim_input; /* opaque */

/*
 * Open `path` ("-": standard input). On success `*out` is owned by the
 * caller; on failure it is NULL and `err` says why (EIO).
 */
MSIM_MUST_CHECK
enum msim_status msim_input_open(struct msim_input **out, const char *path,
                                 bool threaded, struct msim_error *err);

/* The same over `len` bytes that stay where they are; `name` for messages. */
MSIM_MUST_CHECK
enum msim_status msim_input_memory(struct msim_input **out, const char *name,
                                   const void *bytes, size_t len, bool threaded,
                                   struct msim_error *err);

/* Accepts NULL. Waits for the second thread. */
void msim_input_close(struct msim_input *in);

/*
 * The next piece; `*len` 0 at the end. It stays until the next call. A packed
 * stream that is cut is ETRUNCATED, a broken one ESYNTAX, one that becomes too
 * long ELIMIT, all only after the bytes before were handed out; the offset in
 * `err` counts unpacked bytes. EFORMAT where it is packed in another way.
 */
MSIM_MUST_CHECK
enum msim_status msim_input_next(struct msim_input *in, const char **bytes,
                                 size_t *len, struct msim_error *err);

/* After the end: what was odd about the file and does no harm; "" if nothing.
 */
const char *msim_input_note(const struct msim_input *in);

/* The part of `path` behind its last slash. */
const char *msim_path_name(const char *path);

/* Whether a file begins as what is read packed does; false where it cannot be
 * read. */
bool msim_path_is_packed(const char *path);

const char *msim_input_name(const struct msim_input *in);

/* Bytes of the file read so far, and its size (0: not known). */
void msim_input_progress(struct msim_input *in, uint64_t *done,
                         uint64_t *total);

/* ---- memory -------------------------------------------------------------- */
/* How much memory there is, and how much of it this process has. */

/* Bytes of this process that are in memory now; 0: the system does not say. */
uint64_t msim_memory_used(void);

/* Bytes that the machine has; UINT64_MAX: the system does not say. */
uint64_t msim_memory_there(void);

#endif
