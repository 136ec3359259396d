/*
 * tests/unit/core/rewrite/test_tied.c - a parameter of two places, on one of
 * two stages: its group, its sums over micro batches, and the sum of both
 * stages.
 */
#include "core/rewrite/split/split.h"

#include "tests/unit/core/rewrite/trained_step.h"

enum { FIRST, SECOND, OTHER }; /* rows of tied */
enum { LIFE, LIFE_2, LIFE_3, GRADIENT, GRADIENT_3, PART, SUM, LIVES };

#define ADDS 3 /* a statement */

static struct msim_job *job;
static struct msim_weave w;
static uint32_t maker[64];
static struct msim_tied tied[3];
static struct msim_places p;

/* The same gradient in two passes, and another one in the first. */
static bool open(uint32_t from, uint32_t to)
{
    struct msim_error err = {0};

    job = made_step(N_MADE);
    if (!CHECK(job != NULL) ||
        !CHECK(msim_weave_open(&w, job->ranks[0], job->strings, &err) ==
               MSIM_OK) ||
        !CHECK(w.d.lives.n >= LIVES && w.d.lives.n <= 64))
        return false;
    memset(maker, 0xff, sizeof(maker));
    maker[LIFE] = 5;
    maker[LIFE_3] = 6;
    for (int i = 0; i < 3; i++)
        tied[i] =
            (struct msim_tied){.life = LIFE + (uint32_t)i,
                               .pass = i == SECOND,
                               .from = from,
                               .to = to,
                               .gradient = i == OTHER ? GRADIENT_3 : GRADIENT,
                               .adds = i == FIRST ? ADDS : MSIM_NONE,
                               .part = PART,
                               .sum = SUM,
                               .elems = 40 + i,
                               .dtype = MSIM_DT_F16,
                               .device = MSIM_DEV_GPU};
    p = (struct msim_places){
        .w = &w, .n = 4, .maker = maker, .tied = tied, .n_tied = 3};
    return true;
}

static void done(void)
{
    msim_weave_close(&w);
    msim_job_free(job);
}

static void check_group(uint32_t g, const char *name, int32_t a, int32_t b)
{
    const struct msim_group *x = &w.d.out->groups[g];

    CHECK_STR(msim_trace_text(w.d.out, x->name), name);
    CHECK_UINT(x->count, 2);
    CHECK_INT(w.d.out->group_ranks[x->first], a);
    CHECK_INT(w.d.out->group_ranks[x->first + 1], b);
}

/* Places of one stage need no group; of two, both ends know the same. */
static void test_tied__groups(void)
{
    static const struct {
        uint32_t from, to, stage;
        bool apart;
    } cases[] = {{1, 0, 0, true},  {1, 0, 1, true},  {3, 0, 0, true},
                 {2, 0, 0, false}, {3, 1, 0, false}, {2, 1, 1, true}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct msim_rank_layout l = {1, 1, 2, cases[i].stage};
        uint32_t last;

        REQUIRE(open(cases[i].from, cases[i].to));
        last = w.d.last_storage;
        w.d.out->rank = cases[i].stage;
        CHECK_INT(msim_tied_begin(&p, &l), MSIM_OK);
        CHECK_UINT(tied[FIRST].storage, last + 1);
        CHECK_UINT(tied[SECOND].storage, last + 1); /* the same gradient */
        CHECK_UINT(tied[OTHER].storage, last + 2);
        if (cases[i].apart)
            check_group(tied[FIRST].group, "tied parameters 0", 0, 1);
        else
            CHECK_UINT(tied[FIRST].group, MSIM_NONE);
        done();
    }
}

/* The first micro batch makes the sum; what the other place would have added is
 * all that is kept here. */
static void test_tied__storages(void)
{
    REQUIRE(open(1, 0));
    for (uint32_t i = 0; i < LIVES; i++)
        w.d.storage[i] = 500 + i;
    for (uint32_t i = 0; i < 3; i++)
        tied[i].storage = 900 + i;
    msim_tied_put(&p, 0, 1);
    CHECK_UINT(w.d.storage[LIFE], 500 + LIFE);
    CHECK_UINT(w.d.storage[PART], 500 + SUM);
    msim_tied_put(&p, 0, 0);
    CHECK_UINT(w.d.storage[LIFE], 900);
    CHECK_UINT(w.d.storage[LIFE_2], 500 + LIFE_2); /* of the second pass */
    CHECK_UINT(w.d.storage[LIFE_3], 902);
    w.d.storage[PART] = 7;
    msim_tied_put(&p, 1, 0); /* nothing adds there */
    CHECK_UINT(w.d.storage[LIFE_2], 901);
    CHECK_UINT(w.d.storage[PART], 7);
    CHECK(msim_tied_leaves_out(&p, ADDS));
    CHECK(!msim_tied_leaves_out(&p, ADDS + 1));
    done();
}

