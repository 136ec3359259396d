/*
 * models/law/moe_law.c - one rank's share of a layer of experts: routing,
 * grouped products, activation and summing up, as libraries fuse them.
 *
 * time = t0 + norm_p(compute, memory) + scatter + experts, with
 *   compute  flops / (rate * efficiency), times (rows of tiles of 64 / pairs)
 *            ^padding: an expert with few tokens fills a tile all the same
 *   memory   matrices of the active experts, and the tokens in and out, over
 *            (bandwidth * efficiency); faster while they fit into the L2 cache
 *   scatter  all (token, expert) pairs of the layer, with those of other ranks,
 *            over the bandwidth: some kernels keep a row for each
 *   experts  a constant time for each active expert
 * core/work/work.h tells how many experts are active and how many tokens
 * each has. Experts without a gate have two matrices instead of three.
 * `ungated` is the time over that of two matrices: 1.5 where a stack runs all
 * three all the same, 1 where it does not.
 */
#include "models/law/law.h"

#include "core/base/texts.h"
#include "core/work/kernel_fact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    T0,
    RATE,
    MEMORY,
    NORM,
    PADDING,
    SCATTER,
    CACHE,
    EXPERT,
    UNGATED,
    N_PARAMS
};

static const struct msim_param PARAMS[N_PARAMS] = {
    [T0] = {"t0", "us", 25, 1, 300},
    [RATE] = {"compute_efficiency", "1", 0.5, 0.01, 2},
    [MEMORY] = {"bandwidth_efficiency", "1", 0.75, 0.02, 2},
    [NORM] = {"norm", "1", 2, 1, 8},
    [PADDING] = {"padding_exponent", "1", 0.3, 0.01, 1},
    [SCATTER] = {"scatter", "passes over all pairs", 0.3, 0.001, 20},
    [CACHE] = {"cache_speedup", "1", 2, 1, 8},
    [EXPERT] = {"expert", "us per active expert", 0.02, 1e-4, 20},
    [UNGATED] = {"ungated", "1", 1.05, 1, 1.5},
};

/* The first MSIM_MOE_NAMES identify a model (msim_law.n_names). */
static const char *const FEATURES[] = {
    "log_hidden",    "log_experts", "log_topk",  "log_tokens",
    "log_inter",     "log_local",   "log_pairs", "log_flops",
    "log_bytes",     "log_active",  "log_most",  "log_pairs_active",
    "log_l2",        "waste_16",    "waste_64",  "waste_128",
    "waves_64",      "waves_128",   "waves_out", "tail_64",
    "alpha",         "flavour",     "log_ep",    "log_imbalance",
    "log_all_pairs", "log_each",    "plain",
};
#define N_FEATURES (sizeof(FEATURES) / sizeof(*FEATURES))

double msim_moe_tp(const struct msim_work *w)
{
    return w->u.moe.tp > 1 ? (double)w->u.moe.tp : 1;
}

static double inter_of(const struct msim_work *w)
{
    return (double)w->u.moe.inter / msim_moe_tp(w);
}

static double all_pairs(const struct msim_work *w)
{
    return (double)w->u.moe.routing.tokens * (double)w->u.moe.routing.topk;
}

static double moe_time(const struct msim_data_sheet *s,
                       const struct msim_work *w, const double *p)
{
    const struct msim_moe_load *load = &w->u.moe.load;
    double more = w->u.moe.plain ? p[UNGATED] : 1;
    double padding = load->tiles[2] * MSIM_MOE_TILE[2] / load->pairs;
    double compute = more * w->flops /
                     (msim_data_sheet_flops_per_us(s, w) * p[RATE]) *
                     pow(padding, p[PADDING]);
    double bytes = more * (w->bytes_read + w->bytes_written);
    double hit =
        bytes /
        (1 + pow(bytes / (s->l2_bytes * MSIM_FACT(s, EXPERTS_CACHE_SHARE)), 4));
    double rate = s->bandwidth * p[MEMORY] * 1e-6;
    double memory = (bytes - hit) / rate + hit / (rate * p[CACHE]);
    double row = 2 * ((double)w->u.moe.hidden + inter_of(w));

    return p[T0] + msim_norm2(compute, memory, p[NORM]) +
           all_pairs(w) * row * 1e6 / s->bandwidth * p[SCATTER] +
           load->active * p[EXPERT];
}

