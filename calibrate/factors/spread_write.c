/*
 * calibrate/factors/spread_write.c - spreads as JSON and as a table.
 */
#include "calibrate/factors/factor_fit.h"

#include "core/base/containers.h"
#include "core/base/print.h"

#include <math.h>
#include <stdlib.h>

/* What is known of some rows; `widths` has room for all. */
struct cell {
    double *widths, score;
    uint32_t n, inside;
};

static void add(struct cell *c, const struct msim_spread_judged *row)
{
    c->widths[c->n++] = row->low + row->high;
    c->score += row->score;
    c->inside += row->inside;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return MSIM_ORDER(x, y);
}

/* high / low of the middle row of at least one. */
static double median(const struct cell *c)
{
    qsort(c->widths, c->n, sizeof(*c->widths), by_size);
    return exp((c->widths[(c->n - 1) / 2] + c->widths[c->n / 2]) / 2);
}

static double thousandths(double x)
{
    return round(1000 * x) / 1000;
}

/* The rows of a source, or of all (ANY), on a platform, likewise. `widths` has
 * room for all rows. */
#define ANY UINT32_MAX

static struct cell cell_of(const struct msim_program_sums *s,
                           const struct msim_spread_fit *f, uint32_t source,
                           uint32_t platform, double *widths)
{
    struct cell c = {.widths = widths};

    for (uint32_t i = 0; i < s->n; i++)
        if ((source == ANY || s->rows[i].source == source) &&
            (platform == ANY || s->rows[i].platform == platform))
            add(&c, &f->rows[i]);
    return c;
}

static void write_kinds(cJSON *spread, const struct msim_spread_fit *f)
{
    cJSON *kinds = cJSON_AddObjectToObject(spread, "kinds");

    for (int k = 0; k < MSIM_SPREAD_COUNT; k++) {
        cJSON *kind = cJSON_AddObjectToObject(
            kinds, msim_spread_text((enum msim_spread)k));

        cJSON_AddNumberToObject(kind, "slower", thousandths(f->kind[k].slower));
        cJSON_AddNumberToObject(kind, "faster", thousandths(f->kind[k].faster));
        cJSON_AddNumberToObject(kind, "programs", f->programs[k]);
    }
}

static bool in_half_precision(const struct msim_program_sums *s,
                              uint32_t platform)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const double *kind = s->rows[i].kind;

        if (s->rows[i].platform == platform &&
            kind[MSIM_FACTOR_GEMM_HALF] + kind[MSIM_FACTOR_CONV_HALF] > 0)
            return true;
    }
    return false;
}

static void write_platform(cJSON *o, double shared, bool half,
                           const struct cell *c)
{
    cJSON_AddNumberToObject(o, "shared", thousandths(shared));
    cJSON_AddBoolToObject(o, "half_precision", half);
    cJSON_AddNumberToObject(o, "inside", thousandths((double)c->inside / c->n));
    cJSON_AddNumberToObject(o, "high_over_low", thousandths(median(c)));
    cJSON_AddNumberToObject(o, "score", thousandths(c->score / c->n));
}

enum msim_status msim_spread_write(cJSON *json,
                                   const struct msim_program_sums *s,
                                   const struct msim_spread_fit *f)
{
    cJSON *all = cJSON_GetObjectItemCaseSensitive(json, "platforms");
    cJSON *spread = cJSON_AddObjectToObject(json, "spread");
    double *widths = calloc((size_t)s->n + 1, sizeof(*widths));

    if (!widths)
        return MSIM_ENOMEM;
    cJSON_AddStringToObject(
        spread, "how",
        "90 % intervals as logarithms of measured / predicted: widths by kind "
        "of work, of least interval score over programs that the factors were "
        "found without; shared by all kernels, by platform: what it takes for "
        "92 % to be inside with widths found without them; others: the same of "
        "GPUs without programs");
    cJSON_AddNumberToObject(spread, "others", thousandths(f->others));
    write_kinds(spread, f);
    for (uint32_t p = 0; p < s->platforms.n; p++) {
        const struct cell c = cell_of(s, f, ANY, p, widths);

        write_platform(
            cJSON_GetObjectItemCaseSensitive(all, s->platforms.text[p]),
            f->shared[p], in_half_precision(s, p), &c);
    }
    free(widths);
    return MSIM_OK;
}

static void print(FILE *out, const char *source, const char *platform,
                  const struct cell *c)
{
    msim_print(out, "| %s | %s | %u | %.0f %% | %.2f | %.2f |\n", source,
               platform, c->n, 100.0 * c->inside / c->n, median(c),
               c->score / c->n);
}

enum msim_status msim_spread_report(FILE *out,
                                    const struct msim_program_sums *s,
                                    const struct msim_spread_fit *f)
{
    double *widths = calloc((size_t)s->n + 1, sizeof(*widths));
    struct cell c;

    if (!widths)
        return MSIM_ENOMEM;
    fputs("| source | GPU | times | inside | median high / low | mean score "
          "|\n|---|---|---|---|---|---|\n",
          out);
    for (uint32_t source = 0; source < s->sources.n; source++)
        for (uint32_t p = 0; p < s->platforms.n; p++) {
            c = cell_of(s, f, source, p, widths);
            if (c.n > 0)
                print(out, s->sources.text[source], s->platforms.text[p], &c);
        }
    c = cell_of(s, f, ANY, ANY, widths);
    if (c.n > 0)
        print(out, "all", "", &c);
    free(widths);
    return MSIM_OK;
}
