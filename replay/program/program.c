/*
 * replay/program/program.c - a program's rows, and their end.
 */
#include "replay/program/program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *msim_tensor_role_text(enum msim_tensor_role role)
{
    static const char *const text[] = {"parameter", "state",   "input",
                                       "index",     "offsets", "positive",
                                       "memory"};

    return text[role];
}

enum msim_status msim_program_note(struct msim_program *p, const char *fmt, ...)
{
    char **slot = msim_vec_add(&p->notes, sizeof(*slot));
    char text[512];
    va_list args;

    if (!slot)
        return MSIM_ENOMEM;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    *slot = strdup(text);
    return *slot ? MSIM_OK : MSIM_ENOMEM;
}

uint32_t msim_program_group(const struct msim_program *p,
                            const struct msim_statement *s)
{
    const struct msim_trace *t = p->trace;
    uint32_t group = s->comm == MSIM_NONE ? MSIM_NONE : t->comms[s->comm].group;
    uint32_t size = group == MSIM_NONE ? 0 : t->groups[group].size;

    return size > 0 && size < t->world_size ? group : MSIM_NONE;
}

uint32_t msim_program_backwards(const struct msim_program *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->statements.n; i++)
        n += msim_program_statement(p, i)->kind == MSIM_STATEMENT_BACKWARD;
    return n;
}

/* ---- memory that nobody writes ------------------------------------------- */

#define LOOK_AHEAD 64 /* statements; who makes memory uses it soon */

static const struct msim_arg *tensor_of(const struct msim_trace *t,
                                        uint32_t block)
{
    const struct msim_arg *a = msim_args_get(t, block, 0);

    return a && a->kind == MSIM_ARG_TENSOR ? a : NULL;
}

static bool is_empty(const struct msim_trace *t, const struct msim_arg *a)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (msim_arg_dims(t, a)[i] == 0)
            return true;
    return false;
}

/* Does statement `s` read value `v`, and write to it? */
static bool uses(const struct msim_program *p, const struct msim_statement *s,
                 uint32_t v, bool *written)
{
    const struct msim_op *op = &p->trace->ops[s->op];
    uint32_t k = s->first_in, end = s->first_in + s->n_in;

    while (k < end && (msim_program_operand(p, k)->kind != MSIM_INPUT_VALUE ||
                       msim_program_operand(p, k)->index != v))
        k++;
    if (k == end)
        return false;
    /* What is written comes first: self. */
    *written = s->schema != MSIM_NONE && k == s->first_in &&
               tensor_of(p->trace, op->args) &&
               msim_program_schema(p, s->schema)->args[0].written;
    return true;
}

/* Memory that is new, or another process's. */
static bool makes_memory(const struct msim_schema *s)
{
    return strcmp(s->name, "aten::empty") == 0 ||
           (s->n_args > 1 && s->args[1].kind == MSIM_SCHEMA_STORAGE);
}

bool msim_program_unwritten(const struct msim_program *p, uint32_t v)
{
    const struct msim_program_value *value = msim_program_value(p, v);
    const struct msim_statement *s =
        msim_program_statement(p, value->statement);
    const struct msim_arg *a = tensor_of(p->trace, p->trace->ops[s->op].outs);
    bool written;

    if (s->schema == MSIM_NONE || s->n_out != 1 || !a ||
        a->device != MSIM_DEV_CPU || is_empty(p->trace, a) ||
        !makes_memory(msim_program_schema(p, s->schema)))
        return false;
    for (uint32_t i = value->statement + 1;
         i <= value->last && i <= value->statement + LOOK_AHEAD; i++)
        if (uses(p, msim_program_statement(p, i), v, &written))
            return !written;
    return false;
}

void msim_program_free(struct msim_program *p)
{
    if (!p)
        return;
    msim_lives_release(&p->lives);
    free(p->schemas.data);
    free(p->statements.data);
    free(p->operands.data);
    free(p->values.data);
    free(p->outside.data);
    free(p->numbers.data);
    free(p->left_out.data);
    for (uint32_t i = 0; i < p->notes.n; i++)
        free(((char **)p->notes.data)[i]);
    free(p->notes.data);
    free(p);
}

uint32_t msim_program_left_groups(const struct msim_program *p,
                                  struct msim_left_group *groups,
                                  uint32_t *others)
{
    uint32_t n = 0;

    *others = 0;
    for (uint32_t i = 0; i < p->left_out.n; i++) {
        const struct msim_left_out *l = msim_program_left_out(p, i);
        const char *name = msim_trace_text(p->trace, p->trace->ops[l->op].name);
        uint32_t k = 0;

        while (k < n &&
               (groups[k].reason != l->reason || groups[k].name != name))
            k++;
        if (k == MSIM_LEFT_GROUPS) {
            ++*others;
            continue;
        }
        if (k == n)
            groups[n++] = (struct msim_left_group){name, l->reason, 0};
        groups[k].n++;
    }
    return n;
}
