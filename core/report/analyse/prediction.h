/*
 * core/report/analyse/prediction.h - the figures of a simulation, ready to be
 * written.
 *
 * Filled by core/report/analyse/analyse.c from a simulated graph; written by
 * the report_* files as text, JSON (schema mystique-sim/prediction/1), CSV, a
 * timeline and a chart. Times are microseconds as double; NAN means unknown and
 * is written as null.
 */
#ifndef MSIM_CORE_REPORT_ANALYSE_PREDICTION_H
#define MSIM_CORE_REPORT_ANALYSE_PREDICTION_H
#include "core/guard/guard.h"
#include "core/job/job.h"
#include "core/trace/trace_columns.h"

struct msim_file_info;

struct msim_figure {
    double predicted, low, high, measured;
};

/* Five classes that sum to the rank's iteration. */
struct msim_breakdown {
    double compute, communication, memory_copy, host, idle;
};

struct msim_iteration {
    const char *name;
    struct msim_figure us;
    int64_t rank; /* the rank whose iteration is longest; the sums below are its
                     own */
    double transfer_us, wait_us;
    struct msim_breakdown breakdown_us;
    double overlapped_communication_us, overlapped_copy_us;
    const char *state; /* "settled", "run-up", ...: period.c */
};

/* The time from one iteration to the next (period.c), of the slowest rank. */
struct msim_period {
    struct msim_figure us;
    const char *state;   /* of the iterations that it was read off */
    uint32_t iterations; /* how many */
    int64_t rank;
    /* Means of them: from their begin to their end on the host, and from the
     * first to the last GPU activity that they launched. */
    double host_range_us, gpu_range_us;
    /* What works most in one of them. */
    const char *busiest_kind; /* "host", "compute", "communication",
                                 "memory_copy"; NULL: nothing works */
    const char *busiest;      /* "stream 7", "thread 12", "all streams" */
    double busiest_us, busiest_share; /* share: of the period */
    bool bounds;                      /* its work is what the period takes */
};

/* The host whose times are those of the trace. */
#define MSIM_HOST_TRACED "traced"

/* What a user counts by: of the whole job, from options. 0: not given. */
struct msim_rates {
    double per_iteration;       /* samples or tokens */
    const char *unit;           /* of them, NULL: not said */
    double usd_per_hour, watts; /* of one GPU */
};

/* The period with one kind of work scaled: what bounds the job. */
struct msim_sensitivity_row {
    const char *select; /* as --scale takes it */
    double factor, period_us;
    double ratio; /* of the period */
};

/* What operators do, whose sizes are known, in one iteration; NAN: most of
 * their time is of works without. */
struct msim_op_sizes {
    double flops, bytes;          /* bytes: of device memory */
    double us;                    /* what those works take */
    double peak_flops_per_second; /* data sheet's, of that arithmetic; NAN:
                                     none */
};

/* A topmost operator name and all its calls in one iteration. */
struct msim_op_row {
    const char *name;   /* topmost operator, or the kernel's name without one */
    const char *shapes; /* of rows by shape: of its tensors; NULL: not known */
    const char *model;  /* family that made most of its time; "measured" */
    const char *source; /* msim_source_text(): "law", "bound" */
    double calls;       /* a mean over iterations */
    struct msim_figure us; /* kernel time of the calls */
    bool communication;    /* not part of kernel_us */
    bool open; /* no table and no law of its own kernels gives most of it */
    const char *label; /* a collective by what it does, for text: "nccl
                          all_reduce (DDP)"; NULL: the name */
    const char *limit; /* what holds its kernels back: "tensor", "vector",
                          "memory" or "latency"; NULL unknown */
    double peak_share; /* of the data sheet's rate that limits them */
    double slack_us; /* the least of its calls: how much longer one of them may
                        take before an iteration ends later */
    struct msim_op_sizes sizes;
};

/* Kernels, copies or transfers of one name, in one iteration of the slowest
 * rank; durations in `us`, of a transfer without its waiting. */
struct msim_kernel_row {
    const char *name;
    const char *kind; /* "kernel", "copy", "communication" */
    double calls, us, longest_us;
    double measured_us; /* of a transfer with its waiting */
};

/* Work of the host's threads in one iteration of the slowest rank. */
struct msim_host_row {
    const char *name; /* topmost operator, call, or "between operators" */
    const char *kind; /* "host", "call", "gap", "compilation" */
    double calls;
    struct msim_figure us; /* nothing measured */
};

/* A phase (forward, ...) or a region that the job marks, in one iteration of
 * the slowest rank: GPU work that it launched, and its own work on the host. */
struct msim_region_row {
    const char *name;
    double calls, gpu_us, host_us;
};

