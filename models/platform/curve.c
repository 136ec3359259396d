/*
 * models/platform/curve.c - reading curves and interpolating between them.
 */
#include "models/platform/curve.h"

#include "core/base/print.h"
#include "core/work/kernel_fact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The collective whose curves stand in where a collective has none. */
static enum msim_collective stand_in_of(enum msim_collective c)
{
    switch (c) {
    case MSIM_COLL_GATHER:
    case MSIM_COLL_SCATTER:
        return MSIM_COLL_ALL_TO_ALL;
    case MSIM_COLL_BROADCAST:
        return MSIM_COLL_ALL_GATHER;
    case MSIM_COLL_REDUCE:
        return MSIM_COLL_REDUCE_SCATTER;
    case MSIM_COLL_RECV:
        return MSIM_COLL_SEND;
    default:
        return MSIM_COLL_ALL_REDUCE;
    }
}

/* ---- choosing ----------------------------------------------------------- */

/* The curves of the next smaller and larger number of ranks (both the same
 * where a curve has these ranks); one may be NULL. */
struct between {
    const struct msim_curve *below, *above;
};

static double log_inside(uint32_t ranks, uint32_t nodes)
{
    return log((double)ranks / (nodes > 1 ? nodes : 1));
}

/* Curves of several nodes are chosen by their ranks a node first; those of the
 * work are `inside`, a logarithm. */
static double distance(const struct msim_curve *c, double inside)
{
    return c->nodes > 1 ? fabs(log_inside(c->ranks, c->nodes) - inside) : 0;
}

static bool is_like(const struct msim_curve *c, enum msim_collective what,
                    const struct msim_work *w)
{
    return c->collective == what && (c->nodes > 1) == (w->u.coll.nodes > 1);
}

static bool find(const struct msim_curves *all, enum msim_collective what,
                 const struct msim_work *w, struct between *out)
{
    double inside =
        w->u.coll.nodes > 1 ? log_inside(w->u.coll.ranks, w->u.coll.nodes) : 0;
    double least = INFINITY;

    *out = (struct between){0};
    for (uint32_t i = 0; i < all->n && least > 0; i++)
        if (is_like(&all->list[i], what, w))
            least = fmin(least, distance(&all->list[i], inside));
    for (uint32_t i = 0; i < all->n; i++) {
        const struct msim_curve *c = &all->list[i];

        if (!is_like(c, what, w) || distance(c, inside) > least + 1e-9)
            continue;
        if (c->ranks <= w->u.coll.ranks &&
            (!out->below || c->ranks > out->below->ranks))
            out->below = c;
        if (c->ranks >= w->u.coll.ranks &&
            (!out->above || c->ranks < out->above->ranks))
            out->above = c;
    }
    return out->below || out->above;
}

/* ---- interpolating ------------------------------------------------------ */

struct question {
    const struct msim_law *law;
    const struct msim_data_sheet *sheet;
    const double *params;
    const struct msim_work *work;
};

/* The correction at point `i` of a curve. */
static double at_point(const struct question *q, const struct msim_curve *c,
                       uint32_t i)
{
    struct msim_work w = *q->work;

    w.u.coll.collective = c->collective;
    w.u.coll.ranks = c->ranks;
    w.u.coll.nodes = c->nodes;
    w.u.coll.bytes = (uint64_t)c->bytes[i];
    return log(c->us[i] / q->law->time_us(q->sheet, &w, q->params));
}

/* What is added to the half width of the interval (a logarithm, in quadrature)
 * far from a curve stops growing at some octaves of ranks. */
static double widened(double half_width, double more)
{
    return hypot(half_width,
                 fmin(more, MSIM_FACT(NULL, CURVE_OCTAVES) *
                                MSIM_FACT(NULL, CURVE_LOG_SD_RANKS)));
}

/* One curve at the size asked for. */
static struct msim_curve_answer on_curve(const struct question *q,
                                         const struct msim_curve *c)
{
    double bytes = fmax((double)q->work->u.coll.bytes, 1);
    struct msim_curve_answer a = {.measured = c->measured};
    uint32_t i = 0;
    double part;

    while (i + 1 < c->n && c->bytes[i + 1] < bytes)
        i++;
    if (bytes <= c->bytes[0] || i + 1 == c->n) {
        a.measured &= bytes >= c->bytes[0] && bytes <= c->bytes[i];
        a.correction = at_point(q, c, i);
        a.half_width =
            widened(c->half_width[i], MSIM_FACT(NULL, CURVE_LOG_SD_BYTES) *
                                          fabs(log2(bytes / c->bytes[i])));
        return a;
    }
    part = log(bytes / c->bytes[i]) / log(c->bytes[i + 1] / c->bytes[i]);
    a.correction =
        (1 - part) * at_point(q, c, i) + part * at_point(q, c, i + 1);
    a.half_width = (1 - part) * c->half_width[i] + part * c->half_width[i + 1];
    return a;
}

