/*
 * core/job/job_load.c - from paths to a job: read every file, sort them by
 * rank, link the files of one rank, align clocks.
 */
#include "core/base/containers.h"
#include "core/base/files.h"
#include "core/job/job_files.h"
#include "core/job/job_internal.h"
#include "core/link/link_et.h"
#include "core/trace/trace_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loading {
    struct msim_job *job;
    const struct msim_load_options *opt;
    struct msim_error *err;
    struct msim_job_parts parts;
    struct msim_trace_clock *clocks; /* by rank */
    const char *groups; /* a file that lists them was named; or NULL */
    struct msim_job_files files;
    const struct msim_job_text *texts; /* instead of files */
};

/* ---- one file ----------------------------------------------------------- */

/* A file into which several processes were merged is that many ranks. */
static enum msim_status keep_processes(struct loading *l,
                                       struct msim_read_result *read,
                                       const char *path)
{
    struct msim_read_result other = {.format = read->format,
                                     .version = read->version,
                                     .has_origin = read->has_origin,
                                     .origin_us = read->origin_us,
                                     .origin_ps = read->origin_ps};

    if (read->n_others)
        read->rank = 0;
    msim_import_warn_file(l->job, path, read);
    MSIM_TRY(msim_import_of_file(read, l->job->strings, &read->trace->import));
    MSIM_TRY(msim_job_parts_add(&l->parts, l->job, read, &read->trace, path));
    for (uint32_t i = 0; i < read->n_others; i++) {
        other.rank = (int64_t)i + 1;
        MSIM_TRY(msim_job_parts_add(&l->parts, l->job, &other, &read->others[i],
                                    path));
    }
    return MSIM_OK;
}

/* A trace that was found makes its folder an input; what else lies there, such
 * as charts of an earlier run, is none. */
static enum msim_status note_read(const struct msim_job_file *file,
                                  struct msim_error *err)
{
    const char *slash = strrchr(file->path, '/');
    enum msim_status status = msim_files_read_note(file->path, err);
    char *folder;

    if (status != MSIM_OK || file->named || !slash)
        return status;
    folder = strndup(file->path, (size_t)(slash - file->path));
    status = folder ? msim_files_read_note(folder, err) : MSIM_ENOMEM;
    free(folder);
    return status;
}

/* Keep a file that was read if it is a trace. */
static enum msim_status take_file(void *ctx, uint32_t i,
                                  enum msim_status status,
                                  struct msim_read_result *read,
                                  struct msim_error *err)
{
    struct loading *l = ctx;
    const struct msim_job_file *file = &l->files.all[i];
    uint32_t before = l->parts.n;

    if (status == MSIM_OK && read->trace)
        status = keep_processes(l, read, file->path);
    if (!file->named && status != MSIM_OK && status != MSIM_ENOMEM &&
        !msim_job_looks_like_trace(file->path))
        return MSIM_OK;
    if (!file->named && status == MSIM_EFORMAT && l->parts.n == before) {
        msim_job_warn(l->job, "%s: left out: %s", file->path, err->text);
        return MSIM_OK;
    }
    if (status == MSIM_OK && l->parts.n == before && file->named &&
        msim_comm_groups_is(file->path))
        l->groups = msim_arena_text(&l->job->arena, file->path);
    else if (status == MSIM_OK && l->parts.n == before && file->named)
        status = msim_fail(err, MSIM_EFORMAT, file->path, MSIM_OFFSET_NONE,
                           "is JSON, but has neither 'nodes' (ET) nor "
                           "'traceEvents' (Kineto)");
    if (status == MSIM_OK && l->parts.n > before)
        status = note_read(file, err);
    if (status != MSIM_OK && l->err && l->err->status == MSIM_OK)
        *l->err = *err;
    return status;
}

static enum msim_status load_files(struct loading *l)
{
    struct msim_job_text *of = calloc((size_t)l->files.n + 1, sizeof(*of));
    enum msim_status status;

    if (!of)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < l->files.n; i++)
        of[i].name = l->files.all[i].path;
    status = msim_job_inputs_read(of, l->files.n, l->job->strings, l->opt,
                                  take_file, l);
    free(of);
    return status;
}

