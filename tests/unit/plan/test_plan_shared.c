/*
 * tests/unit/plan/test_plan_shared.c - a search with a predictor that is made
 * up: what it asks, what it keeps of the answers, and what of the parts that
 * another process kept it takes.
 */
#include "core/base/files_read.h"
#include "plan/search/plan_parts.h"
#include "plan/search/plan_search.h"
#include "plan/search/recommend.h"
#include "tests/check.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK 7
/* Numbers: tp + 3 zero + 6 gpus + 12 platform, by their places; the last block
 * has three. */
#define POINTS 24
#define SPEC                                                                   \
    "{\"model\": \"llama3-8b\", \"global_batch\": 64, \"sequence\": 100, "     \
    "\"tokens\": 1e9, \"platforms\": [{\"name\": \"titan-xp\", "               \
    "\"price_per_gpu_hour\": 0.5, \"power_w\": 0.5}, \"m40\"], "               \
    "\"gpus\": [8, 16], \"tp\": [1, 2, 3], \"zero\": [1, 3], \"pp\": 1, "      \
    "\"micro_batch\": 1, \"recompute\": \"none\"}"
#define TRACED                                                                 \
    "{\"trace\": \"x.json\", %s, \"gpus\": [8, 16], \"platforms\": "           \
    "[{\"name\": \"titan-xp\", \"price_per_gpu_hour\": 0.5, \"power_w\": "     \
    "0.5}, "                                                                   \
    "\"m40\"]}"

static struct msim_error err;
static char folder[] = P_tmpdir "/msim-shared-XXXXXX";
static char parts[64];

static const struct msim_plan_share FIRST = {parts, 0, 2},
                                    OTHER = {parts, 1, 2};

static void read_spec(struct msim_spec *spec, const char *text)
{
    char path[96];
    FILE *f;

    snprintf(path, sizeof(path), "%s/spec.json", folder);
    f = fopen(path, "w");
    REQUIRE(f);
    fputs(text, f);
    fclose(f);
    CHECK(msim_spec_read(spec, path, MSIM_DATA, &err) == MSIM_OK);
    CHECK(unlink(path) == 0);
    msim_files_read_release(); /* it is gone, and parts are of what is there */
    spec->file = "spec.json";
}

/* ---- the predictor ------------------------------------------------------- */

static struct {
    uint32_t splits, memories, steps, ways, begun, ended;
    bool nothing_fits, alike, all_differ, slow, odd;
    pthread_t first;
    enum msim_status fails;
} asked;

static enum msim_status begin(void **thread, void *own,
                              struct msim_platform *const *platforms,
                              struct msim_error *e)
{
    (void)platforms;
    *thread = own;
    if (asked.slow && !pthread_equal(asked.first, pthread_self()))
        usleep(3000);
    __atomic_add_fetch(&asked.begun, 1, __ATOMIC_RELAXED);
    return asked.fails == MSIM_OK
               ? MSIM_OK
               : msim_fail(e, asked.fails, NULL, MSIM_OFFSET_NONE, "it fails");
}

static void end(void *thread)
{
    CHECK(thread == &asked);
    __atomic_add_fetch(&asked.ended, 1, __ATOMIC_RELAXED);
}

/* Splits by three are refused on the first platform. */
static bool split(void *thread, struct msim_plan_point *p,
                  char why[MSIM_PLAN_WHY])
{
    struct msim_strategy *s = &p->strategy;

    (void)thread;
    __atomic_add_fetch(&asked.splits, 1, __ATOMIC_RELAXED);
    if (asked.all_differ) {
        snprintf(why, MSIM_PLAN_WHY, "not %d", (int)p->number);
        return false;
    }
    s->dp = s->gpus / (s->tp ? s->tp : 1);
    if (!s->global_batch)
        s->global_batch = 4 * s->gpus;
    if (s->tp != 3 || p->platform > 0)
        return true;
    snprintf(why, MSIM_PLAN_WHY, "tp 3 and zero %d", (int)s->zero);
    return false;
}

