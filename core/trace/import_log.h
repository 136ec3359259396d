/*
 * core/trace/import_log.h - what became of the records of a file: which were
 * read, and of the others and of what was put right or guessed how many of
 * each kind.
 *
 * It closes: the records of a file are those read and those of the fates to
 * DROPPED. Faults that were put right and what was guessed are of records that
 * are read.
 */
#ifndef MSIM_CORE_TRACE_IMPORT_LOG_H
#define MSIM_CORE_TRACE_IMPORT_LOG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, text) */
#define MSIM_IMPORT_FATE_MAP(X)                                                \
    X(NEEDLESS, "not needed")                                                  \
    X(UNREAD, "not read")                                                      \
    X(DROPPED, "dropped")                                                      \
    X(BROKEN, "broken") /* no record at all */                                 \
    X(REPAIRED, "repaired")                                                    \
    X(UNMATCHED, "not matched")                                                \
    X(GUESSED, "guessed")

enum msim_import_fate {
#define X(name, text) MSIM_IMPORT_##name,
    MSIM_IMPORT_FATE_MAP(X)
#undef X
        MSIM_IMPORT_FATES
};
const char *msim_import_fate_text(enum msim_import_fate f);

/*
 * X(name, word, fate, warned of, what they are, what is said of them)
 *
 * '*' stands for a name that the record has: such a kind counts by name. Of
 * "{is|are}" the first is said of one record, and "event{s}" has the s of
 * several. The repairs have the order of core/stream/json_sax.h.
 */
