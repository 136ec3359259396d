/*
 * predict/memory/rank_memory.c: which rank holds most, what measured jobs make
 * of it, and what of it a prediction says, on ranks made by hand.
 */
#include "predict/memory/rank_memory.h"

#include "core/memory/life_memory.h"
#include "tests/unit/made_ops.h"

#include <stdlib.h>

#define N 3

static struct msim_held_rank ranks[N];

/* Three ranks, of which the first is not known; the last holds most. */
static struct msim_rank_memory memory(double capacity)
{
    memset(ranks, 0, sizeof(ranks));
    for (uint64_t i = 1; i < N; i++) {
        ranks[i].known = true;
        ranks[i].peak.allocated = 1000 * i;
        ranks[i].peak.reserved = 1200 * i;
        for (uint64_t k = 0; k < MSIM_HELD_COUNT; k++)
            ranks[i].peak.by[k] = 10 * k + i;
        ranks[i].beside = (struct msim_beside){.context = 50, .nccl = 30};
    }
    return (struct msim_rank_memory){.ranks = ranks,
                                     .n = N,
                                     .most = 2,
                                     .capacity = capacity,
                                     .low = 0.8,
                                     .high = 1.1,
                                     .reserved_high = 1.2};
}

static void test_rank_memory__most(void)
{
    struct msim_rank_memory m = memory(1e9);
    struct msim_held_most most;

    CHECK_REL(msim_rank_needs(&ranks[1]), 1280, 0);
    CHECK_REL(msim_rank_needs(&ranks[2]), 2480, 0);
    CHECK(msim_rank_memory_most(&m, &most));
    CHECK_REL(most.peak, 2000, 0);
    CHECK_REL(most.low, 1600, 1e-12);
    CHECK_REL(most.high, 2200, 1e-12);
    CHECK_REL(most.reserved_high, 1.2 * 2400, 1e-12);
    CHECK_REL(most.beside.context, 50, 0);
    CHECK_REL(most.beside.nccl, 30, 0);
    for (int k = 0; k < MSIM_HELD_COUNT; k++)
        CHECK_REL(most.by[k], 10 * k + 2, 0);
    m.most = MSIM_NONE;
    CHECK(!msim_rank_memory_most(&m, &most));
}

/* Measured jobs hold half: what is reserved beyond a peak is in that, and no
 * point of the line has more. A peak of a changed trace likewise, but only
 * then. */
static void test_rank_memory__scaled(void)
{
    struct msim_rank_memory m = memory(1e9);
    struct msim_memory_peak peak = {.allocated = 600, .reserved = 900};
    struct msim_memory_point *points = ranks[2].line.points;

    peak.by[1] = 40;
    msim_rank_memory_scale_peak(&m, &peak);
    CHECK_UINT(peak.allocated, 600);
    CHECK_UINT(peak.reserved, 900);
    ranks[2].line.n = 2;
    points[0].reserved = 1800;
    points[0].by[1] = 8;
    points[1].reserved = 2400;
    points[1].by[1] = 6;
    msim_rank_memory_scale(&m, 0.5, 0.9, 1.3);
    CHECK(m.as_measured);
    CHECK_REL(m.low, 0.9, 0);
    CHECK_REL(m.high, 1.3, 0);
    CHECK_REL(m.reserved_high, 1.3, 0);
    CHECK_UINT(ranks[2].peak.allocated, 1000);
    CHECK_UINT(ranks[2].peak.reserved, 1000);
    CHECK_UINT(ranks[2].peak.by[1], 6);
    CHECK_UINT(points[0].reserved, 900);
    CHECK_UINT(points[0].by[1], 4);
    CHECK_UINT(points[1].reserved, 1000);
    CHECK_UINT(points[1].by[1], 3);
    CHECK_UINT(ranks[1].peak.reserved, 500);
    msim_rank_memory_scale_peak(&m, &peak);
    CHECK_UINT(peak.allocated, 300);
    CHECK_UINT(peak.reserved, 300);
    CHECK_UINT(peak.by[1], 20);
}

/* ---- into a prediction --------------------------------------------------- */

static struct build b;

