/*
 * When failures are too many: of one kind, of all, and of neither.
 */
#include "calibrate/measure/ask_loop.h"
#include "tests/check.h"

static const struct msim_cal_outcome TIMED = {.error = NULL};

static enum msim_cal_verdict fail(struct msim_cal_watch *w, uint32_t kind,
                                  enum msim_table table, const char *text)
{
    const struct msim_cal_outcome o = {.error = text};

    return msim_cal_watch_note(w, kind, table, &o);
}

/* `n` failures of products, of which nothing follows. */
static void fail_products(struct msim_cal_watch *w, int n, const char *text)
{
    for (int i = 0; i < n; i++)
        CHECK_INT(fail(w, 0, MSIM_TABLE_GEMM, text), MSIM_CAL_GO_ON);
}

/* The eighth in a row: start again; the next eighth: no more of that kind. */
static void test_watch__of_a_kind(void)
{
    struct msim_cal_watch w = {.n_started = 0};

    fail_products(&w, 7, "a");
    msim_cal_watch_note(&w, 0, MSIM_TABLE_GEMM, &TIMED);
    fail_products(&w, 7, "a");
    CHECK_INT(fail(&w, 0, MSIM_TABLE_GEMM, "b"), MSIM_CAL_GO_ON);
    fail_products(&w, 7, "a");
    CHECK_INT(fail(&w, 0, MSIM_TABLE_GEMM, "a"), MSIM_CAL_START_AGAIN);
    CHECK(!w.of[0].dropped);
    /* other kinds may work meanwhile */
    fail_products(&w, 7, "a");
    msim_cal_watch_note(&w, 1, MSIM_TABLE_VECTOR, &TIMED);
    CHECK_INT(fail(&w, 0, MSIM_TABLE_GEMM, "a"), MSIM_CAL_DROP);
    CHECK(w.of[0].dropped && !w.of[1].dropped);
    /* a new start did not help: other kinds need none to be dropped */
    for (int i = 0; i < 7; i++)
        CHECK_INT(fail(&w, 2, MSIM_TABLE_GEMM, "a"), MSIM_CAL_GO_ON);
    CHECK_INT(fail(&w, 2, MSIM_TABLE_GEMM, "a"), MSIM_CAL_DROP);
}

/* One of each kind in turn: sixteen in a row, then sixteen more. */
static void test_watch__of_all(void)
{
    struct msim_cal_watch w = {.n_started = 0};
    enum msim_cal_verdict last = MSIM_CAL_GO_ON;

    for (uint32_t i = 0; i < 32; i++) {
        bool product = i % 16 < 7;

        CHECK_INT(last, i == 16 ? MSIM_CAL_START_AGAIN : MSIM_CAL_GO_ON);
        last =
            fail(&w, i, product ? MSIM_TABLE_GEMM : MSIM_TABLE_VECTOR, "all");
    }
    CHECK_INT(last, MSIM_CAL_GIVE_UP);
}

/* Failures of one table are not the backend's, however many kinds it has. */
static void test_watch__of_a_table(void)
{
    struct msim_cal_watch w = {.n_started = 0};

    for (uint32_t kind = 0; kind < 10; kind++)
        for (int i = 0; i < 8; i++)
            CHECK(fail(&w, kind, MSIM_TABLE_GEMM, "a") != MSIM_CAL_GIVE_UP);
    for (uint32_t kind = 1; kind < 10; kind++)
        CHECK(w.of[kind].dropped);
}

/* What the device refuses is no failure of the backend's. */
static void test_watch__refusals(void)
{
    static const struct msim_cal_outcome REFUSED = {.error = "no such type",
                                                    .unsupported = true};
    static const struct msim_cal_outcome CRASHED = {.error = "gone",
                                                    .crashed = true};
    struct msim_cal_watch w = {.n_started = 0};

    for (int i = 0; i < 2; i++)
        CHECK_INT(msim_cal_watch_note(&w, 0, MSIM_TABLE_GEMM, &REFUSED),
                  MSIM_CAL_GO_ON);
    CHECK_INT(msim_cal_watch_note(&w, 0, MSIM_TABLE_GEMM, &REFUSED),
              MSIM_CAL_REFUSED);
    msim_cal_watch_note(&w, 1, MSIM_TABLE_CONV, &TIMED);
    for (int i = 0; i < 50; i++)
        CHECK_INT(msim_cal_watch_note(&w, 1, MSIM_TABLE_CONV, &REFUSED),
                  MSIM_CAL_GO_ON);
    CHECK(!msim_cal_watch_recall(&w, 2, &CRASHED));
    CHECK(msim_cal_watch_recall(&w, 2, &CRASHED));
    CHECK(w.of[0].dropped && !w.of[1].dropped && w.of[2].dropped);
}

