/*
 * serving/app/serving_plan.h - how many replicas each stage of an application
 * has, as PLAN.json says (schema mystique-sim/serving-plan/1).
 *
 *     {"stages": {"front": {"replicas": 3}, "search": {"replicas": 8}}}
 *
 * or, in short, {"replicas": {"front": 3, "search": 8}}. A stage that a plan
 * does not name keeps what the application says. What else `size` writes into
 * a plan is known, and not looked at here.
 */
#ifndef MSIM_SERVING_APP_SERVING_PLAN_H
#define MSIM_SERVING_APP_SERVING_PLAN_H
#include "core/base/containers.h"
#include "serving/app/app.h"

struct msim_serving_plans {
    uint32_t n, n_stages;
    int64_t *replicas;  /* n plans of n_stages numbers */
    const char **names; /* of each: its "name", else its line: "1" */
    struct msim_arena arena;
};

/*
 * The replicas of `app` under the plan of `path`, into `app->n_stages` numbers.
 * EFORMAT by the member's path: a stage that is not there, too; EIO, ESYNTAX,
 * ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_serving_plan_read(int64_t *replicas,
                                        const struct msim_app *app,
                                        const char *path,
                                        struct msim_error *err);

/*
 * A plan a line. On success `plans` goes to msim_serving_plans_release(), on
 * failure it holds nothing; messages begin with the line.
 */
MSIM_MUST_CHECK
enum msim_status msim_serving_plans_read(struct msim_serving_plans *plans,
                                         const struct msim_app *app,
                                         const char *path,
                                         struct msim_error *err);
void msim_serving_plans_release(struct msim_serving_plans *plans);

#endif