/* A job of three ranks, 10 to 12, of five operators each; of the last one task
 * comes to two of its operators at 70, an earlier to one at 40. */
struct made {
    struct msim_job job;
    struct msim_trace traces[N], *list[N];
    struct msim_graph g;
    uint8_t kind[4];
    struct msim_task_ref refs[4];
    msim_ps start[4];
    struct msim_rank_row rows[N];
    struct msim_prediction p;
};

static void begin(struct made *m)
{
    static const char *const NAMES[] = {"a", "b", "c", "d", "e"};

    memset(m, 0, sizeof(*m));
    build_init(&b);
    for (int i = 0; i < 5; i++)
        build_op(&b, 0, NAMES[i], "", "");
    for (int i = 0; i < N; i++) {
        m->traces[i] = b.t;
        m->traces[i].rank = 10 + i;
        m->list[i] = &m->traces[i];
    }
    m->job.ranks = m->list;
    m->job.n_ranks = N;
    m->g.job = &m->job;
    m->g.kind = m->kind;
    m->g.refs = m->refs;
    m->g.n_tasks = 4;
    m->refs[0] = (struct msim_task_ref){.index = 0, .op_end = 1, .rank = 2};
    m->start[0] = 40;
    m->refs[1] = (struct msim_task_ref){.index = 1, .op_end = 3, .rank = 2};
    m->start[1] = 70;
    m->refs[2] = (struct msim_task_ref){.index = 3, .op_end = 5, .rank = 1};
    m->start[2] = 500;
    m->kind[3] = MSIM_TASK_KERNEL; /* comes to no operator */
    m->refs[3] = (struct msim_task_ref){.index = 3, .op_end = 4, .rank = 2};
    m->start[3] = 90;
    msim_arena_init(&m->p.arena);
}

static void done(struct made *m)
{
    msim_arena_release(&m->p.arena);
    build_release(&b);
}

static void test_rank_memory__note(void)
{
    struct msim_rank_memory m = memory(4000);
    const struct msim_memory_note *note;
    struct made x;

    begin(&x);
    CHECK_INT(msim_rank_memory_note(&m, &x.g, NULL, &x.p), MSIM_OK);
    note = &x.p.memory;
    CHECK_INT(note->rank, 12);
    CHECK_REL(note->peak, 2000, 0);
    CHECK_REL(note->low, 1600, 1e-12);
    CHECK_REL(note->high, 2200, 1e-12);
    CHECK_REL(note->reserved, 2400, 0);
    CHECK_REL(note->context, 50, 0);
    CHECK_REL(note->nccl, 30, 0);
    CHECK_REL(note->needed, 2480, 0);
    CHECK_REL(note->capacity, 4000, 0);
    CHECK_STR(note->fits, "yes");
    CHECK_UINT(note->n_points, 0);
    if (CHECK_UINT(note->n_by, MSIM_HELD_COUNT))
        for (int k = 0; k < MSIM_HELD_COUNT; k++) {
            CHECK_STR(note->by[k].name, msim_held_text((enum msim_held)k));
            CHECK_REL(note->by[k].bytes, 10 * k + 2, 0);
        }
    m.most = MSIM_NONE;
    CHECK_INT(msim_rank_memory_note(&m, &x.g, NULL, &x.p), MSIM_OK);
    CHECK(isnan(x.p.memory.peak) && isnan(x.p.memory.capacity));
    CHECK_INT(x.p.memory.rank, -1);
    CHECK(x.p.memory.fits == NULL);
    done(&x);
}

/* It fits where 1.2 times what is reserved does, 2,960 with what is beside, and
 * does not where 0.8 of the tensors do not: 1,680. */
static void test_rank_memory__fits(void)
{
    static const struct {
        double capacity;
        const char *fits;
    } ROWS[] = {{2961, "yes"}, {2959, "edge"}, {1681, "edge"},
                {1679, "no"},  {0, NULL},      {(double)NAN, NULL}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_rank_memory m = memory(ROWS[i].capacity);
        struct made x;

        begin(&x);
        CHECK_INT(msim_rank_memory_note(&m, &x.g, NULL, &x.p), MSIM_OK);
        CHECK_STR(x.p.memory.fits, ROWS[i].fits);
        done(&x);
    }
}

