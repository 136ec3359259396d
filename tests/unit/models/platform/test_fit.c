/*
 * models/platform/fit.c: a fit as a platform file holds it, member by member,
 * and what is refused.
 */
#include "models/platform/fit.h"

#include "tests/check.h"
#include "tests/unit/appended.h"

/* A whole fit of additions, without the end of its object. */
#define HEAD                                                                   \
    "{\"law\":\"vector\",\"framework\":\"pytorch\",\"key\":\"add\","           \
    "\"table_gpu\":\"A100\""
#define CONSTANTS                                                              \
    ",\"constants\":{\"t0\":2,\"bandwidth_efficiency\":0.9,"                   \
    "\"cache_speedup\":3,\"cache_share\":0.5,\"row\":0.1,\"norm\":2"
#define WHOLE HEAD CONSTANTS "}"

static enum msim_status read_fit(struct msim_fit *f, const char *text,
                                 enum msim_fit_trees trees,
                                 struct msim_error *err)
{
    cJSON *json = cJSON_Parse(text);
    enum msim_status status;

    *err = (struct msim_error){0};
    memset(f, 0xff, sizeof(*f));
    if (!CHECK(json != NULL))
        return MSIM_ESYNTAX;
    status = msim_fit_read(f, json, trees, "p.json", err);
    cJSON_Delete(json);
    return status;
}

static void test_fit__members(void)
{
    struct msim_fit f;
    struct msim_error err;

    REQUIRE(read_fit(&f,
                     HEAD CONSTANTS
                     ",\"launch_gap\":5,\"launch_added\":1.5},"
                     "\"range\":{\"log_bytes\":[1,9],\"log_elems\":[2]},"
                     "\"interval\":[{\"upto_us\":10,\"low\":-0.2,\"high\":0.3},"
                     "{\"low\":-0.1,\"high\":-0.1}],"
                     "\"rows\":70,\"models\":2,\"error_fitted\":0.05,"
                     "\"error_held_back\":0.08}",
                     true, &err) == MSIM_OK);
    CHECK(f.law == &MSIM_LAW_VECTOR);
    CHECK_STR(f.framework, "pytorch");
    CHECK_STR(f.key, "add");
    CHECK_STR(f.table, "A100");
    CHECK_REL(f.params[0], 2, 0);
    CHECK_REL(f.params[1], 0.9, 0);
    CHECK_REL(f.params[5], 2, 0);
    CHECK_REL(f.gap.least_us, 5, 0);
    CHECK_REL(f.gap.added_us, 1.5, 0);
    CHECK_REL(f.range_low[0], 1, 0);
    CHECK_REL(f.range_high[0], 9, 0);
    CHECK_REL(f.range_low[1], 2, 0); /* its other end is open */
    CHECK(isinf(f.range_high[1]) && f.range_high[1] > 0);
    CHECK_UINT(f.n_bins, 2);
    CHECK_REL(f.bins[0].upto_us, 10, 0);
    CHECK_REL(f.bins[0].low, -0.2, 0);
    CHECK_REL(f.bins[0].high, 0.3, 0);
    CHECK(isinf(f.bins[1].upto_us));
    CHECK_UINT(f.rows, 70);
    CHECK_UINT(f.models, 2);
    CHECK_REL(f.error, 0.05, 0);
    CHECK_REL(f.heldout, 0.08, 0);
    msim_fit_release(&f);
}

/* What a file need not say: no gap, no bounds, no bins, no figures. */
static void test_fit__defaults(void)
{
    struct msim_fit f;
    struct msim_error err;

    REQUIRE(read_fit(&f, WHOLE "}", true, &err) == MSIM_OK);
    CHECK(f.gap.least_us == 0 && f.gap.added_us == 0);
    CHECK(isinf(f.range_low[0]) && f.range_low[0] < 0);
    CHECK(isinf(f.range_high[0]) && f.range_high[0] > 0);
    CHECK(!f.n_bins && !f.rows && !f.models);
    CHECK(f.error == 0 && f.heldout == 0);
    CHECK(!f.forest.n_trees && !f.kriging.n);
    msim_fit_release(&f);
}

/* Trees take most of the time, and are read where they are asked for. */
static void test_fit__trees(void)
{
    static const char TEXT[] =
        WHOLE ",\"forest\":{\"low\":-1,\"high\":1,\"cuts\":\";;;;;;;\","
              "\"splits\":\"0\",\"leaves\":\"1000\"}}";
    struct msim_fit f;
    struct msim_error err;

    for (int trees = 0; trees < 2; trees++) {
        CHECK_INT(read_fit(&f, TEXT, trees, &err), MSIM_OK);
        CHECK_STR(err.text, "");
        CHECK_UINT(f.forest.n_trees, trees);
        msim_fit_release(&f);
    }
}

