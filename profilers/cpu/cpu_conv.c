/*
 * profilers/cpu/cpu_conv.c - convolutions as products over unfolded images.
 *
 * Each image is unfolded into a matrix with a column for every place of the
 * output (Chellapilla et al., "High performance convolutional neural networks
 * for document processing", 2006), which OpenBLAS multiplies by the filters.
 * The gradient of the input goes the other way; that of the weights is the
 * product over places.
 */
#include "profilers/cpu/cpu.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

struct conv {
    struct msim_cpu *cpu;
    enum msim_conv_way pass;
    bool warm;
    int64_t n, c, h, w, k, r, s, stride, pad, groups;
    int64_t p, q; /* height and width of the output */
    float *unfolded;
};

/* What threads do for one image and group. */
struct unfold {
    const struct conv *c;
    const float *image;
    float *folded; /* the image again, for the gradient of the input */
};

static int64_t depth_of(const struct conv *c)
{
    return c->c / c->groups * c->r * c->s;
}

/* Rows of the matrix: one a channel and place of the filter. */
static void unfold_rows(void *ctx, int64_t from, int64_t to)
{
    const struct unfold *u = ctx;
    const struct conv *c = u->c;

    for (int64_t row = from; row < to; row++) {
        int64_t j = row % c->s, i = row / c->s % c->r;
        const float *plane = u->image + row / (c->r * c->s) * c->h * c->w;
        float *to_row = c->unfolded + row * c->p * c->q;

        for (int64_t y = 0; y < c->p; y++) {
            int64_t in_y = y * c->stride + i - c->pad;

            for (int64_t x = 0; x < c->q; x++) {
                int64_t in_x = x * c->stride + j - c->pad;
                bool inside =
                    in_y >= 0 && in_y < c->h && in_x >= 0 && in_x < c->w;

                to_row[y * c->q + x] = inside ? plane[in_y * c->w + in_x] : 0;
            }
        }
    }
}

/* Add a row of the matrix to its plane of the image. */
static void fold_row(const struct conv *c, int64_t row, float *plane)
{
    int64_t j = row % c->s, i = row / c->s % c->r;
    const float *from = c->unfolded + row * c->p * c->q;

    for (int64_t y = 0; y < c->p; y++) {
        int64_t in_y = y * c->stride + i - c->pad;

        for (int64_t x = 0; x < c->q; x++) {
            int64_t in_x = x * c->stride + j - c->pad;

            if (in_y >= 0 && in_y < c->h && in_x >= 0 && in_x < c->w)
                plane[in_y * c->w + in_x] += from[y * c->q + x];
        }
    }
}

/* Channels: a thread owns whole planes, so that none adds to another's. */
static void fold_channels(void *ctx, int64_t from, int64_t to)
{
    const struct unfold *u = ctx;
    const struct conv *c = u->c;
    int64_t filter = c->r * c->s;

    for (int64_t channel = from; channel < to; channel++) {
        float *plane = u->folded + channel * c->h * c->w;

        memset(plane, 0, (size_t)(c->h * c->w) * sizeof(*plane));
        for (int64_t i = 0; i < filter; i++)
            fold_row(c, channel * filter + i, plane);
    }
}

/* One image and group: `image` (c h w), `filters` (k c r s), `places` (k p q);
 * two are read and one is written. */
static void convolve(struct conv *c, float *image, float *filters,
                     float *places)
{
    struct unfold u = {.c = c, .image = image, .folded = image};
    int rows = (int)(c->k / c->groups), depth = (int)depth_of(c);
    int at = (int)(c->p * c->q);

    if (c->pass != MSIM_CONV_WAY_DATA)
        msim_share(unfold_rows, &u, depth, 1);
    if (c->pass == MSIM_CONV_WAY_FORWARD) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, at, depth,
                    1, filters, depth, c->unfolded, at, 0, places, at);
    } else if (c->pass == MSIM_CONV_WAY_WEIGHT) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, depth, at, 1,
                    places, at, c->unfolded, at, 1, filters, depth);
    } else {
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, depth, at, rows, 1,
                    filters, depth, places, at, 0, c->unfolded, at);
        msim_share(fold_channels, &u, c->c / c->groups, 1);
    }
}

struct conv_sizes {
    size_t image, filters, places; /* bytes of all images and groups */
};

static struct conv_sizes sizes_of(const struct conv *c)
{
    return (struct conv_sizes){
        (size_t)(c->n * c->c * c->h * c->w) * sizeof(float),
        (size_t)(c->k * depth_of(c)) * sizeof(float),
        (size_t)(c->n * c->k * c->p * c->q) * sizeof(float)};
}

/* Written is what pass `result` gives, all else is read. */
static struct msim_area *area_for(const struct conv *c,
                                  enum msim_conv_way result)
{
    struct msim_operands *o = &c->cpu->operands;

    return c->pass == result ? &o->out : &o->f32;
}

static enum msim_status time_conv(void *state, double *us,
                                  struct msim_error *err)
{
    struct conv *c = state;
    struct msim_operands *o = &c->cpu->operands;
    struct conv_sizes size = sizes_of(c);
    float *image, *filters, *places;
    double begin;

    (void)err;
    msim_operands_begin(o, c->warm);
    image = msim_area_take(area_for(c, MSIM_CONV_WAY_DATA), size.image);
    filters = msim_area_take(area_for(c, MSIM_CONV_WAY_WEIGHT), size.filters);
    places = msim_area_take(area_for(c, MSIM_CONV_WAY_FORWARD), size.places);
    begin = msim_cpu_now_us();
    if (c->pass == MSIM_CONV_WAY_WEIGHT)
        memset(filters, 0, size.filters);
    for (int64_t i = 0; i < c->n * c->groups; i++)
        convolve(c, image + i * (c->c / c->groups * c->h * c->w),
                 filters + i % c->groups * (c->k / c->groups * depth_of(c)),
                 places + i * (c->k / c->groups * c->p * c->q));
    *us = msim_cpu_now_us() - begin;
    return MSIM_OK;
}

static void release_conv(void *state)
{
    struct conv *c = state;

    free(c->unfolded);
    free(c);
}

enum msim_status msim_cpu_conv(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err)
{
    struct conv *c;
    struct conv_sizes size;
    size_t all, matrix;

    if (e->dtype != MSIM_DT_F32)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no convolutions of '%s' here, want fp32",
                         msim_experiment_dtype(e));
    c = calloc(1, sizeof(*c));
    if (!c)
        return MSIM_ENOMEM;
    *out = (struct msim_case){c, time_conv, release_conv};
    *c = (struct conv){.cpu = cpu,
                       .pass = e->u.conv.way,
                       .warm = e->warm,
                       .n = e->u.conv.n,
                       .c = e->u.conv.c,
                       .h = e->u.conv.h,
                       .w = e->u.conv.w,
                       .k = e->u.conv.k,
                       .r = e->u.conv.r,
                       .s = e->u.conv.s,
                       .stride = e->u.conv.stride,
                       .pad = e->u.conv.pad,
                       .groups = e->u.conv.groups,
                       .p = e->u.conv.out_h,
                       .q = e->u.conv.out_w};
    size = sizes_of(c);
    all = size.image + size.filters + size.places;
    MSIM_TRY(msim_operands_reserve(&cpu->operands, 4, all, all));
    matrix = (size_t)(depth_of(c) * c->p * c->q) * sizeof(float);
    c->unfolded = malloc(matrix);
    if (!c->unfolded)
        return MSIM_ENOMEM;
    memset(c->unfolded, 0, matrix); /* touch every page now */
    return MSIM_OK;
}
