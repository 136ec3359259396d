/*
 * core/rewrite/repeat/alignment.c - which tensor of a block plays which part.
 */
#include "core/rewrite/repeat/layer_copies.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

/* ---- what operators name --------------------------------------------------
 */

/* What an operator names in turn: lives that go in, that come out, its
 * collective; NONE where a tensor is on no life. */
struct each {
    const struct msim_alignment *a;
    struct msim_lives_each in, out;
    uint32_t comm, item;
};

static struct each items_of(const struct msim_alignment *a, uint32_t op)
{
    const struct msim_trace *t = a->w->t;
    uint32_t comm = t->ops[op].comm;

    return (struct each){.a = a,
                         .in = msim_lives_inputs(&a->w->d.lives, t, op),
                         .out = msim_lives_outputs(&a->w->d.lives, t, op),
                         .comm =
                             comm == MSIM_NONE ? MSIM_NONE : a->of_comm[comm]};
}

static bool next_item(struct each *e)
{
    if (msim_lives_next(&e->in)) {
        e->item = e->in.life;
        return true;
    }
    if (msim_lives_next(&e->out)) {
        e->item = e->out.life;
        return true;
    }
    if (e->comm == MSIM_NONE)
        return false;
    e->item = e->a->w->d.lives.n + e->comm;
    e->comm = MSIM_NONE;
    return true;
}

/* Waits are for the last collective of that number before them. */
static enum msim_status find_comms(struct msim_alignment *a)
{
    const struct msim_trace *t = a->w->t;
    struct msim_idmap sent = {0};
    enum msim_status status = MSIM_OK;

    for (uint32_t k = 0; k < t->n_ops && status == MSIM_OK; k++) {
        uint32_t c = t->ops[a->w->a.order[k]].comm, *value;
        uint64_t key;

        if (c == MSIM_NONE)
            continue;
        key = msim_idmap_pair(t->comms[c].group, t->comms[c].sequence);
        if (t->comms[c].collective != MSIM_COLL_WAIT) {
            a->of_comm[c] = c;
            status = msim_idmap_put(&sent, key, c, &value);
            if (status == MSIM_OK)
                *value = c;
        } else {
            a->of_comm[c] = msim_idmap_get(&sent, key);
        }
    }
    msim_idmap_release(&sent);
    return status;
}

/* ---- phases ---------------------------------------------------------------
 */

static enum msim_status add_phase(struct msim_alignment *a, bool descends)
{
    MSIM_TRY(msim_grow((void **)&a->phases, &a->cap_phases, a->n_phases,
                       sizeof(*a->phases)));
    a->phases[a->n_phases++] = (struct msim_alignment_phase){descends};
    return MSIM_OK;
}

/* Phase 2 p is the forward part of pass p, 2 p + 1 its backward part. */
static enum msim_status place_passes(struct msim_alignment *a)
{
    const struct msim_anatomy *anatomy = &a->w->a;

    for (uint32_t p = 0; p < anatomy->n_passes; p++) {
        MSIM_TRY(add_phase(a, false));
        MSIM_TRY(add_phase(a, true));
    }
    for (uint32_t s = 0; s < anatomy->n; s++) {
        const struct msim_anatomy_statement *row = &anatomy->rows[s];

        a->phase[s] = MSIM_NONE;
        if (row->role != MSIM_ANATOMY_FORWARD &&
            row->role != MSIM_ANATOMY_BACKWARD)
            continue;
        a->place[s] = msim_repeat_place(a->r, anatomy, s);
        if (row->pass != MSIM_NONE)
            a->phase[s] = 2 * row->pass + (row->role == MSIM_ANATOMY_BACKWARD);
    }
    return MSIM_OK;
}

/* How a stretch of the step goes through the blocks, so far. */
struct going {
    uint32_t label, block; /* block 0: none yet */
    bool up, down;
};

/* Does the step turn, with block `b` under `label`? Then a phase begins. */
static bool turns(struct going *g, uint32_t label, uint32_t b)
{
    bool turned = !g->block || label != g->label || (g->up && b < g->block) ||
                  (g->down && b > g->block);

    if (turned)
        *g = (struct going){.label = label};
    else if (b != g->block) {
        g->up = b > g->block;
        g->down = !g->up;
    }
    g->block = b;
    return turned;
}

