/*
 * core/job/import.c - the counts of an import log, copied out of its trace, and
 * the warnings made of them.
 */
#include "core/job/job.h"

#include <stdio.h>
#include <string.h>

/* ---- of a whole file ----------------------------------------------------- */

static enum msim_status add_text(struct msim_import_count *c,
                                 struct msim_strtab *strings, const char *text)
{
    return msim_strtab_add(strings, text, strlen(text), &c->example);
}

_Static_assert(MSIM_IMPORT_UTF8 - MSIM_IMPORT_NUMBER + 1 ==
                   MSIM_JSON_REPAIR_KINDS,
               "a kind for each repair");

static void add_repairs(const struct msim_json_repairs *r,
                        struct msim_import_log *log)
{
    for (int i = 0; i < MSIM_JSON_REPAIR_KINDS; i++)
        if (r->count[i])
            msim_import_at(
                msim_import_add(log,
                                (enum msim_import_kind)(MSIM_IMPORT_NUMBER + i),
                                r->count[i]),
                r->first[i]);
}

enum msim_status msim_import_of_file(const struct msim_read_result *read,
                                     struct msim_strtab *strings,
                                     struct msim_import_log *log)
{
    struct msim_import_count *c;

    add_repairs(&read->repairs, log);
    if (read->n_others)
        msim_import_add(log, MSIM_IMPORT_PROCESS, read->n_others + 1);
    if (read->note[0])
        MSIM_TRY(add_text(msim_import_add(log, MSIM_IMPORT_TAIL, 1), strings,
                          read->note));
    if (!read->salvaged)
        return MSIM_OK;
    c = msim_import_add(log, MSIM_IMPORT_DAMAGE,
                        read->broken ? read->broken : 1);
    msim_import_at(c, read->damage.offset);
    return add_text(c, strings, read->damage.text);
}

static void warn_salvaged(struct msim_job *job, const char *path,
                          const struct msim_read_result *read)
{
    char passed[64] = "before";

    if (read->broken)
        snprintf(passed, sizeof(passed), "beside %llu broken ones",
                 (unsigned long long)read->broken);
    msim_job_warn(job, "%s:%llu: %s; kept the %llu complete %s %s", path,
                  (unsigned long long)read->damage.offset, read->damage.text,
                  (unsigned long long)read->trace->import.records,
                  read->format == MSIM_FORMAT_KINETO ? "events" : "nodes",
                  passed);
}

/* One warning for each type of elements that is not known. */
static void warn_types(struct msim_job *job, const char *path,
                       const struct msim_read_result *read)
{
    if (read->untyped)
        msim_job_warn(job,
                      "%s: %llu tensors have no element type: it is taken from "
                      "the names of their kernels; else what reads them has a "
                      "bound, and is not covered",
                      path, (unsigned long long)read->untyped);
    for (int i = 0; i < MSIM_READ_ODD_TYPES; i++) {
        const struct msim_odd_type *o = &read->odd_types[i];

        if (o->n)
            msim_job_warn(job,
                          "%s: %llu tensors of %s%.80s%s, which is not known: "
                          "what reads them has a bound, and is not covered",
                          path, (unsigned long long)o->n,
                          o->name ? "the element type '" : "other types",
                          o->name ? msim_strtab_text(job->strings, o->name)
                                  : "",
                          o->name ? "'" : "");
    }
}

void msim_import_warn_file(struct msim_job *job, const char *path,
                           const struct msim_read_result *read)
{
    if (read->salvaged)
        warn_salvaged(job, path, read);
    if (read->note[0])
        msim_job_warn(job, "%s: %s", path, read->note);
    warn_types(job, path, read);
}

/* ---- rows ---------------------------------------------------------------- */

enum msim_status msim_import_keep(struct msim_job *job,
                                  const struct msim_import_log *log,
                                  struct msim_import *out)
{
    uint32_t all = MSIM_IMPORT_KINDS + MSIM_IMPORT_NAMES, n = 0;
    struct msim_import_row *rows;

    for (uint32_t i = 0; i < all; i++)
        n += log->rows[i].n != 0;
    rows = msim_arena_alloc(&job->arena, ((size_t)n + 1) * sizeof(*rows));
    if (!rows)
        return MSIM_ENOMEM;
    *out = (struct msim_import){.read = log->read, .rows = rows};
    for (uint32_t i = 0; i < all; i++) {
        const struct msim_import_count *c = &log->rows[i];

        if (c->n)
            rows[out->n++] = (struct msim_import_row){
                .kind = msim_import_about((enum msim_import_kind)c->kind),
                .name = msim_strtab_text(job->strings, c->name),
                .example = msim_strtab_text(job->strings, c->example),
                .n = c->n,
                .us = c->us,
                .byte = c->byte,
                .has_byte = c->has_byte};
    }
    return MSIM_OK;
}

