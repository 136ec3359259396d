/*
 * calibrate/host/host_fit.h - a host file, fitted: times of a CPU out of
 * traces, the figures from them, their repeatability.
 */
#ifndef MSIM_CALIBRATE_HOST_HOST_FIT_H
#define MSIM_CALIBRATE_HOST_HOST_FIT_H
#include "core/base/json.h"
#include "core/job/job.h"
#include "models/host/host.h"

/* ---- host samples -------------------------------------------------------- */
/*
 * Times of a CPU, read from recorded traces.
 *
 * All traces of one machine are one host, so that a machine with eight ranks
 * has no more weight than one with a single rank. Times are microseconds.
 */

struct msim_series {
    double *v;
    uint32_t n, capacity;
};

/* An operator that ran: self time as models/host/host.h means it. */
struct msim_host_op {
    double self;
    double work;   /* self time, its calls that did not wait and, of a topmost
                      operator, the pause after it */
    uint32_t key;  /* of msim_host_keys */
    uint32_t step; /* of its host; MSIM_NONE: in no step */
    uint32_t unit; /* of its host; MSIM_NONE: of no repeated program */
};

/* A step, or a trace without steps, of a program that ran more than once. */
struct msim_host_unit {
    uint32_t recording; /* number of the trace */
};

/* A runtime call that an operator made itself. */
struct msim_host_made {
    uint32_t key;
    uint8_t kind;
};

/* Kinds of topmost operators, for the time after them. */
enum { MSIM_AFTER_OPERATOR, MSIM_AFTER_AUTOGRAD, MSIM_AFTER_KINDS };

struct msim_host_samples {
    char name[64];
    struct msim_host_op *ops;
    uint32_t n_ops, cap_ops;
    struct msim_host_made *made;
    uint32_t n_made, cap_made;
    struct msim_series
        calls[MSIM_HOST_CALL_KINDS]; /* those that did not wait */
    struct msim_series all_calls[MSIM_HOST_CALL_KINDS];
    struct msim_series after[MSIM_AFTER_KINDS];
    struct msim_series latency; /* of launches into an idle stream */
    struct msim_series gap;     /* between kernels queued back to back */
    struct msim_series probe;   /* of operators that do next to nothing */
    struct msim_host_unit *units;
    uint32_t n_units, cap_units;
    uint32_t n_steps, n_traces;
};

/* Operators by name, the same for all hosts; a key is a number of `names`. */
struct msim_host_keys {
    struct msim_strtab *names;
    uint8_t *classes; /* by key: msim_host_class of its first call */
    uint32_t n, capacity;
};

MSIM_MUST_CHECK
enum msim_status msim_host_keys_init(struct msim_host_keys *k);
void msim_host_keys_release(struct msim_host_keys *k);

/* Find or add the key of an operator's name. */
MSIM_MUST_CHECK
enum msim_status msim_host_keys_add(struct msim_host_keys *k, const char *name,
                                    enum msim_host_class class, uint32_t *key);

/*
 * Add one rank's trace; one without times adds nothing. `repeats`: the trace is
 * one of several runs of a program, or has several of its steps.
 */
MSIM_MUST_CHECK
enum msim_status msim_host_samples_add(struct msim_host_samples *s,
                                       struct msim_host_keys *keys,
                                       const struct msim_trace *t,
                                       bool repeats);
void msim_host_samples_release(struct msim_host_samples *s);

/*
 * Cap the times of each operator at ten times its median, and at 50 us at
 * least. A longer one waited (for a lock, a first initialisation, a page), and
 * that is no dispatch. Other times stay: they are summed, and a median would
 * lose the tail of the sum.
 */
MSIM_MUST_CHECK
enum msim_status msim_host_samples_cap(struct msim_host_samples *s,
                                       uint32_t n_keys);

/* Sorts `s`; its quantile `p` (0..1), NAN where it is empty. */
double msim_series_quantile(struct msim_series *s, double p);

/* Sorts `s`; its mean under the cap above, NAN where it is empty. */
double msim_series_mean(struct msim_series *s);

/*
 * Sorts `s`; its mean without values over four times the median and 1 us (the
 * clock of old traces), NAN where it is empty. For calls and pauses that are
 * short unless they wait, as a launch waits for a place in the queue.
 */
double msim_series_core(struct msim_series *s);

/* ---- host fit ------------------------------------------------------------ */
/*
 * The figures of a general host from those of several hosts.
 *
 * Operator k takes a_k * s_h on host h: a factor of the operator times a factor
 * of the host. Both are fitted in turn: a_k is the mean over hosts of times
 * divided by s_h, and s_h makes the host's total come out right. The general
 * host has s = 1, the geometric mean of all.
 *
 * Its errors are those on held-out hosts: a fit on all but one predicts the sum
 * of that one's self times. The scatter of these errors is the 90 % interval.
 */

#define MSIM_HOSTS_MAX 32

/* Mean times of each operator on each host. */
struct msim_host_table {
    const struct msim_host_samples *hosts; /* borrowed */
    const struct msim_host_keys *keys;     /* borrowed */
    uint32_t n_hosts, n_keys;
    double *mean;    /* [host * n_keys + key], us */
    double *made;    /* likewise: us in runtime calls */
    uint32_t *count; /* likewise: calls of the operator */
    /* us of one call without waiting, by host; NAN where unknown. */
    double call_us[MSIM_HOSTS_MAX][MSIM_HOST_CALL_KINDS];
    double after_us[MSIM_HOSTS_MAX][MSIM_AFTER_KINDS];
    double latency_us[MSIM_HOSTS_MAX], gap_us[MSIM_HOSTS_MAX];
};

