/*
 * core/rewrite/weave/blocks.c - the blocks of layers of a forward pass.
 *
 * Positions in a pass count its statements from 0.
 */
#include "core/rewrite/weave/weave.h"

#include "core/base/containers.h"
#include "core/base/hash.h"

#include <stdlib.h>
#include <string.h>

#define PERIOD_MOST 6  /* pieces that alternate */
#define READS_MOST  9  /* of one tensor, in a block */
#define SHORT_PASS  16 /* statements: all that crosses is data */

/* Statements [first, end) of the pass. */
struct piece {
    uint32_t first, end;
    uint64_t sign; /* of the names of its operators */
    bool repeats;
};

/* A forward pass that is cut into pieces. */
struct cutting {
    struct msim_anatomy *a;
    const struct msim_anatomy_pass *pass;
    uint32_t n;            /* statements */
    int32_t *crossing;     /* by statement: tensors alive behind it */
    uint32_t *born, *last; /* by life: positions; born NONE: not in here */
    struct piece *pieces;
    uint32_t n_pieces;
};

static uint32_t name_at(const struct cutting *c, uint32_t i)
{
    return c->a->t->ops[c->a->rows[c->pass->forward + i].op].name;
}

/* record_param_comms is no product. */
static bool is_message(const struct cutting *c, uint32_t i)
{
    return c->a->t->ops[c->a->rows[c->pass->forward + i].op].comm != MSIM_NONE;
}

/* Is there a product or a convolution in [first, end)? */
static bool is_heavy(const struct cutting *c, uint32_t first, uint32_t end)
{
    static const char *const parts[] = {"conv",   "linear",    "mm",
                                        "matmul", "attention", NULL};

    for (uint32_t i = first; i < end; i++)
        for (const char *const *p = parts; *p && !is_message(c, i); p++)
            if (strstr(msim_trace_text(c->a->t, name_at(c, i)), *p))
                return true;
    return false;
}

/* ---- where one tensor goes on ---- */

static bool is_real(const struct msim_arg *a)
{
    return a->dtype == MSIM_DT_F64 || a->dtype == MSIM_DT_F32 ||
           a->dtype == MSIM_DT_F16 || a->dtype == MSIM_DT_BF16;
}

static void note_tensor(struct cutting *c, uint32_t life, uint32_t at,
                        bool made)
{
    c->last[life] = at;
    if (made && c->born[life] == MSIM_NONE &&
        c->a->lives->rows[life].born != MSIM_NONE)
        c->born[life] = at;
}

static void note_list(struct cutting *c, struct msim_lives_each e, uint32_t at,
                      bool made)
{
    while (msim_lives_next(&e))
        if (e.life != MSIM_NONE && is_real(e.arg))
            note_tensor(c, e.life, at, made);
}

/* Does `op` name tensors? What stands below it is given some of those. (A
 * result that is named there before it comes out, as products on a CPU do,
 * looks like whatever had its memory before.) */
static bool names_tensors(const struct cutting *c, uint32_t op)
{
    struct msim_lives_each e = msim_lives_inputs(c->a->lives, c->a->t, op);

    return msim_lives_next(&e);
}

static void note_statement(struct cutting *c, uint32_t at)
{
    const struct msim_trace *t = c->a->t;
    uint32_t s = c->pass->forward + at, op = c->a->rows[s].op;
    uint32_t end = names_tensors(c, op) ? op + 1 : msim_anatomy_end(c->a, s);

    for (uint32_t i = op; i < end; i++) {
        note_list(c, msim_lives_inputs(c->a->lives, t, i), at, false);
        note_list(c, msim_lives_outputs(c->a->lives, t, i), at, true);
    }
}

/* ---- what blocks share ---- */

/* Readings of lives: those of life i are at [first[i], first[i + 1]). */
struct readings {
    uint32_t *first, *at;
};

static void add_readings(const struct cutting *c, struct readings *r,
                         bool count)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct msim_lives_each e = msim_lives_inputs(
            c->a->lives, c->a->t, c->a->rows[c->pass->forward + i].op);

        while (msim_lives_next(&e)) {
            if (e.life == MSIM_NONE || c->born[e.life] == MSIM_NONE)
                continue;
            if (count)
                r->first[e.life + 2]++;
            else
                r->at[r->first[e.life + 1]++] = i;
        }
    }
}

