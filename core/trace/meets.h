/*
 * core/trace/meets.h - can the calls of two ranks be one collective, or the two
 * ends of a message?
 */
#ifndef MSIM_CORE_TRACE_MEETS_H
#define MSIM_CORE_TRACE_MEETS_H
#include "core/trace/trace.h"

static inline bool msim_is_message(uint8_t collective)
{
    return collective == MSIM_COLL_SEND || collective == MSIM_COLL_RECV;
}

/* By their kinds, a send meeting a receive, and by their sizes where ranks have
 * equal ones by definition. A size that is not known is any. */
bool msim_comms_may_meet(const struct msim_comm *x, const struct msim_comm *y);

#endif