/* One family's share of the time: for --explain and the "not covered" list. */
struct msim_family_row {
    const char *model;
    double calls;
    struct msim_figure us;
};

/* A name and microseconds in one iteration: waits by cause, copied time by
 * category. */
struct msim_named_us {
    const char *name;
    double us;
};

/* Waiting by what was waited for; kinds without waiting have no row. */
struct msim_wait_list {
    struct msim_named_us *rows; /* longest first */
    uint32_t n;
};

/* Who waited: core/report/analyse/waits.c. */
struct msim_wait_rows {
    struct msim_wait_list main_thread, threads, gpu_idle, streams;
};

/* A piece of the critical path, in the order of time. */
struct msim_path_row {
    const char *kind; /* "host", "kernel", ...; "several": short pieces */
    const char *name; /* of the kernel or call; of work the topmost operator */
    const char *op;   /* topmost operator, NULL: none */
    const char *lane; /* "thread 12", "stream 7" */
    int64_t rank;
    msim_ps start, dur;      /* simulated; the part that is on the path */
    const char *edge;        /* what let it start, NULL: the path begins here */
    const char *edge_source; /* how that is known */
};

/* All pieces of the paths with one owner. */
struct msim_owner_row {
    const char *kind, *name, *op; /* as above */
    double us;                    /* in one iteration */
    double share;                 /* of the iteration */
    double pieces;                /* in one iteration */
};

/* Edges of one kind known in one way. */
struct msim_edge_row {
    const char *kind, *source;
    uint32_t count, binding; /* binding: the last to let a task start */
};

/* A collective of one size on one group of ranks. */
struct msim_collective_row {
    const char *name, *group; /* group: NULL unknown */
    double bytes;   /* the larger of what goes in and out; NAN unknown */
    uint32_t ranks; /* that meet in it; 1: no peer has a trace */
    double calls;   /* in one iteration; so are the times, which are
                       means over the ranks */
    double transfer_us, wait_us;
    /* From the first arrival to the last, of one call; NAN without peers. */
    double skew_mean_us, skew_max_us;
    int64_t last_rank; /* most often last; -1: nobody */
};

/* How often a rank was the last to arrive, and how long the others waited. */
struct msim_straggler_row {
    int64_t rank;
    double last_in, wait_caused_us; /* in one iteration */
};

struct msim_named_bytes {
    const char *name;
    double bytes;
};

/* What is held from an instant on, until the next. */
struct msim_memory_note_point {
    msim_ps at;     /* when the host comes to the operator */
    const char *op; /* that takes or gives back; NULL: all are over */
    double reserved;
    struct msim_named_bytes *by; /* as many as of the peak */
};

/* A change of the job, and what it would hold then. */
struct msim_memory_way {
    const char *change; /* "batch 16 instead of 64" */
    double peak, reserved, needed;
    bool is_enough; /* what is needed is there */
};

/* Memory of a rank; bytes, NAN unknown. */
struct msim_memory_note {
    double peak, reserved; /* tensors; what the allocator takes for them */
    double low, high;      /* 90 % interval of the peak */
    double context, nccl;  /* beside that: CUDA's context, NCCL's buffers */
    double needed;         /* reserved, and what is beside */
    double capacity;       /* that programs get of the platform's memory */
    struct msim_recorded_list recorded; /* in the iterations, as traced */
    const char *fits;            /* "yes", "edge", "no"; NULL: not known */
    int64_t rank;                /* -1 unknown */
    struct msim_named_bytes *by; /* of the peak */
    uint32_t n_by;
    struct msim_memory_note_point *points; /* in the order of time; the peak is
                                              one of them; none: no time line */
    uint32_t n_points;
    struct msim_memory_way *ways; /* of a job that does not fit */
    uint32_t n_ways;
};

#define MSIM_MEMORY_NOT_KNOWN                                                  \
    ((struct msim_memory_note){.peak = NAN,                                    \
                               .reserved = NAN,                                \
                               .low = NAN,                                     \
                               .high = NAN,                                    \
                               .context = NAN,                                 \
                               .nccl = NAN,                                    \
                               .needed = NAN,                                  \
                               .capacity = NAN,                                \
                               .rank = -1})

/* What a GPU does at an instant. X(NAME, key in JSON). SMS and OCCUPANCY are
 * shares of all that it has: SMs that hold a block, warps that they hold. */
#define MSIM_USAGE_MAP(X)                                                      \
    X(SMS, "sm_busy")                                                          \
    X(OCCUPANCY, "sm_occupancy")                                               \
    X(MEMORY, "memory_bytes_per_second")                                       \
    X(FLOPS, "flops_per_second")                                               \
    X(POWER, "power_watts")

enum msim_usage {
#define X(name, key) MSIM_USAGE_##name,
    MSIM_USAGE_MAP(X)
#undef X
        MSIM_USAGES
};

