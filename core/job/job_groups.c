/*
 * core/job/job_groups.c - process groups across ranks: a name that means the
 * same on all of them.
 */
#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/job/job.h"
#include "core/trace/trace_columns.h"

#include <stdio.h>
#include <string.h>

/* Old ETs name a group by its address in that process. */
static bool is_address(const char *name)
{
    return strlen(name) >= 9 && strspn(name, "0123456789") == strlen(name);
}

/* Groups of one job are made in the same order on every rank. */
static enum msim_status name_addresses(struct msim_job *job,
                                       struct msim_trace *t)
{
    uint32_t i, n = 0;
    char text[32];
    int len;

    for (i = 0; i < t->n_groups; i++) {
        if (!is_address(msim_trace_text(t, t->groups[i].name)))
            continue;
        len = snprintf(text, sizeof(text), "pg %u", n++);
        msim_import_add(&t->import, MSIM_IMPORT_GROUP_NAME, 1);
        MSIM_TRY(msim_strtab_add(job->strings, text, (size_t)len,
                                 &t->groups[i].name));
    }
    return MSIM_OK;
}

static bool names_group(const struct msim_trace *t, uint32_t name)
{
    uint32_t i = 0;

    while (i < t->n_groups && t->groups[i].name != name)
        i++;
    return i < t->n_groups;
}

/* The ranks that name it are its own. */
static enum msim_status list_callers(const struct msim_job *job,
                                     struct msim_trace *t, struct msim_group *g)
{
    g->first = t->n_group_ranks;
    for (uint32_t r = 0; r < job->n_ranks; r++) {
        if (!names_group(job->ranks[r], g->name))
            continue;
        g->size++;
        if (job->ranks[r]->rank < 0)
            continue;
        MSIM_TRY(msim_grow((void **)&t->group_ranks, &t->cap_group_ranks,
                           t->n_group_ranks, sizeof(*t->group_ranks)));
        t->group_ranks[t->n_group_ranks++] = (int32_t)job->ranks[r]->rank;
        g->count++;
    }
    msim_import_add(&t->import, MSIM_IMPORT_GROUP_CALLERS, 1);
    return MSIM_OK;
}

/* A workload that was generated is all of its job: its ranks are the files, and
 * those of a group that no file lists the files that name it. */
static enum msim_status size_generated(struct msim_job *job,
                                       struct msim_trace *t)
{
    if (t->world_size == 0)
        t->world_size = job->n_ranks;
    for (uint32_t i = 0; i < t->n_groups; i++)
        if (t->groups[i].size == 0)
            MSIM_TRY(list_callers(job, t, &t->groups[i]));
    return MSIM_OK;
}

/* Of the job, as far as its groups and files tell; 0: no group has a size. */
static uint32_t most_ranks(const struct msim_job *job,
                           const struct msim_trace *t)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < t->n_groups; i++)
        if (t->groups[i].size > most && t->groups[i].size <= 1u << 24)
            most = t->groups[i].size;
    return most && most < msim_job_traced(job) ? msim_job_traced(job) : most;
}

/* A single group of unknown size that all ranks have spans the job. */
static enum msim_status size_groups(struct msim_job *job, struct msim_trace *t)
{
    if (t->has_gpu_events && !t->has_times)
        MSIM_TRY(size_generated(job, t));
    if (t->n_groups == 1 && t->groups[0].size == 0) {
        t->groups[0].size =
            t->world_size ? t->world_size : msim_job_traced(job);
        msim_import_add(&t->import, MSIM_IMPORT_GROUP_SIZE, 1);
    }
    if (t->world_size == 0)
        t->world_size = most_ranks(job, t);
    return MSIM_OK;
}

/* ---- lists that were completed --------------------------------------------
 */

static bool calls_unlisted(const struct msim_trace *t, uint32_t group)
{
    const struct msim_group *g = &t->groups[group];

    for (uint32_t i = 0; i < g->count; i++)
        if (t->group_ranks[g->first + i] == t->rank)
            return false;
    for (uint32_t i = 0; i < t->n_comms; i++)
        if (t->comms[i].group == group)
            return t->rank >= 0;
    return false;
}

/* Equal for all ranks that took the list to go on so. */
static uint64_t list_key(const struct msim_trace *t, const struct msim_group *g)
{
    return msim_hash_bytes(msim_hash_mix(MSIM_HASH_START, g->name),
                           &t->group_ranks[g->first],
                           g->count * sizeof(*t->group_ranks));
}

static enum msim_status find_wrong(const struct msim_job *job,
                                   struct msim_idmap *wrong)
{
    uint32_t *slot;

    for (uint32_t r = 0; r < job->n_ranks; r++) {
        const struct msim_trace *t = job->ranks[r];

        for (uint32_t i = 0; i < t->n_groups; i++)
            if (t->groups[i].completed && calls_unlisted(t, i))
                MSIM_TRY(msim_idmap_put(wrong, list_key(t, &t->groups[i]), 0,
                                        &slot));
    }
    return MSIM_OK;
}

/* A list that leaves out a rank that calls the group does not go on as it
 * began: nobody knows how. */
static enum msim_status drop_wrong(struct msim_job *job)
{
    struct msim_idmap wrong = {0};
    enum msim_status status = find_wrong(job, &wrong);

