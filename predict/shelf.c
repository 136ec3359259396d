/*
 * predict/shelf.c - what many runs of one job need, made once.
 */
#include "predict/shelf.h"

enum msim_status msim_shelf_platform(struct msim_shelf *s,
                                     struct msim_platform **out,
                                     const char *data_dir, const char *name,
                                     struct msim_error *err)
{
    return msim_platform_take(s ? &s->platforms : NULL, out, data_dir, name,
                              err);
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

void msim_shelf_release(struct msim_shelf *s)
{
    msim_platform_shelf_release(&s->platforms);
    msim_correction_free(s->correction);
    *s = (struct msim_shelf){.job = NULL};
}
