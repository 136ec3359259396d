/*
 * core/rewrite/offload_activations.c - what backward reads waits on the host,
 * as with torch.autograd.graph.save_on_cpu(pin_memory=True).
 *
 *     relu               its result is copied to the host behind the last
 *     conv               forward operator that reads it,
 *     ...
 *     copy to the GPU    and comes back before the first backward operator
 *     ConvBackward       that reads it, as other memory
 *
 * Each tensor goes once, on the stream that computes. PyTorch does so once for
 * each operator that saved it. Weights stay, and so does what was there before
 * the step, which the program holds anyway. Tensors below 1 KiB stay, too:
 * torchtune's OffloadActivations has that bound (min_offload_size).
 */
#include "core/rewrite/rewrite_internal.h"
#include "core/rewrite/weave/draft.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_LEAST 1024

/* A life that leaves and comes back. */
struct stay {
    uint32_t down, up; /* statements: the last forward one that names it, the
                          first backward one that reads it; NONE: none */
    uint32_t next[2];  /* lives of the same `down`, of the same `up`; NONE */
    struct msim_emit_flat gpu, host;
};

struct leaving {
    struct msim_weave *w;
    struct stay *stays;  /* by life */
    uint32_t *chains[2]; /* by statement: the first life of `down`, of `up` */
    uint32_t moved;
};

/* ---- what leaves, and when -----------------------------------------------
 */

static void note(struct leaving *c, uint32_t s, const struct msim_arg *arg,
                 uint32_t life)
{
    struct stay *x = &c->stays[life];
    uint8_t role = c->w->a.rows[s].role;

    if (role == MSIM_ANATOMY_FORWARD) {
        x->down = s;
        x->up = MSIM_NONE; /* of an earlier pass */
        x->gpu.dtype = arg->dtype;
        x->gpu.device = arg->device;
    } else if (role == MSIM_ANATOMY_BACKWARD && x->up == MSIM_NONE) {
        x->up = s;
    }
}

static void note_list(struct leaving *c, uint32_t s, struct msim_lives_each e)
{
    while (msim_lives_next(&e))
        if (e.life != MSIM_NONE)
            note(c, s, e.arg, e.life);
}

static void note_statements(struct leaving *c)
{
    struct msim_weave *w = c->w;

    for (uint32_t s = 0; s < w->a.n; s++)
        for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s);
             i++) {
            note_list(c, s, msim_lives_inputs(&w->d.lives, w->t, i));
            if (w->a.rows[s].role == MSIM_ANATOMY_FORWARD)
                note_list(c, s, msim_lives_outputs(&w->d.lives, w->t, i));
        }
}

/* Is it made by forward, large, and read by backward? */
static bool leaves(const struct leaving *c, uint32_t life)
{
    const struct msim_life *row = &c->w->d.lives.rows[life];
    const struct stay *x = &c->stays[life];

    return x->down != MSIM_NONE && x->up != MSIM_NONE &&
           row->born != MSIM_NONE && row->bytes >= BYTES_LEAST &&
           row->device != MSIM_DEV_HOST &&
           c->w->kind[life] == MSIM_LIFE_OTHER &&
           msim_dtype_bytes((enum msim_dtype)x->gpu.dtype) > 0;
}

static void chain(struct leaving *c, uint32_t life)
{
    struct stay *x = &c->stays[life];

    x->gpu.elems = (int64_t)(c->w->d.lives.rows[life].bytes /
                             msim_dtype_bytes((enum msim_dtype)x->gpu.dtype));
    x->next[0] = c->chains[0][x->down];
    x->next[1] = c->chains[1][x->up];
    c->chains[0][x->down] = c->chains[1][x->up] = life;
    c->moved++;
}

/* ---- statements ----------------------------------------------------------
 */

static enum msim_status go_down(struct leaving *c, uint32_t s)
{
    struct msim_draft *d = &c->w->d;
    struct msim_draft_place at = msim_weave_place(c->w, s);

    for (uint32_t i = c->chains[0][s]; i != MSIM_NONE;
         i = c->stays[i].next[0]) {
        struct stay *x = &c->stays[i];

        x->gpu.storage = d->storage[i];
        x->host = x->gpu;
        x->host.storage = msim_draft_fresh(d);
        x->host.device = MSIM_DEV_HOST;
        MSIM_TRY(msim_emit_empty(d, at, &x->host));
        MSIM_TRY(msim_emit_copy(d, at, &x->host, &x->gpu));
    }
    return MSIM_OK;
}

static enum msim_status come_up(struct leaving *c, uint32_t s)
{
    struct msim_draft *d = &c->w->d;
    struct msim_draft_place at = msim_weave_place(c->w, s);

    for (uint32_t i = c->chains[1][s]; i != MSIM_NONE;
         i = c->stays[i].next[1]) {
        struct stay *x = &c->stays[i];

        /* what empty makes is other memory, under the old number */
        MSIM_TRY(msim_emit_empty(d, at, &x->gpu));
        MSIM_TRY(msim_emit_copy(d, at, &x->gpu, &x->host));
    }
    return MSIM_OK;
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct leaving *c = ctx;

    MSIM_TRY(come_up(c, s));
    MSIM_TRY(msim_weave_copy(c->w, s));
    return go_down(c, s);
}

static enum msim_status run(struct leaving *c)
{
    uint32_t n = c->w->d.lives.n;

    for (uint32_t i = 0; i < n; i++)
        c->stays[i].down = c->stays[i].up = MSIM_NONE;
    note_statements(c);
    for (uint32_t i = 0; i < n; i++)
        if (leaves(c, i))
            chain(c, i);
    if (!c->moved)
        return msim_weave_refuse(
            c->w, "backward reads no tensor of 1 KiB or more that forward of "
                  "the trace makes, so that none can be offloaded");
    return msim_weave_walk(c->w, c, visit);
}

enum msim_status msim_stage_offload_activations(struct msim_weave *w,
                                                const struct msim_rewrite *r)
{
    struct leaving c = {.w = w};
    size_t statements = ((size_t)w->a.n + 1) * sizeof(**c.chains);
    enum msim_status status = MSIM_ENOMEM;

    (void)r;
    c.stays = calloc((size_t)w->d.lives.n + 1, sizeof(*c.stays));
    c.chains[0] = malloc(statements);
    c.chains[1] = malloc(statements);
    if (c.stays && c.chains[0] && c.chains[1]) {
        memset(c.chains[0], 0xff, statements);
        memset(c.chains[1], 0xff, statements);
        status = run(&c);
    }
    free(c.stays);
    free(c.chains[0]);
    free(c.chains[1]);
    return status;
}
