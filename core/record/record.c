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

/* Of what is a whole number; MSIM_COLUMN_NO_COUNT: empty. */
static int64_t count_of(const struct msim_column *c, const void *record)
{
    uint32_t u;
    int64_t v;

    if (c->type == MSIM_COLUMN_U32) {
        memcpy(&u, at(c, record), sizeof(u));
        return u;
    }
    memcpy(&v, at(c, record), sizeof(v));
    return c->type == MSIM_COLUMN_RANK && v < 0 ? MSIM_COLUMN_NO_COUNT : v;
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
    if (c->type != MSIM_COLUMN_REAL) {
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
    case MSIM_COLUMN_TIME:
        msim_json_time(j, c->key, count_of(c, record));
        break;
    case MSIM_COLUMN_COUNT:
    case MSIM_COLUMN_U32:
    case MSIM_COLUMN_RANK:
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
    const char *in = NULL;

    for (size_t i = 0; i < n; i++) {
        if (!c[i].key)
            continue;
        if (in && (!c[i].in || strcmp(in, c[i].in) != 0)) {
            msim_json_close(j);
            in = NULL;
        }
        if (!in && c[i].in)
            msim_json_open(j, c[i].in, '{', false);
        in = c[i].in;
        put_member(j, &c[i], record);
    }
    if (in)
        msim_json_close(j);
}

void msim_record_json_list(struct msim_json *j,
                           const struct msim_record_list *l, const void *whole)
{
    const char *rows;
    uint32_t n;

    memcpy(&rows, (const char *)whole + l->rows, sizeof(rows));
    memcpy(&n, (const char *)whole + l->count, sizeof(n));
    msim_json_open(j, l->key, '[', true);
    for (uint32_t i = 0; i < n; i++) {
        msim_json_open(j, NULL, '{', false);
        msim_record_json(j, l->columns, l->n, rows + i * l->size);
        msim_json_close(j);
    }
    msim_json_close(j);
}

/* ---- from JSON ----------------------------------------------------------- */

static enum msim_status read_text(char *to, const cJSON *v,
                                  struct msim_arena *arena)
{
    const char *text = cJSON_GetStringValue(v);
    char *copy = NULL;

    if (text) {
        copy = msim_arena_alloc(arena, strlen(text) + 1);
        if (!copy)
            return MSIM_ENOMEM;
        memcpy(copy, text, strlen(text) + 1);
    }
    memcpy(to, &copy, sizeof(copy));
    return MSIM_OK;
}

static enum msim_status read_member(char *to, const struct msim_column *c,
                                    const cJSON *v, struct msim_arena *arena)
{
    double number = cJSON_IsNumber(v) ? v->valuedouble : (double)NAN;
    bool flag = cJSON_IsTrue(v), whole = number >= 0 && number < 1e15;
    int64_t count = whole                         ? (int64_t)number
                    : c->type == MSIM_COLUMN_RANK ? -1
                                                  : MSIM_COLUMN_NO_COUNT;
    uint32_t u = whole && number <= UINT32_MAX ? (uint32_t)number : 0;

    switch (c->type) {
    case MSIM_COLUMN_TEXT:
        return read_text(to, v, arena);
    case MSIM_COLUMN_REAL:
        memcpy(to, &number, sizeof(number));
        break;
    case MSIM_COLUMN_COUNT:
    case MSIM_COLUMN_RANK:
        memcpy(to, &count, sizeof(count));
        break;
    case MSIM_COLUMN_U32:
        memcpy(to, &u, sizeof(u));
        break;
    case MSIM_COLUMN_FLAG:
        memcpy(to, &flag, sizeof(flag));
        break;
    default: /* of what is written alone */
        break;
    }
    return MSIM_OK;
}

enum msim_status msim_record_read(void *record, const struct msim_column *c,
                                  size_t n, const cJSON *object,
                                  struct msim_arena *arena)
{
    for (size_t i = 0; i < n; i++) {
        const cJSON *of = object;

        if (!c[i].key)
            continue;
        if (c[i].in)
            of = cJSON_GetObjectItemCaseSensitive(object, c[i].in);
        MSIM_TRY(read_member((char *)record + c[i].offset, &c[i],
                             cJSON_GetObjectItemCaseSensitive(of, c[i].key),
                             arena));
    }
    return MSIM_OK;
}

static bool is_whole(const struct msim_record_list *l, const void *record)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct msim_column *c = &l->columns[i];
        const char *text = NULL;

        if (!c->must)
            continue;
        if (c->type == MSIM_COLUMN_REAL && isnan(real_of(c, record)))
            return false;
        if (c->type == MSIM_COLUMN_TEXT) {
            memcpy(&text, at(c, record), sizeof(text));
            if (!text)
                return false;
        }
    }
    return true;
}

void msim_record_musts(char text[256], const struct msim_record_list *l)
{
    text[0] = '\0';
    for (size_t i = 0; i < l->n; i++)
        if (l->columns[i].must)
            msim_text_append(text, 256, "%s'%s'", *text ? " or " : "",
                             l->columns[i].key);
    msim_text_append(text, 256, " in one of '%s'", l->key);
}

enum msim_status msim_record_read_list(void *whole,
                                       const struct msim_record_list *l,
                                       const cJSON *object,
                                       struct msim_arena *arena)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, l->key);
    const cJSON *item;
    uint32_t n = 0;
    char *rows;

    if (!cJSON_IsArray(array))
        return MSIM_OK;
    rows = msim_arena_alloc(arena,
                            ((size_t)cJSON_GetArraySize(array) + 1) * l->size);
    if (!rows)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(item, array)
    {
        char *row = rows + n++ * l->size;

        MSIM_TRY(msim_record_read(row, l->columns, l->n, item, arena));
        if (!is_whole(l, row))
            return MSIM_EFORMAT;
    }
    memcpy((char *)whole + l->rows, &rows, sizeof(rows));
    memcpy((char *)whole + l->count, &n, sizeof(n));
    return MSIM_OK;
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
