/*
 * replay/fleet/fleet.c - from paths to jobs with times and weights.
 */
#include "replay/fleet/fleet.h"

#include "core/base/csv.h"
#include "core/base/nearest.h"
#include "core/base/sort.h"
#include "core/base/vec.h"
#include "core/job/import.h"
#include "core/job/job_files.h"
#include "core/job/read_file.h"
#include "replay/fleet/fleet_groups.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A fleet while it is made. */
struct making {
    struct msim_fleet *fleet;
    struct msim_fleet_file *files; /* traces */
    uint32_t n;
    const struct msim_fleet_options *opt;
    struct msim_error *err;
};

static const char *keep(struct msim_fleet *fleet, const char *text)
{
    size_t len = strlen(text) + 1;
    char *copy = msim_arena_alloc(&fleet->arena, len);

    return copy ? memcpy(copy, text, len) : NULL;
}

MSIM_PRINTF(3, 4)
static enum msim_status leave_out(struct msim_fleet *fleet, const char *path,
                                  const char *fmt, ...)
{
    struct msim_fleet_left *out = &fleet->left_out[fleet->n_left_out];
    char text[1200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    out->path = keep(fleet, path);
    out->reason = keep(fleet, text);
    if (!out->path || !out->reason)
        return MSIM_ENOMEM;
    fleet->n_left_out++;
    return MSIM_OK;
}

/* ---- files -------------------------------------------------------------- */

struct identity {
    dev_t device;
    ino_t inode;
    uint32_t at;
};

static int by_identity(const void *a, const void *b)
{
    const struct identity *x = a, *y = b;

    if (x->device != y->device)
        return MSIM_ORDER(x->device, y->device);
    if (x->inode != y->inode)
        return MSIM_ORDER(x->inode, y->inode);
    return MSIM_ORDER(x->at, y->at);
}

static int by_path(const void *a, const void *b)
{
    const struct msim_job_file *x = a, *y = b;
    int c = strcmp(x->path, y->path);

    return c ? c : y->named - x->named;
}

/* Mark in `skip` what does not look like a trace, and files that were found
 * before, by this or by another name. */
static enum msim_status find_skipped(const struct msim_job_files *found,
                                     bool *skip)
{
    struct identity *ids = malloc(((size_t)found->n + 1) * sizeof(*ids));
    uint32_t n = 0;

    for (uint32_t i = 0; ids && i < found->n; i++) {
        const struct msim_job_file *f = &found->all[i];
        struct stat st;

        skip[i] = !f->named && !msim_job_looks_like_trace(f->path);
        if (!skip[i] && stat(f->path, &st) == 0)
            ids[n++] = (struct identity){st.st_dev, st.st_ino, i};
    }
    if (ids && n)
        qsort(ids, n, sizeof(*ids), by_identity);
    for (uint32_t i = 1; ids && i < n; i++)
        skip[ids[i].at] |= ids[i].device == ids[i - 1].device &&
                           ids[i].inode == ids[i - 1].inode;
    free(ids);
    return ids ? MSIM_OK : MSIM_ENOMEM;
}

/* JSON that holds no trace: a note that lies beside one. */
static bool is_no_trace(const char *path)
{
    static const struct msim_load_options PLAIN = {.threads = 1};
    struct msim_read_result read = {0};
    struct msim_strtab *strings;
    struct msim_input *in;
    bool none = false;

    if (msim_strtab_new(&strings) != MSIM_OK)
        return false;
    if (msim_input_open(&in, path, false, NULL) == MSIM_OK) {
        none = msim_read_file(&read, in, strings, &PLAIN, false, NULL) ==
                   MSIM_OK &&
               !read.trace;
        msim_read_result_release(&read);
        msim_input_close(in);
    }
    msim_strtab_free(strings);
    return none;
}

static enum msim_status reduce(struct making *m, struct msim_fleet_file *f,
                               const struct msim_job *job)
{
    const struct msim_trace *t = job->ranks[0];

    f->et = job->files[0].format == MSIM_FORMAT_ET;
    f->ranks = job->n_ranks;
    f->rank = f->ranks > 1 ? -1 : t->rank;
    f->world = t->world_size;
    f->gpu = keep(m->fleet, msim_trace_text(t, t->gpu_properties.name));
    if (!f->gpu)
        return MSIM_ENOMEM;
    for (uint32_t r = 0; r < job->n_ranks; r++)
        MSIM_TRY(msim_device_time_add(&f->time, job->ranks[r]));
    f->empty = msim_device_time_total(&f->time) > 0
                   ? NULL
                   : msim_device_time_absent(t);
    return MSIM_OK;
}

/* What became of the records of the job's files, which goes. */
static enum msim_status keep_import(struct msim_fleet *fleet,
                                    const struct msim_job *job)
{
    struct msim_file_info *copies;

    MSIM_TRY(
        msim_import_copy(&fleet->arena, job->files, job->n_files, &copies));
    for (uint32_t i = 0; i < job->n_files; i++) {
        MSIM_TRY(msim_grow((void **)&fleet->files, &fleet->cap_files,
                           fleet->n_files, sizeof(*fleet->files)));
        fleet->files[fleet->n_files++] = copies[i];
    }
    return MSIM_OK;
}

/* A file that was found, or is one of several (of `*`), may be broken: the rest
 * of the fleet is not. One that is not there was mistyped. */
static enum msim_status read_file(struct making *m, const char *path,
                                  bool named, bool several)
{
    struct msim_fleet_file *f = &m->files[m->n];
    struct msim_error err = {0};
    struct msim_job *job;
    enum msim_status status =
        msim_job_load(&job, &path, 1, &m->opt->load, &err);

    if (status == MSIM_OK) {
        *f = (struct msim_fleet_file){.path = keep(m->fleet, path),
                                      .named = named};
        status = f->path ? reduce(m, f, job) : MSIM_ENOMEM;
        if (status == MSIM_OK)
            status = keep_import(m->fleet, job);
        m->n += status == MSIM_OK;
        msim_job_free(job);
        return status;
    }
    if (status == MSIM_ENOMEM ||
        (named && !(several && access(path, R_OK) == 0))) {
        if (m->err)
            *m->err = err;
        return status;
    }
    if (!named && status == MSIM_EFORMAT && is_no_trace(path))
        return MSIM_OK;
    return leave_out(m->fleet, path, "%s", err.text);
}

static enum msim_status read_files(struct making *m,
                                   const struct msim_job_files *found,
                                   const bool *skip)
{
    uint32_t n = 0, i = 0;

    for (uint32_t k = 0; k < found->n; k++)
        n += !skip[k];
    m->files = calloc((size_t)n + 1, sizeof(*m->files));
    m->fleet->left_out = msim_arena_alloc(
        &m->fleet->arena, ((size_t)n + 1) * sizeof(*m->fleet->left_out));
    if (!m->files || !m->fleet->left_out)
        return MSIM_ENOMEM;
    for (uint32_t k = 0; k < found->n; k++) {
        if (skip[k])
            continue;
        if (m->opt->before)
            m->opt->before(m->opt->ctx, i++, n);
        MSIM_TRY(read_file(m, found->all[k].path, found->all[k].named, n > 1));
    }
    return MSIM_OK;
}

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
    job->name =
        msim_fleet_job_name(&fleet->arena, m->files, m->n, of[0]->leader);
    if (!job->name)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        add_file(job, paths, of[i]);
    if (!job->ranks)
        return leave_out(fleet, job->name, "%s", of[0]->empty);
    find_shares(job);
    fleet->n_jobs++;
    return MSIM_OK;
}

