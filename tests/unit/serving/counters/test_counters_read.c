/*
 * Counters as strangers write them: columns that are missing or in another
 * order, fields that are not known, lines between, quotes, what is refused.
 */
#include "serving/counters/counters_read.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = "msim-test-counters-XXXXXX";
static const char *const STAGES[] = {"front", "a,\"b\""};

static void write_file(const char *text)
{
    FILE *f = fopen(path, "wb");

    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

static struct msim_counters *open_text(const char *text)
{
    struct msim_counters *c = NULL;

    write_file(text);
    return msim_counters_open(&c, path, STAGES, 2, NULL) == MSIM_OK ? c : NULL;
}

static void test_counters__reads_any_order_of_columns(void)
{
    struct msim_counters *c = open_text("\xef\xbb\xbf"
                                        "stage,p99_ms,unknown,t,queue\r\n"
                                        "front,12.5,x,0.2,3\r\n"
                                        "\"a,\"\"b\"\"\",,,0.2,\r\n"
                                        "e2e,20,,0.2,7");
    struct msim_counters_row row;
    bool found;

    REQUIRE(c);
    REQUIRE(msim_counters_next(c, &row, &found, NULL) == MSIM_OK && found);
    CHECK_UINT(row.stage, 0);
    CHECK(row.t == 0.2 && row.v[MSIM_COUNTER_P99_MS] == 12.5);
    CHECK(row.v[MSIM_COUNTER_QUEUE] == 3);
    CHECK(isnan(row.v[MSIM_COUNTER_BUSY])); /* no such column */
    REQUIRE(msim_counters_next(c, &row, &found, NULL) == MSIM_OK && found);
    CHECK_UINT(row.stage, 1);
    CHECK(isnan(row.v[MSIM_COUNTER_P99_MS])); /* an empty field */
    REQUIRE(msim_counters_next(c, &row, &found, NULL) == MSIM_OK && found);
    CHECK_UINT(row.stage, 2);
    REQUIRE(msim_counters_next(c, &row, &found, NULL) == MSIM_OK);
    CHECK(!found);
    CHECK_UINT(msim_counters_left_out(c), 0);
    msim_counters_close(c);
}

/* A collector's own messages stand between the rows. */
static void test_counters__leaves_out_what_is_no_row(void)
{
    struct msim_counters *c = open_text("# collected by x\n"
                                        "t,stage,p99_ms\n"
                                        "#\n"
                                        "connection lost\n"
                                        "0.2,front,fast\n"
                                        "soon,front,1\n"
                                        "0.2,front,-1\n"
                                        "\n"
                                        "0.2,e2e,inf\n");
    struct msim_counters_row row;
    bool found;

    REQUIRE(c);
    REQUIRE(msim_counters_next(c, &row, &found, NULL) == MSIM_OK && found);
    CHECK_UINT(row.stage, 0);
    CHECK(isnan(row.v[MSIM_COUNTER_P99_MS])); /* no time is below 0 */
    REQUIRE(msim_counters_next(c, &row, &found, NULL) == MSIM_OK && found);
    CHECK(isnan(row.v[MSIM_COUNTER_P99_MS]));
    REQUIRE(msim_counters_next(c, &row, &found, NULL) == MSIM_OK);
    CHECK(!found);
    CHECK_UINT(msim_counters_left_out(c), 3);
    CHECK_UINT(msim_counters_first_line(c), 4);
    CHECK_STR(msim_counters_first_reason(c), "not as many fields as columns");
    msim_counters_close(c);
}

/* Of what file; which line; what is wrong with it. */
static void check_refused(const char *text, enum msim_status want,
                          const char *part)
{
    struct msim_error err = {0};
    struct msim_counters *c = NULL;
    struct msim_counters_row row;
    enum msim_status status;
    bool found = true;

    write_file(text);
    status = msim_counters_open(&c, path, STAGES, 2, &err);
    while (status == MSIM_OK && found)
        status = msim_counters_next(c, &row, &found, &err);
    CHECK_INT(status, want);
    CHECK(strstr(err.text, part) != NULL);
    CHECK_STR(err.file, path);
    msim_counters_close(c);
}

static void test_counters__refuses_other_files(void)
{
    check_refused("", MSIM_ETRUNCATED, "empty");
    check_refused("time,stage,p99_ms\n", MSIM_EFORMAT, "no column 't'");
    check_refused("t,p99_ms\n", MSIM_EFORMAT, "no column 'stage'");
    check_refused("t,stage\n", MSIM_EFORMAT, "no column 'p99_ms'");
    check_refused("t,stage,p99_ms\n1,fornt,2\n", MSIM_EFORMAT,
                  "line 2: the application has no stage 'fornt', is it "
                  "'front'?");
    check_refused("t,stage,p99_ms\n1,front,2\n0.8,front,2\n", MSIM_EFORMAT,
                  "line 3: t goes back from 1 to 0.8 s");
    check_refused("t,stage,p99_ms\nnothing\n", MSIM_EFORMAT,
                  "no row of counters");
}

/* A row of a pipe is there although the pipe stays open. */
static void test_counters__reads_a_pipe_while_it_is_written(void)
{
    static const char FIRST[] = "t,stage,p99_ms\n0.2,front,1\n";
    struct msim_counters *c;
    struct msim_counters_row row;
    int ends[2], in = dup(0);
    bool found;

    REQUIRE(pipe(ends) == 0 && dup2(ends[0], 0) == 0);
    REQUIRE(write(ends[1], FIRST, sizeof(FIRST) - 1) ==
            (ssize_t)sizeof(FIRST) - 1);
    REQUIRE(msim_counters_open(&c, "-", STAGES, 2, NULL) == MSIM_OK);
    REQUIRE(msim_counters_next(c, &row, &found, NULL) == MSIM_OK && found);
    CHECK(row.v[MSIM_COUNTER_P99_MS] == 1);
    close(ends[1]);
    REQUIRE(msim_counters_next(c, &row, &found, NULL) == MSIM_OK);
    CHECK(!found);
    msim_counters_close(c);
    close(ends[0]);
    dup2(in, 0);
    close(in);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0)
        return 1;
    close(fd);
    RUN(test_counters__reads_any_order_of_columns);
    RUN(test_counters__leaves_out_what_is_no_row);
    RUN(test_counters__refuses_other_files);
    RUN(test_counters__reads_a_pipe_while_it_is_written);
    unlink(path);
    return check_summary();
}
