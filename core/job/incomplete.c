/*
 * core/job/incomplete.c - what a recording has lost.
 */
#include "core/job/job.h"

#include "core/base/containers.h"
#include "core/trace/trace_steps.h"

#include <stdio.h>

/* Recordings cut off launches at their edges: a smaller share is no loss. */
#define LOST_MIN 0.01

static bool launches(const struct msim_call *c)
{
    return c->kind == MSIM_CALL_LAUNCH || c->kind == MSIM_CALL_GRAPH_LAUNCH;
}

/* Launches of kernels, and those among them that started nothing. */
static void warn_lost_kernels(struct msim_job *job)
{
    uint64_t all = 0, lost = 0;
    const struct msim_trace *first = NULL;
    uint32_t example = 0;

    for (uint32_t r = 0; r < job->n_ranks; r++) {
        const struct msim_trace *t = job->ranks[r];
        uint64_t started = 0, none = 0;

        for (uint32_t i = 0; i < t->n_calls && t->has_gpu_events; i++) {
            started += launches(&t->calls[i]) && t->calls[i].gpu != MSIM_NONE;
            if (t->calls[i].lost && !none++ && !first) {
                first = t;
                example = i;
            }
        }
        all += started * msim_job_alike(job, r);
        lost += none * msim_job_alike(job, r);
    }
    all += lost;
    if (!first || (double)lost < LOST_MIN * (double)all)
        return;
    msim_job_warn(job,
                  "incomplete trace: %llu of %llu kernel launches have no "
                  "kernel, the first of them '%s' with correlation %u",
                  (unsigned long long)lost, (unsigned long long)all,
                  msim_trace_text(first, first->calls[example].name),
                  first->calls[example].correlation);
}

/* Without one GPU activity nothing says what a rank waited for. */
static void warn_unrecorded(struct msim_job *job)
{
    uint64_t lost = 0, ranks = 0;

    for (uint32_t r = 0; r < job->n_ranks; r++) {
        const struct msim_trace *t = job->ranks[r];
        uint64_t own = 0;

        for (uint32_t i = 0; i < t->n_calls && !t->has_gpu_events; i++)
            own += t->calls[i].lost;
        lost += own * msim_job_alike(job, r);
        ranks += own > 0 ? msim_job_alike(job, r) : 0;
    }
    if (ranks)
        msim_job_warn(job,
                      "incomplete trace: %llu kernel launches and no GPU "
                      "activity%s: kernels were not recorded, so times as "
                      "traced are the host's alone and do not say what bounds "
                      "the job",
                      (unsigned long long)lost,
                      ranks < msim_job_traced(job) ? " on some of the ranks"
                                                   : "");
}

static void warn_unlaunched(struct msim_job *job)
{
    uint64_t n = 0, all = 0, early = 0;

    for (uint32_t r = 0; r < job->n_ranks; r++) {
        const struct msim_trace *t = job->ranks[r];

        n += t->unlinked_gpu * msim_job_alike(job, r);
        all += (uint64_t)t->n_gpu * msim_job_alike(job, r);
        early += t->import.rows[MSIM_IMPORT_EARLY].n * msim_job_alike(job, r);
    }
    if (early)
        msim_job_warn(job,
                      "incomplete trace: of %llu GPU activities %llu have no "
                      "launch; they occupy their streams and belong to no "
                      "iteration",
                      (unsigned long long)all, (unsigned long long)early);
    if (n > early)
        msim_job_warn(job,
                      "incomplete trace: of %llu GPU activities %llu have no "
                      "launch; they belong to the iteration in whose time they "
                      "ran",
                      (unsigned long long)all, (unsigned long long)(n - early));
}

enum msim_status msim_job_check_work(const struct msim_job *job,
                                     struct msim_error *err)
{
    const struct msim_file_info *first = job->files;
    uint64_t events = 0;

