/*
 * tests/unit/core/rewrite/test_accumulate.c - steps of more or fewer micro
 * batches than are recorded.
 */
#include "tests/unit/core/rewrite/made_passes.h"

static void check_counts(const struct msim_trace *t, uint32_t passes,
                         uint32_t sums, uint32_t steps)
{
    CHECK_UINT(count_ops(t, "aten::linear"), passes);
    CHECK_UINT(count_ops(t, "aten::linear_backward"), passes);
    CHECK_UINT(count_ops(t, "aten::add_"), sums);
    CHECK_UINT(count_ops(t, "aten::addcdiv_"), steps);
}

/* The first of those that are recorded, or the last once more; what is made
 * once more adds its gradient up. */
static void test_accumulate__counts(void)
{
    static const struct {
        const char *text;
        uint32_t wanted, passes, sums, steps;
    } cases[] = {
        {"ps", 1, 1, 0, 1},    {"ps", 3, 3, 2, 1},   {"pps", 1, 1, 0, 1},
        {"pps", 2, 2, 0, 1},   {"pps", 3, 3, 1, 1},  {"ppps", 2, 2, 0, 1},
        {"pspps", 2, 4, 1, 2}, {"psps", 2, 4, 2, 2}, {"pspps", 1, 2, 0, 2},
        {"pp", 3, 3, 1, 0},    {"pps", 0, 2, 0, 1},  {"pspp", 2, 4, 1, 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct msim_rewrite r = {.accumulate = cases[i].wanted,
                                       .anew = true};
        struct msim_job *job = made_passes(cases[i].text);
        struct msim_error err = {0};
        struct msim_trace *t;

        REQUIRE(job != NULL);
        CHECK_INT(msim_rewritten_new(&t, job->ranks[0], job->strings, &r, &err),
                  MSIM_OK);
        REQUIRE(t != NULL);
        check_counts(t, cases[i].passes, cases[i].sums, cases[i].steps);
        msim_trace_free(t);
        msim_job_free(job);
    }
}

/* The nth backward operator sends. */
static void add_message(struct msim_trace *t, uint32_t n)
{
    uint32_t op = find_op(t, "aten::linear_backward", n);

    if (!t->comms)
        t->comms = calloc(2, sizeof(*t->comms));
    if (!t->comms)
        abort();
    t->cap_comms = 2;
    t->ops[op].comm = t->n_comms;
    t->comms[t->n_comms++] = (struct msim_comm){
        .op = op, .group = MSIM_NONE, .collective = MSIM_COLL_ALL_REDUCE};
}

/* What the last one alone sends for all is not left out. */
static void test_accumulate__messages(void)
{
    static const struct {
        uint32_t wanted;
        bool first;
        const char *why;
    } cases[] = {
        {1, false,
         "accumulate is 1, but the last of the 2 recorded micro batches of a "
         "step alone sends what all have added up; want 2 or more"},
        {1, true, ""},
        {2, false, ""},
        {3, false, ""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct msim_rewrite r = {.accumulate = cases[i].wanted};
        struct msim_job *job = made_passes("pps");
        struct msim_error err = {0};
        struct msim_trace *t;

        REQUIRE(job != NULL);
        if (cases[i].first)
            add_message(job->ranks[0], 0);
        add_message(job->ranks[0], 1);
        CHECK_INT(msim_rewritten_new(&t, job->ranks[0], job->strings, &r, &err),
                  *cases[i].why ? MSIM_EUSAGE : MSIM_OK);
        CHECK_STR(err.text, cases[i].why);
        msim_trace_free(t);
        msim_job_free(job);
    }
}

int main(void)
{
    RUN(test_accumulate__counts);
    RUN(test_accumulate__messages);
    return check_summary();
}
