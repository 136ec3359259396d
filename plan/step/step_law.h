/*
 * plan/step/step_law.h - the time of an optimizer step: parts priced on a
 * platform, the terms of the step law, its constants.
 */
#ifndef MSIM_PLAN_STEP_STEP_LAW_H
#define MSIM_PLAN_STEP_STEP_LAW_H
#include "models/estimate/model.h"
#include "plan/describe/strategy.h"
#include "plan/parts/parts.h"

/* ---- price --------------------------------------------------------------- */
/*
 * Times of the parts of a step on a platform.
 *
 * Works repeat from strategy to strategy, so that each is estimated once.
 */

struct msim_platform; /* models/platform/platform.h */

/* Not thread-safe: one a thread. Release with msim_pricer_release(). */
struct msim_pricer {
    const struct msim_platform *platform;
    int64_t gpus_a_node; /* of the job that is priced */
    struct msim_estimate_cache cache;
};

void msim_pricer_release(struct msim_pricer *p);

/* One layer, or the embedding, or the head, in us. */
struct msim_priced {
    double us[MSIM_PART_OP_COUNT][MSIM_PASS_COUNT];
    double again_us; /* what selective recomputation repeats */
    /* Launched by the host. */
    double kernels[MSIM_PART_OP_COUNT][MSIM_PASS_COUNT];
    double comm_us[3][MSIM_PASS_COUNT]; /* by enum msim_part_group */
    double comms[MSIM_PASS_COUNT];      /* collectives */
};

/* ENOMODEL where the platform cannot run the works. */
MSIM_MUST_CHECK
enum msim_status msim_price_part(struct msim_priced *out, struct msim_pricer *p,
                                 const struct msim_parts *parts,
                                 const struct msim_part *part,
                                 const struct msim_strategy *s,
                                 struct msim_error *err);

/* One work of the description: what it says is asked for, so that a work of
 * more than the GPU's memory keeps its law's time. */
MSIM_MUST_CHECK
enum msim_status msim_price_described(double *us, struct msim_pricer *p,
                                      const struct msim_work *w,
                                      struct msim_error *err);

/*
 * One collective over `ranks` ranks that are `stride` ranks apart: with a
 * stride of tp, the data parallel group of a job whose tensor parallel ranks
 * are neighbours. 0 for one rank.
 */
MSIM_MUST_CHECK
enum msim_status msim_price_collective(double *us, struct msim_pricer *p,
                                       enum msim_collective c, double bytes,
                                       int64_t ranks, int64_t stride,
                                       struct msim_error *err);
/* Of an all-reduce over such ranks: half of the 90 % interval of its logarithm,
 * 0 where they are on one node; and msim_collective_shortfall(). */
MSIM_MUST_CHECK
enum msim_status msim_price_network(double *half, double *shortfall,
                                    struct msim_pricer *p, double bytes,
                                    int64_t ranks, int64_t stride,
                                    struct msim_error *err);

/* An operation on `elems` elements that moves so many bytes (an optimizer's
 * step, a sum of gradients). */
MSIM_MUST_CHECK
enum msim_status msim_price_bytes(double *us, struct msim_pricer *p,
                                  double elems, double read, double written,
                                  struct msim_error *err);

/* ---- terms --------------------------------------------------------------- */
/*
 * What a step consists of, priced, before the constants of the step law: so
 * that a fit and a search price a strategy once.
 */

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
    /* Of the GPU's SMs, those that exchange tokens with experts while the
     * others compute; 0: one waits for the other. */
    double dispatch_share;
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

/* ---- step law ------------------------------------------------------------ */
/*
 * The step law: from priced terms to the time of one optimizer step.
 *
 * The physics is in the terms; what is left are constants that all jobs share:
 * how much longer kernels of a kind take in training than tables of single
 * kernels say, what the host needs for a layer, how much of the gradients'
 * exchange is hidden, what a step takes beside its micro batches. They are
 * fitted to measured jobs by msim-fit-steps, which minimises the sum of
 * absolute logarithms; data/laws/steps.json has them, and says on which
 * sources.
 */

