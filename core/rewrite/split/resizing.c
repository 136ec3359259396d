/*
 * core/rewrite/split/resizing.c - a step with other sizes on its way.
 */
#include "core/rewrite/split/split_internal.h"

#include <stdlib.h>

enum msim_status msim_resizing_learn(struct msim_resizing *r,
                                     const struct msim_trace *t,
                                     struct msim_error *why)
{
    MSIM_TRY(msim_sizes_learn(&r->sizes, t, why));
    r->to = calloc((size_t)r->sizes.n_classes + 1, sizeof(*r->to));
    return r->to ? MSIM_OK : MSIM_ENOMEM;
}

enum msim_status msim_resizing_open(struct msim_resizing *r,
                                    struct msim_strtab *strings,
                                    struct msim_error *why)
{
    MSIM_TRY(msim_resized_new(&r->view, &r->sizes, r->to));
    return msim_weave_open_forward(&r->w, r->view, strings, why);
}

enum msim_status msim_resizing_end(struct msim_resizing *r,
                                   enum msim_status status, const char *asked,
                                   const struct msim_error *why,
                                   struct msim_error *err)
{
    msim_weave_close(&r->w);
    msim_resized_free(r->view);
    msim_sizes_release(&r->sizes);
    free(r->to);
    *r = (struct msim_resizing){0};
    if (status != MSIM_EUSAGE)
        return status;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE, "%s: %.220s",
                     asked, why->text);
}
