/*
 * models/estimate/gemm.h - the fit for a matrix product, also for other works
 * that are estimated as a product.
 */
#ifndef MSIM_MODELS_ESTIMATE_GEMM_H
#define MSIM_MODELS_ESTIMATE_GEMM_H
#include "models/platform/fit_index.h"

/* The fit for the GEMM work `w` on `p`; false where there is none. */
bool msim_gemm_pick(const struct msim_platform *p, const struct msim_work *w,
                    struct msim_pick *out);

#endif
