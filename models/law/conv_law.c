/*
 * models/law/conv_law.c - convolutions on GPUs: the fastest of the algorithms
 * that a library has, or the traffic to memory.
 *
 * time = t0 + norm_p(fastest algorithm, memory), with these algorithms:
 *   implicit product   tiles of 128 places by 128, 64 or 32 channels in waves
 *                      over the SMs; sums over places (weight gradient) are
 *                      split, and the parts are added up in memory
 *   scatter            a data gradient of stride > 1: the product of every
 *                      place with all filter taps, added up in memory
 *   Winograd, fused    3 x 3, stride 1: F(2 x 2) inside the kernel, with 2.25
 *                      times fewer multiplications; MIOpen computes filters of
 *                      any size of stride 1 and 2 as several of 3 x 3
 *   Winograd, apart    stride 1: F(4 x 4), (r + 3)^2 products of transformed
 *                      tiles, which go through memory; 3 x 3, and 5 x 5 for
 *                      the gradients in fp32 (cuDNN's list of algorithms;
 *                      MIOpen has it for weight gradients)
 *   image by image     1 x 1 with padding in MIOpen, which has no kernel for it
 *
 * (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016;
 * MIOpen 2.11, src/solver/conv_bin_winoRxS.cpp and conv_ocl_dir2Dfwd1x1.cpp.)
 */
#include "models/law/law.h"

#include "core/base/texts.h"
#include "core/work/kernel_fact.h"
#include "core/work/work.h"

#include <math.h>
#include <stdio.h>

enum {
    T0,
    RATE,
    MEMORY,
    NORM,
    DEPTH,
    NARROW,
    ADDING,
    FUSED,
    APART,
    AREA,
    N_PARAMS
};

static const struct msim_param PARAMS[N_PARAMS] = {
    [T0] = {"t0", "us", 10, 0.3, 300},
    [RATE] = {"compute_efficiency", "1", 0.8, 0.05, 4},
    [MEMORY] = {"bandwidth_efficiency", "1", 0.6, 0.02, 4},
    [NORM] = {"norm", "1", 2, 1, 8},
    /* terms of a sum until a tile's pipeline is full */
    [DEPTH] = {"pipeline_depth", "1", 32, 1, 1000},
    /* of the further loads of a tile narrower than 128 x 128 */
    [NARROW] = {"narrow_tile_cost", "1", 16, 0.5, 64},
    /* of adding a byte up in memory, over writing it once */
    [ADDING] = {"adding_cost", "1", 5, 0.1, 100},
    [FUSED] = {"winograd_gain", "1", 1.6, 0.3, 4},
    [APART] = {"transform_cost", "1", 1.5, 0.1, 30},
    /* outputs, in units of 64 x 64, that hide the latencies of an SM */
    [AREA] = {"least_area", "1", 2, 0.1, 8},
};

static const char *const FEATURES[] = {
    "log_n",         "log_c",        "log_hw",       "log_k",
    "log_flops",     "log_bytes",    "log_m",        "log_crs",
    "log_rs",        "stride",       "waves_64x64",  "tail_64x64",
    "waves_128x128", "tail_128x128", "waves_128x32", "tail_128x32",
    "log_gcd_c",     "log_gcd_k",    "log_p",        "tile_waste_2",
    "tile_waste_4",  "log_groups",   "pad",          "aspect",
};
#define N_FEATURES (sizeof(FEATURES) / sizeof(*FEATURES))

/* ---- products in tiles -------------------------------------------------- */

struct tile {
    double m, n;
};

static const struct tile BY_PLACES[] = {{128, 128}, {128, 64}, {128, 32}};
static const struct tile BY_FILTERS[] = {{128, 128}, {128, 64}, {64, 128},
                                         {64, 64},   {128, 32}, {32, 128}};
#define N_BY_PLACES  (sizeof(BY_PLACES) / sizeof(*BY_PLACES))
#define N_BY_FILTERS (sizeof(BY_FILTERS) / sizeof(*BY_FILTERS))

#define AREA_UNIT (64.0 * 64.0)

/* The GPU and the constants of the law, as the algorithms need them. */
struct gpu {
    double sms;
    double step;        /* us that an SM takes for a term of one output */
    double bytes_us;    /* us a byte, at the data sheet's rate */
    double adding_byte; /* us a byte added up in memory */
    double depth, narrow, area;
};

