/*
 * serving/counters/metrics_read.h - what running engines tell in Prometheus'
 * text format, as counters.
 *
 * A collector prints scrapes of servers one after the other, and before each a
 * line that says when, and of which stage (may be left out where there is one
 * stage that engines serve); `# end` says that all servers have been asked:
 *
 *     # at 1764380000.25 answer
 *     vllm:num_requests_waiting{model_name="m"} 3.0
 *     ...
 *     # at 1764380000.25 answer
 *     ...
 *     # end
 *
 * Servers of a stage are told apart by their order in a round; one that does
 * not answer leaves an empty scrape. Metrics count from the start of a server,
 * so a round is compared with the one before; where one went back the server
 * began anew (as rate() of Prometheus has it). Percentiles of histograms are
 * linear within a bucket (as histogram_quantile()).
 *
 * Names of metrics are rows of data/laws/engine_metrics.csv.
 */
#ifndef MSIM_SERVING_COUNTERS_METRICS_READ_H
#define MSIM_SERVING_COUNTERS_METRICS_READ_H
#include "serving/counters/counters_row.h"

/* X(name in the enum, word of the table): gauges first, then histograms of
 * seconds. */
#define MSIM_ENGINE_METRIC_MAP(X)                                              \
    X(RUNNING, "running")                                                      \
    X(WAITING, "waiting")                                                      \
    X(KV_USED, "kv_used")                                                      \
    X(LATENCY, "latency")                                                      \
    X(QUEUED, "queued")                                                        \
    X(SERVED, "served")                                                        \
    X(FIRST_TOKEN, "first_token")                                              \
    X(TOKEN, "token")
#define X(name, word) MSIM_ENGINE_METRIC_##name,
enum msim_engine_metric { MSIM_ENGINE_METRIC_MAP(X) MSIM_ENGINE_METRICS };
#undef X

struct msim_metrics_how {
    const char *table;         /* path of engine_metrics.csv */
    const char *const *stages; /* names; live as long as the reader */
    uint32_t n_stages;
    uint32_t start;  /* the first stage of the flow */
    uint32_t engine; /* the stage of scrapes that name none; n_stages: none */
    double *seats;   /* by stage: sequences that a replica runs at most; 0: not
                        known; copied */
    enum msim_engine_metric promised; /* LATENCY, FIRST_TOKEN or TOKEN: the p99
                                  of e2e is of that */
};

struct msim_metrics; /* opaque */

/* On success `*out` is the caller's, on failure NULL. Errors of the table,
 * ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_metrics_new(struct msim_metrics **out,
                                  const struct msim_metrics_how *how,
                                  struct msim_error *err);
/* Accepts NULL. */
void msim_metrics_free(struct msim_metrics *m);

/* Does a file that begins with that line hold scrapes? */
bool msim_metrics_begin(const char *line);

/*
 * Take a line (it is cut up); NULL: the input has ended. `*reason` is why it is
 * no metric, else NULL. EFORMAT, without the place: a time that goes back, a
 * stage that is not there. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_metrics_line(struct msim_metrics *m, char *line,
                                   const char **reason, struct msim_error *err);

/* The next row of the rounds that have ended; false: none is left. `e2e` comes
 * last in a round: it is of the first stage, or of the only one that is
 * scraped. */
bool msim_metrics_take(struct msim_metrics *m, struct msim_counters_row *row);

#endif
