/*
 * serving/sim/serving_run.h - requests through the stages of an application, as
 * events in time.
 *
 * A visit of a stage waits for a worker, is served, then makes its calls, step
 * by step; the request ends with the visit of the first stage. What a request
 * draws (its tokens, its way, every service) hangs on the seed, the request and
 * the calls that led there alone, not on time: two runs that differ in one
 * stage see the same requests (common random numbers).
 *
 *     msim_serving_new(&s, &app, err);
 *     msim_serving_run(s, &(struct msim_serving_how){.requests = 20000}, &r,
 *                      err);
 *     share = msim_serving_within(&r, cls, limit_ms);
 *     msim_serving_free(s);
 *
 * One simulator is one thread's; several may share an application. Memory is
 * kept from run to run, so that a plan after another costs its events only.
 */
#ifndef MSIM_SERVING_SIM_SERVING_RUN_H
#define MSIM_SERVING_SIM_SERVING_RUN_H
#include "serving/app/app.h"
#include "serving/engine/replica.h"

struct msim_serving; /* opaque */

/* What is kept beside the figures of classes. */
enum msim_serving_keep {
    MSIM_KEEP_VISITS = 1,  /* waits and services of every stage */
    MSIM_KEEP_WINDOWS = 2, /* counters of windows of 0.2 s */
    MSIM_KEEP_SPANS = 4,   /* when visits waited and were served */
};

struct msim_serving_how {
    const int64_t *replicas; /* by stage; NULL: the application's */
    double rate;             /* a second; 0: the application's */
    int64_t concurrency;     /* above 0: so many clients, each with one
                                request at a time, instead of the rate */
    const char *log;         /* a request log's path, instead of the
                                application's arrivals; or NULL */
    uint64_t seed;
    uint64_t requests; /* that arrive; 0: until `seconds` */
    double seconds;    /* in which they arrive; 0: until there are `requests`.
                          A log ends where it ends */
    double warmup_s;   /* requests that arrive earlier are in no figure */
    uint32_t free_stage_1; /* 1 + a stage whose visits take no time: neither
                              waiting nor service, but its calls; 0: none */
    uint32_t only_stage_1; /* 1 + the only stage whose visits take time; 0: all
                              do */
    unsigned keep;
};

/* One request that arrived. */
struct msim_served {
    msim_ps arrived;
    msim_ps ended;  /* MSIM_TIME_NONE: never */
    msim_ps first;  /* its first token; MSIM_TIME_NONE: it has none */
    msim_ps queued; /* waiting for workers on the path that decided its end */
    uint32_t cls, input_tokens, output_tokens;
    bool measured; /* after the warm-up */
    bool cut;      /* an LLM ended its answer: output_tokens are what it has */
};

/* A sample of values in the order of events: all, or every `every`th. */
struct msim_visit_sample {
    msim_ps *value;
    uint32_t n;
    uint64_t every;
};

/* Of the replicas of an LLM stage, over the whole run; NAN: there is none. */
struct msim_llm_run {
    bool is_llm;
    double steps, kv_peak_share, preemptions, prefix_hit_share, batch_mean,
        step_ms;
};

/* Of one stage, between the warm-up and the last arrival where it is a rate or
 * a share; of visits of measured requests where it is of visits. */
struct msim_stage_run {
    double visits_per_s;
    double held;             /* share of workers that are held */
    double computing;        /* share of workers that serve */
    double inside;           /* mean number of visits that wait or are served */
    uint64_t visits;         /* of measured requests, served */
    double wait_ps, self_ps; /* sums over those */
    struct msim_visit_sample waits, selves; /* MSIM_KEEP_VISITS */
    double critical_ps; /* that ends of requests waited for this stage */
    double visits_per_request;
    double hold_ps;      /* mean time that a visit keeps a worker from others */
    uint64_t backlog[2]; /* waiting at half of the arrivals, at the last */
    double late_computing, late_held; /* shares in the second half */
    double late_served_per_s;         /* visits, likewise */
    double replicas, worker_count;    /* of all replicas */
    struct msim_llm_run llm;
};

