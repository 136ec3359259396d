/*
 * core/run/scale.h - `--scale SELECT=FACTOR`: what is made longer or shorter.
 *
 * SELECT is `kernels` (neither collective nor point-to-point), `communication`,
 * `copies` (memsets too), `host`, `op:GLOB`: the GPU work of the topmost
 * operators whose name matches, or `host:GLOB`: their time on the host. The
 * first four may end in @RANK: of that rank alone. FACTOR
 * multiplies their durations. GPU work times 0 is removed, with the latency of
 * its launch and the waiting of its peers.
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
};

struct msim_scale {
    const char *text; /* as parsed: "kernels=0.5" */
    enum msim_select select;
    const char
        *glob; /* OP, HOST_OP: not empty, part of the parsed text; else NULL */
    int glob_length;
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

/* Does an OP or HOST_OP selection cover an operator of this name? `*`, `?` and
 * `[...]` match as in a shell; `...`, which stands in shortened names, matches
 * as `*` does. A name matches itself, whatever it holds. */
bool msim_scale_matches(const struct msim_scale *s, const char *name);

#endif
