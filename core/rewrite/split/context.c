/*
 * core/rewrite/split/context.c - sequences shared out among ranks.
 *
 * Tokens and sequences are divided, all other sizes stay (core/sizes): what
 * attention is given, too. Once the model is shared out, that is put back to
 * the length that has as many pairs, and what ranks exchange comes around it.
 */
#include "core/rewrite/split/split.h"

#include "core/base/units.h"
#include "core/rewrite/split/experts.h"
#include "core/rewrite/split/split_internal.h"
#include "core/rewrite/weave/draft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sizes ---------------------------------------------------------------
 */

struct dividing {
    const struct msim_trace *t;
    struct msim_resizing r;
    uint32_t ranks;
};

static bool is_divided(const struct dividing *c, uint32_t class)
{
    return class != MSIM_NONE &&
           c->r.to[class] != c->r.sizes.classes[class].size;
}

/* A table that has a row for each position has one for each of a rank's, or for
 * all: no operator says. */
static enum msim_status check_weights(const struct dividing *c,
                                      struct msim_error *err)
{
    for (uint32_t i = 0; i < c->r.sizes.n_classes; i++) {
        const struct msim_size_class *k = &c->r.sizes.classes[i];

        if (k->weight && is_divided(c, i))
            return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "operator %u, %s, has parameters with a size of "
                             "%lld, which is one of the sequence",
                             k->op,
                             msim_trace_text(c->t, c->t->ops[k->op].name),
                             (long long)k->size);
    }
    return MSIM_OK;
}

/* What a rank multiplies is of its tokens: else a size was not followed. */
static enum msim_status check_products(const struct dividing *c,
                                       struct msim_error *err)
{
    static const char *const NAMES[] = {"aten::mm",          "aten::addmm",
                                        "aten::bmm",         "aten::_scaled_mm",
                                        "aten::_grouped_mm", NULL};

    for (uint32_t i = 0; i < c->t->n_ops; i++) {
        struct msim_lives_each e =
            msim_lives_inputs(&c->r.sizes.lives, c->t, i);
        const char *name = msim_trace_text(c->t, c->t->ops[i].name);
        bool is = false, any = false;

        for (const char *const *n = NAMES; *n; n++)
            is |= !strcmp(*n, name);
        while (is && msim_lives_next(&e))
            for (uint32_t d = 0; d < e.arg->n; d++)
                any |=
                    is_divided(c, msim_size_class_of(&c->r.sizes, e.id - 1, d));
        if (is && !any)
            return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "operator %u, %s, has no size that is known to "
                             "be tokens of a sequence",
                             i, name);
    }
    return MSIM_OK;
}

/* Experts are given the rows of a rank's tokens. */
static enum msim_status divide_rows(struct dividing *c, struct msim_error *err)
{
    struct msim_expert_sizes x;
    enum msim_status status = msim_expert_sizes_find(&x, &c->r.sizes);

    if (status == MSIM_OK)
        status = msim_expert_sizes_told(&x, err);
    for (int kind = MSIM_EXPERT_COUNT;
         status == MSIM_OK && kind <= MSIM_EXPERT_ROWS; kind++)
        status = msim_expert_sizes_scale(
            &x, (enum msim_expert_size)kind, 1,
            kind == MSIM_EXPERT_COUNT ? 1 : c->ranks, c->r.to, err);
    msim_expert_sizes_release(&x);
    return status;
}

static enum msim_status divide(struct dividing *c, struct msim_error *err)
{
    uint32_t n, found = 0;

    for (int role = MSIM_SIZE_NONE + 1; role < MSIM_SIZE_ROLES; role++) {
        bool tokens = role == MSIM_SIZE_SEQUENCE || role == MSIM_SIZE_TOKENS;

        MSIM_TRY(msim_sizes_scale(&c->r.sizes, (enum msim_size_role)role, 1,
                                  tokens ? c->ranks : 1, c->r.to, &n, err));
        found += role == MSIM_SIZE_SEQUENCE ? n : 0;
    }
    if (!found)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "no operator of the trace says which of its sizes is "
                         "the sequence, want attention in one operator "
                         "(scaled_dot_product_attention)");
    MSIM_TRY(divide_rows(c, err));
    MSIM_TRY(msim_sizes_solve(&c->r.sizes, c->r.to, err));
    MSIM_TRY(check_weights(c, err));
    return check_products(c, err);
}

