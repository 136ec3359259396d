/*
 * predict/shelf.h - what many runs of one job need, made once: platforms, which
 * of them was traced, and what the job's own times teach of its GPU.
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
    const struct msim_job *traced_job;  /* whose platform `traced` is; NULL */
    const char *traced;
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

/*
 * The name of the platform in `data_dir` that every rank of `job` ran on, NULL
 * where that is not one or not known; the shelf remembers that of one job. `s`
 * may be NULL. The text is the job's.
 */
const char *msim_shelf_traced(struct msim_shelf *s, struct msim_job *job,
                              const char *data_dir);

void msim_shelf_release(struct msim_shelf *s);

#endif
