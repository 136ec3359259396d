/*
 * serving/app/app_dist.c - DIST: one number, or an object that names a shape.
 */
#include "core/base/csv.h"
#include "core/base/texts.h"
#include "serving/app/app_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WANT                                                                   \
    "a number from 0, or one of {\"exponential\": mean}, {\"lognormal\": "     \
    "{\"mean\", \"cv\"}}, {\"gamma\": {\"mean\", \"cv\"}}, {\"bimodal\": "     \
    "{\"mean\", \"slow\", \"share\"}}, {\"pareto\": {\"mean\", \"alpha\", "    \
    "\"cap\"}}, {\"quantiles\": [[p, x], ...]}, {\"samples\": [...] or a "     \
    "file}"

/* The shape's own object; its members are `keys`, all wanted but the last
 * `n_free` ones. */
static struct msim_fields open_shape(struct msim_fields *d, const char *shape,
                                     const char *const *keys)
{
    struct msim_fields in = msim_fields_open(d, shape);

    msim_fields_only(&in, keys);
    return in;
}

static double wanted(struct msim_fields *f, const char *key, double least,
                     double most)
{
    if (!msim_field_json(f, key)) {
        msim_field_refuse(f, key, "a number");
        return least;
    }
    return msim_field_between(f, key, least, most, least);
}

static struct msim_dist read_cv(struct msim_fields *d, const char *shape)
{
    static const char *const KEYS[] = {"mean", "cv", NULL};
    struct msim_fields in = open_shape(d, shape, KEYS);
    double mean = wanted(&in, "mean", 0, INFINITY);
    double cv = wanted(&in, "cv", 0, 100);

    msim_fields_close(d, &in);
    return strcmp(shape, "gamma") == 0 ? msim_dist_gamma(mean, cv)
                                       : msim_dist_lognormal(mean, cv);
}

static struct msim_dist read_bimodal(struct msim_fields *d)
{
    static const char *const KEYS[] = {"mean", "slow", "share", NULL};
    struct msim_fields in = open_shape(d, "bimodal", KEYS);
    double mean = wanted(&in, "mean", 0, INFINITY);
    double slow = wanted(&in, "slow", 1, 1e9);
    double share = wanted(&in, "share", 0, 1);

    msim_fields_close(d, &in);
    return msim_dist_bimodal(mean, slow, share);
}

static struct msim_dist read_pareto(struct msim_fields *d)
{
    static const char *const KEYS[] = {"mean", "alpha", "cap", NULL};
    struct msim_fields in = open_shape(d, "pareto", KEYS);
    double mean = wanted(&in, "mean", 0, INFINITY);
    double alpha = wanted(&in, "alpha", 0.1, 1000);
    double cap = msim_field_between(&in, "cap", 1, INFINITY, INFINITY);

    if (alpha <= 1 && isinf(cap))
        msim_field_refuse(&in, "cap",
                          "a number from 1, the largest over the least: with "
                          "alpha up to 1 there is no mean without it");
    if (in.status != MSIM_OK)
        cap = 1;
    msim_fields_close(d, &in);
    return msim_dist_pareto(mean, alpha, cap);
}

/* ---- quantiles ----------------------------------------------------------- */

static bool read_point(const cJSON *item, double *p, double *x)
{
    const cJSON *first = cJSON_IsArray(item) ? item->child : NULL;
    const cJSON *second = first ? first->next : NULL;

    if (!cJSON_IsNumber(first) || !cJSON_IsNumber(second) || second->next)
        return false;
    *p = first->valuedouble;
    *x = second->valuedouble;
    return *p >= 0 && *p <= 1 && *x >= 0 && isfinite(*x);
}

static struct msim_dist read_quantiles(struct msim_app *app,
                                       struct msim_fields *d)
{
    const cJSON *list = msim_field_array(d, "quantiles"), *item;
    uint32_t n = (uint32_t)cJSON_GetArraySize(list), i = 0;
    double *p = n ? msim_app_room(app, d, n, sizeof(*p)) : NULL;
    double *x = n ? msim_app_room(app, d, n, sizeof(*x)) : NULL;

    if (n == 0)
        msim_field_refuse(d, "quantiles", "an array of [p, x]");
    if (!p || !x || d->status != MSIM_OK)
        return msim_dist_constant(0);
    cJSON_ArrayForEach(item, list)
    {
        if (!read_point(item, &p[i], &x[i]) ||
            (i && (p[i] <= p[i - 1] || x[i] < x[i - 1]))) {
            msim_field_refuse_item(d, "quantiles", i,
                                   "[p, x]: p from 0 to 1 and above the one "
                                   "before, x from 0 and not below it");
            return msim_dist_constant(0);
        }
        i++;
    }
    return msim_dist_quantiles(p, x, n);
}

