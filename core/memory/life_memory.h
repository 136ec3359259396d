/*
 * core/memory/life_memory.h - memory of tensors by their lives: how much they
 * hold, what else lies beside them, and whether that fits.
 */
#ifndef MSIM_CORE_MEMORY_LIFE_MEMORY_H
#define MSIM_CORE_MEMORY_LIFE_MEMORY_H
#include "core/lives/lives.h"

#include <stdbool.h>

/* ---- life memory --------------------------------------------------------- */
/*
 * How much memory the tensors of an execution trace hold, from their lives.
 *
 *     there before the trace     held to its end; data from its first use to
 * the last: custom functions do not say what they return, which seems to have
 * been there, too optimizer state            from its first step on a gradient
 * until gradients are next set to zero (the optimizer's own mark), without one
 * to the end all else                   until the last operator that names it
 * has returned
 *
 * Python may hold a tensor for longer than that: no operator says so.
 *
 * A gradient is what AccumulateGrad keeps: the tensor that it is given, or the
 * one that it adds or copies it to. What only an optimizer's step names is
 * state. Of what was there and is read elsewhere, too, parameters are the first
 * of each size, as many as a step has gradients of it; of a step without any,
 * what operators take as weights (core/lives/lives.h).
 */

/* X(name, its word in reports) */
#define MSIM_HELD_MAP(X)                                                       \
    X(PARAMETER, "parameters")                                                 \
    X(GRADIENT, "gradients")                                                   \
    X(STATE, "optimizer_state")                                                \
    X(INPUT, "inputs")                                                         \
    X(ACTIVATION, "activations")                                               \
    X(COMMUNICATION, "communication_buffers")                                  \
    X(WORKSPACE, "workspace")

enum msim_held {
#define X(name, text) MSIM_HELD_##name,
    MSIM_HELD_MAP(X)
#undef X
        MSIM_HELD_COUNT
};
const char *msim_held_text(enum msim_held h);

/* One piece of memory, from where it is taken to where it is given back; both
 * count operators in the order of entry. */
struct msim_held_piece {
    uint64_t bytes;
    uint32_t from, to; /* to: once this operator has returned */
    uint8_t held;      /* enum msim_held */
};

/* A change of one is a change of `pieces`: msim_memory_peak() reads nothing
 * else. */
struct msim_memory_picture {
    struct msim_held_piece *pieces;
    uint32_t n, cap;
    uint32_t end;    /* operators of the trace */
    uint32_t *order; /* by place: the operator */
};

struct msim_memory_options {
    bool caching;       /* rounds and reserves as PyTorch does on a GPU */
    uint64_t workspace; /* bytes of cuBLAS, for each thread that multiplies
                           matrices; 0: none */
};

/* The workspace that PyTorch gives cuBLAS: 2 buffers of 4 MiB and 8 of 16 KiB,
 * on Hopper 8 of 4 MiB (CUBLAS_WORKSPACE_CONFIG in cuBLAS's manual). */
#define MSIM_MEMORY_WORKSPACE        UINT64_C(8519680)
#define MSIM_MEMORY_WORKSPACE_HOPPER UINT64_C(33554432)

/* What `t` holds. Release in any case. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_memory_picture_find(struct msim_memory_picture *out,
                                          const struct msim_trace *t,
                                          const struct msim_memory_options *o);
void msim_memory_picture_release(struct msim_memory_picture *m);

/* Bytes. */
struct msim_memory_peak {
    uint64_t allocated;           /* most at once, as rounded */
    uint64_t reserved;            /* segments taken from the driver */
    uint64_t by[MSIM_HELD_COUNT]; /* of the peak */
    uint32_t at;                  /* operator, in the order of entry */
};

/* ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_memory_peak_find(struct msim_memory_peak *out,
                                       const struct msim_memory_picture *m,
                                       const struct msim_memory_options *o);

/* What is held from an operator on. */
struct msim_memory_point {
    uint32_t at; /* its place; `end`: after all */
    uint64_t reserved, by[MSIM_HELD_COUNT];
};

/*
 * How the memory of a picture goes up and down, in points that hold until the
 * next. The run is cut into so many stretches of equally many operators. A
 * stretch has the point where most is held in it and the one at its end, so
 * that the peak is among them, exactly.
 */
#define MSIM_MEMORY_STRETCHES 100
#define MSIM_MEMORY_POINTS    (2 * MSIM_MEMORY_STRETCHES)

struct msim_memory_line {
    struct msim_memory_point points[MSIM_MEMORY_POINTS]; /* by `at` */
    uint32_t n;
};

/* Both at once. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_memory_line_find(struct msim_memory_peak *peak,
                                       struct msim_memory_line *line,
                                       const struct msim_memory_picture *m,
                                       const struct msim_memory_options *o);

/* ---- beside -------------------------------------------------------------- */
/*
 * Memory of a GPU that a framework's allocator does not count: the context of
 * CUDA, and the buffers of NCCL.
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

/* ---- fits ---------------------------------------------------------------- */
/*
 * Whether a predicted peak of memory fits into a GPU.
 *
 * Thread-safe; nothing is allocated.
 */

enum msim_fits { MSIM_FITS_YES, MSIM_FITS_EDGE, MSIM_FITS_NO };
/* "yes", "edge", "no" */
const char *msim_fits_text(enum msim_fits f);

/* Whether a peak within low..high bytes fits into a GPU: edge, where that is
 * not sure. */
enum msim_fits msim_memory_fits(double low, double high, double capacity);

#endif
