/*
 * models/law/cpu_law.c - laws of CPUs: products, convolutions, and operators
 * that move bytes.
 *
 * A CPU has few cores, which do one thing after the other: there are no waves
 * of tiles, and every product of a batch starts anew. Times therefore add up:
 *
 *   product      batch * (t0 + 2 m n k / rate * (1 + em / m + en / n + ek / k)
 *                         + (a m k + b k n + c m n) / bandwidth)
 *                em, en, ek: a kernel computes whole registers at the edges;
 *                a, b, c: operands are read, packed and read again (Goto and
 *                van de Geijn, "Anatomy of high-performance matrix
 *                multiplication", 2008)
 *   convolution  t0 + 2 n k p q c r s / rate
 *                     * (1 + ep / (n p q) + ek / k + ec / c)
 *                + (i n c h w + w k c r s + o n k p q) / bandwidth
 *                channels are rounded up to whole vectors of 64 bytes, the
 *                layout of direct convolutions, to and from which tensors are
 *                copied (Georganas et al., "Anatomy of high-performance deep
 *                learning convolutions on SIMD architectures", 2018)
 *   vector       t0 + bytes / bandwidth * (cores / cores at work)^one + rows
 *
 * Each has a further term: the time of the operating system to map new pages.
 */
#include "core/base/texts.h"
#include "core/work/kernel_fact.h"
#include "core/work/work.h"
#include "models/law/law.h"

#include <math.h>
#include <stdio.h>

static double log_gcd(int64_t v, int64_t most)
{
    int64_t power = v > 0 ? v & -v : 1;

    return log((double)(power < most ? power : most));
}

static double bytes_of(const struct msim_work *w)
{
    return fmax(w->bytes_read + w->bytes_written, 1);
}

#define PAGE_PARAM                                                             \
    {                                                                          \
        "page", "us per new page", 0.1, 1e-4, 5                                \
    }

/* Pages that are touched for the first time: those of larger allocations are
 * always new. */
static double new_pages(const struct msim_work *w, double written)
{
    return !w->in_place && written > MSIM_FACT(NULL, CPU_NEW_PAGES_FROM)
               ? written / MSIM_FACT(NULL, CPU_PAGE_BYTES)
               : 0;
}

/* ---- products ------------------------------------------------------------ */

enum { G_T0, G_RATE, G_M, G_N, G_K, G_A, G_B, G_C, G_PAGE, GEMM_PARAMS };

static const struct msim_param GEMM[GEMM_PARAMS] = {
    [G_T0] = {"t0", "us", 0.3, 0.02, 100},
    [G_RATE] = {"compute_efficiency", "1", 0.9, 0.02, 3},
    [G_M] = {"edge_m", "1", 3, 0.01, 300},
    [G_N] = {"edge_n", "1", 3, 0.01, 300},
    [G_K] = {"edge_k", "1", 3, 0.01, 300},
    [G_A] = {"passes_a", "1", 1, 0.02, 20},
    [G_B] = {"passes_b", "1", 1, 0.02, 20},
    [G_C] = {"passes_c", "1", 1, 0.02, 20},
    [G_PAGE] = PAGE_PARAM,
};

static const char *const GEMM_FEATURES[] = {
    "log_m",       "log_n",          "log_k",          "log_batch",
    "log_flops",   "log_bytes",      "log_mn",         "log_nk",
    "log_mk",      "log_gcd_m_1024", "log_gcd_n_1024", "log_gcd_k_1024",
    "waste_16x16", "a_transposed",   "b_transposed",
};
#define N_GEMM (sizeof(GEMM_FEATURES) / sizeof(*GEMM_FEATURES))

static double gemm_time(const struct msim_data_sheet *s,
                        const struct msim_work *w, const double *p)
{
    double m = (double)w->u.gemm.m, n = (double)w->u.gemm.n;
    double k = (double)w->u.gemm.k, batch = (double)w->u.gemm.batch;
    double rate = msim_data_sheet_flops_per_us(s, w) * p[G_RATE];
    double edges = 1 + p[G_M] / m + p[G_N] / n + p[G_K] / k;
    double passes = p[G_A] * m * k + p[G_B] * k * n + p[G_C] * m * n;
    double bytes = (double)msim_dtype_bytes(w->dtype);

    return batch * (p[G_T0] + 2 * m * n * k / rate * edges +
                    passes * bytes * 1e6 / s->bandwidth) +
           new_pages(w, batch * m * n * bytes) * p[G_PAGE];
}

