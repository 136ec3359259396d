/*
 * Trees of a platform file: they add up within bounds, features and cuts are
 * compared as floats, and broken trees are refused.
 */
#include "models/forest/forest.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* An answer beyond what was seen when fitting is cut off there; what equals a
 * cut goes right. */
static void test_forest__stays_within_bounds(void)
{
    static const char TEXT[] = "{\"low\":-0.1,\"high\":0.2,\"cuts\":\"1 2;\","
                               "\"splits\":\"2 1 0 0 0\","
                               "\"leaves\":\"-9000 1500 30000\"}";
    cJSON *json = cJSON_Parse(TEXT);
    struct msim_forest f;

    REQUIRE(msim_forest_read(&f, json, 1) == MSIM_OK);
    CHECK_REL(msim_forest_eval(&f, &(double){0}), -0.1, 1e-12);
    CHECK_REL(msim_forest_eval(&f, &(double){1}), 0.15, 1e-12);
    CHECK_REL(msim_forest_eval(&f, &(double){2}), 0.2, 1e-12);
    msim_forest_release(&f);
    cJSON_Delete(json);
}

/* 0.1 is no float: its neighbour is a little more. */
static void test_forest__compares_floats(void)
{
    static const char TEXT[] = "{\"low\":-1,\"high\":1,\"cuts\":\"0.1;\","
                               "\"splits\":\"1 0 0\","
                               "\"leaves\":\"-10 10\"}";
    cJSON *json = cJSON_Parse(TEXT);
    struct msim_forest f;

    REQUIRE(msim_forest_read(&f, json, 1) == MSIM_OK);
    CHECK(msim_forest_eval(&f, &(double){0.1}) > 0);
    CHECK(msim_forest_eval(&f, &(double){(double)0.1f}) > 0);
    CHECK(msim_forest_eval(&f, &(double){0.1 - 1e-12}) > 0);
    CHECK(msim_forest_eval(&f, &(double){0.1 - 1e-8}) < 0);
    msim_forest_release(&f);
    cJSON_Delete(json);
}

/* More trees than are walked at once, of several depths: each counts once. */
static void test_forest__adds_all_trees_up(void)
{
    static const char TEXT[] =
        "{\"low\":-1,\"high\":1,\"cuts\":\"1 2;5;\",\"splits\":"
        "\"0 1 0 0 0 1 2 0 0 0 0 65 0 0 0 0 0 0 1 0 0\",\"leaves\":"
        "\"1 10 20 100 7 7 1000 1 1 2 3 1 1 1 0 50\"}";
    cJSON *json = cJSON_Parse(TEXT);
    struct msim_forest f;

    REQUIRE(msim_forest_read(&f, json, 2) == MSIM_OK);
    CHECK_UINT(f.n_trees, 11);
    /* 1, 20 (not below 1), 100, 1000 (not below 1), 1, 1 (below 5), 3, 1, 1, 1
     * and 50 (not below 1) */
    CHECK_REL(msim_forest_eval(&f, (const double[]){1.5, 4}), 0.1179, 1e-6);
    msim_forest_release(&f);
    cJSON_Delete(json);
}

/* A chain of as many leaves: leaf i, which is i, is that of i.5; behind it a
 * tree that has splits on both sides. */
static void check_chain(uint32_t n)
{
    char cuts[512] = "", splits[512] = "", leaves[512] = "", text[2048];
    struct msim_forest f;
    cJSON *json;

    for (uint32_t i = 0; i < n; i++) {
        size_t c = strlen(cuts), s = strlen(splits), l = strlen(leaves);

        if (i > 0)
            snprintf(cuts + c, sizeof(cuts) - c, "%u ", i);
        snprintf(splits + s, sizeof(splits) - s, i + 1 < n ? "%u 0 " : "0 ",
                 i + 1);
        snprintf(leaves + l, sizeof(leaves) - l, "%u ", i);
    }
    snprintf(text, sizeof(text),
             "{\"low\":-1,\"high\":1,\"cuts\":\"%s;5;\",\"splits\":"
             "\"%s 65 3 0 0 2 0 0\",\"leaves\":\"%s 1000 2000 3000 4000\"}",
             cuts, splits, leaves);
    json = cJSON_Parse(text);
    REQUIRE(msim_forest_read(&f, json, 2) == MSIM_OK);
    /* more rows than are walked node by node */
    for (uint32_t i = 0, round = 0; round < 9; round += ++i == n, i %= n) {
        uint32_t left = i < 3 ? 1000 : 2000, right = i < 2 ? 3000 : 4000;

        CHECK_REL(msim_forest_eval(&f, (const double[]){i + 0.5, 4}),
                  (i + left) * 1e-4, 1e-12);
        CHECK_REL(msim_forest_eval(&f, (const double[]){i + 0.5, 5}),
                  (i + right) * 1e-4, 1e-12);
    }
    /* what is no number lies beyond all cuts */
    CHECK_REL(msim_forest_eval(&f, (const double[]){NAN, NAN}),
              (n - 1 + 4000) * 1e-4, 1e-12);
    msim_forest_release(&f);
    cJSON_Delete(json);
}

/* Trees of at most 32 leaves are evaluated in another way. */
static void test_forest__finds_each_leaf(void)
{
    check_chain(5);
    check_chain(32);
    check_chain(33);
    check_chain(60);
}

static int drawn(void)
{
    static uint32_t state = 1;

    state = state * 1664525 + 1013904223;
    return (int)(state >> 8);
}

