/*
 * calibrate/host/host_fit.c - the figures of a general host.
 */
#include "calibrate/host/host_fit.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS       60   /* of the two fits in turn; 20 settle to 1e-6 */
#define HALF_WEIGHT  10   /* so many calls give a host half its weight */
#define WEIGHT_MIN   0.5  /* of an operator with a figure of its own */
#define HOSTS_ENOUGH 4    /* for a scatter of a figure's own */
#define TAIL         0.95 /* upper end of a 90 % interval */
#define US_MIN       0.05 /* where a logarithm is taken */

/* ---- operators ---------------------------------------------------------- */

static double weight_of(uint32_t count)
{
    return (double)count / (count + HALF_WEIGHT);
}

/* a_k, and the weight behind it, with the hosts' speeds given. */
static void fit_operators(struct msim_host_fit *f,
                          const struct msim_host_table *t, const bool *use)
{
    for (uint32_t k = 0; k < t->n_keys; k++) {
        double self = 0, made = 0, weight = 0;

        for (uint32_t h = 0; h < t->n_hosts; h++) {
            size_t i = (size_t)h * t->n_keys + k;
            double w = use[h] ? weight_of(t->count[i]) : 0;

            if (w > 0) {
                self += w * t->mean[i] / f->speed[h];
                made += w * t->made[i] / f->speed[h];
                weight += w;
            }
        }
        f->weight[k] = weight;
        f->self[k] = weight > 0 ? fmax(self / weight, 0) : 0;
        f->made[k] = weight > 0 ? made / weight : 0;
    }
}

/* s_h such that the host's total comes out right; geometric mean 1. */
static void fit_speeds(struct msim_host_fit *f, const struct msim_host_table *t,
                       const bool *use)
{
    double logs = 0;
    uint32_t n = 0;

    for (uint32_t h = 0; h < t->n_hosts; h++) {
        double total = 0, fitted = 0;

        if (!use[h])
            continue;
        for (uint32_t k = 0; k < t->n_keys; k++) {
            size_t i = (size_t)h * t->n_keys + k;

            total += t->mean[i] * t->count[i];
            fitted += f->self[k] * t->count[i];
        }
        f->speed[h] = total > 0 && fitted > 0 ? total / fitted : 1;
        logs += log(f->speed[h]);
        n++;
    }
    for (uint32_t h = 0; h < t->n_hosts && n; h++)
        f->speed[h] = use[h] ? f->speed[h] / exp(logs / n) : NAN;
}

bool msim_host_fit_knows(const struct msim_host_fit *f, uint32_t key)
{
    return f->weight[key] >= WEIGHT_MIN;
}

/* For operators without a figure: the mean over the names of a class. */
static void fit_classes(struct msim_host_fit *f,
                        const struct msim_host_table *t)
{
    double weight[MSIM_HOST_CLASSES] = {0};

    for (uint32_t k = 0; k < t->n_keys; k++) {
        uint8_t c = t->keys->classes[k];

        if (!msim_host_fit_knows(f, k))
            continue; /* few calls show little */
        f->class_self[c] += f->weight[k] * f->self[k];
        f->class_made[c] += f->weight[k] * f->made[k];
        weight[c] += f->weight[k];
    }
    for (int c = 0; c < MSIM_HOST_CLASSES; c++)
        if (weight[c] > 0) {
            f->class_self[c] /= weight[c];
            f->class_made[c] /= weight[c];
        }
}

static void operators(struct msim_host_fit *f, const struct msim_host_table *t,
                      const bool *use)
{
    for (uint32_t h = 0; h < t->n_hosts; h++)
        f->speed[h] = 1;
    fit_operators(f, t, use);
    for (int i = 0; i < ROUNDS; i++) {
        fit_speeds(f, t, use);
        fit_operators(f, t, use);
    }
    fit_classes(f, t);
}

/* ---- predictions -------------------------------------------------------- */

static bool is_label(const struct msim_host_table *t, uint32_t key)
{
    return t->keys->classes[key] == MSIM_HOST_LABEL;
}

static double self_of(const struct msim_host_fit *f,
                      const struct msim_host_table *t, uint32_t k)
{
    return msim_host_fit_knows(f, k) && !is_label(t, k)
               ? f->self[k]
               : f->class_self[t->keys->classes[k]];
}

