/*
 * How well a graph reproduces the run that it was made from: one job, under
 * measured costs, with every rule or with some left out.
 *
 *     steps [--without RULE]... [--starts N] TRACE...
 *     steps --removal TRACE...
 *     steps --host-alone TRACE...
 *     steps --rules
 *
 * Prints one line: mean and worst error of a step, the 95th percentile of the
 * error of a kernel's start relative to its step, all in percent, and how many
 * steps and kernels that is; --starts lists the N kernels that start furthest
 * from when they did.
 *
 * --removal prints a line for all rules ("none" left out) and one for each
 * rule left out by itself: name, mean, worst, 95th percentile and, in percent
 * too, by how much the step moves that moves most; separated by tabs.
 *
 * --host-alone prints for each iteration what its threads take by themselves,
 * in ps: the longest path over tasks of the host, GPU and edges from or to it
 * ignored. No engine is asked.
 *
 * RULE is a name that --rules lists: of a dependency or of something shared.
 */
#include "core/graph/build/graph_build.h"
#include "core/run/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_RULES (MSIM_EDGE_KINDS + MSIM_CONTENTION_RULES)

enum mode { ONE_RUN, REMOVAL, HOST_ALONE };

struct request {
    enum mode mode;
    uint64_t without; /* bits of 1 << rule */
    uint32_t list;
    const char *const *paths;
    uint32_t n_paths;
};

/* One run over a graph of a job. */
struct steps {
    struct msim_job *job;
    struct msim_graph *graph;
    msim_ps *dur, *start;
    msim_ps *begin, *end;    /* of each window, simulated */
    msim_ps *took;           /* each iteration, simulated */
    double mean, worst, p95; /* percent */
    uint32_t n_steps, n_kernels;
};

struct late {
    double percent;
    uint32_t task;
    msim_ps by;
};

/* Rules of dependencies first, then what is shared. */
static const char *rule_text(int rule)
{
    return rule < MSIM_EDGE_KINDS
               ? msim_edge_text((enum msim_edge_kind)rule)
               : msim_contention_text(
                     (enum msim_contention_rule)(rule - MSIM_EDGE_KINDS));
}

static void release(struct steps *s)
{
    free(s->dur);
    free(s->start);
    free(s->begin);
    free(s->end);
    free(s->took);
    msim_graph_free(s->graph);
}

static enum msim_status build(struct steps *s, uint64_t without,
                              struct msim_error *err)
{
    struct msim_graph_options opt = {
        .device_times = true,
        .peers = MSIM_PEERS_FIXED,
        .without = (uint32_t)(without & ((1u << MSIM_EDGE_KINDS) - 1)),
        .without_sharing = (uint32_t)(without >> MSIM_EDGE_KINDS),
    };
    const struct msim_graph *g;

    MSIM_TRY(msim_graph_build(&s->graph, s->job, &opt, err));
    g = s->graph;
    s->dur = malloc(((size_t)g->n_tasks + 1) * sizeof(*s->dur));
    s->start = calloc((size_t)g->n_tasks + 1, sizeof(*s->start));
    s->begin = malloc(((size_t)g->n_windows + 1) * sizeof(*s->begin));
    s->end = malloc(((size_t)g->n_windows + 1) * sizeof(*s->end));
    s->took = calloc((size_t)g->n_iterations + 1, sizeof(*s->took));
    if (!s->dur || !s->start || !s->begin || !s->end || !s->took)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < g->n_tasks; t++)
        s->dur[t] = g->traced[t] > 0 ? g->traced[t] : 0;
    return MSIM_OK;
}

static enum msim_status simulate(struct steps *s, struct msim_error *err)
{
    struct msim_scenario scenario = {.dur = s->dur};
    struct msim_engine *e;
    enum msim_status status;

    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        scenario.lag[k] = -1;
    MSIM_TRY(msim_engine_new(&e, s->graph));
    status = msim_engine_simulate(
        e, &scenario, &(struct msim_times){.start = s->start, .dur = s->dur},
        err);
    msim_engine_free(e);
    return status;
}

