/*
 * serving/sim/sim_llm.c - stages whose replicas run an LLM engine, and stages
 * that are one pass of a model.
 *
 * A deployment (serving/engine) has the clock of its steps; it is told of
 * visits, and asked when something happens next. Several events of a stage may
 * be pending, for a visit can make an idle replica's step come before another
 * one's; an event that is not the next any more is let go.
 */
#include "serving/sim/serving_run_internal.h"

#include "core/base/containers.h"

#include <math.h>
#include <string.h>

/* A prompt has at most so many hashes; what is behind them is not shared. */
#define HASHES_MOST 4096

/* ---- made once ----------------------------------------------------------- */

enum msim_status msim_serving_set_llm(struct msim_serving *s, uint32_t stage,
                                      const struct msim_serving_llm *llm)
{
    struct msim_sim_stage *g = &s->stages[stage];

    if (!g->llm)
        g->llm = calloc(1, sizeof(*g->llm));
    if (!g->llm)
        return MSIM_ENOMEM;
    g->llm->of = *llm;
    return MSIM_OK;
}

enum msim_status msim_serving_set_model(struct msim_serving *s, uint32_t stage,
                                        const struct msim_llm_times *times)
{
    struct msim_sim_stage *g = &s->stages[stage];

    g->times = *times;
    free(g->chunks);
    g->chunks = calloc(g->batching ? g->max_batch : 1, sizeof(*g->chunks));
    return g->chunks ? MSIM_OK : MSIM_ENOMEM;
}

void msim_sim_llm_free(struct msim_sim_stage *g)
{
    if (g->llm) {
        msim_deployment_free(g->llm->deployment);
        free(g->llm->times);
        free(g->llm->queues);
        free(g->llm->lists);
        free(g->llm);
    }
    free(g->chunks);
}

/* ---- one pass of a model ------------------------------------------------- */

double msim_sim_pass_ms(struct msim_serving *s, struct msim_sim_stage *g,
                        uint32_t visit)
{
    struct msim_llm_step step = {.chunks = g->chunks};

    for (; visit != MSIM_NONE; visit = msim_sim_visit(s, visit)->next) {
        uint32_t request = msim_sim_visit(s, visit)->request;
        uint32_t tokens = msim_sim_request(s, request)->arrival.input_tokens;
        g->chunks[step.n_chunks++] =
            (struct msim_llm_chunk){tokens ? tokens : 1, 0, true};
    }
    return g->times.step_us(g->times.ctx, &step) / 1e3;
}

/* ---- an engine ----------------------------------------------------------- */

static enum msim_status deploy(struct msim_sim_llm *l, uint32_t replicas)
{
    uint32_t serve = replicas * l->of.serve_replicas;
    uint32_t decode = replicas * l->of.decode_replicas;
    uint32_t n = serve + decode;
    struct msim_deployment_setup setup = {
        .kv_token_bytes = l->of.kv_token_bytes,
        .kv_transfer_gbps = l->of.kv_transfer_gbps,
        .arrival_us = l->of.arrival_us};

    free(l->times);
    free(l->queues);
    free(l->lists);
    l->times = calloc(n, sizeof(*l->times));
    l->queues = calloc(serve, sizeof(*l->queues));
    l->lists = calloc(serve, sizeof(*l->lists));
    if (!l->times || !l->queues || !l->lists)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        l->times[i] = i < serve ? l->of.serve_times : l->of.decode_times;
    setup.serve = (struct msim_replica_group){&l->of.serve, l->times, serve};
    setup.decode =
        (struct msim_replica_group){&l->of.decode, l->times + serve, decode};
    l->n_replicas = n;
    l->n_serve = serve;
    return msim_deployment_new(&l->deployment, &setup);
}

void msim_sim_llm_begin(struct msim_serving *s, struct msim_sim_stage *g,
                        uint32_t replicas)
{
    struct msim_sim_llm *l = g->llm;

    msim_deployment_free(l->deployment);
    l->deployment = NULL;
    l->step_at = MSIM_TIME_NONE;
    s->status = deploy(l, replicas);
    g->run.worker_count = l->n_replicas;
}

