/*
 * Property: whatever a trace says, its graph can be built and simulated, or
 * tasks that wait for each other are named; a run that could have been has
 * none. And of every simulation:
 *
 *   no duration and no lag makes a task start before what it waits for
 *   the same run twice is the same
 *   an iteration does not end before it begins, its classes and the pieces of
 *   its critical path sum to it, no slack is negative
 *   where nothing is shared, longer kernels make nothing earlier
 *
 * And the steps of played jobs of one rank, simulated as traced, are what they
 * were, but for what a trace does not tell: by 2 % in the mean.
 *
 * Memory errors and leaks are the sanitizers' part. Half of the jobs are as
 * they were played (played_job.h), half are damaged (damage_job.h); each is
 * simulated with several graphs and durations. Of 5000 seeds share.h says
 * how many.
 */
#include "core/graph/build/graph_build.h"
#include "core/job/job.h"
#include "core/report/analyse/analysis_internal.h"
#include "core/report/write/report.h"
#include "predict/cost.h"
#include "tests/fuzz/damage_job.h"
#include "tests/fuzz/share.h"

#include <math.h>
#include <unistd.h>

#define JOBS       5000
#define COMPLAINTS 400

struct fuzz {
    struct made_job made;
    struct msim_platform *platform;
    struct msim_host *host;
    char folder[32], paths[MADE_RANKS][48];
    FILE *null;
    uint64_t seed, failures, complaints;
    uint64_t refused, cycles, runs;
    bool damaged, first; /* first: graph of the job at hand */
    double error;        /* of steps, summed */
    uint64_t steps;
    const char *user; /* the last complaint, and of which seed */
    uint64_t user_of;
};

/* One graph with one set of durations, simulated. */
struct trial {
    struct fuzz *f;
    const struct msim_graph *g;
    struct msim_engine *engine;
    struct msim_costs *costs;
    struct msim_scenario scenario;
    struct msim_times times;
    const char *what;
    bool as_traced; /* all rules, measured times */
};

/* Each reason once a seed: what breaks at one task breaks at many. */
static void complain(struct fuzz *f, const char *what, const char *why,
                     uint32_t task)
{
    f->failures++;
    if (f->user == why && f->user_of == f->seed)
        return;
    f->user = why;
    f->user_of = f->seed;
    if (f->complaints++ < COMPLAINTS)
        fprintf(stderr, "seed %" PRIu64 "%s: %s: %s (%u)\n", f->seed,
                f->damaged ? ", damaged" : "", what, why, task);
}

#define HOLDS(k, holds, task)                                                  \
    do {                                                                       \
        if (!(holds))                                                          \
            complain((k)->f, (k)->what, #holds, task);                         \
    } while (0)

/* ---- what every run keeps ------------------------------------------------ */

static bool is_out(const struct trial *k, uint32_t task)
{
    return k->scenario.removed && k->scenario.removed[task];
}

static msim_ps end_of(const struct trial *k, uint32_t task)
{
    return k->times.start[task] + k->times.dur[task];
}

/* The least start that an edge leaves its successor. */
static msim_ps from_edge(const struct trial *k, uint32_t from, uint32_t edge)
{
    enum msim_edge_kind kind = msim_edge_kind_of(k->g->edge_kind[edge]);
    msim_ps lag = k->scenario.lag[kind];

    if (is_out(k, k->g->edges[edge].to))
        return kind == MSIM_EDGE_COLLECTIVE || kind == MSIM_EDGE_POINT_TO_POINT
                   ? 0
                   : end_of(k, from);
    if (lag < 0)
        lag = k->g->edges[edge].lag;
    return end_of(k, from) + lag;
}

static void check_starts(const struct trial *k)
{
    const struct msim_graph *g = k->g;

    for (uint32_t t = 0; t < g->n_tasks; t++) {
        HOLDS(k, k->times.start[t] >= 0, t);
        HOLDS(k, k->times.dur[t] >= 0, t);
        HOLDS(k, !is_out(k, t) || k->times.dur[t] == 0, t);
        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++)
            HOLDS(k, k->times.start[g->edges[i].to] >= from_edge(k, t, i), t);
    }
    for (uint32_t i = 0; i < g->n_releases; i++)
        HOLDS(k,
              is_out(k, g->releases[i].task) ||
                  k->times.start[g->releases[i].task] >= g->releases[i].at,
              g->releases[i].task);
}

