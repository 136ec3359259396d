/*
 * models/law/sm_pace.c - what SMs take for kernels of PyTorch that load little
 * at a time.
 *
 * Rates are in steps a clock cycle and SM, or in cycles a step. They were read
 * off programs with one operator each (KernelBench level 1, PyTorch 2.5 to 2.9,
 * fp32), or off traces, on the GPUs that the comments name.
 */
#include "models/law/sm_pace.h"

#include "core/work/conv_shape.h"
#include "models/law/counted_pace.h"

#include <math.h>
#include <string.h>

#define TYPICAL_HZ 1.5e9
#define SM_THREADS 2048.0

static double cycles_us(const struct msim_data_sheet *s, double cycles)
{
    return cycles * 1e6 / (s->clock_hz > 0 ? s->clock_hz : TYPICAL_HZ);
}

/* A compute unit of AMD's GPUs issues 64 lanes a cycle, an SM 128 (CDNA 3 ISA
 * reference, NVIDIA H100 whitepaper). Of the pace of an SM it takes, seen in
 * TimeSformer on MI300X and H100: 0.65 and 0.86 in products of odd sizes, 0.80
 * in copies of tensors with gaps, 0.67 in softmax of unaligned rows. */
#define UNIT_OF_SM 0.74

/* A layer norm waits for more than its loads: 1,680 cycles a row of 768 of a
 * compute unit there (TimeSformer). */
#define UNIT_NORM 0.29

static double lanes(const struct msim_data_sheet *s)
{
    return s->miopen ? UNIT_OF_SM : 1;
}

/* ---- windows ------------------------------------------------------------ */

/* Of pooling: a thread an output, a load for each input of its window
 * (aten/src/ATen/native/cuda: AveragePool2d.cu, AveragePool3d.cu,
 * DilatedMaxPool2d.cu, DilatedMaxPool3d.cu). Seen: 3.3 on H100 SXM and PCIe,
 * A100, B200; 1.7 to 2.0 on MI250, whose SMs have half of the lanes. */
#define POOL_TAPS     3.3
#define POOL_TAPS_AMD 1.8

/*
 * Of depthwise filters: loops of a known length where a filter is 1 x 1, 3 x 3,
 * 5 x 5 (DepthwiseConv2d.cu) or 3 x 3 x 3 (DepthwiseConv3d.cu), in taps a
 * cycle. Seen: 3.8 on H100 SXM and PCIe with 3 x 3. Loads wait for each other,
 * so that fewer threads take longer: 2.8 on RTX A6000 and A10G, whose SMs hold
 * 1,536 threads. Where power bounds products, the clock of such kernels falls
 * too, by less: 1.7 on L4; 1.05 on T4, whose SMs hold 1,024. The same rate
 * explains filters of 3 x 3 and 5 x 5 with strides in half precision (timm's
 * mobile networks on RTX 3090, 4090 and 5090: 3.8 to 5.7 of 2,048 threads).
 *
 * Other filters, in cycles of an output and of each of its taps: 2.9 cycles for
 * 3 x 1 (KernelBench, H100 SXM and PCIe; L4, A6000, A10G and T4 in proportion),
 * 6 to 9 for 7 x 7 in half precision (FastViT, RTX 3090, 4090, 5090).
 */
#define FILTER_TAPS    3.8
#define GENERIC_OUTPUT 2.55
#define GENERIC_TAP    0.1

/*
 * The gradient of such weights: a block a tap of a channel goes over all images
 * and adds up in its threads (conv_depthwise2d_grad_weight_kernel in
 * DepthwiseConv2d.cu): for each output two loads, a division by the width, and
 * four comparisons, about 36 instructions of the 128 that an SM issues a cycle.
 * Counted, not measured.
 */
#define WEIGHT_TAP (36.0 / 128)

/*
 * The gradient of a maximum pool: a thread an element of the input finds the
 * windows that it is in, and loads the index of each (max_pool_backward_nchw in
 * DilatedMaxPool2d.cu). Seen: 3.5 cycles of an SM an element in 2.25 windows on
 * A100 (resnet50-ddp-2xa100), 2.8 in one on H100 (vgg13-h100). Windows that are
 * not recorded are 3 x 3 with stride 2, as networks have them.
 */