/* One window of one stage, or, behind the stages, of all requests. */
struct msim_window_row {
    uint32_t arrivals, queue, replicas; /* queue of e2e: in flight */
    double busy, mean_ms, p99_ms, self_ms, wait_ms; /* NAN: not known */
    double net_ms;
};

enum msim_span_what { MSIM_SPAN_WAIT, MSIM_SPAN_SERVICE, MSIM_SPAN_CALLS };

struct msim_span_row {
    msim_ps begin, end;
    uint32_t stage, request; /* request: of the rows */
    enum msim_span_what what;
};

/* Valid until the simulator's next run. */
struct msim_serving_result {
    const struct msim_served *requests; /* in order of arrival */
    uint64_t n_requests;
    const struct msim_stage_run *stages;   /* as the application has them */
    const struct msim_window_row *windows; /* n_stages + 1 a window */
    uint32_t n_windows;
    const struct msim_span_row *spans;
    uint32_t n_spans;
    double begin_s, end_s; /* the warm-up's end, the last arrival */
    uint64_t events;
};

#define MSIM_WINDOW_S 0.2

/* Spans beyond these are not kept. */
#define MSIM_SPANS_MOST 400000

/*
 * A simulator of `app`, which outlives it. ENOMEM; EFORMAT where a measured
 * stage has no service that could be drawn, by its path. On failure `*out` is
 * NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_serving_new(struct msim_serving **out,
                                  const struct msim_app *app,
                                  struct msim_error *err);

/* Accepts NULL. */
void msim_serving_free(struct msim_serving *s);

/* What a replica of an LLM stage runs. Disaggregated: `serve` computes prompts,
 * `decode` the rest. `ctx` of the times is the caller's, one a thread. */
struct msim_serving_llm {
    struct msim_replica_rules serve, decode;
    struct msim_llm_times serve_times, decode_times;
    uint32_t serve_replicas, decode_replicas; /* of the engine, a replica of the
                                                 stage; decode 0: not apart */
    double kv_token_bytes, kv_transfer_gbps;
    double arrival_us; /* until a request is at its replica */
};

/* An LLM stage runs this. To be said before the first run; ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_serving_set_llm(struct msim_serving *s, uint32_t stage,
                                      const struct msim_serving_llm *llm);
/* The service of a model stage is a pass of those times, over the input tokens
 * of all that is in a batch, a chunk each. */
MSIM_MUST_CHECK
enum msim_status msim_serving_set_model(struct msim_serving *s, uint32_t stage,
                                        const struct msim_llm_times *times);

/*
 * What one replica of an LLM stage bears, of the requests of the last run's
 * application: visits and output tokens a second with a backlog that never
 * ends. NAN: none of them fits. The run's results are kept, but for the state
 * of that stage. ENOMEM, errors of a log.
 */
MSIM_MUST_CHECK
enum msim_status msim_serving_llm_capacity(struct msim_serving *s,
                                           uint32_t stage, double *visits,
                                           double *tokens,
                                           struct msim_error *err);

/* `thing` is the simulator's from now on, on failure (ENOMEM) too: it goes to
 * `release` when the simulator does. */
MSIM_MUST_CHECK
enum msim_status msim_serving_own(struct msim_serving *s, void *thing,
                                  void (*release)(void *thing));

/* ENOMEM; ELIMIT where more visits are under way than can be numbered; errors
 * of a log. */
MSIM_MUST_CHECK
enum msim_status msim_serving_run(struct msim_serving *s,
                                  const struct msim_serving_how *how,
                                  struct msim_serving_result *result,
                                  struct msim_error *err);

/*
 * Share of the measured requests of class `cls` (MSIM_NONE: of all) that ended
 * within `limit_ms`; those that never end are late. NAN where there are none.
 */
double msim_serving_within(const struct msim_serving_result *r, uint32_t cls,
                           double limit_ms);

/* Their latencies in ms, ascending, into `values` (room for all requests; NULL:
 * count only); the number. */
uint64_t msim_serving_latencies(const struct msim_serving_result *r,
                                uint32_t cls, double *values);

#endif
