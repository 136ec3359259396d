/*
 * core/rewrite/shard_units.c - what is shared out together.
 */
#include "core/rewrite/rewrite_internal.h"

#include "core/rewrite/weave/draft.h"

#include <stdlib.h>
#include <string.h>

/* Blocks count anew in each pass, so that a unit is the same in all. */
uint32_t msim_shard_units_of(const struct msim_shard_units *u, uint32_t s)
{
    uint32_t block = u->w->a.rows[s].block;

    if (u->norm && u->norm[s] != MSIM_NONE)
        return u->norm[s];
    return block == MSIM_NONE || u->in_pass[block] >= u->together
               ? 0
               : u->in_pass[block];
}

struct msim_shard_span *msim_shard_units_span(const struct msim_shard_units *u,
                                              uint32_t pass, uint32_t unit)
{
    return &u->span[(size_t)pass * u->n + unit];
}

static uint32_t count_units(const struct msim_anatomy *a)
{
    uint32_t n = 1;

    for (uint32_t i = 0; i < a->n_blocks; i++)
        n += a->blocks[i].pass == a->blocks[0].pass;
    return n;
}

static enum msim_status number_blocks(struct msim_shard_units *u)
{
    const struct msim_anatomy *a = &u->w->a;

    u->in_pass = malloc(((size_t)a->n_blocks + 1) * sizeof(*u->in_pass));
    if (!u->in_pass)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < a->n_blocks; i++)
        u->in_pass[i] = i && a->blocks[i - 1].pass == a->blocks[i].pass
                            ? u->in_pass[i - 1] + 1
                            : 1;
    return MSIM_OK;
}

/* ---- batch norms ---------------------------------------------------------
 */

static bool is_norm(const struct msim_weave *w, uint32_t s, bool forward)
{
    return w->a.rows[s].role ==
               (forward ? MSIM_ANATOMY_FORWARD : MSIM_ANATOMY_BACKWARD) &&
           msim_weave_contains(w, w->a.rows[s].op,
                               forward ? "aten::batch_norm"
                                       : "BatchNormBackward");
}

/*
 * Units from `first` on for the batch norms of pass `p`; returns how many.
 * Backward goes through them from the last to the first, and the gradients of
 * one are kept right behind it.
 */
static uint32_t number_norms(struct msim_shard_units *u, uint32_t p,
                             uint32_t first)
{
    const struct msim_anatomy_pass *pass = &u->w->a.passes[p];
    uint32_t n = 0, left;

    for (uint32_t s = pass->forward; s < pass->backward; s++)
        if (is_norm(u->w, s, true))
            u->norm[s] = first + n++;
    left = n;
    for (uint32_t s = pass->backward; s < pass->tail; s++) {
        bool behind = u->w->gradient[s] != MSIM_NONE && s > pass->backward;

        if (is_norm(u->w, s, false) && left)
            u->norm[s] = first + --left;
        else if (behind)
            u->norm[s] = u->norm[s - 1];
    }
    return n;
}

static enum msim_status find_norms(struct msim_shard_units *u)
{
    const struct msim_anatomy *a = &u->w->a;
    uint32_t most = 0;

    u->norm = malloc(((size_t)a->n + 1) * sizeof(*u->norm));
    if (!u->norm)
        return MSIM_ENOMEM;
    memset(u->norm, 0xff, ((size_t)a->n + 1) * sizeof(*u->norm));
    for (uint32_t p = 0; p < a->n_passes; p++) {
        uint32_t n = number_norms(u, p, u->n);

        most = n > most ? n : most;
    }
    u->n += most;
    return MSIM_OK;
}

/* ---- parameters ----------------------------------------------------------
 */

/* What is known of one parameter. */
struct seen {
    int64_t elems;
    uint8_t computed, kept; /* types */
    uint8_t device;
};

/* A parameter of two units is of the root. The optimizer names all of it and no
 * more; in forward a bias is expanded. */
