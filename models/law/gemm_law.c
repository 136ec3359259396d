/*
 * models/law/gemm_law.c - matrix products on GPUs.
 *
 * time = t0 + norm_p(compute, memory, depth), with
 *   compute  flops / (rate * efficiency), times (ceil(w) / w)^wave for w waves
 *            of 128 x 128 tiles over the SMs: the last wave is not full
 *   memory   least traffic / (bandwidth * efficiency); on GPUs of several dies,
 *            plus what each die's L2 cache reads from the shared cache
 *   depth    k times the time of one step of a tile's main loop, which small
 *            products cannot hide
 * t0 dominates small products, memory narrow ones, compute large ones.
 */
#include "models/law/law.h"

#include "core/base/texts.h"
#include "core/work/kernel_fact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { T0, RATE, MEMORY, NORM, WAVE, DEPTH, N_PARAMS };

static const struct msim_param PARAMS[N_PARAMS] = {
    [T0] = {"t0", "us", 4, 0.3, 200},
    [RATE] = {"compute_efficiency", "1", 0.75, 0.02, 2},
    [MEMORY] = {"bandwidth_efficiency", "1", 0.75, 0.02, 6},
    [NORM] = {"norm", "1", 2.5, 1, 8},
    [WAVE] = {"wave_exponent", "1", 0.5, 0.01, 1},
    [DEPTH] = {"depth", "us per 1024 of k", 1, 0.01, 60},
};

static const char *const FEATURES[] = {
    "log_m",         "log_n",         "log_k",          "log_batch",
    "log_flops",     "log_bytes",     "log_mn",         "log_nk",
    "log_mk",        "waves_64x64",   "tail_64x64",     "waste_64x64",
    "waves_128x64",  "tail_128x64",   "waste_128x64",   "waves_128x128",
    "tail_128x128",  "waste_128x128", "waves_256x128",  "tail_256x128",
    "waste_256x128", "log_gcd_m_256", "log_gcd_n_1024", "log_gcd_k_1024",
    "a_transposed",  "b_transposed",
};
#define N_FEATURES (sizeof(FEATURES) / sizeof(*FEATURES))

/* Waves of output tiles of tm x tn over the SMs. */
static double waves(const struct msim_data_sheet *s, const struct msim_work *w,
                    double tm, double tn)
{
    return ceil((double)w->u.gemm.m / tm) * ceil((double)w->u.gemm.n / tn) *
           (double)w->u.gemm.batch / s->sms;
}

/*
 * What the dies read from the cache that they share, microseconds. Blocks go to
 * the dies in turn. Each die's L2 cache therefore fetches the rows of A for
 * every column of tiles that it works on, and the columns of B for every row of
 * tiles: every operand once a die, where there are as many tiles as dies.
 */
static double dealt_us(const struct msim_data_sheet *s,
                       const struct msim_work *w, double efficiency)
{
    double m = (double)w->u.gemm.m, n = (double)w->u.gemm.n;
    double of_a = m * fmin(s->dies, ceil(n / 128)) * msim_dtype_bytes(w->dtype);
    double of_b = n * fmin(s->dies, ceil(m / 128)) * msim_work_weight_bytes(w);

    if (!(s->shared_cache > 0))
        return 0;
    return (of_a + of_b) * (double)w->u.gemm.k * (double)w->u.gemm.batch * 1e6 /
           (s->shared_cache * efficiency);
}

/* Where half of the fp32 units compute integers, too (GA10x and later graphics
 * chips), products of fp32 cannot keep all of them busy, and fewer if B is
 * transposed, as the weights of a linear layer are. */
static double rate_per_us(const struct msim_data_sheet *s,
                          const struct msim_work *w)
{
    double rate = msim_data_sheet_flops_per_us(s, w);

    if (msim_data_sheet_rate_on(s, w->dtype, w->variant) != MSIM_RATE_FP32 ||
        s->product_fp32 == 1)
        return rate;
    return rate * s->product_fp32 *
           (w->u.gemm.b_transposed ? MSIM_FACT(s, PLAIN_PRODUCT_TRANSPOSED)
                                   : 1);
}

