/*
 * core/stream/json_repair.c - known faults of JSON become JSON, in place.
 *
 * Escapes: RFC 8259, section 7. UTF-8: RFC 3629, section 4; a byte that begins
 * no character of that table is one fault. Whether text is inside a string is
 * all that has to be known of what came before.
 */
#include "core/stream/json_sax.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The longest word that is not finite: -infinity. */
#define WORD_MAX 9

#define ONES  0x0101010101010101u
#define HIGHS 0x8080808080808080u

/* One that was put right. */
struct noted {
    uint64_t at;
    enum msim_json_repair kind;
};

static void note(struct msim_json_filter *f, enum msim_json_repair kind,
                 uint64_t at)
{
    struct noted *n = msim_vec_add(&f->noted, sizeof(*n));

    if (n) /* else it cannot be taken back */
        *n = (struct noted){at, kind};
    if (!f->repairs.count[kind]++)
        f->repairs.first[kind] = at;
}

void msim_json_filter_uncount(struct msim_json_filter *f, uint64_t at)
{
    const struct noted *n = f->noted.data;

    while (f->noted.n && n[f->noted.n - 1].at >= at)
        f->repairs.count[n[--f->noted.n].kind]--;
}

void msim_json_filter_release(struct msim_json_filter *f)
{
    free(f->held.data);
    free(f->noted.data);
}

/* ---- in strings ---------------------------------------------------------- */

static bool is_plain(char c)
{
    unsigned char u = (unsigned char)c;

    return u >= 0x20 && u < 0x80 && u != '"' && u != '\\';
}

/* The high bit of each byte of `w` that is zero; bits above the lowest that is
 * set may be wrong. */
static uint64_t zeros(uint64_t w)
{
    return (w - ONES) & ~w & HIGHS;
}

/* The first byte in [p, end) that is not one character of text by itself: a
 * quote, a backslash, a control character, or not ASCII. */
static char *plain(char *p, const char *end)
{
    while (end - p >= 8) {
        uint64_t w, odd;

        memcpy(&w, p, sizeof(w));
        w = le64toh(w);
        odd = zeros(w ^ ONES * '"') | zeros(w ^ ONES * '\\') |
              ((w - ONES * 0x20) & ~w & HIGHS) | (w & HIGHS);
        if (odd)
            return p + (__builtin_ctzll(odd) >> 3);
        p += 8;
    }
    while (p < end && is_plain(*p))
        p++;
    return p;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* The length of the escape at `p`: 0 it is cut, -1 it is none. */
static int escape(const char *p, size_t n)
{
    if (n < 2)
        return 0;
    if (p[1] && strchr("\"\\/bfnrt", p[1]))
        return 2;
    if (p[1] != 'u')
        return -1;
    for (size_t i = 2; i < 6; i++) {
        if (i == n)
            return 0;
        if (!is_hex(p[i]))
            return -1;
    }
    return 6;
}

/* The length of the character at `p`: 0 it is cut, -1 it is none. */
static int utf8(const char *p, size_t n)
{
    unsigned char c = (unsigned char)p[0];
    unsigned char low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    unsigned char high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    int len = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

    if (c < 0xc2 || c > 0xf4)
        return -1;
    for (int i = 1; i < len; i++) {
        if ((size_t)i == n)
            return 0;
        c = (unsigned char)p[i];
        if (c < low || c > high)
            return -1;
        low = 0x80;
        high = 0xbf;
    }
    return len;
}

/* What is at `p` in a string and is not plain: its length once it is right, 0
 * where it is cut. */
static int sequence(struct msim_json_filter *f, char *p, size_t n, uint64_t at,
                    bool end)
{
    static const char PUT[] = {
        [MSIM_JSON_REPAIR_ESCAPE] = '/',
        [MSIM_JSON_REPAIR_CONTROL] = ' ',
        [MSIM_JSON_REPAIR_UTF8] = '?',
    };
    enum msim_json_repair kind = *p == '\\' ? MSIM_JSON_REPAIR_ESCAPE
                                 : (unsigned char)*p < 0x20
                                     ? MSIM_JSON_REPAIR_CONTROL
                                     : MSIM_JSON_REPAIR_UTF8;
    int len = -1;

    if (kind == MSIM_JSON_REPAIR_ESCAPE)
        len = escape(p, n);
    else if (kind == MSIM_JSON_REPAIR_UTF8)
        len = utf8(p, n);
    if (len == 0 && end)
        return (int)n; /* the file is cut here: the parser says so */
    if (len >= 0)
        return len;
    note(f, kind, at);
    *p = PUT[kind];
    return 1;
}

/* From p on, inside a string: where it ends, or where it is cut. */
static char *in_string(struct msim_json_filter *f, char *p, char *to, bool end)
{
    const char *begin = f->held.data;
    int len;

    for (;;) {
        p = plain(p, to);
        if (p == to)
            return p;
        if (*p == '"') {
            f->in_string = false;
            f->last = '"';
            return p + 1;
        }
        len = sequence(f, p, (size_t)(to - p), f->at + (uint64_t)(p - begin),
                       end);
        if (len == 0)
            return p;
        p += len;
    }
}

/* ---- outside ------------------------------------------------------------- */

static bool in_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           c == '-' || c == '.' || c == '+';
}

