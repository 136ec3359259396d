/*
 * profilers/cpu/cpu_operands.c - memory that operands are taken from.
 */
#include "profilers/cpu/cpu_operands.h"

#include <stdlib.h>
#include <string.h>

#define LINE 64 /* bytes */

/* xorshift (Marsaglia, 2003): random enough not to be compressible, and fast
 * enough to fill gigabytes. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Uniform in -1 to 1. */
static double random_number(uint64_t *state)
{
    return (double)(int64_t)(next_random(state) >> 11) * 0x1p-52 - 1;
}

static void fill_f32(char *bytes, size_t size)
{
    float *v = (float *)(void *)bytes;
    uint64_t state = UINT64_C(88172645463325252);

    for (size_t i = 0; i < size / sizeof(*v); i++)
        v[i] = (float)random_number(&state);
}

static void fill_f64(char *bytes, size_t size)
{
    double *v = (double *)(void *)bytes;
    uint64_t state = UINT64_C(88172645463325252);

    for (size_t i = 0; i < size / sizeof(*v); i++)
        v[i] = random_number(&state);
}

static void fill_zero(char *bytes, size_t size)
{
    memset(bytes, 0, size); /* touch every page now, not when it is timed */
}

static enum msim_status grow(struct msim_area *a, size_t size,
                             void (*fill)(char *, size_t))
{
    size_t rounded = (size + LINE - 1) / LINE * LINE;
    char *bytes;

    if (a->size >= rounded)
        return MSIM_OK;
    bytes = aligned_alloc(LINE, rounded);
    if (!bytes)
        return MSIM_ENOMEM;
    fill(bytes, rounded);
    free(a->bytes);
    *a = (struct msim_area){.bytes = bytes, .size = rounded};
    return MSIM_OK;
}

void msim_operands_init(struct msim_operands *o, size_t cache_bytes)
{
    memset(o, 0, sizeof(*o));
    o->least = 2 * cache_bytes;
}

void msim_operands_release(struct msim_operands *o)
{
    free(o->f32.bytes);
    free(o->f64.bytes);
    free(o->out.bytes);
    memset(o, 0, sizeof(*o));
}

static size_t at_least(size_t bytes, size_t least)
{
    return (bytes > least ? bytes : least) + 8 * LINE;
}

enum msim_status msim_operands_reserve(struct msim_operands *o, unsigned width,
                                       size_t in, size_t out)
{
    MSIM_TRY(grow(width == 8 ? &o->f64 : &o->f32, at_least(in, o->least),
                  width == 8 ? fill_f64 : fill_f32));
    return grow(&o->out, at_least(out, o->least), fill_zero);
}

void *msim_area_take(struct msim_area *a, size_t bytes)
{
    size_t rounded = (bytes + LINE - 1) / LINE * LINE;
    void *taken;

    if (a->at + rounded > a->size)
        a->at = 0;
    taken = a->bytes + a->at;
    a->at += rounded;
    return taken;
}

void msim_operands_begin(struct msim_operands *o, bool warm)
{
    if (warm)
        o->f32.at = o->f64.at = o->out.at = 0;
}
