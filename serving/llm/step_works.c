/*
 * serving/llm/step_works.c - what is done for each token alike, and the logits.
 *
 * As vLLM, SGLang and TensorRT-LLM run it: queries, keys and values are one
 * product, gate and up another; sums of residuals are in the norms; positions
 * are turned as keys are written to the cache.
 */

#include "core/work/work.h"
#include "serving/llm/llm_internal.h"

#include <math.h>

/* A norm with the sum of the residual in it. */
static void add_norm(struct msim_llm_maker *k, double rows, double cols)
{
    msim_llm_add_vector(k, MSIM_FAMILY_NORM,
                        k->r->m->layernorm ? "layer_norm" : "rms_norm", rows,
                        cols, 2 * rows * cols, 2 * rows * cols);
}

/* The sum over the ranks that split heads, or a matrix. */
static void add_sum(struct msim_llm_maker *k, double rows)
{
    msim_llm_add_collective(k, MSIM_LLM_KIND_ALL_REDUCE, MSIM_COLL_ALL_REDUCE,
                            2 * rows * (double)k->r->m->hidden, k->r->s.tp);
}

/* ---- attention, but for the keys ----------------------------------------- */

static void add_usual(struct msim_llm_maker *k, double rows)
{
    const struct msim_llm_rank *r = k->r;
    const struct msim_described *m = r->m;
    double h = (double)m->hidden, d = (double)m->head_dim;
    double q = (double)r->heads * d, kv = (double)r->kv_heads * d;
    double gate = m->gated_attention ? q : 0;

    msim_llm_add_product(k, r->attention, rows, h, q + 2 * kv + gate, 1);
    if (m->qk_norm)
        msim_llm_add_vector(k, MSIM_FAMILY_NORM, "rms_norm",
                            rows * (double)(r->heads + r->kv_heads), d,
                            rows * (q + kv), rows * (q + kv));
    msim_llm_add_vector(k, MSIM_FAMILY_POINTWISE, "mul", rows, q + 2 * kv,
                        rows * (q + 2 * kv), rows * (q + 2 * kv));
    if (m->gated_attention)
        msim_llm_add_vector(k, MSIM_FAMILY_POINTWISE, "mul", rows, q,
                            2 * rows * q, rows * q);
    msim_llm_add_product(k, r->attention, rows, q, h, 1);
}

/* DeepSeek's: what is narrow is not split over ranks. What differs between
 * prompts and decoding stands in latent_works.c. */
static void add_latent(struct msim_llm_maker *k, double rows)
{
    const struct msim_llm_rank *r = k->r;
    const struct msim_described *m = r->m;
    double h = (double)m->hidden, heads = (double)r->heads;
    double kv = (double)(m->mla.kv_rank + m->mla.rope_dim);
    double qk = (double)(m->mla.nope_dim + m->mla.rope_dim);
    double q_rank = (double)m->mla.q_rank;

    msim_llm_add_product(k, r->attention, rows, h,
                         q_rank > 0 ? q_rank + kv : heads * qk + kv, 1);
    msim_llm_add_vector(k, MSIM_FAMILY_NORM, "rms_norm", rows, q_rank + kv,
                        rows * (q_rank + kv), rows * (q_rank + kv));
    if (q_rank > 0)
        msim_llm_add_product(k, r->attention, rows, q_rank, heads * qk, 1);
    if (m->index.topk) {
        msim_llm_add_product(k, r->attention, rows, q_rank > 0 ? q_rank : h,
                             (double)(m->index.heads * m->index.dim), 1);
        msim_llm_add_product(k, MSIM_QUANT_BF16, rows, h,
                             (double)(m->index.dim + m->index.heads), 1);
    }
    msim_llm_add_vector(k, MSIM_FAMILY_POINTWISE, "mul", rows,
                        heads * (double)m->mla.rope_dim + kv,
                        rows * (heads * (double)m->mla.rope_dim + kv),
                        rows * (heads * (double)m->mla.rope_dim + kv));
    msim_llm_add_product(k, r->attention, rows, heads * (double)m->mla.v_dim, h,
                         1);
}

