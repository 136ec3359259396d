/*
 * predict/whatif/plane_search.c - the planes by which a page computes the
 * period.
 *
 * Of a largest of sums every plane touches from below, so that one more never
 * spoils a point (up to the step of the differences). The number of
 * simulations is bounded by the size of the graph.
 */
#include "predict/whatif/whatif.h"

#include "core/base/containers.h"
#include "predict/whatif/rescale.h"

#include <math.h>
#include <string.h>

#define STEP       0.01 /* of a factor: what a slope is the difference over */
#define TASKS_MAX  30e6 /* tasks that are simulated, in all */
#define RUNS_LEAST 60
#define RUNS_MOST  800
#define QUIET      32 /* points in a row that need no plane: enough */
#define CHECKED    24

struct plane_search {
    struct msim_planes *out;
    struct msim_rescaler rescaler;
    uint32_t runs, runs_most;
    struct msim_error *err;
};

/* ---- which classes there are ---------------------------------------------
 */

static bool is_between_nodes(const struct msim_costs *c, uint32_t task)
{
    return c->groups && c->groups->link[task] == MSIM_LINK_NETWORK;
}

static int class_of(const struct msim_costs *c, const struct msim_graph *g,
                    uint32_t task)
{
    enum msim_task_kind kind = (enum msim_task_kind)g->kind[task];

    if (kind <= MSIM_TASK_CALL)
        return MSIM_PLANE_HOST;
    if (kind == MSIM_TASK_KERNEL)
        return MSIM_PLANE_KERNELS;
    if (kind != MSIM_TASK_COMM)
        return -1;
    return is_between_nodes(c, task) ? MSIM_PLANE_NETWORK : MSIM_PLANE_LINK;
}

static void find_classes(struct plane_search *x)
{
    const struct msim_prediction_run *run = x->rescaler.run;

    for (uint32_t t = 0; t < run->graph->n_tasks; t++) {
        int k = class_of(run->costs, run->graph, t);

        if (k >= 0 && run->costs->mid[t] > 0)
            x->out->has[k] = true;
    }
}

/* ---- one point -----------------------------------------------------------
 */

static enum msim_status period_at(struct plane_search *x,
                                  const double f[MSIM_PLANE_CLASSES],
                                  double *us)
{
    const bool *has = x->out->has;
    struct msim_scale scales[MSIM_PLANE_CLASSES];
    uint32_t n = 0;
    double link = has[MSIM_PLANE_LINK] ? f[MSIM_PLANE_LINK] : 1;

    if (has[MSIM_PLANE_KERNELS])
        scales[n++] = (struct msim_scale){.select = MSIM_SELECT_KERNELS,
                                          .factor = f[MSIM_PLANE_KERNELS]};
    if (has[MSIM_PLANE_HOST])
        scales[n++] = (struct msim_scale){.select = MSIM_SELECT_HOST,
                                          .factor = f[MSIM_PLANE_HOST]};
    if (has[MSIM_PLANE_LINK])
        scales[n++] = (struct msim_scale){.select = MSIM_SELECT_COMMUNICATION,
                                          .factor = link};
    if (has[MSIM_PLANE_NETWORK])
        scales[n++] =
            (struct msim_scale){.select = MSIM_SELECT_LINK,
                                .group = MSIM_LINK_NETWORK,
                                .factor = f[MSIM_PLANE_NETWORK] / link};
    x->runs++;
    return msim_rescaler_period(&x->rescaler, scales, n, us, x->err);
}

/* The plane that touches at `f`, where the period is `us`. */
static enum msim_status add_plane(struct plane_search *x,
                                  const double f[MSIM_PLANE_CLASSES], double us)
{
    struct msim_planes *out = x->out;
    struct msim_plane p = {.constant = us};

    for (int k = 0; k < MSIM_PLANE_CLASSES; k++) {
        double beside[MSIM_PLANE_CLASSES], there;

        if (!out->has[k])
            continue;
        memcpy(beside, f, sizeof(beside));
        beside[k] *= 1 + STEP;
        MSIM_TRY(period_at(x, beside, &there));
        p.us[k] = fmax(there - us, 0) / (STEP * f[k]);
        p.constant -= p.us[k] * f[k];
    }
    MSIM_TRY(msim_grow((void **)&out->planes, &out->cap, out->n,
                       sizeof(*out->planes)));
    out->planes[out->n++] = p;
    return MSIM_OK;
}