static bool new_times(struct msim_times *t, uint32_t n)
{
    t->start = malloc(((size_t)n + 1) * sizeof(*t->start));
    t->dur = malloc(((size_t)n + 1) * sizeof(*t->dur));
    t->held_by = malloc(((size_t)n + 1) * sizeof(*t->held_by));
    return t->start && t->dur && t->held_by;
}

static void free_times(struct msim_times *t)
{
    free(t->start);
    free(t->dur);
    free(t->held_by);
}

/* The same again, and with all kernels half as long again. */
static void check_again(struct trial *k, bool shared)
{
    uint32_t n = k->g->n_tasks;
    size_t bytes = n * sizeof(msim_ps);
    struct msim_scenario longer = k->scenario;
    msim_ps *dur = malloc(bytes + 1);
    struct msim_times t;

    if (!new_times(&t, n) || !dur)
        exit(1);
    HOLDS(k, msim_engine_simulate(k->engine, &k->scenario, &t, NULL) == MSIM_OK,
          0);
    HOLDS(k, memcmp(t.start, k->times.start, bytes) == 0, 0);
    HOLDS(k, memcmp(t.dur, k->times.dur, bytes) == 0, 0);
    for (uint32_t i = 0; i < n; i++)
        dur[i] =
            k->scenario.dur[i] +
            (k->g->kind[i] == MSIM_TASK_KERNEL ? k->scenario.dur[i] / 2 : 0);
    longer.dur = dur;
    HOLDS(k, msim_engine_simulate(k->engine, &longer, &t, NULL) == MSIM_OK, 0);
    for (uint32_t i = 0; i < n && !shared; i++)
        HOLDS(k, t.start[i] >= k->times.start[i], i);
    free_times(&t);
    free(dur);
}

/* ---- what is read off ---------------------------------------------------- */

static void check_path(const struct trial *k, const struct msim_run *run,
                       const struct msim_binding *b,
                       const struct msim_window_times *w)
{
    struct msim_path path = {0};

    for (uint32_t i = 0; i < k->g->n_windows; i++) {
        msim_ps at = w[i].begin;

        HOLDS(k, msim_path_find(&path, k->g, run, b, i, w) == MSIM_OK, i);
        for (uint32_t p = 0; p < path.n; p++) {
            HOLDS(k, path.pieces[p].start == at, p);
            HOLDS(k, path.pieces[p].dur >= 0, p);
            at += path.pieces[p].dur;
        }
        HOLDS(k, at == w[i].end, i);
    }
    msim_path_release(&path);
}

static void check_causes(const struct trial *k, const struct msim_run *run,
                         const struct msim_window_times *w)
{
    size_t n = k->g->n_tasks;
    msim_ps *slack = malloc((n + 1) * sizeof(*slack));
    struct msim_waits *waits =
        calloc((size_t)k->g->n_windows + 1, sizeof(*waits));
    struct msim_binding b = {0};

    if (!slack || !waits)
        exit(1);
    HOLDS(k, msim_binding_init(&b, k->g, run) == MSIM_OK, 0);
    HOLDS(k, msim_slack(k->g, run, &b, w, slack) == MSIM_OK, 0);
    for (uint32_t t = 0; t < n; t++)
        HOLDS(k, slack[t] >= 0, t);
    HOLDS(k, msim_waits_find(k->g, run, &b, w, waits) == MSIM_OK, 0);
    for (uint32_t i = 0; i < k->g->n_windows; i++)
        for (unsigned h = 0; h < MSIM_HOLDS; h++)
            HOLDS(k,
                  waits[i].main[h] >= 0 && waits[i].host[h] >= 0 &&
                      waits[i].idle[h] >= 0 && waits[i].device[h] >= 0,
                  i);
    check_path(k, run, &b, w);
    msim_binding_release(&b);
    free(slack);
    free(waits);
}

/* How far the steps of a job that could have been are from what they were. */
static void note_steps(const struct trial *k, const struct msim_window_times *w)
{
    for (uint32_t i = 0; i < k->g->n_windows; i++) {
        msim_ps was = k->g->windows[i].measured;

        if (was <= 0)
            continue;
        k->f->error +=
            fabs((double)(w[i].end - w[i].begin - was)) / (double)was;
        k->f->steps++;
    }
}

