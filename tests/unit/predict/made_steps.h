/*
 * tests/unit/predict/made_steps.h - a run of three alike steps whose every time
 * is known, with the durations that were recorded.
 */
#ifndef MSIM_TESTS_UNIT_PREDICT_MADE_STEPS_H
#define MSIM_TESTS_UNIT_PREDICT_MADE_STEPS_H
#include "predict/pipeline.h"

#include "tests/unit/made_job.h"

#include <stdlib.h>

#define MADE_STEPS 3

/* What a step does, in microseconds: the host works in an operator, which
 * launches, works on, and waits. The kernel starts 5 after its launch began,
 * whatever is faster, and the wait ends 5 after the GPU has, which are the
 * host's. */
struct step {
    int before, kernel, beside, after; /* beside: while the kernel runs */
    int copy;                          /* behind the kernel, on its stream */
    bool aside;                        /* no: beside it, on another */
};

static inline int length_of(const struct step *s)
{
    int both = s->kernel > s->copy ? s->kernel : s->copy;
    int gpu = s->before + 5 + (s->aside ? both : s->kernel + s->copy);
    int host = s->before + 2 + s->beside;

    return (gpu > host ? gpu : host) + 5 + s->after;
}

static inline void add_step(struct made *m, const struct step *s, int n)
{
    int at = n * length_of(s), gpu = at + s->before + 5;
    int wait = at + s->before + 2 + s->beside;
    int end = at + length_of(s) - s->after;

    made_step(m, 1, n + 1, at, length_of(s));
    made_op(m, 1, "aten::mm", at, s->before + 2 + s->beside);
    made_call(m, 1, "cudaLaunchKernel", at + s->before, s->copy ? 1 : 2,
              10 * n + 1);
    if (s->copy)
        made_call(m, 1, "cudaMemcpyAsync", at + s->before + 1, 1, 10 * n + 2);
    made_call(m, 1, "cudaDeviceSynchronize", wait, end - wait, 10 * n + 3);
    made_op(m, 1, "aten::view", end, s->after);
    made_kernel(m, 7, "gemm", gpu, s->kernel, 10 * n + 1);
    if (s->copy)
        made_copy(m, s->aside ? 20 : 7, "HtoD (Pinned -> Device)",
                  s->aside ? gpu : gpu + s->kernel, s->copy, 10 * n + 2, 1000);
}

struct made_run {
    char *text;
    struct msim_job_text file;
    struct msim_predict_settings s;
    struct msim_inputs in;
    struct msim_target to;
    struct msim_prediction_run run;
};

static inline bool run_steps(struct made_run *r, const struct step *s,
                             const char *data)
{
    static const char *const PATHS[] = {"made.json"};
    struct made m = made_trace(0, 1);
    struct msim_error err = {0};

    memset(r, 0, sizeof(*r));
    for (int n = 0; n < MADE_STEPS; n++)
        add_step(&m, s, n);
    r->text = made_text(&m);
    made_free(&m);
    r->file = (struct msim_job_text){"made.json", r->text, strlen(r->text)};
    r->s = (struct msim_predict_settings){.data = data,
                                          .paths = PATHS,
                                          .n_paths = 1,
                                          .texts = &r->file,
                                          .n_texts = 1,
                                          .load = {.threads = 1},
                                          .costs = MSIM_COSTS_MEASURED,
                                          .groups = true,
                                          .peers = MSIM_PEERS_FIXED,
                                          .iteration = MSIM_ITERATION_ALL};
    return CHECK_INT(msim_predict_load(&r->in, &r->to, &r->s, &err), MSIM_OK) &&
           CHECK_INT(msim_predict(&r->run, &r->s, &r->in, &r->to, &err),
                     MSIM_OK);
}

static inline void run_free(struct made_run *r)
{
    msim_prediction_run_release(&r->run);
    msim_target_release(&r->to);
    msim_inputs_release(&r->in);
    free(r->text);
}

#endif
