/*
 * plan/step/terms_technique.c - what techniques make of the optimizer's step,
 * of messages, and of what is copied to the host.
 */
#include "models/platform/platform.h"
#include "plan/describe/strategy.h"
#include "plan/step/step_law.h"

#include <math.h>
#include <string.h>

/*
 * Memory of the host for each of its GPUs, bytes/s: two sockets of eight
 * channels of DDR4-3200 (25.6 GB/s each) for eight GPUs, as in NVIDIA's DGX
 * A100. An assumption: no table says what hosts the jobs had.
 */
#define HOST_BYTES_PER_S 51.2e9

/* ---- the optimizer ------------------------------------------------------- */

/*
 * 8-bit states go through tables of 256 values in shared memory: two look-ups
 * to read them, and a search of eight steps for each of two to write them
 * (Dettmers et al., "8-bit Optimizers via Block-wise Quantization", 2022).
 * Lanes of a warp look up where they like: the fullest of 32 banks has 3.5 of
 * 32 random look-ups on average, so a warp waits 3.5 cycles for each.
 */
static double lookups_us(const struct msim_platform *p, double elems)
{
    double sms = (double)msim_platform_sms(p);
    double lanes_hz =
        msim_platform_peak_flops(p, MSIM_DT_F32, NULL) / 2 / fmax(sms, 1);
    /* 64 lanes an SM (V100, A100) or 128: clocks are 1.1 to 2.7 GHz. */
    double clock = lanes_hz > 1.35e11 ? lanes_hz / 128 : lanes_hz / 64;

    if (!(sms > 0) || !(clock > 0))
        return 0;
    return elems * (2 + 2 * 8) * 3.5 / 32 / (sms * clock) * 1e6;
}

enum msim_status
msim_terms_optimizer(struct msim_terms *t, struct msim_pricer *p,
                     const struct msim_stage_held *held, double owned,
                     const struct msim_strategy *s, struct msim_error *err)
{
    const struct msim_techniques *k = &s->technique;
    /* What is scattered after every micro batch is added up where it stays. */
    double all = s->zero >= 2 && t->exchanges_each
                     ? owned
                     : held->trained + held->trained_experts;
    bool pure = k->master_weights == MSIM_STATED_NO;
    double weight = msim_weight_bytes(s);
    double state = k->optimizer_bits ? (double)k->optimizer_bits / 8
                   : pure            ? weight
                                     : 4;
    /* Adam reads and writes three 32-bit numbers a parameter, reads a gradient,
     * and writes 16 bits; or weights and states in their own type. */
    double read = 2 * state + (pure ? 2 * weight : 8);
    double written = 2 * state + (pure ? weight : 6);

    /* 16-bit gradients added to 32-bit ones. */
    if (!pure)
        MSIM_TRY(msim_price_bytes(&t->add_us, p, all, 6 * all, 4 * all, err));
    else if (s->grad_accum > 1)
        MSIM_TRY(msim_price_bytes(&t->add_us, p, all, 2 * weight * all,
                                  weight * all, err));
    MSIM_TRY(msim_price_bytes(&t->optimizer_us, p, owned, read * owned,
                              written * owned, err));
    if (k->optimizer_bits == 8)
        t->optimizer_us = fmax(t->optimizer_us, lookups_us(p->platform, owned));
    return MSIM_OK;
}

/* ---- messages ------------------------------------------------------------ */

enum msim_status msim_terms_narrow(double *us, struct msim_pricer *p,
                                   double elems, int64_t bits,
                                   struct msim_error *err)
{
    double bytes = (double)bits / 8, wide;

    *us = 0;
    if (bits == 0 || bits >= 16 || elems < 1)
        return MSIM_OK;
    MSIM_TRY(msim_price_bytes(us, p, elems, 2 * elems, bytes * elems, err));
    MSIM_TRY(msim_price_bytes(&wide, p, elems, bytes * elems, 2 * elems, err));
    *us += wide;
    return MSIM_OK;
}

/* ---- the host link ------------------------------------------------------- */

static enum msim_status price_copy(double *us, struct msim_pricer *p,
                                   enum msim_copy_kind kind, double bytes,
                                   struct msim_error *err)
{
    struct msim_work w;

