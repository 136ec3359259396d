/*
 * core/job/read_warnings.c
 */
#include "core/job/read_warnings.h"

#include <stdio.h>

/* One warning for each kind of fault that was put right. */
static void warn_repairs(struct msim_job *job, const char *path,
                         const struct msim_json_repairs *r)
{
    static const struct {
        const char *found, *put;
    } TEXT[] = {
#define X(name, found, put) {found, put},
        MSIM_JSON_REPAIR_MAP(X)
#undef X
    };

    for (int i = 0; i < MSIM_JSON_REPAIR_KINDS; i++)
        if (r->count[i])
            msim_job_warn(job,
                          "%s: %llu %s, the first at byte %llu: read as %s",
                          path, (unsigned long long)r->count[i], TEXT[i].found,
                          (unsigned long long)r->first[i], TEXT[i].put);
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
                  (unsigned long long)read->events,
                  read->format == MSIM_FORMAT_KINETO ? "events" : "nodes",
                  passed);
}

/* One warning for each kind of record that nothing is made of, though it could
 * be time of a device. */
static void warn_unread(struct msim_job *job, const char *path,
                        const struct msim_read_result *read)
{
    for (int i = 0; i < MSIM_READ_UNREAD_KINDS; i++) {
        const struct msim_unread_kind *u = &read->unread[i];

        if (u->n)
            msim_job_warn(job, "%s: %llu events of %s are not read (%llu us)",
                          path, (unsigned long long)u->n,
                          u->what ? msim_strtab_text(job->strings, u->what)
                                  : "other kinds",
                          (unsigned long long)u->us);
    }
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

void msim_job_warn_read(struct msim_job *job, const char *path,
                        const struct msim_read_result *read)
{
    if (read->salvaged)
        warn_salvaged(job, path, read);
    if (read->unsound)
        msim_job_warn(job,
                      "%s: %llu of %llu events are left out, for they cannot "
                      "be; the first, before byte %llu: %s",
                      path, (unsigned long long)read->unsound,
                      (unsigned long long)(read->taken + read->unsound),
                      (unsigned long long)read->first_unsound.offset,
                      read->first_unsound.text);
    warn_unread(job, path, read);
    warn_types(job, path, read);
    warn_repairs(job, path, &read->repairs);
    if (read->note[0])
        msim_job_warn(job, "%s: %s", path, read->note);
    if (read->orphans)
        msim_job_warn(job, "%s: %llu nodes name a parent that is not there",
                      path, (unsigned long long)read->orphans);
    if (read->dropped && read->format == MSIM_FORMAT_CHAKRA)
        msim_job_warn(job,
                      "%s: %llu nodes on the GPU are left out: no node says "
                      "how long it takes",
                      path, (unsigned long long)read->dropped);
}
