/*
 * plan/memory/peak_memory.c - peak memory by formula.
 */
#include "plan/memory/job_memory.h"

#include "core/base/units.h"
#include "plan/describe/strategy.h"

#include <math.h>
#include <string.h>

#define TERA 1e12
/* Between a GPU that is faster than its host and one that is slower. */
#define STEEP 4

static const char *const NAMES[] = {
#define X(name, start, text) #name,
    MSIM_MEMORY_CONSTANT_MAP(X)
#undef X
};

const char *msim_memory_constant_text(uint32_t i)
{
    return NAMES[i];
}

struct msim_memory_constants msim_memory_constants_start(void)
{
    return (struct msim_memory_constants){
#define X(name, start, text) .name = (start),
        MSIM_MEMORY_CONSTANT_MAP(X)
#undef X
    };
}

const char *msim_memory_class_text(enum msim_memory_class c)
{
    static const char *const TEXTS[] = {
#define X(name, text) text,
        MSIM_MEMORY_CLASS_MAP(X)
#undef X
    };

    return TEXTS[c];
}

enum msim_memory_class msim_memory_class_of(const struct msim_strategy *s)
{
    const struct msim_techniques *t = &s->technique;

    if (!msim_framework_of(s)->fitted || s->zero >= 2 ||
        msim_again_of(s) != MSIM_AGAIN_NOTHING ||
        s->offload != MSIM_OFFLOAD_NONE ||
        msim_precision_is_narrow(s->precision) || s->cp > 1 || s->ep > 1 ||
        t->lora_rank || t->optimizer_bits || t->loss_chunks ||
        t->master_weights == MSIM_STATED_NO)
        return MSIM_MEMORY_OTHER;
    if (s->tp == 1)
        return MSIM_MEMORY_ALONE;
    return s->pp == 1 ? MSIM_MEMORY_TENSOR : MSIM_MEMORY_PIPELINE;
}

/* ---- one stage ----------------------------------------------------------- */

/* Of pipeline stages the first, the second or the last holds most: one has
 * most micro batches in flight, one may have a layer more, one the logits. With
 * delayed gradients of weights the last but one may. */
struct stage {
    double layers, in_flight;
    double delayed; /* micro batches whose gradients of weights are still to
                       come */
    double ahead;   /* share of them that the host launches without a wait */
    bool again;     /* forward passes follow backward ones */
    bool embedding, head;
};

static bool delays(const struct msim_strategy *s)
{
    return s->technique.schedule == MSIM_SCHEDULE_ZERO_BUBBLE;
}

/*
 * Of `in_flight` micro batches those that the host launches while the GPU has
 * yet to send what earlier ones made: a stage sends when the next one receives,
 * and before the first backward pass nothing makes the host wait. With two in
 * flight it waits for each; with one stage nothing makes it wait at all.
 */
static double ahead_of(const struct msim_strategy *s, double in_flight)
{
    return s->pp == 1 ? 1 : fmax(in_flight - 2, 0) / in_flight;
}

/* Micro batches that an interleaved stage holds, in pieces: those that it
 * begins with, and the next (Narayanan et al., "Efficient Large-Scale Language
 * Model Training on GPU Clusters", 2021; Megatron-LM, core/pipeline_parallel/
 * schedules.py, get_pp_rank_microbatches). */
static double interleaved(const struct msim_strategy *s, int64_t i)
{
    int64_t first = 2 * (s->pp - i - 1) + (s->vp - 1) * s->pp;

    return fmin((double)(first + 1), (double)(s->grad_accum * s->vp)) /
           (double)s->vp;
}

/* 1F1B: stage i holds the micro batches that the stages behind it work on.
 * Where gradients of weights run late, as many more wait for them as it takes
 * to have as many in all as there are stages (ZB-H1: Qi et al., "Zero Bubble
 * Pipeline Parallelism", 2023). */
static struct stage stage_of(const struct msim_described *m,
                             const struct msim_strategy *s, int64_t i)
{
    struct stage of = {.layers = (double)msim_stage_layers(m, s, i),
                       .in_flight =
                           fmin((double)(s->pp - i), (double)s->grad_accum),
                       .again = s->grad_accum > s->pp - i,
                       .embedding = i == 0,
                       .head = i + 1 == s->pp};

    of.ahead = ahead_of(s, of.in_flight);
    if (delays(s))
        of.delayed = fmin((double)i, (double)s->grad_accum - of.in_flight);
    if (s->vp > 1)
        of.in_flight = interleaved(s, i);
    return of;
}

