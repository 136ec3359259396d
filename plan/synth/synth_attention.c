/*
 * plan/synth/synth_attention.c - norms and attention, forward and backward.
 */
#include "plan/synth/synth_internal.h"

#include <string.h>

/* Is a norm on what residuals add to, not on what layers between them made? */
static bool is_main(const char *name)
{
    static const char *const INNER[] = {"qk_norm", "q_norm", "kv_norm",
                                        "transform_norm"};

    for (size_t i = 0; i < sizeof(INNER) / sizeof(*INNER); i++)
        if (strcmp(name, INNER[i]) == 0)
            return false;
    return true;
}

/* Sums go on from a norm that follows them, and a head from the last one. */
static void note_norm(struct msim_synth_walk *w, const struct msim_part_op *op,
                      const struct msim_etw_tensor *out)
{
    w->normed = *out;
    if (w->y->m->post_norm && is_main(op->name))
        w->stream = *out;
    if (strcmp(op->name, "last_norm") == 0)
        w->last = *out;
}

void msim_synth_norm(struct msim_synth_walk *w, const struct msim_part_op *op,
                     uint32_t at)
{
    static const char *const NAMES[2][2] = {
        {"aten::_fused_rms_norm", "aten::_fused_rms_norm_backward"},
        {"aten::native_layer_norm", "aten::native_layer_norm_backward"}};
    static const char *const SCHEMAS[2][2] = {
        {"aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? "
         "weight, float? eps) -> (Tensor, Tensor)",
         "aten::_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] "
         "normalized_shape, Tensor rstd, Tensor? weight, bool[2] output_mask) "
         "-> (Tensor, Tensor)"},
        {"aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, "
         "Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
         "aten::native_layer_norm_backward(Tensor grad_out, Tensor input, "
         "SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, "
         "Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"}};
    int64_t rows = op->work.u.vector.rows, cols = op->work.u.vector.cols;
    struct msim_synth_kept *kept = &w->kept[at];
    struct msim_synth_parameter *own = w->l->own[at];
    const struct msim_etw_arg shape = {
        MSIM_ETW_INTS, 1, {.ints = &own[MSIM_SYNTH_WEIGHT].weight.dims[0]}};
    const struct msim_etw_arg weight =
        msim_etw_of(&own[MSIM_SYNTH_WEIGHT].weight);
    const struct msim_etw_arg bias = msim_etw_of(&own[MSIM_SYNTH_BIAS].weight);
    bool layer = w->y->m->layernorm, back = op->pass == MSIM_PASS_BACKWARD;
    bool main = is_main(op->name);
    struct msim_etw_tensor x =
        back ? msim_synth_given(w, rows, cols)
        : main && msim_synth_has_elems(&w->stream, rows, cols)
            ? msim_synth_view2(w, &w->stream, rows, cols)
            : msim_synth_given(w, rows, cols);
    struct msim_etw_tensor out[3] = {msim_synth_new2(w, rows, cols)};

    if (!back) {
        const struct msim_etw_arg rms[] = {msim_etw_of(&x), shape, weight,
                                           msim_synth_real(1e-5)};
        const struct msim_etw_arg whole[] = {msim_etw_of(&x), shape, weight,
                                             bias, msim_synth_real(1e-5)};

        for (int i = 1; i < 3; i++) /* mean and reciprocal deviation */
            out[i] = msim_etw_new(w->y->e, MSIM_DT_F32, 2, rows, (int64_t)1);
        msim_etw_leaf(w->y->e, NAMES[layer][0], SCHEMAS[layer][0],
                      layer ? whole : rms, layer ? 5 : 4, out, layer ? 3 : 2);
        *kept = (struct msim_synth_kept){
            .in = x, .other = out[1], .extra = out[layer ? 2 : 1]};
        note_norm(w, op, &out[0]);
    } else {
        const struct msim_etw_arg mean = msim_etw_of(&kept->other);
        const struct msim_etw_arg stat = msim_etw_of(&kept->extra);
        static const int64_t ALL[] = {1, 1, 1};
        const struct msim_etw_arg two = {MSIM_ETW_BOOLS, 2, {.ints = ALL}};
        const struct msim_etw_arg three = {MSIM_ETW_BOOLS, 3, {.ints = ALL}};
        const struct msim_etw_arg rms[] = {
            msim_etw_of(&x), msim_etw_of(&kept->in), shape, stat, weight, two};
        const struct msim_etw_arg whole[] = {msim_etw_of(&x),
                                             msim_etw_of(&kept->in),
                                             shape,
                                             mean,
                                             stat,
                                             weight,
                                             bias,
                                             three};

        for (int i = 1; i < 3; i++) /* of weight and bias */
            out[i] = msim_etw_new(w->y->e, w->y->dtype, 1, cols);
        msim_etw_backward(w->y->e, layer ? "NativeLayerNormBackward0"
                                         : "FusedRmsNormBackward0");
        msim_etw_leaf(w->y->e, NAMES[layer][1], SCHEMAS[layer][1],
                      layer ? whole : rms, layer ? 8 : 6, out, layer ? 3 : 2);
        msim_etw_close(w->y->e, NULL, 0);
        msim_synth_accumulate(w, &out[1], &own[MSIM_SYNTH_WEIGHT]);
        if (layer)
            msim_synth_accumulate(w, &out[2], &own[MSIM_SYNTH_BIAS]);
        if (w->y->m->post_norm && main)
            w->stream = out[0];
    }
    w->cur = out[0];
}

