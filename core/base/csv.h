/*
 * core/base/csv.h - comma-separated values, row by row (RFC 4180), plain or
 * gzip.
 *
 * The first row is the header; every other row has as many fields. Fields may
 * be quoted, and then hold commas, line ends and doubled quotes. Lines end in
 * LF, CRLF or CR; lines with nothing on them are skipped. A byte order mark is
 * skipped. A byte of zero is ESYNTAX.
 *
 * One row is in memory at a time.
 *
 * Written fields are quoted where they must be, and a spreadsheet shows them as
 * the texts that they are: where one might take a field for a formula
 * ("=1+2"), it has a ' in front. Numbers stay numbers ("-1.5"). Reading takes
 * that ' back, so what is written is read as it was.
 */
#ifndef MSIM_CORE_BASE_CSV_H
#define MSIM_CORE_BASE_CSV_H
#include "core/base/files.h"

#include <stdbool.h>
#include <stdio.h>

struct msim_csv; /* opaque */

/*
 * Open `path` ("-": standard input) and read its header. On success `*out` is
 * owned by the caller; on failure it is NULL. An empty file is ETRUNCATED.
 */
MSIM_MUST_CHECK
enum msim_status msim_csv_open(struct msim_csv **out, const char *path,
                               struct msim_error *err);

/* Accepts NULL. */
void msim_csv_close(struct msim_csv *c);

uint32_t msim_csv_columns(const struct msim_csv *c);
const char *msim_csv_header(const struct msim_csv *c, uint32_t column);
/* The column with this name, or UINT32_MAX. Where two have it the next row is
 * EFORMAT: nobody can tell which is meant. */
uint32_t msim_csv_find(struct msim_csv *c, const char *name);

/*
 * The next row: `*fields` (one text a column, in memory in that order) stays
 * valid until the next call, and is NULL after the last row. A row with another
 * number of fields than the header is EFORMAT, naming its line; a quote that is
 * never closed ETRUNCATED.
 */
MSIM_MUST_CHECK
enum msim_status msim_csv_next(struct msim_csv *c, char *const **fields,
                               struct msim_error *err);

/* Line on which the last row began, from 1. */
uint64_t msim_csv_line(const struct msim_csv *c);

/* Write one field, a text from anywhere. */
void msim_csv_write(FILE *out, const char *field);

/* The same to anywhere, by a function as a printer's (core/base/print.h). */
void msim_csv_write_to(void (*bytes)(void *ctx, const char *bytes, size_t n),
                       void *ctx, const char *field);

/* Whether cells, each ended by a zero, are written as they are: they begin with
 * digits or small letters, and have nothing with a meaning. */
bool msim_csv_are_plain(const char *cells, size_t n);

/* Take back, in place, what a written field has in front of formulas: for
 * readers that cut lines themselves. */
void msim_csv_unguard(char *text);

/* Write what `fmt` says, in which each %s is a whole field. */
void msim_csv_print(FILE *out, const char *fmt, ...) MSIM_PRINTF(2, 3);

/* The same into a draft; fails as msim_file_write(). */
MSIM_MUST_CHECK
enum msim_status msim_csv_print_draft(struct msim_file *file, const char *fmt,
                                      ...) MSIM_PRINTF(2, 3);

/* One more field of a row: a comma, and the text (NULL: empty), or the number,
 * empty where it is not finite. */
void msim_csv_add(FILE *out, const char *field);
void msim_csv_add_number(FILE *out, double value);

#endif
