/*
 * core/trace/trace.h - one rank's trace as columns: what ran, where, when, on
 * what.
 *
 * A trace is what the readers make of an ET file, a Kineto file, or both of
 * one rank linked into one. Everything refers to everything else by uint32
 * index (MSIM_NONE: nothing); text is a number in the job's string table.
 * Once loaded, a trace is never edited: a what-if is an overlay elsewhere.
 *
 * Times are picoseconds on the trace's own clock, shifted so that the job's
 * first event is near 0; MSIM_TIME_NONE where the format has no time (an ET).
 *
 * Order, which the rest of the code relies on:
 *   threads  of Kineto: by process and thread; streams: by device and stream.
 *   ops      by thread, then start (ET: node id), then longest first: a
 *            preorder of the call tree. A parent has a smaller index than its
 *            children, and a sub-tree is the range [i, ops[i].end).
 *   calls    by thread, then start.
 *   gpu      by stream, then start, shortest first, then correlation.
 *   steps    by start.
 */
#ifndef MSIM_CORE_TRACE_TRACE_H
#define MSIM_CORE_TRACE_TRACE_H
#include "core/base/containers.h"
#include "core/base/units.h"
#include "core/trace/import_log.h"

#include <stdbool.h>

/*
 * A day. An event that begins later than that after the first event of its
 * file, or takes longer, is refused, so that sums of times stay far from the
 * end of their range (106 days).
 */
#define MSIM_TRACE_MAX ((msim_ps)24 * 3600 * 1000000 * MSIM_PS_PER_US)

/* X(name, bytes, short name). F4X2 is two numbers in each element. ODD is a
 * type that the file names and nobody here knows; UNKNOWN one that it does not
 * name. */
#define MSIM_DTYPE_MAP(X)                                                      \
    X(UNKNOWN, 0, "unknown")                                                   \
    X(F64, 8, "fp64")                                                          \
    X(F32, 4, "fp32")                                                          \
    X(F16, 2, "fp16")                                                          \
    X(BF16, 2, "bfloat16")                                                     \
    X(F8, 1, "fp8")                                                            \
    X(I64, 8, "int64")                                                         \
    X(I32, 4, "int32")                                                         \
    X(I16, 2, "int16")                                                         \
    X(I8, 1, "int8")                                                           \
    X(U8, 1, "uint8")                                                          \
    X(BOOL, 1, "bool")                                                         \
    X(C64, 8, "complex64")                                                     \
    X(C128, 16, "complex128")                                                  \
    X(F4X2, 1, "fp4")                                                          \
    X(ODD, 1, "odd")

enum msim_dtype {
#define X(name, bytes, text) MSIM_DT_##name,
    MSIM_DTYPE_MAP(X)
#undef X
};
uint32_t msim_dtype_bytes(enum msim_dtype t);
const char *msim_dtype_text(enum msim_dtype t);

/* ---- arguments of operators --------------------------------------------- */

enum msim_arg_kind {
    MSIM_ARG_NONE,   /* None, or a kind that says nothing (Generator, ...) */
    MSIM_ARG_TENSOR, /* n = rank, v.i = index of its sizes in trace->dims */
    MSIM_ARG_INT,
    MSIM_ARG_REAL,
    MSIM_ARG_BOOL, /* v.i = 0 or 1 */
    MSIM_ARG_STR,  /* v.i = string number; also dtypes and devices */
    MSIM_ARG_LIST, /* n = children, v.i = entries of the whole sub-tree below */
};

enum msim_device {
    MSIM_DEV_UNKNOWN, /* Kineto does not say */
    MSIM_DEV_CPU,
    MSIM_DEV_GPU,
    MSIM_DEV_HOST /* offloaded: in the host's memory wherever the trace ran; no
                     file says so, core/rewrite does */
};

