/*
 * serving/apps/app_sweep.h - what a suite of applications is swept across.
 *
 * SWEEP.json has up to four lists: "scheduler" (members of batching, for LLM
 * stages), "platform" and "replicas" (of LLM and model stages) and "rate". A
 * point is one application with one of each; a list that is absent leaves what
 * the application says. "price_per_hour" and "power_w" say, by platform, what
 * one GPU costs and draws.
 */
#ifndef MSIM_SERVING_APPS_APP_SWEEP_H
#define MSIM_SERVING_APPS_APP_SWEEP_H
#include "serving/apps/suite.h"

#define MSIM_APP_SWEEP_AXIS_MAP(X)                                             \
    X(SCHEDULER, "scheduler")                                                  \
    X(PLATFORM, "platform")                                                    \
    X(RATE, "rate")                                                            \
    X(REPLICAS, "replicas")

enum msim_app_sweep_axis {
#define X(name, text) MSIM_APP_SWEEP_##name,
    MSIM_APP_SWEEP_AXIS_MAP(X)
#undef X
        MSIM_APP_SWEEP_AXES
};

struct msim_app_sweep {
    cJSON *json;                            /* NULL: nothing is swept */
    const cJSON *axes[MSIM_APP_SWEEP_AXES]; /* arrays; NULL: as it is */
    uint32_t n[MSIM_APP_SWEEP_AXES];        /* 1 where it is NULL */
    const cJSON *price_per_hour, *power_w;  /* objects; NULL */
};

/* `path` NULL: nothing is swept. On success `s` goes to
 * msim_app_sweep_release(); on failure it holds nothing: EIO, ESYNTAX, EFORMAT
 * naming the member by its path. */
MSIM_MUST_CHECK
enum msim_status msim_app_sweep_read(struct msim_app_sweep *s, const char *path,
                                     struct msim_error *err);
void msim_app_sweep_release(struct msim_app_sweep *s);

/* Points of one application. */
uint64_t msim_app_sweep_points(const struct msim_app_sweep *s);

/* The item of `axis` that point `i` (of one application) has; NULL: as the
 * application has it. `which`, which may be NULL, is its place in the list. */
const cJSON *msim_app_sweep_item(const struct msim_app_sweep *s, uint64_t i,
                                 enum msim_app_sweep_axis axis,
                                 uint32_t *which);

/*
 * The application as point `i` has it: a copy, the caller's; NULL: ENOMEM.
 * `*guessed`: a price or power of another platform stands for the point's.
 */
cJSON *msim_app_sweep_apply(const struct msim_app_sweep *s, uint64_t i,
                            const cJSON *app, bool *guessed);

#endif
