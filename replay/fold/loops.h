/*
 * replay/fold/loops.h - repeated statements of a program as loops.
 *
 * A loop stands for `count` runs of the `period` statements from `first` on.
 * Those runs call the same operators; what their tensors are may differ from
 * run to run in ways that a loop can say:
 *
 *     same      the same tensor in all runs
 *     local     a result of the same run
 *     carried   a result of the run before; of the first run something else
 *     step      a tensor from outside or a gradient, whose number rises evenly
 *     list      one whose number does not
 *     kept      a result of a loop before, of which all runs are kept
 *
 * Anything else, and the statements stay as they are.
 */
#ifndef MSIM_REPLAY_FOLD_LOOPS_H
#define MSIM_REPLAY_FOLD_LOOPS_H
#include "replay/program/program.h"

struct msim_loop {
    uint32_t first, period, count; /* statements, statements, runs */
};

struct msim_loops {
    const struct msim_program *program;
    struct msim_vec loops; /* struct msim_loop, in order, none in another */
    uint32_t *loop_of;     /* of a statement, or NONE */
};

enum msim_loop_kind {
    MSIM_LOOP_SAME,
    MSIM_LOOP_LOCAL,
    MSIM_LOOP_CARRIED,
    MSIM_LOOP_STEP,
    MSIM_LOOP_LIST,
    MSIM_LOOP_KEPT,
    MSIM_LOOP_NONE, /* no loop can say it */
};

/* What one operand of a loop's statement is. */
struct msim_loop_ref {
    uint8_t kind;
    struct msim_program_input first; /* of run 0 */
    int64_t step;                    /* STEP, KEPT: by run */
    uint32_t value; /* LOCAL, CARRIED: the result, as of run 0; KEPT: of the
                       other loop's run 0 */
    int64_t run;    /* KEPT: of the other loop, in our run 0 */
};

/*
 * The loops of `p`. On success release with msim_loops_release(); ENOMEM. With
 * `enabled` false no loop is made.
 */
MSIM_MUST_CHECK
enum msim_status msim_loops_find(struct msim_loops *out,
                                 const struct msim_program *p, bool enabled);
void msim_loops_release(struct msim_loops *f);

/* Operand `k` of the `j`-th statement of `loop`, over all runs. */
struct msim_loop_ref msim_loops_operand(const struct msim_loops *f,
                                        const struct msim_loop *loop,
                                        uint32_t j, uint32_t k);

/* Where value `v` stands in a loop: its run, and the same result of run 0;
 * false outside of loops. */
bool msim_loops_place(const struct msim_loops *f, uint32_t v, uint32_t *run,
                      uint32_t *first);

#endif