/* The same of one that is in memory. */
static enum msim_status take_text(void *ctx, uint32_t i,
                                  enum msim_status status,
                                  struct msim_read_result *read,
                                  struct msim_error *err)
{
    struct loading *l = ctx;

    if (status == MSIM_OK && read->trace)
        status = keep_processes(l, read, l->texts[i].name);
    if (status != MSIM_OK && l->err && l->err->status == MSIM_OK)
        *l->err = *err;
    return status;
}

/* ---- ranks -------------------------------------------------------------- */

#define OTHER_RUNS                                                             \
    " (recordings of other steps or stages are jobs of their own)"

/* Were several processes merged into it? */
static bool is_merged(const struct loading *l, const struct msim_job_part *p)
{
    for (uint32_t i = 0; i < l->parts.n; i++)
        if (l->parts.all[i].info.further &&
            !strcmp(l->parts.all[i].info.path, p->info.path))
            return true;
    return false;
}

static enum msim_status fail_twice(struct loading *l,
                                   const struct msim_job_part *a,
                                   const struct msim_job_part *b)
{
    static const char *const KINDS[] = {"an ET", "a Kineto", "a Chakra"};
    const char *kind = KINDS[b->info.format];

    if (msim_paths_differ_by_step(a->info.path, b->info.path))
        return msim_fail(l->err, MSIM_EFORMAT, b->info.path, MSIM_OFFSET_NONE,
                         "is %s trace of another step than '%s', by their "
                         "names: these are no two ranks, want one of them",
                         kind, a->info.path);
    if (is_merged(l, a) != is_merged(l, b))
        return msim_fail(l->err, MSIM_EFORMAT,
                         (is_merged(l, a) ? a : b)->info.path, MSIM_OFFSET_NONE,
                         "holds several processes, of ranks that have files "
                         "beside it: want it alone, or those alone");
    if (a->info.rank < 0 && msim_rank_name_says(a->info.path) &&
        msim_rank_name_says(b->info.path))
        return msim_fail(l->err, MSIM_EFORMAT, b->info.path, MSIM_OFFSET_NONE,
                         "is %s trace of the rank that '%s' is of, by their "
                         "names, want one of each kind for a rank" OTHER_RUNS,
                         kind, a->info.path);
    if (a->info.rank < 0)
        return msim_fail(l->err, MSIM_EFORMAT, b->info.path, MSIM_OFFSET_NONE,
                         "is %s trace that says no rank, as '%s' is; want one "
                         "file, or names with rank-N" OTHER_RUNS,
                         kind, a->info.path);
    return msim_fail(l->err, MSIM_EFORMAT, b->info.path, MSIM_OFFSET_NONE,
                     "is %s trace of rank %lld, as '%s' is; want one of each "
                     "kind for a rank" OTHER_RUNS,
                     kind, (long long)a->info.rank, a->info.path);
}

static int by_rank(const void *a, const void *b)
{
    const struct msim_job_part *x = a, *y = b;

    if (x->info.rank != y->info.rank)
        return MSIM_ORDER(x->info.rank, y->info.rank);
    return MSIM_ORDER(x->info.format, y->info.format);
}

/* A Chakra trace is a whole rank: nothing goes with it. */
static bool same_part(const struct msim_job_part *a,
                      const struct msim_job_part *b)
{
    return a->info.rank == b->info.rank &&
           (a->info.format == b->info.format ||
            b->info.format == MSIM_FORMAT_CHAKRA);
}

/* Some files have a rank and one has none: it could be any. */
static enum msim_status check_unknown(struct loading *l)
{
    uint32_t last = l->parts.n - 1;
    const struct msim_job_part *p = &l->parts.all[0];

    if (p->info.rank >= 0 || l->parts.all[last].info.rank < 0)
        return MSIM_OK;
    if (!p->info.kernels && l->parts.all[last].info.kernels)
        return msim_fail(l->err, MSIM_EFORMAT, p->info.path, MSIM_OFFSET_NONE,
                         "says no rank and has no work of a GPU, as a front "
                         "end's trace beside those of the ranks: leave it out");
    return msim_fail(
        l->err, MSIM_EFORMAT, l->parts.all[0].info.path, MSIM_OFFSET_NONE,
        "says no rank, and '%s' is rank %lld; want rank-N in its "
        "name",
        l->parts.all[last].info.path, (long long)l->parts.all[last].info.rank);
}

