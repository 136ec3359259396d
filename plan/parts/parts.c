/*
 * plan/parts/parts.c - the operators of a transformer on one rank.
 */
#include "plan/parts/parts.h"

#include "core/work/work.h"
#include "plan/parts/parts_maker.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- attention ----------------------------------------------------------- */

/*
 * Packed documents attend to themselves alone, as whole blocks of 128 tokens
 * (FlexAttention's): a document of d tokens has pairs like sequences of
 * d + 128, as many of them as there are tokens for.
 */
static void within_documents(struct msim_parts_maker *k, struct msim_work *w)
{
    double whole = (double)k->s->sequence;
    double length = fmin((double)k->s->technique.document + 128, whole);

    w->u.attention.batch =
        msim_whole(fmax((double)k->s->micro_batch * whole / length, 1));
    w->u.attention.q_len = w->u.attention.kv_len =
        msim_whole(length / sqrt((double)k->s->cp));
}

static void flash(struct msim_parts_maker *k, double heads, double kv_heads,
                  double head_dim, double window)
{
    double cp = (double)k->s->cp;

    for (int pass = 0; pass < 2; pass++) {
        struct msim_work *w = msim_parts_add(k, MSIM_PART_OP_ATTENTION,
                                             "attention", (enum msim_pass)pass);

        k->part->ops[k->part->n_ops - 1].selective = pass == 0;
        w->family = MSIM_FAMILY_ATTENTION;
        w->u.attention.phase =
            k->m->encoder ? MSIM_ATTENTION_ENCODER : MSIM_ATTENTION_PREFILL;
        w->u.attention.backward = pass == 1;
        w->u.attention.batch = k->s->micro_batch;
        w->u.attention.heads = msim_whole(fmax(heads, 1));
        w->u.attention.kv_heads = msim_whole(fmax(kv_heads, 1));
        /* Ranks of a context group share the causal half evenly: each has the
         * pairs of a sequence that is shorter by the root of their number. */
        w->u.attention.q_len = w->u.attention.kv_len =
            msim_whole((double)k->s->sequence / sqrt(cp));
        w->u.attention.head_dim = msim_whole(head_dim);
        w->u.attention.window = msim_whole(window);
        w->u.attention.kv_dtype = k->dtype;
        if (k->s->technique.document)
            within_documents(k, w);
        msim_work_count(w);
    }
}

/* Attention in parts: scores, their softmax and dropout, and the weighted sum
 * go through memory. */
static void in_parts(struct msim_parts_maker *k, double heads, double head_dim)
{
    double batch = (double)k->s->micro_batch * heads;
    double seq = (double)k->s->sequence;
    double bytes = batch * seq * seq * k->each;
    /*
     * Reads and writes of the scores by softmax and dropout. Megatron-LM's
     * causal softmax (scaled_upper_triang_masked_softmax.h) reads what is not
     * masked, half of them, and writes all: 1.5 forward, 2 backward, which
     * reads two. Dropout reads and writes all, and a mask of bytes: 2.5 each.
     */
    static const double PASSES[] = {4, 4.5};

    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 2 * (1 + pass); i++) {
            struct msim_work *w = msim_parts_add(
                k, MSIM_PART_OP_SCORES, "scores", (enum msim_pass)pass);

            w->family = MSIM_FAMILY_GEMM;
            w->u.gemm.m = msim_whole(seq);
            w->u.gemm.n = i % 2 ? msim_whole(head_dim) : msim_whole(seq);
            w->u.gemm.k = i % 2 ? msim_whole(seq) : msim_whole(head_dim);
            w->u.gemm.batch = msim_whole(fmax(batch, 1));
            msim_work_count(w);
        }
        msim_parts_vector(k, MSIM_PART_OP_SCORES, "scores",
                          (enum msim_pass)pass, MSIM_FAMILY_POINTWISE, "add",
                          batch * seq * seq, bytes * PASSES[pass] * 0.6,
                          bytes * PASSES[pass] * 0.4);
    }
    k->part->saved += 2.5 * bytes; /* scores, their softmax, a mask of bytes */
}

static void context_parallel(struct msim_parts_maker *k, double kv_width)
{
    double cp = (double)k->s->cp;
    double bytes = 2 * k->tokens * cp * kv_width * k->each;

    if (k->s->cp == 1)
        return;
    msim_parts_comm(k, MSIM_COLL_ALL_GATHER, MSIM_PART_GROUP_CP,
                    MSIM_PASS_FORWARD, bytes, 1);
    msim_parts_comm(k, MSIM_COLL_ALL_GATHER, MSIM_PART_GROUP_CP,
                    MSIM_PASS_BACKWARD, bytes, 1);
    msim_parts_comm(k, MSIM_COLL_REDUCE_SCATTER, MSIM_PART_GROUP_CP,
                    MSIM_PASS_BACKWARD, bytes, 1);
}