static void check_windows(const struct trial *k, const struct msim_outcome *o)
{
    struct msim_window_times *w =
        calloc((size_t)k->g->n_windows + 1, sizeof(*w));

    if (!w)
        exit(1);
    HOLDS(k, msim_breakdown_find(o, w) == MSIM_OK, 0);
    for (uint32_t i = 0; i < k->g->n_windows; i++) {
        HOLDS(k, w[i].begin <= w[i].end, i);
        HOLDS(k, w[i].compute >= 0 && w[i].communication >= 0, i);
        HOLDS(k, w[i].copy >= 0 && w[i].host >= 0, i);
        HOLDS(k,
              w[i].compute + w[i].communication + w[i].copy + w[i].host <=
                  w[i].end - w[i].begin,
              i);
        HOLDS(k, w[i].hidden_communication >= 0 && w[i].hidden_copy >= 0, i);
    }
    check_causes(k, &o->mid, w);
    if (k->as_traced && !k->f->damaged && k->f->made.n_ranks == 1)
        note_steps(k, w);
    free(w);
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) + 1e-6;
}

static double sum_of(const struct msim_breakdown *b)
{
    return b->compute + b->communication + b->memory_copy + b->host + b->idle;
}

static void check_report(const struct trial *k, const struct msim_outcome *o)
{
    struct msim_error err = {0};
    struct msim_prediction *p;
    struct msim_timeline *tl;

    if (msim_analyse(&p, o, UINT32_MAX, &err) != MSIM_OK) {
        complain(k->f, k->what, err.text, 0);
        return;
    }
    HOLDS(k, p->iteration_us.predicted >= 0, 0);
    HOLDS(k, p->kernel_us.predicted >= 0, 0);
    HOLDS(k, p->wait_us >= 0 && p->external_wait_us >= 0, 0);
    for (uint32_t i = 0; i < p->n_ranks_detail; i++)
        HOLDS(k,
              near(sum_of(&p->ranks_detail[i].breakdown_us),
                   p->ranks_detail[i].iteration_us.predicted),
              i);
    p->version = p->costs = p->host = "";
    HOLDS(k, msim_report_json(p, k->f->null) == MSIM_OK, 0);
    HOLDS(k, msim_report_text(p, k->f->null) == MSIM_OK, 0);
    HOLDS(k, msim_report_csv(p, k->f->null) == MSIM_OK, 0);
    msim_prediction_free(p);
    HOLDS(k, msim_timeline_new(&tl, o) == MSIM_OK, 0);
    for (uint32_t i = 0; tl && i < tl->n_spans; i++)
        HOLDS(k,
              tl->spans[i].dur >= 0 && tl->spans[i].start >= 0 &&
                  tl->spans[i].slack >= 0,
              i);
    msim_timeline_free(tl);
}

static struct msim_run run_of(const struct trial *k)
{
    return (struct msim_run){.start = k->times.start,
                             .dur = k->times.dur,
                             .lag = k->scenario.lag,
                             .removed = k->scenario.removed,
                             .held_by = k->times.held_by};
}

static void check_outcome(const struct trial *k, bool measured)
{
    static const char *const NAMES[MSIM_MADE_BY_MAX] = {
        "0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",  "9",  "10",
        "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21",
        "22", "23", "24", "25", "26", "27", "28", "29", "30", "31"};
    const struct msim_outcome o = {
        .graph = k->g,
        .mid = run_of(k),
        .low = run_of(k),
        .high = run_of(k),
        .task_low = k->costs->low,
        .task_mid = k->costs->mid,
        .task_high = k->costs->high,
        .gpu_slower = k->costs->machine.slower,
        .gpu_faster = k->costs->machine.faster,
        .made_by = k->costs->made_by,
        .made_by_names = NAMES,
        .n_made_by = MSIM_COST_HOST + 1u,
        .source = k->costs->source,
        .source_names = NAMES,
        .source_uncovered = MSIM_SOURCE_INFERRED,
        .flops = k->costs->flops,
        .limits = measured ? NULL : k->costs->limits,
        .measured = measured,
    };

    check_windows(k, &o);
    check_report(k, &o);
}

