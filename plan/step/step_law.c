/*
 * plan/step/step_law.c - the time of a step.
 */
#include "plan/step/step_law.h"

#include <math.h>
#include <string.h>

static const char *const NAMES[] = {
#define X(name, start, text) #name,
    MSIM_STEP_CONSTANT_MAP(X)
#undef X
};

const char *msim_step_constant_text(uint32_t i)
{
    return NAMES[i];
}

struct msim_step_constants msim_step_constants_start(void)
{
    return (struct msim_step_constants){
#define X(name, start, text) .name = (start),
        MSIM_STEP_CONSTANT_MAP(X)
#undef X
    };
}

/* One pass of a layer, the embedding or the head, us. */
struct pass {
    double compute, tp, cp, ep;
};

static double pass_us(const struct pass *p)
{
    return p->compute + p->tp + p->cp + p->ep;
}

/*
 * Tokens of one micro batch go to experts and back while another computes
 * (DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, section 3.2.1; Megatron-
 * Core's overlap_moe_expert_parallel_comm): what remains of the exchange, with
 * what its SMs do not compute meanwhile. The first of n micro batches has none
 * before it, the last none behind it.
 */
static void hide_exchange(struct pass *p, double share, double n)
{
    double hidden = fmin(p->ep, p->compute / (1 - share)) * (n - 1) / n;

    if (share > 0) {
        p->compute += hidden * share;
        p->ep -= hidden;
    }
}

static void add_pass(struct pass *to, const struct pass *from)
{
    to->compute += from->compute;
    to->tp += from->tp;
    to->cp += from->cp;
    to->ep += from->ep;
}

/* Unfused, an operator is several small kernels with gaps between them: the
 * longer they are, the more of a gap is gone by the time the GPU gets there. */
static double gaps_us(double us, double kernels, double gap_us)
{
    return gap_us > 0 ? kernels * gap_us / (1 + us / kernels / gap_us) : 0;
}

/* One factor for products of all types: what 8 and 4 bits bring is what their
 * kernels bring, so that no job gains more than its own products do. */
static double linear_of(const struct msim_terms *t,
                        const struct msim_step_constants *c)
{
    return t->late ? c->linear_late : c->linear;
}

static struct pass pass_of(const struct msim_terms *t, enum msim_place place,
                           enum msim_pass pass,
                           const struct msim_step_constants *c)
{
    const struct msim_priced *p = &t->at[place];
    /* Makers' kernels take what single ones are estimated at. */
    const double attention[MSIM_ATTENTION_STACKS] = {c->attention_usual,
                                                     c->attention_late, 1};
    const double factor[MSIM_PART_OP_COUNT] = {
        [MSIM_PART_OP_LINEAR] = linear_of(t, c),
        [MSIM_PART_OP_ATTENTION] = attention[t->attention],
        [MSIM_PART_OP_EXPERT] = c->expert,
        [MSIM_PART_OP_SCORES] = 1,
        [MSIM_PART_OP_NORM] = c->vector,
        [MSIM_PART_OP_POINTWISE] = c->vector,
        [MSIM_PART_OP_LOSS] = c->loss,
        [MSIM_PART_OP_EMBEDDING] = c->vector,
        [MSIM_PART_OP_QUANTISE] = c->vector,
        [MSIM_PART_OP_PLAIN] = 1,
    };
    bool has_gaps = t->unfused && place == MSIM_PLACE_LAYER;
    struct pass out = {0};

    for (int k = 0; k < MSIM_PART_OP_COUNT; k++) {
        double us = factor[k] * p->us[k][pass];

        out.compute += us;
        if (has_gaps && p->kernels[k][pass] > 0)
            out.compute += gaps_us(us, p->kernels[k][pass], c->gap_us);
    }
    out.tp = (t->tp_far ? c->tp_far : c->tp_near) *
             p->comm_us[MSIM_PART_GROUP_TP][pass];
    out.cp = c->cp * p->comm_us[MSIM_PART_GROUP_CP][pass];
    out.ep = c->ep * p->comm_us[MSIM_PART_GROUP_EP][pass];
    return out;
}

