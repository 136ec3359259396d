/*
 * predict/trace_correction.c - learning and applying a machine's clock and
 * factors.
 *
 * The clock is the one at which the models err least, in the mean over
 * operators, where that is clearly less than at the usual clock.
 *
 * Both factors are fitted as logarithms, by least squares of the logarithms of
 * times: for all observations, then for those of a family, then for those of an
 * operator. At each level the factors of the level above count as one more
 * observation (above all: 1, the models as they are). So an operator with many
 * observations has factors of its own, and one without has those of the level
 * above. The equations are solved by the Gauss-Newton method; an observation
 * counts at most as if it were off by a factor of e.
 */
#include "predict/trace_correction.h"

#include "core/base/vec.h"
#include "core/work/opmap/works.h"
#include "models/estimate/estimate_cache.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The weight of the level above, in observations: what laws err on a kernel
 * (about 0.2 as a logarithm) is about what machines differ by. */
#define ABOVE 1.0
/* A kernel that is mostly start says little of the rate, which the clock has in
 * it already: its part counts to this power. Of 1, 2, 3, 4 and 6, 6 has the
 * least error between batches of one model (tests/accuracy/traces.csv). */
#define TELLS 6.0
#define STEPS 8
/* Of one step, and of both factors in the end, as logarithms. */
#define STEP_MAX   0.5
#define FACTOR_MAX 2.0

/* Logarithms of both factors of all, of a family, of an operator. */
struct factors {
    double start, rate;
};

/* Normal equations of one level: of squares and products of what each factor
 * does to an observation, and of that times how far off it is. */
struct normal {
    double ss, sr, rr, s, r;
};

/* One operator's kernels, or one copy. */
struct observation {
    uint32_t name;
    enum msim_family family;
    double us, model_us, start_us;
};

/* The clocks that are tried, as shares of the usual one; and the share of the
 * models' error below which a clock is accepted. */
static const double CLOCKS[] = {1,    0.9, 0.8,  0.7, 0.6,  0.55, 0.5,
                                0.45, 0.4, 0.35, 0.3, 0.25, 0.2};
#define N_CLOCKS       (sizeof(CLOCKS) / sizeof(*CLOCKS))
#define CLOCK_BELIEVED 0.7

struct msim_correction {
    char platform[48];
    double clock;
    struct msim_strtab *names;
    struct factors all, families[MSIM_FAMILY_COUNT];
    struct factors *operators; /* by name */
    uint32_t n_operators;
};

struct learning {
    struct msim_correction *m;
    struct msim_platform *p;
    struct msim_estimate_cache cache; /* at the clock of `p` */
    struct msim_works **works;        /* one a rank */
    uint32_t n_ranks;
    const struct msim_trace *t; /* of the rank at hand */
    struct msim_error *err;
    struct observation *seen;
    uint32_t n, capacity;
    double *times; /* by name: how often it was observed */
};

/* ---- learning ----------------------------------------------------------- */

static enum msim_status observe(struct learning *l, const char *name,
                                const struct msim_estimate *e, msim_ps dur)
{
    struct observation *o;

    if (dur <= 0 || e->family == MSIM_FAMILY_BOUND)
        return MSIM_OK;
    MSIM_TRY(
        msim_grow((void **)&l->seen, &l->capacity, l->n, sizeof(*l->seen)));
    o = &l->seen[l->n++];
    *o = (struct observation){
        .family = e->family,
        .us = (double)dur / MSIM_PS_PER_US,
        .model_us = e->us,
        .start_us = fmin(e->start_us, e->us),
    };
    return msim_strtab_add(l->m->names, name, strlen(name), &o->name);
}

static enum msim_status observe_op(struct learning *l,
                                   const struct msim_works *all, uint32_t i)
{
    const struct msim_op_kernels *by = &all->kernels;
    uint32_t begin = by->begin[i], end = by->begin[i + 1], n;
    const struct msim_work *works;
    struct msim_estimate e, sum = {0};
    msim_ps dur = 0;

    if (begin == end || msim_works_of(all, i, &works, &n) != MSIM_OPMAP_WORKS)
        return MSIM_OK;
    for (uint32_t w = 0; w < n; w++) {
        MSIM_TRY(msim_estimate_cache_predict(&l->cache, l->p, &works[w], false,
                                             &e, l->err));
        if (e.us > sum.us)
            sum.family = e.family;
        sum.us += e.us;
        sum.start_us += e.start_us;
    }
    for (uint32_t j = begin; j < end; j++)
        dur += l->t->gpu[by->gpu[j]].dur;
    return observe(l, msim_trace_text(l->t, l->t->ops[i].name), &sum, dur);
}

