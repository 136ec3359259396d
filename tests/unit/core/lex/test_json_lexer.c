/*
 * tests/unit/core/lex/test_json_lexer.c - tests of core/lex/json_lexer.h,
 * through json_sax.h: whether a lexer is in front of yajl must not show.
 *
 * Documents, sound and damaged, are read by yajl alone and by json_sax.c, in
 * pieces of many sizes: the events, the sentence for a fault and its place are
 * the same.
 */
#include "core/lex/json_lexer.h"
#include "core/stream/json_sax.h"

#include "tests/check.h"

#include <stdlib.h>
#include <yajl/yajl_parse.h>

#define DAMAGED 20000

struct outcome {
    char events[4096];
    size_t len;
    enum msim_status status;
    uint64_t offset;
    char why[256];
};

static int put(void *p, char kind, const char *s, size_t n)
{
    struct outcome *o = p;

    if (n + 3 > sizeof(o->events) - o->len)
        return 0;
    o->events[o->len++] = kind;
    memcpy(o->events + o->len, s, n);
    o->len += n;
    o->events[o->len++] = ' ';
    return 0;
}

/* ---- yajl alone --------------------------------------------------------- */

static int yajl_null_(void *p)
{
    return !put(p, '0', "", 0);
}

static int yajl_boolean_(void *p, int v)
{
    return !put(p, v ? 't' : 'f', "", 0);
}

static int yajl_number_(void *p, const char *s, size_t n)
{
    return !put(p, 'n', s, n);
}

static int yajl_string_(void *p, const unsigned char *s, size_t n)
{
    return !put(p, 's', (const char *)s, n);
}

static int yajl_key_(void *p, const unsigned char *s, size_t n)
{
    return !put(p, 'k', (const char *)s, n);
}

static int yajl_map_(void *p)
{
    return !put(p, '{', "", 0);
}

static int yajl_map_end_(void *p)
{
    return !put(p, '}', "", 0);
}

static int yajl_array_(void *p)
{
    return !put(p, '[', "", 0);
}

static int yajl_array_end_(void *p)
{
    return !put(p, ']', "", 0);
}

static void read_by_yajl(struct outcome *o, const char *text, size_t len)
{
    static const yajl_callbacks callbacks = {.yajl_null = yajl_null_,
                                             .yajl_boolean = yajl_boolean_,
                                             .yajl_number = yajl_number_,
                                             .yajl_string = yajl_string_,
                                             .yajl_map_key = yajl_key_,
                                             .yajl_start_map = yajl_map_,
                                             .yajl_end_map = yajl_map_end_,
                                             .yajl_start_array = yajl_array_,
                                             .yajl_end_array = yajl_array_end_};
    yajl_handle yajl = yajl_alloc(&callbacks, NULL, o);
    yajl_status status = yajl_parse(yajl, (const unsigned char *)text, len);
    unsigned char *why;

    o->offset = len;
    if (status == yajl_status_error) {
        o->status = MSIM_ESYNTAX;
        o->offset = yajl_get_bytes_consumed(yajl);
        o->offset -= o->offset > 0;
        why = yajl_get_error(yajl, 0, NULL, 0);
        snprintf(o->why, sizeof(o->why), "%s", (const char *)why);
        yajl_free_error(yajl, why);
    } else if (yajl_complete_parse(yajl) != yajl_status_ok) {
        o->status = MSIM_ETRUNCATED;
    }
    yajl_free(yajl);
}

/* ---- ours --------------------------------------------------------------- */

static int on_null(void *p)
{
    return put(p, '0', "", 0);
}

static int on_boolean(void *p, bool v)
{
    return put(p, v ? 't' : 'f', "", 0);
}

static int on_number(void *p, const char *s, size_t n)
{
    return put(p, 'n', s, n);
}

static int on_string(void *p, const char *s, size_t n)
{
    return put(p, 's', s, n);
}

static int on_key(void *p, const char *s, size_t n)
{
    return put(p, 'k', s, n);
}