static double deviation(const struct plane_search *x,
                        const double f[MSIM_PLANE_CLASSES], double us)
{
    return us > 0 ? msim_planes_period(x->out, f) / us - 1 : 0;
}

/* ---- points --------------------------------------------------------------
 */

/* The i-th number of van der Corput's sequence, in [0, 1). */
static double radical_inverse(uint32_t i, uint32_t base)
{
    double digit = 1, sum = 0;

    for (; i; i /= base) {
        digit /= base;
        sum += digit * (i % base);
    }
    return sum;
}

/* The i-th point, even in the logarithms of the factors (Halton 1960). */
static void draw(uint32_t i, double f[MSIM_PLANE_CLASSES])
{
    static const uint32_t BASES[MSIM_PLANE_CLASSES] = {2, 3, 5, 7};
    double range = log(MSIM_PLANES_MOST / MSIM_PLANES_LEAST);

    for (int k = 0; k < MSIM_PLANE_CLASSES; k++)
        f[k] = MSIM_PLANES_LEAST * exp(range * radical_inverse(i, BASES[k]));
}

/* As it is, and one class alone at either end: what sliders show first. */
static enum msim_status make_axes(struct plane_search *x)
{
    const double ends[] = {MSIM_PLANES_LEAST, 0.5, 2, MSIM_PLANES_MOST};

    for (int k = -1; k < MSIM_PLANE_CLASSES; k++) {
        for (int e = 0; e < (k < 0 ? 1 : 4); e++) {
            double f[MSIM_PLANE_CLASSES] = {1, 1, 1, 1}, us;

            if (k >= 0 && !x->out->has[k])
                continue;
            if (k >= 0)
                f[k] = ends[e];
            MSIM_TRY(period_at(x, f, &us));
            if (fabs(deviation(x, f, us)) > MSIM_PLANES_OFF / 3)
                MSIM_TRY(add_plane(x, f, us));
        }
    }
    return MSIM_OK;
}

static enum msim_status make_planes(struct plane_search *x)
{
    uint32_t quiet = 0;

    MSIM_TRY(make_axes(x));
    for (uint32_t i = 1; quiet < QUIET && x->runs < x->runs_most; i++) {
        double f[MSIM_PLANE_CLASSES], us;

        draw(i, f);
        MSIM_TRY(period_at(x, f, &us));
        quiet++;
        if (deviation(x, f, us) < -MSIM_PLANES_OFF) {
            MSIM_TRY(add_plane(x, f, us));
            quiet = 0;
        }
    }
    return MSIM_OK;
}

/* Points that no plane was made of. */
static enum msim_status check_planes(struct plane_search *x)
{
    for (uint32_t i = 0; i < CHECKED; i++) {
        double f[MSIM_PLANE_CLASSES], us;

        draw(100003 + 7 * i, f);
        MSIM_TRY(period_at(x, f, &us));
        x->out->deviation = fmax(x->out->deviation, fabs(deviation(x, f, us)));
        x->out->checked++;
    }
    return MSIM_OK;
}

enum msim_status msim_plane_search(struct msim_planes *out,
                                   const struct msim_prediction_run *run,
                                   struct msim_error *err)
{
    struct plane_search x = {.out = out, .err = err};
    enum msim_status status = msim_rescaler_init(&x.rescaler, run);

    *out = (struct msim_planes){.least = MSIM_PLANES_LEAST,
                                .most = MSIM_PLANES_MOST};
    x.runs_most = (uint32_t)fmax(
        RUNS_LEAST, fmin(RUNS_MOST, TASKS_MAX / (run->graph->n_tasks + 1.0)));
    if (status == MSIM_OK && x.rescaler.base_us > 0) {
        find_classes(&x);
        status = make_planes(&x);
        if (status == MSIM_OK)
            status = check_planes(&x);
    }
    msim_rescaler_release(&x.rescaler);
    return status;
}
