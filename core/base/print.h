/*
 * core/base/print.h - printf that knows ours from theirs.
 *
 * What stands in a format is ours; the texts of arguments come from files and
 * may hold anything. A language (plain text here; HTML, gnuplot, CSV, Python
 * beside it) says how a text is written so that it stays a text:
 *
 *     msim_print(out, "%-20s %6.1f\n", name, value);
 *
 * `name` cannot move the cursor of a terminal, end the line or turn the
 * direction of reading, whatever is in it. Everything that leaves this program
 * is written so: `lint.writers` fails on texts that go any other way.
 *
 * Formats are those of printf without %n, %ls and %lc. Widths count characters,
 * not bytes; a precision of %s counts bytes and cuts no character in two.
 */
#ifndef MSIM_CORE_BASE_PRINT_H
#define MSIM_CORE_BASE_PRINT_H
#include "core/base/status.h"

#include <stdarg.h>
#include <stdio.h>

/* Where it goes, and how the text of an argument is written. */
struct msim_printer {
    void *ctx;
    void (*bytes)(void *ctx, const char *bytes, size_t n);
    void (*text)(const struct msim_printer *p, const char *text, size_t n);
};

/* Returns the characters written, where texts count as they were given. */
int msim_vprint(const struct msim_printer *p, const char *fmt, va_list args);

/* A printer's `bytes` for the FILE that is its `ctx`. */
void msim_print_to_file(void *ctx, const char *bytes, size_t n);

/* Plain text, for terminals: what cannot be shown becomes '?'. */
int msim_print(FILE *out, const char *fmt, ...) MSIM_PRINTF(2, 3);

/* The same as a line with a blank one before it: a title, or a note. */
void msim_print_title(FILE *out, const char *fmt, ...) MSIM_PRINTF(2, 3);

/* The same into `text`, which ends with a whole character where it is full. */
void msim_vprint_text(char *text, size_t size, const char *fmt, va_list args);
/* The same behind what `text` holds. */
void msim_text_append(char *text, size_t size, const char *fmt, ...)
    MSIM_PRINTF(3, 4);

/*
 * For the `text` of a language: all of `text`, with '?' for what cannot be
 * shown. `instead` may be NULL; it says what an ASCII character becomes (a
 * control character, too), or NULL where it says nothing.
 */
void msim_print_clean(const struct msim_printer *p, const char *text, size_t n,
                      const char *(*instead)(char c));

/*
 * How many bytes at `s` form one UTF-8 character, or 0 where they do not
 * (Unicode 15, table 3-7: no surrogates, nothing overlong, at most U+10FFFF).
 */
unsigned msim_utf8_length(const char *s);

/* The same, where a byte that is no character counts as one. */
unsigned msim_character_length(const char *s);

/* The character that those `n` bytes are. */
uint32_t msim_utf8_code(const char *s, unsigned n);

/*
 * The same length, but 0 also for what cannot be shown: control characters,
 * which drive terminals; U+2028 and U+2029, which end lines; marks that turn
 * the direction of reading, so that a text is not what it looks like.
 */
unsigned msim_printable_length(const char *s);

#endif
