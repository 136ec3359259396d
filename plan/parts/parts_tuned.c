/*
 * plan/parts/parts_tuned.c - what techniques add to parts: adapters, operators
 * one by one, losses in chunks.
 *
 * Bytes are counted by element from PyTorch's usual code, as the comment of
 * each says; kernels read and write all of their tensors once. "a/b" is a bytes
 * read and b written.
 */
#include "plan/parts/parts_maker.h"

#include <math.h>
#include <string.h>

static bool is_plain(const struct msim_parts_maker *k)
{
    return k->s->technique.compile == MSIM_STATED_NO;
}

static void plain(struct msim_parts_maker *k, const char *name,
                  enum msim_pass pass, double elems, double read,
                  double written)
{
    msim_parts_vector(k, MSIM_PART_OP_PLAIN, name, pass, MSIM_FAMILY_POINTWISE,
                      "add", elems, elems * read, elems * written);
}

/* ---- adapters ------------------------------------------------------------ */

/* Matrices that one of our linear layers stands for: each has an adapter. */
static double matrices_of(const struct msim_parts_maker *k, const char *name)
{
    if (strcmp(name, "qkv") == 0)
        return 3;
    return k->m->gated &&
                   (strcmp(name, "up") == 0 || strcmp(name, "shared_up") == 0)
               ? 2
               : 1;
}

static bool is_mlp(const char *name)
{
    return strstr(name, "up") == name || strstr(name, "down") == name ||
           strstr(name, "shared") == name;
}

static bool is_target(const struct msim_parts_maker *k, const char *name)
{
    int64_t targets = k->s->technique.lora_targets;

    if (strcmp(name, "logits") == 0 || strcmp(name, "router") == 0)
        return false;
    return targets == MSIM_LORA_ATTENTION ? !is_mlp(name)
           : targets == MSIM_LORA_MLP     ? is_mlp(name)
                                          : true;
}

/* x A B beside x W: two narrow products and a scaled sum forward, their four
 * backward. */
static void adapter(struct msim_parts_maker *k, const char *name, double rows,
                    double in, double out)
{
    double n = matrices_of(k, name), rank = (double)k->s->technique.lora_rank;
    double narrow = n * rank, elems = rows * out;

    msim_parts_product(k, name, MSIM_PASS_FORWARD, rows, narrow, in);
    msim_parts_product(k, name, MSIM_PASS_FORWARD, rows, out, rank);
    plain(k, name, MSIM_PASS_FORWARD, elems, (is_plain(k) ? 3 : 2) * k->each,
          (is_plain(k) ? 2 : 1) * k->each);
    msim_parts_product(k, name, MSIM_PASS_BACKWARD, rows, rank, out);
    msim_parts_product(k, name, MSIM_PASS_BACKWARD, out, rank, rows);
    msim_parts_product(k, name, MSIM_PASS_BACKWARD, rows, in, narrow);
    msim_parts_product(k, name, MSIM_PASS_BACKWARD, narrow, in, rows);
    /* The input's gradient is a sum of two. */
    plain(k, name, MSIM_PASS_BACKWARD, rows * in, 2 * k->each, k->each);
    k->part->parameters += narrow * in + rank * out;
    k->part->adapters += narrow * in + rank * out;
    k->part->saved += rows * (in + narrow) * k->each;
}

/* Weights in few bits are made 16-bit ones before each product. Compiled, that
 * is one kernel; else lookups go through indices of 8 bytes and a copy. */
static void widen(struct msim_parts_maker *k, const char *name, double elems)
{
    double bytes = (double)k->s->technique.base_bits / 8;
    double more = is_plain(k) ? 12 : 0;

    for (int pass = 0; pass < 2; pass++)
        plain(k, name, (enum msim_pass)pass, elems, bytes + more,
              k->each + more);
}

/*
 * The input that a layer in few bits keeps, though its weights are frozen:
 * bitsandbytes did before 0.43.2 (its pull request 1270), and peaks are higher
 * than predicted with it, so that what we say is not too much for later ones.
 * Compiled programs (torchao) keep the weights alone. An adapter keeps the
 * input anyway, and attention its own result.
 */