/* ---- samples ------------------------------------------------------------- */

struct values {
    double *v;
    uint32_t n, cap;
};

static enum msim_status add_value(struct values *s, double v)
{
    MSIM_TRY(msim_grow((void **)&s->v, &s->cap, s->n, sizeof(*s->v)));
    s->v[s->n++] = v;
    return MSIM_OK;
}

static bool read_value(const char *text, double *v)
{
    return msim_decimal_real(text, strlen(text), v) && *v >= 0 && isfinite(*v);
}

/* The column "value", else the first; a header that is a number is a value. */
static enum msim_status read_rows(struct values *s, struct msim_csv *csv,
                                  const char *path, struct msim_error *err)
{
    uint32_t column = msim_csv_find(csv, "value");
    char *const *fields;
    double v;

    if (column == UINT32_MAX)
        column = 0;
    if (read_value(msim_csv_header(csv, column), &v))
        MSIM_TRY(add_value(s, v));
    for (;;) {
        MSIM_TRY(msim_csv_next(csv, &fields, err));
        if (!fields)
            return s->n ? MSIM_OK
                        : msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                                    "no values in it, want one a line");
        if (!read_value(fields[column], &v))
            return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "line %llu: '%.40s', want a number from 0",
                             (unsigned long long)msim_csv_line(csv),
                             fields[column]);
        MSIM_TRY(add_value(s, v));
    }
}

static enum msim_status read_file(struct values *s, const char *path,
                                  struct msim_error *err)
{
    struct msim_csv *csv;
    enum msim_status status;

    MSIM_TRY(msim_csv_open(&csv, path, err));
    status = read_rows(s, csv, path, err);
    msim_csv_close(csv);
    return status;
}

static void read_inline(struct values *s, struct msim_fields *d)
{
    const cJSON *list = msim_field_array(d, "samples"), *item;

    if (!list || !list->child)
        msim_field_refuse(d, "samples", "numbers, or the name of a csv file");
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) ||
            !isfinite(item->valuedouble)) {
            msim_field_refuse_item(d, "samples", s->n, "a number from 0");
            return;
        }
        if (add_value(s, item->valuedouble) != MSIM_OK) {
            d->status = MSIM_ENOMEM;
            return;
        }
    }
}

static struct msim_dist read_samples(struct msim_app *app,
                                     struct msim_fields *d)
{
    struct msim_dist made = msim_dist_constant(0);
    const cJSON *item = msim_field_json(d, "samples");
    struct values s = {0};
    double *kept;

    if (cJSON_IsString(item)) {
        const char *path = msim_app_join(app, d, item->valuestring);

        if (d->status == MSIM_OK)
            d->status = read_file(&s, path, d->err);
    } else {
        read_inline(&s, d);
    }
    kept =
        d->status == MSIM_OK ? msim_app_room(app, d, s.n, sizeof(*kept)) : NULL;
    if (kept) {
        memcpy(kept, s.v, s.n * sizeof(*kept));
        made = msim_dist_samples(kept, s.n);
    }
    free(s.v);
    return made;
}

/* ---- all of it ----------------------------------------------------------- */

static struct msim_dist read_shape(struct msim_app *app, struct msim_fields *d)
{
    static const char *const SHAPES[] = {
        "exponential", "lognormal", "gamma",   "bimodal",
        "pareto",      "quantiles", "samples", NULL};
    const char *shape;

    msim_fields_only(d, SHAPES);
    if (d->status != MSIM_OK)
        return msim_dist_constant(0);
    shape = d->object->child->string;
    switch (shape[0]) {
    case 'e':
        return msim_dist_exponential(wanted(d, shape, 0, INFINITY));
    case 'b':
        return read_bimodal(d);
    case 'p':
        return read_pareto(d);
    case 'q':
        return read_quantiles(app, d);
    case 's':
        return read_samples(app, d);
    default:
        return read_cv(d, shape);
    }
}

struct msim_dist msim_app_dist(struct msim_app *app, struct msim_fields *f,
                               const char *key)
{
    const cJSON *item = msim_field_json(f, key);
    struct msim_dist made = {0};
    struct msim_fields d;

    if (!item)
        return made;
    if (cJSON_IsNumber(item))
        return msim_dist_constant(msim_field_between(f, key, 0, INFINITY, 0));
    if (!cJSON_IsObject(item) || cJSON_GetArraySize(item) != 1) {
        msim_field_refuse(f, key, WANT);
        return made;
    }
    d = msim_fields_open(f, key);
    if (d.status == MSIM_OK)
        made = read_shape(app, &d);
    msim_fields_close(f, &d);
    return made;
}
