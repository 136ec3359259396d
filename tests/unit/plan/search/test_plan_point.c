/* plan/search: values and refusals of points (plan_point.c), points that cannot
 * be as predicted (plan_guard.c), and the platforms of a spec
 * (plan_platforms.c). */
#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "plan/search/plan.h"
#include "plan/search/plan_guard.h"
#include "plan/search/spec.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

static struct msim_error err;

/* ---- values -------------------------------------------------------------- */

/* Each dimension has a place of its own, of the strategy or beside it. */
static void check_places(bool traced)
{
    struct msim_plan_point p = {0};
    const struct msim_spec_dimension *d;

    for (uint32_t i = 0; (d = msim_spec_dimension_at(traced, i)); i++)
        msim_plan_point_put(&p, d, i % 2 + 1);
    for (uint32_t i = 0; (d = msim_spec_dimension_at(traced, i)); i++)
        CHECK_INT(msim_plan_point_value(&p, d), i % 2 + 1);
}

static void test_plan_point__values(void)
{
    struct msim_plan_point p = {0};

    check_places(false);
    check_places(true);
    for (uint32_t i = 0; i < msim_spec_dimension_count(true); i++) {
        const struct msim_spec_dimension *d = msim_spec_dimension_at(true, i);

        msim_plan_point_put(&p, d, 2);
        if (d->place == MSIM_SPEC_SHARD)
            CHECK_INT(p.traced[0], 2);
        if (d->place == MSIM_SPEC_HIDDEN)
            CHECK_INT(p.traced[MSIM_SPEC_HIDDEN - MSIM_SPEC_SHARD], 2);
        if (d->place == MSIM_GIVEN_tp)
            CHECK_INT(p.strategy.tp, 2);
    }
}

/* Equal texts are one reason; the ninth is counted with all behind it. */
static void test_plan_point__refusals(void)
{
    struct msim_plan_refusals r = {0};
    struct msim_plan_refusal why = {.points = 10};

    for (uint32_t i = 0; i < 10; i++) {
        snprintf(why.text, sizeof(why.text), "reason %u", i);
        why.first = i;
        CHECK_INT(msim_plan_refuse(&r, &why), MSIM_OK);
    }
    CHECK_INT(r.n, MSIM_PLAN_REFUSALS);
    CHECK_INT(r.others, 20);
    snprintf(why.text, sizeof(why.text), "%s", "reason 7");
    why.points = 5;
    why.first = 99;
    CHECK_INT(msim_plan_refuse(&r, &why), MSIM_OK);
    snprintf(why.text, sizeof(why.text), "%s", "reason 0");
    CHECK_INT(msim_plan_refuse(&r, &why), MSIM_OK);
    CHECK_INT(r.n, MSIM_PLAN_REFUSALS);
    CHECK_INT(r.others, 20);
    for (uint32_t i = 0; i < r.n; i++) {
        CHECK_INT(r.of[i].points, i == 0 || i == 7 ? 15 : 10);
        CHECK_INT(r.of[i].first, i);
    }
    free(r.of);
}

/* ---- guards -------------------------------------------------------------- */

static struct msim_plan_point points[2];

/* A micro batch of 2 in 90 us, and one of 4 in 20. */
static struct msim_plan plan_of_two(void)
{
    for (int i = 0; i < 2; i++)
        points[i] = (struct msim_plan_point){
            .strategy = {.gpus = 8,
                         .gpus_a_node = 8,
                         .nodes = 1,
                         .dp = 8,
                         .tp = 1,
                         .pp = 1,
                         .vp = 1,
                         .cp = 1,
                         .ep = 1,
                         .micro_batch = i ? 4 : 2,
                         .grad_accum = 1,
                         .global_batch = i ? 32 : 16,
                         .sequence = 4096,
                         .precision = MSIM_PRECISION_BF16},
            .us = i ? 20 : 90,
            .low_us = i ? 10 : 80,
            .high_us = i ? 30 : 100,
            .peak_gib = 1,
            .mfu = 0.4};
    return (struct msim_plan){.points = points, .n = 2};
}

static void check_marks(struct msim_plan *plan, msim_guard_marks first,
                        msim_guard_marks second)
{
    CHECK_INT(msim_plan_guard(plan), MSIM_OK);
    CHECK_UINT(points[0].marks, first);
    CHECK_UINT(points[1].marks, second);
    CHECK_INT(plan->marked.answers, plan->n);
    CHECK_INT(plan->marked.marked, (first != 0) + (second != 0));
}

static void test_plan_guard__beside_each_other(void)
{
    const msim_guard_marks larger = MSIM_GUARD_BIT(LARGER);
    struct msim_plan plan = plan_of_two();

    check_marks(&plan, 0, larger);
    CHECK_INT(plan.marked.by[MSIM_GUARD_LARGER], 1);
    plan = plan_of_two();
    points[1].measured = true; /* then the other one is wrong */
    check_marks(&plan, larger, 0);
    plan = plan_of_two();
    points[1].platform = 1; /* another GPU, another step */
    check_marks(&plan, 0, 0);
    for (int i = 0; i < MSIM_SPEC_PLACES - MSIM_GIVEN_COUNT; i++) {
        plan = plan_of_two();
        points[1].traced[i] = 1;
        check_marks(&plan, 0, 0);
    }
}

