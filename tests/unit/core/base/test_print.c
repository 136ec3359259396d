/*
 * tests/unit/core/base/test_print.c - tests of core/base/print.h.
 *
 * Numbers come out as those of printf; texts come out as something that a
 * terminal shows and does not obey.
 */
#include "core/base/print.h"
#include "tests/check.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

/* What msim_print() writes, and what it returns. */
#define CHECK_PRINT(want, ...)                                                 \
    do {                                                                       \
        char *got_ = NULL;                                                     \
        size_t size_ = 0;                                                      \
        FILE *out_ = open_memstream(&got_, &size_);                            \
                                                                               \
        (void)msim_print(out_, __VA_ARGS__);                                   \
        fclose(out_);                                                          \
        CHECK_STR(got_, want);                                                 \
        free(got_);                                                            \
    } while (0)

/* The same as printf, which every conversion is held against. */
#define CHECK_SAME(...)                                                        \
    do {                                                                       \
        char want_[512];                                                       \
                                                                               \
        snprintf(want_, sizeof(want_), __VA_ARGS__);                           \
        CHECK_PRINT(want_, __VA_ARGS__);                                       \
    } while (0)

static void test_print__numbers_are_those_of_printf(void)
{
    CHECK_SAME("%d|%5d|%-5d|%05d|%+d|% d", -3, 42, 42, -42, 7, 7);
    CHECK_SAME("%u|%8u|%-8u|%x|%X|%o|%#x", 4000000000u, 1u, 1u, 255u, 255u, 8u,
               255u);
    CHECK_SAME("%ld|%lld|%zu|%td|%jd|%hhd", -5L, INT64_MIN / 1LL, (size_t)-1,
               (ptrdiff_t)-9, (intmax_t)-1, 3);
    CHECK_SAME("%" PRIu64 "|%" PRId64, UINT64_MAX, INT64_MIN);
    CHECK_SAME("%f|%.3f|%8.2f|%-8.2f|%+.1f|%08.3f", 1.5, 2.0 / 3, 1e3, 1e3, 2.5,
               -1.25);
    CHECK_SAME("%g|%.4g|%e|%.0e|%a", 1e-7, 12345.678, 12345.678, 9.5e10, 0.5);
    CHECK_SAME("%*d|%-*d|%.*f|%*.*f", 6, 1, 6, 2, 2, 1.0 / 3, 9, 1, 2.25);
    CHECK_SAME("100 %% of %d%%", 5);
    CHECK_SAME("%.2f", 1e300);
}

static void test_print__texts_keep_width_and_precision(void)
{
    CHECK_SAME("%s|%5s|%-5s|%.2s|%5.1s|%-5.1s|", "abc", "ab", "ab", "abc",
               "abc", "abc");
    CHECK_SAME("%*s|%-*s|%.*s", 4, "x", 4, "y", 1, "zz");
    CHECK_SAME("%c%c", 'a', 'b');
    /* Columns, not bytes: the second is one character of two bytes. */
    CHECK_PRINT("   \xc3\xa9|\xc3\xa9   |", "%4s|%-4s|", "\xc3\xa9",
                "\xc3\xa9");
    /* A precision cuts no character in two. */
    CHECK_PRINT("a|a\xc3\xa9", "%.2s|%.3s", "a\xc3\xa9", "a\xc3\xa9");
}

