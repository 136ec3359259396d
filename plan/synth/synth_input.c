/*
 * plan/synth/synth_input.c - what comes before the first layer: rows of tables,
 * patches of images.
 */
#include "plan/synth/synth_internal.h"

#include <string.h>

/* What the ends of an image have in front: the class token. */
#define CLASS_TOKENS 1

/* ---- parameters -----------------------------------------------------------
 */

static bool is_named(const struct msim_part_op *op, const char *name)
{
    return strcmp(op->name, name) == 0;
}

/* Tables have a row of the model's width for each of so many. */
static int64_t table_rows(const struct msim_synth *y,
                          const struct msim_part_op *op)
{
    if (is_named(op, "embedding"))
        return y->m->vocab / y->s->tp;
    if (is_named(op, "positions"))
        return y->m->max_positions;
    if (is_named(op, "token_types"))
        return y->m->token_types;
    if (is_named(op, "class_token"))
        return CLASS_TOKENS;
    if (is_named(op, "position_sum") && y->m->type == MSIM_MODEL_VIT)
        return y->s->sequence;
    return 0;
}

void msim_synth_table(struct msim_synth *y, const struct msim_part_op *op,
                      struct msim_etw_tensor own[MSIM_SYNTH_OWN])
{
    int64_t h = y->m->hidden, rows = table_rows(y, op);

    if (is_named(op, "patches")) {
        own[MSIM_SYNTH_WEIGHT] =
            msim_etw_new(y->e, y->dtype, 4, h, y->m->image.channels,
                         y->m->image.patch, y->m->image.patch);
        own[MSIM_SYNTH_BIAS] = msim_etw_new(y->e, y->dtype, 1, h);
    } else if (rows) {
        own[MSIM_SYNTH_WEIGHT] = msim_etw_new(y->e, y->dtype, 2, rows, h);
    }
}

/* ---- tables ---------------------------------------------------------------
 */

/* Do tensor parallel ranks have a part of the table each? */
static bool is_shared(const struct msim_synth_walk *w,
                      const struct msim_part_op *op)
{
    return w->y->s->tp > 1 && is_named(op, "embedding");
}

/* What a second table's rows are added to. Of a part of a table all tokens are
 * looked up. */
static void look_up(struct msim_synth_walk *w, const struct msim_part_op *op,
                    uint32_t at)
{
    int64_t h = w->y->m->hidden, rows = op->work.u.vector.elems / h;
    const struct msim_etw_tensor *table =
        &w->l->own[at][MSIM_SYNTH_WEIGHT].weight;
    struct msim_synth_kept *kept = &w->kept[at];
    struct msim_etw_arg in[] = {msim_etw_of(table), msim_synth_none(),
                                msim_etw_int(-1), msim_synth_flag(false),
                                msim_synth_flag(false)};
    struct msim_etw_tensor out;

    if (is_shared(w, op))
        rows = (int64_t)w->y->parts->tokens;
    kept->in = msim_etw_new(w->y->e, MSIM_DT_I64, 1, rows);
    in[1] = msim_etw_of(&kept->in);
    out = msim_synth_new2(w, rows, h);
    msim_etw_leaf(w->y->e, "aten::embedding",
                  "aten::embedding(Tensor weight, Tensor indices, SymInt "
                  "padding_idx=-1, bool scale_grad_by_freq=False, bool "
                  "sparse=False) -> Tensor",
                  in, 5, &out, 1);
    if (is_shared(w, op))
        msim_synth_sum_rows(w, &out);
    w->cur = out;
    if (is_named(op, "embedding"))
        w->stream = out;
}

/* A batch's gradients of positions, summed: all sequences have the same. */
static struct msim_etw_tensor summed(struct msim_synth_walk *w, int64_t rows)
{
    int64_t h = w->y->m->hidden, all = (int64_t)w->y->parts->seq_tokens;
    struct msim_etw_tensor grad = msim_synth_given(w, all, h);

    if (rows == all || rows == 0)
        return grad;
    grad = msim_etw_view(w->y->e, &grad, 3, all / rows, rows, h);
    grad = msim_synth_sum(w, &grad, 0);
    return msim_etw_view(w->y->e, &grad, 2, rows, h);
}

static void look_up_back(struct msim_synth_walk *w,
                         const struct msim_part_op *op, uint32_t at)
{
    int64_t h = w->y->m->hidden, rows = op->work.u.vector.elems / h;
    struct msim_synth_parameter *table = &w->l->own[at][MSIM_SYNTH_WEIGHT];
    struct msim_etw_tensor whole = w->cur, grad = summed(w, rows), out;
    struct msim_etw_arg in[] = {msim_synth_none(), msim_etw_of(&w->kept[at].in),
                                msim_etw_int(table->weight.dims[0]),
                                msim_etw_int(-1), msim_synth_flag(false)};

    if (is_shared(w, op))
        msim_synth_all_rows(w, &grad);
    in[0] = msim_etw_of(&grad);
    out = msim_synth_new2(w, table->weight.dims[0], h);
    msim_etw_backward(w->y->e, "EmbeddingBackward0");
    msim_etw_leaf(w->y->e, "aten::embedding_dense_backward",
                  "aten::embedding_dense_backward(Tensor grad_output, "
                  "Tensor indices, SymInt num_weights, SymInt "
                  "padding_idx, bool scale_grad_by_freq) -> Tensor",
                  in, 5, &out, 1);
    msim_etw_close(w->y->e, NULL, 0);
    msim_synth_accumulate(w, &out, table);
    w->cur = whole;
}

