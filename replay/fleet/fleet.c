/*
 * replay/fleet/fleet.c - from paths to jobs with times and weights.
 */
#include "replay/fleet/fleet.h"

#include "core/base/containers.h"
#include "core/base/csv.h"
#include "core/base/texts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fleet while it is made. */
struct making {
    struct msim_fleet *fleet;
    struct msim_fleet_files files;
};

/* ---- jobs --------------------------------------------------------------- */

/* Files of the job: those with times in the order of ranks, then the others.
 * Both are in the order of paths, and of ranks where paths do not tell. */
static int in_job(const void *a, const void *b)
{
    const struct msim_fleet_file *x = *(struct msim_fleet_file *const *)a;
    const struct msim_fleet_file *y = *(struct msim_fleet_file *const *)b;

    if (x->leader != y->leader)
        return MSIM_ORDER(x->leader, y->leader);
    if (x->et != y->et)
        return x->et ? 1 : -1;
    if (x->rank != y->rank)
        return MSIM_ORDER(x->rank, y->rank);
    return strcmp(x->path, y->path);
}

static void add_file(struct msim_fleet_job *job, const char **paths,
                     const struct msim_fleet_file *f)
{
    paths[job->n_paths++] = f->path;
    if (f->empty)
        return;
    job->ranks += f->ranks;
    job->time.gpus += f->time.gpus;
    job->time.cpus += f->time.cpus;
    for (uint32_t k = 0; k < MSIM_TIME_KINDS; k++)
        job->time.us[k] += f->time.us[k];
    if (!job->gpu[0])
        job->gpu = f->gpu;
}

static void find_shares(struct msim_fleet_job *job)
{
    job->total_us = msim_device_time_total(&job->time);
    for (uint32_t k = 0; k < MSIM_TIME_KINDS; k++)
        job->share[k] = job->time.us[k] / job->total_us;
}

/* The job of `n` files, which `of` has in order. */
static enum msim_status add_job(struct making *m,
                                struct msim_fleet_file *const *of, uint32_t n)
{
    struct msim_fleet *fleet = m->fleet;
    struct msim_fleet_job *job = &fleet->jobs[fleet->n_jobs];
    const char **paths =
        msim_arena_alloc(&fleet->arena, (size_t)n * sizeof(*paths));

    if (!paths)
        return MSIM_ENOMEM;
    *job = (struct msim_fleet_job){.paths = paths, .gpu = ""};
    job->name = msim_fleet_job_name(&fleet->arena, m->files.all, m->files.n,
                                    of[0]->leader);
    if (!job->name)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        add_file(job, paths, of[i]);
    if (!job->ranks)
        return msim_fleet_leave_out(&m->files, job->name, "%s", of[0]->empty);
    find_shares(job);
    fleet->n_jobs++;
    return MSIM_OK;
}

static enum msim_status add_jobs(struct making *m, struct msim_fleet_file **of)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->files.n; i++) {
        struct msim_fleet_file *f = &m->files.all[i];

        if (f->twin == MSIM_NONE)
            of[n++] = f;
        else
            MSIM_TRY(msim_fleet_leave_out(
                &m->files, f->path,
                "it is the same rank of the same job as '%s'",
                m->files.all[f->twin].path));
    }
    qsort(of, n, sizeof(struct msim_fleet_file *), in_job);
    for (uint32_t i = 0, len; i < n; i += len) {
        for (len = 1; i + len < n && of[i + len]->leader == of[i]->leader;)
            len++;
        MSIM_TRY(add_job(m, of + i, len));
    }
    return MSIM_OK;
}

static enum msim_status make_jobs(struct making *m)
{
    struct msim_fleet *fleet = m->fleet;
    struct msim_fleet_file **of =
        malloc(((size_t)m->files.n + 1) * sizeof(*of));
    enum msim_status status = MSIM_ENOMEM;

    fleet->jobs = msim_arena_alloc(&fleet->arena, ((size_t)m->files.n + 1) *
                                                      sizeof(*fleet->jobs));
    if (of && fleet->jobs)
        status = msim_fleet_group(&fleet->arena, m->files.all, m->files.n);
    if (status == MSIM_OK)
        status = add_jobs(m, of);
    free(of);
    return status;
}