static enum msim_cal_verdict hang(struct msim_cal_watch *w, uint32_t kind,
                                  enum msim_table table)
{
    static const struct msim_cal_outcome HUNG = {
        .error = "no answer", .crashed = true, .hung = true};

    return msim_cal_watch_note(w, kind, table, &HUNG);
}

/* Two kinds of products hang: all products are dropped. With rows in between it
 * takes four. */
static void test_watch__hangs_of_a_table(void)
{
    struct msim_cal_watch w = {.n_started = 0}, some = {.n_started = 0};

    CHECK_INT(hang(&w, 0, MSIM_TABLE_GEMM), MSIM_CAL_GO_ON);
    msim_cal_watch_note(&w, 9, MSIM_TABLE_VECTOR, &TIMED);
    CHECK(!w.lost);
    CHECK_INT(hang(&w, 1, MSIM_TABLE_GEMM), MSIM_CAL_DROP_TABLE);
    CHECK(w.lost);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(hang(&some, 0, MSIM_TABLE_GEMM), MSIM_CAL_GO_ON);
        msim_cal_watch_note(&some, 0, MSIM_TABLE_GEMM, &TIMED);
    }
    CHECK_INT(hang(&some, 0, MSIM_TABLE_GEMM), MSIM_CAL_DROP_TABLE);
}

/* Computing beside collectives is none of its table. */
static void test_watch__hangs_of_pairs(void)
{
    struct msim_cal_watch w = {.n_started = 0};

    CHECK_INT(hang(&w, MSIM_CAL_PAIRS, MSIM_TABLE_GEMM), MSIM_CAL_GO_ON);
    CHECK_INT(hang(&w, 0, MSIM_TABLE_GEMM), MSIM_CAL_GO_ON);
    CHECK_INT(hang(&w, MSIM_CAL_PAIRS, MSIM_TABLE_VECTOR), MSIM_CAL_DROP_TABLE);
}

/* Three tables, and nothing works in between. */
static void test_watch__hangs_of_all(void)
{
    struct msim_cal_watch w = {.n_started = 0};

    hang(&w, 0, MSIM_TABLE_GEMM);
    hang(&w, 1, MSIM_TABLE_VECTOR);
    msim_cal_watch_note(&w, 2, MSIM_TABLE_CONV, &TIMED);
    CHECK_INT(hang(&w, 3, MSIM_TABLE_COPY), MSIM_CAL_GO_ON);
    CHECK_INT(hang(&w, 2, MSIM_TABLE_CONV), MSIM_CAL_GO_ON);
    CHECK_INT(hang(&w, 4, MSIM_TABLE_LATENCY), MSIM_CAL_GIVE_UP);
}

/* Two faults that take turns do not start a backend for ever. */
static void test_watch__starts_end(void)
{
    struct msim_cal_watch w = {.n_started = 0};
    uint32_t started = 0;

    for (uint32_t i = 0; i < 800; i++) {
        char text[2] = {(char)('a' + i / 8 % 20), '\0'};

        started +=
            fail(&w, i % 16 / 8, MSIM_TABLE_GEMM, text) == MSIM_CAL_START_AGAIN;
    }
    CHECK_UINT(started, MSIM_CAL_STARTED);
}

int main(void)
{
    RUN(test_watch__of_a_kind);
    RUN(test_watch__of_all);
    RUN(test_watch__of_a_table);
    RUN(test_watch__refusals);
    RUN(test_watch__hangs_of_a_table);
    RUN(test_watch__hangs_of_pairs);
    RUN(test_watch__hangs_of_all);
    RUN(test_watch__starts_end);
    return check_summary();
}
