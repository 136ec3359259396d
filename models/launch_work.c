/*
 * models/launch_work.c - elements of kernels after their launches and their
 * neighbours, and the works that this makes.
 */
#include "models/launch.h"
#include "models/opmap_rule.h"

#include <math.h>
#include <string.h>

/* How far along the order of launches a neighbour is looked for. */
#define NEAR 16

/* Row lengths where nothing says: hidden sizes of most public models are
 * 512 to 8192. */
#define USUAL_COLS   1024
#define SMALLEST_COL 32
#define LARGEST_COLS 65536

/* PyTorch lets a thread of a reduction take at least 16 elements, and splits
 * work over more blocks above 256 (aten/src/ATen/native/cuda/Reduce.cuh). */
#define REDUCED_LEAST 1
#define REDUCED_USUAL 16
#define REDUCED_MOST  256

/* Of a tile of 32 positions, what a filter has: the middle of 1 and 9. */
#define FILTER_FILL (3.0 / 32)

/* A launch that is not recorded is of one wave on a GPU of the usual size. */
#define USUAL_THREADS (100 * 2048)

/* Keys that attention of one query looks at, and queries of a sequence where
 * the grid does not say. */
#define USUAL_KEYS 1024
#define USUAL_HEAD 64

/* Loads of a thread of a kernel of no known kind; the widest elementwise ones
 * take 16 bytes. */
#define OTHER_READS 4

/* Maps of a batch. */
#define USUAL_MAPS 32

/* Of the chunks of a list of tensors, every tensor's last one is partly
 * empty. */
#define CHUNK_FULL 0.9

/* ---- elements ---------------------------------------------------------- */

/* Is the grid as large as the GPU, rather than as the work? */
static bool is_full(const struct msim_launches *l, uint32_t i)
{
    uint32_t sms = l->t->gpu_properties.sms, config = l->t->gpu[i].config;

    return config != MSIM_NONE &&
           (sms == 0 || l->t->configs[config].grid[0] % sms == 0);
}

static bool by_launch(const struct msim_launches *l, uint32_t i)
{
    const struct msim_kernel_name *k = msim_launch_name(l, i);

    switch (k->kind) {
    case MSIM_KERNEL_ELEMENTWISE:
    case MSIM_KERNEL_FOREACH:
    case MSIM_KERNEL_COPY:
    case MSIM_KERNEL_POOL:
    case MSIM_KERNEL_INDEX:
    case MSIM_KERNEL_SORT:
    case MSIM_KERNEL_SPLIT_K:
        return !k->strides || !is_full(l, i);
    default:
        return false;
    }
}

/* Maps have more positions than a tile, filters one or nine. */
static bool is_filter(const struct msim_launches *l, uint32_t i)
{
    uint32_t config = l->t->gpu[i].config;

    return msim_launch_name(l, i)->layout && config != MSIM_NONE &&
           l->t->configs[config].grid[0] == 1;
}

static double launched_elems(const struct msim_launches *l, uint32_t i)
{
    const struct msim_kernel_name *k = msim_launch_name(l, i);
    const struct msim_launch_product *p = &l->products[i];

    if (p->m > 0)
        return p->m * p->n * p->batch;
    if (l->t->gpu[i].config == MSIM_NONE)
        return 0;
    if (k->kind == MSIM_KERNEL_FOREACH)
        return msim_launch_blocks(l, i) * k->items * CHUNK_FULL;
    if (k->kind == MSIM_KERNEL_EMBEDDING && k->cols > 0)
        return msim_launch_blocks(l, i) *
               l->t->configs[l->t->gpu[i].config].block[1] * k->cols;
    if (!by_launch(l, i))
        return 0;
    return msim_launch_threads(l, i) * k->items *
           (is_filter(l, i) ? FILTER_FILL : 1);
}

/* What kernel `i` reads or writes at most: of products also the factors. */
static double largest_operand(const struct msim_launches *l, uint32_t i)
{
    const struct msim_launch_product *p = &l->products[i];

    if (p->m == 0 || msim_launch_name(l, i)->kind != MSIM_KERNEL_MATRIX)
        return l->elems[i];
    return p->batch * fmax(p->m * p->n, p->k * fmax(p->m, p->n));
}

/*
 * The largest of the nearest `n` kernels on one side (`step` -1: before, 1:
 * after) that say how large they are, and are no smaller than this launch.
 */
