/*
 * replay/program/choice.h - which part of a traced run is to be run again.
 */
#ifndef MSIM_REPLAY_PROGRAM_CHOICE_H
#define MSIM_REPLAY_PROGRAM_CHOICE_H
#include "core/trace/trace.h"

enum msim_choice_kind {
    MSIM_CHOICE_ALL,
    MSIM_CHOICE_COMPUTE,
    MSIM_CHOICE_COMMUNICATION,
    MSIM_CHOICE_COPIES
};

/* All zero: everything. What is set must all hold. Names are shell patterns. */
struct msim_choice {
    const char *subtree; /* inside an operator or a label of that name */
    const char *ops;     /* operators of that name */
    const char *exclude; /* not those */
    uint32_t from, to;   /* ET nodes, both included; to 0: up to the last */
    enum msim_choice_kind kind;
};

bool msim_choice_is_all(const struct msim_choice *c);

/* Is op `i`, which a program would call, in the choice? */
bool msim_choice_has(const struct msim_choice *c, const struct msim_trace *t,
                     uint32_t i);

#endif
