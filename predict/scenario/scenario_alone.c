/*
 * predict/scenario/scenario_alone.c - one scenario without a base.
 */
#include "predict/scenario/scenario.h"

#include "predict/pipeline.h"

#include <math.h>
#include <string.h>

enum msim_status msim_scenario_alone_begin(struct msim_scenario_alone *out,
                                           struct msim_scenario_row *row,
                                           const struct msim_inputs *in,
                                           struct msim_error *err)
{
    *out = (struct msim_scenario_alone){
        .row = row, .in = in, .settings = &row->settings};
    if (msim_rewrite_is_none(&row->settings.rewrite))
        return MSIM_OK;
    out->in = &out->x.in;
    out->settings = &out->x.settings;
    return msim_scenario_inputs_new(&out->x, in, &row->settings, err);
}

void msim_scenario_alone_end(struct msim_scenario_alone *a)
{
    msim_scenario_inputs_release(&a->x); /* of the caller's inputs nothing */
    *a = (struct msim_scenario_alone){.row = NULL};
}

enum msim_status
msim_scenario_alone_memory(const struct msim_scenario_alone *a,
                           const struct msim_platform *platform,
                           struct msim_held_most *out, struct msim_error *err)
{
    struct msim_rank_memory memory = {.ranks = NULL};
    struct msim_asked asked;
    enum msim_status status =
        msim_asked_views(&asked, a->in, &a->settings->reshape, err);

    if (status == MSIM_OK)
        status = msim_rank_memory_find(&memory, msim_asked_ranks(&asked, a->in),
                                       a->in->job->n_ranks, platform);
    if (status == MSIM_OK)
        status =
            msim_step_factor_memory(a->settings, a->in, platform, &memory, err);
    if (status == MSIM_OK && !msim_rank_memory_most(&memory, out)) {
        *out = (struct msim_held_most){.peak = NAN, .low = NAN, .high = NAN};
        for (int i = 0; i < MSIM_HELD_COUNT; i++)
            out->by[i] = NAN;
    }
    msim_rank_memory_release(&memory);
    msim_asked_release(&asked);
    return status;
}

enum msim_status msim_scenario_alone_run(const struct msim_scenario_alone *a,
                                         struct msim_error *err)
{
    return msim_scenario_run_alone(a->row, a->settings, a->in, err);
}