static double near_elems(const struct msim_launches *l, uint32_t i, int step,
                         int n)
{
    double most = 0, least = fmax(msim_launch_threads(l, i), 1);
    uint32_t o = l->place[i];

    for (int d = 0; d < NEAR && n > 0; d++) {
        double elems;

        if ((step < 0 && o == 0) || (step > 0 && o + 1 >= l->t->n_gpu))
            break;
        o = step < 0 ? o - 1 : o + 1;
        elems =
            step < 0 ? l->elems[l->order[o]] : largest_operand(l, l->order[o]);
        n -= elems >= least;
        if (elems >= least)
            most = fmax(most, elems);
    }
    return most;
}

/* What one launch joins others have made, one after the other. */
static double joined_elems(const struct msim_launches *l, uint32_t i)
{
    uint32_t o = l->place[i], config = l->t->gpu[i].config;
    uint32_t n = config == MSIM_NONE ? 1 : l->t->configs[config].grid[1];
    double each = o > 0 ? l->elems[l->order[o - 1]] : 0, sum = 0;

    for (; o > 0 && n > 0 && l->elems[l->order[o - 1]] == each; o--, n--)
        sum += each;
    return sum;
}

/* The larger of what was made just before and what is used just after. */
static double moved_elems(const struct msim_launches *l, uint32_t i)
{
    double elems = fmax(near_elems(l, i, -1, 2), near_elems(l, i, 1, 2));

    return msim_launch_name(l, i)->joins ? fmax(elems, joined_elems(l, i))
                                         : elems;
}

/* A kernel that takes in what the one before made, or else gives to the one
 * after. */
static double taken_elems(const struct msim_launches *l, uint32_t i)
{
    double elems = near_elems(l, i, -1, 1);

    return elems > 0 ? elems : near_elems(l, i, 1, 1);
}

double msim_launch_elems(const struct msim_launches *l, uint32_t i,
                         bool *nearby)
{
    double threads = msim_launch_threads(l, i), elems = l->elems[i];

    *nearby = elems == 0;
    if (elems > 0)
        return elems;
    if (l->t->gpu[i].config == MSIM_NONE)
        return USUAL_THREADS;
    switch (msim_launch_name(l, i)->kind) {
    case MSIM_KERNEL_REDUCTION:
        elems = taken_elems(l, i);
        if (elems == 0)
            return threads * REDUCED_USUAL;
        return fmin(fmax(elems, threads * REDUCED_LEAST),
                    threads * REDUCED_MOST);
    case MSIM_KERNEL_OTHER:
        return threads;
    case MSIM_KERNEL_SOFTMAX:
    case MSIM_KERNEL_NORM:
    case MSIM_KERNEL_BATCH_NORM:
        return fmax(taken_elems(l, i), threads);
    default:
        return fmax(moved_elems(l, i), threads);
    }
}

/* Copies in the order of their launches, so that what one moved is known to
 * the next. */
void msim_launch_elements(struct msim_launches *l)
{
    bool nearby;

    for (uint32_t i = 0; i < l->t->n_gpu; i++)
        if (l->t->gpu[i].kind == MSIM_GPU_KERNEL)
            l->elems[i] = launched_elems(l, i);
    for (uint32_t o = 0; o < l->t->n_gpu; o++)
        if (l->t->gpu[l->order[o]].kind == MSIM_GPU_KERNEL &&
            msim_launch_name(l, l->order[o])->kind == MSIM_KERNEL_COPY)
            l->elems[l->order[o]] = msim_launch_elems(l, l->order[o], &nearby);
}

double msim_launch_comm_bytes(const struct msim_launches *l, uint32_t i)
{
    return moved_elems(l, i) * msim_dtype_bytes(MSIM_DT_F32);
}

/* ---- works ------------------------------------------------------------- */

static struct msim_work new_work(enum msim_family family,
                                 const struct msim_kernel_name *k)
{
    struct msim_work w;

    memset(&w, 0, sizeof w); /* works are compared by their bytes */
    w.family = family;
    w.dtype = k->dtype;
    w.variant = "";
    w.kernels = 1;
    return w;
}

static struct msim_work product_work(const struct msim_kernel_name *k,
                                     const struct msim_launch_product *p)
{
    struct msim_work w = new_work(MSIM_FAMILY_GEMM, k);

    w.variant = k->rate == MSIM_RATE_TF32 ? "tf32" : "";
    w.u.gemm.m = msim_opmap_count(p->m);
    w.u.gemm.n = msim_opmap_count(p->n);
    w.u.gemm.k = msim_opmap_count(p->k);
    w.u.gemm.batch = msim_opmap_count(p->batch);
    msim_work_count(&w);
    return w;
}

/*
 * A convolution of maps as square as can be. What its product has as rows,
 * columns and depth depends on the pass: positions, output channels and input
 * channels x filter; the gradients exchange them.
 */
