/*
 * plan/step/terms.c - pricing a strategy.
 */
#include "plan/step/step_law.h"

#include "models/platform/platform.h"
#include "plan/describe/strategy.h"

#include <math.h>
#include <string.h>

static enum msim_place place_of(const struct msim_part *part)
{
    switch (part->kind) {
    case MSIM_PART_EMBEDDING:
        return MSIM_PLACE_EMBEDDING;
    case MSIM_PART_HEAD:
        return MSIM_PLACE_HEAD;
    default:
        return MSIM_PLACE_LAYER;
    }
}

/* to += share * from, every member: they all are doubles. */
static void add_priced(struct msim_priced *to, const struct msim_priced *from,
                       double share)
{
    for (int pass = 0; pass < MSIM_PASS_COUNT; pass++) {
        for (int k = 0; k < MSIM_PART_OP_COUNT; k++) {
            to->us[k][pass] += share * from->us[k][pass];
            to->kernels[k][pass] += share * from->kernels[k][pass];
        }
        for (int g = 0; g < 3; g++)
            to->comm_us[g][pass] += share * from->comm_us[g][pass];
        to->comms[pass] += share * from->comms[pass];
    }
    to->again_us += share * from->again_us;
}

/* FLOPs of what is computed once, forward and backward. */
static double flops_of(const struct msim_part *part)
{
    double sum = 0;

    for (uint32_t i = 0; i < part->n_ops; i++)
        sum += part->ops[i].work.flops;
    return sum;
}

static uint32_t format_of(enum msim_precision p)
{
    if (p == MSIM_PRECISION_AMP_FP8)
        return MSIM_PRECISION_FP8;
    if (msim_precision_is_narrow(p) || msim_precision_dtype(p) == MSIM_DT_F32)
        return (uint32_t)p;
    return MSIM_PRECISION_BF16;
}

static bool is_generation(const struct msim_platform *p, const char *name)
{
    return strcmp(msim_platform_generation(p), name) == 0;
}

/* Types of products do not tell: who asks what 8 bits bring means the same
 * program in 16. */
static enum msim_attention_stack stack_of(const struct msim_platform *p,
                                          const struct msim_described *m)
{
    if (m->attention == MSIM_ATTENTION_MAKERS || is_generation(p, "blackwell"))
        return MSIM_ATTENTION_OWN;
    if (is_generation(p, "hopper"))
        return MSIM_ATTENTION_LATE;
    return m->attention == MSIM_ATTENTION_FLASH1 ? MSIM_ATTENTION_USUAL
                                                 : MSIM_ATTENTION_OWN;
}

/* FNV-1a. */
static uint32_t hash_text(const char *text)
{
    uint32_t h = 2166136261u;

    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 16777619u;
    return h;
}

static void set_shape(struct msim_terms *t, const struct msim_pricer *p,
                      const struct msim_described *m,
                      const struct msim_strategy *s)
{
    t->narrow = msim_precision_is_narrow(s->precision);
    t->late = is_generation(p->platform, "blackwell");
    t->attention = stack_of(p->platform, m);
    t->unfused = s->unfused;
    t->platform = hash_text(msim_platform_name(p->platform));
    t->format = format_of(s->precision);
    t->hidden = (double)m->hidden;
    t->sequence = (double)s->sequence;
    t->micro_batch = (double)s->micro_batch;
    t->layers = (double)m->layers;
    t->pp = (double)s->pp;
    t->vp = (double)s->vp;
    t->dp = (double)(s->dp * s->cp);
    t->tp = (double)s->tp;
    t->ep = (double)s->ep;
    t->micro_batches = (double)s->grad_accum;
    t->tp_far = s->tp > s->gpus_a_node;
    t->dp_far = s->dp * s->cp * s->tp > s->gpus_a_node;
    t->first_layers = (double)msim_stage_layers(m, s, 0);
    t->middle_layers =
        s->pp > 2 ? (double)msim_stage_layers(m, s, 1) : t->first_layers;
    t->last_layers = (double)msim_stage_layers(m, s, s->pp - 1);
    t->zero = s->zero;
    t->exchanges_each = msim_exchanges_each_micro_batch(s);
    t->waits_for_weights = msim_framework_of(s)->waits_for_weights;
    t->again = msim_again_of(s);
    t->again_word = (uint32_t)msim_strategy_value(s, MSIM_GIVEN_recompute);
    t->zero_bubble = s->technique.schedule == MSIM_SCHEDULE_ZERO_BUBBLE;
    if (s->technique.dispatch_overlap == MSIM_STATED_YES)
        t->dispatch_share = msim_dispatch_share(p->platform);
    t->updates_in_backward =
        s->technique.optimizer_in_backward == MSIM_STATED_YES;
}

