/*
 * plan/describe/strategy_complete.c - strategies: what follows from what, and
 * whether a model can be trained so.
 */
#include "plan/describe/strategy.h"

#include <stdio.h>

/* Whether `whole` is no multiple of `part`; then `reason` says so. */
static bool is_uneven(int64_t whole, const char *what, int64_t part,
                      const char *by, char *reason, size_t size)
{
    if (part > 0 && whole % part == 0)
        return false;
    (void)snprintf(reason, size, "%s %lld cannot be split by %s %lld", what,
                   (long long)whole, by, (long long)part);
    return true;
}

/* dp from the GPUs, or the GPUs from dp. */
static const char *complete_gpus(struct msim_strategy *s, char *reason,
                                 size_t size)
{
    int64_t model = s->tp * s->pp * s->cp;

    if (s->gpus == 0)
        s->gpus = model * (s->dp ? s->dp : 1);
    if (s->dp == 0) {
        if (is_uneven(s->gpus, "gpus", model, "tp x pp x cp", reason, size))
            return reason;
        s->dp = s->gpus / model;
    }
    if (s->dp * model == s->gpus)
        return NULL;
    snprintf(reason, size, "dp x tp x pp x cp is %lld, but gpus is %lld",
             (long long)(s->dp * model), (long long)s->gpus);
    return reason;
}

/* global_batch = dp x grad_accum x micro_batch: one follows from the others. */
static const char *complete_batch(struct msim_strategy *s, char *reason,
                                  size_t size)
{
    int64_t ranks = s->dp * s->micro_batch;

    if (s->grad_accum == 0) {
        if (s->global_batch == 0)
            s->global_batch = ranks;
        if (is_uneven(s->global_batch, "global_batch", ranks,
                      "dp x micro_batch", reason, size))
            return reason;
        s->grad_accum = s->global_batch / ranks;
    }
    if (s->global_batch == 0)
        s->global_batch = ranks * s->grad_accum;
    if (s->global_batch == ranks * s->grad_accum)
        return NULL;
    snprintf(reason, size,
             "dp x micro_batch x grad_accum is %lld, but global_batch is %lld",
             (long long)(ranks * s->grad_accum), (long long)s->global_batch);
    return reason;
}

/* A DLRM has no layers to split: its tables are spread over all GPUs, the rest
 * is on each. */
static const char *check_dlrm(const struct msim_strategy *s, char *reason,
                              size_t size)
{
    const struct {
        int64_t value;
        enum msim_given member;
        const char *want;
    } MEMBERS[] = {{s->tp - 1, MSIM_GIVEN_tp, "1"},
                   {s->pp - 1, MSIM_GIVEN_pp, "1"},
                   {s->vp - 1, MSIM_GIVEN_vp, "1"},
                   {s->cp - 1, MSIM_GIVEN_cp, "1"},
                   {s->ep - 1, MSIM_GIVEN_ep, "1"},
                   {s->zero, MSIM_GIVEN_zero, "0"},
                   {s->grad_accum - 1, MSIM_GIVEN_grad_accum, "1"},
                   {(int64_t)msim_again_of(s), MSIM_GIVEN_recompute, "none"},
                   {(int64_t)s->offload, MSIM_GIVEN_offload, "none"},
                   {msim_precision_is_narrow(s->precision),
                    MSIM_GIVEN_precision, "one of 16 or 32 bits"}};

    for (size_t i = 0; i < sizeof(MEMBERS) / sizeof(*MEMBERS); i++)
        if (MEMBERS[i].value) {
            snprintf(reason, size,
                     "%s is not %s, but the model is a dlrm: its tables are "
                     "spread over all GPUs, the rest is data parallel",
                     msim_given_text(MEMBERS[i].member), MEMBERS[i].want);
            return reason;
        }
    return NULL;
}

/*
 * Experts are split as layers are where ep divides dp x cp, as Megatron-Core
 * does it; else ep takes tensor parallel ranks, too, of which each has whole
 * experts. Of a model without experts it is tp, and says nothing.
 */
static void complete_experts(struct msim_strategy *s, uint64_t given)
{
    if ((given >> MSIM_GIVEN_etp & 1) && s->etp > 0)
        return;
    s->etp = s->dp * s->cp % s->ep == 0 ? s->tp : 1;
}