/* Let the next thing that happens there be an event. */
static void await(struct msim_serving *s, struct msim_sim_stage *g)
{
    struct msim_sim_llm *l = g->llm;
    msim_ps at = msim_deployment_next(l->deployment);

    if (at == MSIM_TIME_NONE ||
        (l->step_at != MSIM_TIME_NONE && l->step_at <= at))
        return;
    l->step_at = at;
    msim_sim_schedule(s, at, MSIM_SIM_STEP, (uint32_t)(g - s->stages));
}

/* ---- who waits ----------------------------------------------------------- */

/* An engine says how many wait, not who: those that came last, where it serves
 * in order of arrival. With priorities, and where a sequence was preempted, a
 * visit may have begun before this takes note of it. */
static void wait_for(struct msim_serving *s, struct msim_sim_llm *l,
                     uint32_t replica, uint32_t visit)
{
    struct msim_sim_list *list = &l->lists[replica];

    msim_sim_visit(s, visit)->next = MSIM_NONE;
    if (l->queues[replica].waiting++ == 0)
        list->head = visit;
    else
        msim_sim_visit(s, list->tail)->next = visit;
    list->tail = visit;
}

static void begin_first(struct msim_serving *s, struct msim_sim_llm *l,
                        uint32_t replica)
{
    struct msim_sim_visit *v = msim_sim_visit(s, l->lists[replica].head);

    l->lists[replica].head = v->next;
    l->queues[replica].waiting--;
    v->started = s->now;
    v->batch = 0;
}

/* A token came out of one that seemed to wait: so did those before it. */
static void begin_until(struct msim_serving *s, struct msim_sim_llm *l,
                        struct msim_sim_visit *v)
{
    while (v->batch)
        begin_first(s, l, v->queue);
}

/* How many replicas have something to run, and who has begun where something
 * changed. */
static void count_busy(struct msim_serving *s, struct msim_sim_stage *g)
{
    struct msim_sim_llm *l = g->llm;
    uint32_t i = msim_deployment_changed(l->deployment);
    uint32_t left = msim_deployment_waiting_at(l->deployment, i);

    while (i < l->n_serve && l->queues[i].waiting > left)
        begin_first(s, l, i);
    g->held = g->computing = msim_deployment_running(l->deployment);
    g->waiting = msim_deployment_waiting(l->deployment);
}

/* Hashes of the prompt, which the visit keeps until its end. */
static void put_hashes(struct msim_serving *s, const struct msim_sim_llm *l,
                       struct msim_sim_visit *v, struct msim_llm_request *r)
{
    const struct msim_sim_request *q = msim_sim_request(s, v->request);
    uint32_t unit = l->of.serve.hash_tokens ? l->of.serve.hash_tokens
                                            : l->of.serve.block_size;
    uint32_t room = unit ? q->arrival.input_tokens / unit : 0;
    uint64_t *hashes;

    if (!l->of.serve.prefix_caching || room == 0 ||
        (!q->arrival.prompt && !q->arrival.group && !q->arrival.n_blocks))
        return;
    if (room > HASHES_MOST)
        room = HASHES_MOST;
    hashes = malloc(room * sizeof(*hashes));
    if (!hashes) {
        s->status = MSIM_ENOMEM;
        return;
    }
    v->hashes = hashes;
    r->hashes = hashes;
    r->n_hashes = msim_arrival_hashes(&q->arrival, unit, hashes, room);
}

static uint32_t route(struct msim_sim_stage *g, const struct msim_sim_visit *v)
{
    struct msim_random r = msim_sim_stream(v->key, MSIM_SIM_STREAM_ROUTE);
    uint32_t n = g->up * g->llm->of.serve_replicas;

    if (g->def->routing == MSIM_ROUTING_ROUND)
        return g->round++ % n;
    if (g->def->routing == MSIM_ROUTING_ANY)
        return (uint32_t)(msim_random_unit(&r) * n);
    return msim_deployment_least(g->llm->deployment, n);
}

/* An answer that its engine ends before it would. */
static void cut_answer(struct msim_served *row, uint32_t most)
{
    if (row->output_tokens <= most)
        return;
    row->output_tokens = most;
    row->cut = true;
}

