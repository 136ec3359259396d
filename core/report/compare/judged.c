/*
 * core/report/compare/judged.c - errors of predictions by group.
 */
#include "core/report/compare/compare.h"

#include "core/base/containers.h"
#include "core/base/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum msim_status group_of(struct msim_judged_groups *g, const char *name,
                                 uint32_t *group)
{
    for (*group = 0; *group < g->n_names; ++*group)
        if (strncmp(g->names[*group], name, sizeof(*g->names) - 1) == 0)
            return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&g->names, &g->cap_names, g->n_names,
                       sizeof(*g->names)));
    snprintf(g->names[g->n_names++], sizeof(*g->names), "%.47s", name);
    return MSIM_OK;
}

enum msim_status msim_judged_add(struct msim_judged_groups *g,
                                 const char *group,
                                 enum msim_judged_figure figure,
                                 double measured, double predicted, double low,
                                 double high)
{
    struct msim_judged j = {.figure = figure,
                            .measured = measured,
                            .predicted = predicted,
                            .low = low,
                            .high = high};

    if (!(measured > 0) || !isfinite(predicted))
        return MSIM_OK;
    MSIM_TRY(group_of(g, group, &j.group));
    MSIM_TRY(msim_grow((void **)&g->all, &g->cap, g->n, sizeof(*g->all)));
    g->all[g->n++] = j;
    return MSIM_OK;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return MSIM_ORDER(x, y);
}

double msim_judged_error(const struct msim_judged *j)
{
    return fabs(j->predicted / j->measured - 1) * 100;
}

#define ALL UINT32_MAX /* a group: all of them */

static void write_group(const struct msim_judged_groups *g, uint32_t group,
                        enum msim_judged_figure figure, const char *note,
                        int width, double *errors, FILE *out)
{
    double sum = 0, inside = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n; i++) {
        const struct msim_judged *j = &g->all[i];

        if ((group != ALL && j->group != group) || j->figure != figure)
            continue;
        errors[n] = msim_judged_error(j);
        sum += errors[n++];
        inside += j->low <= j->measured && j->measured <= j->high;
    }
    if (n == 0)
        return;
    qsort(errors, n, sizeof(*errors), by_value);
    msim_print(out, "%-6s %-*s %6u %6.1f %6.1f %6.1f %6.1f %5.0f %%%s%s\n",
               figure == MSIM_JUDGED_MEMORY ? "memory" : "step", width,
               group == ALL ? "all of them" : g->names[group], n, sum / n,
               errors[n / 2], errors[(uint32_t)(0.9 * n)], errors[n - 1],
               100 * inside / n, *note ? "  " : "", note);
}

static int widest(const struct msim_judged_groups *g)
{
    int width = 16;

    for (uint32_t i = 0; i < g->n_names; i++)
        if ((int)strlen(g->names[i]) > width)
            width = (int)strlen(g->names[i]);
    return width;
}

/* What is off by a thousand, give or take a factor of three, in the mean of all
 * jobs is a unit: no prediction is. */
static void write_unit(const struct msim_judged_groups *g, FILE *out)
{
    double sum = 0, off;
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n; i++)
        if (g->all[i].figure == MSIM_JUDGED_STEP) {
            sum += log(g->all[i].measured / g->all[i].predicted);
            n++;
        }
    off = n ? sum / n : 0;
    if (fabs(fabs(off) - log(1000)) < log(3))
        msim_print(
            out,
            "measured steps are about 1000 times as %s as predicted: are "
            "they in %s, where milliseconds are wanted?\n",
            off < 0 ? "short" : "long", off < 0 ? "s" : "us");
}

enum msim_status
msim_judged_write(const struct msim_judged_groups *g, const char *group_head,
                  const char *note_head,
                  const char *(*note)(const void *ctx, const char *group),
                  const void *ctx, FILE *out)
{
    double *errors = calloc((size_t)g->n + 1, sizeof(*errors));
    int width = widest(g);

    if (!errors)
        return MSIM_ENOMEM;
    if (!g->n) {
        free(errors);
        msim_print(out, "no row has a measured time\n");
        return MSIM_OK;
    }
    msim_print(out,
               "\nerr. %% %-*s   jobs   mean median    p90  worst inside%s%s\n",
               width, group_head, note ? "  " : "", note ? note_head : "");
    for (int f = MSIM_JUDGED_STEP; f <= MSIM_JUDGED_MEMORY; f++) {
        for (uint32_t i = 0; i < g->n_names; i++)
            write_group(g, i, (enum msim_judged_figure)f,
                        note ? note(ctx, g->names[i]) : "", width, errors, out);
        if (g->n_names > 1)
            write_group(g, ALL, (enum msim_judged_figure)f, "", width, errors,
                        out);
    }
    write_unit(g, out);
    free(errors);
    return MSIM_OK;
}

void msim_judged_release(struct msim_judged_groups *g)
{
    free(g->all);
    free(g->names);
    *g = (struct msim_judged_groups){0};
}
