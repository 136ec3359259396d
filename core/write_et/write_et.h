/*
 * core/write_et/write_et.h - a trace of ours as an execution trace in PyTorch's
 * format: a recorded one, a view of it with other sizes, or one that a change
 * made (core/reshape, core/rewrite).
 *
 * Read again it is the same trace, as far as anything is predicted of it:
 * operators with their arguments, threads, labels and steps, messages and
 * groups, which tensors are one piece of memory. It has no times and no GPU
 * activities; of strides see trace_args.h.
 *
 * A message whose operator is no record_param_comms, as a change makes it
 * (c10d::allreduce_), is an operator with the arguments and attributes of one:
 * how often operators are called stays. So is a group that no node of the trace
 * lists: a label in front lists all.
 */
#ifndef MSIM_CORE_WRITE_ET_WRITE_ET_H
#define MSIM_CORE_WRITE_ET_WRITE_ET_H
#include "core/trace/trace.h"

/* Can it be written? EUSAGE, with the reason in `err`, where `t` has no
 * execution trace or what one cannot say: work that was put off to the host,
 * several GPUs. */
MSIM_MUST_CHECK
enum msim_status msim_write_et_check(const struct msim_trace *t,
                                     struct msim_error *err);

/*
 * `sink` takes the bytes of the file, `process` is its number. `*nodes` is how
 * many it has; may be NULL. As msim_write_et_check(); ENOMEM; what `sink` says.
 */
MSIM_MUST_CHECK
enum msim_status
msim_write_et(const struct msim_trace *t, int64_t process,
              const char *generator,
              enum msim_status (*sink)(void *, const char *, size_t), void *ctx,
              uint64_t *nodes, struct msim_error *err);

#endif
