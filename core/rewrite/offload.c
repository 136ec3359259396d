/*
 * core/rewrite/offload.c - an optimizer that runs on the host, with its states,
 * of a model that is not shared out.
 *
 *     gradients are copied to the host, the step runs there on parameters of
 *     its own, updated parameters are copied back
 *
 * Shares of FSDP are offloaded where they are made (shard.c).
 */
#include "core/rewrite/rewrite_internal.h"
#include "core/rewrite/weave/draft.h"

#include <stdlib.h>

struct offloading {
    struct msim_weave *w;
    uint32_t *host, *device; /* by life: storages; host 0: none yet */
    struct msim_emit_flat *row;
    uint32_t moved;
};

/* Gradients and parameters that the steps name. */
static void note(struct offloading *c, uint32_t s)
{
    struct msim_weave *w = c->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        while (msim_lives_next(&e)) {
            uint8_t kind = e.life == MSIM_NONE ? 0 : w->kind[e.life];

            if (kind != MSIM_LIFE_PARAMETER && kind != MSIM_LIFE_GRADIENT)
                continue;
            if (!c->host[e.life])
                c->host[e.life] = msim_draft_fresh(&w->d);
            c->row[e.life] =
                (struct msim_emit_flat){(int64_t)msim_arg_elems(w->t, e.arg), 0,
                                        e.arg->dtype, e.arg->device};
        }
    }
}

/* Copy all of `kind`: gradients down before the step, parameters up after it.
 */
static enum msim_status move(struct offloading *c, enum msim_life_kind kind,
                             struct msim_draft_place at)
{
    struct msim_draft *d = &c->w->d;

    for (uint32_t i = 0; i < d->lives.n; i++) {
        struct msim_emit_flat gpu = c->row[i], host = gpu;

        if (!c->host[i] || c->w->kind[i] != kind)
            continue;
        gpu.storage = c->device[i];
        host.storage = c->host[i];
        host.device = MSIM_DEV_HOST;
        c->moved++;
        if (kind == MSIM_LIFE_PARAMETER) {
            MSIM_TRY(msim_emit_copy(d, at, &gpu, &host));
            continue;
        }
        MSIM_TRY(msim_emit_empty(d, at, &host));
        MSIM_TRY(msim_emit_copy(d, at, &host, &gpu));
    }
    return MSIM_OK;
}

static void put(struct offloading *c, bool on_host)
{
    for (uint32_t i = 0; i < c->w->d.lives.n; i++) {
        if (!c->host[i])
            continue;
        if (on_host)
            c->device[i] = c->w->d.storage[i];
        c->w->d.storage[i] = on_host ? c->host[i] : c->device[i];
    }
}

static bool is_step(const struct offloading *c, uint32_t s)
{
    return s < c->w->a.n && msim_weave_is_step(c->w, s);
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct offloading *c = ctx;
    struct msim_weave *w = c->w;
    const struct msim_draft_how how = {.at = msim_weave_place(w, s),
                                       .device = MSIM_DEV_HOST};

    if (!is_step(c, s))
        return msim_weave_copy(w, s);
    if (!s || !is_step(c, s - 1)) {
        put(c, true);
        MSIM_TRY(move(c, MSIM_LIFE_GRADIENT, how.at));
    }
    MSIM_TRY(msim_weave_copy_as(w, s, &how));
    if (is_step(c, s + 1))
        return MSIM_OK;
    MSIM_TRY(move(c, MSIM_LIFE_PARAMETER, how.at));
    put(c, false);
    return MSIM_OK;
}

static enum msim_status run(struct offloading *c)
{
    for (uint32_t s = 0; s < c->w->a.n; s++)
        if (is_step(c, s))
            note(c, s);
    MSIM_TRY(msim_weave_walk(c->w, c, visit));
    return c->moved ? MSIM_OK
                    : msim_weave_refuse(
                          c->w, "no step of an optimizer (Optimizer.step) in "
                                "the trace reads a gradient, so that none can "
                                "run on the host");
}

enum msim_status msim_stage_offload(struct msim_weave *w,
                                    const struct msim_rewrite *r)
{
    struct offloading c = {.w = w};
    size_t n = (size_t)w->d.lives.n + 1;
    enum msim_status status = MSIM_ENOMEM;

    (void)r;
    c.host = calloc(n, sizeof(*c.host));
    c.device = calloc(n, sizeof(*c.device));
    c.row = calloc(n, sizeof(*c.row));
    if (c.host && c.device && c.row)
        status = run(&c);
    free(c.host);
    free(c.device);
    free(c.row);
    return status;
}