static void make_gpu(struct gpu *m, const struct msim_data_sheet *sheet,
                     const struct msim_work *w, const double *p)
{
    m->sms = sheet->sms;
    m->step =
        2 * sheet->sms / (msim_data_sheet_flops_per_us(sheet, w) * p[RATE]);
    m->bytes_us = 1e6 / sheet->bandwidth;
    m->adding_byte = p[ADDING] * m->bytes_us;
    m->depth = p[DEPTH];
    m->narrow = p[NARROW];
    m->area = p[AREA] * AREA_UNIT;
}

/* Microseconds of a product by one kind of tile, its sums in `split` parts. */
static double tiled(const struct gpu *m, const struct msim_conv_product *g,
                    const struct tile *t, double split)
{
    double tiles = ceil(g->m / t->m) * ceil(g->n / t->n) * g->batch * split;
    double area = fmax(ceil(tiles / m->sms) * t->m * t->n, m->area);
    double loads = 1 / t->m + 1 / t->n - 1 / 64.0;

    return area * (g->k / split + m->depth) * m->step * (1 + m->narrow * loads);
}

static double by_places(const struct gpu *m, const struct msim_conv_product *g)
{
    double best = INFINITY;

    for (size_t i = 0; i < N_BY_PLACES; i++)
        best = fmin(best, tiled(m, g, &BY_PLACES[i], 1));
    return best;
}

/* Microseconds of a product whose parts are added up in memory, by the best
 * split; an output has `bytes`. */
static double by_filters(const struct gpu *m, const struct msim_conv_product *g,
                         double bytes)
{
    double part = g->m * g->n * g->batch * bytes * m->adding_byte;
    double best = INFINITY;

    for (double split = 1; split <= MSIM_FACT(NULL, SPLIT_SUM_MOST);
         split *= 2) {
        if (split > 1 && g->k < split * MSIM_FACT(NULL, SPLIT_SUM_TERMS))
            break;
        for (size_t i = 0; i < N_BY_FILTERS; i++)
            best =
                fmin(best, tiled(m, g, &BY_FILTERS[i], split) + split * part);
    }
    return best;
}

/* ---- algorithms --------------------------------------------------------- */

/* All kernels but those of fp64 sum in fp32. */
static double implicit_product(const struct gpu *m,
                               const struct msim_conv_shape *s)
{
    struct msim_conv_product g;

    msim_conv_product_of(s, &g);
    if (s->pass == MSIM_CONV_BACKWARD_WEIGHT)
        return by_filters(m, &g, sizeof(float));
    /* A data gradient's terms between strides are 0 but are multiplied all the
     * same. */
    if (s->pass == MSIM_CONV_BACKWARD_DATA)
        g.k = s->k * s->r * s->s;
    return by_places(m, &g);
}

static double scatter(const struct gpu *m, const struct msim_conv_shape *s,
                      double bytes, double memory)
{
    double places = s->n * s->p * s->q;
    double taps = s->c * s->r * s->s;
    const struct msim_conv_product g = {places, taps, s->k, s->groups};
    double cleared = s->n * s->c * s->groups * s->h * s->w;

    return by_places(m, &g) +
           places * taps * s->groups * bytes * m->adding_byte +
           cleared * bytes * m->bytes_us / memory;
}

/* Places (p x q) of the image that a pass writes, the channels that it sums
 * over (in) and those that it writes (out). */
struct image {
    double p, q, in, out;
};

static struct image image_of(const struct msim_conv_shape *s)
{
    return s->pass == MSIM_CONV_BACKWARD_DATA
               ? (struct image){s->h, s->w, s->k, s->c}
               : (struct image){s->p, s->q, s->c, s->k};
}

static double up_to(double v, double step)
{
    return ceil(v / step) * step;
}

/*
 * The number of 3 x 3 filters that MIOpen computes a filter as; 0: it has no
 * kernel. Sizes are rounded up to multiples of 3 or, where it takes two filters
 * at a time, of 6. A data gradient of stride 2 needs a quarter of them for each
 * place.
 */
static double miopen_filters(const struct msim_conv_shape *s)
{
    bool strided = s->stride_h > 1;
    bool dilated = strided && s->pass == MSIM_CONV_BACKWARD_DATA;
    double rows = up_to(s->r, strided && fmod(s->r, 6) != 1 ? 6 : 3) / 3;
    double columns = up_to(s->s, strided || s->s > 3 ? 6 : 3) / 3;
    double in = image_of(s).in;
    double depth = rows * columns * in / (dilated ? 2 : 1);
    bool even = fmod(in, 2) == 0;

    if (s->stride_h > 2 || s->stride_h != s->stride_w || s->groups > 1 ||
        depth < MSIM_FACT(NULL, WINOGRAD_DEPTH))
        return 0;
    if (dilated)
        return even && s->r > 1 ? rows * columns / 4 : 0;
    return even || strided || s->s > 3 ? rows * columns : 0;
}