/* What names nothing of which a block is known goes with what is before it. */
static enum msim_status place_step(struct msim_alignment *a)
{
    const struct msim_weave *w = a->w;
    struct going g = {0};
    uint32_t before = 0;

    for (uint32_t s = 0; s < w->a.n; s++) {
        uint32_t owner, label = w->t->ops[w->a.rows[s].op].parent;

        if (w->a.rows[s].role != MSIM_ANATOMY_TAIL &&
            w->a.rows[s].role != MSIM_ANATOMY_OPTIMIZER) {
            before = 0;
            continue;
        }
        owner = msim_block_owners_ops(&a->owners, w->a.rows[s].op,
                                      msim_anatomy_end(&w->a, s));
        if (!owner && label == g.label &&
            a->owners.lists[w->a.rows[s].op] == MSIM_NONE)
            owner = before;
        before = owner == MSIM_BLOCK_OWNERS_FRAME ? 0 : owner;
        a->place[s] = before;
        if (!before)
            continue;
        if (turns(&g, label, before))
            MSIM_TRY(add_phase(a, false));
        a->phases[a->n_phases - 1].descends = g.down;
        a->phase[s] = a->n_phases - 1;
    }
    return MSIM_OK;
}

/* Is statement `s` behind backward, of no block, without lists? */
static bool is_left(const struct msim_alignment *a, uint32_t s)
{
    const struct msim_anatomy_statement *row = &a->w->a.rows[s];

    return !a->place[s] && a->owners.lists[row->op] == MSIM_NONE &&
           (row->role == MSIM_ANATOMY_TAIL || row->pass == MSIM_NONE);
}

/* Do `n` statements from `s` on come as often as there are blocks, with a
 * message among them? */
static bool comes_by_block(const struct msim_alignment *a, uint32_t s,
                           uint32_t n)
{
    const struct msim_anatomy *anatomy = &a->w->a;
    bool sends = false;

    for (uint32_t i = s; i < s + n * a->r->n; i++) {
        sends |= anatomy->t->ops[anatomy->rows[i].op].comm != MSIM_NONE;
        if (i + n < s + n * a->r->n && !msim_repeats_like(anatomy, i, i + n))
            return false;
    }
    return sends;
}

/* Statements [s, end) of no block: what is gathered of each one after the step
 * (ZeRO 1), which names memory of its own. */
static enum msim_status place_messages(struct msim_alignment *a, uint32_t s,
                                       uint32_t end)
{
    for (uint32_t n = (end - s) / a->r->n; n; n--)
        for (uint32_t at = s; at + n * a->r->n <= end; at++) {
            if (!comes_by_block(a, at, n))
                continue;
            for (uint32_t i = 0; i < n * a->r->n; i++) {
                a->place[at + i] = i / n + 1;
                a->phase[at + i] = a->n_phases;
            }
            return add_phase(a, false);
        }
    return MSIM_OK;
}

static enum msim_status place_left(struct msim_alignment *a)
{
    for (uint32_t s = 0, end; s < a->w->a.n; s = end) {
        for (end = s; end < a->w->a.n && is_left(a, end); end++)
            ;
        if (end > s)
            MSIM_TRY(place_messages(a, s, end));
        else
            end++;
    }
    return MSIM_OK;
}

/* ---- bodies ---------------------------------------------------------------
 */

static size_t key_of(const struct msim_alignment *a, uint32_t s)
{
    return (size_t)a->phase[s] * a->r->n + a->place[s] - 1;
}

static bool is_placed(const struct msim_alignment *a, uint32_t s)
{
    return a->place[s] && a->phase[s] != MSIM_NONE;
}

static enum msim_status find_bodies(struct msim_alignment *a)
{
    size_t n = (size_t)a->n_phases * a->r->n;

