/*
 * replay/fleet/fleet_files.c - from paths to files with times, each read by
 * itself and released.
 */
#include "replay/fleet/fleet.h"

#include "core/base/containers.h"
#include "core/job/job.h"
#include "core/job/job_files.h"
#include "core/turns/turns.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void msim_fleet_files_release(struct msim_fleet_files *files)
{
    free(files->all);
    free(files->imports);
    *files = (struct msim_fleet_files){0};
}

enum msim_status msim_fleet_leave_out(struct msim_fleet_files *files,
                                      const char *path, const char *fmt, ...)
{
    struct msim_fleet_left *out = &files->left_out[files->n_left_out];
    char text[1200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    out->path = msim_arena_text(files->arena, path);
    out->reason = msim_arena_text(files->arena, text);
    if (!out->path || !out->reason)
        return MSIM_ENOMEM;
    files->n_left_out++;
    return MSIM_OK;
}

/* ---- which files --------------------------------------------------------- */

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
 * before, by this or by another name. `lasting`: no other is a pipe. */
static enum msim_status find_skipped(const struct msim_job_files *found,
                                     bool *skip, bool *lasting)
{
    struct identity *ids = malloc(((size_t)found->n + 1) * sizeof(*ids));
    uint32_t n = 0;

    *lasting = true;
    for (uint32_t i = 0; ids && i < found->n; i++) {
        const struct msim_job_file *f = &found->all[i];
        struct stat st;

        skip[i] = !f->named && !msim_job_looks_like_trace(f->path);
        if (skip[i])
            continue;
        if (stat(f->path, &st) == 0) {
            ids[n++] = (struct identity){st.st_dev, st.st_ino, i};
            *lasting &= S_ISREG(st.st_mode);
        } else {
            *lasting = false; /* standard input */
        }
    }
    if (ids && n)
        qsort(ids, n, sizeof(*ids), by_identity);
    for (uint32_t i = 1; ids && i < n; i++)
        skip[ids[i].at] |= ids[i].device == ids[i - 1].device &&
                           ids[i].inode == ids[i - 1].inode;
    free(ids);
    return ids ? MSIM_OK : MSIM_ENOMEM;
}

/* ---- one ----------------------------------------------------------------- */

/* A file, and what came of it. */
struct read {
    const char *path;
    bool named;
    bool is_trace;
    struct msim_fleet_file file;
    const char *left; /* why it is left out; NULL: it is not */
    bool again;       /* there was no room for it beside others */
    struct msim_file_info *imports;
    uint32_t n_imports;
};

struct pool {
    struct msim_arena *arena;
    const struct msim_fleet_options *opt;
    struct read *all;
    uint32_t n, threads;
    pthread_mutex_t lock; /* guards what follows, and `arena` */
    uint32_t begun;
};

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

static enum msim_status reduce(struct msim_fleet_file *f,
                               struct msim_arena *arena,
                               const struct msim_job *job)
{
    const struct msim_trace *t = job->ranks[0];

    f->et = job->files[0].format == MSIM_FORMAT_ET;
    f->ranks = job->n_ranks;
    f->rank = f->ranks > 1 ? -1 : t->rank;
    f->world = t->world_size;
    f->gpu = msim_arena_text(arena, msim_trace_text(t, t->gpu_properties.name));
    if (!f->gpu)
        return MSIM_ENOMEM;
    for (uint32_t r = 0; r < job->n_ranks; r++)
        MSIM_TRY(msim_device_time_add(&f->time, job->ranks[r]));
    f->empty = msim_device_time_total(&f->time) > 0
                   ? NULL
                   : msim_device_time_absent(t);
    return MSIM_OK;
}

/* What is kept of the job of one file, which goes. */
static enum msim_status keep(struct read *x, struct msim_arena *arena,
                             const struct msim_job *job)
{
    x->is_trace = true;
    x->file.path = msim_arena_text(arena, x->path);
    x->file.named = x->named;
    if (!x->file.path)
        return MSIM_ENOMEM;
    MSIM_TRY(reduce(&x->file, arena, job));
    x->n_imports = job->n_files;
    return msim_import_copy(arena, job->files, job->n_files, &x->imports);
}

/* A file that was found, or is one of several (of `*`), may be broken: the rest
 * of the fleet is not. One that is not there was mistyped. */
static enum msim_status read_file(const struct pool *p, struct read *x,
                                  struct msim_arena *arena,
                                  struct msim_error *err)
{
    struct msim_load_options load = p->opt->load;
    struct msim_error why = {0};
    struct msim_job *job;
    enum msim_status status;

    if (p->threads > 1)
        load.threads = 1;
    status = msim_job_load(&job, &x->path, 1, &load, &why);
    if (status == MSIM_OK) {
        status = keep(x, arena, job);
        msim_job_free(job);
        return status;
    }
    x->again = status == MSIM_ELIMIT && p->threads > 1;
    if (x->again)
        return MSIM_OK;
    if (status == MSIM_ENOMEM ||
        (x->named && !(p->n > 1 && access(x->path, R_OK) == 0))) {
        if (err)
            *err = why;
        return status;
    }
    if (!x->named && status == MSIM_EFORMAT && is_no_trace(x->path))
        return MSIM_OK;
    x->left = msim_arena_text(arena, why.text);
    return x->left ? MSIM_OK : MSIM_ENOMEM;
}

/* ---- all ----------------------------------------------------------------- */

static void say_begun(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    if (p->opt->before)
        p->opt->before(p->opt->ctx, p->begun, p->n);
    p->begun++;
    pthread_mutex_unlock(&p->lock);
}

static enum msim_status read_some(struct msim_turns *t, struct pool *p,
                                  struct msim_arena *arena,
                                  struct msim_error *err)
{
    uint32_t i;

    while (msim_turns_next(t, &i)) {
        say_begun(p);
        MSIM_TRY(read_file(p, &p->all[i], arena, err));
    }
    return MSIM_OK;
}

/* Texts lie in an arena of the worker until it is done. */
static enum msim_status work(struct msim_turns *t, void *ctx,
                             struct msim_error *err)
{
    struct pool *p = ctx;
    struct msim_arena arena;
    enum msim_status status;

    msim_arena_init(&arena);
    status = read_some(t, p, &arena, err);
    pthread_mutex_lock(&p->lock);
    msim_arena_absorb(p->arena, &arena);
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* Memory is the process's: what did not fit beside others may fit alone. */
static enum msim_status read_tight(struct pool *p, struct msim_error *err)
{
    p->threads = 1;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->all[i].again)
            MSIM_TRY(read_file(p, &p->all[i], p->arena, err));
    return MSIM_OK;
}

static enum msim_status read_all(struct pool *p, struct msim_error *err)
{
    enum msim_status status;

    pthread_mutex_init(&p->lock, NULL);
    status = msim_turns_run(p->n, p->threads, work, p, err);
    pthread_mutex_destroy(&p->lock);
    return status == MSIM_OK ? read_tight(p, err) : status;
}

static enum msim_status add_imports(struct msim_fleet_files *out,
                                    const struct read *x)
{
    for (uint32_t k = 0; k < x->n_imports; k++) {
        MSIM_TRY(msim_grow((void **)&out->imports, &out->cap_imports,
                           out->n_imports, sizeof(*out->imports)));
        out->imports[out->n_imports++] = x->imports[k];
    }
    return MSIM_OK;
}

static enum msim_status collect(struct msim_fleet_files *out,
                                const struct pool *p)
{
    size_t room = (size_t)p->n + 1;

    out->all = calloc(room, sizeof(*out->all));
    out->left_out = msim_arena_alloc(out->arena, room * sizeof(*out->left_out));
    if (!out->all || !out->left_out)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct read *x = &p->all[i];

        if (x->left)
            MSIM_TRY(msim_fleet_leave_out(out, x->path, "%s", x->left));
        if (x->is_trace)
            out->all[out->n++] = x->file;
        MSIM_TRY(add_imports(out, x));
    }
    return MSIM_OK;
}

