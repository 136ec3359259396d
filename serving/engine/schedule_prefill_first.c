/*
 * serving/engine/schedule_prefill_first.c - SGLang: prompts first, in steps of
 * their own.
 *
 * As its documentation of server arguments and of hyperparameter tuning says:
 * a step computes at most chunked_prefill_size tokens of prompts, and of one
 * prompt alone a part; while a prompt that waits fits, no sequence decodes. A
 * prompt fits where memory has room for it, for its own output, and for the
 * outputs of what runs, of which a ratio below 1 is counted: sequences may end
 * early. The ratio begins at 0.7 (times schedule_conservativeness, 1), and goes
 * down to 0.14 of that in 600 steps of decoding. Outputs count up to 4,096
 * tokens. Where it was too low, sequences with the fewest tokens made are
 * retracted: they wait behind all others and are computed again, and the ratio
 * becomes the share of all outputs that is made, with 20 tokens more each.
 * (SGLANG_INIT_NEW_TOKEN_RATIO, SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR,
 * SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS, SGLANG_RETRACT_DECODE_STEPS,
 * SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION: "Environment Variables".)
 */
#include "serving/engine/replica_internal.h"

#define RATIO_LAST    (MSIM_NEW_TOKEN_RATIO * 0.14)
#define RATIO_STEPS   600
#define RETRACT_STEPS 20
#define OUTPUT_MOST   4096

static uint32_t output_left(const struct msim_seq *q)
{
    uint32_t left = q->output - q->made;

    return left < OUTPUT_MOST ? left : OUTPUT_MOST;
}

/* Tokens that what runs may still want, as far as that is counted. */
static double promised(const struct msim_sched *s)
{
    uint64_t left = 0;

    for (uint32_t i = 0; i < s->n_running; i++)
        left += output_left(&s->seqs[s->running[i]]);
    return s->new_token_ratio * (double)left;
}

/* The one prompt that was cut goes on; what is left of the budget. */
static uint32_t run_cut(struct msim_sched *s, uint32_t budget)
{
    for (uint32_t i = s->n_running; i-- && budget;) {
        struct msim_seq *q = &s->seqs[s->running[i]];
        uint32_t now = msim_seq_left(q);

        if (!q->prefilling)
            continue;
        now = now < budget ? now : budget;
        msim_sched_run(s, q, now);
        budget -= now;
    }
    return budget;
}

/* Whether the next one that waits was admitted; what it took of the budget. */
static bool admit_next(struct msim_sched *s, double *spare, uint32_t *budget)
{
    struct msim_seq *q = msim_sched_next(s);
    uint32_t left = msim_sched_open(s), now = left, block;
    bool cut = left > *budget;
    double want;

    block = s->rules->block_size;
    want = (double)left + output_left(q);
    if (cut && s->rules->chunked_prefill)
        now = *budget;
    else if (cut && *budget < s->rules->max_num_batched_tokens)
        goto not_now;
    /* Alone, it need not leave room for an output that may end early. */
    if (s->n_running && want > *spare + (double)s->kv.free * block)
        goto not_now;
    if (!msim_sched_reserve(s, q, q->input + q->made))
        goto not_now;
    *spare -= output_left(q);
    *budget -= now < *budget ? now : *budget;
    msim_sched_run(s, msim_sched_admit(s), now);
    return true;
not_now:
    msim_sched_close(s);
    return false;
}

static bool prefill(struct msim_sched *s)
{
    uint32_t whole = s->rules->max_num_batched_tokens;
    uint32_t budget = run_cut(s, whole);
    double spare = -promised(s);

    while (s->n_waiting && budget && s->n_running < s->rules->max_num_seqs)
        if (!admit_next(s, &spare, &budget))
            break;
    return budget < whole;
}

/* Of what runs, the one with the fewest tokens made, and of those the one with
 * the longest prompt, and of those the last. */
static uint32_t to_retract(const struct msim_sched *s)
{
    uint32_t worst = 0;

    for (uint32_t i = 1; i < s->n_running; i++) {
        const struct msim_seq *q = &s->seqs[s->running[i]];
        const struct msim_seq *w = &s->seqs[s->running[worst]];

        if (q->made < w->made || (q->made == w->made && q->input >= w->input))
            worst = i;
    }
    return worst;
}

static void raise_ratio(struct msim_sched *s)
{
    double made = 0, whole = 0;

    for (uint32_t i = 0; i < s->n_running; i++) {
        const struct msim_seq *q = &s->seqs[s->running[i]];

        made += q->made + (double)RETRACT_STEPS;
        whole += q->output;
    }
    s->new_token_ratio = whole > made ? made / whole : 1;
}

static void decode(struct msim_sched *s)
{
    bool retracted = false;

    s->new_token_ratio -= (MSIM_NEW_TOKEN_RATIO - RATIO_LAST) / RATIO_STEPS;
    for (uint32_t i = 0; i < s->n_running;) {
        struct msim_seq *q = &s->seqs[s->running[i]];
        uint32_t k;

        if (msim_sched_reserve(s, q, q->computed + 1)) {
            msim_sched_run(s, q, 1);
            i++;
            continue;
        }
        retracted = true;
        k = to_retract(s);
        msim_sched_preempt(s, k, s->next_order++);
        i -= k < i;
    }
    if (retracted)
        raise_ratio(s);
    if (s->new_token_ratio < RATIO_LAST)
        s->new_token_ratio = RATIO_LAST;
}

void msim_schedule_prefill_first(struct msim_sched *s)
{
    if (!prefill(s))
        decode(s);
}
