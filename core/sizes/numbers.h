/*
 * core/sizes/numbers.h - sizes among the numbers that operators are given: of
 * a view, of parts, of what is made.
 */
#ifndef MSIM_CORE_SIZES_NUMBERS_H
#define MSIM_CORE_SIZES_NUMBERS_H
#include "core/trace/trace.h"

/* A call as it was and as it is to be: lists of arguments and results, of which
 * the new ones have their tensors' sizes already. Their numbers follow those in
 * `args`. */
struct msim_number_call {
    const struct msim_trace *t, *view; /* whose sizes are the old, the new */
    const char *name;
    const struct msim_arg *was; /* arguments, n of them */
    struct msim_arg *args;
    uint32_t n;
    const struct msim_arg *outs_were, *outs; /* m of them */
    uint32_t m;
};

void msim_numbers_follow(const struct msim_number_call *c);

#endif
