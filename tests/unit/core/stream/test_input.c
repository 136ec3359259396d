/*
 * tests/unit/core/stream/test_input.c - tests of core/stream/input.h.
 */
#include "core/stream/input.h"

#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { LEN = 3 << 20 };

static char *sample(void)
{
    char *bytes = malloc(LEN);
    size_t i;

    for (i = 0; bytes && i < LEN; i++)
        bytes[i] = (char)(i * 2654435761u >> 13);
    return bytes;
}

/* `bytes` as one gzip member appended to `to`; its length. */
static size_t pack(const char *bytes, size_t len, unsigned char *to,
                   size_t room)
{
    z_stream z = {0};

    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY))
        return 0;
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)len;
    z.next_out = to;
    z.avail_out = (uInt)room;
    deflate(&z, Z_FINISH);
    deflateEnd(&z);
    return room - z.avail_out;
}

/* Read it all; the number of bytes equal to `want` from the beginning. */
static size_t read_back(const void *bytes, size_t len, bool threaded,
                        const char *want, enum msim_status *status,
                        struct msim_error *err)
{
    struct msim_input *in = NULL;
    const char *piece;
    size_t n, at = 0;

    memset(err, 0, sizeof(*err));
    *status = msim_input_memory(&in, "mem", bytes, len, threaded, err);
    while (*status == MSIM_OK) {
        *status = msim_input_next(in, &piece, &n, err);
        if (*status != MSIM_OK || n == 0)
            break;
        if (at + n > LEN || memcmp(piece, want + at, n))
            break;
        at += n;
    }
    msim_input_close(in);
    return at;
}

static void check_all(bool threaded)
{
    char *bytes = sample();
    unsigned char *packed = malloc(2 * LEN);
    enum msim_status status;
    struct msim_error err;
    size_t half = LEN / 2, n;

    REQUIRE(bytes && packed);
    CHECK_UINT(read_back(bytes, LEN, threaded, bytes, &status, &err), LEN);
    CHECK_INT(status, MSIM_OK);
    /* Two members in one file are one stream. */
    n = pack(bytes, half, packed, 2 * LEN);
    n += pack(bytes + half, LEN - half, packed + n, 2 * LEN - n);
    CHECK_UINT(read_back(packed, n, threaded, bytes, &status, &err), LEN);
    CHECK_INT(status, MSIM_OK);
    /* Zeros behind the end are padding. */
    memset(packed + n, 0, 512);
    CHECK_UINT(read_back(packed, n + 512, threaded, bytes, &status, &err), LEN);
    CHECK_INT(status, MSIM_OK);
    /* So are two frames of zstd. */
    n = ZSTD_compress(packed, 2 * LEN, bytes, half, 1);
    n += ZSTD_compress(packed + n, 2 * LEN - n, bytes + half, LEN - half, 1);
    CHECK_UINT(read_back(packed, n, threaded, bytes, &status, &err), LEN);
    CHECK_INT(status, MSIM_OK);
    CHECK(read_back(packed, n - 9, threaded, bytes, &status, &err) < LEN);
    CHECK_INT(status, MSIM_ETRUNCATED);
    free(bytes);
    free(packed);
}

/* 80 MiB of zeros in less than 1. */
static void test_input__ends_what_fills_the_memory(void)
{
    size_t len = (size_t)80 << 20;
    char *zeros = calloc(1, len);
    unsigned char *packed = malloc(1 << 20);
    enum msim_status status = MSIM_OK;
    struct msim_input *in;
    struct msim_error err = {0};
    size_t n, got = 0, piece_len = 1;
    const char *piece;

    REQUIRE(zeros && packed);
    n = pack(zeros, len, packed, 1 << 20);
    REQUIRE(msim_input_memory(&in, "mem", packed, n, true, &err) == MSIM_OK);
    while (status == MSIM_OK && piece_len) {
        status = msim_input_next(in, &piece, &piece_len, &err);
        got += piece_len;
    }
    CHECK_INT(status, MSIM_ELIMIT);
    CHECK(got >= (size_t)64 << 20 && got < len);
    msim_input_close(in);
    free(packed);
    free(zeros);
}

