/*
 * tests/unit/core/report/page/test_page_pack.c - data inside a page: numbers of
 * seven bits a byte, and letters that zlib unpacks again.
 */
#include "core/report/page/page_internal.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* 300 is 2 * 128 + 44: 0xac, 0x02. -1 is 1, 1 is 2, -64 is 127. */
static void test_page_pack__numbers(void)
{
    static const uint8_t WANT[] = {0x00, 0x7f, 0xac, 0x02, 0x01, 0x02, 0x7f};
    struct msim_bytes b = {.n = 0};

    msim_bytes_put_number(&b, 0);
    msim_bytes_put_number(&b, 127);
    msim_bytes_put_number(&b, 300);
    msim_bytes_put_signed(&b, -1);
    msim_bytes_put_signed(&b, 1);
    msim_bytes_put_signed(&b, -64);
    CHECK_INT(b.n, sizeof(WANT));
    CHECK(memcmp(b.at, WANT, sizeof(WANT)) == 0);
    msim_bytes_put_number(&b, UINT64_MAX); /* ten bytes */
    CHECK_INT(b.n, sizeof(WANT) + 10);
    msim_bytes_release(&b);
    CHECK_INT(b.n, 0);
}

static unsigned value_of(char letter)
{
    static const char LETTERS[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(LETTERS, letter);

    return letter != '=' && at ? (unsigned)(at - LETTERS) : 0;
}

/* Back to what was packed; the length of `out`, 0 where that fails. */
static size_t unpack(const char *text, uint8_t *out, size_t size)
{
    size_t n = strlen(text), used = 0;
    uint8_t *bytes = malloc(n + 3);
    z_stream z = {.next_out = out, .avail_out = (uInt)size};

    for (size_t i = 0; bytes && i + 3 < n; i += 4) {
        unsigned four = value_of(text[i]) << 18 | value_of(text[i + 1]) << 12 |
                        value_of(text[i + 2]) << 6 | value_of(text[i + 3]);

        bytes[used++] = (uint8_t)(four >> 16);
        bytes[used++] = (uint8_t)(four >> 8);
        bytes[used++] = (uint8_t)four;
    }
    z.next_in = bytes;
    z.avail_in = (uInt)used;
    CHECK_INT(inflateInit2(&z, 15 + 16), Z_OK);
    CHECK_INT(inflate(&z, Z_FINISH), Z_STREAM_END);
    used = z.total_out;
    inflateEnd(&z);
    free(bytes);
    return used;
}

/* Of all lengths, so that each padding is met; nothing but letters of base64.
 */
static void test_page_pack__round(void)
{
    char bytes[200];
    uint8_t back[200];

    for (size_t n = 0; n < sizeof(bytes); n++) {
        char *text;

        for (size_t i = 0; i < n; i++)
            bytes[i] = "</script><!--\xe2\x80\xa8"[i * i % 16];
        REQUIRE(msim_page_pack(&text, bytes, n) == MSIM_OK);
        CHECK_INT(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstu"
                               "vwxyz0123456789+/="),
                  strlen(text));
        CHECK_INT(strlen(text) % 4, 0);
        CHECK_INT(unpack(text, back, sizeof(back)), n);
        CHECK(memcmp(back, bytes, n) == 0);
        free(text);
    }
}

int main(void)
{
    RUN(test_page_pack__numbers);
    RUN(test_page_pack__round);
    return check_summary();
}
