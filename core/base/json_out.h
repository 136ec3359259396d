/*
 * core/base/json_out.h - writing JSON as it comes, without a tree.
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
 *     msim_json_close(&j);
 *     status = msim_json_end(&j);
 */
#ifndef MSIM_CORE_BASE_JSON_OUT_H
#define MSIM_CORE_BASE_JSON_OUT_H
#include "core/base/status.h"
#include "core/base/units.h"

#include <stdio.h>

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
/* A value that is JSON already, on one line: not looked at. NULL: null. */
void msim_json_value(struct msim_json *j, const char *key, const char *json);
/* Picoseconds as microseconds, exactly: with 3 decimals, or 6 where the time
 * is not a whole number of nanoseconds. */
void msim_json_time(struct msim_json *j, const char *key, msim_ps time);

/* Flush, end the last line, and say how it went. */
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
