/*
 * core/rewrite/layers.c - more or fewer blocks of layers.
 *
 * Blocks are repeated, or left out, in the middle of their repetition, so that
 * what is only at its ends (an embedding, the norm before the head, what
 * backward begins with) stays as recorded:
 *
 *     forward    1 2 3 4       ->   1 2 2' 2'' 3 4
 *     backward   4 3 2 1       ->   4 3 2'' 2' 2 1
 *     step       [1, 2, 3, 4]  ->   [1, 2, 2', 2'', 3, 4]
 *
 * Copies have weights, gradients, states and activations of their own
 * (repeat/layer_copies.h), and collectives where the block has them.
 */
#include "core/rewrite/repeat/layer_copies.h"
#include "core/rewrite/rewrite_internal.h"

#include <stdlib.h>

#define LAYERS_MOST 10000

struct layering {
    struct msim_weave *w;
    struct msim_repeats all;
    struct msim_layer_copies c;
};

/* ---- the block that is copied ---------------------------------------------
 */

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Are blocks [b, b + n] alike, each like the next? */
static bool all_like(const struct msim_alignment *a, uint32_t b, uint32_t n)
{
    for (uint32_t i = b; i < b + n; i++)
        if (!msim_alignment_like(a, i))
            return false;
    return true;
}

/* The block nearest to the middle behind which `n` are like it: one, where
 * copies of it are made. 0: none. */
static uint32_t choose(const struct msim_alignment *a, uint32_t n)
{
    uint32_t best = 0;

    for (uint32_t b = 1; b + n <= a->r->n; b++)
        if (all_like(a, b, n) &&
            (!best || distance(2 * b + n, a->r->n + 1) <
                          distance(2 * best + n, a->r->n + 1)))
            best = b;
    return best;
}

/* The most blocks one after the other that are alike everywhere. */
static uint32_t most_like(const struct msim_alignment *a)
{
    uint32_t most = 1, n = 1;

    for (uint32_t b = 1; b < a->r->n; b++) {
        n = msim_alignment_like(a, b) ? n + 1 : 1;
        most = n > most ? n : most;
    }
    return most;
}

/* Are gradients sent where they are kept, by some that fill a bucket? */
static bool has_buckets(const struct msim_weave *w)
{
    for (uint32_t s = 0; s < w->a.n; s++)
        for (uint32_t i = w->a.rows[s].op;
             w->gradient[s] != MSIM_NONE && i < msim_anatomy_end(&w->a, s); i++)
            if (w->t->ops[i].comm != MSIM_NONE ||
                msim_weave_begins(w, i, "c10d::allreduce"))
                return true;
    return false;
}

static enum msim_status refuse(struct layering *l, uint32_t to)
{
    const struct msim_alignment *a = &l->c.a;
    uint32_t n = a->r->n, most = most_like(a);

    if (has_buckets(l->w))
        return msim_weave_refuse(
            l->w, "gradients of several blocks are summed over ranks in one "
                  "bucket (DDP), which is not made anew; want the trace of one "
                  "rank that is trained alone, with \"world\"");

    if (most < 2)
        return msim_weave_refuse(
            l->w,
            "no two of the %u blocks (%s) that follow each other have equal "
            "operators in forward, backward and the optimizer, so that none "
            "can be repeated or left out",
            n, a->r->name);
    return msim_weave_refuse(l->w,
                             "%u of the %u blocks (%s) are alike everywhere, "
                             "the others stay; want %u blocks or more, "
                             "not %u",
                             most, n, a->r->name, n - most + 1, to);
}

/* Blocks are counted alike in all passes. */
static enum msim_status check_passes(struct msim_weave *w)
{
    uint32_t n = 0, first = 0, pass = MSIM_NONE;

    for (uint32_t i = 0; i <= w->a.n_blocks; i++) {
        if (i < w->a.n_blocks && w->a.blocks[i].pass == pass) {
            n++;
            continue;
        }
        if (first && n != first)
            return msim_weave_refuse(w,
                                     "one micro batch goes through %u blocks "
                                     "of layers, another through %u",
                                     first, n);
        first = n;
        n = 1;
        pass = i < w->a.n_blocks ? w->a.blocks[i].pass : MSIM_NONE;
    }
    return MSIM_OK;
}

