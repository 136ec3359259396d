/*
 * tests/unit/core/run/test_replicas.c - folded ranks against ranks one by one.
 */
#include "core/graph/build/graph_build.h"
#include "tests/check.h"
#include "tests/unit/core/run/replicas.h"
#include "tests/unit/engine_starts.h"
#include "tests/unit/made_graph.h"

static const msim_ps AS_IS[MSIM_EDGE_KINDS] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                               -1, -1, -1, -1, -1, -1, -1, -1};

/* ---- made-up jobs ------------------------------------------------------- */

enum { RANKS = 3, CHAIN = 40, MEET = 8, REPLICAS = 4 };

/*
 * RANKS ranks of CHAIN tasks in a row. Before every MEETth task they meet: all
 * of them, or (every second time) ranks 0 and 1 alone. With `copies` > 1 the
 * same job copied out: meetings of all gather every copy, those of two exist
 * once a copy. Tasks are numbered copy by copy; joins of all, of which there
 * is one for all copies, come last.
 */
struct job {
    struct msim_job job;
    struct msim_graph g;
    uint32_t cap;
};

static void edge(struct job *j, uint32_t from, uint32_t to, uint8_t kind,
                 uint32_t *from_of)
{
    from_of[j->g.n_edges] = from;
    j->g.edges[j->g.n_edges] = (struct msim_edge){to, from * 7 % 13 * 1000};
    j->g.edge_kind[j->g.n_edges++] = MSIM_EDGE_BYTE(kind, MSIM_FROM_IDS);
    j->g.n_preds[to]++;
}

/* Edges by the task that they leave. */
static void sort_edges(struct job *j, const uint32_t *from_of)
{
    struct msim_graph *g = &j->g;
    struct msim_edge *edges = malloc(j->cap * sizeof(*edges));
    uint8_t *kinds = malloc(j->cap);
    uint32_t n = 0;

    for (uint32_t t = 0; t < g->n_tasks; t++) {
        g->edge_begin[t] = n;
        for (uint32_t i = 0; i < g->n_edges; i++) {
            if (from_of[i] != t)
                continue;
            edges[n] = g->edges[i];
            kinds[n++] = g->edge_kind[i];
        }
    }
    g->edge_begin[g->n_tasks] = n;
    free(g->edges);
    free(g->edge_kind);
    g->edges = edges;
    g->edge_kind = kinds;
}

enum {
    MEETINGS = CHAIN / MEET - 1,
    PAIRS = (MEETINGS + 1) / 2, /* meetings 0, 2, ... are of two ranks */
    COPY = RANKS * CHAIN + PAIRS,
    WHOLE = MEETINGS - PAIRS,
};

static uint32_t task(uint32_t copy, uint32_t rank, uint32_t i)
{
    return copy * COPY + rank * CHAIN + i;
}

static void meet(struct job *j, uint32_t copy, uint32_t copies, uint32_t m,
                 uint32_t *from_of)
{
    bool pair = m % 2 == 0;
    uint32_t join =
        pair ? copy * COPY + RANKS * CHAIN + m / 2 : copies * COPY + m / 2;

    for (uint32_t rank = 0; rank < (pair ? 2 : RANKS); rank++) {
        uint32_t at = (m + 1) * MEET;

        edge(j, task(copy, rank, at - 1), join, MSIM_EDGE_COLLECTIVE, from_of);
        edge(j, join, task(copy, rank, at), MSIM_EDGE_COLLECTIVE, from_of);
    }
    j->g.kind[join] = MSIM_TASK_JOIN;
    j->g.lane[join] = MSIM_NONE;
}

static struct job *job_new(uint32_t copies)
{
    struct job *j = calloc(1, sizeof(*j));
    struct msim_graph *g = &j->g;
    uint32_t n = copies * COPY + WHOLE, *from_of;

    j->cap = 4 * n;
    j->job.n_ranks = RANKS;
    g->job = &j->job;
    g->n_tasks = n;
    g->kind = calloc(n, 1);
    g->lane = calloc(n, sizeof(*g->lane));
    g->refs = calloc(n, sizeof(*g->refs));
    g->n_preds = calloc(n, sizeof(*g->n_preds));
    g->edge_begin = calloc(n + 1, sizeof(*g->edge_begin));
    g->edges = calloc(j->cap, sizeof(*g->edges));
    g->edge_kind = calloc(j->cap, 1);
    from_of = calloc(j->cap, sizeof(*from_of));
    for (uint32_t c = 0; c < copies; c++) {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            for (uint32_t i = 0; i < CHAIN; i++) {
                g->refs[task(c, rank, i)].rank = (uint16_t)rank;
                if (i)
                    edge(j, task(c, rank, i - 1), task(c, rank, i),
                         MSIM_EDGE_PROGRAM, from_of);
            }
        }
        for (uint32_t m = 0; m < MEETINGS; m++)
            meet(j, c, copies, m, from_of);
    }
    sort_edges(j, from_of);
    free(from_of);
    return j;
}

