/*
 * serving/deploy/deploy.h - what the LLM and model stages of an application run
 * on: models and platforms are read once, and every simulator gets step times
 * of its own, since those remember what they were asked.
 */
#ifndef MSIM_SERVING_DEPLOY_DEPLOY_H
#define MSIM_SERVING_DEPLOY_DEPLOY_H
#include "serving/deploy/recorded_law.h"
#include "serving/sim/serving_run.h"

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
