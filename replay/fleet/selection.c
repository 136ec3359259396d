/*
 * replay/fleet/selection.c - from a fleet to the jobs that stand for it.
 */
#include "replay/fleet/fleet.h"

#include "core/base/containers.h"
#include "replay/fleet/fleet_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Choices are in the order of jobs, the longest first. */
static int most_first(const void *a, const void *b)
{
    const struct msim_chosen *x = a, *y = b;

    if (x->stands_for != y->stands_for)
        return MSIM_ORDER(y->stands_for, x->stands_for);
    return MSIM_ORDER(x->job, y->job);
}

static void fill_chosen(struct msim_selection *s,
                        const struct msim_subset *subset)
{
    const struct msim_fleet *fleet = s->fleet;

    for (uint32_t c = 0; c < s->n; c++)
        s->chosen[c] =
            (struct msim_chosen){subset->chosen[c], subset->weight[c], 0, 0};
    for (uint32_t i = 0; i < fleet->n_jobs; i++) {
        struct msim_chosen *by = &s->chosen[subset->nearest[i]];

        by->stands_for += fleet->jobs[i].weight;
        by->jobs++;
    }
    qsort(s->chosen, s->n, sizeof(*s->chosen), most_first);
}

static void fill_jobs(struct msim_selection *s,
                      const struct msim_subset *subset)
{
    for (uint32_t i = 0; i < s->fleet->n_jobs; i++) {
        uint32_t by = subset->chosen[subset->nearest[i]];
        double sum = 0;

        for (uint32_t c = 0; c < s->n; c++)
            if (s->chosen[c].job == by)
                s->stood_for_by[i] = c;
        for (uint32_t k = 0; k < MSIM_TIME_KINDS; k++) {
            double d = s->fleet->jobs[i].share[k] - s->fleet->jobs[by].share[k];

            sum += d * d;
        }
        s->distance[i] = sqrt(sum);
    }
}

static void fill_shares(struct msim_selection *s)
{
    for (uint32_t k = 0; k < MSIM_TIME_KINDS; k++) {
        double difference;

        for (uint32_t c = 0; c < s->n; c++)
            s->share[k] +=
                s->chosen[c].weight * s->fleet->jobs[s->chosen[c].job].share[k];
        difference = fabs(s->share[k] - s->fleet->share[k]);
        if (difference > s->largest) {
            s->largest = difference;
            s->worst = k;
        }
    }
}

static enum msim_status choose(struct msim_selection *s, uint32_t threads)
{
    uint32_t n = s->fleet->n_jobs;
    double *at = malloc((size_t)n * sizeof(s->fleet->share));
    double *mass = malloc((size_t)n * sizeof(*mass));
    struct msim_subset subset = {0};
    enum msim_status status = MSIM_ENOMEM;

    for (uint32_t i = 0; at && mass && i < n; i++) {
        memcpy(at + (size_t)i * MSIM_TIME_KINDS, s->fleet->jobs[i].share,
               sizeof(s->fleet->share));
        mass[i] = s->fleet->jobs[i].weight;
    }
    if (at && mass)
        status = msim_subset_choose(
            &subset, &(struct msim_points){at, mass, n, MSIM_TIME_KINDS}, s->n,
            MSIM_SUBSET_EFFORT, threads);
    if (status == MSIM_OK) {
        fill_chosen(s, &subset);
        fill_jobs(s, &subset);
        fill_shares(s);
    }
    msim_subset_release(&subset);
    free(at);
    free(mass);
    return status;
}

enum msim_status msim_selection_new(struct msim_selection **out,
                                    const struct msim_fleet *fleet, uint32_t k,
                                    uint32_t threads)
{
    struct msim_selection *s = calloc(1, sizeof(*s));
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    if (s) {
        s->fleet = fleet;
        s->n = k;
        s->chosen = calloc(k, sizeof(*s->chosen));
        s->stood_for_by = calloc(fleet->n_jobs, sizeof(*s->stood_for_by));
        s->distance = calloc(fleet->n_jobs, sizeof(*s->distance));
        if (s->chosen && s->stood_for_by && s->distance)
            status = choose(s, threads);
    }
    if (status != MSIM_OK) {
        msim_selection_free(s);
        return status;
    }
    *out = s;
    return MSIM_OK;
}

void msim_selection_free(struct msim_selection *s)
{
    if (!s)
        return;
    free(s->chosen);
    free(s->stood_for_by);
    free(s->distance);
    free(s);
}
