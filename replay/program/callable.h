/*
 * replay/program/callable.h - which operators of a trace a program may call.
 *
 * A trace is a stranger's, and registered operators do more than compute:
 * aten::from_file maps a file for writing, aten::save writes one,
 * debugprims::load_tensor reads one. So a program calls operators of name
 * spaces that are known to compute, and passes no text but words: what rounds
 * which way (rounding_mode), what is summed up how (reduce).
 */
#ifndef MSIM_REPLAY_PROGRAM_CALLABLE_H
#define MSIM_REPLAY_PROGRAM_CALLABLE_H
#include "core/trace/trace.h"
#include "replay/program/schema.h"

#include <stdbool.h>

/*
 * Why operator `op` with signature `s` is not called: a static text, or NULL.
 * `further` are name spaces that the user trusts, too, separated by commas;
 * NULL: none.
 */
const char *msim_why_not_callable(const struct msim_trace *t, uint32_t op,
                                  const struct msim_schema *s,
                                  const char *further);

/* Is it one of the name spaces that are known? */
bool msim_is_known_space(const char *space, size_t n);

/* Is it a word that Python takes for no name? */
bool msim_is_python_keyword(const char *word, size_t n);

#endif