/* How a tensor lies in memory; of strides, which not every file has. */
enum msim_layout {
    MSIM_LAYOUT_PLAIN,  /* in the order of its sizes, or not known */
    MSIM_LAYOUT_TURNED, /* in another order, nothing between its elements */
    MSIM_LAYOUT_GAPS,   /* a part of each row of another, or spread out */
};

/*
 * An argument list is flat and in preorder: a list is followed by its
 * elements. (x:[2,3] float on cuda, [4, 5], true) is TENSOR, LIST(2), INT 4,
 * INT 5, BOOL 1. Equal lists are stored once (blocks below). A Kineto scalar
 * whose value was not recorded is an ARG_NONE.
 */
struct msim_arg {
    uint8_t kind, dtype, device, layout; /* msim_layout, of tensors */
    uint32_t n;
    union {
        int64_t i;
        double f;
    } v;
};

/* args[first .. first + count): one interned argument list. */
struct msim_arg_block {
    uint32_t first, count;
};

/*
 * What only an ET knows of a tensor. Addresses are used again, so a tensor is
 * identified by all four fields and its time, never by an id alone.
 */
struct msim_tensor_id {
    uint32_t tensor, storage;
    int64_t offset; /* in elements, not bytes */
};

/* Least and greatest value of an integral input tensor, as its operator began.
 * What is not initialised has values, too. */
struct msim_tensor_range {
    uint32_t id; /* in tensor_ids */
    int64_t low, high;
};

/* ---- host side ---------------------------------------------------------- */

enum msim_op_kind {
    MSIM_OP_OPERATOR,   /* aten::mm, autograd nodes, Triton kernels, ... */
    MSIM_OP_ANNOTATION, /* user_annotation: labels, ProfilerStep#n */
    MSIM_OP_ROOT,       /* ET thread and process roots */
};

struct msim_op {
    msim_ps start, dur;
    uint64_t rf_id;  /* RecordFunction id that links ET and Kineto; 0: none */
    uint32_t name;   /* string */
    uint32_t parent; /* op */
    uint32_t end;    /* one past the last op of the sub-tree */
    uint32_t thread;
    uint32_t args, outs;   /* blocks; outs only from an ET */
    uint32_t ids, out_ids; /* first of tensor_ids, one per TENSOR in args
                              (outs) in preorder; NONE without an ET */
    uint32_t comm;         /* record_param_comms: its collective */
    uint32_t et_id;        /* ET node id, 0 without an ET */
    int32_t seq;           /* autograd sequence number, -1: none */
    uint32_t fw_thread;    /* backward op: thread of the forward op, or NONE */
    uint32_t schema;       /* string, "aten::t(Tensor(a) self) -> Tensor(a)";
                              0 unknown, or loaded without details */
    uint8_t kind;
    uint8_t scope; /* RecordScope of the ET: 1 backward, 7 user; else 0 */
};

/* An operator of which nothing is known yet: every index is NONE. */
static inline struct msim_op msim_op_empty(void)
{
    return (struct msim_op){.start = MSIM_TIME_NONE,
                            .dur = MSIM_TIME_NONE,
                            .parent = MSIM_NONE,
                            .end = MSIM_NONE,
                            .args = MSIM_NONE,
                            .outs = MSIM_NONE,
                            .ids = MSIM_NONE,
                            .out_ids = MSIM_NONE,
                            .comm = MSIM_NONE,
                            .seq = -1,
                            .fw_thread = MSIM_NONE};
}

enum msim_call_kind {
    MSIM_CALL_OTHER,
    MSIM_CALL_LAUNCH, /* any launch of one kernel, whatever its name */
    MSIM_CALL_GRAPH_LAUNCH,
    MSIM_CALL_MEMCPY, /* cudaMemcpyAsync; blocks if pageable */
    MSIM_CALL_MEMCPY_SYNC,
    MSIM_CALL_MEMSET,
    MSIM_CALL_DEVICE_SYNC,
    MSIM_CALL_STREAM_SYNC,
    MSIM_CALL_EVENT_SYNC,
    MSIM_CALL_EVENT_RECORD,
    MSIM_CALL_STREAM_WAIT,
    MSIM_CALL_EVENT_QUERY,
    MSIM_CALL_EVENT_ELAPSED,
    MSIM_CALL_MALLOC,
    MSIM_CALL_FREE,
};