static int on_map(void *p)
{
    return put(p, '{', "", 0);
}

static int on_map_end(void *p)
{
    return put(p, '}', "", 0);
}

static int on_array(void *p)
{
    return put(p, '[', "", 0);
}

static int on_array_end(void *p)
{
    return put(p, ']', "", 0);
}

/* Each piece is copied to a place of its own, so that sanitizers see what is
 * read behind it. */
static void read_by_us(struct outcome *o, const char *text, size_t len,
                       size_t step)
{
    static const struct msim_sax_handler handler = {
        on_null, on_boolean, on_number, on_string,    on_key,
        on_map,  on_map_end, on_array,  on_array_end, NULL};
    struct msim_sax *s;

    o->status = msim_sax_new(&s, &handler, o);
    for (size_t at = 0, n; at < len && o->status == MSIM_OK; at += n) {
        char *piece;

        n = len - at < step ? len - at : step;
        piece = malloc(n);
        if (!piece)
            break;
        memcpy(piece, text + at, n);
        o->status = msim_sax_feed(s, piece, n);
        free(piece);
    }
    if (o->status == MSIM_OK)
        o->status = msim_sax_end(s);
    o->offset = msim_sax_offset(s);
    snprintf(o->why, sizeof(o->why), "%s", msim_sax_message(s));
    msim_sax_free(s);
}

/* Yajl's sentence, between "parse error: " and a full stop. */
static bool says(const char *ours, const char *yajls)
{
    const char *from = strstr(yajls, ": ");
    char core[256];

    from = from ? from + 2 : yajls;
    snprintf(core, sizeof(core), "%.*s", (int)strcspn(from, ".\n"), from);
    return strstr(ours, core) != NULL;
}

/* Within the token that is at fault; yajl itself goes by where pieces end. */
static bool near(const struct outcome *a, const struct outcome *b, bool pieces)
{
    uint64_t slack = pieces ? 6 : 0;

    return a->offset <= b->offset + slack && b->offset <= a->offset + slack;
}

static bool alike(const struct outcome *a, const struct outcome *b, bool pieces)
{
    return a->status == b->status && a->len == b->len &&
           !memcmp(a->events, b->events, a->len) &&
           (a->status != MSIM_ESYNTAX ||
            (near(a, b, pieces) && says(b->why, a->why)));
}

static bool check_alike(const char *text, size_t len, size_t step)
{
    struct outcome want = {0}, have = {0};

    read_by_yajl(&want, text, len);
    read_by_us(&have, text, len, step);
    if (alike(&want, &have, step < len)) {
        CHECK(true);
        return true;
    }
    fprintf(stderr, "%.*s\nin pieces of %zu\n", (int)len, text, step);
    CHECK_INT(have.status, want.status);
    CHECK_UINT(have.offset, want.offset);
    CHECK_STR(have.why, want.why);
    want.events[want.len] = have.events[have.len] = '\0';
    CHECK_STR(have.events, want.events);
    return false;
}

/* ---- documents ---------------------------------------------------------- */

static const char *const documents[] = {
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"ts\": "
    "1234567890.125,\n    \"args\": {\n      \"Input Dims\": [[16, 32], "
    "[]], \"on\": true, \"off\": false, \"none\": null}}\r\n",
    "[{\"a longer key than sixteen bytes\": \"a value of more than sixteen "
    "bytes, too\"},\t-0, -1.5e+10, 0.25E-3, 7e2, [[[]]], {}]\v\f",
    "{\"k\\u0065y \\\\ \\\"\": \"\\ud83d\\ude00 \\n caf\xc3\xa9 \\/\", \"\": "
    "[\"\\t\", \"\xe2\x82\xac\", \"\x7f\"]}",
    "  \"alone\"  ",
    "  -12.50  ",
    "null",
};

