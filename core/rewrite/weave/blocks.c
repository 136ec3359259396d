/*
 * core/rewrite/weave/blocks.c - the blocks of layers of a forward pass.
 *
 * Positions in a pass count its statements from 0.
 */
#include "core/rewrite/weave/anatomy.h"

#include "core/base/hash.h"
#include "core/base/vec.h"

#include <stdlib.h>
#include <string.h>

#define PERIOD_MOST 6  /* pieces that alternate */
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

/* ---- where one tensor goes on --------------------------------------------
 */

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

static void note_statement(struct cutting *c, uint32_t at)
{
    const struct msim_trace *t = c->a->t;
    uint32_t s = c->pass->forward + at;

    for (uint32_t i = c->a->rows[s].op; i < msim_anatomy_end(c->a, s); i++) {
        note_list(c, msim_lives_inputs(c->a->lives, t, i), at, false);
        note_list(c, msim_lives_outputs(c->a->lives, t, i), at, true);
    }
}

/* What most of the pass reads is no activation: a mask, a table. */
static void count_crossings(struct cutting *c)
{
    for (uint32_t i = 0; i < c->a->lives->n; i++) {
        uint32_t born = c->born[i], last = c->last[i];

        if (born == MSIM_NONE || last <= born ||
            (c->n > SHORT_PASS && last - born > c->n / 2))
            continue;
        c->crossing[born]++;
        c->crossing[last]--;
    }
    for (uint32_t i = 1; i < c->n; i++)
        c->crossing[i] += c->crossing[i - 1];
}

/* ---- pieces --------------------------------------------------------------
 */

static uint32_t name_at(const struct cutting *c, uint32_t i)
{
    return c->a->t->ops[c->a->rows[c->pass->forward + i].op].name;
}

/* Is there a product or a convolution in [first, end)? */
static bool is_heavy(const struct cutting *c, uint32_t first, uint32_t end)
{
    static const char *const parts[] = {"conv",   "linear",    "mm",
                                        "matmul", "attention", NULL};

    for (uint32_t i = first; i < end; i++)
        for (const char *const *p = parts; *p; p++)
            if (strstr(msim_trace_text(c->a->t, name_at(c, i)), *p))
                return true;
    return false;
}

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

/* ---- what repeats --------------------------------------------------------
 */