/* Parts are sorted by rank and kind here. */
static enum msim_status check_twice(struct loading *l)
{
    uint32_t i;

    for (i = 1; i < l->parts.n; i++)
        if (same_part(&l->parts.all[i - 1], &l->parts.all[i]))
            return fail_twice(l, &l->parts.all[i - 1], &l->parts.all[i]);
    return MSIM_OK;
}

/* How many ranks the files speak of: of the job, or of its groups. */
static uint64_t ranks_known(const struct loading *l)
{
    uint64_t known = 0;

    for (uint32_t i = 0; i < l->parts.n; i++) {
        const struct msim_trace *t = l->parts.all[i].trace;

        if (!t) /* as another that has one */
            continue;
        known = t->world_size > known ? t->world_size : known;
        for (uint32_t g = 0; g < t->n_groups; g++)
            if (t->groups[g].size > known)
                known = t->groups[g].size;
        for (uint32_t r = 0; r < t->n_group_ranks; r++)
            if (t->group_ranks[r] >= (int64_t)known)
                known = (uint64_t)t->group_ranks[r] + 1;
    }
    return known;
}

/* Of files that record no rank. */
static enum msim_status ranks_of_names(struct loading *l)
{
    struct msim_rank_name *names = calloc(l->parts.n, sizeof(*names));
    enum msim_status status;

    if (!names)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < l->parts.n; i++)
        names[i] =
            (struct msim_rank_name){.path = l->parts.all[i].info.path,
                                    .kind = (int)l->parts.all[i].info.format,
                                    .rank = l->parts.all[i].info.rank};
    status = msim_rank_names_settle(names, l->parts.n, MSIM_RANK_ALL,
                                    ranks_known(l));
    for (uint32_t i = 0; i < l->parts.n && status == MSIM_OK; i++) {
        struct msim_job_part *p = &l->parts.all[i];

        if (p->info.rank < 0 && names[i].rank >= 0)
            msim_import_add(&p->trace->import, MSIM_IMPORT_RANK_NAME, 1);
        p->info.rank = names[i].rank;
    }
    free(names);
    return status;
}

/* One ET and one Kineto file are a pair, unless both have ranks that differ. */
static void pair_two(struct loading *l)
{
    struct msim_job_part *a = &l->parts.all[0], *b = &l->parts.all[1];

    if (l->parts.n != 2 || a->info.format == b->info.format ||
        a->info.format == MSIM_FORMAT_CHAKRA ||
        b->info.format == MSIM_FORMAT_CHAKRA)
        return;
    if (a->info.rank < 0)
        a->info.rank = b->info.rank;
    if (b->info.rank < 0)
        b->info.rank = a->info.rank;
}

/* The trace of one rank out of its one or two files. */
static enum msim_status build_rank(struct loading *l,
                                   struct msim_job_part *kineto,
                                   struct msim_job_part *et, uint32_t at)
{
    struct msim_job_part *main_part = kineto ? kineto : et;
    struct msim_trace *t = main_part->trace;
    uint64_t linked = 0, total = 0;

    if (kineto && et) {
        msim_job_warn_other_steps(l->job, main_part->info.path, t,
                                  et->info.path, et->trace);
        MSIM_TRY(msim_link_et(t, et->trace, l->job->strings, &linked, &total));
        et->info.linked = total ? (double)linked / (double)total : NAN;
        msim_import_add(&t->import, MSIM_IMPORT_NO_NODE, total - linked);
        MSIM_TRY(msim_job_check_pair(l->job, &kineto->info, &et->info, linked,
                                     total, l->err));
    }
    t->rank = main_part->info.rank;
    if (et && !t->gpus)
        t->gpus = et->trace->gpus;
    t->cpu_only = msim_order_cpu_only(t);
    if (kineto && et && l->opt->details) {
        t->et = et->trace;
        et->taken = true;
    }
    l->clocks[at] = main_part->clock;
    main_part->taken = true;
    l->job->ranks[at] = t;
    l->job->n_ranks = at + 1;
    return MSIM_OK;
}