static uint32_t drawn(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* One byte more, less, or another one, of those that mean something. */
static size_t damage(char *text, size_t len, uint64_t *state)
{
    static const char bytes[] = "{}[]:,\"\\\\\"/u0019-+.eEtrufalsn \n\v\x01\x80"
                                "\xc3\xe2\xf0";
    char byte = bytes[drawn(state) % (sizeof(bytes) - 1)];
    size_t at = drawn(state) % len;

    switch (drawn(state) % 3) {
    case 0:
        memmove(text + at + 1, text + at, len - at);
        text[at] = byte;
        return len + 1;
    case 1:
        memmove(text + at, text + at + 1, len - at - 1);
        return len > 1 ? len - 1 : len;
    default:
        text[at] = byte;
        return len;
    }
}

static void test_json_lexer__sound(void)
{
    for (size_t i = 0; i < sizeof(documents) / sizeof(*documents); i++)
        for (size_t step = 1; step <= strlen(documents[i]); step++)
            check_alike(documents[i], strlen(documents[i]), step);
}

static void test_json_lexer__cut(void)
{
    for (size_t i = 0; i < sizeof(documents) / sizeof(*documents); i++)
        for (size_t len = 0; len < strlen(documents[i]); len++)
            check_alike(documents[i], len, 1 + len % 7);
}

static void test_json_lexer__damaged(void)
{
    uint64_t state = 37;

    for (unsigned i = 0; i < DAMAGED; i++) {
        const char *of =
            documents[i % (sizeof(documents) / sizeof(*documents))];
        char text[512];
        size_t len = strlen(of);

        memcpy(text, of, len);
        for (uint32_t n = 1 + drawn(&state) % 3; n; n--)
            len = damage(text, len, &state);
        if (!check_alike(text, len, len) ||
            !check_alike(text, len, 1 + drawn(&state) % len))
            return;
    }
}

static void test_json_lexer__behind_all(void)
{
    check_alike("[] \"cut", 7, 7);
    check_alike("[] \"whole\"", 10, 10);
    check_alike("[] 12", 5, 5);
    check_alike("[] tru", 6, 6);
    check_alike("1 2", 3, 1);
    check_alike("{} }", 4, 2);
}

/* Behind the bracket that opens `text`: what a skip leaves, or "none". */
static const char *left_by_skip(const char *text)
{
    struct msim_lexer l = {.at = text + 1,
                           .end = text + strlen(text),
                           .place = MSIM_LEXER_BRACKET,
                           .depth = 1,
                           .closes = {0, '}'}};

    return msim_lexer_skip(&l) ? l.at : "none";
}

/* By its brackets, or by lines that begin with tabs. */
static void test_json_lexer__skips(void)
{
    static const char *const texts[][2] = {
        {"{}, 1", ", 1"},
        {"{\"a}\": [1, {\"b\": \"]\"}]}, 1", ", 1"},
        {"{\n  \"a\": {\n  }\n}, 1", ", 1"},
        {"{\n\t\"a\":\t1\n}, 1", ", 1"},
        {"{\n\t\t\t\"a\":\t[{\n\t\t\t\t\t\"}\":\t1\n\t\t\t\t}, {\n"
         "\t\t\t\t\t\"c\":\t[1, 2]\n\t\t\t\t}]\n\t\t}, 1",
         ", 1"},
        {"[\n\t\t{\n\t\t\t\"a\":\t1\n\t\t}\n\t]]", "]"},
        {"{\n\t\t\"a\":\t{\n\t\t\t\"b\":\t1\n\t\t}", "none"},
        {"{\n\t\t\"a\":\t1\n\t", "none"},
        {"{\n\t\t", "none"},
        {"{\"a\": [", "none"},
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        CHECK_STR(left_by_skip(texts[i][0]), texts[i][1]);
}

int main(void)
{
    RUN(test_json_lexer__sound);
    RUN(test_json_lexer__cut);
    RUN(test_json_lexer__damaged);
    RUN(test_json_lexer__behind_all);
    RUN(test_json_lexer__skips);
    return check_summary();
}
