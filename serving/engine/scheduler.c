/*
 * serving/engine/scheduler.c - sequences of one rank, from arrival to the last
 * token.
 *
 * Arrays are as long as there is room for sequences, and grow in
 * msim_sched_add() alone. A sequence that waits is in a heap by priority and
 * order of arrival; so one that was preempted comes before all that arrived
 * after it, as where an engine puts it at the head of its queue.
 */
#include "serving/engine/replica_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum msim_status msim_sched_init(struct msim_sched *s,
                                 const struct msim_replica_rules *rules,
                                 uint32_t kv_blocks)
{
    uint32_t unit = rules->hash_tokens ? rules->hash_tokens : rules->block_size;

    *s = (struct msim_sched){.rules = rules, .spare = MSIM_NONE};
    s->unit_tokens = unit;
    s->new_token_ratio = MSIM_NEW_TOKEN_RATIO;
    return msim_kv_init(&s->kv, kv_blocks,
                        rules->prefix_caching ? unit / rules->block_size : 0);
}

void msim_sched_release(struct msim_sched *s)
{
    msim_kv_release(&s->kv);
    free(s->seqs);
    free(s->waiting);
    free(s->running);
    free(s->chunks);
    *s = (struct msim_sched){0};
}

/* --- what waits --- */

static bool comes_before(const struct msim_sched *s, uint32_t a, uint32_t b)
{
    const struct msim_seq *p = &s->seqs[a], *q = &s->seqs[b];

    if (s->rules->by_priority && p->priority != q->priority)
        return p->priority < q->priority;
    return p->order < q->order;
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t t = *a;

    *a = *b;
    *b = t;
}

