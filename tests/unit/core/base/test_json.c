/*
 * tests/unit/core/base/test_json.c - texts that are JSON, and those that are
 * not for different reasons.
 */
#include "core/base/json.h"

#include "core/base/hash.h"

#include "tests/check.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum msim_status parse(const char *text, size_t *at)
{
    cJSON *json;
    enum msim_status status = msim_json_parse(&json, text, strlen(text), at);

    CHECK((status == MSIM_OK) == (json != NULL));
    cJSON_Delete(json);
    return status;
}

static void test_json__all_of_the_text(void)
{
    size_t at;

    CHECK_INT(parse("{\"a\": [1, 2]}", NULL), MSIM_OK);
    CHECK_INT(parse(" [1]\r\n", NULL), MSIM_OK);
    CHECK_INT(parse("{\"a\": }", &at), MSIM_ESYNTAX);
    CHECK_UINT(at, 6);
    CHECK_INT(parse("{} {}", &at), MSIM_ESYNTAX);
    CHECK_UINT(at, 3);
    CHECK_INT(parse("", NULL), MSIM_ESYNTAX);
}

/* The same nodes, to the bit, in the same order both ways. */
static bool same(const cJSON *a, const cJSON *b)
{
    const cJSON *x = a->child, *y = b->child;

    if (a->type != b->type || a->valueint != b->valueint ||
        memcmp(&a->valuedouble, &b->valuedouble, sizeof(double)) != 0 ||
        !a->valuestring != !b->valuestring || !a->string != !b->string ||
        (a->string && strcmp(a->string, b->string) != 0) ||
        (a->valuestring && strcmp(a->valuestring, b->valuestring) != 0))
        return false;
    for (; x && y && same(x, y); x = x->next, y = y->next)
        if ((x->next && x->next->prev != x) ||
            (!x->next && a->child->prev != x))
            return false;
    return !x && !y;
}

static bool check_same(const char *text, size_t n)
{
    const char *end = text;
    cJSON *want = cJSON_ParseWithLengthOpts(text, n, &end, 0), *have = NULL;
    enum msim_status status = msim_json_parse(&have, text, n, NULL);
    bool whole, alike;

    while (want && end < text + n && isspace((unsigned char)*end))
        end++;
    whole = want && end == text + n;
    alike = whole ? have && same(have, want) : status == MSIM_ESYNTAX;
    if (!alike)
        fprintf(stderr, "%.*s\n", (int)n, text);
    CHECK(alike);
    cJSON_Delete(have);
    cJSON_Delete(want);
    return alike;
}

static uint32_t drawn(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* A tree is what cJSON makes of a text, sound or not. */
static void test_json__as_cjson_reads(void)
{
    static const char *const documents[] = {
        "{\"a\": {\"b\": [1, -2.5e3, 0.1, -0, 1e400, 12345678901234567]}, "
        "\"on\": true,\n\t\"off\": false, \"none\": null, \"\": {}}\n",
        "[\"caf\xc3\xa9 \\u20ac\", {\"k\\u0065y\": \"\\n\"}, [[], [[]]], "
        "1.7976931348623157e308, 4.9e-324, 0.30000000000000004]",
        "\"alone\"",
        "-7",
    };
    static const char bytes[] = "{}[]:,\"\\u019-+.eEtn \n\v\x01\x80\xc3";
    uint64_t state = 37;

    for (unsigned i = 0; i < 20000; i++) {
        char text[300];
        size_t len = strlen(documents[i % 4]);

        memcpy(text, documents[i % 4], len);
        for (unsigned n = i < 4 ? 0 : 1 + drawn(&state) % 2; n; n--)
            text[drawn(&state) % len] =
                bytes[drawn(&state) % (sizeof(bytes) - 1)];
        if (!check_same(text, len))
            return;
    }
}

/* Deeper than the tree of what is plain goes, and than cJSON does. */
static void test_json__depth(void)
{
    static char text[4000];

    for (size_t depth = 499; depth < 1002; depth += 1 + depth % 250) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        check_same(text, 2 * depth);
    }
}

static int left; /* blocks of memory that there still are */

static void *scarce(size_t n)
{
    if (left-- > 0)
        return malloc(n);
    errno = ENOMEM;
    return NULL;
}

static void test_json__without_memory(void)
{
    cJSON_Hooks hooks = {scarce, free};
    enum msim_status status = MSIM_ENOMEM;
    int blocks = 0;

    cJSON_InitHooks(&hooks);
    while (status == MSIM_ENOMEM && blocks < 100) {
        left = blocks++;
        status = parse("{\"a\": [1, 2.5e400]}", NULL);
    }
    CHECK_INT(status, MSIM_OK);
    CHECK(blocks > 5); /* an object, a name, a list and two numbers */
    cJSON_InitHooks(NULL);
}