static enum msim_status find_readings(const struct cutting *c,
                                      struct readings *r)
{
    uint32_t n = c->a->lives->n;

    r->first = calloc((size_t)n + 3, sizeof(*r->first));
    if (!r->first)
        return MSIM_ENOMEM;
    /* counted two further on, so that adding moves each to its own place */
    add_readings(c, r, true);
    for (uint32_t i = 2; i < n + 2; i++)
        r->first[i] += r->first[i - 1];
    r->at = malloc(((size_t)r->first[n + 1] + 1) * sizeof(*r->at));
    if (!r->at)
        return MSIM_ENOMEM;
    add_readings(c, r, false);
    return MSIM_OK;
}

/* Are statements [x, x + n) called like [y, y + n)? */
static bool called_alike(const struct cutting *c, uint32_t x, uint32_t y,
                         uint32_t n)
{
    if (y + n > c->n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (name_at(c, x + i) != name_at(c, y + i))
            return false;
    return true;
}

/* From one reading to the next of its kind lies what repeats, with two products
 * or more: an attention and an MLP, not the products for query and key. */
static bool is_block_apart(const struct cutting *c, uint32_t x, uint32_t y)
{
    uint32_t heavy = 0;

    if (name_at(c, x) != name_at(c, y) || !called_alike(c, x, y, y - x))
        return false;
    for (uint32_t i = x; i < y; i++)
        heavy += is_heavy(c, i, i + 1);
    return heavy > 1;
}

/* Does one block after the other read the life, as they do a mask, tables of
 * positions, what an encoder has made? It is none that goes on. */
static bool is_shared_by_blocks(const struct cutting *c,
                                const struct readings *r, uint32_t life)
{
    for (uint32_t i = r->first[life]; i < r->first[life + 1]; i++)
        for (uint32_t k = i + 1; k < r->first[life + 1] && k < i + READS_MOST;
             k++)
            if (r->at[k] > r->at[i] && is_block_apart(c, r->at[i], r->at[k]))
                return true;
    return false;
}

static void note_flat(struct cutting *c, struct msim_lives_each e)
{
    while (msim_lives_next(&e))
        if (e.life != MSIM_NONE && e.arg->n == 1)
            c->born[e.life] = MSIM_NONE;
}

/* Weights of a unit, gathered into one flat tensor while another unit is
 * computed with, go on nowhere either. */
static void drop_gathered(struct cutting *c)
{
    const struct msim_trace *t = c->a->t;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        uint32_t comm = t->ops[i].comm;

        if (comm == MSIM_NONE ||
            t->comms[comm].collective != MSIM_COLL_ALL_GATHER)
            continue;
        note_flat(c, msim_lives_inputs(c->a->lives, t, i));
        note_flat(c, msim_lives_outputs(c->a->lives, t, i));
    }
}

/* What most of the pass reads is no activation: a mask, a table. */
static void count_crossings(struct cutting *c, const struct readings *r)
{
    for (uint32_t i = 0; i < c->a->lives->n; i++) {
        uint32_t born = c->born[i], last = c->last[i];

        if (born == MSIM_NONE || last <= born ||
            (c->n > SHORT_PASS && last - born > c->n / 2) ||
            is_shared_by_blocks(c, r, i))
            continue;
        c->crossing[born]++;
        c->crossing[last]--;
    }
    for (uint32_t i = 1; i < c->n; i++)
        c->crossing[i] += c->crossing[i - 1];
}

/* ---- pieces ---- */

static uint64_t sign_of(const struct cutting *c, uint32_t first, uint32_t end)
{
    uint64_t sign = MSIM_HASH_START;

    for (uint32_t i = first; i < end; i++) {
        uint32_t name = name_at(c, i);

        sign = msim_hash_bytes(sign, &name, sizeof(name));
    }
    return sign;
}

/* The next position after `i` that one tensor alone comes to. */
static uint32_t next_cut(const struct cutting *c, uint32_t i)
{
    while (++i < c->n)
        if (c->crossing[i - 1] <= 1)
            return i;
    return c->n;
}