static const char *check_experts(const struct msim_strategy *s,
                                 const struct msim_described *m, char *reason,
                                 size_t size)
{
    bool whole = s->ep > 1;

    if (!m->moe.experts && (whole || s->etp != s->tp)) {
        snprintf(reason, size, "%s is %lld, but the model has no experts",
                 whole ? "ep" : "etp", (long long)(whole ? s->ep : s->etp));
        return reason;
    }
    if (s->etp != 1 && s->etp != s->tp) {
        snprintf(reason, size,
                 "etp is %lld, want 1 (experts are whole) or %lld, as tp "
                 "(they are split as all else)",
                 (long long)s->etp, (long long)s->tp);
        return reason;
    }
    if (s->ep > 1 &&
        (is_uneven(m->moe.experts, "experts", s->ep, "ep", reason, size) ||
         is_uneven(s->dp * s->cp * s->tp / s->etp,
                   s->etp == 1 ? "dp x cp x tp" : "dp x cp", s->ep, "ep",
                   reason, size)))
        return reason;
    if (m->moe.experts &&
        (is_uneven(m->moe.ffn, "ffn of an expert", s->etp, "etp", reason,
                   size) ||
         is_uneven(m->moe.ffn * m->moe.shared_experts, "ffn of shared experts",
                   s->tp, "tp", reason, size)))
        return reason;
    return NULL;
}

/* Whether techniques go together, and with model and split. */
static const char *check_techniques(const struct msim_strategy *s,
                                    const struct msim_described *m,
                                    char *reason, size_t size)
{
    const struct msim_techniques *t = &s->technique;
    const struct {
        bool wrong;
        const char *text;
    } RULES[] = {
        {t->base_bits && !t->lora_rank,
         "base_bits is given without lora_rank: only frozen weights are kept "
         "in fewer bits"},
        {t->lora_targets && !t->lora_rank,
         "lora_targets is given without lora_rank"},
        {t->lora_rank && m->moe.experts && t->lora_targets != 1,
         "the model has experts, whose weights get no adapters: want "
         "lora_targets attention"},
        {t->lora_rank > m->hidden, "lora_rank is above the model's hidden"},
        {t->optimizer_in_backward == MSIM_STATED_YES && s->grad_accum > 1,
         "optimizer_in_backward is yes, but grad_accum is above 1: gradients "
         "of several micro batches are summed first"},
        {t->dispatch_overlap == MSIM_STATED_YES && s->ep == 1,
         "dispatch_overlap is yes, but ep is 1: no token is sent to experts"},
        {t->dispatch_overlap == MSIM_STATED_YES && s->grad_accum == 1,
         "dispatch_overlap is yes, but grad_accum is 1: tokens of a micro "
         "batch go beside computing of another"},
        {t->loss_chunks > s->sequence, "loss_chunks is above the sequence"},
        {t->document > s->sequence, "document is above the sequence"},
        {t->schedule == MSIM_SCHEDULE_INTERLEAVED && s->vp == 1,
         "schedule is interleaved, but vp is 1: stages are not cut"},
        {t->schedule > MSIM_SCHEDULE_INTERLEAVED && (s->pp == 1 || s->vp > 1),
         "schedule is zero-bubble: want pp above 1 and vp 1"},
        {t->schedule == MSIM_SCHEDULE_1F1B && s->vp > 1,
         "schedule is 1f1b, but vp is above 1: that is interleaved"}};

    for (size_t i = 0; i < sizeof(RULES) / sizeof(*RULES); i++)
        if (RULES[i].wrong) {
            snprintf(reason, size, "%s", RULES[i].text);
            return reason;
        }
    return NULL;
}

/* Whether the model can be split as the strategy says. */
static const char *check_split(const struct msim_strategy *s,
                               const struct msim_described *m, char *reason,
                               size_t size)
{
    if (m->type == MSIM_MODEL_DLRM)
        return check_dlrm(s, reason, size);
    if (m->linear.layers) {
        snprintf(reason, size,
                 "the model has %lld layers of linear attention, whose "
                 "training is not described",
                 (long long)m->linear.layers);
        return reason;
    }
    if (is_uneven(m->heads, "heads", s->tp, "tp", reason, size) ||
        is_uneven(s->sequence, "sequence", s->cp, "cp", reason, size))
        return reason;
    if (m->ffn && is_uneven(m->ffn, "ffn", s->tp, "tp", reason, size))
        return reason;
    if (check_experts(s, m, reason, size))
        return reason;
    /* Embedding and head may be a piece of their own. */
    if (s->pp * s->vp > m->layers + 2) {
        snprintf(reason, size, "pp x vp is %lld, but the model has %lld layers",
                 (long long)(s->pp * s->vp), (long long)m->layers);
        return reason;
    }
    if (s->vp > 1 && s->pp == 1) {
        snprintf(reason, size, "vp is %lld, but pp is 1", (long long)s->vp);
        return reason;
    }
    return NULL;
}