#define UNPOOL_ELEMENT 2.2
#define UNPOOL_WINDOW  0.6
#define USUAL_WINDOWS  2.25

static bool is_unpool(const struct msim_work *w)
{
    const char *variant = msim_work_variant(w);

    return strncmp(variant, "max_pool", 8) == 0 && strstr(variant, "_backward");
}

static double unpool_us(const struct msim_data_sheet *s,
                        const struct msim_work *w)
{
    double elems = (double)w->u.vector.elems;
    double windows =
        w->u.vector.taps > 0 ? w->u.vector.taps : USUAL_WINDOWS * elems;

    return cycles_us(s, (UNPOOL_ELEMENT * elems + UNPOOL_WINDOW * windows) /
                            (s->sms * lanes(s)));
}

static double taps_us(const struct msim_data_sheet *s, double taps, double rate)
{
    return cycles_us(s, taps / (s->sms * rate));
}

double msim_sm_pace_depthwise_us(const struct msim_data_sheet *s,
                                 const struct msim_work *w, double resident)
{
    struct msim_conv_shape c;
    double taps;
    bool known;

    msim_conv_shape_of(w, &c);
    taps = c.c * c.r * c.s;
    known = c.r == c.s &&
            (c.c > 1 ? c.r == 3 && c.c == 3 : c.r == 1 || c.r == 3 || c.r == 5);
    if (w->u.conv.pass == MSIM_CONV_BACKWARD_WEIGHT)
        return cycles_us(s, c.n * c.groups * c.k * c.p * c.q * taps *
                                WEIGHT_TAP / (s->sms * resident));
    return cycles_us(s, c.n * c.groups * c.k * c.p * c.q *
                            (known ? taps / FILTER_TAPS
                                   : GENERIC_OUTPUT + GENERIC_TAP * taps) /
                            (s->sms * resident * sqrt(s->sustained)));
}

/*
 * MIOpen's kernel for what no other solves (naive_conv_fwd_nchw in
 * src/kernels/naive_conv.cpp): a block of 256 threads computes an image of one
 * output channel, an output a thread at once, tap by tap. Cycles of an output
 * and of a tap, seen on MI250 with 48 blocks of filters of 3 x 1 and 3 x 3:
 * they wait for loads, so that blocks on one SM hardly hinder each other.
 */
#define NAIVE_THREADS 256.0
#define NAIVE_OUTPUT  2200.0
#define NAIVE_TAP     260.0

double msim_sm_pace_naive_us(const struct msim_data_sheet *s,
                             const struct msim_work *w)
{
    double at_once = s->sms * SM_THREADS / NAIVE_THREADS;
    struct msim_conv_shape c;

    msim_conv_shape_of(w, &c);
    return cycles_us(s, fmax(c.n * c.groups * c.k / at_once, 1) *
                            ceil(c.p * c.q / NAIVE_THREADS) *
                            (NAIVE_OUTPUT + NAIVE_TAP * c.c * c.r * c.s));
}

/* ---- products of odd sizes ------------------------------------------------
 */

/*
 * Tiles of a product load both operands for every step of k and write the
 * results, 16 bytes a thread at once. Of rows that do not begin on 16 bytes
 * they load as many elements as all rows begin on (cuBLAS: "align1" and
 * "align2" in the names of kernels). Seen where it is one, of bf16 in
 * TimeSformer on H100: 9 bytes a cycle and SM where k is 64, 7.4 where it is
 * 3,137; on MI300X 5.1 and 5.7; about as many of fp32 (ranking-a100). Where
 * tiles are few, several of them share a sum, with so many terms each at least.
 */
