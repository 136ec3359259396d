/*
 * models/estimate/moe.c - one rank's share of a layer of experts: routing,
 * grouped products, activation and summing up, as libraries fuse them.
 *
 * time = t0 + norm_p(compute, memory) + scatter + experts, with
 *   compute  flops / (rate * efficiency), times (rows of tiles of 64 / pairs)
 *            ^padding: an expert with few tokens fills a tile all the same
 *   memory   matrices of the active experts, and the tokens in and out, over
 *            (bandwidth * efficiency); faster while they fit into the L2 cache
 *   scatter  all (token, expert) pairs of the layer, those of other ranks too,
 *            over the bandwidth: what kernels do that keep a row for each
 *   experts  a part for each active expert
 * How many experts are active and how the tokens spread is
 * core/work/moe_load.h. Experts without a gate have two matrices instead of
 * three; `ungated` is what of the third they save: some stacks ran them with it
 * (1.5), some did not.
 */
#include "models/platform/platform_data.h"

#include <math.h>
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

/* The first three tell one model from another rather than sizes that kernels
 * see; trees that split at them learn models by heart. */
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
#define N_NAMES    3
/* Share of the L2 cache that a layer finds for itself. */
#define CACHE_SHARE 0.6

static double tp_of(const struct msim_work *w)
{
    return w->u.moe.tp > 1 ? (double)w->u.moe.tp : 1;
}

static double inter_of(const struct msim_work *w)
{
    return (double)w->u.moe.inter / tp_of(w);
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
    double hit = bytes / (1 + pow(bytes / (s->l2_bytes * CACHE_SHARE), 4));
    double rate = s->bandwidth * p[MEMORY] * 1e-6;
    double memory = (bytes - hit) / rate + hit / (rate * p[CACHE]);
    double row = 2 * ((double)w->u.moe.hidden + inter_of(w));

    return p[T0] + msim_norm2(compute, memory, p[NORM]) +
           all_pairs(w) * row * 1e6 / s->bandwidth * p[SCATTER] +
           load->active * p[EXPERT];
}

/* Which of a library's kernels it is, as far as the back end says: trees tell
 * them apart. */
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