static void test_input__plain_and_packed(void)
{
    check_all(false);
}

static void test_input__in_a_second_thread(void)
{
    check_all(true);
}

/* What came before the damage is handed out, and its place is told. */
static void check_damage(bool threaded)
{
    char *bytes = sample();
    unsigned char *packed = malloc(2 * LEN);
    enum msim_status status;
    struct msim_error err;
    size_t n, got;

    REQUIRE(bytes && packed);
    n = pack(bytes, LEN, packed, 2 * LEN);
    got = read_back(packed, n / 2, threaded, bytes, &status, &err);
    CHECK(got > LEN / 4 && got < LEN);
    CHECK_INT(status, MSIM_ETRUNCATED);
    CHECK_UINT(err.offset, got);
    packed[n - 6] ^= 0xff; /* in the checksum behind the data */
    got = read_back(packed, n, threaded, bytes, &status, &err);
    CHECK_UINT(got, LEN);
    CHECK_INT(status, MSIM_ESYNTAX);
    free(bytes);
    free(packed);
}

static void test_input__damage(void)
{
    check_damage(false);
    check_damage(true);
}

static void test_input__small_and_missing(void)
{
    enum msim_status status;
    struct msim_error err;
    struct msim_input *in;

    CHECK_UINT(read_back("", 0, true, "", &status, &err), 0);
    CHECK_INT(status, MSIM_OK);
    CHECK_UINT(read_back("x", 1, false, "x", &status, &err), 1);
    CHECK_INT(msim_input_open(&in, "/no/such/file", false, &err), MSIM_EIO);
    CHECK(in == NULL);
    CHECK_STR(err.file, "/no/such/file");
    memset(&err, 0, sizeof(err));
    CHECK_INT(msim_input_open(&in, "/", false, &err), MSIM_EIO);
    CHECK(strstr(err.text, "is a directory"));
}

/* Closed before the end: the thread must not be left behind. */
static void test_input__closes_early(void)
{
    char *bytes = sample();
    struct msim_error err = {0};
    struct msim_input *in;
    const char *piece;
    size_t n;

    REQUIRE(bytes);
    REQUIRE(msim_input_memory(&in, "mem", bytes, LEN, true, &err) == MSIM_OK);
    CHECK_INT(msim_input_next(in, &piece, &n, &err), MSIM_OK);
    msim_input_close(in);
    REQUIRE(msim_input_memory(&in, "mem", bytes, LEN, true, &err) == MSIM_OK);
    msim_input_close(in);
    free(bytes);
}

static bool held_packed(const void *bytes, size_t n)
{
    char path[] = "test_input.XXXXXX";
    int fd = mkstemp(path);
    bool is;

    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    is = msim_path_is_packed(path);
    (void)close(fd);
    (void)unlink(path);
    return is;
}

static void test_input__tells_packed_files(void)
{
    unsigned char packed[200];

    CHECK(held_packed(packed, pack("{}", 2, packed, sizeof(packed))));
    CHECK(
        held_packed(packed, ZSTD_compress(packed, sizeof(packed), "{}", 2, 1)));
    CHECK(!held_packed("{}", 2));
    CHECK(!held_packed("", 0));
    CHECK(!msim_path_is_packed("/no/such/file"));
    CHECK(!msim_path_is_packed("/"));
}

int main(void)
{
    RUN(test_input__tells_packed_files);
    RUN(test_input__plain_and_packed);
    RUN(test_input__in_a_second_thread);
    RUN(test_input__damage);
    RUN(test_input__ends_what_fills_the_memory);
    RUN(test_input__small_and_missing);
    RUN(test_input__closes_early);
    return check_summary();
}
