/*
 * plan/step/steps_file.c - reading data/laws/steps.json.
 */
#include "plan/step/step_law.h"

#include "core/base/json.h"
#include "models/platform/platform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const CLASSES[] = {
#define X(name, text) text,
    MSIM_STEP_CLASS_MAP(X)
#undef X
};

const char *msim_step_class_text(enum msim_step_class c)
{
    return CLASSES[c];
}

/* Which kinds of program a job is, bits 1 << class; of none other, the usual.
 */
static unsigned kinds_of(const struct msim_terms *t)
{
    unsigned kinds = 0;

    if (t->at[MSIM_PLACE_LAYER].us[MSIM_PART_OP_EXPERT][0] > 0)
        kinds |= 1u << MSIM_STEP_CLASS_EXPERTS;
    if (t->unfused)
        kinds |= 1u << MSIM_STEP_CLASS_UNFUSED;
    if (t->narrow)
        kinds |= 1u << MSIM_STEP_CLASS_NARROW;
    if (t->zero >= 2)
        kinds |= 1u << MSIM_STEP_CLASS_SHARDED;
    if (t->pp > 1)
        kinds |= 1u << MSIM_STEP_CLASS_STAGED;
    return kinds ? kinds : 1u << MSIM_STEP_CLASS_USUAL;
}

enum msim_step_class msim_step_class_of(const struct msim_terms *t)
{
    unsigned kinds = kinds_of(t);
    unsigned class = 0;

    while (!(kinds >> class & 1))
        class ++;
    return (enum msim_step_class) class;
}

#define LITTLE 0.3 /* evidence: the weight of a row that says nothing */

enum msim_step_class msim_step_class_by(const struct msim_terms *t,
                                        double evidence)
{
    return msim_step_class_of(t) + (evidence < LITTLE ? 1u : 0u);
}

bool msim_steps_are_shipped(const char *data_dir, uint64_t hash)
{
    return msim_platform_is_shipped(data_dir, "../laws/steps", hash);
}

static enum msim_status wrong(const char *path, const char *what,
                              struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                     "%s is missing or no number above 0; run msim-fit-steps",
                     what);
}

static enum msim_status read_factors(struct msim_step_fit *fit,
                                     const cJSON *object, const char *path,
                                     struct msim_error *err)
{
    const cJSON *interval =
        cJSON_GetObjectItemCaseSensitive(object, "interval");

    for (int i = 0; i < MSIM_STEP_CLASSES; i++) {
        const cJSON *class =
            cJSON_GetObjectItemCaseSensitive(interval, CLASSES[i]);

        fit->low[i] = msim_json_get_number(class, "low", 0);
        fit->high[i] = msim_json_get_number(class, "high", 0);
        if (!(fit->low[i] >= 1) || !(fit->high[i] >= 1))
            return wrong(path, CLASSES[i], err);
    }
    return MSIM_OK;
}

static void read_sources(struct msim_step_fit *fit, const cJSON *object)
{
    const cJSON *item;

    cJSON_ArrayForEach(item,
                       cJSON_GetObjectItemCaseSensitive(object, "sources"))
    {
        if (cJSON_IsString(item) && fit->n_sources < MSIM_STEP_SOURCES)
            snprintf(fit->sources[fit->n_sources++], sizeof(fit->sources[0]),
                     "%s", item->valuestring);
    }
}

/* Rows are arrays: kind, format, six sizes, residual. */
static enum msim_status read_row(struct msim_neighbour *to, const cJSON *row,
                                 const char *path, struct msim_error *err)
{
    const cJSON *item = row ? row->child : NULL;

    if (cJSON_GetArraySize(row) != 3 + MSIM_NEIGHBOUR_SIZES)
        return wrong(path, "a row", err);
    to->kind = (uint32_t)item->valuedouble;
    item = item->next;
    to->format = (uint32_t)item->valuedouble;
    item = item->next;
    for (int i = 0; i < MSIM_NEIGHBOUR_SIZES; i++, item = item->next)
        to->size[i] = (float)item->valuedouble;
    to->residual = (float)item->valuedouble;
    return MSIM_OK;
}

static enum msim_status read_rows(struct msim_step_fit *fit,
                                  const cJSON *object, const char *path,
                                  struct msim_error *err)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "rows");
    int n = cJSON_GetArraySize(list);
    const cJSON *row;

    fit->rows = calloc((size_t)n + 1, sizeof(*fit->rows));
    if (!fit->rows)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(row, list)
        MSIM_TRY(read_row(&fit->rows[fit->n_rows++], row, path, err));
    qsort(fit->rows, fit->n_rows, sizeof(*fit->rows), msim_neighbour_order);
    return MSIM_OK;
}

void msim_step_fit_release(struct msim_step_fit *fit)
{
    free(fit->rows);
    fit->rows = NULL;
    fit->n_rows = 0;
}

