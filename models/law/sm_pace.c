/*
 * models/law/sm_pace.c - what SMs take for kernels of PyTorch that load little
 * at a time.
 *
 * Rates are in steps a clock cycle and SM, or in cycles a step; rows of
 * data/laws/kernels.csv say where they were seen.
 */
#include "models/law/law.h"

#include "core/base/texts.h"
#include "core/work/kernel_fact.h"
#include "core/work/work.h"

#include <math.h>
#include <string.h>

static double cycles_us(const struct msim_data_sheet *s, double cycles)
{
    return cycles * 1e6 / msim_kernel_hz(s);
}

static double lanes(const struct msim_data_sheet *s)
{
    return MSIM_FACT(s, SM_PACE);
}

/* ---- windows ------------------------------------------------------------ */

static bool is_unpool(const struct msim_work *w)
{
    const char *variant = msim_work_variant(w);

    return strncmp(variant, "max_pool", 8) == 0 && strstr(variant, "_backward");
}

/* The gradient of a maximum pool: a thread an element of the input finds the
 * windows that it is in, and loads the index of each. */
static double unpool_us(const struct msim_data_sheet *s,
                        const struct msim_work *w)
{
    double elems = (double)w->u.vector.elems;
    double windows = w->u.vector.taps > 0
                         ? w->u.vector.taps
                         : MSIM_FACT(s, UNPOOL_WINDOWS) * elems;

    return cycles_us(s, (MSIM_FACT(s, UNPOOL_ELEMENT) * elems +
                         MSIM_FACT(s, UNPOOL_WINDOW) * windows) /
                            (s->sms * lanes(s)));
}

/* Pooling: a thread an output, a load for each input of its window. */
static double pool_us(const struct msim_data_sheet *s, double taps)
{
    return cycles_us(s, taps / (s->sms * MSIM_FACT(s, POOL_TAPS)));
}

/*
 * A filter a channel: loops of a known length where it is 1 x 1, 3 x 3, 5 x 5
 * or 3 x 3 x 3, else cycles of an output and of each of its taps. Loads wait
 * for each other, so that SMs with fewer threads take longer. Where power
 * bounds products, the clock of such kernels falls too, by less.
 *
 * The gradient of the weights: a block a tap of a channel goes over all images
 * and adds up in its threads. Blocks that follow each other, which load the
 * same channel, start on one SM after the other, so that each load of an input
 * and of a gradient comes from the L2 cache.
 */

static double depthwise_weight_cycles(const struct msim_data_sheet *s,
                                      const struct msim_work *w, double taps)
{
    double issued =
        MSIM_FACT(s, DEPTHWISE_WEIGHT_TAP) / MSIM_FACT(s, SM_RESIDENT);
    double loaded =
        2.0 * msim_dtype_bytes(w->dtype) / MSIM_FACT(s, L2_BYTES_A_CYCLE);

    return taps * fmax(issued, loaded);
}

double msim_sm_pace_depthwise_us(const struct msim_data_sheet *s,
                                 const struct msim_work *w)
{
    struct msim_conv_shape c;
    double taps, outputs, cycles;
    bool known;

    msim_conv_shape_of(w, &c);
    taps = c.c * c.r * c.s;
    outputs = c.n * c.groups * c.k * c.p * c.q;
    if (w->u.conv.pass == MSIM_CONV_BACKWARD_WEIGHT)
        return cycles_us(s, outputs * depthwise_weight_cycles(s, w, taps) /
                                s->sms);
    known = c.r == c.s &&
            (c.c > 1 ? c.r == 3 && c.c == 3 : c.r == 1 || c.r == 3 || c.r == 5);
    cycles = known ? taps / MSIM_FACT(s, DEPTHWISE_TAPS)
                   : MSIM_FACT(s, DEPTHWISE_OUTPUT) +
                         MSIM_FACT(s, DEPTHWISE_TAP) * taps;
    return cycles_us(
        s, outputs * cycles /
               (s->sms * MSIM_FACT(s, SM_RESIDENT) * sqrt(s->sustained)));
}

/*
 * MIOpen's kernel for what no other solves: a block computes an image of one
 * output channel, an output a thread at once, tap by tap. Its threads wait for
 * loads, so that blocks on one SM hardly hinder each other.
 */
