/*
 * profilers/cpu/mpi_main.c - mystique-prof-mpi: collectives between the
 * processes of one mpirun, one JSON line each (profilers/serve.h).
 *
 * Rank 0 speaks the lines; the others follow what it broadcasts. What is timed
 * is the slowest rank's time, from a barrier on.
 */
#include "profilers/cpu/cpu_device.h"
#include "profilers/experiment.h"
#include "profilers/serve.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum msim_collective collective;
} COLLECTIVES[] = {
    {"all_reduce", MSIM_COLL_ALL_REDUCE},
    {"all_gather", MSIM_COLL_ALL_GATHER},
    {"reduce_scatter", MSIM_COLL_REDUCE_SCATTER},
    {"all_to_all", MSIM_COLL_ALL_TO_ALL},
    {"broadcast", MSIM_COLL_BROADCAST},
};
#define N_COLLECTIVES (sizeof(COLLECTIVES) / sizeof(*COLLECTIVES))

enum order { TIME_ONCE, MAKE_READY, STOP };

/* What rank 0 tells the others. */
struct order_of {
    int order, collective;
    long long bytes;
};

struct ranks {
    struct msim_cpu_device device;
    int rank, n;
    struct order_of now;
    float *in, *out;
    long long room; /* bytes of each buffer */
};

/* Sizes as nccl-tests counts them: of all_gather and reduce_scatter the whole
 * buffer, of an all-to-all what one rank sends. */