/* Over the time of the iterations, what nobody uses included; NAN: unknown. */
struct msim_usage_figure {
    double mean, p10, median, p90, most;
};

/* From an instant on, until the next. */
struct msim_usage_step {
    msim_ps at;
    float of[MSIM_USAGES];
};

struct msim_usage_note {
    int64_t rank, device; /* device: of the rank's, as its trace counts */
    msim_ps begin, end;   /* of the iterations, simulated */
    struct msim_usage_figure of[MSIM_USAGES];
    struct msim_usage_step *steps; /* from `begin` on, to `end` */
    uint32_t n_steps;
    /* What the GPU has; NAN: not known. */
    double bandwidth, power_watts;
};

struct msim_rank_row {
    int64_t rank;
    uint32_t stands_for; /* how many ranks of the job do the same, itself among
                            them; 0: itself alone */
    struct msim_figure iteration_us, period_us;
    struct msim_figure kernel_us;
    double transfer_us, wait_us;
    struct msim_breakdown breakdown_us;
    double overlapped_communication_us, overlapped_copy_us;
    struct msim_wait_rows waits;
    struct msim_memory_note memory;
};

/* What a prediction changes, and against what: periods. */
struct msim_scenario_note {
    const char *const *options; /* NULL: nothing is changed */
    uint32_t n_options;
    bool traced; /* the baseline is the traced run, else the prediction of the
                    same job without the change */
    double baseline_us, ratio, ratio_low, ratio_high; /* NAN: not known */
};

/* The SM clock of the platform, if one was asked for. */
struct msim_clock_note {
    const char *text; /* "1.10 GHz (of 1.41)"; NULL: as usual */
    double ratio;     /* of the usual one */
    double hz, usual_hz, power_cap_watts; /* NAN: not known, no cap */
    double interval_factor; /* intervals are wider by this for the clock */
};

/* Of a described job: what measured jobs like it take of what its graph takes
 * by itself. */
struct msim_step_note {
    double factor;   /* of all times; 0: the job is not described */
    double graph_us; /* an iteration by the graph alone; 0: of a changed job */
    double memory_factor; /* of all memory; 0: not known */
};

struct msim_prediction {
    struct msim_arena arena; /* owns everything below */
    msim_guard_marks marks;  /* guards that it trips */
    const char *version, *platform /* NULL under measured */, *costs;
    const char *host; /* its file's name, or MSIM_HOST_TRACED; NULL: measured */
    double host_low, host_high; /* how far its times may be off, as factors */
    double host_speed;   /* of its file's times, which share a host of the GPU's
                            years takes; 0: as in the file */
    const char *network; /* asked for; NULL: the platform's own */
    uint32_t nodes;      /* asked for; 0: as many as it takes */
    struct msim_clock_note clock;
    struct msim_step_note step;
    const char *source_platform; /* whose times were scaled, NULL: none were */
    const char *source_trace;    /* that holds them, NULL: the inputs */
    const char *const *inputs;   /* paths as given */
    uint32_t n_inputs;
    uint32_t ranks, gpus; /* gpus: of all ranks, at least one each */
    struct msim_iteration *iterations;
    uint32_t n_iterations;
    struct msim_figure iteration_us, kernel_us;
    struct msim_period period;
    struct msim_scenario_note scenario;
    struct msim_rates rates;
    struct msim_sensitivity_row *sensitivity; /* none: not asked for */
    uint32_t n_sensitivity;
    const char *verdict; /* what bounds the job, in a sentence, or NULL */
    bool elsewhere; /* measured figures are of another run: before the change,
                       or on another GPU */
    double transfer_us, wait_us, external_wait_us;
    struct msim_breakdown breakdown_us;
    double overlapped_communication_us, overlapped_copy_us;
    double coverage_ops, coverage_time;
    struct msim_memory_note memory; /* of the rank that holds most */
    double flops, mfu;              /* NAN unknown */
    /* What collectives inside a node and between nodes rest on; NULL: none, or
     * as traced. */
    const char *links_inside, *links_between;
    double bandwidth;     /* of device memory by the data sheet, bytes/s; NAN:
                             not known */
    double flops_counted; /* share of the kernel time whose flops are known */
    struct msim_op_row *ops; /* most predicted time first */
    uint32_t n_ops;
    struct msim_op_row *shapes; /* the same work by operator and shape; none:
                                   not asked for */
    uint32_t n_shapes;
    struct msim_family_row *families; /* most predicted time first */
    uint32_t n_families;
    struct msim_op_row
        *uncovered; /* the rows of `ops` that no table and no law of
                       their own stands for, likewise sorted */
    uint32_t n_uncovered;
    struct msim_kernel_row *kernels; /* most time first; none: not known */
    uint32_t n_kernels;
    struct msim_region_row *phases; /* in order; none: the job does not train */
    uint32_t n_phases;
    struct msim_region_row *regions; /* most GPU time first; they may nest */
    uint32_t n_regions;
    struct msim_host_row *host_ops; /* most time first */
    uint32_t n_host_ops;
    struct msim_rank_row *ranks_detail;
    uint32_t n_ranks_detail;
    struct msim_usage_note *usage; /* one a GPU, by rank; none: not asked for,
                                      or there is no GPU */
    uint32_t n_usage;
    /* Of the longest of the iterations, on its slowest rank. */
    const char *path_iteration;
    msim_ps path_length; /* ps */
    struct msim_path_row *path;
    uint32_t n_path;
    /* Over all iterations; most time first. */
    struct msim_owner_row *owners;
    uint32_t n_owners;
    struct msim_wait_rows waits; /* of the slowest rank */
    struct msim_edge_row *edges; /* of all ranks */
    uint32_t n_edges;
    struct msim_collective_row *collectives; /* most waiting first */
    uint32_t n_collectives;
    struct msim_straggler_row *stragglers; /* most waiting caused first */
    uint32_t n_stragglers;
    struct msim_named_us *copied; /* measured times that were copied, by what
                                     they are for; whole trace, all ranks */
    uint32_t n_copied;
    double unexplained_us; /* delays without a cause, which are kept */
    const char **warnings;
    uint32_t n_warnings;
    const struct msim_file_info *files; /* of the job, which outlives it */
    uint32_t n_files;
    double seconds; /* wall time of the prediction; in the text report only */
};