static void push_waiting(struct msim_sched *s, uint32_t q)
{
    uint32_t *heap = s->waiting, i = s->n_waiting++;

    heap[i] = q;
    for (; i && comes_before(s, heap[i], heap[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&heap[i], &heap[(i - 1) / 2]);
}

static uint32_t pop_waiting(struct msim_sched *s)
{
    uint32_t *heap = s->waiting, top = heap[0], i = 0;

    heap[0] = heap[--s->n_waiting];
    for (;;) {
        uint32_t child = 2 * i + 1;

        if (child + 1 < s->n_waiting &&
            comes_before(s, heap[child + 1], heap[child]))
            child++;
        if (child >= s->n_waiting || !comes_before(s, heap[child], heap[i]))
            return top;
        swap(&heap[i], &heap[child]);
        i = child;
    }
}

/* --- sequences --- */

static bool resize(void *array, uint32_t n, size_t size)
{
    void *p, *old;

    memcpy(&old, array, sizeof(old));
    p = realloc(old, n * size);
    if (p)
        memcpy(array, &p, sizeof(p));
    return p != NULL;
}

static enum msim_status make_room(struct msim_sched *s)
{
    uint32_t cap = s->cap ? 2 * s->cap : 64;

    if (s->spare != MSIM_NONE || s->n < s->cap)
        return MSIM_OK;
    if (cap < s->cap)
        return MSIM_ELIMIT;
    if (!resize(&s->seqs, cap, sizeof(*s->seqs)) ||
        !resize(&s->waiting, cap, sizeof(*s->waiting)) ||
        !resize(&s->running, cap, sizeof(*s->running)) ||
        !resize(&s->chunks, cap, sizeof(*s->chunks)))
        return MSIM_ENOMEM;
    s->cap = cap;
    return MSIM_OK;
}

enum msim_status msim_sched_add(struct msim_sched *s,
                                const struct msim_llm_request *request,
                                uint32_t output_tokens, uint32_t handle)
{
    uint32_t units = request->input_tokens / s->unit_tokens;
    uint32_t i;

    MSIM_TRY(make_room(s));
    i = s->spare;
    if (i == MSIM_NONE)
        i = s->n++;
    else
        s->spare = s->seqs[i].spare;
    s->seqs[i] = (struct msim_seq){
        .order = s->next_order++,
        .handle = handle,
        .input = request->input_tokens,
        .output = output_tokens,
        .priority = request->priority,
        .hashes = request->hashes,
        .units = request->n_hashes < units ? request->n_hashes : units,
        .made = request->prefilled,
        .prefilled = request->prefilled};
    if (!s->rules->prefix_caching)
        s->seqs[i].units = 0;
    push_waiting(s, i);
    return MSIM_OK;
}

/* Of windows and states, of a sequence with so many tokens. */
static uint32_t blocks_besides(const struct msim_sched *s, uint32_t tokens)
{
    uint64_t all = s->sequence_blocks, window = s->window;

    return (uint32_t)(tokens < window ? (all * tokens + window - 1) / window
                                      : all);
}

bool msim_sched_reserve(struct msim_sched *s, struct msim_seq *q,
                        uint32_t tokens)
{
    uint32_t block = s->rules->block_size;
    uint32_t want =
        tokens / block + (tokens % block > 0) + blocks_besides(s, tokens);
    uint32_t have = q->plain + q->held * s->kv.unit_blocks;

    if (want <= have)
        return true;
    if (!msim_kv_take(&s->kv, want - have))
        return false;
    q->plain += want - have;
    return true;
}

void msim_sched_run(struct msim_sched *s, struct msim_seq *q, uint32_t now)
{
    uint64_t end = (uint64_t)q->computed + now;

    q->now = now;
    while (q->held < q->units &&
           ((uint64_t)q->held + 1) * s->unit_tokens <= end) {
        msim_kv_keep(&s->kv, q->hashes[q->held++]);
        q->plain -= s->kv.unit_blocks;
    }
}

uint32_t msim_sched_open(struct msim_sched *s)
{
    struct msim_seq *q = msim_sched_next(s);
    uint32_t total = q->input + q->made;
    /* The last token is always computed: something has to yield the next. */
    uint32_t most = (total - 1) / s->unit_tokens;

    q->held =
        msim_kv_hits(&s->kv, q->hashes, q->units < most ? q->units : most);
    msim_kv_hold(&s->kv, q->hashes, q->held);
    q->computed = q->prefilled ? q->input : q->held * s->unit_tokens;
    return total - q->computed;
}

static void give_blocks(struct msim_sched *s, struct msim_seq *q)
{
    msim_kv_give(&s->kv, q->plain, q->hashes, q->held);
    q->plain = q->held = q->computed = 0;
}

static void give_units(struct msim_sched *s, struct msim_seq *q)
{
    msim_kv_give(&s->kv, 0, q->hashes, q->held);
    q->held = 0;
}

void msim_sched_close(struct msim_sched *s)
{
    give_blocks(s, msim_sched_next(s));
}

struct msim_seq *msim_sched_admit(struct msim_sched *s)
{
    uint32_t i = pop_waiting(s);
    struct msim_seq *q = &s->seqs[i];

    s->running[s->n_running++] = i;
    q->prefilling = !q->prefilled;
    s->prompt_tokens += q->input + q->made;
    s->hit_tokens += q->computed;
    return q;
}

void msim_sched_preempt(struct msim_sched *s, uint32_t i, uint64_t order)
{
    uint32_t seq = s->running[i];
    struct msim_seq *q = &s->seqs[seq];

    give_blocks(s, q);
    q->now = 0;
    q->order = order;
    q->prefilled = false;
    s->n_running--;
    memmove(s->running + i, s->running + i + 1,
            (s->n_running - i) * sizeof(*s->running));
    s->preemptions++;
    push_waiting(s, seq);
}

/* --- a step --- */

void msim_sched_describe(struct msim_sched *s)
{
    struct msim_llm_step *step = &s->step;

    *step = (struct msim_llm_step){.chunks = s->chunks};
    for (uint32_t i = 0; i < s->n_running; i++) {
        const struct msim_seq *q = &s->seqs[s->running[i]];

        if (!q->now)
            continue;
        if (!q->prefilling) {
            step->decode_seqs++;
            step->decode_context += q->computed + q->now;
            continue;
        }
        s->chunks[step->n_chunks++] = (struct msim_llm_chunk){
            q->now, q->computed, q->now == msim_seq_left(q)};
    }
}

/* Whether a first or last token came out; q->done where it was the last. */
static bool advance(struct msim_seq *q, struct msim_llm_token *token)
{
    q->computed += q->now;
    q->now = 0;
    if (q->done || q->computed < q->input + q->made)
        return false;
    q->prefilling = false;
    *token = (struct msim_llm_token){q->handle, q->made == 0,
                                     q->made + 1 >= q->output};
    q->made++;
    q->done = token->last;
    return token->first || token->last;
}

uint32_t msim_sched_end(struct msim_sched *s, struct msim_llm_token *tokens)
{
    uint32_t n_tokens = 0, kept = 0;
    bool whole = s->rules->policy == MSIM_BATCH_STATIC;

    for (uint32_t i = 0; whole && i < s->n_running; i++)
        whole =
            s->seqs[s->running[i]].made + 1 >= s->seqs[s->running[i]].output;
    for (uint32_t i = 0; i < s->n_running; i++) {
        uint32_t seq = s->running[i];
        struct msim_seq *q = &s->seqs[seq];

        if (q->now && advance(q, &tokens[n_tokens]))
            n_tokens++;
        /* The places of a static batch are free when all of it has ended; what
         * is known by the request's hashes is given back before they go. */
        if (!q->done || (s->rules->policy == MSIM_BATCH_STATIC && !whole)) {
            if (q->done)
                give_units(s, q);
            s->running[kept++] = seq;
            continue;
        }
        give_blocks(s, q);
        q->spare = s->spare;
        s->spare = seq;
    }
    s->n_running = kept;
    return n_tokens;
}
