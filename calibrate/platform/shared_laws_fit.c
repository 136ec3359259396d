/*
 * calibrate/platform/shared_laws_fit.c - laws that all GPUs share.
 */
#include "calibrate/platform/platform_fit.h"

#include "core/base/containers.h"
#include "core/base/quantile.h"
#include "core/work/kernel_fact.h"
#include "models/platform/platform.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MIN          20 /* of a kind on one GPU */
#define THREADS_MAX       64
#define SHORT             1.3 /* times the gap: shorter rows show it */
#define SHORT_SHARE       0.05
#define FEW_GENERATIONS   4 /* fewer: residuals of all kinds of the law count */
#define WIDER_GENERATIONS 1.0

/* ---- platforms and rows -------------------------------------------------- */

static uint8_t generation_of(struct msim_shared_fit *k, uint32_t platform)
{
    const char *name = k->platforms[platform]->sheet.generation;

    for (uint32_t i = 0; i < platform; i++)
        if (strcmp(k->platforms[i]->sheet.generation, name) == 0)
            return k->generation[i];
    return (uint8_t)k->n_generations++;
}

/* A platform file has curves of collectives that were inferred from other GPUs.
 * They are dropped: a held-out GPU must not come back by them. */
static enum msim_status forget_inferred(struct msim_platform *p)
{
    for (; p; p = p->next)
        for (uint32_t i = 0; i < p->n_fits; i++) {
            MSIM_TRY(msim_fit_complete(&p->fits[i]));
            msim_curves_keep_measured(&p->fits[i].curves);
        }
    return MSIM_OK;
}

static enum msim_status load_platforms(struct msim_shared_fit *k,
                                       const char *data, struct msim_error *err)
{
    const cJSON *sheet;

    cJSON_ArrayForEach(sheet, k->sheets)
    {
        const char *name = msim_json_get_text(sheet, "name");
        uint32_t i = k->n_platforms;

        if (!name || i == MSIM_SHARED_PLATFORMS)
            return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                             "data sheets want names, and at most %d platforms",
                             MSIM_SHARED_PLATFORMS);
        MSIM_TRY(msim_platform_load(&k->platforms[i], data, name, err));
        MSIM_TRY(forget_inferred(k->platforms[i]));
        k->n_platforms++;
        k->generation[i] = generation_of(k, i);
        if (k->n_generations > MSIM_SHARED_GENERATIONS)
            return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                             "more than %d generations",
                             MSIM_SHARED_GENERATIONS);
    }
    return MSIM_OK;
}

/* The platform whose rows the tables call `gpu`, or UINT32_MAX. */
static uint32_t platform_of(const struct msim_shared_fit *k, const char *gpu)
{
    uint32_t i = 0;
    const cJSON *sheet, *t;

    cJSON_ArrayForEach(sheet, k->sheets)
    {
        cJSON_ArrayForEach(t, cJSON_GetObjectItemCaseSensitive(sheet, "tables"))
        {
            if (cJSON_IsString(t) && strcmp(t->valuestring, gpu) == 0)
                return i;
        }
        i++;
    }
    return UINT32_MAX;
}

/* Whether rows are short enough to show a launch gap. */
static bool shows_gap(const struct msim_sample *rows, uint32_t n, double gap)
{
    uint32_t short_ones = 0;

    for (uint32_t i = 0; i < n; i++)
        short_ones += rows[i].us < SHORT * gap;
    return short_ones >= SHORT_SHARE * n;
}

/* The launch gap that was fitted to rows like this on their own GPU. */
static struct msim_gap gap_of(const struct msim_platform *p,
                              const struct msim_sample *r)
{
    for (uint32_t i = 0; i < p->n_fits; i++) {
        const struct msim_fit *c = &p->fits[i];

        if (c->law == r->law && strcmp(c->framework, r->framework) == 0 &&
            strcmp(c->key, r->key) == 0)
            return c->gap;
    }
    return (struct msim_gap){0, 0};
}

