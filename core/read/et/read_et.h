/*
 * core/read/et/read_et.h - execution traces of PyTorch: the reader, and its
 * state.
 */
#ifndef MSIM_CORE_READ_ET_READ_ET_H
#define MSIM_CORE_READ_ET_READ_ET_H
#include "core/base/containers.h"
#include "core/read/read_alike.h"
#include "core/read/reader.h"

/* ---- et ------------------------------------------------------------------ */
/*
 * The execution-trace reader's own state; for this room and core/read/chakra,
 * which reads inputs and outputs with it.
 */

enum msim_et_token_kind {
    MSIM_ETOK_OPEN,
    MSIM_ETOK_CLOSE,
    MSIM_ETOK_NUMBER, /* text as written */
    MSIM_ETOK_STRING,
    MSIM_ETOK_BOOL, /* text.len 1: true */
    MSIM_ETOK_NULL,
};

struct msim_et_token {
    uint32_t kind;
    uint32_t from; /* a number: where it is in the node's text */
    struct msim_text_piece text;
};

/* inputs or outputs of the node at hand: lists side by side */
struct msim_et_values {
    struct msim_vec values;  /* struct msim_et_token */
    struct msim_vec shapes;  /* struct msim_et_token */
    struct msim_vec strides; /* struct msim_et_token */
    struct msim_vec types;   /* struct msim_text_piece */
};

/* An input tensor of the node at hand, undefined ones included. */
struct msim_et_input {
    uint32_t id; /* in tensor_ids; NONE: undefined */
    bool has_range;
    int64_t low, high;
};

/* Tensors of one side of a node. */
struct msim_et_size {
    uint64_t elems;
    uint8_t dtype; /* of the first that has one */
};

/* What the attributes of schema 1.1 say of a collective. */
struct msim_et_comm {
    bool seen; /* its name is */
    bool has_in, has_out, has_size;
    uint8_t collective, dtype;
    uint32_t group; /* string, 0: none */
    uint64_t in_elems, out_elems;
    int64_t size;
};

struct msim_et_node {
    uint64_t id, parent, rf_id;
    int64_t seq, tid, fw_tid, scope;
    uint32_t name;
    uint32_t schema;               /* details only */
    struct msim_text_piece ranges; /* details only */
    bool has_id, has_parent, has_name;
    bool has_inputs, has_outputs; /* Chakra only */
    struct msim_et_comm comm;
    struct msim_et_size in, out;
};

/* What is kept of a node, apart from its msim_op, until the tree is built. */
struct msim_et_link {
    uint64_t id, parent;
    int64_t fw_tid;
    bool has_parent;
};

/* Nodes that were read, for those that are like one of them (et_alike.c). */
enum msim_et_spot_kind {
    MSIM_ET_SPOT_OTHER, /* nobody asks for it */
    MSIM_ET_SPOT_ID,
    MSIM_ET_SPOT_PARENT,
    MSIM_ET_SPOT_RF_ID,
    MSIM_ET_SPOT_SEQ,
    MSIM_ET_SPOT_TENSOR, /* of a tensor: three, one behind the other */
    MSIM_ET_SPOT_STORAGE,
    MSIM_ET_SPOT_OFFSET,
    MSIM_ET_SPOT_INPUT, /* an argument that is a whole number */
    MSIM_ET_SPOT_OUTPUT,
};

/* `which` of a spot: row of tensor_ids, or argument of its side. */
struct msim_et_alike {
    struct msim_alike texts;
    const char *node;      /* text of the node at hand; NULL: nobody keeps it */
    uint64_t at;           /* its offset in the file */
    bool odd;              /* something in it counts each time it is read */
    struct msim_vec made;  /* of those that are kept: their rows */
    struct msim_vec comms; /* of those of them that are collectives */
};