static enum msim_status read_fit(struct msim_step_fit *fit, const cJSON *object,
                                 const char *path, struct msim_error *err)
{
    const cJSON *constants =
        cJSON_GetObjectItemCaseSensitive(object, "constants");

    *fit = (struct msim_step_fit){0};
#define X(name, start, text)                                                   \
    fit->constants.name = msim_json_get_number(constants, #name, -1);          \
    if (!(fit->constants.name >= 0))                                           \
        return wrong(path, #name, err);
    MSIM_STEP_CONSTANT_MAP(X)
#undef X
    read_sources(fit, object);
    MSIM_TRY(read_factors(fit, object, path, err));
    return read_rows(fit, object, path, err);
}

/* The fit without `without`, or NULL; `known` lists what there is. */
static const cJSON *find_fit(const cJSON *json, const char *without,
                             char *known, size_t size)
{
    const cJSON *fit;

    known[0] = '\0';
    cJSON_ArrayForEach(fit, cJSON_GetObjectItemCaseSensitive(json, "fits"))
    {
        const char *name = msim_json_get_text(fit, "without");
        size_t used = strlen(known);

        if (strcmp(name ? name : "", without) == 0)
            return fit;
        if (name && *name)
            snprintf(known + used, size - used, " %s", name);
    }
    return NULL;
}

enum msim_status msim_step_fit_of(struct msim_step_fit *fit, const cJSON *json,
                                  const char *path, const char *without,
                                  struct msim_error *err)
{
    char known[256];
    const cJSON *object =
        find_fit(json, without ? without : "", known, sizeof(known));

    *fit = (struct msim_step_fit){0};
    if (object)
        return read_fit(fit, object, path, err);
    return msim_fail(err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE,
                     "no fit is without the rows of '%.48s', want one of:%s",
                     without ? without : "", known);
}

bool msim_step_fit_uses(const struct msim_step_fit *fit, const char *source)
{
    for (uint32_t i = 0; i < fit->n_sources; i++)
        if (strcmp(fit->sources[i], source) == 0)
            return true;
    return false;
}

/* A factor that the network adds to: where it is off, so is the share of a step
 * that waits for it. */
static double with_network(double factor, double network)
{
    return exp(hypot(log(factor), network));
}

/* The interval of its class; of a job unlike all rows the widest of what it is,
 * none of them was measured together with the others, and the network's on the
 * share of the step that gradients take: no row says what joins its nodes. */
static void set_interval(struct msim_step_estimate *e,
                         const struct msim_terms *t, double evidence,
                         const struct msim_step_fit *fit)
{
    enum msim_step_class class = msim_step_class_by(t, evidence);
    unsigned kinds = evidence < LITTLE ? kinds_of(t) : 0;
    double low = fit->low[class], high = fit->high[class];
    double network = t->network_log * e->parts.gradients / e->us;

    for (unsigned i = 0; i + 1 < MSIM_STEP_CLASSES; i++)
        if (kinds >> i & 1) {
            low = fmax(low, fit->low[i + 1]);
            high = fmax(high, fit->high[i + 1]);
        }
    if (evidence < LITTLE) {
        low = with_network(low, network);
        high = with_network(high, network);
    }
    e->class = class;
    e->low_us = e->us / low;
    e->high_us = e->us * high;
}

/* Measured steps tell of compute and exchange together: one may be off beside
 * the other as far as their sum is. */
static void set_exchange(struct msim_step_estimate *e,
                         const struct msim_terms *t,
                         const struct msim_step_fit *fit)
{
    double spread = fmax(e->us / e->low_us, e->high_us / e->us);

    e->exchange = msim_step_exchange_of(t, &fit->constants, spread);
    e->exchange.in_flight *= e->correction;
    e->exchange.waits_low *= e->correction;
    e->exchange.waits_high *= e->correction;
}

struct msim_step_estimate msim_step_predict(const struct msim_terms *t,
                                            const struct msim_step_fit *fit)
{
    struct msim_step_estimate e = {.flops = t->flops};
    struct msim_neighbour of = msim_neighbour_of(t);
    double evidence =
        msim_neighbour_evidence(&of, fit->rows, fit->n_rows, NULL);
    double factor =
        exp(msim_neighbour_correction(&of, fit->rows, fit->n_rows, NULL));
    double *parts = (double *)&e.parts;

    e.near = evidence >= LITTLE;
    e.correction = factor;
    e.us = factor * msim_step_us(t, &fit->constants, &e.parts);
    for (size_t i = 0; i < sizeof(e.parts) / sizeof(double); i++)
        parts[i] *= factor;
    set_interval(&e, t, evidence, fit);
    set_exchange(&e, t, fit);
    return e;
}

double msim_step_mfu(const struct msim_step_estimate *e,
                     const struct msim_platform *on,
                     const struct msim_strategy *s)
{
    double rate = msim_platform_peak_flops(
        on,
        msim_precision_is_narrow(s->precision)
            ? MSIM_DT_F8
            : msim_precision_dtype(s->precision),
        s->precision == MSIM_PRECISION_TF32 ? "tf32" : NULL);

    return e->flops / (e->us * 1e-6 * rate);
}

/* Of the logarithm of how far one correction is above the other: below it both
 * are corrected alike, and a ratio needs no mark. A rule of reporting; no time
 * depends on it. */
#define SAME 0.05

bool msim_step_ratio_widen(double over, double ratio, double *low, double *high)
{
    if (fabs(log(over)) < SAME)
        return false;
    *low = fmin(*low, ratio / over);
    *high = fmax(*high, ratio / over);
    return true;
}
