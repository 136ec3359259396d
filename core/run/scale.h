/*
 * core/run/scale.h - `--scale SELECT=FACTOR`: what is made longer or shorter.
 *
 * FACTOR multiplies the durations of what SELECT names; SELECT is one of
 *
 *     kernels          neither collective nor point-to-point
 *     communication    transfers of collectives and messages
 *     copies           memsets too
 *     host             all work of the CPU's threads
 *     op:GLOB          GPU work of topmost operators whose name matches
 *     host:GLOB        their time on the host
 *     family:WORD      GPU work of a family of operators: gemm, norm, ...
 *     stream:ID        GPU work of a stream
 *     link:WORD        transfers and copies by the link that they go over
 *     host-part:WORD   a part of the host: launch, synchronisation, ...
 *
 * All but GLOBs may end in @RANK: of that rank alone. Families divide the work
 * of GPUs into parts that do not meet, and so do streams; links divide
 * communication and copies, parts of the host the host. GPU work times 0 is
 * removed, with the latency of its launch and the waiting of its peers.
 */
#ifndef MSIM_CORE_RUN_SCALE_H
#define MSIM_CORE_RUN_SCALE_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum msim_select {
    MSIM_SELECT_KERNELS,
    MSIM_SELECT_COMMUNICATION,
    MSIM_SELECT_COPIES,
    MSIM_SELECT_HOST,
    MSIM_SELECT_OP,
    MSIM_SELECT_HOST_OP,
    MSIM_SELECT_FAMILY,
    MSIM_SELECT_STREAM,
    MSIM_SELECT_LINK,
    MSIM_SELECT_HOST_PART,
};

/* What a message says is accepted. */
#define MSIM_SCALE_ACCEPTED                                                    \
    "kernels, communication, copies, host, op:GLOB, host:GLOB, family:WORD, "  \
    "stream:ID, link:WORD or host-part:WORD"

/* X(name, the word, what it is) */
#define MSIM_LINK_MAP(X)                                                       \
    X(NODE, "node", "collectives and messages among GPUs of one node")         \
    X(NETWORK, "network", "collectives and messages between nodes")            \
    X(H2D, "h2d", "copies from the host to the GPU")                           \
    X(D2H, "d2h", "copies from the GPU to the host")                           \
    X(D2D, "d2d", "copies and memsets in the memory of a GPU")                 \
    X(P2P, "p2p", "copies from one GPU to another")

enum msim_link {
#define X(name, text, what) MSIM_LINK_##name,
    MSIM_LINK_MAP(X)
#undef X
        MSIM_LINK_COUNT
};
const char *msim_link_text(enum msim_link l);

/* Likewise. Calls count without their waiting. */
#define MSIM_HOST_PART_MAP(X)                                                  \
    X(LAUNCH, "launch", "calls that launch kernels and graphs")                \
    X(TRANSFER, "copy-calls", "calls that start copies and memsets")           \
    X(SYNC, "synchronisation", "calls that wait for the GPU")                  \
    X(EVENT, "event-calls", "calls that record and query events")              \
    X(MEMORY, "allocation", "calls that take and give back GPU memory")        \
    X(CALL, "other-calls", "all other calls")                                  \
    X(DISPATCH, "dispatch", "operators that are in none of the next three")    \
    X(AUTOGRAD, "autograd", "operators that autograd evaluates")               \
    X(OPTIMIZER, "optimizer", "operators of an optimizer's step")              \
    X(COLLECTIVE, "collectives", "operators that start communication")         \
    X(LOADER, "data-loader", "taking the next batch of a data loader")         \
    X(PYTHON, "python", "between operators, where nothing is recorded")

enum msim_host_part {
#define X(name, text, what) MSIM_HOST_PART_##name,
    MSIM_HOST_PART_MAP(X)
#undef X
        MSIM_HOST_PART_COUNT
};
const char *msim_host_part_text(enum msim_host_part p);

struct msim_scale {
    const char *text; /* as parsed: "kernels=0.5" */
    enum msim_select select;
    const char *glob; /* OP, HOST_OP, STREAM: not empty, part of the parsed
                         text; else NULL */
    int glob_length;
    int group;     /* FAMILY: enum msim_family; LINK, HOST_PART: enums above */
    bool one_rank; /* that rank alone; false: all */
    int64_t rank;
    double factor; /* finite, >= 0 */
};

/*
 * Parse "SELECT=FACTOR"; the last '=' is the one that counts, as a GLOB may
 * hold others. `text` must outlive `out`. On failure EUSAGE, and `err` says
 * what was wanted.
 */
MSIM_MUST_CHECK
enum msim_status msim_scale_parse(struct msim_scale *out, const char *text,
                                  struct msim_error *err);

/* Of an error of the parser: what it says is wanted. */
const char *msim_scale_wanted(const struct msim_error *err);

/* Is it a pattern: `op:GLOB`, `host:GLOB` or `stream:ID`? */
bool msim_scale_is_pattern(const struct msim_scale *s);

/* Does it name a group of work: a family, a link or a part of the host? */
bool msim_scale_is_group(const struct msim_scale *s);

/* Does a pattern cover an operator, or a stream, of this name? `*`, `?` and
 * `[...]` match as in a shell; `...`, which stands in shortened names, matches
 * as `*` does. A name matches itself, whatever it holds. */
bool msim_scale_matches(const struct msim_scale *s, const char *name);

#endif
