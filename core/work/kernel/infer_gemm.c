/*
 * core/work/kernel/infer_gemm.c - sizes of products and convolutions whose grid
 * and tile are known; core/work/kernel/infer.h has the idea.
 *
 * A convolution is the product of (positions x filter) and (filter x output
 * channels): a = positions of the output, b = output channels, c = input
 * channels x filter. The gradient of its input has positions x input channels,
 * without the filter. So a forward pass and a gradient of the filter are
 * preferred where both are known: abc = (ab)(bc) / b.
 */
#include "core/base/containers.h"
#include "core/work/kernel/infer.h"
#include "core/work/kernel_fact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST_K 16
#define LARGEST_K  1e8

static bool multiplies(const struct msim_kernel_name *k)
{
    return k->kind == MSIM_KERNEL_MATRIX || k->kind == MSIM_KERNEL_CONV ||
           k->kind == MSIM_KERNEL_GEMV;
}

/* ---- layers ------------------------------------------------------------ */

/* A product and the node of the graph that it belongs to. */
struct member {
    int64_t node; /* sequence number */
    uint32_t gpu;
    bool backward;
};

static double area(const struct msim_infer_product *p)
{
    return p->m * p->n;
}

/*
 * CUTLASS runs tiles of a few columns after each other, so that what they read
 * stays in the cache: the grid has 2^s times the rows and 2^s times fewer
 * columns of tiles. Other outputs of the layer show s: they have a side in
 * common with it.
 */
#define SWIZZLE_MAX 3

static double distance(const struct msim_infer_product *a,
                       const struct msim_infer_product *b)
{
    return fmin(fmin(fabs(log(a->m / b->m)), fabs(log(a->m / b->n))),
                fmin(fabs(log(a->n / b->m)), fabs(log(a->n / b->n))));
}

static void unswizzle(struct msim_infer_product *p,
                      const struct msim_infer_product *const *fixed, int n)
{
    struct msim_infer_product best = *p;
    double least = INFINITY;

    for (int s = 0; s <= SWIZZLE_MAX; s++) {
        struct msim_infer_product as = *p;

        as.m = p->m / (1 << s);
        as.n = p->n * (1 << s);
        for (int i = 0; i < n; i++)
            if (distance(&as, fixed[i]) < least - 1e-9) {
                least = distance(&as, fixed[i]);
                best = as;
            }
    }
    *p = best;
}

/*
 * A side of an output: its rows or its columns, or the rows of all products of
 * a batch together. cuDNN runs one pass of a convolution as a product for each
 * image, and another as one of all positions.
 */
struct side {
    double size;
    bool folded;
};

static int sides_of(const struct msim_infer_product *p, bool folds,
                    struct side *sides)
{
    sides[0] = (struct side){p->m, false};
    sides[1] = (struct side){p->n, false};
    sides[2] = (struct side){p->m * p->batch, true};
    return folds ? 3 : 2;
}

/* What two outputs have in common. */
struct agreement {
    double apart; /* the nearest two sides, a logarithm */
    double side;
    bool folded; /* a batch, into its rows */
};

/* Sizes by tiles are this much off, a logarithm. Among sides that agree so far,
 * the largest is the shared one: it gives the shortest sums. */
#define TILES_OFF 0.1

static struct agreement agreement_of(const struct msim_infer_product *a,
                                     const struct msim_infer_product *b)
{
    struct agreement best = {.apart = INFINITY};
    struct side x[3], y[3];
    int n = sides_of(a, a->batch > 1 && b->batch == 1, x);
    int m = sides_of(b, b->batch > 1 && a->batch == 1, y);

    for (int i = 0; i < n * m; i++)
        best.apart = fmin(best.apart, fabs(log(x[i / m].size / y[i % m].size)));
    for (int i = 0; i < n * m; i++) {
        double low = fmin(x[i / m].size, y[i % m].size);

        if (fabs(log(x[i / m].size / y[i % m].size)) > best.apart + TILES_OFF ||
            low <= best.side)
            continue;
        best.side = low;
        best.folded = x[i / m].folded || y[i % m].folded;
    }
    return best;
}

/*
 * How often the sums of outputs ab and bc with different batches are made.
 * Where the products of one are those of images, each of its rows is one more
 * position. Where they are parts of a gradient of weights, which is summed over
 * images later, the other output has the positions of all images.
 */
static double times_of(const struct msim_infer_product *a,
                       const struct msim_infer_product *b,
                       const struct msim_infer_product *forward)
{
    const struct msim_infer_product *batched = a->batch > b->batch ? a : b;
    const struct msim_infer_product *single = batched == a ? b : a;

    if (single->batch > 1 || a->batch == b->batch || batched == forward)
        return batched->batch;
    if (single == forward ||
        fmax(single->m, single->n) > fmax(batched->m, batched->n))
        return 1;
    return batched->batch;
}