/* One bar of the timeline, in the order (rank, lane, start). */
struct msim_span {
    const char *name, *category; /* cpu_op, cuda_runtime, kernel, wait, ... */
    const char *detail;          /* model that made the duration, or "" */
    msim_ps start, dur;
    uint32_t rank, lane; /* lane indexes msim_timeline.lanes */
    bool critical;       /* on the path of its iteration's longest rank */
    bool work;           /* not a wait: what follows is known */
    msim_ps slack;       /* how much longer it may take for free */
    /* Of a call or a collective, which begins by waiting: when that did;
     * compare with `traced`, when it began in the trace, or TIME_NONE. */
    msim_ps arrival, traced;
    const char *op, *shapes; /* of GPU work: its topmost operator, and sizes of
                                tensors; NULL: not known */
    const struct msim_launch_config *config; /* of a kernel, or NULL */
    uint32_t correlation;                    /* 0: none */
};

/* A bar on a track of its own: a piece of the critical path, or a step. */
struct msim_mark {
    const char *name, *kind; /* kind: "kernel", "latency", ...; "step" */
    msim_ps start, dur;
    int64_t rank;
    uint32_t lane; /* of a piece, or MSIM_NONE */
};

/* What a GPU has to do from an instant on. */
struct msim_load {
    msim_ps at;
    int64_t rank;
    int32_t busy, queued; /* activities that run; that are launched and wait */
};

/* A dependency, from one lane to another. */
struct msim_arrow {
    const char *name; /* kind of the edge */
    msim_ps from_at, to_at;
    uint32_t from_lane, to_lane;
    bool to_wait; /* it ends at the wait before a task without a bar */
};

struct msim_lane_info {
    int64_t rank;
    bool device;      /* a stream, else a CPU thread */
    const char *name; /* "stream 7", "thread 123" */
};

struct msim_timeline {
    struct msim_arena arena;
    struct msim_span *spans;
    uint32_t n_spans;
    struct msim_lane_info *lanes;
    uint32_t n_lanes;
    struct msim_arrow *arrows;   /* of the path, in the order of time */
    struct msim_arrow *launches; /* from calls to what they launch */
    uint32_t n_arrows, n_launches;
    struct msim_mark *path, *steps; /* in the order of time; of all ranks */
    uint32_t n_path, cap_path, n_steps;
    struct msim_load *loads; /* by rank and time */
    uint32_t n_loads;
    const struct msim_prediction *of; /* that it shows; NULL: not known */
};

/* What follows from the period and what a user counts by; NAN: not asked. */
struct msim_rated {
    struct msim_figure per_second; /* samples or tokens; nothing measured */
    double cost_usd, joules;       /* of one iteration, on all GPUs */
    double gpus;
};
struct msim_rated msim_prediction_rated(const struct msim_prediction *p);

/* Give each rank that was read a row, where the job has ranks that are equal
 * once. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_prediction_list_ranks(struct msim_prediction *p,
                                            const struct msim_job *job);

void msim_prediction_free(struct msim_prediction *p); /* accepts NULL */
void msim_timeline_free(struct msim_timeline *t);     /* accepts NULL */

#endif
