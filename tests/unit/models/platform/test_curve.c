/*
 * Curves of collectives: what is read is checked, and what lies between points
 * and between curves is interpolated on logarithms of time over the law.
 */
#include "models/platform/fit.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIT                                                                    \
    "{\"curves\":[{\"collective\":\"all_reduce\",\"ranks\":2,\"nodes\":1,"     \
    "\"measured\":true,\"bytes\":[1024,4096],\"us\":[10,40],"                  \
    "\"spread\":[0.1,0.3]},{\"collective\":\"all_reduce\",\"ranks\":8,"        \
    "\"nodes\":1,\"measured\":false,\"bytes\":[1024],\"us\":[30],"             \
    "\"spread\":[0.5]}],"                                                      \
    "\"variants\":[{\"collective\":\"all_reduce\",\"version\":\"2.1\","        \
    "\"dtype\":\"int8\",\"factor\":[2,1,1,1,1,1,4]}],"                         \
    "\"logs\":[{\"version\":\"2.1\",\"setting\":\"slow\",\"factor\":3,"        \
    "\"misconfigured\":true},{\"version\":\"2.1\",\"setting\":\"good\","       \
    "\"factor\":1.1,\"misconfigured\":false}]}"

/* A law of 10 us, whatever is asked. */
static double ten_us(const struct msim_data_sheet *s, const struct msim_work *w,
                     const double *p)
{
    (void)s;
    (void)w;
    (void)p;
    return 10;
}

static const struct msim_law LAW = {.name = "ten", .time_us = ten_us};

static enum msim_status read(struct msim_curves *c, const char *text)
{
    cJSON *json = cJSON_Parse(text);
    enum msim_status status = msim_curves_read(c, json);

    cJSON_Delete(json);
    return status;
}

static struct msim_work work(enum msim_collective what, uint32_t ranks,
                             uint64_t bytes)
{
    struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE};

    w.u.coll.collective = what;
    w.u.coll.ranks = ranks;
    w.u.coll.nodes = 1;
    w.u.coll.bytes = bytes;
    return w;
}

static struct msim_curve_answer ask(const struct msim_curves *c,
                                    struct msim_work w)
{
    struct msim_curve_answer a = {.correction = NAN};

    CHECK(msim_curves_ask(c, &LAW, NULL, NULL, &w, &a));
    return a;
}

#define NODES                                                                  \
    "{\"curves\":[{\"collective\":\"all_reduce\",\"ranks\":20,\"nodes\":10,"   \
    "\"measured\":true,\"bytes\":[1024,4096],\"us\":[10,40],"                  \
    "\"spread\":[0.1,0.3]},{\"collective\":\"all_reduce\",\"ranks\":64,"       \
    "\"nodes\":16,\"measured\":false,\"bytes\":[1024,4096],\"us\":[30,50],"    \
    "\"spread\":[0.5,0.5]}]}"

/* 2 GPUs on each of 10 nodes were measured, 4 on each of 16 inferred. Wider is
 * over more nodes, of no fewer in all and no more on each. */
static void test_curve__spread_wider(void)
{
    static const struct {
        uint32_t ranks, nodes;
        uint64_t bytes;
        bool wider, measured;
    } CASE[] = {{4, 2, 1024, true, false},   {16, 8, 4096, true, false},
                {16, 4, 2048, true, false},  {20, 10, 2048, false, true},
                {20, 10, 1023, false, true}, {4, 2, 1023, false, false},
                {4, 2, 4097, false, false},  {2, 2, 2048, false, false},
                {24, 6, 2048, false, false}, {22, 11, 2048, false, false},
                {20, 9, 2048, true, false},  {64, 16, 2048, false, false}};
    struct msim_curves c;

    REQUIRE(read(&c, NODES) == MSIM_OK);
    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_work w =
            work(MSIM_COLL_ALL_REDUCE, CASE[i].ranks, CASE[i].bytes);
        struct msim_work other = w, wider = {.kernels = 0};
        uint32_t at = 0;

        other.u.coll.collective = MSIM_COLL_ALL_GATHER;
        w.u.coll.nodes = other.u.coll.nodes = CASE[i].nodes;
        CHECK_INT(msim_curves_measured(&c, &w), CASE[i].measured);
        CHECK(!msim_curves_measured(&c, &other));
        CHECK_INT(msim_curves_wider(&c, &w, &at, &wider), CASE[i].wider);
        if (CASE[i].wider) {
            CHECK_INT(wider.u.coll.ranks, 20);
            CHECK_INT(wider.u.coll.nodes, 10);
            CHECK_INT(wider.u.coll.bytes, CASE[i].bytes);
        }
        CHECK(!msim_curves_wider(&c, &w, &at, &wider));
        at = 0;
        CHECK(!msim_curves_wider(&c, &other, &at, &wider));
    }
    msim_curves_release(&c);
}