/* Octaves from the ranks of a work to those of the nearest curve. */
static double octaves_off(const struct between *at, const struct msim_work *w)
{
    double least = INFINITY;

    if (at->below)
        least = log2((double)w->u.coll.ranks / at->below->ranks);
    if (at->above)
        least = fmin(least, log2((double)at->above->ranks / w->u.coll.ranks));
    return least;
}

bool msim_curves_ask(const struct msim_curves *c, const struct msim_law *law,
                     const struct msim_data_sheet *sheet, const double *params,
                     const struct msim_work *w, struct msim_curve_answer *out)
{
    struct question q = {law, sheet, params, w};
    struct msim_curve_answer a, b;
    struct between at;
    bool own = find(c, w->u.coll.collective, w, &at);
    double part;

    if (!own && !find(c, stand_in_of(w->u.coll.collective), w, &at))
        return false;
    a = on_curve(&q, at.below ? at.below : at.above);
    if (at.below && at.above && at.below != at.above) {
        b = on_curve(&q, at.above);
        part = log((double)w->u.coll.ranks / at.below->ranks) /
               log((double)at.above->ranks / at.below->ranks);
        a.correction = (1 - part) * a.correction + part * b.correction;
        a.half_width = (1 - part) * a.half_width + part * b.half_width;
    }
    *out = a;
    out->ranks_run = own && at.below == at.above && at.below->measured;
    if (at.below != at.above) {
        out->half_width =
            widened(a.half_width,
                    MSIM_FACT(NULL, CURVE_LOG_SD_RANKS) * octaves_off(&at, w));
        out->measured = false;
    }
    out->measured &= own;
    out->stand_in = !own;
    return true;
}

static bool is_measured(const struct msim_curve *c, const struct msim_work *w)
{
    return c->measured && c->collective == w->u.coll.collective;
}

bool msim_curves_measured(const struct msim_curves *c,
                          const struct msim_work *w)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->list[i].ranks == w->u.coll.ranks &&
            c->list[i].nodes == w->u.coll.nodes && is_measured(&c->list[i], w))
            return true;
    return false;
}

/* Of messages, more ranks send as many of them over the same links; of other
 * collectives those of more nodes have fewer links each. */
static bool is_wider(const struct msim_curve *c, const struct msim_work *w)
{
    uint64_t ranks = (uint64_t)c->ranks * w->u.coll.nodes;
    uint64_t of = (uint64_t)w->u.coll.ranks * c->nodes;
    bool more = c->nodes > w->u.coll.nodes && ranks <= of;
    double bytes = (double)w->u.coll.bytes;

    if (c->collective == MSIM_COLL_SEND)
        more = c->nodes >= w->u.coll.nodes && c->nodes > 1 &&
               (c->ranks > w->u.coll.ranks || c->nodes > w->u.coll.nodes);
    return more && c->ranks >= w->u.coll.ranks && bytes >= c->bytes[0] &&
           bytes <= c->bytes[c->n - 1];
}

bool msim_curves_wider(const struct msim_curves *c, const struct msim_work *w,
                       uint32_t *i, struct msim_work *out)
{
    while (*i < c->n) {
        const struct msim_curve *at = &c->list[(*i)++];

        if (!is_measured(at, w) || !is_wider(at, w))
            continue;
        *out = *w;
        out->u.coll.ranks = at->ranks;
        out->u.coll.nodes = at->nodes;
        return true;
    }
    return false;
}

static void explain_one(const struct msim_curve *c, const struct msim_work *w,
                        FILE *out)
{
    double bytes = (double)w->u.coll.bytes;
    bool outside = bytes < c->bytes[0] || bytes > c->bytes[c->n - 1];

    msim_print(out, "%s curve of %u ranks",
               c->measured ? "measured" : "inferred", c->ranks);
    if (c->nodes > 1)
        fprintf(out, " on %u nodes", c->nodes);
    if (outside)
        fprintf(out, " (which ends at %.0f bytes)",
                bytes < c->bytes[0] ? c->bytes[0] : c->bytes[c->n - 1]);
}

