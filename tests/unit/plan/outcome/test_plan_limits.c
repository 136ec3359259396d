/* plan/outcome/plan_limits.c: a line for each limit of a plan whose points all
 * break one. */
#include "plan/outcome/plan_report.h"
#include "tests/check.h"

#include <math.h>

static struct msim_plan_point points[3];
static struct msim_plan plan;
static struct msim_spec spec;
static char text[2048];

/* 8, 16 and 32 GPUs: 30, 20 and 12 days, 100, 110 and 130 of cost; steps of 4,
 * 3 and 2 ms, rates of 1, 2 and 3 million. The second one is on the other
 * platform. */
static void begin(void)
{
    for (int i = 0; i < 3; i++)
        points[i] = (struct msim_plan_point){.strategy.gpus = 8 << i,
                                             .platform = i == 1,
                                             .days = i == 0   ? 30
                                                     : i == 1 ? 20
                                                              : 12,
                                             .cost = i == 0   ? 100
                                                     : i == 1 ? 110
                                                              : 130,
                                             .us = 4000 - 1000 * i,
                                             .rate = 1e6 * (i + 1)};
    plan = (struct msim_plan){.points = points, .n = 3};
    spec = (struct msim_spec){.n_platforms = 2,
                              .most_days = INFINITY,
                              .most_cost = INFINITY,
                              .most_gpus = INFINITY,
                              .most_latency_us = INFINITY};
    snprintf(spec.platforms[0].name, sizeof(spec.platforms[0].name), "%s",
             "h100");
    snprintf(spec.platforms[1].name, sizeof(spec.platforms[1].name), "%s",
             "a100");
}

static const char *says(void)
{
    FILE *out;

    memset(text, 0, sizeof(text));
    out = fmemopen(text, sizeof(text), "w");
    if (!CHECK(out != NULL))
        return "";
    msim_plan_limits_text(&plan, &spec, out);
    fclose(out);
    return text;
}

static void test_plan_limits__each(void)
{
    begin();
    CHECK_STR(says(), ""); /* there is none, which all keep */
    spec.most_days = 11.5;
    CHECK_STR(says(), "limits.days is 11.5: 0 of 3 points keep it; the least "
                      "is 12, of 32 x h100\n");
    begin();
    spec.most_cost = 99;
    CHECK_STR(says(), "limits.cost is 99: 0 of 3 points keep it; the least is "
                      "100, of 8 x h100\n");
    begin();
    spec.most_gpus = 4;
    CHECK_STR(says(), "limits.gpus is 4: 0 of 3 points keep it; the least is "
                      "8, of 8 x h100\n");
    begin();
    spec.most_latency_us = 1999;
    CHECK_STR(says(), "limits.latency_ms is 1.999: 0 of 3 points keep it; the "
                      "least is 2, of 32 x h100\n");
    begin();
    spec.least_rate = 3000001;
    CHECK_STR(says(), "limits.tokens_per_second is 3e+06: 0 of 3 points keep "
                      "it; the most is 3e+06, of 32 x h100\n");
    spec.unit = MSIM_SPEC_UNIT_REQUESTS;
    CHECK(strncmp(says(), "limits.requests_per_second", 26) == 0);
}

/* Bounds belong to what keeps them. Of one point: it keeps. */
static void test_plan_limits__are_kept(void)
{
    begin();
    spec.most_days = 12;
    spec.most_cost = 110;
    CHECK_STR(says(),
              "limits.days is 12: 1 of 3 points keeps it; the least is 12, of "
              "32 x h100\n"
              "limits.cost is 110: 2 of 3 points keep it; the least is 100, of "
              "8 x h100\n"
              "each limit is kept by some point, and all of them by none\n");
    spec.most_cost = 130; /* the last one keeps both */
    CHECK(strstr(says(), "by none") == NULL);
    spec.most_cost = 99; /* that alone is in the way */
    CHECK(strstr(says(), "by none") == NULL);
    spec.most_cost = 110;
    spec.least_rate = 3e6;
    CHECK(strstr(says(), "limits.tokens_per_second is 3e+06: 1 of 3 points "
                         "keeps it; the most is 3e+06") != NULL);
    CHECK(strstr(text, "by none") != NULL);
}

/* What is not known keeps nothing, and is nearest to nothing. */
static void test_plan_limits__are_not_known(void)
{
    begin();
    points[0].cost = points[2].cost = NAN;
    spec.most_cost = 50;
    CHECK_STR(says(), "limits.cost is 50: 0 of 3 points keep it; the least is "
                      "110, of 16 x a100\n");
    points[1].cost = NAN;
    CHECK_STR(says(), "limits.cost is 50: 0 of 3 points keep it\n");
    spec.least_rate = 2e6; /* of equal ones the first */
    points[1].rate = points[2].rate;
    spec.most_cost = INFINITY;
    CHECK(strstr(says(), "2 of 3 points keep it; the most is 3e+06, of 16 x "
                         "a100\n") != NULL);
}

/* Four digits up to 100,000, three above. */
static void test_plan_limits__figures(void)
{
    begin();
    spec.most_cost = 99999;
    points[0].cost = points[1].cost = points[2].cost = 123456;
    CHECK_STR(says(), "limits.cost is 1e+05: 0 of 3 points keep it; the least "
                      "is 1.23e+05, of 8 x h100\n");
    spec.most_cost = 12346;
    plan.n = 0;
    CHECK_STR(says(), "limits.cost is 1.235e+04: 0 of 0 points keep it\n");
}

int main(void)
{
    RUN(test_plan_limits__each);
    RUN(test_plan_limits__are_kept);
    RUN(test_plan_limits__are_not_known);
    RUN(test_plan_limits__figures);
    return check_summary();
}