double msim_sm_pace_naive_us(const struct msim_data_sheet *s,
                             const struct msim_work *w)
{
    double threads = MSIM_FACT(s, NAIVE_CONV_THREADS);
    double at_once = s->sms * MSIM_FACT(s, SM_THREADS) / threads;
    struct msim_conv_shape c;

    msim_conv_shape_of(w, &c);
    return cycles_us(s, fmax(c.n * c.groups * c.k / at_once, 1) *
                            ceil(c.p * c.q / threads) *
                            (MSIM_FACT(s, NAIVE_CONV_OUTPUT) +
                             MSIM_FACT(s, NAIVE_CONV_TAP) * c.c * c.r * c.s));
}

/* ---- products of odd sizes ------------------------------------------------
 */

/*
 * Tiles of a product load both operands for every step of k and write the
 * results, 16 bytes a thread at once. Of rows that do not begin on 16 bytes
 * they load as many elements as all rows begin on. Where tiles are few, several
 * of them share a sum.
 */

/* The largest power of two up to `most` that divides `size`. */
static int64_t begins_on(int64_t size, int64_t most)
{
    while (most > 1 && size % most != 0)
        most /= 2;
    return most;
}

/* Elements of all operands, in rows as they lie, that are loaded at once. */
static int64_t product_width(const struct msim_work *w, int64_t most)
{
    int64_t width = begins_on(w->u.gemm.n, most);

    width =
        begins_on(w->u.gemm.a_transposed ? w->u.gemm.m : w->u.gemm.k, width);
    return w->u.gemm.b_transposed ? begins_on(w->u.gemm.k, width) : width;
}

double msim_sm_pace_product_us(const struct msim_data_sheet *s,
                               const struct msim_work *w)
{
    double m = (double)w->u.gemm.m, n = (double)w->u.gemm.n;
    double k = (double)w->u.gemm.k, tile = MSIM_FACT(s, ODD_PRODUCT_TILE);
    double rows = fmin(m, tile), cols = fmin(n, tile);
    double tiles = ceil(m / tile) * ceil(n / tile) * (double)w->u.gemm.batch;
    double all = tiles * ((rows + cols) * k + rows * cols);
    double least =
        (rows + cols) * fmin(k, MSIM_FACT(s, ODD_PRODUCT_TERMS)) + rows * cols;
    int64_t bytes = msim_dtype_bytes(w->dtype);
    int64_t most =
        bytes > 0 ? (int64_t)MSIM_FACT(s, ODD_PRODUCT_LOADED) / bytes : 1;
    int64_t width = product_width(w, most);

    if (width >= most)
        return 0;
    return cycles_us(
        s, fmax(all / s->sms, least) * (double)bytes /
               (MSIM_FACT(s, ODD_PRODUCT_BYTES) * (double)width * lanes(s)));
}

/*
 * Tiles of AMD's libraries: a workgroup has registers and LDS of its compute
 * unit to itself, so that nothing hides how it fills its pipeline and writes
 * its tile, a time that is taken to grow with the side. Tiles are as large as
 * keeps every unit busy.
 */
double msim_sm_pace_tiles_us(const struct msim_data_sheet *s,
                             const struct msim_work *w)
{
    double m = (double)w->u.gemm.m, n = (double)w->u.gemm.n;
    double batch = (double)w->u.gemm.batch;
    double share = sqrt(m * n * batch / s->sms);
    double most = fmin(sqrt(m * n), MSIM_FACT(s, AMD_TILE_MOST));
    double least =
        batch > 1 ? MSIM_FACT(s, AMD_TILE_BATCH) : MSIM_FACT(s, AMD_TILE_LEAST);
    double side = fmax(fmin(share, most), least);
    double tiles = fmax(m / side, 1) * fmax(n / side, 1) * batch;

    if (!s->miopen)
        return 0;
    return s->floor_us + MSIM_FACT(s, AMD_TILE_FILL_US) +
           cycles_us(s, fmax(tiles / s->sms, 1) * side *
                            MSIM_FACT(s, AMD_TILE_CYCLES));
}

/* ---- rows --------------------------------------------------------------- */

