/*
 * replay/run/replay_figures.c - what came of a replay.
 */
#include "replay/run/replay_plan.h"

#include "core/base/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOW    0.1
#define HIGH   0.9
#define NO_GAP 1e-9

static double op_us(const struct msim_plan_op *o,
                    const struct msim_replay_round *round)
{
    double us = 0;

    for (uint32_t k = 0; k < o->n; k++)
        us += round->time_us[o->first + k];
    return us;
}

/* Sorts the values. */
static struct msim_replay_time spread_of(double *values, uint32_t n, double us)
{
    msim_sort_values(values, n);
    return (struct msim_replay_time){us, msim_quantile_between(values, n, LOW),
                                     msim_quantile_between(values, n, HIGH)};
}

static double mean(const double *values, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += values[i];
    return sum / n;
}

static void add_op(struct msim_replay_figures *f, const struct msim_plan_op *o,
                   double us)
{
    f->how[o->how].ops++;
    f->how[o->how].us += us;
    f->family[o->family].ops++;
    f->family[o->family].us += us;
    f->sum_us += us;
}

static void time_ops(struct msim_replay_figures *f,
                     const struct msim_replay_plan *p,
                     const struct msim_replay_runs *r, double *scratch)
{
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const struct msim_plan_op *o = msim_plan_op(p, i);

        for (uint32_t k = 0; k < r->n; k++)
            scratch[k] = op_us(o, &r->rounds[k]);
        f->ops[i] = spread_of(scratch, r->n, mean(scratch, r->n));
        add_op(f, o, f->ops[i].us);
    }
    for (uint32_t k = 0; k < r->n; k++)
        scratch[k] = r->rounds[k].us;
    f->gap_us = mean(scratch, r->n) - f->sum_us;
    if (fabs(f->gap_us) < NO_GAP * f->sum_us) /* sums in another order */
        f->gap_us = 0;
    f->step = spread_of(scratch, r->n, 0);
    f->step.us = msim_quantile_between(scratch, r->n, 0.5);
}

/* ---- the machine --------------------------------------------------------- */

static struct msim_replay_metric *metric(struct msim_replay_figures *f,
                                         const char *name)
{
    for (uint32_t i = 0; i < f->n_system; i++)
        if (strcmp(f->system[i].name, name) == 0)
            return &f->system[i];
    if (f->n_system == MSIM_REPLAY_SYSTEM)
        return NULL;
    f->system[f->n_system] = (struct msim_replay_metric){.name = name};
    return &f->system[f->n_system++];
}

static bool is_metric(const cJSON *item)
{
    return cJSON_IsNumber(item) && strcmp(item->string, "id") != 0 &&
           strcmp(item->string, "iteration") != 0 &&
           strcmp(item->string, "us") != 0 &&
           strcmp(item->string, "together_us") != 0;
}

static void add_metrics(struct msim_replay_figures *f, const cJSON *object,
                        double share)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, object)
    {
        struct msim_replay_metric *m =
            is_metric(item) ? metric(f, item->string) : NULL;

        if (m)
            m->value += share * item->valuedouble;
    }
}

double msim_replay_metric(const struct msim_replay_figures *f, const char *name)
{
    for (uint32_t i = 0; i < f->n_system; i++)
        if (strcmp(f->system[i].name, name) == 0)
            return f->system[i].value;
    return NAN;
}

static void watch(struct msim_replay_figures *f,
                  const struct msim_replay_runs *r, const cJSON *greeting)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(greeting, "device");
    double cores = msim_json_get_number(device, "threads", NAN), us = 0;

    for (uint32_t i = 0; i < r->n; i++) {
        const cJSON *line = r->rounds[i].line;

        add_metrics(f, line, 1.0 / r->n);
        add_metrics(f, cJSON_GetObjectItemCaseSensitive(line, "state"),
                    1.0 / r->n);
        us += r->rounds[i].us / r->n;
        f->together_us += msim_json_get_number(line, "together_us", 0) / r->n;
    }
    f->utilization = msim_replay_metric(f, "cpu_us") / (us * cores);
}

/* ---- all of it ----------------------------------------------------------- */

enum msim_status msim_replay_figures_make(struct msim_replay_figures *f,
                                          const struct msim_replay_plan *p,
                                          const struct msim_replay_runs *r,
                                          const cJSON *greeting)
{
    double *scratch = malloc(((size_t)r->n + 1) * sizeof(*scratch));

    *f = (struct msim_replay_figures){
        .ops = calloc((size_t)p->ops.n + 1, sizeof(*f->ops))};
    if (scratch && f->ops) {
        time_ops(f, p, r, scratch);
        watch(f, r, greeting);
    }
    free(scratch);
    return scratch && f->ops ? MSIM_OK : MSIM_ENOMEM;
}

void msim_replay_figures_release(struct msim_replay_figures *f)
{
    free(f->ops);
    f->ops = NULL;
}
