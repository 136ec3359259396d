/*
 * tests/unit/core/stream/test_json_repair.c - tests of
 * core/stream/json_repair.c.
 */
#include "core/stream/json_sax.h"

#include "tests/check.h"

#include <stdlib.h>

/* Filter `text` in pieces of `step` bytes, each in a place of its own. */
static struct msim_json_repairs filter(const char *text, size_t step, char *to)
{
    struct msim_json_filter f = {0};
    size_t len = strlen(text), n = 1, at, done = 0;

    for (at = 0; n; at += n) {
        const char *out;
        size_t out_len;
        char *piece;

        n = len - at < step ? len - at : step;
        piece = malloc(n + 1);
        if (!piece)
            break;
        memcpy(piece, text + at, n);
        CHECK_INT(msim_json_filter_feed(&f, piece, n, &out, &out_len), MSIM_OK);
        free(piece);
        memcpy(to + done, out, out_len);
        done += out_len;
    }
    to[done] = '\0';
    msim_json_filter_release(&f);
    return f.repairs;
}

/* `text` has `count` faults of one kind, the first at `first`, and none of
 * another, and becomes `want`, wherever a piece of it ends. */
static void check_repaired(const char *text, enum msim_json_repair kind,
                           uint64_t count, uint64_t first, const char *want)
{
    for (size_t step = 1; step <= strlen(text) + 1; step++) {
        char got[256];
        struct msim_json_repairs r = filter(text, step, got);
        uint64_t sum = 0;

        for (int k = 0; k < MSIM_JSON_REPAIR_KINDS; k++)
            sum += r.count[k];
        CHECK_STR(got, want);
        CHECK_UINT(r.count[kind], count);
        CHECK_UINT(r.first[kind], first);
        CHECK_UINT(sum, count);
    }
}

static void check_kept(const char *text)
{
    check_repaired(text, MSIM_JSON_REPAIR_NUMBER, 0, 0, text);
}

static void test_json_repair__not_finite(void)
{
    check_repaired("[1,inf,-inf,3]", MSIM_JSON_REPAIR_NUMBER, 2, 3,
                   "[1,\"\" ,\"\"  ,3]");
    check_repaired("{\"a\": NaN,\"b\":Infinity,\"c\":-Infinity,\"d\":nan}",
                   MSIM_JSON_REPAIR_NUMBER, 4, 6,
                   "{\"a\": \"\" ,\"b\":\"\"      ,\"c\":\"\"       ,\"d\":"
                   "\"\" }");
    check_repaired("[\n inf\n]", MSIM_JSON_REPAIR_NUMBER, 1, 3, "[\n \"\" \n]");
}

static void test_json_repair__other_words(void)
{
    check_kept("[true,false,null,1.5e3,-0]");
    check_kept("[info,nane,in,infinitely,1inf]");
    check_kept("[\"inf\",\"a\\\"nan\"]");
    check_kept("{inf:1}");
    check_kept("[null inf]");
}

static void test_json_repair__backslashes(void)
{
    check_repaired("[\"C:\\Press\\x\"]", MSIM_JSON_REPAIR_ESCAPE, 2, 4,
                   "[\"C:/Press/x\"]");
    check_repaired("[\"\\u12g4\\u\"]", MSIM_JSON_REPAIR_ESCAPE, 2, 2,
                   "[\"/u12g4/u\"]");
    check_repaired("{\"\\s\":\"\\\\_\"}", MSIM_JSON_REPAIR_ESCAPE, 1, 2,
                   "{\"/s\":\"\\\\_\"}");
    check_kept("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"]");
    check_kept("[\"\\");
}

static void test_json_repair__control_characters(void)
{
    check_repaired("[\"a\nb\t\",\n\t1]", MSIM_JSON_REPAIR_CONTROL, 2, 3,
                   "[\"a b \",\n\t1]");
}

/* A byte that begins no character; a second byte that does not fit; the
 * encodings that RFC 3629 forbids (too long, halves of pairs, too high). */
static void test_json_repair__bad_utf8(void)
{
    check_repaired("[\"a\xb9z\"]", MSIM_JSON_REPAIR_UTF8, 1, 3, "[\"a?z\"]");
    check_repaired("[\"\xf0\x9f\"]", MSIM_JSON_REPAIR_UTF8, 2, 2, "[\"??\"]");
    check_repaired("[\"\xc3\"]", MSIM_JSON_REPAIR_UTF8, 1, 2, "[\"?\"]");
    check_repaired("[\"\xc0\x80\"]", MSIM_JSON_REPAIR_UTF8, 2, 2, "[\"??\"]");
    check_repaired("[\"\xed\xa0\x80\"]", MSIM_JSON_REPAIR_UTF8, 3, 2,
                   "[\"???\"]");
    check_repaired("[\"\xf4\x90\x80\x80\"]", MSIM_JSON_REPAIR_UTF8, 4, 2,
                   "[\"????\"]");
    check_kept("[\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\"]");
}

/* Of what was put right in one call, the end is taken back. */
static void test_json_repair__taken_back(void)
{
    struct msim_json_filter f = {.at = 0};
    static const char text[] = "[nan,\"\\q\",nan,nan]";
    const char *out;
    size_t len;

    CHECK_INT(msim_json_filter_feed(&f, text, strlen(text), &out, &len),
              MSIM_OK);
    CHECK_UINT(f.repairs.count[MSIM_JSON_REPAIR_NUMBER], 3);
    msim_json_filter_uncount(&f, 14); /* the last word */
    CHECK_UINT(f.repairs.count[MSIM_JSON_REPAIR_NUMBER], 2);
    CHECK_UINT(f.repairs.count[MSIM_JSON_REPAIR_ESCAPE], 1);
    msim_json_filter_uncount(&f, 2);
    CHECK_UINT(f.repairs.count[MSIM_JSON_REPAIR_NUMBER], 1);
    CHECK_UINT(f.repairs.count[MSIM_JSON_REPAIR_ESCAPE], 0);
    CHECK_UINT(f.repairs.first[MSIM_JSON_REPAIR_NUMBER], 1);
    /* What an earlier call put right stays. */
    CHECK_INT(msim_json_filter_feed(&f, "", 0, &out, &len), MSIM_OK);
    msim_json_filter_uncount(&f, 0);
    CHECK_UINT(f.repairs.count[MSIM_JSON_REPAIR_NUMBER], 1);
    msim_json_filter_release(&f);
}

int main(void)
{
    RUN(test_json_repair__not_finite);
    RUN(test_json_repair__other_words);
    RUN(test_json_repair__backslashes);
    RUN(test_json_repair__control_characters);
    RUN(test_json_repair__bad_utf8);
    RUN(test_json_repair__taken_back);
    return check_summary();
}