static void rope(struct msim_parts_maker *k, double width)
{
    if (k->m->positions != MSIM_POSITIONS_ROPE)
        return;
    msim_parts_pointwise(k, "rope", MSIM_PASS_FORWARD, "mul", k->tokens * width,
                         1, 1);
    msim_parts_pointwise(k, "rope", MSIM_PASS_BACKWARD, "mul",
                         k->tokens * width, 1, 1);
    msim_parts_plain_rope(k, k->tokens * width);
}

static void usual_attention(struct msim_parts_maker *k, bool windowed)
{
    const struct msim_described *m = k->m;
    double tp = (double)k->s->tp, d = (double)m->head_dim;
    double heads = (double)m->heads / tp;
    double kv_heads = fmax((double)m->kv_heads / tp, 1);
    double width = (heads + 2 * kv_heads) * d;

    msim_parts_linear(k, "qkv", k->tokens, (double)m->hidden, width);
    if (m->qk_norm)
        msim_parts_norm(k, "qk_norm", k->tokens * (heads + kv_heads), d);
    rope(k, (heads + kv_heads) * d);
    msim_parts_repeat(k, k->tokens * 2 * (heads - kv_heads) * d);
    if (k->s->unfused)
        in_parts(k, heads, d);
    else
        flash(k, heads, kv_heads, d, windowed ? (double)m->window : 0);
    context_parallel(k, kv_heads * d);
    k->part->saved += k->tokens * width * k->each;
    k->part->saved_selective += k->tokens * heads * d * k->each;
    msim_parts_linear(k, "out", k->tokens, heads * d, (double)m->hidden);
}

/* DeepSeek's attention: queries, keys and values through narrow layers. */
static void latent_attention(struct msim_parts_maker *k)
{
    const struct msim_described *m = k->m;
    double tp = (double)k->s->tp, h = (double)m->hidden;
    double heads = (double)m->heads / tp;
    double qk = (double)(m->mla.nope_dim + m->mla.rope_dim);
    double v = (double)m->mla.v_dim, rank = (double)m->mla.kv_rank;
    double width = heads * (2 * qk + v);

    if (m->mla.q_rank) {
        msim_parts_linear(k, "q_down", k->tokens, h, (double)m->mla.q_rank);
        msim_parts_norm(k, "q_norm", k->tokens, (double)m->mla.q_rank);
        msim_parts_linear(k, "q_up", k->tokens, (double)m->mla.q_rank,
                          heads * qk);
    } else {
        msim_parts_linear(k, "q", k->tokens, h, heads * qk);
    }
    msim_parts_linear(k, "kv_down", k->tokens, h,
                      rank + (double)m->mla.rope_dim);
    msim_parts_norm(k, "kv_norm", k->tokens, rank);
    msim_parts_linear(k, "kv_up", k->tokens, rank,
                      heads * ((double)m->mla.nope_dim + v));
    rope(k, 2 * heads * qk);
    flash(k, heads, heads, (qk + v) / 2, 0);
    context_parallel(k, heads * (qk + v) / 2);
    k->part->saved += k->tokens * width * k->each;
    msim_parts_linear(k, "out", k->tokens, heads * v, h);
}

static void residual(struct msim_parts_maker *k)
{
    double elems = k->seq_tokens * (double)k->m->hidden;

    if (k->s->unfused || k->m->dropout > 0)
        msim_parts_dropout(k);
    msim_parts_pointwise(k, "residual", MSIM_PASS_FORWARD, "add", elems, 2, 1);
    msim_parts_pointwise(k, "residual", MSIM_PASS_BACKWARD, "add", elems, 2, 1);
    msim_parts_plain_sums(k, elems);
}

/* A half's norm, before it or behind its sum. */
static void norm_at(struct msim_parts_maker *k, const char *name, bool behind)
{
    if (k->m->post_norm == behind)
        msim_parts_norm(k, name, k->seq_tokens, (double)k->m->hidden);
}

static void attention_half(struct msim_parts_maker *k, bool windowed)
{
    norm_at(k, "attention_norm", false);
    msim_parts_tensor_parallel(k);
    if (k->m->mla.kv_rank)
        latent_attention(k);
    else
        usual_attention(k, windowed);
    residual(k);
    norm_at(k, "attention_norm", true);
}

/* ---- feed-forward networks ----------------------------------------------- */