void msim_sim_llm_enter(struct msim_serving *s, struct msim_sim_stage *g,
                        uint32_t visit)
{
    struct msim_sim_visit *v = msim_sim_visit(s, visit);
    const struct msim_sim_request *q = msim_sim_request(s, v->request);
    struct msim_llm_request r = {
        .input_tokens = q->arrival.input_tokens ? q->arrival.input_tokens : 1,
        .output_tokens =
            q->arrival.output_tokens ? q->arrival.output_tokens : 1,
        .priority = (int32_t)q->level};
    enum msim_status status;
    uint32_t replica;

    replica = route(g, v);
    v->queue = MSIM_NONE;
    v->started = s->now;
    put_hashes(s, g->llm, v, &r);
    status =
        msim_deployment_add(g->llm->deployment, s->now, &r, visit, replica);
    if (status == MSIM_ELIMIT)
        return; /* its prompt fits nowhere: it never ends */
    cut_answer(&s->rows[q->row],
               msim_deployment_output(g->llm->deployment, &r));
    v->queue = replica;
    v->batch = 1; /* it waits */
    wait_for(s, g->llm, replica, visit);
    if (status != MSIM_OK && s->status == MSIM_OK)
        s->status = status;
    await(s, g);
}

static void take_token(struct msim_serving *s, struct msim_sim_llm *l,
                       const struct msim_llm_token *t, uint32_t *first,
                       uint32_t *last)
{
    struct msim_sim_visit *v = msim_sim_visit(s, t->handle);

    begin_until(s, l, v);

    if (t->first)
        s->rows[msim_sim_request(s, v->request)->row].first = s->now;
    if (!t->last)
        return;
    free(v->hashes);
    v->hashes = NULL;
    if (*first == MSIM_NONE)
        *first = t->handle;
    else
        msim_sim_visit(s, *last)->next = t->handle;
    *last = t->handle;
    v->next = MSIM_NONE;
    v->queue = MSIM_NONE; /* of no worker of ours */
}

uint32_t msim_sim_llm_step(struct msim_serving *s, uint32_t stage)
{
    struct msim_sim_stage *g = &s->stages[stage];
    uint32_t first = MSIM_NONE, last = MSIM_NONE, n;
    const struct msim_llm_token *t;

    if (g->llm->step_at != s->now)
        return MSIM_NONE;
    g->llm->step_at = MSIM_TIME_NONE;
    t = msim_deployment_step(g->llm->deployment, &n);
    for (uint32_t i = 0; i < n; i++)
        take_token(s, g->llm, &t[i], &first, &last);
    msim_sim_touch(s, g);
    count_busy(s, g);
    await(s, g);
    return first;
}

/* ---- capacity ------------------------------------------------------------ */

/* Clients are so many times what replicas serve at once, so that there is
 * always somebody waiting; and so many rounds of them are served. */
#define CLIENTS_EACH 2
#define CLIENTS_MOST 8192
#define ROUNDS       4

struct backlog {
    struct msim_deployment *deployment;
    struct msim_arrival_source *source;
    uint64_t added, ended, tokens;
    struct msim_vec lengths; /* output tokens by handle */
};

static enum msim_status add_one(struct backlog *b, msim_ps now)
{
    struct msim_arrival a;
    struct msim_llm_request r = {0};
    uint32_t *length;

    if (!msim_arrival_source_next(b->source, &a)) {
        msim_arrival_source_rewind(b->source, 0);
        if (!msim_arrival_source_next(b->source, &a))
            return MSIM_ECHECK;
    }
    r.input_tokens = a.input_tokens ? a.input_tokens : 1;
    r.output_tokens = a.output_tokens ? a.output_tokens : 1;
    length = msim_vec_add(&b->lengths, sizeof(*length));
    if (!length)
        return MSIM_ENOMEM;
    *length = r.output_tokens;
    return msim_deployment_add(b->deployment, now, &r, (uint32_t)b->added++,
                               MSIM_NONE);
}

/* What ends at `at`, and others in their place. */
static enum msim_status serve_one_step(struct backlog *b, msim_ps at)
{
    const uint32_t *lengths = b->lengths.data;
    const struct msim_llm_token *t;
    uint32_t n, ended = 0;