/* Rows of a table, of all tokens or of the positions of one sequence, are added
 * to what is there: [sequences, tokens, width] + [tokens, width]. */
static void add_rows(struct msim_synth_walk *w, const struct msim_part_op *op,
                     uint32_t at)
{
    const struct msim_etw_tensor *own =
        &w->l->own[at][MSIM_SYNTH_WEIGHT].weight;
    int64_t h = w->y->m->hidden, all = (int64_t)w->y->parts->seq_tokens;
    struct msim_etw_tensor rows = own->id ? *own : w->cur, to = w->stream;
    int64_t each = rows.dims[0];

    (void)op;
    if (each < all && all % each == 0)
        to = msim_etw_view(w->y->e, &to, 3, all / each, each, h);
    to = msim_synth_add(w, &to, &rows);
    w->cur = w->stream = msim_synth_view2(w, &to, all, h);
}

/* ---- images ---------------------------------------------------------------
 */

static const int64_t NONE[] = {0, 0}, ONE[] = {1, 1};

static struct msim_etw_arg pair(const int64_t *of)
{
    return (struct msim_etw_arg){MSIM_ETW_INTS, 2, {.ints = of}};
}

/* The bias of a convolution is a kernel of its own. */
static void add_bias(struct msim_synth_walk *w, struct msim_etw_tensor *out,
                     const struct msim_etw_tensor *bias)
{
    struct msim_etw_tensor wide = msim_etw_view(
        w->y->e, bias, 4, (int64_t)1, bias->dims[0], (int64_t)1, (int64_t)1);
    struct msim_etw_arg in[] = {msim_etw_of(out), msim_etw_of(&wide),
                                msim_etw_int(1)};

    msim_etw_leaf(w->y->e, "aten::add_",
                  "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar "
                  "alpha=1) -> Tensor(a!)",
                  in, 3, out, 1);
}

/* [images, channels, pixels, pixels] -> [images, width, patches, patches]. */
static void patches(struct msim_synth_walk *w, uint32_t at)
{
    const struct msim_described *m = w->y->m;
    const struct msim_synth_parameter *own = w->l->own[at];
    const struct msim_etw_tensor *weight = &own[MSIM_SYNTH_WEIGHT].weight;
    const struct msim_etw_tensor *bias = &own[MSIM_SYNTH_BIAS].weight;
    int64_t side = m->image.size / m->image.patch;
    int64_t stride[] = {m->image.patch, m->image.patch};
    struct msim_etw_tensor x =
        msim_etw_new(w->y->e, w->y->dtype, 4, w->y->s->micro_batch,
                     m->image.channels, m->image.size, m->image.size);
    struct msim_etw_arg in[] = {
        msim_etw_of(&x), msim_etw_of(weight), msim_etw_of(bias), pair(stride),
        pair(NONE),      pair(ONE),           msim_etw_int(1)};
    struct msim_etw_arg inner[] = {msim_etw_of(&x),
                                   msim_etw_of(weight),
                                   pair(NONE),
                                   pair(stride),
                                   pair(ONE),
                                   msim_etw_int(1),
                                   msim_synth_flag(false),
                                   msim_synth_flag(false),
                                   msim_synth_flag(true)};
    struct msim_etw_tensor out;

    w->kept[at].in = x;
    msim_etw_open(w->y->e, "aten::conv2d",
                  "aten::conv2d(Tensor input, Tensor weight, Tensor? "
                  "bias=None, SymInt[2] stride=1, SymInt[2] padding=0, "
                  "SymInt[2] dilation=1, SymInt groups=1) -> Tensor",
                  in, 7);
    out = msim_etw_new(w->y->e, w->y->dtype, 4, w->y->s->micro_batch, m->hidden,
                       side, side);
    msim_etw_leaf(w->y->e, "aten::cudnn_convolution",
                  "aten::cudnn_convolution(Tensor self, Tensor weight, "
                  "SymInt[] padding, SymInt[] stride, SymInt[] dilation, "
                  "SymInt groups, bool benchmark, bool deterministic, bool "
                  "allow_tf32) -> Tensor",
                  inner, 9, &out, 1);
    add_bias(w, &out, bias);
    msim_etw_close(w->y->e, &out, 1);
    w->cur = out;
}

