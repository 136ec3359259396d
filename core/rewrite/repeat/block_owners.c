/*
 * core/rewrite/repeat/block_owners.c - which block a tensor of the optimizer is
 * of.
 */
#include "core/rewrite/repeat/layer_copies.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 4 /* in which what is known spreads over the step */

/* How an owner is known. */
#define BY_FORWARD  1
#define BY_GRADIENT 5
#define BY_LENGTH   20
#define BY_SIZES    30
#define UNKNOWN     UINT8_MAX

/* ---- what is known --------------------------------------------------------
 */

/* A life that two blocks name on equal grounds is of none. */
static void note(struct msim_block_owners *o, uint32_t life, uint32_t owner,
                 uint32_t rank)
{
    if (life == MSIM_NONE || !owner || rank > o->rank[life] ||
        rank >= UNKNOWN || o->of[life] == owner)
        return;
    if (rank == o->rank[life])
        owner = MSIM_BLOCK_OWNERS_FRAME;
    o->of[life] = owner;
    o->rank[life] = (uint8_t)rank;
    o->changed = true;
}

static void note_parameters(struct msim_block_owners *o, uint32_t s,
                            uint32_t place)
{
    const struct msim_weave *w = o->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        while (msim_lives_next(&e))
            if (e.life != MSIM_NONE && w->kind[e.life] == MSIM_LIFE_PARAMETER)
                note(o, e.life, place ? place : MSIM_BLOCK_OWNERS_FRAME,
                     BY_FORWARD);
    }
}

static void note_passes(struct msim_block_owners *o, const uint32_t *place)
{
    const struct msim_weave *w = o->w;

    for (uint32_t s = 0; s < w->a.n; s++) {
        if (w->a.rows[s].role == MSIM_ANATOMY_FORWARD)
            note_parameters(o, s, place[s]);
        if (w->gradient[s] != MSIM_NONE)
            note(o, w->gradient[s],
                 place[s] ? place[s] : MSIM_BLOCK_OWNERS_FRAME, BY_GRADIENT);
    }
}

/* ---- what stands beside it ------------------------------------------------
 */

/* The best that is known so far of several lives. */
struct best {
    uint32_t owner, rank;
};

static void learn(const struct msim_block_owners *o, struct best *b,
                  uint32_t life)
{
    if (life != MSIM_NONE && o->of[life] && o->rank[life] < b->rank)
        *b = (struct best){o->of[life], o->rank[life]};
}

/* Member `i` of all lists that have `n`. */
static struct best member(const struct msim_block_owners *o,
                          const struct msim_lists *f, uint32_t n, uint32_t i)
{
    struct best b = {0, UNKNOWN};

    for (uint32_t k = 0; k < f->n; k++)
        if (f->rows[k].n == n)
            learn(o, &b, o->w->d.lives.of[f->rows[k].id + i]);
    return b;
}

static void list(struct msim_block_owners *o, uint32_t op, uint32_t life)
{
    uint32_t at = o->w->d.lives.place[op] + 1;

    if (life != MSIM_NONE && o->listed[life] < at)
        o->listed[life] = at;
}

static void spread_lists(struct msim_block_owners *o,
                         const struct msim_lists *f)
{
    for (uint32_t k = 0; k < f->n; k++)
        for (uint32_t i = 0; i < f->rows[k].n; i++) {
            struct best b = member(o, f, f->rows[k].n, i);

            note(o, o->w->d.lives.of[f->rows[k].id + i], b.owner, b.rank + 1);
            list(o, f->of - 1, o->w->d.lives.of[f->rows[k].id + i]);
        }
}

static bool is_member(const struct msim_lists *f, uint32_t id)
{
    for (uint32_t k = 0; k < f->n; k++)
        if (id >= f->rows[k].id && id < f->rows[k].id + f->rows[k].n)
            return true;
    return false;
}

/* A tensor of an operator outside its lists, of what goes in, then of what
 * comes out. */
