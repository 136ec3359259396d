/*
 * core/trace/trace_columns.h - columns of a trace made and looked up:
 * arguments, names, order, shapes, memory, and which calls meet.
 */
#ifndef MSIM_CORE_TRACE_TRACE_COLUMNS_H
#define MSIM_CORE_TRACE_TRACE_COLUMNS_H
#include "core/base/containers.h"
#include "core/trace/trace.h"

/* ---- argpool ------------------------------------------------------------- */
/*
 * Argument lists of a trace, equal ones stored once.
 *
 * A training step calls the same operators with the same shapes over and
 * over: a million calls have some hundreds of distinct lists. Sizes and lists
 * are hashed and compared as bytes, so every msim_arg must be fully set.
 */

struct msim_argpool {
    struct msim_trace *trace;
    struct msim_argpool_slot *dims, *blocks;
    uint32_t n_dims, dim_mask, n_blocks, block_mask;
};

void msim_argpool_init(struct msim_argpool *p, struct msim_trace *trace);
void msim_argpool_release(struct msim_argpool *p);

/* `*index` in trace->dims where these `n` sizes are. */
MSIM_MUST_CHECK
enum msim_status msim_argpool_dims(struct msim_argpool *p, const int64_t *dims,
                                   uint32_t n, uint32_t *index);

/* The block that holds these `n` arguments (preorder, lists included). */
MSIM_MUST_CHECK
enum msim_status msim_argpool_block(struct msim_argpool *p,
                                    const struct msim_arg *args, uint32_t n,
                                    uint32_t *block);

/* ---- names --------------------------------------------------------------- */
/*
 * What the names in traces say: kinds of calls, element types, collectives,
 * copies.
 *
 * Writers spell the same thing in many ways ("float", "Tensor(float)",
 * "Float"; "allreduce", "all_reduce", "_allgather_base"); everything that
 * depends on a spelling is here. Names are recognised by their parts, never
 * by a list of known functions.
 */

/* "cudaLaunchKernelExC" is a launch, "hipMemcpyWithStream" a copy, ... */
enum msim_call_kind msim_name_call(const char *name);

/* 1 where a call begins to capture a stream as a graph, -1 where it ends. */
int msim_name_capture(const char *name);

/* "c10::Half", "float", "Long", "__nv_bfloat16": UNKNOWN where it is none. */
enum msim_dtype msim_name_dtype(const char *s, size_t len);

/* "allreduce", "nccl:_reduce_scatter_base", "all_to_allv", "wait". */
enum msim_collective msim_name_collective(const char *s, size_t len);

/* What a kernel's name says of communication: the last resort, where neither
 * metadata nor an operator says it. */
enum msim_comm_kernel {
    MSIM_COMM_KERNEL_NONE,
    MSIM_COMM_KERNEL_MEETS, /* NCCL and its kin, whose ranks meet in order */
    MSIM_COMM_KERNEL_WHOLE, /* another library's: its waiting for peers cannot
                               be told from its transfer */
};
enum msim_comm_kernel msim_name_comm_kernel(const char *name);

/* What such a kernel does: "internode::dispatch" sends to all. ALL_REDUCE where
 * the name does not say. */
enum msim_collective msim_name_kernel_collective(const char *name);

/* "Memcpy HtoD (Pageable -> Device)" */
enum msim_copy_kind msim_name_copy(const char *name, bool *pageable);

/* Whether an operator takes lists of tensors, all at once on a GPU
 * ("aten::_foreach_add_"). A CPU takes them one by one, by operators below it.
 */
bool msim_name_is_list(const char *name);

/* The n of "ProfilerStep#n". */
bool msim_name_step(const char *name, int64_t *number);

/* "Stream Wait Event" -> MSIM_CALL_STREAM_WAIT; OTHER where unknown. */
enum msim_call_kind msim_name_sync(const char *s, size_t len);

/* "[pytorch|profiler|execution_trace|thread]" and the like. */
bool msim_name_is_root(const char *name);

/* ---- narrow -------------------------------------------------------------- */
/* What products in 8 bits ask of their operands. */

/* Rows of both matrices are so many elements long, or a multiple of it
 * (torch._scaled_mm). */
#define MSIM_NARROW_MULTIPLE 16

/* ---- op shapes ----------------------------------------------------------- */
/*
 * The sizes of the tensors that an operator is given, as a text: "[64,512]
 * [512,1024]".
 *
 * Of an operator without recorded arguments they are those of the innermost
 * one around it that has some. Texts are made when they are asked for, once
 * each, in the arena. Not thread-safe.
 */

struct msim_op_shapes {
    const struct msim_trace *t;
    struct msim_arena *arena;
    uint32_t *of_op;   /* one an op: the block of arguments, or NONE */
    const char **text; /* one a block: NULL, not asked for yet */
};

/* Both must live as long. Release in any case; ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_op_shapes_init(struct msim_op_shapes *s,
                                     const struct msim_trace *t,
                                     struct msim_arena *arena);
void msim_op_shapes_release(struct msim_op_shapes *s);

/* NULL: not known, or no tensor; also for NONE. */
const char *msim_op_shapes_of(struct msim_op_shapes *s, uint32_t op);

/* ---- order --------------------------------------------------------------- */
/*
 * From rows in file order to the order trace.h promises, and what follows from
 * order: parents, launching calls and operators, steps.
 *
 * Used by the readers after the last record.
 */

/*
 * Shift all times of a trace that is not sorted yet, so that the first start
 * is 0. Returns the first start as it was, or INT64_MAX where there is none.
 */
msim_ps msim_order_from_zero(struct msim_trace *t);

