/*
 * What-ifs that nobody would ask for: random selections of work made longer,
 * shorter or taken out, over one job under measured costs.
 *
 *     whatifs [--peers fixed|follow] [--seed S] [--list] N TRACE...
 *
 * Tries N random what-ifs. Each is one to three selections as `--scale` has
 * them (kernels, communication, copies, host, op:NAME, host:NAME), with factors
 * of 0 to 4; a second run has one of the factors made smaller. Then
 *
 *   no run is shorter than what any of its threads and streams works, and no
 *   period than what the busiest of them works in one
 *   neither the run nor its iterations nor its period take over 1 % longer
 *   where a cost goes down
 *
 * Three what-ifs are always there: no change, which is the replayed run to the
 * picosecond whether absent ranks keep their times or follow; all GPU work
 * twice as long, which takes at most twice the time and no less than before;
 * and none, which takes no longer than before.
 *
 * Prints a line a breach, then how many were tried, how many breaches there are
 * and by how much anything took longer with less to do; exit 1 where there is a
 * breach. --list prints what it tries.
 */
#include "core/graph/build/graph_build.h"
#include "core/report/analyse/outcome.h"
#include "core/run/engine.h"
#include "predict/cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCALES_MAX 4
#define TEXT       200
/* Tasks that share a device can delay each other by coming earlier (Graham,
 * 1966, "Bounds for certain multiprocessing anomalies"). */
#define LONGER_MAX 0.01

/* One job with its graph, and room for a run. */
struct bench {
    struct msim_job *job;
    struct msim_graph *graph;
    struct msim_engine *engine;
    struct msim_times times;
    double *work; /* of each lane, ps */
    uint64_t random;
    uint32_t tried, breaches;
    double longest; /* by which a run took longer with less to do, as a share */
    bool list;
};

struct what {
    char texts[SCALES_MAX][TEXT];
    struct msim_scale scales[SCALES_MAX];
    uint32_t n;
};

/* What a run came to, in ps. */
struct result {
    double span, iteration, period, busiest;
};

/* xorshift: the same sequence everywhere. */
static uint32_t any(struct bench *b, uint32_t n)
{
    b->random ^= b->random << 13;
    b->random ^= b->random >> 7;
    b->random ^= b->random << 17;
    return (uint32_t)(b->random >> 32) % n;
}

/* ---- selections --------------------------------------------------------- */

/* The name of a topmost operator, with what a GLOB would take for its own sign
 * replaced by `?`; "*" where the trace has no operator. */
static void any_name(struct bench *b, char *name, size_t size)
{
    const struct msim_trace *t = b->job->ranks[any(b, b->job->n_ranks)];
    uint32_t op;

    snprintf(name, size, "*");
    if (!t->n_ops)
        return;
    op = msim_op_topmost(t, any(b, t->n_ops));
    if (op == MSIM_NONE || !*msim_trace_text(t, t->ops[op].name))
        return;
    snprintf(name, size, "%.150s", msim_trace_text(t, t->ops[op].name));
    for (char *c = name; *c; c++)
        if (strchr("[]*?=\\", *c))
            *c = '?';
}

static double any_factor(struct bench *b)
{
    static const double FACTORS[] = {0, 0, 0.1, 0.5, 0.9, 1.1, 2, 4};
    uint32_t k = any(b, 12);

    return k < 8 ? FACTORS[k] : any(b, 3000) / 1000.0;
}

static void choose(struct what *w, const char *selection, double factor)
{
    struct msim_error err = {0};
    char *text = w->texts[w->n];

    snprintf(text, TEXT, "%s=%.4g", selection, factor);
    if (msim_scale_parse(&w->scales[w->n], text, &err) != MSIM_OK) {
        fprintf(stderr, "whatifs: %s\n", err.text);
        exit(1);
    }
    w->n++;
}

static void select_any(struct bench *b, struct what *w)
{
    static const char *const CLASSES[] = {"kernels", "communication", "copies",
                                          "host"};
    char text[TEXT] = "", name[160];
    uint32_t k = any(b, 8);

    if (k >= 4)
        any_name(b, name, sizeof(name));
    if (k < 4)
        snprintf(text, sizeof(text), "%s", CLASSES[k]);
    else
        snprintf(text, sizeof(text), "%s:%s", k < 7 ? "op" : "host", name);
    choose(w, text, any_factor(b));
}

static void print_what(const struct what *w, FILE *out)
{
    for (uint32_t i = 0; i < w->n; i++)
        fprintf(out, "%s'%s'", i ? " " : "", w->texts[i]);
}

/* ---- runs --------------------------------------------------------------- */

static void fail(const struct msim_error *err)
{
    fprintf(stderr, "whatifs: %s\n", *err->text ? err->text : "no memory");
    exit(3);
}

static struct msim_run run_of(const struct bench *b, const struct msim_costs *c)
{
    return (struct msim_run){
        .start = b->times.start,
        .dur = b->times.dur,
        .lag = c->lag,
        .removed = c->removed,
        .held_by = b->times.held_by,
    };
}

