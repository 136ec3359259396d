/*
 * calibrate/host/host_samples.h - times of a CPU, read from recorded traces.
 *
 * All traces of one machine are one host, so that a machine with eight ranks
 * has no more weight than one with a single rank. Times are microseconds.
 */
#ifndef MSIM_CALIBRATE_HOST_HOST_SAMPLES_H
#define MSIM_CALIBRATE_HOST_HOST_SAMPLES_H
#include "core/job/job.h"
#include "models/host/host.h"

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

#endif
