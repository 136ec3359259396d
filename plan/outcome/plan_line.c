/*
 * plan/outcome/plan_line.c - the memory of a plan's point within a step.
 */
#include "plan/outcome/plan_report_internal.h"

#include "core/base/units.h"
#include "core/report/write/chart.h"
#include "plan/memory/job_memory.h"
#include "plan/search/plan.h"

#include <inttypes.h>

static void find_line(struct msim_job_line *line, struct msim_memory *m,
                      const struct msim_plan *plan,
                      const struct msim_plan_point *p,
                      const struct msim_spec *spec)
{
    double gradients = p->part_us[MSIM_DESCRIBED_GRADIENTS];
    double optimizer = p->part_us[MSIM_DESCRIBED_OPTIMIZER];

    *m = msim_memory_of(&spec->model, &p->strategy, &plan->basis.memory);
    msim_job_line_find(line, m, &p->strategy,
                       1 - (gradients + optimizer) / p->us, optimizer / p->us);
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_points(struct msim_json *j, const struct msim_job_line *line,
                        double us)
{
    msim_json_open(j, "timeline", '[', true);
    for (uint32_t i = 0; i < line->n; i++) {
        const struct msim_job_line_point *p = &line->points[i];

        msim_json_open(j, NULL, '{', false);
        msim_json_number(j, "at_us", p->at * us);
        msim_json_number(j, "held", line->held);
        msim_json_number(j, "activations", p->activations);
        msim_json_number(j, "loss", p->loss);
        msim_json_number(j, "temporaries", p->temporary);
        msim_json_close(j);
    }
    msim_json_close(j);
}

void msim_plan_line_json(struct msim_json *j, const struct msim_plan *plan,
                         const struct msim_plan_point *p,
                         const struct msim_spec *spec)
{
    struct msim_job_line line;
    struct msim_memory m;

    find_line(&line, &m, plan, p, spec);
    msim_json_open(j, "by", '{', false);
    msim_json_number(j, "parameters", m.parameters);
    msim_json_number(j, "gradients", m.gradients);
    msim_json_number(j, "optimizer_state", m.optimizer);
    msim_json_number(j, "activations", m.activations);
    msim_json_number(j, "loss", m.loss);
    msim_json_number(j, "temporaries", m.temporary);
    msim_json_number(j, "other", m.other);
    msim_json_close(j);
    json_points(j, &line, p->us);
}

/* ---- the chart ----------------------------------------------------------- */

/* Columns: seconds, the ends of the parts on top of each other. */
static void put_points(const struct msim_job_line *line,
                       const struct msim_plan_point *p, FILE *out)
{
    double beside = msim_beside_bytes(&p->beside);

    msim_gnuplot_block(out, "line");
    for (uint32_t i = 0; i < line->n; i++) {
        const struct msim_job_line_point *at = &line->points[i];
        double ends[] = {beside, line->held, at->activations, at->loss,
                         at->temporary};
        double end = 0;

        fprintf(out, "%.6g", at->at * p->us / 1e6);
        for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++)
            fprintf(out, " %.5g", (end += ends[k]) / MSIM_GIB);
        putc('\n', out);
    }
    msim_gnuplot_block_end(out, 0);
}

enum msim_status msim_plan_line_draw(const struct msim_plan *plan,
                                     const struct msim_spec *spec, char **svg,
                                     struct msim_error *err)
{
    static const char *const PARTS[] = {
        "CUDA and NCCL", "weights, gradients, states", "activations",
        "logits and loss", "optimizer's temporaries"};
    const size_t n = sizeof(PARTS) / sizeof(PARTS[0]);
    const struct msim_plan_point *p;
    struct msim_job_line line;
    struct msim_memory m;
    char name[MSIM_PLAN_PLATFORM_TEXT], title[MSIM_PLAN_PLATFORM_TEXT + 96];
    FILE *out = msim_plan_script(err);

    if (!out)
        return MSIM_EWRITE;
    p = &plan->points[plan->best != UINT32_MAX ? plan->best
                                               : plan->frontier[0]];
    find_line(&line, &m, plan, p, spec);
    msim_plan_script_begin(out, 500);
    put_points(&line, p, out);
    msim_plan_platform_text(spec, p->platform, name, sizeof(name));
    snprintf(title, sizeof(title),
             "Memory of a GPU within a step, %" PRId64 " x %s",
             p->strategy.gpus, name);
    msim_gnuplot_print(out,
                       "set title %s\nset xlabel 's'\nset ylabel 'GiB'\n"
                       "set yrange [0:]\nset style fill solid 1 noborder\n"
                       "plot ",
                       title);
    for (size_t k = n; k-- > 0;) /* the highest is behind */
        msim_gnuplot_print(
            out,
            "$line using 1:%zu with filledcurves y1=0 lc rgb %s title "
            "%s, ",
            k + 2, msim_plan_color(k ? (uint32_t)k - 1 : 5), PARTS[k]);
    fprintf(out, "%.5g with lines lc rgb '#cc3311' lw 2 title 'the GPU has'\n",
            plan->basis.platforms[p->platform].memory / MSIM_GIB);
    return msim_plan_script_draw(out, svg, err);
}
