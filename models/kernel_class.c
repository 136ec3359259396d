/*
 * models/kernel_class.c - classes by name, launch and time.
 *
 * Names tell three things. Which library: those that multiply matrices say so
 * (cuBLAS, cuBLASLt, CUTLASS, Tensile, Composable Kernel, Triton's dot). Which
 * type: in a word, or in Tensile's letters. And of most matrix kernels the tile
 * of the output: a library picks one as narrow as the product, and a product
 * of n columns does 2 n operations for each element of the matrix that it
 * reads, so that a narrow one is bound by memory whatever units it runs on.
 */
#include "models/kernel_class.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A row that is read together with others needs more rounds than a single
 * one: shortest kernels of norms, softmax and reductions over those of
 * additions (models/vector.c, STAND_INS). */
#define HEAD_FLOORS 2.5

/* Tiles up to this side are for narrow products. Half-precision rate over
 * bandwidth is 110 to 300 operations a byte on data-centre GPUs since 2017, and
 * an element of two bytes gives n operations a byte: 32 columns are bound by
 * memory. Tiles of 64 and more serve products of any size. */
#define NARROW_TILE 32
#define WIDEST_TILE 1024

const char *msim_kernel_class_text(enum msim_kernel_class c)
{
    static const char *const TEXT[MSIM_CLASS_COUNT] = {
        [MSIM_CLASS_LATENCY] = "latency",
        [MSIM_CLASS_MEMORY] = "memory",
        [MSIM_CLASS_TENSOR] = "tensor",
        [MSIM_CLASS_LINK] = "link",
    };

    return (unsigned)c < MSIM_CLASS_COUNT ? TEXT[c] : "unknown";
}

/* Does the name hold one of the words, in any case? NULL ends them. */
static bool has_any(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strcasestr(name, *words))
            return true;
    return false;
}

static bool is_matrix(const char *name)
{
    static const char *const WORDS[] = {
        "gemm",  "cutlass", "Cijk_", "mfma",     "xmma",   "nvjet",     "bmm_",
        "gemv",  "wgmma",   "mma_",  "_dot",     "matmul", "mm_kernel", "conv",
        "fprop", "dgrad",   "wgrad", "winograd", NULL};
    /* Words of kernels that are written with such a library and do not
     * multiply, or only put partial sums together. */
    static const char *const NOT[] = {
        "splitKreduce", "norm",    "softmax", "elementwise",
        "transpose",    "convert", NULL};

    return has_any(name, WORDS) && !has_any(name, NOT);
}

static bool is_attention(const char *name)
{
    static const char *const WORDS[] = {"fmha", "flash", "attn", "attention",
                                        NULL};
    static const char *const NOT[] = {"reduce", "combine",     "merge",
                                      "norm",   "elementwise", NULL};

    return has_any(name, WORDS) && !has_any(name, NOT);
}

/* One query a sequence: the keys and values are read once for each. */
static bool is_decoding(const char *name)
{
    static const char *const WORDS[] = {"decode", "paged", "ForGen", "splitkv",
                                        NULL};

    return has_any(name, WORDS);
}

/*
 * The shorter side of the output tile: of the first pair "AxB" in the name
 * whose numbers can be one ("t128x8x128", "MT64x16x256", "tilesize128x64x64",
 * "_64x16_64x16_"). 0: no tile.
 */
static long tile_side(const char *name)
{
    for (const char *p = name; *p; p++) {
        char *end, *last;
        long a, b;

        if (*p < '1' || *p > '9' || (p > name && p[-1] >= '0' && p[-1] <= '9'))
            continue;
        a = strtol(p, &end, 10);
        if (*end != 'x' || end[1] < '1' || end[1] > '9')
            continue;
        b = strtol(end + 1, &last, 10);
        if (a >= 8 && b >= 8 && a <= WIDEST_TILE && b <= WIDEST_TILE)
            return a < b ? a : b;
    }
    return 0;
}

/* Tensile writes the type after the index letters: Cijk_Alik_Bljk_S..., H, B,
 * D, F8. */
