/*
 * tests/unit/engine_starts.h - a run of which a test wants the starts alone.
 */
#ifndef MSIM_TESTS_UNIT_ENGINE_STARTS_H
#define MSIM_TESTS_UNIT_ENGINE_STARTS_H
#include "core/run/engine.h"

MSIM_MUST_CHECK
static inline enum msim_status engine_starts(struct msim_engine *e,
                                             const struct msim_scenario *s,
                                             msim_ps *start,
                                             struct msim_error *err)
{
    return msim_engine_simulate(e, s, &(struct msim_times){.start = start},
                                err);
}

#endif
