/*
 * What a backend answered: every member, and answers that cannot be true.
 */
#include "calibrate/measure/journal.h"

#include "tests/check.h"

static struct msim_cal_answer read_text(cJSON **o, const char *text)
{
    struct msim_cal_answer a;

    *o = cJSON_Parse(text);
    CHECK_INT(msim_cal_answer_read(&a, *o), MSIM_OK);
    return a;
}

static void test_cal_answer__all_members(void)
{
    cJSON *o;
    struct msim_cal_answer a = read_text(
        &o, "{\"time_us\":20,\"low_us\":19,\"high_us\":22,\"alone_us\":7,"
            "\"sustained\":{\"time_us\":25,\"sm_mhz\":1500,\"power_w\":600},"
            "\"unsupported\":true,\"lost\":true,\"counters\":{\"dram_read_"
            "bytes\":5},\"rounds\":4,\"pauses_us\":{\"operator\":2,"
            "\"autograd\":3},\"operators\":[{\"name\":\"a\",\"leaf\":true,"
            "\"count\":2.5,\"self_us\":6,\"calls_us\":1},{}]}");

    CHECK_REL(a.us, 20, 0);
    CHECK_REL(a.low_us, 19, 0);
    CHECK_REL(a.high_us, 22, 0);
    CHECK_REL(a.alone_us, 7, 0);
    CHECK_REL(a.sustained_us, 25, 0);
    CHECK_REL(a.sm_mhz, 1500, 0);
    CHECK_REL(a.power_w, 600, 0);
    CHECK_REL(a.rounds, 4, 0);
    CHECK_REL(a.after_operator_us, 2, 0);
    CHECK_REL(a.after_autograd_us, 3, 0);
    CHECK(!a.error && a.crashed && a.unsupported && a.counted);
    REQUIRE(a.counts && a.has_operators && a.n_operators == 2);
    for (int f = 0; f < MSIM_FIGURE_COUNT; f++) {
        const char *text = msim_figure_text((enum msim_counter_figure)f);

        if (strcmp(text, "dram_read_bytes") == 0)
            CHECK_REL(a.counts->of[f], 5, 0);
        else
            CHECK(isnan(a.counts->of[f]));
    }
    CHECK_STR(a.operators[0].name, "a");
    CHECK(a.operators[0].leaf);
    CHECK_REL(a.operators[0].count, 2.5, 0);
    CHECK_REL(a.operators[0].self_us, 6, 0);
    CHECK_REL(a.operators[0].calls_us, 1, 0);
    CHECK_STR(a.operators[1].name, "");
    CHECK(!a.operators[1].leaf);
    CHECK_REL(a.operators[1].count, 1, 0);
    CHECK_REL(a.operators[1].self_us, 0, 0);
    CHECK_REL(a.operators[1].calls_us, 0, 0);
    msim_cal_answer_release(&a);
    CHECK(!a.operators && !a.counts);
    cJSON_Delete(o);
}

static void test_cal_answer__what_is_not_said(void)
{
    cJSON *o;
    struct msim_cal_answer a = read_text(&o, "{\"time_us\":20}");

    CHECK(isnan(a.low_us) && isnan(a.high_us) && isnan(a.sm_mhz));
    CHECK(isnan(a.power_w) && isnan(a.after_operator_us));
    CHECK(isnan(a.after_autograd_us));
    CHECK_REL(a.alone_us, 0, 0);
    CHECK_REL(a.sustained_us, 0, 0);
    CHECK_REL(a.rounds, 1, 0);
    CHECK(!a.error && !a.crashed && !a.unsupported && !a.counted);
    CHECK(!a.counts && !a.has_operators && !a.operators);
    msim_cal_answer_release(&a);
    cJSON_Delete(o);
    a = read_text(&o, "{\"error\":\"why\",\"counters_error\":\"no\","
                      "\"operators\":[]}");
    CHECK_STR(a.error, "why");
    CHECK_REL(a.us, 0, 0);
    CHECK(a.counted && !a.counts && a.has_operators && !a.operators);
    msim_cal_answer_release(&a);
    cJSON_Delete(o);
    a = read_text(&o, "{\"time_us\":-1}");
    CHECK_STR(a.error, "its times cannot be true");
    CHECK_REL(a.us, 0, 0);
    msim_cal_answer_release(&a);
    cJSON_Delete(o);
}

/* 0 < low <= time <= high, finite; the last digits of sums do not matter. */
static void test_cal_answer__what_can_be_true(void)
{
#define SAYS "the backend answered with "
    static const char WANT[] = ": want 0 < low <= time <= high, finite";
    static const struct {
        const char *text, *why; /* NULL: it can */
        bool ordered;           /* the reason goes on with WANT */
    } CASES[] = {
        {"{\"time_us\":20}", NULL, false},
        {"{\"time_us\":20,\"low_us\":20,\"high_us\":20}", NULL, false},
        {"{\"time_us\":20,\"low_us\":20.00000001,\"high_us\":19.99999999}",
         NULL, false},
        {"{\"time_us\":0.5,\"low_us\":0.25,\"high_us\":0.75,\"alone_us\":0.5}",
         NULL, false},
        {"{\"time_us\":20,\"low_us\":null,\"alone_us\":null}", NULL, false},
        {"{\"error\":\"e\",\"time_us\":-1}", NULL, false},
        {"{}", SAYS "neither 'time_us' nor 'error'", false},
        {"{\"time_us\":\"20\"}", SAYS "neither 'time_us' nor 'error'", false},
        {"{\"time_us\":20,\"low_us\":\"1\"}",
         SAYS "a 'low_us' that is no number", false},
        {"{\"time_us\":20,\"high_us\":[]}",
         SAYS "a 'high_us' that is no number", false},
        {"{\"time_us\":20,\"alone_us\":true}",
         SAYS "a 'alone_us' that is no number", false},
        {"{\"time_us\":20,\"alone_us\":0}", SAYS "alone_us 0, want a time",
         false},
        {"{\"time_us\":20,\"alone_us\":1e999}",
         SAYS "alone_us inf, want a time", false},
        {"{\"time_us\":0}", SAYS "time_us 0, low_us nan, high_us nan", true},
        {"{\"time_us\":1e999}", SAYS "time_us inf, low_us nan, high_us nan",
         true},
        {"{\"time_us\":20,\"low_us\":21}",
         SAYS "time_us 20, low_us 21, high_us nan", true},
        {"{\"time_us\":20,\"low_us\":20.0000002}",
         SAYS "time_us 20, low_us 20, high_us nan", true},
        {"{\"time_us\":20,\"low_us\":0}",
         SAYS "time_us 20, low_us 0, high_us nan", true},
        {"{\"time_us\":20,\"high_us\":19.9999998}",
         SAYS "time_us 20, low_us nan, high_us 20", true},
        {"{\"time_us\":20,\"high_us\":1e999}",
         SAYS "time_us 20, low_us nan, high_us inf", true},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        cJSON *o = cJSON_Parse(CASES[i].text);
        struct msim_error err = {0};
        char want[256];

        snprintf(want, sizeof(want), "%s%s", CASES[i].why ? CASES[i].why : "",
                 CASES[i].ordered ? WANT : "");
        CHECK_INT(msim_cal_answer_check(o, &err),
                  CASES[i].why ? MSIM_EFORMAT : MSIM_OK);
        CHECK_STR(err.text, want);
        cJSON_Delete(o);
    }
}

int main(void)
{
    RUN(test_cal_answer__all_members);
    RUN(test_cal_answer__what_is_not_said);
    RUN(test_cal_answer__what_can_be_true);
    return check_summary();
}
