/*
 * core/rewrite/repeat/bucketed.c - gradients in DDP's buckets, and how large
 * these are.
 */
#include "core/rewrite/repeat/reducer.h"

#include "core/base/containers.h"
#include "core/base/units.h"

#include <stdlib.h>
#include <string.h>

/* ---- what the reducer does --------------------------------------------------
 */

/* The bucket's view that a statement writes its gradient to: memory that was
 * there, with as many elements. */
static bool find_view(const struct msim_bucketed *r, uint32_t s,
                      struct msim_bucketed_gradient *g)
{
    const struct msim_weave *w = r->w;
    struct msim_weave_given given;

    if (w->gradient[s] == MSIM_NONE || !msim_weave_find_given(w, s, &given))
        return false;
    g->dtype = given.arg->dtype;
    g->elems = (int64_t)msim_arg_elems(w->t, given.arg);
    g->bytes = g->elems * (int64_t)msim_dtype_bytes((enum msim_dtype)g->dtype);
    for (uint32_t i = w->t->ops[given.accumulate].end;
         i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        while (msim_lives_next(&e))
            if (e.life != MSIM_NONE && e.life != w->gradient[s] &&
                w->d.lives.rows[e.life].born == MSIM_NONE &&
                (int64_t)msim_arg_elems(w->t, e.arg) == g->elems) {
                g->life = e.life;
                g->offset = w->t->tensor_ids[e.id - 1].offset;
                return true;
            }
    }
    return false;
}

/* The child of statement `s` that sends a bucket. */
static uint32_t find_message(const struct msim_weave *w, uint32_t s)
{
    const struct msim_op *ops = w->t->ops;
    uint32_t end = msim_anatomy_end(&w->a, s);

    for (uint32_t i = w->a.rows[s].op + 1; i < end; i = ops[i].end)
        if (msim_weave_begins(w, i, "c10d::allreduce") ||
            ops[i].comm != MSIM_NONE)
            return i;
    return MSIM_NONE;
}

static enum msim_status note_gradient(struct msim_bucketed *r, uint32_t s)
{
    struct msim_bucketed_gradient g = {.pass = r->w->a.rows[s].pass};

    if (!find_view(r, s, &g))
        return MSIM_OK;
    g.message = find_message(r->w, s);
    r->of[s] = r->n;
    MSIM_TRY(msim_grow((void **)&r->gradients, &r->cap, r->n,
                       sizeof(*r->gradients)));
    r->gradients[r->n++] = g;
    return MSIM_OK;
}

uint32_t msim_bucketed_part(const struct msim_bucketed *r, uint32_t id)
{
    uint32_t life = r->w->d.lives.of[id];

    return life == MSIM_NONE
               ? MSIM_NONE
               : msim_idmap_get(
                     &r->parts_of,
                     msim_idmap_pair(life, r->w->t->tensor_ids[id].offset));
}

bool msim_bucketed_is_strided(const struct msim_bucketed *r, uint32_t op)
{
    return msim_weave_begins(r->w, op, "aten::as_strided");
}

/* The gradient whose part of a bucket a statement names first, or NONE. */
static uint32_t names_part(const struct msim_bucketed *r, uint32_t s)
{
    const struct msim_weave *w = r->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e =
            msim_bucketed_is_strided(r, i)
                ? msim_lives_outputs(&w->d.lives, w->t, i)
                : msim_lives_inputs(&w->d.lives, w->t, i);

        while (msim_lives_next(&e))
            if (msim_bucketed_part(r, e.id - 1) != MSIM_NONE)
                return msim_bucketed_part(r, e.id - 1);
    }
    return MSIM_NONE;
}

/* Statements behind backward, gradient by gradient, in their order. */
static enum msim_status list_steps(struct msim_bucketed *r)
{
    uint32_t n = 0;

    r->steps = malloc(((size_t)r->w->a.n + 1) * sizeof(*r->steps));
    if (!r->steps)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < r->n; i++) {
        r->gradients[i].first_step = n;
        n += r->gradients[i].n_steps;
        r->gradients[i].n_steps = 0;
    }
    for (uint32_t s = 0; s < r->w->a.n; s++) {
        struct msim_bucketed_gradient *g =
            r->of[s] == MSIM_NONE ? NULL : &r->gradients[r->of[s]];

        if (g && r->w->a.rows[s].role == MSIM_ANATOMY_TAIL)
            r->steps[g->first_step + g->n_steps++] = s;
    }
    return MSIM_OK;
}

static enum msim_status look_at(struct msim_bucketed *r, uint32_t s)
{
    const struct msim_bucketed_gradient *g;
    uint32_t *row;

    if (r->w->a.rows[s].role == MSIM_ANATOMY_TAIL) {
        r->of[s] = names_part(r, s);
        if (r->of[s] != MSIM_NONE)
            r->gradients[r->of[s]].n_steps++;
        return MSIM_OK;
    }
    MSIM_TRY(note_gradient(r, s));
    if (r->of[s] == MSIM_NONE)
        return MSIM_OK;
    g = &r->gradients[r->of[s]];
    MSIM_TRY(msim_idmap_put(&r->parts_of, msim_idmap_pair(g->life, g->offset),
                            r->of[s], &row));
    r->clash |= *row != r->of[s] && r->gradients[*row].pass == g->pass;
    *row = r->of[s];
    return MSIM_OK;
}