/* A file of ours is of the kind that is wanted, or does not say. */
static void test_json__kind_of_file(void)
{
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"{\"schema\": \"mystique-sim/host/1\"}", NULL},
        {"{}", NULL},
        {"{\"schema\": 3}", NULL},
        {"{\"schema\": \"mystique-sim/host/2\"}", "mystique-sim/host/2"},
        {"{\"schema\": \"mystique-sim/network/1\"}", "mystique-sim/network/1"},
    };
    char path[] = "test_json_XXXXXX";
    int file = mkstemp(path);

    REQUIRE(file >= 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct msim_error err = {0};
        char want[256] = "";
        cJSON *json;
        size_t n = strlen(rows[i].text);

        CHECK_INT(ftruncate(file, 0), 0);
        CHECK_INT(pwrite(file, rows[i].text, n, 0), n);
        CHECK_INT(msim_json_read_our(&json, path, "host", &err),
                  rows[i].said ? MSIM_EFORMAT : MSIM_OK);
        CHECK(!json == !!rows[i].said);
        if (rows[i].said)
            snprintf(want, sizeof(want),
                     "schema is \"%s\", want \"mystique-sim/host/1\"",
                     rows[i].said);
        CHECK_STR(err.text, want);
        cJSON_Delete(json);
    }
    close(file);
    unlink(path);
}

/* A file as a block is the same tree, whatever was read into it before. */
static void test_json__blocks(void)
{
    static const char *const TEXTS[] = {
        "{\"a\":[1,-2.5e3,true,false,null],\"b\":{\"c\":\"text\"}}",
        "{\"k\\u00e9y\":\"caf\\u00e9\", \"\":\"\xc3\xa9\",\"d\":\"plain\"}",
        "[]",
        "\"one\"",
        "[1,2,\"a\"]  \n",
        /* cJSON alone reads it */
        "[1.00000000000000000000000000000000000000000000000000000000000000]",
    };
    struct msim_json_block b = {0};
    struct msim_error err;
    char path[] = "msim-json-XXXXXX";
    int fd = mkstemp(path);

    REQUIRE(fd >= 0);
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(*TEXTS); i++) {
        size_t n = strlen(TEXTS[i]);
        cJSON *want;

        REQUIRE(ftruncate(fd, 0) == 0 &&
                pwrite(fd, TEXTS[i], n, 0) == (ssize_t)n);
        REQUIRE(msim_json_read(&want, path, NULL) == MSIM_OK);
        CHECK_INT(msim_json_block_read(&b, path, NULL), MSIM_OK);
        CHECK(same(b.json, want));
        CHECK_INT(b.plain, i + 1 < sizeof(TEXTS) / sizeof(*TEXTS));
        CHECK(b.hash == msim_hash_words(TEXTS[i], n) || !b.plain);
        cJSON_Delete(want);
    }
    REQUIRE(ftruncate(fd, 0) == 0 && pwrite(fd, "[\"a\",}", 6, 0) == 6);
    err = (struct msim_error){0};
    CHECK_INT(msim_json_block_read(&b, path, &err), MSIM_ESYNTAX);
    CHECK_UINT(err.offset, 5);
    CHECK(!b.json);
    msim_json_block_release(&b);
    close(fd);
    unlink(path);
    CHECK_INT(msim_json_block_read(&b, path, NULL), MSIM_EIO);
    msim_json_block_release(&b);
}

/* Objects in the array of that name, of the root alone, are left; a tree that
 * is not plain has them. */
