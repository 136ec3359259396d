/*
 * predict/usage/work_grid.c - the grid of a kernel by its work.
 */
#include "predict/usage/work_grid.h"

#include "core/work/kernel_fact.h"
#include "core/work/work.h"
#include "models/law/law.h"

#include <math.h>

/* Kernels as they are compiled: threads and bytes of shared memory of a block,
 * registers of a thread. */
struct kernel {
    uint32_t threads, registers, shared;
};

/*
 * Threads: PyTorch's sources (aten/src/ATen/native/cuda): CUDALoops.cuh (128),
 * SoftMax.cu and PersistentSoftmax.cuh (128), layer_norm_kernel.cu (128),
 * Normalization.cuh (512), MultiTensorApply.cuh (512); of a collective,
 * NCCL's largest block (nccl/src/include/device.h: 640). Registers and shared
 * memory are what compilers and libraries made of them: the typical launch of
 * such a kernel in traces of PyTorch 1.8 to 2.7 on V100 to B300.
 */
static const struct kernel POINTWISE = {128, 20, 0}, SOFTMAX = {128, 84, 0},
                           NORM = {128, 43, 132}, BATCH_NORM = {512, 50, 5536},
                           LIST = {512, 37, 0}, GATHER = {128, 32, 0},
                           REDUCTION = {128, 48, 2048},
                           ATTENTION = {128, 168, 49152},
                           COLLECTIVE = {640, 96, 42024};

struct tile {
    double rows, columns;
    struct kernel kernel;
};

/* Tiles of cuBLAS and CUTLASS, largest first; a block holds an accumulator for
 * each output, so that registers go with tile over threads. */
static const struct tile TILES[] = {{256, 128, {256, 238, 130656}},
                                    {128, 128, {256, 118, 32768}},
                                    {128, 64, {128, 130, 24812}},
                                    {64, 64, {64, 127, 9638}}};
#define N_TILES (sizeof(TILES) / sizeof(*TILES))

static struct msim_residency launch(const struct msim_gpu_properties *gpu,
                                    const struct kernel *k, double blocks)
{
    const struct msim_launch_config c = {.grid = {1, 1, 1},
                                         .block = {k->threads, 1, 1},
                                         .registers = k->registers,
                                         .shared_bytes = k->shared};

    return (struct msim_residency){
        .blocks = (float)fmax(1, ceil(blocks)),
        .threads = (float)k->threads,
        .resident = (float)msim_occupancy_blocks(gpu, &c),
    };
}

/* Whether an SM holds a block of it, as far as is known. */
static bool fits(const struct msim_gpu_properties *gpu, const struct kernel *k)
{
    return !msim_occupancy_threads(gpu) || launch(gpu, k, 1).resident > 0;
}

/* The largest tile that gives every SM one; where none does, the smallest, its
 * sums in as many parts as fill the GPU. */
static struct msim_residency product(const struct msim_gpu_properties *gpu,
                                     const struct msim_conv_product *g)
{
    double tiles = 0;

    for (size_t i = 0; i < N_TILES; i++) {
        tiles = ceil(g->m / TILES[i].rows) * ceil(g->n / TILES[i].columns) *
                g->batch;
        if (tiles >= gpu->sms && fits(gpu, &TILES[i].kernel))
            return launch(gpu, &TILES[i].kernel, tiles);
    }
    tiles *= fmax(1, fmin(floor(gpu->sms / tiles),
                          floor(g->k / MSIM_FACT(NULL, LONG_SUM_TERMS))));
    return launch(gpu, &TILES[N_TILES - 1].kernel, tiles);
}

static struct msim_residency gemm(const struct msim_gpu_properties *gpu,
                                  const struct msim_work *w)
{
    const struct msim_conv_product g = {
        fmax(1, (double)w->u.gemm.m), fmax(1, (double)w->u.gemm.n),
        fmax(1, (double)w->u.gemm.k), fmax(1, (double)w->u.gemm.batch)};

    return product(gpu, &g);
}

static struct msim_residency conv(const struct msim_gpu_properties *gpu,
                                  const struct msim_work *w)
{
    struct msim_conv_shape s;
    struct msim_conv_product g;

    msim_conv_shape_of(w, &s);
    msim_conv_product_of(&s, &g);
    return product(gpu, &g);
}

static struct msim_residency attention(const struct msim_gpu_properties *gpu,
                                       const struct msim_work *w)
{
    double queries =
        ceil((double)w->u.attention.q_len / MSIM_FACT(NULL, FLASH_QUERIES));

    return launch(gpu, &ATTENTION,
                  queries * (double)w->u.attention.batch *
                      (double)w->u.attention.heads);
}

