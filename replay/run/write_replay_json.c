/*
 * replay/run/write_replay_json.c - a replay as JSON.
 */
#include "replay/run/replay_plan.h"

#include <math.h>
#include <stdio.h>

static void write_head(const struct msim_replay *r, struct msim_json *out)
{
    char name[40];
    const cJSON *device =
        cJSON_GetObjectItemCaseSensitive(r->greeting, "device");
    uint32_t step = r->plan->step;

    if (step != MSIM_NONE)
        snprintf(name, sizeof(name), "ProfilerStep#%lld",
                 (long long)r->plan->trace->steps[step].number);
    msim_json_text(out, "schema", MSIM_REPLAY_SCHEMA);
    msim_json_text(out, "version", MSIM_VERSION);
    msim_json_text(out, "trace", r->path);
    msim_json_text(out, "step", step == MSIM_NONE ? NULL : name);
    msim_json_text(out, "backend", msim_json_get_text(r->greeting, "backend"));
    msim_json_text(out, "device", msim_json_get_text(device, "name"));
    msim_json_text(out, "cache", r->warm ? "warm" : "cold");
    msim_json_unsigned(out, "warm_up", r->runs->warm_up);
    msim_json_unsigned(out, "iterations", r->runs->n);
}

static void write_step(const struct msim_replay *r, struct msim_json *out)
{
    const struct msim_replay_figures *f = r->figures;

    msim_json_number(out, "step_us", f->step.us);
    msim_json_number(out, "step_low_us", f->step.low_us);
    msim_json_number(out, "step_high_us", f->step.high_us);
    msim_json_number(out, "operators_us", f->sum_us);
    msim_json_number(out, "between_us", f->gap_us);
    if (f->together_us > 0)
        msim_json_number(out, "together_us", f->together_us);
    msim_json_open(out, "iterations_us", '[', false);
    for (uint32_t i = 0; i < r->runs->n; i++)
        msim_json_number(out, NULL, r->runs->rounds[i].us);
    msim_json_close(out);
}

static void write_part(struct msim_json *out, const char *key, const char *name,
                       const struct msim_replay_part *part,
                       const struct msim_replay *r)
{
    double sum = r->figures->sum_us;

    msim_json_open(out, NULL, '{', false);
    msim_json_text(out, key, name);
    msim_json_unsigned(out, "operators", part->ops);
    msim_json_number(out, "share", (double)part->ops / r->plan->ops.n);
    msim_json_number(out, "us", part->us);
    msim_json_number(out, "time_share", sum > 0 ? part->us / sum : 0);
    msim_json_close(out);
}

static void write_parts(const struct msim_replay *r, struct msim_json *out)
{
    const struct msim_replay_figures *f = r->figures;

    msim_json_open(out, "coverage", '[', true);
    for (int h = 0; h < MSIM_RUN_HOWS; h++)
        write_part(out, "run", msim_run_how_text((enum msim_run_how)h),
                   &f->how[h], r);
    msim_json_close(out);
    msim_json_open(out, "families", '[', true);
    for (int i = 0; i < MSIM_FAMILY_COUNT; i++)
        if (f->family[i].ops)
            write_part(out, "family", msim_family_text((enum msim_family)i),
                       &f->family[i], r);
    msim_json_close(out);
}

static void write_ops(const struct msim_replay *r, struct msim_json *out)
{
    const struct msim_replay_plan *p = r->plan;

    msim_json_open(out, "operators", '[', true);
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const struct msim_plan_op *o = msim_plan_op(p, i);
        const struct msim_replay_time *time = &r->figures->ops[i];

        msim_json_open(out, NULL, '{', false);
        msim_json_text(out, "name",
                       msim_trace_text(p->trace, p->trace->ops[o->op].name));
        msim_json_unsigned(out, "node", p->trace->ops[o->op].et_id);
        msim_json_text(out, "family",
                       msim_family_text((enum msim_family)o->family));
        msim_json_text(out, "run",
                       msim_run_how_text((enum msim_run_how)o->how));
        if (o->why)
            msim_json_text(out, "why", o->why);
        msim_json_number(out, "us", time->us);
        msim_json_number(out, "low_us", time->low_us);
        msim_json_number(out, "high_us", time->high_us);
        msim_json_close(out);
    }
    msim_json_close(out);
}

void msim_replay_write_system(const struct msim_replay *r, const char *key,
                              struct msim_json *out)
{
    const struct msim_replay_figures *f = r->figures;

    msim_json_open(out, key, '{', true);
    if (isfinite(f->utilization))
        msim_json_number(out, "utilization", f->utilization);
    for (uint32_t i = 0; i < f->n_system; i++)
        msim_json_number(out, f->system[i].name, f->system[i].value);
    if (r->runs->counters_error[0])
        msim_json_text(out, "counters_error", r->runs->counters_error);
    msim_json_close(out);
}

void msim_replay_write_json(const struct msim_replay *r, struct msim_json *out)
{
    write_head(r, out);
    write_step(r, out);
    write_parts(r, out);
    msim_replay_write_system(r, "system", out);
    write_ops(r, out);
}