/* Texts are cut to their room. */
static void test_fit__long_texts(void)
{
    char text[1024], name[128];
    struct msim_fit f;
    struct msim_error err;

    memset(name, 'n', sizeof(name));
    name[100] = '\0';
    snprintf(text, sizeof(text),
             "{\"law\":\"vector\",\"framework\":\"%s\",\"key\":\"%s\","
             "\"table_gpu\":\"%s\"" CONSTANTS "}}",
             name, name, name);
    REQUIRE(read_fit(&f, text, true, &err) == MSIM_OK);
    CHECK_UINT(strlen(f.framework), sizeof(f.framework) - 1);
    CHECK_UINT(strlen(f.key), MSIM_FIT_KEY - 1);
    CHECK_UINT(strlen(f.table), sizeof(f.table) - 1);
    msim_fit_release(&f);
}

static void check_refused(const char *text, const char *want)
{
    struct msim_fit f;
    struct msim_error err;

    CHECK_INT(read_fit(&f, text, true, &err), MSIM_EFORMAT);
    CHECK_STR(err.text, want);
    CHECK_STR(err.file, "p.json");
}

#define OF "fit 'add' of 'pytorch': "

static void test_fit__refuses(void)
{
    static const char *const WITHOUT[] = {
        "{\"law\":\"vector\",\"key\":\"add\",\"table_gpu\":\"A100\"}",
        "{\"law\":\"vector\",\"framework\":\"x\",\"table_gpu\":\"A100\"}",
        "{\"law\":\"vector\",\"framework\":\"x\",\"key\":\"add\"}"};

    check_refused("{}", "fit '' of '': 'law' is no law of this program");
    check_refused("{\"law\":\"vec\"}",
                  "fit '' of '': 'law' is no law of this program");
    for (int i = 0; i < 3; i++)
        check_refused(WITHOUT[i], "fit '' of '': 'framework', 'key' or "
                                  "'table_gpu' is missing");
    check_refused(HEAD "}", OF "'constants' are missing or not above 0");
    check_refused(HEAD ",\"constants\":{\"t0\":0,\"bandwidth_efficiency\":0.9,"
                       "\"cache_speedup\":3,\"cache_share\":0.5,\"row\":0.1,"
                       "\"norm\":2}}",
                  OF "'constants' are missing or not above 0");
    check_refused(HEAD ",\"constants\":{\"t0\":1,\"bandwidth_efficiency\":0.9,"
                       "\"cache_speedup\":3,\"cache_share\":0.5,\"row\":0.1}}",
                  OF "'constants' are missing or not above 0");
    check_refused(HEAD CONSTANTS ",\"launch_gap\":-1}}",
                  OF "'constants' are missing or not above 0");
    check_refused(HEAD CONSTANTS ",\"launch_added\":-1}}",
                  OF "'constants' are missing or not above 0");
    check_refused(WHOLE ",\"interval\":[{\"low\":0.2,\"high\":0.1}]}",
                  OF "'interval' wants bins with low <= high");
    check_refused(WHOLE ",\"interval\":[{\"low\":0.2}]}",
                  OF "'interval' wants bins with low <= high");
    check_refused(WHOLE ",\"forest\":{}}",
                  OF "'forest' does not hold whole trees");
    check_refused(WHOLE ",\"nearby\":{}}",
                  OF "'nearby' wants a 'reach' above 0 for features of the "
                     "law, and 'rows' of a number for each feature and weight");
    check_refused(WHOLE ",\"curves\":[{}]}",
                  OF "'curves' want a collective, ranks, and as many bytes "
                     "(rising) as us and spread, all above 0; 'variants' and "
                     "'logs' a version and factors above 0");
}

/* Four bins have room. */
static void test_fit__bins(void)
{
    for (int n = MSIM_FIT_BINS; n <= MSIM_FIT_BINS + 1; n++) {
        char text[1024] = WHOLE ",\"interval\":[";
        struct msim_fit f;
        struct msim_error err;

        for (int i = 0; i < n; i++)
            APPEND(text, "%s{\"low\":-%d,\"high\":0}", i ? "," : "", i);
        APPEND(text, "%s", "]}");
        CHECK_INT(read_fit(&f, text, true, &err),
                  n == MSIM_FIT_BINS ? MSIM_OK : MSIM_EFORMAT);
        if (n == MSIM_FIT_BINS)
            CHECK_REL(f.bins[3].low, -3, 0);
    }
}

int main(void)
{
    RUN(test_fit__bins);
    RUN(test_fit__defaults);
    RUN(test_fit__long_texts);
    RUN(test_fit__members);
    RUN(test_fit__refuses);
    RUN(test_fit__trees);
    return check_summary();
}