#define MSIM_IMPORT_MAP(X)                                                     \
    X(METADATA, "metadata", NEEDLESS, false, "record{s} of metadata", "")      \
    X(FLOW, "flow", NEEDLESS, false, "arrow{s} between events", "")            \
    X(PYTHON, "python", NEEDLESS, false, "frame{s} of Python", "")             \
    X(GPU_LABEL, "gpu_label", NEEDLESS, false, "label{s} on the GPU's side",   \
      "")                                                                      \
    X(INSTANT, "instant", NEEDLESS, false, "instant{s}", "")                   \
    X(COUNTER, "counter", NEEDLESS, false, "counter{s}", "")                   \
    X(OVERHEAD, "overhead", NEEDLESS, false,                                   \
      "record{s} of the profiler's own overhead", "")                          \
    X(RANGE, "range", NEEDLESS, false, "range{s} of hardware counters", "")    \
    X(WINDOW, "window", NEEDLESS, false, "window{s} of the recording", "")     \
    X(QUEUE_WAIT, "queue_wait", NEEDLESS, false, "wait{s} of a queue", "")     \
    X(HOST_MEMORY, "host_memory", NEEDLESS, false,                             \
      "allocation{s} in the host's memory", "")                                \
    X(MEMORY_CHANGE, "memory_change", NEEDLESS, false,                         \
      "allocation{s} without a total", "")                                     \
    X(END, "end", NEEDLESS, false, "end{s} of events that are not read", "")   \
    X(ROOT, "root", NEEDLESS, false, "root{s} of processes and threads", "")   \
    X(MADE, "made", NEEDLESS, false, "node{s} for simulators alone", "")       \
    X(CATEGORY, "category", UNREAD, true, "event{s} of category '*'",          \
      "{is|are} not read")                                                     \
    X(NO_CATEGORY, "no_category", UNREAD, true, "event{s} of no category",     \
      "{is|are} not read")                                                     \
    X(PHASE, "phase", UNREAD, true, "event{s} of phase '*'",                   \
      "{is|are} not read")                                                     \
    X(NO_PHASE, "no_phase", UNREAD, true, "event{s} of no phase",              \
      "{is|are} not read")                                                     \
    X(STRAY_END, "stray_end", UNREAD, true,                                    \
      "end{s} of events without a begin", "{is|are} not read")                 \
    X(OTHER_MEMORY, "other_memory", UNREAD, true,                              \
      "allocation{s} on devices of kind '*'", "{is|are} not read")             \
    X(NODE_KIND, "node_kind", UNREAD, true, "node{s} of kind '*'",             \
      "{is|are} not read")                                                     \
    X(ENTRY, "entry", UNREAD, true,                                            \
      "{entry that is no object|entries that are no objects}",                 \
      "{is|are} not read")                                                     \
    X(BYSTANDER, "bystander", UNREAD, true,                                    \
      "event{s} of processes that launched nothing on a GPU",                  \
      "{is|are} left out: they are no ranks")                                  \
    X(UNSOUND, "unsound", DROPPED, true, "event{s}",                           \
      "{is|are} left out, for {it|they} cannot be")                            \
    X(UNTIMED, "untimed", DROPPED, true, "node{s} on the GPU",                 \
      "{is|are} left out: no node says how long it takes")                     \
    X(DAMAGE, "damage", BROKEN, false, "place{s}", "{is|are} broken")          \
    X(TAIL, "tail", BROKEN, false, "piece{s}",                                 \
      "behind the end of what is packed are left out")                         \
    X(NUMBER, "number", REPAIRED, true,                                        \
      "{number that is|numbers that are} not finite (inf, nan)",               \
      "{is|are} read as no value")                                             \
    X(ESCAPE, "escape", REPAIRED, true,                                        \
      "{backslash that begins|backslashes that begin} no escape",              \
      "{is|are} read as '/'")                                                  \
    X(CONTROL, "control", REPAIRED, true, "control character{s} in strings",   \
      "{is|are} read as ' '")                                                  \
    X(UTF8, "utf8", REPAIRED, true, "{byte that is|bytes that are} not UTF-8", \
      "{is|are} read as '?'")                                                  \
    X(ORPHAN, "orphan", REPAIRED, true, "node{s}",                             \
      "{names|name} a parent that is not there")                               \
    X(OVERRUN, "overrun", REPAIRED, true, "GPU {activity|activities}",         \
      "{is|are} recorded to end when later ones of {its|their} stream have "   \
      "run: each "                                                             \
      "ends where the next begins")                                            \
    X(OUTLASTS, "outlasts", REPAIRED, true, "GPU {activity|activities}",       \
      "{is|are} recorded to end long after a synchronisation that waited for " \
      "{it|them}: each ends with that")                                        \
    X(TWICE, "twice", REPAIRED, true, "GPU {activity|activities}",             \
      "{is|are} recorded a second time, the same in all: {it counts|they "     \
      "count} once")                                                           \
    X(SIZES, "sizes", REPAIRED, true, "tensor{s}",                             \
      "{has|have} sizes that cannot be, which are not known then")             \
    X(EARLY, "early", UNMATCHED, false, "GPU {activity|activities}",           \
      "began before the recording: {it belongs|they belong} to no iteration")  \
    X(LOST, "lost", UNMATCHED, false, "{launch|launches}",                     \
      "{has|have} no kernel")                                                  \
    X(LOST_COMM, "lost_comm", UNMATCHED, true, "collective{s}",                \
      "{is|are} not recorded that other ranks of {its|their} group recorded")  \
    X(NO_NODE, "no_node", UNMATCHED, false, "operator{s}",                     \
      "{has|have} no node in the execution trace beside it")                   \
    X(OTHER_SIZES, "other_sizes", UNMATCHED, true, "operator{s}",              \
      "{has|have} other sizes in the execution trace beside it, whose are "    \
      "taken: it may be of another run")                                       \
    X(UNLAUNCHED, "unlaunched", GUESSED, false, "GPU {activity|activities}",   \
      "{has|have} no launch: {it belongs|they belong} to the iteration in "    \
      "whose time {it|they} ran")                                              \
    X(BESIDE, "beside", GUESSED, true, "GPU {activity|activities}",            \
      "{is|are} recorded beside later ones of {its|their} stream, more than "  \
      "a third of it, and no graph explains it: {it is|they are} left so")     \
    X(PROCESS, "process", GUESSED, true, "{process|processes}",                \
      "{was|were} merged into it: each is a rank, numbered from 0 in their "   \
      "order")                                                                 \
    X(OWNER, "owner", GUESSED, false, "GPU {activity|activities}",             \
      "{is|are} of the process that stands before {it|them}, or has "          \
      "{its|their} device")                                                    \
    X(CALL_KIND, "call_kind", GUESSED, false, "call{s}",                       \
      "{is|are} of the kind of the work that {it|they} started")               \
    X(COMM_NAME, "comm_name", GUESSED, false, "kernel{s}",                     \
      "{is|are} communication by {its|their} name alone")                      \
    X(COMM_SIZE, "comm_size", GUESSED, false, "collective{s}",                 \
      "{has|have} the kind and size of what is around {it|them}")              \
    X(COMM_MATCH, "comm_match", GUESSED, true, "collective{s}",                \
      "{meets one of its|meet those of their} kind, size and time in a step "  \
      "of which a rank "                                                       \
      "lost some")                                                             \
    X(NODE_ORDER, "node_order", GUESSED, false, "operator{s}",                 \
      "found {its|their} node by name and order")                              \
    X(NODE_TYPE, "node_type", GUESSED, true,                                   \
      "node{s} of the unknown type '*'",                                       \
      "{is|are} read as operators, or as kernels where {it|they} ran on the "  \
      "GPU")                                                                   \
    X(LAID_OUT, "laid_out", GUESSED, false, "node{s}",                         \
      "{begins when what it depends|begin when what they depend} on has "      \
      "ended")                                                                 \
    X(RANK_NAME, "rank_name", GUESSED, false, "rank{s}",                       \
      "{is|are} of a file's name")                                             \
    X(GROUP_NAME, "group_name", GUESSED, false, "process group{s}",            \
      "{is|are} known by {its|their} order")                                   \
    X(GROUP_SIZE, "group_size", GUESSED, false, "process group{s}",            \
      "{is|are} taken to span the job")                                        \
    X(GROUP_RANKS, "group_ranks", GUESSED, false, "process group{s}",          \
      "{has|have} the ranks that follow from those that are listed")           \
    X(GROUP_CALLERS, "group_callers", GUESSED, true, "process group{s}",       \
      "{has|have} no list of ranks: each is of the ranks whose files name it") \
    X(NEIGHBOURS, "neighbours", GUESSED, false, "collective{s}",               \
      "{is|are} of ranks that are taken as neighbours")                        \
    X(CLOCK, "clock", GUESSED, false, "clock{s}",                              \
      "{is|are} aligned on the ends of collectives")                           \
    X(STEP, "step", GUESSED, false, "recording{s}",                            \
      "without marks of steps are one iteration")

