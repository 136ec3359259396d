/*
 * core/report/page/page_pack.c - data inside an HTML page.
 */
#include "core/report/page/page_internal.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- bytes --------------------------------------------------------------- */

static void put_bytes(struct msim_bytes *b, const void *bytes, size_t n)
{
    if (b->failed || n == 0)
        return;
    if (n > b->cap - b->n) {
        size_t cap = 2 * b->cap + n + 256;
        uint8_t *more = realloc(b->at, cap);

        if (!more) {
            b->failed = true;
            return;
        }
        b->at = more;
        b->cap = cap;
    }
    memcpy(b->at + b->n, bytes, n);
    b->n += n;
}

void msim_bytes_put_number(struct msim_bytes *b, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;

    for (; value > 0x7f; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    put_bytes(b, bytes, n);
}

void msim_bytes_put_signed(struct msim_bytes *b, int64_t value)
{
    uint64_t twice = (uint64_t)value << 1;

    msim_bytes_put_number(b, value < 0 ? ~twice : twice);
}

enum msim_status msim_bytes_sink(void *bytes, const char *text, size_t n)
{
    struct msim_bytes *b = bytes;

    put_bytes(b, text, n);
    return b->failed ? MSIM_ENOMEM : MSIM_OK;
}

void msim_bytes_release(struct msim_bytes *b)
{
    free(b->at);
    *b = (struct msim_bytes){.n = 0};
}

/* ---- packed -------------------------------------------------------------- */

static char *as_letters(const uint8_t *bytes, size_t n)
{
    static const char LETTERS[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc(4 * (n / 3 + 1) + 1), *to = text;

    for (size_t i = 0; text && i < n; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;

        if (i + 1 < n)
            three |= (uint32_t)bytes[i + 1] << 8;
        if (i + 2 < n)
            three |= bytes[i + 2];
        *to++ = LETTERS[three >> 18];
        *to++ = LETTERS[three >> 12 & 63];
        *to++ = i + 1 < n ? LETTERS[three >> 6 & 63] : '=';
        *to++ = i + 2 < n ? LETTERS[three & 63] : '=';
    }
    if (text)
        *to = '\0';
    return text;
}

enum msim_status msim_page_pack(char **text, const void *bytes, size_t n)
{
    z_stream z = {.next_in = (z_const Bytef *)bytes, .avail_in = (uInt)n};
    uint8_t *packed;
    size_t bound;
    int rc;

    *text = NULL;
    if (n > UINT32_MAX / 2 ||
        deflateInit2(&z, 9, Z_DEFLATED, 15 + 16 /* gzip */, 9,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return MSIM_ENOMEM;
    bound = deflateBound(&z, n);
    packed = malloc(bound);
    z.next_out = packed;
    z.avail_out = (uInt)bound;
    rc = packed ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
    if (rc == Z_STREAM_END)
        *text = as_letters(packed, z.total_out);
    deflateEnd(&z);
    free(packed);
    return *text ? MSIM_OK : MSIM_ENOMEM;
}
