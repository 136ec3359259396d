/*
 * core/trace/meets.h - which calls of two ranks meet: whom a message is
 * for, what group a call is of, and whether two calls can be one collective, or
 * the two ends of a message.
 */
#ifndef MSIM_CORE_TRACE_MEETS_H
#define MSIM_CORE_TRACE_MEETS_H
#include "core/trace/trace.h"

static inline bool msim_is_message(uint8_t collective)
{
    return collective == MSIM_COLL_SEND || collective == MSIM_COLL_RECV;
}

/* The rank of the job that `c` records as its root, source or destination; -1:
 * none. Of a group without a list the place is taken for it. */
int32_t msim_comm_peer(const struct msim_trace *t, const struct msim_comm *c);

/* Does the rank send or receive, as a stage of a pipeline does? */
bool msim_has_messages(const struct msim_trace *t);

/* Whom a message is from, and to: ranks of the job. */
struct msim_message {
    int64_t from, to;
};

/* False: not a message, or one end is not recorded (a batch of several). */
bool msim_message_of(const struct msim_trace *t, const struct msim_comm *c,
                     struct msim_message *m);

/* Does the trace have messages, and of each the other end? */
bool msim_names_peers(const struct msim_trace *t);

/*
 * What is equal of calls that may meet, on whichever of the job's `n_ranks`:
 * their group; of a message also whom it is from and to, so that a sender meets
 * its receiver in order, whichever of them records what. Without the other's
 * number (a batch of both) the whole group meets. Once groups are complete
 * (core/job/job_groups.c).
 */
uint64_t msim_meeting_key(const struct msim_trace *t, const struct msim_comm *c,
                          uint32_t n_ranks);

/* By their kinds, a send meeting a receive, and by their sizes where ranks have
 * equal ones by definition. A size that is not known is any. */
bool msim_comms_may_meet(const struct msim_comm *x, const struct msim_comm *y);

#endif
