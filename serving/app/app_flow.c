/*
 * serving/app/app_flow.c - the flow: where requests start, and who calls whom.
 */
#include "core/base/containers.h"
#include "core/base/texts.h"
#include "serving/app/app_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COPIES 1000
#define USUAL_LOOPS 8 /* that is eight calls at most, as of agents */
#define MOST_LOOPS  1000
#define MOST_VISITS                                                            \
    1e6 /* for one request: more is a mistake, and takes hours */

static uint32_t read_end(const struct msim_app *app, struct msim_fields *f,
                         const char *key)
{
    const char *name = msim_field_text(f, key), *near = NULL;
    uint32_t at = name ? msim_app_stage_find(app, name) : MSIM_NONE;
    const char **names;
    char want[160] = "the name of a stage";

    if (at != MSIM_NONE)
        return at;
    names = name ? malloc(app->n_stages * sizeof(*names)) : NULL;
    for (uint32_t i = 0; names && i < app->n_stages; i++)
        names[i] = app->stages[i].name;
    if (names)
        near = msim_nearest_word(name, names, app->n_stages);
    if (near)
        snprintf(want, sizeof(want), "the name of a stage, such as %.80s",
                 near);
    free(names);
    msim_field_refuse(f, key, want);
    return 0;
}

static void read_copies(struct msim_flow_edge *e, struct msim_fields *f)
{
    static const char *const KEYS[] = {"geometric", NULL};
    struct msim_fields in;

    e->copies = 1;
    if (!cJSON_IsObject(msim_field_json(f, "copies"))) {
        e->copies = (double)msim_field_int(f, "copies", 1, 1);
        if (e->copies > MOST_COPIES)
            msim_field_refuse(f, "copies", "at most 1000");
        return;
    }
    in = msim_fields_open(f, "copies");
    msim_fields_only(&in, KEYS);
    e->copies_geometric = true;
    if (!msim_field_json(&in, "geometric"))
        msim_field_refuse(&in, "geometric", "the mean, from 1");
    e->copies = msim_field_between(&in, "geometric", 1, MOST_COPIES, 1);
    msim_fields_close(f, &in);
}

static void read_wait(struct msim_flow_edge *e, struct msim_fields *f)
{
    const cJSON *item = msim_field_json(f, "wait");
    const char *word = cJSON_GetStringValue(item);
    double k = cJSON_IsNumber(item) ? item->valuedouble : 0;

    if (word && strcmp(word, "any") == 0)
        k = 1;
    e->wait = k >= 1 && k <= 1e6 ? (int64_t)k : 0;
    if (item && (e->wait == 0 || k != floor(k)) &&
        !(word && strcmp(word, "all") == 0))
        msim_field_refuse(f, "wait",
                          "\"all\", \"any\" or how many answers are enough");
}

static void read_loop(struct msim_app *app, struct msim_flow_edge *e,
                      struct msim_fields *f)
{
    static const char *const KEYS[] = {"again", "most", NULL};
    struct msim_fields in = msim_fields_open(f, "loop");

    e->most = 1;
    if (in.object) {
        msim_fields_only(&in, KEYS);
        if (!msim_field_json(&in, "again"))
            msim_field_refuse(&in, "again", "a probability, from 0 to 1");
        e->again = msim_field_between(&in, "again", 0, 1, 0);
        e->most = msim_field_int(&in, "most", 1, USUAL_LOOPS);
        if (e->most > MOST_LOOPS)
            msim_field_refuse(&in, "most", "at most 1000");
        if (!msim_field_json(&in, "most"))
            msim_app_assume(app, &in, "most", "8", "not stated");
    }
    msim_fields_close(f, &in);
}

static void read_retry(struct msim_flow_edge *e, struct msim_fields *f)
{
    static const char *const KEYS[] = {"timeout_ms", "most", NULL};
    struct msim_fields in = msim_fields_open(f, "retry");

    if (in.object) {
        msim_fields_only(&in, KEYS);
        if (!msim_field_json(&in, "timeout_ms"))
            msim_field_refuse(&in, "timeout_ms", "a number above 0");
        e->timeout_ms = msim_field_real(&in, "timeout_ms", 0);
        e->retries = msim_field_int(&in, "most", 1, 1);
        if (e->retries > MOST_LOOPS)
            msim_field_refuse(&in, "most", "at most 1000");
    }
    msim_fields_close(f, &in);
}

