/*
 * calibrate/platform/cross_validate.c - leave-one-GPU-out cross-validation.
 */
#include "calibrate/platform/platform_fit.h"

#include "core/base/csv.h"
#include "core/base/quantile.h"
#include "core/work/estimate.h"
#include "models/estimate/model.h"
#include "models/platform/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OTHERS_MAX 16
#define SD_MAX     3.0
#define BISECTIONS 40
#define INSIDE     0.9
#define NORMAL_SD                                                              \
    1.4826 /* of a normal variable, over the median of its absolute value */

/* ---- fits of other GPUs -------------------------------------------------- */

/* A row of a held-out GPU against the prediction by another's fit: logarithms
 * over the prediction. */
struct compared {
    double residual, low, high;
};

static bool is_shared(const struct msim_platform *a,
                      const struct msim_platform *b)
{
    return strcmp(a->sheet.generation, b->sheet.generation) == 0;
}

/* The fit of the nearest other GPU, of the same generation or of another. */
static const struct msim_fit *nearest(const struct msim_platform *p,
                                      bool shared, const struct msim_sample *r,
                                      const struct msim_platform **of)
{
    for (*of = p->next; *of; *of = (*of)->next) {
        if (is_shared(*of, p) != shared)
            continue;
        for (uint32_t i = 0; i < (*of)->n_fits; i++) {
            const struct msim_fit *c = &(*of)->fits[i];

            if (c->law == r->law && strcmp(c->framework, r->framework) == 0 &&
                strcmp(c->key, r->key) == 0)
                return c;
        }
    }
    return NULL;
}

static bool compare(const struct msim_platform *p, bool shared,
                    const struct msim_sample *r, struct compared *out)
{
    struct msim_pick pick = {.trees = shared};
    struct msim_estimate e;

    pick.fit = nearest(p, shared, r, &pick.platform);
    if (!pick.fit)
        return false;
    msim_fit_estimate(p, &pick, &r->work, NULL, &e);
    out->residual = log(r->us / e.us);
    out->low = log(e.low_us / e.us);
    out->high = log(e.high_us / e.us);
    return true;
}

static double share_inside(const struct compared *rows, uint32_t n, double sd)
{
    double z = MSIM_Z90 * sd;
    uint32_t inside = 0;

    for (uint32_t i = 0; i < n; i++) {
        double low = sqrt(rows[i].low * rows[i].low + z * z);
        double high = sqrt(rows[i].high * rows[i].high + z * z);

        inside += rows[i].residual >= -low && rows[i].residual <= high;
    }
    return (double)inside / n;
}

