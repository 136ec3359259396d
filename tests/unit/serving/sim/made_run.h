/*
 * tests/unit/serving/sim/made_run.h - applications that tests write down, run.
 */
#ifndef MSIM_TESTS_UNIT_SERVING_SIM_MADE_RUN_H
#define MSIM_TESTS_UNIT_SERVING_SIM_MADE_RUN_H
#include "serving/sim/serving_run.h"
#include "tests/unit/serving/made_app.h"

struct made_run {
    struct msim_app app;
    struct msim_serving *sim;
    struct msim_serving_result r;
};

/* Requests of a log, or those of `how`. */
static inline void made_run(struct made_run *m, const char *more,
                            const char *stages, const char *flow,
                            const char *log, struct msim_serving_how how)
{
    static char path[128];

    memset(m, 0, sizeof(*m));
    if (log) {
        made_put("log.csv", log);
        snprintf(path, sizeof(path), "%s", made_path("log.csv"));
        how.log = path;
    }
    REQUIRE(made_read(&m->app, more, stages, flow) == MSIM_OK);
    REQUIRE(msim_serving_new(&m->sim, &m->app, &made_error) == MSIM_OK);
    REQUIRE(msim_serving_run(m->sim, &how, &m->r, &made_error) == MSIM_OK);
}

static inline void made_run_end(struct made_run *m)
{
    msim_serving_free(m->sim);
    if (m->sim)
        msim_app_release(&m->app);
}

/* Latency of the i-th request, ms. */
static inline double made_ms(const struct made_run *m, uint64_t i)
{
    return i < m->r.n_requests
               ? (double)(m->r.requests[i].ended - m->r.requests[i].arrived) /
                     1e9
               : -1;
}

#endif
