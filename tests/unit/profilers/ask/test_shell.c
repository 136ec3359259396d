/*
 * profilers/ask/shell.c: words of a command line, what is just too long, and
 * whether a command succeeds.
 */
#include "profilers/ask/shell.h"
#include "tests/check.h"

#include <string.h>

static void test_shell_print__words(void)
{
    char line[80];

    CHECK(msim_shell_print(line, sizeof(line), "exec %s -n %d", "a b", 3));
    CHECK_STR(line, "exec 'a b' -n 3");
    CHECK(msim_shell_print(line, sizeof(line), "%s", "it's $(x)\n\\"));
    CHECK_STR(line, "'it'\\''s $(x)\n\\'");
    CHECK(msim_shell_print(line, sizeof(line), "%s %s", "", "'"));
    CHECK_STR(line, "'' ''\\'''");
}

/* Of n bytes of room n - 1 are of the line, one ends it; what is behind them
 * stays as it is. */
static void test_shell_print__room(void)
{
    char line[16];

    for (size_t room = 1; room < 12; room++) {
        bool fits = room >= sizeof("do 'abc'");

        memset(line, '#', sizeof(line));
        CHECK(msim_shell_print(line, room, "do %s", "abc") == fits);
        CHECK_STR(line, fits ? "do 'abc'" : "");
        for (size_t i = room; i < sizeof(line); i++)
            CHECK(line[i] == '#');
    }
}

static void test_shell_succeeds__by_exit_code(void)
{
    CHECK(msim_shell_succeeds("true"));
    CHECK(!msim_shell_succeeds("false"));
    CHECK(!msim_shell_succeeds("exit 3"));
    CHECK(!msim_shell_succeeds("read line")); /* there is nothing to read */
    CHECK(!msim_shell_succeeds("/no/such/program"));
    CHECK(!msim_shell_succeeds("kill -9 $$"));
}

int main(void)
{
    RUN(test_shell_print__words);
    RUN(test_shell_print__room);
    RUN(test_shell_succeeds__by_exit_code);
    return check_summary();
}
