/*
 * serving/llm/llm_law.h - the law of step times: works of a step, their price,
 * the law's constants, and what follows for closed loops and passes.
 */
#ifndef MSIM_SERVING_LLM_LLM_LAW_H
#define MSIM_SERVING_LLM_LLM_LAW_H
#include "core/base/status.h"
#include "core/work/work.h"
#include "models/estimate/model.h"
#include "plan/describe/describe.h"
#include "serving/llm/llm.h"

#include <stdbool.h>

/* ---- llm works ----------------------------------------------------------- */
/* A list of works of one rank in a step. */

/* X(name, the word) */
#define MSIM_LLM_KIND_MAP(X)                                                   \
    X(PRODUCT, "products")                                                     \
    X(EXPERT, "experts")                                                       \
    X(VECTOR, "vectors")                                                       \
    X(ATTENTION, "attention")                                                  \
    X(ALL_REDUCE, "all_reduce")                                                \
    X(EXCHANGE, "exchange") /* tokens to other ranks' experts and back */

enum msim_llm_kind {
#define X(name, text) MSIM_LLM_KIND_##name,
    MSIM_LLM_KIND_MAP(X)
#undef X
        MSIM_LLM_KINDS
};

struct msim_llm_work {
    enum msim_llm_kind kind;
    enum msim_quant type; /* of a product's or an expert's weights */
    double times;         /* layers that do it */
    struct msim_work work;
};

#define MSIM_LLM_WORKS 48

struct msim_llm_works {
    struct msim_llm_work of[MSIM_LLM_WORKS];
    uint32_t n;
    double weights; /* bytes that the products and experts hold on this rank */
};

/* ---- step works ---------------------------------------------------------- */
/*
 * What one rank does in a step of an engine, as works.
 *
 * A step is in five parts, so that each depends on few sizes:
 *
 *     tokens   all that is done for each token alike: products, norms, sums
 * over ranks; by the number of tokens experts  one rank's experts, by the
 * number of tokens on all ranks decode   attention of sequences that get one
 * token each; by their number and the mean of their contexts chunk    attention
 * of new tokens of one prompt; by their number and the context before them head
 * logits, of the last token of each sequence alone
 *
 * Worked example, Llama-3.1-8B in bf16 on one GPU, one sequence: a layer's
 * products have 4,096 x 6,144 + 4,096 x 4,096 + 3 x 4,096 x 14,336 = 218.1 M
 * weights; 32 of them and the head (525.3 M) are 7.50 G weights, 15.0 GB read
 * and 15.0 GFLOP a step. Keys and values are 2 x 8 x 128 x 2 bytes x 32 layers
 * = 131,072 bytes a token of context.
 */

/* Tokens, sequences and chunks are those of the replica. The lists replace what
 * `w` held. */
void msim_llm_token_works(struct msim_llm_works *w,
                          const struct msim_llm_rank *r, double tokens);
void msim_llm_expert_works(struct msim_llm_works *w,
                           const struct msim_llm_rank *r, double tokens);
void msim_llm_decode_works(struct msim_llm_works *w,
                           const struct msim_llm_rank *r, double seqs,
                           double context);
void msim_llm_chunk_works(struct msim_llm_works *w,
                          const struct msim_llm_rank *r, double tokens,
                          double context);
void msim_llm_head_works(struct msim_llm_works *w,
                         const struct msim_llm_rank *r, double seqs);

/* ---- llm law ------------------------------------------------------------- */
/*
 * The law of step times:
 *
 *     step = host + seqs x sequence + log2(tp x dp x pp) x ranks
 *          + sum over pieces of (factor x type x what its works take)
 *
 * Host, sequence and ranks are microseconds of an engine (one process a rank
 * waits for what the first decides); a piece is a kind of work,
 * where it matters of few tokens or of many; factors are an engine's. Kernels
 * of an engine are faster than bare ones where they are fused or overlap, and
 * slower where a step has more of them than are listed. Constants stand in
 * data/laws/serving.json; msim-fit-serving finds them in tables of measured
 * servers.
 */