/* The gated delta rule's products, its short convolution and its gate. */
static void add_linear(struct msim_llm_maker *k, double rows)
{
    const struct msim_llm_rank *r = k->r;
    const struct msim_described *m = r->m;
    double h = (double)m->hidden, tp = (double)r->s.tp;
    double key = (double)(m->linear.key_heads * m->linear.key_dim) / tp;
    double value = (double)(m->linear.value_heads * m->linear.value_dim) / tp;
    double mixed = 2 * key + value;

    msim_llm_add_product(k, r->attention, rows, h, mixed + value, 1);
    msim_llm_add_product(k, MSIM_QUANT_BF16, rows, h,
                         2 * (double)m->linear.value_heads / tp, 1);
    msim_llm_add_vector(k, MSIM_FAMILY_POINTWISE, "silu", rows, mixed,
                        rows * mixed * 2, rows * mixed);
    msim_llm_add_vector(k, MSIM_FAMILY_NORM, "rms_norm", rows, value,
                        2 * rows * value, rows * value);
    msim_llm_add_product(k, r->attention, rows, value, h, 1);
}

static void add_attention(struct msim_llm_maker *k, double rows)
{
    const struct msim_llm_rank *r = k->r;

    k->layers = r->full_layers + r->window_layers;
    if (k->layers > 0 && r->m->mla.kv_rank)
        add_latent(k, rows);
    else if (k->layers > 0)
        add_usual(k, rows);
    k->layers = r->linear_layers;
    if (k->layers > 0)
        add_linear(k, rows);
    k->layers = (double)r->m->layers;
    add_norm(k, rows, (double)r->m->hidden);
    add_sum(k, rows);
}

/* ---- feed-forward networks ----------------------------------------------- */

static void add_network(struct msim_llm_maker *k, enum msim_quant type,
                        double rows, double width)
{
    const struct msim_described *m = k->r->m;
    double h = (double)m->hidden, gated = m->gated ? 2 : 1;

    msim_llm_add_product(k, type, rows, h, gated * width, 1);
    msim_llm_add_vector(k, MSIM_FAMILY_POINTWISE, m->gated ? "silu" : "gelu",
                        rows, width, gated * rows * width, rows * width);
    msim_llm_add_product(k, type, rows, width, h, 1);
}

/* One rank's experts, for the tokens of all ranks that share them. */
static void add_experts(struct msim_llm_maker *k, double tokens)
{
    const struct msim_llm_rank *r = k->r;
    const struct msim_described *m = r->m;
    double h = (double)m->hidden, local;
    const char *word = r->experts == MSIM_QUANT_MXFP4
                           ? "w4a16_mxfp4"
                           : msim_quant_text(r->experts);
    struct msim_work *w = msim_llm_add(k, MSIM_LLM_KIND_EXPERT);

    k->w->of[k->w->n - 1].type = r->experts;
    w->family = MSIM_FAMILY_MOE;
    if (r->experts != MSIM_QUANT_BF16)
        w->dtype = msim_dtype_parse(word, &w->variant);
    w->u.moe.hidden = m->hidden;
    w->u.moe.inter = m->moe.ffn;
    w->u.moe.tp = r->s.moe_tp;
    w->u.moe.plain = !m->gated;
    w->u.moe.routing.tokens = msim_whole(fmax(ceil(tokens), 1));
    w->u.moe.routing.topk = m->moe.topk;
    w->u.moe.routing.experts = m->moe.experts;
    w->u.moe.routing.ep = r->s.ep;
    w->u.moe.routing.kind = MSIM_ROUTING_RANDOM;
    msim_work_count(w);
    local = (double)m->moe.experts / (double)r->s.ep;
    k->w->weights += k->layers * local * (m->gated ? 3 : 2) * h *
                     (double)m->moe.ffn / (double)r->s.moe_tp *
                     msim_quant_bytes(r->experts);
}

/* Where attention is data parallel, tokens of all ranks are gathered before
 * the experts, and what each has to a sum is scattered behind them; or they are
 * sent to the ranks of their experts and back. */
