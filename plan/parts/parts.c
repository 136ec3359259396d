/*
 * plan/parts/parts.c - the operators of a transformer on one rank.
 */
#include "plan/parts/parts.h"

#include "core/work/words.h"

#include <math.h>
#include <string.h>

static const char *const OPS[] = {
#define X(name, text) text,
    MSIM_PART_OP_MAP(X)
#undef X
};

const char *msim_part_op_text(enum msim_part_op_kind k)
{
    return OPS[k];
}

/* What the builders below share. */
struct maker {
    const struct msim_described *m;
    const struct msim_strategy *s;
    struct msim_part *part;
    enum msim_dtype dtype;        /* of activations */
    enum msim_dtype linear_dtype; /* that matrix products read */
    const char *linear_variant;
    double tokens, seq_tokens;
    double each; /* bytes of an activation's element */
};

/* ---- one operator -------------------------------------------------------- */

static struct msim_work *add(struct maker *k, enum msim_part_op_kind kind,
                             const char *name, enum msim_pass pass)
{
    struct msim_part *p = k->part;
    struct msim_part_op *op =
        &p->ops[p->n_ops < MSIM_PART_OPS ? p->n_ops++ : p->n_ops - 1];

    memset(op, 0, sizeof(*op)); /* works are compared by their bytes */
    op->kind = kind;
    op->name = name;
    op->pass = pass;
    op->work.dtype = k->dtype;
    op->work.kernels = 1;
    return &op->work;
}

static void vector(struct maker *k, enum msim_part_op_kind kind,
                   const char *name, enum msim_pass pass,
                   enum msim_family family, const char *variant, double elems,
                   double read, double written)
{
    struct msim_work *w = add(k, kind, name, pass);

    w->family = family;
    w->variant = variant;
    w->u.vector.elems = (int64_t)fmax(elems, 1);
    w->u.vector.rows = 1;
    w->u.vector.cols = w->u.vector.elems;
    w->bytes_read = read;
    w->bytes_written = written;
}

/* Reads `inputs` tensors of `elems` elements and writes `outputs`. */
static void pointwise(struct maker *k, const char *name, enum msim_pass pass,
                      const char *variant, double elems, double inputs,
                      double outputs)
{
    vector(k, MSIM_PART_OP_POINTWISE, name, pass, MSIM_FAMILY_POINTWISE,
           variant, elems, inputs * elems * k->each, outputs * elems * k->each);
}

static void product(struct maker *k, const char *name, enum msim_pass pass,
                    double m, double n, double kk)
{
    struct msim_work *w = add(k, MSIM_PART_OP_LINEAR, name, pass);

    w->family = MSIM_FAMILY_GEMM;
    w->dtype = k->linear_dtype;
    w->variant = k->linear_variant;
    w->u.gemm.m = (int64_t)fmax(m, 1);
    w->u.gemm.n = (int64_t)fmax(n, 1);
    w->u.gemm.k = (int64_t)fmax(kk, 1);
    w->u.gemm.batch = 1;
    msim_work_count(w);
}

static bool is_narrow(const struct maker *k)
{
    return k->linear_dtype != k->dtype;
}

/* An operand in 8 or 4 bits: read once, written in both orders. */
static void quantise(struct maker *k, const char *name, enum msim_pass pass,
                     double elems)
{
    if (is_narrow(k))
        vector(k, MSIM_PART_OP_QUANTISE, name, pass, MSIM_FAMILY_POINTWISE,
               "mul", elems, elems * k->each, 2 * elems);
}

/* rows x in -> rows x out: forward, the input's gradient, the weight's. */
static void linear(struct maker *k, const char *name, double rows, double in,
                   double out)
{
    quantise(k, name, MSIM_PASS_FORWARD, rows * in);
    product(k, name, MSIM_PASS_FORWARD, rows, out, in);
    quantise(k, name, MSIM_PASS_BACKWARD, rows * out);
    product(k, name, MSIM_PASS_BACKWARD, rows, in, out);
    product(k, name, MSIM_PASS_BACKWARD, out, in, rows);
    k->part->parameters += in * out + (k->m->bias ? out : 0);
    k->part->saved += rows * in * (is_narrow(k) ? 1 : k->each);
    if (in == (double)k->m->hidden)
        k->part->gathered += (rows - rows * k->seq_tokens / k->tokens) * in *
                             (is_narrow(k) ? 1 : k->each);
}