/* ---- weights ------------------------------------------------------------ */

/* From weights of any unit to parts of the whole, which is not 0. */
static void settle(struct msim_fleet *fleet)
{
    double sum = 0;

    memset(fleet->share, 0, sizeof(fleet->share));
    for (uint32_t i = 0; i < fleet->n_jobs; i++)
        sum += fleet->jobs[i].weight;
    for (uint32_t i = 0; i < fleet->n_jobs; i++) {
        struct msim_fleet_job *job = &fleet->jobs[i];

        job->weight /= sum;
        for (uint32_t k = 0; k < MSIM_TIME_KINDS; k++)
            fleet->share[k] += job->weight * job->share[k];
    }
}

/* By what they are, so that names decide between equal ones only. */
static int longest_first(const void *a, const void *b)
{
    const struct msim_fleet_job *x = a, *y = b;

    if (x->total_us != y->total_us)
        return MSIM_ORDER(y->total_us, x->total_us);
    for (uint32_t k = 0; k < MSIM_TIME_KINDS; k++)
        if (x->time.us[k] != y->time.us[k])
            return MSIM_ORDER(y->time.us[k], x->time.us[k]);
    return strcmp(x->name, y->name);
}

void msim_fleet_weigh_traced(struct msim_fleet *fleet)
{
    qsort(fleet->jobs, fleet->n_jobs, sizeof(*fleet->jobs), longest_first);
    fleet->weighed_by = "traced time";
    for (uint32_t i = 0; i < fleet->n_jobs; i++)
        fleet->jobs[i].weight = fleet->jobs[i].total_us;
    settle(fleet);
}

void msim_fleet_weigh_alike(struct msim_fleet *fleet)
{
    fleet->weighed_by = "job";
    for (uint32_t i = 0; i < fleet->n_jobs; i++)
        fleet->jobs[i].weight = 1;
    settle(fleet);
}

/* A weight of the table. */
struct row {
    struct msim_csv *csv;
    const char *path, *job, *weight;
};

static enum msim_status bad_row(const struct row *r, struct msim_error *err,
                                const char *what)
{
    return msim_fail(err, MSIM_EFORMAT, r->path, MSIM_OFFSET_NONE,
                     "line %llu: %s", (unsigned long long)msim_csv_line(r->csv),
                     what);
}

static enum msim_status no_such_job(const struct msim_fleet *fleet,
                                    const struct row *r, struct msim_error *err)
{
    const char **names = malloc(((size_t)fleet->n_jobs + 1) * sizeof(*names));
    const char *near = NULL;
    char text[900];

    for (uint32_t i = 0; names && i < fleet->n_jobs; i++)
        names[i] = fleet->jobs[i].name;
    if (names)
        near = msim_nearest_word(r->job, names, fleet->n_jobs);
    snprintf(text, sizeof(text), "no job is called '%.300s'%s%.300s%s", r->job,
             near ? ", did you mean '" : "; --csv lists their names",
             near ? near : "", near ? "'?" : "");
    free(names);
    return bad_row(r, err, text);
}

/* `fleet`'s weights are negative until their row comes. */
static enum msim_status take_row(struct msim_fleet *fleet, const struct row *r,
                                 struct msim_error *err)
{
    struct msim_fleet_job *job = NULL;
    char *end;
    double weight = strtod(r->weight, &end);

    for (uint32_t i = 0; i < fleet->n_jobs && !job; i++)
        if (!strcmp(fleet->jobs[i].name, r->job))
            job = &fleet->jobs[i];
    if (!job)
        return no_such_job(fleet, r, err);
    if (job->weight >= 0)
        return bad_row(r, err, "the job has a weight already");
    if (end == r->weight || *end || !(weight >= 0) || !isfinite(weight))
        return bad_row(r, err, "the weight is no number from 0 on");
    job->weight = weight;
    return MSIM_OK;
}

static enum msim_status take_rows(struct msim_fleet *fleet, struct row *r,
                                  struct msim_error *err)
{
    uint32_t job = msim_csv_find(r->csv, "job");
    uint32_t weight = msim_csv_find(r->csv, "weight");
    char *const *fields;
    double sum = 0;