/* Elements on one rank of a stage. */
struct held {
    double dense, experts, a_layer;
    double trained, trained_experts; /* all, without adapters */
    double narrow, a_narrow;         /* frozen, in few bits: all, in a layer */
    double table;                    /* of the embedding or the head */
};

static bool is_layer(const struct msim_part *part)
{
    return part->kind == MSIM_PART_DENSE || part->kind == MSIM_PART_EXPERTS;
}

static struct held parameters_of(const struct msim_parts *p,
                                 const struct msim_described *m,
                                 const struct msim_strategy *s,
                                 const struct stage *of)
{
    struct held h = {0};
    double share = of->layers / (double)m->layers;

    for (uint32_t i = 0; i < p->n; i++) {
        const struct msim_part *part = &p->part[i];

        if (is_layer(part)) {
            h.dense += part->parameters * part->layers * share;
            h.experts += part->expert_parameters * part->layers * share;
            h.a_layer =
                fmax(h.a_layer, part->parameters + part->expert_parameters);
            h.trained += part->adapters * part->layers * share;
            h.narrow += part->narrow * part->layers * share;
            h.a_narrow = fmax(h.a_narrow, part->narrow);
        } else if (part->kind == MSIM_PART_EMBEDDING ? of->embedding
                                                     : of->head) {
            h.dense += part->parameters;
        }
    }
    if (s->technique.lora_rank == 0) {
        h.trained = h.dense;
        h.trained_experts = h.experts;
        h.table = (double)m->hidden * (double)m->vocab / (double)s->tp;
    }
    return h;
}

/*
 * Share of the layers in flight that were launched before the GPU was there.
 *
 * What tensor parallel ranks exchange is whole on each of them: inputs that
 * were gathered, outputs whose sum is yet to be scattered. Each is free when
 * its collective is through, but the allocator of PyTorch, which gives memory
 * out when the host asks, takes it back only then (Tensor.record_stream): of a
 * host that is ahead, every layer's lie beside one another. It is where nothing
 * makes it wait, or where a layer takes the GPU longer than the host.
 */
static double behind(const struct msim_part *part, const struct stage *of,
                     const struct msim_memory_constants *c)
{
    double flops = 0, slow;

    for (uint32_t i = 0; i < part->n_ops; i++)
        if (part->ops[i].pass == MSIM_PASS_FORWARD)
            flops += part->ops[i].work.flops;
    slow = 1 / (1 + pow(c->pace * TERA / flops, STEEP));
    return of->ahead + (1 - of->ahead) * slow;
}

/* Bytes that one micro batch keeps in one layer. Where passes forward follow
 * passes backward, what those freed is in pieces too small for others. */
static double kept(const struct msim_part *part, const struct msim_strategy *s,
                   const struct stage *of,
                   const struct msim_memory_constants *c)
{
    double own = part->saved - part->gathered;

    if (msim_again_of(s) == MSIM_AGAIN_LAYERS)
        return part->input;
    if (msim_again_of(s) != MSIM_AGAIN_NOTHING)
        own -= part->saved_selective;
    if (part->gathered > 0 && c->gathered > 0)
        own += behind(part, of, c) * (fmin(c->gathered, 1) * part->gathered +
                                      (of->again ? c->pieces * own : 0));
    return own * c->activations;
}

/* Bytes of all layers of a stage that wait for backward, and of the one that
 * is computed again or on its way back. */
struct activations {
    double waiting, whole, a_layer;
};

/* What gradients of weights wait for: inputs, computed again or kept, and
 * gradients, of all layers with weights. */
static double delayed_of(const struct msim_parts *p,
                         const struct msim_described *m, const struct stage *of)
{
    double sum = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        const struct msim_part *part = &p->part[i];

        if (is_layer(part))
            sum +=
                part->delayed * part->layers * of->layers / (double)m->layers;
        else if (part->kind == MSIM_PART_HEAD && of->head)
            sum += part->delayed;
    }
    return sum * of->delayed;
}

