/*
 * core/match/lost_comms.h - collectives and messages of which a rank has no
 * record.
 */
#ifndef MSIM_CORE_MATCH_LOST_COMMS_H
#define MSIM_CORE_MATCH_LOST_COMMS_H
#include "core/trace/trace.h"

/*
 * Number the collectives of groups that record no sequence and of which a rank
 * lost records in a step, so that all others meet as they did; the logs say how
 * many were lost and matched. `origins` has, for each of the `n` ranks, when
 * its trace's time 0 was on a clock that all of them share, MSIM_TIME_NONE
 * where that is not known; `n_traced` ranks were read. Before clocks are
 * aligned.
 */
MSIM_MUST_CHECK
enum msim_status msim_match_lost(struct msim_trace *const *ranks, uint32_t n,
                                 uint32_t n_traced, const msim_ps *origins);

#endif
