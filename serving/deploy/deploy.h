/*
 * serving/deploy/deploy.h - what LLM and model stages of an application run on.
 */
#ifndef MSIM_SERVING_DEPLOY_DEPLOY_H
#define MSIM_SERVING_DEPLOY_DEPLOY_H
#include "core/base/status.h"
#include "serving/app/app.h"
#include "serving/sim/serving_run.h"

/* ---- recorded ------------------------------------------------------------ */
/*
 * Recorded passes of a stage's model, and what they say of its law: their times
 * on the stage's GPU over the law's.
 *
 * Somebody who reads traces predicts them (a measured time where the pass ran
 * on that GPU, else one that is carried there, or the models'); nothing here
 * does.
 */

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

/* ---- recorded law -------------------------------------------------------- */
/* What the recorded passes of a stage say of the law of its model. */

struct msim_llm;        /* serving/llm/llm.h */
struct msim_model_pass; /* serving/llm/llm_law.h */

/* Of prompts (of a model stage: of any pass), and of decoding. */
struct msim_recorded_law {
    struct msim_recorded_ratio prefill, decode;
};

/* Passes of `s` against steps of `llm` on `platform`: those of prompts, or
 * those of `decoding`. EFORMAT where a pass is no such step, and as
 * msim_recorded_ratio_find(). */
MSIM_MUST_CHECK
enum msim_status msim_recorded_steps(struct msim_recorded_ratio *out,
                                     const struct msim_stage *s, bool decoding,
                                     const char *platform,
                                     const struct msim_recorder *recorder,
                                     struct msim_llm *llm,
                                     struct msim_error *err);

/* Likewise of a model stage, against passes of its model. */
MSIM_MUST_CHECK
enum msim_status msim_recorded_passes(struct msim_recorded_ratio *out,
                                      const struct msim_stage *s,
                                      const struct msim_recorder *recorder,
                                      struct msim_model_pass *pass,
                                      struct msim_error *err);

/* Half of the 90 % interval of a stage's times, whose law alone has `half`:
 * that of the passes where all that it does was recorded. */
double msim_recorded_half(const struct msim_recorded_law *r, double half);

/* ---- deploy -------------------------------------------------------------- */
/*
 * What the LLM and model stages of an application run on: models and platforms
 * are read once, and every simulator gets step times of its own, since those
 * remember what they were asked.
 */

struct msim_deploy; /* opaque */

/*
 * Read what the stages of `app`, which outlives it, name; `fit` is a file of
 * the law's constants, or NULL: those of `data_dir`. An application without
 * such stages needs no data. `recorder` (NULL: none, stages with recorded
 * passes are refused) must live as long. EUNKNOWN names of models and
 * platforms, EFORMAT what a stage lacks, and what msim_llm_new() (ECHECK: a
 * model does not fit its GPUs) and the recorder fail with, by the stage. On
 * success `*out` is the caller's.
 */
MSIM_MUST_CHECK
enum msim_status msim_deploy_open(struct msim_deploy **out,
                                  const struct msim_app *app,
                                  const char *data_dir, const char *fit,
                                  const struct msim_recorder *recorder,
                                  struct msim_error *err);
void msim_deploy_free(struct msim_deploy *d); /* accepts NULL */

struct msim_llm_law; /* serving/llm/llm_law.h */
/* The law that step times go by; another one for simulators made from now on.
 */
const struct msim_llm_law *msim_deploy_law(const struct msim_deploy *d);
void msim_deploy_set_law(struct msim_deploy *d, const struct msim_llm_law *law);
/* The names of the model and of the platform of a stage that has them. */
const char *msim_deploy_model(const struct msim_deploy *d, uint32_t stage);
const char *msim_deploy_platform(const struct msim_deploy *d, uint32_t stage);

/* Does the application have stages for which data is read? */
bool msim_deploy_needs(const struct msim_app *app);

/* A simulator of the application, ready to run; threads may each make one at a
 * time. Fails as msim_serving_new(), and as msim_deploy_open() did not. */
MSIM_MUST_CHECK
enum msim_status msim_deploy_simulator(struct msim_serving **out,
                                       const struct msim_deploy *d,
                                       struct msim_error *err);

/* GPUs of one replica of a stage; 0: it has none. */
double msim_deploy_gpus(const struct msim_app *app, uint32_t stage);

/* Half of the 90 % interval of the logarithm of the step times of a stage; 0
 * of stages whose times were stated. */
double msim_deploy_half(const struct msim_deploy *d, uint32_t stage);

/* What recorded passes say of a stage; none where it has none. */
const struct msim_recorded_law *
msim_deploy_recorded(const struct msim_deploy *d, uint32_t stage);

/* What a replica of an LLM stage holds on its GPUs; disaggregated: the one that
 * decodes. All 0 of other stages. Valid as long as `d`. */
const struct msim_llm_memory *msim_deploy_memory(const struct msim_deploy *d,
                                                 uint32_t stage);

#endif
