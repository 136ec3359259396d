/*
 * core/report/analyse/period.c - what each iteration took, and which of them
 * are settled.
 */
#include "core/report/analyse/period.h"

#include <stdlib.h>
#include <string.h>

const char *msim_iteration_state_text(enum msim_iteration_state state)
{
    static const char *const TEXTS[] = {
        [MSIM_ITERATION_SETTLED] = "settled",
        [MSIM_ITERATION_RUN_UP] = "run-up",
        [MSIM_ITERATION_FIRST] = "first",
        [MSIM_ITERATION_UNDRAINED] = "undrained",
        [MSIM_ITERATION_EMPTY] = "empty",
    };

    return TEXTS[state];
}

/* For each rank its last window so far, or NONE; the caller frees it. */
static uint32_t *no_windows(const struct msim_graph *g)
{
    size_t bytes = ((size_t)g->job->n_ranks + 1) * sizeof(uint32_t);
    uint32_t *last = malloc(bytes);

    if (last)
        memset(last, 0xff, bytes);
    return last;
}

/* Is window `w` the iteration after window `before` of its rank? */
static bool follows(const struct msim_graph *g, const struct msim_range *spans,
                    uint32_t before, uint32_t w)
{
    return before != MSIM_NONE && spans[before].known && spans[w].known &&
           g->iterations[g->windows[w].iteration] ==
               g->iterations[g->windows[before].iteration] + 1;
}

static msim_ps later(msim_ps a, msim_ps b)
{
    return a > b ? a : b;
}

static msim_ps finish_of(const struct msim_range *s)
{
    return s->gpu_end == MSIM_TIME_NONE ? s->host_end
                                        : later(s->host_end, s->gpu_end);
}

enum msim_status msim_took_find(const struct msim_graph *g,
                                const struct msim_range *spans,
                                struct msim_took *took)
{
    uint32_t *last = no_windows(g);
    msim_ps *finish = malloc(((size_t)g->n_windows + 1) * sizeof(*finish));

    for (uint32_t w = 0; last && finish && w < g->n_windows; w++) {
        const struct msim_range *s = &spans[w];
        uint32_t *before = &last[g->windows[w].rank];

        took[w] = (struct msim_took){MSIM_TIME_NONE, 0};
        if (s->known)
            finish[w] = finish_of(s);
        if (follows(g, spans, *before, w)) {
            finish[w] = later(finish[w], finish[*before]);
            took[w].ps = finish[w] - later(s->host_begin, finish[*before]);
            took[w].more = took[w].ps - (s->host_end - s->host_begin);
        }
        *before = w;
    }
    free(finish);
    free(last);
    return last && finish ? MSIM_OK : MSIM_ENOMEM;
}

/* `before`: state of the iteration before it on its rank. */
static enum msim_iteration_state state_of(const struct msim_range *span,
                                          const struct msim_took *took,
                                          bool undrained,
                                          enum msim_iteration_state before)
{
    if (!span->known)
        return MSIM_ITERATION_EMPTY;
    if (undrained)
        return MSIM_ITERATION_UNDRAINED;
    if (took->ps == MSIM_TIME_NONE || before >= MSIM_ITERATION_UNDRAINED)
        return MSIM_ITERATION_FIRST;
    if (before != MSIM_ITERATION_SETTLED &&
        (double)took->more > MSIM_PERIOD_RUN_UP * (double)took->ps)
        return MSIM_ITERATION_RUN_UP;
    return MSIM_ITERATION_SETTLED;
}

enum msim_status msim_iteration_states(const struct msim_graph *g,
                                       const struct msim_range *spans,
                                       const struct msim_took *took,
                                       const bool *undrained, uint8_t *states)
{
    uint8_t *last = malloc((size_t)g->job->n_ranks + 1);

    if (!last)
        return MSIM_ENOMEM;
    memset(last, MSIM_ITERATION_FIRST, (size_t)g->job->n_ranks + 1);
    memset(states, MSIM_ITERATION_SETTLED, g->n_iterations);
    for (uint32_t w = 0; w < g->n_windows; w++) {
        uint8_t *own = &last[g->windows[w].rank];
        uint8_t *of_all = &states[g->windows[w].iteration];

        *own = (uint8_t)state_of(&spans[w], &took[w], undrained && undrained[w],
                                 (enum msim_iteration_state) * own);
        *of_all = *own > *of_all ? *own : *of_all;
    }
    free(last);
    return MSIM_OK;
}

bool msim_keeps_pace(const struct msim_graph *g, const uint8_t *removed,
                     uint32_t w)
{
    for (uint32_t i = 0; i < g->n_releases; i++) {
        const struct msim_release *r = &g->releases[i];

        if (r->external && r->at != MSIM_TIME_NONE && g->window[r->task] == w &&
            !(removed && removed[r->task]))
            return true;
    }
    return false;
}

static int by_start(const void *a, const void *b)
{
    const struct msim_activity *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

msim_ps msim_gpu_need(struct msim_activity *v, uint32_t n)
{
    msim_ps idle = 0, end;

    if (!n)
        return 0;
    qsort(v, n, sizeof(*v), by_start);
    end = v[0].end;
    for (uint32_t i = 1; i < n; i++) {
        msim_ps launched = v[i].launched;

        if (launched > v[i].start)
            launched = v[i].start;
        if (launched != MSIM_TIME_NONE && launched > end)
            idle += launched - end;
        end = later(end, v[i].end);
    }
    return end - v[0].start - idle;
}