/*
 * Images say how many tokens they are; tables of positions, how many there may
 * be at most. What follows from the model counts as given.
 */
static const char *complete_sequence(struct msim_strategy *s, uint64_t *given,
                                     const struct msim_described *m,
                                     char *reason, size_t size)
{
    bool said = *given >> MSIM_GIVEN_sequence & 1;
    int64_t tokens = msim_described_sequence(
        m, said ? s->sequence : msim_described_usual_sequence(m, s->sequence));

    if (said && s->sequence != tokens) {
        snprintf(reason, size, "sequence is %lld, but the model has %s %lld",
                 (long long)s->sequence,
                 m->type == MSIM_MODEL_VIT
                     ? "as many tokens as its images make:"
                     : "positions up to",
                 (long long)tokens);
        return reason;
    }
    s->sequence = tokens;
    if (m->type == MSIM_MODEL_VIT || m->type == MSIM_MODEL_DLRM)
        *given |= 1ULL << MSIM_GIVEN_sequence;
    return NULL;
}

static void name_defaults(const struct msim_strategy *s, uint64_t given,
                          char *text, size_t size)
{
    size_t used = 0;
    char value[32];

    text[0] = '\0';
#define X(name, missing)                                                       \
    if ((missing) && !(given >> MSIM_GIVEN_##name & 1) && used < size)         \
        used += (size_t)snprintf(text + used, size - used, "%s%s=%lld",        \
                                 used ? " " : "", #name, (long long)s->name);
    MSIM_STRATEGY_MAP(X)
#undef X
    if (!(given >> MSIM_GIVEN_zero & 1) && used < size)
        used += (size_t)snprintf(text + used, size - used, "%szero=0",
                                 used ? " " : "");
    for (int g = MSIM_GIVEN_precision; g < MSIM_GIVEN_ALWAYS; g++) {
        if ((given >> g & 1) || used >= size)
            continue;
        msim_strategy_text(s, (enum msim_given)g, value, sizeof(value));
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s",
                                 used ? " " : "",
                                 msim_given_text((enum msim_given)g), value);
    }
    if (!(given >> MSIM_GIVEN_framework & 1) && used < size)
        (void)snprintf(text + used, size - used, "%sframework=%s",
                       used ? " " : "", msim_framework_of(s)->name);
}

/* GPUs of one server: where more are linked they are a rack, of which nodes are
 * trays. */
#define SERVER_MOST 16

/* Boxes of 10 and 16 GPUs are one node, which `nodes` tells. */
static const char *complete_nodes(struct msim_strategy *s, int64_t usual,
                                  char *reason, size_t size)
{
    s->gpus_a_node = s->nodes > 0 && usual <= SERVER_MOST
                         ? (s->gpus + s->nodes - 1) / s->nodes
                         : usual;
    if (s->nodes == 0)
        s->nodes = (s->gpus + usual - 1) / usual;
    if (s->nodes <= s->gpus)
        return NULL;
    snprintf(reason, size, "nodes is %lld, but gpus is %lld",
             (long long)s->nodes, (long long)s->gpus);
    return reason;
}

const char *msim_strategy_complete(struct msim_strategy *s, uint64_t given,
                                   const struct msim_described *m,
                                   int64_t gpus_a_node, char *defaults,
                                   size_t defaults_size, char *reason,
                                   size_t size)
{
#define X(name, missing)                                                       \
    if (!(given >> MSIM_GIVEN_##name & 1))                                     \
        s->name = (missing);
    MSIM_STRATEGY_MAP(X)
#undef X
    if (!(given >> MSIM_GIVEN_precision & 1))
        s->precision = MSIM_PRECISION_BF16;
    if (complete_sequence(s, &given, m, reason, size))
        return reason;
    if (complete_gpus(s, reason, size) || complete_batch(s, reason, size))
        return reason;
    complete_experts(s, given);
    if (complete_nodes(s, gpus_a_node, reason, size))
        return reason;
    if (check_techniques(s, m, reason, size))
        return reason;
    if (!(given >> MSIM_GIVEN_recompute & 1))
        msim_again_set_usual(s);
    name_defaults(s, given, defaults, defaults_size);
    return check_split(s, m, reason, size);
}
