/*
 * tests/unit/plan/test_plan_points.c - a search with a predictor that is made
 * up: what it asks, and what follows from the answers.
 */
#include "plan/search/plan.h"
#include "tests/unit/made_predictor.h"

/* All that is asked, and what is feasible by its number. */
static void test_search__keeps_what_is_answered(void)
{
    static const int64_t TP[] = {1, 2, 3}, ZERO[] = {1, 3}, GPUS[] = {8, 16};
    struct msim_spec spec;
    struct msim_plan plan;

    read_spec(&spec, SPEC);
    REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
    CHECK_UINT(asked.splits, POINTS);
    CHECK_UINT(asked.memories, POINTS - 4);
    CHECK_UINT(asked.steps, POINTS - 4 - 6);
    CHECK(asked.begun == 1 && asked.ended == 1 && asked.ways == 0);
    check_left_out(&plan);
    for (uint32_t i = 0; i < plan.n; i++) {
        const struct msim_plan_point *p = &plan.points[i];

        CHECK(i == 0 || p->number > plan.points[i - 1].number);
        CHECK_INT(p->platform, p->number / 12);
        CHECK_INT(p->strategy.tp, TP[p->number % 3]);
        CHECK_INT(p->strategy.zero, ZERO[p->number / 3 % 2]);
        CHECK_INT(p->strategy.gpus, GPUS[p->number / 6 % 2]);
        CHECK_INT(p->strategy.dp, p->strategy.gpus / p->strategy.tp);
        CHECK_INT(p->strategy.pp, 1);
        CHECK_INT(p->strategy.global_batch, 64);
        CHECK_INT(p->strategy.sequence, 100);
        CHECK_INT(p->strategy.precision, MSIM_PRECISION_BF16);
        CHECK(p->room_gib > 9 && p->room_gib < 25);
    }
    CHECK(!plan.has_nearest);
    CHECK(plan.step_parts == PARTS && plan.memory_parts == PARTS);
    msim_plan_release(&plan);
}

/* Figures by their definitions: a step has so many units, and times are those
 * of a step's share `each`. */
static void check_figures(const struct msim_plan_point *p, double units,
                          double each, double total)
{
    bool priced = p->platform == 0;
    double days = total / units * p->us / 86400e6;
    double hours = days * 24 * (double)p->strategy.gpus;

    CHECK_REL(p->rate, units / p->us * 1e6, 1e-12);
    CHECK_REL(p->gpu_us, (double)p->strategy.gpus * p->us / each, 1e-12);
    CHECK_REL(p->time, p->us / each, 1e-12);
    CHECK_REL(p->days, days, 1e-12);
    CHECK(priced != isnan(p->cost) && priced != isnan(p->kwh));
    CHECK(!priced || fabs(p->cost / (hours * 0.5) - 1) < 1e-12);
    CHECK(!priced || fabs(p->kwh / (hours * 0.5e-3) - 1) < 1e-12);
}

static void test_search__figures_follow_from_steps(void)
{
    struct msim_spec spec;
    struct msim_plan plan;
    char text[512];

    read_spec(&spec, SPEC);
    REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
    for (uint32_t i = 0; i < plan.n; i++) {
        check_figures(&plan.points[i], 6400, 1, 1e9);
        CHECK(plan.points[i].allowed && isnan(plan.points[i].chance));
    }
    msim_plan_release(&plan);
    /* Of a traced step a point makes the batch: time is that of a sample. */
    snprintf(text, sizeof(text), TRACED, "\"samples\": 0.5");
    read_spec(&spec, text);
    REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
    REQUIRE(plan.n == 4);
    for (uint32_t i = 0; i < 4; i++) {
        double units = 4 * (double)plan.points[i].strategy.gpus;

        check_figures(&plan.points[i], units, units, 0.5);
    }
    msim_plan_release(&plan);
    /* Of a service a step is a request's time, and cost that of an hour. */
    snprintf(text, sizeof(text), TRACED,
             "\"limits\": {\"requests_per_second\": 1, \"cost\": 5}");
    read_spec(&spec, text);
    REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
    REQUIRE(plan.n == 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct msim_plan_point *p = &plan.points[i];

        CHECK_REL(p->time, p->us, 0);
        CHECK(isnan(p->days) && isnan(p->cost) == (p->platform > 0));
        CHECK(p->platform > 0 || p->cost == 0.5 * (double)p->strategy.gpus);
        CHECK(p->allowed == (p->cost <= 5)); /* unknown: it keeps none */
        CHECK(p->chance > 0.99);
    }
    msim_plan_release(&plan);
}

