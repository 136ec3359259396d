/*
 * core/rewrite/recompute.c - activation checkpointing.
 *
 * What a block makes is other memory the second time, so that the first
 * tensors end where forward last names them. The block's own output stays: the
 * next block has it as its input. As PyTorch's non-reentrant checkpoint the
 * second run stops behind the last operator that backward needs a result of.
 */
#include "core/rewrite/rewrite_internal.h"
#include "core/rewrite/weave/draft.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct recomputing {
    struct msim_weave *w;
    const struct msim_rewrite *r;
    uint8_t *done;     /* by block */
    uint8_t *backward; /* by life: backward of the block at hand names it */
    uint32_t *first, *rows; /* backward statements by block */
    uint32_t again;         /* statements that run a second time */
};

static bool is_backward(const struct msim_anatomy *a, uint32_t s)
{
    const struct msim_anatomy_statement *row = &a->rows[s];

    return row->block != MSIM_NONE && row->role == MSIM_ANATOMY_BACKWARD;
}

static bool is_chosen(const struct recomputing *c, uint32_t block)
{
    uint32_t first = block;

    while (first &&
           c->w->a.blocks[first - 1].pass == c->w->a.blocks[block].pass)
        first--;
    return (block - first) % c->r->recompute_every == 0;
}

static bool matches(const struct recomputing *c, uint32_t s)
{
    const struct msim_trace *t = c->w->t;

    return !*c->r->recompute_ops ||
           fnmatch(c->r->recompute_ops,
                   msim_trace_text(t, t->ops[c->w->a.rows[s].op].name), 0) == 0;
}

/* Backward statements block after block: those of `k` are rows[first[k]] to
 * rows[first[k + 1]]. */
static enum msim_status list_backward(struct recomputing *c)
{
    const struct msim_anatomy *a = &c->w->a;

    c->first = calloc((size_t)a->n_blocks + 2, sizeof(*c->first));
    c->rows = malloc(((size_t)a->n + 1) * sizeof(*c->rows));
    if (!c->first || !c->rows)
        return MSIM_ENOMEM;
    for (uint32_t s = 0; s < a->n; s++)
        if (is_backward(a, s))
            c->first[a->rows[s].block + 2]++;
    for (uint32_t k = 2; k < a->n_blocks + 2; k++)
        c->first[k] += c->first[k - 1];
    for (uint32_t s = 0; s < a->n; s++)
        if (is_backward(a, s))
            c->rows[c->first[a->rows[s].block + 1]++] = s;
    return MSIM_OK;
}

/* Mark lives that backward statements of `block` name, or take them off. */
static void mark(struct recomputing *c, uint32_t block, bool on)
{
    const struct msim_anatomy *a = &c->w->a;

    for (uint32_t k = c->first[block]; k < c->first[block + 1]; k++) {
        uint32_t s = c->rows[k];

        for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++) {
            struct msim_lives_each e = msim_lives_inputs(a->lives, c->w->t, i);

            while (msim_lives_next(&e))
                if (e.life != MSIM_NONE)
                    c->backward[e.life] = on;
        }
    }
}

/* Does statement `s` make or change a tensor that backward of its block needs?
 * Views, such as a transposed weight, make none. */
static bool is_needed(const struct recomputing *c, uint32_t s)
{
    const struct msim_anatomy *a = &c->w->a;

    for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++) {
        struct msim_lives_each e = msim_lives_outputs(a->lives, c->w->t, i);

        while (msim_lives_next(&e))
            if (e.life != MSIM_NONE && c->backward[e.life] &&
                (a->lives->rows[e.life].born == i ||
                 msim_weave_is_in_place(c->w, i)))
                return true;
    }
    return false;
}

static enum msim_status run_again(struct recomputing *c, uint32_t block,
                                  uint32_t before)
{
    const struct msim_anatomy_block *b = &c->w->a.blocks[block];
    struct msim_draft_place at;
    uint32_t end = b->end;

    mark(c, block, true);
    while (end > b->first && !is_needed(c, end - 1))
        end--;
    mark(c, block, false);
    MSIM_TRY(msim_weave_hold(c->w, MSIM_EMIT_AGAIN,
                             msim_weave_place(c->w, before), &at));
    for (uint32_t s = b->first; s < end; s++) {
        if (!matches(c, s))
            continue;
        MSIM_TRY(msim_weave_again(c->w, s, at));
        c->again++;
    }
    return MSIM_OK;
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct recomputing *c = ctx;
    const struct msim_anatomy_statement *row = &c->w->a.rows[s];

    if (is_backward(&c->w->a, s) && !c->done[row->block]) {
        c->done[row->block] = 1;
        if (is_chosen(c, row->block))
            MSIM_TRY(run_again(c, row->block, s));
    }
    return msim_weave_copy(c->w, s);
}

static bool is_product(const struct msim_trace *t, uint32_t op)
{
    static const char *const NAMES[] = {"aten::mm", "aten::addmm", "aten::bmm",
                                        "aten::_scaled_mm",
                                        "aten::_grouped_mm"};
    const char *name = msim_trace_text(t, t->ops[op].name);

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
        if (!strcmp(NAMES[i], name))
            return true;
    return false;
}

/* Of each product of forward, backward has two, for inputs and weights, and a
 * third where it computes its block again. */
static bool is_recorded(const struct msim_weave *w)
{
    uint64_t n[2] = {0};

    for (uint32_t s = 0; s < w->a.n; s++) {
        const struct msim_anatomy_statement *row = &w->a.rows[s];

        if (row->block == MSIM_NONE || row->role > MSIM_ANATOMY_BACKWARD ||
            row->role < MSIM_ANATOMY_FORWARD)
            continue;
        for (uint32_t i = row->op; i < msim_anatomy_end(&w->a, s); i++)
            n[row->role == MSIM_ANATOMY_BACKWARD] += is_product(w->t, i);
    }
    return n[0] && 2 * n[1] > 5 * n[0];
}

enum msim_status msim_stage_recompute(struct msim_weave *w,
                                      const struct msim_rewrite *r)
{
    struct recomputing c = {.w = w, .r = r};
    enum msim_status status = MSIM_ENOMEM;

    if (!w->a.n_blocks)
        return msim_weave_refuse(
            w, "no block of layers repeats in the forward pass of the trace, "
               "so that none can be computed again");
    if (!*r->recompute_ops && is_recorded(w))
        return msim_weave_refuse(
            w, "the backward passes of the trace have three products for each "
               "of forward: its blocks are computed again already");
    c.done = calloc(w->a.n_blocks, 1);
    c.backward = calloc((size_t)w->d.lives.n + 1, 1);
    if (c.done && c.backward)
        status = list_backward(&c);
    if (status == MSIM_OK)
        status = msim_weave_walk(w, &c, visit);
    free(c.done);
    free(c.backward);
    free(c.first);
    free(c.rows);
    if (status == MSIM_OK && !c.again && !*r->recompute_ops)
        status = msim_weave_refuse(
            w,
            "what the blocks of the trace compute is not read again by their "
            "backward passes, so that nothing can be computed again");
    else if (status == MSIM_OK && !c.again)
        status = msim_weave_refuse(w,
                                   "no operator in the blocks of the trace "
                                   "matches \"%s\"",
                                   r->recompute_ops);
    return status;
}
