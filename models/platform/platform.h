/*
 * models/platform/platform.h - a GPU (and the links between several) as
 * parameters.
 *
 * Read from data/platforms/NAME.json, where every parameter carries its value,
 * unit and provenance: data sheet or fit, rows, range, residual.
 */
#ifndef MSIM_MODELS_PLATFORM_PLATFORM_H
#define MSIM_MODELS_PLATFORM_PLATFORM_H
#include "core/trace/trace.h"
#include "models/platform/network.h"
#include "models/platform/sm_clock.h"

struct msim_platform; /* opaque */

/*
 * Load a platform by name, alias (case-insensitive) or file path (a name that
 * holds a '/' or ends in .json). Names are searched in `data_dir`. An unknown
 * name is EUNKNOWN and `err` lists the known ones. On success `*out` is owned
 * by the caller; on failure it is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_load(struct msim_platform **out,
                                    const char *data_dir, const char *name,
                                    struct msim_error *err);
void msim_platform_free(struct msim_platform *p);

/*
 * What was measured on one of two GPUs is to be scaled to the other: where one
 * has no rows, the other's cells answer for it before those of its kin, so that
 * what they are wrong by is in both models, and not in their ratio. Both must
 * live as long as either is asked.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_pair(struct msim_platform *a,
                                    struct msim_platform *b);

/* Let network `n` join its nodes, whatever joined those that were measured. */
void msim_platform_join(struct msim_platform *p, const struct msim_network *n);
/* Let collectives take what they do between the ranks of `links`, which must
 * live as long as `p` is asked, where that has rows of such. */
void msim_platform_link(struct msim_platform *p,
                        const struct msim_platform *links);

/*
 * Let the SMs of `p` run at another clock, or under a power cap, from now on.
 * Statuses as msim_clock_solve(); on failure `p` is as it was.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_set_clock(struct msim_platform *p,
                                         const struct msim_clock_wish *w,
                                         struct msim_error *err);
/* Let look-ups into tables be skewed, as msim_gather_hits(), from now on. */
void msim_platform_set_index_skew(struct msim_platform *p, double skew);
/* The clock it runs at; ratio 0: the usual one, no other was asked for. */
const struct msim_sm_clock *msim_platform_clock(const struct msim_platform *p);

const char *msim_platform_name(const struct msim_platform *p);
/* "NVIDIA A100-SXM4-80GB", as people call it. */
const char *msim_platform_title(const struct msim_platform *p);
/* The file that it was read from. */
const char *msim_platform_file(const struct msim_platform *p);

/* Whether it is a CPU, on which operators run where they are called. */
bool msim_platform_is_host(const struct msim_platform *p);
/* Dense peak rate in FLOP/s for the dtype (fp32: plain fp32, not TF32). */
double msim_platform_peak_flops(const struct msim_platform *p,
                                enum msim_dtype dtype);
/* Peak rate of device memory, bytes/s. */
double msim_platform_bandwidth(const struct msim_platform *p);
/* Memory of the GPU, bytes. */
double msim_platform_memory_bytes(const struct msim_platform *p);
uint32_t msim_platform_sms(const struct msim_platform *p);
/*
 * How far the kernels of one machine, all together, may be from what is
 * predicted for its GPU (90 %, a factor either way): clocks, power, other
 * users, libraries.
 */
double msim_platform_trace_factor(const struct msim_platform *p);
/* How many times as long kernels take beside a collective, as a calibration
 * timed it, 1 or more; 0: it did not. */
double msim_platform_slowdown(const struct msim_platform *p);

#endif
