/*
 * predict/carry/kernel_class.c - classes by name, launch and time.
 *
 * A name shows three things. The library: those that multiply matrices name
 * themselves (cuBLAS, cuBLASLt, CUTLASS, Tensile, Composable Kernel, Triton's
 * dot). The type: by a word, or by Tensile's letters. And for most matrix
 * kernels the tile of the output. A library picks a tile as narrow as the
 * product. A product of n columns does 2 n operations for each element of the
 * matrix that it reads, so that a narrow one is bound by memory whatever units
 * it runs on.
 */
#include "predict/carry/scaled.h"

#include "core/work/data_sheet.h"
#include "core/work/kernel/infer.h"
#include "core/work/kernel_fact.h"

#include <math.h>
#include <string.h>

/* By the name alone. */
static enum msim_kernel_class class_of_name(const char *name)
{
    struct msim_kernel_name k;
    double side;

    msim_kernel_name_read(&k, name);
    side = msim_kernel_name_narrow(&k);
    switch (k.kind) {
    case MSIM_KERNEL_ATTENTION:
        return MSIM_CLASS_TENSOR;
    case MSIM_KERNEL_MATRIX:
    case MSIM_KERNEL_CONV:
        return side > 0 && side <= MSIM_FACT(NULL, NARROW_TILE_SIDE)
                   ? MSIM_CLASS_MEMORY
                   : MSIM_CLASS_TENSOR;
    default:
        return MSIM_CLASS_MEMORY;
    }
}

/* Most of the GPU idles: blocks for less than half of it. */
static bool is_small(const struct msim_data_sheet *s,
                     const struct msim_launch_config *c)
{
    return c && (double)c->grid[0] * c->grid[1] * c->grid[2] < s->sms / 2;
}

static double head_us(const struct msim_data_sheet *source,
                      const struct msim_kernel_facts *k)
{
    return is_small(source, k->config)
               ? k->us
               : fmin(k->us, MSIM_FACT(NULL, HEAD_FLOORS) * source->floor_us);
}

enum msim_kernel_class
msim_kernel_class_of(const struct msim_data_sheet *source,
                     const struct msim_kernel_facts *k)
{
    if (k->communication)
        return MSIM_CLASS_LINK;
    return head_us(source, k) >= k->us ? MSIM_CLASS_LATENCY
                                       : class_of_name(k->name);
}

static double rate_of(const struct msim_data_sheet *s, enum msim_kernel_class c,
                      const char *name)
{
    switch (c) {
    case MSIM_CLASS_TENSOR:
        return s->rate[msim_kernel_rate(name)] * s->sustained;
    case MSIM_CLASS_LINK: /* "internode" is the word of DeepEP and its kin */
        return strstr(name, "internode") ? s->network * s->cards_per_gpu
                                         : s->link;
    default:
        return s->bandwidth;
    }
}

double msim_kernel_class_us(const struct msim_data_sheet *source,
                            const struct msim_data_sheet *target,
                            const struct msim_kernel_facts *k)
{
    enum msim_kernel_class c = msim_kernel_class_of(source, k);
    double head = head_us(source, k);

    /* A collective too small to fill the GPU is no shorter for that. */
    if (c == MSIM_CLASS_LINK)
        head = fmin(k->us, MSIM_FACT(NULL, HEAD_FLOORS) * source->floor_us);
    return head * target->floor_us / source->floor_us +
           (k->us - head) * rate_of(source, c, k->name) /
               rate_of(target, c, k->name);
}
