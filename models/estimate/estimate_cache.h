/*
 * models/estimate/estimate_cache.h - works repeat, layer by layer and step by
 * step: predict each once.
 *
 * Works are compared by their bytes, so callers zero them before they fill
 * them in. Not thread-safe.
 */
#ifndef MSIM_MODELS_ESTIMATE_ESTIMATE_CACHE_H
#define MSIM_MODELS_ESTIMATE_ESTIMATE_CACHE_H
#include "models/estimate/model.h"

struct msim_estimate_cache {
    struct msim_work *works;
    struct msim_estimate *estimates;
    uint32_t *slots; /* entry + 1; 0: free */
    uint32_t n, cap_works, cap_estimates, mask;
};

/* Zero-initialised is ready for use. */
void msim_estimate_cache_release(struct msim_estimate_cache *m);

/* msim_model_predict(), remembered: platform and strict must not change. */
MSIM_MUST_CHECK
enum msim_status msim_estimate_cache_predict(struct msim_estimate_cache *m,
                                             const struct msim_platform *p,
                                             const struct msim_work *w,
                                             bool strict,
                                             struct msim_estimate *out,
                                             struct msim_error *err);

#endif
