/*
 * core/chakra/write_chakra_internal.h - what the files of core/chakra share; no
 * other room includes it.
 */
#ifndef MSIM_CORE_CHAKRA_WRITE_CHAKRA_INTERNAL_H
#define MSIM_CORE_CHAKRA_WRITE_CHAKRA_INTERNAL_H
#include "core/base/containers.h"
#include "core/base/files.h"
#include "core/chakra/write_chakra.h"
#include "core/graph/graph.h"
#include "core/read/chakra/read_chakra.h"
#include "core/trace/trace.h"

#include <chakra.pb-c.h>

/* ---- chakra repr --------------------------------------------------------- */
/*
 * Inputs and outputs as Chakra keeps them: lists as Python prints them. The
 * inverse of chakra_python.c.
 */

/* The three lists of one side of an operator, NUL-terminated. */
struct msim_chakra_lists {
    struct msim_vec values, shapes, types;
};

void msim_chakra_lists_release(struct msim_chakra_lists *l);

/*
 * Print block `block` of `t`, with tensor ids from `ids` on (MSIM_NONE: 0)
 * and tensors of the GPU on `device`.
 */
MSIM_MUST_CHECK
enum msim_status msim_chakra_print(struct msim_chakra_lists *l,
                                   const struct msim_trace *t, uint32_t block,
                                   uint32_t ids, int64_t device);

/* Add `text` to `to` as a list of Python with one quoted text. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_print_text(struct msim_vec *to, const char *text);

/* The name of an element type in an ET's types: "float", "c10::Half". */
const char *msim_chakra_dtype_text(enum msim_dtype t);

/* ---- chakra nodes -------------------------------------------------------- */
/*
 * Which nodes a rank becomes in a Chakra file, and what each depends on.
 *
 * A rank with times is written as the dependency graph has it: the tasks of a
 * thread, a stream, a collective. A task of the CPU becomes a chain of nodes,
 * the operators that begin in it, whose own times add up to the task's work.
 * The part of the work that belongs to none of them (to an operator that goes
 * on, or to a gap) is a node of its own. A dependency between tasks goes from
 * the end of one chain to the start of the other; a task without work and
 * without nodes passes its dependencies on. So data_deps, with their delays,
 * mean what the graph means.
 *
 * An execution trace has no times: its operators follow one another in the
 * order of their ids, and nodes of the GPU are made of them.
 */

struct msim_chakra_dep {
    uint32_t node;
    int32_t lag_ns;
};

/* A node that will be written; its id is its index + 1. */
struct msim_chakra_out_node {
    msim_ps own;        /* work */
    msim_ps not_before; /* or MSIM_TIME_NONE */
    uint32_t row;       /* ops, calls, gpu, syncs or comms; or NONE */
    uint32_t op;        /* MADE: what it is made of */
    uint32_t ctrl;      /* node, or NONE */
    uint32_t deps, n_deps;
    uint8_t event;
};

struct msim_chakra_nodes {
    const struct msim_trace *trace;
    struct msim_vec nodes;     /* struct msim_chakra_out_node */
    struct msim_vec deps;      /* struct msim_chakra_dep */
    uint64_t delays, releases; /* deps with a lag; nodes with not_before */
    msim_ps delayed;           /* sum of the lags */
};

void msim_chakra_nodes_release(struct msim_chakra_nodes *p);

/* Add a node; the dependencies that are added next are its own. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_nodes_add(struct msim_chakra_nodes *p,
                                       enum msim_chakra_event event,
                                       uint32_t row, msim_ps own,
                                       uint32_t *index);
/* Let the node that was added last depend on `node`; twice counts once. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_nodes_depend(struct msim_chakra_nodes *p,
                                          uint32_t node, msim_ps lag);

/*
 * The nodes of one rank (an index into the job's) with times, from the graph
 * of its job. `order` has all tasks in an order that respects the edges.
 */
