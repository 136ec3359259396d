/*
 * core/write_et/write_et_internal.h - what the files of core/write_et share; no
 * other room includes it.
 */
#ifndef MSIM_CORE_WRITE_ET_WRITE_ET_INTERNAL_H
#define MSIM_CORE_WRITE_ET_WRITE_ET_INTERNAL_H
#include "core/write_et/write_et.h"

/* ---- trace args ---------------------------------------------------------- */
/*
 * Arguments of a trace's operators, as an execution trace's file has them.
 *
 * Read again, a block is the same: kinds, values, sizes, types, layouts, and
 * which tensors are one piece of memory. Strides are those of the file where
 * they still fit the sizes, else such as give the layout; [8, 43, 512] in rows
 * of 1536 with 128 instead of 43 has
 *
 *     (66048, 1536, 1)     what was recorded would overlap
 *     (196608, 1536, 1)    so the outer size starts anew
 */

#define MSIM_ET_LISTS 8 /* inside each other, at most */

/* What all arguments of a trace share. */
struct msim_et_names {
    const struct msim_trace *t;
    const uint32_t *tensor; /* by row of tensor_ids: its number in the file */
};

/* One side of an operator. */
struct msim_et_block {
    const struct msim_et_names *names;
    uint32_t block, ids; /* as of struct msim_op; block NONE: empty */
};

/* put() of a struct msim_et_side whose `of` is a struct msim_et_block. */
void msim_et_block_put(struct msim_json *j, const void *of,
                       enum msim_et_column c);

/* The deepest nesting of lists in a block. */
uint32_t msim_et_block_depth(const struct msim_trace *t, uint32_t block);

/* ---- et message ---------------------------------------------------------- */
/* What a node says of its collective or message. */

/* The group of all ranks where the trace names none, as c10d calls it. */
#define MSIM_ET_ALL_RANKS "default_pg"

/* A message of `t`, as its node says it. */
struct msim_et_said {
    struct msim_et_block block; /* the operator's own arguments */
    struct msim_et_message message;
    int64_t sequence,
        place;  /* place: of the peer or of this rank in its group */
    bool alone; /* the operator says nothing of it: arguments that
                   record_param_comms has stand behind its own */
};

/* Of operator `op`, which has a message. */
struct msim_et_said msim_et_said_of(const struct msim_et_names *names,
                                    uint32_t op);

/* put() of a struct msim_et_side whose `of` is a struct msim_et_said. */
void msim_et_said_put(struct msim_json *j, const void *of,
                      enum msim_et_column c);

/*
 * The list of groups as JSON that no node of `t` has yet, or has without some:
 * `*text` is the caller's (free()), NULL where there is nothing to list.
 * ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_et_groups_text(char **text, const struct msim_trace *t);

#endif
