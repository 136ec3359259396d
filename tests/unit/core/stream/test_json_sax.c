/*
 * tests/unit/core/stream/test_json_sax.c - tests of core/stream/json_sax.h.
 *
 * Events are written down as text, so that a whole document is one
 * comparison: { } [ ] for containers, k:NAME, s:TEXT, n:TEXT, t, f, 0.
 */
#include "core/stream/json_sax.h"

#include "tests/check.h"

#include <stdlib.h>

struct log {
    char text[4096];
    size_t len;
    const char *skip;  /* a key whose value is skipped */
    const char *leave; /* a string after which the rest is skipped */
};

static int put(struct log *l, const char *kind, const char *s, size_t n)
{
    int len = snprintf(l->text + l->len, sizeof(l->text) - l->len, "%s%.*s ",
                       kind, (int)n, s);

    l->len += (size_t)len;
    if (l->len >= sizeof(l->text))
        l->len = sizeof(l->text) - 1;
    return 0;
}

static bool equal(const char *word, const char *s, size_t len)
{
    return word && strlen(word) == len && !memcmp(word, s, len);
}

static int on_null(void *p)
{
    return put(p, "0", "", 0);
}

static int on_bool(void *p, bool v)
{
    return put(p, v ? "t" : "f", "", 0);
}

static int on_number(void *p, const char *s, size_t n)
{
    return put(p, "n:", s, n);
}

static int on_string(void *p, const char *s, size_t n)
{
    struct log *l = p;

    put(l, "s:", s, n);
    return equal(l->leave, s, n) ? MSIM_SAX_SKIP : 0;
}

static int on_key(void *p, const char *s, size_t n)
{
    struct log *l = p;

    put(l, "k:", s, n);
    return equal(l->skip, s, n) ? MSIM_SAX_SKIP : 0;
}

static int on_map(void *p)
{
    return put(p, "{", "", 0);
}

static int on_map_end(void *p)
{
    return put(p, "}", "", 0);
}

static int on_array(void *p)
{
    return put(p, "[", "", 0);
}

static int on_array_end(void *p)
{
    return put(p, "]", "", 0);
}

/* Takes an object that is `known`, if all of it is there. */
static int on_whole(void *p, const char *text, size_t len, size_t *taken)
{
    static const char known[] = "\"a\": [1]}";

    if (len < sizeof(known) - 1 || memcmp(text, known, sizeof(known) - 1) != 0)
        return 0;
    *taken = sizeof(known) - 1;
    return put(p, "whole", "", 0);
}

static const struct msim_sax_handler handler = {
    on_null, on_bool,    on_number, on_string,    on_key,
    on_map,  on_map_end, on_array,  on_array_end, on_whole};

/* Parse in pieces of `step` bytes, each copied to a place of its own so that
   the sanitizers see any read past its end. */
static enum msim_status parse(struct log *l, const char *text, size_t len,
                              size_t step, uint64_t *offset)
{
    struct msim_sax *s;
    enum msim_status status = msim_sax_new(&s, &handler, l);
    size_t at, n;

    for (at = 0; status == MSIM_OK && at < len; at += n) {
        char *piece;

        n = len - at < step ? len - at : step;
        piece = malloc(n);
        if (!piece)
            break;
        memcpy(piece, text + at, n);
        status = msim_sax_feed(s, piece, n);
        free(piece);
    }
    if (status == MSIM_OK)
        status = msim_sax_end(s);
    if (offset)
        *offset = msim_sax_offset(s);
    msim_sax_free(s);
    return status;
}

static void check_events(const char *text, const char *want)
{
    size_t step;

    for (step = 1; step <= strlen(text) + 1; step++) {
        struct log l = {0};

        CHECK_INT(parse(&l, text, strlen(text), step, NULL), MSIM_OK);
        if (l.len)
            l.text[l.len - 1] = '\0';
        if (strcmp(l.text, want)) {
            CHECK_STR(l.text, want);
            return;
        }
    }
}

