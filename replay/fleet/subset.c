/*
 * replay/fleet/subset.c - choosing points: by trying all choices, or by the
 * best exchange of one point after the other.
 */
#include "replay/fleet/fleet_internal.h"

#include "core/base/containers.h"
#include "core/turns/turns.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROUNDS 100 /* of exchanges; a handful is usual */
#define STARTS      8

/* Scratch of one search. */
struct search {
    const struct msim_points *p;
    uint32_t k;
    double *mean;                    /* of all points */
    double *gram, *weight, *scratch; /* of k points */
    uint32_t *chosen, *best;         /* k points */
    double *rest; /* of each point, the distance to the nearest of the others */
};

static const double *point(const struct search *s, uint32_t i)
{
    return s->p->at + (size_t)i * s->p->dims;
}

static double distance(const struct search *s, const double *a, const double *b)
{
    double sum = 0;

    for (uint32_t d = 0; d < s->p->dims; d++)
        sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

/* ---- faults ------------------------------------------------------------- */

/* The error of `k` points; their mixture is in `weight`. */
static double error_of(struct search *s, const uint32_t *of, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++)
        for (uint32_t j = 0; j <= i; j++) {
            const double *a = point(s, of[i]), *b = point(s, of[j]);
            double sum = 0;

            for (uint32_t d = 0; d < s->p->dims; d++)
                sum += (a[d] - s->mean[d]) * (b[d] - s->mean[d]);
            s->gram[i * k + j] = s->gram[j * k + i] = sum;
        }
    return msim_simplex_fit(s->gram, k, s->weight, s->scratch);
}

/* The spread where `one` is chosen besides those that `rest` goes by. */
static double spread_with(const struct search *s, uint32_t one)
{
    const double *at = point(s, one);
    double sum = 0;

    for (uint32_t i = 0; i < s->p->n; i++)
        sum += s->p->mass[i] * fmin(s->rest[i], distance(s, at, point(s, i)));
    return sum;
}

/* Fill in `rest` for the chosen ones but number `without`. */
static void find_rest(struct search *s, const uint32_t *of, uint32_t k,
                      uint32_t without)
{
    for (uint32_t i = 0; i < s->p->n; i++) {
        s->rest[i] = INFINITY;
        for (uint32_t c = 0; c < k; c++)
            if (c != without)
                s->rest[i] =
                    fmin(s->rest[i], distance(s, point(s, of[c]), point(s, i)));
    }
}

static bool is_among(const uint32_t *of, uint32_t k, uint32_t i,
                     uint32_t without)
{
    for (uint32_t c = 0; c < k; c++)
        if (c != without && of[c] == i)
            return true;
    return false;
}

/* ---- one after the other ------------------------------------------------ */

/*
 * Put the best point into place `at` of the `k` chosen ones, unless none is
 * better than `fault`, that of what is there. The fault after it.
 */
static double exchange(struct search *s, uint32_t k, uint32_t at, double fault)
{
    uint32_t best = s->chosen[at];

    find_rest(s, s->chosen, k, at);
    for (uint32_t i = 0; i < s->p->n; i++) {
        double found;

        if (is_among(s->chosen, k, i, at))
            continue;
        found = spread_with(s, i);
        if (found >= fault)
            continue;
        s->chosen[at] = i;
        found += error_of(s, s->chosen, k);
        if (found < fault) {
            fault = found;
            best = i;
        }
    }
    s->chosen[at] = best;
    return fault;
}

/* From the first `k` chosen ones: add points, then exchange them. */
static double descend(struct search *s, uint32_t k)
{
    double fault = INFINITY, before = INFINITY;

    for (; k < s->k; k++)
        fault = exchange(s, k + 1, k, INFINITY);
    for (int round = 0; round < MOST_ROUNDS && (round == 0 || fault < before);
         round++) {
        before = fault;
        for (uint32_t at = 0; at < s->k; at++)
            fault = exchange(s, s->k, at, fault);
    }
    return fault;
}

/* ---- all choices -------------------------------------------------------- */

/* Distances that are measured in trying all choices. */
static double effort_of(uint32_t n, uint32_t k)
{
    double choices = 1;

    for (uint32_t i = 0; i < k; i++)
        choices *= (double)(n - i) / (i + 1);
    return choices * n * k;
}

/* The next choice in lexical order; false after the last. */
static bool advance(struct search *s)
{
    uint32_t i = s->k;

    while (i > 0 && s->chosen[i - 1] == s->p->n - s->k + i - 1)
        i--;
    if (!i)
        return false;
    s->chosen[i - 1]++;
    for (; i < s->k; i++)
        s->chosen[i] = s->chosen[i - 1] + 1;
    return true;
}

static void try_all(struct search *s)
{
    double least = INFINITY;

    for (uint32_t i = 0; i < s->k; i++)
        s->chosen[i] = i;
    do {
        double fault;

        find_rest(s, s->chosen, s->k, s->k - 1);
        fault = spread_with(s, s->chosen[s->k - 1]);
        if (fault >= least)
            continue;
        fault += error_of(s, s->chosen, s->k);
        if (fault < least) {
            least = fault;
            memcpy(s->best, s->chosen, s->k * sizeof(*s->best));
        }
    } while (advance(s));
}

