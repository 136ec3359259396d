/*
 * plan/synth/synth_dlrm_shared.c - what a DLRM's ranks exchange, the dot
 * products of its vectors, its loss.
 */
#include "plan/synth/synth_dlrm.h"

/* ---- gradients of data parallel ranks -------------------------------------
 */

void msim_dlrm_exchange(struct msim_synth_dlrm *d, struct msim_synth_group *g,
                        const char *name, const struct msim_etw_tensor *in,
                        const struct msim_etw_tensor *out)
{
    struct msim_etw_comm c = {
        .name = name,
        .dtype = msim_synth_dtype_text((enum msim_dtype)in->dtype),
        .group = g->name,
        .in_elems = msim_etw_elems(in),
        .out_elems = msim_etw_elems(out),
        .size = g->size,
        .start = g->start,
        .stride = g->stride,
        .sequence = g->calls++};

    msim_etw_collective(d->y.e, &c, in, out, d->y.rank);
}

void msim_dlrm_wait(struct msim_synth_dlrm *d, struct msim_synth_group *g)
{
    msim_synth_wait(&d->y, g, g->calls - 1);
}

/* Bytes of a bucket: torch.nn.parallel.DistributedDataParallel's, whose first
 * is small so that sums begin early. */
#define FIRST_BUCKET ((int64_t)1 << 20)
#define BUCKET       ((int64_t)25 << 20)

/* Cut the parameters into buckets, each in memory of its own. */
void msim_dlrm_make_buckets(struct msim_synth_dlrm *d)
{
    struct msim_dlrm_buckets *b = &d->buckets;
    int64_t most = FIRST_BUCKET;

    for (uint32_t i = 0, end; i < b->n; i = end) {
        struct msim_etw_tensor bucket;
        int64_t elems = 0;

        for (end = i; end < b->n && 4 * elems < most; end++)
            elems += (int64_t)msim_etw_elems(&b->params[end]->weight);
        bucket = msim_etw_new(d->y.e, MSIM_DT_F32, 1, elems);
        for (uint32_t k = i; k < end; k++)
            b->bucket[k] = bucket;
        b->last[end - 1] = true;
        most = BUCKET;
    }
}

/* A gradient's mean over ranks, in its bucket. */
static void into_bucket(struct msim_synth_dlrm *d,
                        const struct msim_synth_parameter *p)
{
    struct msim_dlrm_buckets *b = &d->buckets;
    struct msim_etw_tensor *bucket = &b->bucket[b->at];
    struct msim_etw_tensor share = msim_etw_new(d->y.e, MSIM_DT_F32, 0);
    struct msim_etw_tensor flat =
        msim_etw_view(d->y.e, &p->grad, 1, (int64_t)msim_etw_elems(&p->grad));
    struct msim_etw_tensor to =
        msim_etw_view(d->y.e, bucket, 1, (int64_t)msim_etw_elems(&p->grad));
    struct msim_etw_arg in[] = {msim_etw_of(&flat), msim_etw_of(&share),
                                msim_etw_of(&to)};

    msim_etw_label(d->y.e, "torch::distributed::reducer::mul_out");
    msim_etw_leaf(d->y.e, "aten::mul",
                  "aten::mul.out(Tensor self, Tensor other, *, Tensor(a!) out) "
                  "-> Tensor(a!)",
                  in, 3, &to, 1);
    msim_etw_close(d->y.e, NULL, 0);
    if (b->last[b->at++])
        msim_dlrm_exchange(d, &d->data, "allreduce", bucket, bucket);
}

void msim_dlrm_gradient(struct msim_synth_dlrm *d,
                        const struct msim_etw_tensor *gradient,
                        struct msim_synth_parameter *of)
{
    msim_synth_accumulate(&d->w, gradient, of);
    if (d->ranks > 1)
        into_bucket(d, of);
}

/* Sums from the buckets back to the gradients. */
void msim_dlrm_out_of_buckets(struct msim_synth_dlrm *d)
{
    struct msim_dlrm_buckets *b = &d->buckets;

    msim_dlrm_wait(d, &d->data);
    for (uint32_t i = 0; i < b->n; i++) {
        const struct msim_etw_tensor *grad = &b->params[i]->grad;
        struct msim_etw_tensor to =
            msim_etw_view(d->y.e, grad, 1, (int64_t)msim_etw_elems(grad));
        struct msim_etw_tensor from = msim_etw_view(
            d->y.e, &b->bucket[i], 1, (int64_t)msim_etw_elems(grad));
        struct msim_etw_arg in[] = {msim_etw_of(&to), msim_etw_of(&from),
                                    msim_synth_flag(false)};

        msim_etw_label(d->y.e,
                       "torch.distributed.ddp.reducer::copy_bucket_to_grad");
        msim_etw_leaf(d->y.e, "aten::copy_",
                      "aten::copy_(Tensor(a!) self, Tensor src, bool "
                      "non_blocking=False) -> Tensor(a!)",
                      in, 3, &to, 1);
        msim_etw_close(d->y.e, NULL, 0);
    }
}

/* ---- interaction ----------------------------------------------------------
 */

