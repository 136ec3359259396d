/*
 * core/rewrite/split/places.c - a recorded pass cut into places.
 */
#include "core/rewrite/split/split.h"

#include "core/base/containers.h"
#include "core/pipeline/pipeline_schedule.h"
#include "core/rewrite/weave/draft.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *new_numbers(uint32_t n)
{
    uint32_t *x = malloc(((size_t)n + 1) * sizeof(*x));

    if (x)
        memset(x, 0xff, ((size_t)n + 1) * sizeof(*x));
    return x;
}

/* ---- blocks to places ----------------------------------------------------
 */

static uint32_t first_block(const struct msim_anatomy *a, uint32_t pass)
{
    uint32_t i = 0;

    while (i < a->n_blocks && a->blocks[i].pass != pass)
        i++;
    return i;
}

static uint32_t count_blocks(const struct msim_anatomy *a, uint32_t pass)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < a->n_blocks; i++)
        n += a->blocks[i].pass == pass;
    return n;
}

struct spreading {
    struct msim_places *p;
    uint32_t stages, chunks;
    const uint32_t *blocks; /* by stage; NULL: evenly */
    uint32_t first, n;      /* blocks of the pass at hand */
};

/* The place of block `k`, counted in its pass. */
static uint32_t place_of_block(const struct spreading *x, uint32_t k)
{
    uint32_t place = 0, end = 0;

    for (; place < x->p->n; place++) {
        uint32_t stage = place % x->stages;
        int64_t of = x->blocks ? x->blocks[stage]
                               : msim_pipeline_layers(x->n, x->stages, stage);

        end += (uint32_t)msim_pipeline_chunk_layers(of, x->chunks,
                                                    place / x->stages);
        if (k < end)
            return place;
    }
    return place - 1;
}

/* Does what keeps a gradient send it? Buckets hold gradients of several places.
 */
static bool sends_gradients(const struct msim_weave *w)
{
    for (uint32_t s = 0; s < w->a.n; s++)
        for (uint32_t i = w->a.rows[s].op;
             w->gradient[s] != MSIM_NONE && i < msim_anatomy_end(&w->a, s); i++)
            if (w->t->ops[i].comm != MSIM_NONE)
                return true;
    return false;
}

/* Are the stages given as many blocks as pass `pass` has? */
static enum msim_status check_given(const struct spreading *x, uint32_t pass)
{
    uint32_t n = count_blocks(&x->p->w->a, pass);
    uint64_t given = 0;

    for (uint32_t i = 0; x->blocks && i < x->stages; i++)
        given += x->blocks[i];
    if (!x->blocks || given == n)
        return MSIM_OK;
    return msim_weave_refuse(
        x->p->w,
        "parallel.stages are %llu blocks of layers in all, but %u repeat in "
        "the forward pass of the trace; want each of these on one stage",
        (unsigned long long)given, n);
}

static enum msim_status check(const struct spreading *x)
{
    struct msim_weave *w = x->p->w;
    uint32_t stages = x->stages, chunks = x->chunks;

    if (stages * chunks > 1 && sends_gradients(w))
        return msim_weave_refuse(
            w,
            "parallel: pp is %u, but the trace reduces gradients in buckets "
            "that several stages would share; want the trace of one that is "
            "trained alone, and \"dp\"",
            stages);
    for (uint32_t p = 0; p < w->a.n_passes; p++) {
        uint32_t n = count_blocks(&w->a, p);

        if (stages * chunks > 1 && n < stages * chunks)
            return msim_weave_refuse(
                w,
                "parallel: pp %u with vp %u are %u places of layers, but %u "
                "blocks of layers repeat in the forward pass of the trace; "
                "want at most so many places",
                stages, chunks, stages * chunks, n);
        MSIM_TRY(check_given(x, p));
    }
    return MSIM_OK;
}

/* ---- statements ----------------------------------------------------------
 */

static uint32_t place_of(const struct spreading *x, uint32_t s)
{
    uint32_t block = x->p->w->a.rows[s].block;

    return block == MSIM_NONE ? MSIM_NONE : place_of_block(x, block - x->first);
}

/* What is in no block is where the block before it is; what is before the
 * first, where the pass begins: `begin`; behind the last, where it ends. */
static void spread(const struct spreading *x, uint32_t from, uint32_t to,
                   uint32_t begin, uint32_t end)
{
    struct msim_places *p = x->p;
    uint32_t last = to, place = begin;

    while (last > from && p->w->a.rows[last - 1].block == MSIM_NONE)
        last--;
    for (uint32_t s = from; s < to; s++) {
        uint32_t here = place_of(x, s);

        if (here != MSIM_NONE)
            place = here;
        p->of[s] = s < last || last == from ? place : end;
    }
}

