/*
 * cli/replay/choice_options.c - options that say which part of a traced run is
 * run again.
 */
#include "cli/replay/choice_options.h"

#include "core/job/job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum msim_status msim_choice_find_step(const struct msim_trace *t,
                                       const char *wanted, uint32_t *step,
                                       struct msim_error *err)
{
    char *end;
    long long n = strtoll(wanted, &end, 10);
    bool number = *wanted && *end == '\0';

    for (uint32_t i = 0; number && i < t->n_steps; i++)
        if (t->steps[i].number == n) {
            *step = i;
            return MSIM_OK;
        }
    *step = (uint32_t)n;
    if (number && n >= 0 && n < (long long)t->n_steps)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--iteration' is '%s', want the number of one of "
                     "the trace's %" PRIu32 " steps",
                     wanted, t->n_steps);
}

const struct msim_trace *msim_choice_trace(const struct msim_job *job)
{
    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (job->ranks[i]->has_et)
            return job->ranks[i];
    return job->n_ranks ? job->ranks[0] : NULL;
}
