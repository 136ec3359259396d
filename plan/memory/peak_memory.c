/*
 * plan/memory/peak_memory.c - peak memory by formula.
 */
#include "plan/memory/peak_memory.h"

#include <math.h>
#include <string.h>

#define GIB 1073741824.0

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

/* ---- the first stage ----------------------------------------------------- */

/* Elements on one rank of the first stage. */
struct held {
    double dense, experts, a_layer;
};

static bool is_layer(const struct msim_part *part)
{
    return part->kind == MSIM_PART_DENSE || part->kind == MSIM_PART_EXPERTS;
}

static struct held parameters_of(const struct msim_parts *p,
                                 const struct msim_described *m,
                                 const struct msim_strategy *s, double layers)
{
    struct held h = {0};
    double share = layers / (double)m->layers;

    for (uint32_t i = 0; i < p->n; i++) {
        const struct msim_part *part = &p->part[i];

        if (is_layer(part)) {
            h.dense += part->parameters * part->layers * share;
            h.experts += part->expert_parameters * part->layers * share;
            h.a_layer =
                fmax(h.a_layer, part->parameters + part->expert_parameters);
        } else if (part->kind == MSIM_PART_EMBEDDING || s->pp == 1) {
            h.dense += part->parameters;
        }
    }
    return h;
}

/* Bytes that one micro batch keeps in one layer. */
static double kept(const struct msim_part *part, const struct msim_strategy *s,
                   const struct msim_memory_constants *c)
{
    double all = part->saved - (1 - fmin(c->gathered, 1)) * part->gathered;

    if (s->recompute == MSIM_RECOMPUTE_FULL)
        return part->input;
    if (s->recompute != MSIM_RECOMPUTE_NONE)
        all -= part->saved_selective;
    return all * c->activations;
}

static double activations_of(const struct msim_parts *p,
                             const struct msim_described *m,
                             const struct msim_strategy *s, double layers,
                             const struct msim_memory_constants *c)
{
    double in_flight = fmin((double)s->pp, (double)s->grad_accum);
    double sum = 0, whole = 0;

    /* Interleaved stages hold a little more (Narayanan et al., "Efficient
     * Large-Scale Language Model Training on GPU Clusters", 2021). */
    if (s->vp > 1)
        in_flight *= 1 + ((double)s->pp - 1) / ((double)s->pp * (double)s->vp);
    for (uint32_t i = 0; i < p->n; i++)
        if (is_layer(&p->part[i])) {
            sum += kept(&p->part[i], s, c) * p->part[i].layers;
            whole = fmax(whole, p->part[i].saved);
        }
    sum *= layers / (double)m->layers * in_flight;
    /* One layer at a time is whole: computed again, or on its way back. */
    if (s->offload == MSIM_OFFLOAD_ACTIVATIONS)
        sum = fmin(sum, 2 * whole);
    if (s->recompute == MSIM_RECOMPUTE_FULL)
        sum += whole * c->activations;
    return sum;
}

/* Programs that shard weights or compute in 8 bits come with fused norms,
 * activations and losses, which keep the least. */
static struct msim_memory_constants
constants_for(const struct msim_strategy *s,
              const struct msim_memory_constants *c)
{
    struct msim_memory_constants own = *c;

    if (s->zero >= 2 || s->precision >= MSIM_PRECISION_AMP_FP8)
        own.activations = own.gathered = own.loss = 1;
    /* With sharded gradients 16 bytes a parameter are all (Rajbhandari et al.,
     * "ZeRO", 2020), and updates go parameter by parameter. */
    if (s->zero >= 2) {
        own.gradient = 2;
        own.temporary = 4;
    }
    return own;
}

struct msim_memory msim_memory_of(const struct msim_described *m,
                                  const struct msim_strategy *s,
                                  const struct msim_memory_constants *fitted)
{
    struct msim_memory_constants own = constants_for(s, fitted), *c = &own;
    struct msim_memory out = {0};
    struct msim_parts parts;
    const struct msim_part *head;
    double layers = msim_stage_layers(m, s), all, shards, expert_shards, owned,
           each;
    struct held h;

    msim_parts_make(&parts, m, s);
    h = parameters_of(&parts, m, s, layers);
    all = h.dense + h.experts;
    shards = (double)(s->dp * s->cp);
    expert_shards = fmax(shards / (double)s->ep, 1);
    owned = s->zero ? h.dense / shards + h.experts / expert_shards : all;
    each = s->precision == MSIM_PRECISION_FP32      ? 4
           : s->precision >= MSIM_PRECISION_AMP_FP8 ? 3
                                                    : 2;
    /* Shards of weights come together for two layers at a time. */
    out.parameters =
        each * (s->zero == 3 ? owned + fmin(2 * h.a_layer, all) : all);
    out.gradients = c->gradient * (s->zero >= 2 ? owned : all);
    out.optimizer =
        s->offload == MSIM_OFFLOAD_OPTIMIZER ? 0 : c->optimizer * owned;
    out.temporary =
        s->offload == MSIM_OFFLOAD_OPTIMIZER ? 0 : c->temporary * owned;
    out.activations = activations_of(&parts, m, s, layers, c);
    head = msim_parts_find(&parts, MSIM_PART_HEAD);
    if (s->pp == 1 && head)
        out.loss = c->loss * head->saved;
    out.other = c->fixed_gib * GIB;
    out.peak = out.parameters + out.gradients + out.optimizer + out.other +
               fmax(out.activations + out.loss, out.temporary);
    return out;
}

/* ---- whether it fits ----------------------------------------------------- */

const char *msim_fits_text(enum msim_fits f)
{
    static const char *const TEXTS[] = {"yes", "edge", "no"};

    return TEXTS[f];
}

enum msim_fits msim_memory_fits(double low, double high, double capacity)
{
    if (high <= capacity)
        return MSIM_FITS_YES;
    return low > capacity ? MSIM_FITS_NO : MSIM_FITS_EDGE;
}
