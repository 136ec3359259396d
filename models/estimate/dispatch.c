/*
 * models/estimate/dispatch.c - tokens to the ranks of their experts, and their
 * results back (DeepEP, inside a node).
 *
 * time = t0 + experts + row + norm_p(sms, link), with
 *   row   what one token takes to pass, by its length
 *   sms   each of the SMs that send handles its part of the tokens: hidden
 *         elements, and some for the start, once a token (copy) and once a
 *         message (send)
 *   link  bytes that leave the GPU over its link
 * Two kinds of kernels: the usual ones send a token once to each rank that has
 * an expert of it, R (1 - C(E - L, k) / C(E, k)) of R ranks with L = E / R
 * experts each, with as many SMs as they are given; low-latency ones send every
 * pair by itself, and give one group of warps to each expert, so that few
 * experts keep few SMs busy (DeepEP, csrc/kernels/internode_ll.cu). Tokens go
 * out in 8 bits and come back in 16.
 */
#include "models/platform/interval.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <string.h>

enum { T0, EXPERT, ROW, COPY, SEND, START, LINK, NORM, N_PARAMS };

static const struct msim_param PARAMS[N_PARAMS] = {
    [T0] = {"t0", "us", 20, 1, 200},
    [EXPERT] = {"expert", "us per expert", 0.005, 1e-5, 1},
    [ROW] = {"row", "us per 1024 elements", 1, 0.001, 20},
    [COPY] = {"copy", "ns per element and SM", 0.08, 0.001, 2},
    [SEND] = {"send", "ns per element and SM", 0.05, 0.001, 2},
    [START] = {"message_start", "elements", 1000, 1, 20000},
    [LINK] = {"link_efficiency", "1", 0.7, 0.02, 2},
    [NORM] = {"norm", "1", 3, 1, 12},
};

static const char *const FEATURES[] = {
    "log_tokens", "log_hidden", "log_topk",     "log_experts", "log_sms",
    "log_wire",   "messages",   "log_elements", "log_limits",
};
#define N_FEATURES (sizeof(FEATURES) / sizeof(*FEATURES))

static double at_least_one(int64_t v)
{
    return v < 1 ? 1 : (double)v;
}

static double ranks_of(const struct msim_work *w)
{
    return w->u.dispatch.ranks > 1 ? (double)w->u.dispatch.ranks : 2;
}

/* Ranks that a token goes to, its own among them. */
static double distinct_ranks(const struct msim_work *w)
{
    double experts = at_least_one(w->u.dispatch.experts);
    double k = fmin(at_least_one(w->u.dispatch.topk), experts);
    double ranks = fmin(ranks_of(w), experts);
    double others = experts - experts / ranks;

    if (k > others)
        return ranks;
    return ranks * (1 - exp(lgamma(others + 1) - lgamma(others - k + 1) +
                            lgamma(experts - k + 1) - lgamma(experts + 1)));
}

/* Messages a token is sent as. */
static double messages_of(const struct msim_work *w)
{
    return w->u.dispatch.low_latency ? at_least_one(w->u.dispatch.topk)
                                     : distinct_ranks(w);
}

/* SMs that send. A low-latency kernel takes the fewest that give each as many
 * experts as the most loaded has. */
static double sms_of(const struct msim_data_sheet *s, const struct msim_work *w)
{
    double experts = at_least_one(w->u.dispatch.experts);

    if (w->u.dispatch.low_latency)
        return ceil(experts / ceil(experts / s->sms));
    /* 20 is DeepEP's own default. */
    return w->u.dispatch.sms > 0 ? fmin((double)w->u.dispatch.sms, s->sms) : 20;
}

static double elements_of(const struct msim_work *w)
{
    return at_least_one(w->u.dispatch.tokens) *
           at_least_one(w->u.dispatch.hidden);
}

/* Bytes that leave the GPU: its own share of the messages does not. */
static double wire_of(const struct msim_work *w)
{
    double ranks = ranks_of(w);

    return elements_of(w) * messages_of(w) * (w->u.dispatch.combine ? 2 : 1) *
           (ranks - 1) / ranks;
}

static double dispatch_time(const struct msim_data_sheet *s,
                            const struct msim_work *w, const double *p)
{
    double hidden = at_least_one(w->u.dispatch.hidden);
    double sms = at_least_one(w->u.dispatch.tokens) * (hidden + p[START]) *
                 1e-3 * (p[COPY] + p[SEND] * messages_of(w)) / sms_of(s, w);
    double link = wire_of(w) * 1e6 / (s->link * p[LINK]);

    return p[T0] + at_least_one(w->u.dispatch.experts) * p[EXPERT] +
           hidden / 1024 * p[ROW] + msim_norm2(sms, link, p[NORM]);
}