/* The tiles of its two products go one after the other: those of the wider. */
static struct msim_residency moe(const struct msim_gpu_properties *gpu,
                                 const struct msim_work *w)
{
    double rows = w->u.moe.load.tiles[MSIM_MOE_TILES - 1];
    double columns =
        fmax((double)w->u.moe.hidden,
             2 * (double)w->u.moe.inter / fmax(1, (double)w->u.moe.tp));

    return launch(gpu, &TILES[1].kernel,
                  rows * ceil(columns / TILES[1].columns));
}

static struct msim_residency reduction(const struct msim_gpu_properties *gpu,
                                       const struct msim_work *w)
{
    struct msim_reduce_grid g = msim_reduce_grid_of(
        fmax(1, (double)w->u.vector.rows), fmax(1, (double)w->u.vector.cols),
        w->u.vector.fold == MSIM_FOLD_ACROSS, gpu->sms);
    struct kernel k = REDUCTION;

    k.threads = (uint32_t)g.threads;
    return launch(gpu, &k, g.blocks);
}

static struct msim_residency softmax(const struct msim_gpu_properties *gpu,
                                     const struct msim_work *w)
{
    double rows = (double)w->u.vector.rows, cols = (double)w->u.vector.cols;

    /* a row a warp, two where they are short */
    if (cols <= MSIM_FACT(NULL, SOFTMAX_WARP_COLUMNS))
        rows /= MSIM_FACT(NULL, WARP_SOFTMAX_ROWS);
    if (cols <= MSIM_FACT(NULL, WARP_SOFTMAX_SHORT))
        rows /= 2;
    return launch(gpu, &SOFTMAX, rows);
}

static struct msim_residency gather(const struct msim_gpu_properties *gpu,
                                    const struct msim_work *w)
{
    double elements = w->u.vector.lookups > 0 && w->u.vector.cols > 0
                          ? w->u.vector.lookups * (double)w->u.vector.cols
                          : (double)w->u.vector.elems;

    return launch(gpu, &GATHER,
                  elements / (MSIM_FACT(NULL, ELEMENTWISE_THREADS) *
                              MSIM_FACT(NULL, ELEMENTWISE_VALUES)));
}

static struct msim_residency collective(const struct msim_gpu_properties *gpu,
                                        const struct msim_work *w)
{
    double wanted =
        (double)w->u.coll.bytes / MSIM_FACT(NULL, NCCL_CHANNEL_BYTES);

    if (w->u.coll.collective == MSIM_COLL_ALL_TO_ALL ||
        w->u.coll.collective == MSIM_COLL_SEND ||
        w->u.coll.collective == MSIM_COLL_RECV)
        wanted = w->u.coll.ranks;
    return launch(gpu, &COLLECTIVE,
                  fmin(MSIM_FACT(NULL, NCCL_CHANNELS), wanted));
}

struct msim_residency msim_work_grid(const struct msim_gpu_properties *gpu,
                                     const struct msim_work *w)
{
    const struct msim_residency none = {0};
    bool across = w->u.vector.fold == MSIM_FOLD_ACROSS;

    switch (w->family) {
    case MSIM_FAMILY_GEMM:
        return gemm(gpu, w);
    case MSIM_FAMILY_CONV:
        return conv(gpu, w);
    case MSIM_FAMILY_ATTENTION:
        return attention(gpu, w);
    case MSIM_FAMILY_MOE:
        return moe(gpu, w);
    case MSIM_FAMILY_REDUCTION:
        return reduction(gpu, w);
    case MSIM_FAMILY_SOFTMAX:
        return softmax(gpu, w);
    case MSIM_FAMILY_NORM:
        return across ? launch(gpu, &BATCH_NORM, (double)w->u.vector.cols)
                      : launch(gpu, &NORM, (double)w->u.vector.rows);
    case MSIM_FAMILY_EMBEDDING:
        return gather(gpu, w);
    case MSIM_FAMILY_OPTIMIZER:
        return launch(gpu, &LIST,
                      (double)w->u.vector.elems /
                          MSIM_FACT(NULL, FOREACH_CHUNK));
    case MSIM_FAMILY_COLLECTIVE:
        return collective(gpu, w);
    case MSIM_FAMILY_DISPATCH:
        return launch(gpu, &COLLECTIVE, MSIM_FACT(NULL, NCCL_CHANNELS));
    case MSIM_FAMILY_POINTWISE:
    case MSIM_FAMILY_BOUND:
        return launch(gpu, &POINTWISE,
                      (double)w->u.vector.elems /
                          (MSIM_FACT(NULL, ELEMENTWISE_THREADS) *
                           MSIM_FACT(NULL, ELEMENTWISE_VALUES)));
    default:
        return none;
    }
}