static inline bool msim_call_starts_work(uint8_t kind)
{
    return kind >= MSIM_CALL_LAUNCH && kind <= MSIM_CALL_MEMSET;
}

/* A CUDA or HIP runtime or driver call. */
struct msim_call {
    msim_ps start, dur;
    uint32_t name, thread;
    uint32_t op; /* innermost op that encloses it on its thread */
    uint32_t correlation;
    uint32_t gpu; /* first GPU activity it started, or NONE */
    uint8_t kind;
    bool lost; /* it launched what is not recorded */
};

/* A cuda_sync event: which stream or event a synchronisation waited for. */
struct msim_sync {
    msim_ps start, dur;
    uint32_t call;        /* by correlation, or NONE */
    uint32_t stream;      /* stream that waits, or NONE */
    uint32_t wait_stream; /* stream waited for, or NONE */
    uint32_t record_call; /* the cudaEventRecord waited for, or NONE */
    uint8_t kind;         /* msim_call_kind: DEVICE_SYNC .. STREAM_WAIT */
};

struct msim_thread {
    int64_t pid, tid; /* ET: tid is the RecordFunction thread number */
    uint32_t name;    /* string, 0 unknown */
    uint32_t op_begin, op_end, call_begin, call_end;
};

/* ---- device side -------------------------------------------------------- */

enum msim_gpu_kind {
    MSIM_GPU_KERNEL,
    MSIM_GPU_COMM, /* collective or point-to-point kernel */
    MSIM_GPU_MEMCPY,
    MSIM_GPU_MEMSET,
};

enum msim_copy_kind {
    MSIM_COPY_UNKNOWN,
    MSIM_COPY_H2D,
    MSIM_COPY_D2H,
    MSIM_COPY_D2D,
    MSIM_COPY_P2P,
};

struct msim_gpu {
    msim_ps start, dur;
    uint64_t bytes; /* copies and memsets; else 0 */
    uint32_t name;  /* string */
    uint32_t stream;
    uint32_t call; /* launching call by correlation, NONE: not recorded */
    uint32_t op;   /* op that launched it (order_device.c says how) */
    uint32_t
        comm; /* kind COMM: its collective, or NONE where only its name tells */
    uint32_t correlation;
    uint32_t config; /* launch configuration, or NONE */
    uint32_t stated; /* row of stated, from 1; 0: nothing is stated */
    uint8_t kind, copy_kind;
    bool pageable;
    bool in_graph; /* launched by a CUDA or HIP graph */
    bool early;    /* in its queue already when the recording began */
};

/* What a trace without times states of an activity: 0 where it does not. */
struct msim_stated_work {
    double flops, bytes;
    msim_ps dur;
};

struct msim_launch_config {
    uint32_t grid[3], block[3];
    uint32_t registers, shared_bytes;
};

struct msim_stream {
    int64_t device, id;
    uint32_t gpu_begin, gpu_end;
};

/* ---- communication ------------------------------------------------------ */

enum msim_collective {
    MSIM_COLL_UNKNOWN,
    MSIM_COLL_ALL_REDUCE,
    MSIM_COLL_REDUCE,
    MSIM_COLL_ALL_GATHER,
    MSIM_COLL_GATHER,
    MSIM_COLL_SCATTER,
    MSIM_COLL_BROADCAST,
    MSIM_COLL_ALL_TO_ALL,
    MSIM_COLL_REDUCE_SCATTER,
    MSIM_COLL_BARRIER,
    MSIM_COLL_SEND,
    MSIM_COLL_RECV,
    MSIM_COLL_WAIT, /* not a transfer: a wait for an earlier one */
};
const char *msim_collective_text(enum msim_collective c);