static enum msim_rate tensile_rate(const char *types)
{
    if (strncmp(types, "F8", 2) == 0 || strncmp(types, "B8", 2) == 0)
        return MSIM_RATE_FP8;
    if (*types == 'I')
        return MSIM_RATE_INT8;
    if (*types == 'S')
        return MSIM_RATE_FP32;
    return *types == 'D' ? MSIM_RATE_FP64 : MSIM_RATE_FP16;
}

/* The rate that the arithmetic of a matrix kernel runs at; half precision, the
 * usual, where the name does not say. */
static enum msim_rate name_rate(const char *name)
{
    static const struct {
        const char *words[8];
        enum msim_rate rate;
    } TYPES[] = {
        {{"nvfp4", "e2m1", "mxfp4", "fp4", NULL}, MSIM_RATE_FP4},
        {{"e4m3", "e5m2", "fp8", "float8", NULL}, MSIM_RATE_FP8},
        {{"int8", "s8_", "i8816", "_s8", "i16832", NULL}, MSIM_RATE_INT8},
        {{"bf16", "bfloat16", "f16", "fp16", "half", "hgemm", NULL},
         MSIM_RATE_FP16},
        {{"tf32", NULL}, MSIM_RATE_TF32},
        {{"dgemm", "f64", NULL}, MSIM_RATE_FP64},
        {{"sgemm", "simt", "f32f32", "fp32", NULL}, MSIM_RATE_FP32},
    };
    const char *tensile = strstr(name, "Bljk_");

    if (!tensile)
        tensile = strstr(name, "Bjlk_");
    if (tensile)
        return tensile_rate(tensile + 5);
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(*TYPES); i++)
        if (has_any(name, TYPES[i].words))
            return TYPES[i].rate;
    return MSIM_RATE_FP16;
}

/* By the name alone. */
static enum msim_kernel_class class_of_name(const char *name)
{
    long side;

    if (is_attention(name))
        return is_decoding(name) ? MSIM_CLASS_MEMORY : MSIM_CLASS_TENSOR;
    if (!is_matrix(name))
        return MSIM_CLASS_MEMORY;
    side = tile_side(name);
    return strcasestr(name, "gemv") || (side && side <= NARROW_TILE)
               ? MSIM_CLASS_MEMORY
               : MSIM_CLASS_TENSOR;
}

/* Most of the GPU idles: blocks for less than half of it. */
static bool is_small(const struct msim_spec *s,
                     const struct msim_launch_config *c)
{
    return c && (double)c->grid[0] * c->grid[1] * c->grid[2] < s->sms / 2;
}

static double head_us(const struct msim_spec *source,
                      const struct msim_kernel_facts *k)
{
    return is_small(source, k->config)
               ? k->us
               : fmin(k->us, HEAD_FLOORS * source->floor_us);
}

enum msim_kernel_class msim_kernel_class(const struct msim_spec *source,
                                         const struct msim_kernel_facts *k)
{
    if (k->communication)
        return MSIM_CLASS_LINK;
    return head_us(source, k) >= k->us ? MSIM_CLASS_LATENCY
                                       : class_of_name(k->name);
}

static double rate_of(const struct msim_spec *s, enum msim_kernel_class c,
                      const char *name)
{
    switch (c) {
    case MSIM_CLASS_TENSOR:
        return s->rate[name_rate(name)] * s->sustained;
    case MSIM_CLASS_LINK:
        return s->link;
    default:
        return s->bandwidth;
    }
}

double msim_kernel_class_us(const struct msim_spec *source,
                            const struct msim_spec *target,
                            const struct msim_kernel_facts *k)
{
    enum msim_kernel_class c = msim_kernel_class(source, k);
    double head = head_us(source, k);

    /* A collective too small to fill the GPU is no shorter for that. */
    if (c == MSIM_CLASS_LINK)
        head = fmin(k->us, HEAD_FLOORS * source->floor_us);
    return head * target->floor_us / source->floor_us +
           (k->us - head) * rate_of(source, c, k->name) /
               rate_of(target, c, k->name);
}
