/*
 * models/host/host.h - what the CPU side takes: hosts as files, and classes of
 * host work.
 */
#ifndef MSIM_MODELS_HOST_HOST_H
#define MSIM_MODELS_HOST_HOST_H
#include "core/trace/trace.h"
#include "core/work/estimate.h"

/* ---- host ---------------------------------------------------------------- */
/*
 * A host: the CPU time of operators, of runtime calls and of launches. It is
 * described apart from the GPU.
 *
 * Read from data/hosts/NAME.json. `generic` is fitted on CPU self times of real
 * traces of many hosts and has a wide interval.
 */

struct msim_host; /* opaque */

/*
 * Load a host by name (in upper or lower case) from `data_dir`/hosts, or by
 * file path (it holds a '/' or ends in .json). EUNKNOWN where a name is
 * unknown; `err` lists the known ones. On success `*out` is the caller's, to
 * free with msim_host_free(); on failure it is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_host_load(struct msim_host **out, const char *data_dir,
                                const char *name, struct msim_error *err);
/* Accepts NULL. */
void msim_host_free(struct msim_host *h);
const char *msim_host_name(const struct msim_host *h);

/* Of its times where nobody records, which share a host of these GPUs takes. */
double msim_host_speed(const struct msim_host *h);
/* From now on `h` is a host of GPUs of that platform: hosts of one kind of GPU
 * are of its years. Nothing changes where the file has no figure for it. */
void msim_host_set_gpu(struct msim_host *h, const char *platform);

/*
 * The self time of operator `op`: without its children and its runtime calls,
 * which have estimates of their own. In a trace without GPU activities, which
 * has no calls either, it includes the runtime calls that the operator would
 * make (if `calls`), and for a topmost operator the time until the next one
 * starts (of the interpreter, or of autograd). 0 for roots and for labels
 * around operators, and with `calls` for what a list operator captured on a CPU
 * calls, which a GPU does at once.
 *
 * Figures of a host are those of recorded runs. Such a trace stands for a run
 * that nobody records, which takes the share "unrecorded" of them, and backward
 * less. A capture of a CPU calls what a GPU would (cuDNN for oneDNN).
 */
struct msim_estimate msim_host_dispatch(const struct msim_host *h,
                                        const struct msim_trace *t, uint32_t op,
                                        bool calls);
/* Of that time the pause behind a topmost operator alone, where the operator
 * itself is timed as a CPU calls it: its own share is in that time. */
struct msim_estimate msim_host_pause(const struct msim_host *h,
                                     const struct msim_trace *t, uint32_t op);
/* The time of a runtime call, without waiting. */
struct msim_estimate msim_host_call(const struct msim_host *h,
                                    enum msim_call_kind kind);
/* The gap on the device between kernels that wait in one stream. */
struct msim_estimate msim_host_kernel_gap(const struct msim_host *h);
/* From the start of a launch call to the kernel's start on an idle stream. */
struct msim_estimate msim_host_launch_latency(const struct msim_host *h);
/*
 * The repeatability of host times: the 90 % interval of the host time of a step
 * in another run of the same program, over the traced one, as factors *low <= 1
 * <= *high. They are for a step, whose many operators, calls and pauses are
 * slower or faster together; a single operator varies more. A host file without
 * "repeat" has the factors between hosts ("spread").
 */
void msim_host_repeat(const struct msim_host *h, double *low, double *high);
/* The same of another host than this one. */
void msim_host_spread(const struct msim_host *h, double *low, double *high);

/* ---- host class ---------------------------------------------------------- */
/*
 * Classes of operators by the CPU time that they take.
 *
 * Where a host has no figure for the name of an operator, the figure of its
 * class stands in. The host model and its fit (calibrate/host) use the same
 * classes.
 */

/* X(name, key in data/hosts) */
#define MSIM_HOST_CLASS_MAP(X)                                                 \
    X(LEAF, "leaf")             /* operator without operators below it */      \
    X(COMPOSITE, "composite")   /* operator that calls others */               \
    X(ENGINE, "autograd")       /* autograd::engine::evaluate_function */      \
    X(BACKWARD, "backward")     /* autograd nodes: MmBackward0, ... */         \
    X(COLLECTIVE, "collective") /* c10d::*, nccl:*, record_param_comms */      \
    X(LABEL, "label")           /* annotation inside an operator */            \
    X(NOTHING, "nothing")       /* roots; labels around operators */

enum msim_host_class {
#define X(name, key) MSIM_HOST_##name,
    MSIM_HOST_CLASS_MAP(X)
#undef X
        MSIM_HOST_CLASSES
};

/* The key of a class in data/hosts. */
const char *msim_host_class_text(enum msim_host_class c);

/* The class of operator `op` of a trace. */
enum msim_host_class msim_host_op_class(const struct msim_trace *t,
                                        uint32_t op);

/* The class of an operator (not of a label) by its name; `leaf`: it has no
 * operators below it. */
enum msim_host_class msim_host_class_of(const char *name, bool leaf);

/* Whether no operator encloses `op` on its thread; labels do not count. */
bool msim_host_is_topmost(const struct msim_trace *t, uint32_t op);

/*
 * The length of the part of a name that identifies the operator: the number at
 * the end of "MmBackward0" counts overloads and differs between releases of
 * PyTorch.
 */
size_t msim_host_name_length(const char *name);

/* Whether it only makes a view of a tensor, which takes about 1 us. */
bool msim_host_does_nothing(const char *name);

/*
 * The time that recording adds to an operator of this trace, microseconds: the
 * median time of operators that do nothing. From recording,slows_us of
 * data/laws/kernels.csv on, host times are dominated by it. NAN where the trace
 * has no times or too few such operators, or memory is out.
 */
double msim_host_recording_us(const struct msim_trace *t);

/* X(kind without MSIM_CALL_, key in data/hosts) */
#define MSIM_HOST_CALL_MAP(X)                                                  \
    X(OTHER, "other")                                                          \
    X(LAUNCH, "launch")                                                        \
    X(GRAPH_LAUNCH, "graph_launch")                                            \
    X(MEMCPY, "memcpy")                                                        \
    X(MEMCPY_SYNC, "memcpy_sync")                                              \
    X(MEMSET, "memset")                                                        \
    X(DEVICE_SYNC, "device_sync")                                              \
    X(STREAM_SYNC, "stream_sync")                                              \
    X(EVENT_SYNC, "event_sync")                                                \
    X(EVENT_RECORD, "event_record")                                            \
    X(STREAM_WAIT, "stream_wait")                                              \
    X(EVENT_QUERY, "event_query")                                              \
    X(EVENT_ELAPSED, "event_elapsed")                                          \
    X(MALLOC, "malloc")                                                        \
    X(FREE, "free")

#define MSIM_HOST_CALL_KINDS (MSIM_CALL_FREE + 1)

/* The key of a kind of call in data/hosts. */
const char *msim_host_call_text(enum msim_call_kind kind);

#endif
