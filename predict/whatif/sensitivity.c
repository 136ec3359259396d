/*
 * predict/whatif/sensitivity.c - the runs with half of a kind of work, and the
 * verdict that follows from them.
 */
#include "predict/whatif/whatif.h"

#include "core/report/analyse/outcome.h"
#include "predict/whatif/rescale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FACTOR 0.5

#define HOST "host"
/* All kinds but the host together: what overlaps bounds a job only together. */
#define GPU "gpu"

/* Kinds of work, in the order in which a verdict names them. */
static const struct {
    const char *select, *bound;
    enum msim_select what;
} KINDS[] = {
    {"kernels", "GPU-bound", MSIM_SELECT_KERNELS},
    {HOST, "host-bound", MSIM_SELECT_HOST},
    {"communication", "communication-bound", MSIM_SELECT_COMMUNICATION},
    {"copies", "copy-bound", MSIM_SELECT_COPIES},
};
#define N_KINDS (sizeof(KINDS) / sizeof(KINDS[0]))

/* Savings, as shares of the period. */
#define NOTHING  0.02 /* that are not worth a name */
#define ALONE    0.25 /* half of what brings what bounds the job all the time */
#define AS_MUCH  0.6  /* of the largest: it bounds the job, too */
#define OVERLAPS 1.5  /* as much as one by one: each hides behind others */

struct halving {
    struct msim_prediction_run *run;
    struct msim_rescaler rescaler;
};

/* Has the job any work of this kind in its iterations? */
static bool has_work(const struct msim_prediction_run *run,
                     enum msim_select what)
{
    const struct msim_graph *g = run->graph;

    for (uint32_t t = 0; t < g->n_tasks; t++) {
        enum msim_task_kind kind = (enum msim_task_kind)g->kind[t];
        bool is = what == MSIM_SELECT_HOST      ? kind <= MSIM_TASK_CALL
                  : g->window[t] == MSIM_NONE   ? false
                  : what == MSIM_SELECT_KERNELS ? kind == MSIM_TASK_KERNEL
                  : what == MSIM_SELECT_COPIES  ? kind == MSIM_TASK_COPY
                                                : kind == MSIM_TASK_COMM;

        if (is && run->outcome.mid.dur[t] > 0)
            return true;
    }
    return false;
}

static enum msim_status add_row(struct halving *h, const char *select,
                                const struct msim_scale *scales, uint32_t n,
                                struct msim_error *err)
{
    struct msim_prediction *p = h->run->prediction;
    double us;

    MSIM_TRY(msim_rescaler_period(&h->rescaler, scales, n, &us, err));
    p->sensitivity[p->n_sensitivity++] = (struct msim_sensitivity_row){
        select, FACTOR, us, us / h->rescaler.base_us};
    return MSIM_OK;
}

static enum msim_status find_rows(struct halving *h, struct msim_error *err)
{
    struct msim_prediction *p = h->run->prediction;
    struct msim_scale gpu[N_KINDS];
    uint32_t n = 0;

    MSIM_TRY(msim_rescaler_init(&h->rescaler, h->run));
    p->sensitivity =
        msim_arena_alloc(&p->arena, (N_KINDS + 1) * sizeof(*p->sensitivity));
    if (!p->sensitivity)
        return MSIM_ENOMEM;
    for (size_t i = 0; i < N_KINDS && h->rescaler.base_us > 0; i++) {
        const struct msim_scale scale = {.select = KINDS[i].what,
                                         .factor = FACTOR};

        if (!has_work(h->run, KINDS[i].what))
            continue;
        MSIM_TRY(add_row(h, KINDS[i].select, &scale, 1, err));
        if (KINDS[i].what != MSIM_SELECT_HOST)
            gpu[n++] = scale;
    }
    return n > 1 ? add_row(h, GPU, gpu, n, err) : MSIM_OK;
}

/* ---- the verdict --------------------------------------------------------- */

static double saving(const struct msim_sensitivity_row *r)
{
    return fmax(1 - r->ratio, 0);
}

static const char *bound_word(const char *select)
{
    for (size_t i = 0; i < N_KINDS; i++)
        if (strcmp(KINDS[i].select, select) == 0)
            return KINDS[i].bound;
    return "";
}

/* What nobody's work is: the largest owner of the critical path that is held or
 * a latency. */
static const struct msim_owner_row *
largest_wait(const struct msim_prediction *p)
{
    for (uint32_t i = 0; i < p->n_owners; i++) /* largest first */
        if (strcmp(p->owners[i].kind, "held") == 0 ||
            strcmp(p->owners[i].kind, "latency") == 0)
            return &p->owners[i];
    return NULL;
}

/* What halves save. */
struct savings {
    const struct msim_sensitivity_row *most, *next; /* NULL where none is */
    double first, second;                           /* of these */
    double gpu, gpu_alone; /* GPU work at once, and its kinds one by one */
    bool paced; /* ranks without a trace arrive when they did, whatever else
                   becomes faster */
};

