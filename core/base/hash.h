/*
 * core/base/hash.h - FNV-1a, the 64-bit hash of Fowler, Noll and Vo.
 *
 * The same bytes have the same hash on every machine and in every version:
 * folds of cross-validation, journals and plans of experiments depend on it.
 * A hash of several things is chained: the result of one call is the `hash` of
 * the next. Text is hashed without its terminating zero; where "ab", "c" and
 * "a", "bc" must differ, a separator goes between them with msim_hash_byte().
 *
 *     uint64_t h = msim_hash_text(MSIM_HASH_START, "gemm");
 */
#ifndef MSIM_CORE_BASE_HASH_H
#define MSIM_CORE_BASE_HASH_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MSIM_HASH_START UINT64_C(14695981039346656037)
#define MSIM_HASH_PRIME UINT64_C(1099511628211)

static inline uint64_t msim_hash_byte(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * MSIM_HASH_PRIME;
}

static inline uint64_t msim_hash_bytes(uint64_t hash, const void *data,
                                       size_t n)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < n; i++)
        hash = msim_hash_byte(hash, bytes[i]);
    return hash;
}

/* Of numbers, and fast; never 0, which may stand for nothing. */
static inline uint64_t msim_hash_mix(uint64_t hash, uint64_t v)
{
    hash = ((hash + 0x9e3779b97f4a7c15u) ^ v) * 0xff51afd7ed558ccdu;
    return (hash ^ (hash >> 33)) | 1;
}

static inline uint64_t msim_hash_word(uint64_t hash, uint64_t v)
{
    hash = (hash ^ v) * MSIM_HASH_PRIME;
    return hash ^ hash >> 32;
}

/* The word of eight bytes at `text`, the first one lowest. */
static inline uint64_t msim_hash_word_at(const char *text)
{
    uint64_t v;

    memcpy(&v, text, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

#define MSIM_HASH_LANES 4

/* Of long texts: four lanes, which a processor follows side by side, each of
 * every fourth word; then the lanes, and the words behind them, the last of
 * which has zeros behind the last byte. */
static inline uint64_t msim_hash_words(const char *text, size_t n)
{
    uint64_t lane[MSIM_HASH_LANES] = {0}, hash = n, v = 0;
    size_t i = 0;

    for (; n - i >= sizeof(lane); i += sizeof(lane))
        for (size_t k = 0; k < MSIM_HASH_LANES; k++)
            lane[k] = (lane[k] ^ msim_hash_word_at(text + i + 8 * k)) *
                      MSIM_HASH_PRIME;
    for (size_t k = 0; k < MSIM_HASH_LANES; k++)
        hash = msim_hash_word(hash, lane[k]);
    for (; n - i >= sizeof(v); i += sizeof(v))
        hash = msim_hash_word(hash, msim_hash_word_at(text + i));
    if (i == n)
        return hash;
    memcpy(&v, text + i, n - i);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return msim_hash_word(hash, v);
}

static inline uint64_t msim_hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = msim_hash_byte(hash, (unsigned char)*text);
    return hash;
}

#endif
