/*
 * calibrate/measure/experiment_design.c - the design of a calibration.
 */
#include "calibrate/measure/experiment_space.h"

#include "core/base/containers.h"
#include "core/base/hash.h"

#include <gsl/gsl_qrng.h>
#include <math.h>
#include <stdlib.h>

/* Points in a row that are outside the limits, or were given before (sizes are
 * rounded), after which a kind counts as exhausted. */
#define TRIES 500

struct sequence {
    gsl_qrng *sobol; /* NULL: one experiment only */
    double shift[MSIM_CAL_AXES];
    uint64_t *given; /* hashes; owned */
    uint32_t n, capacity;
    bool leads; /* it is the first kind of its table */
    bool begun, ended, dropped;
};

struct msim_cal_design {
    const struct msim_cal_space *space;
    struct sequence of[MSIM_CAL_KINDS];
    uint32_t kind, given; /* whose turn it is, and how many it gave */
    uint32_t rounds;      /* that are over */
    uint32_t ended;
};

/* splitmix64 (Steele, Lea and Flood, 2014) */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

double msim_cal_design_uniform(void *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

/* Equal kinds of two backends get equal points. */
static uint64_t state_of(const struct msim_cal_kind *k, uint64_t seed)
{
    uint64_t h =
        msim_hash_text(MSIM_HASH_START ^ seed, msim_table_text(k->table));

    return msim_hash_text(h, k->kind);
}

static bool leads_table(const struct msim_cal_space *space, uint32_t kind)
{
    for (uint32_t i = 0; i < kind; i++)
        if (space->kinds[i].table == space->kinds[kind].table)
            return false;
    return true;
}

static bool begin(struct sequence *s, const struct msim_cal_space *space,
                  uint32_t kind, uint64_t seed)
{
    const struct msim_cal_kind *k = &space->kinds[kind];
    uint64_t state = state_of(k, seed);

    s->leads = leads_table(space, kind);
    for (uint32_t i = 0; i < k->axes; i++)
        s->shift[i] = msim_cal_design_uniform(&state);
    if (k->axes == 0)
        return true;
    s->sobol = gsl_qrng_alloc(gsl_qrng_sobol, k->axes);
    return s->sobol != NULL;
}

enum msim_status msim_cal_design_new(struct msim_cal_design **out,
                                     const struct msim_cal_space *space,
                                     uint64_t seed)
{
    struct msim_cal_design *d = calloc(1, sizeof(*d));

    *out = NULL;
    if (!d)
        return MSIM_ENOMEM;
    d->space = space;
    for (uint32_t i = 0; i < space->n; i++) {
        if (begin(&d->of[i], space, i, seed))
            continue;
        msim_cal_design_free(d);
        return MSIM_ENOMEM;
    }
    *out = d;
    return MSIM_OK;
}

void msim_cal_design_free(struct msim_cal_design *d)
{
    for (uint32_t i = 0; d && i < MSIM_CAL_KINDS; i++) {
        if (d->of[i].sobol)
            gsl_qrng_free(d->of[i].sobol);
        free(d->of[i].given);
    }
    free(d);
}

/* All sizes as large as the limits allow, at the same height of their axes. */
static bool largest_point(const struct msim_cal_space *space,
                          const struct msim_cal_kind *k,
                          struct msim_cal_experiment *out)
{
    for (double height = 1; height > 0; height -= 0.01) {
        double u[MSIM_CAL_AXES] = {0};

        for (uint32_t a = 0; a < k->sizes; a++)
            u[a] = height;
        if (msim_cal_space_point(space, k, u, out))
            return true;
    }
    return false;
}

/* False where it was given before (or there is no room to know). */
static bool is_new(struct sequence *s, const struct msim_cal_experiment *e)
{
    uint64_t hash = msim_cal_hash(e, "");
    uint32_t i = 0;

    while (i < s->n && s->given[i] != hash)
        i++;
    if (i < s->n || msim_grow((void **)&s->given, &s->capacity, s->n,
                              sizeof(*s->given)) != MSIM_OK)
        return false;
    s->given[s->n++] = hash;
    return true;
}

static bool sobol_point(struct sequence *s, const struct msim_cal_space *space,
                        const struct msim_cal_kind *k,
                        struct msim_cal_experiment *out)
{
    double u[MSIM_CAL_AXES] = {0};

    (void)gsl_qrng_get(s->sobol, u);
    for (uint32_t a = 0; a < k->axes; a++) {
        u[a] += s->shift[a];
        u[a] -= floor(u[a]);
    }
    return msim_cal_space_point(space, k, u, out) && is_new(s, out);
}

static bool next_point(struct sequence *s, const struct msim_cal_space *space,
                       const struct msim_cal_kind *k,
                       struct msim_cal_experiment *out)
{
    static const double ORIGIN[MSIM_CAL_AXES];

    if (!s->sobol) {
        s->ended = true;
        return msim_cal_space_point(space, k, ORIGIN, out);
    }
    if (!s->begun) {
        s->begun = true;
        return largest_point(space, k, out) && is_new(s, out);
    }
    for (int i = 0; i < TRIES; i++)
        if (sobol_point(s, space, k, out))
            return true;
    return false;
}

static void next_kind(struct msim_cal_design *d)
{
    d->given = 0;
    d->kind++;
    if (d->kind < d->space->n)
        return;
    d->kind = 0;
    d->rounds++;
}

void msim_cal_design_drop(struct msim_cal_design *d, uint32_t kind)
{
    d->of[kind].dropped = true;
    if (!d->of[kind].ended)
        d->ended++;
    d->of[kind].ended = true;
}

/* How many a kind gives in this round: each table's first kind one, then the
 * other kinds. */
static uint32_t given_of(const struct msim_cal_design *d)
{
    return d->rounds < 2 ? d->of[d->kind].leads == (d->rounds == 0)
                         : d->space->kinds[d->kind].weight;
}

bool msim_cal_design_next(struct msim_cal_design *d,
                          struct msim_cal_experiment *out, uint32_t *kind)
{
    while (d->ended < d->space->n) {
        struct sequence *s = &d->of[d->kind];
        const struct msim_cal_kind *k = &d->space->kinds[d->kind];
        bool found;

        if (s->ended || d->given == given_of(d)) {
            next_kind(d);
            continue;
        }
        found = next_point(s, d->space, k, out);
        s->ended |= !found;
        d->ended += s->ended;
        d->given++;
        *kind = d->kind;
        if (found)
            return true;
    }
    return false;
}

bool msim_cal_design_draw(const struct msim_cal_design *d, uint32_t kind,
                          double (*draw)(void *), void *ctx,
                          struct msim_cal_experiment *out)
{
    const struct msim_cal_kind *k = &d->space->kinds[kind];
    double u[MSIM_CAL_AXES] = {0};

    for (uint32_t i = 0; i < k->axes; i++)
        u[i] = draw(ctx);
    return !d->of[kind].dropped && msim_cal_space_point(d->space, k, u, out);
}
