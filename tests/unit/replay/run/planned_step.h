/*
 * tests/unit/replay/run/planned_step.h - the plan of a few products and an
 * addition, and runs of it on backends that are shells.
 */
#ifndef MSIM_TESTS_UNIT_REPLAY_RUN_PLANNED_STEP_H
#define MSIM_TESTS_UNIT_REPLAY_RUN_PLANNED_STEP_H
#include "replay/run/replay_plan.h"
#include "tests/unit/replay/run/made_step.h"

struct planned {
    struct msim_job *job;
    cJSON *greeting;
    struct msim_replay_plan plan;
    enum msim_status status;
    struct msim_error err;
};

static inline struct planned plan(const char *nodes,
                                  const struct msim_choice *choice)
{
    static const struct msim_choice ALL = {0};
    struct planned p = {.status = MSIM_EFORMAT};
    struct msim_replay_wish wish = {.step = MSIM_NONE,
                                    .choice = choice ? *choice : ALL};
    char text[8192];

    made_file(text, sizeof(text), nodes);
    p.greeting = cJSON_Parse(MADE_GREETING);
    p.job = load_text(text, false, &p.err);
    if (p.job)
        p.status = msim_replay_plan_make(&p.plan, p.job->ranks[0], &wish,
                                         p.greeting, &p.err);
    return p;
}

static inline void done(struct planned *p)
{
    if (p->job)
        msim_replay_plan_release(&p->plan);
    msim_job_free(p->job);
    cJSON_Delete(p->greeting);
}

/* mm, add, mm of equal sizes, and a fourth of others. */
static inline const char *step(void)
{
    static char nodes[4096];
    size_t n = 0;

    n += made_node(nodes + n, sizeof(nodes) - n, 2, 1, "aten::mm", 8, 16, 32);
    n += made_node(nodes + n, sizeof(nodes) - n, 3, 1, "aten::add", 40, 40, 40);
    n += made_node(nodes + n, sizeof(nodes) - n, 4, 1, "aten::mm", 8, 16, 32);
    made_node(nodes + n, sizeof(nodes) - n, 5, 1, "aten::mm", 8, 16, 64);
    return nodes;
}

/* ---- runs ---------------------------------------------------------------- */

#define ROUND                                                                  \
    "{\"id\":%d,\"iteration\":0,\"us\":%d,\"at_us\":[0,10,20,30],"             \
    "\"time_us\":[%d,2,3,4],\"cpu_us\":%d,\"busy\":0.5}\\n"

static inline enum msim_status run(struct planned *p, const char *command,
                                   struct msim_replay_runs *runs)
{
    struct msim_child child = {0};
    char greets[4096];
    cJSON *greeting = NULL;
    enum msim_status status;

    snprintf(greets, sizeof(greets), "echo '{}'; %s", command);
    memset(&p->err, 0, sizeof(p->err));
    status = msim_child_start(&child, greets, 10, &greeting, &p->err);
    cJSON_Delete(greeting);
    CHECK_INT(status, MSIM_OK);
    status = msim_replay_run(runs, &p->plan, &child, p->greeting,
                             &(struct msim_replay_how){1, 2, 10}, &p->err);
    msim_child_stop(&child);
    return status;
}

/* A backend that answers the question `id` with two iterations of 40 us, of
 * which operators take 10 and 14. */
static inline void two(char *command, size_t size, const char *before, int id)
{
    char rounds[1024];

    snprintf(rounds, sizeof(rounds), ROUND ROUND, id, 40, 1, 40, id, 40, 5, 80);
    snprintf(command, size,
             "%sread -r line; printf '%s{\"id\":%d,\"done\":true,"
             "\"counters_error\":\"not here\"}\\n'",
             before, rounds, id);
}

#endif
