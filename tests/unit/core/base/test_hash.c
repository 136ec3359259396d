/*
 * tests/unit/core/base/test_hash.c - hashes that files depend on.
 *
 * Hashes that files depend on: the published values of FNV-1a.
 */
#include "core/base/hash.h"

#include "tests/check.h"

/* From the test vectors of the reference code (http://www.isthe.com/chongo). */
static void test_hash__is_fnv_1a(void)
{
    CHECK_UINT(msim_hash_text(MSIM_HASH_START, ""),
               UINT64_C(0xcbf29ce484222325));
    CHECK_UINT(msim_hash_text(MSIM_HASH_START, "a"),
               UINT64_C(0xaf63dc4c8601ec8c));
    CHECK_UINT(msim_hash_text(MSIM_HASH_START, "foobar"),
               UINT64_C(0x85944171f73967e8));
}

static void test_hash__is_chained(void)
{
    uint64_t foo = msim_hash_text(MSIM_HASH_START, "foo");

    CHECK_UINT(msim_hash_text(foo, "bar"), UINT64_C(0x85944171f73967e8));
    CHECK_UINT(msim_hash_bytes(foo, "bar", 3), UINT64_C(0x85944171f73967e8));
    CHECK_UINT(msim_hash_byte(MSIM_HASH_START, 'a'),
               UINT64_C(0xaf63dc4c8601ec8c));
}

/* As scripts/platform_names.py has it. */
static void test_hash__of_words(void)
{
    CHECK_UINT(msim_hash_words("", 0), 0);
    CHECK_UINT(msim_hash_words("a", 1), UINT64_C(0x12c7406d52b08cf1));
    CHECK_UINT(msim_hash_words("12345678", 8), UINT64_C(0x7daeda32c6ce0126));
    CHECK_UINT(msim_hash_words("hello, world", 12),
               UINT64_C(0xc945ad8e2bf44b7f));
    CHECK_UINT(msim_hash_words("0123456789abcdefghijklmnopqrstuvwxyz", 36),
               UINT64_C(0x3e3ab5438eae26a4));
}

int main(void)
{
    RUN(test_hash__is_fnv_1a);
    RUN(test_hash__is_chained);
    RUN(test_hash__of_words);
    return check_summary();
}
