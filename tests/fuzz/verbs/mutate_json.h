/*
 * tests/fuzz/verbs/mutate_json.h - changes of a text, and of a JSON value as
 * the tree that it is, so that what comes out is read further than its first
 * byte.
 */
#ifndef MSIM_TESTS_FUZZ_VERBS_MUTATE_JSON_H
#define MSIM_TESTS_FUZZ_VERBS_MUTATE_JSON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Changes the `size` bytes of `data`; the new size, at most `max_size`. The
 * same seed makes the same change. Three of four are of the tree, if `json` and
 * it is one. */
size_t fuzz_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed,
                   bool json);

#endif
