/*
 * core/base/csv.c - comma-separated values, row by row.
 *
 * zlib's gzread() passes plain bytes through unchanged, so one reader serves
 * both kinds of file.
 */
#include "core/base/csv.h"

#include "core/base/containers.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/print.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define CSV_ROW_LIMIT (16u << 20) /* bytes of one row */

struct msim_csv {
    gzFile file;
    char path[256];
    unsigned char buffer[1 << 16];
    int at, filled;
    uint64_t offset, line, row_line;
    char *text; /* the row's fields, NUL-terminated one after the other */
    uint32_t text_capacity, text_length;
    uint32_t *starts; /* where each field begins in text */
    uint32_t starts_capacity, n;
    char **fields;
    char **header;
    uint32_t columns;
    const char *twice; /* of the header, looked for; NULL: none */
};

static enum msim_status fill(struct msim_csv *c, struct msim_error *err)
{
    const unsigned char *zero;
    int code = Z_OK;

    c->at = 0;
    c->filled = gzread(c->file, c->buffer, sizeof(c->buffer));
    zero = c->filled > 0 ? memchr(c->buffer, 0, (size_t)c->filled) : NULL;
    if (zero)
        return msim_fail(err, MSIM_ESYNTAX, c->path,
                         c->offset + (uint64_t)(zero - c->buffer),
                         "a byte of zero, want text in UTF-8");
    if (c->filled > 0)
        return MSIM_OK;
    /* A cut gzip stream reads as a clean end, with the error set. */
    (void)gzerror(c->file, &code);
    if (c->filled == 0 && code == Z_OK)
        return MSIM_OK;
    c->filled = 0;
    return msim_fail(err, code == Z_BUF_ERROR ? MSIM_ETRUNCATED : MSIM_EIO,
                     c->path, c->offset, "%s",
                     code == Z_BUF_ERROR ? "the gzip stream ends early"
                                         : "cannot be read");
}

/* The next byte, or -1 at the end, without taking it. */
static enum msim_status peek(struct msim_csv *c, int *byte,
                             struct msim_error *err)
{
    if (c->at >= c->filled)
        MSIM_TRY(fill(c, err));
    *byte = c->filled > 0 ? c->buffer[c->at] : -1;
    return MSIM_OK;
}

static void take(struct msim_csv *c, int byte)
{
    c->at++;
    c->offset++;
    if (byte == '\n')
        c->line++;
}

static enum msim_status put(struct msim_csv *c, int byte,
                            struct msim_error *err)
{
    if (c->text_length >= CSV_ROW_LIMIT)
        return msim_fail(err, MSIM_ELIMIT, c->path, c->offset,
                         "line %llu: a row of more than %u bytes",
                         (unsigned long long)c->row_line, CSV_ROW_LIMIT);
    MSIM_TRY(
        msim_grow((void **)&c->text, &c->text_capacity, c->text_length, 1));
    c->text[c->text_length++] = (char)byte;
    return MSIM_OK;
}

static enum msim_status field_begin(struct msim_csv *c)
{
    MSIM_TRY(msim_grow((void **)&c->starts, &c->starts_capacity, c->n,
                       sizeof(*c->starts)));
    c->starts[c->n++] = c->text_length;
    return MSIM_OK;
}

/* ---- formulas ------------------------------------------------------------ */

/* Is it a number from end to end? Spreadsheets take it for one, too. */
static bool is_number(const char *text)
{
    char *end;

    if (text[strspn(text, "+-.0123456789eE")])
        return false;
    (void)strtod(text, &end);
    return end > text && !*end;
}

/* Does a formula begin at `s`, or one that is kept from being one already?
 * Those that OWASP names (CSV injection), and their full-width forms. */
static bool is_formula(const char *s)
{
    static const char *const MARKS[] = {"=",
                                        "+",
                                        "-",
                                        "@",
                                        "\xef\xbc\x9d",
                                        "\xef\xbc\x8b",
                                        "\xef\xbc\x8d",
                                        "\xef\xbc\xa0"};

    s += strspn(s, "'");
    for (size_t i = 0; i < sizeof(MARKS) / sizeof(*MARKS); i++) {
        size_t n = strlen(MARKS[i]);

        if (strncmp(s, MARKS[i], n) == 0 && s[n])
            return true;
    }
    return false;
}

/* May a cell begin behind `c`, where one might begin before it? Tables are also
 * read with other characters than the comma between cells, and then quotes in
 * the middle of a line hold nothing together. */
static bool begins_after(char c, bool begins)
{
    return c == ';' || c == '\t' || c == '\n' || c == '\r' ||
           (begins && c == ' ');
}