struct msim_et {
    struct msim_keyset keys;
    bool details;   /* of msim_load_options; Chakra has none */
    uint32_t depth; /* 0: between nodes, 1: in one, ... */
    uint8_t key, sub_key, attr_key;
    struct msim_et_node node;
    struct msim_et_values in, out;
    struct msim_vec *list; /* where tokens or types go, or NULL */
    bool list_is_types;
    struct msim_vec text, args, dims;
    struct msim_vec inputs; /* struct msim_et_input, in preorder; details */
    uint32_t nested;        /* arrays open inside the list */
    struct msim_text_piece attr_name, attr_value;
    uint32_t attr_from; /* of a value that is a number; else NONE */
    struct msim_et_alike alike;
    struct msim_vec links; /* struct msim_et_link, one per op */
    struct msim_idmap threads;
    uint64_t gpus; /* bits of the numbers of GPUs that tensors are on */
};

/* The reader's state. A Chakra reader's begins with one. */
static inline struct msim_et *msim_et_of(const struct msim_reader *r)
{
    return r->state;
}

void msim_et_init(struct msim_et *e, bool details);
void msim_et_release(struct msim_et *e);
/* All nodes are in: nest them, number their collectives and steps. */
enum msim_status msim_et_finish(struct msim_reader *r);

/*
 * The block and the tensor ids of one side of the current node; `*ids` is
 * MSIM_NONE where it has no tensor. Elements and type of its tensors are added
 * up for collectives.
 */
enum msim_status msim_et_args(struct msim_reader *r,
                              const struct msim_et_values *v, uint32_t *block,
                              uint32_t *ids, struct msim_et_size *size);

void msim_et_alike_init(struct msim_et_alike *a);
/* A node that begins: take it whole, where it is like one that was read. */
int msim_et_alike_take(struct msim_reader *r, const char *text, size_t len,
                       size_t *taken);
/* Note a number of the node at hand. */
int msim_et_alike_note(struct msim_et_alike *a, enum msim_et_spot_kind kind,
                       uint32_t which, uint32_t from, size_t len);
/* Keep the node that was just added, whose tensors are those from `first` on,
 * `n_in` of them given to it. */
enum msim_status msim_et_alike_keep(struct msim_reader *r, uint32_t first,
                                    uint32_t n_in);
void msim_et_alike_forget(struct msim_et_alike *a);
void msim_et_alike_release(struct msim_et_alike *a);

/* What an operator keeps of a node's number in autograd. */
static inline int32_t msim_et_seq(int64_t seq)
{
    return seq >= 0 && seq <= INT32_MAX ? (int32_t)seq : -1;
}
/* The node at hand is read: its row, unless it is the process's (et_node.c). */
enum msim_status msim_et_node_end(struct msim_reader *r);
/* A row of operators, and of links. */
enum msim_status msim_et_add_node(struct msim_reader *r,
                                  const struct msim_op *op,
                                  const struct msim_et_link *link);

/* A node begins: forget the one before (read_et.c). */
void msim_et_begin(struct msim_et *e);
/* The thread of this number, made if it is new. */
enum msim_status msim_et_thread(struct msim_reader *r, int64_t tid,
                                uint32_t *thread);
/* The groups that a process-group node defines; nothing for any other. */
enum msim_status msim_et_groups(struct msim_reader *r,
                                const struct msim_op *op);

/* The row of a record_param_comms node (et_comms.c). */
enum msim_status msim_et_add_comm(struct msim_reader *r,
                                  const struct msim_op *op,
                                  const struct msim_et_size *in,
                                  const struct msim_et_size *out,
                                  uint32_t *comm);
int msim_et_comm_attr(struct msim_reader *r, const char *name, size_t name_len,
                      const char *value, size_t value_len);

/* The ranges that the attribute `tensor_range` gives (et_ranges.c). */
enum msim_status msim_et_ranges(struct msim_reader *r);

/* From rows in file order to a forest in preorder (et_tree.c). */
enum msim_status msim_et_tree(struct msim_reader *r);

/* ---- read et ------------------------------------------------------------- */
/* Execution traces of PyTorch (JSON), schemas 1.0.1 to 1.1.1. */

extern const struct msim_read_format msim_et_format;

#endif