static void job_free(struct job *j)
{
    free(j->g.kind);
    free(j->g.lane);
    free(j->g.refs);
    free(j->g.n_preds);
    free(j->g.edge_begin);
    free(j->g.edges);
    free(j->g.edge_kind);
    free(j);
}

static void job_run(const struct msim_graph *g, const msim_ps *dur,
                    msim_ps *start)
{
    struct msim_scenario s = {.dur = dur};
    struct msim_engine *e;

    memcpy(s.lag, AS_IS, sizeof(s.lag));
    CHECK_INT(msim_engine_new(&e, g), MSIM_OK);
    CHECK_INT(engine_starts(e, &s, start, NULL), MSIM_OK);
    msim_engine_free(e);
}

/*
 * The lags of a copied edge hang on its number, so that they would differ from
 * copy to copy: take them from the first.
 */
static void same_lags(struct job *copied, const struct job *one)
{
    for (uint32_t c = 0; c < REPLICAS; c++)
        for (uint32_t t = 0; t < COPY; t++)
            for (uint32_t i = one->g.edge_begin[t], k = 0;
                 i < one->g.edge_begin[t + 1]; i++, k++)
                copied->g.edges[copied->g.edge_begin[c * COPY + t] + k].lag =
                    one->g.edges[i].lag;
    for (uint32_t w = 0; w < WHOLE; w++) {
        uint32_t from = copied->g.edge_begin[REPLICAS * COPY + w];
        uint32_t like = one->g.edge_begin[COPY + w];

        for (uint32_t c = 0; c < REPLICAS; c++)
            for (uint32_t k = 0; k < RANKS; k++)
                copied->g.edges[from + c * RANKS + k].lag =
                    one->g.edges[like + k].lag;
    }
}

/* Replicas on one graph find what a graph with every replica in it does, with
 * durations that differ from replica to replica. */
static void test_replicas__agree_with_copies(void)
{
    struct job *one = job_new(1), *copied = job_new(REPLICAS);
    msim_ps *want = calloc(copied->g.n_tasks, sizeof(*want));
    msim_ps *all = calloc(copied->g.n_tasks, sizeof(*all));
    msim_ps *dur[REPLICAS];
    struct msim_replicas *r;

    same_lags(copied, one);
    CHECK_INT(msim_replicas_new(&r, &one->g, REPLICAS), MSIM_OK);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        uint64_t state = seed;

        for (uint32_t c = 0; c < REPLICAS; c++) {
            dur[c] = calloc(one->g.n_tasks, sizeof(*dur[c]));
            for (uint32_t t = 0; t < COPY; t++)
                if (one->g.kind[t] != MSIM_TASK_JOIN)
                    all[c * COPY + t] = dur[c][t] =
                        made_random(&state) % 1000 * 1000;
        }
        job_run(&copied->g, all, want);
        CHECK_INT(
            msim_replicas_run(r, (const msim_ps *const *)dur, AS_IS, NULL),
            MSIM_OK);
        for (uint32_t c = 0; c < REPLICAS; c++) {
            const msim_ps *got = msim_replicas_start(r, c);

            CHECK(!memcmp(got, want + c * COPY, COPY * sizeof(*got)));
            CHECK(!memcmp(got + COPY, want + REPLICAS * COPY,
                          WHOLE * sizeof(*got)));
            free(dur[c]);
        }
    }
    msim_replicas_free(r);
    free(want);
    free(all);
    job_free(copied);
    job_free(one);
}

/* Equal replicas start everything when the folded rank does, to the integer;
 * one that is slowed down holds the others up. */
static void test_replicas__fold(void)
{
    struct job *one = job_new(1);
    uint32_t n = one->g.n_tasks;
    msim_ps *folded = calloc(n, sizeof(*folded)),
            *dur = calloc(n, sizeof(*dur));
    msim_ps *slow = calloc(n, sizeof(*slow));
    const msim_ps *durs[REPLICAS] = {dur, dur, dur, dur};
    struct msim_replicas *r;
    uint64_t state = 7;

    for (uint32_t t = 0; t < n; t++)
        if (one->g.kind[t] != MSIM_TASK_JOIN)
            dur[t] = made_random(&state) % 1000 * 1000;
    job_run(&one->g, dur, folded);
    CHECK_INT(msim_replicas_new(&r, &one->g, REPLICAS), MSIM_OK);
    CHECK_INT(msim_replicas_run(r, durs, AS_IS, NULL), MSIM_OK);
    for (uint32_t c = 0; c < REPLICAS; c++)
        CHECK(!memcmp(msim_replicas_start(r, c), folded, n * sizeof(*folded)));

    memcpy(slow, dur, n * sizeof(*slow));
    slow[0] += 1000000000;
    durs[2] = slow;
    CHECK_INT(msim_replicas_run(r, durs, AS_IS, NULL), MSIM_OK);
    /* rank 2 does not meet rank 0 of its own replica before the second time */
    CHECK_INT(msim_replicas_start(r, 0)[task(0, 2, 2 * MEET - 1)],
              folded[task(0, 2, 2 * MEET - 1)]);
    CHECK(msim_replicas_start(r, 0)[task(0, 2, 2 * MEET)] >
          folded[task(0, 2, 2 * MEET)] + 900000000);
    CHECK(msim_replicas_bytes(r) > REPLICAS * n * sizeof(msim_ps));
    msim_replicas_free(r);
    free(folded);
    free(dur);
    free(slow);
    job_free(one);
}

