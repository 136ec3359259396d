/*
 * core/rewrite/tensor.h - a recorded step as one of several tensor parallel
 * ranks runs it.
 */
#ifndef MSIM_CORE_REWRITE_TENSOR_H
#define MSIM_CORE_REWRITE_TENSOR_H
#include "core/rewrite/rewrite_options.h"

/* That of how->tp ranks. On success the caller owns `*out`
 * (msim_trace_free()). EUSAGE where `t` cannot be split so, with the reason in
 * `err`; ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_tensor_split_new(struct msim_trace **out,
                                       const struct msim_trace *t,
                                       struct msim_strtab *strings,
                                       const struct msim_split *how,
                                       struct msim_error *err);

/* Can a trace of ranks that split the model already be what is asked for?
 * EUSAGE where ranks do not divide, or tokens are shared out otherwise than
 * recorded. */
MSIM_MUST_CHECK
enum msim_status msim_tensor_check_recorded(const struct msim_trace *t,
                                            const struct msim_split *how,
                                            struct msim_error *err);

#endif
