/*
 * serving/engine/deployment.c - replicas and links as events of one queue.
 *
 * Events are numbered, and at one time happen in that order: one a replica (its
 * step ends), one a link (a transfer ends), one for requests that are on their
 * way, and again one a replica: it looks whether there is something to do. So
 * it sees all that is added at that time, by links and by the caller.
 */
#include "core/base/containers.h"
#include "core/base/min_tree.h"
#include "serving/engine/replica.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct served {
    struct msim_llm_request request;
    uint32_t handle;  /* the caller's */
    uint32_t replica; /* that the caller chose, or NONE */
    msim_ps at;       /* when its replica has it */
    uint32_t next;    /* behind it on the link or the way, or not in use */
};

/* Requests in order: on the link of a prefill replica, or on their way. */
struct link {
    uint32_t first, last; /* NONE */
};

/* Of a replica, as it was last looked at; and what is on its way there. */
struct load {
    uint32_t waiting, running, coming;
};

struct msim_deployment {
    uint32_t n_serve, n_decode;
    struct msim_replica **replicas; /* n_serve + n_decode */
    bool *busy;                     /* a step of it runs */
    struct load *load;
    struct msim_min_tree loads[2]; /* requests: of those that serve, that
                                      decode */
    uint32_t running, waiting;     /* replicas, requests */
    uint32_t changed;
    struct link *links; /* n_serve, where disaggregated */
    struct link way;
    double kv_token_bytes, kv_transfer_gbps;
    msim_ps arrival;
    struct msim_evq events;
    struct served *served;
    uint32_t n, cap, spare;
    struct msim_llm_token *tokens;
    uint32_t cap_tokens;
};

static uint32_t count(const struct msim_deployment *d)
{
    return d->n_serve + d->n_decode;
}

/* The event in which the first that is on its way has come. */
static uint32_t come(const struct msim_deployment *d)
{
    return count(d) + d->n_serve;
}

/* The event in which a replica looks. */
static uint32_t look(const struct msim_deployment *d, uint32_t replica)
{
    return come(d) + 1 + replica;
}

static enum msim_status make_replicas(struct msim_deployment *d,
                                      const struct msim_replica_group *group,
                                      uint32_t first)
{
    for (uint32_t i = 0; i < group->replicas; i++)
        MSIM_TRY(msim_replica_new(&d->replicas[first + i], group->rules,
                                  &group->times[i]));
    return MSIM_OK;
}

static enum msim_status make_parts(struct msim_deployment *d,
                                   const struct msim_deployment_setup *setup)
{
    d->replicas = calloc(count(d), sizeof(struct msim_replica *));
    d->busy = calloc(count(d), sizeof(*d->busy));
    d->links = calloc(d->n_serve, sizeof(*d->links));
    d->load = calloc(count(d), sizeof(*d->load));
    if (!d->replicas || !d->busy || !d->links || !d->load ||
        !msim_min_tree_make(&d->loads[0], d->n_serve) ||
        (d->n_decode && !msim_min_tree_make(&d->loads[1], d->n_decode)))
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < d->n_serve; i++)
        d->links[i].first = d->links[i].last = MSIM_NONE;
    MSIM_TRY(msim_evq_init(&d->events, look(d, count(d))));
    MSIM_TRY(make_replicas(d, &setup->serve, 0));
    return make_replicas(d, &setup->decode, d->n_serve);
}

enum msim_status msim_deployment_new(struct msim_deployment **out,
                                     const struct msim_deployment_setup *setup)
{
    struct msim_deployment *d;
    enum msim_status status;

    *out = NULL;
    if (!setup->serve.replicas ||
        setup->serve.replicas > UINT32_MAX / 8 - setup->decode.replicas)
        return MSIM_EUSAGE;
    d = calloc(1, sizeof(*d));
    if (!d)
        return MSIM_ENOMEM;
    d->n_serve = setup->serve.replicas;
    d->n_decode = setup->decode.replicas;
    d->kv_token_bytes = setup->kv_token_bytes;
    d->kv_transfer_gbps = setup->kv_transfer_gbps;
    d->arrival = msim_whole(rint(setup->arrival_us * MSIM_PS_PER_US));
    d->way.first = d->way.last = MSIM_NONE;
    d->spare = MSIM_NONE;
    status = make_parts(d, setup);
    if (status != MSIM_OK) {
        msim_deployment_free(d);
        return status;
    }
    *out = d;
    return MSIM_OK;
}

void msim_deployment_free(struct msim_deployment *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; d->replicas && i < count(d); i++)
        msim_replica_free(d->replicas[i]);
    free(d->replicas);
    free(d->busy);
    free(d->links);
    free(d->load);
    msim_min_tree_release(&d->loads[0]);
    msim_min_tree_release(&d->loads[1]);
    msim_evq_release(&d->events);
    free(d->served);
    free(d->tokens);
    free(d);
}