static struct activations activations_of(const struct msim_parts *p,
                                         const struct msim_described *m,
                                         const struct msim_strategy *s,
                                         const struct stage *of,
                                         const struct msim_memory_constants *c)
{
    struct activations a = {0};
    double whole = 0;

    for (uint32_t i = 0; i < p->n && of->layers > 0; i++)
        if (is_layer(&p->part[i])) {
            double one = kept(&p->part[i], s, of, c);

            a.waiting += one * p->part[i].layers;
            a.a_layer = fmax(a.a_layer, one);
            whole = fmax(whole, p->part[i].saved);
        }
    a.waiting *= of->layers / (double)m->layers * of->in_flight;
    a.waiting += delayed_of(p, m, of);
    /* One layer is copied while the next is computed. */
    if (s->offload == MSIM_OFFLOAD_ACTIVATIONS)
        a.waiting = fmin(a.waiting, 2 * a.a_layer);
    if (msim_again_of(s) == MSIM_AGAIN_LAYERS)
        a.whole = whole * c->activations;
    return a;
}

/* Programs that shard weights or compute in 8 bits come with fused norms,
 * activations and losses, which keep the least. With sharded gradients 16 bytes
 * a parameter are all, and updates go parameter by parameter. */
static struct msim_memory_constants
fitted_for(const struct msim_strategy *s, const struct msim_memory_constants *c)
{
    struct msim_memory_constants own = *c;
    bool least = s->zero >= 2 || msim_precision_is_narrow(s->precision);

    if (least)
        own.loss = 1;
    /* Parts list what a stated program keeps. */
    if (least || s->technique.compile) {
        own.activations = own.gathered = 1;
        own.pace = own.pieces = 0;
    }
    if (s->zero >= 2) {
        own.gradient = 2;
        own.temporary = 4;
    }
    return own;
}

/*
 * Constants of the program: as fitted to its own peaks, or bytes by count. Of
 * adapters, too, the fitted ones stand where no program is named: what trains
 * them (PEFT) keeps them in 32 bits beside copies in 16, so the common bytes of
 * their few parameters are too little. Where nothing was fitted, passes keep
 * what the parts list, inputs that were gathered are gathered again, and the
 * loss holds three copies of the logits in 32 bits (PyTorch: log-softmax, its
 * gradient, that of the logits).
 */
static struct msim_memory_constants
constants_for(const struct msim_strategy *s,
              const struct msim_memory_constants *c)
{
    const struct msim_framework *program = msim_framework_of(s);
    bool adapters = s->technique.lora_rank && !s->technique.framework;
    struct msim_memory_constants own = *c;

    if (program->fitted || adapters)
        return fitted_for(s, c);
    own.activations = 1;
    own.gathered = 0;
    own.pieces = 0;
    own.loss = 3;
    own.temporary = program->temporary;
    own.gradient = program->gradient;
    own.optimizer = program->states;
    /* No copy of the weights in 32 bits: they are. */
    if (s->precision == MSIM_PRECISION_FP32) {
        own.gradient = 4;
        own.optimizer = 8;
    }
    return own;
}

/* Bytes of a trained parameter's gradient, optimizer state, temporaries. */
static void state_bytes(const struct msim_strategy *s, double each,
                        struct msim_memory_constants *c)
{
    const struct msim_techniques *t = &s->technique;
    double bits = (double)t->optimizer_bits;
    /* 8-bit states have a 32-bit scale for every 256 values. */
    double states = 2 * bits / 8 + (bits == 8 ? 2 * 4.0 / 256 : 0);

    if (t->master_weights == MSIM_STATED_NO) {
        c->gradient = each;
        c->optimizer = bits > 0 ? states : 2 * each;
        c->temporary = 0;
    } else if (bits > 0) {
        c->optimizer = 4 + states;
    }
}

/* Weights; frozen ones in 4 bits have an 8-bit scale for every 64 values
 * (Dettmers et al., "QLoRA", 2023). */
static double weight_bytes(const struct msim_strategy *s, const struct held *h,
                           double each, double all, double owned)
{
    double bits = (double)s->technique.base_bits;
    /* Shards of weights come together for two layers at a time, in the bits
     * that they are stored in. */
    double here = s->zero == 3 ? owned / all : 1;
    double gathered = s->zero == 3 ? fmin(2 * h->a_layer, all) : 0;
    double narrow = h->narrow * here + gathered / h->a_layer * h->a_narrow;

    if (s->offload == MSIM_OFFLOAD_WEIGHTS)
        return each * fmin(2 * h->a_layer, all);
    return each * (all * here + gathered) -
           narrow * (each - bits / 8 - 1.0 / 64);
}