void msim_curves_explain(const struct msim_curves *c, const struct msim_work *w,
                         FILE *out)
{
    struct between at;
    bool own = find(c, w->u.coll.collective, w, &at);

    if (!own && !find(c, stand_in_of(w->u.coll.collective), w, &at))
        return;
    fprintf(out, "curves: ");
    if (!own)
        msim_print(out, "%s stands in, ",
                   msim_collective_text(stand_in_of(w->u.coll.collective)));
    explain_one(at.below ? at.below : at.above, w, out);
    if (at.below && at.above && at.below != at.above) {
        fprintf(out, ", between it and the ");
        explain_one(at.above, w, out);
    } else if (!at.below || !at.above) {
        fprintf(out, ", which is the nearest");
    }
    fprintf(out, "\n");
}

/* ---- reading ------------------------------------------------------------ */

/* `n` numbers above 0, rising where `rising`. */
static bool read_numbers(double *out, uint32_t n, const cJSON *array,
                         bool rising)
{
    const cJSON *item = array ? array->child : NULL;

    for (uint32_t i = 0; i < n; i++, item = item->next) {
        if (!cJSON_IsNumber(item) || !(item->valuedouble > 0) ||
            !(item->valuedouble < 1e18))
            return false;
        out[i] = item->valuedouble;
        if (rising && i > 0 && out[i] <= out[i - 1])
            return false;
    }
    return true;
}

static bool read_count(uint32_t *out, const cJSON *json, const char *key)
{
    double v = msim_json_get_number(json, key, 1);

    *out = v >= 1 && v <= UINT32_MAX ? (uint32_t)v : 0;
    return *out > 0;
}

static enum msim_collective collective_of(const char *text)
{
    for (int c = MSIM_COLL_ALL_REDUCE; text && c < MSIM_COLL_WAIT; c++)
        if (strcmp(msim_collective_text((enum msim_collective)c), text) == 0)
            return (enum msim_collective)c;
    return MSIM_COLL_UNKNOWN;
}

static enum msim_status read_curve(struct msim_curve *c, const cJSON *json)
{
    const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(json, "bytes");
    const cJSON *us = cJSON_GetObjectItemCaseSensitive(json, "us");
    const cJSON *spread = cJSON_GetObjectItemCaseSensitive(json, "spread");

    c->n = (uint32_t)cJSON_GetArraySize(bytes);
    c->collective = collective_of(msim_json_get_text(json, "collective"));
    c->measured =
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "measured"));
    if (c->n == 0 || c->collective == MSIM_COLL_UNKNOWN ||
        (uint32_t)cJSON_GetArraySize(us) != c->n ||
        (uint32_t)cJSON_GetArraySize(spread) != c->n ||
        !read_count(&c->ranks, json, "ranks") ||
        !read_count(&c->nodes, json, "nodes"))
        return MSIM_EFORMAT;
    c->bytes = malloc(3 * (size_t)c->n * sizeof(*c->bytes));
    if (!c->bytes)
        return MSIM_ENOMEM;
    c->us = c->bytes + c->n;
    c->half_width = c->us + c->n;
    return read_numbers(c->bytes, c->n, bytes, true) &&
                   read_numbers(c->us, c->n, us, false) &&
                   read_numbers(c->half_width, c->n, spread, false)
               ? MSIM_OK
               : MSIM_EFORMAT;
}

static enum msim_status read_curves(struct msim_curves *c, const cJSON *array)
{
    uint32_t n = (uint32_t)cJSON_GetArraySize(array);
    const cJSON *item;

    c->list = calloc((size_t)n + 1, sizeof(*c->list));
    if (!c->list)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(item, array)
        MSIM_TRY(read_curve(&c->list[c->n++], item));
    return MSIM_OK;
}

/* Only misconfigured logs are kept: the others have a factor of 1. */
static enum msim_status read_logs(struct msim_curves *c, const cJSON *array)
{
    uint32_t n = (uint32_t)cJSON_GetArraySize(array);
    const cJSON *item;

    c->logs = calloc((size_t)n + 1, sizeof(*c->logs));
    if (!c->logs)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(item, array)
    {
        struct msim_curve_log *log = &c->logs[c->n_logs];
        const char *version = msim_json_get_text(item, "version");
        const char *setting = msim_json_get_text(item, "setting");

        log->factor = msim_json_get_number(item, "factor", 1);
        if (!version || !setting || !(log->factor > 0))
            return MSIM_EFORMAT;
        snprintf(log->version, sizeof(log->version), "%s", version);
        snprintf(log->setting, sizeof(log->setting), "%s", setting);
        c->n_logs += cJSON_IsTrue(
            cJSON_GetObjectItemCaseSensitive(item, "misconfigured"));
    }
    return MSIM_OK;
}