static void activation(struct msim_parts_maker *k, double rows, double width)
{
    static const char *const VARIANTS[] = {[MSIM_ACTIVATION_GELU] = "gelu",
                                           [MSIM_ACTIVATION_RELU] = "relu",
                                           [MSIM_ACTIVATION_SILU] = "silu"};
    const char *variant = VARIANTS[k->m->gated ? 0 : k->m->activation];
    double gated = k->m->gated ? 2 : 1;

    msim_parts_pointwise(k, "activation", MSIM_PASS_FORWARD, variant,
                         rows * width, gated, 1);
    msim_parts_pointwise(k, "activation", MSIM_PASS_BACKWARD, variant,
                         rows * width, gated + 1, gated);
    if (k->m->gated && !k->s->technique.compile &&
        msim_framework_of(k->s)->keeps_silu)
        k->part->saved += rows * width * k->each;
    k->part->saved += rows * width * gated * k->each;
    msim_parts_plain_activation(k, rows * width);
}

static void dense_half(struct msim_parts_maker *k)
{
    double h = (double)k->m->hidden;
    double ffn = (double)k->m->ffn / (double)k->s->tp;

    norm_at(k, "ffn_norm", false);
    msim_parts_tensor_parallel(k);
    msim_parts_linear(k, "up", k->tokens, h, ffn * (k->m->gated ? 2 : 1));
    activation(k, k->tokens, ffn);
    msim_parts_linear(k, "down", k->tokens, ffn, h);
    residual(k);
    norm_at(k, "ffn_norm", true);
}

/* Products of local experts: rows of one times `batch` of them. */
static void grouped(struct msim_parts_maker *k, const char *name, double rows,
                    double in, double out, double experts)
{
    double sizes[3][3] = {{rows, out, in}, {rows, in, out}, {out, in, rows}};

    /* Rows of an expert are padded to sixteens. */
    k->narrow = msim_parts_is_narrow(k, name, 0, in, out);
    msim_parts_casts(k, name, rows * experts * in, experts * in * out,
                     rows * experts * out);
    /* Frozen experts have no gradients of weights. */
    for (int i = 0; i < (k->s->technique.lora_rank ? 2 : 3); i++) {
        struct msim_work *w;

        msim_parts_product(k, name, i ? MSIM_PASS_BACKWARD : MSIM_PASS_FORWARD,
                           sizes[i][0], sizes[i][1], sizes[i][2]);
        k->part->ops[k->part->n_ops - 1].kind = MSIM_PART_OP_EXPERT;
        w = &k->part->ops[k->part->n_ops - 1].work;
        w->u.gemm.batch = msim_whole(fmax(experts, 1));
        msim_work_count(w);
    }
    k->part->expert_parameters += experts * in * out;
    k->part->saved += rows * experts * in * (k->narrow ? 1 : k->each);
    k->part->delayed +=
        rows * experts * (in * (k->narrow ? 1 : k->each) + out * k->each);
}

/* `rows` of a rank to the ranks of their experts and back. */
static void expert_parallel(struct msim_parts_maker *k, double rows)
{
    double bytes = rows * (double)k->m->hidden * k->each;

    if (k->s->ep == 1)
        return;
    for (int pass = 0; pass < 2; pass++)
        msim_parts_comm(k, MSIM_COLL_ALL_TO_ALL, MSIM_PART_GROUP_EP,
                        (enum msim_pass)pass, bytes, 2); /* there and back */
}

/*
 * Ranks that share each expert work on the rows of all of them, and add up what
 * each made. Tokens come together before they are copied for their experts; or
 * behind an all-to-all the rows that each rank was sent (Megatron-Core,
 * transformer/moe/token_dispatcher.py: MoEAllGatherTokenDispatcher,
 * MoEAlltoAllTokenDispatcher). Backward has the gradients of rows alone to
 * gather: rows themselves were kept.
 */
static void expert_tensor_parallel(struct msim_parts_maker *k, double rows)
{
    double bytes = rows * (double)k->m->hidden * k->each;

    if (msim_expert_shares(k->s) == 1)
        return;
    for (int pass = 0; pass < 2; pass++) {
        msim_parts_comm(k, MSIM_COLL_ALL_GATHER, MSIM_PART_GROUP_TP,
                        (enum msim_pass)pass, bytes, 1);
        msim_parts_comm(k, MSIM_COLL_REDUCE_SCATTER, MSIM_PART_GROUP_TP,
                        (enum msim_pass)pass, bytes, 1);
    }
}

/* A feed-forward network beside the experts, split as all others are. */
static void shared_experts(struct msim_parts_maker *k)
{
    double h = (double)k->m->hidden;
    double width = (double)k->m->moe.ffn * (double)k->m->moe.shared_experts /
                   (double)k->s->tp;

    if (!k->m->moe.shared_experts)
        return;
    msim_parts_tensor_parallel(k);
    msim_parts_linear(k, "shared_up", k->tokens, h,
                      width * (k->m->gated ? 2 : 1));
    activation(k, k->tokens, width);
    msim_parts_linear(k, "shared_down", k->tokens, width, h);
}

