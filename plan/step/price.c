/*
 * plan/step/price.c - works of parts to times.
 */
#include "plan/step/step_law.h"

#include "models/estimate/model.h"

#include <math.h>
#include <string.h>

void msim_pricer_release(struct msim_pricer *p)
{
    msim_estimate_cache_release(&p->cache);
}

static enum msim_status estimate_whole(struct msim_estimate *e,
                                       struct msim_pricer *p,
                                       const struct msim_work *w,
                                       struct msim_error *err)
{
    enum msim_emulation how = msim_emulation_of(p->platform, w);
    char why[MSIM_EMULATION_TEXT];
    struct msim_work asked;

    if (msim_emulation_is_refused(how)) {
        msim_emulation_text(how, p->platform, why, sizeof(why));
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE, "%s", why);
    }
    memcpy(&asked, w, sizeof(asked)); /* the cache compares all bytes */
    asked.asked = true;
    return msim_estimate_cache_predict(&p->cache, p->platform, &asked, false, e,
                                       err);
}

enum msim_status msim_price_described(double *us, struct msim_pricer *p,
                                      const struct msim_work *w,
                                      struct msim_error *err)
{
    struct msim_estimate e = {0};

    *us = 0;
    MSIM_TRY(estimate_whole(&e, p, w, err));
    *us = e.us;
    return MSIM_OK;
}

static struct msim_work collective_work(const struct msim_pricer *p,
                                        enum msim_collective c, double bytes,
                                        int64_t ranks, int64_t stride)
{
    int64_t in_node = p->gpus_a_node / (stride > 0 ? stride : 1);
    struct msim_work w;

    memset(&w, 0, sizeof(w));
    w.family = MSIM_FAMILY_COLLECTIVE;
    w.dtype = MSIM_DT_BF16;
    w.kernels = 1;
    w.u.coll.collective = c;
    w.u.coll.bytes = (uint64_t)msim_whole(fmax(bytes, 1));
    w.u.coll.ranks = (uint32_t)ranks;
    w.u.coll.as_fitted = true;
    if (in_node < 1)
        in_node = 1;
    w.u.coll.nodes = (uint32_t)((ranks + in_node - 1) / in_node);
    return w;
}

enum msim_status msim_price_collective(double *us, struct msim_pricer *p,
                                       enum msim_collective c, double bytes,
                                       int64_t ranks, int64_t stride,
                                       struct msim_error *err)
{
    struct msim_work w;

    *us = 0;
    if (ranks < 2 || bytes <= 0)
        return MSIM_OK;
    w = collective_work(p, c, bytes, ranks, stride);
    return msim_price_described(us, p, &w, err);
}

enum msim_status msim_price_network(double *half, double *shortfall,
                                    struct msim_pricer *p, double bytes,
                                    int64_t ranks, int64_t stride,
                                    struct msim_error *err)
{
    struct msim_estimate e = {0};
    struct msim_work w;

    *half = 0;
    *shortfall = 1;
    if (ranks < 2 || bytes <= 0)
        return MSIM_OK;
    w = collective_work(p, MSIM_COLL_ALL_REDUCE, bytes, ranks, stride);
    if (w.u.coll.nodes < 2)
        return MSIM_OK;
    MSIM_TRY(estimate_whole(&e, p, &w, err));
    *shortfall = msim_collective_shortfall(p->platform, &w);
    if (e.low_us > 0)
        *half = 0.5 * log(e.high_us / e.low_us);
    return MSIM_OK;
}

enum msim_status msim_price_bytes(double *us, struct msim_pricer *p,
                                  double elems, double read, double written,
                                  struct msim_error *err)
{
    struct msim_work w;

    memset(&w, 0, sizeof(w));
    w.family = MSIM_FAMILY_POINTWISE;
    w.variant = "add";
    w.dtype = MSIM_DT_F32;
    w.kernels = 1;
    w.u.vector.elems = msim_whole(fmax(elems, 1));
    w.u.vector.rows = 1;
    w.u.vector.cols = w.u.vector.elems;
    w.bytes_read = read;
    w.bytes_written = written;
    return msim_price_described(us, p, &w, err);
}

/* Tokens that are sent in 8 bits are cast before. */
static enum msim_status price_cast(double *us, struct msim_pricer *p,
                                   const struct msim_parts *parts,
                                   struct msim_error *err)
{
    double elems = fmax(parts->seq_tokens, 1) * (double)parts->hidden;

    return msim_price_bytes(us, p, elems, 2 * elems, elems, err);
}

/* Nodes that a token goes to in the mean, its own included: those of its
 * experts, and no more than have one of its groups of experts. */
static double distinct_nodes(const struct msim_parts *parts, int64_t nodes)
{
    double some = msim_dispatch_places(parts->topk, parts->experts, nodes);

    if (parts->topk_groups <= 0)
        return some;
    return fmin(some,
                msim_dispatch_places(parts->topk_groups, parts->groups, nodes) *
                    fmax((double)nodes / (double)parts->groups, 1));
}