static void dispatch_describe(const struct msim_data_sheet *s,
                              const struct msim_work *w, double *x)
{
    double elements = elements_of(w);
    double sms = sms_of(s, w);

    x[0] = log(at_least_one(w->u.dispatch.tokens));
    x[1] = log(at_least_one(w->u.dispatch.hidden));
    x[2] = log(at_least_one(w->u.dispatch.topk));
    x[3] = log(at_least_one(w->u.dispatch.experts));
    x[4] = log(sms);
    x[5] = log(wire_of(w));
    x[6] = messages_of(w);
    x[7] = log(elements / sms);
    /* Which of link and SMs limits. */
    x[8] = log(sms * wire_of(w) / elements);
}

static void dispatch_key(const struct msim_work *w, char *text, size_t size)
{
    snprintf(text, size, "%s/%s",
             w->u.dispatch.low_latency ? "low-latency" : "normal",
             w->u.dispatch.combine ? "combine" : "dispatch");
}

const struct msim_law MSIM_LAW_DISPATCH = {
    .name = "dispatch",
    .params = PARAMS,
    .n_params = N_PARAMS,
    .features = FEATURES,
    .n_features = N_FEATURES,
    .n_sizes = 5,
    .stack_spread = 0.1, /* one library, as of collectives */
    .time_us = dispatch_time,
    .describe = dispatch_describe,
    .key = dispatch_key,
};

static bool dispatch_covers(const struct msim_platform *p,
                            const struct msim_work *w)
{
    (void)p;
    return w->family == MSIM_FAMILY_DISPATCH && w->u.dispatch.tokens > 0 &&
           w->u.dispatch.hidden > 0 && w->u.dispatch.topk > 0 &&
           w->u.dispatch.experts > 0;
}

static bool dispatch_pick(const struct msim_platform *p,
                          const struct msim_work *w, struct msim_pick *out)
{
    static const char *const PREFER[] = {"sglang", NULL};
    char key[MSIM_FIT_KEY];
    const char *const keys[] = {key, NULL};

    dispatch_key(w, key, sizeof(key));
    return msim_fit_pick(p, &MSIM_LAW_DISPATCH, w->framework, PREFER, keys,
                         out);
}

/* All rows are of eight ranks in one node: doubt for each doubling or halving
 * of that, as collectives err on rank counts that were not fitted. */
#define RANKS_FITTED 8
#define RANKS_SPREAD 0.15
/* H100 and H200 differ by 3 %, B200 and GB200, whose links differ, by 14 %. */
#define OTHER_GPU_SPREAD 0.1

/* Without any rows: the constants that a fit starts from, which are typical. */
#define UNFITTED_SPREAD 0.5

static void from_data_sheet(const struct msim_platform *p,
                            const struct msim_work *w,
                            struct msim_estimate *out)
{
    double params[N_PARAMS];

    for (size_t i = 0; i < N_PARAMS; i++)
        params[i] = PARAMS[i].start;
    out->us = dispatch_time(&p->sheet, w, params);
    out->source = MSIM_SOURCE_LAW;
    msim_interval_set(out, 0, 0, UNFITTED_SPREAD);
}

static enum msim_status dispatch_predict(const struct msim_platform *p,
                                         const struct msim_work *w,
                                         struct msim_estimate *out)
{
    struct msim_adjust adjust = {.factor = 1};
    struct msim_pick pick;

    if (dispatch_pick(p, w, &pick)) {
        adjust.spread = RANKS_SPREAD * fabs(log2(ranks_of(w) / RANKS_FITTED)) +
                        (pick.platform != p ? OTHER_GPU_SPREAD : 0);
        msim_fit_estimate(p, &pick, w, &adjust, out);
    } else {
        from_data_sheet(p, w, out);
    }
    out->family = MSIM_FAMILY_COLLECTIVE;
    return MSIM_OK;
}

static void dispatch_explain(const struct msim_platform *p,
                             const struct msim_work *w, FILE *out)
{
    struct msim_pick pick;

    fprintf(out,
            "law: t0 + experts + norm(elements / SMs, wire / link)\n"
            "inputs: %lld tokens of %lld to %lld of %lld experts on %lld "
            "ranks, %.4g messages a token, %.4g SMs\n",
            (long long)w->u.dispatch.tokens, (long long)w->u.dispatch.hidden,
            (long long)w->u.dispatch.topk, (long long)w->u.dispatch.experts,
            (long long)w->u.dispatch.ranks, messages_of(w),
            sms_of(&p->sheet, w));
    if (dispatch_pick(p, w, &pick))
        msim_fit_explain(p, &pick, w, out);
    else
        fprintf(out,
                "rows: none; typical constants on the data sheet's %.4g "
                "GB/s\n",
                p->sheet.link * 1e-9);
}

const struct msim_model MSIM_MODEL_DISPATCH = {
    "dispatch", dispatch_covers, dispatch_predict, dispatch_explain};