static bool next_alone(const struct msim_lists *f,
                       struct msim_lives_each both[2], uint32_t *life,
                       bool *number)
{
    for (int side = 0; side < 2; side++)
        while (msim_lives_next(&both[side]))
            if (!is_member(f, both[side].id - 1)) {
                *life = both[side].life;
                *number = both[side].arg->n == 0;
                return true;
            }
    return false;
}

/* A tensor of one number says whose it is up to where lists have it (norms,
 * before they are stacked), or where it is there all the time (a count of
 * steps). Others have what was another's memory a moment ago. */
static bool is_listed(const struct msim_block_owners *o, uint32_t op,
                      uint32_t life)
{
    const struct msim_lives *l = &o->w->d.lives;

    return life != MSIM_NONE && o->listed[life] &&
           (l->rows[life].born == MSIM_NONE || l->place[op] < o->listed[life]);
}

static struct best alone(const struct msim_block_owners *o, uint32_t op,
                         const struct msim_lists *f)
{
    const struct msim_trace *t = o->w->t;
    struct msim_lives_each both[2] = {
        msim_lives_inputs(&o->w->d.lives, t, op),
        msim_lives_outputs(&o->w->d.lives, t, op)};
    struct best b = {0, UNKNOWN};
    uint32_t life;
    bool number;

    while (next_alone(f, both, &life, &number))
        if (!number || is_listed(o, op, life))
            learn(o, &b, life);
    return b;
}

static void spread_alone(struct msim_block_owners *o, uint32_t op,
                         const struct msim_lists *f)
{
    const struct msim_trace *t = o->w->t;
    struct msim_lives_each both[2] = {
        msim_lives_inputs(&o->w->d.lives, t, op),
        msim_lives_outputs(&o->w->d.lives, t, op)};
    struct best b = alone(o, op, f);
    uint32_t life;
    bool number;

    while (b.owner && next_alone(f, both, &life, &number))
        if (!number)
            note(o, life, b.owner, b.rank + 1);
}

static bool is_after(uint8_t role)
{
    return role == MSIM_ANATOMY_TAIL || role == MSIM_ANATOMY_OPTIMIZER;
}

static void spread(struct msim_block_owners *o)
{
    const struct msim_weave *w = o->w;

    for (uint32_t s = 0; s < w->a.n; s++)
        for (uint32_t i = w->a.rows[s].op;
             is_after(w->a.rows[s].role) && i < msim_anatomy_end(&w->a, s);
             i++) {
            struct msim_lists f = {.of = 0};

            msim_lists_look(&f, w->t, i);
            spread_alone(o, i, &f);
            spread_lists(o, &f);
        }
}

/* ---- lists that stand beside nothing --------------------------------------
 */

static bool is_known(const struct msim_block_owners *o,
                     const struct msim_lists *f, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (member(o, f, n, i).owner)
            return true;
    return false;
}

/* Are there lists of that length in statement `s`, with known members? */
static bool is_model(const struct msim_block_owners *o, uint32_t s, uint32_t n,
                     struct msim_lists *f)
{
    msim_lists_look(f, o->w->t, o->w->a.rows[s].op);
    for (uint32_t k = 0; k < f->n; k++)
        if (f->rows[k].n == n)
            return is_known(o, f, n);
    return false;
}

/* The nearest such statement under the label of `s`. */
static bool find_model(const struct msim_block_owners *o, uint32_t s,
                       uint32_t n, struct msim_lists *f)
{
    const struct msim_weave *w = o->w;
    uint32_t label = w->t->ops[w->a.rows[s].op].parent;

    for (uint32_t k = 1; k < w->a.n; k++) {
        uint32_t at[2] = {s + k, s - k}; /* below 0 is beyond the last */
        bool more = false;

        for (int i = 0; i < 2; i++) {
            if (at[i] >= w->a.n ||
                w->t->ops[w->a.rows[at[i]].op].parent != label)
                continue;
            more = true;
            if (is_model(o, at[i], n, f))
                return true;
        }
        if (!more)
            return false;
    }
    return false;
}

