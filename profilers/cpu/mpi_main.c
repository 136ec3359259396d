/*
 * profilers/cpu/mpi_main.c - mystique-prof-mpi: collectives between the
 * processes of one mpirun, one JSON line each (profilers/serve.h).
 *
 * What is timed is the slowest rank's time, from a barrier on.
 */
#include "profilers/cpu/cpu.h"
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

static double time_together(struct msim_ranks *r)
{
    double own, slowest = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    own = -MPI_Wtime();
    msim_ranks_run(r);
    own += MPI_Wtime();
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest * 1e6;
}

/* All ranks: room for the buffers; whether all of them have it. */
static bool make_ready(struct msim_ranks *r)
{
    int ok = 1, all = 0;

    if (r->order.bytes > r->room) {
        free(r->in);
        free(r->out);
        r->in = malloc((size_t)r->order.bytes);
        r->out = malloc((size_t)r->order.bytes);
        ok = r->in && r->out;
        r->room = ok ? r->order.bytes : 0;
    }
    MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    for (long long i = 0; all && i < r->order.bytes / 4; i++)
        r->in[i] = (float)((i * 7919 + r->rank) % 1000) / 1000;
    if (all) /* touch every page now, not when it is timed */
        memset(r->out, 0, (size_t)r->order.bytes);
    return all;
}

/* Rank 0 hears of what fails here. */
static void obey(struct msim_ranks *r)
{
    bool concurrent = r->order.what == MSIM_ORDER_WORK_CONCURRENT;
    enum msim_status forgotten = MSIM_OK;
    double us;

    if (r->order.what == MSIM_ORDER_READY)
        (void)make_ready(r);
    else if (r->order.what == MSIM_ORDER_TIME)
        (void)time_together(r);
    else if (r->order.what == MSIM_ORDER_WORK_READY)
        forgotten = msim_ranks_work_ready(r, NULL, NULL);
    else
        forgotten = msim_ranks_work(r, concurrent, &us, NULL);
    (void)forgotten;
}

/* What every other rank does until rank 0 stops. */
static void follow(struct msim_ranks *r)
{
    for (;;) {
        MPI_Bcast(&r->order, sizeof(r->order), MPI_BYTE, 0, MPI_COMM_WORLD);
        if (r->order.what == MSIM_ORDER_STOP)
            return;
        obey(r);
    }
}

/* ---- rank 0: the backend ------------------------------------------------- */

static enum msim_status open_ranks(void **self, struct msim_error *err)
{
    struct msim_ranks *r = calloc(1, sizeof(*r));

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
    struct msim_ranks *r = self;

    if (r->rank == 0)
        msim_ranks_tell(r, MSIM_ORDER_STOP);
    msim_ranks_work_release(r);
    if (r->cpu)
        MSIM_BACKEND_CPU.close(r->cpu);
    free(r->in);
    free(r->out);
    free(r);
}

static void describe_ranks(void *self, struct msim_json *out)
{
    static const char *const OTHERS[] = {"gemm", "conv", "vector", "copy",
                                         "latency"};
    const struct msim_ranks *r = self;
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
    msim_ranks_describe_concurrent(r, out);
}

static enum msim_status time_ranks(void *state, double *us,
                                   struct msim_error *err)
{
    struct msim_ranks *r = state;

    (void)err;
    msim_ranks_tell(r, MSIM_ORDER_TIME);
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

/* Make ready the collective that `e` asks for. */
static enum msim_status prepare_collective(struct msim_ranks *r,
                                           const struct msim_experiment *e,
                                           struct msim_error *err)
{
    double bytes;

    if (e->table != MSIM_TABLE_COLLECTIVE || e->dtype != MSIM_DT_F32 ||
        !is_known(e->work.u.coll.collective))
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no such collective of fp32 here");
    if ((int)e->work.u.coll.ranks != r->n || e->work.u.coll.nodes != 1)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "%lld ranks are wanted, %d on one node are there",
                         (long long)e->work.u.coll.ranks, r->n);
    bytes = (double)e->work.u.coll.bytes;
    if (!(bytes >= 4.0 * r->n && bytes < 4e9))
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "'bytes' is %g, want %d to 4e9", bytes, 4 * r->n);
    r->order.collective = (int)e->work.u.coll.collective;
    r->order.bytes = (long long)e->work.u.coll.bytes;
    msim_ranks_tell(r, MSIM_ORDER_READY);
    return make_ready(r) ? MSIM_OK : MSIM_ENOMEM;
}

/* ---- computing beside a collective --------------------------------------- */

static enum msim_status time_concurrent(void *state, double *us,
                                        struct msim_error *err)
{
    msim_ranks_tell(state, MSIM_ORDER_WORK_CONCURRENT);
    return msim_ranks_work(state, true, us, err);
}

static enum msim_status time_alone(void *state, double *us,
                                   struct msim_error *err)
{
    msim_ranks_tell(state, MSIM_ORDER_WORK_ALONE);
    return msim_ranks_work(state, false, us, err);
}

/* Make ready what computes: the experiment without what runs beside it. */
static enum msim_status prepare_work(struct msim_ranks *r,
                                     const cJSON *experiment,
                                     struct msim_error *err)
{
    const long long bytes = r->order.bytes;
    cJSON *alone = cJSON_Duplicate(experiment, true);
    enum msim_status status;
    char *text;

    cJSON_DeleteItemFromObjectCaseSensitive(alone, "beside");
    text = cJSON_PrintUnformatted(alone);
    cJSON_Delete(alone);
    if (!text)
        return MSIM_ENOMEM;
    r->order.bytes = (long long)strlen(text) + 1;
    msim_ranks_tell(r, MSIM_ORDER_WORK_READY);
    status = msim_ranks_work_ready(r, text, err);
    r->order.bytes = bytes;
    cJSON_free(text);
    return status;
}

static enum msim_status prepare_concurrent(struct msim_ranks *r,
                                           const cJSON *experiment,
                                           const struct msim_experiment *e,
                                           struct msim_case *out,
                                           struct msim_error *err)
{
    const char *why = msim_ranks_alone(r);
    struct msim_experiment other;

    if (why || e->table == MSIM_TABLE_COLLECTIVE)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE, "%s",
                         why ? why : "nothing can run beside a collective");
    MSIM_TRY(msim_experiment_read(&other, e->concurrent, err));
    MSIM_TRY(prepare_collective(r, &other, err));
    MSIM_TRY(prepare_work(r, experiment, err));
    *out = (struct msim_case){
        .state = r, .time = time_concurrent, .alone = time_alone};
    return MSIM_OK;
}

static enum msim_status prepare_ranks(void *self, const cJSON *experiment,
                                      struct msim_case *out,
                                      struct msim_error *err)
{
    struct msim_experiment e;

    MSIM_TRY(msim_experiment_read(&e, experiment, err));
    if (e.concurrent)
        return prepare_concurrent(self, experiment, &e, out, err);
    MSIM_TRY(prepare_collective(self, &e, err));
    *out = (struct msim_case){.state = self, .time = time_ranks};
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
    int rc, level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    rc = run(argc, argv);
    MPI_Finalize();
    return rc;
}