/* `n` trees of random splits and leaves at three features. */
static cJSON *random_trees(uint32_t n, int most)
{
    static char text[1 << 17];
    static char splits[1 << 15], leaves[1 << 15];
    size_t s = 0, l = 0;

    for (uint32_t tree = 0; tree < n; tree++)
        for (int open = 1, left = 30; open > 0; left--) {
            int code = left > open && drawn() % 3 ? 1 + drawn() % 3 * 64 : 0;

            code += code ? drawn() % (code == 65 ? 63 : 9) : 0;
            open += code ? 1 : -1;
            s += (size_t)snprintf(splits + s, sizeof(splits) - s, "%d ", code);
            if (!code)
                l +=
                    (size_t)snprintf(leaves + l, sizeof(leaves) - l, " %d",
                                     most > 9000 ? most - drawn() % 9
                                                 : drawn() % (2 * most) - most);
        }
    l = (size_t)snprintf(text, sizeof(text),
                         "{\"low\":-1e9,\"high\":1e9,\"cuts\":\"");
    for (int f = 0; f < 3; f++) {
        for (int i = 0; i < (f == 1 ? 63 : 9); i++)
            l += (size_t)snprintf(text + l, sizeof(text) - l, "%g ",
                                  i / 4.0 - 1);
        l += (size_t)snprintf(text + l, sizeof(text) - l, ";");
    }
    snprintf(text + l, sizeof(text) - l,
             "\",\"splits\":\"%s\",\"leaves\":\"%s\"}", splits, leaves);
    return cJSON_Parse(text);
}

/* Node by node, as the first rows are, and by masks: whatever the features are,
 * of trees that fill vectors and that do not, and of leaves that an int does
 * not hold the sum of. */
static void test_forest__one_answer_both_ways(void)
{
    static const double ODD[] = {-2, -1, 0, 0.25, 14.5, 99, INFINITY, NAN};

    for (uint32_t n = 1; n < 70; n += 23) {
        cJSON *json = random_trees(n, n == 24 ? 90000000 : 9000);

        for (uint32_t i = 0; i < 8 * 8 * 8; i++) {
            const double x[] = {ODD[i % 8], ODD[i / 8 % 8], ODD[i / 64]};
            struct msim_forest f;
            double first, last = NAN;

            REQUIRE(msim_forest_read(&f, json, 3) == MSIM_OK);
            CHECK_UINT(f.n_trees, n);
            first = msim_forest_eval(&f, x);
            for (int again = 0; again < 20; again++)
                last = msim_forest_eval(&f, x);
            CHECK_REL(last, first, 0);
            msim_forest_release(&f);
        }
        cJSON_Delete(json);
    }
}

/* Read when they are asked for, with the same answers. */
static void test_forest__later(void)
{
    cJSON *json = random_trees(40, 9000);
    struct msim_forest now, later;

    REQUIRE(msim_forest_read(&now, json, 3) == MSIM_OK);
    REQUIRE(msim_forest_read_later(&later, json, 3) == MSIM_OK);
    CHECK_UINT(later.n_trees, 0);
    for (int i = 0; i < 40; i++) {
        const double x[] = {i / 10.0 - 1, 1 - i / 20.0, i};

        CHECK_REL(msim_forest_eval(&later, x), msim_forest_eval(&now, x), 0);
    }
    CHECK(fabs(msim_forest_eval(&later, (const double[]){0, 0, 0})) > 0);
    msim_forest_release(&now);
    msim_forest_release(&later);
    cJSON_Delete(json);
    json = cJSON_Parse("{\"cuts\":\"1;\",\"splits\":\"0\"}");
    CHECK_INT(msim_forest_read_later(&later, json, 1), MSIM_EFORMAT);
    cJSON_Delete(json);
}

static void test_forest__refuses_broken_trees(void)
{
    static const struct {
        const char *cuts, *splits, *leaves;
    } BROKEN[] = {
        {"1;", "1 0", "1"},           /* half a tree */
        {"1;", "1 0 0", "1"},         /* a leaf less */
        {"1;", "1 0 0", "1 2 3"},     /* and one more */
        {"1;", "2 0 0", "1 2"},       /* no cut 1 */
        {"1;", "65 0 0", "1 2"},      /* feature 1 */
        {"1;", "-3 0 0", "1 2"},      /* before the first */
        {"1;", "x", ""},              /* no number */
        {"1;", "1 0 0x", "1 2"},      /* nor this */
        {"1;", "99999999999", "1 2"}, /* a large one */
        {"1 y;", "1 0 0", "1 2"},     /* no cut */
        {"", "1 0 0", "1 2"},         /* none at all */
    };
    char text[128];
    cJSON *json = cJSON_Parse("{\"splits\":[1,0,0],\"leaves\":[1,2]}");
    struct msim_forest f;

    CHECK_INT(msim_forest_read(&f, json, 1), MSIM_EFORMAT);
    cJSON_Delete(json);
    for (size_t i = 0; i < sizeof(BROKEN) / sizeof(*BROKEN); i++) {
        snprintf(text, sizeof(text),
                 "{\"cuts\":\"%s\",\"splits\":\"%s\",\"leaves\":\"%s\"}",
                 BROKEN[i].cuts, BROKEN[i].splits, BROKEN[i].leaves);
        json = cJSON_Parse(text);
        CHECK(json != NULL);
        CHECK_INT(msim_forest_read(&f, json, 1), MSIM_EFORMAT);
        cJSON_Delete(json);
    }
}

int main(void)
{
    RUN(test_forest__stays_within_bounds);
    RUN(test_forest__compares_floats);
    RUN(test_forest__adds_all_trees_up);
    RUN(test_forest__finds_each_leaf);
    RUN(test_forest__one_answer_both_ways);
    RUN(test_forest__later);
    RUN(test_forest__refuses_broken_trees);
    return check_summary();
}
