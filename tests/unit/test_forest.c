/*
 * Trees of a platform file: they add up within bounds, features and cuts are
 * compared as floats, and broken trees are refused.
 */
#include "models/forest.h"
#include "tests/check.h"

/* An answer beyond what was seen when fitting is cut off there; what equals a
 * cut goes right. */
static void test_forest__stays_within_bounds(void)
{
    static const char TEXT[] = "{\"low\":-0.1,\"high\":0.2,\"cuts\":[[1,2]],"
                               "\"splits\":[2,1,0,0,0],"
                               "\"leaves\":[-9000,1500,30000]}";
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
    static const char TEXT[] = "{\"low\":-1,\"high\":1,\"cuts\":[[0.1]],"
                               "\"splits\":[1,0,0],\"leaves\":[-10,10]}";
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

static void test_forest__refuses_broken_trees(void)
{
    static const char *const BROKEN[] = {
        "{\"cuts\":[[1]],\"splits\":[1,0],\"leaves\":[1]}",   /* half a tree */
        "{\"cuts\":[[1]],\"splits\":[1,0,0],\"leaves\":[1]}", /* a leaf less */
        "{\"cuts\":[[1]],\"splits\":[2,0,0],\"leaves\":[1,2]}",  /* no cut 1 */
        "{\"cuts\":[[1]],\"splits\":[65,0,0],\"leaves\":[1,2]}", /* feature 1 */
        "{\"cuts\":[[1]],\"splits\":[-3,0,0],\"leaves\":[1,2]}",
        "{\"cuts\":[[1]],\"splits\":[\"x\"],\"leaves\":[]}",
        "{\"splits\":[1,0,0],\"leaves\":[1,2]}",
    };

    for (size_t i = 0; i < sizeof(BROKEN) / sizeof(*BROKEN); i++) {
        cJSON *json = cJSON_Parse(BROKEN[i]);
        struct msim_forest f;

        CHECK(json != NULL);
        CHECK_INT(msim_forest_read(&f, json, 1), MSIM_EFORMAT);
        cJSON_Delete(json);
    }
}

int main(void)
{
    RUN(test_forest__stays_within_bounds);
    RUN(test_forest__compares_floats);
    RUN(test_forest__refuses_broken_trees);
    return check_summary();
}