static enum msim_status find(struct pool *p, struct msim_job_files *found,
                             const char *const *paths, uint32_t n,
                             struct msim_error *err)
{
    bool *skip, lasting = false;
    enum msim_status status;

    MSIM_TRY(msim_job_files_find(found, paths, n, err));
    skip = calloc((size_t)found->n + 1, sizeof(*skip));
    p->all = calloc((size_t)found->n + 1, sizeof(*p->all));
    if (found->n)
        qsort(found->all, found->n, sizeof(*found->all), by_path);
    status = skip && p->all ? find_skipped(found, skip, &lasting) : MSIM_ENOMEM;
    for (uint32_t i = 0; i < found->n && status == MSIM_OK; i++)
        if (!skip[i])
            p->all[p->n++] = (struct read){.path = found->all[i].path,
                                           .named = found->all[i].named};
    p->threads = lasting && p->n > 1 ? p->opt->load.threads : 1;
    free(skip);
    return status;
}

enum msim_status msim_fleet_files_read(struct msim_fleet_files *out,
                                       struct msim_arena *arena,
                                       const char *const *paths, uint32_t n,
                                       const struct msim_fleet_options *opt,
                                       struct msim_error *err)
{
    struct pool p = {.arena = arena, .opt = opt};
    struct msim_job_files found = {0};
    enum msim_status status = find(&p, &found, paths, n, err);

    *out = (struct msim_fleet_files){.arena = arena, .n_found = found.n};
    if (status == MSIM_OK)
        status = read_all(&p, err);
    if (status == MSIM_OK)
        status = collect(out, &p);
    free(p.all);
    msim_job_files_release(&found);
    return status;
}