/* ---- steps -------------------------------------------------------------- */

static bool on_device(const struct msim_graph *g, uint32_t task)
{
    return g->lane[task] == MSIM_NONE || g->lanes[g->lane[task]].device;
}

/* Without marks, a window is all that its rank did; `host`: its threads. */
static void find_bounds(struct steps *s, bool host)
{
    const struct msim_graph *g = s->graph;

    for (uint32_t w = 0; w < g->n_windows; w++) {
        const struct msim_window *win = &g->windows[w];

        s->begin[w] = INT64_MAX;
        s->end[w] = INT64_MIN;
        for (uint32_t t = 0; t < g->n_tasks; t++) {
            bool inside = win->first == MSIM_NONE
                              ? g->refs[t].rank == win->rank
                              : t == win->first || t == win->last;

            if (!inside || (host && on_device(g, t)))
                continue;
            if (s->start[t] < s->begin[w])
                s->begin[w] = s->start[t];
            if (s->start[t] + s->dur[t] > s->end[w])
                s->end[w] = s->start[t] + s->dur[t];
        }
        if (s->begin[w] > s->end[w])
            s->begin[w] = s->end[w] = 0;
    }
    /* An iteration's time is the largest over ranks. */
    for (uint32_t w = 0; w < g->n_windows; w++) {
        msim_ps *took = &s->took[g->windows[w].iteration];

        if (s->end[w] - s->begin[w] > *took)
            *took = s->end[w] - s->begin[w];
    }
}

static void judge_steps(struct steps *s)
{
    const struct msim_graph *g = s->graph;
    double sum = 0;

    for (uint32_t i = 0; i < g->n_iterations; i++) {
        msim_ps traced = 0;
        double error;

        for (uint32_t w = 0; w < g->n_windows; w++)
            if (g->windows[w].iteration == i && g->windows[w].measured > traced)
                traced = g->windows[w].measured;
        if (traced <= 0)
            continue;
        error = 100 * fabs((double)s->took[i] / (double)traced - 1);
        sum += error;
        s->worst = error > s->worst ? error : s->worst;
        s->n_steps++;
    }
    s->mean = s->n_steps ? sum / s->n_steps : 0;
}

/* By how much the step of `s` differs most from that of `from`, in percent. */
static double moved(const struct steps *s, const struct steps *from)
{
    double most = 0;

    for (uint32_t i = 0; i < s->graph->n_iterations; i++)
        if (from->took[i] > 0)
            most = fmax(
                most,
                100 * fabs((double)s->took[i] / (double)from->took[i] - 1));
    return most;
}

/* ---- starts of kernels -------------------------------------------------- */

/* When a window began in the trace. */
static msim_ps traced_begin(const struct steps *s, uint32_t w)
{
    const struct msim_graph *g = s->graph;
    const struct msim_window *win = &g->windows[w];
    const struct msim_trace *t = s->job->ranks[win->rank];
    msim_ps first = INT64_MAX;

    for (uint32_t i = 0; i < t->n_steps; i++)
        if (t->steps[i].number == g->iterations[win->iteration])
            return t->steps[i].start;
    for (uint32_t i = 0; i < t->n_ops; i++)
        first = t->ops[i].start < first ? t->ops[i].start : first;
    for (uint32_t i = 0; i < t->n_calls; i++)
        first = t->calls[i].start < first ? t->calls[i].start : first;
    for (uint32_t i = 0; i < t->n_gpu; i++)
        first = t->gpu[i].start < first ? t->gpu[i].start : first;
    return first;
}