#define MESSAGES                                                               \
    "{\"curves\":[{\"collective\":\"send\",\"ranks\":4,\"nodes\":2,"           \
    "\"measured\":true,\"bytes\":[1024,4096],\"us\":[10,40],"                  \
    "\"spread\":[0.1,0.3]}]}"

/* Of messages, more ranks over the same nodes send more over the same links. */
static void test_curve__messages_spread_wider(void)
{
    static const struct {
        uint32_t ranks, nodes;
        bool wider;
    } CASE[] = {{2, 2, true},
                {3, 2, true},
                {4, 2, false},
                {5, 2, false},
                {2, 3, false}};
    struct msim_curves c;

    REQUIRE(read(&c, MESSAGES) == MSIM_OK);
    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_work w = work(MSIM_COLL_SEND, CASE[i].ranks, 2048);
        struct msim_work wider;
        uint32_t at = 0;

        w.u.coll.nodes = CASE[i].nodes;
        CHECK_INT(msim_curves_wider(&c, &w, &at, &wider), CASE[i].wider);
    }
    msim_curves_release(&c);
}

/* At 2048 bytes, half way on the logarithm, between log 1 and log 4: log 2. */
static void test_curve__between_points(void)
{
    struct msim_curves c;
    struct msim_curve_answer a;

    REQUIRE(read(&c, FIT) == MSIM_OK);
    a = ask(&c, work(MSIM_COLL_ALL_REDUCE, 2, 1024));
    CHECK(fabs(a.correction) < 1e-12 && a.measured && !a.stand_in);
    a = ask(&c, work(MSIM_COLL_ALL_REDUCE, 2, 2048));
    CHECK_REL(a.correction, log(2), 1e-9);
    CHECK_REL(a.half_width, 0.2, 1e-9);
    CHECK(a.measured);
    msim_curves_release(&c);
}

/* Beyond the ends the correction stays, nothing was measured there, and the
 * half width grows by 0.1 an octave of bytes or 0.34 of ranks, up to 0.68. */
static void test_curve__beyond_the_ends(void)
{
    struct msim_curves c;
    struct msim_curve_answer a;

    REQUIRE(read(&c, FIT) == MSIM_OK);
    a = ask(&c, work(MSIM_COLL_ALL_REDUCE, 2, 1 << 20));
    CHECK_REL(a.correction, log(4), 1e-9);
    CHECK(!a.measured);
    CHECK_REL(a.half_width, hypot(0.3, 0.68), 1e-9);
    a = ask(&c, work(MSIM_COLL_ALL_REDUCE, 2, 8192));
    CHECK_REL(a.half_width, hypot(0.3, 0.1), 1e-9);
    a = ask(&c, work(MSIM_COLL_ALL_REDUCE, 2, 1));
    CHECK(fabs(a.correction) < 1e-12 && !a.measured);
    a = ask(&c, work(MSIM_COLL_ALL_REDUCE, 64, 1024));
    CHECK_REL(a.correction, log(3), 1e-9);
    msim_curves_release(&c);
}

/* Four ranks lie half way from two to eight: half of log 3, and an octave from
 * either, so that the interval is wider. */