static void check_added(uint32_t op, const char *name, const char *args,
                        uint32_t first, uint32_t second)
{
    const struct msim_op *o = &w.d.out->ops[op];

    CHECK_STR(msim_trace_text(w.d.out, o->name), name);
    CHECK_ARGS(w.d.out, o->args, args);
    CHECK_UINT(w.d.out->tensor_ids[o->ids].storage, first);
    CHECK_UINT(w.d.out->tensor_ids[o->ids + 1].storage, second);
}

/* Behind what makes it, from the second micro batch on. */
static void test_tied__sums(void)
{
    REQUIRE(open(1, 0));
    for (uint32_t i = 0; i < 3; i++)
        tied[i].storage = 900 + i;
    w.d.storage[LIFE] = 501;
    w.d.storage[LIFE_3] = 503;
    CHECK_INT(msim_tied_add(&p, 5, 0), MSIM_OK);
    CHECK_INT(msim_tied_add(&p, 4, 1), MSIM_OK);
    CHECK_UINT(w.d.out->n_ops, 0);
    CHECK_INT(msim_tied_add(&p, 5, 1), MSIM_OK);
    CHECK_INT(msim_tied_add(&p, 6, 2), MSIM_OK);
    REQUIRE(w.d.out->n_ops == 2);
    check_added(0, "aten::add_", "fp16[40]@gpu fp16[40]@gpu", 900, 501);
    check_added(1, "aten::add_", "fp16[42]@gpu fp16[42]@gpu", 902, 503);
    done();
}

/* Once a gradient, in its group; the stage that sends has the sum in the place
 * of the gradient then. */
static void test_tied__reduce(void)
{
    for (uint32_t stage = 0; stage < 2; stage++) {
        const struct msim_rank_layout l = {1, 1, 2, stage};
        uint32_t n = 0;

        REQUIRE(open(1, 0));
        w.d.out->rank = stage;
        w.d.out->world_size = 2;
        CHECK_INT(msim_tied_begin(&p, &l), MSIM_OK);
        w.d.storage[GRADIENT] = 600;
        w.d.storage[GRADIENT_3] = 603;
        CHECK_INT(
            msim_tied_reduce(&p, &l, (struct msim_draft_place){MSIM_NONE, 0}),
            MSIM_OK);
        CHECK_UINT(w.d.storage[GRADIENT], stage ? tied[FIRST].storage : 600);
        CHECK_UINT(w.d.storage[GRADIENT_3], stage ? tied[OTHER].storage : 603);
        CHECK_UINT(w.d.group, MSIM_NONE);
        REQUIRE(w.d.out->n_comms == 4);
        for (uint32_t i = 0; i < 4; i++) {
            const struct msim_comm *c = &w.d.out->comms[i];

            CHECK_UINT(c->group, tied[i < 2 ? FIRST : OTHER].group);
            CHECK_INT(c->collective,
                      i % 2 ? MSIM_COLL_WAIT : MSIM_COLL_ALL_REDUCE);
            CHECK_UINT(c->in_elems, i % 2 ? 0 : i < 2 ? 40 : 42);
            n += c->collective == MSIM_COLL_ALL_REDUCE;
        }
        CHECK_UINT(n, 2);
        done();
    }
}

/* Without a group nothing is sent. */
static void test_tied__one_stage(void)
{
    const struct msim_rank_layout l = {1, 1, 2, 0};

    REQUIRE(open(2, 0));
    CHECK_INT(msim_tied_begin(&p, &l), MSIM_OK);
    CHECK_INT(msim_tied_reduce(&p, &l, (struct msim_draft_place){MSIM_NONE, 0}),
              MSIM_OK);
    CHECK_UINT(w.d.out->n_ops, 0);
    done();
}

int main(void)
{
    RUN(test_tied__groups);
    RUN(test_tied__storages);
    RUN(test_tied__sums);
    RUN(test_tied__reduce);
    RUN(test_tied__one_stage);
    return check_summary();
}