    a->body = malloc(((size_t)a->w->a.n + 1) * sizeof(*a->body));
    a->body_first = calloc(n + 2, sizeof(*a->body_first));
    a->aligned = calloc(n + 1, sizeof(*a->aligned));
    if (!a->body || !a->body_first || !a->aligned)
        return MSIM_ENOMEM;
    /* counted two further on, so that filling moves each to its own place */
    for (uint32_t s = 0; s < a->w->a.n; s++)
        if (is_placed(a, s))
            a->body_first[key_of(a, s) + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        a->body_first[i] += a->body_first[i - 1];
    for (uint32_t s = 0; s < a->w->a.n; s++)
        if (is_placed(a, s))
            a->body[a->body_first[key_of(a, s) + 1]++] = s;
    return MSIM_OK;
}

struct msim_alignment_body
msim_alignment_body_of(const struct msim_alignment *a, uint32_t phase,
                       uint32_t block)
{
    size_t key = (size_t)phase * a->r->n + block - 1;

    return (struct msim_alignment_body){&a->body[a->body_first[key]],
                                        a->body_first[key + 1] -
                                            a->body_first[key]};
}

static bool are_like(const struct msim_alignment *a, uint32_t phase,
                     uint32_t block)
{
    struct msim_alignment_body x = msim_alignment_body_of(a, phase, block);
    struct msim_alignment_body y = msim_alignment_body_of(a, phase, block + 1);

    if (x.n != y.n)
        return false;
    for (uint32_t i = 0; i < x.n; i++)
        if (!msim_repeats_like(&a->w->a, x.s[i], y.s[i]))
            return false;
    return true;
}

bool msim_alignment_like(const struct msim_alignment *a, uint32_t b)
{
    for (uint32_t p = 0; p < a->n_phases; p++)
        if (!a->aligned[(size_t)p * a->r->n + b - 1])
            return false;
    return true;
}

/* ---- links ----------------------------------------------------------------
 */

static void link_items(struct msim_alignment *a, uint32_t x, uint32_t y)
{
    if (x == MSIM_NONE || y == MSIM_NONE)
        return;
    if (x == y)
        a->pinned[x] = true;
    else if (a->next[x] == MSIM_NONE && a->prev[y] == MSIM_NONE) {
        a->next[x] = y;
        a->prev[y] = x;
    }
}

static void link_ops(struct msim_alignment *a, uint32_t x, uint32_t y)
{
    struct each e = items_of(a, x);
    struct each f = items_of(a, y);

    while (next_item(&e) && next_item(&f))
        link_items(a, e.item, f.item);
}

static void link_bodies(struct msim_alignment *a, uint32_t phase,
                        uint32_t block)
{
    const struct msim_anatomy *anatomy = &a->w->a;
    struct msim_alignment_body x = msim_alignment_body_of(a, phase, block);
    struct msim_alignment_body y = msim_alignment_body_of(a, phase, block + 1);

    for (uint32_t i = 0; i < x.n; i++)
        for (uint32_t k = 0, n = msim_anatomy_end(anatomy, x.s[i]) -
                                 anatomy->rows[x.s[i]].op;
             k < n; k++)
            link_ops(a, anatomy->rows[x.s[i]].op + k,
                     anatomy->rows[y.s[i]].op + k);
}

/* One past the stretch of one block that begins at member `i`. */
static uint32_t stretch_end(const uint32_t *places, uint32_t n, uint32_t i)
{
    uint32_t k = i;

    while (k < n && places[k] == places[i])
        k++;
    return k;
}

/* Statements that pieces have for members `x` and `y` alone. */
static void link_alone(struct msim_alignment *a,
                       const struct msim_block_owners_lists *row, uint32_t x,
                       uint32_t y)
{
    const struct msim_anatomy *anatomy = &a->w->a;
    const struct msim_chunk_row *c = &a->owners.chunks.rows[row->chunk];

    for (uint32_t k = 0; k < c->alone; k++) {
        uint32_t s = msim_chunk_alone(c, x, k), t = msim_chunk_alone(c, y, k);

        if (!msim_repeats_like(anatomy, s, t))
            continue;
        for (uint32_t i = anatomy->rows[s].op; i < msim_anatomy_end(anatomy, s);
             i++)
            link_ops(a, i, anatomy->rows[t].op + i - anatomy->rows[s].op);
    }
}

/* What stands beside members `x` and `y` of lists, all lists in turn. */
static void link_members(struct msim_alignment *a,
                         const struct msim_block_owners_lists *row, uint32_t x,
                         uint32_t y, struct msim_lists f[2])
{
    struct msim_block_owners_member mx =
        msim_block_owners_member_at(&a->owners, row, x);
    struct msim_block_owners_member my =
        msim_block_owners_member_at(&a->owners, row, y);
    const uint32_t *of = a->w->d.lives.of;

    if (row->chunk != MSIM_NONE)
        link_alone(a, row, x, y);
    msim_lists_look(&f[0], a->w->t, mx.op);
    msim_lists_look(&f[1], a->w->t, my.op);
    for (uint32_t k = 0; k < f[0].n && k < f[1].n; k++)
        if (f[0].rows[k].n == mx.n && f[1].rows[k].n == my.n)
            link_items(a, of[f[0].rows[k].id + mx.i],
                       of[f[1].rows[k].id + my.i]);
}

/* Stretches of one block and the next in lists. */
static void link_lists(struct msim_alignment *a,
                       const struct msim_block_owners_lists *row)
{
    const uint32_t *places = &a->owners.pool[row->at];
    uint32_t i = 0, k = stretch_end(places, row->n, 0);
    struct msim_lists f[2] = {{.of = 0}, {.of = 0}};

    while (k < row->n) {
        uint32_t end = stretch_end(places, row->n, k);

        if (places[i] && places[k] && end - k == k - i) {
            for (uint32_t m = 0; m < k - i; m++)
                if (places[k] == places[i] + 1)
                    link_members(a, row, i + m, k + m, f);
                else if (places[i] == places[k] + 1)
                    link_members(a, row, k + m, i + m, f);
        }
        i = k;
        k = end;
    }
}

static void link_all(struct msim_alignment *a)
{
    for (uint32_t p = 0; p < a->n_phases; p++)
        for (uint32_t b = 1; b < a->r->n; b++) {
            bool like = are_like(a, p, b);

            a->aligned[(size_t)p * a->r->n + b - 1] = like;
            if (like)
                link_bodies(a, p, b);
        }
    for (uint32_t i = 0; i < a->owners.n_rows; i++)
        link_lists(a, &a->owners.rows[i]);
}

/* ---- numbers --------------------------------------------------------------
 */

/* Everything in the chain of `item`, which has number `at`. */
static void number(struct msim_alignment *a, uint32_t item)
{
    int32_t index = (int32_t)a->at;
    uint32_t i;

    if (a->chain[item] != MSIM_NONE)
        return;
    a->anchor[a->n_chains] = item;
    for (i = item; i != MSIM_NONE && a->chain[i] == MSIM_NONE; i = a->next[i]) {
        a->chain[i] = a->n_chains;
        a->index[i] = index++;
    }
    index = (int32_t)a->at;
    for (i = a->prev[item]; i != MSIM_NONE && a->chain[i] == MSIM_NONE;
         i = a->prev[i]) {
        a->chain[i] = a->n_chains;
        a->index[i] = --index;
    }
    a->n_chains++;
}

/* Mark what block `at` names, or number it: what it names first of a chain has
 * the number of the block. */
struct naming {
    struct msim_alignment *a;
    bool *named;
    bool mark;
};

static void name_item(struct naming *x, uint32_t item)
{
    struct msim_alignment *a = x->a;

    if (item == MSIM_NONE || a->pinned[item])
        return;
    if (x->mark)
        x->named[item] = true;
    else if (a->prev[item] == MSIM_NONE || !x->named[a->prev[item]])
        number(a, item);
}

static void name_statement(struct naming *x, uint32_t s)
{
    const struct msim_anatomy *anatomy = &x->a->w->a;

    for (uint32_t i = anatomy->rows[s].op; i < msim_anatomy_end(anatomy, s);
         i++) {
        struct each e = items_of(x->a, i);

        while (next_item(&e))
            name_item(x, e.item);
    }
}

static void name_lists(struct naming *x,
                       const struct msim_block_owners_lists *row)
{
    struct msim_alignment *a = x->a;
    struct msim_lists f = {.of = 0};

    for (uint32_t i = 0; i < row->n; i++) {
        struct msim_block_owners_member m =
            msim_block_owners_member_at(&a->owners, row, i);

        if (a->owners.pool[row->at + i] != a->at)
            continue;
        for (uint32_t k = 0; row->chunk != MSIM_NONE &&
                             k < a->owners.chunks.rows[row->chunk].alone;
             k++)
            name_statement(
                x, msim_chunk_alone(&a->owners.chunks.rows[row->chunk], i, k));
        msim_lists_look(&f, a->w->t, m.op);
        for (uint32_t k = 0; k < f.n; k++)
            if (f.rows[k].n == m.n)
                name_item(x, a->w->d.lives.of[f.rows[k].id + m.i]);
    }
}

static void name_all(struct naming *x)
{
    struct msim_alignment *a = x->a;

    for (uint32_t p = 0; p < a->n_phases; p++) {
        struct msim_alignment_body b = msim_alignment_body_of(a, p, a->at);

        for (uint32_t i = 0; i < b.n; i++)
            name_statement(x, b.s[i]);
    }
    for (uint32_t i = 0; i < a->owners.n_rows; i++)
        name_lists(x, &a->owners.rows[i]);
}

enum msim_status msim_alignment_anchor(struct msim_alignment *a, uint32_t b)
{
    struct naming x = {.a = a, .mark = true};

