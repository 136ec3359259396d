/*
 * What to time: within the limits, evenly over the space, the same for the same
 * seed; and then where least is known.
 */
#include "calibrate/machine/machine_internal.h"
#include "calibrate/measure/experiment_space.h"
#include "tests/check.h"

#include <stdlib.h>

#define GREETING                                                               \
    "{\"device\":{\"kind\":\"cpu\",\"sms\":2,\"memory_bytes\":8e9},"           \
    "\"ranks\":2,\"tables\":{\"gemm\":[\"fp32\",\"fp64\"],"                    \
    "\"conv\":[\"conv2d_fwd:fp32\"],\"vector\":[\"add:fp32\",\"sum:fp32\"],"   \
    "\"attention\":[\"prefill:fp32\",\"decode:fp32\"],"                        \
    "\"collective\":[\"all_reduce\"],\"copy\":[\"d2d\",\"h2d:pageable\"],"     \
    "\"latency\":[\"call\"],\"no_such_table\":[\"x\"]}}"
#define LONGEST 5e4 /* us */

static bool read_space(struct msim_cal_space *s)
{
    cJSON *greeting = cJSON_Parse(GREETING);
    enum msim_status status = msim_cal_space_read(s, greeting, LONGEST, NULL);

    cJSON_Delete(greeting);
    return status == MSIM_OK;
}

static void test_space__reads_a_greeting(void)
{
    struct msim_cal_space s;
    cJSON *none = cJSON_Parse("{\"tables\":{}}");
    struct msim_error err = {0};

    REQUIRE(read_space(&s));
    CHECK_UINT(s.n, 11); /* all but the unknown table's */
    CHECK_UINT(s.ranks, 2);
    CHECK_REL(s.bytes_most, 1e9, 0);
    CHECK_INT(msim_cal_space_read(&s, none, LONGEST, &err), MSIM_EFORMAT);
    CHECK(strstr(err.text, "'device'"));
    cJSON_Delete(none);
}

/* Collectives of one rank are none. */
static void test_space__of_one_rank(void)
{
    cJSON *alone =
        cJSON_Parse("{\"device\":{\"kind\":\"gpu\"},\"ranks\":1,\"tables\":"
                    "{\"collective\":[\"all_reduce\"],\"copy\":[\"h2d\"]}}");
    struct msim_cal_space s;

    REQUIRE(msim_cal_space_read(&s, alone, LONGEST, NULL) == MSIM_OK);
    CHECK_UINT(s.n, 1);
    CHECK_INT(s.kinds[0].table, MSIM_TABLE_COPY);
    cJSON_Delete(alone);
}

/* The first copy on a GPU is of 8 times its cache at least, 126 MB here, and
 * takes no more than an eighth of its memory twice. */
static void test_space__copies_past_the_cache(void)
{
    cJSON *large = cJSON_Parse(
        "{\"device\":{\"kind\":\"gpu\",\"sms\":148,\"memory_bytes\":18e10,"
        "\"l2_bytes\":126e6},\"tables\":{\"copy\":[\"d2d\"]}}");
    struct msim_cal_experiment e;
    struct msim_cal_design *d;
    struct msim_cal_space s;
    uint32_t kind;

    REQUIRE(msim_cal_space_read(&s, large, LONGEST, NULL) == MSIM_OK);
    REQUIRE(msim_cal_design_new(&d, &s, 1) == MSIM_OK);
    REQUIRE(msim_cal_design_next(d, &e, &kind));
    CHECK((double)e.timed.u.copy.bytes >= 8 * 126e6);
    CHECK(2 * (double)e.timed.u.copy.bytes <= 18e10 / 8);
    msim_cal_design_free(d);
    cJSON_Delete(large);
}

/* Every experiment is one that a table has, takes no more memory and time than
 * allowed, and none comes twice. */
static void test_design__stays_within_limits(void)
{
    struct msim_cal_space s;
    struct msim_cal_design *d;
    uint64_t seen[600];
    uint32_t n = 0, kind, twice = 0, latencies = 0;
    struct msim_cal_experiment e;

    REQUIRE(read_space(&s));
    REQUIRE(msim_cal_design_new(&d, &s, 1) == MSIM_OK);
    while (n < 600 && msim_cal_design_next(d, &e, &kind)) {
        enum msim_table table = e.timed.table;

        seen[n] = msim_cal_hash(&e, "");
        for (uint32_t i = 0; i < n; i++)
            twice += seen[i] == seen[n];
        n++;
        CHECK_INT(table, s.kinds[kind].table);
        latencies += table == MSIM_TABLE_LATENCY;
        CHECK(msim_experiment_bytes(&e.timed) <= s.bytes_most);
        CHECK(msim_cal_expected_us(&e, &s.guess) <= 8 * LONGEST);
        CHECK((msim_cal_work(&e) != NULL) ==
              (table != MSIM_TABLE_COPY && table != MSIM_TABLE_LATENCY));
    }
    CHECK_UINT(n, 600);
    CHECK_UINT(latencies, 1);
    CHECK_UINT(twice, 0);
    msim_cal_design_free(d);
}

