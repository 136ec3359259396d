/*
 * How fast the engine simulates a million tasks on as many lanes as a job of
 * eight ranks has: a static graph, and one in which five of six tasks share
 * their device with what runs beside them. Against a bare hold model (a plain
 * 4-ary heap, a pop and a push an event, nothing else) in the same run.
 */
#include "tests/bench/hold.h"
#include "tests/bench/timing.h"
#include "tests/unit/engine_starts.h"
#include "tests/unit/made_contention.h"

#include <stdio.h>

#define TASKS  1000000u
#define LANES  32u
#define REPEAT 7

static double walk(struct msim_engine *e, const struct msim_scenario *s,
                   msim_ps *start)
{
    double begin = now();

    if (engine_starts(e, s, start, NULL) != MSIM_OK)
        abort();
    return now() - begin;
}

static double hold(struct hold *h, const msim_ps *dur)
{
    double begin = now();

    hold_run(h, dur, LANES, TASKS);
    return now() - begin;
}

int main(void)
{
    struct made_graph m = made_graph_new(TASKS, LANES, 42);
    struct made_graph shared = made_graph_new(TASKS, LANES, 42);
    struct msim_scenario s = made_graph_scenario(&m);
    struct hold h = {malloc((LANES + 1) * sizeof(*h.at)), 0};
    msim_ps *start = malloc(TASKS * sizeof(*start));
    double walks[REPEAT], shares[REPEAT], holds[REPEAT];
    double walked, ran, held;
    struct msim_engine *e, *f;

    made_contention_random(&shared, LANES, 42);
    made_contention_spread(&shared, LANES);
    if (!start || !h.at || !shared.g.sharing->devices ||
        msim_engine_new(&e, &m.g) || msim_engine_new(&f, &shared.g))
        return 4;
    for (int i = 0; i < REPEAT; i++) {
        walks[i] = walk(e, &s, start);
        shares[i] = walk(f, &s, start);
        holds[i] = hold(&h, m.dur);
    }
    walked = median(walks, REPEAT);
    ran = median(shares, REPEAT);
    held = median(holds, REPEAT);
    printf("%u tasks, %u edges, %u lanes; medians of %d\n", TASKS, m.g.n_edges,
           LANES, REPEAT);
    printf("static:     %6.1f million tasks/s, %5.2f of the hold model\n",
           TASKS / walked / 1e6, held / walked);
    printf("shared:     %6.1f million tasks/s, %5.2f of the hold model\n",
           TASKS / ran / 1e6, held / ran);
    printf("hold model: %6.1f million events/s (a bare 4-ary heap)\n",
           TASKS / held / 1e6);
    free(h.at);
    free(start);
    msim_engine_free(e);
    msim_engine_free(f);
    made_graph_free(&m);
    made_contention_random_free(&shared);
    return 0;
}
