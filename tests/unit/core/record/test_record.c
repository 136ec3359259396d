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

struct part {
    const char *name;
    double low, high, us;
    int64_t rank, calls;
    uint32_t n;
    msim_ps at;
    bool hot;
};

struct whole {
    struct part *parts;
    uint32_t n_parts;
};

static const struct msim_column PARTS[] = {
    MSIM_COLUMN(struct part, name, "name", .type = MSIM_COLUMN_TEXT,
                .must = true),
    MSIM_COLUMN(struct part, low, "low", .in = "range"),
    MSIM_COLUMN(struct part, high, "high", .in = "range"),
    MSIM_COLUMN(struct part, us, "us", .must = true),
    MSIM_COLUMN(struct part, rank, "rank", .type = MSIM_COLUMN_RANK),
    MSIM_COLUMN(struct part, calls, "calls", .type = MSIM_COLUMN_COUNT),
    MSIM_COLUMN(struct part, n, "n", .type = MSIM_COLUMN_U32, .in = "of"),
    MSIM_COLUMN(struct part, at, "at_us", .type = MSIM_COLUMN_TIME,
                .in = "when"),
    MSIM_COLUMN(struct part, hot, "hot", .type = MSIM_COLUMN_FLAG,
                .in = "when")};

static const struct msim_record_list LIST =
    MSIM_RECORD_LIST(whole, parts, "parts", PARTS);

#define WRITTEN                                                                \
    "{\"parts\": [\n"                                                          \
    "    {\"name\": \"a\", \"range\": {\"low\": 1, \"high\": 2}, \"us\": 3, "  \
    "\"rank\": 7, \"calls\": 4, \"of\": {\"n\": 5}, \"when\": {\"at_us\": "    \
    "0.000001, \"hot\": true}},\n"                                             \
    "    {\"name\": \"b\", \"range\": {\"low\": null, \"high\": 2}, \"us\": "  \
    "6, "                                                                      \
    "\"rank\": null, \"calls\": null, \"of\": {\"n\": 0}, \"when\": "          \
    "{\"at_us\": 0.000, \"hot\": false}}\n"                                    \
    "  ]}\n"

/* Neighbours in one object; what is not known is null. */
static void test_record__as_json_list(void)
{
    struct part parts[] = {
        {"a", 1, 2, 3, 7, 4, 5, 1, true},
        {"b", NAN, 2, 6, -1, MSIM_COLUMN_NO_COUNT, 0, 0, false}};
    struct whole w = {parts, 2};
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);
    struct msim_json j;

    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '{', false);
    msim_record_json_list(&j, &LIST, &w);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    fclose(out);
    CHECK_STR(got, WRITTEN);
    free(got);
}

/* What was written is read, but times; so is that something is missing. */
static void test_record__reads_a_list(void)
{
    static const char *const LACK[] = {
        "{\"parts\": [{\"name\": \"a\"}]}", "{\"parts\": [{\"us\": 3}]}",
        "{\"parts\": [{\"us\": \"3\", \"name\": \"a\"}]}"};
    struct whole w = {NULL, 9};
    struct msim_arena arena;
    char musts[256];
    cJSON *json = cJSON_Parse(WRITTEN), *none = cJSON_Parse("{\"parts\": 1}");

    msim_arena_init(&arena);
    CHECK_INT(msim_record_read_list(&w, &LIST, none, &arena), MSIM_OK);
    CHECK(!w.parts && w.n_parts == 9);
    CHECK_INT(msim_record_read_list(&w, &LIST, json, &arena), MSIM_OK);
    cJSON_Delete(json); /* texts are copies */
    cJSON_Delete(none);
    if (CHECK_UINT(w.n_parts, 2)) {
        CHECK_STR(w.parts[0].name, "a");
        CHECK_REL(w.parts[0].low, 1, 0);
        CHECK_REL(w.parts[0].high, 2, 0);
        CHECK_REL(w.parts[0].us, 3, 0);
        CHECK_INT(w.parts[0].rank, 7);
        CHECK_INT(w.parts[0].calls, 4);
        CHECK_UINT(w.parts[0].n, 5);
        CHECK(w.parts[0].at == 0 && w.parts[0].hot);
        CHECK(isnan(w.parts[1].low) && !w.parts[1].hot);
        CHECK_INT(w.parts[1].rank, -1);
        CHECK(w.parts[1].calls == MSIM_COLUMN_NO_COUNT);
    }
    for (size_t i = 0; i < sizeof(LACK) / sizeof(*LACK); i++) {
        json = cJSON_Parse(LACK[i]);
        CHECK_INT(msim_record_read_list(&w, &LIST, json, &arena), MSIM_EFORMAT);
        CHECK_UINT(w.n_parts, 2);
        cJSON_Delete(json);
    }
    msim_record_musts(musts, &LIST);
    CHECK_STR(musts, "'name' or 'us' in one of 'parts'");
    msim_arena_release(&arena);
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
    RUN(test_record__as_json_list);
    RUN(test_record__reads_a_list);
    RUN(test_record__of_fields);
    return check_summary();
}