/* The parser reads a little ahead before it finds fault: a token and a byte. */
#define AHEAD 6

static void check_refused(const char *text, enum msim_status want,
                          uint64_t want_offset)
{
    size_t step;

    for (step = 1; step <= strlen(text) + 1; step++) {
        struct log l = {0};
        uint64_t offset = 0;
        enum msim_status status = parse(&l, text, strlen(text), step, &offset);

        if (status != want || offset + 1 < want_offset ||
            offset > want_offset + AHEAD) {
            CHECK_STR(text, "refused");
            CHECK_INT(status, want);
            CHECK_UINT(offset, want_offset);
            return;
        }
    }
    CHECK(true);
}

static void test_json_sax__documents(void)
{
    check_events("{}", "{ }");
    check_events(" [ ] ", "[ ]");
    check_events("[1,-2.5e3,0,0.5]", "[ n:1 n:-2.5e3 n:0 n:0.5 ]");
    check_events("[true,false,null]", "[ t f 0 ]");
    check_events("{\"a\":{\"b\":[{},\"c\"]}}", "{ k:a { k:b [ { } s:c ] } }");
    check_events("12", "n:12");
    check_events("\"lone\"", "s:lone");
}

static void test_json_sax__escapes(void)
{
    check_events("[\"a\\n\\\"\\\\b\\/\"]", "[ s:a\n\"\\b/ ]");
    check_events("[\"\\u0041\\u00e9\\u20ac\"]", "[ s:A\xc3\xa9\xe2\x82\xac ]");
    check_events("[\"\\ud83d\\ude00\"]", "[ s:\xf0\x9f\x98\x80 ]");
    check_events("{\"k\\u0065y\":1}", "{ k:key n:1 }");
}

static void test_json_sax__long_strings(void)
{
    char text[600] = "[\"", want[600] = "[ s:";

    memset(text + 2, 'x', 500);
    memcpy(text + 502, "\\t\xc3\xa9\"]", 7);
    memset(want + 4, 'x', 500);
    memcpy(want + 504, "\t\xc3\xa9 ]", 6);
    check_events(text, want);
}

/* The same keys over and over, and then not: guessing must not show. */
static void test_json_sax__repeated_keys(void)
{
    check_events("[{\"ab\": 1, \"cd\": {\"x\": 2}},\n {\"ab\": 3, \"cd\": "
                 "{\"x\": 4}},\n {\"ab\": 5, \"ce\": {\"y\": 6}},\n {\"ab\": "
                 "7, \"cd\": {\"x\": 8}, \"ab\": 9}, {\"cd\": 1}]"
                 "                                                          ",
                 "[ { k:ab n:1 k:cd { k:x n:2 } } "
                 "{ k:ab n:3 k:cd { k:x n:4 } } "
                 "{ k:ab n:5 k:ce { k:y n:6 } } "
                 "{ k:ab n:7 k:cd { k:x n:8 } k:ab n:9 } { k:cd n:1 } ]");
}

static void test_json_sax__skips(void)
{
    static const char text[] = "{\"a\":[1,{\"b\":2}],\"c\":3,\"a\":4,\"d\":"
                               "[\"in\",5,[6]],\"e\":7}";
    struct log l = {.skip = "a"};

    CHECK_INT(parse(&l, text, sizeof(text) - 1, 7, NULL), MSIM_OK);
    CHECK_STR(l.text, "{ k:a k:c n:3 k:a k:d [ s:in n:5 [ n:6 ] ] k:e n:7 } ");
    l = (struct log){.leave = "in"};
    CHECK_INT(parse(&l, text, sizeof(text) - 1, 5, NULL), MSIM_OK);
    CHECK_STR(l.text, "{ k:a [ n:1 { k:b n:2 } ] k:c n:3 k:a n:4 k:d [ s:in "
                      "] k:e n:7 } ");
}

/* What is skipped is still checked. */
static void test_json_sax__checks_what_it_skips(void)
{
    static const char text[] = "{\"a\":[1,}";
    struct log l = {.skip = "a"};

    CHECK_INT(parse(&l, text, sizeof(text) - 1, 100, NULL), MSIM_ESYNTAX);
}