static struct late start_error(const struct steps *s, uint32_t task)
{
    const struct msim_graph *g = s->graph;
    uint32_t w = g->window[task];
    const struct msim_trace *t = s->job->ranks[g->refs[task].rank];
    /* A collective's kernel begins with its arrival, the task before. */
    uint32_t first = g->kind[task] == MSIM_TASK_COMM ? task - 1 : task;
    msim_ps by = s->start[first] - s->begin[w] -
                 (t->gpu[g->refs[task].index].start - traced_begin(s, w));

    return (struct late){
        100 * fabs((double)by) / (double)g->windows[w].measured, task, by};
}

static void list_starts(const struct steps *s, const struct late *v, uint32_t n,
                        uint32_t most)
{
    for (uint32_t i = 0; i < n && i < most; i++) {
        const struct msim_task_ref *ref = &s->graph->refs[v[i].task];
        const struct msim_trace *t = s->job->ranks[ref->rank];
        const struct msim_gpu *e = &t->gpu[ref->index];

        printf("%7.3f %% %+10.1f us  rank %u window %u stream %lld at %.1f us "
               "%.60s\n",
               v[i].percent, (double)v[i].by / 1e6, ref->rank,
               s->graph->window[v[i].task], (long long)t->streams[e->stream].id,
               (double)e->start / 1e6, msim_trace_text(t, e->name));
    }
}

static int by_size(const void *a, const void *b)
{
    double x = ((const struct late *)a)->percent;
    double y = ((const struct late *)b)->percent;

    return (x < y) - (x > y);
}

static enum msim_status judge_starts(struct steps *s, uint32_t list)
{
    const struct msim_graph *g = s->graph;
    struct late *v = malloc(((size_t)g->n_tasks + 1) * sizeof(*v));

    if (!v)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        bool gpu = g->kind[t] == MSIM_TASK_KERNEL ||
                   g->kind[t] == MSIM_TASK_COPY || g->kind[t] == MSIM_TASK_COMM;

        if (gpu && g->window[t] != MSIM_NONE &&
            g->windows[g->window[t]].measured > 0)
            v[s->n_kernels++] = start_error(s, t);
    }
    if (s->n_kernels) {
        qsort(v, s->n_kernels, sizeof(*v), by_size);
        s->p95 = v[s->n_kernels / 20].percent;
    }
    list_starts(s, v, s->n_kernels, list);
    free(v);
    return MSIM_OK;
}

/* ---- the host alone ------------------------------------------------------ */

/* Kahn's algorithm: `left` predecessors of each task, `ready` a stack. */
static void longest_path(struct steps *s, uint32_t *left, uint32_t *ready)
{
    const struct msim_graph *g = s->graph;
    uint32_t n = 0;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        for (uint32_t e = g->edge_begin[t];
             e < g->edge_begin[t + 1] && !on_device(g, t); e++)
            left[g->edges[e].to]++;
    for (uint32_t i = 0; i < g->n_releases; i++)
        if (s->start[g->releases[i].task] < g->releases[i].at)
            s->start[g->releases[i].task] = g->releases[i].at;
    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (!left[t] && !on_device(g, t))
            ready[n++] = t;
    while (n) {
        uint32_t t = ready[--n];

        for (uint32_t e = g->edge_begin[t]; e < g->edge_begin[t + 1]; e++) {
            uint32_t to = g->edges[e].to;
            msim_ps at = s->start[t] + s->dur[t] + g->edges[e].lag;

            if (on_device(g, to))
                continue;
            if (at > s->start[to])
                s->start[to] = at;
            if (!--left[to])
                ready[n++] = to;
        }
    }
}

static enum msim_status host_alone(struct steps *s, struct msim_error *err)
{
    uint32_t *left, *ready;

    MSIM_TRY(build(s, 0, err));
    left = calloc((size_t)s->graph->n_tasks + 1, sizeof(*left));
    ready = malloc(((size_t)s->graph->n_tasks + 1) * sizeof(*ready));
    if (left && ready) {
        longest_path(s, left, ready);
        find_bounds(s, true);
        for (uint32_t i = 0; i < s->graph->n_iterations; i++)
            printf("%lld\n", (long long)s->took[i]);
    }
    free(left);
    free(ready);
    return left && ready ? MSIM_OK : MSIM_ENOMEM;
}