static double rows_of(const struct msim_work *w)
{
    return fmax((double)w->u.vector.rows, 1);
}

/*
 * Layer norm: a block takes a row, four values a thread at once; mean and
 * variance in one pass by Welford's update, the result in a second pass. A lone
 * block waits for each step; the first few are in the shortest norm. Where an
 * SM has blocks enough to hide their loads, a row keeps it busy for some cycles
 * and some more a step.
 */
static double layer_norm_us(const struct msim_data_sheet *s,
                            const struct msim_work *w)
{
    double steps = (double)w->u.vector.cols / MSIM_FACT(s, LAYER_NORM_VALUES);
    double row =
        MSIM_FACT(s, LAYER_NORM_ROW) + MSIM_FACT(s, LAYER_NORM_STEP) * steps;
    double busy = rows_of(w) / s->sms * row / MSIM_FACT(s, LAYER_NORM_PACE);
    double alone = (steps - MSIM_FACT(s, LAYER_NORM_FIRST)) *
                   MSIM_FACT(s, LAYER_NORM_ALONE);

    return cycles_us(s, fmax(alone, busy));
}

/*
 * Group norm: a block finds the moments of a group, a value a thread at once;
 * of a small group a warp does. Its gradient does the same for each channel. A
 * block takes some cycles beside its steps.
 */
static double moments_us(const struct msim_data_sheet *s,
                         const struct msim_work *w)
{
    double cols = (double)w->u.vector.cols;
    bool block = cols >= MSIM_FACT(s, MOMENTS_THREADS);
    double threads =
        block ? MSIM_FACT(s, MOMENTS_THREADS) : MSIM_FACT(s, SM_WARP);
    double at_once = s->sms * fmin(MSIM_FACT(s, SM_THREADS) / threads,
                                   MSIM_FACT(s, SM_BLOCKS));
    double each = ceil(cols / threads) * MSIM_FACT(s, MOMENTS_STEP) +
                  (block ? MSIM_FACT(s, MOMENTS_BLOCK) : 0);

    return cycles_us(s, fmax(rows_of(w) / at_once, 1) * each);
}

/* Of a kernel that loads so many elements a cycle and SM. */
static double elements_us(const struct msim_data_sheet *s,
                          const struct msim_work *w, enum msim_fact_name rate)
{
    return cycles_us(s, (double)w->u.vector.elems /
                            (s->sms * msim_fact(s, rate) * lanes(s)));
}

/* Both passes of a group norm read its input: the moments at memory's pace at
 * best, the second one multiplies by what is kept for each channel. */
static double group_norm_us(const struct msim_data_sheet *s,
                            const struct msim_work *w)
{
    double read = w->bytes_read * 1e6 / s->bandwidth;
    double pass = read + w->bytes_written * 1e6 / s->bandwidth;

    return fmax(moments_us(s, w), read) +
           fmax(pass, elements_us(s, w, MSIM_FACT_ADDRESSED_ELEMENTS));
}

/*
 * Batch norm by the moments of the batch, channels first: a block of cuDNN's
 * takes a channel, and an SM that has several is faster. With channels last
 * other kernels share the channels between blocks.
 */
static double batch_norm_us(const struct msim_data_sheet *s,
                            const struct msim_work *w, bool back)
{
    double most = ceil(rows_of(w) / s->sms);
    double in_turn = most / fmin(most, MSIM_FACT(s, BATCH_NORM_GAIN));

    if (s->miopen || w->u.vector.fold == MSIM_FOLD_ACROSS)
        return 0;
    return cycles_us(s, (double)w->u.vector.cols * in_turn /
                            (back ? MSIM_FACT(s, BATCH_NORM_BACKWARD)
                                  : MSIM_FACT(s, BATCH_NORM_FORWARD)));
}

/* ---- scans -------------------------------------------------------------- */

/* A scan along rows waits for all threads of a block after every doubling. */
static bool is_scan(const struct msim_work *w)
{
    static const char *const SCANS[] = {"cumsum", "cumprod", "_logcumsumexp",
                                        "_cummax_helper", "_cummin_helper"};
    const char *variant = msim_work_variant(w);

    if (w->family != MSIM_FAMILY_REDUCTION || w->u.vector.rows <= 1)
        return false;
    for (size_t i = 0; i < sizeof(SCANS) / sizeof(SCANS[0]); i++)
        if (msim_same_text(variant, SCANS[i]))
            return true;
    return false;
}

