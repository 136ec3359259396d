/*
 * models/factor/levels.c - fitting factors level by level.
 */
#include "models/factor/levels.h"

#include "core/base/units.h"
#include "core/work/kernel_fact.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 8
/* Of one step, and of both factors in the end, as logarithms. */
#define STEP_MAX   0.5
#define FACTOR_MAX 2.0

/* Normal equations of one level: of squares and products of what each factor
 * does to an observation, and of that times how far off it is. */
struct normal {
    double ss, sr, rr, s, r;
};

/* Add an observation of some weight to the equations at the factors `x`. */
static void add(struct normal *n, const struct msim_observation *o,
                double weight, const struct msim_level *x)
{
    double start = o->start_us * exp(x->start);
    double rest = (o->model_us - o->start_us) * exp(x->rate);
    double off = fmax(-1, fmin(1, log(o->us / (start + rest))));
    double s = start / (start + rest),
           r = pow(rest / (start + rest), MSIM_FACT(NULL, EVIDENCE_TELLS));

    n->ss += weight * s * s;
    n->sr += weight * s * r;
    n->rr += weight * r * r;
    n->s += weight * s * off;
    n->r += weight * r * off;
}

static double within(double x, double most)
{
    return fmax(-most, fmin(most, x));
}

static void step(struct msim_level *x, const struct normal *n,
                 const struct msim_level *above)
{
    double weight = MSIM_FACT(NULL, EVIDENCE_ABOVE); /* of the level above */
    double ss = n->ss + weight, rr = n->rr + weight;
    double s = n->s + weight * (above->start - x->start);
    double r = n->r + weight * (above->rate - x->rate);
    double d = ss * rr - n->sr * n->sr; /* above 0: `weight` is */

    x->start = within(x->start + within((s * rr - r * n->sr) / d, STEP_MAX),
                      FACTOR_MAX);
    x->rate = within(x->rate + within((r * ss - s * n->sr) / d, STEP_MAX),
                     FACTOR_MAX);
}

struct fitting {
    struct msim_levels *out;
    const struct msim_observation *seen;
    uint32_t n;
};

/* A level: its `n` factors, the one that an observation belongs to (MSIM_NONE:
 * none), and for each factor the one of the level above. */
struct level {
    struct msim_level *x;
    uint32_t n;
    uint32_t (*of)(const struct msim_observation *);
    const struct msim_level **above;
    bool own; /* a name's own: each of its observations counts */
};

/* Fit one level, from what is above it. */
static void fit_level(const struct fitting *l, const struct level *level,
                      struct normal *normal)
{
    for (uint32_t i = 0; i < level->n; i++)
        level->x[i] = *level->above[i];
    for (int steps = 0; steps < STEPS; steps++) {
        memset(normal, 0, level->n * sizeof(*normal));
        for (uint32_t i = 0; i < l->n; i++) {
            const struct msim_observation *o = &l->seen[i];
            uint32_t at = level->of(o);

            if (at == MSIM_NONE)
                continue;
            add(&normal[at], o, level->own ? 1 : 1 / l->out->seen[o->name],
                &level->x[at]);
        }
        for (uint32_t i = 0; i < level->n; i++)
            step(&level->x[i], &normal[i], level->above[i]);
    }
}

static uint32_t level_all(const struct msim_observation *o)
{
    (void)o;
    return 0;
}

static uint32_t level_family(const struct msim_observation *o)
{
    return o->family;
}

static uint32_t level_kin(const struct msim_observation *o)
{
    return o->kin;
}

static uint32_t level_name(const struct msim_observation *o)
{
    return o->name;
}

static void count(struct fitting *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        l->out->seen[l->seen[i].name]++;
        if (l->seen[i].kin != MSIM_NONE)
            l->out->kin_seen[l->seen[i].kin]++;
    }
}

/* `normal` and `above` have room for every name and every family. */
static void learn(struct fitting *l, struct normal *normal,
                  const struct msim_level **above)
{
    static const struct msim_level AS_MODELS_SAY = {0, 0};
    struct msim_levels *m = l->out;
    const struct level all = {&m->all, 1, level_all, above, false};
    const struct level families = {m->families, MSIM_FAMILY_COUNT, level_family,
                                   above, false};
    const struct level kin = {m->kin, m->n_names, level_kin, above, false};
    const struct level names = {m->names, m->n_names, level_name, above, true};

    count(l);
    above[0] = &AS_MODELS_SAY;
    fit_level(l, &all, normal);
    for (int f = 0; f < MSIM_FAMILY_COUNT; f++)
        above[f] = &m->all;
    fit_level(l, &families, normal);
    for (uint32_t i = 0; i < m->n_names; i++)
        above[i] = &m->all; /* what was not observed */
    for (uint32_t i = 0; i < l->n; i++)
        if (l->seen[i].kin != MSIM_NONE)
            above[l->seen[i].kin] = &m->families[l->seen[i].family];
    fit_level(l, &kin, normal);
    for (uint32_t i = 0; i < l->n; i++)
        above[l->seen[i].name] = l->seen[i].kin != MSIM_NONE
                                     ? &m->kin[l->seen[i].kin]
                                     : &m->families[l->seen[i].family];
    fit_level(l, &names, normal);
}

enum msim_status msim_levels_fit(struct msim_levels *out,
                                 const struct msim_observation *seen,
                                 uint32_t n, uint32_t n_names)
{
    struct fitting l = {out, seen, n};
    size_t room = (size_t)n_names + MSIM_FAMILY_COUNT;
    struct normal *normal = calloc(room, sizeof(*normal));
    const struct msim_level **above = calloc(room, sizeof(*above));
    enum msim_status status = MSIM_ENOMEM;

    *out = (struct msim_levels){.n_names = n_names};
    out->names = calloc(room, sizeof(*out->names));
    out->kin = calloc(room, sizeof(*out->kin));
    out->seen = calloc(room, sizeof(*out->seen));
    out->kin_seen = calloc(room, sizeof(*out->kin_seen));
    if (normal && above && out->names && out->kin && out->seen &&
        out->kin_seen) {
        learn(&l, normal, above);
        status = MSIM_OK;
    }
    free(normal);
    free(above);
    return status;
}

void msim_levels_release(struct msim_levels *l)
{
    free(l->names);
    free(l->kin);
    free(l->seen);
    free(l->kin_seen);
    *l = (struct msim_levels){0};
}

const struct msim_level *msim_levels_of(const struct msim_levels *l,
                                        uint32_t name, uint32_t kin,
                                        enum msim_family family)
{
    if (name < l->n_names && l->seen[name] > 0)
        return &l->names[name];
    if (kin < l->n_names && l->kin_seen[kin] > 0)
        return &l->kin[kin];
    return &l->families[family];
}

double msim_level_apply(const struct msim_level *x, double us, double start_us,
                        double *start)
{
    double begin = fmin(start_us, us) * exp(x->start);

    if (start)
        *start = begin;
    return begin + (us - fmin(start_us, us)) * exp(x->rate);
}
