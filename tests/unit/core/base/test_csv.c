/*
 * tests/unit/core/base/test_csv.c - tests of core/base/csv.h.
 *
 * Rows of comma-separated values: quoting, line ends, what is refused.
 */
#include "core/base/csv.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

static char path[] = "msim-test-csv-XXXXXX";

static void write_file(const char *text)
{
    FILE *f = fopen(path, "wb");

    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

static void test_csv__reads_quoted_fields(void)
{
    struct msim_error err = {0};
    struct msim_csv *c;
    char *const *row;

    write_file("\xef\xbb\xbf"
               "a,\"b,c\"\r\n"
               "1,\"say \"\"x\"\"\nthen y\"\r\n"
               "\n"
               "2,");
    REQUIRE(msim_csv_open(&c, path, &err) == MSIM_OK);
    CHECK_UINT(msim_csv_columns(c), 2);
    CHECK_STR(msim_csv_header(c, 0), "a");
    CHECK_UINT(msim_csv_find(c, "b,c"), 1);
    CHECK_UINT(msim_csv_find(c, "b"), UINT32_MAX);
    CHECK_INT(msim_csv_next(c, &row, &err), MSIM_OK);
    CHECK_STR(row[1], "say \"x\"\nthen y");
    CHECK_UINT(msim_csv_line(c), 2);
    CHECK_INT(msim_csv_next(c, &row, &err), MSIM_OK);
    CHECK_STR(row[0], "2");
    CHECK_STR(row[1], "");
    CHECK_INT(msim_csv_next(c, &row, &err), MSIM_OK);
    CHECK(row == NULL);
    msim_csv_close(c);
}

/* The status of reading `text` to its end. */
static enum msim_status read_through(const char *text, struct msim_error *err)
{
    struct msim_csv *c;
    char *const *row = NULL;
    enum msim_status status;

    write_file(text);
    status = msim_csv_open(&c, path, err);
    if (status != MSIM_OK)
        return status;
    do {
        status = msim_csv_next(c, &row, err);
    } while (status == MSIM_OK && row);
    msim_csv_close(c);
    return status;
}

/* Rows as spreadsheets end and mark them, all of them `a` 1 and `b` 2. */
static void test_csv__reads_lines_of_spreadsheets(void)
{
    static const char *const FILES[] = {
        "a,b\n1,2\n",           "a,b\r\n1,2\r\n",
        "a,b\r1,2\r",           "a,b\r\n1,2",
        "\r\na,b\r\n\r\n1,2\r", "a,b\r\r\n1,2\r\r\n",
        "\"a\",b\r1,\"2\"",     "\xef\xbb\xbf\"a\",\"b\"\n1,2\n"};
    struct msim_error err = {0};
    struct msim_csv *c;
    char *const *row;

    for (size_t i = 0; i < sizeof(FILES) / sizeof(*FILES); i++) {
        write_file(FILES[i]);
        REQUIRE(msim_csv_open(&c, path, &err) == MSIM_OK);
        CHECK_UINT(msim_csv_columns(c), 2);
        CHECK_STR(msim_csv_header(c, 0), "a");
        CHECK_STR(msim_csv_header(c, 1), "b");
        CHECK_INT(msim_csv_next(c, &row, &err), MSIM_OK);
        REQUIRE(row);
        CHECK_STR(row[0], "1");
        CHECK_STR(row[1], "2");
        CHECK_INT(msim_csv_next(c, &row, &err), MSIM_OK);
        CHECK(row == NULL);
        msim_csv_close(c);
    }
}

static void test_csv__counts_lines_that_end_in_cr(void)
{
    struct msim_error err = {0};

    CHECK_INT(read_through("a,b\r1,2\r3\r", &err), MSIM_EFORMAT);
    CHECK(strstr(err.text, "line 3 has 1 field") != NULL);
}

/* Bytes of zero end no field where nobody sees it. */
static void test_csv__refuses_bytes_of_zero(void)
{
    static const char *const FILES[] = {"a,b\n1,2%c9\n", "a,b\n1,2%c9",
                                        "a,b\n1,\"2%c9\"\n", "a%c,b\n",
                                        "a,b\n1,2\r\n3,4%c\r\n"};
    struct msim_error err;
    struct msim_csv *c;
    char *const *row;

    for (size_t i = 0; i < sizeof(FILES) / sizeof(*FILES); i++) {
        enum msim_status status;
        FILE *f = fopen(path, "w");

        REQUIRE(f);
        fprintf(f, FILES[i], 0);
        fclose(f);
        err = (struct msim_error){0};
        row = NULL;
        status = msim_csv_open(&c, path, &err);
        do
            if (status == MSIM_OK)
                status = msim_csv_next(c, &row, &err);
        while (status == MSIM_OK && row);
        CHECK_INT(status, MSIM_ESYNTAX);
        CHECK(strstr(err.text, "a byte of zero, want text in UTF-8") != NULL);
        msim_csv_close(c);
    }
}

static void test_csv__reads_gzip(void)
{
    struct msim_error err = {0};
    struct msim_csv *c;
    char *const *row;
    gzFile f = gzopen(path, "wb");

    gzputs(f, "a,b\n1,2\n");
    gzclose(f);
    REQUIRE(msim_csv_open(&c, path, &err) == MSIM_OK);
    CHECK_INT(msim_csv_next(c, &row, &err), MSIM_OK);
    CHECK_STR(row[1], "2");
    msim_csv_close(c);
}

static void test_csv__refuses_broken_input(void)
{
    struct msim_error err = {0};

    CHECK_INT(read_through("", &err), MSIM_ETRUNCATED);
    err = (struct msim_error){0};
    CHECK_INT(read_through("a,b\n1\n", &err), MSIM_EFORMAT);
    CHECK(strstr(err.text, "line 2") != NULL);
    err = (struct msim_error){0};
    CHECK_INT(read_through("a,b\n1,\"2\n", &err), MSIM_ETRUNCATED);
    err = (struct msim_error){0};
    CHECK_INT(read_through("a,b\n1,\"2\"x\n", &err), MSIM_ESYNTAX);
    err = (struct msim_error){0};
    unlink(path);
    struct msim_csv *c;
    CHECK_INT(msim_csv_open(&c, path, &err), MSIM_EIO);
    CHECK(c == NULL);
}

/* A gzip stream cut in the middle of its data must not pass for a short one. */
static void test_csv__refuses_cut_gzip(void)
{
    struct msim_error err = {0};
    struct msim_csv *c;
    char *const *row = NULL;
    enum msim_status status;
    gzFile f = gzopen(path, "wb");

    for (int i = 0; i < 20000; i++)
        gzprintf(f, "%d,%d\n", i * 7919 % 10007, i);
    gzclose(f);
    CHECK_INT(truncate(path, 20000), 0);
    REQUIRE(msim_csv_open(&c, path, &err) == MSIM_OK);
    do {
        status = msim_csv_next(c, &row, &err);
    } while (status == MSIM_OK && row);
    CHECK_INT(status, MSIM_ETRUNCATED);
    msim_csv_close(c);
}

static void test_csv__writes_what_it_reads(void)
{
    FILE *f = fopen(path, "wb");
    struct msim_error err = {0};
    struct msim_csv *c;

    REQUIRE(f != NULL);
    msim_csv_write(f, "plain");
    msim_csv_add(f, "a \"b\", c\n");
    msim_csv_add(f, NULL);
    msim_csv_add_number(f, 1.5);
    msim_csv_add_number(f, (double)NAN); /* not known: empty */
    putc('\n', f);
    fclose(f);
    REQUIRE(msim_csv_open(&c, path, &err) == MSIM_OK);
    CHECK_STR(msim_csv_header(c, 0), "plain");
    CHECK_STR(msim_csv_header(c, 1), "a \"b\", c\n");
    CHECK_INT(msim_csv_columns(c), 5);
    CHECK_STR(msim_csv_header(c, 2), "");
    CHECK_STR(msim_csv_header(c, 3), "1.5");
    CHECK_STR(msim_csv_header(c, 4), "");
    msim_csv_close(c);
}

/* Write `text` as a field between others, and read it again. */
static void check_field(const char *text, const char *written)
{
    struct msim_error err = {0};
    struct msim_csv *c;
    char *const *row;
    char *got = NULL, want[64];
    size_t size;
    FILE *f = open_memstream(&got, &size);

    REQUIRE(f != NULL);
    msim_csv_print(f, "a,b,c\n%d,%s,%s\n", 1, text, "last");
    fclose(f);
    snprintf(want, sizeof(want), "a,b,c\n1,%s,last\n", written);
    CHECK_STR(got, want);
    write_file(got);
    free(got);
    REQUIRE(msim_csv_open(&c, path, &err) == MSIM_OK);
    CHECK_INT(msim_csv_next(c, &row, &err), MSIM_OK);
    REQUIRE(row != NULL);
    CHECK_STR(row[1], text);
    CHECK_STR(row[2], "last");
    msim_csv_close(c);
}

/* A spreadsheet computes what begins with one of these: OWASP, CSV injection.
 * What is read again is what was written. */
static void test_csv__fields_are_no_formulas(void)
{
    check_field("=1+2", "'=1+2");
    check_field("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0");
    check_field("+a", "'+a");
    check_field("-a", "'-a");
    check_field("@SUM(A1)", "'@SUM(A1)");
    check_field("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0");
    check_field("=\"a\",b", "\"'=\"\"a\"\",b\"");
    check_field("\xef\xbc\x9d"
                "1",
                "'\xef\xbc\x9d"
                "1");
    check_field("  =1", "  '=1");
    check_field("\t=1", "\"\t'=1\"");
    check_field("x\n=1", "\"x\n'=1\"");
    check_field("x;=1", "\"x;'=1\"");
    check_field("x\t@y;-z", "\"x\t'@y;'-z\"");
    check_field("'=1", "''=1");
    check_field("''=1;'=2", "\"'''=1;''=2\"");
}

static void test_csv__other_fields_stay_as_they_are(void)
{
    check_field("-1.5", "-1.5");
    check_field("+1e-3", "+1e-3");
    check_field("-", "-");
    check_field("a=1", "a=1");
    check_field("gemm<128, -1>", "\"gemm<128, -1>\"");
    check_field("'quoted'", "'quoted'");
    check_field("a 'b; c", "\"a 'b; c\"");
    check_field("\xc3\xa9", "\xc3\xa9");
}

/* What cannot be shown is not kept: a table goes to terminals, too. */
static void test_csv__fields_drive_no_terminal(void)
{
    char *got = NULL;
    size_t size;
    FILE *f = open_memstream(&got, &size);

    REQUIRE(f != NULL);
    msim_csv_print(f, "%s,%s\n", "a\x1b[31m", "\xff\xe2\x80\xae");
    fclose(f);
    CHECK_STR(got, "a?[31m,??\n");
    free(got);
}

/* What is looked for is there once; of other columns there may be more, as in
 * an answer that was made of an answer. */
static void test_csv__refuses_columns_of_one_name(void)
{
    struct msim_error err = {0};
    char *const *fields;
    struct msim_csv *c;

    write_file("a,b,c,b\n1,2,3,4\n");
    REQUIRE(msim_csv_open(&c, path, &err) == MSIM_OK);
    CHECK_UINT(msim_csv_find(c, "a"), 0);
    CHECK_INT(msim_csv_next(c, &fields, &err), MSIM_OK);
    CHECK_STR(fields[1], "2");
    CHECK_UINT(msim_csv_find(c, "b"), 1);
    CHECK_INT(msim_csv_next(c, &fields, &err), MSIM_EFORMAT);
    CHECK_STR(err.text, "two columns are called 'b', want one");
    msim_csv_close(c);
}

/* Cells, each ended by a zero: many at once, and one by one. */
static void test_csv__cells_that_are_plain(void)
{
    static const char PLAIN[] = "1\0abc 1.5\0\0z[]{}|~!#$%&'()*+-./:<=>?@^_`";
    static const char ODD_BEGINS[] = "=+-@ANZ _/:`{~",
                      ODD[] = "\",;\t\n\x7f\x80";
    char cells[sizeof(PLAIN) + 2];

    CHECK(msim_csv_are_plain(PLAIN, sizeof(PLAIN)));
    CHECK(msim_csv_are_plain(PLAIN, 0));
    for (size_t at = 0; at < sizeof(PLAIN); at++) {
        for (const char *c = ODD; *c; c++) {
            memcpy(cells, PLAIN, sizeof(PLAIN));
            cells[at] = *c;
            CHECK(!msim_csv_are_plain(cells, sizeof(PLAIN)));
        }
        for (const char *c = ODD_BEGINS; *c; c++) {
            bool begins = at == 0 || !PLAIN[at - 1];

            memcpy(cells, PLAIN, sizeof(PLAIN));
            cells[at] = *c;
            CHECK_INT(msim_csv_are_plain(cells, sizeof(PLAIN)),
                      !begins && (PLAIN[at] || at + 1 == sizeof(PLAIN) ||
                                  PLAIN[at + 1] != '='));
        }
    }
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd >= 0)
        close(fd);
    RUN(test_csv__reads_quoted_fields);
    RUN(test_csv__reads_lines_of_spreadsheets);
    RUN(test_csv__counts_lines_that_end_in_cr);
    RUN(test_csv__refuses_bytes_of_zero);
    RUN(test_csv__reads_gzip);
    RUN(test_csv__refuses_broken_input);
    RUN(test_csv__refuses_cut_gzip);
    RUN(test_csv__writes_what_it_reads);
    RUN(test_csv__fields_are_no_formulas);
    RUN(test_csv__other_fields_stay_as_they_are);
    RUN(test_csv__fields_drive_no_terminal);
    RUN(test_csv__cells_that_are_plain);
    RUN(test_csv__refuses_columns_of_one_name);
    unlink(path);
    return check_summary();
}
