/*
 * tests/unit/core/job/test_common_steps.c - ranks that recorded different
 * steps.
 */
#include "core/job/job.h"

#include "tests/unit/made_job.h"

/*
 * Rank `rank` of two, steps `from` to `to` of 1 ms each on one clock, `late` us
 * behind rank 0's. In each an all-reduce without a sequence number: both ranks
 * end it 670 us after the step began, rank 0 waits 400 us of it for rank 1.
 */
static struct made rank_of_steps(int rank, int from, int to, int late)
{
    struct made m = made_trace(rank, 2);
    struct made_comm reduce = {"allreduce", "0", "0, 1", 2, 1024, -1, -1, -1};

    for (int s = from, id = 1; s <= to; s++, id++) {
        int at = 1000 * s + late, begins = at + (rank ? 620 : 220);

        made_step(&m, 1, s, at, 999);
        made_op(&m, 1, "c10d::allreduce_", at + 100, 20);
        made_call(&m, 1, "cudaLaunchKernel", at + 110, 5, id);
        made_nccl(&m, 20, reduce, begins, at + 670 - begins, id);
    }
    return m;
}

static bool load_two(struct made_job *j, struct made a, struct made b)
{
    return made_load(j, (struct made[]){a, b}, 2);
}

/* Steps 2 to 5 are of both: those count, they meet, and the clocks agree. */
static void test_common_steps__other_windows(void)
{
    struct msim_error err = {0};
    struct made_job j;

    REQUIRE(load_two(&j, rank_of_steps(0, 1, 5, 0), rank_of_steps(1, 2, 6, 0)));
    for (uint32_t r = 0; r < 2; r++) {
        const struct msim_trace *t = j.job->ranks[r];

        CHECK_INT(t->clock_shift, 0);
        REQUIRE(t->n_steps == 4);
        CHECK_INT(t->steps[0].number, 2);
        CHECK_INT(t->steps[3].number, 5);
    }
    CHECK(made_warned(&j, "of 6 only the 4 that all of them have count"));
    CHECK(!made_warned(&j, "clock"));
    CHECK_INT(msim_job_check_steps(j.job, &err), MSIM_OK);
    /* On the wire 50 us, and not a wait of a whole step. */
    made_scaled(&j, NULL);
    CHECK_UINT(j.graph->n_iterations, 4);
    CHECK_INT(j.took[made_transfer(&j, 0, 1)], 50 * US);
    CHECK_INT(made_transfer_end(&j, 0, 1), made_transfer_end(&j, 1, 0));
    made_unload(&j);
}

/* A clock that is off shows in the common steps as well. */
static void test_common_steps__clock_is_off(void)
{
    struct made_job j;

    REQUIRE(
        load_two(&j, rank_of_steps(0, 1, 5, 0), rank_of_steps(1, 2, 6, 3000)));
    CHECK(made_warned(&j, "its clock is 3.000 ms off"));
    CHECK_INT(j.job->ranks[1]->clock_shift, -3000 * US);
    made_unload(&j);
}

static void test_common_steps__same_windows(void)
{
    struct made_job j;

    REQUIRE(load_two(&j, rank_of_steps(0, 1, 3, 0), rank_of_steps(1, 1, 3, 0)));
    CHECK_UINT(j.job->ranks[1]->n_steps, 3);
    CHECK_UINT(j.job->n_warnings, 0);
    made_unload(&j);
}

/* Nothing to compare: refused, with all that was recorded. */
static void test_common_steps__none(void)
{
    struct msim_error err = {0};
    struct made_job j;

    REQUIRE(load_two(&j, rank_of_steps(0, 1, 3, 0), rank_of_steps(1, 5, 7, 0)));
    CHECK_UINT(j.job->ranks[0]->n_steps, 3);
    CHECK_INT(msim_job_check_steps(j.job, &err), MSIM_EFORMAT);
    CHECK(strstr(err.text, "rank 0 recorded steps from ProfilerStep#1 on, rank "
                           "1 from #5 on, and no step is common") != NULL);
    made_unload(&j);
}

int main(void)
{
    RUN(test_common_steps__other_windows);
    RUN(test_common_steps__clock_is_off);
    RUN(test_common_steps__same_windows);
    RUN(test_common_steps__none);
    return check_summary();
}
