/*
 * core/record/record.c - records as CSV, JSON and text.
 */
#include "core/record/record.h"

#include "core/base/csv.h"
#include "core/base/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
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
    if (c->type == MSIM_COLUMN_FLAG)
        return *(const bool *)at(c, record) ? "yes" : "no";
    if (c->type != MSIM_COLUMN_TEXT)
        return NULL;
    memcpy(&text, at(c, record), sizeof(text));
    return text ? text : "";
}

/* NULL: it has none. */
static const cJSON *json_of(const struct msim_column *c, const void *record)
{
    const cJSON *json = NULL;

    if (c->type == MSIM_COLUMN_JSON)
        memcpy(&json, at(c, record), sizeof(json));
    return json;
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

/* A field by itself; the caller's, in `number`, or `*made`, which is freed. */
static const char *field_of(const struct msim_column *c, const void *record,
                            char number[NUMBER], char **made)
{
    const char *text = text_of(c, record);
    const cJSON *json = json_of(c, record);

    number[0] = '\0';
    *made = NULL;
    if (text)
        return text;
    if (c->type == MSIM_COLUMN_JSON) {
        if (!json || cJSON_IsString(json))
            return json ? json->valuestring : "";
        *made = cJSON_PrintUnformatted(json);
        return *made ? *made : "";
    }
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
    char number[NUMBER], *made;
    bool first = true;

    for (size_t i = 0; i < n; i++)
        if (c[i].key) {
            put_field(out, &first, field_of(&c[i], record, number, &made));
            free(made);
        }
}

void msim_record_csv_fields(FILE *out, const char *const *fields, uint32_t n)
{
    bool first = true;

    for (uint32_t i = 0; i < n; i++)
        put_field(out, &first, fields[i]);
}

/* ---- JSON ---------------------------------------------------------------- */

static void put_json(struct msim_json *j, const char *key, const cJSON *json)
{
    char *made = NULL;

    if (!json || cJSON_IsString(json)) {
        msim_json_text(j, key, json ? json->valuestring : NULL);
        return;
    }
    made = cJSON_PrintUnformatted(json);
    msim_json_value(j, key, made);
    free(made);
}

static void put_member(struct msim_json *j, const struct msim_column *c,
                       const void *record)
{
    const char *text;

    switch (c->type) {
    case MSIM_COLUMN_REAL:
        msim_json_number(j, c->key, real_of(c, record));
        break;
    case MSIM_COLUMN_COUNT:
        if (count_of(c, record) == MSIM_COLUMN_NO_COUNT)
            msim_json_text(j, c->key, NULL);
        else
            msim_json_integer(j, c->key, count_of(c, record));
        break;
    case MSIM_COLUMN_TEXT:
        memcpy(&text, at(c, record), sizeof(text));
        msim_json_text(j, c->key, text);
        break;
    case MSIM_COLUMN_CELL:
        msim_json_text(j, c->key, at(c, record));
        break;
    case MSIM_COLUMN_FLAG:
        msim_json_bool(j, c->key, *(const bool *)at(c, record));
        break;
    case MSIM_COLUMN_JSON:
        put_json(j, c->key, json_of(c, record));
        break;
    }
}

void msim_record_json(struct msim_json *j, const struct msim_column *c,
                      size_t n, const void *record)
{
    for (size_t i = 0; i < n; i++)
        if (c[i].key)
            put_member(j, &c[i], record);
}

/* ---- text ---------------------------------------------------------------- */

static const char *real_cell(const struct msim_column *c, double v,
                             char number[NUMBER])
{
    const char *after = c->after ? c->after : "";
    double shown = v * (c->unit != 0 ? c->unit : 1);

    if (!isfinite(v))
        return c->none ? c->none : "-";
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
    char number[NUMBER], *made;

    for (size_t i = 0; i < n; i++) {
        const char *text;

        if (!c[i].heading)
            continue;
        text = field_of(&c[i], record, number, &made);
        if (c[i].type == MSIM_COLUMN_REAL)
            text = real_cell(&c[i], real_of(&c[i], record), number);
        else if (!*text && c[i].none)
            text = c[i].none;
        put_cell(out, &c[i], text, c[i].most);
        free(made);
    }
    msim_print(out, "\n");
}