/* What an all-to-all of the tokens takes over the network, us, if each token
 * goes once to each node; 0 inside a node. */
static enum msim_status price_far(double *us, struct msim_pricer *p,
                                  const struct msim_parts *parts, double bytes,
                                  const struct msim_strategy *s,
                                  struct msim_error *err)
{
    int64_t stride = msim_expert_shares(s);
    struct msim_work w =
        collective_work(p, MSIM_COLL_ALL_TO_ALL, bytes, s->ep, stride);
    double once;

    *us = 0;
    if (w.u.coll.nodes < 2)
        return MSIM_OK;
    once = distinct_nodes(parts, w.u.coll.nodes) / fmax((double)parts->topk, 1);
    return msim_price_collective(us, p, MSIM_COLL_ALL_TO_ALL,
                                 bytes * fmin(once, 1), s->ep, stride, err);
}

/* Tokens to the ranks of their experts, or back, by DeepEP: a node's own ranks
 * pass on what comes over the network, so that the slower of both counts. */
static enum msim_status price_dispatch(double *us, struct msim_pricer *p,
                                       const struct msim_parts *parts,
                                       bool combine, double bytes,
                                       const struct msim_strategy *s,
                                       struct msim_error *err)
{
    struct msim_work w;
    double far;

    memset(&w, 0, sizeof(w));
    w.family = MSIM_FAMILY_DISPATCH;
    w.dtype = MSIM_DT_BF16;
    w.kernels = 1;
    w.u.dispatch.tokens = msim_whole(fmax(parts->seq_tokens, 1));
    w.u.dispatch.hidden = parts->hidden;
    w.u.dispatch.topk = parts->topk;
    w.u.dispatch.experts = parts->experts;
    w.u.dispatch.ranks = s->ep;
    w.u.dispatch.combine = combine;
    MSIM_TRY(msim_price_described(us, p, &w, err));
    MSIM_TRY(price_far(&far, p, parts, bytes, s, err));
    *us = fmax(*us, far);
    return MSIM_OK;
}

/*
 * Tokens to the ranks of their experts and back: by all-to-all, which sends
 * every token to every expert that wants it, or by a library that sends it once
 * to each node and rank (DeepEP), whichever is faster. With `dispatch_bits` 8
 * they go in 8 bits and come back in 16: of an all-to-all's bytes a quarter is
 * gone, and of a dispatch over the network half; tables of the library inside a
 * node do not tell types apart.
 */
static enum msim_status price_exchange(double *us, struct msim_pricer *p,
                                       const struct msim_parts *parts,
                                       const struct msim_part_comm *c,
                                       const struct msim_strategy *s,
                                       struct msim_error *err)
{
    bool narrow = s->technique.dispatch_bits == 8;
    double out, back, plain, cast = 0;

    if (narrow)
        MSIM_TRY(price_cast(&cast, p, parts, err));
    MSIM_TRY(price_dispatch(&out, p, parts, false,
                            c->bytes * (narrow ? 0.5 : 1), s, err));
    MSIM_TRY(price_dispatch(&back, p, parts, true, c->bytes, s, err));
    MSIM_TRY(msim_price_collective(&plain, p, c->collective,
                                   c->bytes * (narrow ? 0.75 : 1), s->ep,
                                   msim_expert_shares(s), err));
    *us = fmin(out + back, plain * c->count + cast);
    return MSIM_OK;
}

static enum msim_status
price_comms(struct msim_priced *out, struct msim_pricer *p,
            const struct msim_parts *parts, const struct msim_part *part,
            const struct msim_strategy *s, struct msim_error *err)
{
    for (uint32_t i = 0; i < part->n_comms; i++) {
        const struct msim_part_comm *c = &part->comms[i];
        int64_t ranks = c->group == MSIM_PART_GROUP_TP ? s->tp : s->cp;
        int64_t stride = c->group == MSIM_PART_GROUP_TP ? 1 : s->tp;
        double us;

        if (c->group == MSIM_PART_GROUP_EP)
            MSIM_TRY(price_exchange(&us, p, parts, c, s, err));
        else
            MSIM_TRY(msim_price_collective(&us, p, c->collective, c->bytes,
                                           ranks, stride, err));
        out->comm_us[c->group][c->pass] +=
            c->group == MSIM_PART_GROUP_EP ? us : us * c->count;
        out->comms[c->pass] += c->count;
    }
    return MSIM_OK;
}

enum msim_status msim_price_part(struct msim_priced *out, struct msim_pricer *p,
                                 const struct msim_parts *parts,
                                 const struct msim_part *part,
                                 const struct msim_strategy *s,
                                 struct msim_error *err)
{
    memset(out, 0, sizeof(*out));
    for (uint32_t i = 0; i < part->n_ops; i++) {
        const struct msim_part_op *op = &part->ops[i];
        double us;

        MSIM_TRY(msim_price_described(&us, p, &op->work, err));
        out->us[op->kind][op->pass] += us;
        out->kernels[op->kind][op->pass] += 1;
        if (op->selective)
            out->again_us += us;
    }
    return price_comms(out, p, parts, part, s, err);
}
