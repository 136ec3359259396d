/*
 * predict/memory/rank_memory.h - the memory of the rank that holds most.
 */
#ifndef MSIM_PREDICT_MEMORY_RANK_MEMORY_H
#define MSIM_PREDICT_MEMORY_RANK_MEMORY_H
#include "core/job/job.h"
#include "core/memory/life_memory.h"
#include "core/report/analyse/prediction.h"
#include "models/platform/platform.h"

struct msim_rank_memory {
    bool known; /* a rank has an execution trace */
    int64_t rank;
    struct msim_memory_peak peak;
    double capacity; /* of the platform; NAN: as traced */
};

/* Of `n` ranks on `platform`, NULL: the traced device. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_rank_memory_find(struct msim_rank_memory *out,
                                       struct msim_trace *const *ranks,
                                       uint32_t n,
                                       const struct msim_platform *platform);

/* Into the prediction, in its arena. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_rank_memory_note(const struct msim_rank_memory *m,
                                       struct msim_prediction *p);

#endif
