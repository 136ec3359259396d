/*
 * models/platform/sm_clock.c - data sheets, constants and intervals at another
 * SM clock.
 */
#include "models/platform/sm_clock.h"

#include "core/work/kernel_fact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Without a unit, a value of --clock up to 2 is a share, from 50 on megahertz:
 * those of a GPU that is there. A share may be of a GPU that nobody built, up
 * to twice its clock.
 */
#define SHARE_MAX 2
#define MHZ_MIN   50

static bool number_and_unit(const char *value, double *number,
                            const char **unit)
{
    char *end;

    if (!strchr("0123456789.", *value) || !*value)
        return false;
    *number = strtod(value, &end);
    *unit = end;
    return end > value && *number > 0 && isfinite(*number);
}

enum msim_status msim_clock_parse(struct msim_clock_wish *w, const char *value,
                                  struct msim_error *err)
{
    double v;
    const char *unit;
    bool ok = number_and_unit(value, &v, &unit);

    w->ratio = w->hz = 0;
    if (ok && strcmp(unit, "%") == 0)
        w->ratio = v / 100;
    else if (ok && strcasecmp(unit, "mhz") == 0)
        w->hz = v * 1e6;
    else if (ok && strcasecmp(unit, "ghz") == 0)
        w->hz = v * 1e9;
    else if (ok && !*unit && v <= SHARE_MAX)
        w->ratio = v;
    else if (ok && !*unit && v >= MHZ_MIN)
        w->hz = v * 1e6;
    if ((w->ratio > 0 && w->ratio <= SHARE_MAX) ||
        (w->hz >= MHZ_MIN * 1e6 && w->hz <= 1e10))
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--clock' is '%s', want a share of the usual "
                     "clock as 0.8, at most 2, or megahertz as 1100",
                     value);
}

enum msim_status msim_power_cap_parse(struct msim_clock_wish *w,
                                      const char *value, struct msim_error *err)
{
    const char *unit;

    if (number_and_unit(value, &w->watts, &unit) &&
        (!*unit || strcasecmp(unit, "w") == 0))
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--power-cap' is '%s', want watts as 300", value);
}

bool msim_clock_is_asked(const struct msim_clock_wish *w)
{
    return w->ratio > 0 || w->hz > 0 || w->watts > 0;
}

static enum msim_status solve_clock(struct msim_sm_clock *out,
                                    const struct msim_clock_wish *w,
                                    const char *name, struct msim_error *err)
{
    out->ratio = 1;
    out->width_ratio = MSIM_FACT(NULL, CLOCK_WIDTH);
    if (w->hz > 0 && !(out->usual_hz > 0))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "platform '%s' has no 'boost_clock', which megahertz "
                         "count from; want '--clock' as a share, like 0.8",
                         name);
    if (w->hz > 0 && !(w->hz <= MSIM_FACT(NULL, CLOCK_MOST) * out->usual_hz &&
                       w->hz >= MSIM_FACT(NULL, CLOCK_LEAST) * out->usual_hz))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--clock' is %g MHz, want %g to %g MHz for "
                         "platform '%s', whose boost clock is %g MHz",
                         w->hz * 1e-6,
                         MSIM_FACT(NULL, CLOCK_LEAST) * out->usual_hz * 1e-6,
                         MSIM_FACT(NULL, CLOCK_MOST) * out->usual_hz * 1e-6,
                         name, out->usual_hz * 1e-6);
    if (w->hz > 0)
        out->ratio = w->hz / out->usual_hz;
    else if (w->ratio > 0)
        out->ratio = w->ratio;
    return MSIM_OK;
}

