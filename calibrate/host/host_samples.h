/*
 * calibrate/host/host_samples.h - what real traces say about the CPU they ran
 * on.
 *
 * All traces of one machine are one host: its times are taken together, so
 * that a machine with eight ranks counts no more than one with a single rank.
 * Times are microseconds.
 */
#ifndef MSIM_CALIBRATE_HOST_HOST_SAMPLES_H
#define MSIM_CALIBRATE_HOST_HOST_SAMPLES_H
#include "core/job/job.h"
#include "models/host/host_class.h"

struct msim_series {
    double *v;
    uint32_t n, capacity;
};

/* An operator that ran: self time as models/host/host.h means it. */
struct msim_host_op {
    double self;
    double work;   /* with its calls that did not wait and, of a topmost
                      operator, the pause after it */
    uint32_t key;  /* of msim_host_keys */
    uint32_t step; /* of its host, MSIM_NONE outside */
    uint32_t unit; /* of its host, MSIM_NONE: of no repeated program */
};

/* A step, or a whole trace without steps, of a program that ran repeatedly. */
struct msim_host_unit {
    uint32_t recording; /* trace of the host */
};

/* A runtime call that an operator made itself. */
struct msim_host_made {
    uint32_t key;
    uint8_t kind;
};

/* The time after a topmost operator: by what kind of operator. */
enum { MSIM_AFTER_OPERATOR, MSIM_AFTER_AUTOGRAD, MSIM_AFTER_KINDS };

struct msim_host_samples {
    char name[64];
    struct msim_host_op *ops;
    uint32_t n_ops, cap_ops;
    struct msim_host_made *made;
    uint32_t n_made, cap_made;
    struct msim_series calls[MSIM_HOST_CALL_KINDS]; /* that did not wait */
    struct msim_series all_calls[MSIM_HOST_CALL_KINDS];
    struct msim_series after[MSIM_AFTER_KINDS];
    struct msim_series latency; /* of launches into an idle stream */
    struct msim_series gap;     /* between kernels queued back to back */
    struct msim_series probe;   /* operators that do next to nothing */
    struct msim_host_unit *units;
    uint32_t n_units, cap_units;
    uint32_t n_steps, n_traces;
};

/* Operators by name, the same for all hosts; a key is a string number. */
struct msim_host_keys {
    struct msim_strtab *names;
    uint8_t *classes; /* by key: msim_host_class of its first call */
    uint32_t n, capacity;
};

MSIM_MUST_CHECK
enum msim_status msim_host_keys_init(struct msim_host_keys *k);
void msim_host_keys_release(struct msim_host_keys *k);

/* The key of an operator's name, which is new or not. */
MSIM_MUST_CHECK
enum msim_status msim_host_keys_add(struct msim_host_keys *k, const char *name,
                                    enum msim_host_class class, uint32_t *key);

/*
 * Add one rank's trace; one without times adds nothing. `repeats`: it is one
 * of several runs, or has several steps, of one program.
 */
MSIM_MUST_CHECK
enum msim_status msim_host_samples_add(struct msim_host_samples *s,
                                       struct msim_host_keys *keys,
                                       const struct msim_trace *t,
                                       bool repeats);
void msim_host_samples_release(struct msim_host_samples *s);

/*
 * Cap what lasted far longer than its kind usually does: more than ten times
 * the median, and 50 us. Such an operator waited (for a lock, a first-time
 * initialisation, a page), which is no dispatch; all else stays, because
 * times are summed and a median loses the tail that makes up the sum.
 */
MSIM_MUST_CHECK
enum msim_status msim_host_samples_cap(struct msim_host_samples *s,
                                       uint32_t n_keys);

/* Sorts; the p-quantile, NAN where there is nothing. */
double msim_series_quantile(struct msim_series *s, double p);

/* Sorts; the mean under the cap above, NAN where there is nothing. */
double msim_series_mean(struct msim_series *s);

/*
 * Sorts; the mean without what is over four times the median (and 1 us, the
 * clock of old traces): for calls and pauses that are short unless they wait,
 * as a launch does for a place in the queue. NAN where there is nothing.
 */
double msim_series_core(struct msim_series *s);

#endif
