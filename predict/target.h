/*
 * predict/target.h - what is predicted for: GPU, host and network, and where
 * durations come from.
 *
 * A target is made in two steps. What has a name is loaded first, so that a
 * mistyped one is found before a trace is read, which may take long. Then the
 * traces decide what the settings leave open:
 *
 *     costs        auto: measured where source and target are the same GPU at
 *                  the same clock, scaled where the traces have times and say
 *                  of which GPU, else model
 *     platform     the GPU that the traces name
 *     source       the GPU that the traces name; where it is not known, the
 *                  nearest by what they record of it
 *     SM clock     that at which the machine of another trace seems to run
 */
#ifndef MSIM_PREDICT_TARGET_H
#define MSIM_PREDICT_TARGET_H
#include "models/host/host.h"
#include "models/platform/platform.h"
#include "predict/inputs.h"
#include "predict/learn/trace_correction.h"

struct msim_target {
    enum msim_cost_mode costs; /* AUTO until it is chosen */
    const char *traced; /* platform of the GPU that all traces (or those whose
                           times are scaled) name, or NULL */
    struct msim_platform *platform;   /* NULL: as traced */
    struct msim_platform *source;     /* that was traced; NULL: not scaled */
    const struct msim_trace *unknown; /* whose GPU is not known: `source` is the
                                         nearest to it; else NULL */
    struct msim_correction *correction; /* learned from settings.source_trace,
                                           or NULL */
    bool shares_correction;             /* it is the shelf's */
    struct msim_host *host;
    struct msim_network network; /* with a name: another than the platform's */
    struct msim_platform *links; /* of the network, where it was measured */
    uint32_t gpus_a_node;        /* of the job that is predicted */
    bool reshaped; /* operators are given other sizes or types than traced */
};

/*
 * Load the host, the network and the platforms that the settings name. On
 * failure `err` says which and what is known. Release in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_target_load(struct msim_target *t,
                                  const struct msim_predict_settings *s,
                                  struct msim_error *err);

/*
 * Choose what the settings leave open, by what the traces hold; once, on a
 * target that is loaded. EUSAGE or EFORMAT where the settings ask for what the
 * traces do not have.
 */
MSIM_MUST_CHECK
enum msim_status msim_target_choose(struct msim_target *t,
                                    const struct msim_predict_settings *s,
                                    const struct msim_inputs *in,
                                    struct msim_error *err);

/* The same where the job may have another form already: a target is chosen by
 * what was captured, and then the job has the form that it runs there. */
MSIM_MUST_CHECK
enum msim_status msim_target_settle(struct msim_target *t,
                                    const struct msim_predict_settings *s,
                                    struct msim_inputs *in,
                                    struct msim_error *err);
void msim_target_release(struct msim_target *t);

/* Is a GPU time of the job itself read? Not under model costs, nor where the
 * times of another trace correct the models. */
bool msim_target_reads_gpu_times(const struct msim_target *t);

/* Are the durations those of the traced run on the GPU that was traced? */
bool msim_target_replays(const struct msim_target *t);

/* Is the target a CPU, which computes what a GPU would be sent? */
bool msim_target_is_host(const struct msim_target *t);
/* Are both on one host? Hosts of two GPUs can be of other years. */
bool msim_target_is_one_host(const struct msim_target *a,
                             const struct msim_target *b);
/* Whether a capture of a CPU is predicted for a GPU, from models. */
bool msim_target_forms_gpu(const struct msim_target *t);

/* Do the GPU tasks of this rank come from a plan of what its operators launch,
 * since its trace has none? */
bool msim_target_plans(const struct msim_target *t,
                       const struct msim_trace *rank);

/* Do the traces of all ranks hold times? */
bool msim_all_have_times(const struct msim_job *job);

/* Likewise times of GPU activities: one recorded on a CPU has times, too. */
bool msim_all_have_gpu_times(const struct msim_job *job);

#endif