struct msim_comm {
    uint64_t in_elems, out_elems; /* of this rank's message */
    int64_t sequence;             /* within its group, -1 unknown */
    int32_t peer;                 /* root, source or destination; -1 */
    uint32_t group;               /* index of groups, or NONE */
    uint32_t op;                  /* its record_param_comms op, or NONE */
    uint8_t collective, dtype;
    bool by_place; /* the peer is a place in the group, not a rank of the job */
    uint8_t zero;  /* no byte is left over: core/fold/fold.h compares rows */
};

struct msim_group {
    uint32_t name;         /* string: "0", "pg 3", or the ET's pointer */
    uint32_t size;         /* ranks; 0 unknown */
    uint32_t first, count; /* members in group_ranks; count 0: not listed */
    bool completed; /* the list follows from what is recorded, its begin */
};

/* ---- the whole ---------------------------------------------------------- */

struct msim_step {
    msim_ps start, dur;
    int64_t number; /* n of ProfilerStep#n */
    uint32_t op;    /* the annotation; NONE: the Kineto file alone has it */
    /* ET nodes from .. to - 1: from the mark to the next one. Both 0 where no
     * node is known, as in a Kineto trace. */
    uint32_t node_from, node_to;
};

enum msim_left_why {
    MSIM_LEFT_UNCOMMON, /* not all ranks recorded it */
    MSIM_LEFT_IDLE,     /* nothing is in it */
    MSIM_LEFT_CUT,      /* the recording ends within it */
    MSIM_LEFT_LOST,     /* its kernels are not recorded */
};

/* A step that the file marks and that is no iteration of the run. */
struct msim_left_step {
    int64_t number;
    uint8_t why; /* msim_left_why */
};

#define MSIM_BYTES_UNKNOWN UINT64_MAX

/* What a device holds from an instant on, as its allocator says. */
struct msim_memory_total {
    msim_ps at;
    int64_t device, pid;
    uint64_t allocated, reserved; /* tensors; what is kept for them, or
                                     MSIM_BYTES_UNKNOWN */
};

struct msim_gpu_properties {
    uint32_t name; /* string, 0 unknown */
    uint64_t memory_bytes;
    uint32_t sms, cc_major, cc_minor;
};

/*
 * X(field, type): every column; `n_<field>` is its length.
 *
 * topmost: one an op, see msim_op_topmost(). memory: by device, then time.
 * What msim_load_options.details adds, empty without it and without an ET:
 *   tensor_strides  one per row of tensor_ids: where in dims the tensor's
 *                   strides are, as many as its sizes; NONE: not in the file
 *   ranges          in order of id
 */
#define MSIM_TRACE_COLUMNS(X)                                                  \
    X(ops, struct msim_op)                                                     \
    X(topmost, uint32_t)                                                       \
    X(calls, struct msim_call)                                                 \
    X(syncs, struct msim_sync)                                                 \
    X(gpu, struct msim_gpu)                                                    \
    X(threads, struct msim_thread)                                             \
    X(streams, struct msim_stream)                                             \
    X(stated, struct msim_stated_work)                                         \
    X(configs, struct msim_launch_config)                                      \
    X(comms, struct msim_comm)                                                 \
    X(groups, struct msim_group)                                               \
    X(group_ranks, int32_t)                                                    \
    X(steps, struct msim_step)                                                 \
    X(left_steps, struct msim_left_step)                                       \
    X(memory, struct msim_memory_total)                                        \
    X(blocks, struct msim_arg_block)                                           \
    X(args, struct msim_arg)                                                   \
    X(dims, int64_t)                                                           \
    X(tensor_ids, struct msim_tensor_id)                                       \
    X(tensor_strides, uint32_t)                                                \
    X(ranges, struct msim_tensor_range)

/* The label by which a program says that it let products of fp32 be rounded
 * (torch.set_float32_matmul_precision): no operator records that. */
