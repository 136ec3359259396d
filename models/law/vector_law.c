/*
 * models/law/vector_law.c - operators that move bytes and compute little, on
 * GPUs: pointwise, reduction, softmax, norm, embedding, copy, optimizer.
 *
 * time = t0 + norm_p(memory, rows), with
 *   memory  missed / (bandwidth * efficiency)
 *           + hit / (bandwidth * efficiency * cache_speedup)
 *   rows    for kernels that work on rows: a time for each row of an SM, beyond
 *           the rows that run at once; for jagged data: the latency of a warp
 *           that looks for its row; for reductions: the loads of a thread that
 *           wait for each other (models/law/law.h)
 * Bytes hit the L2 cache while the operands fit into a share of it:
 * hit = bytes / (1 + (bytes / (l2 * cache_share))^4). In a gather, bytes of
 * rows that were fetched before and are still cached hit, too.
 */
#include "models/law/law.h"

#include "core/base/texts.h"
#include "core/work/kernel_fact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { T0, MEMORY, CACHE, SHARE, ROW, NORM, N_PARAMS };

static const struct msim_param PARAMS[N_PARAMS] = {
    [T0] = {"t0", "us", 3, 0.3, 200},
    [MEMORY] = {"bandwidth_efficiency", "1", 0.8, 0.005, 1.5},
    [CACHE] = {"cache_speedup", "1", 2, 1, 12},
    [SHARE] = {"cache_share", "1", 0.7, 0.02, 4},
    [ROW] = {"row", "us per row of an SM", 0.1, 1e-4, 10},
    [NORM] = {"norm", "1", 1.5, 1, 8},
};

static const char *const FEATURES[] = {
    "log_bytes", "log_elems",    "log_rows", "log_cols",
    "log_l2",    "log_gcd_cols", "waves",    "tail",
};
#define N_FEATURES (sizeof(FEATURES) / sizeof(*FEATURES))

/* A channel of a batch is more than an SM can hold. cuDNN and PyTorch read it
 * once for its sums (mean and variance; in the gradient: its sum and its
 * product with the input), and again to write the result. */
bool msim_vector_is_read_twice(const struct msim_work *w)
{
    const char *variant = msim_work_variant(w);

    return msim_same_text(variant, "batch_norm") ||
           msim_same_text(variant, "batch_norm_backward");
}

double msim_vector_bytes(const struct msim_work *w)
{
    double bytes = w->bytes_read * (msim_vector_is_read_twice(w) ? 2 : 1) +
                   w->bytes_written;

    return bytes >= 1 ? bytes : 1;
}

/*
 * Columns of the work. The rows that laws were fitted on are of matrices; a
 * flat tensor of which nothing is reduced counts as one, too.
 */
static int64_t cols_of(const struct msim_work *w)
{
    int64_t cols = w->u.vector.cols > 0 ? w->u.vector.cols : 1;
    int64_t most = (int64_t)MSIM_FACT(NULL, FLAT_COLUMNS);
    bool flat = w->u.vector.rows <= 1 && w->family != MSIM_FAMILY_SOFTMAX &&
                w->family != MSIM_FAMILY_NORM;

    return flat && cols > most ? most : cols;
}

static double rows_of(const struct msim_work *w)
{
    double rows = w->u.vector.rows > 0 ? (double)w->u.vector.rows : 1;
    double cols = w->u.vector.cols > 0 ? (double)w->u.vector.cols : 1;

    return rows * cols / (double)cols_of(w);
}

/*
 * Blocks of kernels that give a block to each row; short rows of a gather share
 * a block. 0 for other kernels.
 */
static double row_blocks(const struct msim_work *w)
{
    switch (w->family) {
    case MSIM_FAMILY_SOFTMAX:
    case MSIM_FAMILY_NORM:
        return rows_of(w);
    case MSIM_FAMILY_EMBEDDING:
        return rows_of(w) * fmin(1, (double)cols_of(w) / 256);
    default:
        return 0;
    }
}

/* Bytes of a gather that hit rows which were fetched before. */
static double fetched_again(const struct msim_data_sheet *s,
                            const struct msim_work *w, double share)
{
    double lookups = w->u.vector.lookups, row = w->u.vector.row_bytes;

    if (w->family != MSIM_FAMILY_EMBEDDING || !(row > 0))
        return 0;
    return lookups * row *
           msim_gather_hits(lookups, w->u.vector.table_rows,
                            s->l2_bytes * share / row, s->index_skew);
}

/* What is left of `bytes` in the cache after `between` bytes passed through. */
static double kept(const struct msim_data_sheet *s, double bytes,
                   double between, const double *p)
{
    return bytes / (1 + pow(between / (s->l2_bytes * p[SHARE]), 4));
}

/* Bytes that hit. What is written in place takes no room of its own; channels
 * are read again while those that run beside them have not yet left. */
static double cached_bytes(const struct msim_data_sheet *s,
                           const struct msim_work *w, const double *p)
{
    double once = w->bytes_read + w->bytes_written;
    double room = w->in_place ? fmax(w->bytes_read, w->bytes_written) : once;
    double running =
        fmin(1, MSIM_FACT(s, BATCH_NORM_BLOCKS) * s->sms / rows_of(w));

    if (!msim_vector_is_read_twice(w))
        return kept(s, msim_vector_bytes(w) + msim_softmax_again(s, w),
                    room + msim_softmax_again(s, w), p);
    return kept(s, once, room, p) + kept(s, w->bytes_read, running * once, p);
}

