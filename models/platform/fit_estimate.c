/*
 * models/platform/fit_estimate.c - law, correction, clock and interval.
 *
 * The law is evaluated on the data sheet of the GPU that is asked for, at its
 * usual clock, and corrected by what the fit has learned. Another clock then
 * multiplies the estimate by the ratio of the law on both data sheets, so that
 * the correction does not depend on the clock.
 */
#include "models/platform/fit.h"

#include "core/base/print.h"
#include "core/work/kernel_fact.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <string.h>

/*
 * The time as it was measured for the fit, or of the bare kernel. The
 * correction was learned on measured times. A bare kernel gets the share of it
 * that a change of the kernel would show in a measured time.
 */
static double corrected_us(const struct msim_fit *c, bool bare,
                           double kernel_us, double correction)
{
    if (!bare)
        return msim_with_gap(kernel_us, c->gap) * exp(correction);
    return kernel_us * exp(correction * msim_gap_share(kernel_us, c->gap));
}

/* The fit's constants on the GPU of `p` at its usual clock. Most are fractions
 * of data-sheet rates, which hold as they are. */
static void carry(const struct msim_platform *p, const struct msim_pick *pick,
                  double *params)
{
    const struct msim_fit *c = pick->fit;
    const struct msim_platform *of = pick->platform;

    memcpy(params, c->params, sizeof(c->params));
    for (uint32_t i = 0; !pick->trees && i < c->law->n_params; i++)
        params[i] = fmax(params[i], c->law->carried_low[i]);
    if (!pick->trees && of != p && c->law->carry)
        c->law->carry(msim_platform_usual(p), params);
    if (c->law->start_follows_floor)
        params[0] *= msim_platform_usual(p)->floor_us /
                     (of ? msim_platform_usual(of)->floor_us
                         : MSIM_FACT(NULL, SHARED_LAW_FLOOR_US));
}

/* A law's time, and the constant part of it. */
struct law_time {
    double us, start_us;
};

static struct law_time law_time(const struct msim_law *law,
                                const struct msim_data_sheet *s,
                                const struct msim_work *w, const double *params,
                                double least_us)
{
    struct law_time t = {.start_us = fmax(least_us, params[0])};

    t.us = law->time_us(s, w, params);
    t.us += t.start_us - params[0];
    return t;
}

/* The same at the clock of `p`, from the constants at the usual one. */
static struct law_time clocked(const struct msim_platform *p,
                               const struct msim_law *law,
                               const struct msim_work *w, const double *params,
                               double least_us)
{
    double at_clock[MSIM_LAW_PARAMS] = {0};

    msim_clock_constants(law, params, p->clock.ratio, at_clock);
    return law_time(law, &p->sheet, w, at_clock, least_us);
}

/* The correction of a law; all are logarithms: `low` and `high` are ends of the
 * 90 % interval, `log_sd` is added to it. */
struct correction {
    double log, low, high, log_sd;
    enum msim_source source;
};

static bool is_clocked(const struct msim_platform *p)
{
    double ratio = msim_platform_clock_ratio(p);

    return ratio < 1 || ratio > 1;
}

/* By curves, if the fit has any for such a work. */
static bool by_curves(const struct msim_platform *p,
                      const struct msim_pick *pick, const struct msim_work *w,
                      struct correction *out)
{
    const struct msim_fit *c = pick->fit;
    struct msim_curve_answer a;

    if (!pick->platform ||
        !msim_curves_ask(&c->curves, c->law,
                         msim_platform_usual(pick->platform), c->params, w, &a))
        return false;
    out->log = a.correction + msim_curves_variant(&c->curves, w);
    out->low = -a.half_width;
    out->high = a.half_width;
    out->log_sd = a.stand_in ? MSIM_FACT(NULL, OTHER_COLLECTIVE_LOG_SD) : 0;
    if (a.measured && pick->platform == p && !is_clocked(p))
        out->source = MSIM_SOURCE_TABLE;
    else if (!a.ranks_run && pick->platform == p)
        out->source = MSIM_SOURCE_NOT_RUN;
    return true;
}

