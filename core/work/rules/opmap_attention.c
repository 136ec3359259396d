/*
 * core/work/rules/opmap_attention.c - fused attention, forward and backward.
 *
 * Two products of (q_len x head_dim) with (kv_len x head_dim) a head forward,
 * five backward (one recomputes the scores; Dao, "FlashAttention-2", 2023,
 * section 3.1). A causal mask leaves out what lies above the diagonal.
 */
#include "core/work/rules/opmap_rules.h"

#include <string.h>

enum layout {
    BSHD, /* batch, sequence, heads, head_dim: what flash kernels take */
    BHSD, /* batch, heads, sequence, head_dim: what PyTorch's operator takes */
    THD,  /* sequences packed one after the other, with their offsets */
    LONGER_FIRST, /* batch and sequence in either order: the longer is the
                     sequence */
};

/* Where a form has its arguments, or MSIM_NO_PLACE: `q` is followed by k and v.
 */
struct form {
    uint8_t q, layout;
    int8_t causal;  /* a bool */
    int8_t mask;    /* custom_mask_type, not 0: causal */
    int8_t offsets; /* of packed queries */
    int8_t max_q;   /* longest of the packed queries */
    int8_t window;  /* keys to the left that are seen */
};

static const struct form forms[] = {
    [MSIM_ARGS_ATTENTION_FLASH] = {0, BSHD, 8, MSIM_NO_PLACE, 3, 5, 11},
    [MSIM_ARGS_ATTENTION_FLASH_BWD] = {1, BSHD, 11, MSIM_NO_PLACE, 6, 8, 15},
    [MSIM_ARGS_ATTENTION_EFFICIENT] = {0, BSHD, MSIM_NO_PLACE, 9, 4, 6,
                                       MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_EFFICIENT_BWD] = {1, BSHD, MSIM_NO_PLACE, 14, 6, 8,
                                           MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_SDPA] = {0, BHSD, 4, MSIM_NO_PLACE, MSIM_NO_PLACE,
                                  MSIM_NO_PLACE, MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_SDPA_BWD] = {1, BHSD, 11, MSIM_NO_PLACE, MSIM_NO_PLACE,
                                      MSIM_NO_PLACE, MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_SDPA_EFF] = {0, BHSD, 6, MSIM_NO_PLACE, MSIM_NO_PLACE,
                                      MSIM_NO_PLACE, MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_SDPA_EFF_BWD] = {1, BHSD, 11, MSIM_NO_PLACE,
                                          MSIM_NO_PLACE, MSIM_NO_PLACE,
                                          MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_SDPA_CUDNN] = {0, BHSD, 6, MSIM_NO_PLACE,
                                        MSIM_NO_PLACE, MSIM_NO_PLACE,
                                        MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_SDPA_CUDNN_BWD] = {1, BHSD, 14, MSIM_NO_PLACE,
                                            MSIM_NO_PLACE, MSIM_NO_PLACE,
                                            MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_CPU] = {0, BHSD, 4, MSIM_NO_PLACE, MSIM_NO_PLACE,
                                 MSIM_NO_PLACE, MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_CPU_BWD] = {1, BHSD, 7, MSIM_NO_PLACE, MSIM_NO_PLACE,
                                     MSIM_NO_PLACE, MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_CUDNN] = {0, BHSD, 10, MSIM_NO_PLACE, MSIM_NO_PLACE,
                                   MSIM_NO_PLACE, MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_FA] = {0, BSHD, 5, MSIM_NO_PLACE, MSIM_NO_PLACE,
                                MSIM_NO_PLACE, 6},
    [MSIM_ARGS_ATTENTION_FA_BWD] = {1, BSHD, 11, MSIM_NO_PLACE, MSIM_NO_PLACE,
                                    MSIM_NO_PLACE, 12},
    [MSIM_ARGS_ATTENTION_FA_VARLEN] = {0, THD, 9, MSIM_NO_PLACE, 3, 5, 10},
    [MSIM_ARGS_ATTENTION_FA_VARLEN_BWD] = {1, THD, 15, MSIM_NO_PLACE, 9, 11,
                                           16},
    [MSIM_ARGS_ATTENTION_XFORMERS] = {0, BSHD, MSIM_NO_PLACE, 9, 4, 6,
                                      MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_PLAIN] = {0, BSHD, MSIM_NO_PLACE, MSIM_NO_PLACE,
                                   MSIM_NO_PLACE, MSIM_NO_PLACE, MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_PLAIN_BWD] = {1, BSHD, MSIM_NO_PLACE, MSIM_NO_PLACE,
                                       MSIM_NO_PLACE, MSIM_NO_PLACE,
                                       MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_EITHER] = {0, LONGER_FIRST, MSIM_NO_PLACE,
                                    MSIM_NO_PLACE, MSIM_NO_PLACE, MSIM_NO_PLACE,
                                    MSIM_NO_PLACE},
    [MSIM_ARGS_ATTENTION_TEMPLATE] = {0, BHSD, MSIM_NO_PLACE, MSIM_NO_PLACE,
                                      MSIM_NO_PLACE, MSIM_NO_PLACE,
                                      MSIM_NO_PLACE},
};

