/*
 * serving/engine/replica.c - the ranks of a replica, which step together.
 */
#include "serving/engine/replica_internal.h"

#include <stdlib.h>
#include <string.h>

struct msim_replica {
    struct msim_replica_rules rules;
    struct msim_llm_times times;
    uint32_t max_tokens;      /* input and output of one sequence */
    uint32_t kv_blocks;       /* of a rank */
    uint32_t sequence_blocks; /* of which one takes so many besides */
    uint32_t next_rank;
    struct msim_llm_token *tokens;
    struct msim_llm_chunk *chunks; /* of all ranks */
    uint32_t cap;
    uint64_t steps, step_seqs;
    double busy_us;
    struct msim_sched ranks[]; /* rules.ranks of them */
};

static bool are_right(const struct msim_replica_rules *rules)
{
    return rules->max_num_seqs && rules->max_num_batched_tokens &&
           rules->block_size && rules->ranks &&
           rules->hash_tokens % rules->block_size == 0;
}

/* What a rank holds: the last token of a sequence is never computed on. */
static bool set_sizes(struct msim_replica *r)
{
    const struct msim_replica_rules *rules = &r->rules;
    int64_t blocks = r->times.kv_tokens / rules->ranks / rules->block_size;
    int64_t besides = r->times.kv_sequence_tokens / rules->block_size +
                      (r->times.kv_sequence_tokens % rules->block_size > 0);
    int64_t most;

    if (blocks > INT32_MAX / rules->block_size)
        blocks = INT32_MAX / rules->block_size;
    if (blocks <= besides)
        return false;
    most = (blocks - besides) * rules->block_size + 1;
    if (rules->max_model_len && rules->max_model_len < most)
        most = rules->max_model_len;
    r->kv_blocks = (uint32_t)blocks;
    r->sequence_blocks = (uint32_t)besides;
    r->max_tokens = (uint32_t)most;
    return true;
}

enum msim_status msim_replica_new(struct msim_replica **out,
                                  const struct msim_replica_rules *rules,
                                  const struct msim_llm_times *times)
{
    enum msim_status status = MSIM_OK;
    struct msim_replica *r;

    *out = NULL;
    if (!are_right(rules))
        return MSIM_EUSAGE;
    r = calloc(1, sizeof(*r) + rules->ranks * sizeof(*r->ranks));
    if (!r)
        return MSIM_ENOMEM;
    r->rules = *rules;
    r->times = *times;
    if (!set_sizes(r))
        status = MSIM_EUSAGE;
    for (uint32_t i = 0; status == MSIM_OK && i < rules->ranks; i++) {
        status = msim_sched_init(&r->ranks[i], &r->rules, r->kv_blocks);
        r->ranks[i].sequence_blocks = r->sequence_blocks;
        r->ranks[i].window = (uint32_t)times->kv_window;
    }
    if (status != MSIM_OK) {
        msim_replica_free(r);
        return status;
    }
    *out = r;
    return MSIM_OK;
}

void msim_replica_free(struct msim_replica *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->rules.ranks; i++)
        msim_sched_release(&r->ranks[i]);
    free(r->tokens);
    free(r->chunks);
    free(r);
}

static uint32_t choose_rank(struct msim_replica *r)
{
    uint64_t least = UINT64_MAX;
    uint32_t best = 0;

    if (r->rules.rank_choice == MSIM_RANK_ROUND)
        return r->next_rank++ % r->rules.ranks;
    for (uint32_t i = 0; i < r->rules.ranks; i++) {
        const struct msim_sched *s = &r->ranks[i];
        uint64_t load = 4 * (uint64_t)s->n_waiting + s->n_running;

        if (load < least) {
            least = load;
            best = i;
        }
    }
    return best;
}

/* As many tokens and chunks as sequences may run on all ranks. */
static enum msim_status make_room(struct msim_replica *r)
{
    uint64_t want = 0;
    struct msim_llm_token *tokens;
    struct msim_llm_chunk *chunks;

    for (uint32_t i = 0; i < r->rules.ranks; i++)
        want += r->ranks[i].cap;
    if (want <= r->cap)
        return MSIM_OK;
    if (want > UINT32_MAX / 2)
        return MSIM_ELIMIT;
    tokens = realloc(r->tokens, want * sizeof(*tokens));
    if (!tokens)
        return MSIM_ENOMEM;
    r->tokens = tokens;
    chunks = realloc(r->chunks, want * sizeof(*chunks));
    if (!chunks)
        return MSIM_ENOMEM;
    r->chunks = chunks;
    r->cap = (uint32_t)want;
    return MSIM_OK;
}