/* Six do not fit, five of them by their peaks. */
static bool memory(void *thread, struct msim_plan_point *p,
                   char why[MSIM_PLAN_WHY])
{
    (void)thread;
    (void)why;
    __atomic_add_fetch(&asked.memories, 1, __ATOMIC_RELAXED);
    p->peak_gib = 5;
    p->fits = MSIM_FITS_YES;
    if ((p->platform > 0 && p->strategy.zero == 1) || asked.nothing_fits) {
        p->peak_gib = p->number == 18 ? 9 : 100 + (double)(p->number * 7 % 24);
        p->fits = p->number == 18 ? MSIM_FITS_NO : MSIM_FITS_EDGE;
        if (asked.alike)
            p->peak_gib = 100;
    }
    return true;
}

/* Two have no model. */
static bool step(void *thread, struct msim_plan_point *p,
                 char why[MSIM_PLAN_WHY])
{
    (void)thread;
    __atomic_add_fetch(&asked.steps, 1, __ATOMIC_RELAXED);
    p->us = 1e6 + 1e4 * (double)(p->number * 7 % 24);
    if (asked.odd && p->strategy.gpus == 16)
        p->us /= 3;
    p->low_us = 0.9 * p->us;
    p->high_us = 1.2 * p->us;
    p->mfu = 0.5;
    p->correction = 1;
    snprintf(why, MSIM_PLAN_WHY, "no model of %d GPUs", (int)p->strategy.gpus);
    return p->number % 11 != 4;
}

static void find_ways(void *thread, const struct msim_plan_point *p,
                      struct msim_plan_ways *out)
{
    (void)thread;
    asked.ways++;
    *out = (struct msim_plan_ways){.n = 1};
    snprintf(out->text, sizeof(out->text), "of %d", (int)p->number);
}

static const char *const PARTS[] = {"all", NULL};
static const struct msim_plan_predictor MADE = {.own = &asked,
                                                .block = BLOCK,
                                                .says_why = true,
                                                .step_parts = PARTS,
                                                .memory_parts = PARTS,
                                                .begin = begin,
                                                .end = end,
                                                .split = split,
                                                .memory = memory,
                                                .step = step,
                                                .ways = find_ways};

static uint32_t block = BLOCK;

static enum msim_status search(struct msim_plan *plan,
                               const struct msim_spec *spec, uint32_t threads,
                               const struct msim_plan_share *share)
{
    struct msim_plan_predictor made = MADE;
    const struct msim_plan_options o = {
        .threads = threads, .predictor = &made, .share = share};

    made.block = block;
    asked.splits = asked.memories = asked.steps = asked.ways = 0;
    asked.begun = asked.ended = 0;
    asked.first = pthread_self();
    err = (struct msim_error){0};
    return msim_plan_search(plan, spec, MSIM_DATA, &o, &err);
}

/* ---- one process --------------------------------------------------------- */

static void check_refusal(const struct msim_plan *plan, uint32_t i,
                          const char *text, uint64_t points, uint64_t first)
{
    const struct msim_plan_refusal *r = &plan->refusals.of[i];

    CHECK_STR(r->text, text);
    CHECK_UINT(r->points, points);
    CHECK_UINT(r->first, first);
    CHECK_UINT(plan->refused[i].number, first);
    CHECK_INT(plan->refused[i].strategy.zero, first / 3 % 2 ? 3 : 1);
}

static void check_left_out(const struct msim_plan *plan)
{
    CHECK_UINT(plan->looked_at, POINTS);
    CHECK_UINT(plan->left_out[MSIM_PLAN_SPLIT], 4);
    CHECK_UINT(plan->left_out[MSIM_PLAN_MEMORY], 6);
    CHECK_UINT(plan->left_out[MSIM_PLAN_NO_MODEL], 2);
    CHECK_UINT(plan->n, POINTS - 12);
    REQUIRE(plan->refusals.n == 3);
    CHECK_UINT(plan->refusals.others, 0);
    check_refusal(plan, 0, "tp 3 and zero 1", 2, 2);
    check_refusal(plan, 1, "no model of 8 GPUs", 2, 4);
    check_refusal(plan, 2, "tp 3 and zero 3", 2, 5);
}

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
        CHECK(p->allowed == !(p->cost > 5));
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
            CHECK(p->allowed == !(slack < 1));
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
    CHECK(search(&plan, &spec, 1, &FIRST) == MSIM_EFORMAT);
    CHECK(asked.splits == 0);
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