/* Points are when the host comes to their operators, never back; the last one,
 * of no operator, when the rank's last task begins. */
static void test_rank_memory__line(void)
{
    static const uint32_t OPS[] = {3, 1, 0, 2, MSIM_NONE, 77};
    static const msim_ps AT[] = {0, 70, 70, 70, 90, 90};
    static const char *const NAMES[] = {"d", "b", "a", "c", NULL, NULL};
    struct msim_rank_memory m = memory(4000);
    const struct msim_memory_note *note;
    struct made x;

    begin(&x);
    ranks[2].line.n = 6;
    for (uint32_t i = 0; i < 6; i++) {
        ranks[2].ops[i] = OPS[i];
        ranks[2].line.points[i].reserved = 100 * i;
        ranks[2].line.points[i].by[1] = i;
    }
    CHECK_INT(msim_rank_memory_note(&m, &x.g, x.start, &x.p), MSIM_OK);
    note = &x.p.memory;
    if (CHECK_UINT(note->n_points, 6))
        for (uint32_t i = 0; i < 6; i++) {
            CHECK_INT(note->points[i].at, AT[i]);
            CHECK_STR(note->points[i].op, NAMES[i]);
            CHECK_REL(note->points[i].reserved, 100 * i, 0);
            CHECK_REL(note->points[i].by[1].bytes, i, 0);
        }
    done(&x);
}

/* Ranks with a row have a note of their own; of one that is not known it has
 * the capacity alone. */
static void test_rank_memory__every_rank(void)
{
    struct msim_rank_memory m = memory(4000);
    struct made x;

    begin(&x);
    x.rows[0].rank = 10;
    x.rows[1].rank = 12;
    x.p.ranks_detail = x.rows;
    x.p.n_ranks_detail = 2;
    CHECK_INT(msim_rank_memory_note(&m, &x.g, x.start, &x.p), MSIM_OK);
    CHECK(isnan(x.rows[0].memory.peak));
    CHECK_REL(x.rows[0].memory.capacity, 4000, 0);
    CHECK_INT(x.rows[1].memory.rank, 12);
    CHECK_REL(x.rows[1].memory.peak, 2000, 0);
    x.rows[1].memory.rank = 0;
    CHECK_INT(msim_rank_memory_note(&m, &x.g, NULL, &x.p), MSIM_OK);
    CHECK_INT(x.rows[1].memory.rank, 0); /* not without a run */
    done(&x);
}

/* ---- found --------------------------------------------------------------- */

/* A trace without an execution trace holds what is beside it and is not known;
 * the capacity is the platform's. */
static void test_rank_memory__find(void)
{
    struct msim_platform *p;
    struct msim_rank_memory m;
    struct made x;

    REQUIRE(msim_platform_load(&p, MSIM_DATA, "a100", NULL) == MSIM_OK);
    begin(&x);
    CHECK_INT(msim_rank_memory_find(&m, x.list, N, p), MSIM_OK);
    CHECK_UINT(m.n, N);
    CHECK_UINT(m.most, MSIM_NONE);
    CHECK_REL(m.capacity, msim_platform_usable_bytes(p), 0);
    CHECK_REL(m.low, 0.82, 1e-12); /* rows of data/laws/kernels.csv */
    CHECK_REL(m.high, 1.1, 1e-12);
    CHECK_REL(m.reserved_high, 1.1, 1e-12);
    CHECK(!m.ranks[0].known && m.ranks[0].beside.context > 0);
    msim_rank_memory_release(&m);
    CHECK(m.ranks == NULL && m.most == MSIM_NONE);
    CHECK_INT(msim_rank_memory_find(&m, x.list, N, NULL), MSIM_OK);
    CHECK(isnan(m.capacity));
    msim_rank_memory_release(&m);
    done(&x);
    msim_platform_free(p);
}

int main(void)
{
    RUN(test_rank_memory__every_rank);
    RUN(test_rank_memory__find);
    RUN(test_rank_memory__fits);
    RUN(test_rank_memory__line);
    RUN(test_rank_memory__most);
    RUN(test_rank_memory__note);
    RUN(test_rank_memory__scaled);
    return check_summary();
}