static struct msim_work conv_work(const struct msim_kernel_name *k,
                                  const struct msim_launch_product *p)
{
    struct msim_work w = new_work(MSIM_FAMILY_CONV, k);
    bool weights = k->pass == MSIM_CONV_BACKWARD_WEIGHT;
    double positions = weights ? p->k : p->m;
    double out = weights ? fmin(p->m, p->n) : p->n;
    double in = (weights ? fmax(p->m, p->n) : p->k) / p->filter;
    double side = fmax(1, round(sqrt(positions / USUAL_MAPS)));
    double filter = sqrt(p->filter);

    if (k->pass == MSIM_CONV_BACKWARD_DATA) {
        out = in;
        in = p->n;
    }
    w.variant = k->rate == MSIM_RATE_TF32 ? "tf32" : "";
    w.u.conv.pass = k->pass;
    w.u.conv.n = msim_opmap_count(fmax(1, round(positions / (side * side))));
    w.u.conv.h = w.u.conv.w = msim_opmap_count(side);
    w.u.conv.c = msim_opmap_count(fmax(in, 1));
    w.u.conv.k = msim_opmap_count(fmax(out, 1));
    w.u.conv.r = w.u.conv.s = msim_opmap_count(filter);
    w.u.conv.stride_h = w.u.conv.stride_w = 1;
    w.u.conv.dilation_h = w.u.conv.dilation_w = 1;
    w.u.conv.pad_h = w.u.conv.pad_w = msim_opmap_count((filter - 1) / 2);
    w.u.conv.groups = 1;
    w.u.conv.channels_last = true; /* other kernels see to that */
    msim_work_count(&w);
    return w;
}

/*
 * Blocks of queries, heads and sequences are the grid, in one order or other:
 * the first is of queries, of 64 or 128 each.
 */
static struct msim_work attention_work(const struct msim_launches *l,
                                       uint32_t i)
{
    const struct msim_kernel_name *k = msim_launch_name(l, i);
    const struct msim_gpu *e = &l->t->gpu[i];
    struct msim_work w = new_work(MSIM_FAMILY_ATTENTION, k);
    double grid[3] = {8, 16, 1};
    bool decode = k->kind == MSIM_KERNEL_DECODE;

    for (int d = 0; d < 3 && e->config != MSIM_NONE; d++)
        grid[d] = l->t->configs[e->config].grid[d];
    w.u.attention.phase =
        decode ? MSIM_ATTENTION_DECODE : MSIM_ATTENTION_ENCODER;
    w.u.attention.backward = k->backward;
    w.u.attention.batch = msim_opmap_count(grid[2]);
    w.u.attention.heads = w.u.attention.kv_heads = msim_opmap_count(grid[1]);
    w.u.attention.q_len =
        decode ? 1
               : msim_opmap_count(grid[0] * (k->tile[0] > 0 ? k->tile[0] : 64));
    w.u.attention.kv_len = decode ? USUAL_KEYS : w.u.attention.q_len;
    w.u.attention.head_dim = USUAL_HEAD;
    w.u.attention.kv_dtype = w.dtype;
    msim_work_count(&w);
    return w;
}

static enum msim_family family_of(enum msim_kernel_kind kind)
{
    switch (kind) {
    case MSIM_KERNEL_FOREACH:
        return MSIM_FAMILY_OPTIMIZER;
    case MSIM_KERNEL_COPY:
        return MSIM_FAMILY_COPY;
    case MSIM_KERNEL_REDUCTION:
    case MSIM_KERNEL_SPLIT_K:
    case MSIM_KERNEL_SORT:
        return MSIM_FAMILY_REDUCTION;
    case MSIM_KERNEL_SOFTMAX:
        return MSIM_FAMILY_SOFTMAX;
    case MSIM_KERNEL_NORM:
    case MSIM_KERNEL_BATCH_NORM:
        return MSIM_FAMILY_NORM;
    case MSIM_KERNEL_INDEX:
    case MSIM_KERNEL_EMBEDDING:
        return MSIM_FAMILY_EMBEDDING;
    default:
        return MSIM_FAMILY_POINTWISE;
    }
}

static const char *variant_of(const struct msim_kernel_name *k)
{
    if (k->kind == MSIM_KERNEL_POOL && k->maximum && k->backward)
        return "max_pool2d_with_indices_backward";
    return k->kind == MSIM_KERNEL_BATCH_NORM ? "batch_norm" : "";
}

