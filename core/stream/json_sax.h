/*
 * core/stream/json_sax.h - JSON of a stream as events, and known faults put
 * right.
 */
#ifndef MSIM_CORE_STREAM_JSON_SAX_H
#define MSIM_CORE_STREAM_JSON_SAX_H
#include "core/base/containers.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- json sax ------------------------------------------------------------ */
/*
 * JSON as a stream of events.
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
 *
 * whole() hears of an object before map_begin() does, with the text behind its
 * brace as far as it is at hand. It may know that text: then it sets `*taken`
 * to what it has read itself, the brace that closes included, and nothing of
 * the object is reported, not even its begin.
 */

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
    int (*whole)(void *ctx, const char *text, size_t len, size_t *taken);
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

/*
 * Within a callback: the text from offset `at`, which an earlier callback was
 * given the end of, to the end of what this one is given; or NULL, where it is
 * not at hand any more.
 */
const char *msim_sax_since(const struct msim_sax *s, uint64_t at, size_t *len);

/* Between pieces: how many bytes have been fed, parsed yet or not. */
uint64_t msim_sax_fed(const struct msim_sax *s);

/* After ESYNTAX, ELIMIT or ETRUNCATED: what was found and what was wanted. */
const char *msim_sax_message(const struct msim_sax *s);

/* ---- json repair --------------------------------------------------------- */
/*
 * A filter in front of the parser: what PyTorch is known to write and JSON does
 * not allow becomes JSON.
 *
 * Each kind has been seen in files of PyTorch's profiler:
 *
 *   number    inf, nan, Infinity: pytorch/kineto#105
 *   escape    C:\Users in a stack of Windows: pytorch/kineto#336,
 *             pytorch/pytorch#98432
 *   control   a line feed or another control character in the name of a Python
 *             function: pytorch/pytorch#113001, #130622
 *   utf8      a byte that is not UTF-8 in a name: pytorch/kineto#80, #988,
 *             pytorch/pytorch#113564, #136180
 *
 * What is put in their place is as long, so that offsets stay those of the
 * file. All other faults pass through, for the parser to refuse.
 */

/* In the order of their kinds in core/trace/import_log.h, which has words for
 * them. */
enum msim_json_repair {
    MSIM_JSON_REPAIR_NUMBER,
    MSIM_JSON_REPAIR_ESCAPE,
    MSIM_JSON_REPAIR_CONTROL,
    MSIM_JSON_REPAIR_UTF8,
    MSIM_JSON_REPAIR_KINDS,
};

struct msim_json_repairs {
    uint64_t count[MSIM_JSON_REPAIR_KINDS];
    uint64_t first[MSIM_JSON_REPAIR_KINDS]; /* offset, where count is not 0 */
};

/* All zero: nothing was read yet. */
struct msim_json_filter {
    struct msim_json_repairs repairs;
    struct msim_vec held;  /* bytes that are not passed on yet */
    struct msim_vec noted; /* what was put right in the last call */
    uint64_t at;           /* offset of the first of them */
    uint32_t passed;       /* how many of them have been, by now */
    bool in_string;
    char last; /* byte before, outside strings and not blank */
};

/*
 * The next bytes of the file; `len` 0: there are no more. `*out` are those to
 * be parsed: they live until the next call. What could be the beginning of a
 * fault, at the end of a piece, waits for the next one. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_json_filter_feed(struct msim_json_filter *f,
                                       const char *bytes, size_t len,
                                       const char **out, size_t *out_len);

/*
 * Where the bytes passed on last were taken for what they are not: take back
 * those from `from` on, which is in a string, and look at them again.
 */
void msim_json_filter_again(struct msim_json_filter *f, const char *from,
                            const char **out, size_t *out_len);

/* What was put right in the last call from offset `at` on is not counted:
 * nobody reads it. */
void msim_json_filter_uncount(struct msim_json_filter *f, uint64_t at);

void msim_json_filter_release(struct msim_json_filter *f);

#endif
