/*
 * models/law/attention_law.c - attention as one kernel, as in flash attention.
 *
 * time = t0 + norm_p(compute, memory, depth), with
 *   compute  4 * head_dim flops for each query-key pair over (rate *
 *            efficiency), times (ceil(w) / w)^wave for w waves of
 *            (sequence, head, 128 queries) blocks over the SMs
 *   memory   queries, keys, values and output, each once
 *   depth    the keys that one block reads one after the other
 * Causal masking halves the pairs; a window bounds them. Decoding has one query
 * a sequence, so that memory dominates it.
 */
#include "models/law/law.h"

#include "core/base/texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { T0, RATE, MEMORY, NORM, WAVE, DEPTH, N_PARAMS };

static const struct msim_param PARAMS[N_PARAMS] = {
    [T0] = {"t0", "us", 6, 0.3, 200},
    [RATE] = {"compute_efficiency", "1", 0.5, 0.005, 2},
    [MEMORY] = {"bandwidth_efficiency", "1", 0.6, 0.005, 6},
    [NORM] = {"norm", "1", 2.5, 1, 8},
    [WAVE] = {"wave_exponent", "1", 0.3, 0.01, 1},
    [DEPTH] = {"depth", "us per 1024 keys", 3, 0.01, 200},
};

static const char *const FEATURES[] = {
    "log_batch",     "log_heads",   "log_kv_heads", "log_q_len",
    "log_kv_len",    "log_flops",   "log_bytes",    "log_head_dim",
    "log_group",     "log_keys",    "log_window",   "log_window_kv",
    "kv_bytes",      "input_bytes", "waves_64",     "tail_64",
    "waves_128",     "tail_128",    "waves_256",    "tail_256",
    "log_kv_blocks", "log_tokens",  "waves_kv",     "tail_kv",
    "log_packed_16", "packed_64",   "packed_128",   "log_splits",
    "log_split_kv",  "tail_split",  "log_rounds",
};
#define N_FEATURES (sizeof(FEATURES) / sizeof(*FEATURES))

/* Waves of blocks of so many queries over the SMs. */
static double waves(const struct msim_data_sheet *s, const struct msim_work *w,
                    double queries)
{
    return (double)w->u.attention.batch * (double)w->u.attention.heads *
           ceil((double)w->u.attention.q_len / queries) / s->sms;
}

/* Keys that the longest query reads. */
static double keys_walked(const struct msim_work *w)
{
    int64_t kv = w->u.attention.kv_len;
    int64_t window = w->u.attention.window;

    return (double)(window > 0 && window < kv ? window : kv);
}

static double attention_time(const struct msim_data_sheet *s,
                             const struct msim_work *w, const double *p)
{
    double full = waves(s, w, 128);
    double compute = w->flops / (msim_data_sheet_flops_per_us(s, w) * p[RATE]) *
                     pow(ceil(full) / full, p[WAVE]);
    double memory =
        (w->bytes_read + w->bytes_written) * 1e6 / (s->bandwidth * p[MEMORY]);
    double depth = keys_walked(w) / 1024 * p[DEPTH];

    return p[T0] +
           msim_norm2(msim_norm2(compute, memory, p[NORM]), depth, p[NORM]);
}

/*
 * Features of decoding kernels. A block there serves all queries that share
 * keys (a group of heads). Where sequences are too few to fill the GPU, the
 * keys of each are split over several blocks: two for every SM, of 64 keys at
 * least.
 */
static void describe_groups(const struct msim_data_sheet *s,
                            const struct msim_work *w, double *x)
{
    double pairs =
        (double)w->u.attention.batch * (double)w->u.attention.kv_heads;
    double packed = (double)w->u.attention.heads /
                    (double)w->u.attention.kv_heads *
                    (double)w->u.attention.q_len;
    double blocks = ceil(keys_walked(w) / 64);
    double splits = fmin(fmax(floor(2 * s->sms / pairs), 1), blocks);
    double full = pairs * splits / s->sms;

    x[0] = log(pairs / s->sms);
    x[1] = ceil(pairs / s->sms) / (pairs / s->sms);
    x[2] = log(ceil(packed / 16));
    x[3] = log(pairs * ceil(packed / 64) / s->sms);
    x[4] = log(pairs * ceil(packed / 128) / s->sms);
    x[5] = log(splits);
    x[6] = log(blocks / splits);
    x[7] = ceil(full) / full;
    x[8] = log(ceil(blocks / splits) * ceil(full));
}