    if (job == UINT32_MAX || weight == UINT32_MAX)
        return msim_fail(err, MSIM_EFORMAT, r->path, MSIM_OFFSET_NONE,
                         "has no column '%s'; want the columns job and weight",
                         job == UINT32_MAX ? "job" : "weight");
    for (;;) {
        MSIM_TRY(msim_csv_next(r->csv, &fields, err));
        if (!fields)
            break;
        r->job = fields[job];
        r->weight = fields[weight];
        MSIM_TRY(take_row(fleet, r, err));
    }
    for (uint32_t i = 0; i < fleet->n_jobs; i++)
        sum += fmax(0, fleet->jobs[i].weight);
    if (!(sum > 0) || !isfinite(sum))
        return msim_fail(err, MSIM_EFORMAT, r->path, MSIM_OFFSET_NONE,
                         "the weights sum to %g, want more than 0", sum);
    return MSIM_OK;
}

enum msim_status msim_fleet_weigh_by(struct msim_fleet *fleet, const char *path,
                                     struct msim_error *err)
{
    struct row r = {.path = path};
    enum msim_status status;

    MSIM_TRY(msim_csv_open(&r.csv, path, err));
    for (uint32_t i = 0; i < fleet->n_jobs; i++)
        fleet->jobs[i].weight = -1;
    status = take_rows(fleet, &r, err);
    msim_csv_close(r.csv);
    MSIM_TRY(status);
    for (uint32_t i = 0; i < fleet->n_jobs; i++)
        fleet->jobs[i].weight = fmax(0, fleet->jobs[i].weight);
    fleet->weighed_by = msim_arena_text(&fleet->arena, path);
    if (!fleet->weighed_by)
        return MSIM_ENOMEM;
    settle(fleet);
    return MSIM_OK;
}

/* ---- the whole ---------------------------------------------------------- */

static enum msim_status fail_empty(const struct msim_fleet_files *files,
                                   const char *path, struct msim_error *err)
{
    if (files->n_left_out)
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "no job with times: %u left out, such as '%s': %s",
                         files->n_left_out, files->left_out[0].path,
                         files->left_out[0].reason);
    return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                     "no trace in %u files, want Kineto (.json, .json.gz) or "
                     "Chakra (.et) with times",
                     files->n_found);
}

/* What was found goes over to the fleet. */
static void take_files(struct msim_fleet *fleet, struct msim_fleet_files *files)
{
    fleet->left_out = files->left_out;
    fleet->n_left_out = files->n_left_out;
    fleet->files = files->imports;
    fleet->n_files = files->n_imports;
    files->imports = NULL;
}

static enum msim_status make(struct making *m, const char *const *paths,
                             uint32_t n, const struct msim_fleet_options *opt,
                             struct msim_error *err)
{
    MSIM_TRY(
        msim_fleet_files_read(&m->files, &m->fleet->arena, paths, n, opt, err));
    MSIM_TRY(make_jobs(m));
    if (!m->fleet->n_jobs)
        return fail_empty(&m->files, n ? paths[0] : NULL, err);
    take_files(m->fleet, &m->files);
    msim_fleet_weigh_traced(m->fleet);
    return MSIM_OK;
}

enum msim_status msim_fleet_load(struct msim_fleet **out,
                                 const char *const *paths, uint32_t n,
                                 const struct msim_fleet_options *opt,
                                 struct msim_error *err)
{
    struct making m = {0};
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    m.fleet = calloc(1, sizeof(*m.fleet));
    if (m.fleet) {
        msim_arena_init(&m.fleet->arena);
        status = make(&m, paths, n, opt, err);
    }
    msim_fleet_files_release(&m.files);
    if (status != MSIM_OK) {
        msim_fleet_free(m.fleet);
        return status;
    }
    *out = m.fleet;
    return MSIM_OK;
}

void msim_fleet_free(struct msim_fleet *fleet)
{
    if (!fleet)
        return;
    msim_arena_release(&fleet->arena);
    free(fleet->files);
    free(fleet);
}
