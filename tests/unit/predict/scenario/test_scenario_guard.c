/*
 * tests/unit/predict/scenario/test_scenario_guard.c - scenarios that take less
 * than others with less to do.
 */
#include "predict/scenario/scenario_internal.h"

#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

#define ROWS 4

/* A table of scenarios that all are of a trace with a batch of 16. */
struct table {
    struct msim_scenarios s;
    struct msim_scenario_row rows[ROWS];
};

static void note(struct msim_scenario_row *row, const char *key,
                 const char *change)
{
    struct msim_fields f = {0};
    cJSON *json = cJSON_Parse(change);

    CHECK(json != NULL);
    f.object = json;
    msim_scenario_guard_note(row, &f, key);
    cJSON_Delete(json);
}

static struct msim_scenario_row *add(struct table *t, double ms)
{
    struct msim_scenario_row *row = &t->rows[t->s.n++];

    t->s.rows = t->rows;
    *row = (struct msim_scenario_row){.period = {.predicted = ms}};
    return row;
}

static void begin(struct table *t, double ms)
{
    memset(t, 0, sizeof(*t));
    t->s.from_file = true;
    t->s.base.period.predicted = ms;
}

static struct msim_scenario_row *batch(struct table *t, double ms, int64_t from,
                                       int64_t to)
{
    struct msim_scenario_row *row = add(t, ms);
    char text[64];

    snprintf(text, sizeof(text), "{\"batch\":%d}", (int)to);
    row->settings.reshape.axes[0] = (struct msim_axis){.from = from, .to = to};
    row->settings.reshape.n_axes = 1;
    note(row, "batch", text);
    return row;
}

static struct msim_scenario_row *accumulate(struct table *t, double ms,
                                            uint32_t times)
{
    struct msim_scenario_row *row = add(t, ms);
    char text[64];

    snprintf(text, sizeof(text), "{\"accumulate\":%u}", times);
    row->settings.rewrite.accumulate = times;
    note(row, "accumulate", text);
    return row;
}

static struct msim_scenario_row *recompute(struct table *t, double ms,
                                           uint32_t every, const char *ops)
{
    struct msim_scenario_row *row = add(t, ms);
    char text[64];

    snprintf(text, sizeof(text), "{\"recompute\":\"%u%s\"}", every, ops);
    row->settings.rewrite.recompute_every = every;
    snprintf(row->settings.rewrite.recompute_ops,
             sizeof(row->settings.rewrite.recompute_ops), "%s", ops);
    note(row, "recompute", text);
    return row;
}

/* The marks of base and rows, one word each, "-" for none. */
static void check_marks(struct table *t, const char *want)
{
    char got[256] = "", words[MSIM_GUARD_WORDS];
    uint64_t marked = 0;

    REQUIRE(msim_scenarios_guard(&t->s, 16) == MSIM_OK);
    for (uint32_t i = 0; i <= t->s.n; i++) {
        const struct msim_scenario_row *row = i ? &t->rows[i - 1] : &t->s.base;

        msim_guard_words(row->marks, words);
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s",
                 i ? " " : "", *words ? words : "-");
        marked += row->marks != 0;
    }
    CHECK_STR(got, want);
    CHECK_UINT(t->s.marked.marked, marked);
}

/* 5 % less are kernels that libraries pick by size. */
static void test_scenario_guard__batch(void)
{
    struct table t;

    begin(&t, 100);
    batch(&t, 120, 0, 32);
    batch(&t, 115, 0, 64);
    batch(&t, 113, 0, 128);
    batch(&t, 90, 0, 8);
    check_marks(&t, "- - - larger -");
    CHECK_UINT(t.s.marked.answers, 5);
    CHECK_UINT(t.s.marked.by[MSIM_GUARD_LARGER], 1);
    begin(&t, 100);
    batch(&t, 90, 8, 16); /* twice what the base has */
    batch(&t, 90, 32, 16);
    check_marks(&t, "- larger -");
    begin(&t, 100);
    batch(&t, 90, 0, 32)->settings.reshape.axes[0].every = true;
    check_marks(&t, "- -"); /* another size than the batch's */
}