/* By kriging: the interval depends on the distance of the nearest row. */
static void by_kriging(const struct msim_platform *p,
                       const struct msim_pick *pick, const double *x,
                       double law_us, struct correction *out)
{
    const struct msim_fit *c = pick->fit;
    struct msim_kriging_answer a = {0, msim_kriging_far(&c->kriging)};

    if (pick->trees)
        a = msim_kriging_correct(
            &c->kriging, x,
            pick->platform == p ? 1 : MSIM_FACT(NULL, OTHER_GPU_CORRELATION));
    out->log = a.log;
    msim_interval_base(c, corrected_us(c, pick->bare, law_us, a.log), &out->low,
                       &out->high);
    out->low *= a.sd_ratio;
    out->high *= a.sd_ratio;
}

/* The features that a fit is asked by: sizes alone where nothing learned
 * corrects the law. */
static void describe(const struct msim_pick *pick,
                     const struct msim_data_sheet *s, const struct msim_work *w,
                     double *x)
{
    const struct msim_law *law = pick->fit->law;

    if (pick->trees || !law->sizes)
        law->describe(s, w, x);
    else
        law->sizes(s, w, x);
}

/* `outside`: how far the features are (models/platform/fit.h). */
static void correct(const struct msim_platform *p, const struct msim_pick *pick,
                    const struct msim_work *w, const double *x, double outside,
                    double law_us, struct correction *out)
{
    const struct msim_fit *c = pick->fit;

    *out = (struct correction){.source = MSIM_SOURCE_LAW};
    if (by_curves(p, pick, w, out))
        return;
    if (c->kriging.n) {
        by_kriging(p, pick, x, law_us, out);
        return;
    }
    if (pick->trees)
        out->log = msim_forest_eval(&c->forest, x) *
                   exp(-outside / MSIM_FACT(NULL, OUTSIDE_FADE));
    msim_interval_base(c, corrected_us(c, pick->bare, law_us, out->log),
                       &out->low, &out->high);
}

/* Scale `e` from the usual clock to that of `p`, by the law at both. Returns
 * the half width that this adds to the interval, a logarithm. */
static double slow_down(const struct msim_platform *p,
                        const struct msim_pick *pick, double correction,
                        const struct law_time *usual, const struct law_time *at,
                        struct msim_estimate *e)
{
    double slowdown = at->us / usual->us;

    /* a launch gap does not depend on the GPU's clock */
    e->us = pick->bare ? e->us * slowdown
                       : corrected_us(pick->fit, false, at->us, correction);
    return msim_clock_half_width(&p->clock, slowdown);
}

void msim_fit_estimate(const struct msim_platform *p,
                       const struct msim_pick *pick, const struct msim_work *w,
                       const struct msim_adjust *adjust,
                       struct msim_estimate *out)
{
    static const struct msim_adjust NONE = {.factor = 1};
    const struct msim_adjust *a = adjust ? adjust : &NONE;
    const struct msim_fit *c = pick->fit;
    const struct msim_data_sheet *usual = msim_platform_usual(p);
    double x[MSIM_LAW_FEATURES], params[MSIM_LAW_PARAMS];
    double outside, by_clock = 0;
    double more = w->kernels > 1 ? w->kernels - 1.0 : 0;
    struct correction by;
    struct law_time t, at;

    carry(p, pick, params);
    /* callers give least_us at the clock of `p` */
    t = at = law_time(c->law, usual, w, params,
                      a->least_us * msim_platform_clock_ratio(p));
    describe(pick, usual, w, x);
    outside = msim_interval_outside(c, x);
    correct(p, pick, w, x, outside, t.us, &by);
    out->us = corrected_us(c, pick->bare, t.us, by.log);
    if (is_clocked(p)) {
        at = clocked(p, c->law, w, params, a->least_us);
        by_clock = slow_down(p, pick, by.log, &t, &at, out) / MSIM_Z90;
    }
    out->start_us =
        at.start_us / at.us * out->us * a->factor + more * at.start_us;
    out->us = out->us * a->factor + more * at.start_us;
    out->source = by.source;
    out->family = w->family;
    outside = fmin(MSIM_FACT(NULL, OUTSIDE_LOG_SD) * outside,
                   MSIM_FACT(NULL, OUTSIDE_LOG_SD_MOST));
    msim_interval_set(out, by.low, by.high,
                      sqrt(a->log_sd * a->log_sd + by.log_sd * by.log_sd +
                           outside * outside + by_clock * by_clock +
                           pick->variance));
}

