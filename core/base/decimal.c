/*
 * core/base/decimal.c - numbers out of their JSON text, exactly, and into text.
 */
#include "core/base/texts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PS_DIGITS 6 /* digits of a picosecond below the microsecond */

/*
 * Eight digits at once: pairs, then fours, then all are summed up within one
 * register. False where one of them is no digit.
 */
static bool eight_digits(const char *s, uint64_t *value)
{
    uint64_t v;

    memcpy(&v, s, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    if ((v & 0xf0f0f0f0f0f0f0f0u) != 0x3030303030303030u ||
        ((v + 0x0606060606060606u) & 0xf0f0f0f0f0f0f0f0u) !=
            0x3030303030303030u)
        return false;
    v = (v & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
    v = (v & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
    *value = (v & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
    return true;
}

size_t msim_whole_length(const char *text)
{
    size_t n = strlen(text), digits = strspn(text, "0123456789");
    size_t zeros = text[digits] == '.' ? strspn(text + digits + 1, "0") : 0;

    return digits && zeros && digits + 1 + zeros == n ? digits : n;
}

bool msim_decimal_int(const char *s, size_t len, int64_t *value)
{
    const char *end = s + len;
    bool negative = len && *s == '-';
    uint64_t n = 0;

    s += negative;
    if (s == end || end - s > 19)
        return false;
    while (end - s >= 8) {
        uint64_t eight;

        if (!eight_digits(s, &eight))
            return false;
        n = n * 100000000 + eight;
        s += 8;
    }
    for (; s < end; s++) {
        unsigned digit = (unsigned)(unsigned char)*s - '0';

        if (digit > 9)
            return false;
        n = n * 10 + digit; /* 19 digits always fit in 64 bits */
    }
    if (n > (uint64_t)INT64_MAX)
        return false;
    *value = negative ? -(int64_t)n : (int64_t)n;
    return true;
}

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Digits of a text with one point at most, as a whole number; `*places` are
 * behind the point. Returns where they end, or NULL where they may be too many
 * to be exact, or something else than a blank, ';' or the end stands there. */
static const char *few_digits(const char *c, uint64_t *digits, int *places)
{
    const char *begin = c, *point;

    for (*digits = 0; is_digit(*c); c++)
        *digits = *digits * 10 + (uint64_t)(*c - '0');
    point = c;
    if (*c == '.')
        for (c++; is_digit(*c); c++)
            *digits = *digits * 10 + (uint64_t)(*c - '0');
    *places = c > point ? (int)(c - point) - 1 : 0;
    if (point == begin || c - begin - (c > point) > 15)
        return NULL;
    return *c == ' ' || *c == ';' || *c == '\0' ? c : NULL;
}

/*
 * Fifteen digits and a power of ten up to 22 are exact as doubles, so that
 * their quotient is the double next to the number (Clinger, "How to Read
 * Floating Point Numbers Accurately", PLDI 1990). The end, or NULL where it may
 * be another.
 */
static const char *few_real(const char *text, double *value)
{
    static const double TENS[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    uint64_t digits;
    int places;
    const char *end = few_digits(text, &digits, &places);

    if (end)
        *value = (double)digits / TENS[places];
    return end;
}

/* The double next to the number rounds to the float next to it unless it lies
 * half-way between two floats: then the digits that it has lost would decide.
 */
float msim_decimal_float(const char *text, const char **end)
{
    const uint64_t below = (1u << 29) - 1, half = 1u << 28;
    uint64_t bits;
    char *stop;
    double d;
    float f;

    *end = few_real(text, &d);
    if (*end) {
        memcpy(&bits, &d, sizeof(bits));
        if ((bits & below) != half)
            return (float)d;
    }
    f = strtof(text, &stop);
    *end = stop;
    return f;
}

bool msim_decimal_real(const char *s, size_t len, double *value)
{
    char buf[64], *end;

    if (len == 0 || len >= sizeof(buf) || *s == '+')
        return false;
    memcpy(buf, s, len);
    buf[len] = '\0';
    if (few_real(buf + (*buf == '-'), value) == buf + len) {
        *value = *buf == '-' ? -*value : *value;
        return true;
    }
    *value = strtod(buf, &end);
    return end == buf + len;
}

/* 10^n for 0 <= n <= 18. */
static uint64_t power10(int64_t n)
{
    uint64_t p = 1;

    for (; n > 0; n--)
        p *= 10;
    return p;
}

/*
 * The same for a number with an exponent: `mantissa` (up to 18 digits, as
 * many as a time of 100 days has) times ten to the `e`.
 */
static bool scaled_us(uint64_t mantissa, int64_t e, int64_t *us, int32_t *ps)
{
    *us = 0;
    *ps = 0;
    if (mantissa == 0 || e < -24)
        return true;
    if (e > 18 || (e > 0 && mantissa > (uint64_t)INT64_MAX / power10(e)))
        return false;
    if (e >= 0) {
        *us = (int64_t)(mantissa * power10(e));
        return true;
    }
    if (e >= -18) {
        *us = (int64_t)(mantissa / power10(-e));
        mantissa %= power10(-e);
    }
    /* What is left is below 10^-e: bring it to six digits after the point. */
    if (e >= -PS_DIGITS)
        *ps = (int32_t)(mantissa * power10(PS_DIGITS + e));
    else
        *ps = (int32_t)(mantissa / power10(-e - PS_DIGITS));
    return true;
}

static bool exponent_us(const char *p, const char *end, int64_t *us,
                        int32_t *ps)
{
    uint64_t mantissa = 0;
    int64_t fraction = 0, exponent;
    bool point = false;
    int digits = 0;

    for (; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            point = true;
        } else if (digits < 18 || mantissa == 0) {
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
            digits += mantissa != 0;
            fraction += point;
        } else if (!point) {
            return false;
        }
    }
    p += p < end;
    p += p < end && *p == '+';
    if (!msim_decimal_int(p, (size_t)(end - p), &exponent) || exponent > 400 ||
        exponent < -400 || fraction > 400)
        return false;
    return scaled_us(mantissa, exponent - fraction, us, ps);
}

static bool negate(int64_t *us, int32_t *ps)
{
    *us = -*us - (*ps != 0);
    *ps = *ps ? 1000000 - *ps : 0;
    return true;
}

bool msim_decimal_us(const char *s, size_t len, int64_t *us, int32_t *ps)
{
    const char *p = s, *end = s + len;
    bool negative = len && *s == '-';
    uint64_t whole = 0;
    int32_t part = 0;
    int digits = 0;

    p += negative;
    if (p == end)
        return false;
    while (end - p >= 8 && p - s <= 8) {
        uint64_t eight;

        if (!eight_digits(p, &eight))
            break;
        whole = whole * 100000000 + eight;
        p += 8;
    }
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (p - s > 18)
            return false;
        whole = whole * 10 + (uint64_t)(*p - '0');
    }
    if (p < end && *p == '.')
        for (p++; p < end && *p >= '0' && *p <= '9'; p++)
            if (digits < PS_DIGITS) {
                part = part * 10 + (*p - '0');
                digits++;
            }
    *us = (int64_t)whole;
    if (p < end) {
        if ((*p != 'e' && *p != 'E') ||
            !exponent_us(s + negative, end, us, &part))
            return false;
    } else {
        for (; digits < PS_DIGITS; digits++)
            part *= 10;
    }
    *ps = part;
    return negative ? negate(us, ps) : true;
}

/* ---- writing ------------------------------------------------------------ */

/* Six digits `n`, `whole` of them before the point (0 or less: zeros follow
 * the point). Zeros at the end are not written. */
static size_t place_digits(char *text, uint32_t n, int whole)
{
    char digits[6];
    int last = 6, len = 0;

    for (int i = 5; i >= 0; i--, n /= 10)
        digits[i] = (char)('0' + n % 10);
    while (last > whole && last > 1 && digits[last - 1] == '0')
        last--;
    if (whole <= 0) {
        text[len++] = '0';
        text[len++] = '.';
        for (int i = whole; i < 0; i++)
            text[len++] = '0';
    }
    for (int i = 0; i < last; i++) {
        if (i == whole && i > 0)
            text[len++] = '.';
        text[len++] = digits[i];
    }
    text[len] = '\0';
    return (size_t)len;
}

/*
 * A double scaled to six digits before the point is off by one part in 2^53.
 * So rounding it is right unless it lies within a millionth of a tie. Such
 * values, and those that %g writes with an exponent, go to printf.
 */
size_t msim_decimal_write(char text[MSIM_DECIMAL_TEXT], double v)
{
    static const double SCALE[] = {1e9, 1e8, 1e7, 1e6, 1e5,
                                   1e4, 1e3, 1e2, 1e1, 1};
    static const double BEGIN[] = {1e-4, 1e-3, 1e-2, 1e-1, 1,
                                   1e1,  1e2,  1e3,  1e4,  1e5};
    int i = 9;
    double scaled, part;

    if (!(v >= 1e-4 && v < 999999))
        return (size_t)snprintf(text, MSIM_DECIMAL_TEXT, "%.6g", v);
    while (v < BEGIN[i])
        i--;
    scaled = v * SCALE[i];
    part = scaled - floor(scaled);
    if (fabs(part - 0.5) < 1e-6 || scaled >= 999999)
        return (size_t)snprintf(text, MSIM_DECIMAL_TEXT, "%.6g", v);
    return place_digits(text, (uint32_t)(scaled + 0.5), i - 3);
}