enum msim_status msim_replica_check(const struct msim_replica *r,
                                    const struct msim_llm_request *request)
{
    if (!request->input_tokens || !request->output_tokens ||
        (request->prefilled && request->output_tokens < 2))
        return MSIM_EUSAGE;
    return request->input_tokens >= r->max_tokens ? MSIM_ELIMIT : MSIM_OK;
}

uint32_t msim_replica_output(const struct msim_replica *r,
                             const struct msim_llm_request *request)
{
    uint32_t room = r->max_tokens - request->input_tokens;

    return request->output_tokens < room ? request->output_tokens : room;
}

enum msim_status msim_replica_add(struct msim_replica *r,
                                  const struct msim_llm_request *request,
                                  uint32_t handle)
{
    MSIM_TRY(msim_replica_check(r, request));
    MSIM_TRY(msim_sched_add(&r->ranks[choose_rank(r)], request,
                            msim_replica_output(r, request), handle));
    return make_room(r);
}

/* --- steps --- */

/* What all ranks do, as one step. */
static struct msim_llm_step whole_step(struct msim_replica *r)
{
    struct msim_llm_step whole = {.chunks = r->chunks};

    for (uint32_t i = 0; i < r->rules.ranks; i++) {
        const struct msim_llm_step *step = &r->ranks[i].step;

        whole.decode_seqs += step->decode_seqs;
        whole.decode_context += step->decode_context;
        if (step->n_chunks)
            memcpy(r->chunks + whole.n_chunks, step->chunks,
                   step->n_chunks * sizeof(*step->chunks));
        whole.n_chunks += step->n_chunks;
    }
    return whole;
}

static double slowest_rank(struct msim_replica *r, struct msim_llm_step *whole)
{
    double longest = 0;

    for (uint32_t i = 0; i < r->rules.ranks; i++) {
        const struct msim_llm_step *step = &r->ranks[i].step;
        double us;

        if (!step->decode_seqs && !step->n_chunks)
            continue;
        whole->rank = step;
        us = r->times.step_us(r->times.ctx, whole);
        if (us > longest)
            longest = us;
    }
    return longest;
}

double msim_replica_begin(struct msim_replica *r)
{
    struct msim_llm_step whole;
    double us;

    for (uint32_t i = 0; i < r->rules.ranks; i++)
        msim_sched_begin(&r->ranks[i]);
    whole = r->rules.ranks == 1 ? r->ranks[0].step : whole_step(r);
    if (!whole.decode_seqs && !whole.n_chunks)
        return 0;
    us = r->rules.ranks == 1 ? r->times.step_us(r->times.ctx, &whole)
                             : slowest_rank(r, &whole);
    r->steps++;
    r->step_seqs += whole.decode_seqs + whole.n_chunks;
    r->busy_us += us;
    return us;
}

const struct msim_llm_token *msim_replica_end(struct msim_replica *r,
                                              uint32_t *n)
{
    *n = 0;
    for (uint32_t i = 0; i < r->rules.ranks; i++)
        *n += msim_sched_end(&r->ranks[i], r->tokens + *n);
    return r->tokens;
}

/* --- figures --- */

uint32_t msim_replica_waiting(const struct msim_replica *r)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->rules.ranks; i++)
        n += r->ranks[i].n_waiting;
    return n;
}

uint32_t msim_replica_running(const struct msim_replica *r)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->rules.ranks; i++)
        n += r->ranks[i].n_running;
    return n;
}

void msim_replica_figures_of(const struct msim_replica *r,
                             struct msim_replica_figures *figures)
{
    *figures = (struct msim_replica_figures){
        .steps = r->steps, .step_seqs = r->step_seqs, .busy_us = r->busy_us};
    for (uint32_t i = 0; i < r->rules.ranks; i++) {
        const struct msim_sched *s = &r->ranks[i];
        double share = (double)s->kv.peak / s->kv.total;

        figures->preemptions += s->preemptions;
        figures->prompt_tokens += s->prompt_tokens;
        figures->hit_tokens += s->hit_tokens;
        if (share > figures->kv_peak_share)
            figures->kv_peak_share = share;
    }
}
