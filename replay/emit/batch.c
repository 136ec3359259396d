/*
 * replay/emit/batch.c - which sizes of a program grow with its batch.
 */
#include "replay/emit/emit_python_internal.h"

#include <stdlib.h>
#include <string.h>

static bool is_input(const struct msim_outside *o)
{
    return o->n_dims > 0 && o->base == MSIM_NONE &&
           (o->role == MSIM_ROLE_INPUT || o->role == MSIM_ROLE_INDEX ||
            o->role == MSIM_ROLE_OFFSETS);
}

/* How many inputs have the size: a first one counts a little more. */
static uint32_t votes_for(const struct msim_program *p, int64_t size)
{
    uint32_t votes = 0;

    for (uint32_t i = 0; i < p->outside.n; i++) {
        const struct msim_outside *o = msim_program_outside(p, i);
        const int64_t *dims = p->trace->dims + o->dims;

        if (!is_input(o))
            continue;
        votes += dims[0] == size;
        for (uint32_t k = 0; k < o->n_dims; k++)
            if (dims[k] == size) {
                votes += 64;
                break;
            }
    }
    return votes;
}

static int64_t find_size(const struct msim_program *p)
{
    uint32_t most = 0;
    int64_t size = 0;

    for (uint32_t i = 0; i < p->outside.n; i++) {
        const struct msim_outside *o = msim_program_outside(p, i);
        uint32_t votes;

        if (!is_input(o) || p->trace->dims[o->dims] <= 0)
            continue;
        votes = votes_for(p, p->trace->dims[o->dims]);
        if (votes > most) {
            most = votes;
            size = p->trace->dims[o->dims];
        }
    }
    return size;
}

static uint8_t growing_dim(const struct msim_program *p,
                           const struct msim_outside *o, int64_t size)
{
    const int64_t *dims = p->trace->dims + o->dims;

    for (uint32_t k = 0; is_input(o) && k < o->n_dims; k++)
        if (dims[k] > 0 && dims[k] % size == 0)
            return (uint8_t)k;
    return MSIM_BATCH_NONE;
}

static bool operand_grows(const struct msim_batch *b,
                          const struct msim_program_input *o)
{
    if (o->kind == MSIM_INPUT_VALUE)
        return b->grows[o->index];
    return o->kind == MSIM_INPUT_OUTSIDE && b->dim[o->index] != MSIM_BATCH_NONE;
}

static bool any_grows(const struct msim_batch *b, const struct msim_program *p,
                      const struct msim_statement *s)
{
    for (uint32_t k = 0; k < s->n_in; k++)
        if (operand_grows(b, msim_program_operand(p, s->first_in + k)))
            return true;
    return false;
}

/* Results in the order of their statement; those without a size are numbers. */
static void mark_results(struct msim_batch *b, const struct msim_program *p,
                         const struct msim_statement *s)
{
    const struct msim_trace *t = p->trace;
    uint32_t block = t->ops[s->op].outs, v = s->first_out;

    if (s->schema == MSIM_NONE || s->kind == MSIM_STATEMENT_COLLECTIVE)
        return;
    if (s->n_out == 0 || block == MSIM_NONE || !any_grows(b, p, s))
        return;
    for (uint32_t i = 0; i < t->blocks[block].count; i++) {
        const struct msim_arg *a = &t->args[t->blocks[block].first + i];

        if (a->kind != MSIM_ARG_TENSOR)
            continue;
        b->grows[v++] = a->n > 0 && msim_arg_dims(t, a)[0] % b->size == 0;
    }
}

enum msim_status msim_batch_find(struct msim_batch *out,
                                 const struct msim_program *p)
{
    *out = (struct msim_batch){.size = find_size(p)};
    out->grows = calloc((size_t)p->values.n + 1, sizeof(*out->grows));
    out->dim = malloc((size_t)p->outside.n + 1);
    if (!out->grows || !out->dim) {
        msim_batch_release(out);
        return MSIM_ENOMEM;
    }
    memset(out->dim, MSIM_BATCH_NONE, (size_t)p->outside.n + 1);
    for (uint32_t i = 0; out->size && i < p->outside.n; i++)
        out->dim[i] = growing_dim(p, msim_program_outside(p, i), out->size);
    for (uint32_t i = 0; out->size && i < p->statements.n; i++)
        mark_results(out, p, msim_program_statement(p, i));
    return MSIM_OK;
}

void msim_batch_release(struct msim_batch *b)
{
    free(b->grows);
    free(b->dim);
    *b = (struct msim_batch){0};
}

bool msim_batch_grows(const struct msim_batch *b, const struct msim_program *p,
                      const struct msim_statement *s,
                      const struct msim_schema_arg *a, int64_t first)
{
    if (!b->size || first <= 0 || first % b->size != 0 ||
        (!msim_schema_is(a, "size") && !msim_schema_is(a, "shape")))
        return false;
    /* A token that is repeated for every sample is no part of one before. */
    return (s->n_in > 0 &&
            operand_grows(b, msim_program_operand(p, s->first_in))) ||
           (first == b->size && first > 1);
}
