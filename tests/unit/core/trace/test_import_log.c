/*
 * tests/unit/core/trace/test_import_log.c - what is said of one record, and of
 * several.
 */
#include "core/trace/import_log.h"

#include "tests/check.h"

#include <string.h>

static bool says(const char *pattern, uint64_t n, const char *text)
{
    char made[64];

    msim_import_words(made, sizeof(made), pattern, n, "flow");
    return !strcmp(made, text);
}

static void test_import_log__words(void)
{
    CHECK(says("event{s} of category '*'", 1, "event of category 'flow'"));
    CHECK(says("event{s} of category '*'", 2, "events of category 'flow'"));
    CHECK(says("{is|are} read", 1, "is read"));
    CHECK(says("{is|are} read", 0, "are read"));
    CHECK(says("{it has|they have} {its|their} own", 3, "they have their own"));
    CHECK(says("{it has|they have} {its|their} own", 1, "it has its own"));
    CHECK(says("", 1, ""));
}

/* No longer than there is room. */
static void test_import_log__room(void)
{
    char made[8];

    msim_import_words(made, sizeof(made), "* of many", 1, "a name");
    CHECK(!strcmp(made, "a name "));
    msim_import_words(made, sizeof(made), "*", 1, "a long name");
    CHECK(!strcmp(made, "a long "));
}

int main(void)
{
    RUN(test_import_log__words);
    RUN(test_import_log__room);
    return check_summary();
}