    *us = 0;
    if (bytes < 1)
        return MSIM_OK;
    memset(&w, 0, sizeof(w));
    w.family = MSIM_FAMILY_COPY;
    w.dtype = MSIM_DT_BF16;
    w.kernels = 1;
    w.u.vector.copy = kind;
    w.u.vector.elems = msim_whole(bytes / 2);
    w.u.vector.rows = 1;
    w.u.vector.cols = w.u.vector.elems;
    w.bytes_read = w.bytes_written = bytes;
    return msim_price_described(us, p, &w, err);
}

/* What a layer keeps for backward, bytes; the mean of all layers. */
static double kept_of(const struct msim_parts *parts,
                      const struct msim_strategy *s, double layers)
{
    enum msim_again again = msim_again_of(s);
    double sum = 0;

    for (uint32_t i = 0; i < parts->n; i++) {
        const struct msim_part *part = &parts->part[i];

        if (part->kind == MSIM_PART_DENSE || part->kind == MSIM_PART_EXPERTS)
            sum += part->layers / layers *
                   (again == MSIM_AGAIN_LAYERS
                        ? part->input
                        : part->saved - (again == MSIM_AGAIN_NOTHING
                                             ? 0
                                             : part->saved_selective));
    }
    return sum;
}

static enum msim_status copies(struct msim_terms *t, struct msim_pricer *p,
                               double down_forward, double up_backward,
                               struct msim_error *err)
{
    double bytes = down_forward + up_backward;

    MSIM_TRY(price_copy(&t->copy_us[MSIM_PASS_FORWARD], p, MSIM_COPY_D2H,
                        down_forward, err));
    MSIM_TRY(price_copy(&t->copy_us[MSIM_PASS_BACKWARD], p, MSIM_COPY_H2D,
                        up_backward, err));
    t->copied_us = bytes / msim_platform_bandwidth(p->platform) * 1e6;
    return MSIM_OK;
}

/* Gradients go to the host beside backward; its update of a weight and the way
 * back follow each other, weight by weight (Ren et al., "ZeRO-Offload", 2021):
 * the longer of the two. */
static enum msim_status update_on_host(struct msim_terms *t,
                                       struct msim_pricer *p, double owned,
                                       double bytes, bool back,
                                       struct msim_error *err)
{
    double up = 0;

    MSIM_TRY(price_copy(&t->host_down_us, p, MSIM_COPY_D2H, 2 * owned, err));
    if (back)
        MSIM_TRY(price_copy(&up, p, MSIM_COPY_H2D, 2 * owned, err));
    t->host_update_us = fmax(bytes * owned / HOST_BYTES_PER_S * 1e6, up);
    t->optimizer_us = 0;
    return MSIM_OK;
}

enum msim_status msim_terms_offload(struct msim_terms *t, struct msim_pricer *p,
                                    const struct msim_parts *parts,
                                    const struct msim_stage_held *held,
                                    double owned, const struct msim_strategy *s,
                                    struct msim_error *err)
{
    double state = s->technique.optimizer_bits
                       ? (double)s->technique.optimizer_bits / 8
                   : s->technique.master_weights == MSIM_STATED_NO ? 2
                                                                   : 4;
    /* Weight, gradient and two states read, all but the gradient written. */
    double bytes = 4 * state + 3 * 4;
    double kept, layers = t->layers / t->pp;

    switch (s->offload) {
    case MSIM_OFFLOAD_ACTIVATIONS:
        kept = kept_of(parts, s, t->layers);
        return copies(t, p, kept, kept, err);
    case MSIM_OFFLOAD_OPTIMIZER:
        return update_on_host(t, p, owned, bytes, true, err);
    case MSIM_OFFLOAD_WEIGHTS: /* a shard of a layer for each pass */
        kept = held->dense + held->experts;
        if (s->zero == 3)
            kept = held->dense / (double)(s->dp * s->cp) +
                   held->experts / (double)msim_expert_copies(s);
        kept *= 2 / layers;
        MSIM_TRY(copies(t, p, kept, kept, err));
        return update_on_host(t, p, owned, bytes, false, err);
    default:
        return MSIM_OK;
    }
}