uint32_t msim_bucketed_given(const struct msim_bucketed *r, uint32_t op)
{
    struct msim_lives_each e = msim_lives_inputs(&r->w->d.lives, r->w->t, op);

    return msim_lives_next(&e) ? e.life : MSIM_NONE;
}

static enum msim_status find_strays(struct msim_bucketed *r)
{
    uint32_t life;

    r->is_bucket = calloc((size_t)r->w->d.lives.n + 1, sizeof(*r->is_bucket));
    r->strays = calloc((size_t)r->w->t->n_ops + 1, sizeof(*r->strays));
    if (!r->is_bucket || !r->strays)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < r->n; i++)
        r->is_bucket[r->gradients[i].life] = true;
    for (uint32_t i = 0; i < r->w->t->n_ops; i++) {
        life = msim_bucketed_given(r, i);
        r->strays[i] = msim_weave_begins(r->w, i, "gloo:") &&
                       life != MSIM_NONE && r->is_bucket[life];
    }
    return MSIM_OK;
}

enum msim_status msim_bucketed_find(struct msim_bucketed *r)
{
    r->of = malloc(((size_t)r->w->a.n + 1) * sizeof(*r->of));
    if (!r->of)
        return MSIM_ENOMEM;
    memset(r->of, 0xff, (size_t)r->w->a.n * sizeof(*r->of));
    for (uint32_t s = 0; s < r->w->a.n; s++)
        MSIM_TRY(look_at(r, s));
    MSIM_TRY(find_strays(r));
    return list_steps(r);
}

/* ---- how large buckets are
 * ----------------------------------------------------
 */

/* Sizes of which each would have made these buckets: beyond `low`, up to
 * `high`.
 */
struct range {
    int64_t low, high;
};

int64_t msim_bucketed_sent(const struct msim_bucketed *r, uint32_t message,
                           uint32_t *life)
{
    const struct msim_trace *t = r->w->t;

    for (uint32_t i = message; i < t->ops[message].end; i++) {
        struct msim_lives_each e = msim_lives_inputs(&r->w->d.lives, t, i);

        if (msim_lives_next(&e)) {
            *life = e.life;
            return (int64_t)msim_arg_elems(t, e.arg);
        }
    }
    *life = MSIM_NONE;
    return 0;
}

/* May gradient `i` stand in bucket `b` behind the one before? Where sizes have
 * changed, places are only roughly where they were. */
static bool goes_on(const struct msim_bucketed *r,
                    const struct msim_bucketed_one *b, uint32_t i)
{
    const struct msim_bucketed_gradient *g = &r->gradients[i];
    const struct msim_bucketed_gradient *first = &r->gradients[b->first];

    return g->pass == b->pass && g->life == first->life &&
           g->dtype == first->dtype && (b->n || g->offset == 0);
}

/* Does operator `op` name whole buckets, or parts that are no gradient's? */
static bool names_more(const struct msim_bucketed *r, uint32_t op)
{
    const struct msim_lives *l = &r->w->d.lives;
    struct msim_lives_each e[2] = {msim_lives_inputs(l, r->w->t, op),
                                   msim_lives_outputs(l, r->w->t, op)};
    bool strided = msim_bucketed_is_strided(r, op);

    for (int side = strided; side < 2; side++)
        while (msim_lives_next(&e[side])) {
            uint32_t g = msim_bucketed_part(r, e[side].id - 1);
            int64_t elems = (int64_t)msim_arg_elems(r->w->t, e[side].arg);

            if (e[side].life != MSIM_NONE && r->is_bucket[e[side].life] &&
                (g == MSIM_NONE ||
                 (!strided && r->gradients[g].elems != elems)))
                return true;
        }
    return false;
}

/* Do messages alone name whole buckets? A hook may work on them. */
static bool names_parts(const struct msim_bucketed *r)
{
    for (uint32_t i = 0, k = 0; i < r->w->t->n_ops; i++) {
        while (k < r->n && (r->gradients[k].message == MSIM_NONE ||
                            r->w->t->ops[r->gradients[k].message].end <= i))
            k++;
        if ((k == r->n || i < r->gradients[k].message) && !r->strays[i] &&
            names_more(r, i))
            return false;
    }
    return true;
}

/* Buckets as they are recorded: each ends with a message. `*are`: there are
 * some, of nothing else than gradients in their order. */
enum msim_status msim_bucketed_recorded(struct msim_bucketed *r, bool *are)
{
    struct msim_bucketed_one b = {0};
    uint32_t life;

