/*
 * tests/unit/core/stream/test_unpack.c - what packed a file by its first bytes,
 * and pieces that are joined, cut, padded or broken.
 */
#include "core/stream/input.h"
#include "tests/check.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#define ROOM 4096

static const unsigned char *raw(const char *text)
{
    return (const unsigned char *)text;
}

/* ---- which --------------------------------------------------------------- */

/* All of a beginning, and not a byte less. */
static void check_foreign(const char *magic, size_t n, const char *want)
{
    const char *got = msim_unpack_foreign(raw(magic), n);

    CHECK(got && strstr(got, want));
    CHECK(msim_unpack_foreign(raw(magic), n - 1) == NULL);
    for (size_t i = 0; i < n; i++) {
        unsigned char other[16];

        memcpy(other, magic, n);
        other[i] ^= 1;
        CHECK(msim_unpack_foreign(other, n) == NULL);
    }
}

static void test_unpack__foreign(void)
{
    check_foreign("\xfd"
                  "7zXZ",
                  5, "xz -dk");
    check_foreign("BZh", 3, "bzip2 -dk");
    check_foreign("PK\x03\x04", 4, "unzip");
    check_foreign("\x04\x22\x4d\x18", 4, "lz4 -d");
    check_foreign("7z\xbc\xaf\x27", 5, "7z x");
    CHECK(msim_unpack_foreign(raw("{\"a\":1}"), 7) == NULL);
    CHECK(msim_unpack_foreign(raw(""), 0) == NULL);
}

static void test_unpack__tar(void)
{
    unsigned char bytes[300] = {0};

    memcpy(bytes + 257, "ustar", 5);
    CHECK(strstr(msim_unpack_foreign(bytes, 262), "tar -xf"));
    CHECK(msim_unpack_foreign(bytes, 261) == NULL);
    bytes[261] = 'x';
    CHECK(msim_unpack_foreign(bytes, 300) == NULL);
}

static void check_kind(const char *bytes, size_t n, const char *want)
{
    struct msim_unpack *u = NULL;

    CHECK_INT(msim_unpack_new(&u, raw(bytes), n), MSIM_OK);
    CHECK_STR(u ? msim_unpack_name(u) : NULL, want);
    if (u)
        CHECK_UINT(msim_unpack_ratio_max(u),
                   strcmp(want, "gzip") ? 4 * 95 : 4 * 35);
    msim_unpack_free(u);
}

static void test_unpack__kinds(void)
{
    check_kind("\x1f\x8b", 2, "gzip");
    check_kind("\x1f\x8b", 1, NULL);
    check_kind("\x1f\x8a", 2, NULL);
    check_kind("\x28\xb5\x2f\xfd", 4, "zstd");
    check_kind("\x28\xb5\x2f\xfd", 3, NULL);
    check_kind("\x28\xb5\x2f\xfc", 4, NULL);
    /* Frames to be skipped: 0x184d2a50 to 5f. */
    for (int i = 0; i < 256; i++) {
        char bytes[] = {(char)i, '\x2a', '\x4d', '\x18', 'x', 0};

        check_kind(bytes, 4, i >> 4 == 5 ? "zstd" : NULL);
    }
    check_kind("\x50\x2a\x4d\x18", 3, NULL);
    check_kind("\x50\x2b\x4d\x18", 4, NULL);
    check_kind("\x50\x2a\x4d\x19", 4, NULL);
    check_kind("{\"a\"}", 5, NULL);
    msim_unpack_free(NULL);
}

/* ---- unpacking ----------------------------------------------------------- */

static size_t gzip(const char *text, unsigned char *to)
{
    z_stream z = {0};

    if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY))
        return 0;
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)strlen(text);
    z.next_out = to;
    z.avail_out = ROOM;
    deflate(&z, Z_FINISH);
    deflateEnd(&z);
    return ROOM - z.avail_out;
}

static size_t zstd(const char *text, unsigned char *to)
{
    size_t n = ZSTD_compress(to, ROOM, text, strlen(text), 3);

    return ZSTD_isError(n) ? 0 : n;
}

static size_t pack(const char *how, const char *text, unsigned char *to)
{
    return strcmp(how, "gzip") ? zstd(text, to) : gzip(text, to);
}

/* Unpack it in pieces of `step` bytes each, into as many. */
static enum msim_unpack_state run(const unsigned char *bytes, size_t n,
                                  size_t step, char *text, size_t *left)
{
    enum msim_unpack_state state = MSIM_UNPACK_WITHIN;
    struct msim_unpack *u = NULL;
    size_t used = 0, at = 0;

    CHECK_INT(msim_unpack_new(&u, bytes, n), MSIM_OK);
    while (u && state <= MSIM_UNPACK_BETWEEN) {
        size_t in = n - at < step ? n - at : step;
        struct msim_unpack_io io = {bytes + at, in,
                                    (unsigned char *)text + used, step};

        state = msim_unpack_run(u, &io);
        at += in - io.n_in;
        used += step - io.n_out;
        if (at == n && io.n_out)
            break;
    }
    if (u)
        CHECK((msim_unpack_why(u) != NULL) == (state == MSIM_UNPACK_BROKEN));
    msim_unpack_free(u);
    text[used] = '\0';
    *left = n - at;
    return state;
}