/* abc from outputs ab and bc, for a whole batch; `forward` may be one of them,
 * or NULL. */
static double volume_of_two(const struct msim_infer_product *a,
                            const struct msim_infer_product *b,
                            const struct msim_infer_product *forward)
{
    struct agreement g = agreement_of(a, b);
    double times =
        g.folded ? fmax(a->batch, b->batch) : times_of(a, b, forward);

    return area(a) * area(b) / g.side * times;
}

/* abc from outputs ab, ac and bc: where all are of one batch by all three, else
 * by the two that agree best. */
static double volume_of_three(struct msim_infer_product *const *p,
                              const struct msim_infer_product *forward)
{
    int best = 0;

    if (p[0]->batch == p[1]->batch && p[1]->batch == p[2]->batch)
        return sqrt(area(p[0]) * area(p[1]) * area(p[2])) * p[0]->batch;
    for (int i = 1; i < 3; i++)
        if (agreement_of(p[i], p[(i + 1) % 3]).apart <
            agreement_of(p[best], p[(best + 1) % 3]).apart)
            best = i;
    return volume_of_two(p[best], p[(best + 1) % 3], forward);
}

/* Outputs of a layer: its forward pass and its gradients, those with a tile. */
struct layer {
    struct msim_infer_product *p[3];
    bool swizzled[3];
    int n;
    double filter;    /* positions of it */
    int convolves;    /* of the outputs, those of convolutions */
    int gradients;    /* products of the backward pass, with a tile or not */
    bool transformed; /* products of Winograd's, 36 of each tile */
    bool forward;     /* p[0] is */
    const struct msim_infer_product *weights; /* a convolution's gradient of
                                                  its filter */
};

static void add_member(struct msim_infer *l, struct layer *y,
                       const struct member *m)
{
    const struct msim_kernel_name *k = msim_infer_name(l, m->gpu);
    int most = m->backward ? 3 : 1;

    y->transformed |=
        l->products[m->gpu].batch == MSIM_FACT(NULL, WINOGRAD_PRODUCTS);
    y->gradients += m->backward;
    if (k->tile[0] == 0 || k->persistent ||
        l->t->gpu[m->gpu].config == MSIM_NONE || y->n >= most)
        return;
    y->forward |= !m->backward;
    if (k->pass == MSIM_CONV_BACKWARD_WEIGHT && !y->weights)
        y->weights = &l->products[m->gpu];
    y->convolves += k->kind == MSIM_KERNEL_CONV;
    y->swizzled[y->n] = k->swizzles;
    y->p[y->n++] = &l->products[m->gpu];
}

/* Outputs that cannot be swizzled come first. */
static void unswizzle_layer(struct layer *y)
{
    const struct msim_infer_product *fixed[3];
    int n = 0;

    for (int i = 0; i < y->n; i++)
        if (!y->swizzled[i])
            fixed[n++] = y->p[i];
    for (int i = 0; i < y->n; i++)
        if (y->swizzled[i]) {
            unswizzle(y->p[i], fixed, n);
            fixed[n++] = y->p[i];
        }
}

/*
 * The filter from outputs NPQ x K, CRS x K and NHW x C: their product is (NPQ K
 * C)^2 RS at a stride of 1, and larger by the stride squared at another. So RS
 * is that product over abc squared: 1 or 9 as a rule, a quarter of it at a
 * stride of 2. The nearest of these is exact where tiles are not.
 */
static double with_filter(double volume, double outputs, double *filter)
{
    static const double FILTERS[] = {0.25, 1, 2.25, 9, 12.25, 49};
    double ratio = volume * volume / outputs, best = FILTERS[0];

    for (size_t i = 1; i < sizeof(FILTERS) / sizeof(*FILTERS); i++)
        if (fabs(log(FILTERS[i] / ratio)) < fabs(log(best / ratio)))
            best = FILTERS[i];
    *filter = best == 0.25 ? 1 : best == 2.25 ? 9 : best == 12.25 ? 49 : best;
    return sqrt(outputs * best);
}

/* Multiplications of a convolution whose gradient of the filter is known. */
static double filter_volume(struct layer *y)
{
    double volume = volume_of_two(y->p[0], y->weights, y->p[0]);
    double outputs = area(y->weights);

    if (y->n < 3)
        return volume;
    for (int i = 0; i < 3; i++)
        if (y->p[i] != y->weights)
            outputs *= area(y->p[i]) * y->p[i]->batch;
    return with_filter(volume, outputs, &y->filter);
}

