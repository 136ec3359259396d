/*
 * profilers/cpu/cpu_operands.c - memory that operands are taken from.
 */
#include "profilers/cpu/cpu.h"

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

/* The upper half of a float. */
static void fill_bf16(char *bytes, size_t size)
{
    uint16_t *v = (uint16_t *)(void *)bytes;
    uint64_t state = UINT64_C(88172645463325252);

    for (size_t i = 0; i < size / sizeof(*v); i++) {
        float number = (float)random_number(&state);
        uint32_t bits;

        memcpy(&bits, &number, sizeof(bits));
        v[i] = (uint16_t)(bits >> 16);
    }
}

/* The upper bits, which are the better ones. */
static void fill_index(char *bytes, size_t size)
{
    uint32_t *v = (uint32_t *)(void *)bytes;
    uint64_t state = UINT64_C(88172645463325252);

    for (size_t i = 0; i < size / sizeof(*v); i++)
        v[i] = (uint32_t)(next_random(&state) >> 32);
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
    for (int i = 0; i < MSIM_OPERANDS; i++)
        free(o->areas[i].bytes);
    memset(o, 0, sizeof(*o));
}

enum msim_status msim_operands_reserve(struct msim_operands *o,
                                       enum msim_operand_kind of, size_t bytes)
{
    static void (*const FILL[])(char *, size_t) = {
        [MSIM_OPERAND_F32] = fill_f32,   [MSIM_OPERAND_F64] = fill_f64,
        [MSIM_OPERAND_BF16] = fill_bf16, [MSIM_OPERAND_INDEX] = fill_index,
        [MSIM_OPERAND_OUT] = fill_zero,
    };
    size_t size = bytes > o->least ? bytes : o->least;

    return grow(&o->areas[of], size + 8 * LINE, FILL[of]);
}

void *msim_operands_take(struct msim_operands *o, enum msim_operand_kind of,
                         size_t bytes)
{
    struct msim_area *a = &o->areas[of];
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
    for (int i = 0; warm && i < MSIM_OPERANDS; i++)
        o->areas[i].at = 0;
}
