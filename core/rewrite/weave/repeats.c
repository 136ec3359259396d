/*
 * core/rewrite/weave/repeats.c - the repetitions of a forward pass.
 */
#include "core/rewrite/weave/weave.h"

#include "core/base/containers.h"
#include "core/trace/trace_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_TEXT 160 /* of what was found, in a message */

/* ---- what is alike -------------------------------------------------------
 */

/* Lists of arguments with equal tensors; numbers may differ: seeds. */
static bool like_args(const struct msim_trace *t, uint32_t a, uint32_t b)
{
    const struct msim_arg *x, *y;

    if (a == b)
        return true;
    if (a == MSIM_NONE || b == MSIM_NONE ||
        t->blocks[a].count != t->blocks[b].count)
        return false;
    x = &t->args[t->blocks[a].first];
    y = &t->args[t->blocks[b].first];
    for (uint32_t i = 0; i < t->blocks[a].count; i++) {
        if (x[i].kind != y[i].kind)
            return false;
        if (x[i].kind == MSIM_ARG_LIST && x[i].n != y[i].n)
            return false;
        if (x[i].kind == MSIM_ARG_TENSOR &&
            (x[i].dtype != y[i].dtype || x[i].n != y[i].n ||
             (x[i].n && memcmp(msim_arg_dims(t, &x[i]), msim_arg_dims(t, &y[i]),
                               x[i].n * sizeof(*t->dims)) != 0)))
            return false;
    }
    return true;
}

static bool are_ops_alike(const struct msim_trace *t, uint32_t a, uint32_t b)
{
    return t->ops[a].name == t->ops[b].name &&
           like_args(t, t->ops[a].args, t->ops[b].args) &&
           like_args(t, t->ops[a].outs, t->ops[b].outs);
}

bool msim_repeats_like(const struct msim_anatomy *a, uint32_t s, uint32_t k)
{
    uint32_t x = a->rows[s].op, y = a->rows[k].op;
    uint32_t n = msim_anatomy_end(a, s) - x;

    if (msim_anatomy_end(a, k) - y != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!are_ops_alike(a->t, x + i, y + i))
            return false;
    return true;
}

/* ---- blocks that are alike ------------------------------------------------
 */

/* How many statements of two blocks are alike, from the first or from the last
 * on. */
static uint32_t count_like(const struct msim_anatomy *a,
                           const struct msim_anatomy_block *x,
                           const struct msim_anatomy_block *y, bool last)
{
    uint32_t n = x->end - x->first, m = y->end - y->first, k = 0;

    while (k < n && k < m &&
           msim_repeats_like(a, last ? x->end - 1 - k : x->first + k,
                             last ? y->end - 1 - k : y->first + k))
        k++;
    return k;
}

/* One may have more at its front, or behind; two thirds are alike. Nothing is
 * between them: what is would be of no block, and stay as often as it is. */
static bool like_blocks(const struct msim_anatomy *a, uint32_t i, uint32_t j)
{
    const struct msim_anatomy_block *x = &a->blocks[i], *y = &a->blocks[j];
    uint32_t n = x->end - x->first, m = y->end - y->first;
    uint32_t most = n > m ? n : m;

    return x->end == y->first && (3 * count_like(a, x, y, false) >= 2 * most ||
                                  3 * count_like(a, x, y, true) >= 2 * most);
}

static enum msim_status add(struct msim_repeats *r, uint32_t first, uint32_t n)
{
    MSIM_TRY(msim_grow((void **)&r->rows, &r->cap, r->n, sizeof(*r->rows)));
    r->rows[r->n++] = (struct msim_repeat){.first = first, .n = n};
    return MSIM_OK;
}

static enum msim_status find_runs(struct msim_repeats *r,
                                  const struct msim_anatomy *a)
{
    uint32_t end = 0;

    while (end < a->n_blocks && a->blocks[end].pass == a->blocks[0].pass)
        end++;
    for (uint32_t i = 0, k; i < end; i = k) {
        for (k = i + 1; k < end && like_blocks(a, k - 1, k); k++)
            ;
        if (k - i > 1)
            MSIM_TRY(add(r, i, k - i));
    }
    return MSIM_OK;
}

/* ---- names ----------------------------------------------------------------
 */

/* Statements [first, end) of a block are given `life`. */
static bool reads(const struct msim_weave *w, uint32_t block, uint32_t life)
{
    const struct msim_anatomy_block *b = &w->a.blocks[block];

    for (uint32_t s = b->first; s < b->end; s++)
        for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s);
             i++) {
            struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

            while (msim_lives_next(&e))
                if (e.life == life)
                    return true;
        }
    return false;
}

