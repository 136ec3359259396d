/*
 * replay/run/write_replay_text.c - a replay for people.
 */
#include "core/base/containers.h"
#include "core/base/print.h"
#include "core/record/record.h"
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

/* A row of any table. */
struct line {
    const char *name;
    int64_t ops;
    double of_ops, us, of_us; /* shares of 100 */
    const char *run;
};

#define NAME(title, columns)                                                   \
    MSIM_COLUMN(struct line, name, NULL, .heading = title,                     \
                .type = MSIM_COLUMN_TEXT, .gap = 2, .width = -(columns))
#define OPS(title)                                                             \
    MSIM_COLUMN(struct line, ops, NULL, .heading = title,                      \
                .type = MSIM_COLUMN_COUNT, .gap = 1, .width = 9)
#define SHARE(member)                                                          \
    MSIM_COLUMN(struct line, member, NULL, .heading = "share", .gap = 1,       \
                .width = 7, .decimals = 1, .after = "%")
#define MS                                                                     \
    MSIM_COLUMN(struct line, us, NULL, .heading = "ms", .gap = 1, .width = 12, \
                .decimals = 3, .unit = 1e-3)
static const struct msim_column RUNS[] = {NAME("run", 8), OPS("operators"),
                                          SHARE(of_ops), MS, SHARE(of_us)};
static const struct msim_column FAMILIES[] = {
    NAME("family", 12), OPS("operators"), MS, SHARE(of_us)};
static const struct msim_column CALLED[] = {
    MSIM_COLUMN(struct line, name, NULL, .heading = "operator",
                .type = MSIM_COLUMN_TEXT, .gap = 2, .width = -38, .most = 38),
    OPS("calls"), MS,
    MSIM_COLUMN(struct line, run, NULL, .heading = "run",
                .type = MSIM_COLUMN_TEXT, .gap = 2)};

#define STEP                                                                   \
    "measured %.3f ms a step (%.3f to %.3f, %" PRIu32                          \
    " iterations) on %s\nof the mean, operators %.3f ms, between them %.3f "   \
    "ms\n"

static void write_first(const struct msim_replay *r, FILE *out)
{
    const struct msim_replay_figures *f = r->figures;
    char together[128] = "";

    if (f->together_us > 0)
        snprintf(together, sizeof(together),
                 "each alone, with %s caches; in a row, with nothing between "
                 "them, %.3f ms",
                 r->warm ? "warm" : "cold", f->together_us / 1e3);
    msim_print(out, *together ? STEP "%s\n\n" : STEP "%s\n", f->step.us / 1e3,
               f->step.low_us / 1e3, f->step.high_us / 1e3, r->runs->n,
               device_name(r), f->sum_us / 1e3, f->gap_us / 1e3, together);
    msim_record_text_head(out, MSIM_COLUMNS(RUNS));
    for (int h = 0; h < MSIM_RUN_HOWS; h++)
        msim_record_text(
            out, MSIM_COLUMNS(RUNS),
            &(struct line){.name = msim_run_how_text((enum msim_run_how)h),
                           .ops = f->how[h].ops,
                           .of_ops = share(f->how[h].ops, r->plan->ops.n),
                           .us = f->how[h].us,
                           .of_us = share(f->how[h].us, f->sum_us)});
}

static void write_families(const struct msim_replay *r, FILE *out)
{
    const struct msim_replay_figures *f = r->figures;

    putc('\n', out);
    msim_record_text_head(out, MSIM_COLUMNS(FAMILIES));
    for (int i = 0; i < MSIM_FAMILY_COUNT; i++)
        if (f->family[i].ops)
            msim_record_text(
                out, MSIM_COLUMNS(FAMILIES),
                &(struct line){.name = msim_family_text((enum msim_family)i),
                               .ops = f->family[i].ops,
                               .us = f->family[i].us,
                               .of_us = share(f->family[i].us, f->sum_us)});
}

/* ---- names --------------------------------------------------------------- */

struct name {
    uint32_t name;
    int64_t ops;
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
    putc('\n', out);
    msim_record_text_head(out, MSIM_COLUMNS(CALLED));
    for (uint32_t i = 0; i < n && i < LONGEST; i++)
        msim_record_text(
            out, MSIM_COLUMNS(CALLED),
            &(struct line){
                .name = msim_trace_text(p->trace, names[i].name),
                .ops = names[i].ops,
                .us = names[i].us,
                .run = msim_run_how_text((enum msim_run_how)names[i].how)});
    for (uint32_t i = 0; i < n; i++)
        if (names[i].how == MSIM_RUN_NOT)
            msim_print(out, "  not run: %" PRId64 " x %.38s: %s\n",
                       names[i].ops, msim_trace_text(p->trace, names[i].name),
                       names[i].why);
    free(names);
}

/* ---- the machine --------------------------------------------------------- */

static void write_system(const struct msim_replay *r, FILE *out)
{
    const struct msim_replay_figures *f = r->figures;
    const struct {
        const char *what;
        double value;
        int decimals;
        const char *unit;
    } of[] = {
        {"cores used", 100 * f->utilization, 1, "%"},
        {"busy", 100 * msim_replay_metric(f, "busy"), 1, "%"},
        {"memory", msim_replay_metric(f, "rss_bytes") / (1 << 20), 0, " MiB"},
        {"page faults", msim_replay_metric(f, "page_faults"), 0, ""},
        {"power", msim_replay_metric(f, "power_w_after"), 0, " W"}};
    char text[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
        if (isfinite(of[i].value))
            used += (size_t)snprintf(text + used, sizeof(text) - used,
                                     "  %s %.*f%s", of[i].what, of[i].decimals,
                                     of[i].value, of[i].unit);
    msim_print(out, "\n  system%s\n", text);
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