/* What of the features and the interval is not needed is left out where curves
 * correct the law. */
double msim_fit_us(const struct msim_platform *p, const struct msim_pick *pick,
                   const struct msim_work *w)
{
    double params[MSIM_LAW_PARAMS];
    struct msim_estimate e;
    struct correction by;
    struct law_time t;

    if (is_clocked(p) || w->kernels > 1 || !by_curves(p, pick, w, &by)) {
        msim_fit_estimate(p, pick, w, NULL, &e);
        return e.us;
    }
    carry(p, pick, params);
    t = law_time(pick->fit->law, msim_platform_usual(p), w, params, 0);
    return corrected_us(pick->fit, pick->bare, t.us, by.log);
}

static void explain_clock(const struct msim_platform *p,
                          const struct msim_law *law, const struct msim_work *w,
                          const double *params, double usual_us, FILE *out)
{
    char clock[MSIM_CLOCK_TEXT];
    double us = clocked(p, law, w, params, 0).us;

    msim_clock_text(&p->clock, clock, sizeof(clock));
    msim_print(out,
               "clock: %s: the law is %.4g us then, %.3f times as long; the "
               "interval is wider by a factor of %.2f for it\n",
               clock, us, us / usual_us,
               exp(msim_clock_half_width(&p->clock, us / usual_us)));
}

void msim_fit_explain(const struct msim_platform *p,
                      const struct msim_pick *pick, const struct msim_work *w,
                      FILE *out)
{
    const struct msim_fit *c = pick->fit;
    double x[MSIM_LAW_FEATURES], params[MSIM_LAW_PARAMS];
    const struct msim_data_sheet *usual = msim_platform_usual(p);
    struct correction by;
    char whose[160] = "", gap[128] = "", constants[512] = "";
    size_t used = 0;
    double law_us;

    carry(p, pick, params);
    describe(pick, usual, w, x);
    law_us = c->law->time_us(usual, w, params);
    correct(p, pick, w, x, msim_interval_outside(c, x), law_us, &by);
    if (!pick->platform)
        snprintf(whose, sizeof(whose),
                 " (a law that all GPUs share, scaled by the data sheet)");
    else if (pick->platform != p)
        snprintf(whose, sizeof(whose),
                 " (platform %s stands in, scaled by the data sheets%s)",
                 pick->platform->name, pick->trees ? "" : ", law alone");
    if (c->gap.least_us > 0)
        snprintf(gap, sizeof(gap),
                 ", launch gap of the source %.4g us, %.4g us more a kernel "
                 "(%s)",
                 c->gap.least_us, c->gap.added_us,
                 pick->bare ? "left out" : "kept");
    for (uint32_t i = 0; i < c->law->n_params; i++)
        used += (size_t)snprintf(constants + used, sizeof(constants) - used,
                                 "%s %s %.4g %s", i ? "," : "",
                                 c->law->params[i].name, params[i],
                                 c->law->params[i].unit);
    msim_print(out,
               "rows: %u of %s by %s on %s%s\n"
               "error: mean %.1f %% on rows fitted on, %.1f %% on %s\n"
               "constants:%s\n"
               "time: law %.4g us%s, correction %+.1f %%\n",
               c->rows, c->key, c->framework, c->table, whose, 100 * c->error,
               100 * c->heldout,
               pick->platform ? "held-out rows" : "held-out GPUs", constants,
               law_us, gap, 100 * (exp(by.log) - 1));
    if (is_clocked(p))
        explain_clock(p, c->law, w, params, law_us, out);
    if (msim_interval_outside(c, x) > 0)
        fprintf(out,
                "warning: sizes lie outside the fitted range by %.2f "
                "e-folds; the interval is wider for it\n",
                msim_interval_outside(c, x));
}
