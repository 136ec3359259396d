/*
 * How well a graph reproduces the run that it was made from: one job, under
 * measured costs, with every rule or with some left out.
 *
 *     steps [--without RULE]... [--starts N] TRACE...
 *     steps --rules
 *
 * Prints one line: mean and worst error of a step, the 95th percentile of the
 * error of a kernel's start relative to its step, all in percent; --starts
 * lists the N kernels that start furthest from when they did.
 */
#include "core/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct steps {
    struct msim_job *job;
    struct msim_graph *graph;
    msim_ps *dur, *start;
    msim_ps *begin, *end;    /* of each window, simulated */
    double mean, worst, p95; /* percent */
    uint32_t n_steps, n_kernels;
};

struct late {
    double percent;
    uint32_t task;
    msim_ps by;
};

static int by_size(const void *a, const void *b)
{
    double x = ((const struct late *)a)->percent;
    double y = ((const struct late *)b)->percent;

    return (x < y) - (x > y);
}

static enum msim_status simulate(struct steps *s, uint32_t without,
                                 struct msim_error *err)
{
    struct msim_scenario scenario = {0};
    struct msim_engine *e;
    enum msim_status st;
    uint32_t n;

    MSIM_TRY(msim_graph_build(&s->graph, s->job,
                              &(struct msim_graph_options){
                                  .device_times = true,
                                  .peers = MSIM_PEERS_FIXED,
                                  .without = without,
                              },
                              err));
    n = s->graph->n_tasks;
    s->dur = malloc(((size_t)n + 1) * sizeof *s->dur);
    s->start = malloc(((size_t)n + 1) * sizeof *s->start);
    if (!s->dur || !s->start)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < n; t++)
        s->dur[t] = s->graph->traced[t] > 0 ? s->graph->traced[t] : 0;
    scenario.dur = s->dur;
    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        scenario.lag[k] = -1;
    MSIM_TRY(msim_engine_new(&e, s->graph));
    st = msim_engine_run(e, &scenario, s->start, err);
    msim_engine_free(e);
    return st;
}

/* ---- steps -------------------------------------------------------------- */

/* Without marks, a window is all that its rank did. */
static enum msim_status find_bounds(struct steps *s)
{
    const struct msim_graph *g = s->graph;

    s->begin = malloc(((size_t)g->n_windows + 1) * sizeof *s->begin);
    s->end = malloc(((size_t)g->n_windows + 1) * sizeof *s->end);
    if (!s->begin || !s->end)
        return MSIM_ENOMEM;
    for (uint32_t w = 0; w < g->n_windows; w++) {
        const struct msim_window *win = &g->windows[w];

        s->begin[w] = INT64_MAX;
        s->end[w] = INT64_MIN;
        for (uint32_t t = 0; t < g->n_tasks; t++) {
            bool inside = win->first == MSIM_NONE
                              ? g->refs[t].rank == win->rank
                              : t == win->first || t == win->last;

            if (!inside)
                continue;
            if (s->start[t] < s->begin[w])
                s->begin[w] = s->start[t];
            if (s->start[t] + s->dur[t] > s->end[w])
                s->end[w] = s->start[t] + s->dur[t];
        }
    }
    return MSIM_OK;
}

/* A step's time is the largest over ranks. */
static void judge_steps(struct steps *s)
{
    const struct msim_graph *g = s->graph;
    double sum = 0;

    for (uint32_t i = 0; i < g->n_iterations; i++) {
        msim_ps traced = 0, simulated = 0;
        double error;

        for (uint32_t w = 0; w < g->n_windows; w++) {
            if (g->windows[w].iteration != i)
                continue;
            if (s->end[w] - s->begin[w] > simulated)
                simulated = s->end[w] - s->begin[w];
            if (g->windows[w].measured > traced)
                traced = g->windows[w].measured;
        }
        if (traced <= 0)
            continue;
        error = 100 * fabs((double)simulated / (double)traced - 1);
        sum += error;
        s->worst = error > s->worst ? error : s->worst;
        s->n_steps++;
    }
    s->mean = s->n_steps ? sum / s->n_steps : 0;
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

static enum msim_status judge_starts(struct steps *s, uint32_t list)
{
    const struct msim_graph *g = s->graph;
    struct late *v = malloc(((size_t)g->n_tasks + 1) * sizeof *v);

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
        qsort(v, s->n_kernels, sizeof *v, by_size);
        s->p95 = v[s->n_kernels / 20].percent;
    }
    list_starts(s, v, s->n_kernels, list);
    free(v);
    return MSIM_OK;
}

/* ---- command line ------------------------------------------------------- */

static int rule_named(const char *name)
{
    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        if (!strcmp(msim_edge_text((enum msim_edge_kind)k), name))
            return k;
    fprintf(stderr, "steps: no rule '%s'; --rules lists them\n", name);
    exit(2);
}

static int list_rules(void)
{
    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        puts(msim_edge_text((enum msim_edge_kind)k));
    return 0;
}

static enum msim_status run(struct steps *s, const char *const *paths,
                            uint32_t n, uint32_t without, uint32_t list,
                            struct msim_error *err)
{
    MSIM_TRY(
        msim_job_load(&s->job, paths, n, &(struct msim_load_options){0}, err));
    MSIM_TRY(simulate(s, without, err));
    MSIM_TRY(find_bounds(s));
    judge_steps(s);
    return judge_starts(s, list);
}

int main(int argc, char **argv)
{
    struct steps s = {0};
    struct msim_error err = {0};
    uint32_t without = 0, list = 0;
    enum msim_status st;
    int i = 1;

    if (argc == 2 && !strcmp(argv[1], "--rules"))
        return list_rules();
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        if (!strcmp(argv[i], "--without"))
            without |= 1u << rule_named(argv[i + 1]);
        else if (!strcmp(argv[i], "--starts"))
            list = (uint32_t)atoi(argv[i + 1]);
    }
    st = run(&s, (const char *const *)argv + i, (uint32_t)(argc - i), without,
             list, &err);
    if (st == MSIM_OK)
        printf("%.4f %.4f %.4f %u %u\n", s.mean, s.worst, s.p95, s.n_steps,
               s.n_kernels);
    else
        fprintf(stderr, "steps: %s: %s\n", argc > i ? argv[i] : "", err.text);
    free(s.dur);
    free(s.start);
    free(s.begin);
    free(s.end);
    msim_graph_free(s.graph);
    msim_job_free(s.job);
    return st == MSIM_OK ? 0 : 3;
}
