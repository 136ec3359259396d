/*
 * core/record/record.c - records as CSV and as text.
 */
#include "core/record/record.h"

#include "core/base/csv.h"
#include "core/base/json.h"
#include "core/base/print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NUMBER 64 /* bytes of one */

static const void *at(const struct msim_column *c, const void *record)
{
    return (const char *)record + c->offset;
}

/* What is no number; NULL: it is one. */
static const char *text_of(const struct msim_column *c, const void *record)
{
    const char *text;

    if (c->type == MSIM_COLUMN_CELL)
        return at(c, record);
    if (c->type != MSIM_COLUMN_TEXT)
        return NULL;
    memcpy(&text, at(c, record), sizeof(text));
    return text ? text : "";
}

static int64_t count_of(const struct msim_column *c, const void *record)
{
    int64_t v;

    memcpy(&v, at(c, record), sizeof(v));
    return v;
}

static double real_of(const struct msim_column *c, const void *record)
{
    double v;

    memcpy(&v, at(c, record), sizeof(v));
    return v;
}

/* ---- CSV ----------------------------------------------------------------- */

/* A field by itself; the caller's, or in `number`. */
static const char *field_of(const struct msim_column *c, const void *record,
                            char number[NUMBER])
{
    const char *text = text_of(c, record);

    number[0] = '\0';
    if (text)
        return text;
    if (c->type == MSIM_COLUMN_COUNT) {
        if (count_of(c, record) != MSIM_COLUMN_NO_COUNT)
            snprintf(number, NUMBER, "%" PRId64, count_of(c, record));
    } else if (isfinite(real_of(c, record))) {
        if (c->digits)
            snprintf(number, NUMBER, "%.*g", c->digits, real_of(c, record));
        else
            msim_number_text(number, real_of(c, record));
    }
    return number;
}

static void put_field(FILE *out, bool *first, const char *field)
{
    if (!*first)
        putc(',', out);
    msim_csv_write(out, field);
    *first = false;
}

void msim_record_csv_head(FILE *out, const struct msim_column *c, size_t n)
{
    bool first = true;

    for (size_t i = 0; i < n; i++)
        if (c[i].key)
            put_field(out, &first, c[i].key);
}

void msim_record_csv(FILE *out, const struct msim_column *c, size_t n,
                     const void *record)
{
    char number[NUMBER];
    bool first = true;

    for (size_t i = 0; i < n; i++)
        if (c[i].key)
            put_field(out, &first, field_of(&c[i], record, number));
}

void msim_record_csv_fields(FILE *out, const char *const *fields, uint32_t n)
{
    bool first = true;

    for (uint32_t i = 0; i < n; i++)
        put_field(out, &first, fields[i]);
}

/* ---- text ---------------------------------------------------------------- */

static const char *real_cell(const struct msim_column *c, double v,
                             char number[NUMBER])
{
    const char *after = c->after ? c->after : "";
    double shown = v * (c->unit != 0 ? c->unit : 1);

    if (!isfinite(v))
        return "-";
    if (c->style == 'g')
        snprintf(number, NUMBER, "%.*g%s", c->decimals, shown, after);
    else if (c->style == '+')
        snprintf(number, NUMBER, "%+.*f%s", c->decimals, shown, after);
    else
        snprintf(number, NUMBER, "%.*f%s", c->decimals, shown, after);
    return number;
}

static void put_cell(FILE *out, const struct msim_column *c, const char *text,
                     int most)
{
    msim_print(out, "%*s%*.*s", c->gap, "", c->width,
               most ? most : (int)strlen(text), text);
}

/* One line of headings; the second has none where no column has it. */
static void put_headings(FILE *out, const struct msim_column *c, size_t n,
                         bool under)
{
    bool any = !under;

    for (size_t i = 0; i < n; i++)
        any |= c[i].heading && c[i].under;
    for (size_t i = 0; any && i < n; i++)
        if (c[i].heading)
            put_cell(out, &c[i],
                     !under       ? c[i].heading
                     : c[i].under ? c[i].under
                                  : "",
                     0);
    if (any)
        msim_print(out, "\n");
}

void msim_record_text_head(FILE *out, const struct msim_column *c, size_t n)
{
    put_headings(out, c, n, false);
    put_headings(out, c, n, true);
}

void msim_record_text(FILE *out, const struct msim_column *c, size_t n,
                      const void *record)
{
    char number[NUMBER];

    for (size_t i = 0; i < n; i++) {
        const char *text = text_of(&c[i], record);

        if (!c[i].heading)
            continue;
        if (!text && c[i].type == MSIM_COLUMN_COUNT)
            text = field_of(&c[i], record, number);
        if (!text)
            text = real_cell(&c[i], real_of(&c[i], record), number);
        put_cell(out, &c[i], text, c[i].most);
    }
    msim_print(out, "\n");
}