static void norm_of(struct maker *k, const char *name, double rows, double cols)
{
    static const char *const VARIANTS[2][2] = {
        {"rms_norm", "rms_norm_backward"},
        {"layer_norm", "layer_norm_backward"}};
    double bytes = rows * cols * k->each;

    for (int pass = 0; pass < 2; pass++) {
        struct msim_work *w =
            add(k, MSIM_PART_OP_NORM, name, (enum msim_pass)pass);

        w->family = MSIM_FAMILY_NORM;
        w->variant = VARIANTS[k->m->layernorm][pass];
        w->u.vector.elems = (int64_t)fmax(rows * cols, 1);
        w->u.vector.rows = (int64_t)fmax(rows, 1);
        w->u.vector.cols = (int64_t)cols;
        w->bytes_read = bytes * (1 + pass);
        w->bytes_written = bytes;
    }
    k->part->parameters += cols * (k->m->layernorm ? 2 : 1);
    k->part->saved += bytes;
}

static void comm(struct maker *k, enum msim_collective c,
                 enum msim_part_group g, enum msim_pass pass, double bytes,
                 double count)
{
    struct msim_part *p = k->part;

    if (count > 0 && p->n_comms < MSIM_PART_COMMS)
        p->comms[p->n_comms++] =
            (struct msim_part_comm){c, g, pass, bytes, count};
}

/* A pair of gather and scatter around what tensor parallel ranks share, forward
 * and backward; or a sum each way, where sequences are whole. Backward gathers
 * the input once more, since it was not kept whole. */
static void tensor_parallel(struct maker *k)
{
    double bytes = k->tokens * (double)k->m->hidden * k->each;

    if (k->s->tp == 1)
        return;
    if (k->s->unfused) {
        for (int pass = 0; pass < 2; pass++)
            comm(k, MSIM_COLL_ALL_REDUCE, MSIM_PART_GROUP_TP,
                 (enum msim_pass)pass, bytes, 1);
        return;
    }
    comm(k, MSIM_COLL_ALL_GATHER, MSIM_PART_GROUP_TP, MSIM_PASS_FORWARD, bytes,
         1);
    comm(k, MSIM_COLL_REDUCE_SCATTER, MSIM_PART_GROUP_TP, MSIM_PASS_FORWARD,
         bytes, 1);
    comm(k, MSIM_COLL_ALL_GATHER, MSIM_PART_GROUP_TP, MSIM_PASS_BACKWARD, bytes,
         2);
    comm(k, MSIM_COLL_REDUCE_SCATTER, MSIM_PART_GROUP_TP, MSIM_PASS_BACKWARD,
         bytes, 1);
}

/* ---- attention ----------------------------------------------------------- */

static void flash(struct maker *k, double heads, double kv_heads,
                  double head_dim, double window)
{
    double cp = (double)k->s->cp;

    for (int pass = 0; pass < 2; pass++) {
        struct msim_work *w =
            add(k, MSIM_PART_OP_ATTENTION, "attention", (enum msim_pass)pass);

        k->part->ops[k->part->n_ops - 1].selective = pass == 0;
        w->family = MSIM_FAMILY_ATTENTION;
        w->u.attention.phase =
            k->m->encoder ? MSIM_ATTENTION_ENCODER : MSIM_ATTENTION_PREFILL;
        w->u.attention.backward = pass == 1;
        w->u.attention.batch = k->s->micro_batch;
        w->u.attention.heads = (int64_t)fmax(heads, 1);
        w->u.attention.kv_heads = (int64_t)fmax(kv_heads, 1);
        /* Ranks of a context group share the causal half evenly: each has the
         * pairs of a sequence that is shorter by the root of their number. */
        w->u.attention.q_len = w->u.attention.kv_len =
            (int64_t)((double)k->s->sequence / sqrt(cp));
        w->u.attention.head_dim = (int64_t)head_dim;
        w->u.attention.window = (int64_t)window;
        w->u.attention.kv_dtype = k->dtype;
        msim_work_count(w);
    }
}

