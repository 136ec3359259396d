/*
 * plan/step/terms.h - what a step consists of, priced, before the constants of
 * the step law: so that a fit and a search price a strategy once.
 */
#ifndef MSIM_PLAN_STEP_TERMS_H
#define MSIM_PLAN_STEP_TERMS_H
#include "plan/describe/strategy_again.h"
#include "plan/step/price.h"

/* Where a term stands: in a layer (the mean of all layers), in the embedding,
 * in the head. */
enum msim_place {
    MSIM_PLACE_LAYER,
    MSIM_PLACE_EMBEDDING,
    MSIM_PLACE_HEAD,
    MSIM_PLACE_COUNT
};

/* Which kernels attention runs: they differ by a factor of two and more. */
enum msim_attention_stack {
    MSIM_ATTENTION_USUAL, /* FlashAttention 1 before Hopper */
    MSIM_ATTENTION_LATE,  /* FlashAttention 1 and 2 on Hopper */
    MSIM_ATTENTION_OWN,   /* as single kernels are estimated: the makers' on
                             Hopper and later, FlashAttention 2 before it */
    MSIM_ATTENTION_STACKS
};

struct msim_terms {
    struct msim_priced at[MSIM_PLACE_COUNT]; /* us of a micro batch */
    enum msim_attention_stack attention;
    bool narrow; /* products in 8 or 4 bits */
    bool late;   /* on Blackwell */
    bool tp_far; /* tensor parallel ranks on several nodes */
    bool dp_far; /* data parallel ranks on several nodes */
    bool unfused;
    uint32_t platform; /* a hash of its name */
    uint32_t format;   /* of products: all of 16 bits are one */
    double hidden, sequence, micro_batch;
    /* Of the first pipeline stage, of those between, of the last. */
    double first_layers, middle_layers, last_layers;
    double layers, pp, vp, micro_batches, dp, tp, ep;
    int64_t zero;
    bool exchanges_each;    /* gradients, after every micro batch */
    bool waits_for_weights; /* that the optimizer's step left in shards */
    enum msim_again again;  /* in backward */
    uint32_t again_word;    /* by which the job says so */
    double p2p_us;          /* activations to the next stage, one way */
    double sum_us;          /* gradients of a stage summed over dp (zero 0) */
    double scatter_us, gather_us;             /* the same in halves (zero 1) */
    double layer_scatter_us, layer_gather_us; /* of one layer (zero 2, 3) */
    /* Half of the 90 % interval of the network's logarithm; 0: one node. */
    double network_log;
    double network_shortfall; /* that its estimates have for lack of rows */
    double add_us;            /* gradients of a micro batch added up */
    double optimizer_us;      /* the step of the optimizer on its share */
    /* Of techniques; 0 where none is stated. */
    bool updates_in_backward; /* the optimizer's host time is hidden */
    bool zero_bubble;
    double copy_us[MSIM_PASS_COUNT];     /* a layer's over the host link */
    double copied_us;                    /* what those take of device memory */
    double host_down_us, host_update_us; /* the optimizer's, on the host */
    double flops; /* of the model, a rank and step; no recomputation */
};

/* ENOMODEL where the platform cannot run the works. `s` is complete. */
MSIM_MUST_CHECK
enum msim_status msim_terms_make(struct msim_terms *t, struct msim_pricer *p,
                                 const struct msim_described *m,
                                 const struct msim_strategy *s,
                                 struct msim_error *err);

/* ---- private to plan/step: plan/step/terms_technique.c ------------------- */

/* Elements that the fullest stage has on one rank. */
struct msim_stage_held {
    double dense, experts;
    double trained, trained_experts; /* all, without adapters */
    double narrow; /* of dense: frozen, in technique.base_bits */
};

/* The optimizer's step on `owned` elements, and adding up gradients of
 * micro batches of `held`. */
MSIM_MUST_CHECK
enum msim_status
msim_terms_optimizer(struct msim_terms *t, struct msim_pricer *p,
                     const struct msim_stage_held *held, double owned,
                     const struct msim_strategy *s, struct msim_error *err);
/* What is copied to the host and back. */
MSIM_MUST_CHECK
enum msim_status msim_terms_offload(struct msim_terms *t, struct msim_pricer *p,
                                    const struct msim_parts *parts,
                                    const struct msim_stage_held *held,
                                    double owned, const struct msim_strategy *s,
                                    struct msim_error *err);
/* Making messages of `elems` elements narrower, and wide again; 0 bits: they
 * stay as they are. */
MSIM_MUST_CHECK
enum msim_status msim_terms_narrow(double *us, struct msim_pricer *p,
                                   double elems, int64_t bits,
                                   struct msim_error *err);

#endif
