/*
 * core/work/kernel_fact.h: which row of a figure holds, on rows of its own,
 * and the built-in ones by their place.
 */
#include "core/work/kernel_fact.h"
#include "tests/check.h"

static struct msim_data_sheet gpu(const char *generation, double pytorch)
{
    struct msim_data_sheet s = {.pytorch = pytorch};

    snprintf(s.generation, sizeof(s.generation), "%s", generation);
    return s;
}

/* The first that holds: a word within another one is none, and a GPU without a
 * generation has no word. */
static void test_kernel_fact__gpus(void)
{
    static const struct msim_fact_row ROWS[] = {
        {3, " ampere-graphics turing ", .holds_for_some = true, .more = true},
        {2, " hopper ", .holds_for_some = true, .more = true},
        {1, .more = false},
    };
    struct msim_data_sheet ampere = gpu("ampere", 0), turing = gpu("turing", 0);
    struct msim_data_sheet hopper = gpu("hopper", 0), none = gpu("", 0);

    CHECK(msim_fact_choose(&turing, ROWS) == 3);
    CHECK(msim_fact_choose(&hopper, ROWS) == 2);
    CHECK(msim_fact_choose(&ampere, ROWS) == 1);
    CHECK(msim_fact_choose(&none, ROWS) == 1);
}

/* AMD's GPUs are those that run MIOpen. */
static void test_kernel_fact__amd(void)
{
    static const struct msim_fact_row ROW = {
        .value = 2, .amd = true, .holds_for_some = true};
    struct msim_data_sheet mi300 = gpu("cdna3", 0), hopper = gpu("hopper", 0);

    mi300.miopen = true;
    CHECK(msim_fact_choose(&mi300, &ROW) == 2);
    CHECK(msim_fact_choose(&hopper, &ROW) == 0);
}

/* A version that nobody names is neither before another one nor after it. */
static void test_kernel_fact__versions(void)
{
    static const struct msim_fact_row ROWS[] = {
        {3, .since = 2.9, .holds_for_some = true, .more = true},
        {2, .until = 2.9, .holds_for_some = true, .more = true},
        {1, .more = false},
    };
    struct msim_data_sheet later = gpu("hopper", 2.9), older = gpu("t", 2.5);
    struct msim_data_sheet any = gpu("hopper", 0);

    CHECK(msim_fact_choose(&later, ROWS) == 3);
    CHECK(msim_fact_choose(&later, &ROWS[1]) == 1);
    CHECK(msim_fact_choose(&older, ROWS) == 2);
    CHECK(msim_fact_choose(&any, ROWS) == 1);
}

/* A name is the place of its own rows, with and without conditions. */
static void test_kernel_fact__built_in(void)
{
    struct msim_data_sheet later = gpu("hopper", 2.9);

    CHECK(MSIM_FACT(&later, NLL_LOSS_STEP_US) == 0.1);
    CHECK(MSIM_FACT(&later, SM_PACE) == 1);
    CHECK(MSIM_FACT(NULL, SM_WARP) == 32);
    CHECK(MSIM_FACT(NULL, BATCH_NORM_GAIN) == 1.6);
}

int main(void)
{
    RUN(test_kernel_fact__gpus);
    RUN(test_kernel_fact__amd);
    RUN(test_kernel_fact__versions);
    RUN(test_kernel_fact__built_in);
    return check_summary();
}