/* ---- several processes --------------------------------------------------- */

/* What both agree on: all but paddings, which are 0 in either. */
static void check_same(const struct msim_plan *a, const struct msim_plan *b)
{
    check_left_out(a);
    REQUIRE(a->n == b->n);
    for (uint32_t i = 0; i < a->n; i++)
        CHECK(memcmp(&a->points[i], &b->points[i], sizeof(*a->points)) == 0);
    CHECK_UINT(a->best, b->best);
    CHECK_UINT(a->n_frontier, b->n_frontier);
}

static uint32_t count_parts(void)
{
    DIR *d = opendir(parts);
    uint32_t n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2; /* but . and .. */
}

/* The other process keeps blocks 1 and 3. */
static void keep_others(const struct msim_spec *spec)
{
    struct msim_plan plan;

    CHECK(msim_plan_parts_begin(&OTHER, &err) == MSIM_OK);
    CHECK(search(&plan, spec, 1, &OTHER) == MSIM_OK);
    CHECK_UINT(asked.splits, BLOCK + 3);
    CHECK(plan.n == 0 && plan.best == UINT32_MAX && !plan.frontier);
    CHECK_UINT(count_parts(), 2);
    msim_plan_release(&plan);
}

static void test_search__takes_what_others_kept(void)
{
    struct msim_spec spec;
    struct msim_plan alone, plan;

    read_spec(&spec, SPEC);
    REQUIRE(search(&alone, &spec, 1, NULL) == MSIM_OK);
    keep_others(&spec);
    REQUIRE(search(&plan, &spec, 1, &FIRST) == MSIM_OK);
    CHECK_UINT(asked.steps, POINTS - 10 - 6);
    check_same(&plan, &alone);
    CHECK(access(parts, F_OK) != 0);
    msim_plan_release(&plan);
    /* Where the other one made nothing, the first makes all, on any threads. */
    CHECK(msim_plan_parts_begin(&FIRST, &err) == MSIM_OK);
    REQUIRE(search(&plan, &spec, 3, &FIRST) == MSIM_OK);
    CHECK_UINT(asked.steps, POINTS - 10);
    check_same(&plan, &alone);
    msim_plan_release(&plan);
    /* There are no blocks for so many processes. */
    CHECK(msim_plan_parts_begin(&FIRST, &err) == MSIM_OK);
    for (uint32_t i = 4; i < 7; i++) {
        const struct msim_plan_share share = {parts, i, 7};

        REQUIRE(search(&plan, &spec, 1, &share) == MSIM_OK);
        CHECK_UINT(asked.splits, 0);
        msim_plan_release(&plan);
    }
    CHECK(rmdir(parts) == 0);
    msim_plan_release(&alone);
}

/* ---- parts that are not what they say ------------------------------------ */

#define CHANGES 17

/* Change one thing; whether the part is taken nevertheless. Block 1: 7, 9, 10
 * of 7..13, of which 12 and 13 do not fit; block 3: 21, 22 and 23. */
static bool tamper(int what, struct msim_plan_block *one,
                   struct msim_plan_block *three)
{
    struct msim_plan_point *p = one->points, kept = p[0];