/* --- requests --- */

/* One for each request: tokens of a step are at most that many. */
static enum msim_status make_room(struct msim_deployment *d)
{
    uint32_t cap = d->cap ? 2 * d->cap : 64;
    struct msim_llm_token *tokens;
    struct served *served;

    if (d->spare != MSIM_NONE || d->n < d->cap)
        return MSIM_OK;
    if (cap < d->cap)
        return MSIM_ELIMIT;
    served = realloc(d->served, cap * sizeof(*served));
    if (!served)
        return MSIM_ENOMEM;
    d->served = served;
    tokens = realloc(d->tokens, cap * sizeof(*tokens));
    if (!tokens)
        return MSIM_ENOMEM;
    d->tokens = tokens;
    d->cap = cap;
    return MSIM_OK;
}

/* Replica `i` may have other requests than before. */
static void note(struct msim_deployment *d, uint32_t i)
{
    struct load *was = &d->load[i];
    struct load is = {.waiting = msim_replica_waiting(d->replicas[i]),
                      .running = msim_replica_running(d->replicas[i]),
                      .coming = was->coming};
    bool decodes = i >= d->n_serve;

    d->changed = i;
    d->running += is.running > 0;
    d->running -= was->running > 0;
    d->waiting += is.waiting - was->waiting;
    msim_min_tree_set(&d->loads[decodes], i - (decodes ? d->n_serve : 0),
                      is.waiting + is.running + is.coming);
    *was = is;
}

static enum msim_status add_to(struct msim_deployment *d, uint32_t replica,
                               msim_ps now,
                               const struct msim_llm_request *request,
                               uint32_t i)
{
    MSIM_TRY(msim_replica_add(d->replicas[replica], request, i));
    note(d, replica);
    if (!d->busy[replica])
        msim_evq_push(&d->events, now, look(d, replica));
    return MSIM_OK;
}

static void drop(struct msim_deployment *d, uint32_t i)
{
    d->served[i].next = d->spare;
    d->spare = i;
}

/* The request is at its replica. */
static enum msim_status reach(struct msim_deployment *d, uint32_t i,
                              msim_ps now)
{
    struct msim_llm_request asked = d->served[i].request;
    uint32_t replica = d->served[i].replica;

    if (d->n_decode)
        asked.output_tokens = 1;
    if (replica == MSIM_NONE)
        replica = msim_min_tree_first(&d->loads[0]);
    assert(replica < d->n_serve);
    return add_to(d, replica, now, &asked, i);
}

static void append(struct msim_deployment *d, struct link *l, uint32_t i)
{
    *(l->first == MSIM_NONE ? &l->first : &d->served[l->last].next) = i;
    l->last = i;
}

/* All are on their way equally long, so they come in order. */
static enum msim_status set_out(struct msim_deployment *d, uint32_t i)
{
    uint32_t replica = d->served[i].replica;

    MSIM_TRY(msim_replica_check(d->replicas[0], &d->served[i].request));
    if (replica != MSIM_NONE) {
        d->load[replica].coming++;
        d->waiting++;
        note(d, replica);
    }
    if (d->way.first == MSIM_NONE)
        msim_evq_push(&d->events, d->served[i].at, come(d));
    append(d, &d->way, i);
    return MSIM_OK;
}

uint32_t msim_deployment_output(const struct msim_deployment *d,
                                const struct msim_llm_request *request)
{
    uint32_t least = msim_replica_output(d->replicas[0], request);
    uint32_t behind =
        d->n_decode ? msim_replica_output(d->replicas[d->n_serve], request)
                    : least;

    return behind < least ? behind : least;
}

enum msim_status msim_deployment_add(struct msim_deployment *d, msim_ps now,
                                     const struct msim_llm_request *request,
                                     uint32_t handle, uint32_t replica)
{
    enum msim_status status;
    uint32_t i;

    MSIM_TRY(make_room(d));
    i = d->spare;
    if (i == MSIM_NONE)
        i = d->n++;
    else
        d->spare = d->served[i].next;
    d->served[i] = (struct served){.request = *request,
                                   .handle = handle,
                                   .replica = replica,
                                   .at = now + d->arrival,
                                   .next = MSIM_NONE};
    status = d->arrival > 0 ? set_out(d, i) : reach(d, i, now);
    if (status != MSIM_OK)
        drop(d, i);
    return status;
}

/* --- events --- */

static void tell(struct msim_deployment *d, uint32_t *n, uint32_t i, bool first,
                 bool last)
{
    d->tokens[(*n)++] =
        (struct msim_llm_token){d->served[i].handle, first, last};
    if (last)
        drop(d, i);
}

