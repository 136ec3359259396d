/*
 * predict/edit/fuse.c - one kernel in the place of several.
 */
#include "predict/edit/edit_internal.h"

#include <stdio.h>
#include <string.h>

static void add_name(char *text, size_t size, const char *name)
{
    size_t n = strlen(text);

    if (!strncmp(name, "aten::", 6))
        name += 6;
    if (n + strlen(name) + 8 < size && !strstr(text, name))
        snprintf(text + n, size - n, "%s%s", text[n - 1] == '(' ? "" : ", ",
                 name);
}

/* "fused(add, mul, relu)": of the operators that launched them. */
static uint32_t fused_name(struct msim_remake *d, const uint32_t *tasks,
                           uint32_t n)
{
    char text[160] = "fused(";
    size_t end;

    for (uint32_t i = 0; i < n; i++) {
        const struct msim_task_ref *ref = &d->g->refs[tasks[i]];
        const struct msim_trace *t = d->ranks[ref->rank];

        if (ref->op != MSIM_NONE)
            add_name(text, sizeof(text),
                     msim_trace_text(t, t->ops[ref->op].name));
    }
    if (text[strlen(text) - 1] == '(')
        snprintf(text, sizeof(text), "fused(%u kernels", n);
    end = strlen(text);
    snprintf(text + end, sizeof(text) - end, ")");
    return msim_remake_name(d, text);
}

void msim_fuse_tasks(struct msim_remake *d, const uint32_t *tasks, uint32_t n,
                     const struct msim_cost_added *cost)
{
    d->overlay.name[tasks[0]] = fused_name(d, tasks, n);
    msim_remake_set(d, tasks[0], cost);
    for (uint32_t i = 1; i < n; i++)
        msim_remake_remove(d, tasks[i], true);
}
