/*
 * replay/program/make_program.h - from a trace to a program:
 *
 *     trace --> operators to call --> statements --> tensors from outside
 *               program_units.c       program_bind.c   program_roles.c
 */
#ifndef MSIM_REPLAY_PROGRAM_MAKE_PROGRAM_H
#define MSIM_REPLAY_PROGRAM_MAKE_PROGRAM_H
#include "core/trace/trace_steps.h"
#include "replay/program/program.h"

struct msim_program_options {
    uint32_t step; /* of trace->steps, or NONE: the whole trace */
    bool direct;   /* the direct form, whatever the trace has; a part of the
                      step has it always */
    struct msim_choice choice;
    const char *namespaces; /* whose operators may be called, beside those that
                               are known (callable.h); NULL: no others */
};

/*
 * The program of one rank. `*out` is owned by the caller on success
 * (msim_program_free()), NULL on failure: EFORMAT without an execution trace or
 * without anything to call, or with a tensor that no machine holds; ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_program_new(struct msim_program **out,
                                  const struct msim_trace *trace,
                                  const struct msim_program_options *options,
                                  struct msim_error *err);

#endif