/* Rows `begin`..`end` of a platform, evenly spread. */
static enum msim_status take_rows(struct msim_shared_fit *k,
                                  const struct msim_sample *rows, uint32_t n,
                                  uint32_t platform)
{
    struct msim_platform *p = k->platforms[platform];
    struct msim_gap gap = gap_of(p, rows);
    bool shown = shows_gap(rows, n, gap.least_us);
    uint32_t count = n < MSIM_SHARED_ROWS ? n : MSIM_SHARED_ROWS;

    for (uint32_t i = 0; i < count; i++) {
        struct msim_shared_row *r;

        MSIM_TRY(msim_grow((void **)&k->rows, &k->cap_rows, k->n_rows,
                           sizeof(*k->rows)));
        r = &k->rows[k->n_rows++];
        memset(r, 0, sizeof(*r));
        r->sample = rows[(uint64_t)i * n / count];
        r->sample.sheet = &p->sheet;
        r->sample.gap = gap;
        r->shows_gap = shown;
        if (r->sample.law->start_follows_floor)
            r->sample.start =
                p->sheet.floor_us / MSIM_FACT(NULL, SHARED_LAW_FLOOR_US);
        r->platform = platform;
        r->order = k->n_rows;
        r->generation = k->generation[platform];
    }
    return MSIM_OK;
}

static int by_fit(const void *pa, const void *pb)
{
    const struct msim_shared_row *a = pa;
    const struct msim_shared_row *b = pb;
    int c = strcmp(a->sample.law->name, b->sample.law->name);

    if (c == 0)
        c = strcmp(a->sample.framework, b->sample.framework);
    if (c == 0)
        c = strcmp(a->sample.key, b->sample.key);
    if (c == 0)
        c = MSIM_ORDER(a->platform, b->platform);
    return c ? c : MSIM_ORDER(a->order, b->order);
}

static enum msim_status take_all(struct msim_shared_fit *k,
                                 const struct msim_samples *s)
{
    uint32_t end;

    for (uint32_t begin = 0; begin < s->n; begin = end) {
        uint32_t platform = platform_of(k, s->rows[begin].gpu);

        for (end = begin + 1;
             end < s->n && msim_sample_same_fit(&s->rows[begin], &s->rows[end]);
             end++)
            ;
        if (platform != UINT32_MAX && end - begin >= ROWS_MIN)
            MSIM_TRY(take_rows(k, &s->rows[begin], end - begin, platform));
    }
    qsort(k->rows, k->n_rows, sizeof(*k->rows), by_fit);
    return MSIM_OK;
}

bool msim_shared_same_group(const struct msim_shared_row *a,
                            const struct msim_shared_row *b)
{
    return a->sample.law == b->sample.law &&
           strcmp(a->sample.framework, b->sample.framework) == 0 &&
           strcmp(a->sample.key, b->sample.key) == 0;
}

/* Groups with rows of one generation count too: cross-validation predicts their
 * rows. */
static enum msim_status make_groups(struct msim_shared_fit *k)
{
    uint32_t end;

    for (uint32_t begin = 0; begin < k->n_rows; begin = end) {
        struct msim_shared_group *c;
        uint32_t seen = 0;

        MSIM_TRY(msim_grow((void **)&k->groups, &k->cap_groups, k->n_groups,
                           sizeof(*k->groups)));
        c = &k->groups[k->n_groups++];
        memset(c, 0, sizeof(*c));
        for (end = begin;
             end < k->n_rows &&
             msim_shared_same_group(&k->rows[begin], &k->rows[end]);
             end++) {
            seen |= 1u << k->rows[end].generation;
            c->platforms += end == begin ||
                            k->rows[end].platform != k->rows[end - 1].platform;
        }
        c->begin = begin;
        c->end = end;
        c->generations = (uint32_t)__builtin_popcount(seen);
    }
    return MSIM_OK;
}

enum msim_status msim_shared_fit_init(struct msim_shared_fit *k,
                                      const cJSON *sheets, const char *data,
                                      const struct msim_samples *samples,
                                      struct msim_error *err)
{
    memset(k, 0, sizeof(*k));
    k->sheets = sheets;
    MSIM_TRY(load_platforms(k, data, err));
    MSIM_TRY(take_all(k, samples));
    return make_groups(k);
}

void msim_shared_fit_release(struct msim_shared_fit *k)
{
    for (uint32_t i = 0; i < k->n_platforms; i++)
        msim_platform_free(k->platforms[i]);
    free(k->rows);
    free(k->groups);
    memset(k, 0, sizeof(*k));
}

/* ---- fitting ------------------------------------------------------------- */

/* The median of the launch gaps that show on the GPUs of a group, without those
 * of one generation; of all gaps where none shows. */