#define FLASH "aten::_scaled_dot_product_flash_attention"

/* Queries, or keys and values: a view of what linear layers made, where it has
 * the elements. */
static struct msim_etw_tensor heads_of(struct msim_synth_walk *w,
                                       const struct msim_work *a, bool keys)
{
    int64_t heads = keys ? a->u.attention.kv_heads : a->u.attention.heads;
    int64_t len = keys ? a->u.attention.kv_len : a->u.attention.q_len;
    uint64_t elems = (uint64_t)(a->u.attention.batch * heads * len *
                                a->u.attention.head_dim);
    struct msim_etw_tensor of = w->cur;

    if (msim_etw_elems(&of) < elems)
        of = msim_synth_empty(w, w->y->dtype, (int64_t)elems, 1);
    return msim_etw_view(w->y->e, &of, 4, a->u.attention.batch, heads, len,
                         a->u.attention.head_dim);
}

#define EFFICIENT "aten::_scaled_dot_product_efficient_attention"

/* What the kernel of fp32 is given beside queries, keys and values. */
static void call_efficient(struct msim_synth_walk *w,
                           const struct msim_etw_arg *qkv, double dropout,
                           bool causal, struct msim_etw_tensor out[2])
{
    struct msim_etw_arg in[] = {qkv[0],
                                qkv[1],
                                qkv[2],
                                msim_synth_none(),
                                msim_synth_flag(true),
                                msim_synth_real(dropout),
                                msim_synth_flag(causal),
                                msim_synth_none()};

    msim_etw_leaf(w->y->e, EFFICIENT,
                  EFFICIENT "(Tensor query, Tensor key, Tensor value, Tensor? "
                            "attn_bias, bool compute_log_sumexp, float "
                            "dropout_p=0.0, bool is_causal=False, *, float? "
                            "scale=None) -> (Tensor output, Tensor "
                            "log_sumexp, Tensor philox_seed, Tensor "
                            "philox_offset)",
                  in, 8, out, 2);
}

static void call_flash(struct msim_synth_walk *w,
                       const struct msim_etw_arg *qkv, double dropout,
                       bool causal, struct msim_etw_tensor out[2])
{
    struct msim_etw_arg in[] = {qkv[0],
                                qkv[1],
                                qkv[2],
                                msim_synth_real(dropout),
                                msim_synth_flag(causal),
                                msim_synth_flag(false),
                                msim_synth_none()};

    msim_etw_leaf(w->y->e, FLASH,
                  FLASH "(Tensor query, Tensor key, Tensor value, float "
                        "dropout_p=0.0, bool is_causal=False, bool "
                        "return_debug_mask=False, *, float? scale=None) -> "
                        "(Tensor output, Tensor logsumexp, Tensor "
                        "cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt "
                        "max_k, Tensor rng_state, Tensor unused, Tensor "
                        "debug_attn_mask)",
                  in, 7, out, 2);
}

