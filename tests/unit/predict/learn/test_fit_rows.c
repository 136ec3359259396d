/*
 * predict/learn/fit_rows.c: the clock at which models err least, of rows that
 * count.
 */
#include "predict/learn/learn_internal.h"

#include "tests/check.h"

#include <math.h>

enum { KINDS = 3, ROWS = 5 };

static struct msim_learn_row row[ROWS];
static uint32_t fold[ROWS];

/* Rows of three kinds: three of the first, one of the others. Each took `us`,
 * and models say 100 at every clock. */
static void rows_of(struct msim_learn_rows *r, double us)
{
    static const char *const NAMES[KINDS] = {"a", "b", "c"};

    *r = (struct msim_learn_rows){.rows = row, .n = ROWS};
    REQUIRE(msim_strtab_new(&r->kinds) == MSIM_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        const char *name = NAMES[i < 3 ? 0 : i - 2];
        uint32_t id;

        REQUIRE(msim_strtab_add(r->kinds, name, 1, &id) == MSIM_OK);
        row[i] = (struct msim_learn_row){
            .name = id, .kin = MSIM_NONE, .family = MSIM_FAMILY_GEMM, .us = us};
        for (int c = 0; c < MSIM_LEARN_CLOCKS; c++)
            row[i].model_us[c] = 100;
        fold[i] = 0;
    }
}

static int clock_of(const struct msim_learn_rows *r, uint32_t without)
{
    const struct msim_learn_split split = {fold, without};
    struct msim_learn_fit fit;

    CHECK_INT(msim_learn_fit_rows(&fit, r, &split), MSIM_OK);
    msim_levels_release(&fit.levels);
    return fit.clock;
}

/* What models say of a row at a clock, as what it took times exp(off). */
static void off(uint32_t i, int clock, double by)
{
    row[i].model_us[clock] = row[i].us * exp(by);
}

/*
 * Each kind counts once, however many rows it has. At the usual clock all kinds
 * are off by 1. At clock 1 the first is right in all three rows and the others
 * off by 1.2: 0.8 in the mean. At clock 2 one of the first's is right, and the
 * others off by 0.5: (2 / 3 + 0.5 + 0.5) / 3 = 0.556.
 */
static void test_fit_rows__weighs_kinds(void)
{
    struct msim_learn_rows r;

    rows_of(&r, 100);
    for (uint32_t i = 0; i < ROWS; i++)
        for (int c = 0; c < MSIM_LEARN_CLOCKS; c++)
            off(i, c, i % 2 ? 1 : -1);
    CHECK_INT(clock_of(&r, UINT32_MAX), 0);
    for (uint32_t i = 0; i < ROWS; i++)
        off(i, 1, i < 3 ? 0 : 1.2);
    CHECK_INT(clock_of(&r, UINT32_MAX), 0);
    off(0, 2, 0);
    off(3, 2, 0.5);
    off(4, 2, -0.5);
    CHECK_INT(clock_of(&r, UINT32_MAX), 2);
    msim_strtab_free(r.kinds);
}

/* Another clock is believed below 0.7 of the error at the usual one, and of
 * several the one that errs least, of two alike the first. */
static void test_fit_rows__believes_a_clock(void)
{
    static const struct {
        double at[3];
        int clock;
    } CASE[] = {{{1, 0.701, 1}, 0}, {{1, 0.699, 1}, 1},   {{1, 0.6, 0.5}, 2},
                {{1, 0.5, 0.6}, 1}, {{1, 0.5, 0.5}, 1},   {{0, 0, 0}, 0},
                {{2, 1.39, 2}, 1},  {{0.2, 0.15, 0.2}, 0}};

    for (size_t k = 0; k < sizeof(CASE) / sizeof(*CASE); k++) {
        struct msim_learn_rows r;

        rows_of(&r, 50);
        for (uint32_t i = 0; i < ROWS; i++)
            for (int c = 0; c < MSIM_LEARN_CLOCKS; c++)
                off(i, c, c < 3 ? CASE[k].at[c] : 3);
        CHECK_INT(clock_of(&r, UINT32_MAX), CASE[k].clock);
        msim_strtab_free(r.kinds);
    }
    /* the last clock is one of them */
    {
        struct msim_learn_rows r;

        rows_of(&r, 50);
        for (uint32_t i = 0; i < ROWS; i++)
            off(i, MSIM_LEARN_CLOCKS - 1, 0);
        CHECK_INT(clock_of(&r, UINT32_MAX), MSIM_LEARN_CLOCKS - 1);
        msim_strtab_free(r.kinds);
    }
}

/* A row that is held out counts neither for the clock nor for the factors; a
 * kind of which none is left counts for nothing. */
static void test_fit_rows__holds_out(void)
{
    struct msim_learn_rows r;

    rows_of(&r, 200); /* twice what models say at the usual clock */
    off(4, 1, 0);     /* 1 is right of the last row, and of no other */
    for (uint32_t i = 0; i < 4; i++)
        off(i, 1, 5);
    for (uint32_t i = 0; i < 4; i++)
        fold[i] = 7;
    CHECK_INT(clock_of(&r, UINT32_MAX), 0);
    CHECK_INT(clock_of(&r, 7), 1);
    CHECK_INT(clock_of(&r, 0), 0);
    msim_strtab_free(r.kinds);
}

/* Factors are those at the clock that was found: 200 of 100 without a start,
 * of many rows of one name near to 2, of which others have less. */
static void test_fit_rows__fits_factors(void)
{
    const struct msim_learn_split all = {fold, UINT32_MAX};
    struct msim_learn_fit fit;
    struct msim_learn_rows r;
    struct msim_levels want;
    struct msim_observation seen[ROWS];

    rows_of(&r, 200);
    for (uint32_t i = 0; i < ROWS; i++) {
        for (int c = 0; c < MSIM_LEARN_CLOCKS; c++)
            off(i, c, c == 2 ? 0.1 : 2);
        row[i].start_us[2] = 4;
        seen[i] = (struct msim_observation){
            row[i].name, MSIM_NONE, MSIM_FAMILY_GEMM, 200, 200 * exp(0.1), 4};
    }
    REQUIRE(msim_learn_fit_rows(&fit, &r, &all) == MSIM_OK);
    CHECK_INT(fit.clock, 2);
    REQUIRE(msim_levels_fit(&want, seen, ROWS, msim_strtab_count(r.kinds)) ==
            MSIM_OK);
    CHECK_REL(fit.levels.all.rate, want.all.rate, 1e-12);
    CHECK_REL(msim_learn_us(&fit, &row[0]),
              msim_level_apply(msim_levels_of(&want, row[0].name, MSIM_NONE,
                                              MSIM_FAMILY_GEMM),
                               200 * exp(0.1), 4, NULL),
              1e-12);
    msim_levels_release(&want);
    msim_levels_release(&fit.levels);
    msim_strtab_free(r.kinds);
}

int main(void)
{
    RUN(test_fit_rows__weighs_kinds);
    RUN(test_fit_rows__believes_a_clock);
    RUN(test_fit_rows__holds_out);
    RUN(test_fit_rows__fits_factors);
    return check_summary();
}
