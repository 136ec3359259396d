/*
 * Growing trees: what is grown can be read back, says what was learned, answers
 * as XGBoost does, bears outliers, goes on with some rows, and comes out the
 * same again.
 */
#include "calibrate/stat/boost.h"
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
    REQUIRE(msim_boost_fit(&json, &x[0][0], y, ROWS, 2, &OPTIONS, NULL) ==
            MSIM_OK);
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
        REQUIRE(msim_boost_fit(&json, &x[0][0], y, ROWS, 2, &OPTIONS, NULL) ==
                MSIM_OK);
        text[i] = cJSON_PrintUnformatted(json);
        cJSON_Delete(json);
    }
    CHECK_STR(text[0], text[1]);
    cJSON_free(text[0]);
    cJSON_free(text[1]);
}

/*
 * Every row its own answer, so that one row on the wrong side of one cut shows.
 * XGBoost cuts at values that rows have, and none of these is a float: 0.1
 * times a whole number, above or below it as it may be.
 */
static void make_scattered(double x[ROWS][2], double *y)
{
    uint32_t state = 1;

    for (int i = 0; i < ROWS; i++) {
        state = state * 1664525u + 1013904223u;
        x[i][0] = 0.1 * (int)(state >> 26);
        x[i][1] = 0.1 * (int)(state >> 20 & 63);
        y[i] = (state >> 8 & 0xffff) / 65536.0 * 4 - 2;
    }
}

static void test_boost__agrees_with_xgboost(void)
{
    static const struct msim_boost_options DEEP = {.trees = 20,
                                                   .leaves = 32,
                                                   .rate = 0.5,
                                                   .penalty = 0,
                                                   .least = 1,
                                                   .clip = 10};
    static double x[ROWS][2], y[ROWS], sums[ROWS];
    struct msim_forest f;
    cJSON *json;
    double worst = 0;

    make_scattered(x, y);
    REQUIRE(msim_boost_fit(&json, &x[0][0], y, ROWS, 2, &DEEP, sums) ==
            MSIM_OK);
    REQUIRE(msim_forest_read(&f, json, 2) == MSIM_OK);
    CHECK_UINT(f.n_trees, DEEP.trees);
    f.low = -INFINITY; /* XGBoost's sums have no bounds */
    f.high = INFINITY;
    for (int i = 0; i < ROWS; i++)
        worst = fmax(worst, fabs(msim_forest_eval(&f, x[i]) - sums[i]));
    /* a leaf is rounded by half a unit at most; sums of floats by 1e-6 */
    CHECK(worst <= 0.5 * MSIM_FOREST_UNIT * DEEP.trees + 1e-5);
    msim_forest_release(&f);
    cJSON_Delete(json);
}

/* The longest path of the tree that begins at `*split`, which goes behind it.
 */
static uint32_t depth(const uint16_t **split)
{
    uint32_t below, above;

    if (!*(*split)++)
        return 0;
    below = depth(split);
    above = depth(split);
    return 1 + (below > above ? below : above);
}

/* Every 20th row is off by 3: with weights, what is left of others is far less
 * than the 0.15 by which the mean of a leaf would be off. No path is longer
 * than was asked for. */
static void test_boost__bears_outliers(void)
{
    struct msim_boost_options o = OPTIONS;
    static double x[ROWS][2], y[ROWS];
    const uint16_t *split;
    struct msim_forest f;
    cJSON *json;
    double worst = 0;

    make_rows(x, y);
    for (int i = 0; i < ROWS; i += 20)
        y[i] += 3;
    o.weighted = true;
    o.clip = 0.05;
    o.depth = 2;
    REQUIRE(msim_boost_fit(&json, &x[0][0], y, ROWS, 2, &o, NULL) == MSIM_OK);
    REQUIRE(msim_forest_read(&f, json, 2) == MSIM_OK);
    split = f.splits;
    for (uint32_t t = 0; t < f.n_trees; t++)
        CHECK(depth(&split) <= 2);
    for (int i = 0; i < ROWS; i++)
        if (i % 20 != 0 && fabs(x[i][0] - 0.3) > 0.05)
            worst = fmax(worst, fabs(msim_forest_eval(&f, x[i]) - y[i]));
    CHECK(worst < 0.05);
    msim_forest_release(&f);
    cJSON_Delete(json);
}

/* The second half of the rows is 1 more: trees say 0.5 more of all of them,
 * until further ones say what the first half is. */
static void test_boost__goes_on_with_the_first_rows(void)
{
    struct msim_boost_options o = OPTIONS;
    static double x[ROWS][2], y[ROWS];
    double off[2] = {0};

    make_rows(x, y);
    for (int i = ROWS / 2; i < ROWS; i++)
        y[i] += 1;
    o.weighted = true;
    o.more = 60;
    for (int k = 0; k < 2; k++) {
        struct msim_forest f;
        cJSON *json;

        o.first = k ? ROWS / 2 : 0;
        REQUIRE(msim_boost_fit(&json, &x[0][0], y, ROWS, 2, &o, NULL) ==
                MSIM_OK);
        REQUIRE(msim_forest_read(&f, json, 2) == MSIM_OK);
        CHECK_UINT(f.n_trees, o.trees + (k ? o.more : 0));
        for (int i = 0; i < ROWS / 2; i++)
            off[k] += (msim_forest_eval(&f, x[i]) - y[i]) / (ROWS / 2.0);
        msim_forest_release(&f);
        cJSON_Delete(json);
    }
    CHECK(off[0] > 0.4 && off[0] < 0.6);
    CHECK(fabs(off[1]) < 0.01);
}

static void test_boost__refuses_infinite_values(void)
{
    static double x[ROWS][2], y[ROWS];
    cJSON *json;

    make_rows(x, y);
    x[7][1] = INFINITY;
    CHECK_INT(msim_boost_fit(&json, &x[0][0], y, ROWS, 2, &OPTIONS, NULL),
              MSIM_EINTERNAL);
    CHECK(json == NULL);
}

int main(void)
{
    RUN(test_boost__learns_steps);
    RUN(test_boost__gives_the_same_bytes);
    RUN(test_boost__agrees_with_xgboost);
    RUN(test_boost__bears_outliers);
    RUN(test_boost__goes_on_with_the_first_rows);
    RUN(test_boost__refuses_infinite_values);
    return check_summary();
}
