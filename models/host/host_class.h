/*
 * models/host/host_class.h - classes of operators by the CPU time that they
 * take.
 *
 * Where a host has no figure for the name of an operator, the figure of its
 * class stands in. The host model and its fit (calibrate/host) use the same
 * classes.
 */
#ifndef MSIM_MODELS_HOST_HOST_CLASS_H
#define MSIM_MODELS_HOST_HOST_CLASS_H
#include "core/trace/trace.h"

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
