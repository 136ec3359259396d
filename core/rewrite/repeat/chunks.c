/*
 * core/rewrite/repeat/chunks.c - a step that takes its parameters in pieces.
 */
#include "core/rewrite/repeat/layer_copies.h"

#include "core/base/containers.h"

#include <stdlib.h>

/* ---- lists ----------------------------------------------------------------
 */

/* A list of one is one, too: the last piece may have one member. */
static void look_here(struct msim_lists *f, const struct msim_trace *t,
                      uint32_t block, uint32_t id, bool out)
{
    const struct msim_arg_block *b;

    if (block == MSIM_NONE || id == MSIM_NONE)
        return;
    b = &t->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct msim_arg *a = &t->args[i];

        id += a->kind == MSIM_ARG_TENSOR;
        if (a->kind == MSIM_ARG_LIST && a->n && a->v.i == (int64_t)a->n &&
            a[1].kind == MSIM_ARG_TENSOR && a[a->n].kind == MSIM_ARG_TENSOR &&
            f->n < MSIM_CHUNKS_LISTS)
            f->rows[f->n++] = (struct msim_list){i, id, a->n, out};
    }
}

void msim_lists_look(struct msim_lists *f, const struct msim_trace *t,
                     uint32_t op)
{
    if (f->of == op + 1)
        return;
    f->of = op + 1;
    f->n = 0;
    look_here(f, t, t->ops[op].args, t->ops[op].ids, false);
    look_here(f, t, t->ops[op].outs, t->ops[op].out_ids, true);
}

/* Members of the lists that statement `s` takes, which are all equally long; 0:
 * it takes none. */
static uint32_t length_of(const struct msim_weave *w, uint32_t s)
{
    struct msim_lists f = {.of = 0};

    msim_lists_look(&f, w->t, w->a.rows[s].op);
    for (uint32_t i = 1; i < f.n; i++)
        if (f.rows[i].n != f.rows[0].n)
            return 0;
    return f.n ? f.rows[0].n : 0;
}

/* ---- pieces ---------------------------------------------------------------
 */

/* Statements [first, end): those alone, then those on lists of `n`. */
struct piece {
    uint32_t first, lists, end, n;
};

static uint32_t name_of(const struct msim_weave *w, uint32_t s)
{
    return w->t->ops[w->a.rows[s].op].name;
}

static bool same_label(const struct msim_weave *w, uint32_t a, uint32_t b)
{
    return w->t->ops[w->a.rows[a].op].parent ==
           w->t->ops[w->a.rows[b].op].parent;
}

/* The piece that begins at `s`, where there is one. Without statements alone it
 * ends where its first one comes again. */
static bool find_piece(const struct msim_weave *w, uint32_t s, struct piece *p)
{
    uint32_t k = s;

    while (k < w->a.n && same_label(w, s, k) && !length_of(w, k))
        k++;
    if (k == w->a.n || !same_label(w, s, k))
        return false;
    *p = (struct piece){s, k, k, length_of(w, k)};
    while (p->end < w->a.n && same_label(w, s, p->end) &&
           length_of(w, p->end) == p->n &&
           (p->end == k || name_of(w, p->end) != name_of(w, k)))
        p->end++;
    return (p->lists - p->first) % p->n == 0;
}

/* The parameter or gradient of the first member of a piece; where it names
 * none (shares of weights), and works on each member alone first, what that is
 * then. NONE: nothing tells one piece from the next. */
static uint32_t first_named(const struct msim_weave *w, const struct piece *p)
{
    struct msim_lists f = {.of = 0};
    uint32_t any = MSIM_NONE;

    for (uint32_t s = p->lists; s < p->end; s++) {
        msim_lists_look(&f, w->t, w->a.rows[s].op);
        for (uint32_t k = 0; k < f.n; k++) {
            uint32_t life = w->d.lives.of[f.rows[k].id];

            if (life != MSIM_NONE && (w->kind[life] == MSIM_LIFE_PARAMETER ||
                                      w->kind[life] == MSIM_LIFE_GRADIENT))
                return life;
            if (any == MSIM_NONE && p->lists > p->first)
                any = life;
        }
    }
    return any;
}

/* Does `b` do for its members what `a` does? */
static bool goes_on(const struct msim_weave *w, const struct piece *a,
                    const struct piece *b)
{
    uint32_t alone = (a->lists - a->first) / a->n, x = first_named(w, a);

    if (x == MSIM_NONE || x == first_named(w, b) ||
        !same_label(w, a->first, b->first) || b->n > a->n ||
        (b->lists - b->first) / b->n != alone ||
        b->end - b->lists != a->end - a->lists)
        return false;
    for (uint32_t i = 0; i < b->end - b->lists; i++)
        if (name_of(w, a->lists + i) != name_of(w, b->lists + i))
            return false;
    for (uint32_t i = 0; i < alone; i++)
        if (name_of(w, a->first + i) != name_of(w, b->first + i))
            return false;
    return true;
}

static enum msim_status add(struct msim_chunks *c, const struct piece *p,
                            uint32_t end, uint32_t members)
{
    MSIM_TRY(msim_grow((void **)&c->rows, &c->cap, c->n, sizeof(*c->rows)));
    c->rows[c->n++] =
        (struct msim_chunk_row){.first = p->first,
                                .end = end,
                                .size = p->n,
                                .members = members,
                                .alone = (p->lists - p->first) / p->n,
                                .lists = p->end - p->lists};
    return MSIM_OK;
}

/* Pieces from `s` on; `*end` is behind them. */
static enum msim_status find_from(struct msim_chunks *c,
                                  const struct msim_weave *w, uint32_t s,
                                  uint32_t *end)
{
    struct piece first, last, next;
    uint32_t members;

    *end = s + 1;
    if (!find_piece(w, s, &first))
        return MSIM_OK;
    last = first;
    members = first.n;
    while (last.n == first.n && last.end < w->a.n &&
           find_piece(w, last.end, &next) && goes_on(w, &first, &next)) {
        members += next.n;
        last = next;
    }
    if (last.first == first.first)
        return MSIM_OK;
    *end = last.end;
    return add(c, &first, last.end, members);
}

enum msim_status msim_chunks_find(struct msim_chunks *c,
                                  const struct msim_weave *w)
{
    *c = (struct msim_chunks){0};
    for (uint32_t s = 0, end; s < w->a.n; s = end) {
        end = s + 1;
        if (w->a.rows[s].role == MSIM_ANATOMY_OPTIMIZER)
            MSIM_TRY(find_from(c, w, s, &end));
    }
    return MSIM_OK;
}

void msim_chunks_release(struct msim_chunks *c)
{
    free(c->rows);
    *c = (struct msim_chunks){0};
}

/* ---- statements of a member -----------------------------------------------
 */

static uint32_t piece_of(const struct msim_chunk_row *r, uint32_t member)
{
    return r->first + member / r->size * (r->size * r->alone + r->lists);
}

uint32_t msim_chunk_alone(const struct msim_chunk_row *r, uint32_t member,
                          uint32_t alone)
{
    return piece_of(r, member) + member % r->size * r->alone + alone;
}

uint32_t msim_chunk_list(const struct msim_chunk_row *r, uint32_t member,
                         uint32_t list)
{
    uint32_t first = member / r->size * r->size;
    uint32_t n = r->members - first < r->size ? r->members - first : r->size;

    return piece_of(r, member) + n * r->alone + list;
}