static enum msim_status solve_cap(struct msim_sm_clock *out,
                                  const struct msim_clock_wish *w,
                                  const char *name, struct msim_error *err)
{
    double limit = out->limit_watts;
    double idle = MSIM_FACT(NULL, POWER_IDLE_SHARE) * limit;
    double ratio;

    if (!(w->watts > 0))
        return MSIM_OK;
    if (!(limit > 0))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "platform '%s' has no 'power_limit', which a cap "
                         "counts from; want '--clock'",
                         name);
    if (w->watts < MSIM_FACT(NULL, POWER_CAP_LEAST) * limit || w->watts > limit)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--power-cap' is %g W, want %g to the %g W of "
                         "platform '%s'",
                         w->watts, MSIM_FACT(NULL, POWER_CAP_LEAST) * limit,
                         limit, name);
    out->watts = w->watts;
    ratio = pow((w->watts - idle) / (limit - idle),
                1 / MSIM_FACT(NULL, POWER_EXPONENT));
    if (ratio < out->ratio || !(w->ratio > 0 || w->hz > 0)) {
        out->ratio = ratio;
        out->width_ratio = MSIM_FACT(NULL, CLOCK_CAP_WIDTH);
    }
    return MSIM_OK;
}

enum msim_status msim_clock_solve(struct msim_sm_clock *out,
                                  const struct msim_clock_wish *w,
                                  const struct msim_data_sheet *s,
                                  const char *name, struct msim_error *err)
{
    *out = (struct msim_sm_clock){.usual_hz = s->clock_hz,
                                  .limit_watts = s->power_watts};
    MSIM_TRY(solve_clock(out, w, name, err));
    return solve_cap(out, w, name, err);
}

double msim_clock_watts(const struct msim_sm_clock *c, double limit_watts,
                        double load)
{
    double idle = MSIM_FACT(NULL, POWER_IDLE_SHARE) * limit_watts;
    double ratio = c->ratio > 0 ? c->ratio : 1;
    double most = idle + (limit_watts - idle) *
                             pow(ratio, MSIM_FACT(NULL, POWER_EXPONENT));

    if (c->watts > 0)
        most = fmin(most, c->watts);
    return idle + (most - idle) * load;
}

struct msim_data_sheet msim_clock_sheet(const struct msim_data_sheet *usual,
                                        double ratio)
{
    struct msim_data_sheet s = *usual;

    for (int i = 0; i < MSIM_RATE_COUNT; i++)
        s.rate[i] *= ratio;
    s.floor_us /= ratio;
    s.attention_us /= ratio;
    s.clock_hz *= ratio;
    return s;
}

/* The name of the constant that is the rate of the L2 cache. */
static const char *cache_constant(const struct msim_law *law)
{
    for (uint32_t i = 0; i < law->n_params; i++)
        if (strcmp(law->params[i].name, "cache_speedup") == 0)
            return law->params[i].name;
    return "bandwidth_efficiency";
}

void msim_clock_constants(const struct msim_law *law, const double *usual,
                          double ratio, double *at)
{
    const char *cache = cache_constant(law);

    for (uint32_t i = 0; i < law->n_params; i++) {
        const struct msim_param *p = &law->params[i];

        at[i] = usual[i];
        if (strncmp(p->unit, "us", 2) == 0 || strncmp(p->unit, "ns", 2) == 0)
            at[i] = usual[i] / ratio;
        else if (strcmp(p->name, cache) == 0 && usual[i] > 1)
            at[i] = fmax(1, usual[i] * ratio);
    }
}

double msim_clock_half_width(const struct msim_sm_clock *c, double slowdown)
{
    if (!(c->ratio > 0))
        return 0;
    return c->width_ratio * fabs(log(slowdown)) +
           MSIM_FACT(NULL, CLOCK_PARTS_WIDTH) * fabs(log(c->ratio));
}

void msim_clock_text(const struct msim_sm_clock *c, char *text, size_t size)
{
    char of[48] = "", why[48] = "";

    *text = 0;
    if (!(c->ratio > 0))
        return;
    if (c->usual_hz > 0)
        snprintf(of, sizeof(of), "%.2f GHz (of %.2f)",
                 c->ratio * c->usual_hz * 1e-9, c->usual_hz * 1e-9);
    else
        snprintf(of, sizeof(of), "%.2f of the usual", c->ratio);
    if (c->watts > 0)
        snprintf(why, sizeof(why), ", power cap %g W (of %g)", c->watts,
                 c->limit_watts);
    snprintf(text, size, "%s%s", of, why);
}