static void run_once(struct ranks *r)
{
    int whole = (int)(r->now.bytes / (long long)sizeof(float));
    int part = whole / r->n;

    switch (r->now.collective) {
    case MSIM_COLL_ALL_REDUCE:
        MPI_Allreduce(r->in, r->out, whole, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case MSIM_COLL_ALL_GATHER:
        MPI_Allgather(r->in, part, MPI_FLOAT, r->out, part, MPI_FLOAT,
                      MPI_COMM_WORLD);
        break;
    case MSIM_COLL_REDUCE_SCATTER:
        MPI_Reduce_scatter_block(r->in, r->out, part, MPI_FLOAT, MPI_SUM,
                                 MPI_COMM_WORLD);
        break;
    case MSIM_COLL_ALL_TO_ALL:
        MPI_Alltoall(r->in, part, MPI_FLOAT, r->out, part, MPI_FLOAT,
                     MPI_COMM_WORLD);
        break;
    default:
        MPI_Bcast(r->in, whole, MPI_FLOAT, 0, MPI_COMM_WORLD);
        break;
    }
}

static double time_together(struct ranks *r)
{
    double own, slowest = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    own = -MPI_Wtime();
    run_once(r);
    own += MPI_Wtime();
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest * 1e6;
}

/* All ranks: room for the buffers; whether all of them have it. */
static bool make_ready(struct ranks *r)
{
    int ok = 1, all = 0;

    if (r->now.bytes > r->room) {
        free(r->in);
        free(r->out);
        r->in = malloc((size_t)r->now.bytes);
        r->out = malloc((size_t)r->now.bytes);
        ok = r->in && r->out;
        r->room = ok ? r->now.bytes : 0;
    }
    MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    for (long long i = 0; all && i < r->now.bytes / 4; i++)
        r->in[i] = (float)((i * 7919 + r->rank) % 1000) / 1000;
    if (all) /* touch every page now, not when it is timed */
        memset(r->out, 0, (size_t)r->now.bytes);
    return all;
}

static void tell(struct ranks *r, enum order order)
{
    r->now.order = (int)order;
    MPI_Bcast(&r->now, sizeof(r->now), MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* What every other rank does until rank 0 stops. */
static void follow(struct ranks *r)
{
    for (;;) {
        MPI_Bcast(&r->now, sizeof(r->now), MPI_BYTE, 0, MPI_COMM_WORLD);
        if (r->now.order == STOP)
            return;
        if (r->now.order == MAKE_READY)
            (void)make_ready(r);
        else
            (void)time_together(r);
    }
}

/* ---- rank 0: the backend --------------------------------------------------
 */

static enum msim_status open_ranks(void **self, struct msim_error *err)
{
    struct ranks *r = calloc(1, sizeof(*r));

    (void)err;
    if (!r)
        return MSIM_ENOMEM;
    msim_cpu_device_find(&r->device);
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->n);
    *self = r;
    return MSIM_OK;
}

static void close_ranks(void *self)
{
    struct ranks *r = self;

    if (r->rank == 0)
        tell(r, STOP);
    free(r->in);
    free(r->out);
    free(r);
}

static void describe_ranks(void *self, struct msim_json *out)
{
    static const char *const OTHERS[] = {"gemm", "conv", "vector", "copy",
                                         "latency"};
    const struct ranks *r = self;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    msim_cpu_device_write(&r->device, out);
    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    msim_json_open(out, "libraries", '{', false);
    msim_json_text(out, "MPI", version);
    msim_json_close(out);
    msim_json_unsigned(out, "ranks", (uint64_t)r->n);
    msim_json_text(out, "interconnect", "shared-memory");
    msim_json_open(out, "tables", '{', false);
    msim_json_open(out, "collective", '[', false);
    for (size_t i = 0; r->n > 1 && i < N_COLLECTIVES; i++)
        msim_json_text(out, NULL, COLLECTIVES[i].name);
    msim_json_close(out);
    msim_json_close(out);
    msim_json_open(out, "left_out", '{', false);
    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(*OTHERS); i++)
        msim_json_text(out, OTHERS[i], "mystique-prof-cpu times this");
    msim_json_text(out, "attention", "no library here has it as one operator");
    msim_json_close(out);
}

static enum msim_status time_ranks(void *state, double *us,
                                   struct msim_error *err)
{
    struct ranks *r = state;

    (void)err;
    tell(r, TIME_ONCE);
    *us = time_together(r);
    return MSIM_OK;
}

static bool is_known(enum msim_collective c)
{
    for (size_t i = 0; i < N_COLLECTIVES; i++)
        if (COLLECTIVES[i].collective == c)
            return true;
    return false;
}

static enum msim_status prepare_ranks(void *self, const cJSON *experiment,
                                      struct msim_case *out,
                                      struct msim_error *err)
{
    struct ranks *r = self;
    struct msim_experiment e;
    double bytes;

    MSIM_TRY(msim_experiment_read(&e, experiment, err));
    if (e.table != MSIM_TIMED_COLLECTIVE || e.dtype != MSIM_DT_F32 ||
        !is_known(e.u.collective.collective))
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no such collective of fp32 here");
    if (e.u.collective.ranks != r->n || e.u.collective.nodes != 1)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "%lld ranks are wanted, %d on one node are there",
                         (long long)e.u.collective.ranks, r->n);
    bytes = (double)e.u.collective.bytes;
    if (!(bytes >= 4.0 * r->n && bytes < 4e9))
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "'bytes' is %g, want %d to 4e9", bytes, 4 * r->n);
    r->now.collective = (int)e.u.collective.collective;
    r->now.bytes = (long long)e.u.collective.bytes;
    tell(r, MAKE_READY);
    if (!make_ready(r))
        return MSIM_ENOMEM;
    *out = (struct msim_case){.state = r, .time = time_ranks};
    return MSIM_OK;
}

static const struct msim_backend RANKS = {
    .name = "mpi",
    .open = open_ranks,
    .close = close_ranks,
    .describe = describe_ranks,
    .prepare = prepare_ranks,
};

/* On how many machines the ranks are: what they share is what is timed. */
static int count_hosts(void)
{
    MPI_Comm shared;
    int rank, first, hosts;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &shared);
    MPI_Comm_rank(shared, &rank);
    MPI_Comm_free(&shared);
    first = rank == 0;
    MPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return hosts;
}

static int run(int argc, char **argv)
{
    struct msim_error err = {0};
    void *self;
    int rank, hosts = count_hosts();

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (hosts > 1) {
        if (rank == 0)
            fprintf(stderr,
                    "mystique-prof-mpi: the ranks are on %d machines, want "
                    "them on one\n",
                    hosts);
        return 3;
    }
    if (rank == 0)
        return msim_serve_main(&RANKS, argc, argv);
    if (argc > 1 || open_ranks(&self, &err) != MSIM_OK)
        return 2;
    follow(self);
    close_ranks(self);
    return 0;
}

int main(int argc, char **argv)
{
    int rc;

    MPI_Init(&argc, &argv);
    rc = run(argc, argv);
    MPI_Finalize();
    return rc;
}
