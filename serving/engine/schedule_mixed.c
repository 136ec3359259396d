/*
 * serving/engine/schedule_mixed.c - one budget of tokens for all that a step
 * computes.
 *
 * vLLM V1 (its blog "vLLM V1: A Major Upgrade to vLLM's Core Architecture" and
 * the design page of its scheduler): sequences that run are served first, in
 * order, each with what it has left, whether prompt or one decoded token. One
 * that gets no block preempts the last admitted (by priority: the least
 * important, and of those the last to arrive), which loses its blocks and is
 * computed again. In a step without preemption, prompts that wait follow while
 * budget, places and blocks last; the last one is cut at the budget.
 *
 * TensorRT-LLM's in-flight batching is the same with whole prompts, and with
 * GUARANTEED_NO_EVICT (its page "Useful runtime options"): a request starts
 * when the blocks of its whole output are there, and is never preempted. Told
 * to (batch_wait_timeout_iters), it lets prompts wait for more prompts.
 */
#include "serving/engine/replica_internal.h"

static bool less_important(const struct msim_seq *a, const struct msim_seq *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->order > b->order;
}

static uint32_t victim_of(const struct msim_sched *s)
{
    uint32_t worst = s->n_running - 1;

    for (uint32_t i = 0; s->rules->by_priority && i < s->n_running; i++)
        if (less_important(&s->seqs[s->running[i]],
                           &s->seqs[s->running[worst]]))
            worst = i;
    return worst;
}

/* Blocks for the next `now` tokens of running[*i], by preemption if need be;
 * false where it was preempted itself. */
static bool find_blocks(struct msim_sched *s, uint32_t *i, uint32_t now,
                        uint32_t *budget)
{
    struct msim_seq *q = &s->seqs[s->running[*i]];

    while (!msim_sched_reserve(s, q, q->computed + now)) {
        uint32_t k = victim_of(s);
        struct msim_seq *victim = &s->seqs[s->running[k]];
        bool itself = k == *i;

        *budget += victim->now;
        msim_sched_preempt(s, k, victim->order);
        if (itself)
            return false;
        *i -= k < *i;
    }
    return true;
}

static void run_running(struct msim_sched *s, uint32_t *budget)
{
    uint32_t i = 0;

    while (i < s->n_running && *budget) {
        struct msim_seq *q = &s->seqs[s->running[i]];
        uint32_t now = msim_seq_left(q);

        if (now > *budget)
            now = *budget;
        if (!find_blocks(s, &i, now, budget))
            break;
        msim_sched_run(s, q, now);
        *budget -= now;
        i++;
    }
}

/* How many tokens of a prompt of which `left` are to be computed; 0: none. An
 * engine without chunks refuses prompts above its budget when it starts or when
 * they come; here they run with no other prompt beside them. */
static uint32_t part_of(const struct msim_sched *s, uint32_t left,
                        uint32_t budget, bool first)
{
    if (left <= budget)
        return left;
    if (s->rules->chunked_prefill)
        return budget;
    return first && left > s->rules->max_num_batched_tokens ? left : 0;
}

/* Whether prompts wait for more of them; `used` tokens of the step decode
 * (py_executor.py, _waiting_requests). */
static bool is_too_little(struct msim_sched *s, uint32_t used)
{
    const struct msim_replica_rules *rules = s->rules;
    uint64_t tokens = used;

    if (!used || !s->n_waiting || !rules->wait_steps)
        return false;
    for (uint32_t i = 0; i < s->n_waiting && tokens < rules->wait_tokens; i++)
        tokens += s->seqs[s->waiting[i]].input + s->seqs[s->waiting[i]].made;
    if (tokens >= rules->wait_tokens || s->waited >= rules->wait_steps) {
        s->waited = 0;
        return false;
    }
    s->waited++;
    return true;
}

static void run_waiting(struct msim_sched *s, uint32_t budget)
{
    if (is_too_little(s, s->rules->max_num_batched_tokens - budget))
        return;
    for (bool first = true; s->n_waiting && budget; first = false) {
        struct msim_seq *q = msim_sched_next(s);
        uint32_t now;

        if (s->n_running >= s->rules->max_num_seqs)
            return;
        now = part_of(s, msim_sched_open(s), budget, first);
        if (!now || !msim_sched_reserve(s, q,
                                        s->rules->reserve_output
                                            ? q->input + q->output - 1
                                            : q->computed + now)) {
            msim_sched_close(s);
            return;
        }
        msim_sched_run(s, msim_sched_admit(s), now);
        budget -= now < budget ? now : budget;
    }
}

void msim_schedule_mixed(struct msim_sched *s)
{
    uint32_t budget = s->rules->max_num_batched_tokens;
    uint64_t preemptions = s->preemptions;

    run_running(s, &budget);
    if (s->preemptions == preemptions)
        run_waiting(s, budget);
}
