/* serving/apps/app_sweep.c: what a sweep may list, its points in order, and the
 * applications that they make. */
#include "serving/apps/app_sweep.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static char path[] = P_tmpdir "/msim-sweep-XXXXXX";
static struct msim_app_sweep s;
static struct msim_error err;

/* JSON with ' for "; the caller's. */
static cJSON *parsed(const char *text)
{
    char *copy = strdup(text);
    cJSON *json;

    for (char *c = copy; c && *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json = copy ? cJSON_Parse(copy) : NULL;
    free(copy);
    return json;
}

/* "" or what is wrong. */
static const char *read_it(const char *text)
{
    FILE *f = fopen(path, "w");
    enum msim_status status;

    if (!CHECK(f != NULL))
        return "no file";
    for (; *text; text++)
        fputc(*text == '\'' ? '"' : *text, f);
    fclose(f);
    err = (struct msim_error){0};
    status = msim_app_sweep_read(&s, path, &err);
    CHECK_INT(status, err.status);
    CHECK(status == MSIM_OK || (status == MSIM_EFORMAT && !s.json));
    return err.text;
}

static void test_app_sweep__refuses(void)
{
    static const struct {
        const char *text, *says;
    } CASES[] = {
        {"[]", "this is not a JSON object, want lists of what is swept "
               "({\"rate\": [10, 20]})"},
        {"{'rates': [1]}", "rates is not known, did you mean rate?"},
        {"{'rate': 3}", "rate is 3, want a list of at least one"},
        {"{'rate': []}", "rate is [], want a list of at least one"},
        {"{'rate': [1, 0]}", "rate[1] is 0, want requests a second, above 0 "
                             "and at most 1e9"},
        {"{'rate': [1000000001]}", "rate[0] is 1000000001, want requests a "
                                   "second, above 0 and at most 1e9"},
        {"{'rate': ['1']}", "rate[0] is \"1\", want requests a second, above 0 "
                            "and at most 1e9"},
        {"{'replicas': [1, 0]}",
         "replicas[1] is 0, want a whole number from 1 to 1000000"},
        {"{'replicas': [1000001]}",
         "replicas[0] is 1000001, want a whole number from 1 to 1000000"},
        {"{'replicas': [1.5]}",
         "replicas[0] is 1.5, want a whole number from 1 to 1000000"},
        {"{'replicas': ['1']}",
         "replicas[0] is \"1\", want a whole number from 1 to 1000000"},
        {"{'platform': [1]}",
         "platform[0] is 1, want the name or file of a platform"},
        {"{'scheduler': ['x']}", "scheduler[0] is \"x\", want members of "
                                 "batching (\"max_num_seqs\": 64)"},
        {"{'power_w': 3}", "power_w is 3, want {\"h100\": 2.5}"},
        {"{'power_w': {'h100': -1}}",
         "power_w is {\"h100\":-1}, want numbers from 0, by platform"},
        {"{'price_per_hour': {'h100': 1000000001}}",
         "price_per_hour is {\"h100\":1000000001}, want numbers from 0, by "
         "platform"},
        {"{'price_per_hour': {'h100': 'x'}}",
         "price_per_hour is {\"h100\":\"x\"}, want numbers from 0, by "
         "platform"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        CHECK_STR(read_it(CASES[i].text), CASES[i].says);
    CHECK_STR(read_it("{'rate': [1000000000, 0.5], 'replicas': [1000000, 1], "
                      "'power_w': {'h100': 1000000000, 'b200': 0}}"),
              "");
    msim_app_sweep_release(&s);
}

/* As many items as may be, and one more. */
static void test_app_sweep__has_room(void)
{
    for (int n = 10000; n <= 10001; n++) {
        FILE *f = fopen(path, "w");

        REQUIRE(f != NULL);
        fputs("{\"rate\": [1", f);
        for (int i = 1; i < n; i++)
            fputs(",1", f);
        fputs("]}", f);
        fclose(f);
        err = (struct msim_error){0};
        CHECK_INT(msim_app_sweep_read(&s, path, &err),
                  n > 10000 ? MSIM_EFORMAT : MSIM_OK);
        CHECK(n > 10000 ? strstr(err.text, "want at most 10000 of them") != NULL
                        : s.n[MSIM_APP_SWEEP_RATE] == 10000);
        msim_app_sweep_release(&s);
    }
}

#define SWEEP                                                                  \
    "{'schema': 'x', 'scheduler': [{'max_num_seqs': 8}], 'platform': ['h100'," \
    " 'b200'], 'rate': [20, 10, 5], 'replicas': [2, 1], 'price_per_hour': "    \
    "{'b200': 7}, 'power_w': {}}"

/* The last list turns over first; one that is absent has one item. */
static void test_app_sweep__items(void)
{
    static const double RATE[] = {20, 10, 5}, REPLICAS[] = {2, 1};
    uint32_t at;

    CHECK_INT(msim_app_sweep_read(&s, NULL, &err), MSIM_OK);
    CHECK_INT(msim_app_sweep_points(&s), 1);
    CHECK(!msim_app_sweep_item(&s, 0, MSIM_APP_SWEEP_RATE, &at) && at == 0);
    CHECK_STR(read_it(SWEEP), "");
    CHECK_INT(msim_app_sweep_points(&s), 12);
    for (uint32_t i = 0; i < 12; i++) {
        CHECK_REL(msim_app_sweep_item(&s, i, MSIM_APP_SWEEP_REPLICAS, &at)
                      ->valuedouble,
                  REPLICAS[i % 2], 0);
        CHECK_INT(at, i % 2);
        CHECK_REL(
            msim_app_sweep_item(&s, i, MSIM_APP_SWEEP_RATE, &at)->valuedouble,
            RATE[i / 2 % 3], 0);
        CHECK_INT(at, i / 2 % 3);
        CHECK_STR(msim_app_sweep_item(&s, i, MSIM_APP_SWEEP_PLATFORM, NULL)
                      ->valuestring,
                  i < 6 ? "h100" : "b200");
        CHECK(msim_app_sweep_item(&s, i, MSIM_APP_SWEEP_SCHEDULER, NULL));
    }
    msim_app_sweep_release(&s);
}

/* `app` as point `i` of `sweep` has it. */
static void check_point(const char *sweep, uint64_t i, const char *app,
                        const char *want, bool want_guessed)
{
    cJSON *of = parsed(app), *wanted = parsed(want), *made;
    bool guessed = !want_guessed;

    CHECK_STR(read_it(sweep), "");
    made = msim_app_sweep_apply(&s, i, of, &guessed);
    CHECK_INT(guessed, want_guessed);
    if (!CHECK(made && wanted && cJSON_Compare(made, wanted, true))) {
        char *text = cJSON_PrintUnformatted(made);

        fprintf(stderr, "  %s\n", text ? text : "");
        free(text);
    }
    cJSON_Delete(of);
    cJSON_Delete(wanted);
    cJSON_Delete(made);
    msim_app_sweep_release(&s);
}

#define STAGES(llm, model)                                                     \
    "'stages': {'a': {'kind': 'llm'" llm "}, 'b': {'kind': 'model'" model      \
    "}, 'c': {'kind': 'tool', 'replicas': 9}, 'd': {}}"

static void test_app_sweep__points(void)
{
    /* Models have no scheduler; tools have none of it. */
    check_point(SWEEP, 11,
                "{" STAGES(", 'batching': {'max_num_seqs': 4, 'x': 1}", "") "}",
                "{" STAGES(", 'batching': {'max_num_seqs': 8, 'x': 1}, "
                           "'platform': 'b200', 'replicas': 1, "
                           "'price_per_hour': 7",
                           ", 'platform': 'b200', 'replicas': 1, "
                           "'price_per_hour': 7") ", 'arrivals': {'rate': 5}}",
                false);
    /* Its own power is of another platform; its price is known. */
    check_point("{'platform': ['b200'], 'price_per_hour': {'b200': 7}}", 0,
                "{'arrivals': {'rate': 3}, " STAGES(
                    ", 'platform': 'h100', 'price_per_hour': 2", "") "}",
                "{'arrivals': {'rate': 3}, " STAGES(
                    ", 'platform': 'b200', 'price_per_hour': 7",
                    ", 'platform': 'b200', 'price_per_hour': 7") "}",
                false);
    check_point("{'platform': ['b200']}", 0,
                "{" STAGES(", 'platform': 'h100', 'power_w': 2", "") "}",
                "{'arrivals': {}, " STAGES(", 'platform': 'b200', 'power_w': 2",
                                           ", 'platform': 'b200'") "}",
                true);
    check_point("{'platform': ['b200']}", 0,
                "{" STAGES(", 'platform': 'b200', 'power_w': 2", "") "}",
                "{'arrivals': {}, " STAGES(", 'platform': 'b200', 'power_w': 2",
                                           ", 'platform': 'b200'") "}",
                false);
    check_point("{'platform': ['b200']}", 0,
                "{" STAGES("", ", 'platform': 'h', 'price_per_hour': 2") "}",
                "{'arrivals': {}, " STAGES(
                    ", 'platform': 'b200'",
                    ", 'platform': 'b200', 'price_per_hour': 2") "}",
                true);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0)
        return 1;
    close(fd);
    RUN(test_app_sweep__refuses);
    RUN(test_app_sweep__has_room);
    RUN(test_app_sweep__items);
    RUN(test_app_sweep__points);
    CHECK_INT(unlink(path), 0);
    return check_summary();
}
