/*
 * replay/emit/python_operand.h - the tensors of a call as Python text; for this
 * room.
 */
#ifndef MSIM_REPLAY_EMIT_PYTHON_OPERAND_H
#define MSIM_REPLAY_EMIT_PYTHON_OPERAND_H
#include "replay/emit/python_state.h"

/* Where a statement is printed: outside of loops, or in the body of one. */
struct msim_body_place {
    uint32_t statement;
    uint32_t loop; /* or NONE */
};

/* Operand `k` of a statement. */
void msim_body_operand(struct msim_body *b, struct msim_text *out,
                       struct msim_body_place at, uint32_t k);
/* One operand outside of loops. */
void msim_body_plain(struct msim_body *b, struct msim_text *out,
                     struct msim_program_input o);
/* The name of the list that keeps result `v` of all runs of its loop. */
void msim_body_kept(struct msim_body *b, struct msim_text *out, uint32_t v);
/* Result `v` by its name. */
void msim_body_value(struct msim_body *b, struct msim_text *out, uint32_t v);
/* Operands first .. first + n - 1 outside of loops, all of a list, in fewer
 * words than one by one; false: there are none. */
bool msim_body_row(struct msim_body *b, struct msim_text *out,
                   const struct msim_statement *s, uint32_t first, uint32_t n);

/* ---- the call of a statement: python_call.c ------------------------------ */

/* The call of a statement, from the operator's name on. */
void msim_body_call(struct msim_body *b, struct msim_text *out,
                    struct msim_body_place at);
/* The call of a collective. */
void msim_body_collective(struct msim_body *b, struct msim_text *out,
                          struct msim_body_place at);

#endif
