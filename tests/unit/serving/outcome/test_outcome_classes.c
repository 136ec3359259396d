/* serving/outcome/outcome_classes.c: rates, promises and the worst class of a
 * run that is made up, counted by hand. */
#include "serving/outcome/serving_outcome_internal.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

#define MS    INT64_C(1000000000)
#define NEVER MSIM_TIME_NONE
#define MOST  100000

enum { READ, WRITE, IDLE, CLASSES };

static const struct msim_app_class names[] = {
    {.name = "read"}, {.name = "write"}, {.name = "idle"}};
static const struct msim_promise stated[] = {
    {READ, MSIM_PROMISE_E2E, 90, 10},
    {MSIM_CLASS_ALL, MSIM_PROMISE_TTFT, 50, 5}};
static struct msim_app app;
static struct msim_class_outcome c[CLASSES];
static struct msim_serving_outcome o;
static struct msim_serving_wish w;

/* From 1 to 3 s. */
static const struct msim_served rows[] = {
    /* Takes 10 ms, no longer than is promised; has no tokens. */
    {1500 * MS, 1510 * MS, NEVER, 0, READ, 0, 0, true, false},
    {1600 * MS, 1611 * MS, NEVER, 0, READ, 0, 0, true, false}, /* late */
    {1700 * MS, NEVER, NEVER, 0, READ, 0, 0, true, false},
    {490 * MS, 500 * MS, NEVER, 0, READ, 0, 0, false, false},
    /* Before the warm-up's end, which it ends with. */
    {999 * MS, 1000 * MS, NEVER, 0, READ, 0, 0, false, false},
    /* Its first token is late, the other four come after 0.5 ms each; it ends
     * with the last arrival. */
    {2992 * MS, 3000 * MS, 2998 * MS, 0, READ, 9, 5, true, false},
    {2993 * MS, 3001 * MS, 2998 * MS, 0, READ, 9, 1, true, true},
    {2994 * MS, 3004 * MS, 2999 * MS, 0, WRITE, 9, 2, true, false},
};

static void judge(const struct msim_served *requests, uint64_t n, double begin,
                  double end)
{
    memset(c, 0, sizeof(c));
    app.classes = names;
    app.n_classes = CLASSES;
    o = (struct msim_serving_outcome){.app = &app,
                                      .classes = c,
                                      .run = {.requests = requests,
                                              .n_requests = n,
                                              .begin_s = begin,
                                              .end_s = end}};
    CHECK_INT(msim_outcome_classes(&o, &w), MSIM_OK);
}

static void promise(const struct msim_promise *p, uint32_t n)
{
    w = (struct msim_serving_wish){.app = &app};
    app.promises = p;
    app.n_promises = n;
}

/* Of five measured requests of 'read' two are late for a promise that allows
 * 10 %, and two for one that allows 50 %; they are three in all. Of what ends
 * from 1 to 3 s, one request has 5 tokens. */
static void test_outcome_classes__by_hand(void)
{
    promise(stated, 2);
    judge(rows, 8, 1, 3);
    CHECK_STR(c[WRITE].name, "write");
    CHECK(o.promised);
    CHECK_INT(o.worst_class, READ);
    CHECK_INT(c[READ].requests, 4);
    CHECK_INT(c[READ].unfinished, 1);
    CHECK_INT(c[READ].late, 3);
    CHECK_REL(c[READ].violations, 0.6, 1e-12);
    CHECK_REL(c[READ].worst, 4, 1e-12);
    CHECK_REL(c[READ].throughput_rps, 2, 1e-12);
    CHECK_REL(c[READ].tokens_per_s, 2.5, 1e-12);
    CHECK_REL(c[READ].goodput_rps, 1, 1e-12);
    CHECK(c[READ].few);
    CHECK_REL(c[READ].e2e.mean, 9.25, 1e-12);
    CHECK_REL(c[READ].ttft.mean, 5.5, 1e-12);
    CHECK_REL(c[READ].tpot.mean, 0.5, 1e-12); /* of one token there is none */
    /* What ends behind the last arrival alone has no rate. */
    CHECK(isnan(c[WRITE].throughput_rps) && isnan(c[WRITE].tokens_per_s) &&
          isnan(c[WRITE].goodput_rps));
    CHECK_INT(c[WRITE].requests, 1);
    CHECK_INT(c[WRITE].late, 0);
    CHECK(c[WRITE].worst == 0 && c[WRITE].violations == 0);
    CHECK_REL(c[WRITE].tpot.p99, 5, 1e-12);
    /* Nothing came, which is a rate. */
    CHECK(c[IDLE].throughput_rps == 0 && c[IDLE].requests == 0);
    CHECK(isnan(c[IDLE].worst) && isnan(c[IDLE].violations));
    CHECK(isnan(c[IDLE].e2e.mean));
}

