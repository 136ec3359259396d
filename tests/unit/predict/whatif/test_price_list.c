/*
 * predict/whatif/price_list.c: prices of instances from a user's table.
 */
#include "predict/whatif/whatif.h"

#include "tests/check.h"

#include <unistd.h>

#define PATH "price_list_test.csv"
#define MOST 10000.0

/* Read `table` for those platforms; room for four. */
static enum msim_status read_table(double of[4], const char *table,
                                   const char *platforms,
                                   struct msim_error *err)
{
    FILE *out = fopen(PATH, "w");
    enum msim_status status;

    *err = (struct msim_error){0};
    for (int i = 0; i < 4; i++)
        of[i] = -1;
    if (!CHECK(out != NULL))
        return MSIM_EIO;
    fputs(table, out);
    fclose(out);
    status = msim_price_list_read(of, MOST, PATH, platforms, MSIM_DATA, err);
    unlink(PATH);
    return status;
}

/* 24 dollars for eight GPUs are 3 for one; without `gpus`, or where it is
 * empty, the price is one GPU's. Columns are found by name. */
static void test_price_list__is_of_one_gpu(void)
{
    struct msim_error err;
    double of[4];

    CHECK_INT(read_table(of,
                         "kind,usd_per_hour,gpus,platform\n"
                         "spot,24.00,8,h100\n"
                         "spot,1.50,,a100\n",
                         "a100,h100", &err),
              MSIM_OK);
    CHECK_REL(of[0], 1.5, 0);
    CHECK_REL(of[1], 3, 0);
    CHECK_REL(of[2], -1, 0); /* no more than were asked for */
    CHECK_INT(read_table(of, "platform,usd_per_hour\nh100,24\n", "h100", &err),
              MSIM_OK);
    CHECK_REL(of[0], 24, 0);
}

/* Whatever name the table has of it; a stack costs what its GPU does, and a
 * platform that is asked twice is found twice. Rows of others are for others.
 */
static void test_price_list__names(void)
{
    struct msim_error err;
    double of[4];

    CHECK_INT(read_table(of,
                         "platform,usd_per_hour\n"
                         "b200,9\n"
                         "no such card,7\n"
                         "NVIDIA A100-SXM4-80GB,2\n"
                         "H100,3\n",
                         "a100@vllm,h100,a100", &err),
              MSIM_OK);
    CHECK_REL(of[0], 2, 0);
    CHECK_REL(of[1], 3, 0);
    CHECK_REL(of[2], 2, 0);
    CHECK_REL(of[3], -1, 0);
    /* A name that no folder has matches itself, in any case, as a whole. */
    CHECK_INT(read_table(of, "platform,usd_per_hour\nmine,7\nmine2,8\nMy,6\n",
                         "MINE2,my", &err),
              MSIM_OK);
    CHECK_REL(of[0], 8, 0);
    CHECK_REL(of[1], 6, 0);
}

static void check_refused(const char *table, const char *platforms,
                          enum msim_status status, const char *want)
{
    struct msim_error err;
    double of[4];

    CHECK_INT(read_table(of, table, platforms, &err), status);
    CHECK_STR(err.text, want);
    CHECK_STR(err.file, PATH);
}

static void test_price_list__columns(void)
{
    check_refused("gpus,usd_per_hour\n8,1\n", "a100", MSIM_EFORMAT,
                  "no column 'platform', want platform, usd_per_hour and, "
                  "where that is of several GPUs, gpus");
    check_refused("platform,gpus\na100,1\n", "a100", MSIM_EFORMAT,
                  "no column 'usd_per_hour', want platform, usd_per_hour and, "
                  "where that is of several GPUs, gpus");
}

static void test_price_list__numbers(void)
{
    static const struct {
        const char *row, *want;
    } CASES[] = {
        {"a100,1,", "line 2: usd_per_hour is '', want a number above 0"},
        {"a100,1,2x", "line 2: usd_per_hour is '2x', want a number above 0"},
        {"a100,1,0", "line 2: usd_per_hour is '0', want a number above 0"},
        {"a100,1,-3", "line 2: usd_per_hour is '-3', want a number above 0"},
        {"a100,1,nan", "line 2: usd_per_hour is 'nan', want a number above 0"},
        {"a100,0,3", "line 2: gpus is '0', want a number above 0"},
        {"a100,eight,3", "line 2: gpus is 'eight', want a number above 0"},
        {"a100,1,10000.5",
         "line 2: a GPU costs 10000.5 US dollars an hour, want at most 10000"},
        {"a100,2,inf",
         "line 2: a GPU costs inf US dollars an hour, want at most 10000"},
        {"a100,inf,3",
         "line 2: a GPU costs 0 US dollars an hour, want at most 10000"},
    };
    struct msim_error err;
    char table[128];
    double of[4];

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        snprintf(table, sizeof(table), "platform,gpus,usd_per_hour\n%s\n",
                 CASES[i].row);
        check_refused(table, "a100", MSIM_EFORMAT, CASES[i].want);
    }
    /* The most itself is a price, and is meant of one GPU. */
    CHECK_INT(read_table(of,
                         "platform,gpus,usd_per_hour\na100,8,80000\n"
                         "h100,,0.001\n",
                         "a100,h100", &err),
              MSIM_OK);
    CHECK_REL(of[0], 10000, 0);
    CHECK_REL(of[1], 0.001, 0);
}

static void test_price_list__one_price_each(void)
{
    check_refused("platform,usd_per_hour\na100,1\nNVIDIA A100-SXM4-80GB,2\n",
                  "h100,a100", MSIM_EFORMAT,
                  "line 3 is a second price of 'NVIDIA A100-SXM4-80GB', want "
                  "one");
    check_refused("platform,usd_per_hour\na100,1\n", "a100,h100@vllm,b200",
                  MSIM_EUSAGE, "no price of 'h100', want a row of it");
    check_refused("platform,usd_per_hour\na100,1\n", "a100,b200@vllm",
                  MSIM_EUSAGE, "no price of 'b200', want a row of it");
    check_refused("platform,usd_per_hour\n", "b200,a100", MSIM_EUSAGE,
                  "no price of 'b200', want a row of it");
    check_refused("platform,usd_per_hour\n", "x", MSIM_EUSAGE,
                  "no price of 'x', want a row of it");
}

int main(void)
{
    RUN(test_price_list__columns);
    RUN(test_price_list__is_of_one_gpu);
    RUN(test_price_list__names);
    RUN(test_price_list__numbers);
    RUN(test_price_list__one_price_each);
    return check_summary();
}
