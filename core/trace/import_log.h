/*
 * core/trace/import_log.h - what became of the records of a file: which were
 * read, and of the others and of what was put right or guessed how many of
 * each kind.
 *
 * It closes: the records of a file are those read and those of the fates that
 * msim_import_is_apart() holds of. Faults that were put right and what was
 * guessed are of records that are read.
 */
#ifndef MSIM_CORE_TRACE_IMPORT_LOG_H
#define MSIM_CORE_TRACE_IMPORT_LOG_H
#include <stdbool.h>
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

/* Is it of records that are not read? */
static inline bool msim_import_is_apart(enum msim_import_fate f)
{
    return f <= MSIM_IMPORT_DROPPED;
}

/*
 * X(name, word, fate, warned of, what they are, what is said of them)
 *
 * '*' stands for a name that the record has: such a kind counts by name. The
 * repairs have the order of core/stream/json_repair.h.
 */
#define MSIM_IMPORT_MAP(X)                                                     \
    X(METADATA, "metadata", NEEDLESS, false, "records of metadata", "")        \
    X(FLOW, "flow", NEEDLESS, false, "arrows between events", "")              \
    X(PYTHON, "python", NEEDLESS, false, "frames of Python", "")               \
    X(GPU_LABEL, "gpu_label", NEEDLESS, false, "labels on the GPU's side", "") \
    X(INSTANT, "instant", NEEDLESS, false, "instants", "")                     \
    X(COUNTER, "counter", NEEDLESS, false, "counters", "")                     \
    X(OVERHEAD, "overhead", NEEDLESS, false,                                   \
      "records of the profiler's own overhead", "")                            \
    X(RANGE, "range", NEEDLESS, false, "ranges of hardware counters", "")      \
    X(WINDOW, "window", NEEDLESS, false, "windows of the recording", "")       \
    X(QUEUE_WAIT, "queue_wait", NEEDLESS, false, "waits of a queue", "")       \
    X(HOST_MEMORY, "host_memory", NEEDLESS, false,                             \
      "allocations in the host's memory", "")                                  \
    X(MEMORY_CHANGE, "memory_change", NEEDLESS, false,                         \
      "allocations without a total", "")                                       \
    X(END, "end", NEEDLESS, false, "ends of events that are not read", "")     \
    X(ROOT, "root", NEEDLESS, false, "roots of processes and threads", "")     \
    X(MADE, "made", NEEDLESS, false, "nodes for simulators alone", "")         \
    X(CATEGORY, "category", UNREAD, true, "events of category '*'",            \
      "are not read")                                                          \
    X(NO_CATEGORY, "no_category", UNREAD, true, "events of no category",       \
      "are not read")                                                          \
    X(PHASE, "phase", UNREAD, true, "events of phase '*'", "are not read")     \
    X(NO_PHASE, "no_phase", UNREAD, true, "events of no phase",                \
      "are not read")                                                          \
    X(STRAY_END, "stray_end", UNREAD, true, "ends of events without a begin",  \
      "are not read")                                                          \
    X(OTHER_MEMORY, "other_memory", UNREAD, true,                              \
      "allocations on devices of kind '*'", "are not read")                    \
    X(NODE_KIND, "node_kind", UNREAD, true, "nodes of kind '*'",               \
      "are not read")                                                          \
    X(ENTRY, "entry", UNREAD, true, "entries that are no objects",             \
      "are not read")                                                          \
    X(UNSOUND, "unsound", DROPPED, true, "events",                             \
      "are left out, for they cannot be")                                      \
    X(UNTIMED, "untimed", DROPPED, true, "nodes on the GPU",                   \
      "are left out: no node says how long it takes")                          \
    X(DAMAGE, "damage", BROKEN, false, "places", "are broken")                 \
    X(TAIL, "tail", BROKEN, false, "pieces",                                   \
      "behind the end of what is packed are left out")                         \
    X(NUMBER, "number", REPAIRED, true,                                        \
      "numbers that are not finite (inf, nan)", "are read as no value")        \
    X(ESCAPE, "escape", REPAIRED, true, "backslashes that begin no escape",    \
      "are read as '/'")                                                       \
    X(CONTROL, "control", REPAIRED, true, "control characters in strings",     \
      "are read as ' '")                                                       \
    X(UTF8, "utf8", REPAIRED, true, "bytes that are not UTF-8",                \
      "are read as '?'")                                                       \
    X(ORPHAN, "orphan", REPAIRED, true, "nodes",                               \
      "name a parent that is not there")                                       \
    X(OVERRUN, "overrun", REPAIRED, true, "GPU activities",                    \
      "are recorded to end when later ones of their stream have run: each "    \
      "ends where the next begins")                                            \
    X(EARLY, "early", UNMATCHED, false, "GPU activities",                      \
      "began before the recording: they belong to no iteration")               \
    X(LOST, "lost", UNMATCHED, false, "launches", "have no kernel")            \
    X(LOST_COMM, "lost_comm", UNMATCHED, true, "collectives",                  \
      "are not recorded that other ranks of their group recorded")             \
    X(NO_NODE, "no_node", UNMATCHED, false, "operators",                       \
      "have no node in the execution trace beside it")                         \
    X(UNLAUNCHED, "unlaunched", GUESSED, false, "GPU activities",              \
      "have no launch: they belong to the iteration in whose time they ran")   \
    X(PROCESS, "process", GUESSED, true, "processes",                          \
      "were merged into it: each is a rank, numbered from 0 in their order")   \
    X(OWNER, "owner", GUESSED, false, "GPU activities",                        \
      "are of the process that stands before them, or has their device")       \
    X(CALL_KIND, "call_kind", GUESSED, false, "calls",                         \
      "are of the kind of the work that they started")                         \
    X(COMM_NAME, "comm_name", GUESSED, false, "kernels",                       \
      "are communication by their name alone")                                 \
    X(COMM_SIZE, "comm_size", GUESSED, false, "collectives",                   \
      "have the kind and size of what is around them")                         \
    X(COMM_MATCH, "comm_match", GUESSED, true, "collectives",                  \
      "meet those of their kind, size and time in a step of which a rank "     \
      "lost some")                                                             \
    X(NODE_ORDER, "node_order", GUESSED, false, "operators",                   \
      "found their node by name and order")                                    \
    X(NODE_TYPE, "node_type", GUESSED, true, "nodes of the unknown type '*'",  \
      "are read as operators, or as kernels where they ran on the GPU")        \
    X(LAID_OUT, "laid_out", GUESSED, false, "nodes",                           \
      "begin when what they depend on has ended")                              \
    X(RANK_NAME, "rank_name", GUESSED, false, "ranks", "are of a file's name") \
    X(GROUP_NAME, "group_name", GUESSED, false, "process groups",              \
      "are known by their order")                                              \
    X(GROUP_SIZE, "group_size", GUESSED, false, "process groups",              \
      "are taken to span the job")                                             \
    X(GROUP_RANKS, "group_ranks", GUESSED, false, "process groups",            \
      "have the ranks that follow from those that are listed")                 \
    X(GROUP_CALLERS, "group_callers", GUESSED, true, "process groups",         \
      "have no list of ranks: each is of the ranks whose files name it")       \
    X(NEIGHBOURS, "neighbours", GUESSED, false, "collectives",                 \
      "are of ranks that are taken as neighbours")                             \
    X(CLOCK, "clock", GUESSED, false, "clocks",                                \
      "are aligned on the ends of collectives")                                \
    X(STEP, "step", GUESSED, false, "recordings",                              \
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
