/*
 * serving/rows/closed_run.h - a simulated closed loop, as benchmarks of engines
 * run it: so many clients that ask at once, each again when it has been
 * answered, MSIM_CLOSED_WAVES times in all. MSIM_CLOSED_RUN of these are
 * simulated; the second and later ones are alike, and stand for the rest.
 *
 * A request reaches the engine a while after it was asked (HTTP, tokens of its
 * text, scheduling), exponentially distributed; its prompt and its output have
 * any length of their ranges, all alike. Where lengths differ, clients soon are
 * out of step, and a request waits for few others' prompts. Where they do not,
 * an engine that prefills first keeps all in step, as nothing decodes before
 * the last of a burst has its first token.
 */
#ifndef MSIM_SERVING_ROWS_CLOSED_RUN_H
#define MSIM_SERVING_ROWS_CLOSED_RUN_H
#include "serving/engine/deployment.h"

/* The usual number of requests is ten a client (AIPerf's and vLLM's guides,
 * InferenceMAX: num-prompts = 10 x concurrency). */
#define MSIM_CLOSED_WAVES 10
#define MSIM_CLOSED_RUN   4

struct msim_tokens {
    double least, most; /* 1 or more when rounded */
};

static inline double msim_tokens_mean(struct msim_tokens t)
{
    return (t.least + t.most) / 2;
}

struct msim_closed_loop_setup {
    struct msim_deployment_setup served;
    uint32_t clients;
    struct msim_tokens prompts, outputs;
    double arrival_us; /* until a request is at the engine, mean */
};

struct msim_closed_figures { /* means over requests */
    double ttft_ms;
    double tpot_ms; /* 0 where there is one token */
};

/* ELIMIT where a prompt does not fit; else as msim_deployment_new(). The same
 * arguments give the same figures. */
MSIM_MUST_CHECK
enum msim_status msim_closed_run(struct msim_closed_figures *out,
                                 const struct msim_closed_loop_setup *setup);

#endif
