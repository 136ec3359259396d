/*
 * tests/unit/core/report/words/test_glossary.c - words in order, their meanings
 * in a column, no line too long.
 */
#include "core/report/words/glossary.h"
#include "tests/unit/written_text.h"

#include <strings.h>

#define COLUMNS 80
#define INDENT  26

/* The text behind its three lines of introduction, which the caller frees. */
static char *words(void)
{
    struct written w = written_begin();

    CHECK_INT(msim_report_words(w.out), MSIM_OK);
    return written_end(&w);
}

static char *entries(char *text)
{
    char *at = strstr(text, "\n\n");

    return CHECK(at != NULL) ? at + 2 : text;
}

/* The next line of `*at`, cut there; NULL: there is none. */
static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');

    if (!end)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return line;
}

/* A word stands alone where fewer than two blanks would follow it. */
static void test_glossary__lines(void)
{
    char *text = words();

    CHECK(strstr(text,
                 "The words of text reports, in alphabetical order. "
                 "Times are of one iteration, a\nmean over iterations; "
                 "of several ranks those of the slowest.\n\n  90 %  ") == text);
    CHECK(strstr(text, "\n  attention               Model of fused attention "
                       "(flash attention and its\n"
                       "                          like).\n"));
    CHECK(strstr(text, "\n  stream synchronisation  A call that waits until a "
                       "stream is done.\n"));
    CHECK(strstr(text, "\n  stream waits for event  A stream waits for another "
                       "one.\n"));
    CHECK(strstr(text, "\n  waits for absent ranks  See external wait.\n"));
    CHECK(strstr(text, "\n  transfers of collectives\n"
                       "                          See transfer.\n"));
    free(text);
}

/* Every line begins as it should, and ends where one more word had no room. */
static void test_glossary__layout(void)
{
    char *text = words(), *line, *at = entries(text);
    size_t before = 0;
    bool alone = false, first = true;

    while ((line = next_line(&at))) {
        size_t n = strlen(line), indent = strspn(line, " ");

        CHECK(n <= COLUMNS);
        CHECK(line[n - 1] != ' ');
        CHECK(indent == 2 || indent == INDENT);
        if (indent == INDENT && !alone)
            CHECK(before + 1 + strcspn(line + indent, " ") > COLUMNS);
        CHECK(!first || indent == 2);
        first = false;
        alone = indent == 2 && !strstr(line + 2, "  ");
        CHECK(!alone || n + 2 > INDENT);
        if (indent == 2 && !alone)
            CHECK(line[INDENT - 1] == ' ' && line[INDENT] != ' ');
        before = n;
    }
    CHECK(!alone);
    free(text);
}

/* As a dictionary has them: letters alone, whatever their case. */
static void test_glossary__order(void)
{
    char *text = words(), *line, *at = entries(text);
    char last[64] = "", word[64];
    unsigned n = 0;

    while ((line = next_line(&at))) {
        char *end;

        if (line[2] == ' ')
            continue;
        snprintf(word, sizeof(word), "%.32s", line + 2);
        end = strstr(word, "  ");
        if (end)
            *end = '\0';
        if (!CHECK(strcasecmp(last, word) < 0))
            fprintf(stderr, "    '%s' before '%s'\n", last, word);
        memcpy(last, word, sizeof(last));
        n++;
    }
    CHECK(n > 100);
    free(text);
}

int main(void)
{
    RUN(test_glossary__lines);
    RUN(test_glossary__layout);
    RUN(test_glossary__order);
    return check_summary();
}
