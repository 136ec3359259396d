/*
 * replay/program/composite.h - operators of PyTorch that are made of others.
 *
 * Such an operator has no kernel of its own: whoever calls the operators below
 * it does the same work. That is how a benchmark reaches a tensor that was made
 * inside one.
 */
#ifndef MSIM_REPLAY_PROGRAM_COMPOSITE_H
#define MSIM_REPLAY_PROGRAM_COMPOSITE_H
#include <stdbool.h>

extern const char *const msim_composite_ops[];
extern const unsigned msim_n_composite_ops;

/* Is `name` ("aten::linear") with `overload` ("" for the one without a name)
 * made of other operators? */
bool msim_composite(const char *name, const char *overload);

#endif