/* As C and Python write what is not finite. */
static bool is_not_finite(const char *s, size_t len)
{
    static const char *const WORDS[] = {"inf", "infinity", "nan"};
    size_t sign = s[0] == '-' || s[0] == '+';

    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (len - sign == strlen(WORDS[i]) &&
            strncasecmp(s + sign, WORDS[i], len - sign) == 0)
            return true;
    return false;
}

/* A word that stands where a value may: an empty string and blanks are as long,
 * and no number. */
static void word(struct msim_json_filter *f, char *p, size_t len, uint64_t at)
{
    if (len > WORD_MAX || !is_not_finite(p, len) || !f->last ||
        !strchr(":,[", f->last))
        return;
    note(f, MSIM_JSON_REPAIR_NUMBER, at);
    memset(p, ' ', len);
    p[0] = p[1] = '"';
}

/* From p on, outside strings: where one begins, or where a word is cut. */
static char *outside(struct msim_json_filter *f, char *p, char *to, bool end)
{
    const char *begin = f->held.data;

    while (p < to) {
        char *q = p;

        while (q < to && in_word(*q))
            q++;
        if (q == to && q > p && q - p <= WORD_MAX && !end)
            return p;
        if (q > p) {
            word(f, p, (size_t)(q - p), f->at + (uint64_t)(p - begin));
            f->last = 'w';
            p = q;
            continue;
        }
        if (*p == '"') {
            f->in_string = true;
            return p + 1;
        }
        if (*p != ' ' && *p != '\n' && *p != '\t' && *p != '\r')
            f->last = *p;
        p++;
    }
    return p;
}

/* ---- pieces -------------------------------------------------------------- */

/* Take away what was passed on at the last call. */
static void forget(struct msim_json_filter *f)
{
    char *bytes = f->held.data;

    f->held.n -= f->passed;
    f->at += f->passed;
    if (f->held.n)
        memmove(bytes, bytes + f->passed, f->held.n);
    f->passed = 0;
    f->noted.n = 0;
}

/* Look at what is held, up to what is cut. */
static void filter(struct msim_json_filter *f, bool end, const char **out,
                   size_t *out_len)
{
    char *p = f->held.data, *to = p + f->held.n;

    while (p < to) {
        char *from = p;

        p = f->in_string ? in_string(f, p, to, end) : outside(f, p, to, end);
        if (p == from)
            break; /* cut */
    }
    *out = f->held.data;
    f->passed = (uint32_t)(p - *out);
    *out_len = f->passed;
}

enum msim_status msim_json_filter_feed(struct msim_json_filter *f,
                                       const char *bytes, size_t len,
                                       const char **out, size_t *out_len)
{
    struct msim_text_piece piece;

    forget(f);
    MSIM_TRY(msim_vec_text(&f->held, bytes, len, &piece));
    filter(f, len == 0, out, out_len);
    return MSIM_OK;
}

void msim_json_filter_again(struct msim_json_filter *f, const char *from,
                            const char **out, size_t *out_len)
{
    f->passed = (uint32_t)(from - (const char *)f->held.data);
    forget(f);
    f->in_string = true;
    filter(f, false, out, out_len);
}