#define LOADED_AT_ONCE 16
#define PRODUCT_TILE   128.0
#define PRODUCT_TERMS  1024.0
#define PRODUCT_BYTES  7.2

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
    double k = (double)w->u.gemm.k;
    double rows = fmin(m, PRODUCT_TILE), cols = fmin(n, PRODUCT_TILE);
    double tiles = ceil(m / PRODUCT_TILE) * ceil(n / PRODUCT_TILE) *
                   (double)w->u.gemm.batch;
    double all = tiles * ((rows + cols) * k + rows * cols);
    double least = (rows + cols) * fmin(k, PRODUCT_TERMS) + rows * cols;
    int64_t bytes = msim_dtype_bytes(w->dtype);
    int64_t most = bytes > 0 ? LOADED_AT_ONCE / bytes : 1;
    int64_t width = product_width(w, most);

    if (width >= most)
        return 0;
    return cycles_us(s, fmax(all / s->sms, least) * (double)bytes /
                            (PRODUCT_BYTES * (double)width * lanes(s)));
}

/*
 * Tiles of AMD's libraries: a workgroup has registers and LDS of its compute
 * unit to itself, so that nothing hides how it fills its pipeline and writes
 * its tile. Seen in TimeSformer on MI300X: 10.7 us beside the multiplications
 * for tiles of 256 x 128 to 256 x 224, whether k is 768 or 3,072. It is taken
 * to grow with the side. The first fill is as on other GPUs, whose products
 * take 1.7 us more than their shortest kernel (the law that all GPUs share).
 * Tiles are as large as keeps every unit busy; of a batch no smaller than 64 x
 * 64 (256 x 16 and 16 x 448 there, for 8 x 64 and 8 x 8).
 */
#define FILL_US     1.7
#define TILE_CYCLES 105.0 /* a unit of its side */
#define TILE_LEAST  16.0
#define TILE_MOST   213.0
#define TILE_BATCH  64.0

double msim_sm_pace_tiles_us(const struct msim_data_sheet *s,
                             const struct msim_work *w)
{
    double m = (double)w->u.gemm.m, n = (double)w->u.gemm.n;
    double batch = (double)w->u.gemm.batch;
    double share = sqrt(m * n * batch / s->sms);
    double most = fmin(sqrt(m * n), TILE_MOST);
    double side = fmax(fmin(share, most), batch > 1 ? TILE_BATCH : TILE_LEAST);
    double tiles = fmax(m / side, 1) * fmax(n / side, 1) * batch;

    if (!s->miopen)
        return 0;
    return s->floor_us + FILL_US +
           cycles_us(s, fmax(tiles / s->sms, 1) * side * TILE_CYCLES);
}

/* ---- single elements ----------------------------------------------------- */

/*
 * Elements a cycle and SM of kernels that load them one by one. Of an A100 at a
 * third of its clock (particle-transformer, batch 512): 1.6 and 2.3 where an
 * operand is broadcast (elementwise_kernel with an offset calculator), 3.3 of
 * cuDNN's batch norm by given moments (bn_fw_inf_1C11_kernel_NCHW), 2.5 of a
 * softmax whose row fits into a warp's registers (softmax_warp_forward). Of an
 * H100 at its own clock 1.7 where operands have gaps (Liger: halves of rows of
 * bf16).
 */
#define ADDRESSED    1.8
#define GIVEN_NORM   3.3
#define WARP_SOFTMAX 2.5

/* Joined from tensors that do not lie in order: seen 0.5 to 0.8 (Liger, rotary
 * embeddings on A100). */
#define JOINED 0.7

/*
 * Elements of looked-up rows: a thread finds the row of each by a division
 * (indexSelectLargeIndex in Indexing.cu). Seen in rows of vidur: 0.50 on A100,
 * 0.60 on A40, 0.67 on H100, whatever the type; 0.51 to 0.58 of fp32 on A100
 * (Liger). Gradients are added row by row in order of the sorted indices
 * (EmbeddingBackwardKernel.cu): 0.2 to 0.6, the more the more often an index
 * comes (Liger, A100).
 */
#define LOOKED_UP     0.55
#define GRADIENT_ROWS 0.3

/* ---- rows --------------------------------------------------------------- */

static double rows_of(const struct msim_work *w)
{
    return fmax((double)w->u.vector.rows, 1);
}

