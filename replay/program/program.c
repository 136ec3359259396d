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
