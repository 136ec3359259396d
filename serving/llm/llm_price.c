/*
 * serving/llm/llm_price.c - works to microseconds, by piece of the law.
 */
#include "serving/llm/llm_law.h"

#include <math.h>
#include <string.h>

#define FEW  64.0
#define MANY 1024.0

double msim_llm_share_of_many(double rows)
{
    double share = log(fmax(rows, 1) / FEW) / log(MANY / FEW);

    return fmin(fmax(share, 0), 1);
}

/* Kernels for heads with keys of their own, and for latent ones, are others
 * than those for groups of heads, which tables of servers have rows of. */
static enum msim_llm_piece attention_piece(const struct msim_work *w,
                                           bool prompt)
{
    if (prompt)
        return MSIM_LLM_ATTENTION_PROMPT;
    return w->u.attention.v_dim > 0 ||
                   w->u.attention.kv_heads == w->u.attention.heads
               ? MSIM_LLM_ATTENTION_OTHER
               : MSIM_LLM_ATTENTION_DECODE;
}

static void add(struct msim_llm_pieces *to, const struct msim_llm_work *w,
                double us, double many, bool prompt)
{
    enum msim_quant q = w->type ? w->type : MSIM_QUANT_BF16;

    to->us[MSIM_LLM_LAUNCH][MSIM_QUANT_BF16] += w->times;
    switch (w->kind) {
    case MSIM_LLM_KIND_PRODUCT:
        to->us[MSIM_LLM_PRODUCT_FEW][q] += us * (1 - many);
        to->us[MSIM_LLM_PRODUCT_MANY][q] += us * many;
        return;
    case MSIM_LLM_KIND_EXPERT:
        to->us[MSIM_LLM_EXPERT_FEW][q] += us * (1 - many);
        to->us[MSIM_LLM_EXPERT_MANY][q] += us * many;
        return;
    case MSIM_LLM_KIND_ATTENTION:
        to->us[attention_piece(&w->work, prompt)][MSIM_QUANT_BF16] += us;
        return;
    case MSIM_LLM_KIND_VECTOR:
        to->us[MSIM_LLM_VECTOR_FEW][MSIM_QUANT_BF16] += us * (1 - many);
        to->us[MSIM_LLM_VECTOR_MANY][MSIM_QUANT_BF16] += us * many;
        return;
    case MSIM_LLM_KIND_ALL_REDUCE:
        to->us[MSIM_LLM_ALL_REDUCE_FEW][MSIM_QUANT_BF16] += us * (1 - many);
        to->us[MSIM_LLM_ALL_REDUCE_MANY][MSIM_QUANT_BF16] += us * many;
        return;
    case MSIM_LLM_KIND_EXCHANGE:
    case MSIM_LLM_KINDS:
        to->us[MSIM_LLM_EXCHANGE][MSIM_QUANT_BF16] += us;
    }
}

enum msim_status msim_llm_price(struct msim_llm_pieces *to,
                                const struct msim_llm_works *works,
                                const struct msim_platform *p,
                                struct msim_estimate_cache *cache, double rows,
                                bool prompt, struct msim_error *err)
{
    double many = msim_llm_share_of_many(rows);

    for (uint32_t i = 0; i < works->n; i++) {
        const struct msim_llm_work *w = &works->of[i];
        struct msim_estimate e = {0};

        if (!(w->times > 0))
            continue;
        MSIM_TRY(
            msim_estimate_cache_predict(cache, p, &w->work, false, &e, err));
        add(to, w, e.us * w->times, many, prompt);
    }
    return MSIM_OK;
}

enum msim_status msim_llm_price_part(struct msim_llm_pieces *to,
                                     const struct msim_llm_rank *r,
                                     struct msim_estimate_cache *cache,
                                     enum msim_llm_part part, double a,
                                     double b, struct msim_error *err)
{
    double rows = a / (double)(r->s.pp * r->s.dp);
    struct msim_llm_works w;

    memset(to, 0, sizeof(*to));
    if (part == MSIM_LLM_PART_TOKENS)
        msim_llm_token_works(&w, r, a);
    if (part == MSIM_LLM_PART_EXPERTS)
        msim_llm_expert_works(&w, r, a);
    if (part == MSIM_LLM_PART_DECODE)
        msim_llm_decode_works(&w, r, a, b);
    if (part == MSIM_LLM_PART_CHUNK)
        msim_llm_chunk_works(&w, r, a, b);
    if (part == MSIM_LLM_PART_HEAD)
        msim_llm_head_works(&w, r, a);
    return msim_llm_price(to, &w, r->s.platform, cache, rows,
                          part == MSIM_LLM_PART_CHUNK, err);
}