static void add_piece(struct cutting *c, uint32_t first, uint32_t end)
{
    c->pieces[c->n_pieces++] =
        (struct piece){first, end, sign_of(c, first, end), false};
}

static void cut(struct cutting *c)
{
    uint32_t first = 0, at = next_cut(c, 0);

    for (; at < c->n; at = next_cut(c, at))
        if (is_heavy(c, first, at) && is_heavy(c, at, next_cut(c, at))) {
            add_piece(c, first, at);
            first = at;
        }
    add_piece(c, first, c->n);
}

/* ---- what repeats ---- */

static void mark_repeats(struct cutting *c)
{
    for (uint32_t i = 0; i < c->n_pieces; i++)
        for (uint32_t j = i; j-- && !c->pieces[i].repeats;) /* soon found */
            if (c->pieces[i].sign == c->pieces[j].sign)
                c->pieces[i].repeats = c->pieces[j].repeats = true;
}

/* An embedding before the first block and a pooling behind the last one are
 * light, and went into its piece: what is like another piece is the block. */
static void trim(struct cutting *c, struct piece *p)
{
    for (uint32_t k = 0; k < c->n_pieces && !p->repeats; k++) {
        struct piece *like = &c->pieces[k];
        uint32_t size = like->end - like->first;

        if (size >= p->end - p->first)
            continue;
        if (sign_of(c, p->first, p->first + size) == like->sign &&
            !is_heavy(c, p->first + size, p->end))
            *p = (struct piece){p->first, p->first + size, like->sign, true};
        else if (sign_of(c, p->end - size, p->end) == like->sign &&
                 !is_heavy(c, p->first, p->end - size))
            *p = (struct piece){p->end - size, p->end, like->sign, true};
        like->repeats |= p->repeats;
    }
}

/* Both ends may have something light: without what is before its first product
 * or convolution, is `p` how another piece begins? */
static void trim_front(struct cutting *c, struct piece *p)
{
    uint32_t at = p->first, size;

    while (at < p->end && !is_heavy(c, at, at + 1))
        at++;
    size = p->end - at;
    for (uint32_t k = 0; k < c->n_pieces && size && !p->repeats; k++) {
        struct piece *like = &c->pieces[k];
        uint64_t sign = sign_of(c, at, p->end);

        if (like == p || like->repeats || size > like->end - like->first ||
            sign_of(c, like->first, like->first + size) != sign)
            continue;
        *p = (struct piece){at, p->end, sign, true};
        *like = (struct piece){like->first, like->first + size, sign, true};
    }
}

/* Statements that `p` and `like` begin with alike. */
static uint32_t same_front(const struct cutting *c, const struct piece *p,
                           const struct piece *like)
{
    uint32_t n = 0;

    while (p->first + n < p->end && like->first + n < like->end &&
           name_at(c, p->first + n) == name_at(c, like->first + n))
        n++;
    return n;
}

/* What is light goes to the piece before, so that the last block may have less
 * at its end, and something of its own: is `p` how a block begins, and has
 * neither a product behind that? */
static void match_front(struct cutting *c, struct piece *p)
{
    for (uint32_t k = 0; k < c->n_pieces && !p->repeats; k++) {
        const struct piece *like = &c->pieces[k];
        uint32_t size = same_front(c, p, like);

        if (like == p || !like->repeats || !size ||
            size == like->end - like->first ||
            !is_heavy(c, p->first, p->first + size) ||
            is_heavy(c, p->first + size, p->end) ||
            is_heavy(c, like->first + size, like->end))
            continue;
        p->end = p->first + size;
        p->repeats = true;
        p->sign = like->sign;
    }
}

static bool follows(const struct piece *a, const struct piece *b)
{
    return a->end == b->first;
}

/* Are pieces [i, i + n) the same as [k, k + n), each run without a gap? */
static bool are_alike(const struct cutting *c, uint32_t i, uint32_t k,
                      uint32_t n)
{
    if (i + n > c->n_pieces || k + n > c->n_pieces)
        return false;
    for (uint32_t j = 0; j < n; j++)
        if (c->pieces[i + j].sign != c->pieces[k + j].sign ||
            (j && (!follows(&c->pieces[i + j - 1], &c->pieces[i + j]) ||
                   !follows(&c->pieces[k + j - 1], &c->pieces[k + j]))))
            return false;
    return true;
}

