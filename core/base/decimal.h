/*
 * core/base/decimal.h - numbers out of their JSON text, exactly, and into text.
 *
 * Times must not pass through floating point: 1712867402367683.125 us has
 * more digits than a double holds. All functions take text that is a valid
 * JSON number (or look no further than the part that is).
 */
#ifndef MSIM_CORE_BASE_DECIMAL_H
#define MSIM_CORE_BASE_DECIMAL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A number of microseconds as whole microseconds (rounded towards minus
 * infinity) and picoseconds on top, 0 .. 999,999; digits below a picosecond
 * are cut. "1.5" is 1 and 500,000; "-0.25" is -1 and 750,000. False where it
 * is not a number or does not fit.
 */
bool msim_decimal_us(const char *s, size_t len, int64_t *us, int32_t *ps);

/* A whole number; false where it is none, has a fraction or does not fit. */
bool msim_decimal_int(const char *s, size_t len, int64_t *value);

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

#endif
