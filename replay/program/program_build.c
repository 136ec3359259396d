/*
 * replay/program/program_build.c - walks over the tensors of an operator, and
 * what identifies a tensor.
 */
#include "replay/program/program_internal.h"

#include "core/base/hash.h"

bool msim_tensor_next(const struct msim_trace *t, uint32_t block,
                      uint32_t first, struct msim_tensor_walk *walk,
                      struct msim_tensor_at *at)
{
    const struct msim_arg_block *args;

    if (block == MSIM_NONE)
        return false;
    args = &t->blocks[block];
    for (; walk->next < args->count; walk->next++) {
        const struct msim_arg *a = &t->args[args->first + walk->next];

        if (walk->next == walk->end_of_argument) {
            walk->argument += walk->next > 0;
            walk->end_of_argument +=
                1 + (a->kind == MSIM_ARG_LIST ? (uint32_t)a->v.i : 0);
        }
        if (a->kind != MSIM_ARG_TENSOR)
            continue;
        *at =
            (struct msim_tensor_at){a, first + walk->tensors++, walk->argument};
        walk->next++;
        return true;
    }
    return false;
}

enum msim_status msim_builder_schema(struct msim_builder *b, uint32_t i,
                                     uint32_t *schema)
{
    struct msim_program *p = b->p;
    uint32_t text = b->t->ops[i].schema, *slot;
    struct msim_schema *row;

    *schema = MSIM_NONE;
    if (!text)
        return MSIM_OK;
    MSIM_TRY(msim_idmap_put(&b->schema_of, text, MSIM_NONE - 1, &slot));
    if (*slot == MSIM_NONE - 1) {
        row = msim_vec_add(&p->schemas, sizeof(*row));
        if (!row)
            return MSIM_ENOMEM;
        *slot = p->schemas.n - 1;
        if (!msim_schema_read(row, msim_trace_text(b->t, text))) {
            p->schemas.n--;
            *slot = MSIM_NONE;
        }
    }
    *schema = *slot;
    return MSIM_OK;
}

struct msim_tensor_key msim_tensor_key_of(const struct msim_builder *b,
                                          const struct msim_tensor_at *at)
{
    const struct msim_trace *t = b->t;
    const struct msim_tensor_id *id = &t->tensor_ids[at->id];
    uint32_t life = b->p->lives.of[at->id];
    /* Empty tensors share storage: nothing but their own id tells them. */
    uint64_t look[] = {life == MSIM_NONE ? id->tensor : life,
                       life == MSIM_NONE,
                       (uint64_t)id->offset,
                       at->arg->dtype,
                       (uint64_t)at->arg->v.i,
                       at->arg->n,
                       t->n_tensor_strides ? t->tensor_strides[at->id] : 0};
    struct msim_tensor_key key = {.id = at->id};
    uint64_t tensor = id->tensor;

    key.look = msim_hash_bytes(MSIM_HASH_START, look, sizeof(look));
    key.exact = msim_hash_bytes(key.look, &tensor, sizeof(tensor));
    return key;
}

enum msim_status msim_builder_add(struct msim_builder *b,
                                  enum msim_statement_kind kind, uint32_t op,
                                  struct msim_program_input operand)
{
    struct msim_statement *s = msim_vec_add(&b->p->statements, sizeof(*s));
    struct msim_program_input *in = msim_vec_add(&b->p->operands, sizeof(*in));

    if (!s || !in)
        return MSIM_ENOMEM;
    *in = operand;
    *s = (struct msim_statement){.op = op,
                                 .schema = MSIM_NONE,
                                 .first_in = b->p->operands.n - 1,
                                 .n_in = 1,
                                 .first_out = b->p->values.n,
                                 .comm = MSIM_NONE,
                                 .kind = kind};
    return MSIM_OK;
}
