/*
 * calibrate/measure/experiment_design.c - what to time first.
 */
#include "calibrate/measure/experiment_design.h"

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/vec.h"

#include <gsl/gsl_qrng.h>
#include <math.h>
#include <stdlib.h>

/* Points outside the limits, or given before (sizes are rounded), that are
 * passed over before a kind counts as exhausted. */
#define TRIES 500

struct sequence {
    gsl_qrng *sobol; /* NULL: one experiment only */
    double shift[MSIM_CAL_AXES];
    uint64_t *given; /* hashes; owned */
    uint32_t n, capacity;
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

/* By table and kind alone: equal kinds of two backends get equal points. */
static uint64_t state_of(const struct msim_cal_kind *k, uint64_t seed)
{
    return msim_hash_text(msim_hash_text(MSIM_HASH_START ^ seed, k->table),
                          k->kind);
}

static bool begin(struct sequence *s, const struct msim_cal_kind *k,
                  uint64_t seed)
{
    uint64_t state = state_of(k, seed);

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
    struct msim_cal_design *p = calloc(1, sizeof(*p));

    *out = NULL;
    if (!p)
        return MSIM_ENOMEM;
    p->space = space;
    for (uint32_t i = 0; i < space->n; i++) {
        if (begin(&p->of[i], &space->kinds[i], seed))
            continue;
        msim_cal_design_free(p);
        return MSIM_ENOMEM;
    }
    *out = p;
    return MSIM_OK;
}

void msim_cal_design_free(struct msim_cal_design *p)
{
    for (uint32_t i = 0; p && i < MSIM_CAL_KINDS; i++) {
        if (p->of[i].sobol)
            gsl_qrng_free(p->of[i].sobol);
        free(p->of[i].given);
    }
    free(p);
}

/* All sizes as large as the limits allow, at the same height of their axes. */
static cJSON *largest_point(const struct msim_cal_space *space,
                            const struct msim_cal_kind *k)
{
    cJSON *o = NULL;

    for (double height = 1; !o && height > 0; height -= 0.01) {
        double u[MSIM_CAL_AXES] = {0};

        for (uint32_t a = 0; a < k->sizes; a++)
            u[a] = height;
        o = msim_cal_space_point(space, k, u);
    }
    return o;
}

/* Takes `o` where it was given before (or there is no room to know). */
static cJSON *if_new(struct sequence *s, cJSON *o)
{
    uint64_t hash = msim_cal_hash(o, "");
    uint32_t i = 0;

    while (i < s->n && s->given[i] != hash)
        i++;
    if (i < s->n || msim_grow((void **)&s->given, &s->capacity, s->n,
                              sizeof(*s->given)) != MSIM_OK) {
        cJSON_Delete(o);
        return NULL;
    }
    s->given[s->n++] = hash;
    return o;
}

static cJSON *sobol_point(struct sequence *s,
                          const struct msim_cal_space *space,
                          const struct msim_cal_kind *k)
{
    double u[MSIM_CAL_AXES] = {0};
    cJSON *o;

    (void)gsl_qrng_get(s->sobol, u);
    for (uint32_t a = 0; a < k->axes; a++) {
        u[a] += s->shift[a];
        u[a] -= floor(u[a]);
    }
    o = msim_cal_space_point(space, k, u);
    return o ? if_new(s, o) : NULL;
}

static cJSON *next_point(struct sequence *s, const struct msim_cal_space *space,
                         const struct msim_cal_kind *k)
{
    double u[MSIM_CAL_AXES] = {0};
    cJSON *o = NULL;

    if (!s->sobol) {
        s->ended = true;
        return msim_cal_space_point(space, k, u);
    }
    if (!s->begun) {
        s->begun = true;
        o = largest_point(space, k);
        return o ? if_new(s, o) : NULL;
    }
    for (int i = 0; !o && i < TRIES; i++)
        o = sobol_point(s, space, k);
    return o;
}

static void next_kind(struct msim_cal_design *p)
{
    p->given = 0;
    p->kind++;
    if (p->kind < p->space->n)
        return;
    p->kind = 0;
    p->rounds++;
}

void msim_cal_design_drop(struct msim_cal_design *p, uint32_t kind)
{
    p->of[kind].dropped = true;
    if (!p->of[kind].ended)
        p->ended++;
    p->of[kind].ended = true;
}

bool msim_cal_design_dropped(const struct msim_cal_design *p, uint32_t kind)
{
    return p->of[kind].dropped;
}

cJSON *msim_cal_design_next(struct msim_cal_design *p, uint32_t *kind)
{
    while (p->ended < p->space->n) {
        struct sequence *s = &p->of[p->kind];
        const struct msim_cal_kind *k = &p->space->kinds[p->kind];
        cJSON *o;

        if (s->ended || p->given == (p->rounds ? k->weight : 1)) {
            next_kind(p);
            continue;
        }
        o = next_point(s, p->space, k);
        s->ended |= o == NULL;
        p->ended += s->ended;
        p->given++;
        *kind = p->kind;
        if (o)
            return o;
    }
    return NULL;
}

cJSON *msim_cal_design_draw(const struct msim_cal_design *p, uint32_t kind,
                            double (*draw)(void *), void *ctx)
{
    const struct msim_cal_kind *k = &p->space->kinds[kind];
    double u[MSIM_CAL_AXES] = {0};

    for (uint32_t i = 0; i < k->axes; i++)
        u[i] = draw(ctx);
    if (p->of[kind].dropped)
        return NULL;
    return msim_cal_space_point(p->space, k, u);
}