static bool all_read(const struct msim_weave *w, const struct msim_repeat *r,
                     uint32_t life)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (!reads(w, r->first + i, life))
            return false;
    return true;
}

/* Do all blocks of `to` read what was made from the last block of `from` on? */
static bool feeds(const struct msim_weave *w, const struct msim_repeat *from,
                  const struct msim_repeat *to)
{
    const struct msim_anatomy *a = &w->a;
    uint32_t first = a->blocks[from->first + from->n - 1].first;
    uint32_t end = a->blocks[to->first].first;

    for (uint32_t s = first; s < end; s++)
        for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++) {
            struct msim_lives_each e = msim_lives_outputs(&w->d.lives, w->t, i);

            while (msim_lives_next(&e))
                if (e.life != MSIM_NONE && all_read(w, to, e.life))
                    return true;
        }
    return false;
}

static void name_all(struct msim_repeats *r, const struct msim_weave *w)
{
    if (r->n == 1) {
        snprintf(r->rows[0].name, MSIM_REPEAT_NAME, "blocks");
        return;
    }
    if (r->n == 2 && feeds(w, &r->rows[0], &r->rows[1])) {
        snprintf(r->rows[0].name, MSIM_REPEAT_NAME, "encoder");
        snprintf(r->rows[1].name, MSIM_REPEAT_NAME, "decoder");
        return;
    }
    for (uint32_t i = 0; i < r->n; i++)
        snprintf(r->rows[i].name, MSIM_REPEAT_NAME, "blocks-%u", i + 1);
}

enum msim_status msim_repeats_find(struct msim_repeats *out,
                                   const struct msim_weave *w)
{
    *out = (struct msim_repeats){0};
    MSIM_TRY(find_runs(out, &w->a));
    name_all(out, w);
    return MSIM_OK;
}

void msim_repeats_release(struct msim_repeats *r)
{
    free(r->rows);
    *r = (struct msim_repeats){0};
}

/* ---- one of them ----------------------------------------------------------
 */

/* "encoder (12), decoder (12)" */
static void list_all(const struct msim_repeats *r, char *text, size_t size)
{
    size_t used = 0;

    *text = 0;
    for (uint32_t i = 0; i < r->n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s\"%s\" (%u)",
                                 i ? ", " : "", r->rows[i].name, r->rows[i].n);
}

static enum msim_status refuse_none(struct msim_weave *w)
{
    if (w->a.n_blocks)
        return msim_weave_refuse(
            w,
            "the forward pass has %u blocks of layers, but no two that follow "
            "each other have equal operators and sizes, so that none can be "
            "repeated",
            w->a.n_blocks);
    return msim_weave_refuse(w,
                             "no block of layers repeats in the forward pass "
                             "of the trace (%u operators), so that none can be "
                             "repeated",
                             w->a.passes[0].backward - w->a.passes[0].forward);
}

enum msim_status msim_repeats_choose(const struct msim_repeat **out,
                                     const struct msim_repeats *r,
                                     struct msim_weave *w, const char *name)
{
    char found[LIST_TEXT];

    *out = NULL;
    /* A stage of a pipeline has some of the layers only. */
    if (msim_has_messages(w->t))
        return msim_weave_refuse(w, "the trace is of one stage of a pipeline "
                                    "(it sends and receives); want one of all "
                                    "layers, with \"parallel\"");
    if (!r->n)
        return refuse_none(w);
    list_all(r, found, sizeof(found));
    if (!name || !*name) {
        if (r->n > 1)
            return msim_weave_refuse(w,
                                     "the trace has %u repetitions of blocks: "
                                     "%s; want one of them, as \"block\"",
                                     r->n, found);
        *out = &r->rows[0];
        return MSIM_OK;
    }
    for (uint32_t i = 0; i < r->n; i++)
        if (strcmp(r->rows[i].name, name) == 0)
            *out = &r->rows[i];
    return *out ? MSIM_OK
                : msim_weave_refuse(w,
                                    "no block \"%.40s\" in the trace; it has "
                                    "%s",
                                    name, found);
}

uint32_t msim_repeat_place(const struct msim_repeat *r,
                           const struct msim_anatomy *a, uint32_t s)
{
    uint32_t block = a->rows[s].block, first = block;

    if (block == MSIM_NONE)
        return 0;
    while (first && a->blocks[first - 1].pass == a->blocks[block].pass)
        first--;
    block -= first;
    return block >= r->first && block < r->first + r->n ? block - r->first + 1
                                                        : 0;
}
