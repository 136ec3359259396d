/*
 * predict/launch_plan.c: what the operators of a rank would launch, and ranks
 * of which nothing says it.
 */
#include "predict/cost.h"

#include "tests/unit/made_ops.h"

static struct build b;

/* Each operator has the kinds of its works, in their order; one without works
 * has none. */
static void test_launch_plan__kinds(void)
{
    static const struct {
        const char *name, *args, *outs;
        uint32_t n;
        enum msim_launch_kind kind[2];
    } OP[] = {
        {"aten::view", "f16[8,4]", NULL, 0, {MSIM_LAUNCH_KERNEL}},
        {"aten::mm", "f16[8,4] f16[4,8]", NULL, 1, {MSIM_LAUNCH_KERNEL}},
        {"aten::copy_",
         "f16[8,4] f16[8,4]@",
         "f16[8,4]",
         1,
         {MSIM_LAUNCH_COPY}},
        {"aten::copy_",
         "f16[8,4]@ f16[8,4]",
         "f16[8,4]@",
         1,
         {MSIM_LAUNCH_COPY_BACK}},
        {"aten::nonzero",
         "f32[8,4]",
         NULL,
         2,
         {MSIM_LAUNCH_KERNEL, MSIM_LAUNCH_COPY_BACK}},
        {"aten::view", "f16[8,4]", NULL, 0, {MSIM_LAUNCH_KERNEL}},
    };
    const uint32_t n = sizeof(OP) / sizeof(*OP);
    struct msim_launch_plan *p;
    struct msim_works *works;
    uint32_t at = 0;

    build_init(&b);
    for (uint32_t i = 0; i < n; i++)
        (void)build_op(&b, 0, OP[i].name, OP[i].args, OP[i].outs);
    REQUIRE(msim_works_new(&works, &b.t, NULL,
                           msim_opmap_place_of(&b.t, false)) == MSIM_OK);
    for (int host = 0; host < 2; host++) {
        REQUIRE(msim_launch_plan_new(&p, works, host, "x.json", NULL) ==
                MSIM_OK);
        CHECK_INT(p->on_host, host);
        at = 0;
        for (uint32_t i = 0; i < n; i++) {
            CHECK_INT(p->first[i], at);
            for (uint32_t k = 0; k < OP[i].n; k++)
                CHECK_INT(p->kinds[at++], OP[i].kind[k]);
        }
        CHECK_INT(p->first[n], at);
        msim_launch_plan_free(p);
    }
    msim_launch_plan_free(NULL);
    msim_works_free(works);
    build_release(&b);
}

/* A rank that says nothing of what a device would run is no answer: operators
 * without a tensor, that copy at most. A rank without operators is one. */
static void test_launch_plan__wants_shapes(void)
{
    static const struct {
        const char *name, *args;
        bool fine;
    } CASE[] = {{NULL, NULL, true},
                {"aten::mm", "", false},
                {"aten::mm", "3 none", false},
                {"aten::_local_scalar_dense", "", false},
                {"aten::view", "f16[8,4]", true}};
    struct msim_launch_plan *p;

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_error err = {0};
        struct msim_works *works;

        build_init(&b);
        if (CASE[i].name)
            (void)build_op(&b, 0, CASE[i].name, CASE[i].args, NULL);
        REQUIRE(msim_works_new(&works, &b.t, NULL,
                               msim_opmap_place_of(&b.t, false)) == MSIM_OK);
        CHECK_INT(msim_launch_plan_new(&p, works, false, "x.json", &err),
                  CASE[i].fine ? MSIM_OK : MSIM_EFORMAT);
        CHECK_STR(err.file, CASE[i].fine ? "" : "x.json");
        CHECK_STR(err.text,
                  CASE[i].fine
                      ? ""
                      : "found operators without shapes and no GPU activity: "
                        "nothing says what a device would run; want a "
                        "recording with record_shapes=True, or an execution "
                        "trace (ET) beside it");
        CHECK_INT(p != NULL, CASE[i].fine);
        msim_launch_plan_free(p);
        msim_works_free(works);
        build_release(&b);
    }
}

/* Without shapes a work that is no copy says enough: one is of a user's table,
 * or of a collective. */
static void test_launch_plan__knows_other_works(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_COPY};
    struct msim_work_list list = {0};
    struct msim_launch_plan *p;
    uint32_t list_of = 0;
    struct msim_works works = {.trace = &b.t,
                               .list_of = &list_of,
                               .lists = &list,
                               .works = &w,
                               .n_lists = 1,
                               .n_works = 1};

    build_init(&b);
    (void)build_op(&b, 0, "aten::thing", "", NULL);
    CHECK_INT(msim_launch_plan_new(&p, &works, false, NULL, NULL),
              MSIM_EFORMAT);
    w.family = MSIM_FAMILY_COLLECTIVE;
    list.n = 1;
    REQUIRE(msim_launch_plan_new(&p, &works, false, NULL, NULL) == MSIM_OK);
    CHECK_INT(p->first[1], 1);
    CHECK_INT(p->kinds[0], MSIM_LAUNCH_COMM);
    msim_launch_plan_free(p);
    works.n_works = 0;
    CHECK_INT(msim_launch_plan_new(&p, &works, false, NULL, NULL),
              MSIM_EFORMAT);
    build_release(&b);
}

int main(void)
{
    RUN(test_launch_plan__kinds);
    RUN(test_launch_plan__wants_shapes);
    RUN(test_launch_plan__knows_other_works);
    return check_summary();
}
