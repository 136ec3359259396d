/*
 * plan/parts/parts_ends.c - what comes before the first layer and after the
 * last: embedding, head, loss.
 */
#include "plan/parts/parts_maker.h"

void msim_parts_embedding(struct msim_parts_maker *k)
{
    double h = (double)k->m->hidden, elems = k->seq_tokens * h;

    msim_parts_vector(k, MSIM_PART_OP_EMBEDDING, "embedding", MSIM_PASS_FORWARD,
                      MSIM_FAMILY_EMBEDDING, "embedding", elems,
                      elems * k->each, elems * k->each);
    if (!k->s->technique.lora_rank) /* else the table is frozen */
        msim_parts_vector(k, MSIM_PART_OP_EMBEDDING, "embedding",
                          MSIM_PASS_BACKWARD, MSIM_FAMILY_POINTWISE, "add",
                          elems, 2 * elems * k->each, elems * k->each);
    k->part->parameters += h * (double)k->m->vocab / (double)k->s->tp;
    if (k->m->positions == MSIM_POSITIONS_LEARNED)
        k->part->parameters += h * (double)k->s->sequence;
}

/* Logits in 16 bits, then the loss in 32: a copy, the largest, differences and
 * exponentials, their sum; backward a gradient in 32 and in 16 bits. Unfused
 * (Megatron-LM's vocab_parallel_cross_entropy), the largest, the difference,
 * the exponential, the sum and the quotient are five passes: five reads, three
 * writes. */
void msim_parts_loss(struct msim_parts_maker *k, double elems)
{
    double reads = k->s->unfused ? 5 : 2, writes = k->s->unfused ? 3 : 1;

    if (msim_parts_tuned_loss(k, elems))
        return;
    msim_parts_vector(k, MSIM_PART_OP_LOSS, "to_float", MSIM_PASS_FORWARD,
                      MSIM_FAMILY_POINTWISE, "add", elems, elems * k->each,
                      elems * 4);
    msim_parts_vector(k, MSIM_PART_OP_LOSS, "log_softmax", MSIM_PASS_FORWARD,
                      MSIM_FAMILY_POINTWISE, "add", elems, elems * 4 * reads,
                      elems * 4 * writes);
    msim_parts_vector(k, MSIM_PART_OP_LOSS, "log_softmax", MSIM_PASS_BACKWARD,
                      MSIM_FAMILY_POINTWISE, "add", elems, elems * 4,
                      elems * 4);
    msim_parts_vector(k, MSIM_PART_OP_LOSS, "to_half", MSIM_PASS_BACKWARD,
                      MSIM_FAMILY_POINTWISE, "add", elems, elems * 4,
                      elems * k->each);
    k->part->saved += elems * 4;
    k->part->working += elems * (4 + k->each);
}

void msim_parts_head(struct msim_parts_maker *k)
{
    double h = (double)k->m->hidden;
    double vocab = (double)k->m->vocab / (double)k->s->tp;

    msim_parts_norm(k, "last_norm", k->seq_tokens, h);
    msim_parts_tensor_parallel(k);
    msim_parts_linear(k, "logits", k->tokens, h, vocab);
    msim_parts_loss(k, k->tokens * vocab);
    if (k->m->tied && k->s->pp == 1)
        k->part->parameters -= h * vocab;
}
