/*
 * core/read/chakra/chakra.h - what the files that read and write Chakra traces
 * share; for chakra_*.c, read_chakra.c and write_chakra.c only.
 *
 * A node's own fields hold little; the rest is attributes by name. Those
 * that other tools know keep their names (is_cpu_op, stream, comm_type, ...).
 * What this project adds, so that its own traces come back as they were:
 *
 *   event             what the node was: see MSIM_CHAKRA_EVENT_MAP
 *   start_ns          when it began, on the clock of the trace
 *   duration_ns       its own work, what duration_micros has in microseconds:
 *                     neither its callees nor what it waited for
 *   span_ns           from its begin to its end as recorded, where that
 *                     differs from duration_ns
 *   data_deps_lag_ns  delays of data_deps, one each, where any is not 0
 *   not_before_ns     a start that no dependency explains
 */
#ifndef MSIM_CORE_READ_CHAKRA_CHAKRA_H
#define MSIM_CORE_READ_CHAKRA_CHAKRA_H
#include "core/base/vec.h"
#include "core/read/read_state.h"

/* X(NAME, text): what a node of a file that this project wrote was. */
#define MSIM_CHAKRA_EVENT_MAP(X)                                               \
    X(OPERATOR, "operator")                                                    \
    X(ANNOTATION, "annotation")                                                \
    X(ROOT, "root")                                                            \
    X(CALL, "call")                                                            \
    X(REST, "rest") /* work of a thread beside what began there */             \
    X(KERNEL, "kernel")                                                        \
    X(COMM, "communication")                                                   \
    X(MEMCPY, "copy")                                                          \
    X(MEMSET, "memset")                                                        \
    X(SYNC, "synchronisation")                                                 \
    X(MADE, "made") /* for simulators only: groups, an ET's collectives */

enum msim_chakra_event {
#define X(name, text) MSIM_CHAKRA_##name##_EVENT,
    MSIM_CHAKRA_EVENT_MAP(X)
#undef X
        MSIM_CHAKRA_EVENTS
};

/* X(NAME, text): attributes of nodes that are whole numbers. */
#define MSIM_CHAKRA_NUMBER_MAP(X)                                              \
    X(IS_CPU_OP, "is_cpu_op")                                                  \
    X(RF_ID, "rf_id")                                                          \
    X(SEQ_ID, "seq_id")                                                        \
    X(SCOPE, "scope")                                                          \
    X(TID, "tid")                                                              \
    X(FW_TID, "fw_tid")                                                        \
    X(STREAM, "stream")                                                        \
    X(COMM_TYPE, "comm_type")                                                  \
    X(COMM_SIZE, "comm_size")                                                  \
    X(START_NS, "start_ns")                                                    \
    X(DURATION_NS, "duration_ns")                                              \
    X(SPAN_NS, "span_ns")                                                      \
    X(THREAD, "thread")                                                        \
    X(FW_THREAD, "fw_thread")                                                  \
    X(ET_ID, "et_id")                                                          \
    X(DEVICE, "device")                                                        \
    X(CORRELATION, "correlation")                                              \
    X(BYTES, "bytes")                                                          \
    X(REGISTERS, "registers_per_thread")                                       \
    X(SHARED, "shared_memory")                                                 \
    X(COMM, "comm")                                                            \
    X(COMM_SEQ, "comm_seq")                                                    \
    X(COMM_PEER, "comm_peer")                                                  \
    X(IN_ELEMS, "in_msg_nelems")                                               \
    X(OUT_ELEMS, "out_msg_nelems")                                             \
    X(SYNC_KIND, "sync_kind")                                                  \
    X(WAIT_STREAM, "wait_stream")                                              \
    X(RECORD, "record_correlation")

/* The same that are texts, and lists of three numbers. */
#define MSIM_CHAKRA_TEXT_MAP(X)                                                \
    X(EVENT, "event")                                                          \
    X(PG_NAME, "pg_name")                                                      \
    X(COLLECTIVE, "collective_name")                                           \
    X(DTYPE, "dtype")