/* Is the statement there for the one behind it? Memory is, too, which stands
 * for a gradient where a writer of traces does not say how that is made. */
static bool is_for_next(const struct msim_weave *w, uint32_t s)
{
    const char *name = msim_trace_text(w->t, w->t->ops[w->a.rows[s].op].name);

    return !strcmp(name, MSIM_EMIT_GATHER) || !strcmp(name, MSIM_EMIT_AGAIN) ||
           !strcmp(name, MSIM_EMIT_DISPATCH) || !strcmp(name, "aten::empty");
}

static void spread_pass(struct spreading *x, uint32_t pass)
{
    const struct msim_anatomy *a = &x->p->w->a;
    const struct msim_anatomy_pass *of = &a->passes[pass];
    uint32_t last = x->p->n - 1;

    x->first = first_block(a, pass);
    x->n = count_blocks(a, pass);
    spread(x, of->forward, of->backward, 0, last);
    spread(x, of->backward, of->tail, last, 0);
    for (uint32_t s = of->tail; s-- > of->backward;)
        if (s + 1 < of->tail && is_for_next(x->p->w, s))
            x->p->of[s] = x->p->of[s + 1];
}

bool msim_places_is_product(const struct msim_weave *w, uint32_t op)
{
    static const char *const PARTS[] = {
        "conv", "linear", "mm", "matmul", "attention", "embedding", NULL};

    for (const char *const *part = PARTS; *part; part++)
        if (msim_weave_contains(w, op, *part))
            return true;
    return false;
}

/* ---- what is light -------------------------------------------------------
 */

/* Does statement `s` read a parameter, or what a heavy one made? */
static bool is_light(const struct msim_places *p, uint32_t s)
{
    const struct msim_weave *w = p->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        if (msim_places_is_product(w, i) || w->t->ops[i].comm != MSIM_NONE)
            return false;
        while (msim_lives_next(&e)) {
            uint32_t maker = e.life == MSIM_NONE ? MSIM_NONE : p->maker[e.life];

            if (e.life != MSIM_NONE && w->kind[e.life] == MSIM_LIFE_PARAMETER)
                return false;
            if (maker != MSIM_NONE && !p->light[maker])
                return false;
        }
    }
    return true;
}

static void find_light(struct msim_places *p, uint32_t pass)
{
    const struct msim_anatomy *a = &p->w->a;
    uint32_t first = first_block(a, pass);
    uint32_t end = first < a->n_blocks && a->blocks[first].pass == pass
                       ? a->blocks[first].first
                       : a->passes[pass].forward;

    for (uint32_t s = a->passes[pass].forward; s < end; s++)
        p->light[s] = is_light(p, s);
}

/* ---- lives ---------------------------------------------------------------
 */

static void note_makers(struct msim_places *p)
{
    const struct msim_weave *w = p->w;

    for (uint32_t i = 0; i < w->d.lives.n; i++) {
        uint32_t born = w->d.lives.rows[i].born, top, s;

        if (born == MSIM_NONE || w->kind[i] == MSIM_LIFE_GRADIENT)
            continue;
        top = msim_op_topmost(w->t, born);
        s = top == MSIM_NONE ? MSIM_NONE : w->a.statement[top];
        if (s != MSIM_NONE && w->a.rows[s].pass != MSIM_NONE &&
            w->a.rows[s].role != MSIM_ANATOMY_TAIL)
            p->maker[i] = s;
    }
}

static int64_t elems_at(const struct msim_trace *t, uint32_t dims, uint32_t n)
{
    int64_t elems = 1;

    for (uint32_t i = 0; i < n; i++)
        elems *= t->dims[dims + i];
    return elems;
}

/* The row of a life, begun where there is none. */
static enum msim_status row_of(struct msim_places *p, uint32_t life,
                               uint32_t *index, struct msim_crossing **row)
{
    uint32_t s = p->maker[life];

    if (index[life] == MSIM_NONE) {
        MSIM_TRY(msim_grow((void **)&p->crossings, &p->cap_crossings,
                           p->n_crossings, sizeof(*p->crossings)));
        index[life] = p->n_crossings;
        p->crossings[p->n_crossings++] = (struct msim_crossing){
            .life = life,
            .pass = p->w->a.rows[s].pass,
            .from = p->of[s],
            .to = p->of[s],
            .back = p->w->a.rows[s].role == MSIM_ANATOMY_BACKWARD};
    }
    *row = &p->crossings[index[life]];
    return MSIM_OK;
}

