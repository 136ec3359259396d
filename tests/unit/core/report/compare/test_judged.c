/*
 * core/report/compare/judged.c: errors of predictions by group.
 */
#include "core/report/compare/compare.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static char *table(const struct msim_judged_groups *g)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out || msim_judged_write(g, "group", NULL, NULL, NULL, out))
        abort();
    fclose(out);
    return text;
}

/* 90 and 130 for 100 are errors of 10 and 30 %: a mean of 20, the worst 30; the
 * second lies outside of 125 to 140. What was not measured counts nothing. */
static void test_judged__errors_by_group(void)
{
    struct msim_judged_groups g = {0};
    char *text;

    CHECK_INT(msim_judged_add(&g, "a", MSIM_JUDGED_STEP, 100, 90, 80, 110), 0);
    CHECK_INT(msim_judged_add(&g, "a", MSIM_JUDGED_STEP, 100, 130, 125, 140),
              0);
    CHECK_INT(msim_judged_add(&g, "a", MSIM_JUDGED_STEP, 0, 5, 4, 6), 0);
    CHECK_INT(msim_judged_add(&g, "b", MSIM_JUDGED_MEMORY, 10, 10, 9, 11), 0);
    text = table(&g);
    CHECK(strstr(text, "step   a                     2   20.0   30.0   30.0   "
                       "30.0    50 %\n") != NULL);
    CHECK(strstr(text, "memory b                     1    0.0    0.0    0.0    "
                       "0.0   100 %\n") != NULL);
    CHECK(strstr(text, "memory a  ") == NULL);
    free(text);
    msim_judged_release(&g);
}

/* 3.9 where 4000 are predicted, and 2.2 where 2000 are: seconds. One of 2000
 * alone beside them would be a bad prediction. */
static void test_judged__unit(void)
{
    struct msim_judged_groups g = {0};
    char *text;

    CHECK_INT(msim_judged_add(&g, "a", MSIM_JUDGED_STEP, 3.9, 4000, 1, 9), 0);
    CHECK_INT(msim_judged_add(&g, "a", MSIM_JUDGED_STEP, 2.2, 2000, 1, 9), 0);
    text = table(&g);
    CHECK(
        strstr(text, "about 1000 times as short as predicted: are they in s,"));
    free(text);
    for (int i = 0; i < 2; i++)
        CHECK_INT(msim_judged_add(&g, "a", MSIM_JUDGED_STEP, 9, 9, 1, 9), 0);
    text = table(&g);
    CHECK(!strstr(text, "1000 times"));
    free(text);
    msim_judged_release(&g);
}

int main(void)
{
    RUN(test_judged__errors_by_group);
    RUN(test_judged__unit);
    return check_summary();
}
