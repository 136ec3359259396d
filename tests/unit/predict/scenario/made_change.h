/*
 * tests/unit/predict/scenario/made_change.h - one scenario out of a text, for
 * the tests of changes.
 */
#ifndef MSIM_TESTS_UNIT_PREDICT_SCENARIO_MADE_CHANGE_H
#define MSIM_TESTS_UNIT_PREDICT_SCENARIO_MADE_CHANGE_H
#include "predict/scenario/scenario.h"

#include "tests/check.h"

/* What was read; `row` is the only scenario. */
struct made_change {
    struct msim_scenarios all;
    const struct msim_scenario_row *row;
    const struct msim_predict_settings *settings;
    struct msim_error err;
    enum msim_status status;
};

/* Read the file `text`; a row only where that can be done. */
static inline struct made_change made_change_file(const char *text)
{
    static const struct msim_predict_settings base = {.data = "data"};
    struct made_change m = {.status = MSIM_EFORMAT};
    struct msim_scenario_source from = {"s.json", cJSON_Parse(text)};

    if (!CHECK(from.tree != NULL))
        fprintf(stderr, "%s\n", text);
    m.status = msim_scenarios_read(&m.all, &from, &base, &m.err);
    if (m.all.n)
        m.row = &m.all.rows[0];
    else
        m.row = &m.all.base;
    m.settings = &m.row->settings;
    cJSON_Delete(from.tree);
    return m;
}

/* The scenario with these changes: "{\"batch\": 4}, {\"gpu\": \"h100\"}". */
static inline struct made_change made_change(const char *changes)
{
    static char text[65536];
    struct made_change m;

    snprintf(text, sizeof(text),
             "{\"scenarios\":[{\"name\":\"a\",\"changes\":[%s]}]}", changes);
    m = made_change_file(text);
    if (m.status == MSIM_OK)
        CHECK_STR(m.row->reason, "");
    return m;
}

static inline void made_change_free(struct made_change *m)
{
    msim_scenarios_release(&m->all);
}

/* They are refused: "batch is 0, want ..." of the change `index`. */
static inline void check_change_refused_at(int index, const char *changes,
                                           const char *want)
{
    struct made_change m = made_change(changes);
    char text[1024];

    snprintf(text, sizeof(text), "scenarios[0].changes[%d].%s", index, want);
    CHECK_INT(m.status, MSIM_EFORMAT);
    CHECK_STR(m.err.text, text);
    made_change_free(&m);
}

static inline void check_change_refused(const char *changes, const char *want)
{
    check_change_refused_at(0, changes, want);
}

#endif