/* Backward of a block must be known, where there is a backward pass. */
static enum msim_status check_backward(const struct layering *l)
{
    const struct msim_alignment *a = &l->c.a;
    const struct msim_anatomy_pass *p = &l->w->a.passes[0];
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->w->a.n_passes; i++)
        n += msim_alignment_body_of(a, 2 * i + 1, a->at).n;
    if (n || p->tail == p->backward)
        return MSIM_OK;
    return msim_weave_refuse(l->w,
                             "of %u backward operators none was found to be "
                             "of one of the %u blocks (%s), so that none can "
                             "be repeated or left out",
                             p->tail - p->backward, a->r->n, a->r->name);
}

/* ---- the walk --------------------------------------------------------------
 */

/* All of the block that is copied, in the phase of statement `s`. */
static enum msim_status put_copies(struct msim_layer_copies *c, uint32_t s)
{
    uint32_t phase = c->a.phase[s];
    struct msim_alignment_body b =
        msim_alignment_body_of(&c->a, phase, c->a.at);
    bool down = c->a.phases[phase].descends;

    for (uint32_t k = 1; k <= c->more; k++)
        for (uint32_t i = 0; i < b.n; i++)
            MSIM_TRY(msim_layer_copy(
                c, b.s[i],
                &(struct msim_layer_place){c->a.at, down ? c->more + 1 - k : k,
                                           c->w->a.rows[b.s[i]].pass}));
    return MSIM_OK;
}

/* Is `s` where the copies go: behind the block, or, where blocks are gone
 * through from the last one, before it? */
static bool is_edge(const struct msim_layer_copies *c, uint32_t s, bool down)
{
    uint32_t phase = c->a.phase[s];
    struct msim_alignment_body b;

    if (!c->more || c->a.place[s] != c->a.at || phase == MSIM_NONE ||
        c->a.phases[phase].descends != down)
        return false;
    b = msim_alignment_body_of(&c->a, phase, c->a.at);
    return s == b.s[down ? 0 : b.n - 1];
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct msim_layer_copies *c = ctx;
    const struct msim_chunk_row *pieces = msim_layer_chunks_at(c, s);
    uint32_t block = c->a.place[s];

    if (pieces)
        return s == pieces->first ? msim_layer_copy_chunks(c, pieces) : MSIM_OK;
    if (!block)
        return msim_layer_copy_frame(c, s);
    if (msim_layer_is_out(c, block))
        return MSIM_OK;
    if (is_edge(c, s, true))
        MSIM_TRY(put_copies(c, s));
    MSIM_TRY(msim_layer_copy(
        c, s, &(struct msim_layer_place){block, 0, c->w->a.rows[s].pass}));
    return is_edge(c, s, false) ? put_copies(c, s) : MSIM_OK;
}

/* ---- all of it -------------------------------------------------------------
 */

static enum msim_status change(struct layering *l, const struct msim_repeat *r,
                               uint32_t to)
{
    struct msim_layer_copies *c = &l->c;
    uint32_t at;

    c->w = l->w;
    c->more = to > r->n ? to - r->n : 0;
    c->fewer = to < r->n ? r->n - to : 0;
    MSIM_TRY(check_passes(l->w));
    MSIM_TRY(msim_alignment_find(&c->a, l->w, r));
    at = choose(&c->a, c->fewer ? c->fewer : 1);
    if (!at && (c->more || c->fewer))
        return refuse(l, to);
    MSIM_TRY(msim_alignment_anchor(&c->a, at ? at : 1));
    MSIM_TRY(check_backward(l));
    MSIM_TRY(msim_layer_copies_open(c));
    return msim_weave_walk(l->w, c, visit);
}

enum msim_status msim_stage_repeat(struct msim_weave *w,
                                   const struct msim_rewrite *r)
{
    struct layering l = {.w = w};
    const struct msim_repeat *row;
    enum msim_status status = msim_repeats_find(&l.all, w);

    if (status == MSIM_OK)
        status = msim_repeats_choose(&row, &l.all, w, r->layers_block);
    if (status == MSIM_OK && r->layers > LAYERS_MOST)
        status = msim_weave_refuse(w, "%u layers; want at most %u", r->layers,
                                   LAYERS_MOST);
    if (status == MSIM_OK)
        status = change(&l, row, r->layers);
    msim_layer_copies_close(&l.c);
    msim_repeats_release(&l.all);
    return status;
}