enum msim_import_kind {
#define X(name, word, fate, warned, what, said) MSIM_IMPORT_##name,
    MSIM_IMPORT_MAP(X)
#undef X
        MSIM_IMPORT_KINDS
};

struct msim_import_kind_info {
    const char *word, *what, *said;
    enum msim_import_fate fate;
    bool warned;
};
const struct msim_import_kind_info *
msim_import_about(enum msim_import_kind kind);

/* `pattern`, one of the texts above, as it is of `n` records; `name` stands in
 * for the star. */
void msim_import_words(char *text, size_t size, const char *pattern, uint64_t n,
                       const char *name);

/* So many names of a file count on their own; the rest are one. */
#define MSIM_IMPORT_NAMES 16

/* Records of one kind, or of one name of it. */
struct msim_import_count {
    uint64_t n, us; /* us: that those last which have a duration */
    uint64_t byte;  /* by which the first has been read, or of the fault */
    bool has_byte;
    uint8_t kind;
    uint32_t name;    /* string, 0: none */
    uint32_t example; /* string, 0: none */
};

/* All zero: nothing was read. Kinds have their row, names those behind. */
struct msim_import_log {
    uint64_t records, read;
    struct msim_import_count rows[MSIM_IMPORT_KINDS + MSIM_IMPORT_NAMES];
};

/* The row of `kind`, which has `n` more. */
static inline struct msim_import_count *
msim_import_add(struct msim_import_log *log, enum msim_import_kind kind,
                uint64_t n)
{
    struct msim_import_count *c = &log->rows[kind];

    c->kind = (uint8_t)kind;
    c->n += n;
    return c;
}

/* The same for one more record with a name, which is a string. */
struct msim_import_count *msim_import_add_name(struct msim_import_log *log,
                                               enum msim_import_kind kind,
                                               uint32_t name);

/* Of the first: where it is. */
static inline void msim_import_at(struct msim_import_count *c, uint64_t byte)
{
    if (c->has_byte)
        return;
    c->has_byte = true;
    c->byte = byte;
}

#endif