static void attend(struct msim_synth_walk *w, const struct msim_work *a,
                   struct msim_synth_kept *kept)
{
    bool causal = a->u.attention.phase == MSIM_ATTENTION_PREFILL;
    double dropout = w->y->m->dropout;
    struct msim_etw_tensor q = heads_of(w, a, false), kv = heads_of(w, a, true);
    struct msim_etw_arg in[] = {
        msim_etw_of(&q),          msim_etw_of(&kv),
        msim_etw_of(&kv),         msim_synth_none(),
        msim_synth_real(dropout), msim_synth_flag(causal),
        msim_synth_none(),        msim_synth_flag(q.dims[1] != kv.dims[1])};
    struct msim_etw_tensor out[2];

    msim_etw_open(w->y->e, "aten::scaled_dot_product_attention",
                  "aten::scaled_dot_product_attention(Tensor query, Tensor "
                  "key, Tensor value, Tensor? attn_mask=None, float "
                  "dropout_p=0.0, bool is_causal=False, *, float? "
                  "scale=None, bool enable_gqa=False) -> Tensor",
                  in, 8);
    out[0] = msim_etw_new(w->y->e, w->y->dtype, 4, q.dims[0], q.dims[1],
                          q.dims[2], q.dims[3]);
    out[1] =
        msim_etw_new(w->y->e, MSIM_DT_F32, 3, q.dims[0], q.dims[1], q.dims[2]);
    (w->y->dtype == MSIM_DT_F32 ? call_efficient : call_flash)(w, in, dropout,
                                                               causal, out);
    msim_etw_close(w->y->e, out, 1);
    *kept = (struct msim_synth_kept){
        .in = q, .other = kv, .out = out[0], .extra = out[1]};
    w->cur = out[0];
}

static void flash_back(struct msim_synth_walk *w, const struct msim_work *a,
                       const struct msim_synth_kept *kept,
                       const struct msim_etw_tensor *grad,
                       struct msim_etw_tensor out[3])
{
    bool causal = a->u.attention.phase == MSIM_ATTENTION_PREFILL;
    const struct msim_etw_arg kv = msim_etw_of(&kept->other);
    struct msim_etw_arg in[] = {msim_etw_of(grad),
                                msim_etw_of(&kept->in),
                                kv,
                                kv,
                                msim_etw_of(&kept->out),
                                msim_etw_of(&kept->extra),
                                msim_synth_none(),
                                msim_synth_none(),
                                msim_etw_int(a->u.attention.q_len),
                                msim_etw_int(a->u.attention.kv_len),
                                msim_synth_real(w->y->m->dropout),
                                msim_synth_flag(causal),
                                msim_synth_none(),
                                msim_synth_none(),
                                msim_synth_none()};

    msim_etw_backward(w->y->e, "ScaledDotProductFlashAttentionBackward0");
    msim_etw_leaf(w->y->e, FLASH "_backward",
                  FLASH "_backward(Tensor grad_out, Tensor query, Tensor "
                        "key, Tensor value, Tensor out, Tensor logsumexp, "
                        "Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, "
                        "SymInt max_k, float dropout_p, bool is_causal, "
                        "Tensor philox_seed, Tensor philox_offset, *, "
                        "float? scale=None) -> (Tensor grad_query, Tensor "
                        "grad_key, Tensor grad_value)",
                  in, 15, out, 3);
    msim_etw_close(w->y->e, NULL, 0);
}

static void efficient_back(struct msim_synth_walk *w, const struct msim_work *a,
                           const struct msim_synth_kept *kept,
                           const struct msim_etw_tensor *grad,
                           struct msim_etw_tensor out[3])
{
    static const int64_t MASK[] = {1, 1, 1, 0}; /* no bias on scores */
    bool causal = a->u.attention.phase == MSIM_ATTENTION_PREFILL;
    const struct msim_etw_arg kv = msim_etw_of(&kept->other);
    struct msim_etw_arg in[] = {msim_etw_of(grad),
                                msim_etw_of(&kept->in),
                                kv,
                                kv,
                                msim_synth_none(),
                                msim_etw_of(&kept->out),
                                msim_etw_of(&kept->extra),
                                msim_synth_none(),
                                msim_synth_none(),
                                msim_synth_real(w->y->m->dropout),
                                {MSIM_ETW_BOOLS, 4, {.ints = MASK}},
                                msim_synth_flag(causal),
                                msim_synth_none()};

