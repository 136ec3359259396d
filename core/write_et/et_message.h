/*
 * core/write_et/et_message.h - what a node says of its collective or message.
 */
#ifndef MSIM_CORE_WRITE_ET_ET_MESSAGE_H
#define MSIM_CORE_WRITE_ET_ET_MESSAGE_H
#include "core/write_et/trace_args.h"

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
