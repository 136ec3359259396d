/*
 * replay/run/work_runs.h - what a backend runs for a work: experiments of the
 * kinds that it offers.
 */
#ifndef MSIM_REPLAY_RUN_WORK_RUNS_H
#define MSIM_REPLAY_RUN_WORK_RUNS_H
#include "core/base/json.h"
#include "profilers/experiment.h"

#define MSIM_WORK_RUNS 8

/* X(name, the word, what it means); the later, the less like the original. */
#define MSIM_RUN_HOW_MAP(X)                                                    \
    X(NATIVE, "native", "by a routine that computes the same")                 \
    X(PARTS, "parts", "as the products and rows that it is made of")           \
    X(BYTES, "bytes", "as a copy of as many bytes")                            \
    X(NOT, "not run", "not at all")

enum msim_run_how {
#define X(name, text, what) MSIM_RUN_##name,
    MSIM_RUN_HOW_MAP(X)
#undef X
        MSIM_RUN_HOWS
};
const char *msim_run_how_text(enum msim_run_how h);

struct msim_work_runs {
    struct msim_experiment list[MSIM_WORK_RUNS]; /* in order */
    uint32_t n;
    enum msim_run_how how;
    const char *why; /* static; NULL: native */
};

/*
 * The experiments of work `w` on a backend that greets with `greeting`. Texts
 * of experiments point into the work's or are static.
 */
void msim_work_runs_find(struct msim_work_runs *out, const struct msim_work *w,
                         const cJSON *greeting);

/* A copy that reads and writes as many bytes in all as `e` is said to. */
struct msim_experiment msim_run_as_bytes(const struct msim_experiment *e);

#endif