static int64_t vectors_of(const struct msim_synth_dlrm *d)
{
    return msim_described_tables(d->y.m) + 1;
}

/* Pairs of vectors by the numbers of both, below the diagonal. */
static void pairs(const struct msim_synth_dlrm *d, struct msim_etw_tensor by[3])
{
    int64_t v = vectors_of(d);

    by[0] = (struct msim_etw_tensor){0};
    for (int i = 1; i < 3; i++)
        by[i] = msim_etw_new(d->y.e, MSIM_DT_I64, 1, v * (v - 1) / 2);
}

struct msim_etw_tensor msim_dlrm_interact(struct msim_synth_dlrm *d)
{
    int64_t v = vectors_of(d), dim = d->y.m->dlrm.dim;
    struct msim_etw_tensor parts[2], dots, by[3], out;
    struct msim_etw_arg in[2];

    dots = msim_synth_bmm(&d->w, MSIM_SYNTH_NONE_TURNED, d->batch, v, dim, v,
                          &d->vectors, &d->vectors);
    pairs(d, by);
    in[0] = msim_etw_of(&dots);
    in[1] = (struct msim_etw_arg){MSIM_ETW_TENSORS, 3, {.tensors = by}};
    out = msim_synth_new2(&d->w, d->batch, by[1].dims[0]);
    msim_etw_leaf(d->y.e, "aten::index",
                  "aten::index.Tensor(Tensor self, Tensor?[] indices) -> "
                  "Tensor",
                  in, 2, &out, 1);
    parts[0] = d->dense;
    parts[1] = out;
    return msim_synth_cat(&d->w, parts, 2, 1);
}

/* Zeros [samples, vectors, vectors], with the gradient of each pair. */
static struct msim_etw_tensor index_back(struct msim_synth_dlrm *d,
                                         const struct msim_etw_tensor *grad)
{
    int64_t v = vectors_of(d);
    struct msim_etw_tensor by[3], out;
    struct msim_etw_arg zero[2], in[5];

    pairs(d, by);
    out = msim_etw_new(d->y.e, d->y.dtype, 3, d->batch, v, v);
    zero[0] = in[0] = msim_etw_of(&out);
    zero[1] = msim_etw_int(0);
    in[1] = (struct msim_etw_arg){MSIM_ETW_TENSORS, 3, {.tensors = by}};
    in[2] = msim_etw_of(grad);
    in[3] = in[4] = msim_synth_flag(true);
    msim_etw_backward(d->y.e, "IndexBackward0");
    msim_synth_write_empty(d->y.e, &out);
    msim_etw_leaf(d->y.e, "aten::fill_",
                  "aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> "
                  "Tensor(a!)",
                  zero, 2, &out, 1);
    msim_etw_leaf(d->y.e, "aten::_index_put_impl_",
                  "aten::_index_put_impl_(Tensor(a!) self, Tensor?[] indices, "
                  "Tensor values, bool accumulate=False, bool unsafe=False) -> "
                  "Tensor(a!)",
                  in, 5, &out, 1);
    msim_etw_close(d->y.e, NULL, 0);
    return out;
}

/* Vectors meet themselves transposed: two products, and their sum. */
static struct msim_etw_tensor products_back(struct msim_synth_dlrm *d,
                                            const struct msim_etw_tensor *grad)
{
    int64_t v = vectors_of(d), dim = d->y.m->dlrm.dim;
    struct msim_etw_tensor a, b;
    struct msim_etw_arg in[3];

    msim_etw_backward(d->y.e, "BmmBackward0");
    a = msim_synth_bmm(&d->w, MSIM_SYNTH_NONE_TURNED, d->batch, dim, v, v,
                       &d->vectors, grad);
    b = msim_synth_bmm(&d->w, MSIM_SYNTH_NONE_TURNED, d->batch, v, v, dim, grad,
                       &d->vectors);
    msim_etw_close(d->y.e, NULL, 0);
    a = msim_etw_view(d->y.e, &a, 3, d->batch, v, dim);
    in[0] = msim_etw_of(&b);
    in[1] = msim_etw_of(&a);
    in[2] = msim_etw_int(1);
    msim_etw_leaf(d->y.e, "aten::add_",
                  "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar "
                  "alpha=1) -> Tensor(a!)",
                  in, 3, &b, 1);
    return b;
}

struct msim_etw_tensor
msim_dlrm_interact_back(struct msim_synth_dlrm *d,
                        const struct msim_etw_tensor *grad,
                        struct msim_etw_tensor *dense)
{
    int64_t v = vectors_of(d), dim = d->y.m->dlrm.dim;
    struct msim_etw_tensor direct =
        msim_etw_view(d->y.e, grad, 2, d->batch, dim);
    struct msim_etw_tensor of_pairs =
        msim_etw_view(d->y.e, grad, 2, d->batch, v * (v - 1) / 2);
    struct msim_etw_tensor all = index_back(d, &of_pairs), first;

    all = products_back(d, &all);
    first = msim_etw_view(d->y.e, &all, 2, d->batch, dim);
    *dense = msim_synth_add(&d->w, &direct, &first);
    return all;
}