/* The ranks of the job are the first of each kind, by number. */
static enum msim_status build_folded(struct loading *l)
{
    struct msim_job *job = l->job;
    uint32_t place[MSIM_FOLD_KINDS];

    memset(place, 0xff, sizeof(place));
    job->members = calloc(l->parts.n, sizeof(*job->members));
    job->alike = calloc(l->parts.n, sizeof(*job->alike));
    if (!job->members || !job->alike)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < l->parts.n; i++) {
        struct msim_job_part *p = &l->parts.all[i], kept = *p;
        uint32_t *at = &place[p->kind];

        kept.trace = msim_job_part_trace(&l->parts, p);
        if (*at == MSIM_NONE) {
            *at = job->n_ranks;
            MSIM_TRY(build_rank(l, &kept, NULL, *at));
        }
        p->taken = p->trace != NULL;
        job->members[i] = (struct msim_job_member){p->info.rank, *at};
        job->alike[*at]++;
    }
    job->n_members = l->parts.n;
    return MSIM_OK;
}

static enum msim_status build_ranks(struct loading *l)
{
    uint32_t i, at = 0;

    l->job->ranks = calloc(l->parts.n, sizeof(*l->job->ranks));
    l->job->files = calloc(l->parts.n, sizeof(*l->job->files));
    l->clocks = calloc(l->parts.n, sizeof(*l->clocks));
    if (!l->job->ranks || !l->job->files || !l->clocks)
        return MSIM_ENOMEM;
    if (msim_job_parts_are_folded(&l->parts))
        MSIM_TRY(build_folded(l));
    for (i = 0; i < l->parts.n && !msim_job_parts_are_folded(&l->parts); i++) {
        struct msim_job_part *p = &l->parts.all[i], *next = p + 1;
        bool pair = i + 1 < l->parts.n && next->info.rank == p->info.rank;

        if (p->info.format != MSIM_FORMAT_ET)
            MSIM_TRY(build_rank(l, p, NULL, at++));
        else /* the ET comes first */
            MSIM_TRY(build_rank(l, pair ? next : NULL, p, at++));
        i += pair;
    }
    for (i = 0; i < l->parts.n; i++)
        l->job->files[i] = l->parts.all[i].info;
    l->job->n_files = l->parts.n;
    return MSIM_OK;
}

/* ---- the job ------------------------------------------------------------ */

/* What is in the logs now that all is linked. */
static enum msim_status keep_imports(struct loading *l)
{
    for (uint32_t i = 0; i < l->parts.n; i++) {
        struct msim_trace *t = l->parts.all[i].trace;

        if (t)
            msim_import_add(&t->import, MSIM_IMPORT_STEP,
                            t->has_times && !t->n_steps);
    }
    for (uint32_t i = 0; i < l->parts.n; i++) {
        struct msim_import_log log =
            msim_job_part_log(&l->parts, &l->parts.all[i]);

        MSIM_TRY(msim_import_keep(l->job, &log, &l->job->files[i].import));
    }
    msim_job_warn_import(l->job);
    return MSIM_OK;
}

static uint64_t count_comms(const struct msim_trace *t)
{
    uint64_t n = 0;
    uint32_t i;

    for (i = 0; i < t->n_comms; i++)
        n += t->comms[i].collective != MSIM_COLL_WAIT;
    for (i = 0; i < t->n_gpu; i++)
        n += t->gpu[i].kind == MSIM_GPU_COMM && t->gpu[i].comm == MSIM_NONE;
    return n;
}

/* Once it is known which kernels are communication. */
static void count_collectives(struct loading *l)
{
    for (uint32_t i = 0; i < l->parts.n; i++)
        l->job->files[i].collectives =
            count_comms(msim_job_part_trace(&l->parts, &l->parts.all[i]));
}