    switch (what) {
    case 0: /* what follows from the number is found again */
        p[0].platform = 1;
        p[0].strategy.tp = 99;
        p[0].traced[0] = 9;
        p[1].days = p[1].cost = p[1].rate = p[1].time = 0;
        p[1].allowed = false;
        return true;
    case 1: /* nothing of block 3 is too large: nobody asks what is nearest */
        three->nearest.number = 1;
        return true;
    case 2:
        one->left_out[MSIM_PLAN_SPLIT]++;
        return false;
    case 3:
        one->left_out[MSIM_PLAN_SPLIT]--;
        return false;
    case 4: /* of another block */
        p[2].number = 14;
        return false;
    case 5:
        p[0].number = 6;
        return false;
    case 6: /* twice */
        p[1] = p[0];
        return false;
    case 7: /* not in order */
        p[0] = p[1];
        p[1] = kept;
        return false;
    case 8:
        p[0].fits = MSIM_FITS_NO;
        return false;
    case 9: /* not one of the enumeration */
        memset(&p[0].fits, 0x7f, sizeof(p[0].fits));
        return false;
    case 10:
        p[2].peak_gib = p[2].room_gib + 1;
        return false;
    case 11: /* cannot be split so */
        p[1].number = 8;
        return false;
    case 12:
        one->refusals.of[0].first = 14;
        return false;
    case 13: /* a text without an end */
        memset(one->refusals.of[0].text, 'x', sizeof(one->refusals.of[0].text));
        return false;
    case 14:
        one->nearest.number = 20;
        return false;
    case 15: /* behind the last */
        three->points[2].number = POINTS;
        return false;
    default:
        three->left_out[MSIM_PLAN_SPLIT] = 4;
        return false;
    }
}

static void write_part(struct msim_plan_block *b, uint64_t key, uint64_t which)
{
    CHECK(msim_plan_part_write(b, &OTHER, key, which, &err) == MSIM_OK);
    msim_plan_block_release(b);
}

/* What is wrong with a part costs its time, and changes no plan. */
static void test_search__trusts_no_part(void)
{
    struct msim_spec spec;
    struct msim_plan alone, plan;

    read_spec(&spec, SPEC);
    REQUIRE(search(&alone, &spec, 1, NULL) == MSIM_OK);
    for (int i = 0; i < CHANGES; i++) {
        struct msim_plan_block one = {0}, three = {0};
        uint64_t key;
        uint32_t again;

        keep_others(&spec);
        REQUIRE(msim_plan_key(&key, &err) == MSIM_OK);
        REQUIRE(msim_plan_part_read(&one, &OTHER, key, 1) &&
                msim_plan_part_read(&three, &OTHER, key, 3));
        REQUIRE(one.n == 3 && three.n == 3 && one.refusals.n == 2);
        again = tamper(i, &one, &three) ? 0 : 3; /* that have steps */
        write_part(&one, key, 1);
        write_part(&three, key, 3);
        REQUIRE(search(&plan, &spec, 1, &FIRST) == MSIM_OK);
        if (!CHECK_UINT(asked.steps, POINTS - 10 - 3 - 3 + again))
            printf("of change %d\n", i);
        check_same(&plan, &alone);
        msim_plan_release(&plan);
    }
    msim_plan_release(&alone);
}

/* ---- progress ------------------------------------------------------------ */

static struct {
    uint32_t n, done[16], total;
} told;

static void tell(void *ctx, uint32_t done, uint32_t total)
{
    CHECK(ctx == &told && told.n < 16);
    told.done[told.n++ % 16] = done;
    told.total = total;
}

/* Every block that is its own is told before it is begun. */
static void test_search__tells_its_progress(void)
{
    static const uint32_t TOTAL[] = {4, 2};
    struct msim_spec spec;
    struct msim_plan plan;

    read_spec(&spec, SPEC);
    for (int shared = 0; shared < 2; shared++) {
        const struct msim_plan_options o = {.threads = 1,
                                            .predictor = &MADE,
                                            .share = shared ? &FIRST : NULL,
                                            .progress = tell,
                                            .ctx = &told};

        memset(&told, 0, sizeof(told));
        CHECK(!shared || msim_plan_parts_begin(&FIRST, &err) == MSIM_OK);
        REQUIRE(msim_plan_search(&plan, &spec, MSIM_DATA, &o, &err) == MSIM_OK);
        CHECK_UINT(told.n, TOTAL[shared]);
        CHECK_UINT(told.total, TOTAL[shared]);
        for (uint32_t i = 0; i < told.n && i < 16; i++)
            CHECK_UINT(told.done[i], i);
        msim_plan_release(&plan);
    }
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(parts, sizeof(parts), "%s/parts", folder);
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
    RUN(test_search__takes_what_others_kept);
    RUN(test_search__trusts_no_part);
    RUN(test_search__tells_its_progress);
    CHECK(rmdir(folder) == 0);
    return check_summary();
}
