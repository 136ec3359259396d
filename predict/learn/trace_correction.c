/*
 * predict/learn/trace_correction.c - learning and applying a machine's clock
 * and factors.
 *
 * The clock is the one at which the models err least, in the mean over
 * operators, where that is clearly less than at the usual clock. Both factors
 * are fitted by models/factor/levels.h.
 */
#include "predict/learn/learn.h"

#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/work/kernel_fact.h"
#include "core/work/opmap/opmap.h"
#include "models/estimate/model.h"
#include "models/factor/levels.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The clocks that are tried, as shares of the usual one. */
static const double CLOCKS[] = {1,    0.9, 0.8,  0.7, 0.6,  0.55, 0.5,
                                0.45, 0.4, 0.35, 0.3, 0.25, 0.2};
#define N_CLOCKS (sizeof(CLOCKS) / sizeof(*CLOCKS))

/* Operators of one name that were given the same. */
struct recorded {
    double us, times; /* sums */
    double least, most;
};

struct msim_correction {
    char platform[48];
    double clock;
    struct msim_strtab *names;
    struct msim_levels levels; /* by name: operators, copies */
    struct msim_idmap keys;    /* of a call: a row of `rows` */
    struct recorded *rows;
    uint32_t n_rows, cap_rows;
};

struct learning {
    struct msim_correction *m;
    struct msim_platform *p;
    struct msim_estimate_cache cache; /* at the clock of `p` */
    struct msim_works **works;        /* one a rank */
    uint32_t n_ranks;
    const struct msim_trace *t; /* of the rank at hand */
    struct msim_error *err;
    struct msim_observation *seen;
    uint32_t n, capacity;
};

/* ---- learning ----------------------------------------------------------- */

static enum msim_status observe(struct learning *l, const char *name,
                                const struct msim_estimate *e, msim_ps dur)
{
    struct msim_observation *o;

    if (dur <= 0 || e->family == MSIM_FAMILY_BOUND)
        return MSIM_OK;
    MSIM_TRY(
        msim_grow((void **)&l->seen, &l->capacity, l->n, sizeof(*l->seen)));
    o = &l->seen[l->n++];
    *o = (struct msim_observation){
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
        uint64_t bytes;

        if (g->kind == MSIM_GPU_KERNEL || g->kind == MSIM_GPU_COMM)
            continue;
        bytes = msim_copied_bytes(l->t, g);
        if (bytes == 0)
            continue;
        w = msim_copy_work(g, bytes);
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

/* The error of the models as a logarithm: the sum over operators of each one's
 * mean over its observations. All clocks have the same operators. */
static enum msim_status off_by(const struct learning *l, double *off)
{
    uint32_t names = msim_strtab_count(l->m->names);
    double *sums = calloc((size_t)2 * names + 1, sizeof(*sums));
    double *times = sums + names;

    *off = 0;
    if (!sums)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct msim_observation *o = &l->seen[i];

        sums[o->name] += fabs(log(o->us / o->model_us));
        times[o->name]++;
    }
    for (uint32_t i = 0; i < names; i++)
        *off += times[i] > 0 ? sums[i] / times[i] : 0;
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
        if (off < least &&
            off < MSIM_FACT(NULL, EVIDENCE_CLOCK_BELIEVED) * usual) {
            least = off;
            l->m->clock = CLOCKS[i];
        }
    }
    return observe_at(l, l->m->clock);
}

/* ---- what equal calls took -----------------------------------------------
 */

static uint64_t add_arg(uint64_t key, const struct msim_trace *t,
                        const struct msim_arg *a)
{
    key = msim_hash_mix(key, (uint64_t)a->kind << 8 | a->dtype);
    key = msim_hash_mix(key, a->n);
    if (a->kind == MSIM_ARG_TENSOR)
        return a->n ? msim_hash_bytes(key, msim_arg_dims(t, a),
                                      a->n * sizeof(*t->dims))
                    : key;
    return msim_hash_bytes(key, &a->v, sizeof(a->v));
}

/* Of an operator's name and what it is given. */
static uint64_t key_of(const struct msim_trace *t, uint32_t op)
{
    uint32_t block = t->ops[op].args;
    uint64_t key =
        msim_hash_text(MSIM_HASH_START, msim_trace_text(t, t->ops[op].name));

    for (uint32_t i = 0; block != MSIM_NONE && i < t->blocks[block].count; i++)
        key = add_arg(key, t, &t->args[t->blocks[block].first + i]);
    return key;
}

static enum msim_status keep(struct msim_correction *m, uint64_t key, double us)
{
    uint32_t *at;
    struct recorded *r;

    MSIM_TRY(msim_idmap_put(&m->keys, key, m->n_rows, &at));
    if (*at == m->n_rows) {
        MSIM_TRY(msim_grow((void **)&m->rows, &m->cap_rows, m->n_rows,
                           sizeof(*m->rows)));
        m->rows[m->n_rows++] = (struct recorded){.least = us};
    }
    r = &m->rows[*at];
    r->us += us;
    r->times++;
    r->least = fmin(r->least, us);
    r->most = fmax(r->most, us);
    return MSIM_OK;
}

/* Times of collectives hold waits. */
static enum msim_status keep_op(struct learning *l,
                                const struct msim_works *all, uint32_t i)
{
    const struct msim_op_kernels *by = &all->kernels;
    double us = 0;

    for (uint32_t j = by->begin[i]; j < by->begin[i + 1]; j++) {
        const struct msim_gpu *g = &l->t->gpu[by->gpu[j]];

        if (g->kind == MSIM_GPU_COMM || g->dur < 0)
            return MSIM_OK;
        us += (double)g->dur / MSIM_PS_PER_US;
    }
    return us > 0 ? keep(l->m, key_of(l->t, i), us) : MSIM_OK;
}

static enum msim_status keep_recorded(struct learning *l)
{
    for (uint32_t r = 0; r < l->n_ranks; r++) {
        l->t = l->works[r]->trace;
        for (uint32_t i = 0; l->t->has_gpu_events && i < l->t->n_ops; i++)
            MSIM_TRY(keep_op(l, l->works[r], i));
    }
    return MSIM_OK;
}

bool msim_correction_recorded(const struct msim_correction *m,
                              const struct msim_trace *t, uint32_t op,
                              struct msim_recorded_time *out)
{
    uint32_t at = msim_idmap_get(&m->keys, key_of(t, op));
    const struct recorded *r;

    if (at == UINT32_MAX)
        return false;
    r = &m->rows[at];
    *out = (struct msim_recorded_time){r->us / r->times, r->least, r->most};
    return true;
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
    MSIM_TRY(msim_levels_fit(&l->m->levels, l->seen, l->n,
                             msim_strtab_count(l->m->names)));
    return keep_recorded(l);
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
    msim_levels_release(&m->levels);
    msim_idmap_release(&m->keys);
    free(m->rows);
    free(m);
}

/* ---- applying ----------------------------------------------------------- */

void msim_correction_apply(const struct msim_correction *m, const char *name,
                           struct msim_estimate *e)
{
    const struct msim_level *x = msim_levels_of(
        &m->levels, msim_strtab_find(m->names, name), MSIM_NONE, e->family);
    double start, us = msim_level_apply(x, e->us, e->start_us, &start);

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
