/* serving/log/request_rows.c: dates by the calendar, day by day; times that do
 * not go back; classes and blocks of rows. And what a log says of itself. */
#include "core/base/containers.h"
#include "serving/log/request_log_internal.h"
#include "tests/check.h"

#include <math.h>
#include <time.h>

static struct msim_error err;

static double date(const char *text)
{
    double seconds = NAN;

    return msim_request_rows_date(text, &seconds) ? seconds : NAN;
}

/* Every day of 1970 to 2199, as timegm() has it. */
static void test_request_rows__days(void)
{
    struct tm day = {.tm_year = 70, .tm_mday = 1};
    char text[40];

    for (time_t t = 0; day.tm_year < 300; t += 86400) {
        if (!CHECK(gmtime_r(&t, &day) != NULL))
            return;
        snprintf(text, sizeof(text), "%04d-%02d-%02d 00:00:00",
                 day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
        if (!CHECK_REL(date(text), (double)t, 0))
            return;
    }
}

static void test_request_rows__times(void)
{
    CHECK_REL(date("1970-01-02T03:15:46.68"), 86400 + 3 * 3600 + 946.68, 1e-12);
    CHECK_REL(date("1970-01-01 23:59:60.5Z"), 86400.5, 1e-12);
    CHECK_REL(date("1970-01-01 00:00:07+00:00"), 7, 0);
    CHECK_REL(date("1970-01-01 00:00:7"), 7, 0);
    CHECK_REL(date("1970-12-31 00:00:00"), 364 * 86400.0, 0);
}

static void test_request_rows__no_dates(void)
{
    static const char *const WRONG[] = {
        "",
        "1970-01-01",
        "1970-01-01 00:00",
        "1970-01-01 00:00:",
        "1969-12-31 00:00:00",
        "1970-00-01 00:00:00",
        "1970-13-01 00:00:00",
        "1970-01-00 00:00:00",
        "1970-01-32 00:00:00",
        "1970-01-01 24:00:00",
        "1970-01-01 00:60:00",
        "1970-01-01 00:00:61",
        "1970-01-01 00:00:-1",
        "1970-01-01 00:00:0x",
        "1970-01-01 00:00:00+01:00",
        "1970-01-01 00:00:00Zulu",
        "1970/01-01 00:00:00",
        "1970-01-01_00:00:00",
        "1970-1-01 00:00:00",
        "197a-01-01 00:00:00",
        "1970-01-01 00.00:00",
    };

    for (size_t i = 0; i < sizeof(WRONG) / sizeof(*WRONG); i++)
        if (!isnan(date(WRONG[i])))
            CHECK_STR(WRONG[i], "no date");
}

/* ---- rows ---------------------------------------------------------------- */

static struct msim_request_log log_;

static const char *add(double t_s, uint64_t line)
{
    struct msim_logged row = msim_request_rows_empty(&log_);
    enum msim_status status;

    row.t_s = t_s;
    err = (struct msim_error){0};
    status = msim_request_rows_add(&log_, &row, "log.csv", line, &err);
    CHECK_INT(status, err.status);
    return err.text;
}

static void test_request_rows__do_not_go_back(void)
{
    CHECK_REL(msim_request_log_seconds(&log_), 0, 0);
    CHECK(isnan(msim_request_log_rate(&log_)));
    CHECK_STR(add(-1, 2), "line 2: the time is -1 s, want a number from 0 to "
                          "1e9");
    CHECK_STR(add(NAN, 2), "line 2: the time is nan s, want a number from 0 to "
                           "1e9");
    CHECK_STR(add(1000000001, 2), "line 2: the time is 1000000001 s, want a "
                                  "number from 0 to 1e9");
    CHECK_INT(err.status, MSIM_EFORMAT);
    CHECK_STR(err.file, "log.csv");
    CHECK_UINT(log_.n, 0);
    CHECK_STR(add(4, 2), "");
    CHECK_REL(msim_request_log_seconds(&log_), 0, 0);
    CHECK(isnan(msim_request_log_rate(&log_)));
    CHECK_STR(add(4, 3), ""); /* at once */
    CHECK_STR(add(3.5, 4), "line 4: the time is 3.5 s and the line before has "
                           "4 s, want times that do not go back");
    CHECK_STR(add(8, 4), "");
    CHECK_UINT(log_.n, 3);
    CHECK_REL(msim_request_log_seconds(&log_), 4, 0);
    CHECK_REL(msim_request_log_rate(&log_), 0.5, 0); /* two behind the first */
    CHECK_STR(add(1e9, 5), "");
    msim_request_log_release(&log_);
    CHECK_UINT(log_.n, 0);
}

static void test_request_rows__have_blocks_and_classes(void)
{
    struct msim_logged row;

    REQUIRE(msim_strtab_new(&log_.classes) == MSIM_OK);
    for (uint32_t i = 0; i < 3; i++) {
        row = msim_request_rows_empty(&log_);
        CHECK(isnan(row.t_s) && isnan(row.queued_ms) && isnan(row.ttft_ms) &&
              isnan(row.e2e_ms));
        CHECK_UINT(row.n_blocks, 0);
        CHECK_UINT(row.first_block, 2 * i);
        for (uint64_t k = 0; k < 2; k++)
            CHECK_INT(msim_request_rows_block(&log_, &row, 10 * i + k),
                      MSIM_OK);
        CHECK_UINT(row.n_blocks, 2);
        CHECK_INT(msim_request_rows_class(&log_, &row, i == 1 ? "b" : "a"),
                  MSIM_OK);
        CHECK_STR(msim_request_log_class(&log_, row.cls), i == 1 ? "b" : "a");
    }
    CHECK_UINT(log_.n_blocks, 6);
    CHECK_UINT(log_.blocks[3], 11);
    CHECK_UINT(log_.blocks[5], 21);
    msim_request_log_release(&log_);
    CHECK_UINT(log_.n_blocks, 0);
}

int main(void)
{
    RUN(test_request_rows__days);
    RUN(test_request_rows__times);
    RUN(test_request_rows__no_dates);
    RUN(test_request_rows__do_not_go_back);
    RUN(test_request_rows__have_blocks_and_classes);
    return check_summary();
}
