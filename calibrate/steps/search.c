/*
 * calibrate/steps/search.c - cyclic search along one constant at a time.
 */
#include "calibrate/steps/search.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_min.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 8   /* over all constants */
#define STEPS  14  /* of Brent's method, for each */
#define REACH  1.8 /* a constant moves by this number's exponential a round */

struct state {
    const struct msim_search *s;
    double *start;
    uint32_t which; /* the constant that moves */
};

static double badness(const struct state *k)
{
    double sum = k->s->badness(k->s->at, k->s->context);

    for (uint32_t i = 0; i < k->s->n; i++) {
        double far = log(k->s->at[i] / k->start[i]);

        sum += k->s->ridge * far * far;
    }
    return sum;
}

static double along(double x, void *context)
{
    const struct state *k = context;

    k->s->at[k->which] = exp(x);
    return badness(k);
}

/* Move one constant to the least badness that is near. */
static void move(struct state *k, gsl_min_fminimizer *m)
{
    gsl_function f = {.function = along, .params = k};
    double was = k->s->at[k->which], now = along(log(was), k);
    double least = log(was), value = now;

    /* Brent's method wants a middle below both ends: look for one. */
    for (int i = -6; i <= 6; i++) {
        double x = log(was) + REACH * i / 6, v = along(x, k);

        if (v < value) {
            value = v;
            least = x;
        }
    }
    if (gsl_min_fminimizer_set(m, &f, least, least - REACH / 6,
                               least + REACH / 6) == GSL_SUCCESS) {
        for (int i = 0; i < STEPS; i++)
            if (gsl_min_fminimizer_iterate(m) != GSL_SUCCESS)
                break;
        least = gsl_min_fminimizer_x_minimum(m);
    }
    k->s->at[k->which] = along(least, k) <= now ? exp(least) : was;
}

void msim_search_run(const struct msim_search *s)
{
    gsl_min_fminimizer *m = gsl_min_fminimizer_alloc(gsl_min_fminimizer_brent);
    struct state k = {.s = s, .start = calloc(s->n, sizeof(double))};

    if (k.start)
        memcpy(k.start, s->at, s->n * sizeof(double));
    gsl_set_error_handler_off();
    for (int round = 0; m && k.start && round < ROUNDS; round++)
        for (k.which = 0; k.which < s->n; k.which++)
            move(&k, m);
    if (m)
        gsl_min_fminimizer_free(m);
    free(k.start);
}
