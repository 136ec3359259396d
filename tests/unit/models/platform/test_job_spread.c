/*
 * models/platform/job_spread.c: what kernels of one job share, from a file.
 */
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum msim_status read_text(struct msim_job_spread *s, const char *text,
                                  struct msim_error *err)
{
    char path[] = "msim-test-jobs-XXXXXX.json";
    int fd = mkstemps(path, 5);
    enum msim_status status;

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    status = msim_job_spread_read(s, path, err);
    unlink(path);
    return status;
}

static void test_job_spread__read(void)
{
    struct msim_job_spread s;

    CHECK_INT(read_text(&s,
                        "{\"machine\":{\"slower\":0.5,\"faster\":0},"
                        "\"families\":{\"conv\":{\"log_sd\":0.25}}}",
                        NULL),
              MSIM_OK);
    CHECK(s.known);
    CHECK_REL(s.slower, 0.5, 0);
    CHECK_REL(s.faster, 0, 0);
    CHECK_REL(s.family[MSIM_FAMILY_CONV], 0.25, 0);
    CHECK_REL(s.family[MSIM_FAMILY_GEMM], 0, 0);
}

static void test_job_spread__no_file(void)
{
    struct msim_job_spread s;

    CHECK_INT(msim_job_spread_read(&s, "there-is-none.json", NULL), MSIM_OK);
    CHECK(!s.known);
    CHECK_REL(s.slower, 0, 0);
}

static void check_wrong(const char *text, const char *want)
{
    struct msim_error err = {0};
    struct msim_job_spread s;

    CHECK_INT(read_text(&s, text, &err), MSIM_EFORMAT);
    CHECK(strstr(err.text, want));
}

static void test_job_spread__wrong(void)
{
    check_wrong("{}", "'machine' wants");
    check_wrong("{\"machine\":{\"slower\":0.5}}", "'machine' wants");
    check_wrong("{\"machine\":{\"slower\":-1,\"faster\":0}}",
                "'machine' wants");
    check_wrong("{\"machine\":{\"slower\":0,\"faster\":0},"
                "\"families\":{\"knitting\":{\"log_sd\":0.25}}}",
                "'families' wants");
    check_wrong("{\"machine\":{\"slower\":0,\"faster\":0},"
                "\"families\":{\"conv\":{\"log_sd\":4}}}",
                "'families' wants");
}

int main(void)
{
    RUN(test_job_spread__read);
    RUN(test_job_spread__no_file);
    RUN(test_job_spread__wrong);
    return check_summary();
}