/* The number of 3 x 3 filters that a fused kernel computes a filter as; 0:
 * there is no such kernel. */
static double fused_filters(const struct msim_data_sheet *sheet,
                            const struct msim_conv_shape *s)
{
    if (sheet->miopen && s->pass != MSIM_CONV_BACKWARD_WEIGHT)
        return miopen_filters(s);
    return s->r == 3 && s->s == 3 && s->stride_h <= 1 && s->stride_w <= 1;
}

/* The product with all its terms, `gain` times as fast. */
static double winograd_fused(const struct gpu *m,
                             const struct msim_conv_shape *s, double filters,
                             double gain)
{
    struct image i = image_of(s);
    double places = 4 * s->n * ceil(i.p / 2) * ceil(i.q / 2);
    struct gpu faster = *m;
    struct msim_conv_product g = {places, i.out, 9 * filters * i.in, s->groups};

    faster.step /= gain;
    if (s->pass != MSIM_CONV_BACKWARD_WEIGHT)
        return by_places(&faster, &g);
    g = (struct msim_conv_product){i.out, 9 * i.in, places, s->groups};
    return by_filters(&faster, &g, sizeof(float));
}

static double winograd_apart(const struct gpu *m,
                             const struct msim_conv_shape *s, double bytes,
                             double cost)
{
    struct image i = image_of(s);
    double tiles = s->n * ceil(i.p / 4) * ceil(i.q / 4);
    double points = (s->r + 3) * (s->r + 3) * s->groups;
    struct msim_conv_product g = {tiles, i.out, i.in, points};
    double moved = tiles * (i.in + i.out) + i.in * i.out;

    if (s->pass == MSIM_CONV_BACKWARD_WEIGHT)
        g = (struct msim_conv_product){i.out, i.in, tiles, points};
    return by_places(m, &g) + 2 * points * moved * bytes * m->bytes_us * cost;
}

/* MIOpen scatters data gradients of any stride where it has no better kernel.
 */
static bool may_scatter(const struct msim_data_sheet *sheet,
                        const struct msim_conv_shape *s)
{
    return s->pass == MSIM_CONV_BACKWARD_DATA &&
           (sheet->miopen || s->stride_h > 1 || s->stride_w > 1);
}

static double product(const struct gpu *m, const struct msim_data_sheet *sheet,
                      const struct msim_conv_shape *s, double bytes,
                      double memory)
{
    double best = implicit_product(m, s);

    return may_scatter(sheet, s) ? fmin(best, scatter(m, s, bytes, memory))
                                 : best;
}

/* MIOpen has no kernel for 1 x 1 filters with padding. */
static bool is_by_image(const struct msim_data_sheet *sheet,
                        const struct msim_conv_shape *s,
                        const struct msim_work *w)
{
    return sheet->miopen && s->pass != MSIM_CONV_BACKWARD_WEIGHT &&
           s->r * s->s == 1 && (w->u.conv.pad_h > 0 || w->u.conv.pad_w > 0);
}

/* A launch for each image, one after the other. */
static double by_image(const struct gpu *m, const struct msim_data_sheet *sheet,
                       const struct msim_conv_shape *s, double bytes,
                       const double *p)
{
    struct msim_conv_shape image = *s;

    image.n = 1;
    return s->n * (product(m, sheet, &image, bytes, p[MEMORY]) + p[T0]);
}

static bool suits_apart(const struct msim_data_sheet *sheet,
                        const struct msim_conv_shape *s, double bytes)
{
    if (s->r != s->s || s->stride_h > 1 || s->stride_w > 1 ||
        (sheet->miopen && s->pass != MSIM_CONV_BACKWARD_WEIGHT))
        return false;
    return s->r == 3 ||
           (s->r == 5 && bytes >= 4 && s->pass != MSIM_CONV_FORWARD);
}

/* Microseconds of the best algorithm. */
static double fastest(const struct gpu *m, const struct msim_data_sheet *sheet,
                      const struct msim_conv_shape *s,
                      const struct msim_work *w, const double *p)
{
    double bytes = msim_dtype_bytes(w->dtype);
    double best = is_by_image(sheet, s, w)
                      ? by_image(m, sheet, s, bytes, p)
                      : product(m, sheet, s, bytes, p[MEMORY]);
    double filters = fused_filters(sheet, s);

    if (w->u.conv.dilation_h > 1 || w->u.conv.dilation_w > 1)
        return best;
    if (filters > 0)
        best = fmin(best, winograd_fused(m, s, filters, p[FUSED]));
    if (suits_apart(sheet, s, bytes))
        best = fmin(best, winograd_apart(m, s, bytes, p[APART]));
    return best;
}

