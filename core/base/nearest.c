/*
 * core/base/nearest.c - the word that a mistyped one was meant to be, and how
 * far a mistyped part is from a name.
 */
#include "core/base/texts.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WORD_MAX   32 /* longest difference that is looked at */
#define MOST_SLIPS 8  /* in a long word, a path */

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Capitals are no slips: "L41S" is one letter from "l40s". */
static bool same(char a, char b)
{
    return lower(a) == lower(b);
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;

    return m < c ? m : c;
}

/*
 * Edit distance where swapping two neighbours counts one (the "optimal string
 * alignment" distance: Damerau 1964, Wagner and Fischer 1974). What both begin
 * or end with takes no part in it, so that words may be long paths. From `most`
 * on it is not counted to the end: each row of `d` is at least as far as the
 * least of the two before it, and words differ by their lengths at least.
 */
static unsigned distance(const char *a, const char *b, unsigned most)
{
    unsigned d[WORD_MAX + 1][WORD_MAX + 1], least = 0, before;
    size_t n, m;

    for (; *a && same(*a, *b); a++)
        b++;
    n = strlen(a);
    m = strlen(b);
    for (; n > 0 && m > 0 && same(a[n - 1], b[m - 1]); n--)
        m--;
    if (n > WORD_MAX || m > WORD_MAX || (n > m ? n - m : m - n) >= most)
        return WORD_MAX;
    for (size_t i = 0; i <= n; i++)
        d[i][0] = (unsigned)i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        before = least;
        least = d[i][0];
        for (size_t j = 1; j <= m; j++) {
            d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1,
                           d[i - 1][j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
                same(a[i - 2], b[j - 1]) && d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
            if (d[i][j] < least)
                least = d[i][j];
        }
        if (least >= most && before >= most)
            return WORD_MAX;
    }
    return d[n][m];
}

/* Letters that stand in a word, as bits; several letters may share one. */
static uint64_t letters(const char *word)
{
    uint64_t set = 0;

    for (; *word; word++)
        set |= UINT64_C(1) << (lower(*word) & 63);
    return set;
}

/* Does one word have so many letters that the other lacks? A slip gives or
 * takes one letter, or both. */
static bool differ(uint64_t a, uint64_t b, unsigned most)
{
    return (unsigned)__builtin_popcountll(a & ~b) >= most ||
           (unsigned)__builtin_popcountll(b & ~a) >= most;
}

const char *msim_nearest_word(const char *typed, const char *const *words,
                              size_t n)
{
    /* One slip in three letters still reads as the same word. */
    size_t slips = (strlen(typed) + 1) / 3;
    unsigned best = 1 + (unsigned)(slips < MOST_SLIPS ? slips : MOST_SLIPS);
    uint64_t set = letters(typed);
    const char *found = NULL;

    for (size_t i = 0; i < n; i++) {
        unsigned d = differ(set, letters(words[i]), best)
                         ? best
                         : distance(typed, words[i], best);

        if (d < best) {
            best = d;
            found = words[i];
        }
    }
    return found;
}

/* ---- parts of names ------------------------------------------------------ */

/* Of `c` and the letters before it: `row[j]` becomes the distance to the
 * nearest part of `name` that ends before letter j. */
static void next_row(unsigned *row, char c, const char *name, size_t len)
{
    unsigned diagonal = row[0]++;

    for (size_t j = 1; j <= len; j++) {
        unsigned above = row[j];

        row[j] =
            min3(above + 1, row[j - 1] + 1, diagonal + !same(c, name[j - 1]));
        diagonal = above;
    }
}

unsigned msim_part_distance(const char *typed, const char *name)
{
    unsigned row[MSIM_PART_BYTES] = {0}; /* a part may begin anywhere */
    size_t len = strnlen(name, MSIM_PART_BYTES - 1);
    unsigned best;

    for (; *typed; typed++)
        next_row(row, *typed, name, len);
    best = row[0];
    for (size_t j = 1; j <= len; j++)
        best = row[j] < best ? row[j] : best;
    return 8 * best + (unsigned)(len / 9 < 7 ? len / 9 : 7);
}