/* The period, and what the busiest lane works in one. */
static void find_period(const struct bench *b, const struct msim_costs *c,
                        struct result *r)
{
    static const char *made_by[MSIM_COST_COUNT];
    static const char *source[MSIM_SOURCE_COUNT];
    struct msim_run run = run_of(b, c);
    struct msim_error err = {0};
    struct msim_prediction *p;
    struct msim_outcome o = {
        .graph = b->graph,
        .mid = run,
        .low = run,
        .high = run,
        .task_low = c->low,
        .task_mid = c->mid,
        .task_high = c->high,
        .gpu_slower = 1,
        .gpu_faster = 1,
        .made_by = c->made_by,
        .made_by_names = made_by,
        .n_made_by = MSIM_COST_COUNT,
        .source = c->source,
        .source_names = source,
        .source_uncovered = MSIM_SOURCE_INFERRED,
        .flops = c->flops,
        .measured = true,
        .gpu_times = true,
    };

    for (uint8_t i = 0; i < MSIM_COST_COUNT; i++)
        made_by[i] = msim_costs_text(i);
    for (int i = 0; i < MSIM_SOURCE_COUNT; i++)
        source[i] = msim_source_text((enum msim_source)i);
    if (msim_analyse(&p, &o, UINT32_MAX, &err) != MSIM_OK)
        fail(&err);
    r->iteration = p->iteration_us.predicted * MSIM_PS_PER_US;
    r->period = p->period.us.predicted * MSIM_PS_PER_US;
    r->busiest = p->period.busiest_us * MSIM_PS_PER_US;
    msim_prediction_free(p);
}

/* From the first start to the last end, and the work of each lane. */
static double find_span(struct bench *b)
{
    const struct msim_graph *g = b->graph;
    msim_ps first = INT64_MAX, last = 0;

    memset(b->work, 0, (g->n_lanes + 1) * sizeof(*b->work));
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        msim_ps start = b->times.start[t], end = start + b->times.dur[t];

        first = start < first ? start : first;
        last = end > last ? end : last;
        if (g->lane[t] != MSIM_NONE)
            b->work[g->lane[t]] += (double)b->times.dur[t];
    }
    return (double)(last - first);
}

static void breach(struct bench *b, const struct what *w, const char *what,
                   double is, double want)
{
    b->breaches++;
    printf("breach: %s: %.3f us, want %.3f (%+.2f %%):", what, is / 1e6,
           want / 1e6, want > 0 ? 100 * (is / want - 1) : 0);
    putchar(' ');
    print_what(w, stdout);
    putchar('\n');
}

static struct result run(struct bench *b, const struct what *w)
{
    struct msim_cost_options opt = {.scales = w->scales, .n_scales = w->n};
    struct msim_scenario s = {0};
    struct msim_error err = {0};
    struct msim_costs *c;
    struct result r = {0};

    if (msim_costs_new(&c, b->graph, &opt, &err) != MSIM_OK)
        fail(&err);
    s.dur = c->mid;
    s.removed = c->removed;
    memcpy(s.lag, c->lag, sizeof(s.lag));
    if (msim_engine_simulate(b->engine, &s, &b->times, &err) != MSIM_OK)
        fail(&err);
    r.span = find_span(b);
    find_period(b, c, &r);
    msim_costs_free(c);
    for (uint32_t lane = 0; lane < b->graph->n_lanes; lane++)
        if (b->work[lane] > r.span)
            breach(b, w, "run shorter than the work of a lane", r.span,
                   b->work[lane]);
    if (r.busiest > r.period * (1 + 1e-9))
        breach(b, w, "period shorter than the work of its busiest lane",
               r.period, r.busiest);
    if (b->list) {
        print_what(w, stdout);
        printf(": run %.3f us, period %.3f us\n", r.span / 1e6, r.period / 1e6);
    }
    return r;
}

/* ---- what-ifs ----------------------------------------------------------- */

static void at_most(struct bench *b, const struct what *w, const char *what,
                    const struct result *is, const struct result *than,
                    double times)
{
    char text[80];

    snprintf(text, sizeof(text), "run %s", what);
    if (is->span > times * than->span)
        breach(b, w, text, is->span, times * than->span);
    snprintf(text, sizeof(text), "iteration %s", what);
    if (is->iteration > times * than->iteration)
        breach(b, w, text, is->iteration, times * than->iteration);
    snprintf(text, sizeof(text), "period %s", what);
    if (is->period > times * than->period)
        breach(b, w, text, is->period, times * than->period);
}

static void note_longest(struct bench *b, double after, double before)
{
    if (before > 0 && after / before - 1 > b->longest)
        b->longest = after / before - 1;
}

