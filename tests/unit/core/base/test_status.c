/*
 * tests/unit/core/base/test_status.c - what went wrong, for programs and for
 * people.
 */
#include "core/base/status.h"
#include "tests/check.h"

/* What scripts rely on: 2 asked wrongly, 3 bad input, 4 our fault. */
static void test_status__exits(void)
{
    static const struct {
        enum msim_status status;
        int value, code;
        const char *text;
    } WANT[] = {
        {MSIM_OK, 0, 0, "success"},
        {MSIM_ENOMEM, -1, 4, "out of memory"},
        {MSIM_EIO, -2, 3, "cannot read or write"},
        {MSIM_ESYNTAX, -3, 3, "not well-formed input"},
        {MSIM_ETRUNCATED, -4, 3, "input ends early"},
        {MSIM_EFORMAT, -5, 3, "well-formed, but not what was wanted"},
        {MSIM_ECYCLE, -6, 3, "the dependencies form a cycle"},
        {MSIM_ELIMIT, -7, 3, "a limit was exceeded"},
        {MSIM_EUNKNOWN, -8, 2, "no such name"},
        {MSIM_EUSAGE, -9, 2, "wrong arguments"},
        {MSIM_ECHECK, -10, 1, "a check failed"},
        {MSIM_ENOMODEL, -11, 3, "no model covers this operation"},
        {MSIM_EINTERNAL, -12, 4, "internal error"},
        {MSIM_EWRITE, -13, 4, "cannot write"},
    };

    for (size_t i = 0; i < sizeof(WANT) / sizeof(*WANT); i++) {
        CHECK_INT(WANT[i].status, WANT[i].value);
        CHECK_INT(msim_status_exit(WANT[i].status), WANT[i].code);
        CHECK_STR(msim_status_text(WANT[i].status), WANT[i].text);
    }
    CHECK_INT(msim_status_exit((enum msim_status)5), 4);
    CHECK_STR(msim_status_text((enum msim_status)5), "unknown status");
}

static void check_sentence(enum msim_status status,
                           const struct msim_error *err, const char *want)
{
    char text[300];

    msim_error_sentence(text, sizeof(text), status, err);
    CHECK_STR(text, want);
}

/* The first failure wins; who is told nothing may ask for nothing. */
static void test_status__first_failure(void)
{
    struct msim_error err = {0};

    CHECK_INT(msim_fail(&err, MSIM_ELIMIT, "a.json", 12, "%d of %s", 3, "4"),
              MSIM_ELIMIT);
    CHECK_INT(err.status, MSIM_ELIMIT);
    CHECK_STR(err.file, "a.json");
    CHECK_UINT(err.offset, 12);
    CHECK_STR(err.text, "3 of 4");
    CHECK_INT(msim_fail(&err, MSIM_EIO, "b.json", 1, "other"), MSIM_EIO);
    CHECK_INT(err.status, MSIM_ELIMIT);
    CHECK_STR(err.file, "a.json");
    CHECK_STR(err.text, "3 of 4");
    CHECK_INT(msim_fail(NULL, MSIM_EIO, "b.json", 1, "other"), MSIM_EIO);
    err = (struct msim_error){0};
    CHECK_INT(msim_fail(&err, MSIM_EUSAGE, NULL, 5, "no file"), MSIM_EUSAGE);
    CHECK_STR(err.file, "");
}

static void test_status__sentences(void)
{
    struct msim_error err = {.status = MSIM_EIO, .text = "is a folder"};

    check_sentence(MSIM_EIO, NULL, "cannot read or write");
    check_sentence(MSIM_EIO, &err, "is a folder");
    memcpy(err.file, "x/y", 4);
    err.offset = 17;
    check_sentence(MSIM_EIO, &err, "x/y:17: is a folder");
    err.offset = 0;
    check_sentence(MSIM_EIO, &err, "x/y:0: is a folder");
    err.offset = MSIM_OFFSET_NONE;
    check_sentence(MSIM_EIO, &err, "x/y: is a folder");
    err.text[0] = '\0';
    check_sentence(MSIM_ELIMIT, &err, "x/y: a limit was exceeded");
}

int main(void)
{
    RUN(test_status__exits);
    RUN(test_status__first_failure);
    RUN(test_status__sentences);
    return check_summary();
}
