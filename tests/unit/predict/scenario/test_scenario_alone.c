/*
 * predict/scenario/scenario_alone.c and scenario_inputs.c: one scenario without
 * a base, in stages, and the traces of one that trains in another way.
 */
#include "predict/scenario/scenario.h"

#include "predict/memory/rank_memory.h"
#include "tests/unit/predict/made_steps.h"

#include <math.h>

/* 10 us of host, 5 to the kernel, 200 of it, 5 to the end of the wait and 10 of
 * host. */
static const struct step STEP = {.before = 10, .kernel = 200, .after = 10};

/* What is recorded without tensors says nothing of memory: no figure, of no
 * class. */
static void test_alone__as_traced(void)
{
    struct msim_held_most held = {.peak = 1, .low = 1, .high = 1};
    struct msim_scenario_row row = {.name = "a"};
    struct msim_scenario_alone a;
    struct msim_arena arena;
    struct made_run r;

    msim_arena_init(&arena);
    for (int i = 0; i < MSIM_HELD_COUNT; i++)
        held.by[i] = 1;
    if (run_steps(&r, &STEP, MSIM_DATA)) {
        row.settings = r.s;
        row.arena = &arena;
        CHECK_INT(msim_scenario_alone_begin(&a, &row, &r.in, NULL), MSIM_OK);
        CHECK(a.row == &row && a.in == &r.in && a.settings == &row.settings);
        CHECK_INT(msim_scenario_alone_memory(&a, NULL, &held, NULL), MSIM_OK);
        CHECK(isnan(held.peak) && isnan(held.low) && isnan(held.high));
        for (int i = 0; i < MSIM_HELD_COUNT; i++)
            CHECK(isnan(held.by[i]));
        CHECK_INT(msim_scenario_alone_run(&a, NULL), MSIM_OK);
        CHECK_REL(row.period.predicted, length_of(&STEP), 1e-9);
        msim_scenario_alone_end(&a);
        CHECK(!a.row && !a.in && !a.settings);
        CHECK(r.in.job != NULL); /* the caller's */
    }
    run_free(&r);
    msim_arena_release(&arena);
}

/* A job of this repository and what is asked of it. */
struct asked {
    struct msim_predict_settings s;
    struct msim_inputs in;
    struct msim_target to;
};

static bool load(struct asked *a, const char *const *path, const char *platform)
{
    struct msim_error err = {0};

    *a = (struct asked){.s = {.data = MSIM_DATA,
                              .paths = path,
                              .n_paths = 1,
                              .load = {.threads = 1},
                              .platform = platform,
                              .costs = MSIM_COSTS_MODEL,
                              .peers = MSIM_PEERS_FIXED,
                              .iteration = MSIM_ITERATION_ALL}};
    return CHECK_INT(msim_predict_load(&a->in, &a->to, &a->s, &err), MSIM_OK);
}

static void unload(struct asked *a)
{
    msim_target_release(&a->to);
    msim_inputs_release(&a->in);
}

/* Rewritten first, with nothing left to be done; the job's own times correct
 * what is predicted, and its memory is that of the new traces. */
static void test_alone__in_another_way(void)
{
    static const char *const GPT2[] = {MSIM_DATA "/traces/gpt2"};
    struct msim_held_most held, want;
    struct msim_rank_memory memory = {.ranks = NULL};
    struct msim_scenario_alone a;
    struct asked job;

    if (load(&job, GPT2, "a100")) {
        struct msim_scenario_row row = {.name = "a", .settings = job.s};

        row.settings.rewrite.accumulate = 2;
        row.settings.reshape.dtype = MSIM_DT_BF16;
        CHECK_INT(msim_scenario_alone_begin(&a, &row, &job.in, NULL), MSIM_OK);
        CHECK(a.row == &row && a.in == &a.x.in && a.settings == &a.x.settings);
        CHECK(a.in->job == &a.x.job && a.in->job != job.in.job);
        CHECK(msim_rewrite_is_none(&a.settings->rewrite));
        CHECK(msim_reshape_is_none(&a.settings->reshape));
        CHECK(a.in->origin == &a.x.origin);
        CHECK(a.in->origin->ranks == job.in.job->ranks);
        CHECK_INT(a.in->origin->rewrite.accumulate, 2);
        CHECK_INT(a.in->origin->reshape.dtype, MSIM_DT_BF16);
        CHECK(a.in->source_job ==
              (msim_all_have_gpu_times(job.in.job) ? job.in.job : NULL));
        CHECK_INT(a.in->job->n_ranks, 1);
        CHECK(a.in->job->files == job.in.job->files);
        CHECK_INT(a.in->job->n_files, job.in.job->n_files);
        CHECK(a.in->job->strings == job.in.job->strings);
        CHECK(a.in->job->ranks[0]->n_ops > job.in.job->ranks[0]->n_ops);
        CHECK_INT(msim_scenario_alone_memory(&a, job.to.platform, &held, NULL),
                  MSIM_OK);
        CHECK_INT(msim_rank_memory_find(&memory, a.in->job->ranks, 1,
                                        job.to.platform),
                  MSIM_OK);
        CHECK(msim_rank_memory_most(&memory, &want));
        CHECK_REL(held.peak, want.peak, 1e-12);
        msim_rank_memory_release(&memory);
        msim_scenario_alone_end(&a);
    }
    unload(&job);
}

/* What cannot be changed so is said when it begins; ending is still right. */
static void test_alone__refuses(void)
{
    struct msim_scenario_row row = {.name = "a"};
    struct msim_error err = {0};
    struct msim_scenario_alone a;
    struct made_run r;

    if (run_steps(&r, &STEP, MSIM_DATA)) {
        row.settings = r.s;
        row.settings.rewrite.layers = 4;
        CHECK_INT(msim_scenario_alone_begin(&a, &row, &r.in, &err),
                  MSIM_EUSAGE);
        CHECK(*err.text);
        msim_scenario_alone_end(&a);
        CHECK(!a.row);
    }
    run_free(&r);
}

int main(void)
{
    RUN(test_alone__as_traced);
    RUN(test_alone__in_another_way);
    RUN(test_alone__refuses);
    return check_summary();
}