struct shape {
    int64_t batch, heads, kv_heads, q_len, kv_len, head_dim, window;
    bool causal;
};

/* Packed sequences: one fewer than offsets. They are taken for equally long,
 * unless the longest is known to be shorter than that. */
static void read_packed(const struct msim_opmap_ctx *c, const struct form *f,
                        const struct msim_operand *q,
                        const struct msim_operand *k, struct shape *s)
{
    struct msim_operand offsets;
    int64_t longest;

    s->batch = 1;
    if (f->offsets != MSIM_NO_PLACE &&
        msim_opmap_tensor(c, (uint32_t)f->offsets, &offsets) &&
        offsets.elems > 1)
        s->batch = msim_opmap_count(offsets.elems) - 1;
    s->heads = msim_operand_dim(q, -2);
    s->kv_heads = msim_operand_dim(k, -2);
    s->q_len = msim_operand_dim(q, -3) / s->batch;
    s->kv_len = msim_operand_dim(k, -3) / s->batch;
    if (f->max_q != MSIM_NO_PLACE &&
        msim_opmap_int(c, (uint32_t)f->max_q, &longest) && longest >= 1 &&
        longest < s->q_len)
        s->q_len = longest;
}

static void read_lengths(const struct msim_opmap_ctx *c, const struct form *f,
                         const struct msim_operand *q,
                         const struct msim_operand *k, struct shape *s)
{
    int head_at = f->layout == BHSD ? -3 : -2;
    int length_at = f->layout == BHSD ? -2 : -3;

    if (f->layout == THD || q->rank == 3) {
        read_packed(c, f, q, k, s);
    } else {
        if (f->layout == LONGER_FIRST &&
            msim_operand_dim(q, 0) > msim_operand_dim(q, 1))
            length_at = -4;
        s->batch = msim_operand_dim(q, length_at == -4 ? 1 : 0);
        s->heads = msim_operand_dim(q, head_at);
        s->kv_heads = msim_operand_dim(k, head_at);
        s->q_len = msim_operand_dim(q, length_at);
        s->kv_len = msim_operand_dim(k, length_at);
    }
    if (s->q_len < 1)
        s->q_len = 1;
    if (s->kv_len < 1)
        s->kv_len = 1;
}

static void read_mask(const struct msim_opmap_ctx *c, const struct form *f,
                      struct shape *s)
{
    int64_t v = 0;

    if (f->causal != MSIM_NO_PLACE &&
        msim_opmap_int(c, (uint32_t)f->causal, &v))
        s->causal = v != 0;
    if (f->mask != MSIM_NO_PLACE && msim_opmap_int(c, (uint32_t)f->mask, &v))
        s->causal = v != 0;
    if (f->window != MSIM_NO_PLACE &&
        msim_opmap_int(c, (uint32_t)f->window, &v) && v > 0 && v < s->kv_len)
        s->window = v;
}

/* The mean number of keys that a query sees. */
static double keys_a_query(const struct shape *s)
{
    double keys = (double)s->kv_len;

    if (s->causal && s->q_len > 1)
        keys -= ((double)(s->q_len < s->kv_len ? s->q_len : s->kv_len) - 1) / 2;
    if (s->window && keys > (double)s->window)
        keys = (double)s->window;
    return keys;
}

