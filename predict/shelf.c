/*
 * predict/shelf.c - what many runs of one job need, made once.
 */
#include "predict/inputs.h"

#include "core/base/containers.h"
#include "models/platform/platform.h"

#include <stdlib.h>
#include <string.h>

struct msim_shelf_entry {
    char *data_dir, *name;
    struct msim_platform *platform;
};

static const struct msim_platform *find(const struct msim_shelf *s,
                                        const char *data_dir, const char *name)
{
    for (uint32_t i = 0; i < s->n_platforms; i++)
        if (strcmp(s->platforms[i].name, name) == 0 &&
            strcmp(s->platforms[i].data_dir, data_dir) == 0)
            return s->platforms[i].platform;
    return NULL;
}

static void drop(struct msim_shelf_entry *e)
{
    free(e->data_dir);
    free(e->name);
    msim_platform_free(e->platform);
}

static enum msim_status add(struct msim_shelf *s, const char *data_dir,
                            const char *name, struct msim_error *err)
{
    struct msim_shelf_entry e = {.data_dir = strdup(data_dir),
                                 .name = strdup(name)};
    enum msim_status status = e.data_dir && e.name ? MSIM_OK : MSIM_ENOMEM;

    if (status == MSIM_OK)
        status = msim_platform_load(&e.platform, data_dir, name, err);
    if (status == MSIM_OK)
        status = msim_grow((void **)&s->platforms, &s->cap_platforms,
                           s->n_platforms, sizeof(e));
    if (status == MSIM_OK)
        s->platforms[s->n_platforms++] = e;
    else
        drop(&e);
    return status;
}

enum msim_status msim_shelf_platform(struct msim_shelf *s,
                                     struct msim_platform **out,
                                     const char *data_dir, const char *name,
                                     struct msim_error *err)
{
    *out = NULL;
    if (!s)
        return msim_platform_load(out, data_dir, name, err);
    if (!find(s, data_dir, name))
        MSIM_TRY(add(s, data_dir, name, err));
    return msim_platform_copy(out, find(s, data_dir, name));
}

enum msim_status
msim_shelf_correction(struct msim_shelf *s, struct msim_correction **out,
                      bool *is_kept, const struct msim_job *job,
                      const struct msim_ops *user, struct msim_platform *p,
                      struct msim_error *err)
{
    *out = NULL;
    *is_kept = false;
    if (!s || job != s->job ||
        (s->correction && !msim_correction_is_on(s->correction, p)))
        return msim_correction_new(out, job, user, p, err);
    if (!s->correction)
        MSIM_TRY(msim_correction_new(&s->correction, job, user, p, err));
    *out = s->correction;
    *is_kept = true;
    return MSIM_OK;
}

static bool same_gpu(const struct msim_job *job, uint32_t i, uint32_t k)
{
    const struct msim_gpu_properties *a = &job->ranks[i]->gpu_properties,
                                     *b = &job->ranks[k]->gpu_properties;

    return strcmp(msim_trace_text(job->ranks[i], a->name),
                  msim_trace_text(job->ranks[k], b->name)) == 0 &&
           a->memory_bytes == b->memory_bytes && a->sms == b->sms;
}

static const char *traced_on(struct msim_job *job, const char *data_dir)
{
    const char *name = NULL;

    for (uint32_t i = 0; i < job->n_ranks; i++) {
        const struct msim_trace *t = job->ranks[i];
        const struct msim_gpu_properties *g = &t->gpu_properties;
        const char *match;

        if (i && same_gpu(job, i, i - 1))
            continue;
        match = msim_platform_match(&job->arena, data_dir,
                                    msim_trace_text(t, g->name),
                                    g->memory_bytes, g->sms);
        if (!match || (name && strcmp(name, match) != 0))
            return NULL;
        name = match;
    }
    return name;
}

const char *msim_shelf_traced(struct msim_shelf *s, struct msim_job *job,
                              const char *data_dir)
{
    if (!s)
        return traced_on(job, data_dir);
    if (s->traced_job != job)
        s->traced = traced_on(job, data_dir);
    s->traced_job = job;
    return s->traced;
}

void msim_shelf_release(struct msim_shelf *s)
{
    for (uint32_t i = 0; i < s->n_platforms; i++)
        drop(&s->platforms[i]);
    free(s->platforms);
    msim_correction_free(s->correction);
    memset(s, 0, sizeof(*s));
}
