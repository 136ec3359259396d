/*
 * models/host/host_class.c - classes of operators, by kind and name.
 */
#include "models/host/host.h"

#include "core/base/containers.h"
#include "core/work/kernel_fact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *msim_host_class_text(enum msim_host_class c)
{
    static const char *const TEXT[] = {
#define X(name, key) [MSIM_HOST_##name] = key,
        MSIM_HOST_CLASS_MAP(X)
#undef X
    };

    return TEXT[c];
}

const char *msim_host_call_text(enum msim_call_kind kind)
{
    static const char *const TEXT[] = {
#define X(name, key) [MSIM_CALL_##name] = key,
        MSIM_HOST_CALL_MAP(X)
#undef X
    };

    return TEXT[kind];
}

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

static bool is_collective(const char *name)
{
    return begins(name, "c10d::") || begins(name, "nccl:") ||
           begins(name, "c10d_functional::") ||
           begins(name, "_c10d_functional::") ||
           strcmp(name, "record_param_comms") == 0;
}

bool msim_host_is_topmost(const struct msim_trace *t, uint32_t op)
{
    uint32_t i = t->ops[op].parent;

    while (i != MSIM_NONE && t->ops[i].kind != MSIM_OP_OPERATOR)
        i = t->ops[i].parent;
    return i == MSIM_NONE;
}

enum msim_host_class msim_host_class_of(const char *name, bool leaf)
{
    if (begins(name, "autograd::"))
        return MSIM_HOST_ENGINE;
    if (begins(name, "torch::autograd::") || strstr(name, "Backward"))
        return MSIM_HOST_BACKWARD;
    if (is_collective(name))
        return MSIM_HOST_COLLECTIVE;
    return leaf ? MSIM_HOST_LEAF : MSIM_HOST_COMPOSITE;
}

enum msim_host_class msim_host_op_class(const struct msim_trace *t, uint32_t op)
{
    const struct msim_op *o = &t->ops[op];
    const char *name = msim_trace_text(t, o->name);

    if (o->kind == MSIM_OP_ROOT)
        return MSIM_HOST_NOTHING;
    if (o->kind == MSIM_OP_ANNOTATION)
        return msim_host_is_topmost(t, op) ? MSIM_HOST_NOTHING
               : is_collective(name)       ? MSIM_HOST_COLLECTIVE
                                           : MSIM_HOST_LABEL;
    return msim_host_class_of(name, o->end == op + 1);
}

size_t msim_host_name_length(const char *name)
{
    static const char TAIL[] = "Backward";
    const size_t tail = sizeof(TAIL) - 1;
    size_t n = strlen(name), cut = n;

    while (cut && name[cut - 1] >= '0' && name[cut - 1] <= '9')
        cut--;
    if (cut >= tail && memcmp(name + cut - tail, TAIL, tail) == 0)
        return cut;
    return n;
}

bool msim_host_does_nothing(const char *name)
{
    return strcmp(name, "aten::view") == 0 ||
           strcmp(name, "aten::as_strided") == 0;
}

static int compare_ps(const void *a, const void *b)
{
    msim_ps x = *(const msim_ps *)a, y = *(const msim_ps *)b;

    return MSIM_ORDER(x, y);
}

double msim_host_recording_us(const struct msim_trace *t)
{
    msim_ps *times = malloc(((size_t)t->n_ops + 1) * sizeof(*times));
    double median = NAN;
    uint32_t n = 0;

    if (!times)
        return NAN;
    for (uint32_t i = 0; t->has_times && i < t->n_ops; i++)
        if (t->ops[i].kind == MSIM_OP_OPERATOR && t->ops[i].end == i + 1 &&
            msim_host_does_nothing(msim_trace_text(t, t->ops[i].name)))
            times[n++] = t->ops[i].dur;
    if (n >= MSIM_FACT(NULL, RECORDING_LEAST)) {
        qsort(times, n, sizeof(*times), compare_ps);
        median = (double)times[n / 2] / MSIM_PS_PER_US;
    }
    free(times);
    return median;
}