/*
 * Layer norm: a block of 128 threads takes a row, four values a thread at once;
 * mean and variance in one pass by Welford's update, the result in a second
 * pass (vectorized_layer_norm_kernel in layer_norm_kernel.cu). A step of a lone
 * block, seen with rows of 4 million values: 1,650 to 1,980 cycles on ten GPUs
 * from T4 to B200, 940 on MI250; the first few steps are in the shortest norm.
 * Where an SM has blocks enough to hide their loads, a row keeps it busy for so
 * many cycles and so many more a step; seen in traces: 230 and 340 with rows of
 * 128 and 512 (particle-transformer, A100), about 600 with rows of 768
 * (TimeSformer, H100).
 */
#define LAYER_VALUES 512.0
#define LAYER_ALONE  1800.0
#define LAYER_AMD    940.0
#define LAYER_FIRST  4.0
#define LAYER_ROW    200.0
#define LAYER_STEP   190.0

static double layer_norm_us(const struct msim_data_sheet *s,
                            const struct msim_work *w)
{
    double steps = (double)w->u.vector.cols / LAYER_VALUES;
    double busy = rows_of(w) / s->sms * (LAYER_ROW + LAYER_STEP * steps) /
                  (s->miopen ? UNIT_NORM : 1);
    double alone = s->miopen ? LAYER_AMD : LAYER_ALONE;

    return cycles_us(s, fmax((steps - LAYER_FIRST) * alone, busy));
}

/*
 * Group norm: a block of 512 threads finds the moments of a group, a value a
 * thread at once; of a small group a warp does (RowwiseMomentsCUDAKernel in
 * group_norm_kernel.cu). Its gradient does the same for each channel
 * (ComputeInternalGradientsCUDAKernel). A step of a long group, seen: 900 to
 * 1,200 cycles on A100, H100, B200. What a block takes beside its steps, seen
 * with groups of 2,048 and channels of 512 values: 3,100 and 7,700 (Liger,
 * B200).
 */
#define MOMENTS_THREADS 512.0
#define MOMENTS_WARP    32.0
#define MOMENTS_STEP    1000.0
#define MOMENTS_BLOCK   4000.0
#define SM_BLOCKS       32.0

static double moments_us(const struct msim_data_sheet *s,
                         const struct msim_work *w)
{
    double cols = (double)w->u.vector.cols;
    bool block = cols >= MOMENTS_THREADS;
    double threads = block ? MOMENTS_THREADS : MOMENTS_WARP;
    double at_once = s->sms * fmin(SM_THREADS / threads, SM_BLOCKS);
    double each =
        ceil(cols / threads) * MOMENTS_STEP + (block ? MOMENTS_BLOCK : 0);

    return cycles_us(s, fmax(rows_of(w) / at_once, 1) * each);
}

static double elements_us(const struct msim_data_sheet *s,
                          const struct msim_work *w, double rate)
{
    return cycles_us(s, (double)w->u.vector.elems / (s->sms * rate * lanes(s)));
}

/* Both passes of a group norm read its input: the moments at memory's pace at
 * best, the second one multiplies by what is kept for each channel. */
static double group_norm_us(const struct msim_data_sheet *s,
                            const struct msim_work *w)
{
    double read = w->bytes_read * 1e6 / s->bandwidth;
    double pass = read + w->bytes_written * 1e6 / s->bandwidth;

    return fmax(moments_us(s, w), read) +
           fmax(pass, elements_us(s, w, ADDRESSED));
}

/*
 * Batch norm by the moments of the batch, channels first: a block of 512
 * threads takes a channel (bn_fw_tr_1C11_kernel_NCHW, bn_bw_1C11_kernel_new of
 * cuDNN, which PyTorch asks for CUDNN_BATCHNORM_SPATIAL there). Elements a
 * cycle of a block that has its SM alone, and how much faster an SM is that has
 * several; seen with fp32 on an A100 (resnet50-ddp): 0.80 and 0.37 with 64
 * channels, 1.5 to 1.7 times with 128. With channels last other kernels share
 * the channels between blocks.
 */
#define CHANNEL_FORWARD  0.80
#define CHANNEL_BACKWARD 0.37
#define CHANNELS_GAIN    1.6

static double batch_norm_us(const struct msim_data_sheet *s,
                            const struct msim_work *w, bool back)
{
    double most = ceil(rows_of(w) / s->sms);
    double in_turn = most / fmin(most, CHANNELS_GAIN);

    if (s->miopen || w->u.vector.fold == MSIM_FOLD_ACROSS)
        return 0;
    return cycles_us(s, (double)w->u.vector.cols * in_turn /
                            (back ? CHANNEL_BACKWARD : CHANNEL_FORWARD));
}