static enum msim_status check_recorded(const struct msim_trace *t,
                                       struct msim_error *err)
{
    bool rows;
    uint32_t ranks = msim_shares_recorded_ranks(t, &rows);

    if (t->world_size <= (ranks ? ranks : 1) && (ranks || !t->n_comms))
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "the trace is of a job of %u ranks, of which %u are "
                     "tensor parallel; want the trace of one that is trained "
                     "alone, or of tensor parallel ranks alone",
                     t->world_size, ranks);
}

static enum msim_status copy(void *ctx, uint32_t s)
{
    struct dividing *c = ctx;

    return msim_weave_copy(&c->r.w, s);
}

static enum msim_status shorten(struct dividing *c, struct msim_strtab *strings,
                                struct msim_trace **out, struct msim_error *err)
{
    MSIM_TRY(check_recorded(c->t, err));
    MSIM_TRY(msim_resizing_learn(&c->r, c->t, err));
    MSIM_TRY(divide(c, err));
    MSIM_TRY(msim_resizing_open(&c->r, strings, err));
    MSIM_TRY(msim_weave_walk(&c->r.w, c, copy));
    return msim_weave_finish(&c->r.w, out);
}

enum msim_status msim_context_shorten_new(struct msim_trace **out,
                                          const struct msim_trace *t,
                                          struct msim_strtab *strings,
                                          uint32_t ranks,
                                          struct msim_error *err)
{
    struct dividing c = {.t = t, .ranks = ranks};
    struct msim_error why = {0};
    char asked[64];
    enum msim_status status;

    *out = NULL;
    status = shorten(&c, strings, out, &why);
    snprintf(asked, sizeof(asked), "parallel.cp is %u", ranks);
    return msim_resizing_end(&c.r, status, asked, &why, err);
}

/* ---- attention -----------------------------------------------------------
 */

struct exchanging {
    struct msim_weave *w;
    uint32_t ranks;
    uint32_t tokens; /* of the operator at hand: which dimension counts them */
    int64_t calls;
};

/* Which dimension of what operator `op` is given counts tokens: samples, heads,
 * tokens; or tokens before heads. NONE: it is not attention. */
static uint32_t tokens_of(const struct msim_weave *w, uint32_t op)
{
    if (msim_weave_contains(w, op, "scaled_dot_product"))
        return 2;
    return msim_weave_contains(w, op, "flash_attention_") ||
                   msim_weave_contains(w, op, "efficient_attention_")
               ? 1
               : MSIM_NONE;
}

/* Keys and values of a statement's attention: of all ranks, and of one. */
struct attention {
    struct msim_emit_flat whole, part;
    bool back;
};

/* The operator of statement `s` that is given queries, keys and values; false:
 * it has none. Backward is given a gradient first. */
static bool find_attention(const struct exchanging *c, uint32_t s,
                           struct attention *out)
{
    const struct msim_weave *w = c->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);
        int back = msim_weave_contains(w, i, "backward"), k = 0;
        int64_t elems = 0;

        if (tokens_of(w, i) == MSIM_NONE)
            continue;
        for (; k < 3 + back && msim_lives_next(&e); k++)
            if (k > back)
                elems += (int64_t)msim_arg_elems(w->t, e.arg);
        if (k < 3 + back)
            continue;
        *out = (struct attention){
            .part = {elems, 0, e.arg->dtype, e.arg->device},
            .whole = {elems * c->ranks, 0, e.arg->dtype, e.arg->device},
            .back = back};
        return true;
    }
    return false;
}

