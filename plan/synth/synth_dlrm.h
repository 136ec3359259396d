/*
 * plan/synth/synth_dlrm.h - one rank's step of a recommendation model. Private
 * to plan/synth.
 *
 * As TorchRec trains one: tables are spread over the ranks whole. Look-ups go
 * to the ranks that have the tables, and pooled rows come back, all to all;
 * backward their gradients go there, where the optimizer is part of the
 * look-up's backward pass. The MLPs are on every rank, and their gradients are
 * summed. Or as plain PyTorch does ("separate"): every rank has all tables, and
 * theirs are summed, too.
 */
#ifndef MSIM_PLAN_SYNTH_SYNTH_DLRM_H
#define MSIM_PLAN_SYNTH_SYNTH_DLRM_H
#include "plan/synth/synth_internal.h"

/* The most of what an operator takes one of for each. */
#define MSIM_DLRM_RANKS    1024 /* that exchange rows of tables */
#define MSIM_DLRM_SEPARATE 1024 /* tables with look-ups of their own */
#define MSIM_DLRM_SAMPLES  1000000

/* What one rank has of the tables. */
struct msim_dlrm_share {
    int64_t tables;
    int64_t pooling; /* look-ups of a sample in all of them */
    int64_t rows;
};

/* A linear layer, and what its activation made. */
struct msim_dlrm_layer {
    struct msim_synth_parameter own[MSIM_SYNTH_OWN];
    struct msim_etw_tensor in, out; /* out's id 0: it has no activation */
};

struct msim_dlrm_mlp {
    struct msim_dlrm_layer layers[MSIM_DLRM_LAYERS];
    uint32_t n;
};

/* Gradients that are summed together; parameters in the order in which backward
 * reaches them. */
struct msim_dlrm_buckets {
    struct msim_synth_parameter **params;
    struct msim_etw_tensor *bucket; /* of each parameter */
    bool *last;                     /* of its bucket */
    uint32_t n, at;
};

struct msim_synth_dlrm {
    struct msim_synth y;
    struct msim_synth_walk w;
    struct msim_synth_group data, spread; /* of gradients, of tables */
    int64_t ranks, batch;
    const struct msim_dlrm_share *shares; /* of all ranks */
    struct msim_dlrm_mlp bottom, top;
    struct msim_dlrm_buckets buckets;
    struct msim_synth_optimizer optimizer;
    /* Between the parts of a step. */
    struct msim_etw_tensor dense;   /* the bottom MLP's vector */
    struct msim_etw_tensor vectors; /* all, [samples, vectors, width] */
    struct msim_etw_tensor logits;
    /* Of look-ups: indices and offsets; separate ones have one a table. */
    struct msim_etw_tensor indices, offsets, pooled;
    struct msim_synth_parameter *tables;
    struct msim_synth_kept *kept;
};

/*
 * Which rank has which tables: those with most look-ups first, to one rank
 * after the other and back again. `shares` has one a rank.
 */
void msim_dlrm_spread(const struct msim_described *m, int64_t ranks,
                      struct msim_dlrm_share *shares);

/* All that is there before the trace; then one step. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_synth_dlrm_init(struct msim_synth_dlrm *d);
void msim_synth_dlrm_step(struct msim_synth_dlrm *d);
void msim_synth_dlrm_release(struct msim_synth_dlrm *d);

/* ---- what the files of a DLRM share ---------------------------------------
 */

/* plan/synth/synth_dlrm_shared.c: from `in` to `out`, in a group; the second
 * waits for all before it. */
void msim_dlrm_exchange(struct msim_synth_dlrm *d, struct msim_synth_group *g,
                        const char *name, const struct msim_etw_tensor *in,
                        const struct msim_etw_tensor *out);
void msim_dlrm_wait(struct msim_synth_dlrm *d, struct msim_synth_group *g);
/* A gradient is there: kept, and summed with those of its bucket. */
void msim_dlrm_gradient(struct msim_synth_dlrm *d,
                        const struct msim_etw_tensor *gradient,
                        struct msim_synth_parameter *of);
/* Cut the parameters into buckets before the trace; and sums from those back to
 * the gradients. */
void msim_dlrm_make_buckets(struct msim_synth_dlrm *d);
void msim_dlrm_out_of_buckets(struct msim_synth_dlrm *d);

/* plan/synth/synth_dlrm_tables.c: rows of all tables, [samples, tables, width],
 * and their gradients back. */
void msim_dlrm_look_up(struct msim_synth_dlrm *d);
void msim_dlrm_look_up_back(struct msim_synth_dlrm *d,
                            const struct msim_etw_tensor *grad);

/* plan/synth/synth_dlrm_shared.c: vectors to what the top MLP is given, its
 * logits to a loss; and back. */
struct msim_etw_tensor msim_dlrm_interact(struct msim_synth_dlrm *d);
struct msim_etw_tensor
msim_dlrm_interact_back(struct msim_synth_dlrm *d,
                        const struct msim_etw_tensor *grad,
                        struct msim_etw_tensor *dense);
void msim_dlrm_loss(struct msim_synth_dlrm *d);
struct msim_etw_tensor msim_dlrm_loss_back(struct msim_synth_dlrm *d);

#endif
