/*
 * core/base/json.h - JSON in and out: small files as a tree, and writing
 * without one.
 */
#ifndef MSIM_CORE_BASE_JSON_H
#define MSIM_CORE_BASE_JSON_H
#include "core/base/containers.h"
#include "core/base/status.h"
#include "core/base/units.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- json ---------------------------------------------------------------- */
/*
 * Small JSON files as a tree.
 *
 * For platform files, hosts and scenarios: files of at most a few megabytes.
 * Traces go through the streaming readers instead. The one place that names
 * the JSON library; other folders include this header.
 */

/*
 * Read and parse `path`. On success `*out` is owned by the caller
 * (cJSON_Delete()); on failure it is NULL: EIO where the file cannot be read,
 * ESYNTAX with the byte offset where it is not JSON, ELIMIT past 64 MiB,
 * ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_json_read(cJSON **out, const char *path,
                                struct msim_error *err);

/* A file of ours: where it says which by "schema", that is
 * "mystique-sim/`what`/1", else EFORMAT. */
MSIM_MUST_CHECK
enum msim_status msim_json_check_our(const cJSON *json, const char *path,
                                     const char *what, struct msim_error *err);

/* msim_json_read() with that check. */
MSIM_MUST_CHECK
enum msim_status msim_json_read_our(cJSON **out, const char *path,
                                    const char *what, struct msim_error *err);

/*
 * Parse `n` bytes of text, all of them; `*out` is the caller's. ESYNTAX, `*at`
 * (which may be NULL) being where it ends to be JSON, or ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_json_parse(cJSON **out, const char *text, size_t n,
                                 size_t *at);

/*
 * A tree that is released as a whole, for files of many nodes: what
 * msim_json_read() takes for them, one by one, is most of its time. Never
 * cJSON_Delete() any of it.
 */
struct msim_json_block {
    cJSON *json;
    char *text; /* of the file; texts of the tree stand there, if */
    bool plain; /* it is so: else they are cJSON's */
    struct msim_arena nodes; /* of such a tree */
    size_t length;           /* of the text */
    uint64_t hash;           /* msim_hash_words() of it */
};

/* Read `path`, as msim_json_read() does, with its errors. `b` is all zero, or
 * of an earlier file, which is released and leaves its memory. Release with
 * msim_json_block_release(), after a failure, too. */
MSIM_MUST_CHECK
enum msim_status msim_json_block_read(struct msim_json_block *b,
                                      const char *path, struct msim_error *err);
void msim_json_block_release(struct msim_json_block *b);

/*
 * The same in two steps: the text, and its tree. Between them a caller may know
 * the text by its hash, and name an array of the root whose objects are left as
 * they are (NULL: none is). Each then is a node cJSON_Raw, with its text in
 * `valuestring`, which nothing ends, and its length in `valueint`: for
 * msim_json_in_place(). Where the tree is not plain, nothing is left.
 */