static void test_curve__between_ranks(void)
{
    struct msim_curves c;
    struct msim_curve_answer a;

    REQUIRE(read(&c, FIT) == MSIM_OK);
    a = ask(&c, work(MSIM_COLL_ALL_REDUCE, 4, 1024));
    CHECK_REL(a.correction, log(3) / 2, 1e-9);
    CHECK_REL(a.half_width, hypot(0.3, 0.34), 1e-9);
    CHECK(!a.measured);
    msim_curves_release(&c);
}

static void test_curve__another_collective_stands_in(void)
{
    struct msim_curve_answer a;
    struct msim_curves c;
    struct msim_work w = work(MSIM_COLL_BARRIER, 2, 1024);

    REQUIRE(read(&c, FIT) == MSIM_OK);
    a = ask(&c, w);
    CHECK(a.stand_in && !a.measured);
    w = work(MSIM_COLL_SEND, 2, 1024);
    CHECK(ask(&c, w).stand_in);
    /* There are no curves between nodes, nor of all-to-all. */
    w.u.coll.nodes = 2;
    CHECK(!msim_curves_ask(&c, &LAW, NULL, NULL, &w, &a));
    w = work(MSIM_COLL_GATHER, 2, 1024);
    CHECK(!msim_curves_ask(&c, &LAW, NULL, NULL, &w, &a));
    msim_curves_release(&c);
}

/* A law that goes by the data sheet and by what the work says of its link. */
static double by_sheet(const struct msim_data_sheet *s,
                       const struct msim_work *w, const double *p)
{
    (void)p;
    return s->link * (w->u.coll.interconnect ? 3 : 1) *
           (w->u.coll.algorithm ? 5 : 1);
}

/* The law at a curve's points is kept, but not for another data sheet, nor for
 * a work that names its link or algorithm. */
static void test_curve__keeps_a_law_of_one_sheet(void)
{
    static const struct msim_law law = {.name = "sheet", .time_us = by_sheet};
    const struct msim_data_sheet one = {.link = 10}, other = {.link = 20};
    struct msim_work plain = work(MSIM_COLL_ALL_REDUCE, 2, 1024);
    struct msim_work link = plain, algorithm = plain;
    struct msim_curve_answer a;
    struct msim_curves c;

    link.u.coll.interconnect = "x";
    algorithm.u.coll.algorithm = "y";
    REQUIRE(read(&c, FIT) == MSIM_OK);
    for (int again = 0; again < 2; again++) {
        CHECK(msim_curves_ask(&c, &law, &one, NULL, &plain, &a));
        CHECK_REL(a.correction, log(10 / 10.0), 1e-12);
        CHECK(msim_curves_ask(&c, &law, &other, NULL, &plain, &a));
        CHECK_REL(a.correction, log(10 / 20.0), 1e-12);
        CHECK(msim_curves_ask(&c, &law, &one, NULL, &link, &a));
        CHECK_REL(a.correction, log(10 / 30.0), 1e-12);
        CHECK(msim_curves_ask(&c, &law, &one, NULL, &algorithm, &a));
        CHECK_REL(a.correction, log(10 / 50.0), 1e-12);
    }
    msim_curves_release(&c);
}

static void says(const struct msim_curves *c, struct msim_work w,
                 const char *want)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    REQUIRE(out != NULL);
    msim_curves_explain(c, &w, out);
    fclose(out);
    CHECK_STR(text, want);
    free(text);
}

/* Whether a point was measured, inferred, or lies between or beyond. */
static void test_curve__explains(void)
{
    struct msim_curves c;

    REQUIRE(read(&c, FIT) == MSIM_OK);
    says(&c, work(MSIM_COLL_ALL_REDUCE, 2, 2048),
         "curves: measured curve of 2 ranks\n");
    says(&c, work(MSIM_COLL_ALL_REDUCE, 8, 1024),
         "curves: inferred curve of 8 ranks\n");
    says(&c, work(MSIM_COLL_ALL_REDUCE, 4, 1024),
         "curves: measured curve of 2 ranks, between it and the inferred curve "
         "of 8 ranks\n");
    says(&c, work(MSIM_COLL_ALL_REDUCE, 2, 8192),
         "curves: measured curve of 2 ranks (which ends at 4096 bytes)\n");
    says(&c, work(MSIM_COLL_BARRIER, 16, 1024),
         "curves: all_reduce stands in, inferred curve of 8 ranks, which is "
         "the nearest\n");
    says(&c, work(MSIM_COLL_GATHER, 2, 1024), "");
    msim_curves_release(&c);
}

