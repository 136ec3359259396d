/*
 * predict/whatif/ratio.c - the ratio of two periods, and its interval.
 */
#include "predict/whatif/ratio.h"

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
    MSIM_TRY(msim_deviating_new(&p.changed, changed));
    status = add_parts(&p, err);
    msim_deviating_free(p.changed);
    *ratio = (struct msim_figure){p.ratio, fmax(p.ratio - sqrt(p.down), 0),
                                  p.ratio + sqrt(p.up), (double)NAN};
    return status;
}
