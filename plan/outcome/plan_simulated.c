/*
 * plan/outcome/plan_simulated.c - what a plan recommends, by the law and by the
 * graphs of its jobs.
 */
#include "core/base/json.h"
#include "core/base/print.h"
#include "core/base/units.h"
#include "core/record/record.h"
#include "plan/outcome/plan_report_internal.h"

#include <inttypes.h>
#include <math.h>

/* What a point would cost if a step took as long as its graph. */
static double cost_of(const struct msim_plan *plan,
                      const struct msim_plan_simulated *s)
{
    const struct msim_plan_point *p = &plan->points[s->point];

    return msim_plan_cost(p) * s->us / p->us;
}

/* One that would cost less than what is recommended, by the graphs of both, and
 * is as sure; NULL: there is none. The recommended one stands first. */
static const struct msim_plan_simulated *rival_of(const struct msim_plan *plan)
{
    const struct msim_plan_simulated *best = plan->simulated, *rival = NULL;

    for (uint32_t i = 1; best->known && i < plan->n_simulated; i++) {
        const struct msim_plan_simulated *s = &plan->simulated[i];

        if (s->known && s->peak_gib <= plan->points[s->point].room_gib &&
            msim_plan_is_sure(&plan->points[s->point]) &&
            cost_of(plan, s) < cost_of(plan, rival ? rival : best))
            rival = s;
    }
    return rival;
}

/* What measured jobs take of the graph: the factor that a prediction of the
 * written traces names. NAN: not simulated. */
static double factor_of(const struct msim_plan *plan,
                        const struct msim_plan_simulated *s)
{
    return s->known ? plan->points[s->point].us / s->us : NAN;
}

struct texts {
    char law[32], simulated[32], law_gib[24], gib[24], factor[24];
    char strategy[MSIM_PLAN_STRATEGY_TEXT];
    int64_t gpus;
    const char *platform;
};

#define TEXT(member, title, before, columns, ...)                              \
    MSIM_COLUMN(struct texts, member, NULL, .heading = (title),                \
                .gap = (before), .width = (columns), __VA_ARGS__)

static const struct msim_column COLUMNS[] = {
    TEXT(law, "law", 0, 8, .type = MSIM_COLUMN_CELL),
    TEXT(simulated, "simulated", 1, 10, .type = MSIM_COLUMN_CELL),
    TEXT(factor, "x", 1, 6, .type = MSIM_COLUMN_CELL),
    TEXT(law_gib, "law GiB", 1, 8, .type = MSIM_COLUMN_CELL),
    TEXT(gib, "simulated", 1, 9, .type = MSIM_COLUMN_CELL),
    TEXT(gpus, "GPUs", 1, 6, .type = MSIM_COLUMN_COUNT),
    TEXT(platform, "platform", 1, -14, .type = MSIM_COLUMN_TEXT),
    TEXT(strategy, "strategy", 1, 0, .type = MSIM_COLUMN_CELL)};

static void fill(struct texts *t, const struct msim_plan *plan,
                 const struct msim_plan_simulated *s,
                 const struct msim_spec *spec)
{
    const struct msim_plan_point *p = &plan->points[s->point];

    msim_plan_time_text(p->us, t->law, sizeof(t->law));
    snprintf(t->law_gib, sizeof(t->law_gib), "%.1f", p->peak_gib);
    t->gpus = p->strategy.gpus;
    t->platform = spec->platforms[p->platform].name;
    msim_plan_strategy_text(spec, p, t->strategy, sizeof(t->strategy));
    snprintf(t->simulated, sizeof(t->simulated), "-");
    snprintf(t->gib, sizeof(t->gib), "-");
    snprintf(t->factor, sizeof(t->factor), "-");
    if (s->known) {
        msim_plan_time_text(s->us, t->simulated, sizeof(t->simulated));
        snprintf(t->factor, sizeof(t->factor), "%.2f", factor_of(plan, s));
    }
    if (s->known && !isnan(s->peak_gib))
        snprintf(t->gib, sizeof(t->gib), "%.1f", s->peak_gib);
}

void msim_plan_simulated_text(const struct msim_plan *plan,
                              const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_simulated *rival;
    struct texts t;

    if (!plan->n_simulated)
        return;
    msim_print_title(out, "by the law, and simulated: the graph of the job by "
                          "itself, of which measured jobs take the factor x");
    msim_record_text_head(out, MSIM_COLUMNS(COLUMNS));
    for (uint32_t i = 0; i < plan->n_simulated; i++) {
        const struct msim_plan_simulated *s = &plan->simulated[i];

        fill(&t, plan, s, spec);
        msim_record_text(out, MSIM_COLUMNS(COLUMNS), &t);
        if (!s->known)
            msim_print(out, "         not simulated: %s\n", s->why);
    }
    rival = rival_of(plan);
    if (!rival)
        return;
    fill(&t, plan, rival, spec);
    msim_print(out,
               "by the graphs %" PRId64
               " x %s (%s) costs x %.3f of the recommended one\n",
               t.gpus, t.platform, t.strategy,
               cost_of(plan, rival) / cost_of(plan, plan->simulated));
}

void msim_plan_simulated_json(struct msim_json *j, const struct msim_plan *plan,
                              const struct msim_plan_simulated *s)
{
    const struct msim_plan_point *p = &plan->points[s->point];

    msim_json_open(j, "law", '{', false);
    msim_json_number(j, "step_us", p->us);
    msim_json_number(j, "peak_bytes", p->peak_gib * MSIM_GIB);
    msim_json_close(j);
    msim_json_open(j, "simulated", '{', false);
    msim_json_number(j, "step_us", s->known ? s->us : NAN);
    msim_json_number(j, "peak_bytes", s->known ? s->peak_gib * MSIM_GIB : NAN);
    msim_json_unsigned(j, "graphs", s->graphs);
    msim_json_text(j, "why_not", s->known ? NULL : s->why);
    msim_json_close(j);
    msim_json_open(j, "measured_jobs", '{', false);
    msim_json_number(j, "factor", factor_of(plan, s));
    msim_json_number(j, "memory_factor",
                     s->known ? p->peak_gib / s->peak_gib : NAN);
    msim_json_close(j);
}

void msim_plan_page_simulated(const struct msim_plan *plan,
                              const struct msim_spec *spec, FILE *out)
{
    struct texts t;

    if (!plan->n_simulated)
        return;
    fputs("<section><h2>By the law, and simulated</h2>\n<div class=scroll>"
          "<table><thead><tr><th>way<th class=n>step, by the law<th "
          "class=n>simulated<th class=n>x<th class=n>GiB, by the law<th "
          "class=n>simulated</tr></thead>\n<tbody>",
          out);
    for (uint32_t i = 0; i < plan->n_simulated; i++) {
        fill(&t, plan, &plan->simulated[i], spec);
        msim_html_print(out,
                        "<tr><td>%" PRId64
                        " &times; %s<br><span class=soft>%s</span></td>"
                        "<td class=n>%s</td><td class=n>%s</td><td class=n>%s"
                        "</td><td class=n>%s</td><td class=n>%s</td></tr>\n",
                        t.gpus, t.platform, t.strategy, t.law, t.simulated,
                        t.factor, t.law_gib, t.gib);
    }
    fputs("</tbody></table></div>\n<p class=soft>What is recommended, what is "
          "shortest, and those next to them. Simulated is the graph of the "
          "job by itself, as synth writes it; measured jobs, which the law "
          "knows, take the factor x of it, in every verb.</p></section>\n",
          out);
}