/* Attention in parts: scores, their softmax and dropout, and the weighted sum
 * go through memory. */
static void in_parts(struct maker *k, double heads, double head_dim)
{
    double batch = (double)k->s->micro_batch * heads;
    double seq = (double)k->s->sequence;
    double bytes = batch * seq * seq * k->each;
    /* Reads and writes of the scores by softmax (with the mask) and dropout. */
    static const double PASSES[] = {4, 6};

    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 2 * (1 + pass); i++) {
            struct msim_work *w =
                add(k, MSIM_PART_OP_SCORES, "scores", (enum msim_pass)pass);

            w->family = MSIM_FAMILY_GEMM;
            w->u.gemm.m = (int64_t)seq;
            w->u.gemm.n = i % 2 ? (int64_t)head_dim : (int64_t)seq;
            w->u.gemm.k = i % 2 ? (int64_t)seq : (int64_t)head_dim;
            w->u.gemm.batch = (int64_t)fmax(batch, 1);
            msim_work_count(w);
        }
        vector(k, MSIM_PART_OP_SCORES, "scores", (enum msim_pass)pass,
               MSIM_FAMILY_POINTWISE, "add", batch * seq * seq,
               bytes * PASSES[pass] * 0.6, bytes * PASSES[pass] * 0.4);
    }
    k->part->saved += 2.5 * bytes; /* scores, their softmax, a mask of bytes */
}

/* Dropout of a residual, in the same kernel as bias and sum. */
static void dropout(struct maker *k)
{
    double elems = k->seq_tokens * (double)k->m->hidden;

    for (int pass = 0; pass < 2; pass++)
        pointwise(k, "dropout", (enum msim_pass)pass, "mul", elems, 2, 1);
    k->part->saved += elems; /* a mask of bytes */
}

static void context_parallel(struct maker *k, double kv_width)
{
    double cp = (double)k->s->cp;
    double bytes = 2 * k->tokens * cp * kv_width * k->each;

    if (k->s->cp == 1)
        return;
    comm(k, MSIM_COLL_ALL_GATHER, MSIM_PART_GROUP_CP, MSIM_PASS_FORWARD, bytes,
         1);
    comm(k, MSIM_COLL_ALL_GATHER, MSIM_PART_GROUP_CP, MSIM_PASS_BACKWARD, bytes,
         1);
    comm(k, MSIM_COLL_REDUCE_SCATTER, MSIM_PART_GROUP_CP, MSIM_PASS_BACKWARD,
         bytes, 1);
}

static void rope(struct maker *k, double width)
{
    if (k->m->positions != MSIM_POSITIONS_ROPE)
        return;
    pointwise(k, "rope", MSIM_PASS_FORWARD, "mul", k->tokens * width, 1, 1);
    pointwise(k, "rope", MSIM_PASS_BACKWARD, "mul", k->tokens * width, 1, 1);
}

static void usual_attention(struct maker *k, bool windowed)
{
    const struct msim_described *m = k->m;
    double tp = (double)k->s->tp, d = (double)m->head_dim;
    double heads = (double)m->heads / tp;
    double kv_heads = fmax((double)m->kv_heads / tp, 1);
    double width = (heads + 2 * kv_heads) * d;

    linear(k, "qkv", k->tokens, (double)m->hidden, width);
    if (m->qk_norm)
        norm_of(k, "qk_norm", k->tokens * (heads + kv_heads), d);
    rope(k, (heads + kv_heads) * d);
    if (k->s->unfused)
        in_parts(k, heads, d);
    else
        flash(k, heads, kv_heads, d, windowed ? (double)m->window : 0);
    context_parallel(k, kv_heads * d);
    k->part->saved += k->tokens * width * k->each;
    k->part->saved_selective += k->tokens * heads * d * k->each;
    linear(k, "out", k->tokens, heads * d, (double)m->hidden);
}

