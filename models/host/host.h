/*
 * models/host/host.h - the CPU side: dispatch time per operator kind, launch,
 * synchronisation. A thing of its own, apart from the GPU.
 *
 * Read from data/hosts/NAME.json; `generic` is fitted from CPU self times of
 * real traces, with the wide interval that it deserves.
 */
#ifndef MSIM_MODELS_HOST_HOST_H
#define MSIM_MODELS_HOST_HOST_H
#include "core/work/estimate.h"

struct msim_host; /* opaque */

/*
 * Load a host by name (case-insensitive) from `data_dir`/hosts, or by file
 * path (a name that holds a '/' or ends in .json). An unknown name is EUNKNOWN
 * and `err` lists the known ones. On success `*out` is owned by the caller; on
 * failure it is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_host_load(struct msim_host **out, const char *data_dir,
                                const char *name, struct msim_error *err);
void msim_host_free(struct msim_host *h);
const char *msim_host_name(const struct msim_host *h);

/*
 * Self time of one operator: what lies between its children and its runtime
 * calls, which are costed apart. Where nothing else stands for them, in a
 * trace without GPU activities, it also has the runtime calls that the
 * operator would make (with `calls`), and for a topmost operator the time until
 * the next one starts (the interpreter's, or autograd's). Roots, and labels
 * around operators, take none.
 */
struct msim_estimate msim_host_dispatch(const struct msim_host *h,
                                        const struct msim_trace *t, uint32_t op,
                                        bool calls);
/* Time of a runtime call itself, without any waiting. */
struct msim_estimate msim_host_call(const struct msim_host *h,
                                    enum msim_call_kind kind);
/* Device-side gap between kernels queued back to back on one stream. */
struct msim_estimate msim_host_kernel_gap(const struct msim_host *h);
/* From the start of a launch call to the kernel's start on an idle stream. */
struct msim_estimate msim_host_launch_latency(const struct msim_host *h);
/*
 * How far the host time of one recording is from that of the same program run
 * once more: factors on a traced host time, *low <= 1 <= *high, that bound its
 * 90 % two-sided interval. They are for a step, the sum of many operators,
 * calls and pauses, which are slower or faster together; a single operator
 * scatters more. A host file that does not say ("repeat") takes the spread
 * between hosts.
 */
void msim_host_repeat(const struct msim_host *h, double *low, double *high);

#endif