static bool is_gpu(const struct msim_sensitivity_row *r)
{
    return strcmp(r->select, GPU) == 0;
}

static void rank_row(struct savings *s, const struct msim_sensitivity_row *r)
{
    double saves = saving(r);

    if (!s->most || saves > s->first) {
        s->next = s->most;
        s->second = s->first;
        s->most = r;
        s->first = saves;
    } else if (!s->next || saves > s->second) {
        s->next = r;
        s->second = saves;
    }
    if (strcmp(r->select, HOST) != 0)
        s->gpu_alone += saves;
}

static bool is_paced(const struct msim_graph *g)
{
    for (uint32_t i = 0; i < g->n_releases; i++)
        if (g->releases[i].external && g->releases[i].at != MSIM_TIME_NONE &&
            g->window[g->releases[i].task] != MSIM_NONE)
            return true;
    return false;
}

static struct savings find_savings(const struct msim_prediction *p,
                                   const struct msim_graph *g)
{
    struct savings s = {.paced = is_paced(g)};

    for (uint32_t i = 0; i < p->n_sensitivity; i++) {
        const struct msim_sensitivity_row *r = &p->sensitivity[i];

        if (is_gpu(r))
            s.gpu = saving(r);
        else
            rank_row(&s, r);
    }
    return s;
}

static bool overlaps(const struct savings *s)
{
    return s->gpu >= ALONE && s->gpu > OVERLAPS * s->gpu_alone;
}

/* Who is busy all the time, though another would bound the job soon. */
static const char *busy_word(const struct msim_period *p)
{
    return strcmp(p->busiest_kind, "host") == 0 ? "host-bound" : "GPU-bound";
}

/* "GPU-bound", "bound by kernels and host together", "held up by ...": the
 * first that holds (whatif.h). */
static void say_bound(char *out, size_t size, const struct msim_prediction *p,
                      const struct savings *s)
{
    const struct msim_owner_row *wait = largest_wait(p);

    if (overlaps(s))
        snprintf(out, size, "GPU-bound, by work that overlaps");
    else if (s->first + s->second >= ALONE && s->second > AS_MUCH * s->first)
        snprintf(out, size, "bound by %s and %s together", s->most->select,
                 s->next->select);
    else if (s->first >= ALONE)
        snprintf(out, size, "%s", bound_word(s->most->select));
    else if (p->period.bounds)
        snprintf(out, size, "%s", busy_word(&p->period));
    else if (s->paced && s->first < NOTHING)
        snprintf(out, size,
                 "held up by ranks without a trace, which arrive when they "
                 "did");
    else if (wait && (wait->share >= ALONE || s->first < NOTHING))
        snprintf(out, size, "held up by '%.48s' (%.0f %% of the critical path)",
                 wait->name, 100 * wait->share);
    else
        snprintf(out, size, "no one kind of work bounds the job");
}

/* Copies are named where they matter, GPU work where no kind alone does. */
static bool is_said(const struct msim_sensitivity_row *r,
                    const struct savings *s)
{
    if (is_gpu(r))
        return s->gpu >= NOTHING && (s->first < ALONE || overlaps(s));
    return strcmp(r->select, "copies") != 0 || saving(r) >= NOTHING;
}

static enum msim_status say_verdict(struct msim_prediction *p,
                                    const struct msim_graph *g)
{
    char bound[96], text[320];
    size_t used, size;
    struct savings s = find_savings(p, g);
    uint32_t said = 0;
    char *copy;

    say_bound(bound, sizeof(bound), p, &s);
    used = (size_t)snprintf(text, sizeof(text), "%s: twice as fast ", bound);
    for (uint32_t i = 0; i < p->n_sensitivity; i++) {
        const struct msim_sensitivity_row *r = &p->sensitivity[i];

        if (!is_said(r, &s))
            continue;
        used += (size_t)snprintf(
            text + used, sizeof(text) - used,
            said ? ", %s %.0f %%" : "%s would save %.0f %%",
            is_gpu(r) ? "all GPU work" : r->select, 100 * saving(r));
        said++;
    }
    if (!said)
        return MSIM_OK;
    size = used + 1;
    copy = msim_arena_alloc(&p->arena, size);
    if (!copy)
        return MSIM_ENOMEM;
    p->verdict = memcpy(copy, text, size);
    return MSIM_OK;
}

/* Is what the job waits for known? A prediction for a platform prices the
 * kernels that were not recorded. */
static bool is_known(const struct msim_prediction_run *run)
{
    const struct msim_job *job = run->graph->job;

    return !job->partial && !(job->unrecorded && run->outcome.gpu_times);
}

enum msim_status msim_sensitivity_find(struct msim_prediction_run *run,
                                       struct msim_error *err)
{
    struct halving h = {.run = run};
    enum msim_status status = find_rows(&h, err);

    if (status == MSIM_OK && is_known(run))
        status = say_verdict(run->prediction, run->graph);
    msim_rescaler_release(&h.rescaler);
    return status;
}