/* Multiplications of each pass of a layer; 0: too little is known. */
static double layer_volume(struct layer *y)
{
    const struct msim_infer_product *forward = y->forward ? y->p[0] : NULL;

    if (y->weights && y->forward && y->p[0] != y->weights)
        return filter_volume(y);
    if (y->n == 3)
        return volume_of_three(y->p, forward);
    if (y->n < 2)
        return 0;
    return volume_of_two(y->p[0], y->p[1], forward) *
           (y->convolves == 2 && !y->weights
                ? MSIM_FACT(NULL, USUAL_CONV_FILTER_MIDDLE)
                : 1);
}

static double clamp_k(double k)
{
    return fmin(fmax(k, SMALLEST_K), LARGEST_K);
}

static double clamp_zero(double k)
{
    return k > 0 ? clamp_k(k) : 0;
}

static void set_volume(struct msim_infer *l, uint32_t gpu, double volume,
                       const struct layer *y)
{
    struct msim_infer_product *p = &l->products[gpu];

    p->filter = y->filter;
    if (y->transformed && msim_infer_name(l, gpu)->kind == MSIM_KERNEL_CONV)
        volume *= MSIM_FACT(NULL, WINOGRAD_SAVES);

    if (msim_infer_name(l, gpu)->tile[0] == 0) {
        /* Nothing is known of its output: a cube. */
        p->m = p->n = cbrt(volume);
        p->batch = 1;
    }
    p->k = clamp_k(volume / (area(p) * p->batch));
}

static int by_node(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->node != y->node)
        return MSIM_ORDER(x->node, y->node);
    if (x->backward != y->backward)
        return x->backward ? 1 : -1;
    return MSIM_ORDER(x->gpu, y->gpu);
}

/*
 * Does it belong to the layer that begins at `first`? Without gradients
 * sequence numbers do not change, so that forward operators that share one are
 * of different layers.
 */
static bool belongs(const struct msim_infer *l, const struct member *first,
                    const struct member *m)
{
    return m->backward || first->backward ||
           l->t->gpu[m->gpu].op == l->t->gpu[first->gpu].op;
}

/* The layer of the members from `begin` on; `*end` is behind it. */
static struct layer read_layer(struct msim_infer *l,
                               const struct member *members, uint32_t n,
                               uint32_t begin, uint32_t *end)
{
    struct layer y = {.filter = MSIM_FACT(NULL, USUAL_CONV_FILTER)};
    uint32_t i = begin;

    for (; i < n && members[i].node == members[begin].node; i++)
        if (belongs(l, &members[begin], &members[i]))
            add_member(l, &y, &members[i]);
    *end = i;
    return y;
}

/* A convolution with a gradient of its filter alone is the first one, of an
 * image, whose gradient nobody needs. */
static void first_layer(struct msim_infer *l, const struct layer *y,
                        uint32_t gpu)
{
    if (y->gradients == 1 && y->forward && y->n == 1 &&
        msim_infer_name(l, gpu)->kind == MSIM_KERNEL_CONV)
        y->p[0]->k = MSIM_FACT(NULL, USUAL_CONV_FIRST_TERMS);
}

static void relate(struct msim_infer *l, const struct member *members,
                   uint32_t n)
{
    for (uint32_t i = 0, end; i < n; i = end) {
        struct layer y = read_layer(l, members, n, i, &end);
        double volume;

        unswizzle_layer(&y);
        first_layer(l, &y, members[i].gpu);
        volume = layer_volume(&y);
        for (uint32_t j = i; j < end && volume > 0; j++) {
            if (!belongs(l, &members[i], &members[j]))
                continue;
            set_volume(l, members[j].gpu, volume, &y);
            l->products[members[j].gpu].related = true;
        }
    }
}

/* A layer with one known output: all passes multiply as often as that one does
 * at the usual depth. */
static void agree(struct msim_infer *l, const struct member *members,
                  uint32_t n)
{
    for (uint32_t i = 0, end; i < n; i = end) {
        struct layer y = read_layer(l, members, n, i, &end);

        for (uint32_t j = i; j < end && y.n == 1; j++)
            if (!l->products[members[j].gpu].related &&
                belongs(l, &members[i], &members[j]))
                set_volume(l, members[j].gpu,
                           area(y.p[0]) * y.p[0]->k * y.p[0]->batch, &y);
    }
}

/* ---- chains ------------------------------------------------------------ */

/*
 * Winograd's products without a related one. Each thread of a transform takes a
 * tile of a channel; most of them have one. Forward the tiles are the
 * rows of the product and its depth is the channels of the one transform.
 * A gradient of the filter sums over tiles: a transform each of its rows and
 * columns, of which the smaller ones fill their tile of the product best.
 * 0: no transform was launched before it.
 */