static double made_of(const struct msim_host_fit *f,
                      const struct msim_host_table *t, uint32_t k)
{
    return msim_host_fit_knows(f, k) && !is_label(t, k)
               ? f->made[k]
               : f->class_made[t->keys->classes[k]];
}

static void totals(struct msim_host_score *v, const struct msim_host_fit *f,
                   const struct msim_host_table *t, uint32_t h)
{
    for (uint32_t k = 0; k < t->n_keys; k++) {
        size_t i = (size_t)h * t->n_keys + k;

        v->self += t->mean[i] * t->count[i];
        v->whole += t->made[i] * t->count[i];
        v->predicted += self_of(f, t, k) * t->count[i];
        v->whole_predicted += made_of(f, t, k) * t->count[i];
    }
    for (int a = 0; a < MSIM_AFTER_KINDS; a++) {
        uint32_t n = t->hosts[h].after[a].n;

        if (n) {
            v->whole += t->after_us[h][a] * n;
            v->whole_predicted += f->after[a].us * n;
        }
    }
    v->whole += v->self;
    v->whole_predicted += v->predicted;
}

/* ---- the interval ------------------------------------------------------- */

static enum msim_status allocate(struct msim_host_fit *f, uint32_t n)
{
    *f = (struct msim_host_fit){0};
    f->self = calloc((size_t)n + 1, sizeof(*f->self));
    f->made = calloc((size_t)n + 1, sizeof(*f->made));
    f->weight = calloc((size_t)n + 1, sizeof(*f->weight));
    if (f->self && f->made && f->weight)
        return MSIM_OK;
    msim_host_fit_release(f);
    return MSIM_ENOMEM;
}

static uint32_t count_used(const bool *use, uint32_t n)
{
    uint32_t used = 0;

    for (uint32_t h = 0; h < n; h++)
        used += use[h];
    return used;
}

/*
 * With each host held out in turn: the root mean square of the logarithm of
 * predicted over real, times Student's t for that many hosts. Deviations are
 * from zero, not from their mean, for a common bias is part of the error.
 */
static enum msim_status
fit_factor(double *factor, const struct msim_host_table *t, const bool *use)
{
    bool others[MSIM_HOSTS_MAX];
    double squares = 0;
    uint32_t n = count_used(use, t->n_hosts);

    for (uint32_t h = 0; h < t->n_hosts; h++) {
        struct msim_host_score v = {0};
        struct msim_host_fit f;
        double error;

        if (!use[h])
            continue;
        memcpy(others, use, sizeof(*use) * t->n_hosts);
        others[h] = false;
        MSIM_TRY(allocate(&f, t->n_keys));
        operators(&f, t, others);
        totals(&v, &f, t, h);
        error = log(v.predicted / v.self);
        squares += error * error;
        msim_host_fit_release(&f);
    }
    *factor = exp(gsl_cdf_tdist_Pinv(TAIL, n) * sqrt(squares / n));
    return MSIM_OK;
}

/* ---- figures that are not of operators ---------------------------------- */

/* Logarithms of one figure, over the hosts that have it. */
struct logs {
    double sum, squares;
    uint32_t n;
};

static void add_log(struct logs *l, double us)
{
    if (isfinite(us)) {
        double v = log(fmax(us, US_MIN));

        l->sum += v;
        l->squares += v * v;
        l->n++;
    }
}

/* Sum of squares around the mean. */
static double scatter(const struct logs *l)
{
    return l->n ? fmax(l->squares - l->sum * l->sum / l->n, 0) : 0;
}

/* The geometric mean, with the interval for one more host. */
static struct msim_host_figure figure(const struct logs *l, double variance,
                                      uint32_t freedom)
{
    struct msim_host_figure f = {.hosts = l->n};
    double factor;

    if (l->n == 0)
        return f;
    factor = freedom ? exp(gsl_cdf_tdist_Pinv(TAIL, freedom) *
                           sqrt(variance * (1 + 1.0 / l->n)))
                     : 2;
    f.us = exp(l->sum / l->n);
    f.low_us = f.us / factor;
    f.high_us = f.us * factor;
    return f;
}

static struct msim_host_figure own_figure(const struct logs *l)
{
    uint32_t freedom = l->n > 1 ? l->n - 1 : 0;

