/*
 * core/base/nearest.h - the word that a mistyped one was meant to be, and how
 * far a mistyped part is from a name.
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

/* Bytes of a name that are compared, with its end. */
#define MSIM_PART_BYTES 96

/*
 * How far `typed` is from the nearest part of `name`: 8 for each letter to be
 * changed, left out or put in (Levenshtein; upper and lower case are the same),
 * and up to 7 for a long name, so that of equals the short ones come first.
 * Sellers 1980, "The theory and computation of evolutionary distances".
 */
unsigned msim_part_distance(const char *typed, const char *name);

#endif