static enum msim_status note_reader(struct msim_places *p, uint32_t place,
                                    const struct msim_lives_each *e,
                                    uint32_t *index)
{
    const struct msim_trace *t = p->w->t;
    uint32_t s = p->maker[e->life], at = (uint32_t)e->arg->v.i;
    struct msim_crossing *row;

    if (p->light[s] ||
        (p->w->a.rows[s].role == MSIM_ANATOMY_BACKWARD ? place >= p->of[s]
                                                       : place <= p->of[s]))
        return MSIM_OK;
    MSIM_TRY(row_of(p, e->life, index, &row));
    if (row->back ? place < row->to : place > row->to)
        row->to = place;
    if (row->n_dims &&
        elems_at(t, row->dims, row->n_dims) >= elems_at(t, at, e->arg->n))
        return MSIM_OK;
    row->dims = at;
    row->n_dims = e->arg->n;
    row->dtype = e->arg->dtype;
    row->device = e->arg->device;
    return MSIM_OK;
}

static enum msim_status note_statement(struct msim_places *p, uint32_t s,
                                       uint32_t *index)
{
    const struct msim_weave *w = p->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        while (msim_lives_next(&e))
            if (e.life != MSIM_NONE && p->maker[e.life] != MSIM_NONE &&
                w->a.rows[p->maker[e.life]].pass == w->a.rows[s].pass)
                MSIM_TRY(note_reader(p, p->of[s], &e, index));
    }
    return MSIM_OK;
}

static enum msim_status find_crossings(struct msim_places *p)
{
    uint32_t *index = new_numbers(p->w->d.lives.n);
    enum msim_status status = index ? MSIM_OK : MSIM_ENOMEM;

    for (uint32_t s = 0; s < p->w->a.n && status == MSIM_OK; s++)
        if (p->of[s] != MSIM_NONE)
            status = note_statement(p, s, index);
    free(index);
    return status;
}

/* ---- all of it -----------------------------------------------------------
 */

enum msim_status msim_places_find(struct msim_places *p, struct msim_weave *w,
                                  uint32_t stages, uint32_t chunks,
                                  const uint32_t *blocks)
{
    struct spreading x = {
        .p = p, .stages = stages, .chunks = chunks, .blocks = blocks};

    *p = (struct msim_places){.w = w, .n = stages * chunks};
    MSIM_TRY(check(&x));
    p->of = new_numbers(w->a.n);
    p->maker = new_numbers(w->d.lives.n);
    p->light = calloc((size_t)w->a.n + 1, 1);
    if (!p->of || !p->maker || !p->light)
        return MSIM_ENOMEM;
    note_makers(p);
    for (uint32_t i = 0; i < w->a.n_passes; i++) {
        spread_pass(&x, i);
        find_light(p, i);
    }
    return find_crossings(p);
}

void msim_places_release(struct msim_places *p)
{
    free(p->of);
    free(p->maker);
    free(p->light);
    free(p->crossings);
    free(p->tied);
    *p = (struct msim_places){0};
}

/* ---- what a place runs ---------------------------------------------------
 */

/* Light statements whose results statement `s` reads. */
static void mark_light(const struct msim_places *p, uint32_t s, uint8_t *in)
{
    const struct msim_weave *w = p->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        while (msim_lives_next(&e)) {
            uint32_t maker = e.life == MSIM_NONE ? MSIM_NONE : p->maker[e.life];

            if (maker != MSIM_NONE && p->light[maker])
                in[maker] = 1;
        }
    }
}

/* Is the result of light statement `s` read anywhere? A label of a host's, say,
 * makes nothing: the first place has it. */
static bool is_read(const struct msim_places *p, uint32_t s)
{
    const struct msim_weave *w = p->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e = msim_lives_outputs(&w->d.lives, w->t, i);

        while (msim_lives_next(&e))
            if (e.life != MSIM_NONE && p->maker[e.life] == s &&
                msim_op_topmost(w->t, w->d.lives.rows[e.life].last) !=
                    w->a.rows[s].op)
                return true;
    }
    return false;
}

void msim_places_mark(const struct msim_places *p, uint32_t place,
                      uint32_t pass, uint8_t *in)
{
    const struct msim_anatomy_pass *of = &p->w->a.passes[pass];

    for (uint32_t s = of->forward; s < of->tail; s++)
        in[s] = p->of[s] == place && !p->light[s];
    for (uint32_t s = of->forward; s < of->tail; s++)
        if (in[s] && !p->light[s])
            mark_light(p, s, in);
    for (uint32_t s = of->backward; s-- > of->forward;) {
        if (p->light[s] && place == 0 && !is_read(p, s))
            in[s] = 1;
        if (p->light[s] && in[s])
            mark_light(p, s, in);
    }
}
