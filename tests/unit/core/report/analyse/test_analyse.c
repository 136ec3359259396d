/*
 * tests/unit/core/report/analyse/test_analyse.c - what is said of a whole job.
 */
#include "tests/unit/made_outcome.h"

static struct msim_prediction *analyse(const struct msim_outcome *o)
{
    struct msim_error err = {0};
    struct msim_prediction *p = NULL;

    CHECK_INT(msim_analyse(&p, o, UINT32_MAX, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    return p;
}

/* ---- what bounds the period ---------------------------------------------- */

/* Two iterations of 1000 us: `work` on the host, and a stream that is busy from
 * then until 990 us: with a kernel, or with a collective. */
static void add_steps(struct made *m, int work, bool collective)
{
    static const struct made_comm C = {"allreduce", "0", "0, 1", 2,
                                       100,         -1,  -1,     -1};

    for (int i = 0; i < 2; i++) {
        int at = 1000 * i, n = 2 * i;

        made_step(m, 1, i, at, 1000);
        made_op(m, 1, "work", at, work);
        made_call(m, 1, "cudaLaunchKernel", at + work, 2, n + 1);
        if (collective)
            made_nccl(m, 20, C, at + work + 5, 985 - work, n + 1);
        else
            made_kernel(m, 20, "gemm", at + work + 5, 985 - work, n + 1);
        made_call(m, 1, "cudaDeviceSynchronize", at + work + 2, 988 - work,
                  n + 2);
    }
}

/* A stream that works all the time bounds its rank. */
static void test_bounds__work(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;
    struct msim_outcome o;
    struct msim_prediction *p;

    add_steps(&m, 10, false);
    REQUIRE(made_load(&j, &m, 1));
    o = made_outcome(&j, (struct made_what){0});
    p = analyse(&o);
    if (p) {
        CHECK_REL(p->period.busiest_share, 0.975, 1e-3);
        CHECK(p->period.bounds);
    }
    msim_prediction_free(p);
    made_unload(&j);
}

/* One that waits for a peer does not, though its collective runs as long. */
static void test_bounds__no_waiting(void)
{
    struct made m[2] = {made_trace(0, 2), made_trace(1, 2)};
    struct made_job j;
    struct msim_outcome o;
    struct msim_prediction *p;

    add_steps(&m[0], 10, true);
    add_steps(&m[1], 800, true);
    REQUIRE(made_load(&j, m, 2));
    o = made_outcome(&j, (struct made_what){0});
    p = analyse(&o);
    if (p) {
        CHECK_INT(p->period.rank, 0);
        CHECK_REL(p->period.busiest_share, 0.975, 1e-3);
        CHECK(!p->period.bounds);
    }
    msim_prediction_free(p);
    made_unload(&j);
}

/* ---- the share of the peak ----------------------------------------------- */

/* The host waits in the second iteration for a kernel of the first, of which
 * 100 of 500 us would do by the data sheet. */
static void add_waiting(struct made *m)
{
    made_step(m, 1, 0, 0, 20);
    made_op(m, 1, "work", 0, 10);
    made_call(m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_kernel(m, 7, "gemm", 15, 500, 1);
    made_step(m, 1, 1, 20, 980);
    made_call(m, 1, "cudaDeviceSynchronize", 20, 495, 2);
    made_op(m, 1, "tail", 515, 485);
}

static double mfu_of(struct made_job *j, const char *scale, double *period)
{
    struct msim_outcome o = made_outcome(j, (struct made_what){.scale = scale});
    struct msim_limits *limits = calloc(j->graph->n_tasks, sizeof(*limits));
    struct msim_prediction *p;
    double mfu = -1;

    o.limits = limits;
    o.source_uncovered = UINT8_MAX;
    if (CHECK(limits != NULL)) {
        limits[made_task(j, "gemm")].tensor = 100;
        p = analyse(&o);
        mfu = p ? p->mfu : -1;
        *period = p ? p->period.us.predicted : -1;
        msim_prediction_free(p);
    }
    free(limits);
    return mfu;
}

/* In two iterations of which the second takes 485 us, or nothing. */
static void test_mfu__no_period(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;
    double period;

    add_waiting(&m);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_REL(mfu_of(&j, NULL, &period), 100.0 / 2 / 485, 1e-9);
    CHECK_REL(period, 485, 1e-9);
    CHECK(isnan(mfu_of(&j, "host=0", &period)));
    CHECK_REL(period, 0, 0);
    made_unload(&j);
}

/* As above, with a second GPU that runs a kernel meanwhile: the peak is of
 * both. A copy to a third makes it none of the job. */
static void test_mfu__several_gpus(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;
    struct msim_outcome o;
    struct msim_prediction *p;
    double period;

    add_waiting(&m);
    made_op(&m, 2, "other", 0, 10);
    made_call(&m, 2, "cudaLaunchKernel", 10, 2, 3);
    made_call(&m, 2, "cudaMemcpyAsync", 13, 2, 4);
    m.device = 1;
    made_kernel(&m, 7, "other gemm", 15, 400, 3);
    m.device = 2;
    made_copy(&m, 7, "HtoD (Pageable -> Device)", 16, 1, 4, 8);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_UINT(j.job->ranks[0]->gpus, 2);
    CHECK_UINT(j.job->files[0].gpus, 2);
    CHECK_REL(mfu_of(&j, NULL, &period), 100.0 / 2 / 485 / 2, 1e-9);
    o = made_outcome(&j, (struct made_what){0});
    p = analyse(&o);
    CHECK_UINT(p ? p->gpus : 0, 2);
    msim_prediction_free(p);
    made_unload(&j);
}

int main(void)
{
    RUN(test_bounds__work);
    RUN(test_bounds__no_waiting);
    RUN(test_mfu__no_period);
    RUN(test_mfu__several_gpus);
    return check_summary();
}
