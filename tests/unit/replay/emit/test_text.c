/*
 * tests/unit/replay/emit/test_text.c - tests of replay/emit/text.c: what comes
 * from a trace stays a string, or is a word, or nothing is written.
 */
#include "replay/emit/emit_python_internal.h"
#include "tests/check.h"

#include <stdlib.h>

static void check_string(const char *text, const char *want)
{
    struct msim_text t = {.status = MSIM_OK};

    msim_text_add(&t, "f(%s, %d)", text, 3);
    CHECK_STR(msim_text_get(&t), want);
    free(t.bytes.data);
}

static void test_text__strings(void)
{
    check_string("plain", "f('plain', 3)");
    check_string("it's \"so\"", "f('it\\'s \"so\"', 3)");
    check_string("\\", "f('\\\\', 3)");
    check_string("a\nb\r\x1b", "f('a\\x0ab\\x0d\\x1b', 3)");
    check_string("\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80",
                 "f('\\xe9\\u2028\\U0001f600', 3)");
    check_string("\xff", "f('\\ufffd', 3)");
}

static void test_text__long_strings(void)
{
    char *text = malloc(100001);

    REQUIRE(text != NULL);
    memset(text, '\\', 100000);
    text[100000] = '\0';
    {
        struct msim_text t = {.status = MSIM_OK};

        msim_text_add(&t, "%s", text);
        CHECK_UINT(strlen(msim_text_get(&t)), 200002);
        free(t.bytes.data);
    }
    free(text);
}

static void test_text__words(void)
{
    struct msim_text t = {.status = MSIM_OK};

    msim_text_word(&t, "aten::add", 4);
    CHECK_STR(msim_text_get(&t), "aten");
    msim_text_word(&t, "x;y", 3);
    CHECK_INT(t.status, MSIM_EINTERNAL);
    CHECK_STR(msim_text_get(&t), "");
    free(t.bytes.data);
}

/* A line is broken outside of strings: a backslash at the end of one does not
 * hide the quote behind it, one before a quote does. */
static void test_text__lines(void)
{
    struct msim_body b = {.text.status = MSIM_OK};
    struct msim_text t = {.status = MSIM_OK};
    const char *got;

    msim_text_add(&t, "f(%s, %s, %s)", "a\\",
                  "x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, "
                  "x, x, x, x, x, x",
                  "it's, y");
    msim_body_take_line(&b, &t);
    got = msim_text_get(&b.text);
    CHECK(strstr(got, "f('a\\\\', 'x, x") == got);
    CHECK(strstr(got, "x',\n    'it\\'s, y')\n") != NULL);
    free(b.text.bytes.data);
}

/* Without a bracket Python lets no line go on. */
static void test_text__statements_without_brackets(void)
{
    struct msim_body b = {.text.status = MSIM_OK};

    msim_body_line(&b, "del x10, x11, x12, x13, x14, x15, x16, x17, x18, x19, "
                       "x20, x21, x22, x23, x24, x25, x26, x27, x28");
    CHECK(strchr(msim_text_get(&b.text), '\n')[1] == '\0');
    free(b.text.bytes.data);
}

int main(void)
{
    RUN(test_text__strings);
    RUN(test_text__long_strings);
    RUN(test_text__words);
    RUN(test_text__lines);
    RUN(test_text__statements_without_brackets);
    return check_summary();
}