/* DeepSeek's attention: queries, keys and values through narrow layers. */
static void latent_attention(struct maker *k)
{
    const struct msim_described *m = k->m;
    double tp = (double)k->s->tp, h = (double)m->hidden;
    double heads = (double)m->heads / tp;
    double qk = (double)(m->mla.nope_dim + m->mla.rope_dim);
    double v = (double)m->mla.v_dim, rank = (double)m->mla.kv_rank;
    double width = heads * (2 * qk + v);

    if (m->mla.q_rank) {
        linear(k, "q_down", k->tokens, h, (double)m->mla.q_rank);
        norm_of(k, "q_norm", k->tokens, (double)m->mla.q_rank);
        linear(k, "q_up", k->tokens, (double)m->mla.q_rank, heads * qk);
    } else {
        linear(k, "q", k->tokens, h, heads * qk);
    }
    linear(k, "kv_down", k->tokens, h, rank + (double)m->mla.rope_dim);
    norm_of(k, "kv_norm", k->tokens, rank);
    linear(k, "kv_up", k->tokens, rank, heads * ((double)m->mla.nope_dim + v));
    rope(k, 2 * heads * qk);
    flash(k, heads, heads, (qk + v) / 2, 0);
    context_parallel(k, heads * (qk + v) / 2);
    k->part->saved += k->tokens * width * k->each;
    linear(k, "out", k->tokens, heads * v, h);
}

static void residual(struct maker *k)
{
    double elems = k->seq_tokens * (double)k->m->hidden;

    pointwise(k, "residual", MSIM_PASS_FORWARD, "add", elems, 2, 1);
    pointwise(k, "residual", MSIM_PASS_BACKWARD, "add", elems, 2, 1);
    if (k->s->unfused)
        dropout(k);
}

static void attention_half(struct maker *k, bool windowed)
{
    norm_of(k, "attention_norm", k->seq_tokens, (double)k->m->hidden);
    tensor_parallel(k);
    if (k->m->mla.kv_rank)
        latent_attention(k);
    else
        usual_attention(k, windowed);
    residual(k);
}

/* ---- feed-forward networks ----------------------------------------------- */

static void activation(struct maker *k, double rows, double width)
{
    double gated = k->m->gated ? 2 : 1;

    pointwise(k, "activation", MSIM_PASS_FORWARD, "gelu", rows * width, gated,
              1);
    pointwise(k, "activation", MSIM_PASS_BACKWARD, "gelu", rows * width,
              gated + 1, gated);
    k->part->saved += rows * width * gated * k->each;
}

static void dense_half(struct maker *k)
{
    double h = (double)k->m->hidden;
    double ffn = (double)k->m->ffn / (double)k->s->tp;

    norm_of(k, "ffn_norm", k->seq_tokens, h);
    tensor_parallel(k);
    linear(k, "up", k->tokens, h, ffn * (k->m->gated ? 2 : 1));
    activation(k, k->tokens, ffn);
    linear(k, "down", k->tokens, ffn, h);
    residual(k);
}

/* Products of local experts: rows of one times `batch` of them. */
static void grouped(struct maker *k, const char *name, double rows, double in,
                    double out, double experts)
{
    double sizes[3][3] = {{rows, out, in}, {rows, in, out}, {out, in, rows}};

    quantise(k, name, MSIM_PASS_FORWARD, rows * experts * in);
    quantise(k, name, MSIM_PASS_BACKWARD, rows * experts * out);
    for (int i = 0; i < 3; i++) {
        struct msim_work *w;

        product(k, name, i ? MSIM_PASS_BACKWARD : MSIM_PASS_FORWARD,
                sizes[i][0], sizes[i][1], sizes[i][2]);
        k->part->ops[k->part->n_ops - 1].kind = MSIM_PART_OP_EXPERT;
        w = &k->part->ops[k->part->n_ops - 1].work;
        w->u.gemm.batch = (int64_t)fmax(experts, 1);
        msim_work_count(w);
    }
    k->part->expert_parameters += experts * in * out;
    k->part->saved += rows * experts * in * (is_narrow(k) ? 1 : k->each);
}

