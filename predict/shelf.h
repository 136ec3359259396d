/*
 * predict/shelf.h - what many runs of one job need, made once: platforms, and
 * what the job's own times teach of its GPU.
 */
#ifndef MSIM_PREDICT_SHELF_H
#define MSIM_PREDICT_SHELF_H
#include "models/platform/platform.h"
#include "predict/learn/trace_correction.h"

/* Zero it at the start, and let `job` be the one whose correction is kept
 * (NULL: none). Not thread-safe. */
struct msim_shelf {
    struct msim_shelf_entry *platforms;
    uint32_t n_platforms, cap_platforms;
    const struct msim_job *job;
    struct msim_correction *correction; /* by the first source that asked */
};

/*
 * As msim_platform_load(), but read only the first time that the shelf is asked
 * for the name. What is taken is the caller's, to set and to free, while the
 * shelf lives. `s` NULL: it is loaded.
 */
MSIM_MUST_CHECK
enum msim_status msim_shelf_platform(struct msim_shelf *s,
                                     struct msim_platform **out,
                                     const char *data_dir, const char *name,
                                     struct msim_error *err);

/*
 * As msim_correction_new(), or the one that is kept of this job and platform,
 * which stays the shelf's: then `*is_kept` is true. `s` may be NULL. All calls
 * with one shelf have the same table `user`.
 */
MSIM_MUST_CHECK
enum msim_status
msim_shelf_correction(struct msim_shelf *s, struct msim_correction **out,
                      bool *is_kept, const struct msim_job *job,
                      const struct msim_ops *user, struct msim_platform *p,
                      struct msim_error *err);

void msim_shelf_release(struct msim_shelf *s);

#endif
