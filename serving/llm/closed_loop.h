/*
 * serving/llm/closed_loop.h - a replica that as many clients ask as it serves
 * together: each asks again when it has been answered (the usual benchmark of
 * engines: concurrency B, prompts of I tokens, O tokens out).
 *
 *     P     what one prompt's prefill adds (in chunks of at most
 *           max_num_batched_tokens); mixed into a step of decoding (vLLM,
 *           TensorRT-LLM), or a step of its own (SGLang)
 *     D     a step in which B sequences decode, with I + O / 2 keys each
 *     TPOT  D + (1 - f / 2) (B - 1) P / (O - 1): in the life of a request each
 *           of the others has one prefill, but in the first wave those before
 * it had theirs already TTFT  (1 - f) (P + D / 2 + wait) + f (B + 1) P / 2 +
 * host
 *
 * Clients beyond those that are served together wait, in the mean, for as many
 * answers' times as there are of them for each that is served (Little's law).
 *
 * f: the share of requests that are of the first wave, in which all ask at
 * once; wait: behind prompts of others, as in a queue of equal services that is
 * busy a share of B P / (B P + (O - 1) D). The law's constants are fitted
 * through this reading (calibrate/serving), f and the host's part of TTFT with
 * them.
 */
#ifndef MSIM_SERVING_LLM_CLOSED_LOOP_H
#define MSIM_SERVING_LLM_CLOSED_LOOP_H
#include "serving/llm/llm_price.h"

struct msim_llm; /* serving/llm/llm.h */

struct msim_closed_loop {
    double input_tokens, output_tokens;
    double seqs;    /* that the replica serves together */
    double waiting; /* clients beyond those: they wait for another to end */
};

/* The most sequences that engines serve together where nothing says it. */
#define MSIM_LOOP_SEQS 256

/* The loop of `clients` clients on a replica whose cache holds `kv_tokens`:
 * each sequence keeps its prompt and, as sequences are at all places of their
 * answers, half of the answer (all of it in TensorRT-LLM, which evicts none).
 */
struct msim_closed_loop
msim_closed_loop_of(const struct msim_llm_rank *r, int64_t kv_tokens,
                    int64_t max_num_seqs, double input_tokens,
                    double output_tokens, double clients);

struct msim_closed_loop_answer {
    double tpot_ms, ttft_ms, prefill_ms, decode_ms;
};

/* What is not positive counts as 1. */
void msim_closed_loop_solve(struct msim_llm *m,
                            const struct msim_closed_loop *loop,
                            struct msim_closed_loop_answer *out);

/* ---- for fits ------------------------------------------------------------ */

/* A sum of parts of steps, for P and for D. */
struct msim_loop_term {
    enum msim_llm_part part;
    double times, a, b;
};

#define MSIM_LOOP_TERMS 12

struct msim_loop_sum {
    struct msim_loop_term of[MSIM_LOOP_TERMS];
    uint32_t n;
    double steps, seqs; /* that the host has to do with */
};

void msim_loop_prefill(struct msim_loop_sum *sum, const struct msim_llm_rank *r,
                       const struct msim_closed_loop *loop);
void msim_loop_decode(struct msim_loop_sum *sum, const struct msim_llm_rank *r,
                      const struct msim_closed_loop *loop);

/* The figures from both, us: those of `law` and `e`. */
void msim_loop_figures(struct msim_closed_loop_answer *out,
                       const struct msim_llm_law *law, enum msim_llm_engine e,
                       const struct msim_closed_loop *loop, double dp,
                       double prefill_us, double decode_us);

#endif