static void test_plan_guard__by_itself(void)
{
    struct msim_plan plan = plan_of_two();

    points[1].us = 200;
    points[1].high_us = 210;
    check_marks(&plan, 0, 0);
    plan = plan_of_two();
    points[1].us = 200; /* its interval ends at 30 */
    check_marks(&plan, 0, MSIM_GUARD_BIT(ORDER));
    plan = plan_of_two();
    points[0].mfu = 1.1;
    points[1].us = points[1].high_us = 200;
    points[1].marks = MSIM_GUARD_BIT(MEMORY); /* it had that */
    check_marks(&plan, MSIM_GUARD_BIT(PEAK), MSIM_GUARD_BIT(MEMORY));
    plan = plan_of_two();
    points[1].us = points[1].high_us = 200;
    points[0].peak_gib = points[1].peak_gib = NAN;
    points[1].ran = true; /* as much did */
    check_marks(&plan, MSIM_GUARD_BIT(UNKNOWN), 0);
    plan = (struct msim_plan){0};
    CHECK_INT(msim_plan_guard(&plan), MSIM_OK);
    CHECK_INT(plan.marked.answers, 0);
}

/* ---- platforms ----------------------------------------------------------- */

static struct msim_spec spec_of(const char *second, const char *network)
{
    struct msim_spec spec = {.file = "spec.json", .n_platforms = 2};

    snprintf(spec.platforms[0].name, sizeof(spec.platforms[0].name), "%s",
             "h100");
    snprintf(spec.platforms[1].name, sizeof(spec.platforms[1].name), "%s",
             second);
    snprintf(spec.platforms[1].network, sizeof(spec.platforms[1].network), "%s",
             network);
    return spec;
}

static void test_plan_platforms__are_loaded(void)
{
    struct msim_spec spec = spec_of("a100", "ethernet-100");
    char joined[512], apart[512];
    struct msim_platform *plain;
    struct msim_plan_platforms p;

    REQUIRE(msim_plan_platforms_load(&p, &spec, MSIM_DATA, &err) == MSIM_OK);
    CHECK_STR(msim_platform_name(p.of[0]), "h100");
    CHECK_STR(msim_platform_name(p.of[1]), "a100");
    CHECK(!p.of[2]);
    CHECK_STR(p.networks[0].name, "");
    CHECK_STR(p.networks[1].name, "ethernet-100");
    /* it is joined by that network */
    REQUIRE(msim_platform_load(&plain, MSIM_DATA, "a100", &err) == MSIM_OK);
    msim_collective_links(p.of[1], 16, 2, joined, sizeof(joined));
    msim_collective_links(plain, 16, 2, apart, sizeof(apart));
    CHECK(strcmp(joined, apart) != 0);
    msim_platform_join(plain, &p.networks[1]);
    msim_collective_links(plain, 16, 2, apart, sizeof(apart));
    CHECK_STR(joined, apart);
    msim_platform_free(plain);
    msim_plan_platforms_release(&p);
    for (uint32_t i = 0; i < MSIM_SPEC_PLATFORMS; i++)
        CHECK(!p.of[i]);
}

/* The member of the spec stands before what is known. */
static void test_plan_platforms__are_named(void)
{
    struct msim_spec spec = spec_of("h1", "");
    struct msim_plan_platforms p;

    err = (struct msim_error){0};
    CHECK_INT(msim_plan_platforms_load(&p, &spec, MSIM_DATA, &err),
              MSIM_EUNKNOWN);
    CHECK(strncmp(err.text, "platforms[1]: ", 14) == 0);
    CHECK(strstr(err.text, "'h1'") != NULL);
    CHECK_STR(err.file, "spec.json");
    msim_plan_platforms_release(&p);
    spec = spec_of("a100", "string");
    err = (struct msim_error){0};
    CHECK_INT(msim_plan_platforms_load(&p, &spec, MSIM_DATA, &err),
              MSIM_EUNKNOWN);
    CHECK(strncmp(err.text, "platforms[1].network: ", 22) == 0);
    CHECK(strstr(err.text, "'string'") != NULL);
    msim_plan_platforms_release(&p);
    spec = spec_of("no/such.json", ""); /* a file says its own name */
    err = (struct msim_error){0};
    CHECK_INT(msim_plan_platforms_load(&p, &spec, MSIM_DATA, &err), MSIM_EIO);
    CHECK(strstr(err.text, "platforms[") == NULL);
    msim_plan_platforms_release(&p);
}

int main(void)
{
    RUN(test_plan_point__values);
    RUN(test_plan_point__refusals);
    RUN(test_plan_guard__beside_each_other);
    RUN(test_plan_guard__by_itself);
    RUN(test_plan_platforms__are_loaded);
    RUN(test_plan_platforms__are_named);
    return check_summary();
}