static void read_edge_classes(struct msim_app *app, struct msim_flow_edge *e,
                              struct msim_fields *f)
{
    const cJSON *list = msim_field_array(f, "classes"), *item;
    uint64_t *bits =
        list ? msim_app_room(app, f, app->n_classes / 64 + 1, sizeof(*bits))
             : NULL;
    uint32_t n = 0;

    if (list && !list->child)
        msim_field_refuse(f, "classes", "names of classes");
    cJSON_ArrayForEach(item, list)
    {
        const char *name = cJSON_GetStringValue(item);
        uint32_t c = name ? msim_app_class_find(app, name) : MSIM_NONE;

        if (c == MSIM_NONE || !bits) {
            msim_field_refuse_item(f, "classes", n, "the name of a class");
            return;
        }
        bits[c / 64] |= UINT64_C(1) << (c % 64);
        n++;
    }
    e->classes = bits;
}

static void read_edge(struct msim_app *app, struct msim_flow_edge *e,
                      struct msim_fields *f)
{
    static const char *const KEYS[] = {"from",    "to",   "step", "prob",
                                       "copies",  "wait", "loop", "retry",
                                       "classes", NULL};

    msim_fields_only(f, KEYS);
    e->from = read_end(app, f, "from");
    e->to = read_end(app, f, "to");
    e->step = msim_field_int(f, "step", 1, 1);
    e->prob = msim_field_between(f, "prob", 0, 1, 1);
    read_copies(e, f);
    read_wait(e, f);
    read_loop(app, e, f);
    read_retry(e, f);
    read_edge_classes(app, e, f);
}

/* ---- order and circles --------------------------------------------------- */

/* By (from, step); what is equal keeps the order of the file. */
struct placed {
    struct msim_flow_edge edge;
    uint32_t place;
};

static int compare(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->edge.from != y->edge.from)
        return MSIM_ORDER(x->edge.from, y->edge.from);
    if (x->edge.step != y->edge.step)
        return MSIM_ORDER(x->edge.step, y->edge.step);
    return MSIM_ORDER(x->place, y->place);
}

/* `n` edges of one step: no more answers are awaited than it can have. */
static void check_wait(const struct placed *e, uint32_t n,
                       struct msim_fields *f)
{
    double calls = 0;

    for (uint32_t i = 0; i < n; i++)
        calls += e[i].edge.copies_geometric ? INFINITY : e[i].edge.copies;
    for (uint32_t i = 0; i < n && f->status == MSIM_OK; i++)
        if ((double)e[i].edge.wait > calls)
            f->status = msim_fail(
                f->err, MSIM_EFORMAT, f->file, MSIM_OFFSET_NONE,
                "%sedges[%u].wait is %lld, want at most the calls of its step, "
                "%.0f",
                f->path, e[i].place, (long long)e[i].edge.wait, calls);
}

static void check_waits(const struct placed *e, uint32_t n,
                        struct msim_fields *f)
{
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && e[end].edge.from == e[i].edge.from &&
                          e[end].edge.step == e[i].edge.step;
             end++)
            ;
        check_wait(&e[i], end - i, f);
    }
}

static void sort_edges(struct msim_flow_edge *e, uint32_t n,
                       struct msim_fields *f)
{
    struct placed *all = malloc(n * sizeof(*all));