static enum msim_status exchange(struct exchanging *c, uint32_t s,
                                 const struct attention *x, bool scatters)
{
    static const char *const NAMES[2][2] = {
        {"ContextParallelGather", MSIM_EMIT_BACKWARD "ContextParallelGather"},
        {NULL, MSIM_EMIT_BACKWARD "ContextParallelReduce"}};
    struct msim_draft *d = &c->w->d;
    struct msim_emit_flat part = x->part, whole = x->whole;
    struct msim_emit_message m = {.name = scatters ? "nccl:_reduce_scatter_base"
                                                   : "nccl:_all_gather_base",
                                  .collective = scatters
                                                    ? MSIM_COLL_REDUCE_SCATTER
                                                    : MSIM_COLL_ALL_GATHER,
                                  .sequence = c->calls++};
    struct msim_draft_place at;

    part.storage = msim_draft_fresh(d);
    whole.storage = msim_draft_fresh(d);
    m.in = scatters ? whole : part;
    m.out = scatters ? part : whole;
    MSIM_TRY(msim_weave_hold(c->w, NAMES[scatters][x->back],
                             msim_weave_place(c->w, s), &at));
    MSIM_TRY(msim_emit_empty(d, at, &m.in));
    MSIM_TRY(msim_emit_empty(d, at, &m.out));
    MSIM_TRY(msim_emit_collective(d, at, &m));
    return msim_emit_recorded_wait(d, at, m.sequence);
}

/* From tokens of one rank of n to a sequence with its pairs: S / n of S, and
 * S / sqrt(n). */
static void lengthen(void *ctx, const struct msim_arg *arg, uint32_t id,
                     int64_t *dims)
{
    const struct exchanging *c = ctx;

    (void)id;
    if (c->tokens < arg->n && arg->n >= 3)
        dims[c->tokens] =
            msim_whole((double)(dims[c->tokens] * c->ranks) / sqrt(c->ranks));
}

static enum msim_status copy_lengthened(struct exchanging *c, uint32_t s)
{
    struct msim_weave *w = c->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_draft_how how = {.at = msim_draft_own_place(&w->d, i)};

        c->tokens = tokens_of(w, i);
        if (c->tokens != MSIM_NONE) {
            how.resize = lengthen;
            how.ctx = c;
        } else if (msim_places_is_product(w, i) &&
                   msim_weave_begins(w, i, "aten::")) {
            return msim_weave_refuse(
                w,
                "parallel.cp is %u: attention of operator %u, %s, is in "
                "parts (%s), want one operator for all of it",
                c->ranks, w->a.rows[s].op,
                msim_trace_text(w->t, w->t->ops[w->a.rows[s].op].name),
                msim_trace_text(w->t, w->t->ops[i].name));
        }
        MSIM_TRY(msim_draft_copy(&w->d, i, &how));
    }
    return MSIM_OK;
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct exchanging *c = ctx;
    const struct msim_anatomy_statement *row = &c->w->a.rows[s];
    struct attention x;

    if (row->pass == MSIM_NONE || row->role > MSIM_ANATOMY_BACKWARD ||
        !find_attention(c, s, &x))
        return msim_weave_copy(c->w, s);
    MSIM_TRY(exchange(c, s, &x, false));
    MSIM_TRY(copy_lengthened(c, s));
    return x.back ? exchange(c, s, &x, true) : MSIM_OK;
}

/* Tensor parallel ranks count first. Copies may be the same ranks: two groups
 * with a list are told apart by a short name (core/trace/meets.c). */
#define GROUP "context"

enum msim_status msim_context_exchange(struct msim_weave *w, uint32_t ranks,
                                       uint32_t step)
{
    struct exchanging c = {.w = w, .ranks = ranks};
    struct msim_trace *o = w->d.out;

    o->world_size = step * ranks;
    MSIM_TRY(msim_draft_add_group(
        &w->d, GROUP, ranks, o->rank < 0 ? 0 : o->rank, step, &w->d.group));
    return msim_weave_walk(w, &c, visit);
}