static enum msim_status observe_copies(struct learning *l)
{
    for (uint32_t i = 0; i < l->t->n_gpu; i++) {
        const struct msim_gpu *g = &l->t->gpu[i];
        struct msim_estimate e;
        struct msim_work w;

        if (g->kind == MSIM_GPU_KERNEL || g->kind == MSIM_GPU_COMM)
            continue;
        w = msim_copy_work(g);
        MSIM_TRY(msim_estimate_cache_predict(&l->cache, l->p, &w, false, &e,
                                             l->err));
        MSIM_TRY(observe(l, msim_trace_text(l->t, g->name), &e, g->dur));
    }
    return MSIM_OK;
}

static enum msim_status observe_rank(struct learning *l,
                                     const struct msim_works *works)
{
    l->t = works->trace;
    for (uint32_t i = 0; i < l->t->n_ops; i++)
        MSIM_TRY(observe_op(l, works, i));
    return observe_copies(l);
}

/* Add an observation of some weight to the equations at the factors `x`. */
static void add(struct normal *n, const struct observation *o, double weight,
                const struct factors *x)
{
    double start = o->start_us * exp(x->start);
    double rest = (o->model_us - o->start_us) * exp(x->rate);
    double off = fmax(-1, fmin(1, log(o->us / (start + rest))));
    double s = start / (start + rest), r = pow(rest / (start + rest), TELLS);

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

static void step(struct factors *x, const struct normal *n,
                 const struct factors *above)
{
    double ss = n->ss + ABOVE, rr = n->rr + ABOVE;
    double s = n->s + ABOVE * (above->start - x->start);
    double r = n->r + ABOVE * (above->rate - x->rate);
    double d = ss * rr - n->sr * n->sr; /* above 0: ABOVE is */

    x->start = within(x->start + within((s * rr - r * n->sr) / d, STEP_MAX),
                      FACTOR_MAX);
    x->rate = within(x->rate + within((r * ss - s * n->sr) / d, STEP_MAX),
                     FACTOR_MAX);
}

/* A level: its `n` factors, the one that an observation belongs to, and for
 * each factor the one of the level above. */
struct level {
    struct factors *x;
    uint32_t n;
    uint32_t (*of)(const struct observation *);
    const struct factors **above;
    bool own; /* an operator's own: each of its observations counts */
};

/* Fit one level, from what is above it. */
static void fit_level(const struct learning *l, const struct level *level,
                      struct normal *normal)
{
    for (uint32_t i = 0; i < level->n; i++)
        level->x[i] = *level->above[i];
    for (int steps = 0; steps < STEPS; steps++) {
        memset(normal, 0, level->n * sizeof(*normal));
        for (uint32_t i = 0; i < l->n; i++) {
            const struct observation *o = &l->seen[i];
            uint32_t at = level->of(o);

            add(&normal[at], o, level->own ? 1 : 1 / l->times[o->name],
                &level->x[at]);
        }
        for (uint32_t i = 0; i < level->n; i++)
            step(&level->x[i], &normal[i], level->above[i]);
    }
}

static uint32_t level_all(const struct observation *o)
{
    (void)o;
    return 0;
}

static uint32_t level_family(const struct observation *o)
{
    return o->family;
}

static uint32_t level_operator(const struct observation *o)
{
    return o->name;
}

/* `normal` and `above` have room for every name and every family. */
static void learn(struct learning *l, struct normal *normal,
                  const struct factors **above)
{
    static const struct factors AS_MODELS_SAY = {0, 0};
    struct msim_correction *m = l->m;
    const struct level all = {&m->all, 1, level_all, above, false};
    const struct level families = {m->families, MSIM_FAMILY_COUNT, level_family,
                                   above, false};
    const struct level operators = {m->operators, m->n_operators,
                                    level_operator, above, true};

    for (uint32_t i = 0; i < l->n; i++)
        l->times[l->seen[i].name]++;
    above[0] = &AS_MODELS_SAY;
    fit_level(l, &all, normal);
    for (int f = 0; f < MSIM_FAMILY_COUNT; f++)
        above[f] = &m->all;
    fit_level(l, &families, normal);
    for (uint32_t i = 0; i < m->n_operators; i++)
        above[i] = &m->all; /* a name that was not observed */
    for (uint32_t i = 0; i < l->n; i++)
        above[l->seen[i].name] = &m->families[l->seen[i].family];
    fit_level(l, &operators, normal);
}

static enum msim_status fit(struct learning *l)
{
    struct msim_correction *m = l->m;
    uint32_t n = msim_strtab_count(m->names) + MSIM_FAMILY_COUNT;
    struct normal *normal = calloc(n, sizeof(*normal));
    const struct factors **above = calloc(n, sizeof(*above));
    enum msim_status status = MSIM_ENOMEM;

    m->n_operators = msim_strtab_count(m->names);
    m->operators = calloc(n, sizeof(*m->operators));
    l->times = calloc(n, sizeof(*l->times));
    if (normal && above && m->operators && l->times) {
        learn(l, normal, above);
        status = MSIM_OK;
    }
    free(l->times);
    free(normal);
    free(above);
    return status;
}

/* Observe all ranks with the models at `clock`. */
static enum msim_status observe_at(struct learning *l, double clock)
{
    const struct msim_clock_wish wish = {.ratio = clock};

    MSIM_TRY(msim_platform_set_clock(l->p, &wish, l->err));
    msim_estimate_cache_release(&l->cache);
    l->n = 0;
    for (uint32_t r = 0; r < l->n_ranks; r++)
        if (l->works[r]->trace->has_gpu_events)
            MSIM_TRY(observe_rank(l, l->works[r]));
    return MSIM_OK;
}

/* The error of the models as a logarithm: the mean over operators of each one's
 * mean over its observations. */
static enum msim_status off_by(const struct learning *l, double *off)
{
    uint32_t names = msim_strtab_count(l->m->names);
    double *sums = calloc((size_t)2 * names + 1, sizeof(*sums));
    double *times = sums + names;
    uint32_t seen = 0;

    *off = 0;
    if (!sums)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct observation *o = &l->seen[i];

        sums[o->name] += fabs(log(o->us / o->model_us));
        times[o->name]++;
    }
    for (uint32_t i = 0; i < names; i++) {
        *off += times[i] > 0 ? sums[i] / times[i] : 0;
        seen += times[i] > 0;
    }
    *off /= seen ? seen : 1;
    free(sums);
    return MSIM_OK;
}

