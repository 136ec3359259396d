/*
 * plan/synth/et_writer.h - an execution trace in PyTorch's own format, written
 * node by node.
 *
 * As PyTorch's observer writes it (schema 1.1.1-chakra.0.0.4): one counter
 * numbers nodes and tensors, a node is written once it is closed, so that
 * children stand before their parents, and numbers go up in the order of entry.
 *
 *     struct msim_etw_tensor x = msim_etw_new(e, MSIM_DT_BF16, 2, 4, 8), y;
 *     struct msim_etw_arg in[] = {msim_etw_of(&x)};
 *
 *     y = msim_etw_new(e, MSIM_DT_BF16, 2, 4, 8);
 *     msim_etw_leaf(e, "aten::relu", "aten::relu(Tensor self) -> Tensor", in,
 * 1, &y, 1);
 */
#ifndef MSIM_PLAN_SYNTH_ET_WRITER_H
#define MSIM_PLAN_SYNTH_ET_WRITER_H
#include "core/base/json.h"
#include "core/trace/trace.h"

#include <stdbool.h>

#define MSIM_ETW_SIZES 4 /* of a tensor, at most */

struct msim_etw_tensor {
    uint32_t id, storage; /* id 0: no tensor; in a list: None */
    uint8_t dtype;        /* enum msim_dtype */
    uint8_t n;
    bool transposed; /* the last two strides are swapped */
    int64_t dims[MSIM_ETW_SIZES];
};

enum msim_etw_kind {
    MSIM_ETW_NONE,
    MSIM_ETW_TENSOR,
    MSIM_ETW_TENSORS,
    MSIM_ETW_INT,
    MSIM_ETW_INTS,
    MSIM_ETW_BOOLS, /* as INTS: 0 or 1 */
    MSIM_ETW_REAL,
    MSIM_ETW_BOOL,
    MSIM_ETW_TEXT,
    MSIM_ETW_DEVICE, /* text */
    MSIM_ETW_PAIR,   /* two texts */
    MSIM_ETW_OBJECT
};

/* What is pointed to must live until the node is closed. */
struct msim_etw_arg {
    enum msim_etw_kind kind;
    uint32_t n; /* of lists */
    union {
        const struct msim_etw_tensor *tensors;
        const int64_t *ints;
        const char *text[2];
        int64_t i;
        double f;
    } v;
};

/* Further attributes of a collective's node. */
struct msim_etw_comm {
    const char *name, *dtype, *group;
    uint64_t in_elems, out_elems;
    uint32_t size, start, stride;
    int64_t sequence; /* of this call in its group */
};

#define MSIM_ETW_ARGS  32
#define MSIM_ETW_DEPTH 8

struct msim_etw_node {
    uint32_t id, parent, thread;
    const char *name, *schema;
    int64_t sequence; /* of autograd; -1 none */
    uint8_t scope;    /* 0 function, 1 backward, 7 label */
    struct msim_etw_arg args[MSIM_ETW_ARGS];
    uint32_t n_args;
};

struct msim_etw {
    struct msim_json json;
    uint32_t last;    /* number given */
    uint32_t last_rf; /* RecordFunction ids */
    uint32_t depth;
    struct msim_etw_node open[MSIM_ETW_DEPTH];
    uint64_t nodes;
};

/* Begin the file of a process; `sink` takes its bytes. */
void msim_etw_begin(struct msim_etw *e,
                    enum msim_status (*sink)(void *, const char *, size_t),
                    void *ctx, int64_t process);
/* Close what is open and the file; says how writing went. */
MSIM_MUST_CHECK
enum msim_status msim_etw_end(struct msim_etw *e);

/* Whether a write failed: what follows reaches nobody. */
static inline bool msim_etw_has_failed(const struct msim_etw *e)
{
    return e->json.status != MSIM_OK;
}

/* The number of a thread's root, which nodes that follow are in until the next
 * call. Nothing may be open. */
void msim_etw_thread(struct msim_etw *e, uint32_t thread);

/* A tensor on a storage of its own, or another one on that of `of`. */
struct msim_etw_tensor msim_etw_new(struct msim_etw *e, enum msim_dtype dtype,
                                    uint32_t n, ...);
struct msim_etw_tensor msim_etw_view(struct msim_etw *e,
                                     const struct msim_etw_tensor *of,
                                     uint32_t n, ...);
uint64_t msim_etw_elems(const struct msim_etw_tensor *t);

static inline struct msim_etw_arg msim_etw_of(const struct msim_etw_tensor *t)
{
    return t->id ? (struct msim_etw_arg){MSIM_ETW_TENSOR, 1, {.tensors = t}}
                 : (struct msim_etw_arg){MSIM_ETW_NONE, 0, {.i = 0}};
}
static inline struct msim_etw_arg msim_etw_int(int64_t i)
{
    return (struct msim_etw_arg){MSIM_ETW_INT, 0, {.i = i}};
}

/* Open a node, to hold others until it is closed with its outputs. */
void msim_etw_open(struct msim_etw *e, const char *name, const char *schema,
                   const struct msim_etw_arg *args, uint32_t n);
void msim_etw_close(struct msim_etw *e, const struct msim_etw_tensor *outs,
                    uint32_t n);
/* Both. */
void msim_etw_leaf(struct msim_etw *e, const char *name, const char *schema,
                   const struct msim_etw_arg *args, uint32_t n_args,
                   const struct msim_etw_tensor *outs, uint32_t n_outs);
/* A label around what follows, until it is closed. */
void msim_etw_label(struct msim_etw *e, const char *name);
/* A backward function of autograd, likewise. */
void msim_etw_backward(struct msim_etw *e, const char *name);
/* One that shows its gradient, and the number that the operator of forward
 * had, which the second call gives what is open. */
void msim_etw_backward_of(struct msim_etw *e, const char *name,
                          const struct msim_etw_tensor *grad, int64_t sequence);
void msim_etw_sequence(struct msim_etw *e, int64_t sequence);

/* A collective on `t`, as c10d records one. `rank`: this rank's place in its
 * group, or that of the other of a send or receive. `out` is what it writes,
 * `t` itself or another. */
void msim_etw_collective(struct msim_etw *e, const struct msim_etw_comm *c,
                         const struct msim_etw_tensor *t,
                         const struct msim_etw_tensor *out, int64_t rank);

#endif
