/*
 * tests/unit/core/base/test_json_out.c - tests of core/base/json_out.c.
 */
#include "core/base/json.h"
#include "tests/check.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

static struct msim_json json;

/* What was written since open_sink(); the caller frees it. */
static char *text;
static size_t size;
static FILE *sink;

static void open_sink(void)
{
    sink = open_memstream(&text, &size);
    msim_json_begin(&json, msim_sink_file, sink);
}

static enum msim_status close_sink(void)
{
    enum msim_status status = msim_json_end(&json);

    fclose(sink);
    return status;
}

static void test_json_out__nests(void)
{
    open_sink();
    msim_json_open(&json, NULL, '{', true);
    msim_json_text(&json, "a", "x");
    msim_json_open(&json, "b", '[', false);
    msim_json_integer(&json, NULL, -1);
    msim_json_unsigned(&json, NULL, UINT64_MAX);
    msim_json_close(&json);
    msim_json_open(&json, "c", '[', true);
    msim_json_close(&json);
    msim_json_bool(&json, "d", false);
    msim_json_text(&json, "e", NULL);
    msim_json_close(&json);
    CHECK_INT(close_sink(), MSIM_OK);
    CHECK_STR(text, "{\n  \"a\": \"x\",\n"
                    "  \"b\": [-1, 18446744073709551615],\n"
                    "  \"c\": [],\n  \"d\": false,\n  \"e\": null\n}\n");
    free(text);
}

static void test_json_out__integers_to_their_ends(void)
{
    open_sink();
    msim_json_open(&json, NULL, '[', false);
    msim_json_integer(&json, NULL, 0);
    msim_json_integer(&json, NULL, INT64_MIN);
    msim_json_integer(&json, NULL, INT64_MAX);
    msim_json_unsigned(&json, NULL, 0);
    msim_json_unsigned(&json, NULL, 10);
    msim_json_close(&json);
    CHECK_INT(close_sink(), MSIM_OK);
    CHECK_STR(text, "[0, -9223372036854775808, 9223372036854775807, 0, 10]\n");
    free(text);
}

static void check_string(const char *from, const char *want)
{
    open_sink();
    msim_json_text(&json, NULL, from);
    CHECK_INT(close_sink(), MSIM_OK);
    CHECK_STR(text, want);
    free(text);
}

static void test_json_out__escapes(void)
{
    check_string("", "\"\"\n");
    check_string("a\"b\\c\n\t\x01\x1f",
                 "\"a\\\"b\\\\c\\n\\t\\u0001\\u001f\"\n");
    check_string("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
                 "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"\n");
    /* What a terminal obeys: C1, DEL, marks of direction, tags. */
    check_string("\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81",
                 "\"\\u007f\\u009b\\u202e\\udb40\\udc41\"\n");
}

/* Each byte that belongs to no character becomes one U+FFFD. */
static void test_json_out__repairs_utf8(void)
{
    check_string("\xff", "\"\xef\xbf\xbd\"\n");
    check_string("a\xe2\x82", "\"a\xef\xbf\xbd\xef\xbf\xbd\"\n");
    check_string("\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"\n");
    check_string("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n");
    check_string("\xf4\x90\x80\x80",
                 "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n");
}

static void check_number(double value, const char *want)
{
    char got[32];

    msim_number_text(got, value);
    CHECK_STR(got, want);
}

static void test_json_out__numbers_are_shortest(void)
{
    check_number(0.1, "0.1");
    check_number(1.0 / 3, "0.3333333333333333");
    check_number(0.1 + 0.2, "0.30000000000000004");
    check_number(123456789, "123456789");
    check_number(-0.0, "0");
    check_number(1e300, "1e+300");
    check_number((double)NAN, "null");
    check_number((double)INFINITY, "null");
}

static void test_json_out__times_are_exact(void)
{
    open_sink();
    msim_json_open(&json, NULL, '[', false);
    msim_json_time(&json, NULL, 0);
    msim_json_time(&json, NULL, 1500000);
    msim_json_time(&json, NULL, 1000001);
    msim_json_time(&json, NULL, -2000);
    msim_json_time(&json, NULL, INT64_MAX);
    msim_json_time(&json, NULL, INT64_MIN);
    msim_json_close(&json);
    CHECK_INT(close_sink(), MSIM_OK);
    CHECK_STR(text, "[0.000, 1.500, 1.000001, -0.002, "
                    "9223372036854.775807, -9223372036854.775808]\n");
    free(text);
}

/* Text longer than the buffer, so that it goes past it. */
static void test_json_out__long_text(void)
{
    size_t n = 3 * sizeof(json.buffer) + 7;
    char *longer = malloc(n + 1);
    cJSON *read;

    REQUIRE(longer);
    memset(longer, 'x', n);
    longer[n / 2] = '"';
    longer[n] = '\0';
    open_sink();
    msim_json_text(&json, NULL, longer);
    CHECK_INT(close_sink(), MSIM_OK);
    read = cJSON_Parse(text);
    CHECK_STR(cJSON_GetStringValue(read), longer);
    cJSON_Delete(read);
    free(text);
    free(longer);
}

static enum msim_status full(void *ctx, const char *bytes, size_t n)
{
    (void)ctx, (void)bytes, (void)n;
    return MSIM_EIO;
}

static void test_json_out__keeps_a_failure(void)
{
    msim_json_begin(&json, full, NULL);
    for (int i = 0; i < 3; i++)
        msim_json_text(&json, NULL, "x");
    CHECK_INT(msim_json_end(&json), MSIM_EIO);
}

static void test_json_out__opens_what_is_begun(void)
{
    open_sink();
    msim_json_open(&json, NULL, '[', false);
    for (int i = 0; i < 2; i++) {
        msim_json_open_at(&json, "{\"name\": \"n\", \"value\": ");
        msim_json_integer(&json, NULL, i);
        msim_json_close(&json);
    }
    msim_json_close(&json);
    CHECK_INT(close_sink(), MSIM_OK);
    CHECK_STR(text, "[{\"name\": \"n\", \"value\": 0}, "
                    "{\"name\": \"n\", \"value\": 1}]\n");
    free(text);
}

/* Eight bytes are looked at together: each byte, wherever it stands, is what it
 * is alone. */
static void test_json_out__bytes_in_words(void)
{
    for (unsigned c = 1; c < 256; c++) {
        char word[20] = {(char)c}, alone[64] = "", want[96];

        open_sink();
        msim_json_text(&json, NULL, word);
        CHECK_INT(close_sink(), MSIM_OK);
        snprintf(alone, sizeof(alone), "%.*s", (int)strlen(text) - 3, text + 1);
        free(text);
        for (unsigned at = 0; at < 16; at++) {
            memcpy(word, "abcdefghijklmnop", 17);
            snprintf(want, sizeof(want), "\"%.*s%s%s\"\n", (int)at, word, alone,
                     word + at + 1);
            word[at] = (char)c;
            open_sink();
            msim_json_text(&json, NULL, word);
            CHECK_INT(close_sink(), MSIM_OK);
            CHECK_STR(text, want);
            free(text);
        }
    }
}

int main(void)
{
    RUN(test_json_out__opens_what_is_begun);
    RUN(test_json_out__bytes_in_words);
    RUN(test_json_out__nests);
    RUN(test_json_out__integers_to_their_ends);
    RUN(test_json_out__escapes);
    RUN(test_json_out__repairs_utf8);
    RUN(test_json_out__numbers_are_shortest);
    RUN(test_json_out__times_are_exact);
    RUN(test_json_out__long_text);
    RUN(test_json_out__keeps_a_failure);
    return check_summary();
}