/* One point's own figure as the limit: it is kept by that point, by those of
 * less, and by no other; the chance is that of its slack. */
static void test_search__keeps_limits_to_the_point(void)
{
    static const size_t OF[][2] = {
        {offsetof(struct msim_spec, most_days),
         offsetof(struct msim_plan_point, days)},
        {offsetof(struct msim_spec, most_cost),
         offsetof(struct msim_plan_point, cost)},
        {offsetof(struct msim_spec, most_latency_us),
         offsetof(struct msim_plan_point, us)},
        {offsetof(struct msim_spec, least_rate),
         offsetof(struct msim_plan_point, rate)},
    };

    for (size_t k = 0; k < sizeof(OF) / sizeof(OF[0]); k++) {
        struct msim_spec spec;
        struct msim_plan plan;
        double limit;
        uint32_t kept = 0;

        read_spec(&spec, SPEC);
        REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
        memcpy(&limit, (char *)&plan.points[3] + OF[k][1], sizeof(limit));
        msim_plan_release(&plan);
        memcpy((char *)&spec + OF[k][0], &limit, sizeof(limit));
        REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
        for (uint32_t i = 0; i < plan.n; i++) {
            const struct msim_plan_point *p = &plan.points[i];
            double own, slack;

            memcpy(&own, (const char *)p + OF[k][1], sizeof(own));
            slack = k == 3 ? own / limit : limit / own;
            CHECK(p->allowed == (slack >= 1)); /* unknown: it keeps none */
            CHECK(isnan(slack)
                      ? isnan(p->chance)
                      : fabs(p->chance -
                             msim_chance_below(slack * p->us, p->us, p->low_us,
                                               p->high_us)) < 1e-12);
            kept += p->allowed;
        }
        CHECK(kept > 0 && kept < plan.n);
        msim_plan_release(&plan);
    }
}

/* GPUs and memory are limits without a chance: memory is what the predictor is
 * told that there is. */
static void test_search__keeps_other_limits(void)
{
    struct msim_spec spec;
    struct msim_plan plan;

    read_spec(&spec, SPEC);
    spec.most_gpus = 8;
    spec.most_memory_gib = 6;
    REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
    CHECK_UINT(plan.n, POINTS - 12);
    for (uint32_t i = 0; i < plan.n; i++) {
        CHECK(plan.points[i].allowed == (plan.points[i].strategy.gpus == 8));
        CHECK(isnan(plan.points[i].chance));
        CHECK_REL(plan.points[i].room_gib, 6, 0);
    }
    msim_plan_release(&plan);
    spec.most_memory_gib = 5;
    REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
    CHECK_UINT(plan.n, POINTS - 12);
    msim_plan_release(&plan);
    spec.most_memory_gib = 4.99;
    REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
    CHECK_UINT(plan.n, 0);
    msim_plan_release(&plan);
}

/* Where nothing fits, the nearest is asked for what would. */
static void test_search__finds_the_nearest(void)
{
    struct msim_spec spec;
    struct msim_plan plan;

    read_spec(&spec, SPEC);
    asked.nothing_fits = true;
    REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
    CHECK_UINT(plan.n, 0);
    CHECK_UINT(plan.left_out[MSIM_PLAN_MEMORY], POINTS - 4);
    CHECK(asked.steps == 0 && asked.ways == 1);
    CHECK(asked.begun == 2 && asked.ended == 2);
    CHECK(plan.has_nearest && plan.best == UINT32_MAX);
    CHECK_UINT(plan.nearest.number, 18);
    CHECK_REL(plan.nearest_share, 9 / plan.nearest.room_gib, 1e-12);
    CHECK_STR(plan.nearest_ways.text, "of 18");
    msim_plan_release(&plan);
    /* Of one platform the least peak is that of point 0: nothing else. */
    spec.n_platforms = 1;
    REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
    CHECK_UINT(plan.nearest.number, 0);
    CHECK_REL(plan.nearest.peak_gib, 100, 0);
    CHECK_STR(plan.nearest_ways.text, "of 0");
    msim_plan_release(&plan);
    /* Of equal ones it is the first. */
    asked.alike = true;
    REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
    CHECK_UINT(plan.nearest.number, 0);
    msim_plan_release(&plan);
    asked.nothing_fits = asked.alike = false;
}