/* ---- scans -------------------------------------------------------------- */

/* Values that a scan along rows takes a cycle and SM: it waits for all threads
 * of a block after every doubling (ScanUtils.cuh). Seen: 0.78 on H100 SXM, 0.71
 * on H100 PCIe. */
#define SCANNED 0.75

static bool is_scan(const struct msim_work *w)
{
    static const char *const SCANS[] = {"cumsum", "cumprod", "_logcumsumexp",
                                        "_cummax_helper", "_cummin_helper"};
    const char *variant = msim_work_variant(w);

    if (w->family != MSIM_FAMILY_REDUCTION || w->u.vector.rows <= 1)
        return false;
    for (size_t i = 0; i < sizeof(SCANS) / sizeof(SCANS[0]); i++)
        if (strcmp(variant, SCANS[i]) == 0)
            return true;
    return false;
}

/* ---- softmax, losses, by name ---------------------------------------------
 */

/* Of a softmax over other than the last dimension, whose threads take a place
 * each and load value by value, three times (cunn_SpatialSoftMaxForward). Seen:
 * 0.26 to 0.44 on H100, 0.35 to 0.5 on A100, 0.3 on RTX A6000. */
#define SPATIAL_SOFTMAX 0.35

/*
 * Cycles of an SM for a row that a block of 1,024 threads takes three times,
 * value by value: a row that does not begin on 16 bytes has no vector loads and
 * stays in no shared memory (cunn_SoftMaxForward). Seen: 4,400 to 5,000 for
 * 3,137 values of bf16 on H100 (TimeSformer); how they divide is a guess.
 */
#define ODD_ROW   2400.0
#define ODD_VALUE 0.75

bool msim_rows_are_odd(const struct msim_work *w)
{
    return w->u.vector.cols * (int64_t)msim_dtype_bytes(w->dtype) % 16 != 0;
}

/*
 * The mean of a loss that picks one element a row: one block, whose threads
 * take the rows in turn, each a load that waits for another
 * (nll_loss_forward_reduce_cuda_kernel_2d in Loss.cu). Of 32,768 rows on a
 * softmax's time: 0.6 to 1.1 ms on five GPUs with a block of 32 threads; 0.1 ms
 * on H100 with PyTorch 2.9, whose block is larger (KernelBench). Where no
 * version is named it is between them, in the geometric mean.
 */
#define LOSS_ROWS       32.0
#define LOSS_STEP_US    0.35
#define LOSS_STEP_FEW   0.8
#define LOSS_STEP_MANY  0.1
#define LOSS_MANY_SINCE 2.9

static double picked_loss_us(const struct msim_data_sheet *s,
                             const struct msim_work *w)
{
    double step = !(s->pytorch > 0)              ? LOSS_STEP_US
                  : s->pytorch < LOSS_MANY_SINCE ? LOSS_STEP_FEW
                                                 : LOSS_STEP_MANY;

    return (double)w->u.vector.elems / LOSS_ROWS * step;
}

static bool is_lookup(const char *variant)
{
    return strcmp(variant, "embedding") == 0 ||
           strcmp(variant, "index_select") == 0;
}

/* By the variant alone. */
static double named_us(const struct msim_data_sheet *s,
                       const struct msim_work *w, const char *variant)
{
    if (strcmp(variant, "batch_norm") == 0 ||
        strcmp(variant, "batch_norm_backward") == 0)
        return batch_norm_us(s, w, variant[strlen("batch_norm")] != '\0');
    if (strcmp(variant, "batch_norm_elemt") == 0)
        return elements_us(s, w, GIVEN_NORM);
    if (strcmp(variant, "layer_norm") == 0)
        return layer_norm_us(s, w);
    if (strncmp(variant, "group_norm", 10) == 0)
        return group_norm_us(s, w);
    if (strcmp(variant, "nll_loss_mean") == 0)
        return picked_loss_us(s, w);
    if (is_lookup(variant))
        return elements_us(s, w, LOOKED_UP);
    if (strcmp(variant, "embedding_backward") == 0)
        return elements_us(s, w, GRADIENT_ROWS);
    return 0;
}

