/*
 * calibrate/host/host_fit.h - one set of figures for CPUs in general out of
 * those of several.
 *
 * Operator k takes a_k * s_h on host h: what the operator is, times how slow
 * the host is. Both are found in turn: a_k as the mean over hosts of times
 * divided by s_h, s_h so that the host's total comes out right. The general
 * host has s = 1, the geometric mean of all.
 *
 * It is judged on hosts left out: fitted on all but one, the sum of that
 * one's self times is predicted. The scatter of these predictions is the
 * 90 % interval.
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
    double *made;    /* the same: us in runtime calls */
    uint32_t *count; /* the same */
    /* Time of one call without waiting, by host; NAN unknown. */
    double call_us[MSIM_HOSTS_MAX][MSIM_HOST_CALL_KINDS];
    double after_us[MSIM_HOSTS_MAX][MSIM_AFTER_KINDS];
    double latency_us[MSIM_HOSTS_MAX], gap_us[MSIM_HOSTS_MAX];
};

/* `hosts` have been capped. On failure the table is empty. */
MSIM_MUST_CHECK
enum msim_status msim_host_table_make(struct msim_host_table *t,
                                      struct msim_host_samples *hosts,
                                      uint32_t n_hosts,
                                      const struct msim_host_keys *keys);
void msim_host_table_release(struct msim_host_table *t);

/* A figure over hosts with its 90 % interval; hosts 0: none has it. */
struct msim_host_figure {
    double us, low_us, high_us;
    uint32_t hosts;
};

struct msim_host_fit {
    double *self, *made; /* by key, us on the general host */
    double *weight;      /* by key: hosts that know it; few calls count less */
    double class_self[MSIM_HOST_CLASSES], class_made[MSIM_HOST_CLASSES];
    double speed[MSIM_HOSTS_MAX]; /* s_h; NAN for a host left out */
    double factor;                /* of the interval, both ways */
    struct msim_host_figure calls[MSIM_HOST_CALL_KINDS];
    struct msim_host_figure after[MSIM_AFTER_KINDS], latency, gap;
};

/* Whether an operator has enough calls to have a figure of its own. */
bool msim_host_fit_knows(const struct msim_host_fit *f, uint32_t key);

/*
 * Fit on the hosts with `use[h]`, at least two. Runtime calls and what the GPU
 * does between kernels are taken from all hosts but `except` (MSIM_NONE: from
 * all): a recording that slows operators does not slow them. Release with
 * msim_host_fit_release().
 */
MSIM_MUST_CHECK
enum msim_status msim_host_fit_make(struct msim_host_fit *f,
                                    const struct msim_host_table *t,
                                    const bool *use, uint32_t except);
void msim_host_fit_release(struct msim_host_fit *f);

/* How a fit does on one host. Times are sums in us. */
struct msim_host_score {
    double self, predicted;        /* operators' self times */
    double whole, whole_predicted; /* with calls made and pauses between */
    bool inside, whole_inside;     /* the 90 % interval */
    uint32_t steps, steps_inside;
    double step_error; /* mean of |error| over steps; NAN without steps */
};

MSIM_MUST_CHECK
enum msim_status msim_host_evaluate(struct msim_host_score *v,
                                    const struct msim_host_fit *f,
                                    const struct msim_host_table *t,
                                    uint32_t h);

#endif
