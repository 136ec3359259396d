/*
 * core/rewrite/split/expert_sizes.c - sizes of experts, by what multiplies by
 * their weights.
 */
#include "core/rewrite/split/experts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct msim_trace *t, uint32_t op)
{
    return msim_trace_text(t, t->ops[op].name);
}

static uint32_t class_at(const struct msim_expert_sizes *x,
                         const struct msim_lives_each *e, uint32_t dim)
{
    return dim < e->arg->n ? msim_size_class_of(x->s, e->id - 1, dim)
                           : MSIM_NONE;
}

static bool is_weight(const struct msim_expert_sizes *x, uint32_t class)
{
    return class != MSIM_NONE && x->s->classes[class].weight;
}

static void name_size(struct msim_expert_sizes *x, uint32_t class,
                      enum msim_expert_size kind)
{
    if (class != MSIM_NONE && !x->of[class])
        x->of[class] = (uint8_t)kind;
}

static bool is_in_step(const struct msim_trace *t, uint32_t op)
{
    for (; op != MSIM_NONE; op = t->ops[op].parent)
        if (!strncmp(name_of(t, op), "Optimizer.", 10))
            return true;
    return false;
}

/* Matrices that are there before the step, which updates them. */
static bool are_weights(const struct msim_expert_sizes *x,
                        const struct msim_lives_each *b)
{
    const struct msim_life *life =
        b->life == MSIM_NONE ? NULL : &x->s->lives.rows[b->life];

    return life && b->arg->n == 3 && life->born == MSIM_NONE &&
           is_in_step(x->s->t, life->last);
}

/* Of a product with weights: how many experts, and how many rows each. */
static void look_at_weights(struct msim_expert_sizes *x, uint32_t op)
{
    struct msim_lives_each e = msim_lives_inputs(&x->s->lives, x->s->t, op), a;

    if (!msim_lives_next(&e))
        return;
    a = e;
    if (!msim_lives_next(&e) || !are_weights(x, &e))
        return;
    if (class_at(x, &e, 0) == MSIM_NONE)
        x->single = op;
    name_size(x, class_at(x, &e, 0), MSIM_EXPERT_COUNT);
    if (a.arg->n == 3 && class_at(x, &a, 1) == MSIM_NONE)
        x->lone = op;
    else if (a.arg->n == 3)
        name_size(x, class_at(x, &a, 1), MSIM_EXPERT_EACH);
    else if (a.arg->n == 2)
        name_size(x, class_at(x, &a, 0), MSIM_EXPERT_ROWS);
}

/* ---- products, and what they are of ---------------------------------------
 */

static bool counts_experts(const struct msim_expert_sizes *x,
                           const struct msim_lives_each *e)
{
    uint32_t class = e->arg->n == 3 ? class_at(x, e, 0) : MSIM_NONE;

    return class != MSIM_NONE && x->of[class] == MSIM_EXPERT_COUNT;
}

/* What is not a parameter's, or its gradient's, has rows. */
static void note_rows(struct msim_expert_sizes *x,
                      const struct msim_lives_each *e)
{
    bool weights = e->arg->n == 3 && is_weight(x, class_at(x, e, 1)) &&
                   is_weight(x, class_at(x, e, 2));

    if (e->life != MSIM_NONE && e->arg->n > 1 && !weights && !are_weights(x, e))
        x->rows[e->life] = msim_arg_elems(x->s->t, e->arg);
}

static void look_at_product(struct msim_expert_sizes *x, uint32_t op)
{
    const struct msim_trace *t = x->s->t;

    for (int pass = 0; pass < 2; pass++)
        for (int out = 0; out < 2; out++) {
            struct msim_lives_each e =
                out ? msim_lives_outputs(&x->s->lives, t, op)
                    : msim_lives_inputs(&x->s->lives, t, op);

            while (msim_lives_next(&e)) {
                if (!pass)
                    x->product[op] |= counts_experts(x, &e);
                else if (x->product[op])
                    note_rows(x, &e);
            }
        }
    if (x->product[op] && x->op == MSIM_NONE)
        x->op = op;
}

