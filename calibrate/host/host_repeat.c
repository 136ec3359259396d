/*
 * calibrate/host/host_repeat.c - repeatability of host time.
 */
#include "calibrate/host/host_fit.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#define TAIL 0.95 /* upper end of a 90 % interval */

/* Calls and time of each operator in each unit. */
struct sums {
    double *us;      /* [unit * n_keys + key] */
    uint32_t *count; /* the same */
    uint32_t n_keys;
};

static enum msim_status fill_sums(struct sums *t,
                                  const struct msim_host_samples *s)
{
    size_t n = (size_t)s->n_units * t->n_keys + 1;

    t->us = calloc(n, sizeof(*t->us));
    t->count = calloc(n, sizeof(*t->count));
    if (!t->us || !t->count)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < s->n_ops; i++) {
        const struct msim_host_op *op = &s->ops[i];

        if (op->unit != MSIM_NONE) {
            size_t at = (size_t)op->unit * t->n_keys + op->key;

            t->us[at] += op->work;
            t->count[at]++;
        }
    }
    return MSIM_OK;
}

/* Add the pair to `r`, unless the units have no time in common. */
static void compare(struct msim_host_repeats *r, const struct sums *t,
                    uint32_t a, uint32_t b)
{
    size_t row_a = (size_t)a * t->n_keys, row_b = (size_t)b * t->n_keys;
    double of_a = 0, of_b = 0, all = 0;

    for (uint32_t k = 0; k < t->n_keys; k++) {
        all += t->us[row_a + k] + t->us[row_b + k];
        if (t->count[row_a + k] == t->count[row_b + k]) {
            of_a += t->us[row_a + k];
            of_b += t->us[row_b + k];
        }
    }
    if (of_a > 0 && of_b > 0) {
        r->logs[r->n_pairs++] = fabs(log(of_a / of_b));
        r->shared += (of_a + of_b) / all;
    }
}

static void compare_all(struct msim_host_repeats *r, const struct sums *t,
                        const struct msim_host_samples *s)
{
    double squares = 0;

    for (uint32_t a = 0; a < s->n_units; a++)
        for (uint32_t b = a + 1; b < s->n_units; b++)
            if (!msim_host_repeats_rerun(r) ||
                s->units[a].recording != s->units[b].recording)
                compare(r, t, a, b);
    for (uint32_t i = 0; i < r->n_pairs; i++)
        squares += r->logs[i] * r->logs[i];
    if (r->n_pairs) {
        r->rms = sqrt(squares / r->n_pairs);
        r->shared /= r->n_pairs;
    }
}

enum msim_status msim_host_repeats_make(struct msim_host_repeats *r,
                                        const struct msim_host_samples *s,
                                        uint32_t n_keys)
{
    struct sums t = {.n_keys = n_keys};
    enum msim_status status = MSIM_ENOMEM;

    *r = (struct msim_host_repeats){.n_units = s->n_units, .rms = NAN};
    for (uint32_t i = 0; i < s->n_units; i++)
        r->n_recordings +=
            i == 0 || s->units[i].recording != s->units[i - 1].recording;
    r->logs = calloc((size_t)s->n_units * s->n_units + 1, sizeof(*r->logs));
    if (r->logs)
        status = fill_sums(&t, s);
    if (status == MSIM_OK)
        compare_all(r, &t, s);
    else
        msim_host_repeats_release(r);
    free(t.us);
    free(t.count);
    return status;
}

void msim_host_repeats_release(struct msim_host_repeats *r)
{
    free(r->logs);
    *r = (struct msim_host_repeats){0};
}

bool msim_host_repeats_rerun(const struct msim_host_repeats *r)
{
    return r->n_recordings > 1;
}

double msim_host_repeat_factor(const struct msim_host_repeats *r, uint32_t n,
                               uint32_t except)
{
    double squares = 0;
    uint32_t used = 0;

    for (uint32_t i = 0; i < n; i++)
        if (i != except && r[i].n_pairs && msim_host_repeats_rerun(&r[i])) {
            squares += r[i].rms * r[i].rms;
            used++;
        }
    return used < 2
               ? 0
               : exp(gsl_cdf_tdist_Pinv(TAIL, used) * sqrt(squares / used));
}

uint32_t msim_host_repeats_inside(const struct msim_host_repeats *r,
                                  double factor)
{
    uint32_t inside = 0;

    for (uint32_t i = 0; i < r->n_pairs; i++)
        inside += r->logs[i] <= log(factor);
    return inside;
}
