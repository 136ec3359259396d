/*
 * models/platform/platform.h - a platform: a GPU or a CPU, with the links
 * between several, as a data sheet and fits of laws.
 *
 * Read from data/platforms/NAME.json, where every figure has its value, unit
 * and provenance (data sheet or fit, rows, range, residual). A new GPU is one
 * more such file: data/platforms/README.md. A platform without fits of its own
 * uses those of other platforms that stand in for it (fit_index.h).
 *
 * Estimates read a platform only, so that several threads can share it. Not
 * thread-safe while one of the functions that take it without const is called.
 */
#ifndef MSIM_MODELS_PLATFORM_PLATFORM_H
#define MSIM_MODELS_PLATFORM_PLATFORM_H
#include "core/trace/trace.h"
#include "models/platform/network.h"
#include "models/platform/sm_clock.h"

struct msim_platform; /* opaque */

/*
 * Load a platform by name, by alias (both in upper or lower case) or by file
 * path (it holds a '/' or ends in .json), with a stack or without one
 * ("h100@pytorch-2.9", core/work/data_sheet.h). Names are those of
 * `data_dir`/platforms. EUNKNOWN where a name is unknown; `err` lists the known
 * ones. On success `*out` is the caller's, to free with msim_platform_free();
 * on failure it is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_load(struct msim_platform **out,
                                    const char *data_dir, const char *name,
                                    struct msim_error *err);
/* Accepts NULL. */
void msim_platform_free(struct msim_platform *p);

/*
 * A copy of a platform, to set in other ways, as it was loaded: before it was
 * paired. It shares the fits of `p`, which must outlive it. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_copy(struct msim_platform **out,
                                    const struct msim_platform *p);

/*
 * Pair two platforms whose ratio scales measured times from one to the other.
 * Where one has no fit, the other's fit stands in before those of all others:
 * its error then is in both estimates and not in their ratio. Both must live as
 * long as either is used. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_pair(struct msim_platform *a,
                                    struct msim_platform *b);

/* Use the network `n` between nodes, instead of the network that the platform
 * was measured with. One with the figures of its data sheet is that network:
 * what was measured over it still counts. */
void msim_platform_join(struct msim_platform *p, const struct msim_network *n);
/* Estimate collectives by the fits of `links` where it has such fits, instead
 * of by those of `p`. `links` must live as long as `p` is used. */
void msim_platform_link(struct msim_platform *p,
                        const struct msim_platform *links);
/*
 * Both, by what the file of `n` has: its cards, what was measured over it, or
 * each. `p` owns what is read for it (from `n->path`, whose errors these are);
 * collectives of `p` are as before on failure.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_connect(struct msim_platform *p,
                                       const struct msim_network *n,
                                       const char *data_dir,
                                       struct msim_error *err);

/*
 * Set the clock of the SMs of `p`, or a power cap. Statuses as those of
 * msim_clock_solve(); on failure `p` is unchanged.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_set_clock(struct msim_platform *p,
                                         const struct msim_clock_wish *w,
                                         struct msim_error *err);
/* Set the skew of look-ups into tables, as in msim_gather_hits(). */
void msim_platform_set_index_skew(struct msim_platform *p, double skew);
/* The clock of the SMs; ratio 0: the usual one. */
const struct msim_sm_clock *msim_platform_clock(const struct msim_platform *p);

const char *msim_platform_name(const struct msim_platform *p);
/* The product's name, as "NVIDIA A100-SXM4-80GB". */
const char *msim_platform_title(const struct msim_platform *p);
/* "hopper": GPUs that run the same kernels. */
const char *msim_platform_generation(const struct msim_platform *p);
/* GPUs that are linked without a network between nodes: 72 where the maker
 * names a rack of 72, else those of a usual server. */
uint32_t msim_platform_gpus_a_node(const struct msim_platform *p);
/* Rows of measured operators and collectives on it that its fits saw; 0: it
 * goes by fits of others. */
uint64_t msim_platform_rows(const struct msim_platform *p);
/* The platform that it was made from, with what traces say; "" for others. */
const char *msim_platform_base(const struct msim_platform *p);
/* The file that it was read from. */
const char *msim_platform_file(const struct msim_platform *p);

/* Whether it is a CPU, on which an operator runs in the thread that calls it.
 */
bool msim_platform_is_host(const struct msim_platform *p);
/* Dense peak rate in FLOP/s for the dtype; of fp32 plain, or with variant
 * "tf32" that of TF32. */
double msim_platform_peak_flops(const struct msim_platform *p,
                                enum msim_dtype dtype, const char *variant);
/* Peak rate of device memory, bytes/s. */
double msim_platform_bandwidth(const struct msim_platform *p);
/* Memory of the GPU, bytes. */
double msim_platform_memory_bytes(const struct msim_platform *p);
/* What programs get of it: what its traces state, else all of it. */
double msim_platform_usable_bytes(const struct msim_platform *p);
/* What one GPU sends to others inside a node, bytes/s. */
double msim_platform_link_rate(const struct msim_platform *p);
uint32_t msim_platform_sms(const struct msim_platform *p);
/*
 * The 90 % interval, as a factor up and down, of the ratio of all kernels' time
 * on one machine to the prediction for its GPU, where a trace of another
 * machine tells the times; else models/estimate/whole_job.h says. Machines
 * differ in clocks, power, other users and libraries.
 */
double msim_platform_trace_factor(const struct msim_platform *p);
/* The time of a kernel that runs concurrently with a collective, over its time
 * alone, 1 or more; 0: not calibrated. */
double msim_platform_slowdown(const struct msim_platform *p);

/* Kinds (enum msim_factor) that tables of operators have rows of on that very
 * GPU: these tell their times better than whole programs do. A bit each, 1 <<
 * kind. */
uint32_t msim_factor_kinds_with_rows(const struct msim_platform *p);

#endif
