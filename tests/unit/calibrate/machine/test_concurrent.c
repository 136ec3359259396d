/*
 * Computing beside collectives: which experiments are asked for, and ratios of
 * answers that were made up.
 */
#include "calibrate/machine/machine_internal.h"

#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

#define GREETING                                                               \
    "{\"device\":{\"kind\":\"cpu\",\"sms\":8,\"memory_bytes\":8e10},"          \
    "\"ranks\":2,\"tables\":{\"collective\":[\"all_reduce\",\"broadcast\"]},"  \
    "\"beside\":{\"gemm\":[\"fp32\"],\"vector\":[\"add:fp32\"]}}"

struct pairing {
    struct msim_cal_space computes, all;
    struct msim_cal_design *design;
    struct msim_cal_pairing p;
};

static bool begin(struct pairing *k, const char *greeting)
{
    cJSON *g = cJSON_Parse(greeting);
    bool ok = msim_cal_space_read(&k->all, g, 1e5, NULL) == MSIM_OK &&
              msim_cal_design_new(&k->design, &k->all, 1) == MSIM_OK;

    msim_cal_space_concurrent(&k->computes, g, 1e5);
    k->p = (struct msim_cal_pairing){.random = 7};
    cJSON_Delete(g);
    return ok;
}

static bool next(struct pairing *k, struct msim_cal_experiment *e)
{
    return msim_cal_concurrent_next(&k->p, &k->computes, &k->all, k->design, e);
}

/* Kinds in turn, and of each the collectives in turn. */
static void test_concurrent__takes_turns(void)
{
    static const enum msim_table TABLES[] = {MSIM_TABLE_GEMM,
                                             MSIM_TABLE_VECTOR};
    static const char *const COLLECTIVES[] = {"all_reduce", "broadcast"};
    struct pairing a, b;
    struct msim_cal_experiment e, same;
    int n = 4;

    REQUIRE(begin(&a, GREETING) && begin(&b, GREETING));
    for (int i = 0; i < 4; i++) {
        uint64_t bytes;

        REQUIRE(next(&a, &e) && next(&b, &same) && e.is_pair);
        bytes = e.concurrent.work.u.coll.bytes;
        CHECK_INT(e.timed.table, TABLES[i % 2]);
        CHECK_STR(e.concurrent.op, COLLECTIVES[(i % 2 + i / 2) % 2]);
        CHECK(bytes >= 1048576 && bytes <= 33554432);
        CHECK(msim_cal_hash(&e, "") == msim_cal_hash(&same, ""));
    }
    while (n < 1000 && next(&a, &e))
        n++;
    CHECK(n < 1000);
    msim_cal_design_free(a.design);
    msim_cal_design_free(b.design);
}

static void test_concurrent__only_where_it_is_offered(void)
{
    struct msim_cal_experiment e;
    struct pairing k;

    REQUIRE(begin(&k, "{\"device\":{},\"tables\":{\"collective\":[\"all_"
                      "reduce\"]},\"beside\":\"not run: 1 GPU\"}"));
    CHECK_UINT(k.computes.n, 0);
    CHECK(!next(&k, &e));
    msim_cal_design_free(k.design);
    REQUIRE(begin(&k, "{\"device\":{},\"tables\":{},\"beside\":"
                      "{\"gemm\":[\"fp32\"]}}"));
    CHECK_UINT(k.computes.n, 1);
    CHECK(!next(&k, &e)); /* beside what? */
    msim_cal_design_free(k.design);
}

#define GEMM(more)                                                             \
    "{\"table\":\"gemm\",\"dtype\":\"fp32\",\"m\":8,\"n\":32,\"k\":16,"        \
    "\"batch\":1,\"layout\":\"NT\"" more "}"
#define CONCURRENT(collective, bytes)                                          \
    ",\"beside\":{\"table\":\"collective\",\"collective\":\"" collective       \
    "\",\"ranks\":2,\"nodes\":1,\"bytes\":" #bytes "}"

/* An experiment of its own, by what runs beside it as well; but no work, so
 * that no law is fitted to its time. */
