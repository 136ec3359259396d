/*
 * core/rewrite/mixed.c - computing in a narrower type than weights are kept in.
 *
 * A tensor may be there in both types. A statement computes in one; what it
 * reads is cast to that first, and what it makes is of it:
 *
 *     conv2d   narrow   casts its input and its weight, makes narrow
 *     relu     as what it reads
 *     loss     wide     casts its input
 *
 * Backward of a statement computes as that did and reads the same copies, so
 * that they live until then. With autocast (its lists are those of PyTorch's
 * "Op-specific behavior") weights are wide, their copies are made once a pass,
 * and their gradients become wide. With FSDP's MixedPrecision weights come
 * narrow from gathering, and everything is narrow but batch normalisation,
 * whose result is cast back.
 */
#include "core/rewrite/rewrite_internal.h"
#include "core/rewrite/weave/draft.h"

#include <stdlib.h>
#include <string.h>

#define TO_COPY_BACKWARD "autograd::engine::evaluate_function: ToCopyBackward0"

enum width { WIDE, NARROW, WIDTHS, FOLLOWS };

struct mixing {
    struct msim_weave *w;
    uint8_t narrow;            /* enum msim_dtype */
    bool native;               /* weights come narrow */
    uint32_t *storage[WIDTHS]; /* by life: where it is in that type; 0: not */
    uint8_t *computed;         /* by statement: enum width */
    uint32_t *forward;         /* by backward statement: of what, or NONE */
    uint32_t narrow_statements;
};

/* ---- which type ----------------------------------------------------------
 */

static bool contains_one(const char *name, const char *const *parts)
{
    for (; *parts; parts++)
        if (strstr(name, *parts))
            return true;
    return false;
}

static enum width autocast_width(const char *name)
{
    static const char *const narrow[] = {
        "conv",  "linear",  "matmul",    "aten::mm",    "aten::bmm", "einsum",
        "addmm", "baddbmm", "attention", "aten::prelu", NULL};
    static const char *const wide[] = {
        "layer_norm", "group_norm", "softmax",   "loss",       "aten::exp",
        "aten::pow",  "aten::sum",  "norm2",     "aten::norm", "aten::prod",
        "cumsum",     "cosine_",    "aten::log", NULL};

    if (contains_one(name, wide))
        return WIDE;
    return contains_one(name, narrow) ? NARROW : FOLLOWS;
}

static const char *name_of(const struct mixing *c, uint32_t s)
{
    return msim_trace_text(c->w->t, c->w->t->ops[c->w->a.rows[s].op].name);
}

static bool is_float(const struct msim_lives_each *e)
{
    return e->life != MSIM_NONE && e->arg->dtype == MSIM_DT_F32;
}

/* Wide where it reads a tensor that is wide alone. Batch normalisation does not
 * look at its weights. */
static enum width width_of_inputs(const struct mixing *c, uint32_t s)
{
    bool norm = strstr(name_of(c, s), "batch_norm") != NULL, any = false;
    const struct msim_anatomy *a = &c->w->a;

    for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(a->lives, c->w->t, i);

        while (msim_lives_next(&e)) {
            if (!is_float(&e) || (norm && any))
                continue;
            if (c->storage[NARROW][e.life])
                any = true;
            else if (c->storage[WIDE][e.life] ||
                     c->w->d.lives.rows[e.life].born == MSIM_NONE)
                return WIDE;
        }
    }
    return any ? NARROW : WIDE;
}

static bool is_narrow_name(const struct mixing *c, uint32_t op)
{
    return autocast_width(msim_trace_text(c->w->t, c->w->t->ops[op].name)) ==
           NARROW;
}

/* Does operator `op` call another that autocast would narrow? */
static bool calls_narrow(const struct mixing *c, uint32_t op)
{
    for (uint32_t i = op + 1; i < c->w->t->ops[op].end; i++)
        if (is_narrow_name(c, i))
            return true;
    return false;
}

/* Is a product or a convolution below statement `s` in fp32? Under autocast
 * they are narrow though the statement reads fp32. */
static bool multiplies_wide(const struct mixing *c, uint32_t s)
{
    for (uint32_t i = c->w->a.rows[s].op; i < msim_anatomy_end(&c->w->a, s);
         i++) {
        struct msim_lives_each e =
            msim_lives_inputs(&c->w->d.lives, c->w->t, i);

        if (is_narrow_name(c, i) && msim_lives_next(&e) && is_float(&e) &&
            !calls_narrow(c, i))
            return true;
    }
    return false;
}

static enum width decide(const struct mixing *c, uint32_t s)
{
    const struct msim_anatomy_statement *row = &c->w->a.rows[s];
    enum width width = FOLLOWS;