/* Parameters that the fullest stage has on one rank. */
static struct msim_stage_held parameters_of(const struct msim_parts *parts,
                                            double pp, bool adapted)
{
    struct msim_stage_held h = {0};

    for (uint32_t i = 0; i < parts->n; i++) {
        const struct msim_part *part = &parts->part[i];
        bool layer = place_of(part) == MSIM_PLACE_LAYER;
        double layers = layer ? part->layers / pp : 1;

        /* With stages the head is on another one than the embedding. */
        if (part->kind == MSIM_PART_HEAD && pp > 1)
            continue;
        h.dense += part->parameters * layers;
        h.experts += part->expert_parameters * layers;
        h.trained += part->adapters * layers;
        h.narrow += part->narrow * layers;
    }
    if (!adapted) {
        h.trained = h.dense;
        h.trained_experts = h.experts;
    }
    return h;
}

/* Bytes of an element in a message: of gradients, or of weights. */
static double message_bytes(const struct msim_strategy *s, bool gradients)
{
    int64_t bits = s->technique.weight_bits;

    if (gradients)
        return msim_gradient_bytes(s);
    return bits ? (double)bits / 8 : msim_weight_bytes(s);
}

/* A collective of what data parallel ranks share and one of experts, which
 * fewer or other ranks have; one of both where the same ranks have them. */
static enum msim_status price_both(double *us, struct msim_pricer *p,
                                   enum msim_collective c, double dense,
                                   double experts,
                                   const struct msim_strategy *s,
                                   struct msim_error *err)
{
    bool one = msim_expert_copies_are_usual(s);
    double more;

    MSIM_TRY(msim_price_collective(us, p, c, one ? dense + experts : dense,
                                   s->dp * s->cp, s->tp, err));
    if (one)
        return MSIM_OK;
    MSIM_TRY(msim_price_collective(&more, p, c, experts, msim_expert_copies(s),
                                   msim_expert_copies_apart(s), err));
    *us += more;
    return MSIM_OK;
}

/* Gradients summed over data parallel ranks, or in halves; weights gathered. */
static enum msim_status collectives(struct msim_terms *t, struct msim_pricer *p,
                                    const struct msim_stage_held *h,
                                    const struct msim_strategy *s,
                                    struct msim_error *err)
{
    static const enum msim_collective KINDS[3] = {
        MSIM_COLL_ALL_REDUCE, MSIM_COLL_REDUCE_SCATTER, MSIM_COLL_ALL_GATHER};
    double *const us[3] = {&t->sum_us, &t->scatter_us, &t->gather_us};
    double *const layer_us[3] = {NULL, &t->layer_scatter_us,
                                 &t->layer_gather_us};
    int64_t group = s->dp * s->cp, experts = msim_expert_copies(s);
    bool shared = group > 1 || (h->experts > 0 && experts > 1);
    double stage_layers = t->layers / t->pp;
    double layers[3] = {0, h->trained / stage_layers, h->dense / stage_layers};
    double expert_layers[3] = {0, h->trained_experts / stage_layers,
                               h->experts / stage_layers};

