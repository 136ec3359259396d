/*
 * plan/memory/job_memory.h - whether a described job fits into a GPU: its peak
 * with an interval, what lies beside the framework's memory, and the GPU's.
 *
 * It fits where the upper end of the peak of the stage that needs most, the
 * context of CUDA and NCCL's buffers are together at most what programs get of
 * the GPU's memory.
 *
 * Thread-safe; nothing is allocated.
 */
#ifndef MSIM_PLAN_MEMORY_JOB_MEMORY_H
#define MSIM_PLAN_MEMORY_JOB_MEMORY_H
#include "core/memory/life_memory.h"
#include "plan/memory/peak_memory.h"

/* What memory follows from of a platform. */
struct msim_memory_gpu {
    double usable; /* bytes that programs get */
    double link;   /* bytes/s inside a node */
};

struct msim_job_memory {
    struct msim_memory at; /* the first stage; and the most of any */
    struct msim_memory_interval interval; /* as factors */
    double low, high;                     /* 90 % interval of at.most */
    struct msim_beside beside;
    double room; /* of the GPU: what is left for the peak */
    enum msim_fits fits;
};

/* Communicators of tensor, context, data and expert parallel ranks, and
 * messages between stages. A program that opens more of them holds more. */
struct msim_beside msim_job_beside(const struct msim_strategy *s,
                                   const struct msim_memory_gpu *gpu);

struct msim_job_memory msim_job_memory_of(const struct msim_described *m,
                                          const struct msim_strategy *s,
                                          const struct msim_memory_fit *fit,
                                          const struct msim_memory_gpu *gpu);

/* The same of a job of which nobody states what is computed again (no bit of it
 * in `given`): `low` and `fits` are then those of whatever it may be. */
struct msim_job_memory msim_job_memory_given(const struct msim_described *m,
                                             const struct msim_strategy *s,
                                             uint32_t given,
                                             const struct msim_memory_fit *fit,
                                             const struct msim_memory_gpu *gpu);

#endif
