/*
 * serving/tune/tune.h - the constants of an engine from one measured run of it.
 *
 * The run's requests are simulated as they came, again and again, with other
 * constants of the law: what the host takes of a step and of a sequence, one
 * factor of all that decodes, one of all that prompts add. Kept are those with
 * the least mean |log(measured / simulated)| of TPOT and, with half of the
 * weight, of the whole latency, over the first seven tenths of the requests;
 * the rest says how far off they are. A constant that the run does not tell
 * stays near what it was: moving it by a factor of e must bring one per cent.
 */
#ifndef MSIM_SERVING_TUNE_TUNE_H
#define MSIM_SERVING_TUNE_TUNE_H
#include "serving/deploy/deploy.h"
#include "serving/llm/llm_law.h"

/* Of requests in the tail, |simulated / measured - 1|: medians. */
struct msim_tune_error {
    double tpot, ttft, e2e;
};

struct msim_tuned {
    struct msim_llm_law law; /* with intervals of this run */
    enum msim_llm_engine engine;
    uint32_t requests, tail; /* of the run; of those held back */
    /* Over what they were. */
    double host, sequence, decode, prefill;
    struct msim_tune_error before, after;
};

/* Requests from which constants are told, at least. */
#define MSIM_TUNE_LEAST 20

/*
 * Tune to the log at `path`, which must have e2e_ms (and ttft_ms) for at least
 * MSIM_TUNE_LEAST requests, else EFORMAT. `app` has one stage with an LLM, else
 * EFORMAT; `d` was opened for it, and has the tuned law afterwards.
 */
MSIM_MUST_CHECK
enum msim_status msim_tune(struct msim_tuned *out, const struct msim_app *app,
                           struct msim_deploy *d, const char *path,
                           struct msim_error *err);

/* Write it as a file of a law, which serve --fit reads. */
MSIM_MUST_CHECK
enum msim_status msim_tuned_write(const struct msim_tuned *t, const char *log,
                                  const char *path, struct msim_error *err);

#endif