static void liken(struct msim_block_owners *o, uint32_t s)
{
    struct msim_lists f = {.of = 0}, model = {.of = 0};

    msim_lists_look(&f, o->w->t, o->w->a.rows[s].op);
    for (uint32_t k = 0; k < f.n; k++) {
        uint32_t n = f.rows[k].n;

        if (is_known(o, &f, n) || !find_model(o, s, n, &model))
            continue;
        for (uint32_t i = 0; i < n; i++)
            note(o, o->w->d.lives.of[f.rows[k].id + i],
                 member(o, &model, n, i).owner, BY_LENGTH);
    }
}

/* ---- rows of lists --------------------------------------------------------
 */

static enum msim_status add_place(struct msim_block_owners *o, uint32_t place)
{
    MSIM_TRY(msim_grow((void **)&o->pool, &o->cap_pool, o->n_pool,
                       sizeof(*o->pool)));
    o->pool[o->n_pool++] = place;
    return MSIM_OK;
}

struct msim_block_owners_member
msim_block_owners_member_at(const struct msim_block_owners *o,
                            const struct msim_block_owners_lists *row,
                            uint32_t i)
{
    const struct msim_chunk_row *c;
    uint32_t s;

    if (row->chunk == MSIM_NONE)
        return (struct msim_block_owners_member){row->op, row->n, i};
    c = &o->chunks.rows[row->chunk];
    s = msim_chunk_list(c, i, row->list);
    return (struct msim_block_owners_member){
        o->w->a.rows[s].op,
        row->n - i / c->size * c->size < c->size ? row->n % c->size : c->size,
        i % c->size};
}

/* ---- lists of which nothing is known --------------------------------------
 */

/* The element of the first list that member `i` is. */
static const struct msim_arg *
member_arg(const struct msim_block_owners *o,
           const struct msim_block_owners_lists *row, uint32_t i,
           struct msim_lists *f)
{
    struct msim_block_owners_member m = msim_block_owners_member_at(o, row, i);

    msim_lists_look(f, o->w->t, m.op);
    return &o->w->t->args[f->rows[0].arg + 1 + m.i];
}

static bool same_size(const struct msim_block_owners *o,
                      const struct msim_block_owners_lists *row, uint32_t i,
                      uint32_t k)
{
    struct msim_lists f = {.of = 0}, g = {.of = 0};

    return msim_arg_elems(o->w->t, member_arg(o, row, i, &f)) ==
           msim_arg_elems(o->w->t, member_arg(o, row, k, &g));
}

/* Do members [at, at + n * blocks) have sizes that repeat every `n`? */
static bool repeats_from(const struct msim_block_owners *o,
                         const struct msim_block_owners_lists *row, uint32_t at,
                         uint32_t n)
{
    for (uint32_t i = at; i + n < at + n * o->blocks; i++)
        if (!same_size(o, row, i, i + n))
            return false;
    return true;
}

static bool is_of_step(const struct msim_block_owners *o, uint32_t op)
{
    uint32_t s = o->w->a.statement[msim_op_topmost(o->w->t, op)];

    return o->w->a.rows[s].role == MSIM_ANATOMY_OPTIMIZER;
}

/*
 * Shares of weights have a memory of their own (ZeRO): where sizes repeat as
 * often as there are blocks, a stretch is what one of them has; the longest.
 */
static void guess_places(struct msim_block_owners *o,
                         const struct msim_block_owners_lists *row)
{
    for (uint32_t n = row->n / o->blocks; n > (row->n >= 2 * o->blocks); n--)
        for (uint32_t at = 0; at + n * o->blocks <= row->n; at++) {
            if (!repeats_from(o, row, at, n))
                continue;
            for (uint32_t i = 0; i < n * o->blocks; i++)
                o->pool[row->at + at + i] = i / n + 1;
            return;
        }
}

static bool all_alike(const struct msim_block_owners *o,
                      const struct msim_block_owners_lists *row)
{
    for (uint32_t i = 1; i < row->n; i++)
        if (!same_size(o, row, 0, i))
            return false;
    return true;
}

