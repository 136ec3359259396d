/*
 * models/law/gemm_law.h - the law of matrix products on GPUs.
 */
#ifndef MSIM_MODELS_LAW_GEMM_LAW_H
#define MSIM_MODELS_LAW_GEMM_LAW_H
#include "models/law/law.h"

/*
 * The word for how a product is computed, by which fits are told apart: a
 * packed format by its name ("fp8_block"), any other by the rate that it runs
 * at ("half", "tf32").
 */
const char *msim_gemm_kind(const struct msim_work *w, enum msim_rate rate);

#endif
