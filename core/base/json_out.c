/*
 * core/base/json_out.c - writing JSON as it comes, without a tree.
 */
#include "core/base/json.h"

#include "core/base/print.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- text --------------------------------------------------------------- */

void msim_number_text(char text[32], double value)
{
    char digits[32] = "null";

    if (value == 0) /* not "-0" */
        value = 0;
    for (int n = 15; n <= 17 && isfinite(value); n++) {
        snprintf(digits, sizeof(digits), "%.*g", n, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    memcpy(text, digits, sizeof(digits));
}

/* ---- buffer ------------------------------------------------------------- */

static void flush(struct msim_json *j)
{
    if (j->status == MSIM_OK && j->used)
        j->status = j->sink(j->ctx, j->buffer, j->used);
    j->used = 0;
}

static void put(struct msim_json *j, const char *bytes, size_t n)
{
    if (n > sizeof(j->buffer) - j->used)
        flush(j);
    if (n > sizeof(j->buffer)) {
        if (j->status == MSIM_OK)
            j->status = j->sink(j->ctx, bytes, n);
        return;
    }
    memcpy(j->buffer + j->used, bytes, n);
    j->used += n;
}

static void put_text(struct msim_json *j, const char *text)
{
    put(j, text, strlen(text));
}

unsigned msim_json_escape(char text[16], const char *s)
{
    unsigned n = msim_utf8_length(s);
    uint32_t c = n ? msim_utf8_code(s, n) : 0xfffd;

    if (c == '\n' || c == '\t')
        snprintf(text, 16, "\\%c", c == '\n' ? 'n' : 't');
    else if (c == '"' || c == '\\')
        snprintf(text, 16, "\\%c", (int)c);
    else if (n == 0)
        snprintf(text, 16, "\xef\xbf\xbd");
    else if (c < 0x10000)
        snprintf(text, 16, "\\u%04x", c);
    else /* UTF-16, of which JSON's escapes are */
        snprintf(text, 16, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10),
                 0xdc00 + (c & 0x3ff));
    return n ? n : 1;
}

/* In decimals, of which there are `least` or more: printf() takes three times
 * as long, and files of traces are numbers for the most part. */
static void put_whole(struct msim_json *j, uint64_t value, int least)
{
    char text[20], *at = text + sizeof(text);

    for (; least > 0 || value; least--, value /= 10)
        *--at = (char)('0' + value % 10);
    put(j, at, (size_t)(text + sizeof(text) - at));
}

static uint64_t put_sign(struct msim_json *j, int64_t value)
{
    if (value < 0)
        put(j, "-", 1);
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* Most of what stands as it is. */
static bool is_plain(char c)
{
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

/* Bytes of a character that stands as it is, but takes more than a look. */
static unsigned other_length(const char *s)
{
    return *s == '"' || *s == '\\' ? 0 : msim_printable_length(s);
}

#define EACH(byte) (0x0101010101010101u * (byte))

/* A word with a bit set in each byte that is 0, and perhaps behind one. */
static uint64_t zeros(uint64_t w)
{
    return (w - EACH(0x01)) & ~w & EACH(0x80);
}

/* How many of `n` bytes are plain, in whole words: most strings are, all. */
static size_t plain_words(const char *s, size_t n)
{
    size_t at = 0;
    uint64_t w;

    for (; n - at >= sizeof(w); at += sizeof(w)) {
        memcpy(&w, s + at, sizeof(w));
        if (((w - EACH(' ')) | w) & EACH(0x80) || zeros(w ^ EACH('"')) ||
            zeros(w ^ EACH('\\')) || zeros(w ^ EACH(0x7f)))
            break;
    }
    return at;
}

static void put_string(struct msim_json *j, const char *s)
{
    const char *end = s + strlen(s);
    char escape[16];

    put(j, "\"", 1);
    for (;;) {
        const char *plain = s;
        unsigned n;

        s += plain_words(s, (size_t)(end - s));
        while (is_plain(*s) || (n = other_length(s)) > 0)
            s += is_plain(*s) ? 1 : n;
        put(j, plain, (size_t)(s - plain));
        if (!*s)
            break;
        s += msim_json_escape(escape, s);
        put_text(j, escape);
    }
    put(j, "\"", 1);
}

/* ---- structure ---------------------------------------------------------- */

static void new_line(struct msim_json *j)
{
    put(j, "\n", 1);
    for (unsigned i = 0; i < j->depth; i++)
        put(j, "  ", 2);
}

/* What stands before a value: comma, line, key. */
static void before_value(struct msim_json *j, const char *key)
{
    if (j->depth) {
        bool lines = j->level[j->depth - 1].lines;

        if (j->level[j->depth - 1].filled)
            put(j, lines ? "," : ", ", lines ? 1 : 2);
        if (lines)
            new_line(j);
        j->level[j->depth - 1].filled = true;
    }
    if (key) {
        put_string(j, key);
        put(j, ": ", 2);
    }
}

void msim_json_begin(struct msim_json *j,
                     enum msim_status (*sink)(void *, const char *, size_t),
                     void *ctx)
{
    j->sink = sink;
    j->ctx = ctx;
    j->status = MSIM_OK;
    j->depth = 0;
    j->used = 0;
}

void msim_json_document(struct msim_json *j,
                        enum msim_status (*sink)(void *, const char *, size_t),
                        void *ctx, const char *schema)
{
    msim_json_begin(j, sink, ctx);
    msim_json_open(j, NULL, '{', true);
    msim_json_text(j, "schema", schema);
    msim_json_text(j, "version", MSIM_VERSION);
}

enum msim_status msim_sink_file(void *ctx, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, ctx) == n ? MSIM_OK : MSIM_EWRITE;
}

static void enter(struct msim_json *j, char bracket, bool lines)
{
    j->level[j->depth].close = bracket == '{' ? '}' : ']';
    j->level[j->depth].lines = lines;
    j->level[j->depth].filled = false;
    j->depth++;
}

void msim_json_open(struct msim_json *j, const char *key, char bracket,
                    bool lines)
{
    assert(bracket == '{' || bracket == '[');
    assert(j->depth < MSIM_JSON_DEPTH);
    before_value(j, key);
    put(j, &bracket, 1);
    enter(j, bracket, lines);
}

void msim_json_open_at(struct msim_json *j, const char *begun)
{
    assert(j->depth < MSIM_JSON_DEPTH);
    before_value(j, NULL);
    put_text(j, begun);
    enter(j, *begun, false);
}

void msim_json_close(struct msim_json *j)
{
    assert(j->depth > 0);
    j->depth--;
    if (j->level[j->depth].lines && j->level[j->depth].filled)
        new_line(j);
    put(j, &j->level[j->depth].close, 1);
}

/* ---- values ------------------------------------------------------------- */

void msim_json_text(struct msim_json *j, const char *key, const char *text)
{
    before_value(j, key);
    if (text)
        put_string(j, text);
    else
        put_text(j, "null");
}

void msim_json_value(struct msim_json *j, const char *key, const char *json)
{
    before_value(j, key);
    put_text(j, json ? json : "null");
}

void msim_json_number(struct msim_json *j, const char *key, double value)
{
    char text[32];

    before_value(j, key);
    msim_number_text(text, value);
    put_text(j, text);
}

void msim_json_integer(struct msim_json *j, const char *key, int64_t value)
{
    before_value(j, key);
    put_whole(j, put_sign(j, value), 1);
}

void msim_json_unsigned(struct msim_json *j, const char *key, uint64_t value)
{
    before_value(j, key);
    put_whole(j, value, 1);
}

void msim_json_bool(struct msim_json *j, const char *key, bool value)
{
    before_value(j, key);
    put_text(j, value ? "true" : "false");
}

void msim_json_time(struct msim_json *j, const char *key, msim_ps time)
{
    uint64_t ps, rest;

    before_value(j, key);
    ps = put_sign(j, time);
    rest = ps % MSIM_PS_PER_US;
    put_whole(j, ps / MSIM_PS_PER_US, 1);
    put(j, ".", 1);
    if (rest % 1000)
        put_whole(j, rest, 6);
    else
        put_whole(j, rest / 1000, 3);
}

enum msim_status msim_json_end(struct msim_json *j)
{
    assert(j->depth <= 1);
    if (j->depth)
        msim_json_close(j);
    put(j, "\n", 1);
    flush(j);
    return j->status;
}
