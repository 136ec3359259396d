/*
 * core/rewrite/weave/anatomy.c - what a recorded training is made of.
 */
#include "core/rewrite/weave/weave.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

#define HOOK_MOST 8 /* statements */
#define EVALUATE  "autograd::engine::evaluate_function"

static bool begins(const struct msim_trace *t, uint32_t op, const char *with)
{
    return !strncmp(msim_trace_text(t, t->ops[op].name), with, strlen(with));
}

bool msim_anatomy_steps_before(const struct msim_anatomy *a, uint32_t p)
{
    uint32_t end = p < a->n_passes ? a->passes[p].forward : a->n;

    for (uint32_t s = a->passes[p - 1].tail; s < end; s++)
        if (a->rows[s].role == MSIM_ANATOMY_OPTIMIZER)
            return true;
    return false;
}

uint32_t msim_anatomy_end(const struct msim_anatomy *a, uint32_t statement)
{
    return a->t->ops[a->rows[statement].op].end;
}

bool msim_anatomy_is_autograd(const struct msim_anatomy *a, uint32_t statement)
{
    for (uint32_t i = a->rows[statement].op; i < msim_anatomy_end(a, statement);
         i++)
        if (a->t->ops[i].scope == 1)
            return true;
    return begins(a->t, a->rows[statement].op, EVALUATE);
}

/* The first of its operators that autograd numbered. */
int32_t msim_anatomy_sequence(const struct msim_anatomy *a, uint32_t statement)
{
    for (uint32_t i = a->rows[statement].op; i < msim_anatomy_end(a, statement);
         i++)
        if (a->t->ops[i].scope == 1 && a->t->ops[i].seq >= 0)
            return a->t->ops[i].seq;
    return -1;
}

int32_t msim_anatomy_least_sequence(const struct msim_anatomy *a,
                                    uint32_t statement)
{
    int32_t least = INT32_MAX;

    for (uint32_t i = a->rows[statement].op; i < msim_anatomy_end(a, statement);
         i++)
        if (a->t->ops[i].seq >= 0 && a->t->ops[i].seq < least)
            least = a->t->ops[i].seq;
    return least;
}

static uint32_t forward_of(const struct msim_anatomy *a, const int32_t *least,
                           uint32_t s)
{
    const struct msim_anatomy_pass *p;
    int32_t seq = a->rows[s].role == MSIM_ANATOMY_BACKWARD
                      ? msim_anatomy_sequence(a, s)
                      : -1;

    if (seq < 0)
        return MSIM_NONE;
    p = &a->passes[a->rows[s].pass];
    for (uint32_t f = p->backward; f-- > p->forward;)
        if (least[f] <= seq)
            return f;
    return MSIM_NONE;
}

enum msim_status msim_anatomy_forward(const struct msim_anatomy *a,
                                      uint32_t *forward)
{
    int32_t *least = malloc(((size_t)a->n + 1) * sizeof(*least));

    if (!least)
        return MSIM_ENOMEM;
    for (uint32_t s = 0; s < a->n; s++)
        least[s] = msim_anatomy_least_sequence(a, s);
    for (uint32_t s = 0; s < a->n; s++)
        forward[s] = forward_of(a, least, s);
    free(least);
    return MSIM_OK;
}

/* ---- statements ----------------------------------------------------------
 */

/* Labels and roots around it do not count. */
static bool is_outermost(const struct msim_trace *t, uint32_t op)
{
    return t->ops[op].kind == MSIM_OP_OPERATOR && msim_op_topmost(t, op) == op;
}

static bool is_in_optimizer(const struct msim_trace *t, uint32_t op)
{
    for (op = t->ops[op].parent; op != MSIM_NONE; op = t->ops[op].parent)
        if (begins(t, op, "Optimizer."))
            return true;
    return false;
}

static uint8_t role_of(const struct msim_trace *t, uint32_t op)
{
    if (is_in_optimizer(t, op))
        return MSIM_ANATOMY_OPTIMIZER;
    if (t->ops[op].scope == 1 || begins(t, op, EVALUATE))
        return MSIM_ANATOMY_BACKWARD;
    return MSIM_ANATOMY_FORWARD;
}

static enum msim_status add_statement(struct msim_anatomy *a, uint32_t op)
{
    MSIM_TRY(msim_grow((void **)&a->rows, &a->cap, a->n, sizeof(*a->rows)));
    a->statement[op] = a->n;
    a->rows[a->n++] =
        (struct msim_anatomy_statement){.op = op,
                                        .pass = MSIM_NONE,
                                        .block = MSIM_NONE,
                                        .role = role_of(a->t, op)};
    return MSIM_OK;
}

