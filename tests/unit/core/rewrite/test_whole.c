/*
 * tests/unit/core/rewrite/test_whole.c - stages of a pipeline as one rank: a
 * step that was cut is put together.
 */
#include "core/rewrite/split/split.h"

#include "tests/unit/core/rewrite/rewritten_text.h"

#define STAGES 2
#define N_STEP (sizeof(REWRITTEN) / sizeof(*REWRITTEN))

struct cut {
    struct msim_job *job;
    struct msim_trace *stages[STAGES];
};

static bool made_cut(struct cut *c, struct msim_split how)
{
    c->job = made_nodes(REWRITTEN, N_STEP);
    if (!CHECK(c->job != NULL))
        return false;
    for (uint32_t k = 0; k < STAGES; k++) {
        struct msim_rewrite r = {.world = how.dp, .parallel = how};
        struct msim_error err = {0};

        r.parallel.pp = STAGES;
        r.parallel.vp = how.vp ? how.vp : 1;
        r.parallel.recorded = 1;
        r.parallel.stage = k;
        CHECK_INT(msim_rewritten_new(&c->stages[k], c->job->ranks[0],
                                     c->job->strings, &r, &err),
                  MSIM_OK);
        CHECK_STR(err.text, "");
    }
    return true;
}

static void done_cut(struct cut *c)
{
    for (uint32_t k = 0; k < STAGES; k++)
        msim_trace_free(c->stages[k]);
    msim_job_free(c->job);
}

/* The text of what becomes of stages `first` and the other one. */
static char *joined_text(const struct cut *c, uint32_t first)
{
    const struct msim_trace *ts[STAGES] = {c->stages[first],
                                           c->stages[1 - first]};
    struct made_changed m = {.job = c->job};
    struct msim_error err = {0};
    char *text = NULL;

    CHECK_INT(msim_whole_new(&m.t, ts, STAGES, c->job->strings, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    if (m.t && CHECK(msim_lives_find(&m.lives, m.t) == MSIM_OK)) {
        CHECK_UINT(m.t->world_size, 1);
        CHECK_UINT(m.t->n_comms, 0);
        text = rewritten_text(&m);
        msim_lives_release(&m.lives);
    }
    msim_trace_free(m.t);
    return text;
}

/* Four micro batches one after the other, in one rank: as accumulated. Lists of
 * the step are one again. */
static void check_joined(uint8_t order)
{
    const struct msim_rewrite together = {.accumulate = 4};
    struct made_changed m;
    struct cut c;
    char *want, *text;

    if (!change_nodes(&m, REWRITTEN, N_STEP, &together) ||
        !made_cut(&c, (struct msim_split){.micro_batches = 4, .order = order}))
        return;
    want = rewritten_text(&m);
    for (uint32_t first = 0; first < STAGES; first++) {
        text = joined_text(&c, first);
        CHECK_STR(text ? text : "", want);
        free(text);
    }
    free(want);
    done_step(&m);
    done_cut(&c);
}

static void test_whole__as_it_was(void)
{
    check_joined(MSIM_TURNS_1F1B);
    check_joined(MSIM_TURNS_GPIPE);
}

static void refuse(struct msim_split how, uint32_t n, uint32_t first,
                   const char *want)
{
    const struct msim_trace *ts[STAGES];
    struct msim_trace *out;
    struct msim_error err = {0};
    struct cut c;

    if (!made_cut(&c, how))
        return;
    for (uint32_t k = 0; k < STAGES; k++)
        ts[k] = c.stages[(first + k) % STAGES];
    CHECK_INT(msim_whole_new(&out, ts, n, c.job->strings, &err), MSIM_EUSAGE);
    if (!CHECK(strstr(err.text, want) != NULL))
        fprintf(stderr, "%s\n", err.text);
    CHECK(out == NULL);
    done_cut(&c);
}

static void test_whole__refuses(void)
{
    refuse((struct msim_split){.micro_batches = 2}, 1, 0,
           "parallel.pp is 1: no trace is of the stage of rank 1, which "
           "exchanges messages with rank 0; want those of all stages");
    refuse((struct msim_split){.micro_batches = 2}, 1, 1,
           "parallel.pp is 1: none of 1 traces begins with a message");
    refuse((struct msim_split){.micro_batches = 2, .dp = 2}, 2, 0,
           "parallel.pp is 1: rank 0 exchanges more than messages");
    refuse((struct msim_split){.micro_batches = 2,
                               .order = MSIM_TURNS_ZERO_BUBBLE},
           2, 0, "pieces of forward and");
}

int main(void)
{
    RUN(test_whole__as_it_was);
    RUN(test_whole__refuses);
    return check_summary();
}
