/* serving/explore/explore_rows.c: what an explorer may answer, column by
 * column, and what is refused with its line. */
#include "serving/explore/explore_internal.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = P_tmpdir "/msim-visits-XXXXXX";
static struct msim_error err;
static struct msim_vec rows;
static const char *const CLASSES[] = {"read", "write", "delete"};
/* ... of which the application has two */
static struct msim_visit_limits limits = {.classes = CLASSES, .n_classes = 2};

/* "" or what is wrong; rows are appended. */
static const char *read_it(const char *text)
{
    FILE *f = fopen(path, "w");
    enum msim_status status;

    if (!CHECK(f != NULL))
        return "no file";
    fputs(text, f);
    fclose(f);
    err = (struct msim_error){0};
    status = msim_visit_rows_read(&rows, path, &limits, &err);
    CHECK_INT(status, err.status);
    return err.text;
}

static const struct msim_visit_row *row(uint32_t i)
{
    return (const struct msim_visit_row *)rows.data + i;
}

/* Any order of columns; others are passed over; empty waits and sizes are not
 * known. */
static void test_explore_rows__are_read(void)
{
    rows.n = 0;
    limits.run = 3;
    CHECK_STR(read_it("latency_ms,note,t_s,class,size,wait_ms,batch\n"
                      "5.5,x,0,write,1e-9,5.51,1000000\n"
                      "0,,7.25,read,,,1\n"),
              "");
    REQUIRE(rows.n == 2);
    CHECK_REL(row(0)->t_s, 0, 0);
    CHECK_REL(row(0)->latency_ms, 5.5, 0);
    CHECK_REL(row(0)->wait_ms, 5.51, 0); /* each is rounded by itself */
    CHECK_REL(row(0)->size, 1e-9, 0);
    CHECK_INT(row(0)->cls, 1);
    CHECK_INT(row(0)->batch, 1000000);
    CHECK_INT(row(0)->run, 3);
    CHECK_REL(row(1)->t_s, 7.25, 0);
    CHECK(isnan(row(1)->wait_ms) && isnan(row(1)->size));
    CHECK_INT(row(1)->cls, 0);
    limits.run = 4; /* behind those that are there */
    CHECK_STR(read_it("t_s,latency_ms\n1,2\n"), "");
    REQUIRE(rows.n == 3);
    CHECK_INT(row(0)->run, 3);
    CHECK_INT(row(2)->run, 4);
    CHECK_INT(row(2)->batch, 0);
    CHECK_INT(row(2)->cls, 0);
    CHECK(isnan(row(2)->wait_ms) && isnan(row(2)->size));
}

static void test_explore_rows__refuse(void)
{
    static const struct {
        const char *row, *says;
    } CASES[] = {
        {"-0.1,read,1,,1,", "t_s is '-0.1', want seconds from 0"},
        {",read,1,,1,", "t_s is '', want seconds from 0"},
        {"1e999,read,1,,1,", "t_s is '1e999', want seconds from 0"},
        {"1,read,x,,1,", "latency_ms is 'x', want milliseconds from 0"},
        {"1,read,-1,,1,", "latency_ms is '-1', want milliseconds from 0"},
        {"1,read,1,-1,1,", "wait_ms is '-1', want milliseconds from 0"},
        {"1,read,1,1.02,1,", "wait_ms is '1.02', want at most latency_ms"},
        {"1,read,1,,1,0", "size is '0', want a number above 0"},
        {"1,read,1,,1,9e-10", "size is '9e-10', want a number above 0"},
        {"1,read,1,,0,", "batch is '0', want a whole number from 1 to 1000000"},
        {"1,read,1,,1.5,",
         "batch is '1.5', want a whole number from 1 to 1000000"},
        {"1,read,1,,1000001,",
         "batch is '1000001', want a whole number from 1 to 1000000"},
        {"1,read,1,,,", "batch is '', want a whole number from 1 to 1000000"},
        {"1,delete,1,,1,",
         "class is 'delete', want a class of the application"},
        {"1,,1,,1,", "class is '', want a class of the application"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        char text[256], want[256];

        rows.n = 0;
        snprintf(text, sizeof(text),
                 "t_s,class,latency_ms,wait_ms,batch,size\n1,write,2,1,1,1\n"
                 "%s\n",
                 CASES[i].row);
        snprintf(want, sizeof(want), "line 3: %s", CASES[i].says);
        CHECK_STR(read_it(text), want);
        CHECK_INT(err.status, MSIM_EFORMAT);
        CHECK_STR(err.file, path);
        CHECK_INT(rows.n, 1);
    }
}

static void test_explore_rows__want_columns(void)
{
    static const char WANT[] =
        ": an explorer prints t_s,class,latency_ms,wait_ms,batch,size";
    char want[128];

    snprintf(want, sizeof(want), "no column 't_s'%s", WANT);
    CHECK_STR(read_it("class,latency_ms\n"), want);
    snprintf(want, sizeof(want), "no column 'latency_ms'%s", WANT);
    CHECK_STR(read_it("t_s,class\n"), want);
    CHECK(read_it("t_s,latency_ms,wait_ms,wait_ms\n1,2,1,1\n")[0] != '\0');
    CHECK_INT(err.status, MSIM_EFORMAT);
    CHECK(read_it("")[0] != '\0');
    CHECK_INT(err.status, MSIM_ETRUNCATED);
}

/* A second beyond what was asked for is the explorer's way to end. */
static void test_explore_rows__end_in_time(void)
{
    limits.seconds = 10;
    rows.n = 0;
    CHECK_STR(read_it("t_s,latency_ms\n11,2\n"), "");
    CHECK_STR(read_it("t_s,latency_ms\n11.1,2\n"),
              "line 2: t_s is '11.1', want a time within the seconds that were "
              "asked for");
    limits.seconds = 0.5;
    CHECK_STR(read_it("t_s,latency_ms\n1.6,2\n"),
              "line 2: t_s is '1.6', want a time within the seconds that were "
              "asked for");
    limits.seconds = 0;
    CHECK_STR(read_it("t_s,latency_ms\n11.1,2\n"), "");
}

/* No more rows than were asked for, beside those that were there. */
static void test_explore_rows__are_so_many(void)
{
    rows.n = 0;
    limits.most_rows = 2;
    CHECK_STR(read_it("t_s,latency_ms\n1,2\n1,2\n"), "");
    CHECK_STR(read_it("t_s,latency_ms\n1,2\n1,2\n1,2\n"), "");
    CHECK_INT(rows.n, 5);
    CHECK_STR(read_it("t_s,latency_ms\n1,2\n1,2\n1,2\n1,2\n"),
              "line 5: more visits than were asked for");
    limits.most_rows = 0.5;
    CHECK_STR(read_it("t_s,latency_ms\n1,2\n1,2\n"),
              "line 3: more visits than were asked for");
    limits.most_rows = 0;
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0)
        return 1;
    close(fd);
    RUN(test_explore_rows__are_read);
    RUN(test_explore_rows__refuse);
    RUN(test_explore_rows__want_columns);
    RUN(test_explore_rows__end_in_time);
    RUN(test_explore_rows__are_so_many);
    CHECK_INT(unlink(path), 0);
    free(rows.data);
    return check_summary();
}
