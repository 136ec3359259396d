/*
 * core/work/stack.c - the stacks that times are known of.
 */
#include "core/work/data_sheet.h"

#include <stdio.h>
#include <string.h>

/* Those that times are known of: data/laws/kernels.csv has what differs. */
static const struct msim_stack STACKS[] = {
    {"pytorch-1.13", 1.13,
     "attention is not fused: products, a softmax in fp32, a cast"},
    {"pytorch-2.5", 2.5,
     "losses that pick one element a row: 32 threads; transposed 3-D "
     "convolutions of GA10x to 64 channels are added up in memory"},
    {"pytorch-2.9", 2.9,
     "the same losses: up to 1,024 threads; transposed 3-D convolutions "
     "without strides: on tensor cores on GA10x, three times as long on "
     "Hopper"},
};
#define N_STACKS (sizeof(STACKS) / sizeof(*STACKS))

const struct msim_stack *msim_stack_at(uint32_t i)
{
    return i < N_STACKS ? &STACKS[i] : NULL;
}

const char *msim_stack_in(const char *platform)
{
    const char *at = strrchr(platform, '@');

    return at && !strchr(at, '/') ? at + 1 : NULL;
}

static void list(char *text, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < N_STACKS && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i ? ", " : "", STACKS[i].name);
}

enum msim_status msim_stack_find(const struct msim_stack **out,
                                 const char *name, struct msim_error *err)
{
    char known[128];

    *out = NULL;
    for (size_t i = 0; i < N_STACKS; i++)
        if (strcmp(STACKS[i].name, name) == 0)
            *out = &STACKS[i];
    if (*out)
        return MSIM_OK;
    list(known, sizeof(known));
    return msim_fail(err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE,
                     "stack '%s' is not known, want one of %s", name, known);
}