static double memory_time(const struct msim_data_sheet *s,
                          const struct msim_work *w, const double *p)
{
    double bytes = msim_vector_bytes(w) + msim_softmax_again(s, w);
    double hit = cached_bytes(s, w, p);
    double rate = s->bandwidth * p[MEMORY] * 1e-6;
    double again = fetched_again(s, w, p[SHARE]);

    if (again > hit)
        return (bytes - again) / rate +
               again / (rate * fmax(p[CACHE], MSIM_FACT(s, GATHER_CACHE)));
    return (bytes - hit) / rate + hit / (rate * p[CACHE]);
}

struct msim_reduce_grid msim_vector_grid(const struct msim_data_sheet *s,
                                         const struct msim_work *w)
{
    return msim_reduce_grid_of(fmax((double)w->u.vector.rows, 1),
                               fmax((double)w->u.vector.cols, 1),
                               w->u.vector.fold == MSIM_FOLD_ACROSS, s->sms);
}

static double reduction_time(const struct msim_data_sheet *s,
                             const struct msim_work *w)
{
    struct msim_reduce_grid g = msim_vector_grid(s, w);
    double waves =
        g.blocks * g.threads / (s->sms * MSIM_FACT(s, SM_WARPS) * 32);

    return (g.rounds * fmax(waves, 1) +
            (g.split ? MSIM_FACT(s, REDUCE_SPLIT_LOADS) : 0)) *
           MSIM_FACT(s, LOAD_US);
}

static double rows_time(const struct msim_data_sheet *s,
                        const struct msim_work *w, const double *p)
{
    /* of jagged data a warp moves a row */
    if (w->family == MSIM_FAMILY_COPY)
        return w->u.vector.segments / (s->sms * MSIM_FACT(s, SM_WARPS)) *
               MSIM_FACT(s, JAGGED_LOADS) * MSIM_FACT(s, LOAD_US);
    if (w->family == MSIM_FAMILY_REDUCTION &&
        w->u.vector.fold != MSIM_FOLD_UNKNOWN)
        return reduction_time(s, w);
    return fmax(0, row_blocks(w) / s->sms - MSIM_FACT(s, ROW_KERNEL_BLOCKS)) *
           p[ROW] *
           fmin(1, (double)cols_of(w) / MSIM_FACT(s, ROW_KERNEL_COLUMNS));
}

/* A block takes a channel: compute units without a channel load nothing. Of
 * cuDNN's kernels models/law/sm_pace.c says more. */
static double idle_factor(const struct msim_data_sheet *s,
                          const struct msim_work *w)
{
    return s->miopen && msim_vector_is_read_twice(w)
               ? fmax(1, s->sms / rows_of(w))
               : 1;
}

static double vector_time(const struct msim_data_sheet *s,
                          const struct msim_work *w, const double *p)
{
    return p[T0] + msim_norm2(memory_time(s, w, p) * idle_factor(s, w),
                              rows_time(s, w, p), p[NORM]);
}

static void vector_sizes(const struct msim_data_sheet *s,
                         const struct msim_work *w, double *x)
{
    (void)s;
    x[0] = log(msim_vector_bytes(w));
    x[1] = log(w->u.vector.elems > 0 ? (double)w->u.vector.elems : 1);
}

static void vector_describe(const struct msim_data_sheet *s,
                            const struct msim_work *w, double *x)
{
    int64_t cols = cols_of(w);
    double blocks = msim_vector_bytes(w) / 8192 / s->sms;

    vector_sizes(s, w, x);
    x[2] = log(rows_of(w));
    x[3] = log((double)cols);
    x[4] = log(msim_vector_bytes(w) / s->l2_bytes);
    x[5] = log((double)(cols & -cols));
    x[6] = log(blocks);
    x[7] = ceil(blocks) / blocks;
}

static void vector_key(const struct msim_work *w, char *text, size_t size)
{
    MSIM_JOIN_TEXT(text, size, msim_work_variant(w));
}

/* Pointwise operators differ little. For operators of other families the model
 * adds more (models/estimate/vector.c). */
static double vector_key_log_sd(const char *wanted, const char *found)
{
    (void)wanted;
    (void)found;
    return 0.2;
}

/* The cache's rate goes by SMs and their clock, not by device memory, and it
 * holds no more than its size. AMD's last cache is on the side of memory: an
 * addition whose operands fit into it takes as long as from memory (MI300X: 116
 * MB of 268 at 4.1 TB/s, 3.8 GB at 4.1). */
static void vector_carry(const struct msim_data_sheet *to, double *p)
{
    p[SHARE] = fmin(p[SHARE], 1);
    if (to->miopen)
        p[CACHE] = 1;
    else if (to->clock_hz > 0)
        p[CACHE] = fmax(1, MSIM_FACT(to, L2_BYTES_A_CYCLE) * to->sms *
                               to->clock_hz / (to->bandwidth * p[MEMORY]));
}

const struct msim_law MSIM_LAW_VECTOR = {
    .name = "vector",
    .params = PARAMS,
    .n_params = N_PARAMS,
    .features = FEATURES,
    .n_features = N_FEATURES,
    .n_sizes = 2,
    .stack_log_sd = 0.1,
    .carry = vector_carry,
    .key_log_sd = vector_key_log_sd,
    .time_us = vector_time,
    .describe = vector_describe,
    .sizes = vector_sizes,
    .key = vector_key,
};