static double odd_softmax_us(const struct msim_data_sheet *s,
                             const struct msim_work *w)
{
    return cycles_us(s, rows_of(w) / s->sms *
                            (ODD_ROW + ODD_VALUE * (double)w->u.vector.cols) /
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
        return taps_us(s, w->u.vector.taps,
                       s->miopen ? POOL_TAPS_AMD : POOL_TAPS);
    if (w->u.vector.addressed)
        return elements_us(s, w,
                           strcmp(variant, "cat") == 0 ? JOINED : ADDRESSED);
    if (is_spatial(w))
        return elements_us(s, w, SPATIAL_SOFTMAX);
    if (w->family == MSIM_FAMILY_SOFTMAX &&
        w->u.vector.cols <= MSIM_WARP_COLUMNS)
        return elements_us(s, w, WARP_SOFTMAX);
    if (strcmp(variant, "softmax") == 0 && msim_rows_are_odd(w))
        return odd_softmax_us(s, w);
    if (is_scan(w))
        return elements_us(s, w, SCANNED);
    return named_us(s, w, variant);
}

/* ---- softmax ------------------------------------------------------------ */

/*
 * Rows beyond the shared memory of a block without asking for more (SoftMax.cu)
 * are read once for maximum and sum, which go along, and once for the result
 * (cunn_SoftMaxForwardGmem of recent versions). Seen: rows of 393,216 values
 * take 0.73 to 0.80 times as long as three reads on six GPUs. Older versions
 * read three times: NeuSight's 45 rows of 12,288 and more. A softmax over other
 * than the last dimension is read three times, by a thread for each place.
 */
#define BLOCKS_AN_SM  2
#define READS_AGAIN   1
#define SPATIAL_AGAIN 2

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
        return SPATIAL_AGAIN * w->bytes_read *
               missed(s, fmin(rows, s->sms * SM_THREADS) * row);
    if (w->family != MSIM_FAMILY_SOFTMAX || row <= MSIM_BLOCK_ROW_BYTES)
        return 0;
    return READS_AGAIN * w->bytes_read *
           missed(s, fmin(rows, s->sms * BLOCKS_AN_SM) * row);
}

/* ---- rows that pass by ----------------------------------------------------
 */

/* Blocks of a layer norm that an SM runs at once: 128 threads each. */
#define NORMS_AN_SM (SM_THREADS / 128)

/* What is read again of `reads` passes over the input: it is in the cache while
 * the rows of all blocks that run, and their results, fit into it. Seen: rows
 * of 64 KB in it and rows of 128 KB not (Liger, log_softmax on A100). */
static double again(const struct msim_data_sheet *s, const struct msim_work *w,
                    double blocks, double reads)
{
    double rows = fmin(fmax((double)w->u.vector.rows, 1), s->sms * blocks);
    double active = rows / fmax((double)w->u.vector.rows, 1) *
                    (w->bytes_read + w->bytes_written);

    return reads * w->bytes_read / (1 + pow(s->l2_bytes / active, 4));
}

/*
 * A softmax reads its row for the maximum, for the sum and for the result; by
 * later versions of PyTorch for the first two at once: rows of Liger took four
 * passes of memory with the write (A100), rows of KernelBench three (six GPUs).
 * Predicted is the mean. Its gradient reads its operands twice.
 */
#define FORWARD_AGAIN  1.5
#define GRADIENT_AGAIN 1

double msim_rows_again(const struct msim_data_sheet *s,
                       const struct msim_work *w)
{
    const char *variant = msim_work_variant(w);
    bool back = strstr(variant, "_backward") != NULL;

    if (w->family == MSIM_FAMILY_SOFTMAX)
        return row_bytes(w) > MSIM_BLOCK_ROW_BYTES && !is_spatial(w)
                   ? again(s, w, BLOCKS_AN_SM,
                           back ? GRADIENT_AGAIN : FORWARD_AGAIN)
                   : 0;
    return strcmp(variant, "layer_norm") == 0 ? again(s, w, NORMS_AN_SM, 1) : 0;
}
