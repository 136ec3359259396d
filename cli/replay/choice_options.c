/*
 * cli/replay/choice_options.c - options that say which part of a traced run is
 * run again.
 */
#include "cli/replay/cli_replay_internal.h"

#include "cli/cmd.h"
#include "core/job/job.h"
#include "core/trace/trace_steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ProfilerStep#N, else the N-th from zero, which is said; else NONE. */
static uint32_t step_of(const struct msim_trace *t, long long n)
{
    for (uint32_t i = 0; i < t->n_steps; i++)
        if (t->steps[i].number == n)
            return i;
    if (n < 0 || n >= (long long)t->n_steps)
        return MSIM_NONE;
    msim_message_warning("no step is marked ProfilerStep#%lld: this is "
                         "ProfilerStep#%" PRId64 ", the one at %lld from 0",
                         n, t->steps[n].number, n);
    return (uint32_t)n;
}

static enum msim_status find_wanted(const struct msim_trace *t,
                                    const char *wanted, uint32_t *step,
                                    struct msim_error *err)
{
    char *end;
    long long n = strtoll(wanted, &end, 10);
    bool is_number = *wanted && !*end;
    const char *why = is_number ? msim_step_left_why(t, n) : NULL;

    *step = MSIM_NONE;
    if (why && !msim_steps_numbered(t, n))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--iteration' is '%s', a step that is left "
                         "out of the run: %s, want one of %s",
                         wanted, why, msim_step_numbers_of(t).text);
    if (is_number)
        *step = step_of(t, n);
    if (*step == MSIM_NONE)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--iteration' is '%s', want the number of one "
                         "of the trace's %" PRIu32 " steps",
                         wanted, t->n_steps);
    return MSIM_OK;
}

enum msim_status msim_choice_find_step(const struct msim_trace *t,
                                       const char *wanted, uint32_t *step,
                                       struct msim_error *err)
{
    struct msim_step_window w;

    if (!wanted)
        return msim_step_settled(t, step);
    MSIM_TRY(find_wanted(t, wanted, step, err));
    w = msim_step_window_of(t, *step);
    if (!t->has_times && w.from == w.to)
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "the execution trace has no node of "
                         "ProfilerStep#%" PRId64 ", which the Kineto trace "
                         "beside it has; want another '--iteration'",
                         t->steps[*step].number);
    return MSIM_OK;
}

const struct msim_trace *msim_choice_trace(const struct msim_job *job)
{
    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (job->ranks[i]->has_et)
            return msim_choice_rank(job->ranks[i]);
    return job->n_ranks ? job->ranks[0] : NULL;
}