/* The members of lists of operator `row->op` are of these places. */
static void note_guess(struct msim_block_owners *o,
                       const struct msim_block_owners_lists *row,
                       const struct msim_lists *f)
{
    const uint32_t *places = &o->pool[row->at];
    bool guessed = false;

    for (uint32_t i = 0; i < row->n; i++)
        guessed |= places[i] != 0;
    for (uint32_t k = 0; k < f->n && guessed; k++)
        for (uint32_t i = 0; i < row->n && f->rows[k].n == row->n; i++)
            note(o, o->w->d.lives.of[f->rows[k].id + i],
                 places[i] ? places[i] : MSIM_BLOCK_OWNERS_FRAME, BY_SIZES);
}

/* What operator `op` of the step says of lists of which nothing is known, and
 * so of what stands beside their members elsewhere. */
static enum msim_status guess_op(struct msim_block_owners *o, uint32_t op)
{
    struct msim_lists f = {.of = 0};
    struct msim_block_owners_lists row = {
        .op = op, .at = o->n_pool, .chunk = MSIM_NONE};

    msim_lists_look(&f, o->w->t, op);
    row.n = f.n ? f.rows[0].n : 0;
    if (row.n < o->blocks || is_known(o, &f, row.n) || all_alike(o, &row))
        return MSIM_OK;
    for (uint32_t i = 0; i < row.n; i++)
        MSIM_TRY(add_place(o, 0));
    guess_places(o, &row);
    note_guess(o, &row, &f);
    o->n_pool = row.at;
    return MSIM_OK;
}

/* Has the statement lists of some of the members alone? */
static bool is_piece(const struct msim_block_owners *o, uint32_t s)
{
    for (uint32_t i = 0; i < o->chunks.n; i++) {
        const struct msim_chunk_row *c = &o->chunks.rows[i];

        if (s >= c->first && s < c->end && c->size < c->members)
            return true;
    }
    return false;
}

/* Forget of members of lists that they are of no block: units are gathered from
 * shares where no block is. False: blocks of some are known. */
static bool forget_frame(struct msim_block_owners *o)
{
    uint32_t n = o->w->d.lives.n;

    for (uint32_t i = 0; i < n; i++)
        if (o->listed[i] && o->of[i] && o->of[i] != MSIM_BLOCK_OWNERS_FRAME)
            return false;
    for (uint32_t i = 0; i < n; i++)
        if (o->listed[i]) {
            o->of[i] = 0;
            o->rank[i] = UNKNOWN;
        }
    return true;
}

static enum msim_status guess_all(struct msim_block_owners *o)
{
    const struct msim_anatomy *a = &o->w->a;

    if (!forget_frame(o))
        return MSIM_OK;
    for (uint32_t s = 0; s < a->n; s++)
        if (a->rows[s].role == MSIM_ANATOMY_OPTIMIZER && !is_piece(o, s))
            MSIM_TRY(guess_op(o, a->rows[s].op));
    return MSIM_OK;
}

/* Keep a row whose members are of several blocks. */
static enum msim_status keep_row(struct msim_block_owners *o,
                                 struct msim_block_owners_lists row)
{
    struct msim_lists f = {.of = 0};
    bool several = false, known = false;

    row.at = o->n_pool;
    for (uint32_t i = 0; i < row.n; i++) {
        struct msim_block_owners_member m =
            msim_block_owners_member_at(o, &row, i);
        uint32_t owner;

        msim_lists_look(&f, o->w->t, m.op);
        owner = member(o, &f, m.n, m.i).owner;
        MSIM_TRY(add_place(o, owner == MSIM_BLOCK_OWNERS_FRAME ? 0 : owner));
        known |= owner && owner != MSIM_BLOCK_OWNERS_FRAME;
    }
    if (!known && row.n >= o->blocks && is_of_step(o, row.op))
        guess_places(o, &row);
    for (uint32_t i = 0; i < row.n; i++)
        several |= o->pool[row.at + i] != o->pool[row.at];
    if (!several)
        return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&o->rows, &o->cap_rows, o->n_rows,
                       sizeof(*o->rows)));
    for (uint32_t i = 0; i < row.n; i++)
        o->lists[msim_block_owners_member_at(o, &row, i).op] = o->n_rows;
    o->rows[o->n_rows++] = row;
    return MSIM_OK;
}