static void expert_half(struct msim_parts_maker *k)
{
    const struct msim_described *m = k->m;
    double h = (double)m->hidden, topk = (double)m->moe.topk;
    double local = (double)m->moe.experts / (double)k->s->ep;
    double ffn = (double)m->moe.ffn / (double)msim_expert_shares(k->s);
    /* Of this rank, and of all that share its experts, when spread evenly. */
    double own = k->seq_tokens * topk;
    double rows = msim_expert_shares(k->s) > 1 ? k->tokens * topk : own;
    double copied = k->s->ep > 1 ? own : rows;

    msim_parts_norm(k, "ffn_norm", k->seq_tokens, h);
    msim_parts_linear(k, "router", k->seq_tokens, h, (double)m->moe.experts);
    expert_parallel(k, own);
    expert_tensor_parallel(k, k->s->ep > 1 ? rows : k->tokens);
    /* To the order of experts, and back with a weighted sum. */
    for (int pass = 0; pass < 2; pass++)
        msim_parts_pointwise(k, "permute", (enum msim_pass)pass, "add",
                             copied * h, 1 + 1 / topk, 1 + 1 / topk);
    grouped(k, "expert_up", rows / local, h, ffn * (m->gated ? 2 : 1), local);
    activation(k, rows, ffn);
    grouped(k, "expert_down", rows / local, ffn, h, local);
    shared_experts(k);
    residual(k);
}

/* ---- all of it ----------------------------------------------------------- */

enum msim_dtype msim_precision_dtype(enum msim_precision p)
{
    if (msim_precision_is_full(p))
        return MSIM_DT_F32;
    return p == MSIM_PRECISION_FP16 || p == MSIM_PRECISION_AMP_FP16
               ? MSIM_DT_F16
               : MSIM_DT_BF16;
}

static void set_dtypes(struct msim_parts_maker *k)
{
    enum msim_precision p = k->s->precision;

    k->dtype = msim_precision_dtype(p);
    k->each = msim_dtype_bytes(k->dtype);
    k->linear_variant = p == MSIM_PRECISION_TF32 ? "tf32" : NULL;
}

static void begin(struct msim_parts_maker *k, struct msim_parts *p,
                  enum msim_part_kind kind, double layers)
{
    k->part = &p->part[p->n++];
    /* An operator is cleared when it is added: there is room for many more than
     * there are, and a plan makes parts of every point. */
    memset(&k->part->n_ops, 0,
           sizeof(*k->part) - offsetof(struct msim_part, n_ops));
    k->part->kind = kind;
    k->part->layers = layers;
    k->part->input = k->seq_tokens * (double)k->m->hidden * k->each;
}

static void layers(struct msim_parts_maker *k, struct msim_parts *p,
                   enum msim_part_kind kind, double count, bool windowed)
{
    if (count <= 0)
        return;
    begin(k, p, kind, count);
    attention_half(k, windowed);
    if (kind == MSIM_PART_DENSE)
        dense_half(k);
    else
        expert_half(k);
}

/* Layers from `from` to before `to`, of which some see a window. */
static void split_by_window(struct msim_parts_maker *k, struct msim_parts *p,
                            enum msim_part_kind kind, int64_t from, int64_t to)
{
    int64_t windowed = msim_described_windowed(k->m, from, to);

    layers(k, p, kind, (double)(to - from - windowed), false);
    layers(k, p, kind, (double)windowed, true);
}

void msim_parts_make(struct msim_parts *p, const struct msim_described *m,
                     const struct msim_strategy *s)
{
    int64_t dense = m->layers - msim_described_moe_layers(m);
    struct msim_parts_maker k = {.m = m, .s = s};

    memset(&p->n, 0, sizeof(*p) - offsetof(struct msim_parts, n));
    p->hidden = m->hidden;
    p->topk = m->moe.topk;
    p->experts = m->moe.experts;
    p->topk_groups = m->moe.topk_groups;
    p->groups = m->moe.groups;
    set_dtypes(&k);
    k.tokens = p->tokens =
        (double)s->micro_batch * (double)s->sequence / (double)s->cp;
    k.seq_tokens = p->seq_tokens =
        s->unfused ? k.tokens : k.tokens / (double)s->tp;
    begin(&k, p, MSIM_PART_EMBEDDING, 1);
    (m->encoder ? msim_parts_encoder_input : msim_parts_embedding)(&k);
    split_by_window(&k, p, MSIM_PART_DENSE, 0, dense);
    split_by_window(&k, p, MSIM_PART_EXPERTS, dense, m->layers);
    begin(&k, p, MSIM_PART_HEAD, 1);
    (m->encoder ? msim_parts_encoder_head : msim_parts_head)(&k);
}

const struct msim_part *msim_parts_find(const struct msim_parts *p,
                                        enum msim_part_kind kind)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->part[i].kind == kind)
            return &p->part[i];
    return NULL;
}