/* A thread that cannot begin has the say. */
static void test_search__says_what_failed(void)
{
    struct msim_spec spec;
    struct msim_plan plan;

    read_spec(&spec, SPEC);
    asked.fails = MSIM_EFORMAT;
    CHECK(search(&plan, &spec, 3, NULL) == MSIM_EFORMAT);
    CHECK_STR(err.text, "it fails");
    CHECK(asked.begun == 3 && asked.ended == 3 && asked.splits == 0);
    msim_plan_release(&plan);
    asked.fails = MSIM_OK;
    REQUIRE(search(&plan, &spec, 3, NULL) == MSIM_OK);
    CHECK(asked.begun == 3 && asked.ended == 3 && asked.splits == POINTS);
    check_left_out(&plan);
    msim_plan_release(&plan);
}

/* Blocks of any size, and threads, of which there are 65 at most: all have
 * ended before anything is put together. */
static void test_search__is_cut_as_one_likes(void)
{
    static const uint32_t BLOCKS[] = {1, 5, 23, 24, 100};
    struct msim_spec spec;
    struct msim_plan plan;

    read_spec(&spec, SPEC);
    for (size_t i = 0; i < sizeof(BLOCKS) / sizeof(*BLOCKS); i++) {
        block = BLOCKS[i];
        REQUIRE(search(&plan, &spec, 2, NULL) == MSIM_OK);
        check_left_out(&plan);
        msim_plan_release(&plan);
    }
    block = BLOCK;
    asked.slow = true;
    REQUIRE(search(&plan, &spec, 100, NULL) == MSIM_OK);
    CHECK(asked.begun == 65 && asked.ended == 65);
    check_left_out(&plan);
    msim_plan_release(&plan);
    REQUIRE(search(&plan, &spec, 2, NULL) == MSIM_OK);
    CHECK(asked.begun == 2 && asked.ended == 2);
    msim_plan_release(&plan);
    asked.slow = false;
}

/* The first eight reasons are kept, whatever block they are of. */
static void test_search__counts_further_reasons(void)
{
    struct msim_spec spec;
    struct msim_plan plan;

    read_spec(&spec, SPEC);
    asked.all_differ = true;
    for (block = BLOCK; block <= POINTS; block += POINTS - BLOCK) {
        REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
        CHECK_UINT(plan.refusals.n, MSIM_PLAN_REFUSALS);
        CHECK_UINT(plan.refusals.others, POINTS - MSIM_PLAN_REFUSALS);
        CHECK_STR(plan.refusals.of[7].text, "not 7");
        msim_plan_release(&plan);
    }
    block = BLOCK;
    asked.all_differ = false;
}

/* More GPUs that gain more than their number are marked, and not taken. */
static void test_search__guards_its_points(void)
{
    struct msim_spec spec;
    struct msim_plan plan;
    uint32_t marked = 0;

    read_spec(&spec, SPEC);
    asked.odd = true;
    REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
    for (uint32_t i = 0; i < plan.n; i++) {
        CHECK(!plan.points[i].marks || plan.points[i].strategy.gpus == 16);
        marked += plan.points[i].marks == MSIM_GUARD_BIT(SCALING);
    }
    CHECK(marked > 3);
    CHECK_UINT(plan.marked.marked, marked);
    CHECK_UINT(plan.marked.answers, plan.n);
    CHECK(!plan.points[plan.best].marks);
    msim_plan_release(&plan);
    asked.odd = false;
}

static void test_search__notes_its_platforms(void)
{
    struct msim_spec spec;
    struct msim_plan plan;

    read_spec(&spec, SPEC);
    snprintf(spec.platforms[1].network, sizeof(spec.platforms[1].network),
             "ethernet-100");
    REQUIRE(search(&plan, &spec, 1, NULL) == MSIM_OK);
    for (int i = 0; i < 2; i++) {
        CHECK(strstr(plan.basis.platforms[i].title, i ? "M40" : "Xp"));
        CHECK(plan.basis.platforms[i].memory > 9e9 &&
              plan.basis.platforms[i].memory < 26e9);
        CHECK(plan.basis.platforms[i].bandwidth > 1e11);
        CHECK_UINT(plan.basis.platforms[i].gpus_a_node, 8);
        CHECK((*plan.basis.platforms[i].network != '\0') == (i == 1));
    }
    msim_plan_release(&plan);
}

int main(void)
{
    data_dir = MSIM_DATA;
    if (!mkdtemp(folder))
        return 1;
    RUN(test_search__keeps_what_is_answered);
    RUN(test_search__figures_follow_from_steps);
    RUN(test_search__keeps_limits_to_the_point);
    RUN(test_search__keeps_other_limits);
    RUN(test_search__finds_the_nearest);
    RUN(test_search__says_what_failed);
    RUN(test_search__is_cut_as_one_likes);
    RUN(test_search__counts_further_reasons);
    RUN(test_search__guards_its_points);
    RUN(test_search__notes_its_platforms);
    CHECK(rmdir(folder) == 0);
    return check_summary();
}
