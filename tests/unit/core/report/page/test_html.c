/*
 * tests/unit/core/report/page/test_html.c - tests of core/report/page/html.c: a
 * text between tags, or in the quotes of an attribute, ends neither.
 */
#include "core/report/page/page.h"
#include "tests/check.h"

#include <stdlib.h>

static void check_text(const char *text, const char *want)
{
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);

    REQUIRE(out != NULL);
    msim_html_print(out, "<b title=\"%s\">%d</b>", text, 3);
    fclose(out);
    CHECK_STR(got, want);
    free(got);
}

static void test_html__texts(void)
{
    check_text("plain", "<b title=\"plain\">3</b>");
    check_text("<svg onload=\"`\">",
               "<b title=\"&lt;svg onload=&quot;`&quot;&gt;\">3</b>");
    check_text("' onclick='x' &amp;",
               "<b title=\"&#39; onclick=&#39;x&#39; &amp;amp;\">3</b>");
    check_text("two\nlines\x1b\xff", "<b title=\"two\nlines??\">3</b>");
}

int main(void)
{
    RUN(test_html__texts);
    return check_summary();
}
