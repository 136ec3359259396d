/*
 * serving/deploy/recorded.h - recorded passes of a stage's model, and what they
 * say of its law: their times on the stage's GPU over the law's.
 *
 * Somebody who reads traces predicts them (a measured time where the pass ran
 * on that GPU, else one that is carried there, or the models'); nothing here
 * does.
 */
#ifndef MSIM_SERVING_DEPLOY_RECORDED_H
#define MSIM_SERVING_DEPLOY_RECORDED_H
#include "core/base/status.h"
#include "serving/app/app.h"

/* What a recorded pass takes on a GPU. */
struct msim_pass_time {
    double us;
    double half;                    /* of the 90 % interval of its logarithm */
    int64_t batch, tokens, context; /* what it is of; 0, context below 0: not
                                       known */
};

/* Who predicts them; threads may ask at a time. */
struct msim_recorder {
    void *own;
    /*
     * The pass on `platform`; of `batch` samples of `tokens` tokens where those
     * are not 0. EFORMAT where its trace does not tell its sizes or cannot have
     * others, and what reading a trace and a prediction fail with.
     */
    enum msim_status (*time)(struct msim_pass_time *out, void *own,
                             const struct msim_recorded_pass *pass,
                             const char *platform, double batch, double tokens,
                             struct msim_error *err);
};

struct msim_recorded_ratio {
    double factor; /* of the law's times: the geometric mean; 1: none */
    double half;   /* of the 90 % interval of a time that has it */
    uint32_t n;    /* passes; 0: none */
};

/* What the law has for a pass; us. EFORMAT where it has no such pass. */
typedef enum msim_status msim_law_time(double *us, void *law,
                                       const struct msim_pass_time *of,
                                       struct msim_error *err);

/*
 * The ratio of passes `r` on `platform`. EFORMAT where a time is so far from
 * the law's that the two are not of one pass; what the recorder fails with,
 * EUSAGE where it is NULL and there are passes.
 */
MSIM_MUST_CHECK
enum msim_status msim_recorded_ratio_find(struct msim_recorded_ratio *out,
                                          const struct msim_recorded *r,
                                          const char *platform,
                                          const struct msim_recorder *recorder,
                                          msim_law_time *law_time, void *law,
                                          struct msim_error *err);

/* The time of a pass, from a recorder that may be NULL (EUSAGE). */
MSIM_MUST_CHECK
enum msim_status msim_pass_time_find(struct msim_pass_time *out,
                                     const struct msim_recorder *recorder,
                                     const struct msim_recorded_pass *pass,
                                     const char *platform, double batch,
                                     double tokens, struct msim_error *err);

/* EFORMAT: a size ("tokens") is wanted, and the trace does not tell it. */
enum msim_status msim_recorded_not_told(const char *size,
                                        struct msim_error *err);

#endif