static void test_concurrent__is_no_row(void)
{
    cJSON *lines[] = {cJSON_Parse(GEMM("")),
                      cJSON_Parse(GEMM(CONCURRENT("all_reduce", 1024))),
                      cJSON_Parse(GEMM(CONCURRENT("all_reduce", 2048)))};
    struct msim_cal_experiment alone, concurrent, other;
    char text[160];

    msim_cal_experiment_read(&alone, lines[0]);
    msim_cal_experiment_read(&concurrent, lines[1]);
    msim_cal_experiment_read(&other, lines[2]);
    CHECK(msim_cal_work(&alone));
    CHECK(!msim_cal_work(&concurrent));
    CHECK(msim_cal_hash(&alone, "") != msim_cal_hash(&concurrent, ""));
    CHECK(msim_cal_hash(&other, "") != msim_cal_hash(&concurrent, ""));
    CHECK(msim_cal_hash(&other, "x") == msim_cal_hash_json(lines[2], "x"));
    msim_cal_describe(&concurrent, text, sizeof(text));
    CHECK_STR(text, "gemm fp32 m 8 n 32 k 16 batch 1 NT beside "
                    "collective all_reduce ranks 2 nodes 1 bytes 1024");
    for (int i = 0; i < 3; i++)
        cJSON_Delete(lines[i]);
}

static void add(struct msim_cal_journal *j, const char *experiment,
                const char *answer)
{
    cJSON *line = cJSON_Parse(experiment);
    struct msim_cal_experiment e;

    msim_cal_experiment_read(&e, line);
    CHECK_INT(
        msim_cal_journal_add(j, "made-up", &e, cJSON_Parse(answer), 1, NULL),
        MSIM_OK);
    cJSON_Delete(line);
}

/* Ratios of 2, 3 and 4 beside an all-reduce, and of 5; what has no time alone,
 * or none at all, has none. */
static void test_concurrent__compares(void)
{
    char path[] = "msim-test-cal-beside-XXXXXX";
    struct msim_cal_journal j;
    struct msim_cal_concurrents b;
    cJSON *platform = cJSON_CreateObject();
    int fd = mkstemp(path);

    REQUIRE(fd >= 0);
    close(fd);
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    REQUIRE(msim_cal_concurrent(&b, &j) == MSIM_OK);
    msim_cal_concurrent_write(platform, &b);
    CHECK(platform->child == NULL);
    add(&j, GEMM(CONCURRENT("all_reduce", 1)),
        "{\"time_us\":4,\"alone_us\":2}");
    add(&j, GEMM(CONCURRENT("all_reduce", 2)),
        "{\"time_us\":12,\"alone_us\":3}");
    add(&j, GEMM(CONCURRENT("all_reduce", 3)),
        "{\"time_us\":3,\"alone_us\":1}");
    add(&j, GEMM(CONCURRENT("all_reduce", 4)), "{\"time_us\":3}");
    add(&j, GEMM(CONCURRENT("all_reduce", 5)), "{\"error\":\"no\"}");
    add(&j, GEMM(CONCURRENT("broadcast", 1)), "{\"time_us\":5,\"alone_us\":1}");
    add(&j, GEMM(""), "{\"time_us\":9,\"alone_us\":1}");
    REQUIRE(msim_cal_concurrent(&b, &j) == MSIM_OK);
    REQUIRE(b.n == 2);
    CHECK_INT(b.list[0].table, MSIM_TABLE_GEMM);
    CHECK_STR(b.list[0].collective, "all_reduce");
    CHECK_STR(b.list[0].backend, "made-up");
    CHECK_UINT(b.list[0].ratio.n, 3);
    CHECK_REL(b.list[0].ratio.median, 3, 1e-12);
    CHECK_REL(b.list[0].ratio.p10, 2, 1e-12);
    CHECK_REL(b.list[0].ratio.p90, 4, 1e-12);
    CHECK_REL(msim_cal_concurrent_seconds(&j, "made-up", 2), 6, 1e-12);
    CHECK_REL(msim_cal_concurrent_seconds(&j, "made-up", 4), 0, 0);
    CHECK_REL(msim_cal_concurrent_seconds(&j, "other", 2), 0, 0);
    CHECK_STR(b.list[1].collective, "broadcast");
    CHECK_UINT(b.all.n, 4);
    msim_cal_concurrent_write(platform, &b);
    CHECK_REL(msim_json_get_number(platform->child, "p90", 0), 5, 1e-12);
    cJSON_Delete(platform);
    msim_cal_journal_close(&j);
    unlink(path);
}

int main(void)
{
    RUN(test_concurrent__takes_turns);
    RUN(test_concurrent__only_where_it_is_offered);
    RUN(test_concurrent__is_no_row);
    RUN(test_concurrent__compares);
    return check_summary();
}
