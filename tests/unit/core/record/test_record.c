/* core/record/record.c: every kind of column, as CSV and as text. */
#include "core/record/record.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

struct row {
    const char *name, *note;
    char cell[8];
    int64_t calls;
    double us, share;
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

static const struct row FULL = {"conv2d_b", "a,b", "12.5", 3, 1234.5, 0.12345};
static const struct row EMPTY = {"x", NULL, "", MSIM_COLUMN_NO_COUNT, NAN, NAN};

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
    RUN(test_record__of_fields);
    return check_summary();
}