/* ---- softmax, losses, by name ---------------------------------------------
 */

bool msim_rows_are_odd(const struct msim_work *w)
{
    return w->u.vector.cols * (int64_t)msim_dtype_bytes(w->dtype) % 16 != 0;
}

/* The mean of a loss that picks one element a row: one block, whose threads
 * take the rows in turn, each a load that waits for another. Versions of
 * PyTorch differ in the block. */
static double picked_loss_us(const struct msim_data_sheet *s,
                             const struct msim_work *w)
{
    return (double)w->u.vector.elems / MSIM_FACT(s, NLL_LOSS_ROWS) *
           MSIM_FACT(s, NLL_LOSS_STEP_US);
}

static bool is_lookup(const char *variant)
{
    return msim_same_text(variant, "embedding") ||
           msim_same_text(variant, "index_select");
}

/*
 * The gradient of a table: rows are added in the order of their sorted indices,
 * those of one index in parts of several, a thread an element of a part. The
 * sum of a part is written, read again and added to the others of its index.
 * Where the table is not known, as if each came twice.
 */
static double added_rows_us(const struct msim_data_sheet *s,
                            const struct msim_work *w)
{
    double lookups = w->u.vector.lookups;
    double most = MSIM_FACT(s, ADDED_ROWS_PART);
    double distinct =
        msim_gather_distinct(lookups, w->u.vector.table_rows, s->index_skew);
    double parts = 0.5; /* a look-up */

    /* the last part of an index is half full in the mean */
    if (distinct > 0)
        parts = fmax(distinct, (lookups + (most - 1) / 2 * distinct) / most) /
                lookups;
    return cycles_us(s, (double)w->u.vector.elems *
                            (MSIM_FACT(s, ADDED_ROWS_ELEMENT) +
                             MSIM_FACT(s, ADDED_ROWS_PART_ELEMENT) * parts) /
                            (s->sms * lanes(s)));
}

/* By the variant alone. */
static double named_us(const struct msim_data_sheet *s,
                       const struct msim_work *w, const char *variant)
{
    if (msim_same_text(variant, "batch_norm") ||
        msim_same_text(variant, "batch_norm_backward"))
        return batch_norm_us(s, w, variant[strlen("batch_norm")] != '\0');
    if (msim_same_text(variant, "batch_norm_elemt"))
        return elements_us(s, w, MSIM_FACT_GIVEN_NORM_ELEMENTS);
    if (msim_same_text(variant, "layer_norm"))
        return layer_norm_us(s, w);
    if (strncmp(variant, "group_norm", 10) == 0)
        return group_norm_us(s, w);
    if (msim_same_text(variant, "nll_loss_mean"))
        return picked_loss_us(s, w);
    /* a thread finds the row of each element by a division */
    if (is_lookup(variant))
        return elements_us(s, w, MSIM_FACT_LOOKUP_ELEMENTS);
    if (msim_same_text(variant, "embedding_backward"))
        return added_rows_us(s, w);
    return 0;
}

/* A block takes a row three times, value by value: a row that does not begin on
 * 16 bytes has no vector loads and stays in no shared memory. */
static double odd_softmax_us(const struct msim_data_sheet *s,
                             const struct msim_work *w)
{
    return cycles_us(
        s, rows_of(w) / s->sms *
               (MSIM_FACT(s, ODD_SOFTMAX_ROW) +
                MSIM_FACT(s, ODD_SOFTMAX_VALUE) * (double)w->u.vector.cols) /
               lanes(s));
}

static bool is_spatial(const struct msim_work *w)
{
    return w->family == MSIM_FAMILY_SOFTMAX &&
           w->u.vector.fold == MSIM_FOLD_ACROSS;
}