static enum msim_status assemble(struct loading *l)
{
    if (l->parts.n == 0)
        return MSIM_OK;
    MSIM_TRY(ranks_of_names(l));
    pair_two(l);
    qsort(l->parts.all, l->parts.n, sizeof(*l->parts.all), by_rank);
    MSIM_TRY(check_twice(l));
    MSIM_TRY(check_unknown(l));
    MSIM_TRY(build_ranks(l));
    MSIM_TRY(msim_job_check_worlds(l->job, l->err));
    MSIM_TRY(msim_job_own_comms(l->job, l->opt));
    count_collectives(l);
    MSIM_TRY(msim_comm_groups_take(l->job, l->groups));
    MSIM_TRY(msim_job_name_groups(l->job));
    MSIM_TRY(msim_job_keep_common_steps(l->job));
    MSIM_TRY(msim_job_keep_busy(l->job));
    MSIM_TRY(msim_job_match_lost(l->job, l->clocks));
    MSIM_TRY(msim_clock_align(l->job, l->clocks));
    MSIM_TRY(keep_imports(l));
    MSIM_TRY(msim_job_keep_whole(l->job));
    for (uint32_t i = 0; i < l->job->n_ranks; i++)
        MSIM_TRY(msim_link_back(l->job->ranks[i]));
    msim_warn_missing_ranks(l->job, l->opt->stand_for_all);
    msim_warn_lost_events(l->job);
    return MSIM_OK;
}

static enum msim_status begin(struct loading *l, struct msim_error *err)
{
    l->err = err;
    l->parts.folds = l->opt->fold;
    l->job = calloc(1, sizeof(*l->job));
    if (!l->job)
        return MSIM_ENOMEM;
    msim_arena_init(&l->job->arena);
    return msim_strtab_new(&l->job->strings);
}

/* Release what is not part of the job; return the job on success. */
static enum msim_status end(struct loading *l, enum msim_status status,
                            struct msim_job **out)
{
    msim_job_parts_release(&l->parts);
    free(l->clocks);
    if (status != MSIM_OK) {
        msim_fail(l->err, status, NULL, MSIM_OFFSET_NONE, "%s",
                  msim_status_text(status));
        msim_job_free(l->job);
        return status;
    }
    *out = l->job;
    return MSIM_OK;
}

/* There were files, but no trace: why the first was left out may help. */
static enum msim_status fail_empty(const struct loading *l, const char *path,
                                   uint32_t files)
{
    if (l->job->n_warnings)
        return msim_fail(l->err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "no trace in %u files, want ET, Kineto or Chakra: %s",
                         files, l->job->warnings[0]);
    return msim_fail(l->err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                     "no trace in %u files, want ET or Kineto (.json, "
                     ".json.gz) or Chakra (.et)",
                     files);
}

enum msim_status msim_job_load(struct msim_job **out, const char *const *paths,
                               uint32_t n, const struct msim_load_options *opt,
                               struct msim_error *err)
{
    struct loading l = {.opt = opt};
    enum msim_status status = begin(&l, err);

    *out = NULL;
    if (status == MSIM_OK)
        status = msim_job_files_find(&l.files, paths, n, err);
    if (status == MSIM_OK)
        status = load_files(&l);
    if (status == MSIM_OK && l.parts.n == 0)
        status = fail_empty(&l, n ? paths[0] : NULL, l.files.n);
    msim_job_files_release(&l.files);
    if (status == MSIM_OK)
        status = assemble(&l);
    return end(&l, status, out);
}

enum msim_status msim_job_load_texts(struct msim_job **out,
                                     const struct msim_job_text *texts,
                                     uint32_t n,
                                     const struct msim_load_options *opt,
                                     struct msim_error *err)
{
    struct loading l = {.opt = opt, .texts = texts};
    enum msim_status status = begin(&l, err);

    *out = NULL;
    if (status == MSIM_OK)
        status =
            msim_job_inputs_read(texts, n, l.job->strings, opt, take_text, &l);
    if (status == MSIM_OK && l.parts.n == 0)
        status = msim_fail(err, MSIM_EFORMAT, n ? texts[0].name : NULL,
                           MSIM_OFFSET_NONE,
                           "is JSON, but has neither 'nodes' (ET) nor "
                           "'traceEvents' (Kineto)");
    if (status == MSIM_OK)
        status = assemble(&l);
    return end(&l, status, out);
}