/* ---- one graph ----------------------------------------------------------- */

static const struct msim_scale SCALES[] = {
    {.select = MSIM_SELECT_KERNELS, .factor = 0},
    {.select = MSIM_SELECT_COMMUNICATION, .factor = 0},
    {.select = MSIM_SELECT_COPIES, .factor = 0},
    {.select = MSIM_SELECT_HOST, .factor = 0},
    {.select = MSIM_SELECT_KERNELS, .factor = 3.7},
    {.select = MSIM_SELECT_COPIES, .factor = 0.3},
    {.select = MSIM_SELECT_HOST, .factor = 2.5},
    {.select = MSIM_SELECT_COMMUNICATION, .factor = 11},
};

static void simulate(struct trial *k, bool measured)
{
    struct msim_error err = {0};
    enum msim_status status =
        msim_engine_simulate(k->engine, &k->scenario, &k->times, &err);
    bool shared = k->g->sharing && k->g->sharing->rules;

    k->f->runs++;
    if (status == MSIM_ECYCLE) {
        k->f->cycles++;
        if (!k->f->damaged || !strstr(err.text, "wait for each other"))
            complain(k->f, k->what, err.text, 0);
        return;
    }
    if (status == MSIM_ELIMIT && k->f->damaged)
        return;
    if (status != MSIM_OK) {
        complain(k->f, k->what, err.text, 0);
        return;
    }
    check_starts(k);
    check_again(k, shared);
    check_outcome(k, measured);
}

/* As traced or modelled, with some of the scales. */
static void try_costs(struct fuzz *f, const struct msim_graph *g,
                      const char *what, bool measured, uint32_t first,
                      uint32_t n)
{
    struct trial k = {.f = f, .g = g, .what = what};
    struct msim_error err = {0};
    struct msim_works **works;
    enum msim_status status;

    if (msim_works_new_ranks(&works, g->job->ranks, g->job->n_ranks, NULL,
                             false) != MSIM_OK)
        exit(1);
    status = msim_costs_new(
        &k.costs, g,
        &(struct msim_cost_options){.platform = measured ? NULL : f->platform,
                                    .works = works,
                                    .host = f->host,
                                    .scales = SCALES + first,
                                    .n_scales = n},
        &err);
    msim_works_free_ranks(works, g->job->n_ranks);
    if (status != MSIM_OK) {
        complain(f, what, err.text, 0);
        return;
    }
    k.as_traced = f->first && n == 0;
    k.scenario.dur = k.costs->mid;
    k.scenario.removed = k.costs->removed;
    memcpy(k.scenario.lag, k.costs->lag, sizeof(k.scenario.lag));
    if (!new_times(&k.times, g->n_tasks) ||
        msim_engine_new(&k.engine, g) != MSIM_OK)
        exit(1);
    simulate(&k, measured);
    msim_engine_free(k.engine);
    free_times(&k.times);
    msim_costs_free(k.costs);
}

/* Work and what was copied are never negative. */
static void check_graph(struct fuzz *f, const struct msim_graph *g,
                        const char *what)
{
    const struct trial k = {.f = f, .g = g, .what = what};

    for (uint32_t t = 0; t < g->n_tasks; t++)
        HOLDS(&k, g->traced[t] >= 0, t);
    for (uint32_t i = 0; i < MSIM_COPIED_KINDS; i++)
        HOLDS(&k, g->copied[i] >= 0, i);
    HOLDS(&k, g->copied[MSIM_COPIED_UNEXPLAINED] >= 0, 0);
}

static void try_graph(struct fuzz *f, struct msim_job *job,
                      struct msim_graph_options opt, const char *what)
{
    struct made_job *j = &f->made;
    struct msim_error err = {0};
    struct msim_graph *g;
    uint32_t first = made_any(j, 8), n = 1 + made_any(j, 3);

    if (msim_graph_build(&g, job, &opt, &err) != MSIM_OK) {
        complain(f, what, err.text, 0);
        return;
    }
    check_graph(f, g, what);
    try_costs(f, g, what, opt.device_times, 0, 0);
    f->first = false;
    try_costs(f, g, what, opt.device_times, first, first + n > 8 ? 1 : n);
    msim_graph_free(g);
}

