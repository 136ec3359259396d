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

int main(void)
{
    int fd = mkstemp(path);

    if (fd >= 0)
        close(fd);
    RUN(test_csv__reads_quoted_fields);
    RUN(test_csv__reads_gzip);
    RUN(test_csv__refuses_broken_input);
    RUN(test_csv__refuses_cut_gzip);
    RUN(test_csv__writes_what_it_reads);
    unlink(path);
    return check_summary();
}
