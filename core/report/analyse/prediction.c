/*
 * core/report/analyse/prediction.c - the end of a prediction.
 */
#include "core/report/analyse/prediction.h"

#include <math.h>
#include <stdlib.h>

struct msim_rated msim_prediction_rated(const struct msim_prediction *p)
{
    const struct msim_rates *r = &p->rates;
    const struct msim_figure *us = &p->period.us;
    double n = r->per_iteration > 0 ? r->per_iteration * 1e6 : (double)NAN;
    double gpus = p->gpus ? p->gpus : 1;

    return (struct msim_rated){
        .per_second = {n / us->predicted, n / us->high, n / us->low,
                       (double)NAN},
        .cost_usd = r->usd_per_hour > 0
                        ? r->usd_per_hour * gpus * us->predicted / 3.6e9
                        : (double)NAN,
        .joules =
            r->watts > 0 ? r->watts * gpus * us->predicted * 1e-6 : (double)NAN,
        .gpus = gpus};
}

/* The row of the rank whose trace a member has, as its own; false: none. */
static bool row_of(const struct msim_rank_row *rows, uint32_t n, int64_t rank,
                   int64_t member, struct msim_rank_row *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (rows[i].rank != rank)
            continue;
        *out = rows[i];
        out->rank = member;
        if (out->memory.rank == rank)
            out->memory.rank = member;
        return true;
    }
    return false;
}

enum msim_status msim_prediction_list_ranks(struct msim_prediction *p,
                                            const struct msim_job *job)
{
    const struct msim_rank_row *kept = p->ranks_detail;
    uint32_t n = 0;
    struct msim_rank_row *rows;

    if (!job->members)
        return MSIM_OK;
    rows = msim_arena_alloc(&p->arena,
                            ((size_t)job->n_members + 1) * sizeof(*rows));
    if (!rows)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < job->n_members; i++) {
        const struct msim_job_member *m = &job->members[i];

        n += row_of(kept, p->n_ranks_detail, job->ranks[m->of]->rank, m->rank,
                    &rows[n]);
    }
    p->ranks_detail = rows;
    p->n_ranks_detail = n;
    return MSIM_OK;
}

void msim_prediction_free(struct msim_prediction *p)
{
    if (!p)
        return;
    msim_arena_release(&p->arena);
    free(p);
}

void msim_timeline_free(struct msim_timeline *t)
{
    if (!t)
        return;
    msim_arena_release(&t->arena);
    free(t);
}
