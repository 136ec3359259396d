/*
 * core/json_scan.h - finding the end of JSON tokens, many bytes at a time.
 *
 * For json_sax.c, in whose inner loop these are. Each takes a range and never
 * reads past its end. SSE2 is part of every x86-64; elsewhere eight bytes go
 * through ordinary registers.
 */
#ifndef MSIM_CORE_JSON_SCAN_H
#define MSIM_CORE_JSON_SCAN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static inline bool msim_json_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline bool msim_json_is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

/* The first byte that is not a digit, or `end`. */
static inline const char *msim_json_skip_digits(const char *p, const char *end)
{
#ifdef __SSE2__
    while (end - p >= 16) {
        __m128i v =
            _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)p),
                         _mm_set1_epi8('0'));
        /* Unsigned v <= 9, as min(v, 9) == v. */
        unsigned other = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(
                             _mm_min_epu8(v, _mm_set1_epi8(9)), v)) ^
                         0xffff;

        if (other)
            return p + __builtin_ctz(other);
        p += 16;
    }
#endif
    while (p < end && msim_json_is_digit(*p))
        p++;
    return p;
}

/* The first byte that is not white space, or `end`. */
static inline const char *msim_json_skip_space(const char *p, const char *end)
{
    /* Nothing, or one blank after a colon or comma, is by far most common. */
    if (p < end && (unsigned char)*p > ' ')
        return p;
    if (end - p > 1 && *p == ' ' && (unsigned char)p[1] > ' ')
        return p + 1;
#ifdef __SSE2__
    while (end - p >= 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i blank =
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(' ')),
                                      _mm_cmpeq_epi8(v, _mm_set1_epi8('\n'))),
                         _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('\r')),
                                      _mm_cmpeq_epi8(v, _mm_set1_epi8('\t'))));
        unsigned rest = (unsigned)_mm_movemask_epi8(blank) ^ 0xffff;

        if (rest)
            return p + __builtin_ctz(rest);
        p += 16;
    }
#endif
    while (p < end && msim_json_is_space(*p))
        p++;
    return p;
}

/*
 * Inside a string: the first quote, backslash or control character, or `end`.
 * `*high` is set where a byte above 0x7f comes before it.
 */
static inline const char *msim_json_scan_string(const char *p, const char *end,
                                                bool *high)
{
#ifdef __SSE2__
    while (end - p >= 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* Unsigned v <= 0x1f, as max(v, 0x1f) == 0x1f. */
        __m128i stop =
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
                                      _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))),
                         _mm_cmpeq_epi8(_mm_max_epu8(v, _mm_set1_epi8(0x1f)),
                                        _mm_set1_epi8(0x1f)));
        unsigned at = (unsigned)_mm_movemask_epi8(stop);
        unsigned top = (unsigned)_mm_movemask_epi8(v);

        if (at) {
            unsigned n = (unsigned)__builtin_ctz(at);

            *high |= (top & ((1u << n) - 1)) != 0;
            return p + n;
        }
        *high |= top != 0;
        p += 16;
    }
#endif
    for (; p < end; p++) {
        unsigned char c = (unsigned char)*p;

        if (c == '"' || c == '\\' || c < 0x20)
            break;
        *high |= c > 0x7f;
    }
    return p;
}

/*
 * Past the number that starts at `p`, or NULL where it is not one; `*cut` is
 * set where the range ends before it is certain that the number does.
 */
const char *msim_json_scan_number(const char *p, const char *end, bool *cut);

/* Whether the bytes are valid UTF-8 (no overlong forms, no surrogates). */
bool msim_json_is_utf8(const char *s, size_t len);

/*
 * Undo the escapes of a string's inside into `to`, which has room for `len`
 * bytes. The length, or SIZE_MAX with `*bad` at an escape that is not valid.
 * A surrogate without its partner becomes U+FFFD.
 */
size_t msim_json_unescape(char *to, const char *s, size_t len, size_t *bad);

#endif