    return figure(l, freedom ? scatter(l) / freedom : 0, freedom);
}

/* A kind of call that few hosts make gets the scatter of all kinds together. */
static void fit_calls(struct msim_host_fit *f, const struct msim_host_table *t,
                      uint32_t except)
{
    struct logs kinds[MSIM_HOST_CALL_KINDS] = {0};
    double squares = 0;
    uint32_t freedom = 0;

    for (int k = 0; k < MSIM_HOST_CALL_KINDS; k++) {
        for (uint32_t h = 0; h < t->n_hosts; h++)
            if (h != except)
                add_log(&kinds[k], t->call_us[h][k]);
        squares += scatter(&kinds[k]);
        freedom += kinds[k].n > 1 ? kinds[k].n - 1 : 0;
    }
    for (int k = 0; k < MSIM_HOST_CALL_KINDS; k++)
        f->calls[k] =
            kinds[k].n >= HOSTS_ENOUGH
                ? own_figure(&kinds[k])
                : figure(&kinds[k], freedom ? squares / freedom : 0, freedom);
}

static void fit_rest(struct msim_host_fit *f, const struct msim_host_table *t,
                     const bool *use, uint32_t except)
{
    struct logs after[MSIM_AFTER_KINDS] = {0}, latency = {0}, gap = {0};

    for (uint32_t h = 0; h < t->n_hosts; h++) {
        if (h == except)
            continue;
        add_log(&latency, t->latency_us[h]);
        add_log(&gap, t->gap_us[h]);
        for (int a = 0; a < MSIM_AFTER_KINDS && use[h]; a++)
            add_log(&after[a], t->after_us[h][a]);
    }
    for (int a = 0; a < MSIM_AFTER_KINDS; a++)
        f->after[a] = own_figure(&after[a]);
    f->latency = own_figure(&latency);
    f->gap = own_figure(&gap);
}

/* ---- all of it ---------------------------------------------------------- */

enum msim_status msim_host_fit_make(struct msim_host_fit *f,
                                    const struct msim_host_table *t,
                                    const bool *use, uint32_t except)
{
    enum msim_status status;

    MSIM_TRY(allocate(f, t->n_keys));
    operators(f, t, use);
    fit_calls(f, t, except);
    fit_rest(f, t, use, except);
    status = fit_factor(&f->factor, t, use);
    if (status != MSIM_OK)
        msim_host_fit_release(f);
    return status;
}

void msim_host_fit_release(struct msim_host_fit *f)
{
    free(f->self);
    free(f->made);
    free(f->weight);
    *f = (struct msim_host_fit){0};
}

static bool is_inside(double real, double predicted, double factor)
{
    return real >= predicted / factor && real <= predicted * factor;
}

static enum msim_status score_steps(struct msim_host_score *v,
                                    const struct msim_host_fit *f,
                                    const struct msim_host_table *t, uint32_t h)
{
    const struct msim_host_samples *s = &t->hosts[h];
    double *real = calloc((size_t)s->n_steps * 2 + 1, sizeof(*real));
    double *predicted = real + s->n_steps, errors = 0;

    if (!real)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < s->n_ops; i++)
        if (s->ops[i].step != MSIM_NONE) {
            real[s->ops[i].step] += s->ops[i].self;
            predicted[s->ops[i].step] += self_of(f, t, s->ops[i].key);
        }
    for (uint32_t i = 0; i < s->n_steps; i++) {
        if (!(real[i] > 0))
            continue;
        v->steps++;
        v->steps_inside += is_inside(real[i], predicted[i], f->factor);
        errors += fabs(predicted[i] / real[i] - 1);
    }
    v->step_error = v->steps ? errors / v->steps : NAN;
    free(real);
    return MSIM_OK;
}

enum msim_status msim_host_evaluate(struct msim_host_score *v,
                                    const struct msim_host_fit *f,
                                    const struct msim_host_table *t, uint32_t h)
{
    *v = (struct msim_host_score){0};
    totals(v, f, t, h);
    v->inside = is_inside(v->self, v->predicted, f->factor);
    v->whole_inside = is_inside(v->whole, v->whole_predicted, f->factor);
    return score_steps(v, f, t, h);
}