static void note_parameter(struct msim_shard_units *u, struct seen *seen,
                           const struct msim_lives_each *e, uint32_t s)
{
    uint8_t role = u->w->a.rows[s].role;
    struct seen *x = &seen[e->life];
    uint32_t first;

    x->device = e->arg->device;
    if (role == MSIM_ANATOMY_OPTIMIZER) {
        x->kept = e->arg->dtype;
        x->elems = (int64_t)msim_arg_elems(u->w->t, e->arg);
    }
    if (role != MSIM_ANATOMY_FORWARD)
        return;
    first = u->apart && u->apart[e->life] ? u->together : 0;
    if (!x->computed)
        u->of[e->life] = first + msim_shard_units_of(u, s);
    else if (u->of[e->life] != first + msim_shard_units_of(u, s))
        u->of[e->life] = first;
    x->computed = e->arg->dtype;
}

static void note_parameters(struct msim_shard_units *u, struct seen *seen)
{
    const struct msim_weave *w = u->w;

    for (uint32_t s = 0; s < w->a.n; s++)
        for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s);
             i++) {
            struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

            while (msim_lives_next(&e))
                if (e.life != MSIM_NONE &&
                    w->kind[e.life] == MSIM_LIFE_PARAMETER)
                    note_parameter(u, seen, &e, s);
        }
}

/* Types by what most elements have. */
static void sum_up(struct msim_shard_units *u, const struct seen *seen)
{
    for (uint32_t i = 0; i < u->w->d.lives.n; i++) {
        struct msim_shard_unit *row =
            u->of[i] == MSIM_NONE ? NULL : &u->rows[u->of[i]];

        if (!row)
            continue;
        if (seen[i].elems * 2 > row->elems) {
            row->dtype = seen[i].computed;
            row->kept_as = seen[i].kept;
        }
        row->device = seen[i].device;
        row->elems += seen[i].elems;
    }
}

static enum msim_status find_parameters(struct msim_shard_units *u)
{
    struct seen *seen = calloc((size_t)u->w->d.lives.n + 1, sizeof(*seen));

    if (!seen)
        return MSIM_ENOMEM;
    note_parameters(u, seen);
    sum_up(u, seen);
    free(seen);
    return MSIM_OK;
}

static enum msim_status list_members(struct msim_shard_units *u)
{
    uint32_t lives = u->w->d.lives.n;

    u->members = malloc(((size_t)lives + 1) * sizeof(*u->members));
    u->first = calloc((size_t)u->n + 2, sizeof(*u->first));
    if (!u->members || !u->first)
        return MSIM_ENOMEM;
    /* first[i + 1] is where unit i goes on, and in the end where it ends. */
    for (uint32_t k = 0; k < lives; k++)
        if (u->of[k] != MSIM_NONE)
            u->first[u->of[k] + 2]++;
    for (uint32_t i = 2; i <= u->n; i++)
        u->first[i] += u->first[i - 1];
    for (uint32_t k = 0; k < lives; k++)
        if (u->of[k] != MSIM_NONE)
            u->members[u->first[u->of[k] + 1]++] = k;
    return MSIM_OK;
}

/* ---- spans ---------------------------------------------------------------
 */

static void widen(uint32_t *first, uint32_t *last, uint32_t s)
{
    if (*first == MSIM_NONE)
        *first = s;
    *last = s;
}

/* Backward of a block needs it from its first operator on, whether that reads a
 * parameter or not. */
static void note_need(struct msim_shard_units *u, uint32_t s, uint32_t unit)
{
    const struct msim_anatomy_statement *row = &u->w->a.rows[s];
    struct msim_shard_span *span = msim_shard_units_span(u, row->pass, unit);

    if (row->role == MSIM_ANATOMY_FORWARD)
        widen(&span->forward, &span->forward_last, s);
    else if (row->role == MSIM_ANATOMY_BACKWARD)
        widen(&span->backward, &span->backward_last, s);
}

static void note_spans(struct msim_shard_units *u, uint32_t s)
{
    const struct msim_weave *w = u->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        while (msim_lives_next(&e))
            if (e.life != MSIM_NONE && u->of[e.life] != MSIM_NONE)
                note_need(u, s, u->of[e.life]);
    }
    if (w->a.rows[s].role == MSIM_ANATOMY_BACKWARD &&
        w->a.rows[s].block != MSIM_NONE)
        note_need(u, s, msim_shard_units_of(u, s));
    if (w->gradient[s] != MSIM_NONE)
        msim_shard_units_span(u, w->a.rows[s].pass, msim_shard_units_of(u, s))
            ->gradient_last = s;
}

