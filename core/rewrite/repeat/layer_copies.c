/*
 * core/rewrite/repeat/layer_copies.c - operators of a trace with more or fewer
 * blocks.
 */
#include "core/rewrite/repeat/layer_copies.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ----------------------------------------------------------------
 */

bool msim_layer_is_out(const struct msim_layer_copies *c, uint32_t b)
{
    return b > c->a.at && b <= c->a.at + c->fewer;
}

/* How much further on block `at` is than it was. */
static int32_t shift_of(const struct msim_layer_copies *c,
                        const struct msim_layer_place *at)
{
    if (at->copy)
        return (int32_t)at->copy;
    return at->block > c->a.at ? (int32_t)c->more - (int32_t)c->fewer : 0;
}

/* The item that `item` is there; `*copy` above 0: it has none, but is that of a
 * copy in its chain. */
static uint32_t named(const struct msim_layer_copies *c, uint32_t item,
                      const struct msim_layer_place *at, uint32_t *copy)
{
    const struct msim_alignment *a = &c->a;
    int32_t b = (int32_t)a->at, more = (int32_t)c->more, e;

    *copy = 0;
    if (item == MSIM_NONE || !at->block || a->pinned[item] ||
        a->chain[item] == MSIM_NONE)
        return item;
    e = a->index[item] + shift_of(c, at);
    if (e <= b)
        return msim_alignment_member(a, item, e);
    if (e > b + more)
        return msim_alignment_member(a, item, e - more + (int32_t)c->fewer);
    *copy = (uint32_t)(e - b);
    return item;
}

static uint32_t *fresh_of(struct msim_layer_copies *c, uint32_t item,
                          uint32_t copy)
{
    return &c->fresh[(size_t)c->a.chain[item] * c->more + copy - 1];
}

/* The storage of `life` there; 0: what it has. */
static uint32_t storage_of(struct msim_layer_copies *c, uint32_t life,
                           const struct msim_layer_place *at)
{
    uint32_t copy, item = named(c, life, at, &copy), *fresh;

    if (!copy)
        return item == life || item == MSIM_NONE ? 0 : c->w->d.storage[item];
    fresh = fresh_of(c, item, copy);
    if (!*fresh)
        *fresh = msim_draft_fresh(&c->w->d);
    return *fresh;
}

/* ---- collectives ----------------------------------------------------------
 */

static enum msim_status number_of(struct msim_layer_copies *c, uint32_t comm,
                                  const struct msim_layer_place *at,
                                  int64_t **number)
{
    uint32_t lives = c->w->d.lives.n, copy, id, *fresh;
    uint32_t item = named(c, lives + comm, at, &copy);

    id = item - lives;
    if (copy) {
        fresh = fresh_of(c, item, copy);
        if (!*fresh)
            *fresh = ++c->last_comm;
        id = *fresh;
    }
    while (c->cap_numbers <= id) {
        uint32_t cap = c->cap_numbers;

        MSIM_TRY(msim_grow((void **)&c->numbers, &c->cap_numbers, cap,
                           sizeof(*c->numbers)));
        memset(&c->numbers[cap], 0xff,
               (c->cap_numbers - cap) * sizeof(*c->numbers));
    }
    *number = &c->numbers[id];
    return MSIM_OK;
}

/* Collectives are counted anew, group by group; who waits names the one that
 * it waits for. */
static enum msim_status renumber(struct msim_layer_copies *c, uint32_t comm,
                                 const struct msim_layer_place *at)
{
    const struct msim_trace *t = c->w->t;
    struct msim_trace *out = c->w->d.out;
    struct msim_comm *made = &out->comms[out->n_comms - 1];
    uint32_t group = made->group == MSIM_NONE ? t->n_groups : made->group;
    int64_t *number;

    if (made->sequence < 0 || c->a.of_comm[comm] == MSIM_NONE)
        return MSIM_OK;
    MSIM_TRY(number_of(c, c->a.of_comm[comm], at, &number));
    if (made->collective != MSIM_COLL_WAIT)
        *number = c->counters[group]++;
    if (*number >= 0)
        made->sequence = *number;
    return MSIM_OK;
}

/* ---- numbers of autograd --------------------------------------------------
 */

