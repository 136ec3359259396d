/*
 * core/stream/input.h - a file's bytes, inflated, piece by piece.
 *
 * Plain, gzip or zstd is told by content (unpack.h). With `threaded`, a second
 * thread reads and inflates ahead into a ring of buffers, so that inflating and
 * parsing overlap; the bytes and the errors are the same either way. Pieces are
 * handed out to one thread.
 */
#ifndef MSIM_CORE_STREAM_INPUT_H
#define MSIM_CORE_STREAM_INPUT_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

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

#endif
