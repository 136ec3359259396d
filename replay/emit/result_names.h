/*
 * replay/emit/result_names.h - Python names of the results of statements, and
 * when each is let go.
 *
 * A name holds its tensor until something else is put into it or it is deleted,
 * so names decide how much memory a benchmark takes. Each result is let go with
 * its last reader, as the frame that held it let it go in the original; its
 * name is used again.
 *
 * A printed statement is one outside of loops or of a loop's first run. Times
 * count them: statement number p reads at 4 p and writes at 4 p + 1; a loop
 * whose last printed statement is p ends at 4 p + 2.
 */
#ifndef MSIM_REPLAY_EMIT_RESULT_NAMES_H
#define MSIM_REPLAY_EMIT_RESULT_NAMES_H
#include "replay/fold/loops.h"

/* One tensor that a loop hands from run to run under a name of its own. */
struct msim_carry {
    uint32_t loop;
    uint32_t value;                  /* handed on, as of run 0 */
    struct msim_program_input first; /* what the first run gets */
    uint32_t holder;                 /* whose name it has */
    bool copied; /* the name is its own: set before, and at the end of a run */
};

struct msim_names {
    const struct msim_loops *fold;
    uint32_t n_values;
    uint32_t *same_as;    /* union of results that share a name */
    uint32_t *name;       /* of a holder: number, or NONE */
    int64_t *begin, *end; /* of a holder: when it is written, last read */
    bool *kept;           /* of a result: its loop appends it to a list */
    int64_t *kept_end;    /* of a result: when that list is last read */
    uint32_t *time;       /* of a statement: its number p, NONE: not printed */
    uint32_t n_times;
    struct msim_vec carries; /* struct msim_carry */
};

MSIM_MUST_CHECK
enum msim_status msim_names_find(struct msim_names *out,
                                 const struct msim_loops *fold);
void msim_names_release(struct msim_names *n);

/* The result whose name result `v` has. */
uint32_t msim_names_holder(const struct msim_names *n, uint32_t v);
/* What stands for an operand that loop number `loop` carries; never NULL for
 * one of kind CARRIED. */
const struct msim_carry *msim_names_carry(const struct msim_names *n,
                                          uint32_t loop,
                                          const struct msim_loop_ref *ref);
/* Is the list that statement `s` returns kept as one? */
bool msim_names_list(const struct msim_program *p,
                     const struct msim_statement *s);

#endif
