/*
 * core/rewrite/repeat/layer_frame.c - operators of no block, whose lists have
 * members of all: they grow and shrink with the layers.
 */
#include "core/rewrite/repeat/layer_copies.h"

/* ---- what is of no block --------------------------------------------------
 */

/* Elements of a member of the first of the lists. */
static int64_t elems_of(const struct msim_layer_copies *c,
                        const struct msim_lists *f, uint32_t i)
{
    return (int64_t)msim_arg_elems(c->w->t,
                                   &c->w->t->args[f->rows[0].arg + 1 + i]);
}

/* Norms of all gradients in one tensor (stack), or gradients themselves (cat):
 * it goes with the lists that it is made of. */
static void note_sizes(struct msim_layer_copies *c,
                       const struct msim_block_owners_lists *row)
{
    const struct msim_trace *t = c->w->t;
    struct msim_lives_each e = msim_lives_outputs(&c->w->d.lives, t, row->op);
    struct msim_layer_size sum = {0};
    struct msim_lists f = {.of = 0};

    msim_lists_look(&f, t, row->op);
    if (!f.n || f.rows[0].n != row->n)
        return;
    for (uint32_t i = 0; i < row->n; i++)
        sum.from += elems_of(c, &f, i);
    for (uint32_t i = 0; i < c->n_members; i++)
        sum.to += elems_of(c, &f, c->members[i].member);
    while (msim_lives_next(&e)) {
        int64_t size = e.arg->n == 1 ? *msim_arg_dims(t, e.arg) : 0;

        if (e.life == MSIM_NONE || !size)
            continue;
        if (size == row->n)
            c->sizes[e.life] = (struct msim_layer_size){size, c->n_members};
        else if (size == sum.from)
            c->sizes[e.life] = sum;
    }
}

static enum msim_status copy_lists(struct msim_layer_copies *c, uint32_t op,
                                   const struct msim_block_owners_lists *row)
{
    const struct msim_layer_place none = {0, 0, MSIM_NONE};
    struct msim_layer_lists l = {.row = row};

    if (!row)
        return msim_layer_copy_op(c, op, &none, &l);
    MSIM_TRY(msim_layer_members(c, row));
    note_sizes(c, row);
    l.n = c->n_members;
    return l.n ? msim_layer_copy_op(c, op, &none, &l) : MSIM_OK;
}

static enum msim_status copy_tree(struct msim_layer_copies *c, uint32_t op,
                                  const struct msim_layer_place *at)
{
    const struct msim_layer_lists none = {0};

    for (uint32_t i = op; i < c->w->t->ops[op].end; i++)
        MSIM_TRY(msim_layer_copy_op(c, i, at, &none));
    return MSIM_OK;
}

/* Which block the child `op` of an operator on lists works for: that of the one
 * before, where it names nothing that is known. */
static uint32_t block_of(const struct msim_layer_copies *c, uint32_t op,
                         uint32_t before)
{
    uint32_t owner =
        msim_block_owners_ops(&c->a.owners, op, c->w->t->ops[op].end);

    return owner == MSIM_BLOCK_OWNERS_FRAME ? 0 : owner ? owner : before;
}

/* One past the children from `op` on that work for `block`. */
static uint32_t children_end(const struct msim_layer_copies *c, uint32_t op,
                             uint32_t end, uint32_t block)
{
    while (op < end && c->a.owners.lists[op] == MSIM_NONE &&
           block_of(c, op, block) == block)
        op = c->w->t->ops[op].end;
    return op;
}

/* Children of an operator on lists: on a CPU it works member by member. */
static enum msim_status copy_children(struct msim_layer_copies *c, uint32_t top)
{
    const struct msim_op *ops = c->w->t->ops;

    for (uint32_t i = top + 1, end, b = 0; i < ops[top].end; i = end) {
        uint32_t row = c->a.owners.lists[i];

        b = block_of(c, i, b);
        end = children_end(c, ops[i].end, ops[top].end, b);
        if (row != MSIM_NONE) {
            MSIM_TRY(copy_lists(c, i, &c->a.owners.rows[row]));
            MSIM_TRY(copy_children(c, i));
            end = ops[i].end;
            continue;
        }
        for (uint32_t copy = 0; copy <= (b == c->a.at && b ? c->more : 0);
             copy++)
            for (uint32_t k = i; k < end && !msim_layer_is_out(c, b);
                 k = ops[k].end)
                MSIM_TRY(copy_tree(
                    c, k, &(struct msim_layer_place){b, copy, MSIM_NONE}));
    }
    return MSIM_OK;
}

enum msim_status msim_layer_copy_frame(struct msim_layer_copies *c, uint32_t s)
{
    const struct msim_layer_place none = {0, 0, MSIM_NONE};
    uint32_t top = c->w->a.rows[s].op, row = c->a.owners.lists[top];

    if (row != MSIM_NONE) {
        MSIM_TRY(copy_lists(c, top, &c->a.owners.rows[row]));
        return c->n_members ? copy_children(c, top) : MSIM_OK;
    }
    return copy_tree(c, top, &none);
}

/* ---- pieces ---------------------------------------------------------------
 */

/* Statements alone of members [first, end), each in its turn. */
static enum msim_status copy_alone(struct msim_layer_copies *c,
                                   const struct msim_chunk_row *r,
                                   uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        for (uint32_t k = 0; k < r->alone; k++)
            MSIM_TRY(
                msim_layer_copy(c, msim_chunk_alone(r, c->members[i].member, k),
                                &c->members[i].at));
    return MSIM_OK;
}

/* The row of lists that the `k`-th statement of a piece has; NULL: none. */
static const struct msim_block_owners_lists *
list_of(const struct msim_layer_copies *c, const struct msim_chunk_row *r,
        uint32_t k)
{
    uint32_t op = c->w->a.rows[msim_chunk_list(r, 0, k)].op;
    uint32_t row = c->a.owners.lists[op];

    return row == MSIM_NONE ? NULL : &c->a.owners.rows[row];
}

static enum msim_status copy_piece(struct msim_layer_copies *c,
                                   const struct msim_chunk_row *r,
                                   uint32_t first, uint32_t end)
{
    const struct msim_layer_place none = {0, 0, MSIM_NONE};

    MSIM_TRY(copy_alone(c, r, first, end));
    for (uint32_t k = 0; k < r->lists; k++)
        MSIM_TRY(msim_layer_copy_op(
            c, c->w->a.rows[msim_chunk_list(r, 0, k)].op, &none,
            &(struct msim_layer_lists){list_of(c, r, k), first, end - first}));
    return MSIM_OK;
}

/* Pieces as large as they were, of other members. */
enum msim_status msim_layer_copy_chunks(struct msim_layer_copies *c,
                                        const struct msim_chunk_row *r)
{
    MSIM_TRY(msim_layer_members(c, list_of(c, r, 0)));
    for (uint32_t i = 0; i < c->n_members; i += r->size)
        MSIM_TRY(copy_piece(
            c, r, i, i + r->size < c->n_members ? i + r->size : c->n_members));
    return MSIM_OK;
}

const struct msim_chunk_row *
msim_layer_chunks_at(const struct msim_layer_copies *c, uint32_t s)
{
    const struct msim_chunks *all = &c->a.owners.chunks;

    for (uint32_t i = 0; i < all->n; i++) {
        bool known = true;

        for (uint32_t k = 0; k < all->rows[i].lists; k++)
            known &= list_of(c, &all->rows[i], k) != NULL;
        if (known && s >= all->rows[i].first && s < all->rows[i].end)
            return &all->rows[i];
    }
    return NULL;
}
