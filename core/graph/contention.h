/*
 * core/graph/contention.h - what tasks of one device share, and what that costs
 * them; how much of a GPU a kernel fills, and when.
 */
#ifndef MSIM_CORE_GRAPH_CONTENTION_H
#define MSIM_CORE_GRAPH_CONTENTION_H
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/trace/trace.h"

/* ---- contention ---------------------------------------------------------- */
/*
 * What tasks of one device share, and what that costs them.
 *
 * There are five rules. The figure of a rule, one for each device, is read off
 * the trace, given by the caller or assumed (struct msim_contention_figure).
 *
 *   SM            a kernel does not start before all blocks of the kernels on
 *                 other streams have been issued ("occupancy")
 *   COPY_ENGINE   one copy at a time to the device and one to the host (more
 *                 if the trace has more at once), in the order in which they
 *                 became ready
 *   HOST_LINK     copies to and from the device at the same time share a pipe
 *   INTERCONNECT  transfers of collectives at the same time share a pipe; a
 *                 message uses one direction of it, and what is sent does not
 *                 slow what is received
 *   SLOWDOWN      kernels run slower while a collective runs
 *
 * A pipe gives each of its flows a rate, as a share of the rate that it has
 * alone:
 *
 *     rate(side) = min(1, capacity * weight(side) / sum of weights that flow)
 *
 * Example: capacity 1, equal weights, two flows: each runs at half its rate
 * and takes twice as long. Capacity 2: neither slows the other. INFINITY:
 * nothing is shared.
 *
 * A task's duration in a scenario is its time beside the same tasks as in the
 * trace; `alone` is the share of it that the task would take by itself. So a
 * run in which all tasks meet as traced takes the traced durations, and a run
 * in which an overlap vanishes takes less. Without times `alone` is 1.
 */

/* A device runs so many kernels at a time, and has as many queues, at most
 * (CUDA C++ Programming Guide 12.9, section "Compute Capabilities", resident
 * grids of a device). A file may say more; the work of a run then grows with it
 * alone. */
#define MSIM_RESIDENT_MOST 128

#define MSIM_CONTENTION_MAP(X)                                                 \
    X(SM, "multiprocessors full of another stream's kernel")                   \
    X(COPY_ENGINE, "copy engine busy")                                         \
    X(HOST_LINK, "host link shared by copies")                                 \
    X(INTERCONNECT, "interconnect shared by collectives")                      \
    X(SLOWDOWN, "compute slowed by communication")

enum msim_contention_rule {
#define X(name, text) MSIM_CONTENTION_##name,
    MSIM_CONTENTION_MAP(X)
#undef X
        MSIM_CONTENTION_RULES
};
const char *msim_contention_text(enum msim_contention_rule rule);

enum msim_contention_source {
    MSIM_CONTENTION_PHYSICAL, /* follows from the hardware and the launch */
    MSIM_CONTENTION_FITTED,   /* from this trace's own times */
    MSIM_CONTENTION_ASSUMED,  /* the trace does not show it */
    MSIM_CONTENTION_GIVEN,    /* measured on another device of its kind */
};

/* What a rule rests on, for one device. */
struct msim_contention_figure {
    const char *what; /* of what `value` is the figure, with its unit */
    double value;
    uint32_t evidence; /* activities of the trace that it rests on */
    uint32_t against;  /* activities that contradict it */
    uint32_t rank;     /* index into job->ranks */
    int64_t device;
    uint8_t rule, source;
};

/* How a task uses its device. */
enum msim_demand_kind {
    MSIM_DEMAND_KERNEL,
    MSIM_DEMAND_ARRIVE,   /* a collective's kernel begins, and may wait */
    MSIM_DEMAND_TRANSFER, /* ... and stays until its transfer has ended */
    MSIM_DEMAND_SEND,     /* a transfer that is a message of this rank, ... */
    MSIM_DEMAND_RECEIVE,  /* ... or one to it */
    MSIM_DEMAND_TO_DEVICE,
    MSIM_DEMAND_TO_HOST,
    MSIM_DEMAND_KINDS
};

static inline bool msim_demand_is_transfer(uint8_t kind)
{
    return kind >= MSIM_DEMAND_TRANSFER && kind <= MSIM_DEMAND_RECEIVE;
}

/* One task that shares something. An ARRIVE is followed by its TRANSFER. */
struct msim_demand {
    double alone;    /* share of its duration that it takes alone, (0, 1] */
    float tail;      /* KERNEL: msim_occupancy_tail() */
    uint32_t task;   /* of the graph */
    uint32_t device; /* of msim_sharing.devices */
    uint8_t kind;    /* msim_demand_kind */
    bool first;      /* of a stream of higher priority: SM never holds it */
};

struct msim_pipe {
    double capacity, weight[2];
};

struct msim_shared_device {
    struct msim_pipe host_link;    /* sides: to the device, to the host */
    struct msim_pipe interconnect; /* one side, 0 */
    double slowdown;               /* of kernels beside a collective, >= 1 */
    uint32_t engines[2]; /* copies at a time: to the device, to host */
};

struct msim_sharing {
    uint32_t rules;    /* bits 1 << msim_contention_rule that are in force */
    uint32_t *of_task; /* one a task: index of demands, or NONE */
    struct msim_demand *demands; /* in the order of tasks */
    uint32_t n_demands;
    struct msim_shared_device *devices;
    uint32_t n_devices;
    struct msim_contention_figure *figures;
    uint32_t n_figures, cap_figures;
};
void msim_sharing_free(struct msim_sharing *s); /* accepts NULL */