/* Every table has its turn before any has a second one, and every kind, too.
 */
static void test_design__begins_with_each_table(void)
{
    bool had[MSIM_TABLE_COUNT] = {false}, seen[MSIM_CAL_KINDS] = {false};
    struct msim_cal_space s;
    struct msim_cal_design *d;
    struct msim_cal_experiment e;
    uint32_t kind, tables = 0;

    REQUIRE(read_space(&s));
    REQUIRE(msim_cal_design_new(&d, &s, 1) == MSIM_OK);
    for (uint32_t i = 0; i < s.n; i++) {
        tables += !had[s.kinds[i].table];
        had[s.kinds[i].table] = true;
    }
    CHECK(tables > 3 && tables < s.n);
    for (uint32_t i = 0; i < s.n; i++) {
        REQUIRE(msim_cal_design_next(d, &e, &kind));
        CHECK(had[e.timed.table] == (i < tables));
        had[e.timed.table] = false;
        CHECK(!seen[kind]);
        seen[kind] = true;
    }
    msim_cal_design_free(d);
}

/* In a small space points round to the same sizes again and again: it comes to
 * an end, and an even one. */
static void test_design__ends(void)
{
    static const char RANKS[] =
        "{\"device\":{\"kind\":\"cpu\",\"sms\":2,\"memory_bytes\":8e9},"
        "\"ranks\":2,\"tables\":{\"collective\":[\"all_reduce\","
        "\"broadcast\"]}}";
    cJSON *greeting = cJSON_Parse(RANKS);
    struct msim_cal_experiment e;
    struct msim_cal_space s;
    struct msim_cal_design *d;
    uint32_t kind, of[2] = {0};

    REQUIRE(msim_cal_space_read(&s, greeting, LONGEST, NULL) == MSIM_OK);
    REQUIRE(msim_cal_design_new(&d, &s, 1) == MSIM_OK);
    while (of[0] + of[1] < 10000 && msim_cal_design_next(d, &e, &kind))
        of[kind]++;
    /* 4 KiB to 256 MiB, eight an octave, less what takes too long */
    for (int i = 0; i < 2; i++)
        CHECK(of[i] > 80 && of[i] <= 8 * 16 + 1);
    msim_cal_design_free(d);
    cJSON_Delete(greeting);
}

static char *first_of(uint64_t seed, int n)
{
    struct msim_cal_space s;
    struct msim_cal_design *d;
    cJSON *all = cJSON_CreateArray();
    struct msim_cal_experiment e;
    uint32_t kind;
    char *text;

    if (!read_space(&s) || msim_cal_design_new(&d, &s, seed) != MSIM_OK)
        return NULL;
    while (n-- > 0 && msim_cal_design_next(d, &e, &kind))
        cJSON_AddItemToArray(all, msim_cal_experiment_json(&e));
    text = cJSON_PrintUnformatted(all);
    cJSON_Delete(all);
    msim_cal_design_free(d);
    return text;
}

static void test_design__follows_the_seed(void)
{
    char *a = first_of(1, 100), *b = first_of(1, 100), *c = first_of(2, 100);

    REQUIRE(a && b && c);
    CHECK_STR(a, b);
    CHECK(strcmp(a, c) != 0);
    free(a);
    free(b);
    free(c);
}

/*
 * Of 256 additions every cell of a 4 x 4 grid over what the limits leave of the
 * space has some: rows from 1 to 2^20 and columns from 2^4 to 2^16, of which
 * the product is limited on both sides, so cells along the diagonal count.
 */
static void test_design__fills_the_space(void)
{
    struct msim_cal_space s;
    struct msim_cal_design *d;
    uint32_t kind, n = 0, fits[4] = {0};
    struct msim_cal_experiment e;

    REQUIRE(read_space(&s));
    REQUIRE(msim_cal_design_new(&d, &s, 3) == MSIM_OK);
    while (n < 256 && msim_cal_design_next(d, &e, &kind)) {
        const struct msim_work *w = msim_cal_work(&e);

        if (strcmp(s.kinds[kind].kind, "add:fp32") == 0 && w) {
            double share =
                log((double)w->u.vector.cols / 16) / log(65536 / 16.0);

            fits[share < 1 ? (int)(4 * share) : 3]++;
            n++;
        }
    }
    for (int i = 0; i < 4; i++) /* 64 each, were the limits not there */
        CHECK(fits[i] >= 24 && fits[i] <= 110);
    msim_cal_design_free(d);
}