/* Find the clock, and leave the observations made at it in `l`. */
static enum msim_status learn_clock(struct learning *l)
{
    double off, least = 0, usual = 0;

    l->m->clock = 1;
    for (size_t i = 0; i < N_CLOCKS; i++) {
        MSIM_TRY(observe_at(l, CLOCKS[i]));
        MSIM_TRY(off_by(l, &off));
        if (i == 0)
            usual = least = off;
        if (off < least && off < CLOCK_BELIEVED * usual) {
            least = off;
            l->m->clock = CLOCKS[i];
        }
    }
    return observe_at(l, l->m->clock);
}

static enum msim_status learn_job(struct learning *l,
                                  const struct msim_job *job,
                                  const struct msim_ops *user)
{
    l->n_ranks = job->n_ranks;
    MSIM_TRY(
        msim_works_new_ranks(&l->works, job->ranks, job->n_ranks, user, false));
    MSIM_TRY(msim_strtab_new(&l->m->names));
    MSIM_TRY(learn_clock(l));
    return fit(l);
}

enum msim_status msim_correction_new(struct msim_correction **out,
                                     const struct msim_job *job,
                                     const struct msim_ops *user,
                                     struct msim_platform *p,
                                     struct msim_error *err)
{
    struct learning l = {.p = p, .err = err};
    const struct msim_platform before = *p;
    enum msim_status status;

    *out = NULL;
    l.m = calloc(1, sizeof(*l.m));
    if (!l.m)
        return MSIM_ENOMEM;
    memcpy(l.m->platform, p->name, sizeof(l.m->platform));
    status = learn_job(&l, job, user);
    msim_works_free_ranks(l.works, l.n_ranks);
    free(l.seen);
    msim_estimate_cache_release(&l.cache);
    p->clock = before.clock;
    p->sheet = before.sheet;
    p->usual = before.usual;
    if (status != MSIM_OK) {
        msim_correction_free(l.m);
        return status;
    }
    *out = l.m;
    return MSIM_OK;
}

void msim_correction_free(struct msim_correction *m)
{
    if (!m)
        return;
    msim_strtab_free(m->names);
    free(m->operators);
    free(m);
}

/* ---- applying ----------------------------------------------------------- */

void msim_correction_apply(const struct msim_correction *m, const char *name,
                           struct msim_estimate *e)
{
    uint32_t id = msim_strtab_find(m->names, name);
    const struct factors *x =
        id < m->n_operators ? &m->operators[id] : &m->families[e->family];
    double start = fmin(e->start_us, e->us) * exp(x->start);
    double us = start + (e->us - fmin(e->start_us, e->us)) * exp(x->rate);

    if (e->family == MSIM_FAMILY_BOUND || !(e->us > 0))
        return;
    e->low_us *= us / e->us;
    e->high_us *= us / e->us;
    e->us = us;
    e->start_us = start;
    e->source = MSIM_SOURCE_SCALED;
}

double msim_correction_clock(const struct msim_correction *m)
{
    return m->clock;
}

bool msim_correction_is_on(const struct msim_correction *m,
                           const struct msim_platform *p)
{
    return strcmp(m->platform, p->name) == 0;
}