    *are = r->n > 0 && !r->clash;
    for (uint32_t i = 0; i < r->n && *are; i++) {
        struct msim_bucketed_gradient *g = &r->gradients[i];

        if (!b.n)
            b = (struct msim_bucketed_one){.pass = g->pass, .first = i};
        *are = goes_on(r, &b, i);
        g->bucket = r->n_buckets;
        b.elems += g->elems;
        b.n++;
        if (g->message == MSIM_NONE)
            continue;
        *are = *are && msim_bucketed_sent(r, g->message, &life) == b.elems &&
               life == g->life;
        MSIM_TRY(msim_grow((void **)&r->buckets, &r->cap_buckets, r->n_buckets,
                           sizeof(*r->buckets)));
        r->buckets[r->n_buckets++] = b;
        b.n = 0;
    }
    *are = *are && !b.n && r->n > r->n_buckets && names_parts(r);
    return MSIM_OK;
}

static void meet(struct range *x, struct range y)
{
    x->low = y.low > x->low ? y.low : x->low;
    x->high = y.high < x->high ? y.high : x->high;
}

/* Ranges of the first bucket of all passes, and of the others. */
static void find_ranges(const struct msim_bucketed *r, struct range *first,
                        struct range *others)
{
    *first = *others = (struct range){0, INT64_MAX};
    for (uint32_t i = 0; i < r->n_buckets; i++) {
        const struct msim_bucketed_one *b = &r->buckets[i];
        bool begins = !i || b->pass != b[-1].pass;
        bool last = i + 1 == r->n_buckets || b->pass != b[1].pass;
        struct range x = {0, 0};

        for (uint32_t k = b->first; k < b->first + b->n; k++) {
            x.low = x.high;
            x.high += r->gradients[k].bytes;
        }
        if (last) /* it need not be full */
            x.high = INT64_MAX;
        meet(begins ? first : others, x);
    }
}

static bool is_in(const struct range *x, double mib)
{
    return mib * MSIM_MIB > (double)x->low && mib * MSIM_MIB <= (double)x->high;
}

/* The roundest number of MiB in the range, in bytes, as people ask for; 0: it
 * is empty. */
static int64_t roundest(const struct range *x)
{
    static const double STEPS[] = {1000, 500,  100, 50,  10,  5,    1,
                                   0.5,  0.25, 0.1, .05, .01, .005, .001};

    if (x->high == INT64_MAX)
        return x->high; /* none was ever full */
    for (size_t i = 0; i < sizeof(STEPS) / sizeof(*STEPS); i++) {
        int64_t n = (int64_t)((double)x->high / (STEPS[i] * MSIM_MIB));

        if (n && is_in(x, (double)n * STEPS[i]))
            return (int64_t)((double)n * STEPS[i] * MSIM_MIB);
    }
    return x->high > x->low ? x->high : 0;
}

/* PyTorch's own sizes where they made these buckets; else one for all of them,
 * as a program asks for; else the first is PyTorch's. */
bool msim_bucketed_caps(const struct msim_bucketed *r,
                        struct msim_bucket_caps *caps)
{
    struct range first, others, all;

    find_ranges(r, &first, &others);
    all = first;
    meet(&all, others);
    caps->first = (int64_t)(MSIM_BUCKET_FIRST_MIB * MSIM_MIB);
    caps->others = (int64_t)(MSIM_BUCKET_MIB * MSIM_MIB);
    if (is_in(&first, MSIM_BUCKET_FIRST_MIB) && is_in(&others, MSIM_BUCKET_MIB))
        return true;
    if (all.high > all.low)
        caps->first = caps->others = roundest(&all);
    else if (is_in(&first, MSIM_BUCKET_FIRST_MIB))
        caps->others = roundest(&others);
    else
        return false;
    return caps->others > 0;
}

/* ---- other buckets
 * ------------------------------------------------------------
 */

/* Gradients of one type fill buckets; those of each pass are the same memory.
 */
enum msim_status msim_bucketed_fill(struct msim_bucketed *r,
                                    const struct msim_bucket_caps *caps)
{
    int64_t bytes = 0, cap = caps->first;
    struct msim_bucketed_one *b = NULL;

    for (uint32_t i = 0; i < r->n; i++) {
        struct msim_bucketed_gradient *g = &r->gradients[i];
        bool begins = !i || g->pass != g[-1].pass;

        if (begins || bytes >= cap) {
            cap = begins ? caps->first : caps->others;
            bytes = 0;
            MSIM_TRY(msim_grow((void **)&r->buckets, &r->cap_buckets,
                               r->n_buckets, sizeof(*r->buckets)));
            b = &r->buckets[r->n_buckets++];
            *b = (struct msim_bucketed_one){.pass = g->pass, .first = i};
        }
        g->bucket = r->n_buckets - 1;
        g->at = b->elems;
        b->elems += g->elems;
        b->n++;
        bytes += g->bytes;
    }
    return MSIM_OK;
}

void msim_bucketed_release(struct msim_bucketed *r)
{
    free(r->gradients);
    free(r->buckets);
    free(r->of);
    free(r->steps);
    free(r->strays);
    free(r->is_bucket);
    msim_idmap_release(&r->parts_of);
    *r = (struct msim_bucketed){0};
}
