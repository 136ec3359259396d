/*
 * core/stream/unpack.c - compressed bytes to plain ones, by zlib and libzstd.
 */
#include "core/stream/input.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

struct msim_unpack {
    ZSTD_DStream *zstd; /* NULL: gzip */
    z_stream z;
    bool between; /* a piece is over, or none has begun */
    const char *why;
};

static bool begins(const unsigned char *bytes, size_t len, const char *magic,
                   size_t n)
{
    return len >= n && memcmp(bytes, magic, n) == 0;
}

#define BEGINS(bytes, len, magic) begins(bytes, len, magic, sizeof(magic) - 1)

const char *msim_unpack_foreign(const unsigned char *bytes, size_t len)
{
    if (BEGINS(bytes, len,
               "\xfd"
               "7zXZ"))
        return "is packed by xz: unpack it first (xz -dk FILE)";
    if (BEGINS(bytes, len, "BZh"))
        return "is packed by bzip2: unpack it first (bzip2 -dk FILE)";
    if (BEGINS(bytes, len, "PK\x03\x04"))
        return "is a zip archive: unpack it first (unzip FILE -d DIR), and "
               "give "
               "the folder";
    if (BEGINS(bytes, len, "\x04\x22\x4d\x18"))
        return "is packed by lz4: unpack it first (lz4 -d FILE)";
    if (BEGINS(bytes, len, "7z\xbc\xaf\x27"))
        return "is a 7z archive: unpack it first (7z x FILE)";
    if (len >= 262 && memcmp(bytes + 257, "ustar", 5) == 0)
        return "is a tar archive: unpack it first (tar -xf FILE), and give the "
               "folder";
    return NULL;
}

static bool is_gzip(const unsigned char *bytes, size_t len)
{
    return BEGINS(bytes, len, "\x1f\x8b");
}

/* A frame, or one to be skipped (0x184d2a50 to 5f). */
static bool is_zstd(const unsigned char *bytes, size_t len)
{
    return BEGINS(bytes, len, "\x28\xb5\x2f\xfd") ||
           (len >= 4 && (bytes[0] & 0xf0) == 0x50 &&
            memcmp(bytes + 1, "\x2a\x4d\x18", 3) == 0);
}

enum msim_status msim_unpack_new(struct msim_unpack **out,
                                 const unsigned char *bytes, size_t len)
{
    struct msim_unpack *u;
    bool gzip = is_gzip(bytes, len), ok;

    *out = NULL;
    if (!gzip && !is_zstd(bytes, len))
        return MSIM_OK;
    u = calloc(1, sizeof(*u));
    if (!u)
        return MSIM_ENOMEM;
    if (gzip) {
        ok = inflateInit2(&u->z, 15 + 16) == Z_OK;
    } else {
        u->zstd = ZSTD_createDStream();
        ok = u->zstd != NULL;
    }
    if (!ok) {
        free(u);
        return MSIM_ENOMEM;
    }
    *out = u;
    return MSIM_OK;
}

void msim_unpack_free(struct msim_unpack *u)
{
    if (!u)
        return;
    if (u->zstd)
        ZSTD_freeDStream(u->zstd);
    else
        inflateEnd(&u->z);
    free(u);
}

/* ---- gzip -----------------------------------------------------------------
 */

/* A member is over: another one may follow, or zeros, which pad to a block. */
static enum msim_unpack_state gzip_next(struct msim_unpack *u,
                                        struct msim_unpack_io *io)
{
    while (io->n_in && *io->in == 0) {
        io->in++;
        io->n_in--;
    }
    if (!io->n_in)
        return MSIM_UNPACK_BETWEEN;
    if (*io->in != 0x1f)
        return MSIM_UNPACK_RUBBISH;
    if (inflateReset(&u->z) != Z_OK)
        return MSIM_UNPACK_NO_MEMORY;
    u->between = false;
    return MSIM_UNPACK_WITHIN;
}

/* One call of zlib. */
static enum msim_unpack_state gzip_step(struct msim_unpack *u,
                                        struct msim_unpack_io *io)
{
    int z;

    u->z.next_in = (Bytef *)(uintptr_t)io->in;
    u->z.avail_in = (uInt)io->n_in;
    u->z.next_out = io->out;
    u->z.avail_out = (uInt)io->n_out;
    z = inflate(&u->z, Z_NO_FLUSH);
    io->in = u->z.next_in;
    io->n_in = u->z.avail_in;
    io->out = u->z.next_out;
    io->n_out = u->z.avail_out;
    u->between = z == Z_STREAM_END;
    if (z == Z_MEM_ERROR)
        return MSIM_UNPACK_NO_MEMORY;
    if (u->between)
        return MSIM_UNPACK_BETWEEN;
    if (z == Z_OK || z == Z_BUF_ERROR)
        return MSIM_UNPACK_WITHIN;
    u->why = u->z.msg ? u->z.msg : "inflate failed";
    return MSIM_UNPACK_BROKEN;
}

/* ---- zstd -----------------------------------------------------------------
 */

static enum msim_unpack_state zstd_step(struct msim_unpack *u,
                                        struct msim_unpack_io *io)
{
    ZSTD_inBuffer in = {io->in, io->n_in, 0};
    ZSTD_outBuffer out = {io->out, io->n_out, 0};
    size_t left = ZSTD_decompressStream(u->zstd, &out, &in);

    if (ZSTD_isError(left)) {
        ZSTD_ErrorCode code = ZSTD_getErrorCode(left);

        if (code == ZSTD_error_prefix_unknown && u->between)
            return MSIM_UNPACK_RUBBISH;
        if (code == ZSTD_error_memory_allocation)
            return MSIM_UNPACK_NO_MEMORY;
        u->why = code == ZSTD_error_frameParameter_windowTooLarge
                     ? "its window is above 128 MiB: unpack it first (zstd -d "
                       "--long=31 FILE)"
                     : ZSTD_getErrorName(left);
        return MSIM_UNPACK_BROKEN;
    }
    io->in += in.pos;
    io->n_in -= in.pos;
    io->out += out.pos;
    io->n_out -= out.pos;
    u->between = left == 0;
    return u->between ? MSIM_UNPACK_BETWEEN : MSIM_UNPACK_WITHIN;
}

/* ---- both -----------------------------------------------------------------
 */

enum msim_unpack_state msim_unpack_run(struct msim_unpack *u,
                                       struct msim_unpack_io *io)
{
    enum msim_unpack_state state =
        u->between ? MSIM_UNPACK_BETWEEN : MSIM_UNPACK_WITHIN;

    while (io->n_in && io->n_out && state <= MSIM_UNPACK_BETWEEN) {
        if (u->zstd)
            state = zstd_step(u, io);
        else
            state = u->between ? gzip_next(u, io) : gzip_step(u, io);
    }
    return state;
}

const char *msim_unpack_name(const struct msim_unpack *u)
{
    return u->zstd ? "zstd" : "gzip";
}

const char *msim_unpack_why(const struct msim_unpack *u)
{
    return u->why;
}

unsigned msim_unpack_ratio_max(const struct msim_unpack *u)
{
    return u->zstd ? 4 * 95 : 4 * 35;
}
