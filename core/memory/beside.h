/*
 * core/memory/beside.h - memory of a GPU that a framework's allocator does not
 * count: the context of CUDA, and the buffers of NCCL.
 *
 * Whether a job fits follows from the peak and these two together.
 *
 * A connection of NCCL between two ranks has, on every channel, a buffer for
 * each protocol: 4 MiB (Simple), 4.69 (LL128), 0.5 (LL), in pieces of 2 MiB: 10
 * MiB where it ends, and 2 where it begins (NVIDIA/nccl: src/init.cc; issue
 * 1685 counts them). A ring ends once at a rank; a tree of n ranks joins them
 * by n - 1 edges, each both ways. So a communicator holds, on average,
 *
 *     channels * (1 + 2 (n - 1) / n) * 12 MiB
 *
 * Example: NVLink of an A100 is 24 channels; 2 ranks: 24 * 2 * 12 = 576 MiB, 4
 * ranks: 720 MiB. Measured were 544 and 688 (NVIDIA/nccl, issue 964).
 *
 * Thread-safe; nothing is allocated.
 */
#ifndef MSIM_CORE_MEMORY_BESIDE_H
#define MSIM_CORE_MEMORY_BESIDE_H
#include <stdbool.h>

struct msim_beside {
    double context, nccl; /* bytes */
};
double msim_beside_bytes(const struct msim_beside *b);

/*
 * The context, with the kernels that a training step loads: 0.5 GiB. 0.3 to 0.4
 * are common before any kernel runs (pytorch/pytorch, issues 107667, 109888),
 * 426 MiB on an RTX 6000 Ada.
 */
#define MSIM_BESIDE_CONTEXT (0.5 * 1024 * 1024 * 1024)

/* Where ranks of a group are. */
struct msim_beside_group {
    double ranks;
    double near; /* of those: in one node, this one among them */
};

/* Collectives of one communicator over links of `link` bytes/s; one rank: 0. */
double msim_beside_collective(const struct msim_beside_group *g, double link);

/* Messages from every rank of the group to `peers` others (a neighbour, or all
 * of them), which are the nearest. */
double msim_beside_messages(const struct msim_beside_group *g, double peers,
                            double link);

#endif