static struct msim_gap middle_gap(const struct msim_shared_fit *k,
                                  const struct msim_shared_group *c,
                                  int without)
{
    double least[2][MSIM_SHARED_PLATFORMS], added[2][MSIM_SHARED_PLATFORMS];
    uint32_t n[2] = {0, 0}, shown;

    for (uint32_t i = c->begin; i < c->end; i++) {
        const struct msim_shared_row *r = &k->rows[i];

        if ((i > c->begin && r->platform == r[-1].platform) ||
            r->generation == without)
            continue;
        for (shown = 0; shown <= r->shows_gap; shown++) {
            least[shown][n[shown]] = r->sample.gap.least_us;
            added[shown][n[shown]++] = r->sample.gap.added_us;
        }
    }
    shown = n[1] > 0;
    return (struct msim_gap){msim_median(least[shown], n[shown]),
                             msim_median(added[shown], n[shown])};
}

struct fit_area {
    struct msim_sample *samples;
    uint8_t *fold;
};

static enum msim_status fit_without(const struct msim_shared_fit *k,
                                    const struct msim_shared_group *c,
                                    int without, const struct fit_area *a,
                                    struct msim_law_constants *out)
{
    MSIM_TRY(msim_law_fit(out, a->samples[0].law, a->samples, a->fold,
                          c->end - c->begin, without, false));
    out->gap = middle_gap(k, c, without);
    return MSIM_OK;
}

/* Predict a row by the law without its generation. */
static void predict(struct msim_shared_row *r,
                    const struct msim_law_constants *c)
{
    struct msim_sample s = r->sample;

    s.gap.least_us = 0; /* an unmeasured GPU's is not known */
    r->us = msim_law_measured(c, &s);
    r->residual = log(r->sample.us / r->us);
}

static enum msim_status fit_rows_of(struct msim_shared_fit *k,
                                    struct msim_shared_group *c)
{
    uint32_t n = c->end - c->begin;
    struct fit_area a = {malloc(n * sizeof(*a.samples)), malloc(n)};
    enum msim_status status = a.samples && a.fold ? MSIM_OK : MSIM_ENOMEM;

    for (uint32_t i = 0; status == MSIM_OK && i < n; i++) {
        a.samples[i] = k->rows[c->begin + i].sample;
        a.fold[i] = k->rows[c->begin + i].generation;
    }
    if (status == MSIM_OK)
        status = fit_without(k, c, -1, &a, &c->all);
    for (uint32_t i = c->begin; status == MSIM_OK && i < c->end; i++) {
        uint8_t g = k->rows[i].generation;
        bool first = true;

        for (uint32_t j = c->begin; j < i && first; j++)
            first = k->rows[j].generation != g;
        if (first)
            status = fit_without(k, c, g, &a, &c->without[g]);
        if (status == MSIM_OK)
            predict(&k->rows[i], &c->without[g]);
    }
    free(a.samples);
    free(a.fold);
    return status;
}

struct fit_run {
    struct msim_shared_fit *k;
    atomic_uint next;
    atomic_int failed; /* an enum msim_status */
};

static void *work(void *arg)
{
    struct fit_run *run = arg;

    for (;;) {
        uint32_t i = atomic_fetch_add(&run->next, 1);
        enum msim_status status = MSIM_OK;

        if (i >= run->k->n_groups)
            return NULL;
        if (run->k->groups[i].generations > 1)
            status = fit_rows_of(run->k, &run->k->groups[i]);
        if (status != MSIM_OK)
            atomic_store(&run->failed, (int)status);
    }
}

enum msim_status msim_shared_fit_run(struct msim_shared_fit *k,
                                     uint32_t threads)
{
    pthread_t ids[THREADS_MAX];
    struct fit_run run = {.k = k};
    uint32_t started = 0;

    while (started + 1 < threads && started < THREADS_MAX &&
           pthread_create(&ids[started], NULL, work, &run) == 0)
        started++;
    (void)work(&run);
    while (started > 0)
        pthread_join(ids[--started], NULL);
    return (enum msim_status)atomic_load(&run.failed);
}

/* ---- as fits for the models ---------------------------------------------- */

/* Residuals of the rows of a law: of one group, or of all with NULL. */
static uint32_t residuals(const struct msim_shared_fit *k,
                          const struct msim_law *law,
                          const struct msim_shared_group *c, int without,
                          double *out)
{
    uint32_t begin = c ? c->begin : 0;
    uint32_t end = c ? c->end : k->n_rows;
    uint32_t n = 0;

    for (uint32_t i = begin; i < end; i++)
        if (k->rows[i].sample.law == law && k->rows[i].us > 0 &&
            k->rows[i].generation != without)
            out[n++] = k->rows[i].residual;
    return n;
}

static void widen(double *values, uint32_t n, uint32_t generations,
                  struct msim_fit_bin *bin)
{
    double wider = 1 + WIDER_GENERATIONS / generations;

