/*
 * core/write_et/write_et.h - execution traces as files in PyTorch's format:
 * frame and nodes, and a trace of ours as one.
 */
#ifndef MSIM_CORE_WRITE_ET_WRITE_ET_H
#define MSIM_CORE_WRITE_ET_WRITE_ET_H
#include "core/base/json.h"
#include "core/trace/trace.h"

/* ---- et file ------------------------------------------------------------- */
/*
 * The file of an execution trace as PyTorch's observer writes it (schema
 * 1.1.1-chakra.0.0.4): its frame and its nodes.
 *
 * What the sides of a node hold is the caller's: each is asked four times, once
 * a column, and puts its entries into an array that is open.
 *
 *     msim_et_file_begin(&j, generator, process);
 *     msim_et_file_node(&j, &node);         children before their parents
 *     status = msim_et_file_end(&j);
 */

#define MSIM_ET_ROOT 1 /* the number of the process's root */

enum msim_et_column {
    MSIM_ET_VALUES,
    MSIM_ET_SHAPES,
    MSIM_ET_TYPES,
    MSIM_ET_STRIDES,
    MSIM_ET_COLUMNS
};

struct msim_et_side {
    void (*put)(struct msim_json *j, const void *of, enum msim_et_column c);
    const void *of;
};

/* Further attributes of a collective's node. */
struct msim_et_message {
    const char *name, *dtype;
    const char *group; /* NULL: none is named */
    uint64_t in_elems, out_elems;
    int64_t size, start, stride; /* ranks of the group, as c10d counts them */
};

struct msim_et_record {
    uint64_t id, parent, rf_id;
    int64_t sequence; /* of autograd; -1 none */
    int64_t thread, fw_thread;
    const char *name, *schema; /* schema NULL: none */
    const char *ranges;        /* attribute `tensor_range`, NULL: none */
    uint8_t scope;             /* 0 function, 1 backward, 7 label */
    struct msim_et_side in, out;
    const struct msim_et_message *message; /* NULL: none */
};

/* Begin the file of a process; `sink` takes its bytes. */
void msim_et_file_begin(struct msim_json *j,
                        enum msim_status (*sink)(void *, const char *, size_t),
                        void *ctx, const char *generator, int64_t process);
void msim_et_file_node(struct msim_json *j, const struct msim_et_record *n);
/* Close the file; says how writing went. */
MSIM_MUST_CHECK
enum msim_status msim_et_file_end(struct msim_json *j);

/* A thread's root, which is in that of the process, and that. */
#define MSIM_ET_THREAD_NAME  "[pytorch|profiler|execution_trace|thread]"
#define MSIM_ET_PROCESS_NAME "[pytorch|profiler|execution_trace|process]"

/* "Tensor(c10::Half)"; and as a collective's attribute, "c10::Half". */
const char *msim_et_tensor_type(enum msim_dtype dtype);
const char *msim_et_dtype(enum msim_dtype dtype);

/* One group of a list as c10d gives it at its start: JSON in the text of a node
 * called MSIM_ET_GROUPS_NAME. Members are start, start + stride, ..., or those
 * of `ranks`; with `whole` none are listed: all ranks of the job. */
#define MSIM_ET_GROUPS_NAME "## process_group:init ##"
#define MSIM_ET_LISTED      4096 /* members that are listed at most */
struct msim_et_group {
    const char *name;
    uint32_t size, start, stride;
    const int32_t *ranks; /* NULL: by start and stride */
    bool whole;
};
void msim_et_file_group(struct msim_json *j, const struct msim_et_group *g);

/* ---- write et ------------------------------------------------------------ */
/*
 * A trace of ours as an execution trace in PyTorch's format: a recorded one, a
 * view of it with other sizes, or one that a change made (core/reshape,
 * core/rewrite).
 *
 * Read again it is the same trace, as far as anything is predicted of it:
 * operators with their arguments, threads, labels and steps, messages and
 * groups, which tensors are one piece of memory. It has no times and no GPU
 * activities; of strides see trace_args.c.
 *
 * A message whose operator is no record_param_comms, as a change makes it
 * (c10d::allreduce_), is an operator with the arguments and attributes of one:
 * how often operators are called stays. So is a group that no node of the trace
 * lists: a label in front lists all.
 */

/* Can it be written? EUSAGE, with the reason in `err`, where `t` has no
 * execution trace or what one cannot say: work that was put off to the host,
 * several GPUs. */
MSIM_MUST_CHECK
enum msim_status msim_write_et_check(const struct msim_trace *t,
                                     struct msim_error *err);

/*
 * `sink` takes the bytes of the file, `process` is its number. `*nodes` is how
 * many it has; may be NULL. As msim_write_et_check(); ENOMEM; what `sink` says.
 */
MSIM_MUST_CHECK
enum msim_status
msim_write_et(const struct msim_trace *t, int64_t process,
              const char *generator,
              enum msim_status (*sink)(void *, const char *, size_t), void *ctx,
              uint64_t *nodes, struct msim_error *err);

#endif
