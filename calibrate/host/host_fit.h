/*
 * calibrate/host/host_fit.h - the figures of a general host from those of
 * several hosts.
 *
 * Operator k takes a_k * s_h on host h: a factor of the operator times a factor
 * of the host. Both are fitted in turn: a_k is the mean over hosts of times
 * divided by s_h, and s_h makes the host's total come out right. The general
 * host has s = 1, the geometric mean of all.
 *
 * Its errors are those on held-out hosts: a fit on all but one predicts the sum
 * of that one's self times. The scatter of these errors is the 90 % interval.
 */
#ifndef MSIM_CALIBRATE_HOST_HOST_FIT_H
#define MSIM_CALIBRATE_HOST_HOST_FIT_H
#include "calibrate/host/host_samples.h"

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

#endif