static void attention_sizes(const struct msim_data_sheet *s,
                            const struct msim_work *w, double *x)
{
    (void)s;
    x[0] = log((double)w->u.attention.batch);
    x[1] = log((double)w->u.attention.heads);
    x[MSIM_ATTENTION_SIZE_KV_HEADS] = log((double)w->u.attention.kv_heads);
    x[3] = log((double)w->u.attention.q_len);
    x[4] = log((double)w->u.attention.kv_len);
    x[5] = log(w->flops);
    x[6] = log(w->bytes_read + w->bytes_written);
    x[7] = log((double)w->u.attention.head_dim);
}

static void attention_describe(const struct msim_data_sheet *s,
                               const struct msim_work *w, double *x)
{
    static const double QUERIES[] = {64, 128, 256};
    double batch = (double)w->u.attention.batch;
    double heads = (double)w->u.attention.heads;
    double kv_heads = (double)w->u.attention.kv_heads;
    double q = (double)w->u.attention.q_len;
    double kv = (double)w->u.attention.kv_len;
    double window = (double)w->u.attention.window;
    size_t f = 14;

    attention_sizes(s, w, x);
    x[8] = log(heads / kv_heads);
    x[9] = log(msim_attention_pairs(w) / q);
    x[10] = window > 0 ? log(window) : 20;
    x[11] = window > 0 && window < kv ? log(window / kv) : 0;
    x[12] = msim_dtype_bytes(w->u.attention.kv_dtype);
    x[13] = msim_dtype_bytes(w->dtype);
    for (size_t i = 0; i < sizeof(QUERIES) / sizeof(*QUERIES); i++) {
        double full = waves(s, w, QUERIES[i]);

        x[f++] = log(full);
        x[f++] = ceil(full) / full;
    }
    x[f++] = log(batch * kv_heads * ceil(kv / 128) / s->sms);
    x[f++] = log(batch * q);
    describe_groups(s, w, x + f);
}

const char *msim_attention_phase_text(const struct msim_work *w)
{
    static const char *const TEXT[] = {
        [MSIM_ATTENTION_PREFILL] = "prefill",
        [MSIM_ATTENTION_DECODE] = "decode",
        [MSIM_ATTENTION_ENCODER] = "encoder",
    };

    return TEXT[w->u.attention.phase];
}

static void attention_key(const struct msim_work *w, char *text, size_t size)
{
    MSIM_JOIN_TEXT(text, size, msim_attention_phase_text(w));
}

/* Prefill and encoder differ by the mask; decoding is another kernel. */
static double attention_key_log_sd(const char *wanted, const char *found)
{
    bool other = strcmp(wanted, "decode") == 0 || strcmp(found, "decode") == 0;

    return other ? 0.7 : 0.2;
}

/* On AMD's GPUs a block walks the keys in so many microseconds per 1024: the
 * slope between the two public times that its shortest kernel is of, 24.7 us
 * for 128 keys and 28.2 us for 256 (data/platforms/src/datasheets.json). */
#define WALK_US ((28.2 - 24.7) * 1024 / 128)

static void attention_carry(const struct msim_data_sheet *to, double *p)
{
    if (to->miopen)
        p[DEPTH] = fmax(p[DEPTH], WALK_US);
}

const struct msim_law MSIM_LAW_ATTENTION = {
    .name = "attention",
    .params = PARAMS,
    .n_params = N_PARAMS,
    .features = FEATURES,
    .n_features = N_FEATURES,
    .n_sizes = 8,
    .stack_log_sd = 0.35, /* mean differences of 30 to 73 % */
    .key_log_sd = attention_key_log_sd,
    .carry = attention_carry,
    .time_us = attention_time,
    .describe = attention_describe,
    .sizes = attention_sizes,
    .key = attention_key,
};
