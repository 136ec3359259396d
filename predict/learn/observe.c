/*
 * predict/learn/observe.c - observing traces.
 *
 * Training steps repeat a few hundred shapes: equal ones (the same works by the
 * models) of a trace become one row with the mean of their times.
 */
#include "predict/learn/learn_internal.h"

#include "core/base/containers.h"
#include "core/work/opmap/opmap.h"
#include "models/estimate/model.h"
#include "models/law/law.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double msim_learn_clocks[MSIM_LEARN_CLOCKS] = {
    1, 0.9, 0.8, 0.7, 0.6, 0.55, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2};

/* What the models say of some works together. */
struct said {
    enum msim_family family;
    char kind[MSIM_EVIDENCE_KIND];
    double us[MSIM_LEARN_CLOCKS], start[MSIM_LEARN_CLOCKS];
};

struct observing {
    struct msim_learn_rows *out;
    uint32_t trace, first_row; /* of this trace */
    /* The platform at each clock, and its estimates. */
    struct msim_platform at[MSIM_LEARN_CLOCKS];
    struct msim_estimate_cache cache[MSIM_LEARN_CLOCKS];
    struct msim_error *err;
};

/* ---- what the models say ------------------------------------------------- */

static bool is_learned(const struct msim_work *w)
{
    return w->family != MSIM_FAMILY_COLLECTIVE &&
           w->family != MSIM_FAMILY_DISPATCH && w->family != MSIM_FAMILY_BOUND;
}

/* Add `w`; the longest work gives the kind. */
static enum msim_status ask(struct observing *o, const struct msim_work *w,
                            struct said *s, double *longest)
{
    for (int c = 0; c < MSIM_LEARN_CLOCKS; c++) {
        struct msim_estimate e;

        MSIM_TRY(msim_estimate_cache_predict(&o->cache[c], &o->at[c], w, false,
                                             &e, o->err));
        s->us[c] += e.us;
        s->start[c] += fmin(e.start_us, e.us);
        if (c > 0 || e.us <= *longest)
            continue;
        *longest = e.us;
        s->family =
            e.source >= MSIM_SOURCE_BOUND ? MSIM_FAMILY_BOUND : e.family;
        msim_law_kind(w, o->at[0].is_host, s->kind, sizeof(s->kind));
    }
    return MSIM_OK;
}

/* ---- rows ---------------------------------------------------------------- */

static bool is_equal(double a, double b)
{
    return !(fabs(a - b) > 0);
}

static struct msim_learn_row *find_row(const struct observing *o, uint32_t name,
                                       const struct said *s)
{
    for (uint32_t i = o->first_row; i < o->out->n; i++) {
        struct msim_learn_row *r = &o->out->rows[i];

        if (r->name == name && is_equal(r->model_us[0], s->us[0]) &&
            is_equal(r->start_us[0], s->start[0]))
            return r;
    }
    return NULL;
}

static enum msim_status add_row(struct observing *o, const struct said *s,
                                msim_ps dur)
{
    struct msim_learn_rows *out = o->out;
    double us = (double)dur / MSIM_PS_PER_US;
    struct msim_learn_row *r;
    uint32_t name, kin;

    if (dur <= 0 || s->family == MSIM_FAMILY_BOUND || !(s->us[0] > 0))
        return MSIM_OK;
    MSIM_TRY(msim_strtab_add(out->kinds, s->kind, strlen(s->kind), &name));
    MSIM_TRY(
        msim_strtab_add(out->kinds, s->kind, msim_evidence_kin(s->kind), &kin));
    r = find_row(o, name, s);
    if (r) {
        r->us += (us - r->us) / ++r->times;
        return MSIM_OK;
    }
    MSIM_TRY(
        msim_grow((void **)&out->rows, &out->cap, out->n, sizeof(*out->rows)));
    r = &out->rows[out->n++];
    *r = (struct msim_learn_row){.name = name,
                                 .kin = kin,
                                 .trace = o->trace,
                                 .family = s->family,
                                 .us = us,
                                 .times = 1};
    memcpy(r->model_us, s->us, sizeof(s->us));
    memcpy(r->start_us, s->start, sizeof(s->start));
    return MSIM_OK;
}

