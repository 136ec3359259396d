/*
 * How fast the engine simulates a million tasks on as many lanes as a job of
 * eight ranks has: a static graph, and one in which five of six tasks share
 * their device with what runs beside them. Against a bare hold model (a plain
 * 4-ary heap, a pop and a push an event, nothing else) in the same run.
 */
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

/* The plain heap that the engine is measured against. */
struct event {
    msim_ps time;
    uint32_t seq;
};

struct heap {
    struct event *at;
    uint32_t length;
};

static bool before(struct event a, struct event b)
{
    return a.time != b.time ? a.time < b.time : a.seq < b.seq;
}

static void push(struct heap *h, struct event e)
{
    uint32_t i = h->length++;

    while (i > 0 && before(e, h->at[(i - 1) / 4])) {
        h->at[i] = h->at[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    h->at[i] = e;
}

static struct event pop(struct heap *h)
{
    struct event top = h->at[0], last = h->at[--h->length];
    uint32_t i = 0, child;

    while ((child = 4 * i + 1) < h->length) {
        uint32_t end = child + 4 < h->length ? child + 4 : h->length;

        for (uint32_t c = child + 1; c < end; c++)
            if (before(h->at[c], h->at[child]))
                child = c;
        if (!before(h->at[child], last))
            break;
        h->at[i] = h->at[child];
        i = child;
    }
    h->at[i] = last;
    return top;
}

static double hold(struct heap *h, const msim_ps *dur)
{
    double begin = now();

    h->length = 0;
    for (uint32_t i = 0; i < LANES; i++)
        push(h, (struct event){dur[i], i});
    for (uint32_t i = 0; i < TASKS; i++) {
        struct event e = pop(h);

        push(h, (struct event){e.time + dur[i], e.seq});
    }
    return now() - begin;
}

/* As many devices as ranks, four lanes each. */
static void spread(struct made_graph *m)
{
    struct msim_sharing *s = m->g.sharing;

    free(s->devices);
    s->n_devices = LANES / 4;
    s->devices = calloc(s->n_devices, sizeof(*s->devices));
    for (uint32_t i = 0; s->devices && i < s->n_devices; i++)
        s->devices[i] = (struct msim_shared_device){
            .host_link = {1, {0.5, 0.5}},
            .interconnect = {1, {1, 1}},
            .slowdown = 1.25,
            .engines = {1, 1},
        };
    for (uint32_t d = 0; d < s->n_demands; d++)
        s->demands[d].device = s->demands[d].task % LANES / 4;
}

int main(void)
{
    struct made_graph m = made_graph_new(TASKS, LANES, 42);
    struct made_graph shared = made_graph_new(TASKS, LANES, 42);
    struct msim_scenario s = made_graph_scenario(&m);
    struct heap h = {malloc((LANES + 1) * sizeof(*h.at)), 0};
    msim_ps *start = malloc(TASKS * sizeof(*start));
    double walks[REPEAT], shares[REPEAT], holds[REPEAT];
    double walked, ran, held;
    struct msim_engine *e, *f;

    made_contention_random(&shared, LANES, 42);
    spread(&shared);
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
