/*
 * serving/llm/context_works.c - attention of a step: of sequences that decode,
 * and of chunks of prompts.
 */
#include "serving/llm/llm_internal.h"

#include <math.h>

/* What is attended to: queries a sequence, keys a query sees at most. */
struct asked {
    double batch, queries, keys;
    bool prompt;
};

static struct msim_work *add_attention(struct msim_llm_maker *k,
                                       const struct asked *a, double keys)
{
    struct msim_work *w = msim_llm_add(k, MSIM_LLM_KIND_ATTENTION);

    w->family = MSIM_FAMILY_ATTENTION;
    w->u.attention.phase =
        a->prompt ? MSIM_ATTENTION_PREFILL : MSIM_ATTENTION_DECODE;
    w->u.attention.batch = msim_whole(fmax(ceil(a->batch), 1));
    w->u.attention.q_len = msim_whole(fmax(ceil(a->queries), 1));
    w->u.attention.kv_len = msim_whole(fmax(ceil(keys), 1));
    w->u.attention.kv_dtype =
        k->r->s.kv == MSIM_QUANT_FP8 ? MSIM_DT_F8 : MSIM_DT_BF16;
    return w;
}

/* ---- heads of their own, or of groups ------------------------------------ */

static void usual(struct msim_llm_maker *k, const struct asked *a,
                  int64_t window)
{
    const struct msim_llm_rank *r = k->r;
    double seen =
        window && !a->prompt ? fmin(a->keys, (double)window) : a->keys;
    struct msim_work *w = add_attention(k, a, seen);

    w->u.attention.heads = r->heads;
    w->u.attention.kv_heads = r->kv_heads;
    w->u.attention.head_dim = r->m->head_dim;
    w->u.attention.window = a->prompt ? window : 0;
    msim_work_count(w);
}

/* ---- DeepSeek's ---------------------------------------------------------- */

/* Queries go to the latent space and results back, head by head, so that all
 * heads read one key. */
static void absorbed(struct msim_llm_maker *k, const struct asked *a,
                     double keys, int64_t window)
{
    const struct msim_described *m = k->r->m;
    double rows = a->batch * a->queries, heads = (double)k->r->heads;
    struct msim_work *w;

    msim_llm_add_product(k, MSIM_QUANT_BF16, rows, (double)m->mla.nope_dim,
                         (double)m->mla.kv_rank, heads);
    w = add_attention(k, a, keys);
    w->u.attention.heads = k->r->heads;
    w->u.attention.kv_heads = 1;
    w->u.attention.head_dim = m->mla.kv_rank + m->mla.rope_dim;
    w->u.attention.v_dim = m->mla.kv_rank;
    w->u.attention.window = window;
    msim_work_count(w);
    msim_llm_add_product(k, MSIM_QUANT_BF16, rows, (double)m->mla.kv_rank,
                         (double)m->mla.v_dim, heads);
}

/* Keys and values of a prompt are made of the latent ones. */
static void expanded(struct msim_llm_maker *k, const struct asked *a)
{
    const struct msim_described *m = k->r->m;
    double heads = (double)k->r->heads;
    struct msim_work *w;

    msim_llm_add_product(k, k->r->attention, a->batch * a->keys,
                         (double)m->mla.kv_rank,
                         heads * (double)(m->mla.nope_dim + m->mla.v_dim), 1);
    w = add_attention(k, a, a->keys);
    w->u.attention.heads = w->u.attention.kv_heads = k->r->heads;
    w->u.attention.head_dim = m->mla.nope_dim + m->mla.rope_dim;
    w->u.attention.v_dim = m->mla.v_dim;
    msim_work_count(w);
}

/* Scores of narrow keys, in 8 bits, and the choice of the greatest. */
static void chosen(struct msim_llm_maker *k, const struct asked *a)
{
    const struct msim_described *m = k->r->m;
    struct msim_work *w = add_attention(k, a, a->keys);
    double rows = a->batch * a->queries;

    w->u.attention.heads = m->index.heads;
    w->u.attention.kv_heads = 1;
    w->u.attention.head_dim = m->index.dim;
    w->u.attention.kv_dtype = MSIM_DT_F8;
    msim_work_count(w);
    msim_llm_add_vector(k, MSIM_FAMILY_REDUCTION, "max", rows, a->keys,
                        2 * rows * a->keys, rows * (double)m->index.topk);
}

static void latent(struct msim_llm_maker *k, const struct asked *a)
{
    int64_t topk = k->r->m->index.topk;
    bool few = topk && a->keys > (double)topk;

    if (topk)
        chosen(k, a);
    if (a->prompt && !topk)
        expanded(k, a);
    else if (a->prompt)
        absorbed(k, a, a->keys, few ? topk : 0);
    else
        absorbed(k, a, few ? (double)topk : a->keys, 0);
}

/* ---- the gated delta rule ------------------------------------------------ */

/* Tokens of a prompt are taken in pieces of so many (flash-linear-attention).
 */
#define PIECE 64.0

/* A state of key x value numbers a head, in 32 bits, is read and written for
 * every token, or for every piece of a prompt, whose tokens see each other. */
static void with_state(struct msim_llm_maker *k, const struct asked *a)
{
    const struct msim_described *m = k->r->m;
    double heads = fmax((double)m->linear.value_heads / (double)k->r->s.tp, 1);
    double key = (double)m->linear.key_dim, value = (double)m->linear.value_dim;
    double pieces = a->batch * ceil(a->queries / PIECE);
    double state = heads * key * value * 2; /* in numbers of 16 bits */

    msim_llm_add_vector(k, MSIM_FAMILY_POINTWISE, "mul", pieces * heads,
                        key * value, pieces * state, pieces * state);
    if (a->prompt)
        msim_llm_add_product(k, MSIM_QUANT_BF16, PIECE, 2 * key + PIECE, value,
                             pieces * heads);
}

/* ---- all of it ----------------------------------------------------------- */

static void add_all(struct msim_llm_works *w, const struct msim_llm_rank *r,
                    const struct asked *a)
{
    struct msim_llm_maker k = {w, r, r->full_layers};

    w->n = 0;
    w->weights = 0;
    if (k.layers > 0 && r->m->mla.kv_rank)
        latent(&k, a);
    else if (k.layers > 0)
        usual(&k, a, 0);
    k.layers = r->window_layers;
    if (k.layers > 0)
        usual(&k, a, r->m->window);
    k.layers = r->linear_layers;
    if (k.layers > 0)
        with_state(&k, a);
}

void msim_llm_decode_works(struct msim_llm_works *w,
                           const struct msim_llm_rank *r, double seqs,
                           double context)
{
    struct asked a = {.batch = seqs / (double)(r->s.pp * r->s.dp),
                      .queries = 1,
                      .keys = context + 1};

    add_all(w, r, &a);
}

void msim_llm_chunk_works(struct msim_llm_works *w,
                          const struct msim_llm_rank *r, double tokens,
                          double context)
{
    struct asked a = {.batch = 1,
                      .queries = tokens,
                      .keys = context + tokens,
                      .prompt = true};

    add_all(w, r, &a);
}