static void test_design__drops_a_kind(void)
{
    struct msim_cal_space s;
    struct msim_cal_design *d;
    uint32_t kind;
    struct msim_cal_experiment e;

    REQUIRE(read_space(&s));
    REQUIRE(msim_cal_design_new(&d, &s, 1) == MSIM_OK);
    for (uint32_t i = 1; i < s.n; i++)
        msim_cal_design_drop(d, i);
    for (int i = 0; i < 20; i++) {
        REQUIRE(msim_cal_design_next(d, &e, &kind));
        CHECK_UINT(kind, 0);
    }
    msim_cal_design_drop(d, 0);
    msim_cal_design_drop(d, 0);
    CHECK(!msim_cal_design_next(d, &e, &kind));
    msim_cal_design_free(d);
}

/* ---- where least is known ------------------------------------------------ */

/* A cell of additions whose interval is ten times as wide from 100 us on; of
 * products there is none. */
#define PLATFORM                                                               \
    "{\"data_sheet\":{\"fp32_flops\":1e11,\"sms\":2,\"memory_bytes\":1e10,"    \
    "\"l2_bytes\":1e6,\"memory_bandwidth\":1e10},\"cells\":[{\"law\":"         \
    "\"vector\",\"framework\":\"b\",\"key\":\"add\",\"table_gpu\":\"G\","      \
    "\"rows\":40,\"constants\":{\"t0\":1,\"bandwidth_efficiency\":1,"          \
    "\"cache_speedup\":1,\"cache_share\":1,\"row\":0.001,\"norm\":2},"         \
    "\"interval\":[{\"upto_us\":100,\"low\":-0.05,\"high\":0.05},"             \
    "{\"low\":-0.5,\"high\":0.5}]}]}"

static double width_of(const struct msim_cal_widths *w, const char *text)
{
    cJSON *line = cJSON_Parse(text);
    struct msim_cal_experiment e;
    double width;

    msim_cal_experiment_read(&e, line);
    width = msim_cal_width(w, &e, "b");
    cJSON_Delete(line);
    return width;
}

static bool read_widths(struct msim_cal_widths **w)
{
    cJSON *platform = cJSON_Parse(PLATFORM);
    enum msim_status status = msim_cal_widths_new(w, platform, NULL);

    cJSON_Delete(platform);
    return status == MSIM_OK;
}

static void test_width__asks_the_fits(void)
{
    struct msim_cal_widths *w;

    REQUIRE(read_widths(&w));
    /* 12 KB and 12 MB at 10 GB/s: 2 and 1200 us */
    CHECK_REL(width_of(w, "{\"table\":\"vector\",\"op\":\"add\",\"dtype\":"
                          "\"fp32\",\"shape\":\"1x1000\"}"),
              0.1, 1e-6);
    CHECK_REL(width_of(w, "{\"table\":\"vector\",\"op\":\"add\",\"dtype\":"
                          "\"fp32\",\"shape\":\"1000x1000\"}"),
              1, 1e-6);
    CHECK(isinf(width_of(w, "{\"table\":\"gemm\",\"dtype\":\"fp32\",\"m\":9,"
                            "\"n\":9,\"k\":9}")));
    CHECK(isnan(width_of(w, "{\"table\":\"latency\",\"op\":\"call\"}")));
    msim_cal_widths_free(w);
}

/* Products, of which nothing is known, and additions in the wide part. */
static void test_width__chooses_what_is_known_least(void)
{
    static const char ADD[] =
        "{\"device\":{\"kind\":\"cpu\",\"sms\":2,\"memory_bytes\":8e9},"
        "\"tables\":{\"vector\":[\"add:fp32\"]}}";
    cJSON *greeting = cJSON_Parse(ADD);
    struct msim_cal_experiment out[10];
    struct msim_cal_journal j = {.fd = -1};
    struct msim_cal_widths *w;
    struct msim_cal_space s;
    struct msim_cal_design *d;
    uint64_t random = 1;
    double mean;
    uint32_t n;

    REQUIRE(msim_cal_space_read(&s, greeting, LONGEST, NULL) == MSIM_OK);
    REQUIRE(msim_cal_design_new(&d, &s, 1) == MSIM_OK);
    REQUIRE(read_widths(&w));
    n = msim_cal_widest(w, d, &s, &j, "b", &random, out, 5, &mean);
    CHECK_UINT(n, 5);
    CHECK(mean > 0.1 && mean < 1);
    for (uint32_t i = 0; i < n; i++)
        CHECK_REL(msim_cal_width(w, &out[i], "b"), 1, 1e-6);
    msim_cal_widths_free(w);
    msim_cal_design_free(d);
    cJSON_Delete(greeting);
}

int main(void)
{
    RUN(test_space__reads_a_greeting);
    RUN(test_space__of_one_rank);
    RUN(test_space__copies_past_the_cache);
    RUN(test_design__stays_within_limits);
    RUN(test_design__begins_with_each_table);
    RUN(test_design__ends);
    RUN(test_design__follows_the_seed);
    RUN(test_design__fills_the_space);
    RUN(test_design__drops_a_kind);
    RUN(test_width__asks_the_fits);
    RUN(test_width__chooses_what_is_known_least);
    return check_summary();
}
