/*
 * replay/fleet/fleet_merge.c - jobs read back from answers about parts of a
 * fleet.
 */
#include "replay/fleet/fleet.h"

#include "core/base/containers.h"
#include "core/job/job.h"
#include "core/json/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A fleet while parts are added; lists are on the heap until all are there. */
struct merging {
    struct msim_fleet *fleet;
    struct msim_fleet_job *jobs;
    struct msim_fleet_left *left;
    uint32_t cap_jobs, cap_left, cap_files;
};

/* A text that must be there, in the fleet's arena. */
static const char *take_text(struct merging *m, struct msim_fields *f,
                             const char *key)
{
    const char *text = msim_field_text(f, key);

    if (!text) {
        msim_field_refuse(f, key, "a text");
        return "";
    }
    text = msim_arena_text(&m->fleet->arena, text);
    if (!text)
        f->status = MSIM_ENOMEM;
    return text;
}

/* The same of one that may be null: "". */
static const char *take_known(struct merging *m, struct msim_fields *f,
                              const char *key)
{
    return msim_field_json(f, key) ? take_text(m, f, key) : "";
}

/* ---- jobs ---------------------------------------------------------------- */

static void take_paths(struct merging *m, struct msim_fields *f,
                       struct msim_fleet_job *job)
{
    const cJSON *list = msim_field_array(f, "paths"), *item;
    const char **paths;
    uint32_t n = 0;

    paths = msim_arena_alloc(&m->fleet->arena,
                             ((size_t)cJSON_GetArraySize(list) + 1) *
                                 sizeof(*paths));
    if (!paths) {
        f->status = MSIM_ENOMEM;
        return;
    }
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item))
            msim_field_refuse_item(f, "paths", n, "a text");
        paths[n++] = msim_arena_text(
            &m->fleet->arena, cJSON_IsString(item) ? item->valuestring : "");
    }
    job->paths = paths;
    job->n_paths = n;
}

/* Of ranks, GPUs, CPUs. */
static uint32_t take_count(struct msim_fields *f, const char *key,
                           int64_t least)
{
    int64_t n = msim_field_int(f, key, least, MSIM_FIELD_WANTED);

    if (n > UINT32_MAX)
        msim_field_refuse(f, key, "a number below 2^32");
    return (uint32_t)n;
}

#define MOST_US 1e18 /* of a job: the sum of all is a number, too */

/* Times of kinds are shares of the whole, as they were written. */
static void take_times(struct msim_fields *f, struct msim_fleet_job *job)
{
    struct msim_fields shares = msim_fields_open(f, "shares");
    double sum = 0;

    job->total_us = msim_field_real(f, "device_time_us", MSIM_FIELD_WANTED);
    if (job->total_us > MOST_US)
        msim_field_refuse(f, "device_time_us", "at most 1e18");
    for (uint32_t k = 0; k < MSIM_TIME_KINDS; k++) {
        job->share[k] =
            msim_field_between(&shares, msim_time_kind_text(k), 0, 1, 0);
        sum += job->share[k];
        job->time.us[k] = job->share[k] * job->total_us;
    }
    msim_fields_close(f, &shares);
    if (!(fabs(sum - 1) < 1e-6))
        msim_field_refuse(f, "shares", "shares of known kinds that sum to 1");
}

static enum msim_status add_job(struct merging *m, struct msim_fields *f)
{
    struct msim_fleet_job *job;

    MSIM_TRY(msim_grow((void **)&m->jobs, &m->cap_jobs, m->fleet->n_jobs,
                       sizeof(*m->jobs)));
    job = &m->jobs[m->fleet->n_jobs++];
    *job = (struct msim_fleet_job){.name = take_text(m, f, "job"),
                                   .gpu = take_known(m, f, "gpu"),
                                   .ranks = take_count(f, "ranks", 1)};
    job->time.gpus = take_count(f, "gpus", 0);
    job->time.cpus = take_count(f, "cpus", 0);
    take_times(f, job);
    take_paths(m, f, job);
    return f->status;
}

/* ---- what else a part says ----------------------------------------------- */

static enum msim_status add_left(struct merging *m, struct msim_fields *f)
{
    MSIM_TRY(msim_grow((void **)&m->left, &m->cap_left, m->fleet->n_left_out,
                       sizeof(*m->left)));
    m->left[m->fleet->n_left_out++] = (struct msim_fleet_left){
        take_text(m, f, "path"), take_text(m, f, "reason")};
    return f->status;
}

static const struct msim_import_kind_info *take_kind(struct msim_fields *f)
{
    const char *word = msim_field_text(f, "kind");

    for (int k = 0; k < MSIM_IMPORT_KINDS && word; k++) {
        const struct msim_import_kind_info *kind =
            msim_import_about((enum msim_import_kind)k);

        if (!strcmp(kind->word, word))
            return kind;
    }
    msim_field_refuse(f, "kind", "a kind of records (docs/json.md)");
    return NULL;
}

static void take_row(struct merging *m, struct msim_fields *f,
                     struct msim_import_row *row)
{
    *row = (struct msim_import_row){
        .kind = take_kind(f),
        .name = take_known(m, f, "name"),
        .example = take_known(m, f, "example"),
        .n = (uint64_t)msim_field_int(f, "count", 0, MSIM_FIELD_WANTED),
        .us = (uint64_t)msim_field_int(f, "us", 0, MSIM_FIELD_WANTED),
        .byte = (uint64_t)msim_field_int(f, "byte", 0, 0),
        .has_byte = msim_field_json(f, "byte") != NULL};
}

