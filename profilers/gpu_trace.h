/*
 * profilers/gpu_trace.h - write the activities of a GPU as a Kineto trace.
 *
 * Activities are kernels, copies, memsets and the calls that launched them, as
 * a collector (CUPTI) adds them. core/read/kineto/read_kineto_internal.h and
 * the viewers of PyTorch's profiler read the file. No device and no library of
 * a vendor is needed here.
 *
 * Times are nanoseconds of one clock for host and device. Not thread-safe.
 */
#ifndef MSIM_PROFILERS_GPU_TRACE_H
#define MSIM_PROFILERS_GPU_TRACE_H
#include "core/base/containers.h"
#include "core/base/units.h"

enum msim_gpu_event_kind {
    MSIM_GPU_EVENT_KERNEL,
    MSIM_GPU_EVENT_COPY,
    MSIM_GPU_EVENT_SET,
    MSIM_GPU_EVENT_CALL,   /* of the runtime */
    MSIM_GPU_EVENT_DRIVER, /* of the driver; left out where a call of the
                              runtime has the same correlation: it is inside */
};

struct msim_gpu_event {
    uint64_t start_ns, end_ns;
    uint64_t bytes;       /* copies, memsets */
    uint64_t graph_node;  /* 0: not of a graph */
    uint32_t name;        /* string */
    uint32_t correlation; /* of the call that asked for it */
    uint32_t graph;
    uint32_t device, context, stream; /* of calls: process, 0, thread */
    uint32_t grid[3], block[3];       /* kernels, as all below */
    uint32_t shared_bytes;
    uint16_t registers; /* of a thread */
    uint8_t kind;
};

/* A device as "deviceProperties" has it; 0: not known. */
struct msim_gpu_device {
    uint32_t id;
    uint32_t name; /* string */
    uint64_t memory_bytes;
    uint32_t major, minor; /* compute capability */
    uint32_t sms;
    uint32_t threads_a_block, threads_an_sm;
    uint32_t registers_a_block, registers_an_sm;
    uint32_t warp;
    uint32_t shared_a_block, shared_an_sm;
};

#define MSIM_GPU_DEVICES 64

struct msim_gpu_trace {
    struct msim_strtab *strings;
    struct msim_gpu_event *events; /* in any order; owned */
    uint32_t n_events, cap_events;
    struct msim_gpu_device devices[MSIM_GPU_DEVICES];
    uint32_t n_devices;
    uint32_t process;       /* that made the calls */
    uint32_t cupti_version; /* 0: not known */
    uint64_t dropped;       /* events that were lost; the file says so */
};

/* For the rest of the process, whose profiler may hand over events until it
 * ends; on failure `*out` is NULL. */
MSIM_MUST_CHECK
enum msim_status msim_gpu_trace_new(struct msim_gpu_trace **out);

/* Add an event whose name is `name`; event->name is not read. */
MSIM_MUST_CHECK
enum msim_status msim_gpu_trace_add(struct msim_gpu_trace *t,
                                    const struct msim_gpu_event *event,
                                    const char *name);

/* Add a device; beyond MSIM_GPU_DEVICES, or known already, it is left out. */
MSIM_MUST_CHECK
enum msim_status msim_gpu_trace_device(struct msim_gpu_trace *t,
                                       const struct msim_gpu_device *device,
                                       const char *name);

/* Forget the events, not the devices. */
void msim_gpu_trace_clear(struct msim_gpu_trace *t);

/*
 * Write `path`, through gzip where it ends in ".gz"; the file is there once it
 * is complete. EIO where it cannot be written.
 */
MSIM_MUST_CHECK
enum msim_status msim_gpu_trace_write(const struct msim_gpu_trace *t,
                                      const char *path, struct msim_error *err);

#endif
