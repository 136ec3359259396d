/*
 * core/record/record.h - columns of records, declared once: lines of CSV,
 * members of JSON, what is read of it, and tables of text follow from them.
 *
 *     struct row { const char *name; uint32_t calls; double us; };
 *     static const struct msim_column COLUMNS[] = {
 *         MSIM_COLUMN(struct row, name, "name", .heading = "operator",
 *                     .type = MSIM_COLUMN_TEXT, .width = -12),
 *         MSIM_COLUMN(struct row, us, "us", .heading = "ms", .width = 9,
 *                     .unit = 1e-3, .decimals = 3)};
 *
 * In CSV a number has the column's own unit, and is empty where it is not
 * finite, null in JSON; in text it is times `unit`, and "-" then. A column
 * without a key has no place in CSV and JSON, one without a heading none in
 * text.
 *
 * Thread-safe; nothing is allocated, but for the time that a MSIM_COLUMN_JSON
 * is written.
 */
#ifndef MSIM_CORE_RECORD_RECORD_H
#define MSIM_CORE_RECORD_RECORD_H
#include "core/base/json.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum msim_column_type {
    MSIM_COLUMN_REAL,  /* double */
    MSIM_COLUMN_COUNT, /* int64_t; MSIM_COLUMN_NO_COUNT: empty */
    MSIM_COLUMN_U32,   /* uint32_t */
    MSIM_COLUMN_RANK,  /* int64_t; below 0: empty */
    MSIM_COLUMN_TIME,  /* msim_ps; us in JSON, from which it is not read */
    MSIM_COLUMN_TEXT,  /* const char *; NULL: empty, null in JSON */
    MSIM_COLUMN_CELL,  /* char[], which ends with a zero */
    MSIM_COLUMN_FLAG,  /* bool: "yes", "no" */
    MSIM_COLUMN_JSON   /* const cJSON *, on one line but for a text; NULL: empty
                        */
};

#define MSIM_COLUMN_NO_COUNT INT64_MIN

struct msim_column {
    const char *key; /* in the header of CSV, and of a member of JSON */
    const char *in;  /* the object that has the member; NULL: the record's */
    const char *heading; /* above a table of text */
    const char *under;   /* on a second line there, or NULL */
    enum msim_column_type type;
    size_t offset; /* in a record */
    int gap;       /* blanks before it in text */
    int width;     /* at least; below 0: to the left */
    int most;      /* bytes of a text, in text; 0: any */
    double unit;   /* 0 counts as 1 */
    int decimals;
    char style; /* 0: decimals; '+': with a sign; 'g': significant digits */
    const char *after; /* the number, inside the width: "%"; or NULL */
    const char *none;  /* in text, where it is empty; NULL: see above */
    int digits;        /* significant, in CSV; 0: all that a double has */
    bool must;         /* a record that is read has it: a text, a number */
};

#define MSIM_COLUMN(record, member, name, ...)                                 \
    {                                                                          \
        .key = (name), .offset = offsetof(record, member), __VA_ARGS__         \
    }
#define MSIM_COLUMNS(columns) (columns), sizeof(columns) / sizeof(*(columns))

/* Names, and fields, with commas between; the line goes on. */
void msim_record_csv_head(FILE *out, const struct msim_column *c, size_t n);
void msim_record_csv(FILE *out, const struct msim_column *c, size_t n,
                     const void *record);

/* Likewise fields that are texts already. */
void msim_record_csv_fields(FILE *out, const char *const *fields, uint32_t n);

/* Members of the object that is open; neighbours with the same `in` are in one
 * object, on one line. */
void msim_record_json(struct msim_json *j, const struct msim_column *c,
                      size_t n, const void *record);

/* The same columns from `object`, texts into `arena`; what is not there is
 * empty: NAN, NULL, 0, -1 of a rank. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_record_read(void *record, const struct msim_column *c,
                                  size_t n, const cJSON *object,
                                  struct msim_arena *arena);

/* Records of a larger one, a pointer and a uint32_t beside it: an array. */
struct msim_record_list {
    const char *key;
    const struct msim_column *columns;
    size_t n, size;     /* columns; bytes of a record */
    size_t rows, count; /* where both are in the larger one */
};

#define MSIM_RECORD_LIST(whole, member, name, of)                              \
    {                                                                          \
        .key = (name), .columns = (of), .n = sizeof(of) / sizeof(*(of)),       \
        .size = sizeof(*((struct whole *)0)->member),                          \
        .rows = offsetof(struct whole, member),                                \
        .count = offsetof(struct whole, n_##member)                            \
    }

/* One record a line. */
void msim_record_json_list(struct msim_json *j,
                           const struct msim_record_list *l, const void *whole);

/* Without the array nothing changes. ENOMEM; EFORMAT: one of its items lacks
 * what it must have, which is "'name' or 'us' in one of 'ops'" by
 * msim_record_musts(). */
MSIM_MUST_CHECK
enum msim_status msim_record_read_list(void *whole,
                                       const struct msim_record_list *l,
                                       const cJSON *object,
                                       struct msim_arena *arena);
void msim_record_musts(char text[256], const struct msim_record_list *l);

/* Headings, one or two lines, and a line of a table. */
void msim_record_text_head(FILE *out, const struct msim_column *c, size_t n);
void msim_record_text(FILE *out, const struct msim_column *c, size_t n,
                      const void *record);

#endif
