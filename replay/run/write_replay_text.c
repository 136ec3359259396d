/*
 * replay/run/write_replay_text.c - a replay for people.
 */
#include "core/base/containers.h"
#include "core/base/print.h"
#include "replay/run/replay_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 10 /* operators */

static double share(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static const char *device_name(const struct msim_replay *r)
{
    const char *name = msim_json_get_text(
        cJSON_GetObjectItemCaseSensitive(r->greeting, "device"), "name");

    return name ? name : "a device";
}

static void write_first(const struct msim_replay *r, FILE *out)
{
    const struct msim_replay_figures *f = r->figures;
    uint32_t n = r->plan->ops.n;

    msim_print(out,
               "measured %.3f ms a step (%.3f to %.3f, %" PRIu32
               " iterations) on %s\n",
               f->step.us / 1e3, f->step.low_us / 1e3, f->step.high_us / 1e3,
               r->runs->n, device_name(r));
    fprintf(out, "of the mean, operators %.3f ms, between them %.3f ms\n",
            f->sum_us / 1e3, f->gap_us / 1e3);
    if (f->together_us > 0)
        msim_print(out,
                   "each alone, with %s caches; in a row, with nothing between "
                   "them, %.3f ms\n\n",
                   r->warm ? "warm" : "cold", f->together_us / 1e3);
    else
        fputc('\n', out);
    msim_print(out, "  %-8s %9s %7s %12s %7s\n", "run", "operators", "share",
               "ms", "share");
    for (int h = 0; h < MSIM_RUN_HOWS; h++)
        msim_print(out, "  %-8s %9" PRIu32 " %6.1f%% %12.3f %6.1f%%\n",
                   msim_run_how_text((enum msim_run_how)h), f->how[h].ops,
                   share(f->how[h].ops, n), f->how[h].us / 1e3,
                   share(f->how[h].us, f->sum_us));
}

static void write_families(const struct msim_replay *r, FILE *out)
{
    const struct msim_replay_figures *f = r->figures;

    msim_print(out, "\n  %-12s %9s %12s %7s\n", "family", "operators", "ms",
               "share");
    for (int i = 0; i < MSIM_FAMILY_COUNT; i++)
        if (f->family[i].ops)
            msim_print(out, "  %-12s %9" PRIu32 " %12.3f %6.1f%%\n",
                       msim_family_text((enum msim_family)i), f->family[i].ops,
                       f->family[i].us / 1e3,
                       share(f->family[i].us, f->sum_us));
}

/* ---- names --------------------------------------------------------------- */

struct name {
    uint32_t name, ops;
    double us;
    uint8_t how;
    const char *why;
};

static int longest_first(const void *pa, const void *pb)
{
    const struct name *a = pa, *b = pb;

    if (a->us != b->us)
        return MSIM_ORDER(b->us, a->us);
    return MSIM_ORDER(a->name, b->name);
}

static void add_name(struct name *names, uint32_t *n, uint32_t name,
                     const struct msim_plan_op *o, double us)
{
    uint32_t i = 0;

    while (i < *n && names[i].name != name)
        i++;
    if (i == *n)
        names[(*n)++] = (struct name){.name = name};
    names[i].ops++;
    names[i].us += us;
    if (o->how >= names[i].how) {
        names[i].how = o->how;
        names[i].why = o->why;
    }
}

static void write_names(const struct msim_replay *r, FILE *out)
{
    const struct msim_replay_plan *p = r->plan;
    struct name *names = calloc((size_t)p->ops.n + 1, sizeof(*names));
    uint32_t n = 0;

    for (uint32_t i = 0; names && i < p->ops.n; i++) {
        const struct msim_plan_op *o = msim_plan_op(p, i);

        add_name(names, &n, p->trace->ops[o->op].name, o,
                 r->figures->ops[i].us);
    }
    if (n > 0)
        qsort(names, n, sizeof(*names), longest_first);
    msim_print(out, "\n  %-38s %9s %12s  %s\n", "operator", "calls", "ms",
               "run");
    for (uint32_t i = 0; i < n && i < LONGEST; i++)
        msim_print(out, "  %-38.38s %9" PRIu32 " %12.3f  %s\n",
                   msim_trace_text(p->trace, names[i].name), names[i].ops,
                   names[i].us / 1e3,
                   msim_run_how_text((enum msim_run_how)names[i].how));
    for (uint32_t i = 0; i < n; i++)
        if (names[i].how == MSIM_RUN_NOT)
            msim_print(out, "  not run: %" PRIu32 " x %.38s: %s\n",
                       names[i].ops, msim_trace_text(p->trace, names[i].name),
                       names[i].why);
    free(names);
}

/* ---- the machine --------------------------------------------------------- */

static void write_system(const struct msim_replay *r, FILE *out)
{
    const struct msim_replay_figures *f = r->figures;
    double rss = msim_replay_metric(f, "rss_bytes");
    double faults = msim_replay_metric(f, "page_faults");
    double busy = msim_replay_metric(f, "busy");
    double power = msim_replay_metric(f, "power_w_after");

    fprintf(out, "\n  system");
    if (isfinite(f->utilization))
        fprintf(out, "  cores used %.1f%%", 100 * f->utilization);
    if (isfinite(busy))
        fprintf(out, "  busy %.1f%%", 100 * busy);
    if (isfinite(rss))
        fprintf(out, "  memory %.0f MiB", rss / (1 << 20));
    if (isfinite(faults))
        fprintf(out, "  page faults %.0f", faults);
    if (isfinite(power))
        fprintf(out, "  power %.0f W", power);
    fprintf(out, "\n");
    if (r->runs->counters_error[0])
        msim_print(out, "  no processor counters: %s\n",
                   r->runs->counters_error);
}

void msim_replay_write_text(const struct msim_replay *r, FILE *out)
{
    write_first(r, out);
    write_families(r, out);
    write_names(r, out);
    write_system(r, out);
}
