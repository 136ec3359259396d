/*
 * Trees: what is grown can be read back, says what was learned, and comes out
 * the same again; broken trees are refused.
 */
#include "calibrate/boost.h"
#include "tests/check.h"

#include <stdlib.h>

#define ROWS 400

static const struct msim_boost_options OPTIONS = {
    .trees = 60, .leaves = 6, .rate = 0.2, .penalty = 1, .least = 4, .clip = 2};

/* y = 0.5 where x0 > 0.3 and -0.25 below, plus 0.1 where x1 is odd. */
static void make_rows(double x[ROWS][2], double *y)
{
    for (int i = 0; i < ROWS; i++) {
        x[i][0] = (i * 37 % ROWS) / (double)ROWS;
        x[i][1] = i % 5;
        y[i] = (x[i][0] > 0.3 ? 0.5 : -0.25) + (i % 5 % 2 ? 0.1 : 0);
    }
}

static void test_boost__learns_steps(void)
{
    static double x[ROWS][2], y[ROWS];
    struct msim_forest f;
    cJSON *json;
    double worst = 0;

    make_rows(x, y);
    REQUIRE(msim_boost_fit(&json, &x[0][0], y, ROWS, 2, &OPTIONS) == MSIM_OK);
    REQUIRE(msim_forest_read(&f, json, 2) == MSIM_OK);
    CHECK_UINT(f.n_trees, OPTIONS.trees);
    for (int i = 0; i < ROWS; i++)
        if (fabs(x[i][0] - 0.3) > 0.05) /* a few bins around the step */
            worst = fmax(worst, fabs(msim_forest_eval(&f, x[i]) - y[i]));
    /* 60 trees that each take a fifth of what is left: 0.8^60 < 1e-5 of it,
     * but for the pull of the penalty, a row's worth in about 40. */
    CHECK(worst < 0.03);
    msim_forest_release(&f);
    cJSON_Delete(json);
}

static void test_boost__gives_the_same_bytes(void)
{
    static double x[ROWS][2], y[ROWS];
    cJSON *json;
    char *text[2] = {NULL, NULL};

    make_rows(x, y);
    for (int i = 0; i < 2; i++) {
        REQUIRE(msim_boost_fit(&json, &x[0][0], y, ROWS, 2, &OPTIONS) ==
                MSIM_OK);
        text[i] = cJSON_PrintUnformatted(json);
        cJSON_Delete(json);
    }
    CHECK_STR(text[0], text[1]);
    cJSON_free(text[0]);
    cJSON_free(text[1]);
}

/* An answer beyond what was seen when fitting is cut off there. */
static void test_forest__stays_within_bounds(void)
{
    static const char TEXT[] = "{\"low\":-0.1,\"high\":0.2,\"cuts\":[[1,2]],"
                               "\"splits\":[2,1,0,0,0],"
                               "\"leaves\":[-9000,1500,30000]}";
    cJSON *json = cJSON_Parse(TEXT);
    struct msim_forest f;

    REQUIRE(msim_forest_read(&f, json, 1) == MSIM_OK);
    CHECK_REL(msim_forest_eval(&f, &(double){0}), -0.1, 1e-12);
    CHECK_REL(msim_forest_eval(&f, &(double){2}), 0.15, 1e-12);
    CHECK_REL(msim_forest_eval(&f, &(double){3}), 0.2, 1e-12);
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
    RUN(test_boost__learns_steps);
    RUN(test_boost__gives_the_same_bytes);
    RUN(test_forest__stays_within_bounds);
    RUN(test_forest__refuses_broken_trees);
    return check_summary();
}
