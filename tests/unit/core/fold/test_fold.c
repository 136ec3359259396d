/*
 * tests/unit/core/fold/test_fold.c - which traces are kept once, and what is
 * kept of the files whose traces are not.
 */
#include "core/fold/fold.h"
#include "tests/check.h"

#include <stdlib.h>

/* A rank of a group of two, and what it ran. */
struct rank {
    struct msim_trace t;
    struct msim_op ops[1];
    struct msim_comm comms[1];
    struct msim_group groups[1];
    int32_t group_ranks[2];
};

static struct msim_trace *rank_of(struct rank *r, int64_t number)
{
    memset(r, 0, sizeof(*r));
    r->ops[0].dur = 7;
    r->groups[0] = (struct msim_group){.size = 2, .count = 2};
    r->group_ranks[1] = 1;
    r->comms[0].collective = MSIM_COLL_ALL_REDUCE;
    r->t = (struct msim_trace){.rank = number, .world_size = 2};
    r->t.ops = r->ops;
    r->t.comms = r->comms;
    r->t.groups = r->groups;
    r->t.group_ranks = r->group_ranks;
    r->t.n_ops = r->t.n_comms = r->t.n_groups = 1;
    r->t.n_group_ranks = 2;
    return &r->t;
}

/* Ranks 0 and 1 are on the list of their group, 2 and 3 are not. */
static void test_fold__knows_kinds(void)
{
    struct msim_rank_fold f = {.n = 0};
    struct rank r[4];

    for (int i = 0; i < 4; i++)
        CHECK_UINT(msim_fold_kind_of(&f, rank_of(&r[i], i)), i / 2);
    CHECK_UINT(f.n, 2);
    CHECK(f.kinds[0].trace == &r[0].t);
    CHECK(f.kinds[1].trace == &r[2].t);
}

/* Whatever else differs, they are no kind. */
static void test_fold__wants_all_equal(void)
{
    struct msim_rank_fold f = {.n = 0};
    struct rank first, r;

    CHECK_UINT(msim_fold_kind_of(&f, rank_of(&first, 0)), 0);
    rank_of(&r, 1);
    r.ops[0].dur = 8;
    CHECK_UINT(msim_fold_kind_of(&f, &r.t), MSIM_NONE);
    rank_of(&r, 1);
    r.t.n_ops = 0;
    CHECK_UINT(msim_fold_kind_of(&f, &r.t), MSIM_NONE);
    rank_of(&r, 1);
    r.t.host = 5;
    CHECK_UINT(msim_fold_kind_of(&f, &r.t), MSIM_NONE);
    rank_of(&r, 1);
    r.t.gpu_properties.sms = 5;
    CHECK_UINT(msim_fold_kind_of(&f, &r.t), MSIM_NONE);
    CHECK_UINT(msim_fold_kind_of(&f, rank_of(&r, 1)), 0);
}

/* What its number decides is not said by another rank's trace. */
static void test_fold__wants_any_rank(void)
{
    struct rank r;

    CHECK(msim_trace_is_any_rank(rank_of(&r, 0)));
    CHECK(!msim_trace_is_any_rank(rank_of(&r, -1)));
    rank_of(&r, 0);
    r.comms[0].collective = MSIM_COLL_SEND;
    CHECK(!msim_trace_is_any_rank(&r.t));
    rank_of(&r, 0);
    r.t.has_et = true;
    CHECK(!msim_trace_is_any_rank(&r.t));
    rank_of(&r, 0);
    r.groups[0].completed = true;
    CHECK(!msim_trace_is_any_rank(&r.t));
    rank_of(&r, 0);
    r.groups[0].count = 0; /* of 2 ranks of 2: all */
    CHECK(msim_trace_is_any_rank(&r.t));
    r.t.world_size = 4; /* whichever these are */
    CHECK(!msim_trace_is_any_rank(&r.t));
}

static void test_fold__has_few_kinds(void)
{
    struct msim_rank_fold f = {.n = MSIM_FOLD_KINDS};
    struct rank of[MSIM_FOLD_KINDS], r;

    for (int i = 0; i < MSIM_FOLD_KINDS; i++)
        f.kinds[i].trace = rank_of(&of[i], 0);
    CHECK_UINT(msim_fold_kind_of(&f, rank_of(&r, 5)), MSIM_NONE);
}

static void test_fold__copies(void)
{
    struct msim_trace *copy;
    struct rank r;

    REQUIRE(msim_trace_copy(&copy, rank_of(&r, 0), 6) == MSIM_OK);
    CHECK_INT(copy->rank, 6);
    CHECK(copy->ops != r.ops && copy->groups != r.groups);
    CHECK(msim_traces_equal(copy, &r.t));
    r.ops[0].dur = 9;
    CHECK_INT(copy->ops[0].dur, 7);
    msim_trace_free(copy);
}

static void check_same(const struct msim_import_log *a,
                       const struct msim_import_log *b)
{
    CHECK_UINT(a->records, b->records);
    CHECK_UINT(a->read, b->read);
    for (size_t i = 0; i < sizeof(a->rows) / sizeof(*a->rows); i++) {
        CHECK_UINT(a->rows[i].n, b->rows[i].n);
        CHECK_UINT(a->rows[i].us, b->rows[i].us);
        CHECK_UINT(a->rows[i].byte, b->rows[i].byte);
        CHECK_UINT(a->rows[i].has_byte, b->rows[i].has_byte);
        CHECK_UINT(a->rows[i].kind, b->rows[i].kind);
        CHECK_UINT(a->rows[i].name, b->rows[i].name);
        CHECK_UINT(a->rows[i].example, b->rows[i].example);
    }
}

/* Two of a kind as it was read, and one more since then, on the trace that is
 * kept: three. */
static void test_fold__keeps_records(void)
{
    struct msim_import_log own = {.records = 40, .read = 30}, back;
    struct msim_fold_records *r;
    struct msim_rank_fold f = {.n = 0};
    struct rank kept;

    msim_import_add(&own, MSIM_IMPORT_FLOW, 2);
    msim_import_at(msim_import_add(&own, MSIM_IMPORT_WINDOW, 1), 77);
    own.rows[MSIM_IMPORT_KINDS + 3].n = 9;
    own.rows[MSIM_IMPORT_KINDS + 3].name = 4;
    REQUIRE(msim_fold_records_new(&r, &own) == MSIM_OK);
    CHECK_UINT(r->n, 3);
    back = msim_fold_as_read(r);
    check_same(&back, &own);

    rank_of(&kept, 0);
    msim_import_add(&kept.t.import, MSIM_IMPORT_FLOW, 5);
    CHECK_UINT(msim_fold_kind_of(&f, &kept.t), 0);
    msim_import_add(&kept.t.import, MSIM_IMPORT_FLOW, 1);
    back = msim_fold_log(&f.kinds[0], r);
    CHECK_UINT(back.rows[MSIM_IMPORT_FLOW].n, 3);
    CHECK_UINT(back.rows[MSIM_IMPORT_WINDOW].byte, 77);
    CHECK_UINT(back.read, 30);
    free(r);
}

int main(void)
{
    RUN(test_fold__knows_kinds);
    RUN(test_fold__wants_all_equal);
    RUN(test_fold__wants_any_rank);
    RUN(test_fold__has_few_kinds);
    RUN(test_fold__copies);
    RUN(test_fold__keeps_records);
    return check_summary();
}
