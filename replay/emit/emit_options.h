/*
 * replay/emit/emit_options.h - what a benchmark is to be, beside its programs.
 */
#ifndef MSIM_REPLAY_EMIT_EMIT_OPTIONS_H
#define MSIM_REPLAY_EMIT_EMIT_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>

struct msim_emit_options {
    const char *title;   /* one line: what the benchmark is of */
    const char *version; /* of this program */
    uint32_t batch;      /* samples; 0: as many as the trace had */
    uint32_t repeat;     /* steps that are timed at once; 0: one */
    bool no_loops;       /* every statement on a line of its own */
    /* What one rank alone waits instead of running its collectives: of each
     * rank, for each collective, in order; NULL: nothing is known. */
    const double *const *delays_us;
    const char *delays_from; /* where they come from: "predicted for H100" */
};

#endif
