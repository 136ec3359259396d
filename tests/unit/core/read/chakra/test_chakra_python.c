/*
 * tests/unit/core/read/chakra/test_chakra_python.c - lists as Python prints
 * them, and the words of a Chakra trace.
 */
#include "core/read/chakra/read_chakra_internal.h"
#include "tests/check.h"

#include <stdlib.h>

/* "[" and "]", numbers as they are, texts in '', booleans as t and f, None as
 * n; without the outermost brackets. */
static void show(const struct msim_vec *list, const struct msim_vec *text,
                 bool types, char *out, size_t size)
{
    const struct msim_et_token *tokens = list->data;
    const struct msim_text_piece *pieces = list->data;
    size_t used = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < list->n; i++) {
        struct msim_text_piece p = types ? pieces[i] : tokens[i].text;
        uint32_t kind = types ? MSIM_ETOK_STRING : tokens[i].kind;
        int len = (int)p.len;
        const char *at = (const char *)text->data + p.at;

        used += (size_t)snprintf(out + used, size - used, "%s", i ? " " : "");
        if (kind == MSIM_ETOK_OPEN || kind == MSIM_ETOK_CLOSE)
            used += (size_t)snprintf(out + used, size - used, "%s",
                                     kind == MSIM_ETOK_OPEN ? "[" : "]");
        else if (kind == MSIM_ETOK_BOOL)
            used += (size_t)snprintf(out + used, size - used, "%s",
                                     len == 1 ? "t" : "f");
        else if (kind == MSIM_ETOK_NULL)
            used += (size_t)snprintf(out + used, size - used, "n");
        else
            used += (size_t)snprintf(
                out + used, size - used,
                kind == MSIM_ETOK_STRING ? "'%.*s'" : "%.*s", len, at);
    }
}

static void check(const char *text, const char *want, const char *types)
{
    static struct msim_chakra c;
    struct msim_reader r = {.state = &c};
    struct msim_vec list = {0};
    char got[400];

    c = (struct msim_chakra){.begun = true};
    CHECK_INT(msim_chakra_tokens(&r, text, &list), 0);
    show(&list, &c.et.text, false, got, sizeof(got));
    CHECK_STR(got, want);
    CHECK_INT(msim_chakra_types(&r, text, &list), 0);
    show(&list, &c.et.text, true, got, sizeof(got));
    CHECK_STR(got, types);
    free(list.data);
    free(c.et.text.data);
}

static void test_chakra_python__lists(void)
{
    check("[]", "", "");
    check("[1, -2.5, 1e-05, +3, .5]", "1 -2.5 1e-05 +3 .5", "");
    check("[0, 05, 0.5, f0]", "0 05 0.5 f0", "");
    check("[True, False, None, Truest, Non]", "t f n 'Truest' 'Non'",
          "'Truest' 'Non'");
    check("[nan, inf, -inf]", "'nan' 'inf' -inf", "'nan' 'inf'");
    check("[[5, 'cuda:0'], (7, 8), []]", "[ 5 'cuda:0' ] [ 7 8 ] [ ]", "");
    check("['Tensor(float)', ['in'], \"Int\"]",
          "'Tensor(float)' [ 'in' ] 'Int'", "'Tensor(float)' 'Int'");
    check("('<None>',)", "'<None>'", "'<None>'");
    check(" \t\n\r[\t1\n,\r2 ] ", "1 2", "");
    check("[a1, b2, A3, F4, g5]", "a1 b2 A3 F4 'g5'", "'g5'");
}

/* What is behind the end is nothing, nor is what is no list. */
static void test_chakra_python__ends(void)
{
    check("[1], 2", "1", "");
    check("[1)2", "1", "");
    check("[[1], 2]]3", "[ 1 ] 2", "");
    check("1, 2", "", "");
    check("'x'", "", "");
    check("]", "", "");
    check("", "", "");
}

/* Lists that a cut left open are closed; a text is left out. */
static void test_chakra_python__cut(void)
{
    check("[[1, [2, 3", "[ 1 [ 2 3 ] ]", "");
    check("[1, 'ab", "1", "");
    check("[[1, 'ab\\", "[ 1 ]", "");
    check("[1, [", "1 [ ]", "");
    check("['x', 'y", "'x'", "'x'");
}

