/*
 * predict/scenario/scenario_rank.c: what a tenth less of each part brings, most
 * first, on steps whose every time is known.
 */
#include "predict/scenario/scenario.h"

#include "tests/unit/predict/made_steps.h"

/* 10 us of host, 5 to the kernel, 200 of it, 60 of a copy, and 15 of host: 290.
 * A tenth less of the host is 2.5, of what it does in operators less. */
static const struct step STEP = {
    .before = 10, .kernel = 200, .copy = 60, .after = 10};

/* A part, its group, its work and what a tenth of that gains, in microseconds.
 * Calls that launch are hidden behind the kernel, so that they have no row. */
static const struct {
    const char *name, *group;
    double work_us, gain_us;
} ROWS[] = {
    {"op:aten::mm", "operator", 260, 26},
    {"stream:7", "stream", 260, 26},
    {"family:gemm", "family", 200, 20},
    {"kernels", "kind", 200, 20},
    {"copies", "kind", 60, 6},
    {"family:copy", "family", 60, 6},
    {"link:h2d", "link", 60, 6},
    {"host", "kind", 27, 2.5},
    {"host-part:dispatch", "part of the host", 20, 2},
    {"host:aten::mm", "operator on the host", 12, 1},
    {"host:aten::view", "operator on the host", 10, 1},
    {"host-part:synchronisation", "part of the host", 5, 0.5},
};
#define N_ROWS (sizeof(ROWS) / sizeof(*ROWS))

static void check_row(const struct msim_scenarios *s, uint32_t i)
{
    const struct msim_scenario_row *row = &s->rows[i];
    char text[128];

    snprintf(text, sizeof(text), "%s=0.9", ROWS[i].name);
    CHECK_STR(row->name, ROWS[i].name);
    CHECK_STR(row->group, ROWS[i].group);
    CHECK_STR(row->scales->text, text);
    CHECK_REL(row->work_us, ROWS[i].work_us, 1e-9);
    CHECK_REL(s->base.period.predicted - row->period.predicted, ROWS[i].gain_us,
              1e-6);
    CHECK_REL(msim_scenario_exposed(s, row),
              ROWS[i].gain_us / (0.1 * ROWS[i].work_us), 1e-6);
    CHECK_STR(row->reason, "");
}

static void test_ranking__parts(void)
{
    struct msim_scenarios s = {.n = 0};
    struct made_run r;

    if (run_steps(&r, &STEP, MSIM_DATA) &&
        CHECK_INT(msim_scenarios_rank(&s, &r.s, &r.in, &r.to, NULL), MSIM_OK)) {
        CHECK(s.ranked);
        CHECK_STR(s.base.name, "base");
        CHECK_REL(s.base.period.predicted, 290, 1e-9);
        if (CHECK_UINT(s.n, N_ROWS))
            for (uint32_t i = 0; i < N_ROWS; i++)
                check_row(&s, i);
    }
    msim_scenarios_release(&s);
    run_free(&r);
}

int main(void)
{
    RUN(test_ranking__parts);
    return check_summary();
}
