/* plan/outcome/plan_draw.c and plan_frame.c: colours, and how a script and a
 * page begin. */
#include "plan/outcome/plan_report.h"
#include "tests/check.h"

#include <stdlib.h>

/* Eight, each another one; then from the first again. */
static void test_plan_draw__colours(void)
{
    for (uint32_t i = 0; i < 8; i++) {
        CHECK_INT(strlen(msim_plan_color(i)), 7);
        CHECK_INT(msim_plan_color(i)[0], '#');
        CHECK(msim_plan_color(i + 8) == msim_plan_color(i));
        CHECK(msim_plan_color(i + 16) == msim_plan_color(i));
        for (uint32_t k = 0; k < i; k++)
            CHECK(strcmp(msim_plan_color(i), msim_plan_color(k)) != 0);
    }
    CHECK_STR(msim_plan_color(0), "#2f6db5"); /* page.js has the same */
    CHECK_STR(msim_plan_color(7), "#a5791f");
}

static void test_plan_draw__script(void)
{
    struct msim_error err = {0};
    FILE *script = msim_plan_script(&err);
    char text[1024] = "";

    REQUIRE(script != NULL);
    CHECK_INT(err.status, MSIM_OK);
    CHECK_INT(ftell(script), 0);
    msim_plan_script_begin(script, 420);
    rewind(script);
    CHECK(fread(text, 1, sizeof(text) - 1, script) > 0);
    fclose(script);
    CHECK(strncmp(text,
                  "set encoding utf8\nset terminal svg noenhanced size "
                  "640,420 ",
                  59) == 0);
    CHECK(text[strlen(text) - 1] == '\n');
}

/* A title that is a text, in the head and on the page; the mark near the
 * beginning; a style. */
static void test_plan_frame__begins(void)
{
    static char text[65536];
    FILE *out = fmemopen(text, sizeof(text), "w");
    const char *mark, *style;

    REQUIRE(out != NULL);
    msim_html_begin("a<b", out);
    fclose(out);
    mark = strstr(text, MSIM_PLAN_HTML_MARK);
    CHECK(mark != NULL && mark - text < 1024);
    CHECK(strstr(text, "<title>Plan of a&lt;b</title>") != NULL);
    style = strstr(text, ".charts{display:flex");
    CHECK(style != NULL);
    CHECK(strstr(text, "<body><h1>Plan of a&lt;b</h1>\n") > style);
    CHECK(strstr(text, "a<b") == NULL);
}

int main(void)
{
    RUN(test_plan_draw__colours);
    RUN(test_plan_draw__script);
    RUN(test_plan_frame__begins);
    return check_summary();
}