static void gemm_describe(const struct msim_data_sheet *s,
                          const struct msim_work *w, double *x)
{
    double m = (double)w->u.gemm.m, n = (double)w->u.gemm.n;
    double k = (double)w->u.gemm.k, batch = (double)w->u.gemm.batch;

    (void)s;
    x[0] = log(m);
    x[1] = log(n);
    x[2] = log(k);
    x[3] = log(batch);
    x[4] = log(w->flops);
    x[5] = log(bytes_of(w));
    x[6] = log(m * n);
    x[7] = log(n * k);
    x[8] = log(m * k);
    x[9] = log_gcd(w->u.gemm.m, 1024);
    x[10] = log_gcd(w->u.gemm.n, 1024);
    x[11] = log_gcd(w->u.gemm.k, 1024);
    x[12] = ceil(m / 16) * 16 / m * (ceil(n / 16) * 16 / n);
    x[13] = w->u.gemm.a_transposed;
    x[14] = w->u.gemm.b_transposed;
}

static void gemm_key(const struct msim_work *w, char *text, size_t size)
{
    MSIM_LAW_GEMM.key(w, text, size);
}

const struct msim_law MSIM_LAW_CPU_GEMM = {
    .name = "cpu_gemm",
    .params = GEMM,
    .n_params = GEMM_PARAMS,
    .features = GEMM_FEATURES,
    .n_features = N_GEMM,
    .n_sizes = 6,
    .stack_log_sd = 0.3,
    .time_us = gemm_time,
    .describe = gemm_describe,
    .key = gemm_key,
};

/* ---- convolutions -------------------------------------------------------- */

enum {
    C_T0,
    C_RATE,
    C_PLACES,
    C_FILTERS,
    C_CHANNELS,
    C_IN,
    C_WEIGHT,
    C_OUT,
    C_PAGE,
    CONV_PARAMS
};

static const struct msim_param CONV[CONV_PARAMS] = {
    [C_T0] = {"t0", "us", 5, 0.05, 200},
    [C_RATE] = {"compute_efficiency", "1", 0.9, 0.02, 3},
    [C_PLACES] = {"edge_places", "1", 3, 0.01, 300},
    [C_FILTERS] = {"edge_filters", "1", 3, 0.01, 300},
    [C_CHANNELS] = {"edge_channels", "1", 3, 0.01, 300},
    [C_IN] = {"passes_in", "1", 1, 0.01, 30},
    [C_WEIGHT] = {"passes_weight", "1", 1, 0.01, 30},
    [C_OUT] = {"passes_out", "1", 1, 0.01, 30},
    [C_PAGE] = PAGE_PARAM,
};

static const char *const CONV_FEATURES[] = {
    "log_n",      "log_c",   "log_hw", "log_k",  "log_flops", "log_bytes",
    "log_pq",     "log_crs", "log_rs", "stride", "log_gcd_c", "log_gcd_k",
    "log_groups", "pad",     "fill_c", "fill_k",
};
#define N_CONV (sizeof(CONV_FEATURES) / sizeof(*CONV_FEATURES))

/* Channels rounded up to whole vectors. The three channels of pictures have
 * kernels of their own. */
static double in_vectors(double channels, double bytes)
{
    double lanes = MSIM_FACT(NULL, CPU_VECTOR_BYTES) / fmax(bytes, 1);

    return channels > 3 ? ceil(channels / lanes) * lanes : channels;
}

static double conv_time(const struct msim_data_sheet *sheet,
                        const struct msim_work *w, const double *p)
{
    double bytes = (double)msim_dtype_bytes(w->dtype);
    double rate = msim_data_sheet_flops_per_us(sheet, w) * p[C_RATE];
    double places, depth, filters, channels, edges, moved;
    struct msim_conv_shape s;

    msim_conv_shape_of(w, &s);
    places = s.n * s.p * s.q;
    filters = in_vectors(s.k, bytes);
    channels = in_vectors(s.c, bytes);
    depth = channels * s.r * s.s;
    edges = 1 + p[C_PLACES] / places + p[C_FILTERS] / filters +
            p[C_CHANNELS] / channels;
    moved = p[C_IN] * s.n * s.c * s.h * s.w +
            p[C_WEIGHT] * s.k * s.c * s.r * s.s + p[C_OUT] * s.k * places;
    return p[C_T0] +
           s.groups * (2 * filters * places * depth / rate * edges +
                       moved * bytes * 1e6 / sheet->bandwidth) +
           new_pages(w, w->bytes_written) * p[C_PAGE];
}

static void conv_describe(const struct msim_data_sheet *sheet,
                          const struct msim_work *w, double *x)
{
    struct msim_conv_shape s;

    (void)sheet;
    msim_conv_shape_of(w, &s);
    x[0] = log(s.n);
    x[1] = log(s.c);
    x[2] = log(s.h * s.w);
    x[3] = log(s.k);
    x[4] = log(fmax(w->flops, 1));
    x[5] = log(bytes_of(w));
    x[6] = log(s.p * s.q);
    x[7] = log(s.c * s.r * s.s);
    x[8] = log(s.r * s.s);
    x[9] = s.stride_h;
    x[10] = log_gcd((int64_t)s.c, 64);
    x[11] = log_gcd((int64_t)s.k, 64);
    x[12] = log(s.groups);
    x[13] = (double)w->u.conv.pad_h;
    x[14] = s.c / in_vectors(s.c, (double)msim_dtype_bytes(w->dtype));
    x[15] = s.k / in_vectors(s.k, (double)msim_dtype_bytes(w->dtype));
}