static void test_json_sax__refuses(void)
{
    check_refused("[1,]", MSIM_ESYNTAX, 3);
    check_refused("[1 2]", MSIM_ESYNTAX, 3);
    check_refused("{\"a\" 1}", MSIM_ESYNTAX, 5);
    check_refused("{\"a\":1,}", MSIM_ESYNTAX, 7);
    check_refused("{a:1}", MSIM_ESYNTAX, 1);
    check_refused("[}", MSIM_ESYNTAX, 1);
    check_refused("{]", MSIM_ESYNTAX, 1);
    check_refused("[01]", MSIM_ESYNTAX, 1);
    check_refused("[1.]", MSIM_ESYNTAX, 1);
    check_refused("[-]", MSIM_ESYNTAX, 1);
    check_refused("[nul]", MSIM_ESYNTAX, 4);
    check_refused("[] []", MSIM_ESYNTAX, 3);
    check_refused("[\"a\nb\"]", MSIM_ESYNTAX, 3);
    check_refused("[\"\\x\"]", MSIM_ESYNTAX, 2);
    check_refused("[\"\\u12g4\"]", MSIM_ESYNTAX, 2);
}

/* A string without an end ends at the limit, not with the memory. */
static void test_json_sax__endless_string(void)
{
    static char piece[256 << 10];
    struct msim_sax *s;
    uint64_t fed = 0;
    enum msim_status status;

    memset(piece, 'x', sizeof(piece));
    REQUIRE(msim_sax_new(&s, &(struct msim_sax_handler){0}, NULL) == MSIM_OK);
    status = msim_sax_feed(s, "[\"", 2);
    for (; status == MSIM_OK && fed < 2 * MSIM_SAX_MAX_STRING;
         fed += sizeof(piece))
        status = msim_sax_feed(s, piece, sizeof(piece));
    CHECK_INT(status, MSIM_ELIMIT);
    CHECK_UINT(fed, MSIM_SAX_MAX_STRING + sizeof(piece));
    msim_sax_free(s);
}

static int count_bytes(void *p, const char *s, size_t len)
{
    (void)s;
    *(size_t *)p = len;
    return 0;
}

/* One that is as long as it may be with what is around it is read. */
static void test_json_sax__longest_string(void)
{
    static char piece[300 << 10];
    struct msim_sax_handler lengths = {.string = count_bytes};
    struct msim_sax *s;
    enum msim_status status;
    size_t len = 0, left = MSIM_SAX_MAX_STRING - 9;

    memset(piece, 'x', sizeof(piece));
    REQUIRE(msim_sax_new(&s, &lengths, &len) == MSIM_OK);
    status = msim_sax_feed(s, "[\"", 2);
    while (status == MSIM_OK && left) {
        size_t n = left < sizeof(piece) ? left : sizeof(piece);

        status = msim_sax_feed(s, piece, n);
        left -= n;
    }
    if (status == MSIM_OK)
        status = msim_sax_feed(s, "\"", 1);
    for (size_t i = 0; i < sizeof(piece); i++) /* more than it may be, behind */
        piece[i] = i % 2 ? '1' : ',';
    for (left = 0; status == MSIM_OK && left < MSIM_SAX_MAX_STRING;
         left += 4096)
        status = msim_sax_feed(s, piece, 4096);
    if (status == MSIM_OK)
        status = msim_sax_feed(s, "]", 1);
    if (status == MSIM_OK)
        status = msim_sax_end(s);
    CHECK_INT(status, MSIM_OK);
    CHECK_UINT(len, MSIM_SAX_MAX_STRING - 9);
    msim_sax_free(s);
}