void msim_csv_unguard(char *text)
{
    char *to = text;
    bool begins = true;

    for (; *text; text++) {
        if (begins && *text == '\'' && is_formula(text))
            text++;
        begins = begins_after(*text, begins);
        *to++ = *text;
    }
    *to = '\0';
}

/* ---- reading ------------------------------------------------------------- */

/* After the opening quote, up to and with the closing one. */
static enum msim_status quoted(struct msim_csv *c, struct msim_error *err)
{
    int byte;

    for (;;) {
        MSIM_TRY(peek(c, &byte, err));
        if (byte < 0)
            return msim_fail(err, MSIM_ETRUNCATED, c->path, c->offset,
                             "line %llu: a quoted field is not closed",
                             (unsigned long long)c->row_line);
        take(c, byte);
        if (byte == '"') {
            MSIM_TRY(peek(c, &byte, err));
            if (byte != '"')
                return MSIM_OK;
            take(c, byte);
        }
        MSIM_TRY(put(c, byte, err));
    }
}

/* What is left in the buffer of a field without a line end; what is no more
 * than that stays for put(). */
static enum msim_status take_run(struct msim_csv *c)
{
    const unsigned char *from = c->buffer + c->at;
    uint32_t most = c->filled > c->at ? (uint32_t)(c->filled - c->at) : 0;
    uint32_t n = 0;

    while (n < most && from[n] != ',' && from[n] != '\n' && from[n] != '\r')
        n++;
    if (c->text_length + n > CSV_ROW_LIMIT)
        return MSIM_OK;
    while (c->text_length + n > c->text_capacity)
        MSIM_TRY(msim_grow((void **)&c->text, &c->text_capacity,
                           c->text_capacity, 1));
    if (n)
        memcpy(c->text + c->text_length, from, n);
    c->text_length += n;
    c->at += (int)n;
    c->offset += n;
    return MSIM_OK;
}

/* One field and what ends it: `*end` is ',', '\n' or -1. */
static enum msim_status field(struct msim_csv *c, int *end,
                              struct msim_error *err)
{
    bool was_quoted = false;
    int byte;

    MSIM_TRY(field_begin(c));
    MSIM_TRY(peek(c, &byte, err));
    if (byte == '"') {
        take(c, byte);
        MSIM_TRY(quoted(c, err));
        was_quoted = true;
    } else {
        MSIM_TRY(take_run(c));
    }
    for (;;) {
        MSIM_TRY(peek(c, &byte, err));
        if (byte >= 0)
            take(c, byte);
        if (byte == '\r') { /* of CRLF, or by itself, as of old spreadsheets */
            MSIM_TRY(peek(c, &byte, err));
            if (byte == '\n')
                take(c, byte);
            else
                c->line++;
            byte = '\n';
        }
        if (byte < 0 || byte == ',' || byte == '\n')
            break;
        if (was_quoted)
            return msim_fail(err, MSIM_ESYNTAX, c->path, c->offset - 1,
                             "line %llu: text after a closing quote, want a "
                             "comma or the end of the line",
                             (unsigned long long)c->row_line);
        MSIM_TRY(put(c, byte, err));
    }
    *end = byte;
    MSIM_TRY(put(c, '\0', err));
    if (memchr(c->text + c->starts[c->n - 1], '\'',
               c->text_length - c->starts[c->n - 1]))
        msim_csv_unguard(c->text + c->starts[c->n - 1]);
    return MSIM_OK;
}

static bool start_field(struct msim_csv *c, uint32_t at)
{
    if (c->n == c->starts_capacity)
        return false;
    c->starts[c->n++] = at;
    return true;
}

/* Most rows: a line that the buffer has whole, without quotes, and not empty.
 * False, and nothing is taken, where it is none or there is no room yet. */
static bool take_line(struct msim_csv *c)
{
    const char *from = (const char *)c->buffer + c->at, *end = NULL;
    uint32_t n, at = 0;
    bool room;
    char *comma;

    if (c->at < c->filled)
        end = memchr(from, '\n', (size_t)(c->filled - c->at));
    n = end ? (uint32_t)(end - from) : 0;
    if (!n || n >= c->text_capacity || memchr(from, '"', n) ||
        memchr(from, '\'', n) || memchr(from, '\r', n) || memchr(from, '\0', n))
        return false;
    memcpy(c->text, from, n);
    c->text[n] = '\0';
    room = start_field(c, 0);
    while (room && (comma = memchr(c->text + at, ',', n - at))) {
        *comma = '\0';
        at = (uint32_t)(comma + 1 - c->text);
        room = start_field(c, at);
    }
    if (!room) {
        c->n = 0;
        return false;
    }
    c->text_length = n + 1;
    c->at += (int)n + 1;
    c->offset += n + 1;
    c->line++;
    return true;
}

