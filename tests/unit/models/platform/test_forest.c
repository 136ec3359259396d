/*
 * Trees of a platform file: they add up within bounds, features and cuts are
 * compared as floats, and broken trees are refused.
 */
#include "models/platform/forest.h"
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
    for (uint32_t i = 0; i < n; i++) {
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
    RUN(test_forest__refuses_broken_trees);
    return check_summary();
}
