/*
 * tests/unit/plan/test_strategy_guard.c - tests of
 * plan/describe/strategy_guard.c.
 */
#include "plan/describe/strategy.h"
#include "tests/check.h"

static const struct msim_strategy BASE = {.gpus = 8,
                                          .gpus_a_node = 8,
                                          .nodes = 1,
                                          .dp = 8,
                                          .tp = 1,
                                          .pp = 1,
                                          .vp = 1,
                                          .cp = 1,
                                          .ep = 1,
                                          .micro_batch = 2,
                                          .grad_accum = 4,
                                          .global_batch = 64,
                                          .sequence = 4096,
                                          .precision = MSIM_PRECISION_BF16};

/* The base with other GPUs, micro batches, accumulation, sequence, and
 * recomputation. */
static struct msim_strategy like(int64_t gpus, int64_t micro, int64_t accum,
                                 int64_t sequence, enum msim_recompute r)
{
    struct msim_strategy s = BASE;

    s.gpus = s.dp = gpus;
    s.nodes = gpus / 8;
    s.micro_batch = micro;
    s.grad_accum = accum;
    s.global_batch = gpus * micro * accum;
    s.sequence = sequence;
    s.recompute = r;
    return s;
}

/* The marks of one of two that take so long. */
static msim_guard_marks marks_of(int which, const struct msim_strategy *a,
                                 double a_us, const struct msim_strategy *b,
                                 double b_us, bool measured)
{
    const struct msim_strategy_answer two[] = {{a, 7, a_us, false},
                                               {b, 7, b_us, measured}};
    msim_guard_marks marks[2] = {0};

    CHECK(msim_strategy_guard(two, 2, marks) == MSIM_OK);
    CHECK(!marks[0] || !marks[1]);
    return marks[which];
}

/* Of two strategies the larger one may be this much shorter, and no more. */
static void check_edge(const struct msim_strategy *smaller,
                       const struct msim_strategy *larger, double least,
                       msim_guard_marks want)
{
    double more = least + 0.001, less = least - 0.001;

    CHECK_UINT(marks_of(1, smaller, 100, larger, 100 * more, false), 0);
    CHECK_UINT(marks_of(1, smaller, 100, larger, 100 * less, false), want);
    CHECK_UINT(marks_of(0, larger, 100 * less, smaller, 100, false), want);
    CHECK_UINT(marks_of(0, smaller, 100 * less, larger, 100, false), 0);
    /* The one that was not measured is wrong. */
    CHECK_UINT(marks_of(0, smaller, 100, larger, 100 * less, true), want);
}

static void test_strategy_guard__compares_along_each_axis(void)
{
    const msim_guard_marks again = MSIM_GUARD_BIT(RECOMPUTE);
    const struct msim_strategy none = BASE,
                               some = like(8, 2, 4, 4096,
                                           MSIM_RECOMPUTE_SELECTIVE),
                               all = like(8, 2, 4, 4096, MSIM_RECOMPUTE_FULL),
                               gpus = like(16, 2, 2, 4096, 0),
                               micro = like(8, 4, 4, 4096, 0),
                               accum = like(8, 2, 5, 4096, 0),
                               longer = like(8, 2, 4, 4097, 0);

    check_edge(&none, &some, 0.99, again);
    check_edge(&some, &all, 0.99, again);
    check_edge(&none, &all, 0.99, again);
    check_edge(&none, &micro, 0.95, MSIM_GUARD_BIT(LARGER));
    check_edge(&none, &accum, 0.95, MSIM_GUARD_BIT(LARGER));
    check_edge(&none, &longer, 0.95, MSIM_GUARD_BIT(LARGER));
    /* Twice the GPUs take half as long, or a little less. */
    check_edge(&none, &gpus, 0.95 / 2, MSIM_GUARD_BIT(SCALING));
}

/* Two that differ in more than one respect, or in none, say nothing of each
 * other. */
static void test_strategy_guard__leaves_other_jobs(void)
{
    const struct msim_strategy op =
        like(8, 2, 4, 4096, MSIM_RECOMPUTE_SELECTIVE_OP);
    const struct msim_strategy some =
        like(8, 2, 4, 4096, MSIM_RECOMPUTE_SELECTIVE);
    struct msim_strategy others[] = {like(8, 4, 4, 8192, 0),
                                     like(16, 4, 4, 4096, 0),
                                     like(16, 2, 2, 4096, MSIM_RECOMPUTE_FULL),
                                     like(16, 2, 2, 8192, 0), BASE};
    const struct msim_strategy_answer apart[] = {{&BASE, 7, 100, false},
                                                 {&some, 8, 1, false}};
    msim_guard_marks marks[2] = {0};

    others[4].tp = 2;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        CHECK_UINT(marks_of(0, &BASE, 100, &others[i], 1, false), 0);
        CHECK_UINT(marks_of(1, &BASE, 100, &others[i], 1, false), 0);
    }
    CHECK_UINT(marks_of(0, &some, 100, &op, 1, false), 0);
    CHECK_UINT(marks_of(1, &some, 100, &op, 1, false), 0);
    CHECK(msim_strategy_guard(apart, 2, marks) == MSIM_OK);
    CHECK_UINT(marks[0] | marks[1], 0);
}

/* Of many, marks are those of the answers in their order, of several axes
 * together; of none there is nothing to mark. */
static void test_strategy_guard__marks_by_place(void)
{
    const struct msim_strategy more = like(8, 4, 4, 4096, 0),
                               all = like(8, 4, 4, 4096, MSIM_RECOMPUTE_FULL),
                               longer = like(8, 4, 4, 8192, 0);
    const struct msim_strategy_answer of[] = {{&longer, 7, 500, false},
                                              {&all, 7, 60, false},
                                              {&more, 7, 80, false},
                                              {&BASE, 7, 100, false}};
    msim_guard_marks marks[4] = {0};

    CHECK(msim_strategy_guard(of, 4, marks) == MSIM_OK);
    CHECK_UINT(marks[0], 0);
    CHECK_UINT(marks[1], MSIM_GUARD_BIT(RECOMPUTE));
    CHECK_UINT(marks[2], MSIM_GUARD_BIT(LARGER));
    CHECK_UINT(marks[3], 0);
    CHECK(msim_strategy_guard(of, 0, marks) == MSIM_OK);
}

int main(void)
{
    RUN(test_strategy_guard__compares_along_each_axis);
    RUN(test_strategy_guard__leaves_other_jobs);
    RUN(test_strategy_guard__marks_by_place);
    return check_summary();
}
