/*
 * models/law/dispatch_law.c - tokens to the ranks of their experts, and their
 * results back (DeepEP, inside a node).
 *
 * time = t0 + experts + row + norm_p(sms, link), with
 *   experts  a constant time for each expert
 *   row      the time that one token takes to pass, by its length
 *   sms      each SM that sends handles its part of the tokens: for each token
 *            (copy) and for each message (send) the hidden elements and a start
 *   link     the bytes that leave the GPU, over its link
 * There are two kinds of kernels. Normal ones send a token once to each rank
 * that holds one of its experts: R (1 - C(E - L, k) / C(E, k)) of R ranks with
 * L = E / R experts each, by as many SMs as they are given. Low-latency ones
 * send every (token, expert) pair by itself and give one group of warps to each
 * expert, so that few experts keep few SMs busy (DeepEP,
 * csrc/kernels/internode_ll.cu). Tokens go out in 8 bits and come back in 16.
 */
#include "models/law/law.h"

#include "core/base/texts.h"

#include <math.h>
#include <stdio.h>

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

double msim_dispatch_ranks(const struct msim_work *w)
{
    return w->u.dispatch.ranks > 1 ? (double)w->u.dispatch.ranks : 2;
}

/* Ranks that a token goes to in the mean, its own rank included. */
static double distinct_ranks(const struct msim_work *w)
{
    double experts = at_least_one(w->u.dispatch.experts);
    double k = fmin(at_least_one(w->u.dispatch.topk), experts);
    double ranks = fmin(msim_dispatch_ranks(w), experts);
    double others = experts - experts / ranks;

    if (k > others)
        return ranks;
    return ranks * (1 - exp(lgamma(others + 1) - lgamma(others - k + 1) +
                            lgamma(experts - k + 1) - lgamma(experts + 1)));
}

double msim_dispatch_messages(const struct msim_work *w)
{
    return w->u.dispatch.low_latency ? at_least_one(w->u.dispatch.topk)
                                     : distinct_ranks(w);
}

/* A low-latency kernel takes the fewest SMs with which none has more experts
 * than the most loaded one. */
double msim_dispatch_sms(const struct msim_data_sheet *s,
                         const struct msim_work *w)
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

/* Bytes that leave the GPU: messages to its own rank do not. */
static double wire_of(const struct msim_work *w)
{
    double ranks = msim_dispatch_ranks(w);

    return elements_of(w) * msim_dispatch_messages(w) *
           (w->u.dispatch.combine ? 2 : 1) * (ranks - 1) / ranks;
}

static double dispatch_time(const struct msim_data_sheet *s,
                            const struct msim_work *w, const double *p)
{
    double hidden = at_least_one(w->u.dispatch.hidden);
    double sms = at_least_one(w->u.dispatch.tokens) * (hidden + p[START]) *
                 1e-3 * (p[COPY] + p[SEND] * msim_dispatch_messages(w)) /
                 msim_dispatch_sms(s, w);
    double link = wire_of(w) * 1e6 / (s->link * p[LINK]);

    return p[T0] + at_least_one(w->u.dispatch.experts) * p[EXPERT] +
           hidden / 1024 * p[ROW] + msim_norm2(sms, link, p[NORM]);
}

static void dispatch_describe(const struct msim_data_sheet *s,
                              const struct msim_work *w, double *x)
{
    double elements = elements_of(w);
    double sms = msim_dispatch_sms(s, w);

    x[0] = log(at_least_one(w->u.dispatch.tokens));
    x[1] = log(at_least_one(w->u.dispatch.hidden));
    x[2] = log(at_least_one(w->u.dispatch.topk));
    x[3] = log(at_least_one(w->u.dispatch.experts));
    x[4] = log(sms);
    x[5] = log(wire_of(w));
    x[6] = msim_dispatch_messages(w);
    x[7] = log(elements / sms);
    /* whether the link or the SMs limit */
    x[8] = log(sms * wire_of(w) / elements);
}

static void dispatch_key(const struct msim_work *w, char *text, size_t size)
{
    MSIM_JOIN_TEXT(text, size,
                   w->u.dispatch.low_latency ? "low-latency" : "normal", "/",
                   w->u.dispatch.combine ? "combine" : "dispatch");
}

const struct msim_law MSIM_LAW_DISPATCH = {
    .name = "dispatch",
    .params = PARAMS,
    .n_params = N_PARAMS,
    .features = FEATURES,
    .n_features = N_FEATURES,
    .n_sizes = 5,
    .stack_log_sd = 0.1, /* one library, as of collectives */
    .time_us = dispatch_time,
    .describe = dispatch_describe,
    .key = dispatch_key,
};