/* X(name, the member in the file) */
#define MSIM_LLM_PIECE_MAP(X)                                                  \
    X(PRODUCT_FEW, "products")                                                 \
    X(PRODUCT_MANY, "products_of_many")                                        \
    X(EXPERT_FEW, "experts")                                                   \
    X(EXPERT_MANY, "experts_of_many")                                          \
    X(VECTOR_FEW, "vectors")                                                   \
    X(VECTOR_MANY, "vectors_of_many")                                          \
    X(ATTENTION_DECODE, "attention")                                           \
    X(ATTENTION_PROMPT, "attention_of_prompts")                                \
    X(ATTENTION_OTHER, "attention_not_grouped") /* decoding; a key a head, or  \
                                                   a latent one for all */     \
    X(ALL_REDUCE_FEW, "all_reduce")                                            \
    X(ALL_REDUCE_MANY, "all_reduce_of_many")                                   \
    X(EXCHANGE, "exchange")                                                    \
    X(LAUNCH, "launches") /* 1 us of each kernel, until the next one begins */

enum msim_llm_piece {
#define X(name, text) MSIM_LLM_##name,
    MSIM_LLM_PIECE_MAP(X)
#undef X
        MSIM_LLM_PIECES
};

/* Half of the 90 % interval of the logarithm of a figure, from rows that the
 * constants did not see: of models and GPUs among the rows, and where the model
 * or the GPU is new, or the engine or the type is. */
struct msim_llm_halves {
    double seen, other_model, other_gpu, other;
};

#define MSIM_LLM_SEEN 64 /* models, or GPUs, among the rows; at most */

struct msim_llm_law {
    double host_us[MSIM_LLM_ENGINES], sequence_us[MSIM_LLM_ENGINES];
    double ranks_us[MSIM_LLM_ENGINES]; /* of each doubling of ranks */
    double factor[MSIM_LLM_ENGINES][MSIM_LLM_PIECES];
    /* Of closed loops ("closed loop"): the share of requests in the first wave,
     * and what a request takes before its first step. */
    double first_wave[MSIM_LLM_ENGINES], arrival_us[MSIM_LLM_ENGINES];
    double type[MSIM_QUANTS], type_many[MSIM_QUANTS]; /* of products */
    struct msim_llm_halves half[MSIM_LLM_FIGURES];
    /* What rows there were of. */
    char models[MSIM_LLM_SEEN][64], gpus[MSIM_LLM_SEEN][64];
    uint32_t n_models, n_gpus;
    bool engines[MSIM_LLM_ENGINES], types[MSIM_QUANTS];
};

const char *msim_llm_piece_text(enum msim_llm_piece p);

/* Of nothing fitted: factors of 1, what engines are known to take of a host,
 * and wide intervals. */
void msim_llm_law_init(struct msim_llm_law *law);

/* EFORMAT names the member; EIO, ESYNTAX as msim_json_read(). */
MSIM_MUST_CHECK
enum msim_status msim_llm_law_read(struct msim_llm_law *law, const char *path,
                                   struct msim_error *err);
/* That of `data_dir`/laws. */
MSIM_MUST_CHECK
enum msim_status msim_llm_law_load(struct msim_llm_law *law,
                                   const char *data_dir,
                                   struct msim_error *err);

/* Half of the interval of a figure for what is asked; `uses_rows` becomes
 * whether rows of that model, or of that GPU, are in the constants. */
double msim_llm_law_half(const struct msim_llm_law *law,
                         const struct msim_llm_rank *r, enum msim_llm_figure f,
                         bool *uses_rows);

/* ---- what works take ----------------------------------------------------- */

/* Microseconds by piece and by type of weights (BF16 for all that have none).
 */
struct msim_llm_pieces {
    double us[MSIM_LLM_PIECES][MSIM_QUANTS];
};

/*
 * How much of a product of so many rows is one of many: 0 up to 64, 1 from
 * 1,024 on, in between by the logarithm. Few rows take what reading weights
 * takes, many what arithmetic takes.
 */