static enum msim_status copy_file(struct msim_arena *arena,
                                  const struct msim_file_info *from,
                                  struct msim_file_info *to)
{
    uint32_t n = from->import.n;
    struct msim_import_row *rows =
        msim_arena_alloc(arena, ((size_t)n + 1) * sizeof(*rows));

    *to = (struct msim_file_info){.path = msim_arena_text(arena, from->path),
                                  .events = from->events,
                                  .import = {from->import.read, rows, n}};
    if (!rows || !to->path)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        rows[i] = from->import.rows[i];
        rows[i].name = msim_arena_text(arena, rows[i].name);
        rows[i].example = msim_arena_text(arena, rows[i].example);
        if (!rows[i].name || !rows[i].example)
            return MSIM_ENOMEM;
    }
    return MSIM_OK;
}

enum msim_status msim_import_copy(struct msim_arena *arena,
                                  const struct msim_file_info *files,
                                  uint32_t n, struct msim_file_info **out)
{
    *out = msim_arena_alloc(arena, ((size_t)n + 1) * sizeof(**out));
    if (!*out)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        MSIM_TRY(copy_file(arena, &files[i], &(*out)[i]));
    return MSIM_OK;
}

/* ---- warnings ------------------------------------------------------------ */

/* A kind, or a name of it, of all files. */
struct sum {
    const struct msim_import_row *first;
    const struct msim_file_info *file; /* of the first */
    uint32_t files;
    uint64_t n, us, read;
};

/* Names are a stranger's: so many warnings, and no more. */
#define SUMS_MAX 64

struct sums {
    struct sum of[SUMS_MAX];
    uint32_t n;
};

static void add_row(struct sums *all, const struct msim_file_info *file,
                    const struct msim_import_row *row)
{
    struct sum *s = all->of, *end = all->of + all->n;

    while (s < end && (s->first->kind != row->kind ||
                       strcmp(s->first->name, row->name) != 0))
        s++;
    if (s == &all->of[SUMS_MAX])
        return;
    if (s == end) {
        *s = (struct sum){.first = row, .file = file};
        all->n++;
    }
    s->files++;
    s->n += row->n;
    s->us += row->us;
    s->read += file->import.read;
}

static bool is_repaired(const struct msim_import_row *row)
{
    return row->kind->fate == MSIM_IMPORT_REPAIRED;
}

/* The place of a fault; of other records, how far the file was read by then. */
static void put_place(const struct msim_import_row *row, char *text,
                      size_t size)
{
    if (row->has_byte)
        snprintf(text, size, ", the first %s byte %llu%s",
                 is_repaired(row) ? "at" : "before",
                 (unsigned long long)row->byte, is_repaired(row) ? "," : "");
}

static void warn_of(struct msim_job *job, const struct sum *s)
{
    char what[160], said[160], place[64] = "", us[32] = "", of[32] = "";
    char files[48] = "", name[84];
    const struct msim_import_row *row = s->first;
    bool some = row->kind->fate == MSIM_IMPORT_DROPPED; /* 1 of 10 events */

    snprintf(name, sizeof(name), "%.80s", *row->name ? row->name : "...");
    msim_import_words(what, sizeof(what), row->kind->what,
                      some ? s->n + s->read : s->n, name);
    msim_import_words(said, sizeof(said), row->kind->said, s->n, name);
    put_place(row, place, sizeof(place));
    if (s->us)
        snprintf(us, sizeof(us), " (%llu us)", (unsigned long long)s->us);
    if (some)
        snprintf(of, sizeof(of), "of %llu ",
                 (unsigned long long)(s->n + s->read));
    if (s->files > 1)
        snprintf(files, sizeof(files), " and %u more", s->files - 1);
    msim_job_warn(job, "%s%s: %llu %s%s%s %s%s%s%s%s", s->file->path, files,
                  (unsigned long long)s->n, of, what,
                  is_repaired(row) ? place : "", said, us,
                  is_repaired(row) ? "" : place, *row->example ? ": " : "",
                  row->example);
}

void msim_job_warn_import(struct msim_job *job)
{
    struct sums all = {.n = 0};

    for (uint32_t f = 0; f < job->n_files; f++)
        for (uint32_t i = 0; i < job->files[f].import.n; i++)
            if (job->files[f].import.rows[i].kind->warned)
                add_row(&all, &job->files[f], &job->files[f].import.rows[i]);
    for (uint32_t i = 0; i < all.n; i++)
        warn_of(job, &all.of[i]);
}