static struct pass both(const struct msim_terms *t, enum msim_place place,
                        const struct msim_step_constants *c)
{
    struct pass sum = pass_of(t, place, MSIM_PASS_FORWARD, c);
    struct pass back = pass_of(t, place, MSIM_PASS_BACKWARD, c);

    add_pass(&sum, &back);
    return sum;
}

/* What the host takes for a layer of a micro batch. Tensor parallel ranks meet
 * in every layer, so the slowest of their hosts counts: the mean of the slowest
 * of n grows about as log n. */
static double host_us(const struct msim_terms *t,
                      const struct msim_step_constants *c)
{
    const struct msim_priced *p = &t->at[MSIM_PLACE_LAYER];
    double comms = p->comms[MSIM_PASS_FORWARD] + p->comms[MSIM_PASS_BACKWARD];
    double us = c->host_layer_us + comms * c->host_comm_us;

    if (p->us[MSIM_PART_OP_EXPERT][MSIM_PASS_FORWARD] > 0)
        us += c->host_expert_us;
    us *= 1 + c->host_wait * log2(t->tp);
    return t->again == MSIM_AGAIN_LAYERS ? us * 4 / 3 : us;
}

/* Whichever is longer; both together a little more, since neither is steady. */
static double longer(double a, double b)
{
    double most = fmax(a, b), least = fmin(a, b);

    return most > 0 ? most * pow(1 + pow(least / most, 8), 0.125) : 0;
}

/* A layer of a micro batch: both passes, with what is computed again. */
struct layer {
    struct pass pass;
    double us, backward_us, copies_us;
};

/* Copies over the host link that no compute hides: a layer's go beside the
 * compute of one layer, and take their share of device memory. */
static double copies_us(const struct msim_terms *t, double forward_us,
                        double backward_us)
{
    return fmax(t->copy_us[MSIM_PASS_FORWARD] - forward_us, 0) +
           fmax(t->copy_us[MSIM_PASS_BACKWARD] - backward_us, 0) + t->copied_us;
}

static struct layer layer_of(const struct msim_terms *t,
                             const struct msim_step_constants *c)
{
    struct pass back = pass_of(t, MSIM_PLACE_LAYER, MSIM_PASS_BACKWARD, c);
    struct layer l = {.pass = both(t, MSIM_PLACE_LAYER, c)};
    double host = host_us(t, c);

    if (t->again == MSIM_AGAIN_LAYERS) {
        struct pass again = pass_of(t, MSIM_PLACE_LAYER, MSIM_PASS_FORWARD, c);

        add_pass(&l.pass, &again);
        add_pass(&back, &again);
    } else if (t->again != MSIM_AGAIN_NOTHING) {
        l.pass.compute += t->at[MSIM_PLACE_LAYER].again_us;
        back.compute += t->at[MSIM_PLACE_LAYER].again_us;
    }
    hide_exchange(&l.pass, t->dispatch_share, t->micro_batches);
    hide_exchange(&back, t->dispatch_share, t->micro_batches);
    l.us = longer(pass_us(&l.pass), host);
    l.backward_us = fmax(pass_us(&back), 0.6 * host);
    l.copies_us = copies_us(t, l.us - l.backward_us, l.backward_us);
    l.us += l.copies_us;
    return l;
}

/* A micro batch on the busiest stage and on all of them, us. */
struct stages {
    double busiest, all, layers; /* layers of the busiest */
};

/* A micro batch goes through all stages; the fullest sets the pace. */
static struct stages stages_of(const struct msim_terms *t, double layer_us,
                               double embedding_us, double head_us,
                               double p2p_us, double add_us)
{
    double all = t->layers * layer_us + embedding_us + head_us;
    double ends;
    struct stages s = {.layers = t->layers, .all = all + add_us * t->pp};

    s.busiest = all + add_us;
    if (t->pp < 2)
        return s;
    s.layers = fmax(fmax(t->first_layers, t->middle_layers), t->last_layers);
    ends = fmax(t->first_layers * layer_us + embedding_us,
                t->last_layers * layer_us + head_us);
    s.busiest = fmax(ends, t->middle_layers * layer_us) + add_us;
    /* Interleaved stages send while they compute the next piece. */
    if (t->vp < 2)
        s.busiest += 2 * p2p_us;
    s.all += 2 * p2p_us * t->pp * t->vp;
    return s;
}