static void check_unpacked(const unsigned char *bytes, size_t n,
                           const char *want, enum msim_unpack_state state,
                           size_t left)
{
    static const size_t STEPS[] = {1, 7, 1000};
    char text[ROOM];
    size_t got;

    for (int i = 0; i < 3; i++) {
        CHECK_INT(run(bytes, n, STEPS[i], text, &got), state);
        CHECK_STR(text, want);
        if (state != MSIM_UNPACK_BROKEN && i == 2)
            CHECK_UINT(got, left);
    }
}

/* One piece, several that are joined, and one that is cut. */
static void test_unpack__pieces(void)
{
    static const char *const HOW[] = {"gzip", "zstd"};

    for (int i = 0; i < 2; i++) {
        unsigned char bytes[3 * ROOM];
        size_t n = pack(HOW[i], "one piece, ", bytes), more;

        REQUIRE(n > 0);
        check_unpacked(bytes, n, "one piece, ", MSIM_UNPACK_BETWEEN, 0);
        more = n + pack(HOW[i], "and one more", bytes + n);
        check_unpacked(bytes, more, "one piece, and one more",
                       MSIM_UNPACK_BETWEEN, 0);
        {
            char text[ROOM];
            size_t left;

            CHECK_INT(run(bytes, n - 3, 1000, text, &left), MSIM_UNPACK_WITHIN);
        }
    }
}

/* Zeros pad a gzip file; what is no piece behind the last is left. */
static void test_unpack__behind_the_end(void)
{
    unsigned char bytes[3 * ROOM];
    size_t n = gzip("text", bytes), more;

    REQUIRE(n > 0);
    memset(bytes + n, 0, 20);
    check_unpacked(bytes, n + 20, "text", MSIM_UNPACK_BETWEEN, 0);
    more = n + 20 + gzip(" and more", bytes + n + 20);
    check_unpacked(bytes, more, "text and more", MSIM_UNPACK_BETWEEN, 0);
    memcpy(bytes + n, "xyz", 3);
    check_unpacked(bytes, n + 3, "text", MSIM_UNPACK_RUBBISH, 3);
    n = zstd("text", bytes);
    REQUIRE(n > 0);
    memcpy(bytes + n, "xyzxyzxyz", 9);
    {
        char text[ROOM];
        size_t left;

        CHECK_INT(run(bytes, n + 9, 1000, text, &left), MSIM_UNPACK_RUBBISH);
        CHECK_STR(text, "text");
    }
}

/* A byte that is changed is found, by the latest in the sum at the end. */
static void test_unpack__broken(void)
{
    unsigned char bytes[ROOM];
    char text[ROOM];
    size_t n = gzip("some text that is long enough to be told apart", bytes);
    size_t left;

    REQUIRE(n > 8);
    bytes[n - 6] ^= 0x55;
    CHECK_INT(run(bytes, n, 1000, text, &left), MSIM_UNPACK_BROKEN);
    n = zstd("some text that is long enough to be told apart", bytes);
    REQUIRE(n > 8);
    bytes[4] ^= 0x08; /* a bit that must be 0 */
    CHECK_INT(run(bytes, n, 1000, text, &left), MSIM_UNPACK_BROKEN);
}

/* A window above 128 MiB: no frame of a trace needs it. */
static void test_unpack__large_window(void)
{
    /* Magic, no single segment, a window of 2^(10 + 18) bytes. */
    static const unsigned char FRAME[] = {0x28,    0xb5, 0x2f, 0xfd, 0x00,
                                          18 << 3, 0,    0,    0,    0};
    struct msim_unpack *u = NULL;
    unsigned char out[16];
    struct msim_unpack_io io = {FRAME, sizeof(FRAME), out, sizeof(out)};

    CHECK_INT(msim_unpack_new(&u, FRAME, sizeof(FRAME)), MSIM_OK);
    REQUIRE(u != NULL);
    CHECK_INT(msim_unpack_run(u, &io), MSIM_UNPACK_BROKEN);
    CHECK_STR(msim_unpack_why(u), "its window is above 128 MiB: unpack it "
                                  "first (zstd -d --long=31 FILE)");
    msim_unpack_free(u);
}

int main(void)
{
    RUN(test_unpack__foreign);
    RUN(test_unpack__tar);
    RUN(test_unpack__kinds);
    RUN(test_unpack__pieces);
    RUN(test_unpack__behind_the_end);
    RUN(test_unpack__broken);
    RUN(test_unpack__large_window);
    return check_summary();
}