    for (uint32_t r = 0; r < job->n_ranks; r++)
        if (job->ranks[r]->n_ops || job->ranks[r]->n_calls ||
            job->ranks[r]->n_gpu)
            return MSIM_OK;
    for (uint32_t i = 0; i < job->n_files; i++)
        events += job->files[i].events;
    return msim_fail(
        err, MSIM_EFORMAT, job->n_files ? first->path : NULL, MSIM_OFFSET_NONE,
        "%s %llu %s and no operator, call or GPU activity, want %s",
        job->n_files > 1 ? "and the other files hold" : "holds",
        (unsigned long long)events,
        job->n_files && first->format == MSIM_FORMAT_KINETO ? "events"
                                                            : "nodes",
        job->n_files && first->format == MSIM_FORMAT_CHAKRA
            ? "nodes with a duration, or with comm_size, num_ops or tensor_size"
            : "a run: record it inside 'with "
              "torch.profiler.profile(record_shapes=True)', as capture.py "
              "does");
}

/*
 * Do an ET and a Kineto trace show one run? Of 15 pairs that do, at least
 * 97.3 % of the operators found their node; of 760 pairs of different models,
 * at most 95.2 % (two transformers of one library), and 83.1 % for all but one
 * of them. Shares of few operators say little.
 */
#define LINKED_SURE   0.97
#define LINKED_LEAST  0.90
#define LINKED_OF_MIN 100

enum msim_status msim_job_check_pair(struct msim_job *job,
                                     const struct msim_file_info *kineto,
                                     const struct msim_file_info *et,
                                     uint64_t linked, uint64_t total,
                                     struct msim_error *err)
{
    double share = total ? (double)linked / (double)total : 1;

    /* Of one that is cut, what is left must be of this run. */
    if (et->salvaged && et->ops < total)
        share = (double)linked / (double)(et->ops ? et->ops : 1);
    if (share < LINKED_LEAST && total >= LINKED_OF_MIN)
        return msim_fail(
            err, MSIM_EFORMAT, et->path, MSIM_OFFSET_NONE,
            "and '%s' do not belong together: %llu of %llu operators (%.1f %%) "
            "found their node, want %.0f %%; give the traces of one run, or "
            "one "
            "of them alone",
            kineto->path, (unsigned long long)linked, (unsigned long long)total,
            100 * share, 100 * LINKED_LEAST);
    if (et->salvaged && linked < total)
        msim_job_warn(job,
                      "%s: has no node of %llu of the %llu operators of '%s', "
                      "for it is broken: of these tensors, memory and what "
                      "only nodes tell are not known",
                      et->path, (unsigned long long)(total - linked),
                      (unsigned long long)total, kineto->path);
    else if (share < LINKED_SURE)
        msim_job_warn(job,
                      "%s: only %llu of %llu operators of '%s' found their "
                      "node: are these traces of one run?",
                      et->path, (unsigned long long)linked,
                      (unsigned long long)total, kineto->path);
    return MSIM_OK;
}

/* Is some step of one the other's? */
static bool shares_step(const struct msim_trace *a, const struct msim_trace *b)
{
    for (uint32_t i = 0; i < a->n_steps; i++)
        for (uint32_t j = 0; j < b->n_steps; j++)
            if (a->steps[i].number == b->steps[j].number)
                return true;
    return false;
}

void msim_job_warn_other_steps(struct msim_job *job, const char *k_path,
                               const struct msim_trace *k, const char *e_path,
                               const struct msim_trace *e)
{
    if (k->n_steps && e->n_steps && !shares_step(k, e))
        msim_job_warn(job,
                      "%s: marks ProfilerStep#%lld and '%s' ProfilerStep#%lld, "
                      "and no step is in both: the one's shapes stand for the "
                      "other's",
                      e_path, (long long)e->steps[0].number, k_path,
                      (long long)k->steps[0].number);
}

/* A rank without marks has one iteration of its own, which is in every mean. */
static void warn_unmarked(struct msim_job *job)
{
    const struct msim_trace *marked = NULL, *bare = NULL;

    for (uint32_t r = 0; r < job->n_ranks; r++) {
        const struct msim_trace *t = job->ranks[r];

        if (t->n_steps)
            marked = t;
        else if (t->n_ops || t->n_gpu)
            bare = t;
    }
    if (marked && bare)
        msim_job_warn(job,
                      "rank %lld marks no step, rank %lld does: all that it "
                      "recorded counts as one iteration beside those, and is "
                      "in every mean; want marks on all ranks, or ranks alone",
                      (long long)bare->rank, (long long)marked->rank);
}