/* What is added to number `seq`. */
static int32_t later(const struct msim_layer_copies *c, int32_t seq,
                     const struct msim_layer_place *at)
{
    int64_t sum = 0, copies = (int64_t)c->more - (c->fewer ? 1 : 0);

    if (seq < 0)
        return 0;
    for (uint32_t p = 0; p < c->w->a.n_passes; p++)
        if (seq >= c->least[p])
            sum += copies * c->by[p];
    if (at->copy && at->pass != MSIM_NONE)
        sum += at->copy * c->by[at->pass];
    return (int32_t)sum;
}

static int64_t least_of(const struct msim_layer_copies *c, uint32_t pass,
                        uint32_t block)
{
    struct msim_alignment_body b =
        msim_alignment_body_of(&c->a, 2 * pass, block);
    int32_t least = INT32_MAX;

    for (uint32_t i = 0; i < b.n; i++) {
        int32_t x = msim_anatomy_least_sequence(&c->w->a, b.s[i]);

        least = x < least ? x : least;
    }
    return least == INT32_MAX ? INT64_MAX : least;
}

/* Numbers of blocks are equally many, so that those of one are as far apart as
 * those of the next; of what is left out all are gone. */
static void find_numbers(struct msim_layer_copies *c)
{
    for (uint32_t p = 0; p < c->w->a.n_passes; p++) {
        uint32_t b = c->a.at;
        int64_t own = least_of(c, p, b), next = least_of(c, p, b + 1);

        c->least[p] = INT64_MAX;
        if (own == INT64_MAX || next == INT64_MAX || next <= own)
            continue;
        c->by[p] = (next - own) * (c->fewer ? c->fewer : 1);
        c->least[p] = next + (c->fewer ? c->by[p] : 0);
    }
}

/* ---- members of lists -----------------------------------------------------
 */

/* Do lists go from the last block to the first? */
static bool descends(const uint32_t *places, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (places[i] && places[i - 1] && places[i] != places[i - 1])
            return places[i] < places[i - 1];
    return false;
}

static enum msim_status add_member(struct msim_layer_copies *c, uint32_t member,
                                   uint32_t block, uint32_t copy)
{
    MSIM_TRY(msim_grow((void **)&c->members, &c->cap_members, c->n_members,
                       sizeof(*c->members)));
    c->members[c->n_members++] =
        (struct msim_layer_member){member, {block, copy, MSIM_NONE}};
    return MSIM_OK;
}

/* Copies of the stretch [first, end) of the block that is copied. */
static enum msim_status add_copies(struct msim_layer_copies *c, uint32_t first,
                                   uint32_t end, bool down)
{
    for (uint32_t k = 1; k <= c->more; k++)
        for (uint32_t i = first; i < end; i++)
            MSIM_TRY(add_member(c, i, c->a.at, down ? c->more + 1 - k : k));
    return MSIM_OK;
}

enum msim_status msim_layer_members(struct msim_layer_copies *c,
                                    const struct msim_block_owners_lists *row)
{
    const uint32_t *places = &c->a.owners.pool[row->at];
    bool down = descends(places, row->n);

    c->n_members = 0;
    for (uint32_t i = 0, end; i < row->n; i = end) {
        bool copied = c->more && places[i] == c->a.at;

        for (end = i; end < row->n && places[end] == places[i]; end++)
            ;
        if (copied && down)
            MSIM_TRY(add_copies(c, i, end, down));
        for (uint32_t k = i; k < end && !msim_layer_is_out(c, places[i]); k++)
            MSIM_TRY(add_member(c, k, places[i], 0));
        if (copied && !down)
            MSIM_TRY(add_copies(c, i, end, down));
    }
    return MSIM_OK;
}

/* ---- arguments ------------------------------------------------------------
 */

/* The size of a tensor that goes with the number of parameters; 0: as it is. */
static int64_t size_of(const struct msim_layer_copies *c,
                       const struct msim_arg *a, uint32_t life)
{
    const struct msim_layer_size *x;

    if (life == MSIM_NONE || a->n != 1)
        return 0;
    x = &c->sizes[life];
    return x->from && *msim_arg_dims(c->w->t, a) == x->from ? x->to : 0;
}

/* One side of an operator on its way. */
struct side {
    int side; /* 0: in, 1: out */
    uint32_t block, id, n;
    bool changed;
};