static enum msim_status add_jobs(struct making *m, struct msim_fleet_file **of)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->n; i++) {
        struct msim_fleet_file *f = &m->files[i];

        if (f->twin == MSIM_NONE)
            of[n++] = f;
        else
            MSIM_TRY(leave_out(m->fleet, f->path,
                               "it is the same rank of the same job as '%s'",
                               m->files[f->twin].path));
    }
    qsort(of, n, sizeof(struct msim_fleet_file *), in_job);
    for (uint32_t i = 0, len; i < n; i += len) {
        for (len = 1; i + len < n && of[i + len]->leader == of[i]->leader;)
            len++;
        MSIM_TRY(add_job(m, of + i, len));
    }
    return MSIM_OK;
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

static enum msim_status make_jobs(struct making *m)
{
    struct msim_fleet *fleet = m->fleet;
    struct msim_fleet_file **of = malloc(((size_t)m->n + 1) * sizeof(*of));
    enum msim_status status = MSIM_ENOMEM;

    fleet->jobs = msim_arena_alloc(&fleet->arena,
                                   ((size_t)m->n + 1) * sizeof(*fleet->jobs));
    if (of && fleet->jobs)
        status = msim_fleet_group(&fleet->arena, m->files, m->n);
    if (status == MSIM_OK)
        status = add_jobs(m, of);
    free(of);
    if (status == MSIM_OK && fleet->n_jobs)
        qsort(fleet->jobs, fleet->n_jobs, sizeof(*fleet->jobs), longest_first);
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

static void weigh_traced(struct msim_fleet *fleet)
{
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
    fleet->weighed_by = keep(fleet, path);
    if (!fleet->weighed_by)
        return MSIM_ENOMEM;
    settle(fleet);
    return MSIM_OK;
}

/* ---- the whole ---------------------------------------------------------- */

static enum msim_status fail_empty(const struct making *m,
                                   const struct msim_job_files *found,
                                   const char *path)
{
    const struct msim_fleet *fleet = m->fleet;

    if (fleet->n_left_out)
        return msim_fail(m->err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "no job with times: %u left out, such as '%s': %s",
                         fleet->n_left_out, fleet->left_out[0].path,
                         fleet->left_out[0].reason);
    return msim_fail(m->err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                     "no trace in %u files, want Kineto (.json, .json.gz) or "
                     "Chakra (.et) with times",
                     found->n);
}

static enum msim_status make(struct making *m, struct msim_job_files *found,
                             const char *const *paths, uint32_t n)
{
    enum msim_status status = msim_job_files_find(found, paths, n, m->err);
    bool *skip = calloc((size_t)found->n + 1, sizeof(*skip));

    if (status == MSIM_OK && !skip)
        status = MSIM_ENOMEM;
    if (status == MSIM_OK && found->n)
        qsort(found->all, found->n, sizeof(*found->all), by_path);
    if (status == MSIM_OK)
        status = find_skipped(found, skip);
    if (status == MSIM_OK)
        status = read_files(m, found, skip);
    free(skip);
    MSIM_TRY(status);
    MSIM_TRY(make_jobs(m));
    if (!m->fleet->n_jobs)
        return fail_empty(m, found, n ? paths[0] : NULL);
    weigh_traced(m->fleet);
    return MSIM_OK;
}

enum msim_status msim_fleet_load(struct msim_fleet **out,
                                 const char *const *paths, uint32_t n,
                                 const struct msim_fleet_options *opt,
                                 struct msim_error *err)
{
    struct making m = {.opt = opt, .err = err};
    struct msim_job_files found = {0};
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    m.fleet = calloc(1, sizeof(*m.fleet));
    if (m.fleet) {
        msim_arena_init(&m.fleet->arena);
        status = make(&m, &found, paths, n);
    }
    free(m.files);
    msim_job_files_release(&found);
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
