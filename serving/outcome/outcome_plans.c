/*
 * serving/outcome/outcome_plans.c - many plans of one application, a line each.
 *
 * All see the same requests, which draw the same (common random numbers), so
 * that small differences between plans are real. Threads take plans.
 */
#include "core/base/csv.h"
#include "core/turns/turns.h"
#include "serving/outcome/serving_outcome_internal.h"

#include <math.h>
#include <stdlib.h>

struct row {
    uint32_t worst;
    double violations, p99, replicas, cost;
};

struct work {
    const struct msim_serving_wish *wish;
    const struct msim_serving_plans *plans;
    struct row *rows;
};

static double cost_per_hour(const struct msim_app *app, const int64_t *replicas)
{
    double cost = NAN;

    for (uint32_t i = 0; i < app->n_stages; i++) {
        double gpus = msim_deploy_gpus(app, i);
        double price = app->stages[i].price_per_hour * (gpus > 0 ? gpus : 1);

        if (!isnan(price))
            cost = (isnan(cost) ? 0 : cost) + (double)replicas[i] * price;
    }
    return cost;
}

static enum msim_status judge(const struct work *k,
                              struct msim_serving_outcome *o, uint32_t plan,
                              struct msim_error *err)
{
    const struct msim_app *app = k->wish->app;
    const int64_t *replicas = k->plans->replicas + (size_t)plan * app->n_stages;
    struct msim_serving_how how = k->wish->how;
    struct row *r = &k->rows[plan];
    const struct msim_class_outcome *c;

    how.replicas = replicas;
    MSIM_TRY(msim_serving_run(o->sim, &how, &o->run, err));
    for (uint32_t i = 0; i < app->n_classes; i++)
        o->classes[i] = (struct msim_class_outcome){0};
    MSIM_TRY(msim_outcome_classes(o, k->wish));
    c = &o->classes[o->worst_class];
    *r = (struct row){.worst = o->worst_class,
                      .violations = c->violations,
                      .p99 = c->e2e.p99,
                      .cost = cost_per_hour(app, replicas)};
    for (uint32_t i = 0; i < app->n_stages; i++)
        r->replicas += (double)replicas[i];
    return MSIM_OK;
}

static enum msim_status work(struct msim_turns *turns, void *ctx,
                             struct msim_error *err)
{
    const struct work *k = ctx;
    struct msim_serving_outcome o = {.app = k->wish->app};
    enum msim_status status = msim_outcome_simulator(&o.sim, k->wish, err);
    uint32_t plan;

    if (status == MSIM_OK) {
        o.classes = calloc(o.app->n_classes, sizeof(*o.classes));
        status = o.classes ? MSIM_OK : MSIM_ENOMEM;
    }
    while (status == MSIM_OK && msim_turns_next(turns, &plan))
        status = judge(k, &o, plan, err);
    msim_serving_outcome_release(&o);
    return status;
}

static void put_rows(const struct work *k, FILE *out)
{
    fputs("plan,worst_class,violations,p99_ms,replicas,cost_per_hour\n", out);
    for (uint32_t i = 0; i < k->plans->n; i++) {
        const struct row *r = &k->rows[i];

        msim_csv_write(out, k->plans->names[i]);
        msim_csv_add(out, k->wish->app->classes[r->worst].name);
        msim_csv_add_number(out, r->violations);
        msim_csv_add_number(out, r->p99);
        msim_csv_add_number(out, r->replicas);
        msim_csv_add_number(out, r->cost);
        fputs("\n", out);
    }
}

enum msim_status msim_serving_plans_csv(const struct msim_serving_wish *w,
                                        const struct msim_serving_plans *plans,
                                        FILE *out, struct msim_error *err)
{
    struct work k = {w, plans, calloc(plans->n + 1u, sizeof(*k.rows))};
    enum msim_status status;

    if (!k.rows)
        return MSIM_ENOMEM;
    status = msim_turns_run(plans->n, w->threads, work, &k, err);
    if (status == MSIM_OK)
        put_rows(&k, out);
    free(k.rows);
    return status;
}