    if (n == 0)
        return;
    msim_sort_values(values, n);
    bin->low = fmin(bin->low, msim_quantile(values, n, 0.05) * wider);
    bin->high = fmax(bin->high, msim_quantile(values, n, 0.95) * wider);
}

/* If one generation is slower than another predicts, the other is faster than
 * the first predicts: with few generations both signs are as likely. */
static void widen_both_ways(double *values, uint32_t n,
                            struct msim_fit_bin *bin)
{
    double half;

    if (n == 0)
        return;
    for (uint32_t i = 0; i < n; i++)
        values[i] = fabs(values[i]);
    msim_sort_values(values, n);
    half = msim_quantile(values, n, 0.9);
    bin->low = fmin(bin->low, -half);
    bin->high = fmax(bin->high, half);
}

static enum msim_status make_interval(const struct msim_shared_fit *k,
                                      const struct msim_shared_group *c,
                                      int without, uint32_t generations,
                                      struct msim_fit *out)
{
    double *values = malloc(((size_t)k->n_rows + 1) * sizeof(*values));
    double sum = 0;
    uint32_t n;

    if (!values)
        return MSIM_ENOMEM;
    out->n_bins = 1;
    out->bins[0] = (struct msim_fit_bin){.upto_us = INFINITY};
    n = residuals(k, out->law, c, without, values);
    for (uint32_t i = 0; i < n; i++)
        sum += fabs(exp(-values[i]) - 1);
    out->heldout = n ? sum / n : 0;
    if (generations < FEW_GENERATIONS) {
        widen_both_ways(values, n, &out->bins[0]);
        widen(values, residuals(k, out->law, NULL, without, values),
              MSIM_SHARED_GENERATIONS, &out->bins[0]);
    } else {
        widen(values, n, generations, &out->bins[0]);
    }
    free(values);
    return MSIM_OK;
}

/* The range of sizes, and the mean error on rows fitted on. */
static void make_range(const struct msim_shared_fit *k,
                       const struct msim_shared_group *c, int without,
                       const struct msim_law_constants *constants,
                       struct msim_fit *out)
{
    const struct msim_law *law = out->law;
    double x[MSIM_LAW_FEATURES];

    for (uint32_t f = 0; f < law->n_sizes; f++) {
        out->range_low[f] = INFINITY;
        out->range_high[f] = -INFINITY;
    }
    for (uint32_t i = c->begin; i < c->end; i++) {
        const struct msim_sample *r = &k->rows[i].sample;

        if (k->rows[i].generation == without)
            continue;
        out->rows++;
        out->error += fabs(msim_law_measured(constants, r) / r->us - 1);
        law->describe(r->sheet, &r->work, x);
        for (uint32_t f = 0; f < law->n_sizes; f++) {
            out->range_low[f] = fmin(out->range_low[f], x[f]);
            out->range_high[f] = fmax(out->range_high[f], x[f]);
        }
    }
    if (out->rows)
        out->error /= out->rows;
}

static bool has_rows_of(const struct msim_shared_fit *k,
                        const struct msim_shared_group *c, int generation)
{
    for (uint32_t i = c->begin; i < c->end; i++)
        if (k->rows[i].generation == generation)
            return true;
    return false;
}

static enum msim_status make_fit(const struct msim_shared_fit *k,
                                 const struct msim_shared_group *c, int without,
                                 struct msim_fit *out)
{
    const struct msim_sample *r = &k->rows[c->begin].sample;
    bool less = has_rows_of(k, c, without);
    const struct msim_law_constants *constants =
        less ? &c->without[without] : &c->all;

    memset(out, 0, sizeof(*out));
    out->law = r->law;
    snprintf(out->framework, sizeof(out->framework), "%s", r->framework);
    snprintf(out->key, sizeof(out->key), "%s", r->key);
    snprintf(out->table, sizeof(out->table), "%u GPUs", c->platforms);
    memcpy(out->params, constants->params, sizeof(out->params));
    out->gap = constants->gap;
    make_range(k, c, without, constants, out);
    return make_interval(k, c, without, c->generations - less, out);
}

enum msim_status msim_shared_fit_laws(const struct msim_shared_fit *k,
                                      int without, struct msim_shared_laws *out)
{
    out->fits = calloc((size_t)k->n_groups + 1, sizeof(*out->fits));
    if (!out->fits)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < k->n_groups; i++) {
        const struct msim_shared_group *c = &k->groups[i];

        if (c->generations < 2)
            continue;
        MSIM_TRY(make_fit(k, c, without, &out->fits[out->n_fits]));
        out->n_fits++;
    }
    return MSIM_OK;
}
