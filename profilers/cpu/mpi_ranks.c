/*
 * profilers/cpu/mpi_ranks.c - what the processes of one mpirun do together.
 */
#include "profilers/cpu/cpu.h"

#include <mpi.h>

void msim_ranks_tell(struct msim_ranks *r, enum msim_order order)
{
    r->order.what = (int)order;
    MPI_Bcast(&r->order, sizeof(r->order), MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Sizes as nccl-tests counts them: of all_gather and reduce_scatter the whole
 * buffer, of an all-to-all what one rank sends. */
void msim_ranks_run(const struct msim_ranks *r)
{
    int whole = (int)(r->order.bytes / (long long)sizeof(float));
    int part = whole / r->n;

    switch (r->order.collective) {
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
