/*
 * core/work/stack.h - versions of PyTorch, and of the libraries that come with
 * it, which compute some operators by other kernels than other versions do.
 *
 * The name of a platform may end in one:
 *
 *     h100@pytorch-2.9
 *
 * Without it a time is in the middle of the versions, or that of most of them.
 */
#ifndef MSIM_CORE_WORK_STACK_H
#define MSIM_CORE_WORK_STACK_H
#include "core/base/status.h"

#include <stdint.h>

struct msim_stack {
    const char *name; /* "pytorch-2.9" */
    double pytorch;   /* its version; 0: any */
    const char *says; /* what it computes in another way, for people */
};

/* All of them, the oldest first; NULL beyond the last. */
const struct msim_stack *msim_stack_at(uint32_t i);

/* Where the name of a stack begins in the name of a platform, behind an '@'
 * that follows the last '/'; NULL where it has none. */
const char *msim_stack_in(const char *platform);

/* EUNKNOWN where there is no such stack; `err` lists those that there are. */
MSIM_MUST_CHECK
enum msim_status msim_stack_find(const struct msim_stack **out,
                                 const char *name, struct msim_error *err);

#endif
