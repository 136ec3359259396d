/*
 * plan/outcome/plan_words.c - figures of a plan as people write them.
 */
#include "plan/outcome/plan_words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void msim_plan_strategy_text(const struct msim_strategy *s, char *text,
                             size_t size)
{
    static const struct {
        const char *name;
        size_t offset;
        int64_t usual; /* not printed */
    } MEMBERS[] = {
        {"tp", offsetof(struct msim_strategy, tp), 1},
        {"pp", offsetof(struct msim_strategy, pp), 1},
        {"vp", offsetof(struct msim_strategy, vp), 1},
        {"cp", offsetof(struct msim_strategy, cp), 1},
        {"ep", offsetof(struct msim_strategy, ep), 1},
        {"dp", offsetof(struct msim_strategy, dp), -1},
        {"zero", offsetof(struct msim_strategy, zero), -1},
        {"micro batch", offsetof(struct msim_strategy, micro_batch), -1},
    };
    size_t used = 0;

    for (size_t i = 0; i < sizeof(MEMBERS) / sizeof(MEMBERS[0]); i++) {
        int64_t v;

        memcpy(&v, (const char *)s + MEMBERS[i].offset, sizeof(v));
        if (v != MEMBERS[i].usual && used < size)
            used += (size_t)snprintf(text + used, size - used,
                                     "%s %" PRId64 ", ", MEMBERS[i].name, v);
    }
    if (used < size)
        used += (size_t)snprintf(text + used, size - used, "recompute %s, %s",
                                 msim_recompute_text(s->recompute),
                                 msim_precision_text(s->precision));
    for (int g = MSIM_GIVEN_offload; g < MSIM_GIVEN_COUNT && used < size; g++) {
        int64_t v = msim_strategy_value(s, (enum msim_given)g);
        char value[32];

        msim_strategy_value_text((enum msim_given)g, v, value, sizeof(value));
        if (v)
            used +=
                (size_t)snprintf(text + used, size - used, ", %s %s",
                                 msim_given_text((enum msim_given)g), value);
    }
}

struct msim_plan_figure msim_plan_figure_of(const struct msim_plan_point *p,
                                            double v)
{
    return (struct msim_plan_figure){v, v * p->low_us / p->us,
                                     v * p->high_us / p->us};
}

void msim_plan_amount_text(double v, char *text, size_t size)
{
    static const struct {
        double from, unit;
        const char *name;
    } UNITS[] = {
        {1e12, 1e12, "T"}, {1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e4, 1e3, "k"}};

    for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++)
        if (v >= UNITS[i].from) {
            snprintf(text, size, "%.4g %s", v / UNITS[i].unit, UNITS[i].name);
            return;
        }
    if (isnan(v))
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%.0f", v);
}

void msim_plan_chance_text(double chance, char *text, size_t size)
{
    if (chance > 0.99)
        snprintf(text, size, "above 99 %%");
    else if (chance < 0.01)
        snprintf(text, size, "below 1 %%");
    else
        snprintf(text, size, "%.0f %%", 100 * chance);
}

const char *msim_plan_cost_word(const struct msim_plan_point *p)
{
    return isnan(p->cost) ? "GPU time" : "cost";
}
