/*
 * serving/llm/llm_internal.h - what the files of serving/llm share; no other
 * room includes it.
 */
#ifndef MSIM_SERVING_LLM_LLM_INTERNAL_H
#define MSIM_SERVING_LLM_LLM_INTERNAL_H
#include "serving/llm/llm.h"
#include "serving/llm/llm_law.h"

/* ---- step table ---------------------------------------------------------- */
/*
 * Times of the parts of a step, tabulated as they are asked for.
 *
 * Sizes lie on a grid: whole numbers up to 16, from there 8 an octave for
 * tokens and sequences and 4 an octave for contexts. A time between two points
 * is interpolated, in both sizes; at the points it is that of the works,
 * exactly. A point is priced when it is first asked for; from then on an answer
 * is a few loads and products (some 300 ns a step). Times of products rise in
 * steps where another row of tiles begins, and those of attention where its
 * correction does, so that a table is farther off between some points.
 *
 * Not thread-safe. A point that cannot be priced, or finds no memory, has the
 * time of no work; `status` says so.
 */

/* How far a time between points is from that of the works: the median of sizes
 * that are drawn, and what 19 in 20 of them keep
 * (tests/unit/serving/llm/test_step_table.c). */
#define MSIM_LLM_TABLE_MIDDLE 0.01
#define MSIM_LLM_TABLE_MOST   0.05 /* of 19 in 20 */
#define MSIM_LLM_TABLE_DECODE 0.3  /* of attention of decoding */

#define MSIM_LLM_GRID_TOKENS   176 /* up to 2^23 */
#define MSIM_LLM_GRID_CONTEXTS 88  /* up to 2^25 */

struct msim_llm_table {
    const struct msim_llm_rank *r;
    const struct msim_llm_law *law;
    struct msim_estimate_cache cache;
    double *us[MSIM_LLM_PARTS]; /* NAN: not priced yet */
    enum msim_status status;    /* the first failure */
    struct msim_error err;
};

/* ENOMEM. Release with msim_llm_table_release(), also after a failure. */
MSIM_MUST_CHECK
enum msim_status msim_llm_table_init(struct msim_llm_table *t,
                                     const struct msim_llm_rank *r,
                                     const struct msim_llm_law *law);
void msim_llm_table_release(struct msim_llm_table *t);

/* The law's time of a part for these sizes, us. */
double msim_llm_table_us(struct msim_llm_table *t, enum msim_llm_part part,
                         double a, double b);

/* Sizes of the grid, for tests. */
double msim_llm_grid_tokens(uint32_t i);
double msim_llm_grid_context(uint32_t i);

/* ---- works maker --------------------------------------------------------- */
/* One work of a step. */

struct msim_llm_maker {
    struct msim_llm_works *w;
    const struct msim_llm_rank *r;
    double layers; /* that do what is added next */
};

/* Sizes are rounded up to 1. rows x in -> rows x out, in `batch` products. */
void msim_llm_add_product(struct msim_llm_maker *k, enum msim_quant type,
                          double rows, double in, double out, double batch);
/* Reads and writes so many numbers of 16 bits. */
void msim_llm_add_vector(struct msim_llm_maker *k, enum msim_family family,
                         const char *variant, double rows, double cols,
                         double read, double written);
void msim_llm_add_collective(struct msim_llm_maker *k, enum msim_llm_kind kind,
                             enum msim_collective c, double bytes,
                             int64_t ranks);
struct msim_work *msim_llm_add(struct msim_llm_maker *k,
                               enum msim_llm_kind kind);

/* ---- a served model ------------------------------------------------------ */

struct msim_llm {
    struct msim_llm_rank rank;
    struct msim_llm_law law;
    struct msim_llm_memory memory;
    struct msim_llm_table table;
    double chunk_start_us; /* of attention of a chunk, whatever its size */
    double half[MSIM_LLM_FIGURES];
    double prompt_factor, decode_factor;
    bool uses_rows;
};

#endif
