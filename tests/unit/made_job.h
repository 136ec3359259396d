/*
 * tests/unit/made_job.h - made-up traces simulated under what-ifs, with rules
 * left out. Costs are those of `--costs measured`, scaled as `--scale` does.
 */
#ifndef MSIM_TESTS_UNIT_MADE_JOB_H
#define MSIM_TESTS_UNIT_MADE_JOB_H
#include "core/graph/build/graph_build.h"
#include "core/run/engine.h"
#include "predict/cost.h"

#include "tests/check.h"
#include "tests/trace_checks.h"
#include "tests/unit/made_kineto.h"

#include <unistd.h>

#define US ((msim_ps)MSIM_PS_PER_US)

/* A job, and its last simulation. */
struct made_job {
    struct msim_job *job;
    struct msim_graph *graph;
    struct msim_costs *costs;
    msim_ps *start, *took; /* one a task */
};

/* What is asked: scales in words, "kernels=2 host=0.5", rules left out as bits
 * of 1 << rule. All zero: as traced. */
struct made_what {
    const char *scale;
    uint32_t without, without_sharing;
    enum msim_peers peers;
    bool blind; /* no GPU time may be read */
};

static inline bool made_load_files(struct made_job *j, const struct made *ranks,
                                   uint32_t n)
{
    struct msim_load_options opt = {.threads = 1};
    struct msim_error err = {0};
    char folder[] = "msim-test-XXXXXX", paths[4][64];
    const char *names[4];
    enum msim_status status;

    if (!CHECK(n <= 4) || !CHECK(mkdtemp(folder) != NULL))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        char *text = made_text(&ranks[i]);
        FILE *out;

        snprintf(paths[i], sizeof(paths[i]), "%s/%u.json", folder, i);
        names[i] = paths[i];
        out = fopen(paths[i], "wb");
        CHECK(out && fwrite(text, 1, strlen(text), out) == strlen(text));
        if (out)
            fclose(out);
        free(text);
    }
    status = msim_job_load(&j->job, names, n, &opt, &err);
    CHECK_STR(err.text, "");
    for (uint32_t i = 0; i < n; i++)
        unlink(paths[i]);
    rmdir(folder);
    return CHECK(status == MSIM_OK);
}

/* Load the traces of up to four ranks, and free their texts. */
static inline bool made_load(struct made_job *j, struct made *ranks, uint32_t n)
{
    const char *broken;
    bool ok;

    memset(j, 0, sizeof(*j));
    ok = made_load_files(j, ranks, n);
    for (uint32_t i = 0; i < n; i++)
        made_free(&ranks[i]);
    broken = ok ? job_broken(j->job) : NULL;
    CHECK_STR(broken ? broken : "", "");
    return ok;
}

static inline void made_forget(struct made_job *j)
{
    free(j->start);
    free(j->took);
    msim_costs_free(j->costs);
    msim_graph_free(j->graph);
    j->start = j->took = NULL;
    j->costs = NULL;
    j->graph = NULL;
}

static inline void made_unload(struct made_job *j)
{
    made_forget(j);
    msim_job_free(j->job);
}

/* At most four scales, from words between blanks. */
static inline uint32_t made_scales(char *words, struct msim_scale *scales)
{
    struct msim_error err = {0};
    uint32_t n = 0;

    for (char *end; words && *words && n < 4; words = end) {
        end = strchr(words, ' ');
        if (end)
            *end++ = '\0';
        CHECK_INT(msim_scale_parse(&scales[n++], words, &err), MSIM_OK);
    }
    return n;
}

static inline void made_cost(struct made_job *j, const char *scale)
{
    struct msim_scale scales[4];
    char words[128] = "";
    struct msim_cost_options opt = {.scales = scales};

    if (scale)
        snprintf(words, sizeof(words), "%s", scale);
    opt.n_scales = made_scales(words, scales);
    CHECK_INT(msim_costs_new(&j->costs, j->graph, &opt, NULL), MSIM_OK);
}

/* Build the graph and simulate; the status is the engine's. */
static inline enum msim_status made_try(struct made_job *j, struct made_what w,
                                        struct msim_error *err)
{
    struct msim_graph_options opt = {
        .device_times = !w.blind,
        .peers = w.peers,
        .without = w.without,
        .without_sharing = w.without_sharing,
    };
    struct msim_scenario s = {0};
    struct msim_engine *e;
    enum msim_status status;
    size_t n;