double msim_llm_share_of_many(double rows);

/* What the host takes of so many steps, with so many sequences in all, us. */
double msim_llm_law_host_us(const struct msim_llm_law *law,
                            const struct msim_llm_rank *r, double steps,
                            double seqs);
/* The law's time of such works, without the host's, us. */
double msim_llm_law_us(const struct msim_llm_law *law, enum msim_llm_engine e,
                       const struct msim_llm_pieces *pieces);

/* ---- llm law write ------------------------------------------------------- */
/* The file of a law, as "llm law" reads it. */

struct cJSON;

/* Where the constants are from. */
struct msim_llm_law_source {
    const char *how, *command, *file; /* texts of the file */
    uint32_t used, left_out, failed;  /* rows */
};

/* The caller deletes it; NULL: no memory. */
struct cJSON *msim_llm_law_json(const struct msim_llm_law *law,
                                const struct msim_llm_law_source *from);

/* The same, written to `path`. ENOMEM, and as msim_file_open(). */
MSIM_MUST_CHECK
enum msim_status msim_llm_law_write(const struct msim_llm_law *law,
                                    const struct msim_llm_law_source *from,
                                    const char *path, struct msim_error *err);

/* ---- llm price ----------------------------------------------------------- */
/* What the works of a step take on a platform. */

/* Add the works' times to `to`; `rows` tells products of few rows from those of
 * many, `prompt` attention of prompts from that of decoding. A cache is of one
 * platform. ENOMODEL where the platform has no model, ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_llm_price(struct msim_llm_pieces *to,
                                const struct msim_llm_works *works,
                                const struct msim_platform *p,
                                struct msim_estimate_cache *cache, double rows,
                                bool prompt, struct msim_error *err);

/* The works of each part of a step, priced: sizes as in "step works". */
enum msim_llm_part {
    MSIM_LLM_PART_TOKENS,  /* a: tokens */
    MSIM_LLM_PART_EXPERTS, /* a: tokens */
    MSIM_LLM_PART_DECODE,  /* a: sequences, b: context */
    MSIM_LLM_PART_CHUNK,   /* a: tokens, b: context */
    MSIM_LLM_PART_HEAD,    /* a: sequences */
    MSIM_LLM_PARTS
};

MSIM_MUST_CHECK
enum msim_status msim_llm_price_part(struct msim_llm_pieces *to,
                                     const struct msim_llm_rank *r,
                                     struct msim_estimate_cache *cache,
                                     enum msim_llm_part part, double a,
                                     double b, struct msim_error *err);

/* ---- closed loop --------------------------------------------------------- */
/*
 * A replica that as many clients ask as it serves together: each asks again
 * when it has been answered (the usual benchmark of engines: concurrency B,
 * prompts of I tokens, O tokens out).
 *
 *     P     what one prompt's prefill adds (in chunks of at most
 *           max_num_batched_tokens); mixed into a step of decoding (vLLM,
 *           TensorRT-LLM), or a step of its own (SGLang)
 *     D     a step in which B sequences decode, with I + O / 2 keys each
 *     TPOT  D + (1 - f / 2) (B - 1) P / (O - 1): in the life of a request each
 *           of the others has one prefill, but in the first wave those before
 * it had theirs already TTFT  (1 - f) (P + D / 2 + wait) + f (B + 1) P / 2 +
 * host
 *
 * Clients beyond those that are served together wait, in the mean, for as many
 * answers' times as there are of them for each that is served (Little's law).
 *
 * f: the share of requests that are of the first wave, in which all ask at
 * once; wait: behind prompts of others, as in a queue of equal services that is
 * busy a share of B P / (B P + (O - 1) D). The law's constants are fitted
 * through this reading (calibrate/serving), f and the host's part of TTFT with
 * them.
 */

struct msim_llm; /* serving/llm/llm.h */

