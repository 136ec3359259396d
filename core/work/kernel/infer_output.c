/*
 * core/work/kernel/infer_output.c - rows, columns and batch of a product's
 * output, by the grid and by the tile that the kernel's name states.
 */
#include "core/work/kernel/infer.h"
#include "core/work/kernel_fact.h"

#include <math.h>
#include <string.h>

static bool is_batched(const struct msim_infer *l, uint32_t i, double z)
{
    const struct msim_kernel_name *k = msim_infer_name(l, i);
    const struct msim_trace *t = l->t;
    uint32_t op = t->gpu[i].op;

    if (z < 2 || k->splits || k->kind == MSIM_KERNEL_CONV)
        return false;
    if (op != MSIM_NONE && strstr(msim_trace_text(t, t->ops[op].name), "bmm"))
        return true;
    return z > MSIM_FACT(NULL, USUAL_PRODUCT_SPLITS);
}

/*
 * The length of a side of `tiles` tiles. Most sizes are a power of two times a
 * small number, and fill a number of tiles that is a power of two. Of any other
 * number of tiles the last is half full in the mean. Sizes go in steps of 8,
 * which the fast kernels of libraries require.
 */
static double side(double tiles, double tile)
{
    bool whole = exp2(round(log2(tiles))) == tiles;

    return fmax(8 * floor((whole ? tiles : tiles - 0.5) * tile / 8), 1);
}

/*
 * CUTLASS runs 8 rows of tiles along x, of fewer rows 4, 2 or 1
 * (cutlass/gemm/threadblock/threadblock_swizzle.h). The grid is (columns x 8)
 * by (rows / 8), and its last eight rows are half in use in the mean.
 */
static void unswizzle_grid(double *grid)
{
    double rows = 8;

    while (rows > 1 && fmod(grid[0], rows) != 0)
        rows /= 2;
    if (grid[1] == 1)
        rows = fmin(rows, 4);
    grid[0] /= rows;
    grid[1] = grid[1] > 1 ? (grid[1] - 0.5) * rows : rows;
    rows = grid[0];
    grid[0] = grid[1];
    grid[1] = rows;
}

/*
 * Tensile's grid counts threads and has all tiles along x. A narrow tile has
 * one column of them; the output of any other is taken for a square.
 */
static void unroll_grid(double *grid, uint32_t threads, const double *tile)
{
    double blocks = fmax(grid[0] / fmax(threads, 1), 1), rows = blocks;

    if (fmin(tile[0], tile[1]) > MSIM_FACT(NULL, USUAL_PRODUCT_NARROW_TILE))
        rows = fmin(fmax(round(sqrt(blocks * tile[1] / tile[0])), 1), blocks);
    grid[0] = rows;
    grid[1] = fmax(round(blocks / rows), 1);
}

/* Rows, columns and batch by grid and tile. Without a launch configuration the
 * grid is taken to have as many blocks as the GPU has multiprocessors. */
void msim_infer_output(const struct msim_infer *l, uint32_t i,
                       struct msim_infer_product *p)
{
    const struct msim_kernel_name *k = msim_infer_name(l, i);
    const struct msim_gpu *e = &l->t->gpu[i];
    double grid[3] = {msim_infer_sms(l), 1, 1};
    double tile[2] = {k->tile[0], k->tile[1]};

    for (int d = 0; d < 3 && e->config != MSIM_NONE; d++)
        grid[d] = l->t->configs[e->config].grid[d];
    if (k->counts_threads && e->config != MSIM_NONE)
        unroll_grid(grid, l->t->configs[e->config].block[0], tile);
    if (k->splits && k->kind == MSIM_KERNEL_MATRIX && grid[2] == 1)
        grid[0] = fmax(grid[0] / 2, 1); /* two blocks a tile at least */
    if (tile[0] == 0)
        tile[0] = tile[1] = MSIM_FACT(NULL, USUAL_PRODUCT_TILE);
    if (k->kind == MSIM_KERNEL_GEMV)
        tile[0] = tile[1] = 1;
    if (k->swizzles && k->kind == MSIM_KERNEL_MATRIX)
        unswizzle_grid(grid);
    p->m = side(grid[k->channels_first ? 1 : 0], tile[0]);
    p->n = side(grid[k->channels_first ? 0 : 1], tile[1]);
    p->batch = is_batched(l, i, grid[2]) ? grid[2] : 1;
    if (k->experts) {
        p->batch = fmax(grid[1] * MSIM_FACT(NULL, EXPERTS_ACTIVE), 1);
        p->n = tile[1];
    }
}