/*
 * Number threads by process and thread, and streams by device and stream,
 * whatever the order in the file. To be called before anything is sorted by
 * them.
 */
MSIM_MUST_CHECK
enum msim_status msim_order_lanes(struct msim_trace *t);

/*
 * Sort operators by thread, start, longest first (ties: by `et_id`, where a
 * reader has left an ordinal, then name), then nest them by time: parents and
 * subtree ends. Events that overlap instead of nesting are clamped.
 */
MSIM_MUST_CHECK
enum msim_status msim_order_ops(struct msim_trace *t);

/* The topmost operator of each: once parents are known. */
MSIM_MUST_CHECK
enum msim_status msim_order_topmost(struct msim_trace *t);

/* Sort calls by thread and start; find the operator each was made in. */
MSIM_MUST_CHECK
enum msim_status msim_order_calls(struct msim_trace *t);

/*
 * Sort GPU activities by stream and start. Link them to their calls and
 * operators by correlation, and synchronisations to theirs. Kinds of calls are
 * set here: a call that started a kernel is a launch whatever its name.
 * `*repeated`: launches whose correlation another launch has, too, as no
 * process writes it.
 */
MSIM_MUST_CHECK
enum msim_status msim_order_device(struct msim_trace *t, uint32_t *repeated);

/* End activities of linked, ordered streams where there is room for them, and
 * count those that are recorded to end later. */
MSIM_MUST_CHECK
enum msim_status msim_order_room(struct msim_trace *t);

/* ProfilerStep#n annotations as steps, by start. One inside another is none,
 * and where those of several threads overlap, those of the busiest one are. */
MSIM_MUST_CHECK
enum msim_status msim_order_steps(struct msim_trace *t);

/* Thread ranges over ops and calls, which must be sorted by thread. */
void msim_order_thread_ranges(struct msim_trace *t);

/*
 * Give every record_param_comms its row of comms. Communication kernels are
 * found by metadata, then by the operator that launched them, then by name.
 */
MSIM_MUST_CHECK
enum msim_status msim_order_comms(struct msim_trace *t);

/* How many devices run kernels: `t->gpus`. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_order_gpus(struct msim_trace *t);

/* Is there neither a tensor nor an activity on a GPU? */
bool msim_order_cpu_only(const struct msim_trace *t);

/* ---- recorded memory ----------------------------------------------------- */
/*
 * The most that each GPU held while a trace was recorded, as the allocator
 * says.
 */

/* Peaks of one device, each for itself. */
struct msim_recorded_memory {
    int64_t device;
    uint64_t allocated, reserved; /* tensors; what is kept for them, or
                                     MSIM_BYTES_UNKNOWN: no record says so */
};

struct msim_recorded_list {
    struct msim_recorded_memory *of; /* by device */
    uint32_t n;
};

/* From `from` until `to`. */
struct msim_time_range {
    msim_ps from, to;
};
#define MSIM_TIME_RANGE_ALL ((struct msim_time_range){INT64_MIN, INT64_MAX})

/*
 * In `n` ranges of time, which follow each other. What a device holds when a
 * range begins counts, too. Devices of which nothing is known there have no
 * row. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_recorded_memory_find(const struct msim_trace *t,
                                           const struct msim_time_range *ranges,
                                           uint32_t n, struct msim_arena *arena,
                                           struct msim_recorded_list *out);

/* All devices together; what one of them keeps is unknown: that is, too. */
static inline struct msim_recorded_memory
msim_recorded_memory_sum(const struct msim_recorded_list *l)
{
    struct msim_recorded_memory sum = {.device = -1};

    for (uint32_t i = 0; i < l->n; i++) {
        sum.allocated += l->of[i].allocated;
        sum.reserved = sum.reserved == MSIM_BYTES_UNKNOWN ||
                               l->of[i].reserved == MSIM_BYTES_UNKNOWN
                           ? MSIM_BYTES_UNKNOWN
                           : sum.reserved + l->of[i].reserved;
    }
    return sum;
}

/* ---- meets --------------------------------------------------------------- */
/*
 * Which calls of two ranks meet: whom a message is for, what group a call is
 * of, and whether two calls can be one collective, or the two ends of a
 * message.
 */

static inline bool msim_is_message(uint8_t collective)
{
    return collective == MSIM_COLL_SEND || collective == MSIM_COLL_RECV;
}

/* The rank of the job that `c` records as its root, source or destination; -1:
 * none. Of a group without a list the place is taken for it. */
int32_t msim_comm_peer(const struct msim_trace *t, const struct msim_comm *c);

/* Does the rank send or receive, as a stage of a pipeline does? */
bool msim_has_messages(const struct msim_trace *t);

/* Whom a message is from, and to: ranks of the job. */
struct msim_message {
    int64_t from, to;
};

/* False: not a message, or one end is not recorded (a batch of several). */
bool msim_message_of(const struct msim_trace *t, const struct msim_comm *c,
                     struct msim_message *m);

/* Does the trace have messages, and of each the other end? */
bool msim_names_peers(const struct msim_trace *t);

/*
 * What is equal of calls that may meet, on whichever of the job's `n_ranks`:
 * their group; of a message also whom it is from and to, so that a sender meets
 * its receiver in order, whichever of them records what. Without the other's
 * number (a batch of both) the whole group meets. Once groups are complete
 * (core/job/job_groups.c).
 */
uint64_t msim_meeting_key(const struct msim_trace *t, const struct msim_comm *c,
                          uint32_t n_ranks);

/* By their kinds, a send meeting a receive, and by their sizes where ranks have
 * equal ones by definition. A size that is not known is any. */
bool msim_comms_may_meet(const struct msim_comm *x, const struct msim_comm *y);

#endif
