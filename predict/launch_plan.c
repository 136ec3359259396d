/*
 * predict/launch_plan.c - what each operator of a rank without GPU events would
 * launch.
 */
#include "core/base/containers.h"
#include "predict/cost.h"

#include <stdlib.h>

static enum msim_launch_kind plan_kind(const struct msim_work *w)
{
    if (w->family == MSIM_FAMILY_COLLECTIVE)
        return MSIM_LAUNCH_COMM;
    if (w->family != MSIM_FAMILY_COPY)
        return MSIM_LAUNCH_KERNEL;
    return w->u.vector.copy == MSIM_COPY_D2H ? MSIM_LAUNCH_COPY_BACK
                                             : MSIM_LAUNCH_COPY;
}

static enum msim_status fill(struct msim_launch_plan *p,
                             const struct msim_works *all)
{
    const struct msim_trace *t = all->trace;
    uint32_t capacity = 0, total = 0, n;
    const struct msim_work *works;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        p->first[i] = total;
        (void)msim_works_of(all, i, &works, &n);
        for (uint32_t w = 0; w < n; w++) {
            MSIM_TRY(msim_grow((void **)&p->kinds, &capacity, total, 1));
            p->kinds[total++] = (uint8_t)plan_kind(&works[w]);
        }
    }
    p->first[t->n_ops] = total;
    return MSIM_OK;
}

static bool has_tensors(const struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_args; i++)
        if (t->args[i].kind == MSIM_ARG_TENSOR)
            return true;
    return false;
}

/* Copies of numbers back to the host have no need of shapes. */
static bool has_more_than_copies(const struct msim_works *works)
{
    for (uint32_t i = 0; i < works->n_works; i++)
        if (works->works[i].family != MSIM_FAMILY_COPY)
            return true;
    return false;
}

static enum msim_status check_shapes(const struct msim_works *works,
                                     const char *path, struct msim_error *err)
{
    const struct msim_trace *t = works->trace;

    if (t->n_ops == 0 || has_tensors(t) || has_more_than_copies(works))
        return MSIM_OK;
    return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                     "found operators without shapes and no GPU activity: "
                     "nothing says what a device would run; want a recording "
                     "with record_shapes=True, or an execution trace (ET) "
                     "beside it");
}

enum msim_status msim_launch_plan_new(struct msim_launch_plan **out,
                                      const struct msim_works *works,
                                      bool on_host, const char *path,
                                      struct msim_error *err)
{
    struct msim_launch_plan *p;
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    MSIM_TRY(check_shapes(works, path, err));
    p = calloc(1, sizeof(*p));
    if (!p)
        return status;
    p->on_host = on_host;
    p->first = calloc((size_t)works->trace->n_ops + 1, sizeof(*p->first));
    if (p->first)
        status = fill(p, works);
    if (status != MSIM_OK) {
        msim_launch_plan_free(p);
        return status;
    }
    *out = p;
    return MSIM_OK;
}

void msim_launch_plan_free(struct msim_launch_plan *p)
{
    if (!p)
        return;
    free(p->first);
    free(p->kinds);
    free(p);
}
