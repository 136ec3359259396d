/*
 * replay/validate/validation.c - three times of a step side by side.
 */
#include "replay/validate/validation.h"

#include <math.h>
#include <string.h>

double msim_validation_error(double time, double real)
{
    return real > 0 ? time / real - 1 : NAN;
}

double msim_replay_error(const struct msim_validation_row *r)
{
    return msim_validation_error(r->replayed, r->measured);
}

double msim_prediction_error(const struct msim_validation_row *r)
{
    return msim_validation_error(r->predicted, r->replayed);
}

int64_t msim_validation_iteration(const struct msim_validation *v, uint32_t i)
{
    return v->iterations[i].number < 0 ? i : v->iterations[i].number;
}

double msim_validation_shared(const struct msim_validation *v)
{
    const uint32_t *of = v->sides[0]->times.ops, *in = v->sides[1]->times.ops;
    double all = 0, more = 0, shared = 0;

    for (int f = 0; f < MSIM_FAMILY_COUNT; f++) {
        all += of[f];
        more += in[f];
        shared += fmin(of[f], in[f]);
    }
    return fmax(all, more) > 0 ? shared / fmax(all, more) : 1;
}

/* ---- times --------------------------------------------------------------- */

static double predicted_family(const struct msim_prediction *p,
                               const char *family)
{
    for (uint32_t i = 0; p && i < p->n_families; i++)
        if (strcmp(p->families[i].model, family) == 0)
            return p->families[i].us.predicted;
    return p ? 0 : NAN;
}

static void add_families(struct msim_validation *v,
                         const struct msim_family_times *measured,
                         const struct msim_family_times *replayed,
                         const struct msim_prediction *p)
{
    struct msim_validation_row *all = &v->rows[1];

    for (int f = 0; f < MSIM_FAMILY_COUNT; f++) {
        const char *name = msim_family_text((enum msim_family)f);
        struct msim_validation_row r = {name, replayed->ops[f], measured->us[f],
                                        replayed->us[f],
                                        predicted_family(p, name)};

        if (!r.operators && r.measured <= 0 && !(r.predicted > 0))
            continue;
        all->operators += r.operators;
        all->predicted += r.predicted;
        v->rows[v->n++] = r;
    }
}

static void add_rows(struct msim_validation *v,
                     const struct msim_family_times *measured,
                     const struct msim_family_times *replayed,
                     const struct msim_prediction *p)
{
    v->rows[0] = (struct msim_validation_row){
        "step", 0, measured->step_us, replayed->step_us,
        p ? p->iteration_us.predicted : NAN};
    v->rows[1] =
        (struct msim_validation_row){"operators", 0, measured->operators_us,
                                     replayed->operators_us, p ? 0 : NAN};
    v->n = 2;
    add_families(v, measured, replayed, p);
}

/* ---- the machine --------------------------------------------------------- */

static void add_system(struct msim_validation *v,
                       const struct msim_system_figures *measured,
                       const struct msim_system_figures *replayed)
{
    for (uint32_t i = 0; i < replayed->n; i++) {
        const struct msim_system_figure *f = &replayed->items[i];

        v->system[v->n_system++] = (struct msim_validation_system){
            f->name, msim_system_figure(measured, f->name), f->value};
    }
    for (uint32_t i = 0; i < measured->n; i++) {
        const struct msim_system_figure *f = &measured->items[i];

        if (isnan(msim_system_figure(replayed, f->name)))
            v->system[v->n_system++] =
                (struct msim_validation_system){f->name, f->value, NAN};
    }
}

void msim_validation_make(struct msim_validation *v,
                          const struct msim_validation_side *measured,
                          const struct msim_validation_side *replayed,
                          const struct msim_prediction *p)
{
    *v = (struct msim_validation){.iterations = replayed->each,
                                  .n_iterations = replayed->n_each,
                                  .sides = {measured, replayed}};
    add_rows(v, &measured->times, &replayed->times, p);
    add_system(v, &measured->system, &replayed->system);
}