static void conv_key(const struct msim_work *w, char *text, size_t size)
{
    MSIM_LAW_CONV.key(w, text, size);
}

const struct msim_law MSIM_LAW_CPU_CONV = {
    .name = "cpu_conv",
    .params = CONV,
    .n_params = CONV_PARAMS,
    .features = CONV_FEATURES,
    .n_features = N_CONV,
    .n_sizes = 6,
    .stack_log_sd = 0.3,
    .time_us = conv_time,
    .describe = conv_describe,
    .key = conv_key,
};

/* ---- what moves bytes ---------------------------------------------------- */

enum { V_T0, V_MEMORY, V_ONE, V_ROW, V_PAGE, VECTOR_PARAMS };

static const struct msim_param VECTOR[VECTOR_PARAMS] = {
    [V_T0] = {"t0", "us", 0.5, 0.02, 100},
    [V_MEMORY] = {"bandwidth_efficiency", "1", 0.7, 0.001, 5},
    /* 1: one core is slower than n cores by n (arithmetic); 0: one core alone
     * uses all of the bandwidth */
    [V_ONE] = {"one_core_exponent", "1", 0.5, 0.01, 1.2},
    [V_ROW] = {"row", "us per row of a core", 0.01, 1e-5, 10},
    [V_PAGE] = PAGE_PARAM,
};

static const char *const VECTOR_FEATURES[] = {
    "log_bytes", "log_elems",    "log_rows",  "log_cols",
    "log_cache", "log_gcd_cols", "log_cores", "log_row_bytes",
};
#define N_VECTOR (sizeof(VECTOR_FEATURES) / sizeof(*VECTOR_FEATURES))

static double at_least_1(int64_t v)
{
    return v > 1 ? (double)v : 1;
}

/* Rows to share out among cores: look-ups where there are any, else rows. */
static double rows_of(const struct msim_work *w)
{
    return w->u.vector.lookups > 0 ? w->u.vector.lookups
                                   : at_least_1(w->u.vector.rows);
}

static bool is_by_rows(const struct msim_work *w)
{
    return w->family == MSIM_FAMILY_SOFTMAX || w->family == MSIM_FAMILY_NORM ||
           w->family == MSIM_FAMILY_EMBEDDING ||
           w->family == MSIM_FAMILY_REDUCTION;
}

/* Cores that take part, each with a range of the elements or of the rows. */
static double cores_at_work(const struct msim_data_sheet *s,
                            const struct msim_work *w)
{
    double parts =
        floor(at_least_1(w->u.vector.elems) / MSIM_FACT(NULL, CPU_GRAIN));

    if (is_by_rows(w))
        parts = fmin(parts, rows_of(w));
    return fmin(fmax(parts, 1), fmax(s->sms, 1));
}

static double vector_time(const struct msim_data_sheet *s,
                          const struct msim_work *w, const double *p)
{
    double cores = cores_at_work(s, w);
    double rate = s->bandwidth * p[V_MEMORY] * 1e-6;
    double rows = is_by_rows(w) ? rows_of(w) / cores : 0;

    return p[V_T0] + bytes_of(w) / rate * pow(s->sms / cores, p[V_ONE]) +
           rows * p[V_ROW] + new_pages(w, w->bytes_written) * p[V_PAGE];
}

static void vector_describe(const struct msim_data_sheet *s,
                            const struct msim_work *w, double *x)
{
    double rows = rows_of(w), elems = at_least_1(w->u.vector.elems);
    int64_t cols = msim_whole(elems / rows);

    x[0] = log(bytes_of(w));
    x[1] = log(elems);
    x[2] = log(rows);
    x[3] = log(at_least_1(cols));
    x[4] = log(bytes_of(w) / s->l2_bytes);
    x[5] = log_gcd(cols, 4096);
    x[6] = log(cores_at_work(s, w));
    x[7] = log(bytes_of(w) / rows);
}

/* The variant, with PyTorch's underscore for in place: there, what is written
 * has been read already, which saves a fetch. */
static void vector_key(const struct msim_work *w, char *text, size_t size)
{
    const char *variant = msim_work_variant(w);
    bool add = w->in_place && *variant && !msim_work_is_in_place(variant);

    MSIM_JOIN_TEXT(text, size, variant, add ? "_" : "");
}

const struct msim_law MSIM_LAW_CPU_VECTOR = {
    .name = "cpu_vector",
    .params = VECTOR,
    .n_params = VECTOR_PARAMS,
    .features = VECTOR_FEATURES,
    .n_features = N_VECTOR,
    .n_sizes = 2,
    .stack_log_sd = 0.2,
    .time_us = vector_time,
    .describe = vector_describe,
    .key = vector_key,
};
