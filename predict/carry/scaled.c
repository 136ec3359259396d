/*
 * predict/carry/scaled.c - a measured time carried to another GPU, and its
 * interval.
 */
#include "predict/carry/scaled.h"

#include "core/work/kernel_fact.h"
#include "models/platform/fit.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <string.h>

/* The log_sd of a class, from ratios of data sheets on the same pairs. Links
 * have no such rows: as the widest. */
static const double CLASS_LOG_SD[MSIM_CLASS_COUNT] = {
    [MSIM_CLASS_LATENCY] = 0.34,
    [MSIM_CLASS_MEMORY] = 0.68,
    [MSIM_CLASS_TENSOR] = 0.50,
    [MSIM_CLASS_LINK] = 0.68,
};

static bool same_gpu(const struct msim_platform *source,
                     const struct msim_platform *target)
{
    return strcmp(source->name, target->name) == 0;
}

static bool equal(double a, double b)
{
    return !(fabs(a - b) > 0);
}

/*
 * One chip under two names: the data sheets agree in all that a kernel without
 * peers uses. Rates of double precision are left out, which export rules cap.
 */
static bool same_chip(const struct msim_platform *source,
                      const struct msim_platform *target)
{
    const struct msim_data_sheet *a = &source->sheet, *b = &target->sheet;

    for (int i = 0; i < MSIM_RATE_COUNT; i++)
        if (i != MSIM_RATE_FP64 && !equal(a->rate[i], b->rate[i]))
            return false;
    return strcmp(source->sheet.generation, target->sheet.generation) == 0 &&
           equal(a->sustained, b->sustained) && equal(a->sms, b->sms) &&
           equal(a->l2_bytes, b->l2_bytes) &&
           equal(a->bandwidth, b->bandwidth) &&
           equal(a->power_watts, b->power_watts) &&
           equal(a->trace_factor, b->trace_factor);
}

bool msim_scaled_same(const struct msim_platform *source,
                      const struct msim_platform *target)
{
    return same_gpu(source, target) &&
           !(fabs(msim_platform_clock_ratio(source) -
                  msim_platform_clock_ratio(target)) > 0);
}

/* One GPU at two clocks: the models differ by the clock only, and so does the
 * interval. */
static void set_clock_interval(const struct msim_platform *target,
                               double slowdown, struct msim_estimate *out)
{
    double half = msim_clock_half_width(&target->clock, slowdown);

    msim_interval_set(out, -half, half, 0);
}

/* As measured, before anything is known of the target. */
static struct msim_estimate measured(double us, enum msim_source source,
                                     enum msim_family family)
{
    return (struct msim_estimate){.us = us,
                                  .low_us = us,
                                  .high_us = us,
                                  .source = source,
                                  .family = family};
}

/*
 * An operator of another size than was traced: the models' time at the new
 * size, times what is left of the traced one's error, which all kernels of the
 * operator show together. How much is left is not
 * fitted: all of it where the time is the same, half of it (as a logarithm)
 * where it doubles or halves, as kernels change with sizes.
 */
static void set_resized(const struct msim_scaling *s, double us,
                        struct msim_estimate *out)
{
    const struct msim_estimate *a = &s->from, *b = &s->to;
    double left = exp2(-fabs(log2(b->us / a->us)));
    double new = sqrt(1 - left * left);
    double error = log(s->whole_us / a->us);

    out->us = b->us * exp(left * error) * us / s->whole_us;
    out->low_us = out->us * pow(b->low_us / b->us, new);
    out->high_us = out->us * pow(b->high_us / b->us, new);
}

void msim_scaled_by_model(const struct msim_scaling *s, double us,
                          struct msim_estimate *out)
{
    const struct msim_estimate *a = &s->from, *b = &s->to;
    double down, up;

    *out = measured(us, MSIM_SOURCE_SCALED, b->family);
    if (msim_scaled_same(s->source, s->target) &&
        (!s->reshaped || equal(a->us, b->us)))
        return;
    if (b->source == MSIM_SOURCE_NEAREST)
        out->source = b->source;
    if (s->reshaped && same_gpu(s->source, s->target)) {
        set_resized(s, us, out);
        return;
    }
    /* The ratio is low where the target's is and the source's is high. */
    down = hypot(log(b->us / b->low_us), log(a->high_us / a->us));
    up = hypot(log(b->high_us / b->us), log(a->us / a->low_us));
    out->us = us * b->us / a->us;
    if (same_gpu(s->source, s->target)) {
        set_clock_interval(s->target, out->us / us, out);
        return;
    }
    if (same_chip(s->source, s->target) && equal(a->us, b->us)) {
        msim_interval_set(out, 0, 0, 0);
        return;
    }
    out->low_us = out->us * exp(-MSIM_FACT(NULL, SCALED_RATIO_SHARE) * down);
    out->high_us = out->us * exp(MSIM_FACT(NULL, SCALED_RATIO_SHARE) * up);
}

void msim_scaled_by_class(const struct msim_platform *source,
                          const struct msim_platform *target,
                          const struct msim_kernel_facts *k,
                          struct msim_estimate *out)
{
    double half;

    *out = measured(k->us, MSIM_SOURCE_CLASS, MSIM_FAMILY_BOUND);
    if (msim_scaled_same(source, target))
        return;
    out->us = msim_kernel_class_us(&source->sheet, &target->sheet, k);
    if (same_gpu(source, target)) {
        /* a class is a guess: it may go with the clock, or not at all */
        half = fabs(log(msim_platform_clock_ratio(target)));
        msim_interval_set(out, -half, half, 0);
        return;
    }
    if (same_chip(source, target) && equal(out->us, k->us)) {
        msim_interval_set(out, 0, 0, 0);
        return;
    }
    msim_interval_set(out, 0, 0,
                      CLASS_LOG_SD[msim_kernel_class_of(&source->sheet, k)]);
}

double msim_scaled_factor(const struct msim_platform *source,
                          const struct msim_platform *target)
{
    if (same_gpu(source, target))
        return 1;
    return exp(hypot(log(source->sheet.trace_factor),
                     log(target->sheet.trace_factor)));
}