/* ---- loss -----------------------------------------------------------------
 */

/* One operator on fp32 logits, in place or not. */
static struct msim_etw_tensor on_logits(struct msim_synth_dlrm *d,
                                        const char *name, const char *schema,
                                        const struct msim_etw_tensor *self,
                                        struct msim_etw_arg other, int64_t more,
                                        bool in_place)
{
    struct msim_etw_tensor out =
        in_place ? *self
                 : msim_etw_new(d->y.e, MSIM_DT_F32, 2, d->batch, (int64_t)1);
    struct msim_etw_arg in[] = {msim_etw_of(self), other, msim_etw_int(more)};

    msim_etw_leaf(d->y.e, name, schema, in,
                  other.kind == MSIM_ETW_NONE ? 1
                  : more                      ? 3
                                              : 2,
                  &out, 1);
    return out;
}

#define IN_PLACE(op)                                                           \
    "aten::" op "_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"
#define WITH_ALPHA(op)                                                         \
    "aten::" op "_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) "  \
    "-> Tensor(a!)"

static struct msim_etw_tensor fp32_logits(struct msim_synth_dlrm *d)
{
    return d->y.dtype == MSIM_DT_F32
               ? d->logits
               : msim_synth_to_type(&d->w, &d->logits, MSIM_DT_F32);
}

/* -log of the probability of what happened: (1 - y) x - log sigmoid x. */
void msim_dlrm_loss(struct msim_synth_dlrm *d)
{
    struct msim_etw_tensor x = fp32_logits(d), log[2], one, mean;
    struct msim_etw_tensor target =
        msim_etw_new(d->y.e, MSIM_DT_F32, 2, d->batch, (int64_t)1);
    struct msim_etw_arg in[] = {msim_etw_of(&x), msim_etw_of(&target),
                                msim_synth_none(), msim_synth_none(),
                                msim_etw_int(1)};
    struct msim_etw_arg of[] = {msim_etw_of(&x)}, sum[2];

    d->logits = x;
    msim_etw_open(d->y.e, "aten::binary_cross_entropy_with_logits",
                  "aten::binary_cross_entropy_with_logits(Tensor self, Tensor "
                  "target, Tensor? weight=None, Tensor? pos_weight=None, int "
                  "reduction=Mean) -> Tensor",
                  in, 5);
    log[0] = msim_etw_new(d->y.e, MSIM_DT_F32, 2, d->batch, (int64_t)1);
    log[1] = msim_etw_new(d->y.e, MSIM_DT_F32, 1, (int64_t)0);
    msim_etw_leaf(d->y.e, "aten::log_sigmoid_forward",
                  "aten::log_sigmoid_forward(Tensor self) -> (Tensor output, "
                  "Tensor buffer)",
                  of, 1, log, 2);
    one = msim_synth_empty(&d->w, MSIM_DT_F32, d->batch, 1);
    on_logits(d, "aten::fill_",
              "aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)",
              &one, msim_etw_int(1), 0, true);
    on_logits(d, "aten::sub_", WITH_ALPHA("sub"), &one, msim_etw_of(&target), 1,
              true);
    on_logits(d, "aten::mul_", IN_PLACE("mul"), &one, msim_etw_of(&x), 0, true);
    on_logits(d, "aten::sub_", WITH_ALPHA("sub"), &one, msim_etw_of(&log[0]), 1,
              true);
    mean = msim_etw_new(d->y.e, MSIM_DT_F32, 0);
    sum[0] = msim_etw_of(&one);
    sum[1] = msim_synth_none();
    msim_etw_leaf(d->y.e, "aten::mean",
                  "aten::mean(Tensor self, *, ScalarType? dtype=None) -> "
                  "Tensor",
                  sum, 2, &mean, 1);
    msim_etw_close(d->y.e, &mean, 1);
}

struct msim_etw_tensor msim_dlrm_loss_back(struct msim_synth_dlrm *d)
{
    struct msim_etw_tensor grad = msim_etw_new(d->y.e, MSIM_DT_F32, 0), out;
    struct msim_etw_tensor target =
        msim_etw_new(d->y.e, MSIM_DT_F32, 2, d->batch, (int64_t)1);

    msim_etw_backward(d->y.e, "BinaryCrossEntropyWithLogitsBackward0");
    out = on_logits(d, "aten::sigmoid", "aten::sigmoid(Tensor self) -> Tensor",
                    &d->logits, msim_synth_none(), 0, false);
    on_logits(d, "aten::sub_", WITH_ALPHA("sub"), &out, msim_etw_of(&target), 1,
              true);
    on_logits(d, "aten::mul_", IN_PLACE("mul"), &out, msim_etw_of(&grad), 0,
              true);
    on_logits(d, "aten::div_",
              "aten::div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
              &out, msim_etw_int(d->batch), 0, true);
    msim_etw_close(d->y.e, NULL, 0);
    return d->y.dtype == MSIM_DT_F32
               ? out
               : msim_synth_to_type(&d->w, &out, d->y.dtype);
}