/* Note a figure; ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_contention_figure_add(struct msim_sharing *s,
                                            struct msim_contention_figure f);

/* What runs on a device at an instant. */
struct msim_contention_load {
    uint32_t n[MSIM_DEMAND_KINDS]; /* running; ARRIVE: arrived and waiting */
};

/* Rate of a running task beside `load`, itself included; 1: as if alone. */
double msim_contention_rate(const struct msim_sharing *s, uint32_t device,
                            enum msim_demand_kind kind,
                            const struct msim_contention_load *load);

static inline bool msim_contention_has(const struct msim_sharing *s,
                                       enum msim_contention_rule rule)
{
    return s->rules & 1u << rule;
}

/* ---- occupancy ----------------------------------------------------------- */
/*
 * How much of a GPU a kernel fills, and for how long.
 *
 * A streaming multiprocessor (SM) holds as many blocks of a kernel as its
 * threads, registers, shared memory and block slots allow. A grid that needs
 * more than all SMs hold runs in waves:
 *
 *     waves = ceil(grid / (blocks per SM * SMs)),  tail = 1 / waves
 *
 * Blocks of a kernel on another stream are issued only when those of the
 * running one all have been: when its last wave begins. Example: 2176 blocks,
 * 4 a SM, 80 SMs: 7 waves, so a kernel of 2.5 ms lets others in after 2.14.
 *
 * A grid that fills every slot exactly has no last wave to share: it leaves
 * room only at its end, so its tail is 0.
 *
 * What a kernel keeps on the SMs follows: in all waves but the last every SM
 * holds as many blocks as it can, in the last one the blocks that are left are
 * dealt to as many SMs as there are. Example: 600 blocks of 256 threads, 4 a
 * SM, 108 SMs: a first wave of 432 (all SMs, 32 of 64 warps each) and a second
 * of 168 (all SMs, 168 / 432 of that).
 *
 * Blocks are taken to be equal. Where a kernel's are not (a concatenation of
 * tensors of different sizes), the last wave is shorter or longer.
 */

/*
 * Blocks of a launch that one SM holds at a time. 0: unknown, because the
 * compute capability is (or is not NVIDIA's), or no block fits.
 */
uint32_t msim_occupancy_blocks(const struct msim_gpu_properties *gpu,
                               const struct msim_launch_config *config);

/* Threads that an SM of it holds at most; 0: unknown, as above. */
uint32_t msim_occupancy_threads(const struct msim_gpu_properties *gpu);

/* What a kernel brings to the SMs. Of a grid that is estimated, not a whole
 * number. */
struct msim_residency {
    float blocks;   /* of its grid; 0: it holds no SM, or nothing is known */
    float threads;  /* of a block */
    float resident; /* of its blocks that one SM holds at a time; 0: unknown */
};

struct msim_residency
msim_occupancy_residency(const struct msim_gpu_properties *gpu,
                         const struct msim_launch_config *config);

/* What it keeps there in a part of its duration. */
struct msim_filling {
    double share;   /* of its duration */
    double sms;     /* of the SMs: hold a block of it */
    double threads; /* of those that all SMs can hold; NAN: unknown */
};

/* All that it keeps there, in the order of time. */
struct msim_holding {
    uint32_t n; /* 0: no SM, or nothing is known */
    struct msim_filling of[2];
};

/*
 * Its waves but the last, and the last; one where both are alike. `threads`:
 * that an SM of `sms` holds, or 0.
 */
struct msim_holding msim_occupancy_holding(const struct msim_residency *r,
                                           double sms, double threads);

/*
 * The share of its duration that a GPU activity has left when its last block
 * has been issued, in 0..1. 1: it holds nobody up, because it never fills the
 * device, is no compute kernel, or nothing is known of it.
 */
double msim_occupancy_tail(const struct msim_trace *t, uint32_t gpu_event);

/* ---- windows ------------------------------------------------------------- */
/*
 * Spans of time of each rank, such as its iterations, looked up by an instant.
 *
 * They lie in the order of their begins, each with the latest end of all up to
 * it. So the first that is not over at an instant is found by halving, however
 * many there are and however they overlap; if it has begun it holds the
 * instant, and if it has not, none does.
 */

struct msim_placed {
    msim_ps begin, latest; /* latest: end of it and of those before */
    uint32_t rank, window;
};

struct msim_windows {
    struct msim_placed *of; /* by rank, then begin */
    uint32_t *first;        /* per rank: of `of`; one more than ranks */
    uint32_t n, ranks;
};

/* Room for `most` spans of `ranks` ranks. Release in any case. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_windows_init(struct msim_windows *w, uint32_t most,
                                   uint32_t ranks);
void msim_windows_release(struct msim_windows *w);

void msim_windows_add(struct msim_windows *w, uint32_t rank, uint32_t window,
                      msim_ps begin, msim_ps end);
/* Put them in order: once, after the last. */
void msim_windows_place(struct msim_windows *w);

/* The first of a rank's in `of` that is not over at `at`, else first[rank + 1].
 */
uint32_t msim_windows_after(const struct msim_windows *w, uint32_t rank,
                            msim_ps at);

/* The first window of a rank that holds `at`, or UINT32_MAX. */
uint32_t msim_windows_at(const struct msim_windows *w, uint32_t rank,
                         msim_ps at);

#endif