    if (!all) {
        f->status = MSIM_ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        all[i] = (struct placed){e[i], i};
    qsort(all, n, sizeof(*all), compare);
    for (uint32_t i = 0; i < n; i++)
        e[i] = all[i].edge;
    check_waits(all, n, f);
    free(all);
}

/* Stages that no way leads to are taken away, again and again (Kahn, 1962);
 * what is left lies on circles or behind them. */
static uint32_t peel(const struct msim_app *app, uint32_t *calls,
                     uint32_t *ready)
{
    uint32_t n = 0, done = 0;

    for (uint32_t i = 0; i < app->n_edges; i++)
        calls[app->edges[i].to]++;
    for (uint32_t s = 0; s < app->n_stages; s++)
        if (calls[s] == 0)
            ready[n++] = s;
    while (done < n) {
        uint32_t edges;
        const struct msim_flow_edge *e =
            msim_app_edges_of(app, ready[done++], &edges);

        for (uint32_t i = 0; i < edges; i++)
            if (--calls[e[i].to] == 0)
                ready[n++] = e[i].to;
    }
    return n;
}

/* Back along edges among what is left, until a stage comes twice: on a circle.
 * Every stage left has a caller that is left. */
static uint32_t find_circle(const struct msim_app *app, const uint32_t *calls)
{
    uint32_t at = 0;

    while (calls[at] == 0)
        at++;
    for (uint32_t steps = 0; steps < app->n_stages; steps++)
        for (uint32_t i = 0; i < app->n_edges; i++)
            if (app->edges[i].to == at && calls[app->edges[i].from]) {
                at = app->edges[i].from;
                break;
            }
    return at;
}

/* Calls of one visit, on the average; each may be made again where it is slow.
 */
static double calls_of(const struct msim_flow_edge *e)
{
    double loops = e->again < 1
                       ? (1 - pow(e->again, (double)e->most)) / (1 - e->again)
                       : (double)e->most;

    return e->prob * e->copies * loops * (double)(1 + e->retries);
}

/* Visits of all stages for one request; `order`: none before its callers. */
static void check_visits(const struct msim_app *app, const uint32_t *order,
                         struct msim_fields *f)
{
    double *visits = calloc(app->n_stages, sizeof(*visits)), all = 0;

    if (!visits) {
        f->status = MSIM_ENOMEM;
        return;
    }
    visits[app->start] = 1;
    for (uint32_t i = 0; i < app->n_stages; i++) {
        uint32_t n;
        const struct msim_flow_edge *e = msim_app_edges_of(app, order[i], &n);

        all += visits[order[i]];
        for (uint32_t k = 0; k < n; k++)
            visits[e[k].to] += visits[order[i]] * calls_of(&e[k]);
    }
    free(visits);
    if (all > MOST_VISITS)
        f->status = msim_fail(
            f->err, MSIM_EFORMAT, f->file, MSIM_OFFSET_NONE,
            "flow.edges make %.3g visits for one request, want at most %.0f: "
            "look at copies, loops and retries",
            all, MOST_VISITS);
}

static void check_order(const struct msim_app *app, struct msim_fields *f)
{
    uint32_t *room = calloc(2 * (size_t)app->n_stages, sizeof(*room));
    const char *name;

    if (!room) {
        f->status = MSIM_ENOMEM;
        return;
    }
    if (peel(app, room, room + app->n_stages) < app->n_stages) {
        name = app->stages[find_circle(app, room)].name;
        f->status = msim_fail(
            f->err, MSIM_EFORMAT, f->file, MSIM_OFFSET_NONE,
            "flow.edges lead from stage '%.60s' back to it, want no circle: "
            "calls that are made again are a \"loop\" of their edge",
            name);
    } else {
        check_visits(app, room + app->n_stages, f);
    }
    free(room);
}

static void read_edges(struct msim_app *app, struct msim_fields *f)
{
    const cJSON *list = msim_field_array(f, "edges"), *item;
    uint32_t n = (uint32_t)cJSON_GetArraySize(list);
    struct msim_flow_edge *e;

    if (n > MSIM_APP_MOST_EDGES)
        msim_field_refuse(f, "edges", "at most 20000 of them");
    if (n == 0 || f->status != MSIM_OK)
        return;
    e = msim_app_room(app, f, n, sizeof(*e));
    app->edges = e;
    cJSON_ArrayForEach(item, list)
    {
        struct msim_fields in =
            msim_fields_open_item(f, "edges", app->n_edges, item);

        if (f->status != MSIM_OK)
            return;
        read_edge(app, &e[app->n_edges++], &in);
        msim_fields_close(f, &in);
    }
    if (f->status == MSIM_OK)
        sort_edges(e, n, f);
}

void msim_app_read_flow(struct msim_app *app, struct msim_fields *f)
{
    static const char *const KEYS[] = {"start", "edges", NULL};
    struct msim_fields in;

    if (f->status != MSIM_OK)
        return;
    in = msim_fields_open(f, "flow");
    if (in.object)
        msim_fields_only(&in, KEYS);
    if (in.object || app->n_stages > 1)
        app->start = read_end(app, &in, "start");
    read_edges(app, &in);
    if (in.status == MSIM_OK)
        check_order(app, &in);
    msim_fields_close(f, &in);
}