static enum msim_status find_statements(struct msim_anatomy *a)
{
    for (uint32_t i = 0; i < a->t->n_ops; i++)
        a->order[a->lives->place[i]] = i;
    for (uint32_t k = 0; k < a->t->n_ops; k++)
        if (is_outermost(a->t, a->order[k]))
            MSIM_TRY(add_statement(a, a->order[k]));
    return MSIM_OK;
}

/* ---- passes --------------------------------------------------------------
 */

/* From statement `i` on, the first of `role`; behind the last: n. */
static uint32_t next_of(const struct msim_anatomy *a, uint32_t i, uint8_t role)
{
    while (i < a->n && a->rows[i].role != role)
        i++;
    return i;
}

/* Does autograd number an operator of statements [first, end)? It does so in a
 * forward pass, not in hooks. */
static bool is_numbered(const struct msim_anatomy *a, uint32_t first,
                        uint32_t end)
{
    for (uint32_t s = first; s < end; s++)
        for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++)
            if (a->t->ops[i].seq >= 0 && a->t->ops[i].scope != 1)
                return true;
    return false;
}

/*
 * The last backward statement before anything that is not: what is called
 * between two of them (a hook) is backward, too, unless it is a forward pass of
 * its own: numbered, or long.
 */
static uint32_t backward_end(const struct msim_anatomy *a, uint32_t first)
{
    uint32_t step = next_of(a, first, MSIM_ANATOMY_OPTIMIZER);
    uint32_t i = first, gap;

    for (;;) {
        while (i < a->n && a->rows[i].role == MSIM_ANATOMY_BACKWARD)
            i++;
        if (step < i) /* else it is still the next, and far away */
            step = next_of(a, i, MSIM_ANATOMY_OPTIMIZER);
        gap = next_of(a, i, MSIM_ANATOMY_BACKWARD);
        if (gap == a->n || gap > i + HOOK_MOST || is_numbered(a, i, gap) ||
            step < gap)
            return i;
        i = gap;
    }
}

static void set_roles(struct msim_anatomy *a, uint32_t first, uint32_t end,
                      enum msim_anatomy_role role, uint32_t pass)
{
    for (uint32_t i = first; i < end; i++) {
        if (a->rows[i].role != MSIM_ANATOMY_OPTIMIZER)
            a->rows[i].role = (uint8_t)role;
        a->rows[i].pass = pass;
    }
}

/* What comes after backward, up to the optimizer, where there is one before
 * the next backward pass. */
static uint32_t tail_end(const struct msim_anatomy *a, uint32_t i)
{
    uint32_t step = next_of(a, i, MSIM_ANATOMY_OPTIMIZER);
    uint32_t backward = next_of(a, i, MSIM_ANATOMY_BACKWARD);

    return step < backward ? step : backward == a->n ? a->n : i;
}

static enum msim_status add_pass(struct msim_anatomy *a,
                                 const struct msim_anatomy_pass *p)
{
    MSIM_TRY(msim_grow((void **)&a->passes, &a->cap_passes, a->n_passes,
                       sizeof(*a->passes)));
    set_roles(a, p->forward, p->backward, MSIM_ANATOMY_FORWARD, a->n_passes);
    set_roles(a, p->backward, p->tail, MSIM_ANATOMY_BACKWARD, a->n_passes);
    set_roles(a, p->tail, p->end, MSIM_ANATOMY_TAIL, a->n_passes);
    a->passes[a->n_passes++] = *p;
    return MSIM_OK;
}

enum msim_status msim_anatomy_forward_pass(struct msim_anatomy *a)
{
    const struct msim_anatomy_pass p = {0, a->n, a->n, a->n};

    return a->n ? add_pass(a, &p) : MSIM_OK;
}

static enum msim_status find_passes(struct msim_anatomy *a)
{
    uint32_t i = 0;

    while (i < a->n) {
        struct msim_anatomy_pass p = {.forward =
                                          next_of(a, i, MSIM_ANATOMY_FORWARD)};

        p.backward = next_of(a, p.forward, MSIM_ANATOMY_BACKWARD);
        if (p.backward == a->n)
            break;
        /* A step of the optimizer in between: forward begins after it. */
        for (i = p.forward; i < p.backward; i++)
            if (a->rows[i].role == MSIM_ANATOMY_OPTIMIZER)
                p.forward = i + 1;
        p.tail = backward_end(a, p.backward);
        p.end = tail_end(a, p.tail);
        MSIM_TRY(add_pass(a, &p));
        i = p.end;
    }
    return MSIM_OK;
}

/* ---- forward passes that run again ---------------------------------------
 */

static uint32_t name_of(const struct msim_anatomy *a, uint32_t s)
{
    return a->t->ops[a->rows[s].op].name;
}