static enum msim_status add_part(struct msim_layer_copies *c, struct side *x,
                                 struct msim_draft_part part)
{
    MSIM_TRY(msim_grow((void **)&c->parts[x->side], &c->cap_parts[x->side],
                       x->n, sizeof(*c->parts[x->side])));
    c->parts[x->side][x->n++] = part;
    return MSIM_OK;
}

/* The tensor that argument `arg` is, there. */
static enum msim_status put_tensor(struct msim_layer_copies *c, struct side *x,
                                   uint32_t arg, uint32_t id,
                                   const struct msim_layer_place *at)
{
    uint32_t life = id == MSIM_NONE ? MSIM_NONE : c->w->d.lives.of[id];
    struct msim_draft_part part = {.arg = arg, .id = id};

    if (life != MSIM_NONE) {
        part.storage = storage_of(c, life, at);
        part.count = size_of(c, &c->w->t->args[arg], life);
        x->changed |= part.storage || part.count;
    }
    return add_part(c, x, part);
}

/* Which list of its operator the one at `arg` on this side is: equal lists of
 * both sides are stored once. */
static uint32_t number_of_list(const struct msim_lists *f, uint32_t arg,
                               bool out)
{
    uint32_t k = 0;

    while (k < f->n && (f->rows[k].arg != arg || f->rows[k].out != out))
        k++;
    return k;
}

/* List `k` of the first piece's operator, with all members. */
static enum msim_status put_list(struct msim_layer_copies *c, struct side *x,
                                 uint32_t arg, uint32_t k,
                                 const struct msim_layer_lists *l)
{
    struct msim_lists f = {.of = 0};

    x->changed = true;
    MSIM_TRY(add_part(
        c, x,
        (struct msim_draft_part){.arg = arg, .id = MSIM_NONE, .count = l->n}));
    for (uint32_t i = l->first; i < l->first + l->n; i++) {
        const struct msim_layer_member *m = &c->members[i];
        struct msim_block_owners_member from =
            msim_block_owners_member_at(&c->a.owners, l->row, m->member);

        msim_lists_look(&f, c->w->t, from.op);
        if (k < f.n)
            MSIM_TRY(put_tensor(c, x, f.rows[k].arg + 1 + from.i,
                                f.rows[k].id + from.i, &m->at));
    }
    return MSIM_OK;
}

/* Numbers for each member, such as the sizes of steps. */
static bool is_numbers(const struct msim_trace *t, uint32_t arg, uint32_t n)
{
    const struct msim_arg *a = &t->args[arg];

    if (a->kind != MSIM_ARG_LIST || a->n != n || a->v.i != (int64_t)n)
        return false;
    for (uint32_t i = 1; i <= n; i++)
        if (a[i].kind == MSIM_ARG_TENSOR || a[i].kind == MSIM_ARG_LIST)
            return false;
    return n > 1;
}

static enum msim_status put_numbers(struct msim_layer_copies *c, struct side *x,
                                    uint32_t arg,
                                    const struct msim_layer_lists *l)
{
    x->changed = true;
    MSIM_TRY(add_part(
        c, x,
        (struct msim_draft_part){.arg = arg, .id = MSIM_NONE, .count = l->n}));
    for (uint32_t i = l->first; i < l->first + l->n; i++) {
        struct msim_block_owners_member from = msim_block_owners_member_at(
            &c->a.owners, l->row, c->members[i].member);

        MSIM_TRY(add_part(c, x,
                          (struct msim_draft_part){.arg = arg + 1 + from.i,
                                                   .id = MSIM_NONE}));
    }
    return MSIM_OK;
}

static enum msim_status put_side(struct msim_layer_copies *c, struct side *x,
                                 uint32_t op, const struct msim_layer_lists *l,
                                 const struct msim_layer_place *at)
{
    const struct msim_trace *t = c->w->t;
    struct msim_lists f = {.of = 0};
    const struct msim_arg_block *b;
    uint32_t n = 0;

    if (x->block == MSIM_NONE)
        return MSIM_OK;
    if (l->row) {
        msim_lists_look(&f, t, op);
        n = msim_block_owners_member_at(&c->a.owners, l->row, 0).n;
    }
    b = &t->blocks[x->block];
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        uint32_t k = number_of_list(&f, i, x->side == 1);
        bool tensor = t->args[i].kind == MSIM_ARG_TENSOR;

        if (k < f.n && f.rows[k].n == n) {
            MSIM_TRY(put_list(c, x, i, k, l));
            i += f.rows[k].n;
            x->id += f.rows[k].n;
            continue;
        }
        if (l->row && is_numbers(t, i, n)) {
            MSIM_TRY(put_numbers(c, x, i, l));
            i += n;
            continue;
        }
        MSIM_TRY(put_tensor(c, x, i, tensor ? x->id : MSIM_NONE, at));
        x->id += tensor && x->id != MSIM_NONE;
    }
    return MSIM_OK;
}