/* Fill `t` from `hosts`, which have been capped (msim_host_samples_cap()) and,
 * with `keys`, must outlive it. Release it; on failure it is empty. */
MSIM_MUST_CHECK
enum msim_status msim_host_table_make(struct msim_host_table *t,
                                      struct msim_host_samples *hosts,
                                      uint32_t n_hosts,
                                      const struct msim_host_keys *keys);
void msim_host_table_release(struct msim_host_table *t);

/* A figure over hosts with its 90 % interval; hosts 0: no host has it. */
struct msim_host_figure {
    double us, low_us, high_us;
    uint32_t hosts;
};

struct msim_host_fit {
    double *self, *made; /* by key, us on the general host */
    double *weight;      /* by key: hosts that know it; few calls count less */
    double class_self[MSIM_HOST_CLASSES], class_made[MSIM_HOST_CLASSES];
    double speed[MSIM_HOSTS_MAX]; /* s_h; NAN for a held-out host */
    double factor;                /* of the 90 % interval, both ways */
    struct msim_host_figure calls[MSIM_HOST_CALL_KINDS];
    struct msim_host_figure after[MSIM_AFTER_KINDS], latency, gap;
};

/* Whether an operator has enough calls to have a figure of its own. */
bool msim_host_fit_knows(const struct msim_host_fit *f, uint32_t key);

/*
 * Fit on the hosts with `use[h]`, at least two. Runtime calls and the GPU's
 * latency and gap come from all hosts but `except` (MSIM_NONE: from all): a
 * recording that slows operators does not slow these. On success release `f`.
 */
MSIM_MUST_CHECK
enum msim_status msim_host_fit_make(struct msim_host_fit *f,
                                    const struct msim_host_table *t,
                                    const bool *use, uint32_t except);
void msim_host_fit_release(struct msim_host_fit *f);

/* The errors of a fit on one host. Times are sums in us. */
struct msim_host_score {
    double self, predicted;        /* operators' self times */
    double whole, whole_predicted; /* with calls made and pauses between */
    bool inside, whole_inside;     /* the 90 % interval */
    uint32_t steps, steps_inside;
    double step_error; /* mean of |error| over steps; NAN without steps */
};

/* Score fit `f`, made without host `h`, on that host. */
MSIM_MUST_CHECK
enum msim_status msim_host_evaluate(struct msim_host_score *v,
                                    const struct msim_host_fit *f,
                                    const struct msim_host_table *t,
                                    uint32_t h);

/* ---- host repeat --------------------------------------------------------- */
/*
 * Repeatability of host time: the same program, run once more.
 *
 * Two units (steps, or traces without steps) of one program are compared by
 * the operators that both call equally often: the logarithm of one's time over
 * the other's. Where a program was recorded more than once, only units of
 * different recordings are compared: units of one recording share its process,
 * its cores and its time of day, and differ less than two runs do.
 */

struct msim_host_repeats {
    double *logs; /* of the compared pairs, without sign */
    uint32_t n_pairs, n_units, n_recordings;
    double rms;    /* of the logarithms; NAN without pairs */
    double shared; /* mean share of a unit's time that is compared */
};

/* Compare the units of a host that has been capped. On success release `r`. */
MSIM_MUST_CHECK
enum msim_status msim_host_repeats_make(struct msim_host_repeats *r,
                                        const struct msim_host_samples *s,
                                        uint32_t n_keys);
void msim_host_repeats_release(struct msim_host_repeats *r);

/* Whether the program was recorded more than once, so that it counts for
 * msim_host_repeat_factor(). */
bool msim_host_repeats_rerun(const struct msim_host_repeats *r);

/*
 * The factor of the 90 % interval, both ways, from those of the `n` programs
 * but `except` (MSIM_NONE: of all) that were recorded more than once: the root
 * mean square of their logarithms, each program with the same weight, times
 * Student's t for that many. 0 where there are fewer than two.
 */
double msim_host_repeat_factor(const struct msim_host_repeats *r, uint32_t n,
                               uint32_t except);

/* The number of pairs that differ by at most `factor`. */
uint32_t msim_host_repeats_inside(const struct msim_host_repeats *r,
                                  double factor);

/* ---- host write ---------------------------------------------------------- */
/* A fitted host as a file of data/hosts. */

/* One host of the fit, for the provenance. */
struct msim_host_entry {
    double probe_us; /* median of operators that do next to nothing */
    bool used;       /* false: its recording slowed its operators */
    struct msim_host_score score; /* of a fit without it */
};

struct msim_host_document {
    const char *name, *title;
    const struct msim_host_table *table;
    const struct msim_host_fit *fit;
    const struct msim_host_entry *entries;   /* by host */
    const struct msim_host_repeats *repeats; /* by host */
    /* Runs that nobody recorded, over these, the host's memory, and operators
     * that no trace has: members of the file, as given. NULL: none. */
    const cJSON *unrecorded, *memory, *timed;
};

/* Write the file `path`, completely or not at all; equal input gives equal
 * bytes. */
MSIM_MUST_CHECK
enum msim_status msim_host_write(const struct msim_host_document *p,
                                 const char *path, struct msim_error *err);

#endif