/* The least standard deviation that lets enough rows lie inside. */
static double fit_sd(const struct compared *rows, uint32_t n)
{
    double low = 0;
    double high = SD_MAX;

    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;

        if (share_inside(rows, n, middle) < INSIDE)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Rows of one law, compared. */
struct comparison {
    struct compared *rows;
    double *scratch; /* as many */
    double *levels;  /* |median residual| of each fit of each GPU */
    uint32_t n, n_levels;
    double error; /* sum over fits of their mean error */
};

static enum msim_status allocate(struct comparison *c, uint32_t n)
{
    c->rows = malloc(((size_t)n + 1) * sizeof(*c->rows));
    c->scratch = malloc(((size_t)n + 1) * sizeof(*c->scratch));
    c->levels = malloc(((size_t)n + 1) * sizeof(*c->levels));
    return c->rows && c->scratch && c->levels ? MSIM_OK : MSIM_ENOMEM;
}

static void release(struct comparison *c)
{
    free(c->rows);
    free(c->scratch);
    free(c->levels);
}

/* Rows `begin`..`end` are of one fit of one GPU. */
static void compare_rows(const struct msim_shared_fit *k, uint32_t begin,
                         uint32_t end, bool shared, struct comparison *c)
{
    uint32_t first = c->n;
    double error = 0;

    for (uint32_t i = begin; i < end; i++)
        if (compare(k->platforms[k->rows[i].platform], shared,
                    &k->rows[i].sample, &c->rows[c->n]))
            c->n++;
    if (c->n == first)
        return;
    for (uint32_t i = first; i < c->n; i++) {
        c->scratch[i - first] = c->rows[i].residual;
        error += fabs(expm1(-c->rows[i].residual));
    }
    c->error += error / (c->n - first);
    c->levels[c->n_levels++] = fabs(msim_median(c->scratch, c->n - first));
}

/* The standard deviation from GPU to GPU of whole fits' errors, or that which
 * lets enough rows lie inside, if it is larger: a fit whose own interval is
 * wide must not hide that others are off. */
static double sd_of(const struct msim_shared_fit *k, const struct msim_law *law,
                    bool shared, int without, struct comparison *c)
{
    uint32_t end;

    c->n = c->n_levels = 0;
    c->error = 0;
    for (uint32_t begin = 0; begin < k->n_rows; begin = end) {
        const struct msim_shared_row *r = &k->rows[begin];

        for (end = begin + 1;
             end < k->n_rows && k->rows[end].platform == r->platform &&
             msim_shared_same_group(&k->rows[end], r);
             end++)
            ;
        if (r->sample.law == law && r->generation != without)
            compare_rows(k, begin, end, shared, c);
    }
    if (c->n == 0)
        return 0;
    return fmax(fit_sd(c->rows, c->n),
                NORMAL_SD * msim_median(c->levels, c->n_levels));
}

enum msim_status msim_cross_validate_sds(const struct msim_shared_fit *k,
                                         int without,
                                         struct msim_shared_laws *out,
                                         uint32_t (*rows)[2])
{
    struct comparison c = {0};
    enum msim_status status = allocate(&c, k->n_rows);
    struct msim_shared_sd typical;
    uint32_t n[2];

    out->n_sd = 0;
    for (uint32_t i = 0; status == MSIM_OK && i < k->n_groups; i++) {
        const struct msim_law *law = k->rows[k->groups[i].begin].sample.law;
        struct msim_shared_sd s = {.law = law};

        if (i > 0 && k->rows[k->groups[i - 1].begin].sample.law == law)
            continue;
        typical = msim_shared_laws_sd(out, law);
        s.generation = sd_of(k, law, true, without, &c);
        s.generation_error = c.error / c.n_levels;
        n[0] = c.n;
        s.other = sd_of(k, law, false, without, &c);
        s.other_error = c.error / c.n_levels;
        n[1] = c.n;
        if (n[0] == 0)
            s.generation = typical.generation;
        if (n[1] == 0)
            s.other = typical.other;
        /* GPUs of a generation differ no more than others; few pairs can
         * show otherwise by chance. */
        s.generation = fmin(s.generation, s.other);
        if (rows)
            memcpy(rows[out->n_sd], n, sizeof(n));
        out->sd[out->n_sd++] = s;
    }
    release(&c);
    return status;
}

/* ---- a platform without its own fits ------------------------------------- */

/* A platform as if it had no rows; it borrows all else from the real one. */
struct view {
    struct msim_platform top, others[OTHERS_MAX];
};

static enum msim_status make_view(struct view *v,
                                  const struct msim_shared_fit *k,
                                  uint32_t platform,
                                  enum msim_held_out_kind what)
{
    const struct msim_platform *p = k->platforms[platform];
    struct msim_platform **end = &v->top.next;
    uint32_t n = 0;

    v->top = *p;
    v->top.fits = NULL;
    v->top.n_fits = 0;
    v->top.next = NULL;
    memset(&v->top.shared, 0, sizeof(v->top.shared));
    memset(&v->top.index, 0, sizeof(v->top.index));
    for (const struct msim_platform *at = p->next; at && n < OTHERS_MAX;
         at = at->next) {
        if (what == MSIM_WITHOUT_GENERATION && is_shared(at, p))
            continue;
        v->others[n] = *at;
        v->others[n].next = NULL;
        *end = &v->others[n];
        end = &v->others[n++].next;
    }
    MSIM_TRY(msim_shared_fit_laws(k, k->generation[platform], &v->top.shared));
    MSIM_TRY(msim_cross_validate_sds(k, k->generation[platform], &v->top.shared,
                                     NULL));
    return msim_fit_index_make(&v->top, NULL);
}

static void release_view(struct view *v)
{
    msim_shared_laws_release(&v->top.shared);
    msim_fit_index_release(&v->top.index);
}

/* ---- the report ---------------------------------------------------------- */

const char MSIM_CROSS_VALIDATE_HEADER[] =
    "platform,left_out,family,framework,cell,from,same_generation,rows,"
    "mean_pct,median_pct,p90_pct,"
    "worst_pct,bias_pct,interval_coverage_pct,interval_high_over_low,"
    "interval_score_over_error\n";

struct tally {
    double *errors; /* room for a fit's rows */
    double sum, bias, width, score;
    uint32_t n, inside;
};

/* The interval score (law_fit.h). */
static double score(double us, const struct msim_estimate *e)
{
    double outside = fmax(e->low_us - us, 0) + fmax(us - e->high_us, 0);

    return (e->high_us - e->low_us + 2 / (1 - INSIDE) * outside) / us;
}

static void count(struct tally *t, double us, const struct msim_estimate *e)
{
    double error = fabs(e->us / us - 1);

    t->errors[t->n++] = error;
    t->sum += error;
    t->bias += log(e->us / us);
    t->inside += us >= e->low_us && us <= e->high_us;
    t->width += e->high_us / e->low_us;
    t->score += score(us, e);
}

/* The key of a row where the link of `other` stands in for the GPU's own. */
static void other_link(char *key, size_t size, const struct msim_platform *p,
                       const struct msim_platform *other,
                       const struct msim_sample *r)
{
    size_t n = strlen(p->sheet.interconnect);

    snprintf(key, size, "%s", r->key);
    if (r->law == &MSIM_LAW_COLLECTIVE && n > 0 &&
        strncmp(r->key, p->sheet.interconnect, n) == 0)
        snprintf(key, size, "%s%s", other->sheet.interconnect, r->key + n);
}

/* The name of the GPU whose fit predicts a row; `*shared` becomes whether it is
 * of the same generation. */
static const char *source_of(const struct msim_platform *p,
                             const struct msim_sample *r, bool *shared)
{
    static const char *const PREFER[] = {NULL};
    char text[OTHERS_MAX][MSIM_FIT_KEY];
    const char *keys[OTHERS_MAX + 2] = {r->key};
    struct msim_pick pick;
    uint32_t n = 0;

    *shared = false;
    for (const struct msim_platform *at = p->next; at && n < OTHERS_MAX;
         at = at->next, n++) {
        other_link(text[n], sizeof(text[n]), p, at, r);
        keys[n + 1] = text[n];
    }
    if (!msim_fit_pick(p, r->law, r->framework, PREFER, keys, &pick))
        return "another kind";
    if (pick.other_framework)
        return "another stack";
    *shared = pick.platform && is_shared(pick.platform, p);
    return pick.platform ? pick.platform->name : "common";
}

static void print(FILE *out, const struct msim_shared_row *first,
                  const struct msim_platform *p, enum msim_held_out_kind what,
                  struct tally *t)
{
    const struct msim_sample *r = &first->sample;
    double n = t->n;
    bool shared;
    const char *from = source_of(p, r, &shared);

    msim_sort_values(t->errors, t->n);
    msim_csv_print(
        out,
        "%s,%s,%s,%s,%s,%s,%s,%u,%.2f,%.2f,%.2f,%.1f,%+.2f,%.1f,%.3f,%.2f\n",
        p->name, what == MSIM_WITHOUT_GPU ? "the GPU" : "its generation",
        r->law->name, r->framework, r->key, from, shared ? "yes" : "no", t->n,
        100 * t->sum / n, 100 * msim_quantile(t->errors, t->n, 0.5),
        100 * t->errors[(uint32_t)(0.9 * n)], 100 * t->errors[t->n - 1],
        100 * expm1(t->bias / n), 100 * t->inside / n, t->width / n,
        t->score / n / fmax(t->sum / n, 1e-9));
}

/* The rows of one platform in one fit. */
static enum msim_status report_rows(const struct msim_shared_row *rows,
                                    uint32_t n, const struct view *v,
                                    enum msim_held_out_kind what, FILE *out)
{
    struct tally t = {.errors = malloc(n * sizeof(double))};
    enum msim_status status = t.errors ? MSIM_OK : MSIM_ENOMEM;

    for (uint32_t i = 0; status == MSIM_OK && i < n; i++) {
        struct msim_estimate e;

        status =
            msim_model_predict(&v->top, &rows[i].sample.work, false, &e, NULL);
        if (status == MSIM_OK)
            count(&t, rows[i].sample.us, &e);
    }
    if (status == MSIM_OK)
        print(out, rows, &v->top, what, &t);
    free(t.errors);
    return status;
}

static enum msim_status report_platform(const struct msim_shared_fit *k,
                                        uint32_t platform,
                                        enum msim_held_out_kind what, FILE *out)
{
    struct view *v = calloc(1, sizeof(*v));
    enum msim_status status = MSIM_ENOMEM;
    uint32_t end;

    if (v)
        status = make_view(v, k, platform, what);
    for (uint32_t i = 0; status == MSIM_OK && i < k->n_groups; i++) {
        uint32_t begin = k->groups[i].begin;

        while (begin < k->groups[i].end && k->rows[begin].platform != platform)
            begin++;
        for (end = begin;
             end < k->groups[i].end && k->rows[end].platform == platform; end++)
            ;
        if (end > begin)
            status = report_rows(&k->rows[begin], end - begin, v, what, out);
    }
    if (v)
        release_view(v);
    free(v);
    return status;
}

enum msim_status msim_cross_validate(const struct msim_shared_fit *k,
                                     enum msim_held_out_kind what, FILE *out)
{
    for (uint32_t p = 0; p < k->n_platforms; p++)
        MSIM_TRY(report_platform(k, p, what, out));
    return MSIM_OK;
}