/* How many of pieces [from, end) alternate: the fewest for which a quarter of
 * them is like those so many further on; 1 where none are. */
static uint32_t period_of(const struct cutting *c, uint32_t from, uint32_t end)
{
    for (uint32_t p = 1; p <= PERIOD_MOST; p++) {
        uint32_t same = 0;

        for (uint32_t i = from; i + p < end; i++)
            same += c->pieces[i].sign == c->pieces[i + p].sign;
        if (same && 4 * same >= end - from)
            return p;
    }
    return 1;
}

/* Statements [first, end) of the pass are a block. */
struct span {
    uint32_t first, end;
};

static enum msim_status add_block(struct cutting *c, const struct span *x)
{
    struct msim_anatomy *a = c->a;
    uint32_t at = c->pass->forward;

    MSIM_TRY(msim_grow((void **)&a->blocks, &a->cap_blocks, a->n_blocks,
                       sizeof(*a->blocks)));
    a->blocks[a->n_blocks] = (struct msim_anatomy_block){
        at + x->first, at + x->end, (uint32_t)(c->pass - a->passes)};
    for (uint32_t i = at + x->first; i < at + x->end; i++)
        a->rows[i].block = a->n_blocks;
    a->n_blocks++;
    return MSIM_OK;
}

/* Blocks before `x`, the first of several that follow each other: as long, and
 * called alike. Memory that changes hands unseen may look like a tensor that
 * crosses some of them. */
static enum msim_status add_before(struct cutting *c, const struct span *x,
                                   const struct span *next, uint32_t from)
{
    uint32_t n = x->end - x->first, k = 0;

    if (!next || next->first != x->end || next->end - next->first != n ||
        !called_alike(c, x->first, next->first, n))
        return MSIM_OK;
    while (x->first >= from + (k + 1) * n &&
           called_alike(c, x->first - (k + 1) * n, x->first, n))
        k++;
    for (; k; k--)
        MSIM_TRY(add_block(
            c, &(struct span){x->first - k * n, x->first - (k - 1) * n}));
    return MSIM_OK;
}

/* What is between `x` and `y`, which are alike: statements; 0: nothing, or they
 * are not alike. */
static uint32_t gap_of(const struct cutting *c, const struct span *x,
                       const struct span *y)
{
    uint32_t n = x->end - x->first;

    return y->end - y->first == n && called_alike(c, x->first, y->first, n)
               ? y->first - x->end
               : 0;
}

/* Where the same is before each of several that are alike, or behind each, it
 * is of them: a part that looked like no other, since the rest looks like a
 * block of another kind. */
static void close_gaps(const struct cutting *c, struct span *all, uint32_t n)
{
    for (uint32_t i = 0, k; i + 1 < n; i = k) {
        uint32_t gap = gap_of(c, &all[i], &all[i + 1]);
        uint32_t from = i ? all[i - 1].end : 0;
        bool front;

        for (k = i + 1;
             gap && k + 1 < n && gap_of(c, &all[k], &all[k + 1]) == gap &&
             called_alike(c, all[i].end, all[k].end, gap);
             k++)
            ;
        front = gap && all[i].first >= from + gap &&
                called_alike(c, all[i].first - gap, all[i].end, gap);
        if (!gap || (!front && !called_alike(c, all[i].end, all[k].end, gap)))
            continue;
        for (uint32_t m = i; m <= k; m++) {
            all[m].first -= front ? gap : 0;
            all[m].end += front ? 0 : gap;
        }
        k++;
    }
}

static enum msim_status add_blocks(struct cutting *c, const struct span *all,
                                   uint32_t n)
{
    uint32_t from = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || all[i - 1].end != all[i].first)
            MSIM_TRY(
                add_before(c, &all[i], i + 1 < n ? &all[i + 1] : NULL, from));
        MSIM_TRY(add_block(c, &all[i]));
        from = all[i].end;
    }
    return MSIM_OK;
}

