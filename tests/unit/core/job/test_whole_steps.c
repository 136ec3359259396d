/*
 * tests/unit/core/job/test_whole_steps.c - steps whose kernels are not recorded
 * leave the mean. Times are microseconds.
 */
#include "tests/unit/made_job.h"

/* Four steps of 100, each with `n` launches; of step i the first kept[i] have
 * their kernels. */
static struct made four_steps(int rank, const char *call, int n,
                              const int kept[4])
{
    struct made m = made_trace(rank, 2);

    for (int s = 0; s < 4; s++) {
        made_step(&m, 1, s + 1, 100 * s, 100);
        for (int i = 0; i < n; i++) {
            int id = 1 + s * n + i;

            made_call(&m, 1, call, 100 * s + i, 1, id);
            if (i < kept[s])
                made_kernel(&m, 7, "k", 100 * s + 2 * i + 10, 2, id);
        }
    }
    return m;
}

/* The numbers of the steps that are left, as digits. */
static void check_left(struct made_job *j, const char *want, bool partial)
{
    for (uint32_t r = 0; r < j->job->n_ranks; r++) {
        const struct msim_trace *t = j->job->ranks[r];
        char got[8] = "";

        for (uint32_t s = 0; s < t->n_steps && s < 7; s++)
            got[s] = (char)('0' + t->steps[s].number);
        CHECK_STR(got, want);
    }
    CHECK(j->job->partial == partial);
    CHECK(made_warned(j, "in iteration") == (strlen(want) < 4));
}

static void check_one(const char *call, int n, const int kept[4],
                      const char *want, bool partial)
{
    struct made m = four_steps(0, call, n, kept);
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    check_left(&j, want, partial);
    made_unload(&j);
}

static void test_whole_steps__of_one_rank(void)
{
    const char *launch = "cudaLaunchKernel", *graph = "hipGraphLaunch";

    check_one(launch, 4, (int[]){4, 4, 4, 4}, "1234", false);
    check_one(launch, 4, (int[]){4, 4, 0, 0}, "12", false);
    check_one(launch, 4, (int[]){3, 4, 4, 4}, "234", false);
    /* One of twenty may be lost, two not. */
    check_one(launch, 20, (int[]){20, 19, 18, 20}, "124", false);
    /* None is whole: all stay, and nothing is said of what bounds the job. */
    check_one(launch, 4, (int[]){3, 3, 2, 1}, "1234", true);
    check_one(graph, 1, (int[]){1, 0, 0, 0}, "1", false);
    check_one(graph, 30, (int[]){30, 29, 30, 30}, "134", false);
}

/* A step is whole where it is on all ranks. */
static void test_whole_steps__of_two_ranks(void)
{
    struct made m[2] = {
        four_steps(0, "cudaLaunchKernel", 4, (int[]){4, 4, 2, 4}),
        four_steps(1, "cudaLaunchKernel", 4, (int[]){0, 4, 4, 4}),
    };
    struct made_job j;

    REQUIRE(made_load(&j, m, 2));
    check_left(&j, "24", false);
    made_unload(&j);
}

int main(void)
{
    RUN(test_whole_steps__of_one_rank);
    RUN(test_whole_steps__of_two_ranks);
    return check_summary();
}
