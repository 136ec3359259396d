/*
 * The machine's figures beside a trace.
 */
#include "replay/validate/validation.h"

#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct msim_system_figures read_text(const char *text)
{
    char path[] = "test_system_figures_XXXXXX";
    struct msim_system_figures s;
    int fd = mkstemp(path);

    CHECK(fd >= 0 && dprintf(fd, "%s", text) > 0);
    close(fd);
    msim_system_figures_read(&s, path);
    unlink(path);
    return s;
}

static void test_read(void)
{
    struct msim_system_figures s =
        read_text("{\"a\": {\"busy\": 9}, \"mystiqueSystem\": {\"busy\": 0.5, "
                  "\"no\": null, \"in\": {\"busy\": 4}, \"list\": [3], "
                  "\"counters_error\": \"x\", \"rss_bytes\": 7e9}, "
                  "\"traceEvents\": []}");

    CHECK_INT(s.n, 2);
    CHECK_REL(msim_system_figure(&s, "busy"), 0.5, 1e-12);
    CHECK_REL(msim_system_figure(&s, "rss_bytes"), 7e9, 1e-12);
    CHECK(isnan(msim_system_figure(&s, "in")));
}

/* Members come in any order. */
static void test_read__behind(void)
{
    struct msim_system_figures s = read_text(
        "{\"traceEvents\": [{\"busy\": 1}], \"mystiqueSystem\": {\"busy\": "
        "2}}");

    CHECK_INT(s.n, 1);
    CHECK_REL(msim_system_figure(&s, "busy"), 2, 1e-12);
}

static void test_read__none(void)
{
    struct msim_system_figures s;

    CHECK_INT(read_text("{\"traceEvents\": []}").n, 0);
    CHECK_INT(read_text("[{\"mystiqueSystem\": {\"busy\": 1}}]").n, 0);
    CHECK_INT(read_text("{\"mystiqueSystem\": 3, \"busy\": 1}").n, 0);
    CHECK_INT(read_text("no JSON").n, 0);
    msim_system_figures_read(&s, "no/such/file");
    CHECK_INT(s.n, 0);
}

/* More figures, and longer names, than there is room for. */
static void test_read__limits(void)
{
    static char text[4096];
    struct msim_system_figures s;
    char last[16];
    int n = snprintf(text, sizeof(text),
                     "{\"mystiqueSystem\": {\"%0*d\": 1, \"%0*d\": 2",
                     MSIM_SYSTEM_NAME, 0, MSIM_SYSTEM_NAME - 1, 0);

    for (int i = 1; i < 40; i++)
        n += snprintf(text + n, sizeof(text) - n, ", \"f%d\": %d", i, i);
    snprintf(text + n, sizeof(text) - n, "}}");
    s = read_text(text);
    CHECK_INT(s.n, MSIM_SYSTEM_FIGURES);
    CHECK_INT(strlen(s.items[0].name), MSIM_SYSTEM_NAME - 1);
    CHECK_REL(s.items[0].value, 2, 1e-12);
    snprintf(last, sizeof(last), "f%d", MSIM_SYSTEM_FIGURES - 1);
    CHECK_STR(s.items[s.n - 1].name, last);
    CHECK_REL(msim_system_figure(&s, last), MSIM_SYSTEM_FIGURES - 1, 1e-12);
    CHECK(isnan(msim_system_figure(&s, "f39")));
}

/* Names that begin like the member's, or with it; what is no finite number. */
static void test_read__others(void)
{
    CHECK_INT(read_text("{\"mystiqueSyste\": {\"a\": 1}}").n, 0);
    CHECK_INT(read_text("{\"mystiqueSystems\": {\"a\": 1}}").n, 0);
    CHECK_INT(read_text("{\"MystiqueSystem\": {\"a\": 1}}").n, 0);
    CHECK_INT(read_text("{\"mystiqueSystem\": {}, \"other\": {\"a\": 1}}").n,
              0);
}

/* A number that is cut, at any byte of a long file: input comes in pieces, of
 * 64 KiB at first. */
static void test_read__in_pieces(void)
{
    static char text[(64 << 10) + 40];

    for (size_t length = (64 << 10) - 4; length < (64 << 10) + 12; length++) {
        int n = snprintf(text, sizeof(text), "{\"mystiqueSystem\": {\"busy\":");
        struct msim_system_figures s;

        memset(text + n, ' ', length - (size_t)n);
        snprintf(text + length, sizeof(text) - length, "7125}}");
        s = read_text(text);
        CHECK_INT(s.n, 1);
        CHECK_REL(msim_system_figure(&s, "busy"), 7125, 1e-12);
    }
}

/* Standard input was read already, as the trace. */
static void test_read__not_standard_input(void)
{
    static const char text[] = "{\"mystiqueSystem\": {\"busy\": 1}}";
    struct msim_system_figures s = {.n = 3};
    FILE *file = tmpfile();

    REQUIRE(file && fputs(text, file) >= 0);
    rewind(file);
    REQUIRE(dup2(fileno(file), STDIN_FILENO) == STDIN_FILENO);
    msim_system_figures_read(&s, "-");
    CHECK_INT(s.n, 0);
    fclose(file);
}

int main(void)
{
    RUN(test_read);
    RUN(test_read__behind);
    RUN(test_read__none);
    RUN(test_read__limits);
    RUN(test_read__others);
    RUN(test_read__in_pieces);
    RUN(test_read__not_standard_input);
    return check_summary();
}
