/*
 * core/base/json.h - small JSON files as a tree.
 *
 * For platform files, hosts and scenarios: files of at most a few megabytes.
 * Traces go through the streaming readers instead. The one place that names
 * the JSON library; other folders include this header.
 */
#ifndef MSIM_CORE_BASE_JSON_H
#define MSIM_CORE_BASE_JSON_H
#include "core/base/arena.h"
#include "core/base/status.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

/* Put the number of member `key` of `o` into `*out`; false where it is absent,
 * or not from 0 to `most`. */
bool msim_json_get_up_to(const cJSON *o, const char *key, double most,
                         double *out);

/* Print `json` and a line end; what cJSON leaves as it is, though a terminal
 * would obey it, is escaped. */
MSIM_MUST_CHECK
enum msim_status msim_json_show(const cJSON *json, FILE *out);

#endif
