/*
 * core/json_token.h - the tokens of JSON that have text: strings, numbers,
 * words. For json_sax.c, in whose inner loop they are.
 *
 * Each is at r->p and is handed out as it lies, unless a string has escapes.
 * They return 0 with r->p behind the token, NEED_MORE with r->p unchanged
 * where the range cuts it, or a status with r->p where it is wrong.
 */
#ifndef MSIM_CORE_JSON_TOKEN_H
#define MSIM_CORE_JSON_TOKEN_H
#include "core/json_scan.h"
#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>

/* A range being parsed, and how far it has come. */
struct msim_json_range {
    const char *p, *end;
};

enum { MSIM_JSON_NEED_MORE = 2 }; /* beside 0 and statuses */

struct msim_json_text {
    bool final;  /* no more text will come: a number may end with it */
    char *clean; /* a string without its escapes */
    size_t clean_cap;
    char message[128]; /* what was found and wanted */
};

static inline int msim_json_fail_found(struct msim_json_text *x, const char *p,
                                       const char *want)
{
    unsigned char c = (unsigned char)*p;

    if (c > 0x20 && c < 0x7f)
        snprintf(x->message, sizeof x->message, "found '%c', want %s", c, want);
    else
        snprintf(x->message, sizeof x->message, "found byte 0x%02x, want %s", c,
                 want);
    return MSIM_ESYNTAX;
}

static inline int msim_json_fail(struct msim_json_text *x,
                                 enum msim_status status, const char *text)
{
    snprintf(x->message, sizeof x->message, "%s", text);
    return status;
}

static inline int msim_json_room(char **buf, size_t *cap, size_t want)
{
    size_t size = *cap ? *cap : 1024;
    char *p;

    if (want <= *cap)
        return 0;
    while (size < want)
        size *= 2;
    p = realloc(*buf, size);
    if (!p)
        return MSIM_ENOMEM;
    *buf = p;
    *cap = size;
    return 0;
}

/*
 * The string whose opening quote is at r->p: its text, and r->p behind its
 * closing quote. Most strings have neither escapes nor bytes above 0x7f and
 * are handed out as they lie.
 */
static inline int msim_json_string_slow(struct msim_json_text *x,
                                        struct msim_json_range *r,
                                        const char *stop, bool high,
                                        const char **text, size_t *len)
{
    const char *from = r->p + 1;
    bool escaped = false;
    size_t bad = 0;

    while (stop < r->end && *stop == '\\') {
        escaped = true;
        if (r->end - stop < 2)
            return MSIM_JSON_NEED_MORE;
        stop = msim_json_scan_string(stop + 2, r->end, &high);
    }
    if (stop == r->end)
        return MSIM_JSON_NEED_MORE;
    r->p = stop;
    if (*stop != '"')
        return msim_json_fail_found(x, stop,
                                    "no control character in a string");
    *text = from;
    *len = (size_t)(stop - from);
    if (high && !msim_json_is_utf8(from, *len))
        return msim_json_fail(x, MSIM_ESYNTAX,
                              "found bytes that are not UTF-8 in a string");
    if (escaped) {
        if (msim_json_room(&x->clean, &x->clean_cap, *len))
            return MSIM_ENOMEM;
        *len = msim_json_unescape(x->clean, from, *len, &bad);
        r->p = from + bad;
        if (*len == SIZE_MAX)
            return msim_json_fail(x, MSIM_ESYNTAX,
                                  "found an escape that JSON does not have");
        *text = x->clean;
    }
    r->p = stop + 1;
    return 0;
}

static inline int msim_json_string(struct msim_json_text *x,
                                   struct msim_json_range *r, const char **text,
                                   size_t *len)
{
    const char *from = r->p + 1;
    bool high = false;
    const char *stop = msim_json_scan_string(from, r->end, &high);

    if (__builtin_expect(stop == r->end || *stop != '"' || high, 0)) {
        struct msim_json_range slow = *r;
        int result = msim_json_string_slow(x, &slow, stop, high, text, len);

        *r = slow;
        return result;
    }
    *text = from;
    *len = (size_t)(stop - from);
    r->p = stop + 1;
    return 0;
}

static inline int msim_json_number_slow(struct msim_json_text *x,
                                        struct msim_json_range *r,
                                        const char **text, size_t *len)
{
    bool cut;
    const char *stop = msim_json_scan_number(r->p, r->end, &cut);

    if (!stop)
        return msim_json_fail_found(x, r->p, "a number as JSON writes them");
    if (cut && !(x->final && stop > r->p && msim_json_is_digit(stop[-1])))
        return MSIM_JSON_NEED_MORE;
    *text = r->p;
    *len = (size_t)(stop - r->p);
    r->p = stop;
    return 0;
}

/* Most numbers are whole, positive and have a comma or brace behind them. */
static inline int msim_json_number(struct msim_json_text *x,
                                   struct msim_json_range *r, const char **text,
                                   size_t *len)
{
    const char *p = r->p;
    struct msim_json_range slow = *r;
    int result;

    if (*p != '0' && *p != '-') {
        p = msim_json_skip_digits(p, r->end);
        if (p < r->end && *p != '.' && (*p | 0x20) != 'e') {
            *text = r->p;
            *len = (size_t)(p - r->p);
            r->p = p;
            return 0;
        }
    }
    result = msim_json_number_slow(x, &slow, text, len);
    *r = slow;
    return result;
}

/* true, false or null, in full. */
static inline int msim_json_word(struct msim_json_text *x,
                                 struct msim_json_range *r, const char *text)
{
    const char *p = r->p;

    for (; *text; text++, p++) {
        if (p == r->end)
            return MSIM_JSON_NEED_MORE;
        if (*p != *text) {
            r->p = p;
            return msim_json_fail_found(x, p,
                                        "true, false, null or another value");
        }
    }
    r->p = p;
    return 0;
}

#endif