struct msim_closed_loop {
    double input_tokens, output_tokens;
    double seqs;    /* that the replica serves together */
    double waiting; /* clients beyond those: they wait for another to end */
};

/* The most sequences that engines serve together where nothing says it. */
#define MSIM_LOOP_SEQS 256

/* The loop of `clients` clients on a replica whose cache holds `kv_tokens`:
 * each sequence keeps its prompt and, as sequences are at all places of their
 * answers, half of the answer (all of it in TensorRT-LLM, which evicts none).
 */
struct msim_closed_loop
msim_closed_loop_of(const struct msim_llm_rank *r, int64_t kv_tokens,
                    int64_t max_num_seqs, double input_tokens,
                    double output_tokens, double clients);

struct msim_closed_loop_answer {
    double tpot_ms, ttft_ms, prefill_ms, decode_ms;
};

/* ---- for fits ------------------------------------------------------------ */

/* A sum of parts of steps, for P and for D. */
struct msim_loop_term {
    enum msim_llm_part part;
    double times, a, b;
};

#define MSIM_LOOP_TERMS 12

struct msim_loop_sum {
    struct msim_loop_term of[MSIM_LOOP_TERMS];
    uint32_t n;
    double steps, seqs; /* that the host has to do with */
};

void msim_loop_prefill(struct msim_loop_sum *sum, const struct msim_llm_rank *r,
                       const struct msim_closed_loop *loop);
void msim_loop_decode(struct msim_loop_sum *sum, const struct msim_llm_rank *r,
                      const struct msim_closed_loop *loop);

/* The figures from both, us, which count as 1 below that: those of `law` and
 * `e`. */
void msim_loop_figures(struct msim_closed_loop_answer *out,
                       const struct msim_llm_law *law, enum msim_llm_engine e,
                       const struct msim_closed_loop *loop, double dp,
                       double prefill_us, double decode_us);

/* ---- model pass ---------------------------------------------------------- */
/*
 * One pass of an encoder, a reranker or a vision model over a batch: what a
 * stage of kind `model` serves.
 *
 * Of a described model the forward half of the works of plan/parts, of the
 * whole batch at once on one GPU in 16 bits, kernel after kernel, and what the
 * host takes of it. A decoder that embeds or ranks has no logits. Times are
 * tabulated at powers of two of batch and tokens, and in between follow the
 * logarithms.
 */

struct msim_platform; /* models/platform/platform.h */

struct msim_model_pass; /* opaque; not thread-safe: one a thread */

/* `m` and `p` must live as long as the result. ENOMODEL where the platform
 * cannot run it, EUSAGE for a model that has no pass of that kind, ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_model_pass_new(struct msim_model_pass **out,
                                     const struct msim_described *m,
                                     const struct msim_platform *p,
                                     struct msim_error *err);

/* What a pass of `batch` inputs of `tokens` tokens takes, us. */
typedef enum msim_status msim_pass_price(double *us, void *ctx, double batch,
                                         double tokens, struct msim_error *err);

/* Likewise of whoever prices passes; their length does not count where `tokens`
 * is 0, else one of a length near it is tried. `ctx` must live as long. What
 * `price` fails with, ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_model_pass_of(struct msim_model_pass **out,
                                    msim_pass_price *price, void *ctx,
                                    double tokens, struct msim_error *err);
void msim_model_pass_free(struct msim_model_pass *pass); /* accepts NULL */

/* Microseconds of a pass over `batch` inputs of `tokens` tokens each (an image
 * has its own number; there they do not count). */
double msim_model_pass_us(struct msim_model_pass *pass, double batch,
                          double tokens);

/* Does the length of inputs count? */
bool msim_model_pass_has_tokens(const struct msim_model_pass *pass);

/* Multiply all times: recorded passes over the law's. */
void msim_model_pass_correct(struct msim_model_pass *pass, double factor);

/* Half of the 90 % interval of the logarithm of a pass by the law alone. Set by
 * hand: no table has measured passes of served encoders. */
#define MSIM_MODEL_PASS_HALF 0.5

#endif