    t = msim_deployment_step(b->deployment, &n);
    for (uint32_t i = 0; i < n; i++)
        if (t[i].last) {
            b->tokens += lengths[t[i].handle];
            ended++;
        }
    b->ended += ended;
    for (; ended > 0; ended--) {
        enum msim_status status = add_one(b, at);

        if (status != MSIM_OK && status != MSIM_ELIMIT)
            return status;
    }
    return MSIM_OK;
}

/* Visits and output tokens a second, once the first round is over. */
static enum msim_status saturate(struct backlog *b, uint64_t clients,
                                 double *visits, double *tokens)
{
    uint64_t ended = 0, counted = 0;
    msim_ps begin = MSIM_TIME_NONE, at = 0, next;

    for (uint64_t i = 0; i < clients; i++) {
        enum msim_status status = add_one(b, 0);

        if (status != MSIM_OK && status != MSIM_ELIMIT)
            return status;
    }
    while (b->ended < ROUNDS * clients &&
           (next = msim_deployment_next(b->deployment)) != MSIM_TIME_NONE) {
        at = next;
        MSIM_TRY(serve_one_step(b, at));
        if (begin == MSIM_TIME_NONE && b->ended >= clients) {
            begin = at;
            ended = b->ended;
            counted = b->tokens;
        }
    }
    if (begin == MSIM_TIME_NONE || at == begin)
        return MSIM_OK;
    *visits =
        (double)(b->ended - ended) / (double)(at - begin) * MSIM_SIM_PS_PER_S;
    *tokens = (double)(b->tokens - counted) / (double)(at - begin) *
              MSIM_SIM_PS_PER_S;
    return MSIM_OK;
}

enum msim_status msim_serving_llm_capacity(struct msim_serving *s,
                                           uint32_t stage, double *visits,
                                           double *tokens,
                                           struct msim_error *err)
{
    struct msim_sim_llm *l = s->stages[stage].llm;
    struct msim_arrival_how how = {.seed = s->how.seed,
                                   .rate = s->how.rate,
                                   .concurrency = s->how.concurrency,
                                   .log = s->how.log};
    struct backlog b = {0};
    uint64_t clients;
    enum msim_status status;

    *visits = *tokens = NAN;
    msim_deployment_free(l->deployment);
    l->deployment = NULL;
    MSIM_TRY(deploy(l, 1));
    b.deployment = l->deployment;
    clients = (uint64_t)CLIENTS_EACH * l->n_serve * l->of.serve.max_num_seqs *
              l->of.serve.ranks;
    if (l->of.decode_replicas)
        clients = (uint64_t)CLIENTS_EACH * (l->n_replicas - l->n_serve) *
                  l->of.decode.max_num_seqs * l->of.decode.ranks;
    status = msim_arrival_source_new(&b.source, s->app, &how, err);
    if (status == MSIM_OK)
        status = saturate(&b, clients < CLIENTS_MOST ? clients : CLIENTS_MOST,
                          visits, tokens);
    msim_arrival_source_free(b.source);
    free(b.lengths.data);
    return status;
}

/* ---- figures ------------------------------------------------------------- */

void msim_sim_llm_figures(struct msim_sim_stage *g)
{
    struct msim_llm_run *out = &g->run.llm;
    const struct msim_sim_llm *l = g->llm;
    struct msim_replica_figures sum = {0};

    for (uint32_t i = 0; i < l->n_replicas; i++) {
        struct msim_replica_figures f;

        msim_replica_figures_of(msim_deployment_replica(l->deployment, i), &f);
        sum.steps += f.steps;
        sum.preemptions += f.preemptions;
        sum.step_seqs += f.step_seqs;
        sum.busy_us += f.busy_us;
        sum.prompt_tokens += f.prompt_tokens;
        sum.hit_tokens += f.hit_tokens;
        sum.kv_peak_share = fmax(sum.kv_peak_share, f.kv_peak_share);
    }
    out->is_llm = true;
    out->steps = (double)sum.steps;
    out->kv_peak_share = sum.kv_peak_share;
    out->preemptions = (double)sum.preemptions;
    out->prefix_hit_share = (double)sum.hit_tokens / (double)sum.prompt_tokens;
    out->batch_mean = (double)sum.step_seqs / (double)sum.steps;
    out->step_ms = sum.busy_us / (double)sum.steps / 1e3;
}