static void try_any(struct bench *b)
{
    struct what w = {.n = 0}, less;
    struct result before, after;
    uint32_t n = 1 + any(b, 3), k;
    double factor;

    for (uint32_t i = 0; i < n; i++)
        select_any(b, &w);
    less = w;
    b->tried++;
    k = any(b, n);
    factor = less.scales[k].factor;
    less.scales[k].factor = any(b, 4) ? factor * any(b, 1000) / 1000.0 : 0;
    before = run(b, &w);
    after = run(b, &less);
    note_longest(b, after.span, before.span);
    note_longest(b, after.iteration, before.iteration);
    note_longest(b, after.period, before.period);
    if (b->list || after.span > (1 + LONGER_MAX) * before.span ||
        after.iteration > (1 + LONGER_MAX) * before.iteration ||
        after.period > (1 + LONGER_MAX) * before.period)
        printf("'%s' at %.6g instead of %.6g:\n", less.texts[k],
               less.scales[k].factor, factor);
    at_most(b, &less, "longer with less to do", &after, &before,
            1 + LONGER_MAX);
}

static void scale_gpu(struct what *w, double factor)
{
    w->n = 0;
    choose(w, "kernels", factor);
    choose(w, "copies", factor);
    choose(w, "communication", factor);
}

static void try_bounds(struct bench *b, struct result replayed)
{
    struct what as_is = {.n = 0}, w;
    struct result base = run(b, &as_is), r;

    if (base.span != replayed.span || base.period != replayed.period)
        breach(b, &as_is, "no change is not the replayed run", base.span,
               replayed.span);
    scale_gpu(&w, 1);
    r = run(b, &w);
    if (r.span != base.span || r.period != base.period)
        breach(b, &w, "factors of 1 change something", r.span, base.span);
    scale_gpu(&w, 2);
    r = run(b, &w);
    at_most(b, &w, "more than twice as long with twice the GPU work", &r, &base,
            2 + 1e-9);
    at_most(b, &w, "shorter with twice the GPU work", &base, &r, 1);
    scale_gpu(&w, 0);
    r = run(b, &w);
    at_most(b, &w, "longer without GPU work", &r, &base, 1);
}

/* ---- the whole ---------------------------------------------------------- */

static void build(struct bench *b, enum msim_peers peers)
{
    struct msim_graph_options opt = {.device_times = true, .peers = peers};
    struct msim_error err = {0};
    size_t n;

    if (msim_graph_build(&b->graph, b->job, &opt, &err) != MSIM_OK ||
        msim_peers_follow(b->graph, &err) != MSIM_OK ||
        msim_engine_new(&b->engine, b->graph) != MSIM_OK)
        fail(&err);
    n = (size_t)b->graph->n_tasks + 1;
    b->times = (struct msim_times){.start = malloc(n * sizeof(msim_ps)),
                                   .dur = malloc(n * sizeof(msim_ps)),
                                   .held_by = malloc(n * sizeof(uint32_t))};
    b->work = malloc(((size_t)b->graph->n_lanes + 1) * sizeof(*b->work));
    if (!b->times.start || !b->times.dur || !b->times.held_by || !b->work)
        fail(&err);
}

static void forget(struct bench *b)
{
    free(b->times.start);
    free(b->times.dur);
    free(b->times.held_by);
    free(b->work);
    msim_engine_free(b->engine);
    msim_graph_free(b->graph);
}

int main(int argc, char **argv)
{
    struct bench b = {.random = 1};
    enum msim_peers peers = MSIM_PEERS_FIXED;
    struct what as_is = {.n = 0};
    struct msim_error err = {0};
    struct result replayed;
    uint32_t n;
    int i = 1;

    for (; i + 1 < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "--list"))
            b.list = true;
        else if (!strcmp(argv[i], "--seed"))
            b.random = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--peers") && !strcmp(argv[++i], "follow"))
            peers = MSIM_PEERS_FOLLOW;
    }
    if (i + 1 >= argc) {
        fprintf(stderr, "usage: whatifs [--peers fixed|follow] [--seed S] "
                        "[--list] N TRACE...\n");
        return 2;
    }
    b.random = b.random * 0x9e3779b97f4a7c15u | 1;
    n = (uint32_t)strtoul(argv[i++], NULL, 10);
    if (msim_job_load(&b.job, (const char *const *)argv + i,
                      (uint32_t)(argc - i), &(struct msim_load_options){0},
                      &err) != MSIM_OK)
        fail(&err);
    build(&b, peers == MSIM_PEERS_FIXED ? MSIM_PEERS_FOLLOW : MSIM_PEERS_FIXED);
    replayed = run(&b, &as_is);
    forget(&b);
    build(&b, peers);
    try_bounds(&b, replayed);
    while (b.tried < n)
        try_any(&b);
    printf("whatifs: %" PRIu32 " tried, %" PRIu32
           " breaches, longer by %.3f %% "
           "at most\n",
           b.tried, b.breaches, 100 * b.longest);
    forget(&b);
    msim_job_free(b.job);
    return b.breaches ? 1 : 0;
}