static void try_job(struct fuzz *f, struct msim_job *job)
{
    struct made_job *j = &f->made;

    f->first = true;
    try_graph(f, job,
              (struct msim_graph_options){.device_times = true,
                                          .peers = MSIM_PEERS_FIXED},
              "measured, fixed");
    try_graph(f, job,
              (struct msim_graph_options){.device_times = true,
                                          .peers = MSIM_PEERS_FOLLOW,
                                          .without_sharing = UINT32_MAX},
              "measured, follow, not shared");
    try_graph(
        f, job,
        (struct msim_graph_options){.device_times = true,
                                    .peers = MSIM_PEERS_TOGETHER,
                                    .without = made_any(j, 1u << 31) & ~1u,
                                    .without_sharing = made_any(j, 32)},
        "measured, without some rules");
    try_graph(f, job, (struct msim_graph_options){.device_times = false},
              "model");
    try_graph(
        f, job,
        (struct msim_graph_options){.without = made_any(j, 1u << 31) & ~1u,
                                    .without_sharing = UINT32_MAX},
        "model, without some rules, not shared");
}

/* ---- jobs ---------------------------------------------------------------- */

static void try_seed(struct fuzz *f, uint64_t seed)
{
    struct msim_load_options opt = {.threads = 1};
    const char *paths[MADE_RANKS];
    struct msim_error err = {0};
    struct msim_job *job;

    f->seed = seed;
    f->damaged = seed % 2;
    made_job_new(&f->made, seed);
    if (f->damaged)
        made_job_damage(&f->made);
    for (uint32_t i = 0; i < f->made.n_ranks; i++) {
        paths[i] = f->paths[i];
        if (!made_job_write(&f->made, i, paths[i], seed % 3 == 0))
            exit(1);
    }
    if (msim_job_load(&job, paths, f->made.n_ranks, &opt, &err) != MSIM_OK) {
        f->refused++;
        if (!f->damaged || !err.text[0])
            complain(f, "load", err.text, 0);
        return;
    }
    try_job(f, job);
    msim_job_free(job);
}

static bool begin(struct fuzz *f)
{
    struct msim_error err = {0};

    memcpy(f->folder, "msim-fuzz-graph-XXXXXX", 23);
    if (!mkdtemp(f->folder))
        return false;
    for (int i = 0; i < MADE_RANKS; i++)
        snprintf(f->paths[i], sizeof(f->paths[i]), "%s/rank-%d.json", f->folder,
                 i);
    f->null = fopen("/dev/null", "w");
    if (f->null &&
        msim_platform_load(&f->platform, MSIM_DATA, "a100", &err) == MSIM_OK &&
        msim_host_load(&f->host, MSIM_DATA, "generic", &err) == MSIM_OK)
        return true;
    fprintf(stderr, "fuzz_graph: %s\n", err.text);
    return false;
}

static void end(struct fuzz *f)
{
    for (int i = 0; i < MADE_RANKS; i++)
        unlink(f->paths[i]);
    rmdir(f->folder);
    msim_platform_free(f->platform);
    msim_host_free(f->host);
    if (f->null)
        fclose(f->null);
}

/* With a seed as argument, its traces are written and left. */
int main(int argc, char **argv)
{
    struct fuzz *f = calloc(1, sizeof(*f));
    uint64_t first = FUZZ_FIRST_SEED, jobs = fuzz_share(JOBS);
    int result = 1;

    if (argc > 1) {
        first = strtoull(argv[1], NULL, 10);
        jobs = 1;
    }
    if (f && begin(f)) {
        for (uint64_t i = 0; i < jobs; i++)
            try_seed(f, first + i);
        printf("%" PRIu64 " jobs, %" PRIu64 " refused, %" PRIu64
               " runs, %" PRIu64 " with a cycle, %" PRIu64 " failures\n",
               jobs, f->refused, f->runs, f->cycles, f->failures);
        printf("mean error of %" PRIu64 " steps: %.3f %%\n", f->steps,
               f->steps ? 100 * f->error / (double)f->steps : 0.0);
        result = f->failures != 0 ||
                 (f->steps > 500 && f->error > 0.02 * (double)f->steps);
    }
    if (argc > 1)
        printf("left in %s\n", f->folder);
    else if (f)
        end(f);
    free(f);
    return result;
}
