/*
 * models/platform/curve.c - reading curves and interpolating between them.
 */
#include "models/platform/fit.h"

#include "core/base/print.h"
#include "core/work/kernel_fact.h"

#include <math.h>
#include <stdatomic.h>
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

#define SAME_DISTANCE 1e-9 /* but for rounding */

/* Curves of several nodes are chosen by their ranks a node first; those of the
 * work are `inside`, a logarithm. */
static double distance(const struct msim_curve *c, double inside)
{
    return c->nodes > 1 ? fabs(c->log_inside - inside) : 0;
}

static const struct msim_curve *curve_at(const struct msim_curves *all,
                                         uint32_t place)
{
    return place ? &all->list[place - 1] : NULL;
}

/* Take `c` where it is the nearest below, or above. */
static void take(struct between *out, const struct msim_curve *c,
                 uint32_t ranks)
{
    if (c->ranks <= ranks && (!out->below || c->ranks > out->below->ranks))
        out->below = c;
    if (c->ranks >= ranks && (!out->above || c->ranks < out->above->ranks))
        out->above = c;
}

static bool find(const struct msim_curves *all, enum msim_collective what,
                 const struct msim_work *w, struct between *out)
{
    uint32_t ranks = w->u.coll.ranks, nodes = w->u.coll.nodes;
    double inside = nodes > 1 ? log_inside(ranks, nodes) : 0, least = INFINITY;
    const struct msim_curve *c = curve_at(all, all->first[what][nodes > 1]);

    *out = (struct between){0};
    for (; c; c = curve_at(all, c->other)) {
        double d = distance(c, inside);

        if (d > least + SAME_DISTANCE)
            continue;
        if (d < least - SAME_DISTANCE)
            *out = (struct between){0};
        least = fmin(d, least);
        for (const struct msim_curve *at = c; at; at = curve_at(all, at->next))
            take(out, at, ranks);
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

static double correction_at(const struct question *q,
                            const struct msim_curve *c, uint32_t i)
{
    struct msim_work w = *q->work;

    w.u.coll.collective = c->collective;
    w.u.coll.ranks = c->ranks;
    w.u.coll.nodes = c->nodes;
    w.u.coll.bytes = (uint64_t)c->bytes[i];
    return log(c->us[i] / q->law->time_us(q->sheet, &w, q->params));
}

/*
 * Corrections at all points of a curve. They depend on the question by its data
 * sheet, and by what its work says of links and algorithm: nothing, mostly. So
 * those of the first such question answer for all that follow on that GPU.
 */
struct msim_curve_law {
    struct msim_data_sheet sheet;
    double correction[];
};

static struct msim_curve_law *make_law(const struct question *q,
                                       const struct msim_curve *c)
{
    struct msim_curve_law *law =
        malloc(sizeof(*law) + c->n * sizeof(*law->correction));

    if (!law)
        return NULL;
    memcpy(&law->sheet, q->sheet, sizeof(law->sheet));
    for (uint32_t i = 0; i < c->n; i++)
        law->correction[i] = correction_at(q, c, i);
    return law;
}

/* NULL where the question has to be answered by itself. */
static const struct msim_curve_law *law_of(const struct question *q,
                                           const struct msim_curve *c)
{
    /* what is made on the way is no part of what the curve says */
    struct msim_curve_law *_Atomic *place =
        (struct msim_curve_law * _Atomic *)&c->law;
    struct msim_curve_law *law = atomic_load(place), *made;

    if (!q->sheet || q->work->u.coll.interconnect || q->work->u.coll.algorithm)
        return NULL;
    if (!law) {
        made = make_law(q, c);
        if (atomic_compare_exchange_strong(place, &law, made))
            law = made;
        else
            free(made);
    }
    return law && memcmp(&law->sheet, q->sheet, sizeof(law->sheet)) == 0 ? law
                                                                         : NULL;
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
    const struct msim_curve_law *law = law_of(q, c);
    uint32_t i = 0;
    double part, here, after;

    while (i + 1 < c->n && c->bytes[i + 1] < bytes)
        i++;
    here = law ? law->correction[i] : correction_at(q, c, i);
    if (bytes <= c->bytes[0] || i + 1 == c->n) {
        a.measured &= bytes >= c->bytes[0] && bytes <= c->bytes[i];
        a.correction = here;
        a.half_width =
            widened(c->half_width[i], MSIM_FACT(NULL, CURVE_LOG_SD_BYTES) *
                                          fabs(log2(bytes / c->bytes[i])));
        return a;
    }
    part = log(bytes / c->bytes[i]) / log(c->bytes[i + 1] / c->bytes[i]);
    after = law ? law->correction[i + 1] : correction_at(q, c, i + 1);
    a.correction = (1 - part) * here + part * after;
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
    bool own;
    double part;

    if (!c->n) /* nor is the work a collective, mostly */
        return false;
    own = find(c, w->u.coll.collective, w, &at);
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

bool msim_curves_measured(const struct msim_curves *c,
                          const struct msim_work *w)
{
    uint32_t ranks = w->u.coll.ranks, nodes = w->u.coll.nodes;
    bool several = nodes > 1;
    const struct msim_curve *at =
        curve_at(c, c->first[w->u.coll.collective][several]);
    double inside = at && several ? log_inside(ranks, nodes) : 0;

    while (at && distance(at, inside) > SAME_DISTANCE)
        at = curve_at(c, at->other);
    for (; at; at = curve_at(c, at->next))
        if (at->ranks == ranks && at->nodes == nodes && at->measured)
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
    const struct msim_curve *at;

    do {
        *i = *i ? c->list[*i - 1].later : c->earliest[w->u.coll.collective];
        at = curve_at(c, *i);
    } while (at && !(at->measured && is_wider(at, w)));
    if (!at)
        return false;
    *out = *w;
    out->u.coll.ranks = at->ranks;
    out->u.coll.nodes = at->nodes;
    return true;
}

static void explain_one(const struct msim_curve *c, const struct msim_work *w,
                        FILE *out)
{
    double bytes = (double)w->u.coll.bytes;
    bool outside = bytes < c->bytes[0] || bytes > c->bytes[c->n - 1];

    char nodes[32] = "", end[64] = "";

    if (c->nodes > 1)
        snprintf(nodes, sizeof(nodes), " on %u nodes", c->nodes);
    if (outside)
        snprintf(end, sizeof(end), " (which ends at %.0f bytes)",
                 bytes < c->bytes[0] ? c->bytes[0] : c->bytes[c->n - 1]);
    msim_print(out, "%s curve of %u ranks%s%s",
               c->measured ? "measured" : "inferred", c->ranks, nodes, end);
}

void msim_curves_explain(const struct msim_curves *c, const struct msim_work *w,
                         FILE *out)
{
    struct between at;
    bool own;

    if (!c->n)
        return;
    own = find(c, w->u.coll.collective, w, &at);
    if (!own && !find(c, stand_in_of(w->u.coll.collective), w, &at))
        return;
    msim_print(out, "curves: %s%s",
               own ? ""
                   : msim_collective_text(stand_in_of(w->u.coll.collective)),
               own ? "" : " stands in, ");
    explain_one(at.below ? at.below : at.above, w, out);
    if (at.below && at.above && at.below != at.above) {
        fputs(", between it and the ", out);
        explain_one(at.above, w, out);
    }
    fputs(at.below && at.above ? "\n" : ", which is the nearest\n", out);
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

/* Note which curves are of one kind, and which of these have as many ranks a
 * node, in the order of the list. */
static void link_kinds(struct msim_curves *c)
{
    memset(c->first, 0, sizeof(c->first));
    memset(c->earliest, 0, sizeof(c->earliest));
    for (uint32_t i = c->n; i-- > 0;) {
        struct msim_curve *at = &c->list[i];
        uint32_t *place = &c->first[at->collective][at->nodes > 1];

        at->log_inside = log_inside(at->ranks, at->nodes);
        while (*place &&
               distance(&c->list[*place - 1], at->log_inside) > SAME_DISTANCE)
            place = &c->list[*place - 1].other;
        at->next = *place;
        at->other = *place ? c->list[*place - 1].other : 0;
        *place = i + 1;
        at->later = c->earliest[at->collective];
        if (at->nodes > 1)
            c->earliest[at->collective] = i + 1;
    }
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
    link_kinds(c);
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

static void release_curve(struct msim_curve *c)
{
    free(c->bytes);
    free(c->law);
}

void msim_curves_release(struct msim_curves *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        release_curve(&c->list[i]);
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
            release_curve(&c->list[i]);
    c->n = kept;
    link_kinds(c);
}