    msim_etw_backward(w->y->e, "ScaledDotProductEfficientAttentionBackward0");
    msim_etw_leaf(w->y->e, EFFICIENT "_backward",
                  EFFICIENT "_backward(Tensor grad_out_, Tensor query, Tensor "
                            "key, Tensor value, Tensor attn_bias, Tensor out, "
                            "Tensor logsumexp, Tensor philox_seed, Tensor "
                            "philox_offset, float dropout_p, bool[4] "
                            "grad_input_mask, bool is_causal=False, *, float? "
                            "scale=None) -> (Tensor, Tensor, Tensor, Tensor)",
                  in, 13, out, 3);
    msim_etw_close(w->y->e, NULL, 0);
}

/* Gradients of queries, keys and values side by side, as the layer that made
 * all three wants them. */
static void put_together(struct msim_synth_walk *w,
                         const struct msim_etw_tensor out[3])
{
    int64_t tokens = out[0].dims[0] * out[0].dims[2];
    struct msim_etw_tensor flat[3];

    for (int i = 0; i < 3; i++)
        flat[i] = msim_synth_view2(w, &out[i], tokens,
                                   out[i].dims[1] * out[i].dims[3]);
    msim_etw_backward(w->y->e, "SplitWithSizesBackward0");
    w->cur = msim_synth_cat(w, flat, 3, 1);
    msim_etw_close(w->y->e, NULL, 0);
}

static void attend_back(struct msim_synth_walk *w, const struct msim_work *a,
                        const struct msim_synth_kept *kept)
{
    struct msim_etw_tensor out[3];
    struct msim_etw_tensor grad =
        msim_etw_view(w->y->e, &w->cur, 4, kept->out.dims[0], kept->out.dims[1],
                      kept->out.dims[2], kept->out.dims[3]);

    for (int i = 0; i < 3; i++) {
        const struct msim_etw_tensor *like = i ? &kept->other : &kept->in;

        out[i] = msim_etw_new(w->y->e, w->y->dtype, 4, like->dims[0],
                              like->dims[1], like->dims[2], like->dims[3]);
    }
    (w->y->dtype == MSIM_DT_F32 ? efficient_back : flash_back)(w, a, kept,
                                                               &grad, out);
    w->cur = out[0];
    if (!w->y->m->mla.kv_rank && w->y->s->cp == 1)
        put_together(w, out);
}

void msim_synth_attention(struct msim_synth_walk *w,
                          const struct msim_part_op *op, uint32_t at)
{
    msim_synth_context(w, op->pass);
    if (op->pass == MSIM_PASS_FORWARD)
        attend(w, &op->work, &w->kept[at]);
    else
        attend_back(w, &op->work, &w->kept[at]);
}

/* Attention in parts: products of heads, and softmax between. */
void msim_synth_scores(struct msim_synth_walk *w, const struct msim_part_op *op)
{
    const struct msim_work *k = &op->work;
    struct msim_etw_tensor a, b, out;

    if (k->family == MSIM_FAMILY_GEMM) {
        int64_t batch = k->u.gemm.batch, m = k->u.gemm.m, n = k->u.gemm.n;

        a = msim_synth_given(w, batch * m, k->u.gemm.k);
        b = msim_synth_given(w, batch * k->u.gemm.k, n);
        w->cur = msim_synth_bmm(w, MSIM_SYNTH_NONE_TURNED, batch, m,
                                k->u.gemm.k, n, &a, &b);
        return;
    }
    a = msim_synth_given(w, k->u.vector.elems / w->y->s->sequence,
                         w->y->s->sequence);
    out = msim_synth_new2(w, a.dims[0], a.dims[1]);
    {
        struct msim_etw_arg in[] = {msim_etw_of(&a), msim_etw_int(-1),
                                    msim_synth_flag(false)};

        msim_etw_leaf(w->y->e, "aten::_softmax",
                      "aten::_softmax(Tensor self, int dim, bool "
                      "half_to_float) -> Tensor",
                      in, 3, &out, 1);
    }
}