static void test_json__left(void)
{
    static const char ONE[] = "{\"a\":[1,{\"q\":\"]}\"}],\"b\":{}}";
    static const char PLAIN[] =
        "{\"in\":{\"cells\":[{\"c\":1}]},\"cells\":[ {\"a\":[1,{\"q\":\"]}\"}],"
        "\"b\":{}}, [{\"d\":2}],{}],\"last\":3}";
    static const char *const ODD[] = {"{\"cells\":[{\"a\":\"\\\"\"}]}",
                                      "{\"cells\":[{\"a\":\"\\\\\"}]}"};
    struct msim_json_block b = {0};
    struct msim_arena nodes = {0};
    const cJSON *cells, *one;
    char text[4];
    char path[] = "msim-json-XXXXXX";
    int fd = mkstemp(path);
    cJSON *want, *tree;

    REQUIRE(fd >= 0 &&
            pwrite(fd, PLAIN, strlen(PLAIN), 0) == (ssize_t)strlen(PLAIN));
    REQUIRE(msim_json_block_open(&b, path, NULL) == MSIM_OK);
    CHECK(b.length == strlen(PLAIN) && !b.json);
    REQUIRE(msim_json_block_parse(&b, path, "cells", NULL) == MSIM_OK);
    CHECK(b.plain && msim_json_get_number(b.json, "last", 0) == 3);
    one = cJSON_GetObjectItem(cJSON_GetObjectItem(b.json, "in"), "cells");
    CHECK(msim_json_get_number(cJSON_GetArrayItem(one, 0), "c", 0) == 1);
    cells = cJSON_GetObjectItem(b.json, "cells");
    CHECK_INT(cJSON_GetArraySize(cells), 3);
    CHECK(cJSON_IsArray(cJSON_GetArrayItem(cells, 1)));
    one = cJSON_GetArrayItem(cells, 2);
    CHECK(cJSON_IsRaw(one) && one->valueint == 2);
    one = cJSON_GetArrayItem(cells, 0);
    CHECK(cJSON_IsRaw(one) && one->valueint == (int)strlen(ONE) &&
          memcmp(one->valuestring, ONE, strlen(ONE)) == 0);
    CHECK(!msim_json_left_text(one, "q", text, sizeof(text)));
    tree = msim_json_in_place(one->valuestring, (size_t)one->valueint, &nodes);
    want = cJSON_Parse(ONE);
    CHECK(same(tree, want));
    cJSON_Delete(want);
    for (size_t i = 0; i < sizeof(ODD) / sizeof(*ODD); i++) {
        REQUIRE(ftruncate(fd, 0) == 0 &&
                pwrite(fd, ODD[i], strlen(ODD[i]), 0) > 0);
        REQUIRE(msim_json_block_open(&b, path, NULL) == MSIM_OK);
        REQUIRE(msim_json_block_parse(&b, path, "cells", NULL) == MSIM_OK);
        want = cJSON_Parse(ODD[i]);
        CHECK(!b.plain && same(b.json, want));
        cJSON_Delete(want);
    }
    msim_arena_release(&nodes);
    msim_json_block_release(&b);
    close(fd);
    unlink(path);
}

static void test_json__text_that_was_left(void)
{
    char of[] = "{\"n\":1,\"in\":{\"a\":\"no\"},\"b\":[\"a\",\"no\"],"
                "\"\\u0061\":\"no\",\"c\":\"\\n\",\"a\":\"yes\"}";
    cJSON one = {.type = cJSON_Raw, .valuestring = of};
    struct msim_arena nodes = {0};
    char text[4] = "";

    one.valueint = (int)strlen(of);
    CHECK(msim_json_left_text(&one, "a", text, sizeof(text)));
    CHECK_STR(text, "yes");
    CHECK(!msim_json_left_text(&one, "a", text, 3));
    CHECK(!msim_json_left_text(&one, "n", text, sizeof(text)));
    CHECK(!msim_json_left_text(&one, "c", text, sizeof(text)));
    CHECK(!msim_json_left_text(&one, "d", text, sizeof(text)));
    CHECK(msim_json_left_read(&one, &nodes) && cJSON_IsObject(&one));
    CHECK_STR(msim_json_get_text(&one, "c"), "\n");
    CHECK(msim_json_left_read(&one, &nodes));
    msim_arena_release(&nodes);
}

/* Numbers beyond what is asked for, and beyond all whole numbers, are none. */
static void test_json__counts(void)
{
    cJSON *o =
        cJSON_Parse("{\"a\": 5, \"most\": 4294967295, \"over\": 4294967296,"
                    " \"below\": -1, \"far\": 1e300, \"deep\": -1e300,"
                    " \"in\": {\"value\": 7}, \"text\": \"5\"}");

    REQUIRE(o);
    CHECK_UINT(msim_json_get_count(o, "a", UINT32_MAX, 9), 5);
    CHECK_UINT(msim_json_get_count(o, "most", UINT32_MAX, 9), UINT32_MAX);
    CHECK_UINT(msim_json_get_count(o, "in", UINT32_MAX, 9), 7);
    CHECK_UINT(msim_json_get_count(o, "over", UINT32_MAX, 9), 9);
    CHECK_UINT(msim_json_get_count(o, "over", UINT64_MAX, 9), 4294967296);
    CHECK_UINT(msim_json_get_count(o, "below", UINT32_MAX, 9), 9);
    CHECK_UINT(msim_json_get_count(o, "far", UINT64_MAX, 9), 9);
    CHECK_UINT(msim_json_get_count(o, "deep", UINT64_MAX, 9), 9);
    CHECK_UINT(msim_json_get_count(o, "text", UINT64_MAX, 9), 9);
    CHECK_UINT(msim_json_get_count(o, "none", UINT64_MAX, 9), 9);
    cJSON_Delete(o);
}

int main(void)
{
    RUN(test_json__all_of_the_text);
    RUN(test_json__as_cjson_reads);
    RUN(test_json__depth);
    RUN(test_json__without_memory);
    RUN(test_json__kind_of_file);
    RUN(test_json__counts);
    RUN(test_json__blocks);
    RUN(test_json__left);
    RUN(test_json__text_that_was_left);
    return check_summary();
}
