/*
 * replay/program/program_internal.h - what the files of replay/program share;
 * no other room includes it.
 */
#ifndef MSIM_REPLAY_PROGRAM_PROGRAM_INTERNAL_H
#define MSIM_REPLAY_PROGRAM_PROGRAM_INTERNAL_H
#include "core/base/containers.h"
#include "core/trace/trace_steps.h"
#include "replay/program/program.h"

/* ---- program build ------------------------------------------------------- */
/* A program while it is made. */

struct msim_builder {
    struct msim_program *p;
    const struct msim_trace *t;
    const struct msim_choice *choice;
    const char *namespaces; /* as msim_program_options */
    struct msim_error *err;
    bool autograd;
    uint32_t *order, n_order; /* ops of the step by ET node id */
    bool *taken;              /* of an op: it is in a sub-tree that was taken */
    uint32_t *unit;           /* of an op: the statement that it is part of */
    struct msim_idmap schema_of; /* string number -> schema, NONE: unreadable */
    struct msim_idmap opened;    /* schema: those below it are called instead */
    struct msim_idmap visible;   /* key of a tensor -> operand, packed */
    struct msim_idmap made;      /* key of a tensor -> op that returned it */
    struct msim_idmap gradient; /* key, and life, of a gradient -> its number */
    uint32_t busy_id;        /* last node of the sub-tree that was taken last */
    struct msim_vec pending; /* struct msim_pending, in order of their begin */
    struct msim_idmap waits; /* sequence numbers that the trace waits for */
    bool opened_more;        /* in this round */
    bool backward_open;      /* the last statement is a backward that goes on */
};

/* What identifies a tensor: which it is, and what it looks like. */
struct msim_tensor_key {
    uint32_t id; /* of tensor_ids */
    uint64_t exact, look;
};

/* One tensor of an operator, as the walk over its arguments meets it. */
struct msim_tensor_at {
    const struct msim_arg *arg;
    uint32_t id;       /* of tensor_ids */
    uint32_t argument; /* which argument of the operator it is in */
};

/*
 * The tensors of a block in preorder: call until it returns false, with `*at`
 * zeroed first. `first` is the first of its tensor_ids.
 */
struct msim_tensor_walk {
    uint32_t next, argument, end_of_argument, tensors;
};
bool msim_tensor_next(const struct msim_trace *t, uint32_t block,
                      uint32_t first, struct msim_tensor_walk *walk,
                      struct msim_tensor_at *at);

struct msim_tensor_key msim_tensor_key_of(const struct msim_builder *b,
                                          const struct msim_tensor_at *at);

/* Add a statement of ours, which calls no operator: of one operand, without a
 * result, in place of `op`. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_add(struct msim_builder *b,
                                  enum msim_statement_kind kind, uint32_t op,
                                  struct msim_program_input operand);

/* The schema of op `i`, read once; NONE where it has none. */
enum msim_status msim_builder_schema(struct msim_builder *b, uint32_t i,
                                     uint32_t *schema);

/* ---- which operators are called: program_units.c ------------------------- */

/* All statements, bound, with what is opened by now. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_round(struct msim_builder *b);

/* ---- what no machine can run: program_check.c ---------------------------- */

/*
 * EFORMAT with the node where a tensor of op `op` has more than 2^46 elements
 * or bytes, or begins before its memory (sums of sizes fit in 64 bits
 * otherwise), or where one that signature `schema` asks for was never made.
 * Backward operators take none for gradients that nobody wants.
 */
MSIM_MUST_CHECK
enum msim_status msim_builder_check(const struct msim_builder *b, uint32_t op,
                                    uint32_t schema);

/* ---- which result a tensor is: program_bind.c ---------------------------- */

/* Add the call of `op`, which has that schema. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_call(struct msim_builder *b, uint32_t op,
                                   uint32_t schema);
/* Op `i` is a step of PyTorch's engine: part of a backward statement. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_builder_backward(struct msim_builder *b, uint32_t i);

/* ---- what tensors from outside are for: program_roles.c ------------------ */

/* Roles and storage of the tensors from outside. `*known` is false where the
 * parameters are not those that backward made gradients for: then nothing else
 * has been done. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_roles(struct msim_builder *b, bool *known);

/* ---- program collective -------------------------------------------------- */
/* Collectives and the waits for them. */

/* Which collectives of the step the trace records a wait for. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_find_waits(struct msim_builder *b);

/* `s`, the next statement, is a collective: it has its operands and gets the
 * work as its result. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_collective(struct msim_builder *b,
                                         struct msim_statement *s);
/* Add waits for what op `op`, a call with that schema, needs. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_waits_before(struct msim_builder *b, uint32_t op,
                                           uint32_t schema);
/* Add the wait that op `op` records, if it is one for a collective that has
 * begun and is not waited for; `*known` is false otherwise. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_wait(struct msim_builder *b, uint32_t op,
                                   bool *known);
/* Add waits for all that have begun. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_wait_all(struct msim_builder *b);

#endif