static void moe_describe(const struct msim_data_sheet *s,
                         const struct msim_work *w, double *x)
{
    const struct msim_moe_load *load = &w->u.moe.load;
    const struct msim_moe_routing *r = &w->u.moe.routing;
    double into = 2 * inter_of(w);
    double full = waves(s, load->tiles[2], into);
    size_t f = 3;

    x[0] = log((double)w->u.moe.hidden);
    x[1] = log((double)r->experts);
    x[2] = log((double)r->topk);
    x[f++] = log((double)r->tokens);
    x[f++] = log(inter_of(w));
    x[f++] = log(load->local);
    x[f++] = log(load->pairs);
    x[f++] = log(w->flops);
    x[f++] = log(w->bytes_read + w->bytes_written);
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

/*
 * The kernels behind a back end's name. Names of one library hold those of
 * others that it takes its experts from, so the order matters.
 */
static const char *kernels_of(const struct msim_work *w)
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

static const char *type_of(const struct msim_work *w)
{
    return *msim_work_variant(w) ? msim_work_variant(w)
                                 : msim_dtype_text(w->dtype);
}

static void moe_key(const struct msim_work *w, char *text, size_t size)
{
    const char *kernels = kernels_of(w);

    snprintf(text, size, "%s/%s", type_of(w), kernels ? kernels : "any");
}

const struct msim_law MSIM_LAW_MOE = {
    .name = "moe",
    .params = PARAMS,
    .n_params = N_PARAMS,
    .features = FEATURES,
    .n_features = N_FEATURES,
    .n_sizes = 9,
    .n_names = N_NAMES,
    .stack_spread = 0.45, /* mean differences of 31 % */
    .time_us = moe_time,
    .describe = moe_describe,
    .key = moe_key,
};

static bool moe_covers(const struct msim_platform *p, const struct msim_work *w)
{
    const struct msim_moe_routing *r = &w->u.moe.routing;

    (void)p;
    return w->family == MSIM_FAMILY_MOE && r->tokens > 0 && r->topk > 0 &&
           r->experts > 0 && w->u.moe.hidden > 0 && w->u.moe.inter > 0;
}

/* What stands in for a type without rows, itself first; the data sheet's rate
 * of the type that is asked for still counts. */
static const char *const *types_for(const struct msim_work *w)
{
    static const char *const LIKE[][6] = {
        {"bfloat16"},
        {"fp8", "fp8_block", "bfloat16"},
        {"fp8_block", "fp8", "bfloat16"},
        {"nvfp4", "w4a8_mxfp4_mxfp8", "fp8", "bfloat16"},
        {"w4a8_mxfp4_mxfp8", "nvfp4", "fp8", "bfloat16"},
        {"w4a16_mxfp4", "int4_wo", "bfloat16"},
        {"int4_wo", "w4a16_mxfp4", "bfloat16"},
        {"int8_wo", "int4_wo", "bfloat16"},
        {"sq", "fp8", "bfloat16"},
    };

    for (size_t i = 0; i < sizeof(LIKE) / sizeof(*LIKE); i++)
        if (strcmp(LIKE[i][0], type_of(w)) == 0)
            return LIKE[i];
    return LIKE[0];
}

/* The kernels of most rows of a framework for a type; NULL: it has none. */
static const char *most_used(const struct msim_platform *p,
                             const char *framework, const char *type)
{
    const struct msim_fit *best = NULL;
    size_t n = strlen(type);

    for (uint32_t i = 0; i < p->n_fits; i++) {
        const struct msim_fit *c = &p->fits[i];

        if (c->law == &MSIM_LAW_MOE && strcmp(c->framework, framework) == 0 &&
            strncmp(c->key, type, n) == 0 && c->key[n] == '/' &&
            (!best || c->rows > best->rows))
            best = c;
    }
    return best ? best->key + n + 1 : NULL;
}

static const char *const PREFER[] = {"vllm", "sglang", "trtllm", NULL};

/* Where nothing says which kernels ran: those that a framework chose for most
 * models on this GPU, or on the first that stands in for it. */
static const char *usual_kernels(const struct msim_platform *p,
                                 const struct msim_work *w)
{
    const char *found = NULL;

    for (; p && !found; p = p->next) {
        if (w->framework)
            found = most_used(p, w->framework, type_of(w));
        for (size_t i = 0; !found && PREFER[i]; i++)
            found = most_used(p, PREFER[i], type_of(w));
    }
    return found;
}

#define KEYS_MAX 32

/* Cells of other kernels than those of `key`, and of types that are like the
 * one asked for. */
static bool pick_other(const struct msim_platform *p, const struct msim_work *w,
                       const char *key, struct msim_pick *out)
{
    static const char *const KERNELS[] = {"triton", "cutlass", "trtllm-gen",
                                          "marlin", "any"};
    char text[KEYS_MAX][48];
    const char *keys[KEYS_MAX + 2] = {key};
    size_t n = 0;

    for (const char *const *type = types_for(w); *type; type++)
        for (size_t i = 0; i < sizeof(KERNELS) / sizeof(*KERNELS); i++)
            if (n < KEYS_MAX)
                snprintf(text[n++], sizeof(text[0]), "%s/%s", *type,
                         KERNELS[i]);
    for (size_t i = 0; i < n; i++)
        keys[i + 1] = text[i];
    return msim_fit_pick(p, &MSIM_LAW_MOE, w->framework, PREFER, keys, out);
}

static bool moe_pick(const struct msim_platform *p, const struct msim_work *w,
                     struct msim_pick *out)
{
    const char *kernels = kernels_of(w);
    char key[MSIM_FIT_KEY];
    const char *const keys[] = {key, NULL};

    if (!kernels)
        kernels = usual_kernels(p, w);
    snprintf(key, sizeof(key), "%s/%s", type_of(w), kernels ? kernels : "any");
    return msim_fit_pick(p, &MSIM_LAW_MOE, w->framework, PREFER, keys, out) ||
           pick_other(p, w, key, out);
}

/*
 * A cell with rows of one model or two says less of a third: fitted on one,
 * 90 % of the rows of others lay within exp(-0.37)..exp(0.65) of the
 * prediction (24 fits in bf16 and fp8), where rows of the same one lie within
 * a fifth of that.
 */
#define OTHER_MODEL_SPREAD 0.28

static bool is_other_model(const struct msim_fit *c, const struct msim_work *w)
{
    const struct msim_moe_routing *r = &w->u.moe.routing;
    const double x[N_NAMES] = {log((double)w->u.moe.hidden),
                               log((double)r->experts), log((double)r->topk)};
    bool known = true;

    /* Of one or two models both ends of a range are theirs; ranges are kept to
     * five digits. */
    for (int i = 0; i < N_NAMES; i++)
        known = known && (fabs(x[i] - c->range_low[i]) < 1e-3 ||
                          fabs(x[i] - c->range_high[i]) < 1e-3);
    return c->models > 0 && !known;
}

static enum msim_status moe_predict(const struct msim_platform *p,
                                    const struct msim_work *w,
                                    struct msim_estimate *out)
{
    struct msim_adjust adjust = {.factor = 1};
    struct msim_work work = *w;
    struct msim_pick pick;

    if (!moe_pick(p, w, &pick))
        return MSIM_ENOMODEL;
    if (!(work.u.moe.load.pairs > 0)) /* a row of a table is counted */
        msim_work_count(&work);
    if (is_other_model(pick.fit, &work))
        adjust.spread = OTHER_MODEL_SPREAD;
    msim_fit_estimate(p, &pick, &work, &adjust, out);
    return MSIM_OK;
}

static const char *routing_text(const struct msim_moe_routing *r)
{
    static const char *const TEXT[] = {
        [MSIM_ROUTING_RANDOM] = "at random",
        [MSIM_ROUTING_EVEN] = "evenly",
        [MSIM_ROUTING_POWER_LAW] = "by a power law",
    };

    return TEXT[r->kind];
}

static void moe_explain(const struct msim_platform *p,
                        const struct msim_work *w, FILE *out)
{
    struct msim_work work = *w;
    const struct msim_moe_load *load = &work.u.moe.load;
    struct msim_pick pick;

    msim_work_count(&work);
    fprintf(
        out,
        "law: t0 + norm(flops / rate, bytes / bandwidth) + passes over all "
        "pairs + a part for each expert\n"
        "inputs: %lld tokens to %lld of %lld experts %s, hidden %lld, "
        "inter %lld over %lld, %lld ranks, %s\n"
        "busiest rank: %.4g pairs, %.4g of %.4g experts active, %.4g pairs "
        "on the busiest\n",
        (long long)w->u.moe.routing.tokens, (long long)w->u.moe.routing.topk,
        (long long)w->u.moe.routing.experts, routing_text(&w->u.moe.routing),
        (long long)w->u.moe.hidden, (long long)w->u.moe.inter,
        (long long)tp_of(w), (long long)w->u.moe.routing.ep, type_of(w),
        load->pairs, load->active, load->local, load->most);
    if (moe_pick(p, w, &pick))
        msim_fit_explain(p, &pick, &work, out);
}

const struct msim_model MSIM_MODEL_MOE = {"moe", moe_covers, moe_predict,
                                          moe_explain};
