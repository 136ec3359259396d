/*
 * core/stream/unpack.h - compressed bytes to plain ones, whatever packed them.
 *
 * The first bytes say what packed a file. gzip and zstd are unpacked, of one
 * piece or of several joined ones; what else is used for traces is named, so
 * that a message can say how to unpack it. Not thread-safe.
 */
#ifndef MSIM_CORE_STREAM_UNPACK_H
#define MSIM_CORE_STREAM_UNPACK_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

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

#endif
