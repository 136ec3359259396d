/* core/record/record.c: every kind of column, as CSV, as JSON and as text. */
#include "core/record/record.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

struct row {
    const char *name, *note;
    char cell[8];
    int64_t calls;
    double us, share;
    bool hot;
    const cJSON *item;
};

static const struct msim_column COLUMNS[] = {
    MSIM_COLUMN(struct row, name, "name", .heading = "operator",
                .type = MSIM_COLUMN_TEXT, .width = -9, .most = 6),
    MSIM_COLUMN(struct row, note, "note", .type = MSIM_COLUMN_TEXT),
    MSIM_COLUMN(struct row, cell, NULL, .heading = "cell",
                .type = MSIM_COLUMN_CELL, .gap = 2, .width = 5),
    MSIM_COLUMN(struct row, calls, "calls", .heading = "calls",
                .type = MSIM_COLUMN_COUNT, .gap = 1, .width = 5),
    MSIM_COLUMN(struct row, us, "us", .heading = "ms", .under = "each",
                .gap = 1, .width = 8, .unit = 1e-3, .decimals = 2),
    MSIM_COLUMN(struct row, share, "share", .heading = "change", .gap = 1,
                .width = 8, .unit = 100, .decimals = 1, .style = '+',
                .after = " %", .digits = 3),
    MSIM_COLUMN(struct row, us, NULL, .heading = "us", .gap = 1, .decimals = 2,
                .style = 'g')};

static void check(const char *want, const struct row *row, bool text)
{
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);

    if (text && !row)
        msim_record_text_head(out, MSIM_COLUMNS(COLUMNS));
    else if (text)
        msim_record_text(out, MSIM_COLUMNS(COLUMNS), row);
    else if (!row)
        msim_record_csv_head(out, MSIM_COLUMNS(COLUMNS));
    else
        msim_record_csv(out, MSIM_COLUMNS(COLUMNS), row);
    fclose(out);
    CHECK_STR(got, want);
    free(got);
}

static const struct row FULL = {"conv2d_b", "a,b",   "12.5", 3,
                                1234.5,     0.12345, false,  NULL};
static const struct row EMPTY = {"x", NULL, "",    MSIM_COLUMN_NO_COUNT,
                                 NAN, NAN,  false, NULL};

/* A column without a key is not there; texts are quoted, numbers have all their
 * digits or those that are asked for, and what is not known is empty. */
static void test_record__as_csv(void)
{
    check("name,note,calls,us,share", NULL, false);
    check("conv2d_b,\"a,b\",3,1234.5,0.123", &FULL, false);
    check("x,,,,", &EMPTY, false);
}

/* A column without a heading is not there; a second line of headings is where
 * one has it; numbers are in the unit that is shown. */
static void test_record__as_text(void)
{
    check("operator    cell calls       ms   change us\n"
          "                           each          \n",
          NULL, true);
    check("conv2d      12.5     3     1.23  +12.3 % 1.2e+03\n", &FULL, true);
    check("x"
          "                             "
          "-        - -\n",
          &EMPTY, true);
}

/* What a list of members looks like, with what is not known. */
static void check_json(const char *want, const struct row *row)
{
    static const struct msim_column OF[] = {
        MSIM_COLUMN(struct row, name, "name", .type = MSIM_COLUMN_TEXT),
        MSIM_COLUMN(struct row, note, "note", .type = MSIM_COLUMN_TEXT),
        MSIM_COLUMN(struct row, cell, "cell", .type = MSIM_COLUMN_CELL),
        MSIM_COLUMN(struct row, cell, NULL, .type = MSIM_COLUMN_CELL),
        MSIM_COLUMN(struct row, calls, "calls", .type = MSIM_COLUMN_COUNT),
        MSIM_COLUMN(struct row, us, "us", .unit = 1e-3),
        MSIM_COLUMN(struct row, hot, "hot", .type = MSIM_COLUMN_FLAG),
        MSIM_COLUMN(struct row, item, "item", .type = MSIM_COLUMN_JSON)};
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);
    struct msim_json j;

    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '{', false);
    msim_record_json(&j, MSIM_COLUMNS(OF), row);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    fclose(out);
    CHECK_STR(got, want);
    free(got);
}

static void test_record__as_json(void)
{
    struct row full = FULL, empty = EMPTY;
    cJSON *list = cJSON_Parse("{\"n\": [8, 9]}"), *text = cJSON_Parse("\"h\"");

    full.hot = true;
    full.item = list;
    check_json("{\"name\": \"conv2d_b\", \"note\": \"a,b\", \"cell\": "
               "\"12.5\", \"calls\": 3, \"us\": 1234.5, \"hot\": true, "
               "\"item\": {\"n\":[8,9]}}\n",
               &full);
    full.item = text;
    check_json("{\"name\": \"conv2d_b\", \"note\": \"a,b\", \"cell\": "
               "\"12.5\", \"calls\": 3, \"us\": 1234.5, \"hot\": true, "
               "\"item\": \"h\"}\n",
               &full);
    check_json("{\"name\": \"x\", \"note\": null, \"cell\": \"\", \"calls\": "
               "null, \"us\": null, \"hot\": false, \"item\": null}\n",
               &empty);
    cJSON_Delete(list);
    cJSON_Delete(text);
}

/* A flag is a word, and JSON a field; text may say what stands for nothing. */
static void test_record__flags_and_json(void)
{
    static const struct msim_column OF[] = {
        MSIM_COLUMN(struct row, hot, "hot", .heading = "hot",
                    .type = MSIM_COLUMN_FLAG, .width = -4),
        MSIM_COLUMN(struct row, item, "item", .heading = "item",
                    .type = MSIM_COLUMN_JSON, .width = 9, .none = "as it is"),
        MSIM_COLUMN(struct row, us, NULL, .heading = "us", .gap = 1,
                    .none = "new")};
    cJSON *list = cJSON_Parse("[8, 9]");
    struct row full = {.hot = true, .item = list, .us = 7}, empty = {.us = NAN};
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);

    msim_record_text(out, MSIM_COLUMNS(OF), &full);
    msim_record_text(out, MSIM_COLUMNS(OF), &empty);
    msim_record_csv(out, MSIM_COLUMNS(OF), &full);
    msim_record_csv(out, MSIM_COLUMNS(OF), &empty);
    fclose(out);
    CHECK_STR(got, "yes     [8,9] 7\n"
                   "no   as it is new\n"
                   "yes,\"[8,9]\"no,");
    free(got);
    cJSON_Delete(list);
}

static void test_record__of_fields(void)
{
    static const char *const FIELDS[] = {"a", "b c", "d;e"};
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);

    msim_record_csv_fields(out, FIELDS, 3);
    fclose(out);
    CHECK_STR(got, "a,b c,\"d;e\"");
    free(got);
}

int main(void)
{
    RUN(test_record__as_csv);
    RUN(test_record__as_text);
    RUN(test_record__as_json);
    RUN(test_record__flags_and_json);
    RUN(test_record__of_fields);
    return check_summary();
}