/*
 * How far jobs' exchanges between nodes fall short of rows, and how far
 * networks fall short of their data sheets, is for the most part one thing seen
 * twice (routes that cross, slow nodes, other jobs): where there are no rows
 * the greater one counts.
 */
static double exchange_factor(const struct msim_terms *t,
                              const struct msim_step_constants *c)
{
    double far = t->waits_for_weights ? c->dp_far_waits : c->dp_far;

    if (!t->dp_far)
        return c->dp_near;
    return t->network_shortfall > 1 ? fmax(far / t->network_shortfall, 1) : far;
}

/*
 * Backward that goes on after the first gradients of a stage are whole, or
 * forward that goes on before its last weights are wanted: `all` is a pass of
 * one micro batch. In pieces (vp), all micro batches of a group of pp pass one
 * piece before the next (Narayanan et al., "Efficient Large-Scale Language
 * Model Training on GPU Clusters", 2021, figure 4): the gradients of all pieces
 * but the first are whole while the others still go back, each by pp micro
 * batches, and so are weights of all but the first wanted later.
 */
static double beside_us(const struct msim_terms *t, double all)
{
    double others = t->pp > 1 ? (t->vp - 1) / t->vp : 0;

    return all * (1 - others) + all * others * fmin(t->pp, t->micro_batches);
}

/* What is left of an exchange of `us` beside so much compute. */
static double left_us(double us, double hidden)
{
    return fmax(us - hidden, 0.1 * us);
}

/* What the optimizer left in shards, gathered beside the next forward, unless
 * the program waits for it. */
static double weights_us(const struct msim_terms *t,
                         const struct msim_step_constants *c,
                         const struct layer *l, double layers, double factor)
{
    double next = beside_us(t, layers * (l->us - l->backward_us));

    return left_us(factor * t->gather_us,
                   t->waits_for_weights ? 0 : c->hidden * next);
}

/* Once a step: gradients go beside the last backward, weights of the optimizer
 * beside the next forward, unless the program waits for them. */
static double once_us(const struct msim_terms *t,
                      const struct msim_step_constants *c,
                      const struct layer *l, double layers, double factor)
{
    double hidden = t->waits_for_weights ? c->hidden_waits : c->hidden;
    double back = hidden * beside_us(t, layers * l->backward_us);

    if (t->zero == 0)
        return left_us(factor * t->sum_us, back);
    if (t->waits_for_weights)
        return left_us(factor * (t->scatter_us + t->gather_us), back);
    return left_us(factor * t->scatter_us, back) +
           weights_us(t, c, l, layers, factor);
}

/* Are gradients summed in shards of each micro batch (ZeRO 2, 3), and weights
 * gathered (3)? */
static bool is_sharded(const struct msim_terms *t)
{
    return t->zero >= 2 && t->exchanges_each;
}

/* Once all that is exchanged each time, us; exchanges take `factor` times their
 * estimate. */
static double all_us(const struct msim_terms *t, double layers, double factor)
{
    double gathers = t->zero == 3 ? 2 : 0;

    if (t->dp < 2)
        return 0;
    if (is_sharded(t))
        return factor * layers *
               (gathers * t->layer_gather_us + t->layer_scatter_us);
    return factor * (t->zero == 0 ? t->sum_us : t->scatter_us + t->gather_us);
}

/* How many times that is in a step. Megatron-LM summed all gradients after the
 * last backward before it had an option to overlap them (2023). */
static double times_of(const struct msim_terms *t)
{
    return t->exchanges_each && (is_sharded(t) || !t->unfused)
               ? t->micro_batches
               : 1;
}