static bool counts_rows(const struct msim_expert_sizes *x, uint32_t class)
{
    return class != MSIM_NONE && x->of[class] == MSIM_EXPERT_ROWS;
}

/* Whoever else names such memory as a matrix has all rows in it; turned, they
 * are last. */
static void name_rows(struct msim_expert_sizes *x, uint32_t op)
{
    const struct msim_trace *t = x->s->t;

    for (int out = 0; out < 2; out++) {
        struct msim_lives_each e = out ? msim_lives_outputs(&x->s->lives, t, op)
                                       : msim_lives_inputs(&x->s->lives, t, op);

        while (msim_lives_next(&e))
            if (e.life != MSIM_NONE && e.arg->n == 2 && x->rows[e.life] &&
                x->rows[e.life] == msim_arg_elems(t, e.arg) &&
                !counts_rows(x, class_at(x, &e, 1)))
                name_size(x,
                          class_at(x, &e, e.arg->layout == MSIM_LAYOUT_TURNED),
                          MSIM_EXPERT_ROWS);
    }
}

/* ---- an MLP beside experts ------------------------------------------------
 */

enum { GIVEN = 1, MADE = 2 };

/* Does an operator that is no product of experts make rows of theirs? */
static bool makes_rows(const struct msim_expert_sizes *x, uint32_t op)
{
    struct msim_lives_each e = msim_lives_outputs(&x->s->lives, x->s->t, op);

    while (!x->product[op] && msim_lives_next(&e))
        if (e.life != MSIM_NONE && x->rows[e.life] &&
            x->s->lives.rows[e.life].born == op)
            return true;
    return false;
}

static bool reads(const struct msim_expert_sizes *x, uint32_t op,
                  const uint8_t *marks, uint8_t mark)
{
    struct msim_lives_each e = msim_lives_inputs(&x->s->lives, x->s->t, op);

    while (msim_lives_next(&e))
        if (e.life != MSIM_NONE && marks[e.life] & mark)
            return true;
    return false;
}

/* What rows are made of, or what a layer makes of that. */
static void mark(const struct msim_expert_sizes *x, struct msim_lives_each e,
                 uint8_t *marks, uint8_t mark)
{
    while (msim_lives_next(&e))
        if (e.life != MSIM_NONE && !x->rows[e.life])
            marks[e.life] |= mark;
}

static bool is_layer(const struct msim_trace *t, uint32_t op)
{
    static const char *const NAMES[] = {"aten::linear", "aten::mm",
                                        "aten::addmm", "aten::_scaled_mm"};

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
        if (!strcmp(NAMES[i], name_of(t, op)))
            return true;
    return false;
}

/* The first operator of backward. */
static uint32_t end_of_forward(const struct msim_trace *t)
{
    uint32_t end = 0;

    while (end < t->n_ops && t->ops[end].scope != 1)
        end++;
    return end;
}

static void name_inside(struct msim_expert_sizes *x, uint32_t op)
{
    struct msim_lives_each e = msim_lives_outputs(&x->s->lives, x->s->t, op);

    while (msim_lives_next(&e))
        for (uint32_t d = 0; d < e.arg->n; d++) {
            uint32_t class = class_at(x, &e, d);

            if (class != MSIM_NONE &&
                x->s->classes[class].role == MSIM_SIZE_FFN)
                name_size(x, class, MSIM_EXPERT_BESIDE);
        }
}