/* Tokens to the ranks of their experts and back. */
static void expert_parallel(struct maker *k, double rows)
{
    double bytes = rows * (double)k->m->hidden * k->each;

    if (k->s->ep == 1)
        return;
    for (int pass = 0; pass < 2; pass++)
        comm(k, MSIM_COLL_ALL_TO_ALL, MSIM_PART_GROUP_EP, (enum msim_pass)pass,
             bytes, 2); /* there and back */
}

static void expert_half(struct maker *k)
{
    const struct msim_described *m = k->m;
    double h = (double)m->hidden, topk = (double)m->moe.topk;
    double local = (double)m->moe.experts / (double)k->s->ep;
    double rows = k->seq_tokens * topk; /* on this rank, when spread evenly */
    double ffn = (double)m->moe.ffn;

    norm_of(k, "ffn_norm", k->seq_tokens, h);
    linear(k, "router", k->seq_tokens, h, (double)m->moe.experts);
    expert_parallel(k, rows);
    /* To the order of experts, and back with a weighted sum. */
    for (int pass = 0; pass < 2; pass++)
        pointwise(k, "permute", (enum msim_pass)pass, "add", rows * h,
                  1 + 1 / topk, 1 + 1 / topk);
    grouped(k, "expert_up", rows / local, h, ffn * (m->gated ? 2 : 1), local);
    activation(k, rows, ffn);
    grouped(k, "expert_down", rows / local, ffn, h, local);
    if (m->moe.shared_experts) {
        double width = ffn * (double)m->moe.shared_experts;

        linear(k, "shared_up", k->seq_tokens, h, width * (m->gated ? 2 : 1));
        activation(k, k->seq_tokens, width);
        linear(k, "shared_down", k->seq_tokens, width, h);
    }
    residual(k);
}

/* ---- embedding, head ----------------------------------------------------- */

static void embedding(struct maker *k)
{
    double h = (double)k->m->hidden, elems = k->seq_tokens * h;

    vector(k, MSIM_PART_OP_EMBEDDING, "embedding", MSIM_PASS_FORWARD,
           MSIM_FAMILY_EMBEDDING, "embedding", elems, elems * k->each,
           elems * k->each);
    vector(k, MSIM_PART_OP_EMBEDDING, "embedding", MSIM_PASS_BACKWARD,
           MSIM_FAMILY_POINTWISE, "add", elems, 2 * elems * k->each,
           elems * k->each);
    k->part->parameters += h * (double)k->m->vocab / (double)k->s->tp;
    if (k->m->positions == MSIM_POSITIONS_LEARNED)
        k->part->parameters += h * (double)k->s->sequence;
}

/* Logits in 16 bits, then the loss in 32: a copy, the largest, differences and
 * exponentials, their sum; backward a gradient in 32 and in 16 bits. */
static void loss(struct maker *k, double elems)
{
    vector(k, MSIM_PART_OP_LOSS, "to_float", MSIM_PASS_FORWARD,
           MSIM_FAMILY_POINTWISE, "add", elems, elems * k->each, elems * 4);
    vector(k, MSIM_PART_OP_LOSS, "log_softmax", MSIM_PASS_FORWARD,
           MSIM_FAMILY_POINTWISE, "add", elems, elems * 8, elems * 4);
    vector(k, MSIM_PART_OP_LOSS, "log_softmax", MSIM_PASS_BACKWARD,
           MSIM_FAMILY_POINTWISE, "add", elems, elems * 4, elems * 4);
    vector(k, MSIM_PART_OP_LOSS, "to_half", MSIM_PASS_BACKWARD,
           MSIM_FAMILY_POINTWISE, "add", elems, elems * 4, elems * k->each);
    k->part->saved += elems * 4;
    k->part->working += elems * (4 + k->each);
}