    for (int i = 0; i < 3; i++) {
        int64_t bits =
            i < 2 ? s->technique.gradient_bits : s->technique.weight_bits;
        double each = message_bytes(s, i < 2), us_experts, us_narrow;
        /* Frozen weights that are narrow already are sent so. */
        double narrow = i < 2 ? 0 : h->narrow / stage_layers;
        double layer = each * (layers[i] - narrow) +
                       (double)s->technique.base_bits / 8 * narrow;

        MSIM_TRY(msim_price_collective(us[i], p, KINDS[i], each * h->trained,
                                       group, s->tp, err));
        MSIM_TRY(msim_price_collective(&us_experts, p, KINDS[i],
                                       each * h->trained_experts, experts,
                                       msim_expert_copies_apart(s), err));
        *us[i] += us_experts;
        if (shared) {
            MSIM_TRY(msim_terms_narrow(
                &us_narrow, p, h->trained + h->trained_experts, bits, err));
            *us[i] += us_narrow;
        }
        if (layer_us[i])
            MSIM_TRY(price_both(layer_us[i], p, KINDS[i], layer,
                                each * expert_layers[i], s, err));
        if (layer_us[i] && shared) {
            MSIM_TRY(msim_terms_narrow(
                &us_narrow, p, layers[i] + expert_layers[i], bits, err));
            *layer_us[i] += us_narrow;
        }
    }
    return MSIM_OK;
}

/* What follows backward: exchanges, the optimizer's step. */
static enum msim_status gradients(struct msim_terms *t, struct msim_pricer *p,
                                  const struct msim_parts *parts,
                                  const struct msim_strategy *s,
                                  struct msim_error *err)
{
    struct msim_stage_held h =
        parameters_of(parts, t->pp, s->technique.lora_rank > 0);
    int64_t group = s->dp * s->cp;
    double shares = s->zero > 0 ? (double)group : 1;
    double expert_shares = s->zero > 0 ? (double)msim_expert_copies(s) : 1;
    double owned = h.trained / shares + h.trained_experts / expert_shares;

    MSIM_TRY(collectives(t, p, &h, s, err));
    MSIM_TRY(msim_price_network(&t->network_log, &t->network_shortfall, p,
                                msim_gradient_bytes(s) * h.trained, group,
                                s->tp, err));
    MSIM_TRY(msim_terms_optimizer(t, p, &h, owned, s, err));
    return msim_terms_offload(t, p, parts, &h, owned, s, err);
}

enum msim_status msim_terms_make(struct msim_terms *t, struct msim_pricer *p,
                                 const struct msim_described *m,
                                 const struct msim_strategy *s,
                                 struct msim_error *err)
{
    struct msim_parts parts;
    double hidden_bytes;

    memset(t, 0, sizeof(*t));
    p->gpus_a_node = s->gpus_a_node;
    msim_parts_make(&parts, m, s);
    set_shape(t, p, m, s);
    for (uint32_t i = 0; i < parts.n; i++) {
        const struct msim_part *part = &parts.part[i];
        enum msim_place place = place_of(part);
        bool layer = place == MSIM_PLACE_LAYER;
        struct msim_priced priced;

        MSIM_TRY(msim_price_part(&priced, p, &parts, part, s, err));
        add_priced(&t->at[place], &priced,
                   layer ? part->layers / t->layers : 1);
        t->flops += flops_of(part) * (layer ? part->layers / t->pp : 1 / t->pp);
    }
    t->flops *= t->micro_batches;
    hidden_bytes = parts.seq_tokens * (double)m->hidden * 2;
    MSIM_TRY(msim_price_collective(&t->p2p_us, p, MSIM_COLL_SEND, hidden_bytes,
                                   s->pp > 1 ? 2 : 1, s->gpus / s->pp, err));
    return gradients(t, p, &parts, s, err);
}