    if (row->role == MSIM_ANATOMY_BACKWARD && c->w->gradient[s] != MSIM_NONE)
        return c->native ? FOLLOWS : WIDE;
    if (row->role == MSIM_ANATOMY_BACKWARD)
        width = c->forward[s] == MSIM_NONE
                    ? FOLLOWS
                    : (enum width)c->computed[c->forward[s]];
    else if (c->native)
        width = strstr(name_of(c, s), "batch_norm") ? WIDE : NARROW;
    else
        width = autocast_width(name_of(c, s));
    return width;
}

/* ---- casts ---------------------------------------------------------------
 */

static uint8_t dtype_of(const struct mixing *c, enum width width)
{
    return width == NARROW ? c->narrow : (uint8_t)MSIM_DT_F32;
}

/* `e` in the type `width`, beside the other. */
static enum msim_status cast(struct mixing *c, uint32_t s,
                             const struct msim_lives_each *e, enum width width)
{
    bool forward = c->w->a.rows[s].role == MSIM_ANATOMY_FORWARD;
    enum width other = width == NARROW ? WIDE : NARROW;
    struct msim_emit_flat from = {(int64_t)msim_arg_elems(c->w->t, e->arg),
                                  c->storage[other][e->life],
                                  dtype_of(c, other), e->arg->device};
    struct msim_emit_flat to = from;
    struct msim_draft_place at;

    to.dtype = dtype_of(c, width);
    to.storage = c->storage[width][e->life] = msim_draft_fresh(&c->w->d);
    MSIM_TRY(msim_weave_hold(c->w, forward ? "aten::to" : TO_COPY_BACKWARD,
                             msim_weave_place(c->w, s), &at));
    MSIM_TRY(msim_emit_empty(&c->w->d, at, &to));
    return msim_emit_copy(&c->w->d, at, &to, &from);
}

/* What was there before is as recorded; weights that come narrow are whatever
 * they are read as. */
static void meet(struct mixing *c, uint32_t life)
{
    if (c->storage[WIDE][life] || c->storage[NARROW][life])
        return;
    c->storage[WIDE][life] = c->w->d.storage[life];
    if (c->native && c->w->kind[life] == MSIM_LIFE_PARAMETER)
        c->storage[NARROW][life] = c->w->d.storage[life];
}

/* Is it an argument of the statement itself? */
static bool is_given(const struct mixing *c, uint32_t s, uint32_t life)
{
    struct msim_lives_each e =
        msim_lives_inputs(&c->w->d.lives, c->w->t, c->w->a.rows[s].op);

    while (msim_lives_next(&e))
        if (e.life == life)
            return true;
    return false;
}

/* Was it made before statement `s`? What nothing else names is its own. */
static bool is_from_before(const struct mixing *c, uint32_t s, uint32_t life)
{
    const struct msim_life *l = &c->w->d.lives.rows[life];
    uint32_t begin = c->w->a.rows[s].op, end = msim_anatomy_end(&c->w->a, s);

    if (l->born == MSIM_NONE)
        return c->w->kind[life] != MSIM_LIFE_OTHER || l->first < begin ||
               l->last >= end || is_given(c, s, life);
    return l->born < begin || l->born >= end;
}

/* All that statement `s` reads, in one type. */
static enum msim_status bring(struct mixing *c, uint32_t s, enum width width)
{
    const struct msim_anatomy *a = &c->w->a;
    bool keeps_weights = width == NARROW && !c->native &&
                         strstr(name_of(c, s), "atch") && /* BatchNorm */
                         strstr(name_of(c, s), "orm");

    for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(a->lives, c->w->t, i);

        while (msim_lives_next(&e)) {
            enum width as = width;

            if (!is_float(&e) || !is_from_before(c, s, e.life))
                continue;
            meet(c, e.life);
            if (keeps_weights && a->lives->rows[e.life].born == MSIM_NONE)
                as = WIDE;
            if (!c->storage[as][e.life])
                MSIM_TRY(cast(c, s, &e, as));
            c->w->d.storage[e.life] = c->storage[as][e.life];
        }
    }
    return MSIM_OK;
}

/* ---- what a statement makes ----------------------------------------------
 */

static void note_made(struct mixing *c, uint32_t s, enum width width)
{
    const struct msim_anatomy *a = &c->w->a;

    for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++) {
        struct msim_lives_each e = msim_lives_outputs(a->lives, c->w->t, i);

        while (msim_lives_next(&e)) {
            if (!is_float(&e) ||
                (a->lives->rows[e.life].born != i &&
                 !msim_weave_is_in_place(c->w, i)) ||
                c->w->kind[e.life] == MSIM_LIFE_PARAMETER)
                continue;
            c->storage[WIDE][e.life] = c->storage[NARROW][e.life] = 0;
            c->storage[width][e.life] = c->w->d.storage[e.life];
        }
    }
}

