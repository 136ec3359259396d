/*
 * profilers/cpu/mpi_concurrent.c - compute while a collective runs.
 *
 * As in data-parallel training, every rank computes on its share of the cores,
 * while another thread of it takes part in a collective over and over, until
 * all ranks have computed. Compute and communication share cores, caches and
 * memory. The same is timed without the collective, by all ranks at once: the
 * ratio is the cost of the collective. Both are repeated for several slices of
 * the scheduler: a run that fits one slice would not be disturbed. Meanwhile
 * only the communicating thread calls MPI, so that MPI_THREAD_SERIALIZED is
 * enough.
 */
#include "profilers/cpu/cpu.h"

#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SPAN_US     40e3 /* slices take 1 to 6 ms, as a rule */
#define REPEATS_MAX 10000

const char *msim_ranks_alone(const struct msim_ranks *r)
{
    int level;

    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED)
        return "this MPI wants one thread a rank";
    if (r->n < 2)
        return "not run: 1 rank";
    if ((unsigned)r->n > r->device.cores)
        return "not run: more ranks than cores, which take turns";
    return NULL;
}

void msim_ranks_describe_concurrent(const struct msim_ranks *r,
                                    struct msim_json *out)
{
    const char *why = msim_ranks_alone(r);

    if (why) {
        msim_json_text(out, "beside", why);
        return;
    }
    msim_json_open(out, "beside", '{', false);
    msim_json_open(out, "gemm", '[', false);
    msim_json_text(out, NULL, "fp32");
    msim_json_close(out);
    if (*msim_cpu_conv_kinds()) {
        msim_json_open(out, "conv", '[', false);
        msim_json_text(out, NULL, "conv2d_fwd:fp32");
        msim_json_close(out);
    }
    msim_json_open(out, "vector", '[', false);
    msim_json_text(out, NULL, "add:fp32");
    msim_json_text(out, NULL, "softmax:fp32");
    msim_json_close(out);
    msim_json_close(out);
}

/* ---- making it ready ----------------------------------------------------- */

void msim_ranks_work_release(struct msim_ranks *r)
{
    if (r->work.release)
        r->work.release(r->work.state);
    r->work = (struct msim_case){0};
}

static enum msim_status prepare(struct msim_ranks *r, const char *text,
                                struct msim_error *err)
{
    cJSON *experiment = cJSON_Parse(text);
    enum msim_status status = experiment ? MSIM_OK : MSIM_ENOMEM;

    msim_ranks_work_release(r);
    if (status == MSIM_OK && !r->cpu)
        status = MSIM_BACKEND_CPU.open(&r->cpu, err);
    if (status == MSIM_OK) {
        msim_cpu_set_threads(r->device.cores / (unsigned)r->n);
        status = MSIM_BACKEND_CPU.prepare(r->cpu, experiment, &r->work, err);
        if (status != MSIM_OK) /* it is released already */
            r->work = (struct msim_case){0};
    }
    cJSON_Delete(experiment);
    return status;
}

/* The mean time of one of so many in a row. */
static enum msim_status work(const struct msim_ranks *r, double *us,
                             struct msim_error *err)
{
    double sum = 0, one = 0;

    for (uint32_t i = 0; i < r->repeats; i++) {
        MSIM_TRY(r->work.time(r->work.state, &one, err));
        sum += one;
    }
    *us = sum / r->repeats;
    return MSIM_OK;
}

/* Whether all ranks succeeded. */
static enum msim_status agree(enum msim_status own, struct msim_error *err)
{
    int failed = own != MSIM_OK, any = 0;

    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (own != MSIM_OK || !any)
        return own;
    return msim_fail(err, MSIM_EINTERNAL, NULL, MSIM_OFFSET_NONE,
                     "another rank fails");
}

static enum msim_status find_repeats(struct msim_ranks *r,
                                     struct msim_error *err)
{
    double us = 0;

    r->repeats = 1;
    MSIM_TRY(msim_ranks_work(r, false, &us, err)); /* the first takes longer */
    MSIM_TRY(msim_ranks_work(r, false, &us, err));
    r->repeats = (uint32_t)fmin(ceil(SPAN_US / fmax(us, 1)), REPEATS_MAX);
    return MSIM_OK;
}

enum msim_status msim_ranks_work_ready(struct msim_ranks *r, char *text,
                                       struct msim_error *err)
{
    char *sent = r->rank == 0 ? text : malloc((size_t)r->order.bytes);
    enum msim_status status;

    if (!sent) /* the others wait for this one, which cannot go on */
        MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_Bcast(sent, (int)r->order.bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    status = agree(prepare(r, sent, err), err);
    if (r->rank != 0)
        free(sent);
    return status == MSIM_OK ? find_repeats(r, err) : status;
}

/* ---- timing it ----------------------------------------------------------- */

struct company {
    const struct msim_ranks *ranks;
    atomic_int begun, done; /* done: this rank has computed */
};

/* The collective on and on, until all ranks have computed. */
static void *communicate(void *arg)
{
    struct company *c = arg;
    int all = 0;

    while (!all) {
        int own = atomic_load(&c->done);

        msim_ranks_run(c->ranks);
        MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        atomic_store(&c->begun, 1);
    }
    return NULL;
}

static enum msim_status work_concurrent(struct msim_ranks *r, double *us,
                                        struct msim_error *err)
{
    struct company c = {.ranks = r};
    enum msim_status status;
    pthread_t thread;

    if (pthread_create(&thread, NULL, communicate, &c) != 0)
        MPI_Abort(MPI_COMM_WORLD, 4); /* the others wait for this one */
    while (!atomic_load(&c.begun))
        sched_yield();
    status = work(r, us, err);
    atomic_store(&c.done, 1);
    pthread_join(thread, NULL);
    return status;
}

enum msim_status msim_ranks_work(struct msim_ranks *r, bool concurrent,
                                 double *us, struct msim_error *err)
{
    enum msim_status status;
    double own = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    status = concurrent ? work_concurrent(r, &own, err) : work(r, &own, err);
    MPI_Allreduce(&own, us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return agree(status, err);
}