static enum msim_status add_import(struct merging *m, struct msim_fields *f)
{
    const cJSON *list = msim_field_array(f, "records"), *item;
    size_t room = (size_t)cJSON_GetArraySize(list) + 1;
    struct msim_import_row *rows =
        msim_arena_alloc(&m->fleet->arena, room * sizeof(*rows));
    struct msim_file_info file = {.path = take_text(m, f, "path")};

    if (!rows)
        return MSIM_ENOMEM;
    file.events = (uint64_t)msim_field_int(f, "events", 0, MSIM_FIELD_WANTED);
    file.import.read =
        (uint64_t)msim_field_int(f, "read", 0, MSIM_FIELD_WANTED);
    file.import.rows = rows;
    cJSON_ArrayForEach(item, list)
    {
        struct msim_fields row =
            msim_fields_open_item(f, "records", file.import.n, item);

        take_row(m, &row, &rows[file.import.n++]);
        msim_fields_close(f, &row);
    }
    MSIM_TRY(f->status);
    MSIM_TRY(msim_grow((void **)&m->fleet->files, &m->cap_files,
                       m->fleet->n_files, sizeof(*m->fleet->files)));
    m->fleet->files[m->fleet->n_files++] = file;
    return MSIM_OK;
}

/* ---- all parts ----------------------------------------------------------- */

static enum msim_status
add_list(struct merging *m, struct msim_fields *f, const char *key,
         enum msim_status (*add)(struct merging *, struct msim_fields *))
{
    const cJSON *item;
    uint32_t i = 0;

    cJSON_ArrayForEach(item, msim_field_array(f, key))
    {
        struct msim_fields inner = msim_fields_open_item(f, key, i++, item);

        MSIM_TRY(inner.status);
        MSIM_TRY(add(m, &inner));
    }
    return f->status;
}

static enum msim_status add_part(struct merging *m, const char *path,
                                 struct msim_error *err)
{
    struct msim_fields f;
    enum msim_status status;
    cJSON *json;

    MSIM_TRY(msim_json_read_our(&json, path, "selection", err));
    f = msim_fields_of(json, path, err);
    status = add_list(m, &f, "jobs", add_job);
    if (status == MSIM_OK)
        status = add_list(m, &f, "left_out", add_left);
    if (status == MSIM_OK)
        status = add_list(m, &f, "import", add_import);
    cJSON_Delete(json);
    return status;
}

static int by_name(const void *a, const void *b)
{
    const struct msim_fleet_job *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static int by_left_path(const void *a, const void *b)
{
    const struct msim_fleet_left *x = a, *y = b;
    int c = strcmp(x->path, y->path);

    return c ? c : strcmp(x->reason, y->reason);
}

static int by_file_path(const void *a, const void *b)
{
    const struct msim_file_info *x = a, *y = b;

    return strcmp(x->path, y->path);
}

static enum msim_status check_once(const struct msim_fleet *fleet,
                                   struct msim_error *err)
{
    for (uint32_t i = 1; i < fleet->n_jobs; i++)
        if (!strcmp(fleet->jobs[i - 1].name, fleet->jobs[i].name))
            return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                             "the job '%.300s' is in two parts, want every job "
                             "in one",
                             fleet->jobs[i].name);
    return MSIM_OK;
}

/* A list of the heap in the fleet's arena, which owns it from here on. */
static enum msim_status settle_list(struct msim_fleet *fleet, void *to,
                                    const void *from, size_t bytes)
{
    void *list = msim_arena_alloc(&fleet->arena, bytes + 1);

    if (!list)
        return MSIM_ENOMEM;
    if (bytes)
        memcpy(list, from, bytes);
    *(void **)to = list;
    return MSIM_OK;
}

static enum msim_status merge(struct merging *m, const char *const *paths,
                              uint32_t n, struct msim_error *err)
{
    struct msim_fleet *fleet = m->fleet;

    for (uint32_t i = 0; i < n; i++)
        MSIM_TRY(add_part(m, paths[i], err));
    if (!fleet->n_jobs)
        return msim_fail(err, MSIM_EFORMAT, n ? paths[0] : NULL,
                         MSIM_OFFSET_NONE, "no job in %u parts", n);
    MSIM_TRY(settle_list(fleet, &fleet->jobs, m->jobs,
                         fleet->n_jobs * sizeof(*m->jobs)));
    MSIM_TRY(settle_list(fleet, &fleet->left_out, m->left,
                         fleet->n_left_out * sizeof(*m->left)));
    qsort(fleet->jobs, fleet->n_jobs, sizeof(*fleet->jobs), by_name);
    MSIM_TRY(check_once(fleet, err));
    if (fleet->n_left_out)
        qsort(fleet->left_out, fleet->n_left_out, sizeof(*fleet->left_out),
              by_left_path);
    if (fleet->n_files)
        qsort(fleet->files, fleet->n_files, sizeof(*fleet->files),
              by_file_path);
    msim_fleet_weigh_traced(fleet);
    return MSIM_OK;
}

enum msim_status msim_fleet_merge(struct msim_fleet **out,
                                  const char *const *paths, uint32_t n,
                                  struct msim_error *err)
{
    struct merging m = {.fleet = calloc(1, sizeof(*m.fleet))};
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    if (m.fleet) {
        msim_arena_init(&m.fleet->arena);
        status = merge(&m, paths, n, err);
    }
    free(m.jobs);
    free(m.left);
    if (status == MSIM_OK)
        *out = m.fleet;
    else
        msim_fleet_free(m.fleet);
    return status;
}