/* ---- the result --------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return MSIM_ORDER(x, y);
}

static void assign(struct search *s, struct msim_subset *out)
{
    out->spread = 0;
    for (uint32_t i = 0; i < s->p->n; i++) {
        double least = INFINITY;

        for (uint32_t c = 0; c < s->k; c++) {
            double d = distance(s, point(s, s->best[c]), point(s, i));

            if (d < least) {
                least = d;
                out->nearest[i] = c;
            }
        }
        out->spread += s->p->mass[i] * least;
    }
}

static void find_mean(struct search *s)
{
    for (uint32_t d = 0; d < s->p->dims; d++) {
        s->mean[d] = 0;
        for (uint32_t i = 0; i < s->p->n; i++)
            s->mean[d] += s->p->mass[i] * point(s, i)[d];
    }
}

static bool reserve(struct search *s)
{
    size_t k = s->k;

    s->gram = calloc(k * k, sizeof(*s->gram));
    s->weight = calloc(k, sizeof(*s->weight));
    s->scratch = calloc(k, sizeof(*s->scratch));
    s->chosen = calloc(k, sizeof(*s->chosen));
    s->best = calloc(k, sizeof(*s->best));
    s->rest = calloc((size_t)s->p->n + 1, sizeof(*s->rest));
    return s->gram && s->weight && s->scratch && s->chosen && s->best &&
           s->rest;
}

static void release(struct search *s)
{
    free(s->gram);
    free(s->weight);
    free(s->scratch);
    free(s->chosen);
    free(s->best);
    free(s->rest);
}

/* ---- several starts ----------------------------------------------------- */

/* Where each start ended. */
struct starts {
    const struct search *of;
    double fault[STARTS];
    uint32_t *chosen; /* k points each */
};

/* The first start chooses every point, the others are given one of them. */
static enum msim_status try_starts(struct msim_turns *t, struct starts *starts,
                                   struct search *s)
{
    uint32_t start;

    while (msim_turns_next(t, &start)) {
        s->chosen[0] = start ? start - 1 : 0;
        starts->fault[start] = descend(s, start > 0);
        memcpy(starts->chosen + (size_t)start * s->k, s->chosen,
               s->k * sizeof(*s->chosen));
    }
    return MSIM_OK;
}

static enum msim_status start_work(struct msim_turns *t, void *ctx,
                                   struct msim_error *err)
{
    struct starts *starts = ctx;
    struct search own = {
        .p = starts->of->p, .k = starts->of->k, .mean = starts->of->mean};
    enum msim_status status =
        reserve(&own) ? try_starts(t, starts, &own) : MSIM_ENOMEM;

    (void)err;
    release(&own);
    return status;
}

/* The best end, of equal ones that of the first start. */
static enum msim_status descend_from_several(struct search *s, uint32_t threads)
{
    uint32_t n = s->p->n < STARTS ? s->p->n + 1 : STARTS;
    struct starts starts = {
        .of = s, .chosen = calloc((size_t)n * s->k, sizeof(*starts.chosen))};
    enum msim_status status =
        starts.chosen ? msim_turns_run(n, threads, start_work, &starts, NULL)
                      : MSIM_ENOMEM;
    double least = INFINITY;

    for (uint32_t i = 0; i < n && status == MSIM_OK; i++)
        if (starts.fault[i] < least) {
            least = starts.fault[i];
            memcpy(s->best, starts.chosen + (size_t)i * s->k,
                   s->k * sizeof(*s->best));
        }
    free(starts.chosen);
    return status;
}

/* ---- the whole ---------------------------------------------------------- */

static enum msim_status search(struct search *s, double effort,
                               uint32_t threads)
{
    find_mean(s);
    if (effort_of(s->p->n, s->k) > effort)
        return descend_from_several(s, threads);
    try_all(s);
    return MSIM_OK;
}

static void fill(struct search *s, struct msim_subset *out)
{
    qsort(s->best, s->k, sizeof(*s->best), ascending);
    out->error = error_of(s, s->best, s->k);
    memcpy(out->chosen, s->best, s->k * sizeof(*s->best));
    memcpy(out->weight, s->weight, s->k * sizeof(*s->weight));
    assign(s, out);
}

enum msim_status msim_subset_choose(struct msim_subset *out,
                                    const struct msim_points *points,
                                    uint32_t k, double effort, uint32_t threads)
{
    struct search s = {.p = points, .k = k};
    enum msim_status status = MSIM_ENOMEM;

    *out = (struct msim_subset){
        .k = k,
        .chosen = calloc(k, sizeof(*out->chosen)),
        .weight = calloc(k, sizeof(*out->weight)),
        .nearest = calloc((size_t)points->n + 1, sizeof(*out->nearest))};
    s.mean = calloc((size_t)points->dims + 1, sizeof(*s.mean));
    if (reserve(&s) && s.mean && out->chosen && out->weight && out->nearest)
        status = search(&s, effort, threads);
    if (status == MSIM_OK)
        fill(&s, out);
    free(s.mean);
    release(&s);
    return status;
}

void msim_subset_release(struct msim_subset *s)
{
    free(s->chosen);
    free(s->weight);
    free(s->nearest);
    memset(s, 0, sizeof(*s));
}
