/*
 * The step that --iteration names, and what of a job is run again.
 */
#include "cli/replay/cli_replay_internal.h"

#include "core/job/job.h"
#include "tests/unit/cli/said.h"

/* Two steps, numbered from 3; a third without nodes; 9 and 3 were left out. */
static struct msim_trace made(void)
{
    static struct msim_step steps[] = {
        {.start = 0, .dur = 10, .number = 3, .node_from = 1, .node_to = 5},
        {.start = 10, .dur = 10, .number = 4, .node_from = 5, .node_to = 9},
        {.start = 20, .dur = 10, .number = 12}};
    static struct msim_left_step left[] = {{9, MSIM_LEFT_IDLE},
                                           {3, MSIM_LEFT_UNCOMMON}};

    return (struct msim_trace){.steps = steps,
                               .n_steps = 3,
                               .left_steps = left,
                               .n_left_steps = 2,
                               .has_times = true};
}

#define NO_STEP "', want the number of one of the trace's 3 steps"
#define IS_AT(n, number)                                                       \
    "mystique-sim: warning: no step is marked ProfilerStep#" #n                \
    ": this is ProfilerStep#" #number ", the one at " #n " from 0\n"

static void test_step__named(void)
{
    static const struct {
        const char *wanted;
        uint32_t step; /* NONE: refused */
        const char *said;
    } ROWS[] = {
        {"3", 0, ""}, /* of its number another one was left out */
        {"4", 1, ""},
        {"12", 2, ""},
        {"0", 0, IS_AT(0, 3)},
        {"2", 2, IS_AT(2, 12)},
        {"1", 1, IS_AT(1, 4)},
        {"5", MSIM_NONE, "option '--iteration' is '5" NO_STEP},
        {"-1", MSIM_NONE, "option '--iteration' is '-1" NO_STEP},
        {"", MSIM_NONE, "option '--iteration' is '" NO_STEP},
        {"3x", MSIM_NONE, "option '--iteration' is '3x" NO_STEP},
        {"9", MSIM_NONE,
         "option '--iteration' is '9', a step that is left out of the run: "
         "nothing was recorded in it, want one of 3, 4, 12"},
        {"9x", MSIM_NONE, "option '--iteration' is '9x" NO_STEP},
    };
    struct msim_trace t = made();

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        bool found = ROWS[i].step != MSIM_NONE;
        struct msim_error err = {0};
        enum msim_status status;
        struct said said;
        uint32_t step = 77;

        said_begin();
        status = msim_choice_find_step(&t, ROWS[i].wanted, &step, &err);
        said_end(&said);
        CHECK_INT(status, found ? MSIM_OK : MSIM_EUSAGE);
        CHECK_INT(step, ROWS[i].step);
        CHECK_STR(said.err, found ? ROWS[i].said : "");
        CHECK_STR(err.text, found ? "" : ROWS[i].said);
    }
    t.n_steps = 2; /* the third is none, then */
    CHECK_INT(msim_choice_find_step(&t, "2", &(uint32_t){0}, NULL),
              MSIM_EUSAGE);
}

/* A step that only the Kineto file has; where that is the trace, it is one. */
static void test_step__without_nodes(void)
{
    struct msim_trace t = made();
    struct msim_error err = {0};
    uint32_t step;

    t.has_times = false;
    CHECK_INT(msim_choice_find_step(&t, "4", &step, &err), MSIM_OK);
    CHECK_INT(step, 1);
    CHECK_INT(msim_choice_find_step(&t, "12", &step, &err), MSIM_EFORMAT);
    CHECK_STR(err.text,
              "the execution trace has no node of ProfilerStep#12, which the "
              "Kineto trace beside it has; want another '--iteration'");
}

/* Without a wish it is the last step with operators, if there is one. */
static void test_step__settled(void)
{
    struct msim_op ops[] = {
        {.start = 1, .kind = MSIM_OP_OPERATOR, .parent = MSIM_NONE},
        {.start = 11, .kind = MSIM_OP_OPERATOR, .parent = MSIM_NONE}};
    struct msim_trace t = made();
    uint32_t step = 77;

    t.ops = ops;
    t.n_ops = 2;
    CHECK_INT(msim_choice_find_step(&t, NULL, &step, NULL), MSIM_OK);
    CHECK_INT(step, 1);
    t.n_steps = 0;
    CHECK_INT(msim_choice_find_step(&t, NULL, &step, NULL), MSIM_OK);
    CHECK_INT(step, MSIM_NONE);
}

/* The first execution trace of the ranks, else the first rank. */
static void test_trace__of_a_job(void)
{
    struct msim_trace et = {.has_et = true};
    struct msim_trace plain = {.has_times = true}, alone = {.has_et = true};
    struct msim_trace linked = {.has_et = true, .et = &et};
    struct msim_trace *ranks[] = {&plain, &linked, &alone};
    struct msim_job job = {.ranks = ranks, .n_ranks = 3};

    CHECK(msim_choice_trace(&job) == &et);
    ranks[0] = &linked;
    ranks[1] = &alone;
    CHECK(msim_choice_trace(&job) == &et);
    ranks[0] = &plain;
    CHECK(msim_choice_trace(&job) == &alone);
    job.n_ranks = 1;
    CHECK(msim_choice_trace(&job) == &plain);
    job.n_ranks = 0;
    CHECK(msim_choice_trace(&job) == NULL);
}

int main(void)
{
    RUN(test_step__named);
    RUN(test_step__without_nodes);
    RUN(test_step__settled);
    RUN(test_trace__of_a_job);
    return check_summary();
}