static enum msim_dtype dtype_of(const char *text)
{
    for (int t = 0; text && t < 64; t++)
        if (strcmp(msim_dtype_text((enum msim_dtype)t), text) == 0)
            return (enum msim_dtype)t;
    return MSIM_DT_UNKNOWN;
}

static bool read_variant(struct msim_curve_variant *v, const cJSON *json)
{
    const char *version = msim_json_get_text(json, "version");
    const cJSON *factors = cJSON_GetObjectItemCaseSensitive(json, "factor");
    double factor[MSIM_VARIANT_BINS];

    v->collective = collective_of(msim_json_get_text(json, "collective"));
    v->dtype = dtype_of(msim_json_get_text(json, "dtype"));
    if (!version || v->collective == MSIM_COLL_UNKNOWN ||
        cJSON_GetArraySize(factors) != MSIM_VARIANT_BINS ||
        !read_numbers(factor, MSIM_VARIANT_BINS, factors, false))
        return false;
    snprintf(v->version, sizeof(v->version), "%s", version);
    for (int i = 0; i < MSIM_VARIANT_BINS; i++)
        v->log_factor[i] = log(factor[i]);
    return true;
}

static enum msim_status read_variants(struct msim_curves *c, const cJSON *array)
{
    uint32_t n = (uint32_t)cJSON_GetArraySize(array);
    const cJSON *item;

    c->variants = calloc((size_t)n + 1, sizeof(*c->variants));
    if (!c->variants)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(item, array)
    {
        if (!read_variant(&c->variants[c->n_variants++], item))
            return MSIM_EFORMAT;
    }
    return MSIM_OK;
}

enum msim_status msim_curves_read(struct msim_curves *c, const cJSON *fit)
{
    static const struct {
        const char *key;
        enum msim_status (*read)(struct msim_curves *, const cJSON *);
    } PARTS[] = {{"curves", read_curves},
                 {"variants", read_variants},
                 {"logs", read_logs}};
    enum msim_status status = MSIM_OK;

    memset(c, 0, sizeof(*c));
    for (size_t i = 0; i < sizeof(PARTS) / sizeof(*PARTS); i++) {
        const cJSON *part = cJSON_GetObjectItemCaseSensitive(fit, PARTS[i].key);

        if (status == MSIM_OK && cJSON_GetArraySize(part) > 0)
            status = PARTS[i].read(c, part);
    }
    if (status != MSIM_OK)
        msim_curves_release(c);
    return status;
}

/* ---- what rows name ------------------------------------------------------ */

uint32_t msim_variant_bin(uint64_t bytes)
{
    double bin = floor((log2(fmax((double)bytes, 1)) - 9) / 4);

    return (uint32_t)fmin(fmax(bin, 0), MSIM_VARIANT_BINS - 1);
}

double msim_curves_variant(const struct msim_curves *c,
                           const struct msim_work *w)
{
    for (uint32_t i = 0; i < c->n_variants && w->version; i++) {
        const struct msim_curve_variant *v = &c->variants[i];

        if (v->collective == w->u.coll.collective && v->dtype == w->dtype &&
            strcmp(v->version, w->version) == 0)
            return v->log_factor[msim_variant_bin(w->u.coll.bytes)];
    }
    return 0;
}

double msim_curves_log_factor(const struct msim_curves *c,
                              const struct msim_work *w)
{
    const char *version = w->version ? w->version : "";

    for (uint32_t i = 0; i < c->n_logs && w->u.coll.setting; i++)
        if (strcmp(c->logs[i].setting, w->u.coll.setting) == 0 &&
            strcmp(c->logs[i].version, version) == 0)
            return c->logs[i].factor;
    return 1;
}

void msim_curves_release(struct msim_curves *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        free(c->list[i].bytes);
    free(c->list);
    free(c->variants);
    free(c->logs);
    memset(c, 0, sizeof(*c));
}

void msim_curves_keep_measured(struct msim_curves *c)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < c->n; i++)
        if (c->list[i].measured)
            c->list[kept++] = c->list[i];
        else
            free(c->list[i].bytes);
    c->n = kept;
}
