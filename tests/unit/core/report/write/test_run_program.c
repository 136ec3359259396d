/*
 * core/report/write/run_program.c: what a program writes, and what is said of
 * one that cannot be run or fails.
 */
#include "core/report/write/chart.h"

#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

/* What `sh -c script` writes, with `typed` as its input (NULL: none). */
static enum msim_status run(const char *script, const char *typed,
                            char **output, size_t *n, struct msim_error *err)
{
    char shell[] = "sh", option[] = "-c", *text = strdup(script);
    char *argv[] = {shell, option, text, NULL};
    FILE *input = typed ? tmpfile() : NULL;
    const struct msim_run_program p = {.argv = argv,
                                       .input = input,
                                       .advice = "install a shell",
                                       .failed = "the shell failed"};
    enum msim_status status;

    if (input)
        fputs(typed, input);
    *err = (struct msim_error){0};
    status = msim_program_run(output, n, &p, err);
    if (input)
        fclose(input);
    free(text);
    return status;
}

static void test_run_program__output(void)
{
    static const struct {
        const char *script, *typed, *want;
    } rows[] = {
        {"printf 'two\\nlines'", NULL, "two\nlines"},
        {"cat", "what is typed", "what is typed"},
        {"cat", NULL, NULL}, /* nothing to read, nothing written */
        {":", NULL, NULL},
        {"echo said >&2; printf out", NULL, "out"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct msim_error err;
        char *output;
        size_t n;

        CHECK_INT(run(rows[i].script, rows[i].typed, &output, &n, &err),
                  MSIM_OK);
        CHECK_UINT(n, rows[i].want ? strlen(rows[i].want) : 0);
        CHECK_STR(output ? output : "", rows[i].want ? rows[i].want : "");
        free(output);
    }
}

/* More than a pipe holds. */
static void test_run_program__much_output(void)
{
    struct msim_error err;
    char *output;
    size_t n;

    CHECK_INT(
        run("head -c 300000 /dev/zero | tr '\\0' x", NULL, &output, &n, &err),
        MSIM_OK);
    CHECK_UINT(n, 300000);
    CHECK(output && strspn(output, "x") == n);
    free(output);
}

/* The last line of its messages that says something is the reason. */
static void test_run_program__fails(void)
{
    static const struct {
        const char *script, *said;
    } rows[] = {
        {"exit 3", "the shell failed: no reason given"},
        {"echo first >&2; echo '  last' >&2; echo '  ^' >&2; echo >&2; exit 1",
         "the shell failed: last"},
        {"printf half; echo why >&2; exit 1", "the shell failed: why"},
        {"kill -9 $$", "the shell failed: no reason given"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct msim_error err;
        char *output;
        size_t n;

        CHECK_INT(run(rows[i].script, NULL, &output, &n, &err), MSIM_EIO);
        CHECK_STR(err.text, rows[i].said);
        CHECK(!output);
    }
}

static void test_run_program__is_not_there(void)
{
    char name[] = "no-such-program";
    char *argv[] = {name, NULL}, *output;
    const struct msim_run_program p = {
        .argv = argv, .advice = "install it", .failed = "it failed"};
    struct msim_error err = {0};
    size_t n;

    CHECK_INT(msim_program_run(&output, &n, &p, &err), MSIM_EIO);
    CHECK_STR(err.text, "cannot run 'no-such-program': No such file or "
                        "directory; install it");
    CHECK(!output);
}

int main(void)
{
    RUN(test_run_program__output);
    RUN(test_run_program__much_output);
    RUN(test_run_program__fails);
    RUN(test_run_program__is_not_there);
    return check_summary();
}
