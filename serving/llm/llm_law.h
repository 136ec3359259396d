/*
 * serving/llm/llm_law.h - the law of step times:
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
#ifndef MSIM_SERVING_LLM_LLM_LAW_H
#define MSIM_SERVING_LLM_LLM_LAW_H
#include "core/base/status.h"
#include "serving/llm/step_works.h"

#include <stdbool.h>

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
    /* Of closed loops (closed_loop.h): the share of requests in the first wave,
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

#endif