double msim_sm_pace_us(const struct msim_data_sheet *s,
                       const struct msim_work *w)
{
    const char *variant = msim_work_variant(w);

    if (is_unpool(w))
        return unpool_us(s, w);
    if (msim_is_counted(w))
        return msim_counted_us(s, w);
    if (w->u.vector.taps > 0)
        return pool_us(s, w->u.vector.taps);
    if (w->u.vector.addressed)
        return elements_us(s, w,
                           msim_same_text(variant, "cat")
                               ? MSIM_FACT_JOINED_ELEMENTS
                               : MSIM_FACT_ADDRESSED_ELEMENTS);
    /* a thread a place loads value by value, three times */
    if (is_spatial(w))
        return elements_us(s, w, MSIM_FACT_SPATIAL_SOFTMAX_ELEMENTS);
    if (w->family == MSIM_FAMILY_SOFTMAX &&
        (double)w->u.vector.cols <= MSIM_FACT(s, SOFTMAX_WARP_COLUMNS))
        return elements_us(s, w, MSIM_FACT_WARP_SOFTMAX_ELEMENTS);
    if (msim_same_text(variant, "softmax") && msim_rows_are_odd(w))
        return odd_softmax_us(s, w);
    if (is_scan(w))
        return elements_us(s, w, MSIM_FACT_SCAN_ELEMENTS);
    return named_us(s, w, variant);
}

/* ---- softmax ------------------------------------------------------------ */

/*
 * Rows beyond the shared memory of a block without asking for more are read
 * once for maximum and sum, which go along, and once for the result. A softmax
 * over other than the last dimension is read three times, by a thread for each
 * place.
 */
static double missed(const struct msim_data_sheet *s, double active)
{
    return 1 / (1 + pow(s->l2_bytes / active, 2));
}

static double row_bytes(const struct msim_work *w)
{
    return (double)w->u.vector.cols * msim_dtype_bytes(w->dtype);
}

double msim_softmax_again(const struct msim_data_sheet *s,
                          const struct msim_work *w)
{
    double row = row_bytes(w);
    double rows = rows_of(w);

    if (is_spatial(w))
        return MSIM_FACT(s, SPATIAL_SOFTMAX_AGAIN) * w->bytes_read *
               missed(s, fmin(rows, s->sms * MSIM_FACT(s, SM_THREADS)) * row);
    if (w->family != MSIM_FAMILY_SOFTMAX ||
        row <= MSIM_FACT(s, SOFTMAX_BLOCK_ROW_BYTES))
        return 0;
    return MSIM_FACT(s, SOFTMAX_AGAIN) * w->bytes_read *
           missed(s, fmin(rows, s->sms * MSIM_FACT(s, SOFTMAX_BLOCKS)) * row);
}

/* ---- rows that pass by ----------------------------------------------------
 */

/* What is read again of `reads` passes over the input: it is in the cache while
 * the rows of all blocks that run, and their results, fit into it: rows of 64
 * KB on an A100, and not rows of 128 KB. */
static double again(const struct msim_data_sheet *s, const struct msim_work *w,
                    double blocks, double reads)
{
    double rows = fmin(fmax((double)w->u.vector.rows, 1), s->sms * blocks);
    double active = rows / fmax((double)w->u.vector.rows, 1) *
                    (w->bytes_read + w->bytes_written);

    return reads * w->bytes_read / (1 + pow(s->l2_bytes / active, 4));
}

/* A softmax reads its row for the maximum, for the sum and for the result; by
 * later versions of PyTorch for the first two at once. Its gradient reads its
 * operands twice. */
double msim_rows_again(const struct msim_data_sheet *s,
                       const struct msim_work *w)
{
    const char *variant = msim_work_variant(w);

    if (w->family == MSIM_FAMILY_SOFTMAX)
        return row_bytes(w) > MSIM_FACT(s, SOFTMAX_BLOCK_ROW_BYTES) &&
                       !is_spatial(w)
                   ? again(s, w, MSIM_FACT(s, SOFTMAX_BLOCKS),
                           strstr(variant, "_backward")
                               ? MSIM_FACT(s, SOFTMAX_GRADIENT_AGAIN)
                               : MSIM_FACT(s, SOFTMAX_PASSES_AGAIN))
                   : 0;
    if (!msim_same_text(variant, "layer_norm"))
        return 0;
    return again(
        s, w, MSIM_FACT(s, SM_THREADS) / MSIM_FACT(s, LAYER_NORM_THREADS), 1);
}