#define MSIM_TF32_LABEL "## float32_matmul_precision: high ##"

struct msim_trace {
#define X(field, type)                                                         \
    type *field;                                                               \
    uint32_t n_##field, cap_##field;
    MSIM_TRACE_COLUMNS(X)
#undef X
    const struct msim_strtab *strings;         /* the job's */
    int64_t rank;                              /* -1 unknown */
    uint32_t world_size;                       /* 0 unknown */
    uint32_t host;                             /* string, 0 unknown */
    struct msim_gpu_properties gpu_properties; /* of the device it used */
    bool has_times;                            /* from a Kineto file */
    bool has_et;                               /* from an ET file */
    bool has_gpu_events;
    bool cpu_only;         /* no tensor and no activity is on a GPU */
    bool tf32;             /* products of fp32 are rounded to TF32: its label
                              says so (MSIM_TF32_LABEL), or somebody asks */
    uint32_t gpus;         /* that it drives: with kernels, or in an ET alone
                              with tensors */
    msim_ps clock_shift;   /* added to this rank's times to align hosts */
    uint64_t unlinked_gpu; /* GPU activities whose launch is not recorded */
    struct msim_import_log import; /* of its file */
    /* The execution trace that was linked into this one, as it stands, with the
     * steps that this one counts (core/link/link_et.h): its nodes are called
     * again, however often Kineto saw them. Kept with
     * msim_load_options.details, else NULL. */
    struct msim_trace *et;
    /* The messages of a Chakra file as they were, if they were asked for
     * (msim_load_options.keep_source); else NULL. */
    char *source;
    size_t source_len, source_cap;
};

void msim_trace_release(struct msim_trace *t);
/* The same, and the trace itself; accepts NULL. */
void msim_trace_free(struct msim_trace *t);

/* Text of a string number; "" for 0. */
static inline const char *msim_trace_text(const struct msim_trace *t,
                                          uint32_t id)
{
    return msim_strtab_text(t->strings, id);
}

/* Its texts are those of `strings` from here on: `number[i]` is there what `i`
 * was in the table that it had. It has no `et` yet. */
void msim_trace_renumber(struct msim_trace *t,
                         const struct msim_strtab *strings,
                         const uint32_t *number);

/* How many top-level arguments a block has (0 for MSIM_NONE). */
uint32_t msim_args_count(const struct msim_trace *t, uint32_t block);

/*
 * Top-level argument `i` of a block, or NULL past its end. Its children, for
 * a list, follow it in memory.
 */
const struct msim_arg *msim_args_get(const struct msim_trace *t, uint32_t block,
                                     uint32_t i);

/* The argument after `a` on the same level: skips a list's elements. */
static inline const struct msim_arg *msim_arg_next(const struct msim_arg *a)
{
    return a + 1 + (a->kind == MSIM_ARG_LIST ? a->v.i : 0);
}

/* Sizes of a tensor argument (a->n of them). */
static inline const int64_t *msim_arg_dims(const struct msim_trace *t,
                                           const struct msim_arg *a)
{
    return t->dims + a->v.i;
}

/* How a tensor of these sizes lies in memory, whose strides count elements. */
enum msim_layout msim_layout_of(const int64_t *dims, const int64_t *strides,
                                uint32_t rank);

/* Elements of a tensor argument; 0-dimensional tensors have one. */
uint64_t msim_arg_elems(const struct msim_trace *t, const struct msim_arg *a);

/*
 * The outermost operator that encloses op `i`, itself included; labels and
 * roots do not count. NONE for MSIM_NONE or where only labels enclose it.
 */
static inline uint32_t msim_op_topmost(const struct msim_trace *t, uint32_t i)
{
    return i == MSIM_NONE ? MSIM_NONE : t->topmost[i];
}

/* What the rank is paid and judged for: one GPU where it drives none. */
static inline uint32_t msim_trace_gpus(const struct msim_trace *t)
{
    return t->gpus ? t->gpus : 1;
}

#endif
