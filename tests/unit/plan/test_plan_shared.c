/*
 * tests/unit/plan/test_plan_shared.c - a search of several processes: what one
 * takes of the parts that another one kept.
 */
#include "plan/search/plan.h"
#include "tests/unit/made_predictor.h"

#include <dirent.h>

static char parts[64];
static const struct msim_plan_share FIRST = {parts, 0, 2},
                                    OTHER = {parts, 1, 2};

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

/* What fails keeps nothing. */
static void test_search__keeps_no_part_of_a_failure(void)
{
    struct msim_spec spec;
    struct msim_plan plan;

    read_spec(&spec, SPEC);
    CHECK(msim_plan_parts_begin(&OTHER, &err) == MSIM_OK);
    asked.fails = MSIM_EFORMAT;
    CHECK(search(&plan, &spec, 1, &OTHER) == MSIM_EFORMAT);
    CHECK(asked.splits == 0 && count_parts() == 0);
    msim_plan_release(&plan);
    asked.fails = MSIM_OK;
    CHECK(rmdir(parts) == 0);
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
    data_dir = MSIM_DATA;
    if (!mkdtemp(folder))
        return 1;
    snprintf(parts, sizeof(parts), "%s/parts", folder);
    RUN(test_search__keeps_no_part_of_a_failure);
    RUN(test_search__takes_what_others_kept);
    RUN(test_search__trusts_no_part);
    RUN(test_search__tells_its_progress);
    CHECK(rmdir(folder) == 0);
    return check_summary();
}