/* What of it no compute hides, us a step. */
static double exchange_us(const struct msim_terms *t,
                          const struct msim_step_constants *c,
                          const struct layer *l, double layers, double factor)
{
    double us = all_us(t, layers, factor);

    if (t->dp < 2)
        return 0;
    if (is_sharded(t)) {
        double hidden = c->hidden_shard * layers * l->us;

        /* The first layer's gather and the last one's scatter wait alone. */
        us = times_of(t) * fmax(us - hidden, 0) + factor * t->layer_scatter_us;
        return us + (t->zero == 3 ? factor * t->layer_gather_us
                                  : weights_us(t, c, l, layers, factor));
    }
    return t->unfused || t->exchanges_each ? times_of(t) * us
                                           : once_us(t, c, l, layers, factor);
}

/*
 * Stages that delay the gradients of weights wait for a third as long: for
 * forward + backward of inputs - gradients of weights, each about as long,
 * instead of their sum (ZB-H1 of Qi et al., "Zero Bubble Pipeline
 * Parallelism", 2023).
 */
static double bubble_share(const struct msim_terms *t)
{
    return t->zero_bubble ? 1.0 / 3 : 1;
}

/* What follows the last backward. Updates within backward are launched while
 * the GPU computes: what the host needs beside its micro batches is hidden. On
 * the host, gradients come beside backward, and the update waits for them. */
static double end_us(const struct msim_terms *t,
                     const struct msim_step_constants *c, const struct layer *l,
                     double layers)
{
    double us = c->optimizer * t->optimizer_us;

    if (!t->updates_in_backward)
        us += c->fixed_us;
    if (t->host_update_us > 0)
        us += t->host_update_us +
              fmax(t->host_down_us - layers * l->backward_us, 0);
    return us;
}

double msim_step_us(const struct msim_terms *t,
                    const struct msim_step_constants *c,
                    struct msim_step_parts *parts)
{
    struct layer l = layer_of(t, c);
    struct pass embedding = both(t, MSIM_PLACE_EMBEDDING, c);
    struct pass head = both(t, MSIM_PLACE_HEAD, c);
    struct stages s = stages_of(t, l.us, pass_us(&embedding), pass_us(&head),
                                c->p2p * t->p2p_us, c->add * t->add_us);
    double busy = t->micro_batches * s.busiest;
    double bubble = fmax(s.all - s.busiest, 0) / t->vp * bubble_share(t);
    double exchange = exchange_us(t, c, &l, s.layers, exchange_factor(t, c));
    double end = end_us(t, c, &l, s.layers);

    if (parts) {
        double n = t->micro_batches * s.layers;

        memset(parts, 0, sizeof(*parts));
        parts->tp = n * l.pass.tp;
        parts->cp = n * l.pass.cp;
        parts->ep = n * l.pass.ep;
        parts->copies = n * l.copies_us;
        parts->host = n * fmax(l.us - l.copies_us - pass_us(&l.pass), 0);
        parts->compute = busy - parts->tp - parts->cp - parts->ep -
                         parts->host - parts->copies;
        parts->bubble = bubble;
        parts->gradients = exchange;
        parts->optimizer = end;
    }
    return busy + bubble + exchange + end;
}

struct msim_step_exchange
msim_step_exchange_of(const struct msim_terms *t,
                      const struct msim_step_constants *c, double spread)
{
    struct layer l = layer_of(t, c);
    double layers = stages_of(t, l.us, 0, 0, 0, 0).layers;
    double factor = exchange_factor(t, c);

    /* Weights of ZeRO 2 once, as they are whole in between. */
    double once = is_sharded(t) && t->zero == 2 ? factor * t->gather_us : 0;

    return (struct msim_step_exchange){
        .in_flight =
            times_of(t) * all_us(t, layers, factor) + (t->dp > 1 ? once : 0),
        .waits_low = exchange_us(t, c, &l, layers, factor / spread),
        .waits_high = exchange_us(t, c, &l, layers, factor * spread)};
}