/* ---- traces -------------------------------------------------------------- */

/* Works and kernels that pair up are rows of their own. */
static enum msim_status observe_pairs(struct observing *o,
                                      const struct msim_works *all, uint32_t op,
                                      const struct msim_work *works, uint32_t n)
{
    const struct msim_op_kernels *by = &all->kernels;

    for (uint32_t i = 0; i < n; i++) {
        struct said s = {.family = MSIM_FAMILY_BOUND};
        double longest = 0;

        MSIM_TRY(ask(o, &works[i], &s, &longest));
        MSIM_TRY(
            add_row(o, &s, all->trace->gpu[by->gpu[by->begin[op] + i]].dur));
    }
    return MSIM_OK;
}

static enum msim_status observe_op(struct observing *o,
                                   const struct msim_works *all, uint32_t op)
{
    const struct msim_op_kernels *by = &all->kernels;
    uint32_t begin = by->begin[op], end = by->begin[op + 1], n;
    struct said s = {.family = MSIM_FAMILY_BOUND};
    const struct msim_work *works;
    double longest = 0;
    msim_ps dur = 0;

    if (begin == end || msim_works_of(all, op, &works, &n) != MSIM_OPMAP_WORKS)
        return MSIM_OK;
    for (uint32_t i = 0; i < n; i++)
        if (!is_learned(&works[i]))
            return MSIM_OK;
    if (n == end - begin)
        return observe_pairs(o, all, op, works, n);
    for (uint32_t i = 0; i < n; i++)
        MSIM_TRY(ask(o, &works[i], &s, &longest));
    for (uint32_t k = begin; k < end; k++)
        dur += all->trace->gpu[by->gpu[k]].dur;
    return add_row(o, &s, dur);
}

static enum msim_status observe_rank(struct observing *o,
                                     const struct msim_works *works)
{
    for (uint32_t i = 0; i < works->trace->n_ops; i++)
        MSIM_TRY(observe_op(o, works, i));
    return MSIM_OK;
}

static enum msim_status set_clocks(struct observing *o,
                                   const struct msim_platform *p)
{
    for (int c = 0; c < MSIM_LEARN_CLOCKS; c++) {
        const struct msim_clock_wish wish = {.ratio = msim_learn_clocks[c]};

        o->at[c] = *p; /* fits and index are the platform's own */
        o->at[c].evidence.clock = 0;
        if (c > 0)
            MSIM_TRY(msim_platform_set_clock(&o->at[c], &wish, o->err));
    }
    return MSIM_OK;
}

enum msim_status msim_learn_observe(struct msim_learn_rows *out,
                                    const struct msim_job *job, uint32_t trace,
                                    struct msim_platform *p,
                                    struct msim_error *err)
{
    struct observing *o = calloc(1, sizeof(*o));
    struct msim_works **works = NULL;
    enum msim_status status;

    if (!o)
        return MSIM_ENOMEM;
    o->out = out;
    o->trace = trace;
    o->first_row = out->n;
    o->err = err;
    status = set_clocks(o, p);
    if (status == MSIM_OK)
        status =
            msim_works_new_ranks(&works, job->ranks, job->n_ranks, NULL, false);
    for (uint32_t r = 0; status == MSIM_OK && r < job->n_ranks; r++)
        if (job->ranks[r]->has_gpu_events)
            status = observe_rank(o, works[r]);
    msim_works_free_ranks(works, job->n_ranks);
    for (int c = 0; c < MSIM_LEARN_CLOCKS; c++)
        msim_estimate_cache_release(&o->cache[c]);
    free(o);
    return status;
}