/* Are `n` statements from `s` on called like those from `k` on? */
static bool called_alike(const struct msim_anatomy *a, uint32_t s, uint32_t k,
                         uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (name_of(a, s + i) != name_of(a, k + i))
            return false;
    return true;
}

/* Do `n` statements from `s` on stand in the middle of the first pass? */
static bool is_inside(const struct msim_anatomy *a, uint32_t s, uint32_t n)
{
    const struct msim_anatomy_pass *first = &a->passes[0];

    for (uint32_t i = first->forward + 1; i + n <= first->backward; i++)
        if (called_alike(a, i, s, n))
            return true;
    return false;
}

/* Does statement `s` read what a forward pass before it has made? */
static bool reads_forward(const struct msim_anatomy *a, uint32_t s)
{
    struct msim_lives_each e = msim_lives_inputs(a->lives, a->t, a->rows[s].op);

    while (msim_lives_next(&e)) {
        uint32_t born =
            e.life == MSIM_NONE ? MSIM_NONE : a->lives->rows[e.life].born;
        uint32_t top = msim_op_topmost(a->t, born);

        if (top != MSIM_NONE && a->statement[top] < s &&
            a->rows[a->statement[top]].role == MSIM_ANATOMY_FORWARD)
            return true;
    }
    return false;
}

/* Messages, and memory for them: weights are gathered before they are used. */
static bool is_gathering(const struct msim_anatomy *a, uint32_t s)
{
    uint32_t op = a->rows[s].op;

    return a->t->ops[op].comm != MSIM_NONE || begins(a->t, op, "aten::empty");
}

/* Is the forward part of pass `p`, but for what backward begins with, a stretch
 * from the middle of the first one's, which begins with what that has made? It
 * is a block that is computed again, not another micro batch. */
static bool is_again(const struct msim_anatomy *a, uint32_t p)
{
    const struct msim_anatomy_pass *first = &a->passes[0], *x = &a->passes[p];
    uint32_t all = first->backward - first->forward, at = x->forward, n;

    while (at < x->backward && is_gathering(a, at))
        at++;
    n = x->backward - at;
    if (n + HOOK_MOST >= all || !n || !reads_forward(a, at))
        return false;
    for (uint32_t less = 0; less < HOOK_MOST && less < n; less++)
        if (n - less > HOOK_MOST &&
            !called_alike(a, first->forward, at, n - less) &&
            is_inside(a, at, n - less))
            return true;
    return false;
}

/* Statements of pass `from` are of backward of pass `to`. */
static void merge(struct msim_anatomy *a, uint32_t to, uint32_t from)
{
    const struct msim_anatomy_pass *x = &a->passes[from];

    set_roles(a, a->passes[to].tail, x->tail, MSIM_ANATOMY_BACKWARD, to);
    set_roles(a, x->tail, x->end, MSIM_ANATOMY_TAIL, to);
    a->passes[to].tail = x->tail;
    a->passes[to].end = x->end;
}

static void merge_again(struct msim_anatomy *a)
{
    uint32_t n = a->n_passes ? 1 : 0;

    for (uint32_t p = 1; p < a->n_passes; p++) {
        const struct msim_anatomy_pass x = a->passes[p];

        if (is_again(a, p)) {
            merge(a, n - 1, p);
            continue;
        }
        set_roles(a, x.forward, x.backward, MSIM_ANATOMY_FORWARD, n);
        set_roles(a, x.backward, x.tail, MSIM_ANATOMY_BACKWARD, n);
        set_roles(a, x.tail, x.end, MSIM_ANATOMY_TAIL, n);
        a->passes[n++] = x;
    }
    a->n_passes = n;
}

/* ---- all of it -----------------------------------------------------------
 */

enum msim_status msim_anatomy_find(struct msim_anatomy *out,
                                   const struct msim_trace *t,
                                   const struct msim_lives *lives)
{
    size_t n = (size_t)t->n_ops + 1;

    *out = (struct msim_anatomy){.t = t, .lives = lives};
    out->order = malloc(n * sizeof(*out->order));
    out->statement = malloc(n * sizeof(*out->statement));
    if (!out->order || !out->statement)
        return MSIM_ENOMEM;
    memset(out->statement, 0xff, n * sizeof(*out->statement));
    MSIM_TRY(find_statements(out));
    MSIM_TRY(find_passes(out));
    merge_again(out);
    return MSIM_OK;
}

void msim_anatomy_release(struct msim_anatomy *a)
{
    free(a->order);
    free(a->statement);
    free(a->rows);
    free(a->passes);
    free(a->blocks);
    *a = (struct msim_anatomy){0};
}