/* What is asked for instead of the application's promises. */
static void test_outcome_classes__goodput(void)
{
    static const struct msim_promise asked = {READ, MSIM_PROMISE_TPOT, 50, 0.4};

    promise(stated, 2);
    w.goodput = &asked;
    w.n_goodput = 1;
    judge(rows, 8, 1, 3);
    CHECK(o.promised);
    CHECK_INT(c[READ].late, 2); /* one never ends */
    CHECK_INT(c[READ].cut, 1);
    CHECK_INT(c[WRITE].cut, 0);
    CHECK_REL(c[READ].worst, 0.8, 1e-12);
    CHECK_REL(c[READ].goodput_rps, 1.5, 1e-12);
    CHECK(isnan(c[WRITE].violations) && isnan(c[WRITE].goodput_rps));
    CHECK(isnan(c[WRITE].worst) && !c[WRITE].few);
    CHECK_INT(c[WRITE].late, 0);
    CHECK_INT(o.worst_class, READ);
}

/* Nothing is promised: the slowest is the worst, which the second is; of two
 * that are as slow it is the first. */
static void test_outcome_classes__slowest(void)
{
    static const struct msim_served same[] = {
        {0, 5 * MS, NEVER, 0, READ, 0, 0, true, false},
        {0, 5 * MS, NEVER, 0, WRITE, 0, 0, true, false}};

    promise(NULL, 0);
    judge(rows, 8, 1, 3);
    CHECK(!o.promised);
    CHECK_REL(c[READ].e2e.p50, 9, 1e-12);
    CHECK_INT(o.worst_class, READ); /* 11 ms are more than 10 */
    judge(rows + 5, 3, 1, 3);
    CHECK_INT(o.worst_class, WRITE); /* ... which are more than 8 */
    judge(same, 2, 0, 1);
    CHECK_INT(o.worst_class, READ);
    /* All at once: no time, so no rates. */
    judge(rows, 8, 3, 3);
    CHECK(isnan(c[READ].throughput_rps) && isnan(c[IDLE].goodput_rps) &&
          isnan(c[IDLE].tokens_per_s));
    CHECK_INT(c[READ].requests, 4);
}

/* A percentile p is believed of 100 / (1 - p) requests, or where a hundred are
 * late. What 100 - 99.9 is off by in doubles does not count. */
static void test_outcome_classes__few(void)
{
    static const struct {
        double percentile;
        uint32_t n, late;
        bool few;
    } CASES[] = {{99, 9999, 0, true},    {99, 10000, 0, false},
                 {99, 1000, 99, true},   {99, 1000, 100, false},
                 {50, 199, 1, true},     {50, 200, 1, false},
                 {99.9, 99999, 0, true}, {99.9, MOST, 0, false}};
    struct msim_served *q = calloc(MOST, sizeof(*q));

    REQUIRE(q != NULL);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        const struct msim_promise p = {READ, MSIM_PROMISE_E2E,
                                       CASES[i].percentile, 10};

        promise(&p, 1);
        for (uint32_t k = 0; k < CASES[i].n; k++)
            q[k] = (struct msim_served){.ended = k < CASES[i].late ? 11 * MS
                                                                   : 10 * MS,
                                        .first = NEVER,
                                        .measured = true};
        judge(q, CASES[i].n, 0, 1);
        CHECK_INT(c[READ].few, CASES[i].few);
        CHECK_INT(c[READ].late, CASES[i].late);
        CHECK_REL(c[READ].throughput_rps, CASES[i].n, 1e-9);
        CHECK(!c[WRITE].few);
    }
    free(q);
}

int main(void)
{
    RUN(test_outcome_classes__by_hand);
    RUN(test_outcome_classes__goodput);
    RUN(test_outcome_classes__slowest);
    RUN(test_outcome_classes__few);
    return check_summary();
}