static double transformed_k(const struct msim_infer *l, uint32_t i)
{
    const struct msim_infer_product *p = &l->products[i];
    double least = INFINITY;
    uint32_t o = l->place[i];
    int n = 0;

    for (; o > 0 && n < 2; n++) {
        uint32_t before = l->order[--o];

        if (!msim_infer_name(l, before)->tiled)
            break;
        least = fmin(least, msim_infer_threads(l, before));
    }
    if (n == 0)
        return 0;
    return least * MSIM_FACT(NULL, WINOGRAD_FULL) /
           (n == 2 ? fmin(p->m, p->n) : p->m);
}

static double usual_k(const struct msim_infer *l, uint32_t i)
{
    if (msim_infer_name(l, i)->kind == MSIM_KERNEL_CONV)
        return MSIM_FACT(NULL, USUAL_CONV_FIRST_TERMS);
    return l->products[i].batch > 1
               ? MSIM_FACT(NULL, USUAL_PRODUCT_BATCHED_TERMS)
               : MSIM_FACT(NULL, USUAL_PRODUCT_TERMS);
}

/* The size of each row that a product writes, which the next one sums over:
 * its columns; for a convolution the channels, which are fewer than the
 * positions. */
static double features(const struct msim_infer *l, uint32_t i)
{
    const struct msim_infer_product *p = &l->products[i];
    uint32_t op = l->t->gpu[i].op;

    if (msim_infer_name(l, i)->kind == MSIM_KERNEL_CONV)
        return fmin(p->m, p->n) * MSIM_FACT(NULL, USUAL_CONV_FILTER_MIDDLE);
    if (op != MSIM_NONE &&
        strstr(msim_trace_text(l->t, l->t->ops[op].name), "conv"))
        return fmin(p->m, p->n);
    return msim_infer_name(l, i)->gated ? p->m / 2 : p->m;
}

/* How many launches before a product the rows of its input are looked for. */
#define ROWS_WITHIN 64

/* A product whose blocks stay: as many rows as the last kernel before it that
 * takes a row a block, from the width of the trace to the usual size. */
static void persistent_output(struct msim_infer *l, uint32_t i)
{
    struct msim_infer_product *p = &l->products[i];
    uint32_t o = l->place[i];

    p->n = l->width;
    p->k = MSIM_FACT(NULL, USUAL_PRODUCT_TERMS);
    for (int d = 0; d < ROWS_WITHIN && o > 0; d++) {
        uint32_t before = l->order[--o];

        if (l->t->gpu[before].kind == MSIM_GPU_KERNEL &&
            msim_infer_name(l, before)->kind == MSIM_KERNEL_OTHER &&
            msim_infer_name(l, before)->rowwise) {
            p->m = fmax(msim_infer_blocks(l, before), 1);
            return;
        }
    }
}

/*
 * A product of no known layer sums over what the two before it wrote: the wider
 * one, since a narrow one (a router, a gate) is a side branch.
 */
static void chain(struct msim_infer *l)
{
    double before[2] = {0, 0};

    for (uint32_t o = 0; o < l->t->n_gpu; o++) {
        uint32_t i = l->order[o];
        struct msim_infer_product *p = &l->products[i];

        if (p->m == 0)
            continue;
        if (msim_infer_name(l, i)->persistent) {
            persistent_output(l, i);
            continue;
        }
        if (p->k == 0 && p->batch == MSIM_FACT(NULL, WINOGRAD_PRODUCTS))
            p->k = clamp_zero(transformed_k(l, i));
        if (p->k == 0 && p->batch > 1 && !msim_infer_name(l, i)->experts)
            p->k = MSIM_FACT(NULL, USUAL_PRODUCT_BATCHED_TERMS);
        if (p->k == 0 && before[0] > 0)
            p->k = clamp_k(fmax(before[0], before[1]));
        if (p->k == 0)
            p->k = usual_k(l, i);
        if (l->t->gpu[i].config == MSIM_NONE)
            continue; /* its own rows are a guess */
        before[1] = before[0];
        before[0] = features(l, i);
    }
}

enum msim_status msim_infer_products(struct msim_infer *l)
{
    struct member *members =
        malloc(((size_t)l->t->n_gpu + 1) * sizeof(*members));
    uint32_t n = 0;

    if (!members)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < l->t->n_gpu; i++) {
        if (l->t->gpu[i].kind != MSIM_GPU_KERNEL ||
            !multiplies(msim_infer_name(l, i)))
            continue;
        msim_infer_output(l, i, &l->products[i]);
        l->products[i].filter = MSIM_FACT(NULL, USUAL_CONV_FILTER);
        members[n].gpu = i;
        n += msim_infer_node(l->t, i, &members[n].node, &members[n].backward);
    }
    qsort(members, n, sizeof(*members), by_node);
    relate(l, members, n);
    chain(l);
    agree(l, members, n);
    free(members);
    return MSIM_OK;
}
