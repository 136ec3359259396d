/*
 * core/base/texts.h - small work on texts: compared, joined, cut, read as
 * numbers, and the word that was meant.
 */
#ifndef MSIM_CORE_BASE_TEXTS_H
#define MSIM_CORE_BASE_TEXTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- same text ----------------------------------------------------------- */
/*
 * Whether two texts are equal, where they mostly are not: words of a few
 * letters, compared for every row of a table.
 */

static inline bool msim_same_text(const char *a, const char *b)
{
    return *a == *b && (!*a || (a[1] == b[1] && strcmp(a, b) == 0));
}

/* ---- join text ----------------------------------------------------------- */
/*
 * Texts one behind the other, as snprintf() with "%s%s" writes them and several
 * times as fast: keys of fits are made for every row of a table.
 */

/* All `parts`, ended by NULL, into `out`, which has room for `size` bytes, 1 at
 * least; what does not fit is cut. */
static inline void msim_join_parts(char *out, size_t size,
                                   const char *const *parts)
{
    char *end = out + size - 1;

    for (; *parts; parts++)
        for (const char *c = *parts; *c && out < end; c++)
            *out++ = *c;
    *out = '\0';
}

#define MSIM_JOIN_TEXT(out, size, ...)                                         \
    msim_join_parts(out, size, (const char *const[]){__VA_ARGS__, NULL})

/* ---- cut text ------------------------------------------------------------ */
/* A text that is cut to fit where a word ends. */

/* `text` into `out`, which has room for `size` bytes, 8 at least: all of it, or
 * its first words and " ...". */
static inline void msim_cut_text(char *out, size_t size, const char *text)
{
    static const char MORE[] = " ...";
    size_t len = strlen(text), room = size - sizeof(MORE);

    if (len < size) {
        memcpy(out, text, len + 1);
        return;
    }
    len = room;
    while (len && text[len] != ' ')
        len--;
    if (!len) /* one long word */
        len = room;
    memcpy(out, text, len);
    memcpy(out + len, MORE, sizeof(MORE));
}

/* ---- decimal ------------------------------------------------------------- */
/*
 * Numbers out of their JSON text, exactly, and into text.
 *
 * Times must not pass through floating point: 1712867402367683.125 us has
 * more digits than a double holds. All functions take text that is a valid
 * JSON number (or look no further than the part that is).
 */

/*
 * A number of microseconds as whole microseconds (rounded towards minus
 * infinity) and picoseconds on top, 0 .. 999,999; digits below a picosecond
 * are cut. "1.5" is 1 and 500,000; "-0.25" is -1 and 750,000. False where it
 * is not a number or does not fit.
 */
bool msim_decimal_us(const char *s, size_t len, int64_t *us, int32_t *ps);

/* A whole number; false where it is none, has a fraction or does not fit. */
bool msim_decimal_int(const char *s, size_t len, int64_t *value);

/* How much of `text` to read as a whole number: all but a ".0" behind digits,
 * which programs write to all of a column where one field is empty. */
size_t msim_whole_length(const char *text);

/* Any number; overflow is infinite. False where it is none. */
bool msim_decimal_real(const char *s, size_t len, double *value);

/*
 * As strtof of the C locale, to the bit, and several times as fast where a text
 * has few digits and no exponent: platform files have a hundred thousand such
 * numbers. `*end` is where the number ends, or `text` where none is.
 */
float msim_decimal_float(const char *text, const char **end);

#define MSIM_DECIMAL_TEXT 32

/*
 * Write `v` as printf's %.6g does, to the byte, several times as fast: tables
 * of millions of rows are mostly numbers. Returns the length.
 */
size_t msim_decimal_write(char text[MSIM_DECIMAL_TEXT], double v);

/* ---- nearest ------------------------------------------------------------- */
/*
 * The word that a mistyped one was meant to be, and how far a mistyped part is
 * from a name.
 */

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
