/*
 * profilers/cpu/mpi_ranks.h - the processes of one mpirun.
 *
 * Rank 0 speaks the lines; the others follow what it broadcasts. All of it is
 * called by all ranks together, but where it says otherwise.
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

/* What rank 0 tells the others. */
struct msim_told {
    int order, collective;
    long long bytes; /* of the collective, or of the text */
};

struct msim_ranks {
    struct msim_cpu_device device;
    int rank, n;
    struct msim_told told;
    float *in, *out; /* of a collective */
    long long room;  /* bytes of each */
    void *cpu;       /* MSIM_BACKEND_CPU's; NULL: nothing computed yet */
    struct msim_case work;
    uint32_t repeats; /* of the work, that are timed as one */
};

/* Rank 0 alone: give an order. */
void msim_ranks_tell(struct msim_ranks *r, enum msim_order order);

/* The collective, once. */
void msim_ranks_run(const struct msim_ranks *r);

/* ---- mpi_concurrent.c: what computes beside it
 * ------------------------------- */

/* NULL where ranks can compute beside a collective; else why not. */
const char *msim_ranks_alone(const struct msim_ranks *r);

/* Of a greeting: which kinds can. */
void msim_ranks_describe_concurrent(const struct msim_ranks *r,
                                    struct msim_json *out);

/*
 * Make ready what `text` asks for, an experiment of MSIM_BACKEND_CPU: on rank
 * 0, whose text the others are sent, after the order. `err` is set where this
 * rank fails; EINTERNAL where another does. What was ready before is released.
 */
MSIM_MUST_CHECK
enum msim_status msim_ranks_work_ready(struct msim_ranks *r, char *text,
                                       struct msim_error *err);

/* Time it; the slowest rank's microseconds, for one of some in a row. Fails as
 * it fails, on any rank. */
MSIM_MUST_CHECK
enum msim_status msim_ranks_work(struct msim_ranks *r, bool concurrent,
                                 double *us, struct msim_error *err);

/* This rank alone. */
void msim_ranks_work_release(struct msim_ranks *r);

#endif
