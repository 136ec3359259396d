/*
 * What goes to standard error, and the exit codes; names that are near enough
 * to be suggested.
 */
#include "cli/cmd.h"

#include "tests/unit/cli/said.h"

#include <fcntl.h>

static void test_message__one_line(void)
{
    struct said s;
    char text[2100], line[2100];

    said_begin();
    msim_message("%s of %d", "a\nb", 7);
    msim_message_warning("%s of %d", "c", 8);
    said_end(&s);
    CHECK_STR(s.err, "mystique-sim: a?b of 7\n"
                     "mystique-sim: warning: c of 8\n");
    CHECK_STR(s.out, "");
    /* what is longer than 2047 bytes is cut */
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    said_begin();
    msim_message("%s", text);
    said_end(&s);
    snprintf(line, sizeof(line), "mystique-sim: %.2047s\n", text);
    CHECK_STR(s.err, line);
}

/* A failure has its place, its words and its code. */
static void test_message__error(void)
{
    struct msim_error err = {0};
    struct said s;
    int code;

    said_begin();
    code = msim_message_error(MSIM_EUNKNOWN, NULL);
    said_end(&s);
    CHECK_INT(code, MSIM_EXIT_USAGE);
    CHECK_STR(s.err, "mystique-sim: no such name\n");
    (void)msim_fail(&err, MSIM_ESYNTAX, "a.json", 12, "want %d", 3);
    said_begin();
    code = msim_message_error(MSIM_ESYNTAX, &err);
    said_end(&s);
    CHECK_INT(code, MSIM_EXIT_INPUT);
    CHECK_STR(s.err, "mystique-sim: a.json:12: want 3\n");
}

/* Standard output, which is full or not, and a failure to write. */
static int full_says(bool full, enum msim_status status,
                     const struct msim_error *err, struct said *s)
{
    int to = open("/dev/full", O_WRONLY), code;

    said_begin();
    if (full) {
        dup2(to, STDOUT_FILENO);
        putchar('x');
        fflush(stdout);
    }
    code = msim_message_error(status, err);
    clearerr(stdout);
    said_end(s);
    close(to);
    return code;
}

/* Of standard output, main() says what is wrong; of other files it is said. */
static void test_message__full(void)
{
    struct msim_error none = {0}, err = {.text = "x"};
    static const char SENTENCE[] = "mystique-sim: cannot write\n";
    struct said s;

    CHECK_INT(full_says(true, MSIM_EWRITE, NULL, &s), MSIM_EXIT_INTERNAL);
    CHECK_STR(s.err, "");
    CHECK_INT(full_says(true, MSIM_EWRITE, &none, &s), MSIM_EXIT_INTERNAL);
    CHECK_STR(s.err, "");
    CHECK_INT(full_says(true, MSIM_EWRITE, &err, &s), MSIM_EXIT_INTERNAL);
    CHECK(strstr(s.err, "x\n"));
    CHECK_INT(full_says(true, MSIM_ECHECK, NULL, &s), MSIM_EXIT_CHECK);
    CHECK_STR(s.err, "mystique-sim: a check failed\n");
    CHECK_INT(full_says(false, MSIM_EWRITE, NULL, &s), MSIM_EXIT_INTERNAL);
    CHECK_STR(s.err, SENTENCE);
}

/* ---- a terminal ---------------------------------------------------------- */

/* How many lines two warnings are, on a screen or in a file. */
static int lines(bool in_report, bool out_screen, bool err_screen)
{
    static const char *const WARNINGS[] = {"a", "b"};
    int keyboard = posix_openpt(O_RDWR | O_NOCTTY), screen, n = 0;
    struct said s;
    char text[256] = "";
    size_t used = 0;
    ssize_t got;

    if (keyboard < 0 || grantpt(keyboard) != 0 || unlockpt(keyboard) != 0)
        return -1;
    screen = open(ptsname(keyboard), O_RDWR | O_NOCTTY);
    said_begin();
    if (out_screen)
        dup2(screen, STDOUT_FILENO);
    if (err_screen)
        dup2(screen, STDERR_FILENO);
    msim_message_warnings(WARNINGS, 2, in_report);
    said_end(&s);
    /* what is on the screen, up to a mark, may come in pieces */
    for (got = write(screen, "|", 1); got > 0 && !strchr(text, '|');
         used += (size_t)got)
        got = read(keyboard, text + used, sizeof(text) - 1 - used);
    for (const char *at = err_screen ? text : s.err;
         (at = strstr(at, "mystique-sim: warning: ")); at++)
        n++;
    close(screen);
    close(keyboard);
    return n;
}

/* Not twice to the same terminal. */
static void test_warnings__once(void)
{
    CHECK_INT(lines(true, true, true), 0);
    CHECK_INT(lines(false, true, true), 2);
    CHECK_INT(lines(true, false, true), 2);
    CHECK_INT(lines(true, true, false), 2);
    CHECK_INT(lines(false, false, false), 2);
}

int main(void)
{
    RUN(test_message__one_line);
    RUN(test_message__error);
    RUN(test_message__full);
    RUN(test_warnings__once);
    return check_summary();
}