    a->at = b;
    a->n_chains = 0;
    memset(a->chain, 0xff, a->n_items * sizeof(*a->chain));
    x.named = calloc((size_t)a->n_items + 1, sizeof(*x.named));
    if (!x.named)
        return MSIM_ENOMEM;
    name_all(&x);
    x.mark = false;
    name_all(&x);
    free(x.named);
    return MSIM_OK;
}

uint32_t msim_alignment_member(const struct msim_alignment *a, uint32_t item,
                               int32_t index)
{
    while (a->index[item] < index && a->next[item] != MSIM_NONE)
        item = a->next[item];
    while (a->index[item] > index && a->prev[item] != MSIM_NONE)
        item = a->prev[item];
    return item;
}

/* ---- all of it ------------------------------------------------------------
 */

static enum msim_status make_room(struct msim_alignment *a)
{
    size_t statements = (size_t)a->w->a.n + 1;
    size_t items = (size_t)a->n_items + 1;

    a->place = calloc(statements, sizeof(*a->place));
    a->phase = malloc(statements * sizeof(*a->phase));
    a->of_comm = malloc(((size_t)a->w->t->n_comms + 1) * sizeof(*a->of_comm));
    a->next = malloc(items * sizeof(*a->next));
    a->prev = malloc(items * sizeof(*a->prev));
    a->pinned = calloc(items, sizeof(*a->pinned));
    a->chain = malloc(items * sizeof(*a->chain));
    a->index = calloc(items, sizeof(*a->index));
    a->anchor = malloc(items * sizeof(*a->anchor));
    if (!a->place || !a->phase || !a->of_comm || !a->next || !a->prev ||
        !a->pinned || !a->chain || !a->index || !a->anchor)
        return MSIM_ENOMEM;
    memset(a->next, 0xff, items * sizeof(*a->next));
    memset(a->prev, 0xff, items * sizeof(*a->prev));
    memset(a->chain, 0xff, items * sizeof(*a->chain));
    memset(a->of_comm, 0xff,
           ((size_t)a->w->t->n_comms + 1) * sizeof(*a->of_comm));
    return MSIM_OK;
}

enum msim_status msim_alignment_find(struct msim_alignment *a,
                                     struct msim_weave *w,
                                     const struct msim_repeat *r)
{
    *a = (struct msim_alignment){
        .w = w, .r = r, .n_items = w->d.lives.n + w->t->n_comms};
    MSIM_TRY(make_room(a));
    MSIM_TRY(find_comms(a));
    MSIM_TRY(place_passes(a));
    MSIM_TRY(msim_block_owners_find(&a->owners, w, r->n, a->place));
    MSIM_TRY(place_step(a));
    MSIM_TRY(place_left(a));
    MSIM_TRY(find_bodies(a));
    link_all(a);
    return MSIM_OK;
}

void msim_alignment_release(struct msim_alignment *a)
{
    msim_block_owners_release(&a->owners);
    free(a->place);
    free(a->phase);
    free(a->phases);
    free(a->body);
    free(a->body_first);
    free(a->aligned);
    free(a->of_comm);
    free(a->next);
    free(a->prev);
    free(a->pinned);
    free(a->chain);
    free(a->index);
    free(a->anchor);
    *a = (struct msim_alignment){0};
}
