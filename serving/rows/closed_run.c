/*
 * serving/rows/closed_run.c - simulated closed loops.
 */
#include "core/base/containers.h"
#include "serving/draw/random.h"
#include "serving/rows/serve_rows.h"

#include <math.h>
#include <stdlib.h>

struct client {
    msim_ps asked, first;
    uint32_t input, output; /* tokens of its request */
    uint32_t answered;
    struct msim_random random;
};

struct loop {
    struct msim_deployment *d;
    struct msim_evq arrivals; /* of clients' requests at the engine */
    struct client *clients;
    struct msim_tokens prompts, outputs;
    uint32_t n, left; /* clients; of which some are not at their end */
    double arrival_us;
    struct msim_closed_figures first, later; /* sums over clients */
};

static uint32_t draw(struct msim_random *random, struct msim_tokens of)
{
    double tokens = of.least;

    if (of.most > of.least)
        tokens += (of.most - of.least) * msim_random_unit(random);
    tokens = rint(tokens);
    return tokens < 1 ? 1 : (uint32_t)tokens;
}

static void ask(struct loop *l, uint32_t client, msim_ps now)
{
    struct client *c = &l->clients[client];
    double us = l->arrival_us * msim_random_exponential(&c->random);

    c->output = draw(&c->random, l->outputs);
    c->input = draw(&c->random, l->prompts);
    c->asked = now;
    msim_evq_push(&l->arrivals, now + msim_whole(us * MSIM_PS_PER_US), client);
}

static enum msim_status arrive(struct loop *l)
{
    struct msim_event e = msim_evq_pop(&l->arrivals);
    const struct client *c = &l->clients[e.seq];
    struct msim_llm_request request = {.input_tokens = c->input,
                                       .output_tokens = c->output};

    return msim_deployment_add(l->d, e.time, &request, e.seq, MSIM_NONE);
}

/* Its request has ended. It asks again even at its end, as the others would not
 * be slowed as they were. */
static void end(struct loop *l, uint32_t client, msim_ps now)
{
    struct client *c = &l->clients[client];

    struct msim_closed_figures *sum = c->answered ? &l->later : &l->first;

    if (c->answered < MSIM_CLOSED_RUN) {
        sum->ttft_ms += (double)(c->first - c->asked) * 1e-9;
        if (c->output > 1)
            sum->tpot_ms += (double)(now - c->first) * 1e-9 / (c->output - 1);
    }
    if (++c->answered == MSIM_CLOSED_RUN)
        l->left--;
    ask(l, client, now);
}

static void step(struct loop *l, msim_ps now)
{
    uint32_t n;
    const struct msim_llm_token *tokens = msim_deployment_step(l->d, &n);

    for (uint32_t i = 0; i < n; i++) {
        if (tokens[i].first)
            l->clients[tokens[i].handle].first = now;
        if (tokens[i].last)
            end(l, tokens[i].handle, now);
    }
}

static enum msim_status run(struct loop *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        l->clients[i].random = msim_random_of(1, i, 0);
        ask(l, i, 0);
    }
    while (l->left) {
        msim_ps now = msim_deployment_next(l->d);

        if (l->arrivals.length && (now == MSIM_TIME_NONE ||
                                   msim_evq_first(&l->arrivals).time <= now)) {
            MSIM_TRY(arrive(l));
        } else if (now == MSIM_TIME_NONE) {
            return MSIM_EINTERNAL;
        } else {
            step(l, now);
        }
    }
    return MSIM_OK;
}

/* Of the sums of the first wave and of those behind it that were run. */
static double mix(double first, double later)
{
    const double rest = (double)(MSIM_CLOSED_WAVES - 1) / (MSIM_CLOSED_RUN - 1);

    return (first + rest * later) / MSIM_CLOSED_WAVES;
}

enum msim_status msim_closed_run(struct msim_closed_figures *out,
                                 const struct msim_closed_loop_setup *setup)
{
    struct loop l = {.prompts = setup->prompts,
                     .outputs = setup->outputs,
                     .n = setup->clients,
                     .left = setup->clients,
                     .arrival_us = setup->arrival_us};
    enum msim_status status = msim_deployment_new(&l.d, &setup->served);

    l.clients = calloc(l.n, sizeof(*l.clients));
    if (status == MSIM_OK)
        status = l.clients ? msim_evq_init(&l.arrivals, l.n) : MSIM_ENOMEM;
    if (status == MSIM_OK)
        status = run(&l);
    *out = (struct msim_closed_figures){
        mix(l.first.ttft_ms, l.later.ttft_ms) / setup->clients,
        mix(l.first.tpot_ms, l.later.tpot_ms) / setup->clients};
    msim_evq_release(&l.arrivals);
    free(l.clients);
    msim_deployment_free(l.d);
    return status;
}