static double input_kept(const struct msim_parts_maker *k, const char *name,
                         double elems)
{
    bool kept = is_target(k, name) || strcmp(name, "out") == 0;

    return is_plain(k) && !kept ? elems * k->each : 0;
}

void msim_parts_adapted(struct msim_parts_maker *k, const char *name,
                        double rows, double in, double out)
{
    double bits = (double)k->s->technique.base_bits;

    if (bits > 0 && bits < 16 && strcmp(name, "logits") != 0) {
        widen(k, name, in * out);
        k->part->narrow += in * out;
        k->part->saved += input_kept(k, name, rows * in);
    }
    msim_parts_product(k, name, MSIM_PASS_FORWARD, rows, out, in);
    msim_parts_product(k, name, MSIM_PASS_BACKWARD, rows, in, out);
    k->part->parameters += in * out + (k->m->bias ? out : 0);
    if (is_target(k, name))
        adapter(k, name, rows, in, out);
}

/* ---- operator by operator ------------------------------------------------ */

/*
 * RMS norm in 32 bits forward: to_float 2/4, pow 4/4, mean 4/0, times 4/4, to
 * 16 bits 4/2, scale 2/2: 20/16, a fused kernel 2/2. Backward: scale's two
 * gradients 6/4 and a sum 2/0, to_float 2/4, times' two 20/8 and a sum 4/0,
 * mean 0/4, pow 12/8, a sum 8/4, to 16 bits 4/2: 58/34, fused 4/2. It keeps the
 * input in 32 bits and the result before the scale, where a fused one keeps
 * the input in 16.
 */
void msim_parts_plain_norm(struct msim_parts_maker *k, const char *name,
                           double elems)
{
    if (!is_plain(k))
        return;
    if (k->m->layernorm) /* one kernel each way, also there */
        return;
    plain(k, name, MSIM_PASS_FORWARD, elems, 18, 14);
    plain(k, name, MSIM_PASS_BACKWARD, elems, 54, 32);
    k->part->saved += elems * 4;
}

/*
 * Rotation of pairs in 32 bits forward: to_float 2/4, four products of halves
 * 8/8, two sums 8/4, stack 4/4, to 16 bits 4/2: 26/22. Backward: to_float 2/4,
 * a sign 2/2, four products 8/8, two sums 8/4, four selections into zeros
 * 8/24, three sums of those 24/12, to 16 bits 4/2: 56/56. A fused kernel is
 * 2/2 each way.
 */
void msim_parts_plain_rope(struct msim_parts_maker *k, double elems)
{
    if (!is_plain(k))
        return;
    plain(k, "rope", MSIM_PASS_FORWARD, elems, 24, 20);
    plain(k, "rope", MSIM_PASS_BACKWARD, elems, 54, 54);
}

/* silu 2/2 and times 4/2, fused 4/2; backward times' two 8/4 and silu 4/2,
 * fused 6/4. Silu's result is kept. Without a gate it is one kernel. */
void msim_parts_plain_activation(struct msim_parts_maker *k, double elems)
{
    if (!is_plain(k) || !k->m->gated)
        return;
    plain(k, "activation", MSIM_PASS_FORWARD, elems, 2, 2);
    plain(k, "activation", MSIM_PASS_BACKWARD, elems, 6, 2);
    k->part->saved += elems * k->each;
}

/* Gradients of one tensor that several layers read, summed in a kernel each: of
 * queries, keys, values and of the gate beside `up`; three a layer, and this is
 * called twice a layer. */
void msim_parts_plain_sums(struct msim_parts_maker *k, double elems)
{
    if (is_plain(k))
        plain(k, "gradients", MSIM_PASS_BACKWARD, 1.5 * elems, 4, 2);
}

/* Where the program is stated it copies keys and values for every head, and
 * attention keeps the copies for backward (PyTorch's attention takes grouped
 * ones since 2.5, if asked to). Backward sums over heads. */
