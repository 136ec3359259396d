/* plan/search/plan_guard.c and plan_platforms.c: points that cannot be as
 * predicted; platforms of a spec, and which member names an unknown one. */
#include "models/platform/platform_data.h"
#include "plan/search/plan_guard.h"
#include "plan/search/spec.h"
#include "tests/unit/made_plan.h"

/* Marks of point `i` of the first `n`. */
static msim_guard_marks marks(uint32_t n, uint32_t i)
{
    made_plan.plan.n = n;
    made_plan.plan.marked = (struct msim_guard_count){0};
    CHECK_INT(msim_plan_guard(&made_plan.plan), MSIM_OK);
    CHECK_UINT(made_plan.plan.marked.answers, n);
    return made_plan.points[i].marks;
}

static void begin(void)
{
    made_plan_begin();
    made_plan.points[0] = made_plan_point(8, 4e6);
    made_plan.points[1] = made_plan_point(8, 4e6);
}

/* What a point keeps by itself: an interval around its time, a rate that the
 * GPU has, memory that is known or was there. */
static void test_plan_guard__one(void)
{
    struct msim_plan_point *p = made_plan.points;

    begin();
    CHECK_UINT(marks(1, 0), 0);
    CHECK_UINT(made_plan.plan.marked.marked, 0);
    p->low_us = 4.1e6;
    CHECK_UINT(marks(1, 0), MSIM_GUARD_BIT(ORDER));
    begin();
    p->high_us = 3.9e6;
    CHECK_UINT(marks(1, 0), MSIM_GUARD_BIT(ORDER));
    begin();
    p->mfu = 1.01;
    CHECK_UINT(marks(1, 0), MSIM_GUARD_BIT(PEAK));
    CHECK_UINT(made_plan.plan.marked.marked, 1);
    p->marks = MSIM_GUARD_BIT(MEMORY); /* that it has already */
    CHECK_UINT(marks(1, 0), MSIM_GUARD_BIT(PEAK) | MSIM_GUARD_BIT(MEMORY));
    begin();
    p->peak_gib = NAN;
    CHECK_UINT(marks(1, 0), MSIM_GUARD_BIT(UNKNOWN));
    p->marks = 0;
    p->ran = true;
    CHECK_UINT(marks(1, 0), 0);
    CHECK_UINT(marks(0, 0), 0);
}

/* A micro batch of 2 that takes half as long as one of 1, otherwise the same:
 * it may be so on another platform, or where something else is traced. */
static void test_plan_guard__two(void)
{
    struct msim_plan_point *p = made_plan.points;

    begin();
    p[1].strategy.micro_batch = 2;
    p[1].us = 2e6;
    p[1].low_us = 1.6e6;
    p[1].high_us = 3e6;
    CHECK_UINT(marks(2, 1), MSIM_GUARD_BIT(LARGER));
    CHECK_UINT(p[0].marks, 0);
    CHECK_UINT(made_plan.plan.marked.marked, 1);
    p[0].marks = p[1].marks = 0;
    CHECK_UINT(marks(1, 0) | marks(1, 1), 0); /* alone */
    p[1].platform = 1;
    CHECK_UINT(marks(2, 1), 0);
    p[1].platform = 0;
    p[1].traced[0] = 1;
    CHECK_UINT(marks(2, 1), 0);
    p[1].traced[0] = 0;
    p[0].marks = p[1].marks = 0;
    p[1].measured = true; /* then the other one is wrong */
    CHECK_UINT(marks(2, 1), 0);
    CHECK_UINT(p[0].marks, MSIM_GUARD_BIT(LARGER));
}

/* ---- platforms ----------------------------------------------------------- */

static enum msim_status load(const char *a, const char *b, const char *network,
                             struct msim_plan_platforms *out,
                             struct msim_error *err)
{
    struct msim_spec *s = &made_plan.spec;

    made_plan_begin();
    s->file = "spec.json";
    snprintf(s->platforms[0].name, sizeof(s->platforms[0].name), "%s", a);
    snprintf(s->platforms[1].name, sizeof(s->platforms[1].name), "%s", b);
    snprintf(s->platforms[1].network, sizeof(s->platforms[1].network), "%s",
             network);
    *err = (struct msim_error){0};
    return msim_plan_platforms_load(out, s, MSIM_DATA, err);
}

static void test_plan_platforms__load(void)
{
    struct msim_plan_platforms p;
    struct msim_error err;

    CHECK_INT(load("h100", "a100", "ethernet-100", &p, &err), MSIM_OK);
    CHECK(p.of[0] != NULL && p.of[1] != NULL && p.of[2] == NULL);
    CHECK(strstr(msim_platform_title(p.of[0]), "H100") != NULL);
    CHECK(strstr(msim_platform_title(p.of[1]), "A100") != NULL);
    CHECK(!p.of[0]->joined && p.of[1]->joined); /* as the spec says */
    CHECK_STR(p.networks[1].name, "ethernet-100");
    msim_plan_platforms_release(&p);
    CHECK(p.of[0] == NULL);
    CHECK_INT(load("h100", "a100", "", &p, &err), MSIM_OK);
    CHECK(!p.of[1]->joined);
    msim_plan_platforms_release(&p);
}

static void test_plan_platforms__unknown(void)
{
    static const char *const CASES[][4] = {
        {"h99", "a100", "", "platforms[0]: "},
        {"h100", "a99", "", "platforms[1]: "},
        {"h100", "a100", "net-1", "platforms[1].network: "}};

    for (size_t i = 0; i < 3; i++) {
        const char *const *c = CASES[i];
        struct msim_plan_platforms p;
        struct msim_error err;

        CHECK_INT(load(c[0], c[1], c[2], &p, &err), MSIM_EUNKNOWN);
        CHECK_STR(err.file, "spec.json");
        CHECK(strncmp(err.text, c[3], strlen(c[3])) == 0);
        CHECK(strlen(err.text) > strlen(c[3]) + 10); /* what is known */
        msim_plan_platforms_release(&p);
    }
}

int main(void)
{
    RUN(test_plan_guard__one);
    RUN(test_plan_guard__two);
    RUN(test_plan_platforms__load);
    RUN(test_plan_platforms__unknown);
    free(made_plan.text);
    return check_summary();
}