/* What a wide batch normalisation hands on is cast back: its first result that
 * is read later. */
static enum msim_status cast_back(struct mixing *c, uint32_t s)
{
    const struct msim_anatomy *a = &c->w->a;
    struct msim_lives_each e =
        msim_lives_outputs(a->lives, c->w->t, a->rows[s].op);

    if (!msim_lives_next(&e) || !is_float(&e) || c->storage[NARROW][e.life])
        return MSIM_OK;
    return cast(c, s, &e, NARROW);
}

/* ---- statements ----------------------------------------------------------
 */

/* Name `life` in the type that it came in, so that it lives on. */
static enum msim_status hold_on(struct mixing *c, uint32_t life,
                                struct msim_draft_place at)
{
    const struct msim_life *row = &c->w->d.lives.rows[life];
    const struct msim_emit_flat x = {(int64_t)(row->bytes / 4),
                                     c->storage[WIDE][life], MSIM_DT_F32,
                                     row->device};

    return msim_emit_op(&c->w->d, at, "aten::view", &x, &x, NULL);
}

/* Copies are of one pass. The program still has the batch that it gave. */
static enum msim_status end_pass(struct mixing *c, uint32_t s)
{
    for (uint32_t i = 0; i < c->w->d.lives.n; i++) {
        bool both = c->storage[WIDE][i] && c->storage[NARROW][i];

        if (!both || c->w->d.lives.rows[i].born != MSIM_NONE)
            continue;
        if (c->w->kind[i] == MSIM_LIFE_OTHER)
            MSIM_TRY(hold_on(c, i, msim_weave_place(c->w, s)));
        if (c->w->kind[i] == MSIM_LIFE_OTHER || !c->native)
            c->storage[NARROW][i] = 0;
    }
    return MSIM_OK;
}

/* Optimizers name what is wide. */
static enum msim_status update(struct mixing *c, uint32_t s)
{
    const struct msim_anatomy *a = &c->w->a;

    for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(a->lives, c->w->t, i);

        while (msim_lives_next(&e))
            if (is_float(&e) && c->storage[WIDE][e.life])
                c->w->d.storage[e.life] = c->storage[WIDE][e.life];
    }
    return msim_weave_copy(c->w, s);
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct mixing *c = ctx;
    const struct msim_anatomy_statement *row = &c->w->a.rows[s];
    struct msim_draft_how how = {.at = msim_weave_place(c->w, s)};
    enum width width;

    if (row->role == MSIM_ANATOMY_OPTIMIZER || row->role == MSIM_ANATOMY_TAIL ||
        row->pass == MSIM_NONE)
        return update(c, s);
    width = decide(c, s);
    if (width == FOLLOWS)
        width = width_of_inputs(c, s);
    c->computed[s] = (uint8_t)width;
    MSIM_TRY(bring(c, s, width));
    if (width == NARROW) {
        how.from = MSIM_DT_F32;
        how.to = c->narrow;
        c->narrow_statements += multiplies_wide(c, s);
    }
    MSIM_TRY(msim_weave_copy_as(c->w, s, &how));
    note_made(c, s, width);
    if (c->native && width == WIDE && row->role == MSIM_ANATOMY_FORWARD)
        MSIM_TRY(cast_back(c, s));
    return s + 1 == c->w->a.passes[row->pass].tail ? end_pass(c, s) : MSIM_OK;
}

enum msim_status msim_stage_mixed(struct msim_weave *w,
                                  const struct msim_rewrite *r)
{
    struct mixing c = {.w = w,
                       .narrow = r->mixed ? r->mixed : r->autocast,
                       .native = r->mixed != 0};
    size_t lives = (size_t)w->d.lives.n + 1, n = (size_t)w->a.n + 1;
    enum msim_status status = MSIM_ENOMEM;

    c.storage[WIDE] = calloc(lives, sizeof(uint32_t));
    c.storage[NARROW] = calloc(lives, sizeof(uint32_t));
    c.computed = calloc(n, 1);
    c.forward = malloc(n * sizeof(*c.forward));
    if (c.storage[WIDE] && c.storage[NARROW] && c.computed && c.forward)
        status = msim_anatomy_forward(&w->a, c.forward);
    if (status == MSIM_OK)
        status = msim_weave_walk(w, &c, visit);
    if (status == MSIM_OK && !c.narrow_statements)
        status = msim_weave_refuse(w, "no product or convolution of the trace "
                                      "is in fp32, so that none can be cast");
    free(c.storage[WIDE]);
    free(c.storage[NARROW]);
    free(c.computed);
    free(c.forward);
    return status;
}