/* Those of [from, end) that are a block with pieces behind them: how many are
 * one. With `several` only those of which one follows the other. */
static void find_blocks(const struct cutting *c, uint32_t from, uint32_t end,
                        bool several, uint32_t *length)
{
    uint32_t p = period_of(c, from, end), i = from, start = from;

    while ((p > 1 || several) && start < end &&
           !(start + 2 * p <= end && are_alike(c, start, start + p, p)))
        start++;
    while (i < end) {
        uint32_t n = (p > 1 || several) && i >= start && i + p <= end &&
                             are_alike(c, start, i, p)
                         ? p
                         : 1;

        if (c->pieces[i].repeats && n == p && (!several || i >= start))
            length[i] = n;
        i += n;
    }
}

/* Where blocks of one kind are found, there may be others of another: a decoder
 * behind an encoder. */
static void find_others(const struct cutting *c, uint32_t *length)
{
    uint32_t from = 0;

    for (uint32_t i = 0; i <= c->n_pieces; i++) {
        if (i < c->n_pieces && !length[i])
            continue;
        if (i > from + 1)
            find_blocks(c, from, i, true, length);
        if (i < c->n_pieces)
            i += length[i] - 1;
        from = i + 1;
    }
}

static enum msim_status join(struct cutting *c)
{
    uint32_t *length = calloc((size_t)c->n_pieces + 1, sizeof(*length)), n = 0;
    struct span *all = malloc(((size_t)c->n_pieces + 1) * sizeof(*all));
    enum msim_status status = MSIM_ENOMEM;

    if (length && all) {
        find_blocks(c, 0, c->n_pieces, false, length);
        find_others(c, length);
        for (uint32_t i = 0; i < c->n_pieces; i++)
            if (length[i])
                all[n++] = (struct span){c->pieces[i].first,
                                         c->pieces[i + length[i] - 1].end};
        close_gaps(c, all, n);
        status = add_blocks(c, all, n);
    }
    free(length);
    free(all);
    return status;
}

/* ---- all of it ---- */

static enum msim_status count(struct cutting *c)
{
    struct readings r = {0};
    enum msim_status status = find_readings(c, &r);

    if (status == MSIM_OK)
        count_crossings(c, &r);
    free(r.first);
    free(r.at);
    return status;
}

static enum msim_status find(struct cutting *c)
{
    size_t lives = (size_t)c->a->lives->n + 1;

    c->crossing = calloc((size_t)c->n + 1, sizeof(*c->crossing));
    c->born = malloc(lives * sizeof(*c->born));
    c->last = calloc(lives, sizeof(*c->last));
    c->pieces = calloc((size_t)c->n + 1, sizeof(*c->pieces));
    if (!c->crossing || !c->born || !c->last || !c->pieces)
        return MSIM_ENOMEM;
    memset(c->born, 0xff, lives * sizeof(*c->born));
    for (uint32_t i = 0; i < c->n; i++)
        note_statement(c, i);
    drop_gathered(c);
    MSIM_TRY(count(c));
    cut(c);
    mark_repeats(c);
    for (uint32_t i = 0; i < c->n_pieces; i++)
        trim(c, &c->pieces[i]);
    for (uint32_t i = 0; i < c->n_pieces; i++)
        if (!c->pieces[i].repeats)
            trim_front(c, &c->pieces[i]);
    for (uint32_t i = 0; i < c->n_pieces; i++)
        match_front(c, &c->pieces[i]);
    return join(c);
}

enum msim_status msim_anatomy_blocks(struct msim_anatomy *a)
{
    for (uint32_t i = 0; i < a->n_passes; i++) {
        const struct msim_anatomy_pass *p = &a->passes[i];
        struct cutting c = {.a = a, .pass = p, .n = p->backward - p->forward};
        enum msim_status status = c.n ? find(&c) : MSIM_OK;

        free(c.crossing);
        free(c.born);
        free(c.last);
        free(c.pieces);
        MSIM_TRY(status);
        MSIM_TRY(msim_anatomy_place_backward(a, i));
    }
    return MSIM_OK;
}