static void patches_back(struct msim_synth_walk *w, uint32_t at)
{
    static const int64_t MASK[] = {0, 1, 1}; /* no gradient of an image */
    const struct msim_described *m = w->y->m;
    struct msim_synth_parameter *own = w->l->own[at];
    const struct msim_etw_tensor *weight = &own[MSIM_SYNTH_WEIGHT].weight;
    int64_t side = m->image.size / m->image.patch, width = m->hidden;
    int64_t stride[] = {m->image.patch, m->image.patch};
    struct msim_etw_tensor grad = msim_etw_view(
        w->y->e, &w->cur, 4, w->y->s->micro_batch, width, side, side);
    struct msim_etw_arg in[] = {msim_etw_of(&grad),
                                msim_etw_of(&w->kept[at].in),
                                msim_etw_of(weight),
                                {MSIM_ETW_INTS, 1, {.ints = &width}},
                                pair(stride),
                                pair(NONE),
                                pair(ONE),
                                msim_synth_flag(false),
                                pair(NONE),
                                msim_etw_int(1),
                                {MSIM_ETW_BOOLS, 3, {.ints = MASK}}};
    struct msim_etw_tensor out[3] = {{0}};

    out[1] = msim_etw_new(w->y->e, w->y->dtype, 4, width, m->image.channels,
                          m->image.patch, m->image.patch);
    out[2] = msim_etw_new(w->y->e, w->y->dtype, 1, width);
    msim_etw_backward(w->y->e, "ConvolutionBackward0");
    msim_etw_open(w->y->e, "aten::convolution_backward",
                  "aten::convolution_backward(Tensor grad_output, Tensor "
                  "input, Tensor weight, SymInt[]? bias_sizes, SymInt[] "
                  "stride, SymInt[] padding, SymInt[] dilation, bool "
                  "transposed, SymInt[] output_padding, SymInt groups, bool[3] "
                  "output_mask) -> (Tensor, Tensor, Tensor)",
                  in, 11);
    msim_etw_close(w->y->e, out, 3);
    msim_etw_close(w->y->e, NULL, 0);
    for (int i = 0; i < MSIM_SYNTH_OWN; i++)
        msim_synth_accumulate(w, &out[1 + i], &own[i]);
}

/* Patches as tokens, the class token in front. */
static void class_token(struct msim_synth_walk *w, uint32_t at)
{
    const struct msim_etw_tensor *token =
        &w->l->own[at][MSIM_SYNTH_WEIGHT].weight;
    int64_t images = w->y->s->micro_batch, h = w->y->m->hidden;
    int64_t n = w->y->s->sequence - CLASS_TOKENS;
    struct msim_etw_tensor tokens[2], all;

    tokens[0] =
        msim_etw_view(w->y->e, token, 3, images, (int64_t)CLASS_TOKENS, h);
    tokens[1] = msim_etw_view(w->y->e, &w->cur, 3, images, n, h);
    tokens[1].transposed = true;
    all = msim_synth_cat(w, tokens, 2, 1);
    w->cur = w->stream =
        msim_synth_view2(w, &all, images * (n + CLASS_TOKENS), h);
}

/* Positions have the sum over images, the class token that of its rows. */
static void class_token_back(struct msim_synth_walk *w, uint32_t at)
{
    int64_t images = w->y->s->micro_batch, h = w->y->m->hidden;
    int64_t n = w->y->s->sequence - CLASS_TOKENS;
    struct msim_synth_parameter *token = &w->l->own[at][MSIM_SYNTH_WEIGHT];
    struct msim_synth_parameter *positions = NULL;
    struct msim_etw_tensor grad =
        msim_synth_given(w, images * w->y->s->sequence, h);
    struct msim_etw_tensor sum = summed(w, w->y->s->sequence), row;

    for (uint32_t i = 0; i < w->l->part->n_ops; i++)
        if (is_named(&w->l->part->ops[i], "position_sum"))
            positions = &w->l->own[i][MSIM_SYNTH_WEIGHT];
    if (positions)
        msim_synth_accumulate(w, &sum, positions);
    row = msim_etw_view(w->y->e, &grad, 3, images, (int64_t)CLASS_TOKENS, h);
    row = msim_synth_sum(w, &row, 0);
    row = msim_etw_view(w->y->e, &row, 2, (int64_t)CLASS_TOKENS, h);
    msim_synth_accumulate(w, &row, token);
    w->cur = msim_etw_view(w->y->e, &grad, 3, images, h, n);
}

void msim_synth_input(struct msim_synth_walk *w, const struct msim_part_op *op,
                      uint32_t at)
{
    bool back = op->pass == MSIM_PASS_BACKWARD;

    if (is_named(op, "patches"))
        (back ? patches_back : patches)(w, at);
    else if (is_named(op, "class_token"))
        (back ? class_token_back : class_token)(w, at);
    else if (is_named(op, "position_sum") || is_named(op, "token_type_sum"))
        add_rows(w, op, at);
    else
        (back ? look_up_back : look_up)(w, op, at);
}