/* One row into text and starts; `*found` is false at the end. */
static enum msim_status read_row(struct msim_csv *c, bool *found,
                                 struct msim_error *err)
{
    int end = -1;

    do {
        c->row_line = c->line;
        c->n = 0;
        c->text_length = 0;
        *found = take_line(c);
        if (*found)
            return MSIM_OK;
        do {
            MSIM_TRY(field(c, &end, err));
        } while (end == ',');
        *found = c->n > 1 || c->text_length > 1;
    } while (!*found && end >= 0);
    return MSIM_OK;
}

static enum msim_status read_header(struct msim_csv *c, struct msim_error *err)
{
    bool found;

    MSIM_TRY(fill(c, err));
    if (c->filled >= 3 && memcmp(c->buffer, "\xef\xbb\xbf", 3) == 0)
        c->at = (int)(c->offset = 3);
    MSIM_TRY(read_row(c, &found, err));
    if (!found)
        return msim_fail(err, MSIM_ETRUNCATED, c->path, MSIM_OFFSET_NONE,
                         "empty, want a header of column names");
    c->columns = c->n;
    c->header = calloc(c->n, sizeof(*c->header));
    c->fields = calloc(c->n, sizeof(*c->fields));
    if (!c->header || !c->fields)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < c->n; i++) {
        c->header[i] = strdup(c->text + c->starts[i]);
        if (!c->header[i])
            return MSIM_ENOMEM;
    }
    return MSIM_OK;
}

enum msim_status msim_csv_open(struct msim_csv **out, const char *path,
                               struct msim_error *err)
{
    struct msim_csv *c = calloc(1, sizeof(*c));
    enum msim_status status;
    int fd;

    *out = NULL;
    if (!c)
        return MSIM_ENOMEM;
    snprintf(c->path, sizeof(c->path), "%s", path);
    c->line = 1;
    errno = 0;
    if (strcmp(path, "-") == 0) {
        fd = dup(STDIN_FILENO);
        c->file = fd >= 0 ? gzdopen(fd, "rb") : NULL;
    } else {
        c->file = gzopen(path, "rb");
    }
    if (!c->file)
        status = msim_fail(err, MSIM_EIO, path, MSIM_OFFSET_NONE,
                           "cannot be opened: %s",
                           errno ? strerror(errno) : "out of memory");
    else
        status = msim_files_read_note(path, err);
    if (status == MSIM_OK)
        status = read_header(c, err);
    if (status != MSIM_OK) {
        msim_csv_close(c);
        return status;
    }
    *out = c;
    return MSIM_OK;
}

void msim_csv_close(struct msim_csv *c)
{
    if (!c)
        return;
    if (c->file)
        gzclose(c->file);
    for (uint32_t i = 0; c->header && i < c->columns; i++)
        free(c->header[i]);
    free(c->header);
    free(c->fields);
    free(c->starts);
    free(c->text);
    free(c);
}

uint32_t msim_csv_columns(const struct msim_csv *c)
{
    return c->columns;
}

const char *msim_csv_header(const struct msim_csv *c, uint32_t column)
{
    return c->header[column];
}

uint32_t msim_csv_find(struct msim_csv *c, const char *name)
{
    uint32_t found = UINT32_MAX;

    for (uint32_t i = c->columns; i-- > 0;) {
        if (strcmp(c->header[i], name) != 0)
            continue;
        if (found != UINT32_MAX)
            c->twice = c->header[i];
        found = i;
    }
    return found;
}

enum msim_status msim_csv_next(struct msim_csv *c, char *const **fields,
                               struct msim_error *err)
{
    bool found;

    *fields = NULL;
    if (c->twice)
        return msim_fail(err, MSIM_EFORMAT, c->path, MSIM_OFFSET_NONE,
                         "two columns are called '%.60s', want one", c->twice);
    MSIM_TRY(read_row(c, &found, err));
    if (!found)
        return MSIM_OK;
    if (c->n != c->columns)
        return msim_fail(err, MSIM_EFORMAT, c->path, c->offset,
                         "line %llu has %u fields, want %u as in the header",
                         (unsigned long long)c->row_line, c->n, c->columns);
    for (uint32_t i = 0; i < c->n; i++)
        c->fields[i] = c->text + c->starts[i];
    *fields = c->fields;
    return MSIM_OK;
}

uint64_t msim_csv_line(const struct msim_csv *c)
{
    return c->row_line;
}

/* ---- writing ------------------------------------------------------------- */

