/*
 * serving/counters/counters_read.h - the counters of a running application:
 * rows as they come, and seconds.
 */
#ifndef MSIM_SERVING_COUNTERS_COUNTERS_READ_H
#define MSIM_SERVING_COUNTERS_COUNTERS_READ_H
#include "core/base/status.h"

#include <stdbool.h>

/* ---- counters row -------------------------------------------------------- */
/* Counters of one stage, or of whole requests (`e2e`), in one window. */

#define MSIM_COUNTER_E2E "e2e" /* the row of whole requests */

/* X(name in the enum, column) */
#define MSIM_COUNTER_MAP(X)                                                    \
    X(ARRIVALS, "arrivals") /* in the window */                                \
    X(QUEUE, "queue")       /* waiting at its end; of e2e: in flight */        \
    X(BUSY, "busy")         /* share of workers held */                        \
    X(REPLICAS, "replicas")                                                    \
    X(MEAN_MS, "mean_ms") /* of visits that ended in it */                     \
    X(P99_MS, "p99_ms")                                                        \
    X(SELF_MS, "self_ms") /* own service */                                    \
    X(WAIT_MS, "wait_ms") /* in the queue */                                   \
    X(PSI_CPU, "psi_cpu") /* share of time stalled, 0 to 1 */                  \
    X(PSI_MEM, "psi_mem")                                                      \
    X(PSI_IO, "psi_io")                                                        \
    X(NET_MS, "net_ms") /* one way to the stage */

enum msim_counter {
#define X(name, column) MSIM_COUNTER_##name,
    MSIM_COUNTER_MAP(X)
#undef X
        MSIM_COUNTERS
};

struct msim_counters_row {
    double t;                /* end of the window, s */
    uint32_t stage;          /* of the names given; their number: e2e */
    double v[MSIM_COUNTERS]; /* NAN: not known */
};

/* ---- metrics read -------------------------------------------------------- */
/*
 * What running engines tell in Prometheus' text format, as counters.
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

/* ---- counters read ------------------------------------------------------- */
/*
 * The counters of a running application, row by row: what `serve --counters`
 * writes and `watch` and `learn` read (docs/serving.md).
 *
 * A row is one stage, or `e2e`, in one window. Columns may be missing but for
 * `t` and `stage`, and stand in any order; an empty field is not known, nor is
 * one that no counter can be (below 0, above 10^12).
 *
 * The file comes from a program that may write other lines between, and it may
 * be a pipe that is written while it is read: a row is there as soon as its
 * line has ended. Lines from `#` on are skipped. Lines that are no rows are
 * left out and counted; a stage that the application does not have and a time
 * that goes back are errors, for then the file is another application's, or
 * two files.
 */

struct msim_counters; /* opaque */

/*
 * Open `path` ("-": standard input) of an application whose `n` stages are
 * called `stages` (they must live as long), and read its header. On success
 * `*out` is the caller's; on failure it is NULL: EIO, ETRUNCATED for an empty
 * file, EFORMAT where a column that is needed is missing.
 */
MSIM_MUST_CHECK
enum msim_status msim_counters_open(struct msim_counters **out,
                                    const char *path, const char *const *stages,
                                    uint32_t n, struct msim_error *err);

/* The same, and scrapes of engines in Prometheus' format are understood, too
 * ("metrics read"). */
MSIM_MUST_CHECK
enum msim_status msim_counters_open_any(struct msim_counters **out,
                                        const char *path,
                                        const struct msim_metrics_how *how,
                                        struct msim_error *err);
/* Is it scrapes? */
bool msim_counters_are_metrics(const struct msim_counters *c);

/* Accepts NULL. */
void msim_counters_close(struct msim_counters *c);

/* The next row; `*found` is false at the end. EFORMAT names the line. */
MSIM_MUST_CHECK
enum msim_status msim_counters_next(struct msim_counters *c,
                                    struct msim_counters_row *row, bool *found,
                                    struct msim_error *err);

/* Lines left out so far; what the first of them was: its line, and why. */
uint64_t msim_counters_left_out(const struct msim_counters *c);
uint64_t msim_counters_first_line(const struct msim_counters *c);
const char *msim_counters_first_reason(const struct msim_counters *c);

/* ---- counters second ----------------------------------------------------- */
/*
 * Windows of counters put together as seconds.
 *
 * A second is over with the `e2e` row whose window ends at a whole second or
 * behind it; windows longer than a second are seconds of their own. Per visit
 * (self, wait, network, latency) a second has the mean over its windows,
 * weighted by arrivals; a window without arrivals says nothing of them.
 */

/* What a stage, or e2e, did in a second. */
struct msim_second_stage {
    /* As in a window, but: arrivals are a second's, queue and replicas those of
     * its end, busy and psi_* means, p99_ms the median of its windows. NAN: not
     * known. */
    double v[MSIM_COUNTERS];
    double queue_mean;
    double p99_most;     /* of its windows, ms */
    double mean_last_ms; /* of the last of them in which a visit ended */
    /* Of e2e alone: arrivals a second in the last two windows; and the time
     * until the second's end in which as many arrived as are in flight, s. If
     * requests ended in the order in which they came, the oldest would be as
     * old. */
    double rate_last, age_s;
};

#define MSIM_SECOND_WINDOWS 64 /* a second that have a p99 of their own */

struct msim_second_sum; /* of one stage so far */

struct msim_seconds {
    uint32_t n_stages;                /* e2e comes behind them */
    double t;                         /* end of the last second, s */
    struct msim_second_stage *stages; /* n_stages + 1: the last second */
    struct msim_second_sum *sums;
    double from; /* end of the second before, s */
    bool begun;
    /* The last windows of e2e, by number % MSIM_SECOND_WINDOWS. */
    struct msim_second_window {
        double arrivals, length_s;
    } windows[MSIM_SECOND_WINDOWS];
    uint32_t n_windows; /* so far */
    double window_end;  /* of the last one, s */
};

/* ENOMEM. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_seconds_init(struct msim_seconds *s, uint32_t n_stages);
void msim_seconds_release(struct msim_seconds *s);

/* Add a row; true where it ended a second, which is in `s->stages` then. */
bool msim_seconds_add(struct msim_seconds *s,
                      const struct msim_counters_row *row);

/* Does a second violate: is the median p99 of its windows above the limit?
 * False where no request ended. */
static inline bool msim_second_violates(const struct msim_second_stage *e2e,
                                        double limit_ms)
{
    return e2e->v[MSIM_COUNTER_P99_MS] > limit_ms;
}

#endif