static void test_replicas__cycle(void)
{
    struct job *one = job_new(1);
    msim_ps *dur = calloc(one->g.n_tasks, sizeof(*dur));
    const msim_ps *durs[2] = {dur, dur};
    struct msim_error err = {0};
    struct msim_replicas *r;

    one->g.n_preds[0]++; /* waits for what never comes */
    CHECK_INT(msim_replicas_new(&r, &one->g, 2), MSIM_OK);
    CHECK_INT(msim_replicas_run(r, durs, AS_IS, &err), MSIM_ECYCLE);
    CHECK(strstr(err.text, "of 2 replicas wait for each other"));
    msim_replicas_free(r);
    free(dur);
    job_free(one);
}

/* ---- real jobs ---------------------------------------------------------- */

/* Replicas that do the same start when the folded ones do; where the ranks
 * meet, one that comes a second late holds up all others. */
static void check_real(const char *folder, uint32_t replicas, bool meets)
{
    const char *path[1];
    char name[1024];
    struct msim_job *job;
    struct msim_graph *g = NULL;
    struct msim_replicas *r;
    struct msim_error err = {0};
    const struct msim_launch_plan **plans;
    const msim_ps **durs;
    msim_ps *dur, *folded, *late;

    snprintf(name, sizeof(name), "%s/traces/%s", MSIM_TRACES, folder);
    path[0] = name;
    REQUIRE(msim_job_load(&job, path, 1,
                          &(struct msim_load_options){.threads = 1},
                          &err) == MSIM_OK);
    plans = calloc(job->n_ranks, sizeof(*plans));
    REQUIRE(msim_graph_build(&g, job,
                             &(struct msim_graph_options){
                                 .launch_plans = plans,
                                 .device_times = true,
                                 .peers = MSIM_PEERS_FIXED,
                             },
                             &err) == MSIM_OK);
    msim_sharing_free(g->sharing); /* durations are static here */
    g->sharing = NULL;
    dur = calloc(g->n_tasks, sizeof(*dur));
    folded = calloc(g->n_tasks, sizeof(*folded));
    durs = calloc(replicas, sizeof(*durs));
    for (uint32_t t = 0; t < g->n_tasks; t++)
        dur[t] = g->traced[t] > 0 ? g->traced[t] : 0;
    for (uint32_t i = 0; i < replicas; i++)
        durs[i] = dur;
    job_run(g, dur, folded);
    REQUIRE(msim_replicas_new(&r, g, replicas) == MSIM_OK);
    CHECK_INT(msim_replicas_run(r, durs, AS_IS, &err), MSIM_OK);
    for (uint32_t i = 0; i < replicas; i++)
        CHECK(!memcmp(msim_replicas_start(r, i), folded,
                      g->n_tasks * sizeof(*folded)));
    late = calloc(g->n_tasks, sizeof(*late));
    memcpy(late, dur, g->n_tasks * sizeof(*late));
    late[0] += 1000000 * (msim_ps)MSIM_PS_PER_US;
    durs[replicas - 1] = late;
    CHECK_INT(msim_replicas_run(r, durs, AS_IS, &err), MSIM_OK);
    CHECK_INT(memcmp(msim_replicas_start(r, 0), folded,
                     g->n_tasks * sizeof(*folded)) != 0,
              meets);
    msim_replicas_free(r);
    free(durs);
    free(dur);
    free(late);
    free(folded);
    msim_graph_free(g);
    free(plans);
    msim_job_free(job);
}

static void test_replicas__fold_real_jobs(void)
{
    SKIP_WITHOUT_TRACES();
    check_real("dlrm-8xv100/kineto", 64, true);
    check_real("torchrec-4xv100", 16, true);
    check_real("ranking-a100", 8, false);
}

int main(void)
{
    RUN(test_replicas__agree_with_copies);
    RUN(test_replicas__fold);
    RUN(test_replicas__cycle);
    RUN(test_replicas__fold_real_jobs);
    return check_summary();
}