#define MSIM_CHAKRA_TRIPLE_MAP(X)                                              \
    X(GRID, "grid")                                                            \
    X(BLOCK, "block")

/* Attributes of the whole file, all of this project. */
#define MSIM_CHAKRA_WRITER_ATTR   "mystique_sim"
#define MSIM_CHAKRA_DEPS_LAG_ATTR "data_deps_lag_ns"
#define MSIM_CHAKRA_RELEASE_ATTR  "not_before_ns"

/* Ids of words, from 1: numbers, then texts, then triples. */
enum msim_chakra_word {
    MSIM_CHAKRA_NO_WORD,
#define X(name, text) MSIM_CHAKRA_##name,
    MSIM_CHAKRA_NUMBER_MAP(X) MSIM_CHAKRA_TEXT_MAP(X) MSIM_CHAKRA_TRIPLE_MAP(X)
#undef X
        MSIM_CHAKRA_WORDS
};
#define MSIM_CHAKRA_NUMBERS (MSIM_CHAKRA_RECORD + 1)

const char *msim_chakra_word_text(enum msim_chakra_word word);
const char *msim_chakra_event_text(enum msim_chakra_event event);
/* Between our collectives and values of comm_type; -1 where there is none. */
int msim_chakra_comm_type(enum msim_collective c);
enum msim_collective msim_chakra_collective(int64_t comm_type);

/* ---- reading ------------------------------------------------------------- */

/* What is kept of a node until all are in. */
struct msim_chakra_node {
    uint64_t id, parent;   /* parent: the first of ctrl_deps */
    uint64_t at;           /* offset of its message in the file */
    msim_ps start;         /* from the first one's, or MSIM_TIME_NONE */
    msim_ps own, span;     /* work; begin to end */
    uint32_t deps, n_deps; /* in msim_chakra.deps */
    uint32_t row;          /* of ops, calls, gpu or syncs; NONE: no row */
    uint32_t name;
    uint8_t event;
    bool has_parent;
};

/* The attributes of the node at hand. */
struct msim_chakra_attrs {
    bool has[MSIM_CHAKRA_WORDS];
    int64_t number[MSIM_CHAKRA_NUMBERS];
    const char *text[MSIM_CHAKRA_WORDS]; /* of texts; NUL-terminated */
    uint32_t triple[MSIM_CHAKRA_WORDS - MSIM_CHAKRA_GRID][3];
};

struct msim_chakra {
    struct msim_keyset words;
    struct msim_vec pending; /* a message cut by the end of a piece */
    uint64_t offset;         /* of the message at hand */
    uint64_t fault;          /* of the byte to blame */
    bool begun;              /* GlobalMetadata is in */
    bool keep;               /* messages are kept as they are */
    bool ours;               /* this project wrote it */
    bool has_et;             /* ours: an ET was part of it */
    bool timed;              /* some node has a duration */
    bool started;            /* some node has a start */
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

/*
 * A list as Python prints it (values, shapes, types of inputs or outputs)
 * into the tokens that an ET's lists become; ends where it is not
 * well-formed, as a list cut by its writer does (chakra_python.c).
 */
int msim_chakra_tokens(struct msim_reader *r, const char *text,
                       struct msim_vec *list);
int msim_chakra_types(struct msim_reader *r, const char *text,
                      struct msim_vec *list);

/*
 * Dependencies by node, in order of a run that respects them and otherwise
 * goes by id: `order` gets all nodes (chakra_layout.c). ECYCLE, or EFORMAT
 * where a dependency is not there.
 */
MSIM_MUST_CHECK
enum msim_status msim_chakra_order(struct msim_reader *r, uint32_t *order);
/* Starts for nodes that have none, from durations and dependencies. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_layout(struct msim_reader *r,
                                    const uint32_t *order);

/* The row of the node at hand (chakra_rows.c); fills node->row. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_row(struct msim_reader *r,
                                 struct msim_chakra_node *n, uint32_t type);
MSIM_MUST_CHECK
enum msim_status msim_chakra_sort_comms(struct msim_reader *r);
/* All nodes are in: times into rows, order, links. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_rows(struct msim_reader *r);

#endif