/* Rows of the work: warps of a softmax that hold a row each, else blocks. */
static double rows_of(const struct msim_launches *l, uint32_t i, double elems)
{
    const struct msim_kernel_name *k = msim_launch_name(l, i);
    double blocks = msim_launch_blocks(l, i);

    switch (k->kind) {
    case MSIM_KERNEL_SOFTMAX:
    case MSIM_KERNEL_NORM:
    case MSIM_KERNEL_BATCH_NORM:
        return fmin(fmax(blocks, 1), elems);
    case MSIM_KERNEL_EMBEDDING:
        return k->cols > 0 ? fmax(elems / k->cols, 1) : 1;
    default:
        return 1;
    }
}

/* softmax_warp_*: four warps a block, each with a row. */
static double softmax_elems(const struct msim_launches *l, uint32_t i)
{
    double cols = msim_launch_name(l, i)->cols;

    return cols > 0 ? msim_launch_threads(l, i) / 32 * cols : 0;
}

static double rowwise_elems(const struct msim_launches *l, uint32_t i,
                            double elems)
{
    double blocks = fmax(msim_launch_blocks(l, i), 1);

    if (elems == 0)
        return blocks * USUAL_COLS;
    return fmin(fmax(elems, blocks * SMALLEST_COL), blocks * LARGEST_COLS);
}

static double vector_elems(const struct msim_launches *l, uint32_t i,
                           bool *nearby)
{
    const struct msim_kernel_name *k = msim_launch_name(l, i);
    double elems = msim_launch_elems(l, i, nearby);

    if (k->kind == MSIM_KERNEL_SOFTMAX && k->cols > 0)
        return softmax_elems(l, i);
    if (k->kind == MSIM_KERNEL_SOFTMAX || k->kind == MSIM_KERNEL_NORM)
        return rowwise_elems(l, i, elems);
    return elems;
}

/* What blocks stage in shared memory comes from and goes to memory. */
static double staged_bytes(const struct msim_launches *l, uint32_t i)
{
    uint32_t config = l->t->gpu[i].config;

    return config == MSIM_NONE ? 0
                               : 2.0 * msim_launch_blocks(l, i) *
                                     l->t->configs[config].shared_bytes;
}

/* What each element costs in bytes beside the operands that names count. */
static struct msim_work vector_work(const struct msim_launches *l, uint32_t i,
                                    bool *nearby)
{
    const struct msim_kernel_name *k = msim_launch_name(l, i);
    struct msim_work w = new_work(family_of(k->kind), k);
    double elems = fmax(vector_elems(l, i, nearby), 1);
    double rows = rows_of(l, i, elems);
    double bytes = elems * msim_dtype_bytes(k->dtype);

    w.variant = variant_of(k);
    w.u.vector.copy = MSIM_COPY_D2D;
    w.u.vector.elems = msim_opmap_count(elems);
    w.u.vector.rows = msim_opmap_count(rows);
    w.u.vector.cols = msim_opmap_count(elems / rows);
    w.bytes_read = bytes * k->reads;
    if (k->casts && msim_dtype_bytes(k->dtype) != 4)
        w.bytes_read = elems * 4; /* to or from fp32 or int32 */
    if (k->kind == MSIM_KERNEL_OTHER)
        w.bytes_read = fmax(bytes * OTHER_READS, staged_bytes(l, i));
    w.bytes_written = k->kind == MSIM_KERNEL_REDUCTION ? 0 : bytes * k->writes;
    w.flops = elems;
    return w;
}

/*
 * Standard deviations of the logarithm of a kernel's time, as the launch has
 * it, over the same from shapes: tests/accuracy/launch.sh prints them.
 */
static double spread_of(const struct msim_launches *l, uint32_t i, bool nearby)
{
    const struct msim_kernel_name *k = msim_launch_name(l, i);

    if (l->t->gpu[i].config == MSIM_NONE)
        return 1;
    if (l->products[i].m > 0)
        return l->products[i].related ? 0.3 : 0.9;
    if (k->kind == MSIM_KERNEL_OTHER)
        return 0.9;
    return nearby ? 0.6 : 0.3;
}

bool msim_launch_work(const struct msim_launches *l, uint32_t i,
                      struct msim_work *w, double *spread)
{
    const struct msim_kernel_name *k = msim_launch_name(l, i);
    bool nearby = false;

    if (k->kind == MSIM_KERNEL_COLLECTIVE)
        return false;
    if (k->kind == MSIM_KERNEL_CONV)
        *w = conv_work(k, &l->products[i]);
    else if (l->products[i].m > 0)
        *w = product_work(k, &l->products[i]);
    else if (k->kind == MSIM_KERNEL_ATTENTION || k->kind == MSIM_KERNEL_DECODE)
        *w = attention_work(l, i);
    else
        *w = vector_work(l, i, &nearby);
    *spread = spread_of(l, i, nearby);
    return true;
}