/* X(name, where a fit begins, what it is) */
#define MSIM_STEP_CONSTANT_MAP(X)                                              \
    X(linear, 1, "products of linear layers, over their estimate")             \
    X(linear_late, 1, "the same on Blackwell")                                 \
    X(attention_usual, 1, "FlashAttention 1 before Hopper")                    \
    X(attention_late, 1.5, "FlashAttention 1 and 2 on Hopper")                 \
    X(expert, 1, "products of experts")                                        \
    X(vector, 1, "norms and pointwise operators")                              \
    X(loss, 1, "the loss on logits in 32 bits")                                \
    X(tp_near, 1, "tensor parallel collectives in a node")                     \
    X(tp_far, 1, "tensor parallel collectives across nodes")                   \
    X(cp, 1, "context parallel collectives")                                   \
    X(ep, 1, "exchanges of tokens with experts")                               \
    X(p2p, 1, "activations to the next stage")                                 \
    X(dp_near, 1, "gradients inside a node")                                   \
    X(dp_far, 1, "gradients across nodes")                                     \
    X(dp_far_waits, 1, "the same where the next step waits for weights")       \
    X(hidden, 1, "share of a pass that hides gradients, or weights")           \
    X(hidden_waits, 0.3, "the same where the next step waits for weights")     \
    X(hidden_shard, 0.5, "share of a micro batch that hides shards")           \
    X(add, 1, "adding up gradients of micro batches")                          \
    X(optimizer, 1.5, "the optimizer's step")                                  \
    X(host_layer_us, 3000, "host time of a layer, forward and backward")       \
    X(host_expert_us, 3000, "host time of a layer's experts beside that")      \
    X(host_comm_us, 60, "host time of a collective in a layer")                \
    X(host_wait, 0.05, "more host time a doubling of tensor parallel ranks")   \
    X(gap_us, 20, "an operator of unfused programs that takes no time")        \
    X(fixed_us, 5000, "what a step takes beside all that")

struct msim_step_constants {
#define X(name, start, text) double name;
    MSIM_STEP_CONSTANT_MAP(X)
#undef X
};

/* Where a fit begins. */
struct msim_step_constants msim_step_constants_start(void);
#define MSIM_STEP_CONSTANTS                                                    \
    (sizeof(struct msim_step_constants) / sizeof(double))
/* The name of the i-th constant, in the order of the members. */
const char *msim_step_constant_text(uint32_t i);

/* Where the time of a step goes, us; the parts sum to the whole. */
struct msim_step_parts {
    double compute, host, tp, cp, ep; /* of the busiest stage's micro batches */
    double copies;    /* over the host link, that no compute hides */
    double bubble;    /* stages that wait for one another */
    double gradients; /* exchange of gradients and weights that nothing hides */
    double optimizer; /* and what is fixed */
};

/* The time of one step in us; `parts` may be NULL. */
double msim_step_us(const struct msim_terms *t,
                    const struct msim_step_constants *c,
                    struct msim_step_parts *parts);

/* The exchange of gradients and weights of a step, us. */
struct msim_step_exchange {
    double in_flight; /* in all, whether compute hides it or not */
    /* What the step waits of it, where exchanges are so much faster, or
     * slower, than estimated beside the same compute. */
    double waits_low, waits_high;
};

/* `spread` >= 1: of the exchange's time, over that of compute. */
struct msim_step_exchange
msim_step_exchange_of(const struct msim_terms *t,
                      const struct msim_step_constants *c, double spread);

/* ---- neighbours ---------------------------------------------------------- */
/*
 * What measured jobs like this one took beyond the step law.
 *
 * Rows of the same kind (platform, ZeRO, tensor parallel ranks, stages) whose
 * sizes are near: the mean of their logarithms measured / predicted, weighted
 * by a Gaussian of the distance between the logarithms of hidden size, layers,
 * sequence, micro batch, data parallel ranks and micro batches (Nadaraya 1964,
 * Watson 1964), drawn towards 0 where few are near. A job unlike all rows keeps
 * the law's time.
 *
 * Rows in another format of products (16 bits, fp8, ...) count, too, a little
 * farther away: most of what is left over is the program's, not the format's,
 * and so what a format brings stays what its products bring. What is computed
 * again is the law's: rows of every way count alike, so that a job that
 * computes more takes no less, whichever of both ways was measured.
 */

#define MSIM_NEIGHBOUR_SIZES 6

struct msim_neighbour {
    uint32_t kind; /* a hash of what must be the same */
    /* Of a job: likewise with the other ways to compute again; of a row 0. */
    uint32_t others[MSIM_RECOMPUTE_COUNT - 1];
    uint32_t format;                  /* of products: enum msim_precision */
    float size[MSIM_NEIGHBOUR_SIZES]; /* natural logarithms */
    float residual;                   /* log(measured / law) */
};

/* Kind and sizes of a job; its residual is 0. */
struct msim_neighbour msim_neighbour_of(const struct msim_terms *t);

/* The logarithm to add to the law's. `rows` are sorted by
 * msim_neighbour_order(); `skip` (may be NULL) is left out. */
double msim_neighbour_correction(const struct msim_neighbour *of,
                                 const struct msim_neighbour *rows, uint32_t n,
                                 const struct msim_neighbour *skip);