/* Of tokens that experts are given a layer makes what is activated. */
static void name_beside(struct msim_expert_sizes *x, uint8_t *marks)
{
    const struct msim_trace *t = x->s->t;
    uint32_t end = end_of_forward(t);

    for (uint32_t i = 0; i < end; i++)
        if (makes_rows(x, i))
            mark(x, msim_lives_inputs(&x->s->lives, t, i), marks, GIVEN);
    for (uint32_t i = 0; i < end; i++) {
        if (reads(x, i, marks, MADE))
            name_inside(x, i);
        if (is_layer(t, i) && reads(x, i, marks, GIVEN))
            mark(x, msim_lives_outputs(&x->s->lives, t, i), marks, MADE);
    }
}

/* ---- the inside of experts ------------------------------------------------
 */

/* Rows that rows are made of, which are made of rows themselves, are as wide as
 * experts are inside: what experts are given is made of tokens, and of what
 * they make nothing is that is given to them; so in each pass by itself, which
 * begins at `since`. `made` is by life. */
static void name_within(struct msim_expert_sizes *x, uint32_t op,
                        uint32_t since, uint8_t *made)
{
    const struct msim_lives *lives = &x->s->lives;
    struct msim_lives_each in = msim_lives_inputs(lives, x->s->t, op),
                           out = msim_lives_outputs(lives, x->s->t, op);
    uint32_t life = MSIM_NONE;

    while (life == MSIM_NONE && msim_lives_next(&out))
        if (out.life != MSIM_NONE && x->rows[out.life] &&
            lives->rows[out.life].born == op)
            life = out.life;
    while (life != MSIM_NONE && msim_lives_next(&in)) {
        if (in.life == MSIM_NONE || !x->rows[in.life] || in.life == life ||
            lives->rows[in.life].born < since)
            continue;
        if (made[in.life] && in.arg->n > 1)
            name_size(x, class_at(x, &in, in.arg->n - 1), MSIM_EXPERT_INSIDE);
        made[life] = 1;
    }
}

/* What else the weights have. */
static void name_width(struct msim_expert_sizes *x, uint32_t op)
{
    struct msim_lives_each e = msim_lives_inputs(&x->s->lives, x->s->t, op);

    if (!msim_lives_next(&e))
        return;
    if (!msim_lives_next(&e) || !are_weights(x, &e)) /* the second */
        return;
    name_size(x, class_at(x, &e, 1), MSIM_EXPERT_WIDTH);
    name_size(x, class_at(x, &e, 2), MSIM_EXPERT_WIDTH);
}

/* ---- all of it ------------------------------------------------------------
 */

enum msim_status msim_expert_sizes_find(struct msim_expert_sizes *x,
                                        const struct msim_sizes *s)
{
    uint32_t n = s->t->n_ops, end = end_of_forward(s->t);
    uint8_t *marks;

    *x = (struct msim_expert_sizes){.s = s,
                                    .op = MSIM_NONE,
                                    .lone = MSIM_NONE,
                                    .single = MSIM_NONE,
                                    .narrow = MSIM_NONE};
    x->of = calloc((size_t)s->n_classes + 1, 1);
    x->product = calloc((size_t)n + 1, 1);
    x->rows = calloc((size_t)s->lives.n + 1, sizeof(*x->rows));
    if (!x->of || !x->product || !x->rows)
        return MSIM_ENOMEM;
    for (uint32_t i = n; i-- > 0;)
        if (!strcmp(name_of(s->t, i), "aten::_scaled_grouped_mm"))
            x->narrow = i;
    for (uint32_t i = 0; i < n; i++)
        if (msim_is_batched_product(s->t, i))
            look_at_weights(x, i);
    for (uint32_t i = 0; i < n; i++)
        if (msim_is_batched_product(s->t, i))
            look_at_product(x, i);
    if (x->op == MSIM_NONE)
        return MSIM_OK;
    for (uint32_t i = 0; i < n; i++)
        name_rows(x, i);
    marks = calloc((size_t)s->lives.n + 1, 1);
    if (!marks)
        return MSIM_ENOMEM;
    name_beside(x, marks);
    memset(marks, 0, (size_t)s->lives.n + 1);
    for (uint32_t i = 0; i < n; i++)
        name_within(x, i, i < end ? 0 : end, marks);
    for (uint32_t i = 0; i < n; i++)
        if (x->product[i])
            name_width(x, i);
    free(marks);
    return MSIM_OK;
}