static void test_json_sax__cut(void)
{
    check_refused("", MSIM_ETRUNCATED, 0);
    check_refused("[", MSIM_ETRUNCATED, 1);
    check_refused("{\"a\":", MSIM_ETRUNCATED, 5);
    check_refused("[\"abc", MSIM_ETRUNCATED, 5);
    check_refused("[tru", MSIM_ETRUNCATED, 4);
    check_refused("[12", MSIM_ETRUNCATED, 3);
    check_refused("[1,", MSIM_ETRUNCATED, 3);
}

static void test_json_sax__nul_is_no_end(void)
{
    struct log l = {0};
    uint64_t offset = 0;

    CHECK_INT(parse(&l, "[1,\0]", 5, 5, &offset), MSIM_ESYNTAX);
    CHECK_UINT(offset, 3);
}

static void test_json_sax__takes_whole_objects(void)
{
    static const char text[] =
        "{\"x\": [{\"a\": [1]}, {\"a\": [2]}, {\"a\": [1]}], \"skip\": "
        "{\"a\": [1]}, \"y\": {\"a\": [1]}}";
    struct log l = {.skip = "skip"}, cut = {0};

    CHECK_INT(parse(&l, text, strlen(text), strlen(text), NULL), MSIM_OK);
    CHECK_STR(l.text, "{ k:x [ whole { k:a [ n:2 ] } whole ] k:skip k:y whole "
                      "} ");
    CHECK_INT(parse(&cut, text, strlen(text), 12, NULL), MSIM_OK);
    CHECK(strstr(cut.text, "k:x [ { k:a [ n:1 ] }") != NULL);
}

/* From behind the brace of {"b": ...} to behind the one that closes it. */
struct since {
    struct msim_sax *s;
    uint64_t at;
    char text[64];
    bool there;
};

static int since_begin(void *p)
{
    struct since *x = p;

    x->at = msim_sax_offset(x->s);
    return 0;
}

static int since_end(void *p)
{
    struct since *x = p;
    size_t len = 0;
    const char *text = msim_sax_since(x->s, x->at, &len);

    x->there = text != NULL;
    if (text)
        snprintf(x->text, sizeof(x->text), "%.*s", (int)len, text);
    return 0;
}

static void test_json_sax__text_since(void)
{
    static const char text[] = "[1, {\"b\": 22}]";
    static const struct msim_sax_handler ends = {.map_begin = since_begin,
                                                 .map_end = since_end};

    for (size_t cut = 1; cut < strlen(text); cut++) {
        struct since x = {0};

        REQUIRE(msim_sax_new(&x.s, &ends, &x) == MSIM_OK);
        CHECK_INT(msim_sax_feed(x.s, text, cut), MSIM_OK);
        CHECK_INT(msim_sax_feed(x.s, text + cut, strlen(text) - cut), MSIM_OK);
        /* the brace is in the piece that ends, or in the one that begins */
        CHECK_INT(x.there, cut <= 4 || cut >= 13);
        if (x.there)
            CHECK_STR(x.text, "\"b\": 22}");
        msim_sax_free(x.s);
    }
}

static void test_json_sax__depth_is_bounded(void)
{
    char text[MSIM_SAX_MAX_DEPTH + 2];
    struct log l = {0};
    uint64_t offset = 0;

    memset(text, '[', sizeof(text));
    CHECK_INT(parse(&l, text, sizeof(text), 100, &offset), MSIM_ELIMIT);
    CHECK_UINT(offset, MSIM_SAX_MAX_DEPTH + 1);
}

int main(void)
{
    RUN(test_json_sax__documents);
    RUN(test_json_sax__escapes);
    RUN(test_json_sax__long_strings);
    RUN(test_json_sax__repeated_keys);
    RUN(test_json_sax__skips);
    RUN(test_json_sax__checks_what_it_skips);
    RUN(test_json_sax__refuses);
    RUN(test_json_sax__endless_string);
    RUN(test_json_sax__longest_string);
    RUN(test_json_sax__cut);
    RUN(test_json_sax__nul_is_no_end);
    RUN(test_json_sax__depth_is_bounded);
    RUN(test_json_sax__takes_whole_objects);
    RUN(test_json_sax__text_since);
    return check_summary();
}
