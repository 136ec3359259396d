/*
 * plan/describe/job_model.h - a described model of another width, of other
 * heads, another MLP, another vocabulary, another depth: the changes that a
 * traced step has by the same names (core/reshape/reshape.h,
 * core/rewrite/layers.c), with the same meaning.
 */
#ifndef MSIM_PLAN_DESCRIBE_JOB_MODEL_H
#define MSIM_PLAN_DESCRIBE_JOB_MODEL_H
#include "core/json/fields.h"
#include "plan/describe/described.h"

/* X(name) */
#define MSIM_JOB_SIZE_MAP(X) X(hidden) X(heads) X(ffn) X(vocab)

/* `to` 0: as it is; `from` 0: whatever it is. */
struct msim_job_model {
#define X(name)                                                                \
    struct {                                                                   \
        int64_t from, to;                                                      \
    } name;
    MSIM_JOB_SIZE_MAP(X)
#undef X
    int64_t layers; /* 0: as many as they are */
};

bool msim_job_model_is_same(const struct msim_job_model *c);
/* The same but for its depth: kernels of the same sizes, more often or less. */
bool msim_job_model_has_same_sizes(const struct msim_job_model *c);

/* Read the change `key` of `f`, one of those names or "layers". */
void msim_job_model_read(struct msim_job_model *c, struct msim_fields *f,
                         const char *key);

/* The model that it makes of `base`; false, with the reason in `why`: `base`
 * cannot be changed so. */
bool msim_job_model_make(struct msim_described *out,
                         const struct msim_described *base,
                         const struct msim_job_model *c, char *why,
                         size_t size);

#endif