/* Either kind of quote, with the other inside, and what a backslash means. */
static void test_chakra_python__texts(void)
{
    check("['a\"b', \"c'd\"]", "'a\"b' 'c'd'", "'a\"b' 'c'd'");
    check("['\\'\\\"\\\\']", "''\"\\'", "''\"\\'");
    check("['\\n\\r\\t\\a\\b\\f\\v']", "'\n\r\t\a\b\f\v'", "'\n\r\t\a\b\f\v'");
    check("['\\q']", "'q'", "'q'");
    check("['\\x41\\x7a\\x4A']", "'AzJ'", "'AzJ'");
    check("['\\x4g']", "'\x04g'", "'\x04g'");
    check("['\\xe9\\x7f\\x80']", "'\xc3\xa9\x7f\xc2\x80'",
          "'\xc3\xa9\x7f\xc2\x80'");
    check("['\\u20ac\\u07ff\\u0800\\uffff']",
          "'\xe2\x82\xac\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf'",
          "'\xe2\x82\xac\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf'");
    check("['\\U0001F600\\U00010000\\U0010ffff']",
          "'\xf0\x9f\x98\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf'",
          "'\xf0\x9f\x98\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf'");
    check("['a\\U00110000b\\x00c']", "'abc'", "'abc'"); /* no characters */
}

/* ---- words --------------------------------------------------------------- */

static void test_chakra_words__texts(void)
{
    CHECK_STR(msim_chakra_word_text(MSIM_CHAKRA_NO_WORD), "");
    CHECK_STR(msim_chakra_word_text(MSIM_CHAKRA_IS_CPU_OP), "is_cpu_op");
    CHECK_STR(msim_chakra_word_text(MSIM_CHAKRA_RECORD), "record_correlation");
    CHECK_STR(msim_chakra_word_text(MSIM_CHAKRA_EVENT), "event");
    CHECK_STR(msim_chakra_word_text(MSIM_CHAKRA_DTYPE), "dtype");
    CHECK_STR(msim_chakra_word_text(MSIM_CHAKRA_GRID), "grid");
    CHECK_STR(msim_chakra_word_text(MSIM_CHAKRA_BLOCK), "block");
    CHECK_STR(msim_chakra_word_text(MSIM_CHAKRA_WORDS), "");
    CHECK_STR(msim_chakra_event_text(MSIM_CHAKRA_OPERATOR_EVENT), "operator");
    CHECK_STR(msim_chakra_event_text(MSIM_CHAKRA_REST_EVENT), "rest");
    CHECK_STR(msim_chakra_event_text(MSIM_CHAKRA_MADE_EVENT), "made");
    CHECK_STR(msim_chakra_event_text(MSIM_CHAKRA_EVENTS), "");
}

/* As chakra.proto numbers them. */
static void test_chakra_words__collectives(void)
{
    static const uint8_t WANT[] = {
        MSIM_COLL_ALL_REDUCE,     MSIM_COLL_REDUCE,
        MSIM_COLL_ALL_GATHER,     MSIM_COLL_GATHER,
        MSIM_COLL_SCATTER,        MSIM_COLL_BROADCAST,
        MSIM_COLL_ALL_TO_ALL,     MSIM_COLL_REDUCE_SCATTER,
        MSIM_COLL_REDUCE_SCATTER, MSIM_COLL_BARRIER};

    for (int i = 0; i < 10; i++) {
        CHECK_INT(msim_chakra_collective(i), WANT[i]);
        CHECK_INT(msim_chakra_comm_type((enum msim_collective)WANT[i]),
                  i == 8 ? 7 : i);
    }
    CHECK_INT(msim_chakra_collective(10), MSIM_COLL_UNKNOWN);
    CHECK_INT(msim_chakra_collective(-1), MSIM_COLL_UNKNOWN);
    CHECK_INT(msim_chakra_collective(INT64_MIN), MSIM_COLL_UNKNOWN);
    CHECK_INT(msim_chakra_comm_type(MSIM_COLL_UNKNOWN), -1);
    CHECK_INT(msim_chakra_comm_type(MSIM_COLL_SEND), -1);
    CHECK_INT(msim_chakra_comm_type(MSIM_COLL_WAIT), -1);
}

int main(void)
{
    RUN(test_chakra_python__lists);
    RUN(test_chakra_python__ends);
    RUN(test_chakra_python__cut);
    RUN(test_chakra_python__texts);
    RUN(test_chakra_words__texts);
    RUN(test_chakra_words__collectives);
    return check_summary();
}