static void head(struct maker *k)
{
    double h = (double)k->m->hidden;
    double vocab = (double)k->m->vocab / (double)k->s->tp;
    enum msim_dtype narrow = k->linear_dtype;
    const char *variant = k->linear_variant;

    norm_of(k, "last_norm", k->seq_tokens, h);
    tensor_parallel(k);
    k->linear_dtype = k->dtype; /* logits stay in 16 bits */
    k->linear_variant = NULL;
    linear(k, "logits", k->tokens, h, vocab);
    k->linear_dtype = narrow;
    k->linear_variant = variant;
    loss(k, k->tokens * vocab);
    if (k->m->tied && k->s->pp == 1)
        k->part->parameters -= h * vocab;
}

/* ---- all of it ----------------------------------------------------------- */

static void set_dtypes(struct maker *k)
{
    k->dtype = MSIM_DT_BF16;
    k->each = 2;
    k->linear_variant = NULL;
    switch (k->s->precision) {
    case MSIM_PRECISION_FP32:
        k->dtype = MSIM_DT_F32;
        k->each = 4;
        k->linear_variant = "tf32";
        k->linear_dtype = k->dtype;
        break;
    case MSIM_PRECISION_FP16:
        k->dtype = k->linear_dtype = MSIM_DT_F16;
        break;
    case MSIM_PRECISION_FP8:
    case MSIM_PRECISION_AMP_FP8:
    case MSIM_PRECISION_MXFP8:
        k->linear_dtype = MSIM_DT_F8;
        break;
    case MSIM_PRECISION_NVFP4:
        k->linear_dtype = msim_dtype_parse("nvfp4", &k->linear_variant);
        break;
    default:
        k->linear_dtype = k->dtype;
    }
}

static void begin(struct maker *k, struct msim_parts *p,
                  enum msim_part_kind kind, double layers)
{
    k->part = &p->part[p->n++];
    k->part->kind = kind;
    k->part->layers = layers;
    k->part->input = k->seq_tokens * (double)k->m->hidden * k->each;
}

static void layers(struct maker *k, struct msim_parts *p,
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

/* Every n-th layer sees a window. */
static void split_by_window(struct maker *k, struct msim_parts *p,
                            enum msim_part_kind kind, double count)
{
    double windowed =
        k->m->window ? floor(count / (double)k->m->window_every) : 0;

    layers(k, p, kind, count - windowed, false);
    layers(k, p, kind, windowed, true);
}

void msim_parts_make(struct msim_parts *p, const struct msim_described *m,
                     const struct msim_strategy *s)
{
    double experts = (double)msim_described_moe_layers(m);
    struct maker k = {.m = m, .s = s};

    memset(p, 0, sizeof(*p));
    p->hidden = m->hidden;
    p->topk = m->moe.topk;
    p->experts = m->moe.experts;
    set_dtypes(&k);
    k.tokens = p->tokens =
        (double)s->micro_batch * (double)s->sequence / (double)s->cp;
    k.seq_tokens = p->seq_tokens =
        s->unfused ? k.tokens : k.tokens / (double)s->tp;
    begin(&k, p, MSIM_PART_EMBEDDING, 1);
    embedding(&k);
    split_by_window(&k, p, MSIM_PART_DENSE, (double)m->layers - experts);
    split_by_window(&k, p, MSIM_PART_EXPERTS, experts);
    begin(&k, p, MSIM_PART_HEAD, 1);
    head(&k);
}

const struct msim_part *msim_parts_find(const struct msim_parts *p,
                                        enum msim_part_kind kind)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->part[i].kind == kind)
            return &p->part[i];
    return NULL;
}
