/*
 * plan/parts/parts_encoder.c - what encoders and vision transformers have
 * before the first layer and behind the last.
 *
 * Devlin et al., "BERT", 2018: rows of three tables are added, normalised and
 * dropped out; hidden tokens go through a linear layer, an activation and a
 * norm to the logits, which use the table of tokens. Dosovitskiy et al., "An
 * Image is Worth 16x16 Words", 2020: a convolution makes a vector of every
 * patch, a class token goes in front, positions are added; the class token's
 * last vector goes through a linear layer.
 */
#include "plan/parts/parts_maker.h"

#include <math.h>

/* ---- input --------------------------------------------------------------- */

/* `rows` vectors out of a table, and back: their gradients to its rows. */
static void look_up(struct msim_parts_maker *k, const char *name, double rows,
                    double table_rows)
{
    double elems = rows * (double)k->m->hidden, bytes = elems * k->each;

    msim_parts_vector(k, MSIM_PART_OP_EMBEDDING, name, MSIM_PASS_FORWARD,
                      MSIM_FAMILY_EMBEDDING, "embedding", elems, bytes, bytes);
    msim_parts_vector(k, MSIM_PART_OP_EMBEDDING, name, MSIM_PASS_BACKWARD,
                      MSIM_FAMILY_POINTWISE, "add", elems, 2 * bytes, bytes);
    k->part->parameters += table_rows * (double)k->m->hidden;
}

/* Added to all tokens; backward the gradient goes on as it is. */
static void added(struct msim_parts_maker *k, const char *name)
{
    msim_parts_vector(k, MSIM_PART_OP_EMBEDDING, name, MSIM_PASS_FORWARD,
                      MSIM_FAMILY_POINTWISE, "add",
                      k->seq_tokens * (double)k->m->hidden,
                      2 * k->seq_tokens * (double)k->m->hidden * k->each,
                      k->seq_tokens * (double)k->m->hidden * k->each);
}

static void token_input(struct msim_parts_maker *k)
{
    const struct msim_described *m = k->m;

    look_up(k, "embedding", k->seq_tokens, (double)m->vocab / (double)k->s->tp);
    if (m->positions == MSIM_POSITIONS_LEARNED) {
        look_up(k, "positions", (double)k->s->sequence,
                (double)m->max_positions);
        added(k, "position_sum");
    }
    if (m->token_types) {
        look_up(k, "token_types", k->seq_tokens, (double)m->token_types);
        added(k, "token_type_sum");
    }
    if (m->post_norm)
        msim_parts_norm(k, "embedding_norm", k->seq_tokens, (double)m->hidden);
}

static void convolution(struct msim_parts_maker *k, enum msim_pass pass)
{
    const struct msim_described *m = k->m;
    struct msim_work *w =
        msim_parts_add(k, MSIM_PART_OP_EMBEDDING, "patches", pass);

    w->family = MSIM_FAMILY_CONV;
    /* cuDNN may round to TF32 by default (torch.backends.cudnn.allow_tf32). */
    w->variant = k->dtype == MSIM_DT_F32 ? "tf32" : NULL;
    w->u.conv.pass = pass == MSIM_PASS_FORWARD ? MSIM_CONV_FORWARD
                                               : MSIM_CONV_BACKWARD_WEIGHT;
    w->u.conv.n = k->s->micro_batch;
    w->u.conv.c = m->image.channels;
    w->u.conv.h = w->u.conv.w = m->image.size;
    w->u.conv.k = m->hidden;
    w->u.conv.r = w->u.conv.s = m->image.patch;
    w->u.conv.stride_h = w->u.conv.stride_w = m->image.patch;
    w->u.conv.dilation_h = w->u.conv.dilation_w = 1;
    w->u.conv.groups = 1;
    msim_work_count(w);
}

static void image_input(struct msim_parts_maker *k)
{
    double h = (double)k->m->hidden, elems = k->seq_tokens * h;
    double patch = (double)(k->m->image.patch * k->m->image.patch);

    convolution(k, MSIM_PASS_FORWARD);
    convolution(k, MSIM_PASS_BACKWARD);
    msim_parts_vector(k, MSIM_PART_OP_EMBEDDING, "class_token",
                      MSIM_PASS_FORWARD, MSIM_FAMILY_POINTWISE, "cat", elems,
                      elems * k->each, elems * k->each);
    msim_parts_vector(k, MSIM_PART_OP_EMBEDDING, "class_token",
                      MSIM_PASS_BACKWARD, MSIM_FAMILY_POINTWISE, "add", elems,
                      elems * k->each, h * (double)k->s->sequence * k->each);
    added(k, "position_sum");
    k->part->parameters +=
        ((double)k->m->image.channels * patch + 1) * h /* with a bias */
        + h * (1 + (double)k->s->sequence);
}

void msim_parts_encoder_input(struct msim_parts_maker *k)
{
    if (k->m->type == MSIM_MODEL_VIT)
        image_input(k);
    else
        token_input(k);
    if (k->m->dropout > 0)
        msim_parts_dropout(k);
}

/* ---- head ---------------------------------------------------------------- */

static void activation(struct msim_parts_maker *k, const char *name,
                       const char *variant, double elems)
{
    msim_parts_pointwise(k, name, MSIM_PASS_FORWARD, variant, elems, 1, 1);
    msim_parts_pointwise(k, name, MSIM_PASS_BACKWARD, variant, elems, 2, 1);
    k->part->saved += elems * k->each;
}

static void token_head(struct msim_parts_maker *k)
{
    double h = (double)k->m->hidden;
    double vocab = (double)k->m->vocab / (double)k->s->tp;

    if (k->m->head != MSIM_MODEL_LM) {
        msim_parts_linear(k, "transform", k->seq_tokens, h, h);
        activation(k, "transform_activation", "gelu", k->seq_tokens * h);
        msim_parts_norm(k, "transform_norm", k->seq_tokens, h);
    }
    msim_parts_tensor_parallel(k);
    msim_parts_linear(k, "logits", k->tokens, h, vocab);
    msim_parts_loss(k, k->tokens * vocab);
    if (k->m->tied && k->s->pp == 1)
        k->part->parameters -= h * vocab;
}

/* From the first token of every sequence. */
static void class_head(struct msim_parts_maker *k)
{
    double h = (double)k->m->hidden, rows = (double)k->s->micro_batch;
    double classes = (double)k->m->classes;

    if (k->m->pooler) {
        msim_parts_linear(k, "pooler", rows, h, h);
        activation(k, "pooler_activation", "tanh", rows * h);
    }
    msim_parts_linear(k, "classes", rows, h, classes);
    msim_parts_loss(k, rows * classes);
}

void msim_parts_encoder_head(struct msim_parts_maker *k)
{
    enum msim_model_head head = k->m->head;

    if (!k->m->post_norm)
        msim_parts_norm(k, "last_norm", k->seq_tokens, (double)k->m->hidden);
    if (head != MSIM_MODEL_CLASSIFIER)
        token_head(k);
    if (head == MSIM_MODEL_CLASSIFIER || head == MSIM_MODEL_PRETRAINING)
        class_head(k);
}