    for (uint32_t r = 0; r < job->n_ranks && status == MSIM_OK; r++) {
        struct msim_trace *t = job->ranks[r];

        for (uint32_t i = 0; i < t->n_groups; i++) {
            struct msim_group *g = &t->groups[i];

            if (!g->completed)
                continue;
            g->completed = msim_idmap_get(&wrong, list_key(t, g)) == MSIM_NONE;
            if (!g->completed)
                g->count = 0;
            msim_import_add(&t->import, MSIM_IMPORT_GROUP_RANKS, g->completed);
        }
    }
    msim_idmap_release(&wrong);
    return status;
}

/* ---- groups of which no file says which ranks they are ------------------- */

static bool is_part(const struct msim_trace *t, const struct msim_group *g)
{
    return !g->count && g->size > 1 && g->size < t->world_size;
}

/* Each rank has another group of this name, as is usual of tensor-parallel
 * ones: they would meet as one. */
static enum msim_status count_callers(const struct msim_job *job,
                                      struct msim_idmap *callers)
{
    uint32_t *n;

    for (uint32_t r = 0; r < job->n_ranks; r++) {
        const struct msim_trace *t = job->ranks[r];

        for (uint32_t i = 0; i < t->n_groups; i++) {
            const struct msim_group *g = &t->groups[i];

            if (!is_part(t, g))
                continue;
            MSIM_TRY(msim_idmap_put(callers, msim_idmap_pair(g->name, g->size),
                                    0, &n));
            ++*n;
        }
    }
    return MSIM_OK;
}

static enum msim_status list_neighbours(struct msim_trace *t,
                                        struct msim_group *g)
{
    int64_t first = t->rank / g->size * g->size;

    g->first = t->n_group_ranks;
    for (uint32_t i = 0; i < g->size && first + i < t->world_size; i++) {
        MSIM_TRY(msim_grow((void **)&t->group_ranks, &t->cap_group_ranks,
                           t->n_group_ranks, sizeof(*t->group_ranks)));
        t->group_ranks[t->n_group_ranks++] = (int32_t)(first + i);
        g->count++;
    }
    return MSIM_OK;
}

/* More ranks call it than it has: it is one of several, each of neighbours. */
static enum msim_status split_alike(struct msim_job *job)
{
    struct msim_idmap callers = {0};
    enum msim_status status = count_callers(job, &callers);

    for (uint32_t r = 0; r < job->n_ranks && status == MSIM_OK; r++) {
        struct msim_trace *t = job->ranks[r];

        for (uint32_t i = 0; i < t->n_groups && status == MSIM_OK; i++) {
            struct msim_group *g = &t->groups[i];

            if (t->rank >= 0 && is_part(t, g) &&
                msim_idmap_get(&callers, msim_idmap_pair(g->name, g->size)) >
                    g->size)
                status = list_neighbours(t, g);
        }
    }
    msim_idmap_release(&callers);
    return status;
}

/* Where its members are decides how fast a group is. */
static bool is_unlisted(const struct msim_trace *t, const struct msim_comm *m)
{
    return m->group != MSIM_NONE && is_part(t, &t->groups[m->group]) &&
           !msim_is_message(m->collective);
}

/* Once a job: groups of one kind lack their lists together. */
static void warn_unlisted(struct msim_job *job)
{
    bool warned = false;

    for (uint32_t r = 0; r < job->n_ranks; r++) {
        struct msim_trace *t = job->ranks[r];

        for (uint32_t i = 0; i < t->n_comms; i++) {
            const struct msim_group *g;

            if (!is_unlisted(t, &t->comms[i]))
                continue;
            msim_import_add(&t->import, MSIM_IMPORT_NEIGHBOURS, 1);
            if (warned)
                continue;
            warned = true;
            g = &t->groups[t->comms[i].group];
            msim_job_warn(job,
                          "process group '%s' is %u of %u ranks, and no file "
                          "says which: taken as neighbours",
                          msim_trace_text(t, g->name), g->size, t->world_size);
        }
    }
}

/* Of several groups of unknown size none is known to be smaller than the job:
 * its collectives are priced for all ranks. */
static void warn_unsized(struct msim_job *job)
{
    bool warned = false;

    for (uint32_t r = 0; r < job->n_ranks; r++) {
        struct msim_trace *t = job->ranks[r];

        for (uint32_t i = 0; i < t->n_comms; i++) {
            uint32_t group = t->comms[i].group;

            if (group == MSIM_NONE || t->groups[group].size ||
                msim_is_message(t->comms[i].collective) || warned)
                continue;
            warned = true;
            msim_job_warn(job,
                          "no file says which ranks are in process group '%s': "
                          "its collectives are taken to be of all ranks",
                          msim_trace_text(t, t->groups[group].name));
        }
    }
}

enum msim_status msim_job_name_groups(struct msim_job *job)
{
    uint32_t i;

    for (i = 0; i < job->n_ranks; i++) {
        MSIM_TRY(name_addresses(job, job->ranks[i]));
        if (job->ranks[i]->et)
            MSIM_TRY(name_addresses(job, job->ranks[i]->et));
        MSIM_TRY(size_groups(job, job->ranks[i]));
    }
    MSIM_TRY(drop_wrong(job));
    warn_unlisted(job);
    warn_unsized(job);
    return split_alike(job);
}
