/*
 * core/report/usage/usage.h - what every GPU does over time: SMs, memory,
 * arithmetic, power.
 *
 * At an instant several kernels may run. What they use adds up, and is no more
 * than there is:
 *
 *     SMs busy    min(1, sum of the shares of SMs that hold a block)
 *     occupancy   min(1, sum of warps held, over those that all SMs can hold)
 *     memory      sum of bytes / duration
 *     arithmetic  sum of operations / duration
 *     power       idle + (limit - idle) * min(1, sum of the shares of the rate
 *                 that limits a kernel: tensor cores, fp32 units or memory)
 *
 * Which SMs a kernel holds: core/graph/contention.h. A collective holds its SMs
 * from its arrival on: it spins while it waits. Copies hold none. Means and
 * quantiles are over all of the time from the begin of the first of the
 * iterations to the end of the last, what nothing runs in included.
 *
 * Example: a kernel of 54 blocks on 108 SMs runs for 10 of 40 us. Then a
 * quarter of the time half of the SMs is busy: the mean is 12.5 %, the median 0
 * and the 90 % quantile 50 %.
 */
#ifndef MSIM_CORE_REPORT_USAGE_USAGE_H
#define MSIM_CORE_REPORT_USAGE_USAGE_H
#include "core/graph/contention.h"
#include "core/report/analyse/outcome.h"

/* What the GPU has; 0: not known. */
struct msim_usage_device {
    double bandwidth;               /* of device memory, bytes/s */
    double idle_watts, limit_watts; /* doing nothing; all that it can */
};

struct msim_usage_ask {
    const struct msim_outcome *o;
    uint32_t iteration; /* as msim_analyse() */
    struct msim_usage_device device;
    const struct msim_holding *holding; /* one a task */
};

/*
 * Fill in `p->usage`, by rank and device. Occupancy and SMs of a GPU are NAN
 * where more than MSIM_USAGE_GUESSED of the time of its kernels is without;
 * memory, arithmetic and power where `o` has no limits. ENOMEM.
 */
#define MSIM_USAGE_GUESSED 0.05
MSIM_MUST_CHECK
enum msim_status msim_usage_find(const struct msim_usage_ask *ask,
                                 struct msim_prediction *p);

#endif