/* Characters without a meaning, as most cells have; a zero ends a cell. */
static const bool PLAIN[256] = {[' ' ... '!'] = true,
                                ['#' ... '+'] = true,
                                ['-' ... ':'] = true,
                                ['<' ... '~'] = true};

static bool begins_plainly(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

static bool is_plain(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!PLAIN[(unsigned char)text[i]])
            return false;
    return begins_plainly(*text) || !is_formula(text + strspn(text, " ")) ||
           is_number(text);
}

/* Bytes that are looked at at once; what is true of one is 0xff there. */
typedef unsigned char bytes16 __attribute__((vector_size(16)));

/* What begins no plain cell, if it is none's end. */
static inline bytes16 odd_begins(bytes16 c)
{
    return (bytes16)(c - '0' > 9) & (bytes16)(c - 'a' > 25) & (bytes16)(c != 0);
}

/* Those of the sixteen bytes at `cells` that are no part of a plain cell; the
 * byte in front of them is read, too. */
static inline bytes16 odd_bytes(const char *cells)
{
    bytes16 before, c;

    memcpy(&before, cells - 1, sizeof(before));
    memcpy(&c, cells, sizeof(c));
    return ((bytes16)(c - ' ' > '~' - ' ') & (bytes16)(c != 0)) |
           (bytes16)(c == '"') | (bytes16)(c == ',') | (bytes16)(c == ';') |
           ((bytes16)(before == 0) & odd_begins(c));
}

bool msim_csv_are_plain(const char *cells, size_t n)
{
    char begin[1 + sizeof(bytes16)] = {0}, rest[1 + sizeof(bytes16)] = {0};
    uint64_t odd[2];
    bytes16 all;
    size_t i = 1;

    if (!n)
        return true;
    begin[1] = *cells;
    all = odd_bytes(begin + 1);
    for (; i + sizeof(all) <= n; i += sizeof(all))
        all |= odd_bytes(cells + i);
    memcpy(rest, cells + i - 1, n - i + 1);
    all |= odd_bytes(rest + 1);
    memcpy(odd, &all, sizeof(odd));
    return !(odd[0] | odd[1]);
}

static const char *inside_quotes(char c)
{
    return c == '"'    ? "\"\""
           : c == '\n' ? "\n"
           : c == '\r' ? "\r"
           : c == '\t' ? "\t"
                       : NULL;
}

/* All of `text` is written: cells are not cut. */
static void put_cell(const struct msim_printer *p, const char *text, size_t n)
{
    const char *quote;
    bool begins = true;

    if (is_plain(text, n)) {
        p->bytes(p->ctx, text, n);
        return;
    }
    quote = strpbrk(text, ",;\"\r\n\t") ? "\"" : "";
    p->bytes(p->ctx, quote, strlen(quote));
    while (*text) {
        unsigned len = msim_character_length(text);

        if (begins && is_formula(text))
            p->bytes(p->ctx, "'", 1);
        begins = begins_after(*text, begins);
        msim_print_clean(p, text, len, inside_quotes);
        text += len;
    }
    p->bytes(p->ctx, quote, strlen(quote));
}

void msim_csv_print(FILE *out, const char *fmt, ...)
{
    const struct msim_printer p = {out, msim_print_to_file, put_cell};
    va_list args;

    va_start(args, fmt);
    (void)msim_vprint(&p, fmt, args);
    va_end(args);
}

struct draft {
    struct msim_file *file;
    enum msim_status status;
};

static void to_draft(void *ctx, const char *bytes, size_t n)
{
    struct draft *d = ctx;

    if (d->status == MSIM_OK)
        d->status = msim_file_write(d->file, bytes, n);
}

enum msim_status msim_csv_print_draft(struct msim_file *file, const char *fmt,
                                      ...)
{
    struct draft d = {file, MSIM_OK};
    va_list args;

    va_start(args, fmt);
    (void)msim_vprint(&(struct msim_printer){&d, to_draft, put_cell}, fmt,
                      args);
    va_end(args);
    return d.status;
}

void msim_csv_write_to(void (*bytes)(void *ctx, const char *bytes, size_t n),
                       void *ctx, const char *field)
{
    put_cell(&(struct msim_printer){ctx, bytes, put_cell}, field,
             strlen(field));
}

void msim_csv_write(FILE *out, const char *field)
{
    msim_csv_write_to(msim_print_to_file, out, field);
}

void msim_csv_add(FILE *out, const char *field)
{
    msim_csv_print(out, ",%s", field ? field : "");
}

void msim_csv_add_number(FILE *out, double value)
{
    char text[32];

    if (isfinite(value))
        msim_number_text(text, value);
    msim_csv_add(out, isfinite(value) ? text : NULL);
}