/* Factors are by version and dtype, and by size: 2 below 8 KiB, 4 from 8 GiB
 * on; what is not named or not known adds nothing. */
static void test_curve__variants_and_logs(void)
{
    struct msim_work w = work(MSIM_COLL_ALL_REDUCE, 2, 1024);
    struct msim_curves c;

    REQUIRE(read(&c, FIT) == MSIM_OK);
    CHECK(msim_curves_variant(&c, &w) == 0);
    w.version = "2.1";
    CHECK(msim_curves_variant(&c, &w) == 0);
    w.dtype = MSIM_DT_I8;
    CHECK_REL(msim_curves_variant(&c, &w), log(2), 1e-12);
    w.u.coll.bytes = UINT64_C(1) << 36;
    CHECK_REL(msim_curves_variant(&c, &w), log(4), 1e-12);
    w.u.coll.collective = MSIM_COLL_REDUCE;
    CHECK(msim_curves_variant(&c, &w) == 0);

    CHECK(msim_curves_log_factor(&c, &w) == 1);
    w.u.coll.setting = "good";
    CHECK(msim_curves_log_factor(&c, &w) == 1);
    w.u.coll.setting = "slow";
    CHECK(msim_curves_log_factor(&c, &w) == 3);
    w.version = "2.2";
    CHECK(msim_curves_log_factor(&c, &w) == 1);
    msim_curves_release(&c);
}

#define CURVE(more)                                                            \
    "{\"curves\":[{\"collective\":\"all_reduce\",\"ranks\":2," more "}]}"

static void test_curve__refuses(void)
{
    static const char *const WRONG[] = {
        "{\"curves\":[{}]}",
        "{\"curves\":[1]}",
        CURVE("\"bytes\":[],\"us\":[],\"spread\":[]"),
        CURVE("\"bytes\":[2,1],\"us\":[1,1],\"spread\":[1,1]"),
        CURVE("\"bytes\":[1,2],\"us\":[1],\"spread\":[1,1]"),
        CURVE("\"bytes\":[1],\"us\":[0],\"spread\":[1]"),
        CURVE("\"bytes\":[1],\"us\":[\"1\"],\"spread\":[1]"),
        CURVE("\"bytes\":[1],\"us\":[1],\"spread\":[-1]"),
        CURVE("\"nodes\":0,\"bytes\":[1],\"us\":[1],\"spread\":[1]"),
        "{\"variants\":[{\"collective\":\"all_reduce\",\"version\":\"1\","
        "\"dtype\":\"int8\",\"factor\":[1]}]}",
        "{\"logs\":[{\"version\":\"1\",\"setting\":\"s\",\"factor\":-1}]}",
        "{\"logs\":[{}]}",
    };
    struct msim_curves c;

    for (size_t i = 0; i < sizeof(WRONG) / sizeof(*WRONG); i++) {
        CHECK_INT(read(&c, WRONG[i]), MSIM_EFORMAT);
        CHECK(c.n == 0 && c.list == NULL);
    }
    CHECK_INT(read(&c, "{}"), MSIM_OK);
    CHECK(c.n == 0);
    msim_curves_release(&c);
}

int main(void)
{
    RUN(test_curve__between_points);
    RUN(test_curve__spread_wider);
    RUN(test_curve__messages_spread_wider);
    RUN(test_curve__beyond_the_ends);
    RUN(test_curve__between_ranks);
    RUN(test_curve__another_collective_stands_in);
    RUN(test_curve__keeps_a_law_of_one_sheet);
    RUN(test_curve__explains);
    RUN(test_curve__variants_and_logs);
    RUN(test_curve__refuses);
    return check_summary();
}
