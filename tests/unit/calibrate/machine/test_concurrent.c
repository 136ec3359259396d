/*
 * Computing beside collectives: which experiments are asked for, and ratios of
 * answers that were made up.
 */
#include "calibrate/machine/concurrent.h"

#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

#define GREETING                                                               \
    "{\"device\":{\"kind\":\"cpu\",\"sms\":8,\"memory_bytes\":8e10},"          \
    "\"ranks\":2,\"tables\":{\"collective\":[\"all_reduce\",\"broadcast\"]},"  \
    "\"beside\":{\"gemm\":[\"fp32\"],\"vector\":[\"add:fp32\"]}}"

struct pairing {
    struct msim_cal_space computes, all;
    struct msim_cal_design *plan;
    struct msim_cal_pairing p;
};

static bool begin(struct pairing *k, const char *greeting)
{
    cJSON *g = cJSON_Parse(greeting);
    bool ok = msim_cal_space_read(&k->all, g, 1e5, NULL) == MSIM_OK &&
              msim_cal_design_new(&k->plan, &k->all, 1) == MSIM_OK;

    msim_cal_space_concurrent(&k->computes, g, 1e5);
    k->p = (struct msim_cal_pairing){.random = 7};
    cJSON_Delete(g);
    return ok;
}

static cJSON *next(struct pairing *k)
{
    return msim_cal_concurrent_next(&k->p, &k->computes, &k->all, k->plan);
}

static bool is(const cJSON *e, const char *key, const char *want)
{
    const char *t = msim_json_get_text(e, key);

    return t && strcmp(t, want) == 0;
}

/* Kinds in turn, and of each the collectives in turn. */
static void test_concurrent__takes_turns(void)
{
    static const char *const TABLES[] = {"gemm", "vector"};
    static const char *const COLLECTIVES[] = {"all_reduce", "broadcast"};
    struct pairing a, b;
    int n = 4;
    cJSON *e;

    REQUIRE(begin(&a, GREETING) && begin(&b, GREETING));
    for (int i = 0; i < 4; i++) {
        cJSON *same = next(&b);
        const cJSON *c;

        e = next(&a);
        c = cJSON_GetObjectItemCaseSensitive(e, "beside");
        CHECK(is(e, "table", TABLES[i % 2]));
        CHECK(is(c, "collective", COLLECTIVES[(i % 2 + i / 2) % 2]));
        CHECK(msim_json_get_number(c, "bytes", 0) >= 1048576);
        CHECK(msim_json_get_number(c, "bytes", 0) <= 33554432);
        CHECK(cJSON_Compare(e, same, true));
        cJSON_Delete(e);
        cJSON_Delete(same);
    }
    for (; n < 1000 && (e = next(&a)); n++)
        cJSON_Delete(e);
    CHECK(n < 1000);
    msim_cal_design_free(a.plan);
    msim_cal_design_free(b.plan);
}

static void test_concurrent__only_where_it_is_offered(void)
{
    struct pairing k;

    REQUIRE(begin(&k, "{\"device\":{},\"tables\":{\"collective\":[\"all_"
                      "reduce\"]},\"beside\":\"not run: 1 GPU\"}"));
    CHECK_UINT(k.computes.n, 0);
    CHECK(next(&k) == NULL);
    msim_cal_design_free(k.plan);
    REQUIRE(begin(&k, "{\"device\":{},\"tables\":{},\"beside\":"
                      "{\"gemm\":[\"fp32\"]}}"));
    CHECK_UINT(k.computes.n, 1);
    CHECK(next(&k) == NULL); /* beside what? */
    msim_cal_design_free(k.plan);
}

#define GEMM(more)                                                             \
    "{\"table\":\"gemm\",\"dtype\":\"fp32\",\"m\":8,\"n\":32,\"k\":16" more "}"
#define CONCURRENT(collective, bytes)                                          \
    ",\"beside\":{\"table\":\"collective\",\"collective\":\"" collective       \
    "\",\"ranks\":2,\"bytes\":" #bytes "}"

/* An experiment of its own, by what runs beside it as well; but no work, so
 * that no law is fitted to its time. */
static void test_concurrent__is_no_row(void)
{
    cJSON *alone = cJSON_Parse(GEMM(""));
    cJSON *concurrent = cJSON_Parse(GEMM(CONCURRENT("all_reduce", 1024)));
    cJSON *other = cJSON_Parse(GEMM(CONCURRENT("all_reduce", 2048)));
    struct msim_cal_texts texts;
    struct msim_work w;
    char text[160];

    CHECK(msim_cal_work(alone, "torch", &texts, &w));
    CHECK(!msim_cal_work(concurrent, "torch", &texts, &w));
    CHECK(msim_cal_hash(alone, "") != msim_cal_hash(concurrent, ""));
    CHECK(msim_cal_hash(other, "") != msim_cal_hash(concurrent, ""));
    msim_cal_describe(concurrent, text, sizeof(text));
    CHECK_STR(text, "gemm fp32 m 8 n 32 k 16 beside collective all_reduce "
                    "ranks 2 bytes 1024");
    cJSON_Delete(alone);
    cJSON_Delete(concurrent);
    cJSON_Delete(other);
}

static void add(struct msim_cal_journal *j, const char *experiment,
                const char *answer)
{
    CHECK_INT(msim_cal_journal_add(j, "made-up", cJSON_Parse(experiment),
                                   cJSON_Parse(answer), 1, NULL),
              MSIM_OK);
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
    CHECK_STR(b.list[0].table, "gemm");
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
