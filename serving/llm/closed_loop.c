/*
 * serving/llm/closed_loop.c - a closed loop on one replica, in closed form.
 */

#include "serving/llm/llm_internal.h"

#include <math.h>

static void add(struct msim_loop_sum *sum, enum msim_llm_part part,
                double times, double a, double b)
{
    if (sum->n < MSIM_LOOP_TERMS)
        sum->of[sum->n++] = (struct msim_loop_term){part, times, a, b};
}

/* Prompts are computed beside sequences that decode, unless the engine gives
 * them steps of their own (SGLang without --enable-mixed-chunk). */
static bool is_mixed(const struct msim_llm_rank *r)
{
    return r->s.engine != MSIM_LLM_SGLANG;
}

static void add_tokens(struct msim_loop_sum *sum, double times, double tokens)
{
    add(sum, MSIM_LLM_PART_TOKENS, times, tokens, 0);
    add(sum, MSIM_LLM_PART_EXPERTS, times, tokens, 0);
}

/*
 * One prompt on every data parallel rank. Of chunks after the first the middle
 * one stands for all: their cost rises evenly with the context.
 */
void msim_loop_prefill(struct msim_loop_sum *sum, const struct msim_llm_rank *r,
                       const struct msim_closed_loop *loop)
{
    double dp = (double)r->s.dp, input = fmax(loop->input_tokens, 1);
    double most = (double)r->s.max_num_batched_tokens;
    double chunks = ceil(input / most), each = input / chunks;
    double seqs = is_mixed(r) ? loop->seqs : 0;

    *sum = (struct msim_loop_sum){.steps = is_mixed(r) ? chunks - 1 : chunks,
                                  .seqs = dp};
    add_tokens(sum, chunks, seqs + each * dp);
    if (seqs > 0)
        add_tokens(sum, -chunks, seqs);
    add(sum, MSIM_LLM_PART_CHUNK, 1, each, 0);
    if (chunks > 1)
        add(sum, MSIM_LLM_PART_CHUNK, chunks - 1, each, input / 2);
    if (!is_mixed(r))
        add(sum, MSIM_LLM_PART_HEAD, 1, dp, 0);
}

void msim_loop_decode(struct msim_loop_sum *sum, const struct msim_llm_rank *r,
                      const struct msim_closed_loop *loop)
{
    double seqs = fmax(loop->seqs, 1);

    (void)r;
    *sum = (struct msim_loop_sum){.steps = 1, .seqs = seqs};
    add_tokens(sum, 1, seqs);
    add(sum, MSIM_LLM_PART_HEAD, 1, seqs, 0);
    add(sum, MSIM_LLM_PART_DECODE, 1, seqs,
        loop->input_tokens + loop->output_tokens / 2);
}

void msim_loop_figures(struct msim_closed_loop_answer *out,
                       const struct msim_llm_law *law, enum msim_llm_engine e,
                       const struct msim_closed_loop *loop, double dp,
                       double prefill_us, double decode_us)
{
    double p = fmax(prefill_us, 1), d = fmax(decode_us, 1);
    double gaps = fmax(loop->output_tokens - 1, 1);
    double seqs = fmax(loop->seqs / dp, 1); /* that share a rank's prefills */
    double busy = seqs * p / (seqs * p + gaps * d);
    double wait = p * busy / (2 * fmax(1 - busy, 0.05));
    double later = p + d / 2 + fmin(wait, (seqs - 1) * p / 2);
    double first = (seqs + 1) / 2 * p;
    double f = fmin(law->first_wave[e], 1);

    out->prefill_ms = p * 1e-3;
    out->decode_ms = d * 1e-3;
    out->tpot_ms = (d + (1 - f / 2) * (seqs - 1) * p / gaps) * 1e-3;
    out->ttft_ms = ((1 - f) * later + f * first + law->arrival_us[e]) * 1e-3;
    out->ttft_ms += fmax(loop->waiting, 0) / fmax(loop->seqs, 1) *
                    (out->ttft_ms + gaps * out->tpot_ms);
}

struct msim_closed_loop
msim_closed_loop_of(const struct msim_llm_rank *r, int64_t kv_tokens,
                    int64_t max_num_seqs, double input_tokens,
                    double output_tokens, double clients)
{
    double kept = r->s.engine == MSIM_LLM_TRTLLM ? 1 : 0.5;
    double room =
        (double)kv_tokens / fmax(input_tokens + kept * output_tokens, 1);
    double most = max_num_seqs > 0 ? (double)max_num_seqs
                                   : MSIM_LOOP_SEQS * (double)r->s.dp;
    double seqs = fmax(fmin(fmin(clients, most), floor(room)), 1);

    return (struct msim_closed_loop){input_tokens, output_tokens, seqs,
                                     fmax(clients - seqs, 0)};
}
