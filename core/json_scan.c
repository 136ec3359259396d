#include "core/json_scan.h"

const char *msim_json_scan_number(const char *p, const char *end, bool *cut)
{
    const char *from;

    *cut = false;
    p += p < end && *p == '-';
    from = p;
    p = msim_json_skip_digits(p, end);
    if (p == from || (*from == '0' && p - from > 1)) {
        *cut = p == end && p == from;
        return *cut ? p : NULL;
    }
    if (p < end && *p == '.') {
        from = ++p;
        p = msim_json_skip_digits(p, end);
        if (p == from && p < end)
            return NULL;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        from = p;
        p = msim_json_skip_digits(p, end);
        if (p == from && p < end)
            return NULL;
    }
    *cut = p == end;
    return p;
}

/* Bytes of the character at `s`, 0 where it is not valid. */
static size_t utf8_len(const unsigned char *s, size_t left)
{
    unsigned char lo = 0x80, hi = 0xbf;
    size_t n, i;

    if (s[0] < 0x80)
        return 1;
    n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n > left)
        return 0;
    /* Overlong forms, surrogates, beyond U+10FFFF. */
    if (s[0] == 0xe0)
        lo = 0xa0;
    else if (s[0] == 0xed)
        hi = 0x9f;
    else if (s[0] == 0xf0)
        lo = 0x90;
    else if (s[0] == 0xf4)
        hi = 0x8f;
    if (s[1] < lo || s[1] > hi)
        return 0;
    for (i = 2; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

bool msim_json_is_utf8(const char *s, size_t len)
{
    while (len) {
        size_t n = utf8_len((const unsigned char *)s, len);

        if (n == 0)
            return false;
        s += n;
        len -= n;
    }
    return true;
}

/* Four hexadecimal digits; -1 where they are not. */
static int32_t hex4(const char *s, size_t left)
{
    int32_t v = 0;
    int i;

    if (left < 4)
        return -1;
    for (i = 0; i < 4; i++) {
        char c = s[i];

        v *= 16;
        if (c >= '0' && c <= '9')
            v += c - '0';
        else if (c >= 'a' && c <= 'f')
            v += c - 'a' + 10;
        else if (c >= 'A' && c <= 'F')
            v += c - 'A' + 10;
        else
            return -1;
    }
    return v;
}

static size_t put_utf8(char *to, int32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/*
 * \uXXXX at s[0]: the character and how many bytes it took, 0 if not valid.
 * Six bytes of escape make at most three, twelve at most four, so the result
 * never outgrows its source.
 */
static size_t unicode(const char *s, size_t left, int32_t *c)
{
    int32_t low;

    *c = left >= 6 ? hex4(s + 2, left - 2) : -1;
    if (*c < 0)
        return 0;
    if (*c >= 0xdc00 && *c <= 0xdfff)
        *c = 0xfffd;
    if (*c < 0xd800 || *c > 0xdbff)
        return 6;
    low =
        left >= 12 && s[6] == '\\' && s[7] == 'u' ? hex4(s + 8, left - 8) : -1;
    if (low < 0xdc00 || low > 0xdfff) {
        *c = 0xfffd;
        return 6;
    }
    *c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
    return 12;
}

size_t msim_json_unescape(char *to, const char *s, size_t len, size_t *bad)
{
    static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    size_t i = 0, n = 0;

    while (i < len) {
        const char *at;
        int32_t c;

        if (s[i] != '\\') {
            to[n++] = s[i++];
            continue;
        }
        *bad = i;
        if (i + 1 < len && s[i + 1] == 'u') {
            size_t used = unicode(s + i, len - i, &c);

            if (used == 0)
                return SIZE_MAX;
            n += put_utf8(to + n, c);
            i += used;
            continue;
        }
        at = i + 1 < len && s[i + 1] ? strchr(plain, s[i + 1]) : NULL;
        if (!at)
            return SIZE_MAX;
        to[n++] = meant[at - plain];
        i += 2;
    }
    return n;
}