/* ---- operators ------------------------------------------------------------
 */

enum msim_status msim_layer_copy_op(struct msim_layer_copies *c, uint32_t op,
                                    const struct msim_layer_place *at,
                                    const struct msim_layer_lists *l)
{
    const struct msim_op *o = &c->w->t->ops[op];
    const struct msim_draft_how how = {.at = msim_draft_own_place(&c->w->d, op),
                                       .later = later(c, o->seq, at)};
    struct side in = {.side = 0, .block = o->args, .id = o->ids};
    struct side out = {.side = 1, .block = o->outs, .id = o->out_ids};

    MSIM_TRY(put_side(c, &in, op, l, at));
    MSIM_TRY(put_side(c, &out, op, l, at));
    if (in.changed || out.changed)
        MSIM_TRY(msim_draft_copy_parts(
            &c->w->d, op, &how,
            &(struct msim_draft_parts){c->parts[0], c->parts[1], in.n, out.n}));
    else
        MSIM_TRY(msim_draft_copy(&c->w->d, op, &how));
    return o->comm == MSIM_NONE ? MSIM_OK : renumber(c, o->comm, at);
}

/* Operators below the statement stand below the copies of their parents. */
enum msim_status msim_layer_copy(struct msim_layer_copies *c, uint32_t s,
                                 const struct msim_layer_place *at)
{
    const struct msim_layer_lists none = {0};

    for (uint32_t i = c->w->a.rows[s].op; i < msim_anatomy_end(&c->w->a, s);
         i++)
        MSIM_TRY(msim_layer_copy_op(c, i, at, &none));
    return MSIM_OK;
}

/* ---- from beginning to end -------------------------------------------------
 */

static void find_counters(struct msim_layer_copies *c)
{
    const struct msim_trace *t = c->w->t;

    for (uint32_t i = 0; i <= t->n_groups; i++)
        c->counters[i] = INT64_MAX;
    for (uint32_t i = 0; i < t->n_comms; i++) {
        uint32_t group =
            t->comms[i].group == MSIM_NONE ? t->n_groups : t->comms[i].group;

        if (t->comms[i].collective != MSIM_COLL_WAIT &&
            t->comms[i].sequence >= 0 &&
            t->comms[i].sequence < c->counters[group])
            c->counters[group] = t->comms[i].sequence;
    }
}

enum msim_status msim_layer_copies_open(struct msim_layer_copies *c)
{
    const struct msim_trace *t = c->w->t;
    size_t chains = (size_t)c->a.n_chains * c->more + 1;
    size_t passes = (size_t)c->w->a.n_passes + 1;

    c->last_comm = t->n_comms;
    c->fresh = calloc(chains, sizeof(*c->fresh));
    c->counters = malloc(((size_t)t->n_groups + 1) * sizeof(*c->counters));
    c->least = malloc(passes * sizeof(*c->least));
    c->by = calloc(passes, sizeof(*c->by));
    c->sizes = calloc((size_t)c->w->d.lives.n + 1, sizeof(*c->sizes));
    if (!c->fresh || !c->counters || !c->least || !c->by || !c->sizes)
        return MSIM_ENOMEM;
    find_counters(c);
    find_numbers(c);
    return MSIM_OK;
}

void msim_layer_copies_close(struct msim_layer_copies *c)
{
    msim_alignment_release(&c->a);
    free(c->fresh);
    free(c->numbers);
    free(c->counters);
    free(c->least);
    free(c->by);
    free(c->sizes);
    free(c->members);
    free(c->parts[0]);
    free(c->parts[1]);
    *c = (struct msim_layer_copies){0};
}
