/*
 * core/read/chakra/read_chakra_internal.h - what the files of core/read/chakra
 * share; no other room includes it.
 */
#ifndef MSIM_CORE_READ_CHAKRA_READ_CHAKRA_INTERNAL_H
#define MSIM_CORE_READ_CHAKRA_READ_CHAKRA_INTERNAL_H
#include "core/base/containers.h"
#include "core/read/chakra/read_chakra.h"
#include "core/read/et/read_et.h"
#include "core/read/reader.h"

/* ---- chakra -------------------------------------------------------------- */
/* The Chakra reader's own state. */

/* What is kept of a node until all are in. */
struct msim_chakra_node {
    uint64_t id, parent;   /* parent: the first of ctrl_deps */
    uint64_t at;           /* offset of its message in the file */
    msim_ps start;         /* from the first one's, or MSIM_TIME_NONE */
    msim_ps own, span;     /* work; begin to end */
    uint32_t deps, n_deps; /* in msim_chakra.deps: of data; behind them */
    uint32_t n_ctrl;       /* those of control */
    uint32_t row;          /* of ops, calls, gpu or syncs; NONE: no row */
    uint32_t name;
    uint8_t event;
    bool has_parent;
};

/* The attributes of the current node. */
struct msim_chakra_attrs {
    bool has[MSIM_CHAKRA_WORDS];
    int64_t number[MSIM_CHAKRA_NUMBERS];
    const char *text[MSIM_CHAKRA_WORDS]; /* of texts; NUL-terminated */
    uint32_t triple[MSIM_CHAKRA_WORDS - MSIM_CHAKRA_GRID][3];
};

struct msim_chakra {
    struct msim_et et; /* first: msim_et_of() finds it */
    struct msim_keyset words;
    struct msim_vec pending; /* a message cut by the end of a piece */
    uint64_t offset;         /* of the message at hand */
    uint64_t fault;          /* of the byte to blame */
    bool begun;              /* GlobalMetadata is in */
    bool ours;               /* this project wrote it */
    bool has_et;             /* ours: an ET was part of it */
    bool timed;              /* some node has a duration */
    bool started;            /* some node has a start */
    bool sized;              /* some node of the GPU states its work alone */
    bool based;
    int64_t base_ns;
    struct msim_chakra_attrs attrs;
    struct msim_vec nodes;     /* struct msim_chakra_node */
    struct msim_vec deps;      /* uint64_t: ids */
    struct msim_idmap ids;     /* id -> node */
    struct msim_idmap comms;   /* ours: number of a collective -> row */
    struct msim_vec numbers;   /* int64_t: of each row */
    struct msim_idmap streams; /* (device, id) -> stream */
    struct msim_idmap configs; /* of launches */
};

static inline struct msim_chakra *msim_chakra_of(const struct msim_reader *r)
{
    return r->state;
}

/*
 * A list as Python prints it (values, shapes, types of inputs or outputs) into
 * the tokens that an ET's lists become. Ends where it is not well-formed: its
 * writer may have cut it (chakra_python.c).
 */
int msim_chakra_tokens(struct msim_reader *r, const char *text,
                       struct msim_vec *list);
int msim_chakra_types(struct msim_reader *r, const char *text,
                      struct msim_vec *list);

/*
 * All nodes in an order that respects their dependencies and otherwise goes by
 * place in the file, into `order` (chakra_layout.c). ECYCLE, or EFORMAT where
 * a dependency does not exist.
 */
MSIM_MUST_CHECK
enum msim_status msim_chakra_order(struct msim_reader *r, uint32_t *order);
/* Give a start to nodes that have none, from durations and dependencies. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_layout(struct msim_reader *r,
                                    const uint32_t *order);

/* Add the row of the current node (chakra_rows.c); fills node->row. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_row(struct msim_reader *r,
                                 struct msim_chakra_node *n, uint32_t type);
MSIM_MUST_CHECK
enum msim_status msim_chakra_sort_comms(struct msim_reader *r);
/* All nodes are in: times into rows, order, links. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_rows(struct msim_reader *r);

/* ---- chakra values ------------------------------------------------------- */
/*
 * Attributes of Chakra messages by value, and the metadata of a file; for
 * read_chakra.c and chakra_values.c only.
 */

struct ChakraProtoMsg__AttributeProto; /* protobuf-c makes these */
struct ChakraProtoMsg__Int64List;
struct ChakraProtoMsg__GlobalMetadata;

/* A whole number of any type; false for all else. */
bool msim_chakra_value_number(const struct ChakraProtoMsg__AttributeProto *a,
                              int64_t *value);
/* A text, or NULL for all else. */
const char *
msim_chakra_value_text(const struct ChakraProtoMsg__AttributeProto *a);
/* A list of int64, or NULL for all else. */
const struct ChakraProtoMsg__Int64List *
msim_chakra_value_list(const struct ChakraProtoMsg__AttributeProto *a);

/* Take what the metadata have about the file and, in our own files, about the
 * trace. */
MSIM_MUST_CHECK
enum msim_status
msim_chakra_metadata(struct msim_reader *r,
                     const struct ChakraProtoMsg__GlobalMetadata *m);

#endif
