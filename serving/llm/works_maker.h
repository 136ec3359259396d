/*
 * serving/llm/works_maker.h - one work of a step. Private to serving/llm.
 */
#ifndef MSIM_SERVING_LLM_WORKS_MAKER_H
#define MSIM_SERVING_LLM_WORKS_MAKER_H
#include "serving/llm/llm_rank.h"
#include "serving/llm/llm_works.h"

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

#endif