MSIM_MUST_CHECK
enum msim_status msim_chakra_nodes_timed(struct msim_chakra_nodes *p,
                                         const struct msim_graph *g,
                                         const uint32_t *order, uint32_t rank);
/* The nodes of one rank without times; `works` of its operators may be NULL. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_nodes_shapes(struct msim_chakra_nodes *p,
                                          const struct msim_trace *t,
                                          const struct msim_chakra_work *works);

/* ---- chakra builder ------------------------------------------------------ */
/*
 * One Chakra message while it is made: its attributes, and the memory that they
 * point to; for chakra_message.c and chakra_fill.c only.
 */

#define MSIM_CHAKRA_ATTRIBUTES 48

struct msim_chakra_builder {
    const struct msim_chakra_nodes *p;
    const struct msim_trace *t;
    const struct msim_chakra_work *works; /* or NULL */
    uint32_t *kernels; /* of each operator, which share its work */
    int64_t device;    /* that tensors are on */
    uint64_t rounded;  /* times that are not whole nanoseconds */

    /* The current message. */
    ChakraProtoMsg__AttributeProto attr[MSIM_CHAKRA_ATTRIBUTES];
    ChakraProtoMsg__AttributeProto *list[MSIM_CHAKRA_ATTRIBUTES];
    size_t n;
    ChakraProtoMsg__Int64List lists[4];
    size_t n_lists;
    int64_t triples[2][3];
    struct msim_chakra_lists in, out;
    ChakraProtoMsg__IOInfo info[2];
};

void msim_chakra_builder_release(struct msim_chakra_builder *b);

/* Begin a message: no attributes. */
static inline void msim_chakra_begin(struct msim_chakra_builder *b)
{
    b->n = b->n_lists = 0;
}

/* Add an attribute; names and values must live until the message is packed. */
ChakraProtoMsg__AttributeProto *msim_chakra_add(struct msim_chakra_builder *b,
                                                const char *name);
void msim_chakra_add_number(struct msim_chakra_builder *b, const char *name,
                            int64_t value);
void msim_chakra_add_word(struct msim_chakra_builder *b,
                          enum msim_chakra_word word, int64_t value);
void msim_chakra_add_int32(struct msim_chakra_builder *b, const char *name,
                           int32_t value);
void msim_chakra_add_bool(struct msim_chakra_builder *b, const char *name,
                          bool value);
void msim_chakra_add_text(struct msim_chakra_builder *b, const char *name,
                          const char *value);
void msim_chakra_add_list(struct msim_chakra_builder *b, const char *name,
                          int64_t *values, size_t n);

/* Fill `node` from the row that node `n` is made of: type, times, inputs,
 * attributes. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_fill(struct msim_chakra_builder *b,
                                  ChakraProtoMsg__Node *node,
                                  const struct msim_chakra_out_node *n);

/* ---- chakra message ------------------------------------------------------ */
/* One rank's nodes as Chakra messages in a file; for write_chakra.c only. */

struct msim_chakra_messages; /* opaque */

/* `p`, `file` and `works` (may be NULL) must outlive `*out`, which is the
 * caller's; release with msim_chakra_messages_free(), which accepts NULL. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_messages_new(struct msim_chakra_messages **out,
                                          const struct msim_chakra_nodes *p,
                                          struct msim_file *file,
                                          const struct msim_chakra_work *works);
void msim_chakra_messages_free(struct msim_chakra_messages *m);

/* Write the metadata, and a node that defines the process groups. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_messages_begin(struct msim_chakra_messages *m);
/* Write node `i` of `p`. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_messages_node(struct msim_chakra_messages *m,
                                           uint32_t i);

/* Nodes written so far, and times that had to be rounded to nanoseconds. */
uint64_t msim_chakra_messages_count(const struct msim_chakra_messages *m);
uint64_t msim_chakra_messages_rounded(const struct msim_chakra_messages *m);

#endif
