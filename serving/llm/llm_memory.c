/*
 * serving/llm/llm_memory.c - what a served model holds on its GPUs.
 *
 * Engines take a share of the GPU's memory, load the weights, run one step of
 * as many tokens as a step may have, and give what is left to the cache (vLLM,
 * v1/worker/gpu_worker.py, determine_available_memory). TensorRT-LLM takes all
 * of the GPU, and gives a share of what is left to the cache
 * (KvCacheConfig.free_gpu_memory_fraction).
 */
#include "serving/llm/llm.h"

#include "core/base/units.h"
#include "models/platform/platform.h"
#include "serving/llm/llm_law.h"

#include <math.h>

/* ---- weights ------------------------------------------------------------- */

/* Of the stage with most: its layers, and a table of words. */
static double weights_of(const struct msim_llm_rank *r)
{
    double tables =
        (double)r->m->vocab * (double)r->m->hidden * 2 / (double)r->s.tp;
    double pp = (double)r->s.pp, h = (double)r->m->hidden;
    double layers = ceil((double)r->m->layers / pp) / (double)r->m->layers;
    struct msim_llm_works w;
    double latent = 0;

    double experts;

    msim_llm_expert_works(&w, r, 1);
    experts = w.weights;
    msim_llm_token_works(&w, r, 1);
    if (r->m->mla.kv_rank) /* kept as the products of decoding read it */
        latent = r->full_layers * (double)r->m->mla.kv_rank * (double)r->heads *
                 (double)(r->m->mla.nope_dim + r->m->mla.v_dim) * 2;
    return layers * (w.weights + experts + latent +
                     (double)r->m->layers * 2 * h * 2) +
           tables * (pp > 1 || r->m->tied ? 1 : 2);
}

/* ---- keys and values ----------------------------------------------------- */

/* Numbers that a layer of full attention keeps of a token. */
static double kept(const struct msim_llm_rank *r)
{
    const struct msim_described *m = r->m;

    if (m->mla.kv_rank)
        return (double)(m->mla.kv_rank + m->mla.rope_dim);
    return 2 * (double)r->kv_heads * (double)m->head_dim;
}

static void set_cache(struct msim_llm_memory *m, const struct msim_llm_rank *r)
{
    const struct msim_described *d = r->m;
    double pp = (double)r->s.pp, tp = (double)r->s.tp;
    /* narrow keys in 8 bits, and a scale in 32 */
    double index = d->index.topk ? (double)d->index.dim + 4 : 0;
    double state = (double)d->linear.value_heads / tp *
                   (double)d->linear.key_dim * (double)d->linear.value_dim * 4;
    double mixed = (2 * (double)(d->linear.key_heads * d->linear.key_dim) +
                    (double)(d->linear.value_heads * d->linear.value_dim)) /
                   tp * (double)d->linear.conv * 2;

    m->kv_token = ceil(r->full_layers / pp) * (kept(r) * r->kv_bytes + index);
    m->kv_sequence = ceil(r->window_layers / pp) * kept(r) * r->kv_bytes *
                         (double)d->window +
                     ceil(r->linear_layers / pp) * (state + mixed);
    m->kv_window = r->window_layers > 0 ? d->window : 0;
    /* all layers see windows: a token is kept until it leaves */
    if (!(m->kv_token > 0) && r->window_layers > 0) {
        m->kv_token = ceil(r->window_layers / pp) * kept(r) * r->kv_bytes;
        m->kv_sequence -= m->kv_token * (double)d->window;
        m->kv_window = 0;
    }
}

int64_t msim_llm_memory_sequence_tokens(const struct msim_llm_memory *m)
{
    /* of a byte each where there are nothing but states */
    return m->kv_token > 1 ? (int64_t)ceil(m->kv_sequence / m->kv_token) : 0;
}

/* ---- all of it ----------------------------------------------------------- */

/* The widest layer's tensors of a step: what comes in, the residual, what a
 * network's first product gives and its second takes. */
static double workspace_of(const struct msim_llm_rank *r)
{
    const struct msim_described *m = r->m;
    double tokens = (double)r->s.max_num_batched_tokens;
    double h = (double)m->hidden, tp = (double)r->s.tp;
    double dense = 3 * (double)m->ffn / tp;
    double experts =
        (double)m->moe.topk * (3 * (double)m->moe.ffn / (double)r->s.moe_tp +
                               h / (double)r->s.ep) +
        3 * (double)(m->moe.ffn * m->moe.shared_experts) / tp;
    double width =
        fmax(r->dense_layers > 0 ? dense : 0, m->moe.experts ? experts : 0);
    double logits = (double)r->s.profiled_seqs * (double)m->vocab * (2 + 4);

    return 2 * tokens * (4 * h + width) + logits + r->s.context_gib * MSIM_GIB;
}

static enum msim_status refuse(const struct msim_llm_memory *m,
                               const struct msim_llm_rank *r,
                               struct msim_error *err)
{
    double block = m->kv_token * (double)r->s.block_size;

    return msim_fail(
        err, MSIM_ECHECK, NULL, MSIM_OFFSET_NONE,
        "'%s' does not fit: a GPU needs %.1f GiB (%.1f of weights, %.1f of "
        "workspace and a block of the cache), and has %.1f GiB of %.1f",
        r->m->name, (m->weights + m->workspace + block) / MSIM_GIB,
        m->weights / MSIM_GIB, (m->workspace + block) / MSIM_GIB,
        m->usable / MSIM_GIB, m->has / MSIM_GIB);
}

enum msim_status msim_llm_memory_make(struct msim_llm_memory *m,
                                      const struct msim_llm_rank *r,
                                      struct msim_error *err)
{
    double share = r->s.gpu_memory_utilization, left, blocks;

    *m = (struct msim_llm_memory){0};
    m->has = msim_platform_usable_bytes(r->s.platform);
    m->usable = m->has * (r->s.share_is_of_rest ? 1 : share);
    m->weights = weights_of(r);
    m->workspace = workspace_of(r);
    set_cache(m, r);
    left = (m->usable - m->weights - m->workspace) *
           (r->s.share_is_of_rest ? share : 1);
    if (!(m->kv_token > 0)) /* nothing but states: as many as there is room */
        m->kv_token = 1;
    blocks = floor(left / (m->kv_token * (double)r->s.block_size));
    if (blocks < 1)
        return refuse(m, r, err);
    m->kv_tokens = (int64_t)blocks * r->s.block_size * r->s.dp;
    return MSIM_OK;
}