static void add_exchange(struct msim_llm_maker *k, double rows)
{
    const struct msim_llm_rank *r = k->r;
    int64_t ranks = r->s.dp * r->s.tp;
    double bytes = 2 * rows * (double)r->m->hidden * (double)r->s.dp;

    if (r->s.dp == 1) {
        add_sum(k, rows);
        return;
    }
    msim_llm_add_collective(k, MSIM_LLM_KIND_EXCHANGE, MSIM_COLL_ALL_GATHER,
                            bytes, ranks);
    msim_llm_add_collective(k, MSIM_LLM_KIND_EXCHANGE, MSIM_COLL_REDUCE_SCATTER,
                            bytes, ranks);
}

/* But for the experts' own products. */
static void add_expert_layers(struct msim_llm_maker *k, double rows)
{
    const struct msim_llm_rank *r = k->r;
    const struct msim_described *m = r->m;
    double experts = (double)m->moe.experts;

    msim_llm_add_product(k, MSIM_QUANT_BF16, rows, (double)m->hidden, experts,
                         1);
    msim_llm_add_vector(k, MSIM_FAMILY_SOFTMAX, "softmax", rows, experts,
                        rows * experts, rows * (double)m->moe.topk);
    if (m->moe.shared_experts)
        add_network(k, r->shared, rows,
                    (double)(m->moe.ffn * m->moe.shared_experts) /
                        (double)r->s.tp);
    add_exchange(k, rows);
}

/* ---- all of it ----------------------------------------------------------- */

/* Stages of a pipeline work on as many batches, each of a part of the
 * sequences: in the time in which all get a token, each batch is in every
 * stage once. */
static double of_stage(const struct msim_llm_rank *r, double n)
{
    return n / (double)r->s.pp;
}

static void begin(struct msim_llm_maker *k, struct msim_llm_works *w,
                  const struct msim_llm_rank *r)
{
    w->n = 0;
    w->weights = 0;
    *k = (struct msim_llm_maker){w, r, 1};
}

void msim_llm_token_works(struct msim_llm_works *w,
                          const struct msim_llm_rank *r, double tokens)
{
    double h = (double)r->m->hidden, rows;
    struct msim_llm_maker k;

    begin(&k, w, r);
    rows = of_stage(r, tokens) / (double)r->s.dp;
    msim_llm_add_vector(&k, MSIM_FAMILY_POINTWISE, "add", rows, h, rows * h,
                        rows * h); /* the embedding */
    add_attention(&k, rows);
    k.layers = (double)r->m->layers;
    add_norm(&k, rows, h);
    k.layers = r->dense_layers;
    if (k.layers > 0) {
        add_network(&k, r->dense, rows, (double)r->m->ffn / (double)r->s.tp);
        add_sum(&k, rows);
    }
    k.layers = r->moe_layers;
    if (k.layers > 0)
        add_expert_layers(&k, rows);
    k.layers = (double)(r->s.pp - 1);
    if (k.layers > 0)
        msim_llm_add_collective(&k, MSIM_LLM_KIND_EXCHANGE, MSIM_COLL_SEND,
                                2 * rows * h, 2);
}

void msim_llm_expert_works(struct msim_llm_works *w,
                           const struct msim_llm_rank *r, double tokens)
{
    struct msim_llm_maker k;

    begin(&k, w, r);
    k.layers = r->moe_layers;
    if (k.layers > 0)
        add_experts(&k, of_stage(r, tokens));
}

/* The norm, logits over a part of the words a rank, their gathering, and what
 * the sampler reads and writes in 32 bits. */
void msim_llm_head_works(struct msim_llm_works *w,
                         const struct msim_llm_rank *r, double seqs)
{
    double h = (double)r->m->hidden, vocab = (double)r->m->vocab;
    double rows = of_stage(r, seqs) / (double)r->s.dp;
    struct msim_llm_maker k;

    begin(&k, w, r);
    add_norm(&k, rows, h);
    msim_llm_add_product(&k, MSIM_QUANT_BF16, rows, h, vocab / (double)r->s.tp,
                         1);
    msim_llm_add_collective(&k, MSIM_LLM_KIND_ALL_REDUCE, MSIM_COLL_ALL_GATHER,
                            2 * rows * vocab, r->s.tp);
    msim_llm_add_vector(&k, MSIM_FAMILY_SOFTMAX, "softmax", rows, vocab,
                        2 * rows * vocab, 2 * rows * vocab);
}
