/*
 * replay/run/run_plan.c - run a plan on a backend.
 */
#include "replay/run/replay_plan.h"

#include "profilers/ask/backend_child.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the question -------------------------------------------------------- */

static bool add_lists(cJSON *sequence, const struct msim_replay_plan *p)
{
    cJSON *experiments = cJSON_AddArrayToObject(sequence, "experiments");
    cJSON *order = cJSON_AddArrayToObject(sequence, "order");

    for (uint32_t i = 0; experiments && i < p->experiments.n; i++)
        if (!cJSON_AddItemToArray(
                experiments, msim_experiment_json(msim_plan_experiment(p, i))))
            return false;
    for (uint32_t i = 0; order && i < p->order.n; i++)
        if (!cJSON_AddItemToArray(order,
                                  cJSON_CreateNumber(msim_plan_order(p, i))))
            return false;
    return experiments && order;
}

static cJSON *question(const struct msim_replay_plan *p, uint32_t id,
                       uint32_t warm_up, uint32_t iterations)
{
    cJSON *q = cJSON_CreateObject();
    cJSON *sequence = q ? cJSON_AddObjectToObject(q, "sequence") : NULL;

    if (sequence && add_lists(sequence, p) &&
        cJSON_AddNumberToObject(q, "id", id) &&
        cJSON_AddNumberToObject(sequence, "warm_up", warm_up) &&
        cJSON_AddNumberToObject(sequence, "iterations", iterations))
        return q;
    cJSON_Delete(q);
    return NULL;
}

/* ---- answers ------------------------------------------------------------- */

static enum msim_status not_understood(struct msim_error *err, const char *what)
{
    return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                     "the backend's answer has no %s for every element", what);
}

static bool is_time(double us)
{
    return us >= 0 && isfinite(us);
}

static enum msim_status read_times(const cJSON *answer, const char *key,
                                   double *to, uint32_t n,
                                   struct msim_error *err)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(answer, key), *item;
    uint32_t i = 0;

    if (!cJSON_IsArray(list) || (uint32_t)cJSON_GetArraySize(list) != n)
        return not_understood(err, key);
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsNumber(item) || !is_time(item->valuedouble))
            return not_understood(err, key);
        to[i++] = item->valuedouble;
    }
    return MSIM_OK;
}

/* Takes the answer. */
static enum msim_status add_round(struct msim_replay_runs *r, cJSON *answer,
                                  struct msim_error *err)
{
    size_t n = r->n_elements;
    double *at = r->times + 2 * n * r->n;
    struct msim_replay_round *round = &r->rounds[r->n];

    if (r->n == r->wanted) {
        cJSON_Delete(answer);
        return not_understood(err, "end");
    }
    r->n++;
    *round =
        (struct msim_replay_round){.us = msim_json_get_number(answer, "us", -1),
                                   .at_us = at,
                                   .time_us = at + n,
                                   .line = answer};
    if (!is_time(round->us))
        return not_understood(err, "us");
    MSIM_TRY(read_times(answer, "at_us", at, r->n_elements, err));
    MSIM_TRY(read_times(answer, "time_us", at + n, r->n_elements, err));
    cJSON_DeleteItemFromObjectCaseSensitive(answer, "at_us");
    cJSON_DeleteItemFromObjectCaseSensitive(answer, "time_us");
    return MSIM_OK;
}

/* What the backend cannot do is run as bytes. */
static enum msim_status replace(struct msim_replay_plan *p, const cJSON *answer,
                                const cJSON *refused, struct msim_error *err)
{
    const cJSON *item;
    uint32_t replaced = 0;

    cJSON_ArrayForEach(item, refused)
    {
        double number = msim_json_get_number(item, "experiment", -1);
        const char *why = msim_json_get_text(item, "error");

        if (!(number >= 0 && number < p->experiments.n) ||
            msim_plan_experiment(p, (uint32_t)number)->table == MSIM_TABLE_COPY)
            continue;
        MSIM_TRY(msim_replay_plan_replace(p, (uint32_t)number,
                                          why ? why : "refused"));
        replaced++;
    }
    if (replaced)
        return MSIM_OK;
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                     "the backend says: %s",
                     msim_json_get_text(answer, "error"));
}

/* One answer; `*again`: the plan was changed, so ask once more. */
static enum msim_status take(struct msim_replay_runs *r,
                             struct msim_replay_plan *p, cJSON *answer,
                             bool *again, bool *done, struct msim_error *err)
{
    const cJSON *refused = cJSON_GetObjectItemCaseSensitive(answer, "refused");
    const char *error = msim_json_get_text(answer, "error");
    const char *counters = msim_json_get_text(answer, "counters_error");
    enum msim_status status = MSIM_OK;

    if (!error && !msim_json_get_true(answer, "done"))
        return add_round(r, answer, err);
    *done = true;
    *again = refused != NULL;
    if (counters)
        snprintf(r->counters_error, sizeof(r->counters_error), "%s", counters);
    if (refused)
        status = replace(p, answer, refused, err);
    else if (error)
        status = msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                           "the backend says: %s", error);
    cJSON_Delete(answer);
    return status;
}

static enum msim_status ask(struct msim_replay_runs *r,
                            struct msim_replay_plan *p,
                            struct msim_child *child, uint32_t id, bool *again,
                            struct msim_error *err)
{
    cJSON *q = question(p, id, r->warm_up, r->wanted), *answer = NULL;
    double warm_up = r->patience * (1 + r->warm_up);
    bool done = false;
    enum msim_status status =
        q ? msim_child_ask(child, q, warm_up, &answer, err) : MSIM_ENOMEM;

    cJSON_Delete(q);
    *again = false;
    while (status == MSIM_OK) {
        status = take(r, p, answer, again, &done, err);
        if (status != MSIM_OK || done)
            break;
        status = msim_child_next(child, r->patience, &answer, err);
    }
    return status;
}

/* ---- all of it ----------------------------------------------------------- */

static enum msim_status make_room(struct msim_replay_runs *r,
                                  const struct msim_replay_plan *p,
                                  uint32_t iterations)
{
    r->wanted = iterations;
    r->n_elements = p->order.n;
    r->rounds = calloc(iterations, sizeof(*r->rounds));
    r->times = calloc((size_t)iterations * p->order.n, 2 * sizeof(*r->times));
    return r->rounds && r->times ? MSIM_OK : MSIM_ENOMEM;
}

enum msim_status
msim_replay_run(struct msim_replay_runs *out, struct msim_replay_plan *p,
                struct msim_child *child, const cJSON *greeting,
                const struct msim_replay_how *how, struct msim_error *err)
{
    uint32_t id = 0;
    bool again = true;

    *out = (struct msim_replay_runs){.warm_up = how->warm_up,
                                     .patience = how->patience};
    if (!msim_json_get_true(greeting, "sequences"))
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "backend '%s' runs no sequences, want cpu or cuda",
                         msim_json_get_text(greeting, "backend")
                             ? msim_json_get_text(greeting, "backend")
                             : "");
    MSIM_TRY(make_room(out, p, how->iterations));
    while (again)
        MSIM_TRY(ask(out, p, child, ++id, &again, err));
    if (out->n != how->iterations)
        return not_understood(err, "time");
    return msim_child_end(child, err);
}

void msim_replay_runs_release(struct msim_replay_runs *r)
{
    for (uint32_t i = 0; r->rounds && i < r->n; i++)
        cJSON_Delete(r->rounds[i].line);
    free(r->rounds);
    free(r->times);
    *r = (struct msim_replay_runs){0};
}