/*
 * The most of a step of a program without sums of gradients in 32 bits: at the
 * loss there are no gradients of this micro batch yet; behind the first layer
 * there are all of them. Updates within backward leave those of one layer, and
 * of a table that embedding and head share until the end.
 */
static double working_peak(const struct msim_described *m,
                           const struct msim_strategy *s, const struct held *h,
                           const struct activations *a, double each,
                           struct msim_memory *out)
{
    bool freed = s->technique.optimizer_in_backward == MSIM_STATED_YES;
    double before = s->grad_accum > 1 ? out->gradients : 0, layer;

    if (freed)
        out->gradients = each * (h->a_layer * h->trained / h->dense +
                                 (m->tied ? h->table : 0));
    layer = a->whole > 0 ? a->whole : a->a_layer;
    return fmax(before + fmax(a->waiting + out->loss, a->waiting + layer),
                out->gradients + fmax(layer, out->temporary));
}

/* `each`: bytes of an element of weights. */
static void set_states(struct msim_memory *out, const struct held *h,
                       const struct msim_strategy *s, double each,
                       const struct msim_memory_constants *c)
{
    double shards = (double)(s->dp * s->cp);
    double expert_shards = (double)msim_expert_copies(s);
    double all = h->dense + h->experts;
    double trained = h->trained + h->trained_experts;
    double owned =
        s->zero ? h->dense / shards + h->experts / expert_shards : all;
    double trained_owned =
        s->zero ? h->trained / shards + h->trained_experts / expert_shards
                : trained;
    bool on_host = s->offload >= MSIM_OFFLOAD_OPTIMIZER;
    bool shared = s->zero >= 2 && msim_exchanges_each_micro_batch(s);

    out->parameters = weight_bytes(s, h, each, all, owned);
    out->gradients = c->gradient * (shared ? trained_owned : trained);
    if (s->offload == MSIM_OFFLOAD_WEIGHTS)
        out->gradients = each * fmin(h->a_layer, trained);
    out->optimizer = on_host ? 0 : c->optimizer * trained_owned;
    out->temporary = on_host ? 0 : c->temporary * trained_owned;
}

static struct msim_memory memory_of_stage(const struct msim_parts *parts,
                                          const struct msim_described *m,
                                          const struct msim_strategy *s,
                                          const struct msim_memory_constants *c,
                                          const struct stage *of)
{
    const struct msim_part *head = msim_parts_find(parts, MSIM_PART_HEAD);
    struct held h = parameters_of(parts, m, s, of);
    struct msim_memory_constants own = *c;
    struct msim_memory out = {0};
    struct activations a;
    double each = msim_dtype_bytes(msim_precision_dtype(s->precision)) +
                  (msim_precision_is_narrow(s->precision) ? 1 : 0);

    state_bytes(s, each, &own);
    set_states(&out, &h, s, each, &own);
    a = activations_of(parts, m, s, of, &own);
    out.activations = a.waiting + a.whole;
    if (of->head && head)
        out.loss = head->loss > 0 ? head->loss : own.loss * head->saved;
    out.other = own.fixed_gib * MSIM_GIB;
    if (s->technique.master_weights == MSIM_STATED_NO)
        out.peak = out.parameters + out.optimizer + out.other +
                   working_peak(m, s, &h, &a, each, &out);
    else
        out.peak = out.parameters + out.gradients + out.optimizer + out.other +
                   fmax(out.activations + out.loss, out.temporary);
    return out;
}

struct msim_memory msim_memory_of(const struct msim_described *m,
                                  const struct msim_strategy *s,
                                  const struct msim_memory_constants *fitted)
{
    struct msim_memory_constants c = constants_for(s, fitted);
    struct stage first = stage_of(m, s, 0);
    int64_t others[3] = {1, s->pp - 1, s->pp - 2};
    struct msim_memory out;
    struct msim_parts parts;

    msim_parts_make(&parts, m, s);
    out = memory_of_stage(&parts, m, s, &c, &first);
    out.most = out.peak;
    for (int i = others[0] == others[1]; s->pp > 1 && i < 2 + delays(s); i++) {
        struct stage of = stage_of(m, s, others[i]);

        out.most = fmax(out.most, memory_of_stage(&parts, m, s, &c, &of).peak);
    }
    return out;
}
