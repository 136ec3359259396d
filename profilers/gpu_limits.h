/*
 * profilers/gpu_limits.h - which experiments an NVIDIA GPU can run, by its
 * compute capability; no GPU is needed here.
 */
#ifndef MSIM_PROFILERS_GPU_LIMITS_H
#define MSIM_PROFILERS_GPU_LIMITS_H
#include "profilers/experiment.h"

struct msim_gpu_limits {
    int capability; /* 10 x major + minor */
    int gpus;       /* that one process sees */
    double free_bytes;
};

/*
 * Whether `e` can be timed on such a GPU: ENOMODEL, with what is missing, where
 * it cannot. Libraries are not checked here.
 */
MSIM_MUST_CHECK
enum msim_status msim_gpu_limits_check(const struct msim_gpu_limits *l,
                                       const struct msim_experiment *e,
                                       struct msim_error *err);

/*
 * The kinds of a table on this GPU, for a greeting, one a call from 0: "fp32",
 * "conv2d_fwd:tf32", "add:fp16", "all_reduce". False after the last.
 */
bool msim_gpu_limits_kind(const struct msim_gpu_limits *l,
                          enum msim_table table, uint32_t i, char *text,
                          size_t size);

#endif