void msim_parts_repeat(struct msim_parts_maker *k, double elems)
{
    if (!k->s->technique.compile || elems <= 0)
        return;
    for (int pass = 0; pass < 2; pass++)
        plain(k, "repeat", (enum msim_pass)pass, elems, pass ? 2 : 0,
              pass ? 0 : 2);
    k->part->saved += elems * k->each;
}

/* ---- the loss ------------------------------------------------------------ */

static void loss_op(struct msim_parts_maker *k, const char *name,
                    enum msim_pass pass, double elems, double read,
                    double written)
{
    msim_parts_vector(k, MSIM_PART_OP_LOSS, name, pass, MSIM_FAMILY_POINTWISE,
                      "add", elems, elems * read, elems * written);
}

/*
 * Bytes of a logit that are there at once; `chunk` is the share of one chunk.
 * Operator by operator: log_softmax, the gradient of the negative logarithm and
 * that of log_softmax, 4 bytes each; chunks keep their 16-bit logits or the
 * gradients of those, and log_softmax until its backward. Compiled: logits and
 * their gradient in 32 bits; of chunks logits or gradients in 16 bits alone,
 * beside those of the chunk at hand.
 */
static double loss_bytes(const struct msim_parts_maker *k, double chunk)
{
    double each = k->each;

    if (chunk < 1)
        return is_plain(k) ? each + 4 + 8 * chunk : each * (1 + chunk);
    return is_plain(k) ? 12 : 8;
}

/* Then the head's backward has the gradient of all logits, and that of its
 * weights: chunks add theirs to it. */
static double head_bytes(const struct msim_parts_maker *k, double elems,
                         double chunk)
{
    double table =
        (double)k->m->hidden * (double)k->m->vocab / (double)k->s->tp * k->each;

    if (k->s->technique.lora_rank)
        table = 0;
    return elems * k->each + table * (chunk < 1 ? 2 : 1);
}

/*
 * Operator by operator: to_float 2/4, log_softmax 12/4 (three passes over a row
 * that no SM holds), backward a fill 0/4, log_softmax 16/4, to 16 bits 4/2.
 * Compiled: to_float 2/4 in the model, the loss 8/0, backward 4/4 and 4/2;
 * chunks are compiled from 16 bits on: 4/0 and 2/2.
 */
bool msim_parts_tuned_loss(struct msim_parts_maker *k, double elems)
{
    const struct msim_techniques *t = &k->s->technique;
    double chunk = t->loss_chunks > 1 ? 1 / (double)t->loss_chunks : 1;

    if (!t->compile && chunk == 1)
        return false;
    if (is_plain(k)) {
        loss_op(k, "to_float", MSIM_PASS_FORWARD, elems, k->each, 4);
        loss_op(k, "log_softmax", MSIM_PASS_FORWARD, elems, 12, 4);
        loss_op(k, "log_softmax", MSIM_PASS_BACKWARD, elems, 16, 8);
        loss_op(k, "to_half", MSIM_PASS_BACKWARD, elems, 4, k->each);
    } else if (chunk == 1) {
        loss_op(k, "to_float", MSIM_PASS_FORWARD, elems, k->each, 4);
        loss_op(k, "log_softmax", MSIM_PASS_FORWARD, elems, 8, 0);
        loss_op(k, "log_softmax", MSIM_PASS_BACKWARD, elems, 4, 4);
        loss_op(k, "to_half", MSIM_PASS_BACKWARD, elems, 4, k->each);
    } else {
        loss_op(k, "log_softmax", MSIM_PASS_FORWARD, elems, 2 * k->each, 0);
        loss_op(k, "log_softmax", MSIM_PASS_BACKWARD, elems, k->each, k->each);
    }
    k->part->saved += elems * (chunk < 1 ? k->each : 4);
    k->part->loss =
        fmax(elems * loss_bytes(k, chunk), head_bytes(k, elems, chunk));
    return true;
}