/* Of lists of one length: the first whose members are of several blocks. */
static enum msim_status keep_lists(struct msim_block_owners *o, uint32_t op)
{
    struct msim_lists f = {.of = 0};

    msim_lists_look(&f, o->w->t, op);
    for (uint32_t k = 0; k < f.n && o->lists[op] == MSIM_NONE; k++)
        MSIM_TRY(
            keep_row(o, (struct msim_block_owners_lists){
                            .op = op, .n = f.rows[k].n, .chunk = MSIM_NONE}));
    return MSIM_OK;
}

static enum msim_status keep_chunks(struct msim_block_owners *o)
{
    for (uint32_t i = 0; i < o->chunks.n; i++) {
        const struct msim_chunk_row *c = &o->chunks.rows[i];

        for (uint32_t k = 0; k < c->lists; k++)
            MSIM_TRY(
                keep_row(o, (struct msim_block_owners_lists){
                                .op = o->w->a.rows[msim_chunk_list(c, 0, k)].op,
                                .n = c->members,
                                .chunk = i,
                                .list = k}));
    }
    return MSIM_OK;
}

/* ---- all of it ------------------------------------------------------------
 */

static void spread_all(struct msim_block_owners *o)
{
    const struct msim_anatomy *a = &o->w->a;

    for (int i = 0; i < ROUNDS && o->changed; i++) {
        bool all = i > 0;

        o->changed = false;
        spread(o);
        all |= !o->changed;
        for (uint32_t s = 0; all && s < a->n; s++)
            if (is_after(a->rows[s].role))
                liken(o, s);
    }
}

enum msim_status msim_block_owners_find(struct msim_block_owners *o,
                                        const struct msim_weave *w,
                                        uint32_t blocks, const uint32_t *place)
{
    size_t n = (size_t)w->d.lives.n + 1, ops = (size_t)w->t->n_ops + 1;

    *o = (struct msim_block_owners){.w = w, .blocks = blocks, .changed = true};
    o->of = calloc(n, sizeof(*o->of));
    o->rank = malloc(n);
    o->lists = malloc(ops * sizeof(*o->lists));
    o->listed = calloc(n, sizeof(*o->listed));
    if (!o->of || !o->rank || !o->lists || !o->listed)
        return MSIM_ENOMEM;
    memset(o->rank, UNKNOWN, n);
    memset(o->lists, 0xff, ops * sizeof(*o->lists));
    note_passes(o, place);
    spread_all(o);
    MSIM_TRY(msim_chunks_find(&o->chunks, w));
    MSIM_TRY(guess_all(o));
    spread_all(o);
    MSIM_TRY(keep_chunks(o));
    for (uint32_t s = 0; s < w->a.n; s++)
        for (uint32_t i = w->a.rows[s].op;
             !place[s] && i < msim_anatomy_end(&w->a, s); i++)
            MSIM_TRY(keep_lists(o, i));
    return MSIM_OK;
}

void msim_block_owners_release(struct msim_block_owners *o)
{
    msim_chunks_release(&o->chunks);
    free(o->of);
    free(o->rank);
    free(o->listed);
    free(o->lists);
    free(o->rows);
    free(o->pool);
    *o = (struct msim_block_owners){0};
}

/* All that operators [first, end) name outside of lists, and lists of one
 * block. */
uint32_t msim_block_owners_ops(const struct msim_block_owners *o,
                               uint32_t first, uint32_t end)
{
    const struct msim_weave *w = o->w;
    struct best b = {0, UNKNOWN};

    for (uint32_t i = first; i < end; i++) {
        struct msim_lists f = {.of = 0};
        struct best x;

        if (o->lists[i] != MSIM_NONE)
            return 0;
        msim_lists_look(&f, w->t, i);
        x = alone(o, i, &f);
        for (uint32_t k = 0; k < f.n; k++)
            learn(o, &x, w->d.lives.of[f.rows[k].id]);
        if (x.rank < b.rank)
            b = x;
    }
    return b.owner;
}