    made_forget(j);
    MSIM_TRY(msim_graph_build(&j->graph, j->job, &opt, err));
    made_cost(j, w.scale);
    n = (size_t)j->graph->n_tasks + 1;
    j->start = calloc(n, sizeof(*j->start));
    j->took = calloc(n, sizeof(*j->took));
    s.dur = j->costs->mid;
    s.removed = j->costs->removed;
    memcpy(s.lag, j->costs->lag, sizeof(s.lag));
    MSIM_TRY(msim_engine_new(&e, j->graph));
    status = msim_engine_simulate(
        e, &s, &(struct msim_times){.start = j->start, .dur = j->took}, err);
    msim_engine_free(e);
    return status;
}

/* Simulate; the end of all, in ps from the first event of the trace. */
static inline msim_ps made_run(struct made_job *j, struct made_what w)
{
    struct msim_error err = {0};
    msim_ps last = 0;

    CHECK_INT(made_try(j, w, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    for (uint32_t t = 0; j->took && t < j->graph->n_tasks; t++)
        if (j->start[t] + j->took[t] > last)
            last = j->start[t] + j->took[t];
    return last;
}

static inline msim_ps made_scaled(struct made_job *j, const char *scale)
{
    return made_run(j, (struct made_what){.scale = scale});
}

static inline msim_ps made_without(struct made_job *j, enum msim_edge_kind rule)
{
    return made_run(j, (struct made_what){.without = 1u << rule});
}

/* The task of what `name` is the name of: of its own kernel, copy or call, of
 * a collective's arrival, the first on the lowest rank. NONE is a failure. */
static inline uint32_t made_task(const struct made_job *j, const char *name)
{
    const struct msim_graph *g = j->graph;

    for (uint32_t t = 0; t < g->n_tasks; t++) {
        const struct msim_trace *tr = j->job->ranks[g->refs[t].rank];
        uint32_t i = g->refs[t].index, text = 0;

        if (i == MSIM_NONE || g->lane[t] == MSIM_NONE)
            continue;
        if (g->kind[t] == MSIM_TASK_CALL)
            text = tr->calls[i].name;
        else if (g->kind[t] >= MSIM_TASK_KERNEL)
            text = tr->gpu[i].name;
        if (text && !strcmp(msim_trace_text(tr, text), name))
            return t;
    }
    CHECK_STR("", name);
    return 0;
}

static inline msim_ps made_start(const struct made_job *j, const char *name)
{
    return j->start[made_task(j, name)];
}

static inline msim_ps made_end(const struct made_job *j, const char *name)
{
    uint32_t t = made_task(j, name);

    return j->start[t] + j->took[t];
}

/* The transfer of the nth collective on a rank, in the order of its stream. */
static inline uint32_t made_transfer(const struct made_job *j, uint32_t rank,
                                     uint32_t n)
{
    const struct msim_graph *g = j->graph;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (g->kind[t] == MSIM_TASK_COMM && g->refs[t].rank == rank && !n--)
            return t;
    CHECK_STR("", "a collective of that rank");
    return 0;
}

static inline msim_ps made_transfer_end(const struct made_job *j, uint32_t rank,
                                        uint32_t n)
{
    uint32_t t = made_transfer(j, rank, n);

    return j->start[t] + j->took[t];
}

/* Edges of a kind from `source`; of any source for SOURCES. */
static inline uint32_t made_edges(const struct made_job *j,
                                  enum msim_edge_kind kind,
                                  enum msim_edge_source source)
{
    uint32_t n = 0;

    for (uint32_t e = 0; e < j->graph->n_edges; e++)
        n += msim_edge_kind_of(j->graph->edge_kind[e]) == kind &&
             (source == MSIM_EDGE_SOURCES ||
              msim_edge_source_of(j->graph->edge_kind[e]) == source);
    return n;
}

/* Is there a warning with this text in it? */
static inline bool made_warned(const struct made_job *j, const char *text)
{
    for (uint32_t i = 0; i < j->job->n_warnings; i++)
        if (strstr(j->job->warnings[i], text))
            return true;
    return false;
}

#endif