MSIM_MUST_CHECK
enum msim_status msim_json_block_open(struct msim_json_block *b,
                                      const char *path, struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_json_block_parse(struct msim_json_block *b,
                                       const char *path, const char *left,
                                       struct msim_error *err);

/* Put the text of member `key` of an object that was left into `text`; false
 * where it has none, or one with escapes or longer than `size` - 1. */
bool msim_json_left_text(const cJSON *left, const char *key, char *text,
                         size_t size);

/* Make it the object that its text is, as msim_json_in_place() does; what was
 * not left stays. False without memory. */
bool msim_json_left_read(cJSON *left, struct msim_arena *nodes);

/* A tree of `n` bytes of text, as that of a block: its texts stand in `text`,
 * which is changed, the rest in `nodes`. NULL where it is not plain, or there
 * is no memory. */
cJSON *msim_json_in_place(char *text, size_t n, struct msim_arena *nodes);

/* The text of member `key` of `o`, or NULL where it is absent or no text. */
const char *msim_json_get_text(const cJSON *o, const char *key);

/* Is member `key` of `o` there, and true? */
bool msim_json_get_true(const cJSON *o, const char *key);

/*
 * The number of member `key` of `o`, or `missing`. A member that is an object
 * {"value": number, ...}, a parameter with its provenance, counts as its
 * value.
 */
double msim_json_get_number(const cJSON *o, const char *key, double missing);

/* The same of what is counted, from 0 to `most`; what is no such number is
 * `missing`, too. */
uint64_t msim_json_get_count(const cJSON *o, const char *key, uint64_t most,
                             uint64_t missing);

/* Put the number of member `key` of `o` into `*out`; false where it is absent,
 * or not from 0 to `most`. */
bool msim_json_get_up_to(const cJSON *o, const char *key, double most,
                         double *out);

/* Print `json` and a line end; what cJSON leaves as it is, though a terminal
 * would obey it, is escaped. */
MSIM_MUST_CHECK
enum msim_status msim_json_show(const cJSON *json, FILE *out);

/* ---- json out ------------------------------------------------------------ */
/*
 * Writing JSON as it comes, without a tree.
 *
 * For output that may hold a million records. What comes out is valid JSON
 * whatever goes in: bytes that are not UTF-8 become U+FFFD, numbers that are
 * not finite become null, and what a terminal would obey is escaped. A number
 * is written with the fewest of 15, 16 or 17 digits that read back as the same
 * double, so equal values give equal bytes.
 *
 * Failures of the sink are kept and returned by msim_json_end(); calls after
 * one do nothing.
 *
 *     msim_json_begin(&j, sink, ctx);
 *     msim_json_open(&j, NULL, '{', true);
 *     msim_json_text(&j, "name", "x");
 *     status = msim_json_end(&j);
 */

#define MSIM_JSON_DEPTH 16

struct msim_json {
    /* Takes `n` bytes; anything but MSIM_OK ends the writing. */
    enum msim_status (*sink)(void *ctx, const char *bytes, size_t n);
    void *ctx;
    enum msim_status status;
    unsigned depth;
    struct {
        char close;  /* the bracket that ends it */
        bool lines;  /* its children stand on lines of their own */
        bool filled; /* it has a child already */
    } level[MSIM_JSON_DEPTH];
    size_t used;
    char buffer[8192];
};

/* `j` holds nothing that needs releasing. */
void msim_json_begin(struct msim_json *j,
                     enum msim_status (*sink)(void *, const char *, size_t),
                     void *ctx);
/* The same, and an object is open that says its schema, and our version. */
void msim_json_document(struct msim_json *j,
                        enum msim_status (*sink)(void *, const char *, size_t),
                        void *ctx, const char *schema);
/* A sink that writes to the FILE that is its `ctx`. */
enum msim_status msim_sink_file(void *ctx, const char *bytes, size_t n);

/*
 * `key` is NULL inside an array and at the top. With `lines` the children are
 * put on lines of their own, else all on one.
 */
void msim_json_open(struct msim_json *j, const char *key, char bracket,
                    bool lines);
void msim_json_close(struct msim_json *j);
/* NULL is written as null. */
void msim_json_text(struct msim_json *j, const char *key, const char *text);
void msim_json_number(struct msim_json *j, const char *key, double value);
void msim_json_integer(struct msim_json *j, const char *key, int64_t value);
void msim_json_unsigned(struct msim_json *j, const char *key, uint64_t value);
void msim_json_bool(struct msim_json *j, const char *key, bool value);
/* An object or array on one line that is JSON already, not looked at, up to
 * where its next value stands: a key's, or one without. */
void msim_json_open_at(struct msim_json *j, const char *begun);
/* A value that is JSON already, on one line: not looked at. NULL: null. */
void msim_json_value(struct msim_json *j, const char *key, const char *json);
/* Picoseconds as microseconds, exactly: with 3 decimals, or 6 where the time
 * is not a whole number of nanoseconds. */
void msim_json_time(struct msim_json *j, const char *key, msim_ps time);

/* Close the outermost object or array, end its line, and say how it went. */
MSIM_MUST_CHECK
enum msim_status msim_json_end(struct msim_json *j);

/*
 * The shortest text of `value` as above; "null" where it is not finite. The
 * text fits into 32 bytes.
 */
void msim_number_text(char text[32], double value);

/* How a string has the character at `s` that it cannot hold as it is; returns
 * the bytes of that character. */
unsigned msim_json_escape(char text[16], const char *s);

#endif
