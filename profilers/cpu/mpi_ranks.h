/*
 * profilers/cpu/mpi_ranks.h - the processes of one mpirun.
 *
 * Rank 0 reads and writes the lines, and broadcasts orders that the others
 * follow. All ranks call each function together, except where it says
 * otherwise.
 */
#ifndef MSIM_PROFILERS_CPU_MPI_RANKS_H
#define MSIM_PROFILERS_CPU_MPI_RANKS_H
#include "profilers/cpu/cpu.h"

enum msim_order {
    MSIM_ORDER_READY,           /* make room for a collective */
    MSIM_ORDER_TIME,            /* it */
    MSIM_ORDER_WORK_READY,      /* make ready what computes; its text follows */
    MSIM_ORDER_WORK_ALONE,      /* time that */
    MSIM_ORDER_WORK_CONCURRENT, /* and beside the collective */
    MSIM_ORDER_STOP
};

/* What rank 0 orders all ranks to do. */
struct msim_rank_order {
    int what, collective; /* enum msim_order, enum msim_collective */
    long long bytes;      /* of the collective, or of the text */
};

struct msim_ranks {
    struct msim_cpu_device device;
    int rank, n;
    struct msim_rank_order order; /* the last one */
    float *in, *out;              /* of a collective */
    long long room;               /* bytes of each */
    void *cpu; /* MSIM_BACKEND_CPU's; NULL: nothing computed yet */
    struct msim_case work;
    uint32_t repeats; /* of the work, that are timed as one */
};

/* Rank 0 alone: give an order. */
void msim_ranks_tell(struct msim_ranks *r, enum msim_order order);

/* The collective, once. */
void msim_ranks_run(const struct msim_ranks *r);

/* ---- mpi_concurrent.c: compute beside it --------------------------------- */

/* The reason why ranks cannot compute beside a collective; NULL: they can. */
const char *msim_ranks_alone(const struct msim_ranks *r);

/* Write the greeting's "beside": the kinds that can, or the reason. */
void msim_ranks_describe_concurrent(const struct msim_ranks *r,
                                    struct msim_json *out);

/*
 * Make ready the experiment in `text`, which MSIM_BACKEND_CPU reads; rank 0 has
 * it, and sends it to the others after the order. `err` is set where this rank
 * fails; EINTERNAL where another one does. Releases the previous experiment.
 */
MSIM_MUST_CHECK
enum msim_status msim_ranks_work_ready(struct msim_ranks *r, char *text,
                                       struct msim_error *err);

/* Time it: microseconds of one run, of the slowest rank. Fails where it fails
 * on any rank. */
MSIM_MUST_CHECK
enum msim_status msim_ranks_work(struct msim_ranks *r, bool concurrent,
                                 double *us, struct msim_error *err);

/* This rank alone. */
void msim_ranks_work_release(struct msim_ranks *r);

#endif