static void mark_repeats(struct cutting *c)
{
    for (uint32_t i = 0; i < c->n_pieces; i++)
        for (uint32_t j = 0; j < i; j++)
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

/* What is light goes to the piece before, so that the last block may have less
 * at its end: is `p` how a block begins that has no product behind that? */
static void match_front(struct cutting *c, struct piece *p)
{
    uint32_t size = p->end - p->first;

    for (uint32_t k = 0; k < c->n_pieces && !p->repeats; k++) {
        const struct piece *like = &c->pieces[k];

        if (like == p || !like->repeats || size >= like->end - like->first ||
            sign_of(c, like->first, like->first + size) != p->sign ||
            is_heavy(c, like->first + size, like->end))
            continue;
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

/* How many pieces alternate: the fewest for which a quarter of all pieces is
 * like those so many further on; 1 where none are. */
static uint32_t period_of(const struct cutting *c)
{
    for (uint32_t p = 1; p <= PERIOD_MOST; p++) {
        uint32_t same = 0;

        for (uint32_t i = 0; i + p < c->n_pieces; i++)
            same += c->pieces[i].sign == c->pieces[i + p].sign;
        if (same && 4 * same >= c->n_pieces)
            return p;
    }
    return 1;
}

static enum msim_status add_block(struct cutting *c, const struct piece *first,
                                  const struct piece *last)
{
    struct msim_anatomy *a = c->a;
    uint32_t at = c->pass->forward;

    MSIM_TRY(msim_grow((void **)&a->blocks, &a->cap_blocks, a->n_blocks,
                       sizeof(*a->blocks)));
    a->blocks[a->n_blocks] = (struct msim_anatomy_block){
        at + first->first, at + last->end, (uint32_t)(c->pass - a->passes)};
    for (uint32_t i = at + first->first; i < at + last->end; i++)
        a->rows[i].block = a->n_blocks;
    a->n_blocks++;
    return MSIM_OK;
}

static enum msim_status join(struct cutting *c)
{
    uint32_t p = period_of(c), i = 0, start = 0;

    while (p > 1 && start < c->n_pieces && !are_alike(c, start, start + p, p))
        start++;
    while (i < c->n_pieces) {
        uint32_t n = p > 1 && i >= start && are_alike(c, start, i, p) ? p : 1;

        if (c->pieces[i].repeats && (n == p))
            MSIM_TRY(add_block(c, &c->pieces[i], &c->pieces[i + n - 1]));
        i += n;
    }
    return MSIM_OK;
}

/* ---- backward ------------------------------------------------------------
 */

/* The block that made sequence number `seq`; NONE: no block. Statements from
 * the last with a number that is not above it on are later ones. `least` has
 * those of the forward pass. */
static uint32_t block_of(const struct msim_anatomy *a,
                         const struct msim_anatomy_pass *p,
                         const int32_t *least, int32_t seq)
{
    for (uint32_t s = p->backward; s-- > p->forward;)
        if (least[s - p->forward] <= seq)
            return a->rows[s].block;
    return MSIM_NONE;
}

static bool is_numbered(const struct msim_anatomy *a,
                        const struct msim_anatomy_pass *p)
{
    for (uint32_t s = p->backward; s < p->tail; s++)
        if (msim_anatomy_sequence(a, s) >= 0)
            return true;
    return false;
}

static enum msim_status place_numbered(struct msim_anatomy *a,
                                       const struct msim_anatomy_pass *p)
{
    size_t n = (size_t)(p->backward - p->forward) + 1;
    int32_t *least = malloc(n * sizeof(*least));
    uint32_t block = MSIM_NONE;

    if (!least)
        return MSIM_ENOMEM;
    for (uint32_t s = p->forward; s < p->backward; s++)
        least[s - p->forward] = msim_anatomy_least_sequence(a, s);
    for (uint32_t s = p->backward; s < p->tail; s++) {
        int32_t seq = msim_anatomy_sequence(a, s);

        if (seq >= 0)
            block = block_of(a, p, least, seq);
        a->rows[s].block = block;
    }
    free(least);
    return MSIM_OK;
}

/* Where forward names a life, one past the statement; 0: nowhere. */
struct named {
    uint32_t first, last;
    bool made; /* by the first */
};

static void note_name(struct named *n, uint32_t at, bool made)
{
    n->first = at;
    n->made = made;
    if (!n->last)
        n->last = at;
}

static void note_names(const struct msim_anatomy *a,
                       const struct msim_anatomy_pass *p, struct named *names)
{
    for (uint32_t s = p->backward; s-- > p->forward;)
        for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++) {
            struct msim_lives_each in = msim_lives_inputs(a->lives, a->t, i);
            struct msim_lives_each out = msim_lives_outputs(a->lives, a->t, i);

            while (msim_lives_next(&in))
                if (in.life != MSIM_NONE)
                    note_name(&names[in.life], s + 1, false);
            while (msim_lives_next(&out))
                if (out.life != MSIM_NONE)
                    note_name(&names[out.life], s + 1, true);
        }
}

/* A weight that is used before and behind a block, such as a table that
 * embedding and head share, does not say which of them reads it. */
static bool is_shared(const struct msim_anatomy *a, const struct named *n)
{
    for (uint32_t s = n->first; !n->made && s < n->last; s++)
        if (a->rows[s].block != a->rows[n->first - 1].block)
            return true;
    return false;
}

/* The last forward statement, plus one, that first names what statement `s`
 * reads; 0: it reads nothing of forward. */
static uint32_t reads_of(const struct msim_anatomy *a,
                         const struct named *names, uint32_t s)
{
    uint32_t last = 0;

    for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++) {
        struct msim_lives_each in = msim_lives_inputs(a->lives, a->t, i);

        while (msim_lives_next(&in))
            if (in.life != MSIM_NONE && names[in.life].first > last &&
                !is_shared(a, &names[in.life]))
                last = names[in.life].first;
    }
    return last;
}

/* Without numbers: what a backward operator reads of forward says where it
 * belongs; they go from the last statement to the first. */
static enum msim_status place_by_data(struct msim_anatomy *a,
                                      const struct msim_anatomy_pass *p)
{
    struct named *names = calloc((size_t)a->lives->n + 1, sizeof(*names));
    uint32_t at = p->backward;

    if (!names)
        return MSIM_ENOMEM;
    note_names(a, p, names);
    for (uint32_t s = p->backward; s < p->tail; s++) {
        uint32_t last = reads_of(a, names, s);

        if (last && last < at)
            at = last;
        a->rows[s].block = at > p->forward ? a->rows[at - 1].block : MSIM_NONE;
    }
    free(names);
    return MSIM_OK;
}

/* ---- all of it -----------------------------------------------------------
 */

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
    count_crossings(c);
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
        MSIM_TRY(is_numbered(a, p) ? place_numbered(a, p)
                                   : place_by_data(a, p));
    }
    return MSIM_OK;
}
