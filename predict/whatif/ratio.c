/*
 * predict/whatif/ratio.c - the ratio of two periods, and its interval.
 */
#include "predict/whatif/whatif.h"

#include <math.h>

struct pair {
    struct msim_deviating *base, *changed;
    struct msim_deviations d;
    double ratio, down, up; /* down, up: sums of squares */
};

/* What one deviation moves the ratio by; the further end counts, once. */
static enum msim_status add_part(struct pair *p, unsigned what,
                                 struct msim_error *err)
{
    double down = 0, up = 0, a, b;

    for (int high = 0; high < 2; high++) {
        MSIM_TRY(msim_deviating_period(p->base, &p->d, what, high, &a, err));
        MSIM_TRY(msim_deviating_period(p->changed, &p->d, what, high, &b, err));
        down = fmax(down, p->ratio - b / a);
        up = fmax(up, b / a - p->ratio);
    }
    p->down += down * down;
    p->up += up * up;
    return MSIM_OK;
}

static enum msim_status add_parts(struct pair *p, struct msim_error *err)
{
    double a, b;

    MSIM_TRY(msim_deviating_middle(p->base, &a));
    MSIM_TRY(msim_deviating_middle(p->changed, &b));
    p->ratio = b / a;
    for (unsigned f = 0; f < MSIM_MADE_BY_MAX; f++)
        if (p->d.separate & 1u << f)
            MSIM_TRY(add_part(p, f, err));
    if (p->d.others)
        MSIM_TRY(add_part(p, MSIM_DEVIATE_OTHERS, err));
    return p->d.gpu ? add_part(p, MSIM_DEVIATE_GPU, err) : MSIM_OK;
}

enum msim_status msim_ratio_find(struct msim_deviating *base,
                                 const struct msim_ratio_side *changed,
                                 struct msim_figure *ratio,
                                 struct msim_error *err)
{
    const struct msim_ratio_side *sides[] = {msim_deviating_side(base),
                                             changed};
    struct pair p = {.base = base};
    enum msim_status status;
    double r;

    if (sides[0]->exact && changed->exact) {
        r = changed->period_us / sides[0]->period_us;
        *ratio = (struct msim_figure){r, r, r, (double)NAN};
        return MSIM_OK;
    }
    msim_deviations_choose(&p.d, sides, 2);
    MSIM_TRY(msim_deviating_new(&p.changed, changed, base));
    status = add_parts(&p, err);
    msim_deviating_free(p.changed);
    *ratio = (struct msim_figure){p.ratio, fmax(p.ratio - sqrt(p.down), 0),
                                  p.ratio + sqrt(p.up), (double)NAN};
    return status;
}

/* ---- two GPUs ------------------------------------------------------------ */

/* How far deviations move the period of one job. */
struct moves {
    struct msim_deviating *job;
    struct msim_deviations d;
    double us;
};

static enum msim_status add_move(const struct moves *m, unsigned what,
                                 double *down, double *up,
                                 struct msim_error *err)
{
    double low, high;

    MSIM_TRY(msim_deviating_period(m->job, &m->d, what, false, &low, err));
    MSIM_TRY(msim_deviating_period(m->job, &m->d, what, true, &high, err));
    *down = hypot(*down, fmax(0, log(m->us / fmin(low, high))));
    *up = hypot(*up, fmax(0, log(fmax(low, high) / m->us)));
    return MSIM_OK;
}

static enum msim_status add_moves(struct msim_ratio_parts *r,
                                  const struct moves *m, struct msim_error *err)
{
    double *down = &r->gpu_down, *up = &r->gpu_up;

    for (unsigned f = 0; f < MSIM_MADE_BY_MAX; f++) {
        bool host = f == MSIM_COST_HOST;

        if (m->d.separate & 1u << f)
            MSIM_TRY(add_move(m, f, host ? &r->host_down : down,
                              host ? &r->host_up : up, err));
    }
    if (m->d.others)
        MSIM_TRY(add_move(m, MSIM_DEVIATE_OTHERS, down, up, err));
    return m->d.gpu ? add_move(m, MSIM_DEVIATE_GPU, down, up, err) : MSIM_OK;
}

enum msim_status msim_ratio_parts_find(struct msim_ratio_parts *out,
                                       const struct msim_ratio_side *of,
                                       double us, struct msim_error *err)
{
    struct moves m = {.us = us};
    enum msim_status status;

    *out = (struct msim_ratio_parts){.us = us};
    if (of->exact)
        return MSIM_OK;
    msim_deviations_choose(&m.d, &of, 1);
    MSIM_TRY(msim_deviating_new(&m.job, of, NULL));
    status = add_moves(out, &m, err);
    msim_deviating_free(m.job);
    return status;
}

struct msim_figure msim_ratio_of_gpus(const struct msim_ratio_parts *base,
                                      const struct msim_ratio_parts *changed,
                                      bool one_host)
{
    /* a part of a job may have no work at all */
    double ratio = base->us > 0 ? changed->us / base->us : 1;
    double both = fmax(fabs(changed->host_down - base->host_down),
                       fabs(changed->host_up - base->host_up));
    double host_down =
        one_host ? both : hypot(changed->host_down, base->host_up);
    double host_up = one_host ? both : hypot(changed->host_up, base->host_down);
    double down = hypot(host_down, hypot(changed->gpu_down, base->gpu_up));
    double up = hypot(host_up, hypot(changed->gpu_up, base->gpu_down));

    return (struct msim_figure){ratio, ratio * exp(-down), ratio * exp(up),
                                (double)NAN};
}

void msim_ratio_widen(struct msim_figure *ratio, double base_factor,
                      double factor)
{
    double r = ratio->predicted, by, down, up;

    if (!(base_factor > 0) || !(factor > 0) || !(r > 0) ||
        base_factor == factor)
        return;
    by = log(factor / base_factor);
    down = ratio->low > 0 ? log(r / ratio->low) : by;
    up = log(ratio->high / r);
    ratio->low = r * exp(-hypot(down, by));
    ratio->high = r * exp(hypot(up, by));
}