static void add_attention(struct msim_opmap_ctx *c, const struct shape *s,
                          enum msim_dtype dtype, enum msim_dtype kv_dtype,
                          bool backward)
{
    struct msim_work *w = msim_opmap_work(c, MSIM_FAMILY_ATTENTION, dtype, "");
    double rows = (double)s->batch * (double)s->heads * (double)s->q_len;
    double q_bytes = rows * (double)s->head_dim * msim_dtype_bytes(dtype);
    double kv_bytes = 2.0 * (double)s->batch * (double)s->kv_heads *
                      (double)s->kv_len * (double)s->head_dim *
                      msim_dtype_bytes(kv_dtype);

    if (!w)
        return;
    w->flops =
        (backward ? 10.0 : 4.0) * rows * keys_a_query(s) * (double)s->head_dim;
    /* backward: q, k, v, output and its gradient in; three gradients out */
    w->bytes_read = kv_bytes + (backward ? 3 : 1) * q_bytes;
    w->bytes_written = q_bytes + (backward ? kv_bytes : 0);
    w->u.attention.phase = s->q_len == 1 && s->kv_len > 1
                               ? MSIM_ATTENTION_DECODE
                           : s->causal ? MSIM_ATTENTION_PREFILL
                                       : MSIM_ATTENTION_ENCODER;
    w->u.attention.backward = backward;
    w->u.attention.batch = s->batch;
    w->u.attention.heads = s->heads;
    w->u.attention.kv_heads = s->kv_heads;
    w->u.attention.q_len = s->q_len;
    w->u.attention.kv_len = s->kv_len;
    w->u.attention.head_dim = s->head_dim;
    w->u.attention.window = s->window;
    w->u.attention.kv_dtype = kv_dtype;
    /* flash backward: sums of output times gradient, the pass, a cast */
    w->kernels = backward ? 3 : 1;
}

bool msim_rule_attention(struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row)
{
    const struct form *f = &forms[row->arg];
    struct msim_operand q, k;
    struct shape s;

    if (!msim_opmap_tensor(c, f->q, &q) ||
        !msim_opmap_tensor(c, f->q + 1u, &k) || q.rank < 3 || k.rank < 3)
        return false;
    memset(&s, 0, sizeof(s));
    s.head_dim = msim_operand_dim(&q, -1);
    read_lengths(c, f, &q, &k, &s);
    read_mask(c, f, &s);
    add_attention(c, &s, q.dtype, k.dtype, row->flags & MSIM_OPMAP_BACKWARD);
    return true;
}

/* Queries, keys and values come first. Which blocks a mask leaves out is in
 * tensors whose numbers no trace has: none, and the kernel is not the law's. */
bool msim_opmap_attention_template(struct msim_opmap_ctx *c,
                                   const struct msim_opmap_row *row)
{
    struct msim_opmap_row as = *row;

    as.arg = MSIM_ARGS_ATTENTION_TEMPLATE;
    if (strstr(c->name, "backward"))
        as.flags |= MSIM_OPMAP_BACKWARD;
    if (!msim_rule_attention(c, &as))
        return false;
    c->works[0].nearest = true;
    return true;
}

/*
 * Kernels of an autograd function of a library: q, k and v are the first three
 * tensors of one rank with equal head sizes.
 */
bool msim_rule_attention_function(struct msim_opmap_ctx *c,
                                  const struct msim_opmap_row *row)
{
    struct msim_operand q, k;
    struct shape s;
    uint32_t at = 0;

    while (msim_opmap_nth_tensor(c, at, &q) && (q.rank < 3 || q.rank > 4))
        at++;
    if (!msim_opmap_nth_tensor(c, at, &q) ||
        !msim_opmap_nth_tensor(c, at + 1, &k) || k.rank != q.rank)
        return false;
    memset(&s, 0, sizeof(s));
    s.head_dim = msim_operand_dim(&q, -1);
    read_lengths(c, &forms[row->arg], &q, &k, &s);
    add_attention(c, &s, q.dtype, k.dtype, row->flags & MSIM_OPMAP_BACKWARD);
    return true;
}