/* How much rows say of the job: a row of the same sizes counts as 1, others by
 * their distance. 0: a job unlike all rows. */
double msim_neighbour_evidence(const struct msim_neighbour *of,
                               const struct msim_neighbour *rows, uint32_t n,
                               const struct msim_neighbour *skip);

/* For qsort(): by kind, then by all else. */
int msim_neighbour_order(const void *a, const void *b);

/* ---- steps file ---------------------------------------------------------- */
/*
 * The constants of the step law, as fitted.
 *
 * data/laws/steps.json has a fit on all sources of measured jobs, one without
 * each source, and one on none: the constants as they begin.
 */

/* What the error of a step goes by: the kind of program (the first that fits),
 * and whether some row of the fit is near the job: X(NAME, text), a kind and
 * behind it the same unlike all rows. */
#define MSIM_STEP_CLASS_MAP(X)                                                 \
    X(EXPERTS, "experts")                                                      \
    X(EXPERTS_FAR, "experts, unlike all rows")                                 \
    X(UNFUSED, "unfused")                                                      \
    X(UNFUSED_FAR, "unfused, unlike all rows")                                 \
    X(NARROW, "8 or 4 bits")                                                   \
    X(NARROW_FAR, "8 or 4 bits, unlike all rows")                              \
    X(SHARDED, "sharded")                                                      \
    X(SHARDED_FAR, "sharded, unlike all rows")                                 \
    X(STAGED, "usual, in stages")                                              \
    X(STAGED_FAR, "usual, in stages, unlike all rows")                         \
    X(USUAL, "usual")                                                          \
    X(USUAL_FAR, "usual, unlike all rows")

enum msim_step_class {
#define X(name, text) MSIM_STEP_CLASS_##name,
    MSIM_STEP_CLASS_MAP(X)
#undef X
        MSIM_STEP_CLASSES
};
const char *msim_step_class_text(enum msim_step_class c);
/* By the job alone: as if a row were near. */
enum msim_step_class msim_step_class_of(const struct msim_terms *t);
/* Unlike all rows where none of a fit is near (msim_neighbour_evidence()). */
enum msim_step_class msim_step_class_by(const struct msim_terms *t,
                                        double evidence);

#define MSIM_STEP_SOURCES 12

struct msim_step_fit {
    struct msim_step_constants constants;
    /* 90 % of measured steps lie between predicted / low and predicted * high,
     * of models or sources that the fit did not see. */
    double low[MSIM_STEP_CLASSES], high[MSIM_STEP_CLASSES];
    char sources[MSIM_STEP_SOURCES][48]; /* whose rows it saw */
    uint32_t n_sources;
    struct msim_neighbour *rows; /* that it saw, in order; owned */
    uint32_t n_rows;
};

void msim_step_fit_release(struct msim_step_fit *fit);

/* Whether the steps file of `data_dir`, whose text has `hash`
 * (msim_hash_words()), is as it was shipped. */
bool msim_steps_are_shipped(const char *data_dir, uint64_t hash);

/*
 * The fit without the rows of `without` (NULL or "": the one on all) from what
 * was read of `path`, a steps file (plan/memory/job_memory.h). EUNKNOWN lists
 * the sources. Release in any case.
 */
struct cJSON;
MSIM_MUST_CHECK
enum msim_status msim_step_fit_of(struct msim_step_fit *fit,
                                  const struct cJSON *json, const char *path,
                                  const char *without, struct msim_error *err);

/* Whether rows of `source` entered the fit. */
bool msim_step_fit_uses(const struct msim_step_fit *fit, const char *source);

/* A step with its 90 % interval, us. */
struct msim_step_estimate {
    double us, low_us, high_us;
    struct msim_step_parts parts;
    struct msim_step_exchange exchange; /* 90 % of what waits for it */
    double flops;                       /* a rank and step */
    double correction; /* what neighbours make of the law's time, a factor */
    bool near;         /* some row of the fit is like it */
    enum msim_step_class class; /* whose interval it has, or more */
};
struct msim_step_estimate msim_step_predict(const struct msim_terms *t,
                                            const struct msim_step_fit *fit);

/* Its FLOPs over those of the data sheet's dense rate, in what the products run
 * in. */
double msim_step_mfu(const struct msim_step_estimate *e,
                     const struct msim_platform *on,
                     const struct msim_strategy *s);

/*
 * The ratio of a step to one that measured jobs correct otherwise holds that
 * difference, `over` = correction / the other's. Widen its interval as far as
 * the ratio without corrections; false: they hardly differ.
 */
bool msim_step_ratio_widen(double over, double ratio, double *low,
                           double *high);

#endif