static enum msim_status find_spans(struct msim_shard_units *u)
{
    const struct msim_anatomy *a = &u->w->a;
    size_t n = (size_t)a->n_passes * u->n + 1;

    u->span = malloc(n * sizeof(*u->span));
    if (!u->span)
        return MSIM_ENOMEM;
    memset(u->span, 0xff, n * sizeof(*u->span));
    for (uint32_t s = 0; s < a->n; s++)
        if (a->rows[s].pass != MSIM_NONE)
            note_spans(u, s);
    return MSIM_OK;
}

/* ---- all of it -----------------------------------------------------------
 */

enum msim_status msim_shard_units_find(struct msim_shard_units *u,
                                       struct msim_weave *w, bool norms,
                                       const uint8_t *apart)
{
    size_t lives = (size_t)w->d.lives.n + 1;
    int64_t elems = 0;

    *u = (struct msim_shard_units){
        .w = w, .n = count_units(&w->a), .apart = apart};
    MSIM_TRY(number_blocks(u));
    if (norms)
        MSIM_TRY(find_norms(u));
    u->together = u->n;
    if (apart)
        u->n *= 2;
    u->rows = calloc(u->n, sizeof(*u->rows));
    u->of = malloc(lives * sizeof(*u->of));
    if (!u->rows || !u->of)
        return MSIM_ENOMEM;
    memset(u->of, 0xff, lives * sizeof(*u->of));
    MSIM_TRY(find_parameters(u));
    for (uint32_t i = 0; i < u->n; i++)
        elems += u->rows[i].elems;
    if (!elems)
        return msim_weave_refuse(
            w, "no tensor of the trace is read in forward and updated in a "
               "step of the optimizer, so that no parameter can be shared out; "
               "want a trace with the step (Optimizer.step)");
    MSIM_TRY(list_members(u));
    for (uint32_t i = 0; i < u->n; i++) {
        u->rows[i].whole = msim_draft_fresh(&w->d);
        msim_shard_units_put(u, i, u->rows[i].whole);
    }
    return find_spans(u);
}

void msim_shard_units_release(struct msim_shard_units *u)
{
    free(u->rows);
    free(u->of);
    free(u->in_pass);
    free(u->norm);
    free(u->members);
    free(u->first);
    free(u->span);
    *u = (struct msim_shard_units){0};
}

void msim_shard_units_put(struct msim_shard_units *u, uint32_t unit,
                          uint32_t storage)
{
    for (uint32_t i = u->first[unit]; i < u->first[unit + 1]; i++)
        u->w->d.storage[u->members[i]] = storage;
}

enum msim_status msim_shard_units_view(struct msim_shard_units *u,
                                       struct msim_draft_place at)
{
    for (uint32_t i = 0; i < u->n; i++) {
        const struct msim_emit_flat x = {u->rows[i].elems, u->rows[i].whole,
                                         u->rows[i].kept_as, u->rows[i].device};

        if (x.elems)
            MSIM_TRY(msim_emit_op(&u->w->d, at, "aten::view", &x, &x, NULL));
    }
    return MSIM_OK;
}

enum msim_status msim_shard_units_gather(struct msim_shard_units *u, bool apart,
                                         uint32_t ranks,
                                         struct msim_draft_place at,
                                         int64_t *sequence)
{
    for (uint32_t i = apart ? u->together : 0; i < (apart ? u->n : u->together);
         i++) {
        const struct msim_shard_unit *row = &u->rows[i];
        struct msim_emit_message m = {
            "c10d::_allgather_base_",
            MSIM_COLL_ALL_GATHER,
            *sequence + 1,
            {(row->elems + ranks - 1) / ranks, row->whole, row->kept_as,
             row->device},
            {row->elems, row->whole, row->kept_as, row->device},
            0};

        if (!row->elems)
            continue;
        ++*sequence;
        MSIM_TRY(msim_emit_collective(&u->w->d, at, &m));
    }
    return msim_emit_wait(&u->w->d, at, *sequence);
}