/* ---- runs ---------------------------------------------------------------- */

static enum msim_status run(struct steps *s, uint64_t without, uint32_t list,
                            struct msim_error *err)
{
    MSIM_TRY(build(s, without, err));
    MSIM_TRY(simulate(s, err));
    find_bounds(s, false);
    judge_steps(s);
    return judge_starts(s, list);
}

/* Each rule by itself against all of them; one job, loaded once. */
static enum msim_status removal(const struct steps *all, struct msim_error *err)
{
    for (int rule = 0; rule < N_RULES; rule++) {
        struct steps s = {.job = all->job};
        enum msim_status status = run(&s, UINT64_C(1) << rule, 0, err);

        if (status == MSIM_OK)
            printf("%s\t%.4f\t%.4f\t%.4f\t%.4f\n", rule_text(rule), s.mean,
                   s.worst, s.p95, moved(&s, all));
        release(&s);
        MSIM_TRY(status);
    }
    return MSIM_OK;
}

static enum msim_status answer(struct steps *s, const struct request *r,
                               struct msim_error *err)
{
    MSIM_TRY(msim_job_load(&s->job, r->paths, r->n_paths,
                           &(struct msim_load_options){0}, err));
    if (r->mode == HOST_ALONE)
        return host_alone(s, err);
    MSIM_TRY(run(s, r->without, r->list, err));
    if (r->mode == ONE_RUN) {
        printf("%.4f %.4f %.4f %u %u\n", s->mean, s->worst, s->p95, s->n_steps,
               s->n_kernels);
        return MSIM_OK;
    }
    printf("none\t%.4f\t%.4f\t%.4f\t0.0000\n", s->mean, s->worst, s->p95);
    return removal(s, err);
}

/* ---- command line ------------------------------------------------------- */

static int rule_named(const char *name)
{
    for (int rule = 0; rule < N_RULES; rule++)
        if (!strcmp(rule_text(rule), name))
            return rule;
    fprintf(stderr, "steps: no rule '%s'; --rules lists them\n", name);
    exit(2);
}

static int list_rules(void)
{
    for (int rule = 0; rule < N_RULES; rule++)
        puts(rule_text(rule));
    return 0;
}

/* The options of a line; what is left are traces. */
static struct request parse(int argc, char **argv)
{
    struct request r = {.mode = ONE_RUN};
    int i = 1;

    for (; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "--removal")) {
            r.mode = REMOVAL;
        } else if (!strcmp(argv[i], "--host-alone")) {
            r.mode = HOST_ALONE;
        } else if (!strcmp(argv[i], "--without") && i + 1 < argc) {
            r.without |= UINT64_C(1) << rule_named(argv[++i]);
        } else if (!strcmp(argv[i], "--starts") && i + 1 < argc) {
            r.list = (uint32_t)strtoul(argv[++i], NULL, 10);
        } else {
            fprintf(stderr, "steps: '%s' is no option\n", argv[i]);
            exit(2);
        }
    }
    r.paths = (const char *const *)argv + i;
    r.n_paths = (uint32_t)(argc - i);
    return r;
}

int main(int argc, char **argv)
{
    struct steps s = {0};
    struct msim_error err = {0};
    struct request r;
    enum msim_status status;

    if (argc == 2 && !strcmp(argv[1], "--rules"))
        return list_rules();
    r = parse(argc, argv);
    status = answer(&s, &r, &err);
    if (status != MSIM_OK)
        fprintf(stderr, "steps: %s: %s\n", r.n_paths ? r.paths[0] : "",
                err.text);
    release(&s);
    msim_job_free(s.job);
    return status == MSIM_OK ? 0 : 3;
}
