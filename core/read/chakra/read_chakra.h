/*
 * core/read/chakra/read_chakra.h - Chakra execution traces: read as a trace;
 * and their words and wire format, which the writer shares.
 */
#ifndef MSIM_CORE_READ_CHAKRA_READ_CHAKRA_H
#define MSIM_CORE_READ_CHAKRA_READ_CHAKRA_H
#include "core/read/reader.h"
#include "core/trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- chakra wire --------------------------------------------------------- */
/*
 * The bytes of a Chakra file: messages behind lengths.
 *
 * A file is a stream of protobuf messages, each behind its length as a varint
 * (seven bits a byte, the lowest first; the top bit means that more follow).
 * This part knows what is needed before a message goes to protobuf-c: whether a
 * file is one at all, where a message ends, and, where protobuf-c refuses one,
 * which byte is wrong.
 */

enum msim_chakra_guess {
    MSIM_CHAKRA_NO,
    MSIM_CHAKRA_YES,
    MSIM_CHAKRA_MORE, /* the bytes so far do not decide */
};

/*
 * Do these first bytes of a file begin a Chakra trace? `end`: the file has no
 * more. The whole first message must be a well-formed GlobalMetadata, so that
 * JSON, whose '{' and '[' may be lengths, is not taken for it.
 */
enum msim_chakra_guess msim_chakra_sniff(const char *bytes, size_t len,
                                         bool end);

/*
 * The varint at `bytes`. Returns its length in bytes; 0 where `len` bytes are
 * too few, -1 where it is longer than ten bytes or does not fit in 64 bits.
 */
int msim_chakra_varint(const char *bytes, size_t len, uint64_t *value);

/*
 * The offset of the first byte of a message (GlobalMetadata or Node) that is
 * not well-formed, with what is wrong in `*why`; `len` where all is well.
 * Looks into attributes, and checks that names are UTF-8.
 */
size_t msim_chakra_damage(const char *bytes, size_t len, bool metadata,
                          const char **why);

/* ---- chakra words -------------------------------------------------------- */
/*
 * The words of a Chakra trace: what reader and writer (core/chakra) share.
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

/* X(NAME, text): what a node of a file that this project wrote was. */
#define MSIM_CHAKRA_EVENT_MAP(X)                                               \
    X(OPERATOR, "operator")                                                    \
    X(ANNOTATION, "annotation")                                                \
    X(ROOT, "root")                                                            \
    X(CALL, "call")                                                            \
    X(REST, "rest") /* work of a thread in no operator that begins there */    \
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
    X(NUM_OPS, "num_ops")                                                      \
    X(TENSOR_SIZE, "tensor_size")                                              \
    X(COMM_SRC, "comm_src")                                                    \
    X(COMM_DST, "comm_dst")                                                    \
    X(RECORD, "record_correlation")

/* Attributes of nodes that are texts, and lists of three numbers. */
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
/* Our collective as a value of comm_type, -1 where there is none; and back. */
int msim_chakra_comm_type(enum msim_collective c);
enum msim_collective msim_chakra_collective(int64_t comm_type);

/* ---- read chakra --------------------------------------------------------- */
/*
 * Chakra execution traces (protobuf, .et).
 *
 * Messages are taken from the pieces of an input as they come; only a message
 * that a piece cuts is copied. Files of this project are read back as they were
 * written ("chakra words"). Files of other tools have no launches and often no
 * starts: both are made (chakra_finish.c, chakra_layout.c).
 */

extern const struct msim_read_format msim_chakra_format;

#endif