/* What ranks of `group` gathered. */
static void mark_gathered(const struct msim_expert_sizes *x, uint32_t group,
                          uint8_t *marks)
{
    const struct msim_trace *t = x->s->t;

    for (uint32_t i = 0; i < t->n_comms; i++) {
        const struct msim_comm *c = &t->comms[i];

        if (c->group == group && c->op != MSIM_NONE &&
            c->collective == MSIM_COLL_ALL_GATHER) {
            struct msim_lives_each e =
                msim_lives_outputs(&x->s->lives, t, c->op);

            while (msim_lives_next(&e))
                if (e.life != MSIM_NONE)
                    marks[e.life] = GIVEN;
        }
    }
}

enum msim_status msim_expert_sizes_are_split(bool *out,
                                             const struct msim_expert_sizes *x,
                                             uint32_t group)
{
    const struct msim_trace *t = x->s->t;
    uint8_t *marks = calloc((size_t)x->s->lives.n + 1, 1);
    uint32_t end = end_of_forward(t);

    *out = false;
    if (!marks)
        return MSIM_ENOMEM;
    mark_gathered(x, group, marks);
    for (uint32_t i = 0; i < end; i++)
        *out |=
            (makes_rows(x, i) || x->product[i]) && reads(x, i, marks, GIVEN);
    free(marks);
    return MSIM_OK;
}

void msim_expert_sizes_release(struct msim_expert_sizes *x)
{
    free(x->of);
    free(x->product);
    free(x->rows);
    *x = (struct msim_expert_sizes){0};
}

static enum msim_status refuse(const struct msim_expert_sizes *x, uint32_t op,
                               const char *why, struct msim_error *err)
{
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "operator %u, %s, %s", op, name_of(x->s->t, op), why);
}

enum msim_status msim_expert_sizes_told(const struct msim_expert_sizes *x,
                                        struct msim_error *err)
{
    return x->narrow == MSIM_NONE
               ? MSIM_OK
               : refuse(x, x->narrow,
                        "multiplies by casts of experts' weights, which do not "
                        "say what rows are; want the step in 16 bits",
                        err);
}

enum msim_status msim_expert_sizes_scale(const struct msim_expert_sizes *x,
                                         enum msim_expert_size kind,
                                         int64_t num, int64_t den, int64_t *to,
                                         struct msim_error *err)
{
    static const char *const WORDS[] = {"",
                                        "experts",
                                        "rows of each expert",
                                        "rows of experts",
                                        "inside of each expert",
                                        "width of rows",
                                        "inside of an MLP beside experts"};
    char why[128];

    if (num != den && kind == MSIM_EXPERT_EACH && x->lone != MSIM_NONE)
        return refuse(x, x->lone,
                      "gives one row to each expert, a size that says nothing",
                      err);
    for (uint32_t c = 0; c < x->s->n_classes; c++) {
        int64_t size = x->s->classes[c].size;

        if (x->of[c] != kind)
            continue;
        snprintf(why, sizeof(why),
                 "has %lld %s, which times %lld / %lld is no whole number",
                 (long long)size, WORDS[kind], (long long)num, (long long)den);
        if (__builtin_mul_overflow(size, num, &size) || size % den != 0)
            return refuse(x, x->op, why, err);
        if (kind < MSIM_EXPERT_INSIDE && x->s->classes[c].role &&
            to[c] != size / den)
            return refuse(x, x->op,
                          "gives experts as many rows as there are tokens, so "
                          "that the two cannot be told apart",
                          err);
        to[c] = size / den;
    }
    return MSIM_OK;
}
