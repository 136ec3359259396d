/*
 * calibrate/programs/fit_steps_lines.c - the lines that msim-fit-steps writes:
 * errors of rows, and how many lie in their intervals.
 */
#include "calibrate/programs/fit_steps.h"
#include "core/base/containers.h"
#include "core/base/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int msim_steps_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return MSIM_ORDER(x, y);
}

double msim_steps_quantile(const double *sorted, uint32_t n, double q)
{
    return sorted[(uint32_t)fmin(q * n, n - 1)];
}

/* Of rows with an interval: how many lie inside, per cent, and the mean of the
 * interval's score (its width, and 20 times what is outside) over that of the
 * deviations. */
static void write_coverage(const struct msim_steps_run *r, const uint8_t *pick,
                           const double *residual)
{
    double inside = 0, score = 0, off = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->s.n; i++) {
        double e = residual[i], out;

        if (!pick[i] || r->low[i] < 0)
            continue;
        out = fmax(fmax(-r->low[i] - e, e - r->high[i]), 0);
        inside += out > 0 ? 0 : 1;
        score += r->low[i] + r->high[i] + 20 * out;
        off += fabs(e);
        n++;
    }
    if (n)
        fprintf(r->errors, ",%.0f,%.1f\n", 100 * inside / n, score / off);
    else
        fputs(",,\n", r->errors);
}

void msim_steps_write_errors(struct msim_steps_run *r, const char *figure,
                             const char *source, const char *split,
                             const uint8_t *pick, const double *residual)
{
    double *e = calloc(r->s.n + 1, sizeof(*e)), sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; e && i < r->s.n; i++)
        if (pick[i]) {
            e[n] = fabs(exp(-residual[i]) - 1) * 100;
            sum += e[n++];
        }
    if (n) {
        qsort(e, n, sizeof(*e), msim_steps_by_value);
        msim_csv_print(r->errors, "%s,%s,%s,%u,%.1f,%.1f,%.1f,%.1f", figure,
                       source, split, n, sum / n,
                       msim_steps_quantile(e, n, 0.5),
                       msim_steps_quantile(e, n, 0.9), e[n - 1]);
        write_coverage(r, pick, residual);
    }
    free(e);
}

static bool has_experts(const struct msim_steps_run *r, uint32_t row)
{
    return msim_step_class_of(&r->s.rows[row].terms) == MSIM_STEP_CLASS_EXPERTS;
}

/* A line for the source's steps, or one for models with experts and one for
 * the others, where it has both. */
void msim_steps_write_source(struct msim_steps_run *r, uint32_t source,
                             const char *split, const uint8_t *pick,
                             const double *residual)
{
    uint8_t *one = calloc(r->s.n + 1, 1);
    uint32_t n[2] = {0};

    for (uint32_t i = 0; i < r->s.n; i++)
        n[has_experts(r, i)] += pick[i];
    for (int experts = 0; one && experts < 2; experts++) {
        char name[64];

        for (uint32_t i = 0; i < r->s.n; i++)
            one[i] = pick[i] && has_experts(r, i) == experts;
        snprintf(name, sizeof(name), "%s%s", r->s.sources[source],
                 !n[0] || !n[1] ? ""
                 : experts      ? " with experts"
                                : " dense");
        msim_steps_write_errors(r, "step", name, split, one, residual);
    }
    free(one);
}

/* Lines of the rows with `pick` up to 8 GPUs, and of the others. */
void msim_steps_write_sizes(struct msim_steps_run *r, uint32_t source,
                            const uint8_t *pick, const double *residual)
{
    static const char *const SPLITS[] = {"all but the row up to 8 GPUs",
                                         "all but the row of more than 8 GPUs"};
    uint8_t *one = calloc(r->s.n + 1, 1);

    for (int many = 0; one && many < 2; many++) {
        for (uint32_t i = 0; i < r->s.n; i++)
            one[i] = pick[i] && (r->s.rows[i].gpus > 8) == many;
        msim_steps_write_source(r, source, SPLITS[many], one, residual);
    }
    free(one);
}

/* With four digits: more mean nothing. */
void msim_steps_add_number(cJSON *object, const char *key, double v)
{
    char text[32];

    snprintf(text, sizeof(text), "%.4g", v);
    cJSON_AddNumberToObject(object, key, strtod(text, NULL));
}
