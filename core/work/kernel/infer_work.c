/*
 * core/work/kernel/infer_work.c - works of kernels from their inferred sizes,
 * and the error that these sizes cause.
 */
#include "core/work/kernel/infer.h"
#include "core/work/kernel_fact.h"
#include "core/work/rules/opmap_rule.h"

#include <math.h>
#include <string.h>

/* ---- works ------------------------------------------------------------- */

static struct msim_work new_work(enum msim_family family,
                                 const struct msim_kernel_name *k)
{
    struct msim_work w;

    memset(&w, 0, sizeof(w)); /* works are compared by their bytes */
    w.family = family;
    w.dtype = k->dtype;
    w.variant = "";
    w.kernels = 1;
    return w;
}

/* A size that tiles of rows that begin anywhere cover: odd. */
static int64_t size_of(const struct msim_kernel_name *k, double size)
{
    int64_t whole = msim_opmap_count(size);

    return k->odd && whole > 1 && whole % 2 == 0 ? whole - 1 : whole;
}

static struct msim_work product_work(const struct msim_kernel_name *k,
                                     const struct msim_infer_product *p)
{
    struct msim_work w = new_work(MSIM_FAMILY_GEMM, k);

    w.variant = k->rate == MSIM_RATE_TF32 ? "tf32" : "";
    w.u.gemm.m = size_of(k, p->m);
    w.u.gemm.n = size_of(k, p->n);
    w.u.gemm.k = size_of(k, p->k);
    w.u.gemm.batch = msim_opmap_count(p->batch);
    msim_work_count(&w);
    return w;
}

/*
 * A convolution whose maps are as square as can be. Rows, columns and depth of
 * its product depend on the pass: forward they are positions, output channels
 * and input channels x filter; the gradients exchange them.
 */
