/*
 * core/base/nearest.h - the word that a mistyped one was meant to be.
 */
#ifndef MSIM_CORE_BASE_NEAREST_H
#define MSIM_CORE_BASE_NEAREST_H
#include <stddef.h>

/*
 * The word nearest to `typed` (edit distance with swaps) of `n` words, or NULL
 * where none is near enough to be worth suggesting.
 */
const char *msim_nearest_word(const char *typed, const char *const *words,
                              size_t n);

#endif
