/*
 * core/graph/rules/graph_rules_internal.h - what the files of core/graph/rules
 * share; no other room includes it.
 */
#ifndef MSIM_CORE_GRAPH_RULES_GRAPH_RULES_INTERNAL_H
#define MSIM_CORE_GRAPH_RULES_GRAPH_RULES_INTERNAL_H
#include "core/graph/rules/graph_rules.h"
#include "core/trace/trace.h"

/* ---- graph company ------------------------------------------------------- */
/*
 * What ran on other streams of its device when a GPU activity began.
 *
 * Private to the rules, and only where GPU times may be read. All starts are
 * gone through in the order of time, beside the ends and what fills the device,
 * so that many streams cost no more than one.
 */

/* From the end of an activity to the start of a kernel that waited for it
 * by an event: dependencies across streams resolve within tens of
 * microseconds. */
#define MSIM_EVENT_MAX (25 * (msim_ps)MSIM_PS_PER_US)

struct msim_company {
    /* Of each GPU event the kernel, on the first of the other streams, that
     * left no room until about when it began, or NONE. Its last block is issued
     * `tail` before its end (core/graph/contention.h). Blocks of one kernel do
     * not all take equally long, hence a tolerance of half a tail. */
    uint32_t *filled_by;
    bool *busy; /* something ran there at all */
};

/* Release in any case. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_company_init(struct msim_company *c,
                                   const struct msim_trace *t);
void msim_company_release(struct msim_company *c);

/* ---- graph cause --------------------------------------------------------- */
/*
 * Why a GPU activity started when it did.
 *
 * Private to the rules, and only where GPU times may be read. The causes, the
 * best known first:
 *
 *   launch, stream   the later of the two, if the start follows it within a
 *                    latency: that latency is kept as the edge's lag
 *   recorded wait    cuda_sync events name what its stream waited for
 *   event            another stream's activity ended just then: inferred
 *   full device      a kernel of another stream was running whose blocks
 *                    filled every multiprocessor: the engine delays it
 *   nothing          an unexplained delay. What caused it is not in the trace
 *                    (an absent rank, work that was not recorded), so it is
 *                    kept: as long after the later of launch and predecessor
 *                    as in the trace, not at an instant of its own. So it
 *                    moves with what it followed, and a run with twice the GPU
 *                    work takes twice the time at most.
 *
 * An edge that does not bind gets the trace's usual latency, so that it holds
 * in a run in which it binds.
 */

enum msim_cause_kind {
    MSIM_CAUSE_LAUNCH,
    MSIM_CAUSE_STREAM,
    MSIM_CAUSE_EVENT,
    MSIM_CAUSE_FULL,
    MSIM_CAUSE_UNKNOWN,
};

struct msim_cause {
    enum msim_cause_kind kind;
    msim_ps launch; /* start of the launching call, or TIME_NONE */
    msim_ps before; /* end of the one before it on its stream, or TIME_NONE */
    uint32_t event; /* GPU activity on another stream, or NONE */
    msim_ps launch_lag, stream_lag, event_lag;
    msim_ps unknown;   /* delay of which nothing is known */
    bool after_stream; /* it follows the predecessor, not the launch */
    msim_ps idle;      /* part of it in which the device did nothing */
};

/* What is needed to explain starts of one rank; release with
 * msim_causes_release(). */
struct msim_causes {
    const struct msim_rank_tasks *r;
    const struct msim_trace *t; /* its own */
    struct msim_company company;
    /* From launch to start, and from end to next start: what remains when
     * nothing else delays a start, and the usual figure. */
    msim_ps latency, gap, usual_latency, usual_gap;
    bool recorded; /* the trace names its event waits */
};

MSIM_MUST_CHECK
enum msim_status msim_causes_init(struct msim_causes *c,
                                  const struct msim_rank_tasks *r);
void msim_causes_release(struct msim_causes *c);

/*
 * Explain the start of GPU event `i`. `launched`: its launch is recorded.
 * `recorded_end`: end of what its stream waited for by recorded ids, or
 * TIME_NONE.
 */
struct msim_cause msim_cause_of(const struct msim_causes *c, uint32_t i,
                                bool launched, msim_ps recorded_end);

#endif