static struct msim_work conv_work(const struct msim_kernel_name *k,
                                  const struct msim_infer_product *p)
{
    struct msim_work w = new_work(MSIM_FAMILY_CONV, k);
    bool weights = k->pass == MSIM_CONV_BACKWARD_WEIGHT;
    double positions = weights ? p->k : p->m;
    double out = weights ? fmin(p->m, p->n) : p->n;
    double in = (weights ? fmax(p->m, p->n) : p->k) / p->filter;
    double side =
        fmax(1, round(sqrt(positions / MSIM_FACT(NULL, USUAL_CONV_MAPS))));
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
 * The grid is blocks of queries, heads and sequences, in either order: the
 * first is of queries, of 64 or 128 each.
 */
static struct msim_work attention_work(const struct msim_infer *l, uint32_t i)
{
    const struct msim_kernel_name *k = msim_infer_name(l, i);
    const struct msim_gpu *e = &l->t->gpu[i];
    struct msim_work w = new_work(MSIM_FAMILY_ATTENTION, k);
    double grid[3] = {8, 16, 1};
    bool decode = k->kind == MSIM_KERNEL_DECODE;

    for (int d = 0; d < 3 && e->config != MSIM_NONE; d++)
        grid[d] = l->t->configs[e->config].grid[d];
    w.u.attention.phase = decode      ? MSIM_ATTENTION_DECODE
                          : k->causal ? MSIM_ATTENTION_PREFILL
                                      : MSIM_ATTENTION_ENCODER;
    w.u.attention.backward = k->backward;
    w.u.attention.batch = msim_opmap_count(grid[2]);
    w.u.attention.heads = w.u.attention.kv_heads = msim_opmap_count(grid[1]);
    w.u.attention.q_len =
        decode ? 1
               : msim_opmap_count(grid[0] * (k->tile[0] > 0 ? k->tile[0] : 64));
    w.u.attention.kv_len = decode
                               ? (int64_t)MSIM_FACT(NULL, USUAL_ATTENTION_KEYS)
                               : w.u.attention.q_len;
    w.u.attention.head_dim =
        k->cols > 0 ? msim_opmap_count(k->cols)
                    : (int64_t)MSIM_FACT(NULL, USUAL_ATTENTION_HEAD);
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
static double rows_of(const struct msim_infer *l, uint32_t i, double elems)
{
    const struct msim_kernel_name *k = msim_infer_name(l, i);
    double blocks = msim_infer_blocks(l, i);

    if (k->kind == MSIM_KERNEL_SOFTMAX && k->cols > 0)
        return fmax(elems / k->cols, 1);
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
static double softmax_elems(const struct msim_infer *l, uint32_t i)
{
    double cols = msim_infer_name(l, i)->cols;

    return cols > 0 ? msim_infer_threads(l, i) / 32 * cols : 0;
}

static double rowwise_elems(const struct msim_infer *l, uint32_t i,
                            double elems)
{
    double blocks = fmax(msim_infer_blocks(l, i), 1);

    if (elems == 0)
        return blocks * l->width;
    return fmin(fmax(elems, blocks * MSIM_FACT(NULL, USUAL_ROW_LEAST)),
                blocks * MSIM_FACT(NULL, USUAL_ROW_MOST));
}

static double vector_elems(const struct msim_infer *l, uint32_t i)
{
    const struct msim_kernel_name *k = msim_infer_name(l, i);
    double elems = msim_infer_elems(l, i);

    if (k->kind == MSIM_KERNEL_OTHER && k->rowwise)
        return fmax(msim_infer_blocks(l, i), 1) * l->width;
    if (k->kind == MSIM_KERNEL_SOFTMAX && k->cols > 0)
        return softmax_elems(l, i);
    if (k->kind == MSIM_KERNEL_SOFTMAX || k->kind == MSIM_KERNEL_NORM)
        return rowwise_elems(l, i, elems);
    return elems;
}

/* What blocks stage in shared memory is read from and written to memory. */
static double staged_bytes(const struct msim_infer *l, uint32_t i)
{
    uint32_t config = l->t->gpu[i].config;

    return config == MSIM_NONE ? 0
                               : 2.0 * msim_infer_blocks(l, i) *
                                     l->t->configs[config].shared_bytes;
}

/*
 * PyTorch's reductions have blocks of up to 512 threads
 * (models/law/law.h), and as many times fewer as a thread has outputs
 * side by side. Larger blocks sum rows: each row by a line of threads, or,
 * where rows are long, by a block.
 */
static void set_reduced(const struct msim_infer *l, uint32_t i, double elems,
                        struct msim_work *w)
{
    const struct msim_launch_config *c;
    double wide, high, across, rows;

    if (l->t->gpu[i].config == MSIM_NONE)
        return;
    c = &l->t->configs[l->t->gpu[i].config];
    wide = c->block[0];
    high = c->block[1];
    across = wide * high <= 128 ? 4 : wide * high <= 256 ? 2 : 0;
    rows = c->grid[0] * fmax(across * wide, 1);
    if (across == 0 && elems / rows / wide < high * high * 16)
        rows *= high;
    rows = fmin(rows, elems);
    w->u.vector.fold = across > 0 ? MSIM_FOLD_ACROSS : MSIM_FOLD_ALONG;
    w->u.vector.rows = msim_opmap_count(rows);
    w->u.vector.cols = msim_opmap_count(elems / rows);
}

/* Parts that are added to one sum: the products of a batch before it, where
 * these are images whose gradients of a filter are added; else as many as the
 * name has. */
static double parts(const struct msim_infer *l, uint32_t i)
{
    uint32_t o = l->place[i];
    double batch = o > 0 ? l->products[l->order[o - 1]].batch : 0;

    return batch > 1 ? batch : msim_infer_name(l, i)->reads;
}

/* Bytes of each element that the operands in the name do not show. */
static struct msim_work vector_work(const struct msim_infer *l, uint32_t i)
{
    const struct msim_kernel_name *k = msim_infer_name(l, i);
    struct msim_work w = new_work(family_of(k->kind), k);
    double elems = fmax(vector_elems(l, i), 1);
    double rows = rows_of(l, i, elems);
    double bytes = elems * msim_dtype_bytes(k->dtype);

    w.variant = variant_of(k);
    w.u.vector.copy = l->t->gpu[i].kind == MSIM_GPU_MEMCPY
                          ? (enum msim_copy_kind)l->t->gpu[i].copy_kind
                          : MSIM_COPY_D2D;
    w.u.vector.pageable = l->t->gpu[i].pageable;
    w.u.vector.elems = msim_opmap_count(elems);
    w.u.vector.rows = msim_opmap_count(rows);
    w.u.vector.cols = msim_opmap_count(elems / rows);
    if (k->kind == MSIM_KERNEL_REDUCTION)
        set_reduced(l, i, elems, &w);
    w.bytes_read = bytes * k->reads;
    if (k->casts && msim_dtype_bytes(k->dtype) != 4)
        w.bytes_read = elems * 4; /* to or from fp32 or int32 */
    if (k->kind == MSIM_KERNEL_SPLIT_K)
        w.bytes_read = bytes * parts(l, i);
    if (k->kind == MSIM_KERNEL_OTHER)
        w.bytes_read =
            fmax(bytes * (k->rowwise ? 1 : MSIM_FACT(NULL, USUAL_KERNEL_LOADS)),
                 staged_bytes(l, i));
    w.bytes_written = k->kind == MSIM_KERNEL_REDUCTION ? 0 : bytes * k->writes;
    w.flops = elems;
    return w;
}

/*
 * Standard deviations of the logarithm of (a kernel's time from its inferred
 * sizes over that from its shapes), by what its size is inferred from: root
 * mean squares over kernels of traces with shapes, each trace with equal
 * weight, rounded up. tests/accuracy/launch.sh prints them and checks them.
 */
static const struct {
    double own;        /* its own launch; of products: related ones */
    double neighbours; /* its neighbours; of products: the one before */
} LOG_SD[MSIM_KERNEL_KINDS] = {
    [MSIM_KERNEL_OTHER] = {1.55, 1.55},
    [MSIM_KERNEL_MATRIX] = {0.4, 0.8},
    [MSIM_KERNEL_GEMV] = {0.3, 0.8},
    [MSIM_KERNEL_CONV] = {0.65, 0.9},
    [MSIM_KERNEL_ATTENTION] = {0.5, 0.5},
    [MSIM_KERNEL_DECODE] = {1, 1},
    [MSIM_KERNEL_SPLIT_K] = {0.4, 0.4},
    [MSIM_KERNEL_ELEMENTWISE] = {0.2, 1.2},
    [MSIM_KERNEL_FOREACH] = {0.15, 0.15},
    [MSIM_KERNEL_COPY] = {0.4, 1.6},
    [MSIM_KERNEL_REDUCTION] = {0.95, 0.95},
    [MSIM_KERNEL_SOFTMAX] = {0.65, 0.65},
    [MSIM_KERNEL_NORM] = {0.5, 0.5},
    [MSIM_KERNEL_BATCH_NORM] = {0.9, 0.9},
    [MSIM_KERNEL_POOL] = {0.45, 0.45},
    [MSIM_KERNEL_INDEX] = {0.4, 0.4},
    [MSIM_KERNEL_EMBEDDING] = {1.5, 1.5},
    [MSIM_KERNEL_SORT] = {0.3, 0.3},
};

/* Transfers have no such figures: as for kernels of no known kind. */
#define LOG_SD_OF_TRANSFER LOG_SD[MSIM_KERNEL_OTHER].neighbours

static double log_sd_of(const struct msim_infer *l, uint32_t i)
{
    enum msim_kernel_kind kind = msim_infer_name(l, i)->kind;

    if (l->t->gpu[i].config == MSIM_NONE)
        return MSIM_FACT(NULL, USUAL_KERNEL_LOG_SD);
    return msim_infer_own(l, i) ? LOG_SD[kind].own : LOG_SD[kind].neighbours;
}

bool msim_infer_blind(const struct msim_infer *l, uint32_t i)
{
    return msim_infer_name(l, i)->kind == MSIM_KERNEL_OTHER;
}

void msim_infer_comm(const struct msim_infer *l, uint32_t i,
                     struct msim_work *w, double *log_sd)
{
    double bytes = msim_infer_taken(l, i) * msim_dtype_bytes(MSIM_DT_F32);

    *log_sd = 0;
    if (w->u.coll.bytes > 0 || w->u.coll.collective == MSIM_COLL_BARRIER)
        return;
    *log_sd = LOG_SD_OF_TRANSFER;
    if (bytes == 0)
        return;
    w->u.coll.bytes = (uint64_t)msim_opmap_count(bytes);
    w->bytes_read = w->bytes_written = bytes;
}

bool msim_infer_work(const struct msim_infer *l, uint32_t i,
                     struct msim_work *w, double *log_sd)
{
    const struct msim_kernel_name *k = msim_infer_name(l, i);

    if (k->kind == MSIM_KERNEL_COLLECTIVE)
        return false;
    if (k->kind == MSIM_KERNEL_CONV)
        *w = conv_work(k, &l->products[i]);
    else if (l->products[i].m > 0)
        *w = product_work(k, &l->products[i]);
    else if (k->kind == MSIM_KERNEL_ATTENTION || k->kind == MSIM_KERNEL_DECODE)
        *w = attention_work(l, i);
    else
        *w = vector_work(l, i);
    w->graphed = l->t->gpu[i].in_graph;
    *log_sd = log_sd_of(l, i);
    return true;
}
