/*
 * models/estimate/estimate_cache.h - a cache of estimates: works repeat, layer
 * by layer and step by step.
 *
 * Works are compared by their bytes, so that callers must zero them before they
 * set members. Not thread-safe.
 */
#ifndef MSIM_MODELS_ESTIMATE_ESTIMATE_CACHE_H
#define MSIM_MODELS_ESTIMATE_ESTIMATE_CACHE_H
#include "models/estimate/model.h"

struct msim_estimate_cache {
    struct msim_work *works;
    struct msim_estimate *estimates;
    uint32_t *slots; /* a hash table: index of a work + 1; 0: free */
    uint32_t n, cap_works, cap_estimates, mask;
};

/* A zeroed cache is ready for use. After a release it is empty. */
void msim_estimate_cache_release(struct msim_estimate_cache *m);

/* As msim_model_predict(), from the cache where it holds `w`. `p` and `strict`
 * must be the same in all calls. Also ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_estimate_cache_predict(struct msim_estimate_cache *m,
                                             const struct msim_platform *p,
                                             const struct msim_work *w,
                                             bool strict,
                                             struct msim_estimate *out,
                                             struct msim_error *err);

#endif