/* The link begins with the first that waits for it. */
static void send(struct msim_deployment *d, uint32_t link, msim_ps now)
{
    const struct served *s = &d->served[d->links[link].first];
    double bytes = s->request.input_tokens * d->kv_token_bytes;
    double ps = d->kv_transfer_gbps > 0 ? bytes / d->kv_transfer_gbps * 1e3 : 0;

    msim_evq_push(&d->events, msim_time_after(now, rint(ps)), count(d) + link);
}

static void queue(struct msim_deployment *d, uint32_t link, uint32_t i,
                  msim_ps now)
{
    bool idle = d->links[link].first == MSIM_NONE;

    append(d, &d->links[link], i);
    if (idle)
        send(d, link, now);
}

/* A KV cache has arrived. What the decode replica cannot hold ends with its
 * first token, as an output that is cut. */
static void arrive(struct msim_deployment *d, uint32_t link, msim_ps now,
                   uint32_t *n)
{
    struct link *l = &d->links[link];
    uint32_t i = l->first;
    struct msim_llm_request request = d->served[i].request;
    enum msim_status status;

    l->first = d->served[i].next;
    d->served[i].next = MSIM_NONE;
    if (l->first != MSIM_NONE)
        send(d, link, now);
    request.prefilled = true;
    status = add_to(d, d->n_serve + msim_min_tree_first(&d->loads[1]), now,
                    &request, i);
    tell(d, n, i, true, status != MSIM_OK);
}

/* The first that was on its way is there; without memory it ends at once. */
static void let_come(struct msim_deployment *d, msim_ps now, uint32_t *n)
{
    uint32_t i = d->way.first;

    d->way.first = d->served[i].next;
    d->served[i].next = MSIM_NONE;
    if (d->served[i].replica != MSIM_NONE) {
        d->load[d->served[i].replica].coming--;
        d->waiting--;
        note(d, d->served[i].replica);
    }
    if (d->way.first != MSIM_NONE)
        msim_evq_push(&d->events, d->served[d->way.first].at, come(d));
    if (reach(d, i, now) != MSIM_OK)
        tell(d, n, i, true, true);
}

static void end_step(struct msim_deployment *d, uint32_t replica, msim_ps now,
                     uint32_t *n)
{
    uint32_t n_out;
    const struct msim_llm_token *out =
        msim_replica_end(d->replicas[replica], &n_out);
    bool prefill = d->n_decode && replica < d->n_serve;

    note(d, replica);
    for (uint32_t k = 0; k < n_out; k++) {
        uint32_t i = out[k].handle;

        if (prefill && d->served[i].request.output_tokens > 1)
            queue(d, replica, i, now);
        else
            tell(d, n, i, out[k].first, out[k].last);
    }
    d->busy[replica] = false;
    msim_evq_push(&d->events, now, look(d, replica));
}

static void begin_step(struct msim_deployment *d, uint32_t replica, msim_ps now)
{
    double us = msim_replica_begin(d->replicas[replica]);

    note(d, replica);
    if (us <= 0)
        return;
    d->busy[replica] = true;
    msim_evq_push(&d->events, msim_time_after(now, rint(us * MSIM_PS_PER_US)),
                  replica);
}

msim_ps msim_deployment_next(const struct msim_deployment *d)
{
    return d->events.length ? msim_evq_first(&d->events).time : MSIM_TIME_NONE;
}

const struct msim_llm_token *msim_deployment_step(struct msim_deployment *d,
                                                  uint32_t *n)
{
    struct msim_event e = msim_evq_pop(&d->events);

    *n = 0;
    if (e.seq < count(d))
        end_step(d, e.seq, e.time, n);
    else if (e.seq == come(d))
        let_come(d, e.time, n);
    else if (e.seq < come(d))
        arrive(d, e.seq - count(d), e.time, n);
    else
        begin_step(d, e.seq - look(d, 0), e.time);
    return d->tokens;
}

uint32_t msim_deployment_running(const struct msim_deployment *d)
{
    return d->running;
}

uint32_t msim_deployment_waiting(const struct msim_deployment *d)
{
    return d->waiting;
}

uint32_t msim_deployment_least(const struct msim_deployment *d, uint32_t n)
{
    return msim_min_tree_first_of(&d->loads[0], n, d->n_serve);
}

uint32_t msim_deployment_waiting_at(const struct msim_deployment *d,
                                    uint32_t replica)
{
    return d->load[replica].waiting + d->load[replica].coming;
}

uint32_t msim_deployment_changed(const struct msim_deployment *d)
{
    return d->changed;
}

const struct msim_replica *
msim_deployment_replica(const struct msim_deployment *d, uint32_t replica)
{
    return d->replicas[replica];
}
