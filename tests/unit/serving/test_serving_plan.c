/*
 * tests/unit/serving/test_serving_plan.c - tests of
 * serving/app/serving_plan.c.
 */
#include "serving/app/app.h"

#include "tests/unit/serving/made_app.h"

static struct msim_app app;
static int64_t replicas[2];

static enum msim_status read_plan(const char *text)
{
    made_put("plan.json", text);
    made_error = (struct msim_error){0};
    return msim_serving_plan_read(replicas, &app, made_path("plan.json"),
                                  &made_error);
}

static void test_serving_plan__says_how_many(void)
{
    REQUIRE(read_plan("{'schema': 'mystique-sim/serving-plan/1', 'stages': "
                      "{'b': {'replicas': 7, 'platform': null, "
                      "'load_per_replica': 2.5}}, 'predicted': {}, 'replicas': "
                      "9}") == MSIM_OK);
    CHECK_INT(replicas[0], 3); /* the application's */
    CHECK_INT(replicas[1], 7);
    REQUIRE(read_plan("{'replicas': {'a': 2, 'b': 5}}") == MSIM_OK);
    CHECK_INT(replicas[0], 2);
    CHECK_INT(replicas[1], 5);
}

static void test_serving_plan__refuses_by_path(void)
{
    static const struct {
        const char *text, *says;
    } WRONG[] = {
        {"{'stages': {'c': {'replicas': 7}}}", "stages.c is not known"},
        {"{'replicas': {'search': 7}}", "replicas.search is not known"},
        {"{'stages': {'a': {'replicas': 0}}}", "stages.a.replicas is 0, want"},
        {"{'replicas': {'a': 2000000}}", "replicas.a is 2000000, want"},
        {"{'stages': {'a': {}}}", "stages.a.replicas is missing, want"},
        {"{'stages': {'a': {'replicas': 1, 'platfrom': 'x'}}}",
         "stages.a.platfrom is not known, did you mean platform?"},
        {"{'stages': {'a': 3}}", "stages.a is 3, want an object"},
        {"{'stages': {}}", "stages is {}, want"},
        {"{}", "stages is missing, want"},
        {"{'stage': {}}", "stage is not known, did you mean stages?"},
        {"{'schema': 'mystique-sim/app/1', 'stages': {'a': {'replicas': 1}}}",
         "schema is \"mystique-sim/app/1\", want"},
        {"[]", "this is not a JSON object"},
    };

    for (size_t i = 0; i < sizeof(WRONG) / sizeof(*WRONG); i++) {
        char got[1024];

        CHECK_INT(read_plan(WRONG[i].text), MSIM_EFORMAT);
        snprintf(got, sizeof(got), "%.*s", (int)strlen(WRONG[i].says),
                 made_error.text);
        CHECK_STR(got, WRONG[i].says);
    }
}

static void test_serving_plan__reads_lines(void)
{
    struct msim_serving_plans plans;

    made_put("plan.json", "{'replicas': {'a': 2}}\n\n{'name': 'x', 'stages': "
                          "{'a': {'replicas': 4}, 'b': {'replicas': 5}}}\n");
    REQUIRE(msim_serving_plans_read(&plans, &app, made_path("plan.json"),
                                    &made_error) == MSIM_OK);
    CHECK_UINT(plans.n, 2);
    CHECK_INT(plans.replicas[0], 2);
    CHECK_INT(plans.replicas[1], 1);
    CHECK_INT(plans.replicas[2], 4);
    CHECK_INT(plans.replicas[3], 5);
    CHECK_STR(plans.names[0], "1");
    CHECK_STR(plans.names[1], "x");
    msim_serving_plans_release(&plans);
    made_put("plan.json", "{'replicas': {'a': 2}}\n{'replicas': {'c': 2}}\n");
    made_error = (struct msim_error){0};
    CHECK_INT(msim_serving_plans_read(&plans, &app, made_path("plan.json"),
                                      &made_error),
              MSIM_EFORMAT);
    CHECK(strstr(made_error.text, "line 2: replicas.c is not known"));
    CHECK(!plans.replicas);
    made_put("plan.json", "\n");
    made_error = (struct msim_error){0};
    CHECK_INT(msim_serving_plans_read(&plans, &app, made_path("plan.json"),
                                      &made_error),
              MSIM_EFORMAT);
}

int main(void)
{
    static const char *const FILES[] = {"app.json", "plan.json", NULL};

    made_begin();
    CHECK(made_read(&app, "",
                    "'a': {'kind': 'tool', 'replicas': 3}, 'b': {'kind': "
                    "'tool'}",
                    "'start': 'a'") == MSIM_OK);
    RUN(test_serving_plan__says_how_many);
    RUN(test_serving_plan__refuses_by_path);
    RUN(test_serving_plan__reads_lines);
    msim_app_release(&app);
    made_end(FILES);
    return check_summary();
}
