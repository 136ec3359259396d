/*
 * core/stream/json_sax.h - JSON as a stream of events.
 *
 * A trace of 300 MB must not become a tree. Nothing else knows which parser is
 * underneath, so that it can be exchanged. Text is handed in as pieces of any
 * size; nothing is kept but what is needed to go on (a token cut by the end of
 * a piece). No recursion; depth is bounded. The text given to callbacks lives
 * until they return and is not NUL-terminated; strings are unescaped, numbers
 * are valid and as written.
 *
 * Callbacks return 0 to go on, a negative msim_status to stop, or
 * MSIM_SAX_SKIP: text is then checked as ever but no longer reported -
 *   from key():             the key's value;
 *   from *_begin():         what is inside, and its *_end();
 *   from any other:         the rest of the object or array that it is in
 *                           (whose *_end() is reported).
 * Any callback may be NULL.
 */
#ifndef MSIM_CORE_STREAM_JSON_SAX_H
#define MSIM_CORE_STREAM_JSON_SAX_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

#define MSIM_SAX_SKIP      1
#define MSIM_SAX_MAX_DEPTH 512
/* Bytes of one string, give or take a piece. The longest of real traces, lists
 * of the ranks of all groups, are below one megabyte for 100,000 ranks. */
#define MSIM_SAX_MAX_STRING (16u << 20)

struct msim_sax_handler {
    int (*null)(void *ctx);
    int (*boolean)(void *ctx, bool value);
    int (*number)(void *ctx, const char *text, size_t len);
    int (*string)(void *ctx, const char *text, size_t len);
    int (*key)(void *ctx, const char *text, size_t len);
    int (*map_begin)(void *ctx);
    int (*map_end)(void *ctx);
    int (*array_begin)(void *ctx);
    int (*array_end)(void *ctx);
};

struct msim_sax; /* opaque */

/* On success `*out` is owned by the caller; on failure it is NULL. */
MSIM_MUST_CHECK
enum msim_status msim_sax_new(struct msim_sax **out,
                              const struct msim_sax_handler *handler,
                              void *ctx);

/* From within a callback or between pieces: report to `handler` from now on. */
void msim_sax_use(struct msim_sax *s, const struct msim_sax_handler *handler);

/* Accepts NULL. */
void msim_sax_free(struct msim_sax *s);

/*
 * Parse the next piece. ESYNTAX where it is not JSON, ELIMIT where it is too
 * deep or one token too long, or the status with which a callback stopped.
 * After a failure every call fails in the same way.
 */
MSIM_MUST_CHECK
enum msim_status msim_sax_feed(struct msim_sax *s, const char *bytes,
                               size_t len);

/* The input is over: ETRUNCATED unless exactly one value was complete. */
MSIM_MUST_CHECK
enum msim_status msim_sax_end(struct msim_sax *s);

/*
 * After ESYNTAX inside a list that is a member of the document: go on inside
 * that list, at offset `at`, as before one of its values. Handlers hear nothing
 * of it.
 */
void msim_sax_resume(struct msim_sax *s, uint64_t at);

/*
 * How many bytes have been fed. After a failure: the offset of what was found,
 * give or take the token that was read ahead; if a callback stopped, the end
 * of what it was given. Within a callback: the end of what it is given.
 */
uint64_t msim_sax_offset(const struct msim_sax *s);

/* Between pieces: how many bytes have been fed, parsed yet or not. */
uint64_t msim_sax_fed(const struct msim_sax *s);

/* After ESYNTAX, ELIMIT or ETRUNCATED: what was found and what was wanted. */
const char *msim_sax_message(const struct msim_sax *s);

#endif