/* A number for the library's kernel, as far as the back end's name tells, which
 * trees can split at. */
static double flavour(const struct msim_work *w)
{
    const char *b = w->backend ? w->backend : "";

    return (strstr(b, "modular") != NULL) + 2 * (strstr(b, "situ") != NULL) +
           4 * (strstr(b, "mxfp4_flashinfer") != NULL);
}

/* Tiles of a number of rows and 128 columns over the SMs. */
static double waves(const struct msim_data_sheet *s, double tiles,
                    double columns)
{
    return tiles * ceil(columns / 128) / s->sms;
}

static void moe_sizes(const struct msim_data_sheet *s,
                      const struct msim_work *w, double *x)
{
    const struct msim_moe_load *load = &w->u.moe.load;
    const struct msim_moe_routing *r = &w->u.moe.routing;

    (void)s;
    x[0] = log((double)w->u.moe.hidden);
    x[1] = log((double)r->experts);
    x[2] = log((double)r->topk);
    x[3] = log((double)r->tokens);
    x[4] = log(inter_of(w));
    x[5] = log(load->local);
    x[6] = log(load->pairs);
    x[7] = log(w->flops);
    x[8] = log(w->bytes_read + w->bytes_written);
}

static void moe_describe(const struct msim_data_sheet *s,
                         const struct msim_work *w, double *x)
{
    const struct msim_moe_load *load = &w->u.moe.load;
    const struct msim_moe_routing *r = &w->u.moe.routing;
    double into = 2 * inter_of(w);
    double full = waves(s, load->tiles[2], into);
    size_t f = 9;

    moe_sizes(s, w, x);
    x[f++] = log(load->active);
    x[f++] = log(load->most);
    x[f++] = log(load->pairs / load->active);
    x[f++] = log((w->bytes_read + w->bytes_written) / s->l2_bytes);
    x[f++] = load->tiles[0] * MSIM_MOE_TILE[0] / load->pairs;
    x[f++] = load->tiles[2] * MSIM_MOE_TILE[2] / load->pairs;
    x[f++] = load->tiles[3] * MSIM_MOE_TILE[3] / load->pairs;
    x[f++] = log(full);
    x[f++] = log(waves(s, load->tiles[3], into));
    x[f++] = log(waves(s, load->tiles[2], (double)w->u.moe.hidden));
    x[f++] = ceil(full) / full;
    x[f++] = r->kind == MSIM_ROUTING_POWER_LAW ? r->alpha : 0;
    x[f++] = flavour(w);
    x[f++] = log(r->ep > 1 ? (double)r->ep : 1);
    x[f++] = log(load->most * load->active / load->pairs);
    x[f++] = log(all_pairs(w));
    x[f++] = log(all_pairs(w) / (double)r->experts);
    x[f++] = w->u.moe.plain;
}

/* The order matters: a library's name can hold the name of another library that
 * it takes its kernels from. */
const char *msim_moe_kernels(const struct msim_work *w)
{
    static const char *const PARTS[][2] = {
        {"marlin", "marlin"},     {"triton", "triton"},
        {"cutlass", "cutlass"},   {"torch_flow", "cutlass"},
        {"trtllm", "trtllm-gen"}, {"fused_moe", "triton"},
    };

    for (size_t i = 0; w->backend && i < sizeof(PARTS) / sizeof(*PARTS); i++)
        if (strstr(w->backend, PARTS[i][0]))
            return PARTS[i][1];
    return NULL;
}

const char *msim_moe_type(const struct msim_work *w)
{
    return *msim_work_variant(w) ? msim_work_variant(w)
                                 : msim_dtype_text(w->dtype);
}

static void moe_key(const struct msim_work *w, char *text, size_t size)
{
    const char *kernels = msim_moe_kernels(w);

    MSIM_JOIN_TEXT(text, size, msim_moe_type(w), "/",
                   kernels ? kernels : "any");
}

const struct msim_law MSIM_LAW_MOE = {
    .name = "moe",
    .params = PARAMS,
    .n_params = N_PARAMS,
    .features = FEATURES,
    .n_features = N_FEATURES,
    .n_sizes = 9,
    .n_names = MSIM_MOE_NAMES,
    .stack_log_sd = 0.45, /* mean differences of 31 % */
    .time_us = moe_time,
    .describe = moe_describe,
    .sizes = moe_sizes,
    .key = moe_key,
};