/* The first step whose number an earlier one has; n_steps: none. */
static uint32_t repeated_step(const struct msim_trace *t)
{
    struct msim_idmap seen = {0};
    enum msim_status status = MSIM_OK;
    uint32_t s = 0, *at;

    for (; s < t->n_steps && status == MSIM_OK; s++) {
        uint64_t number = (uint64_t)t->steps[s].number;

        if (msim_idmap_get(&seen, number) != MSIM_NONE)
            break;
        status = msim_idmap_put(&seen, number, s, &at);
    }
    msim_idmap_release(&seen);
    return status == MSIM_OK ? s : t->n_steps; /* it is but a warning */
}

/* Recordings that were put together count their steps from the same number. */
static void warn_repeated(struct msim_job *job)
{
    for (uint32_t r = 0; r < job->n_ranks; r++) {
        const struct msim_trace *t = job->ranks[r];
        uint32_t s = repeated_step(t);
        char rank[32];

        if (s == t->n_steps)
            continue;
        snprintf(rank, sizeof(rank), " on rank %lld", (long long)t->rank);
        msim_job_warn(job,
                      "ProfilerStep#%lld is marked %u times%s: steps of one "
                      "number count as one iteration, their mean, and what "
                      "takes one step takes the first",
                      (long long)t->steps[s].number,
                      msim_steps_numbered(t, t->steps[s].number),
                      t->rank < 0 ? "" : rank);
        return;
    }
}

void msim_warn_lost_events(struct msim_job *job)
{
    warn_repeated(job);
    warn_unmarked(job);
    warn_unlaunched(job);
    warn_lost_kernels(job);
    warn_unrecorded(job);
}

/* Does a group list its ranks, all of them, without rank `t`? */
static bool lacks(const struct msim_trace *t, const struct msim_group *g)
{
    uint32_t i = 0;

    if (g->count == 0 || g->count != g->size)
        return false;
    while (i < g->count && t->group_ranks[g->first + i] != t->rank)
        i++;
    return i == g->count;
}

/* A rank that calls collectives of others has another number there. */
static void warn_strangers(struct msim_job *job)
{
    for (uint32_t r = 0; r < job->n_ranks; r++) {
        const struct msim_trace *t = job->ranks[r];

        for (uint32_t i = 0; i < t->n_comms && t->rank >= 0; i++) {
            const struct msim_group *g = t->comms[i].group == MSIM_NONE
                                             ? NULL
                                             : &t->groups[t->comms[i].group];

            if (!g || !lacks(t, g))
                continue;
            msim_job_warn(job,
                          "rank %lld calls collectives of group '%.40s', whose "
                          "%u ranks it is none of: is that its number, and are "
                          "these the files of one job?",
                          (long long)t->rank, msim_trace_text(t, g->name),
                          g->size);
            return;
        }
    }
}

void msim_warn_missing_ranks(struct msim_job *job, bool stand_for_all)
{
    uint32_t world = 0;

    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (job->ranks[i]->world_size > world)
            world = job->ranks[i]->world_size;
    if (world > msim_job_traced(job) && !stand_for_all)
        msim_job_warn(job,
                      "traces of %u of %u ranks: the others are known only by "
                      "when they arrive",
                      msim_job_traced(job), world);
    warn_strangers(job);
}

enum msim_status msim_job_check_worlds(const struct msim_job *job,
                                       struct msim_error *err)
{
    const struct msim_trace *first = NULL;

    for (uint32_t r = 0; r < job->n_ranks; r++) {
        const struct msim_trace *t = job->ranks[r];

        if (!t->world_size)
            continue;
        if (first && first->world_size != t->world_size)
            return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                             "rank %lld records that its job has %u ranks, and "
                             "rank %lld %u: these are files of two jobs, want "
                             "those of one",
                             (long long)first->rank, first->world_size,
                             (long long)t->rank, t->world_size);
        first = t;
    }
    return MSIM_OK;
}