/* The least traffic to memory, bytes. Filters smaller than the stride skip rows
 * of the input. */
static double traffic(const struct msim_conv_shape *s,
                      const struct msim_work *w)
{
    double in = s->n * s->c * s->groups * s->h * s->w;
    double skipped = s->pass == MSIM_CONV_BACKWARD_DATA
                         ? 0
                         : 1 - fmin(1, s->r / s->stride_h);

    return w->bytes_read + w->bytes_written -
           in * skipped * msim_dtype_bytes(w->dtype);
}

static double conv_time(const struct msim_data_sheet *sheet,
                        const struct msim_work *w, const double *p)
{
    struct msim_conv_shape s;
    struct gpu m;
    double memory;

    msim_conv_shape_of(w, &s);
    make_gpu(&m, sheet, w, p);
    memory = traffic(&s, w) * m.bytes_us / p[MEMORY];
    return p[T0] + msim_norm2(fastest(&m, sheet, &s, w, p), memory, p[NORM]);
}

/* ---- features ----------------------------------------------------------- */

static double power_of_two(int64_t v)
{
    return log((double)(v & -v));
}

/* Outputs of whole tiles of tile x tile over outputs of the image. */
static double tile_waste(const struct msim_conv_shape *s, double tile)
{
    return ceil(s->p / tile) * tile * ceil(s->q / tile) * tile / (s->p * s->q);
}

static void conv_sizes(const struct msim_data_sheet *sheet,
                       const struct msim_work *w, double *x)
{
    (void)sheet;
    x[0] = log((double)w->u.conv.n);
    x[1] = log((double)w->u.conv.c);
    x[2] = log((double)w->u.conv.h * (double)w->u.conv.w);
    x[3] = log((double)w->u.conv.k);
    x[4] = log(w->flops);
    x[5] = log(w->bytes_read + w->bytes_written);
}

static void conv_describe(const struct msim_data_sheet *sheet,
                          const struct msim_work *w, double *x)
{
    static const struct tile TILES[] = {{64, 64}, {128, 128}, {128, 32}};
    struct msim_conv_shape s;
    size_t f = 10;

    msim_conv_shape_of(w, &s);
    conv_sizes(sheet, w, x);
    x[6] = log(s.n * s.p * s.q);
    x[7] = log(s.c * s.r * s.s);
    x[8] = log(s.r * s.s);
    x[9] = (double)w->u.conv.stride_h;
    for (size_t i = 0; i < sizeof(TILES) / sizeof(*TILES); i++) {
        double full = ceil(s.n * s.p * s.q / TILES[i].m) *
                      ceil(s.k / TILES[i].n) * s.groups / sheet->sms;

        x[f++] = log(full);
        x[f++] = ceil(full) / full;
    }
    x[f++] = power_of_two(w->u.conv.c);
    x[f++] = power_of_two(w->u.conv.k);
    x[f++] = log(s.p);
    x[f++] = tile_waste(&s, 2);
    x[f++] = tile_waste(&s, 4);
    x[f++] = log(s.groups);
    x[f++] = (double)w->u.conv.pad_h;
    x[f++] = log(s.k / s.c);
}

const char *msim_conv_key_pass(enum msim_conv_pass pass)
{
    static const char *const TEXT[] = {
        [MSIM_CONV_FORWARD] = "forward",
        [MSIM_CONV_BACKWARD_DATA] = "backward_data",
        [MSIM_CONV_BACKWARD_WEIGHT] = "backward_weight",
    };

    return TEXT[pass];
}

static void conv_key(const struct msim_work *w, char *text, size_t size)
{
    MSIM_JOIN_TEXT(text, size, msim_conv_key_pass(w->u.conv.pass), "/",
                   msim_dtype_text(w->dtype));
}

const struct msim_law MSIM_LAW_CONV = {
    .name = "conv",
    .params = PARAMS,
    .n_params = N_PARAMS,
    .features = FEATURES,
    .n_features = N_FEATURES,
    .n_sizes = 6,
    .stack_log_sd = 0.2,
    .time_us = conv_time,
    .describe = conv_describe,
    .sizes = conv_sizes,
    .key = conv_key,
};