static double gemm_time(const struct msim_data_sheet *s,
                        const struct msim_work *w, const double *p)
{
    double full = waves(s, w, 128, 128);
    double compute = w->flops / (rate_per_us(s, w) * p[RATE]) *
                     pow(ceil(full) / full, p[WAVE]);
    double memory =
        (w->bytes_read + w->bytes_written) * 1e6 / (s->bandwidth * p[MEMORY]);
    double depth = (double)w->u.gemm.k / 1024 * p[DEPTH];

    memory += dealt_us(s, w, p[MEMORY]);
    return p[T0] +
           msim_norm2(msim_norm2(compute, memory, p[NORM]), depth, p[NORM]);
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;

        a = b;
        b = r;
    }
    return a;
}

static void gemm_sizes(const struct msim_data_sheet *s,
                       const struct msim_work *w, double *x)
{
    (void)s;
    x[0] = log((double)w->u.gemm.m);
    x[1] = log((double)w->u.gemm.n);
    x[2] = log((double)w->u.gemm.k);
    x[3] = log((double)w->u.gemm.batch);
    x[4] = log(w->flops);
    x[5] = log(w->bytes_read + w->bytes_written);
}

static void gemm_describe(const struct msim_data_sheet *s,
                          const struct msim_work *w, double *x)
{
    static const double TILES[][2] = {
        {64, 64}, {128, 64}, {128, 128}, {256, 128}};
    double m = (double)w->u.gemm.m;
    double n = (double)w->u.gemm.n;
    double k = (double)w->u.gemm.k;
    double batch = (double)w->u.gemm.batch;
    size_t f = 9;

    gemm_sizes(s, w, x);
    x[6] = log(m * n * batch);
    x[7] = log(n * k);
    x[8] = log(m * k);
    for (size_t i = 0; i < sizeof(TILES) / sizeof(*TILES); i++) {
        double tm = TILES[i][0];
        double tn = TILES[i][1];
        double full = waves(s, w, tm, tn);

        x[f++] = log(full);
        x[f++] = ceil(full) / full;
        x[f++] = ceil(m / tm) * tm / m * (ceil(n / tn) * tn / n);
    }
    x[f++] = log((double)gcd(w->u.gemm.m, 256));
    x[f++] = log((double)gcd(w->u.gemm.n, 1024));
    x[f++] = log((double)gcd(w->u.gemm.k, 1024));
    x[f++] = w->u.gemm.a_transposed;
    x[f++] = w->u.gemm.b_transposed;
}

const char *msim_gemm_kind(const struct msim_work *w, enum msim_rate rate)
{
    static const char *const RATE_KIND[MSIM_RATE_COUNT] = {
        [MSIM_RATE_FP64] = "fp64", [MSIM_RATE_FP32] = "fp32",
        [MSIM_RATE_TF32] = "tf32", [MSIM_RATE_FP16] = "half",
        [MSIM_RATE_FP8] = "fp8",   [MSIM_RATE_INT8] = "int8",
        [MSIM_RATE_FP4] = "nvfp4",
    };
    static const char *const PACKED[] = {"fp8_block", "int4_wo", "int8_wo",
                                         "sq"};
    const char *variant = msim_work_variant(w);

    for (size_t i = 0; i < sizeof(PACKED) / sizeof(*PACKED); i++)
        if (msim_same_text(variant, PACKED[i]))
            return PACKED[i];
    return RATE_KIND[rate];
}

static void gemm_key(const struct msim_work *w, char *text, size_t size)
{
    MSIM_JOIN_TEXT(
        text, size,
        msim_gemm_kind(w, msim_data_sheet_rate(w->dtype, w->variant)));
}

static bool is_plain(const char *key)
{
    return msim_same_text(key, "fp32") || msim_same_text(key, "fp64");
}

/* Formats reach different fractions of their rates: fp8 and packed formats half
 * where half precision reaches three quarters; plain kernels differ most. */
static double gemm_key_log_sd(const char *wanted, const char *found)
{
    return is_plain(wanted) == is_plain(found) ? 0.4 : 0.6;
}

const struct msim_law MSIM_LAW_GEMM = {
    .name = "gemm",
    .params = PARAMS,
    .n_params = N_PARAMS,
    .features = FEATURES,
    .n_features = N_FEATURES,
    .n_sizes = 6,
    .start_follows_floor = true,
    .carried_low = {[MEMORY] = 0.7},
    .stack_log_sd = 0.12, /* half precision: mean differences of 3 to 16 % */
    .key_log_sd = gemm_key_log_sd,
    .time_us = gemm_time,
    .describe = gemm_describe,
    .sizes = gemm_sizes,
    .key = gemm_key,
};