static void test_print__texts_drive_no_terminal(void)
{
    CHECK_PRINT("?[31m?]0;x?|", "%s|", "\x1b[31m\x1b]0;x\x07");
    CHECK_PRINT("a?b?c", "%s", "a\nb\rc"); /* lines of ours alone */
    CHECK_PRINT("a?b", "%s",
                "a\xc2\x9b"
                "b"); /* C1: CSI in one */
    CHECK_PRINT("?|?", "%s|%s", "\x7f", "\t");
    CHECK_PRINT("?|?", "%s|%s", "\xe2\x80\xa8",
                "\xe2\x80\xae"); /* 2028, 202E */
    CHECK_PRINT("?=1?", "%s=1%s", "\xef\xbb\xbf",
                "\xe2\x80\x8b"); /* FEFF, 200B */
    CHECK_PRINT("a????b", "%s",
                "a\xff\xfe\xed\xa0"
                "b"); /* no UTF-8 */
    CHECK_PRINT("?", "%c", '\x1b');
    CHECK_PRINT("\xe2\x9c\x93 \xf0\x9f\x98\x80", "%s",
                "\xe2\x9c\x93 \xf0\x9f\x98\x80");
    CHECK_PRINT("ours\n\x1b[K theirs?", "ours\n\x1b[K %s", "theirs\x1b");
}

static void test_print__returns_characters(void)
{
    FILE *out = tmpfile();

    REQUIRE(out != NULL);
    CHECK_INT(msim_print(out, "%s=%d%%", "ab", 12), 6);
    CHECK_INT(msim_print(out, "%-5s|", "\xc3\xa9"), 6);
    fclose(out);
}

MSIM_PRINTF(3, 4)
static void print_text(char *text, size_t size, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    msim_vprint_text(text, size, fmt, args);
    va_end(args);
}

/* A text that is full ends with a whole character, and nothing comes behind. */
static void test_print__fills_a_text(void)
{
    char text[8];

    print_text(text, sizeof(text), "%s", "short");
    CHECK_STR(text, "short");
    print_text(text, sizeof(text), "%s%s", "sixsix", "\xc3\xa9");
    CHECK_STR(text, "sixsix");
    print_text(text, sizeof(text), "%s%s", "sixsix\xc3\xa9", "z");
    CHECK_STR(text, "sixsix");
    print_text(text, sizeof(text), "%d%s", 12345678, "9");
    CHECK_STR(text, "1234567");
}

/* A text grows behind what it holds; a title stands apart from what is above.
 */
static void test_print__appends_and_titles(void)
{
    char text[12] = "a", *got = NULL;
    size_t size = 0;
    FILE *out;

    msim_text_append(text, sizeof(text), ", %d", 12);
    msim_text_append(text, sizeof(text), ", %s", "b\tcdefgh");
    CHECK_STR(text, "a, 12, b?cd");
    msim_text_append(text, sizeof(text), "more");
    CHECK_STR(text, "a, 12, b?cd");
    out = open_memstream(&got, &size);
    msim_print_title(out, "ranks of %s", "x\ny");
    fclose(out);
    CHECK_STR(got, "\nranks of x?y\n");
    free(got);
}

static void test_print__knows_what_can_be_shown(void)
{
    CHECK_UINT(msim_printable_length("a"), 1);
    CHECK_UINT(msim_printable_length("\xc2\xa0"), 2);
    CHECK_UINT(msim_printable_length("\xc2\x9f"), 0);
    CHECK_UINT(msim_printable_length("\xd8\x9c"), 0);     /* U+061C */
    CHECK_UINT(msim_printable_length("\xe2\x80\x8d"), 3); /* joins emoji */
    CHECK_UINT(msim_printable_length("\xe2\x81\xa6"), 0); /* U+2066 */
    CHECK_UINT(msim_printable_length("\xef\xbf\xbf"), 0);
    CHECK_UINT(msim_printable_length("\xf3\xa0\x81\x81"), 0); /* a tag */
    CHECK_UINT(msim_printable_length(""), 0);
    CHECK_UINT(msim_utf8_code("\xf0\x9f\x98\x80", 4), 0x1f600);
}

int main(void)
{
    RUN(test_print__numbers_are_those_of_printf);
    RUN(test_print__texts_keep_width_and_precision);
    RUN(test_print__texts_drive_no_terminal);
    RUN(test_print__returns_characters);
    RUN(test_print__fills_a_text);
    RUN(test_print__appends_and_titles);
    RUN(test_print__knows_what_can_be_shown);
    return check_summary();
}