static void test_scenario_guard__micro_batches(void)
{
    struct table t;

    begin(&t, 100);
    accumulate(&t, 90, 2);
    accumulate(&t, 120, 4);
    accumulate(&t, 110, 8);
    check_marks(&t, "- larger - larger");
    begin(&t, 100);
    accumulate(&t, 90, 1);
    check_marks(&t, "- -");
}

/* Without, of some, of all. */
static void test_scenario_guard__recomputation(void)
{
    struct table t;

    begin(&t, 100);
    recompute(&t, 98, 1, "aten::gelu");
    recompute(&t, 120, 2, "");
    recompute(&t, 118, 1, "");
    check_marks(&t, "- recompute - recompute");
    begin(&t, 100);
    recompute(&t, 120, 2, "");
    recompute(&t, 110, 4, "");
    recompute(&t, 110, 1, "aten::*");
    check_marks(&t, "- - - -");
}

/* Those that differ in something else are not compared; nor is what has no
 * prediction, nor rows of a ranking, nor a base that was asked for a batch. */
static void test_scenario_guard__kinds(void)
{
    struct table t;

    begin(&t, 100);
    note(batch(&t, 90, 0, 32), "gpu", "{\"gpu\":\"h100\"}");
    note(batch(&t, 80, 0, 64), "gpu", "{\"gpu\":\"h100\"}");
    note(batch(&t, 70, 0, 128), "gpu", "{\"gpu\":\"a100\"}");
    check_marks(&t, "- - larger -");
    begin(&t, 100);
    t.rows[0] = *batch(&t, 120, 0, 32);
    note(&t.rows[0], "accumulate", "{\"accumulate\":2}");
    t.rows[0].settings.rewrite.accumulate = 2;
    batch(&t, 110, 0, 64);
    check_marks(&t, "- - -");
    begin(&t, 100);
    snprintf(batch(&t, 200, 0, 8)->reason, 16, "no");
    batch(&t, 110, 0, 64);
    check_marks(&t, "- - -");
    CHECK_UINT(t.s.marked.answers, 2);
    begin(&t, 100);
    batch(&t, 90, 0, 32);
    t.s.from_file = false;
    check_marks(&t, "- -");
    begin(&t, 100);
    batch(&t, 90, 0, 32);
    accumulate(&t, 90, 2);
    t.s.base.settings.reshape.n_axes = 1;
    check_marks(&t, "- - larger");
}

/* Where the batch of the trace is not known, others are more or less than it.
 */
static void test_scenario_guard__no_batch(void)
{
    struct table t;

    for (int i = 0; i < 2; i++) {
        begin(&t, 100);
        batch(&t, i ? 200 : 50, 0, 32);
        REQUIRE(msim_scenarios_guard(&t.s, 0) == MSIM_OK);
        CHECK_UINT(t.s.base.marks, 0);
        CHECK_UINT(t.rows[0].marks, 0);
    }
}

/* Guards go by what was asked, which scenarios of a file have. */
static void test_guard__files_have_asks(void)
{
    const struct msim_predict_settings settings = {0};
    char path[] = "msim-test-scenarios-XXXXXX";
    static const char TEXT[] =
        "{\"scenarios\": [{\"name\": \"a\", \"changes\": []}]}";
    struct msim_scenarios s;
    int fd = mkstemp(path);

    REQUIRE(fd >= 0);
    REQUIRE(write(fd, TEXT, sizeof(TEXT) - 1) == sizeof(TEXT) - 1);
    REQUIRE(msim_scenarios_read(&s,
                                &(struct msim_scenario_source){.path = path},
                                &settings, NULL) == MSIM_OK);
    CHECK(s.from_file);
    msim_scenarios_release(&s);
    close(fd);
    unlink(path);
}

int main(void)
{
    RUN(test_scenario_guard__batch);
    RUN(test_scenario_guard__micro_batches);
    RUN(test_scenario_guard__recomputation);
    RUN(test_scenario_guard__kinds);
    RUN(test_scenario_guard__no_batch);
    RUN(test_guard__files_have_asks);
    return check_summary();
}
