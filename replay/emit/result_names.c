/*
 * replay/emit/result_names.c - Python names of results, by linear scan (Poletto
 * and Sarkar, "Linear scan register allocation", 1999): with loops folded, the
 * time in which a result is needed is one interval, and loops stretch it to
 * their ends.
 */
#include "replay/emit/emit_python_internal.h"

#include <stdlib.h>

#define LONG_LIST 8 /* results: from here on a list stays one */

bool msim_names_list(const struct msim_program *p,
                     const struct msim_statement *s)
{
    return s->schema != MSIM_NONE && s->n_out > LONG_LIST &&
           msim_program_schema(p, s->schema)->results_are_lists;
}

static const struct msim_loop *loop_at(const struct msim_loops *f, uint32_t i)
{
    return (const struct msim_loop *)f->loops.data + i;
}

/* The result that stands for `v`: of its loop's first run, of its list the
 * first. */
static uint32_t stand_in(const struct msim_names *n, uint32_t v)
{
    const struct msim_program *p = n->fold->program;
    const struct msim_statement *s;
    uint32_t run, first;

    if (msim_loops_place(n->fold, v, &run, &first))
        v = first;
    s = msim_program_statement(p, msim_program_value(p, v)->statement);
    return msim_names_list(p, s) ? s->first_out : v;
}

uint32_t msim_names_holder(const struct msim_names *n, uint32_t v)
{
    if (v < n->n_values)
        v = stand_in(n, v);
    while (n->same_as[v] != v)
        v = n->same_as[v];
    return v;
}

const struct msim_carry *msim_names_carry(const struct msim_names *n,
                                          uint32_t loop,
                                          const struct msim_loop_ref *ref)
{
    const struct msim_carry *c = n->carries.data;
    uint32_t value = stand_in(n, ref->value);

    for (uint32_t i = 0; i < n->carries.n; i++)
        if (c[i].loop == loop && c[i].value == value &&
            c[i].first.kind == ref->first.kind &&
            c[i].first.index == ref->first.index)
            return &c[i];
    return NULL;
}

/* ---- times -------------------------------------------------------------- */

static void number_statements(struct msim_names *n)
{
    const struct msim_loops *f = n->fold;

    for (uint32_t i = 0; i < f->program->statements.n; i++) {
        uint32_t loop = f->loop_of[i];

        n->time[i] = MSIM_NONE;
        if (loop == MSIM_NONE ||
            i < loop_at(f, loop)->first + loop_at(f, loop)->period)
            n->time[i] = n->n_times++;
    }
}

static int64_t loop_end(const struct msim_names *n, uint32_t loop)
{
    const struct msim_loop *l = loop_at(n->fold, loop);

    return 4 * (int64_t)n->time[l->first + l->period - 1] + 2;
}

static void stretch(int64_t *end, int64_t to)
{
    if (*end < to)
        *end = to;
}

/* Statement `reader` reads result `v` under v's own name, or from the list of
 * those kept. */
static void note_read(struct msim_names *n, uint32_t v, uint32_t reader)
{
    const struct msim_loops *f = n->fold;
    uint32_t of = f->loop_of[reader], run, first;
    uint32_t from = f->loop_of[msim_program_value(f->program, v)->statement];
    int64_t at = of != MSIM_NONE && of != from ? loop_end(n, of)
                                               : 4 * (int64_t)n->time[reader];

    if (from != MSIM_NONE && of != from) {
        msim_loops_place(f, v, &run, &first);
        if (run + 1 < loop_at(f, from)->count) {
            n->kept[stand_in(n, v)] = true;
            stretch(&n->kept_end[stand_in(n, v)], at);
            return;
        }
    }
    stretch(&n->end[stand_in(n, v)], at);
}

static enum msim_status note_carry(struct msim_names *n, uint32_t loop,
                                   const struct msim_loop_ref *ref)
{
    uint32_t value = stand_in(n, ref->value);
    struct msim_carry *c;

    if (msim_names_carry(n, loop, ref))
        return MSIM_OK;
    c = msim_vec_add(&n->carries, sizeof(*c));
    if (!c)
        return MSIM_ENOMEM;
    *c = (struct msim_carry){loop, value, ref->first, MSIM_NONE, true};
    return MSIM_OK;
}

static enum msim_status note_loop_operand(struct msim_names *n, uint32_t loop,
                                          uint32_t reader, uint32_t k)
{
    const struct msim_loop *l = loop_at(n->fold, loop);
    struct msim_loop_ref ref =
        msim_loops_operand(n->fold, l, reader - l->first, k);

    switch (ref.kind) {
    case MSIM_LOOP_CARRIED:
        stretch(&n->end[stand_in(n, ref.value)], loop_end(n, loop));
        return note_carry(n, loop, &ref);
    case MSIM_LOOP_KEPT:
        n->kept[stand_in(n, ref.value)] = true;
        stretch(&n->kept_end[stand_in(n, ref.value)], loop_end(n, loop));
        return MSIM_OK;
    case MSIM_LOOP_LOCAL:
        note_read(n, ref.value, reader);
        return MSIM_OK;
    default:
        if (ref.first.kind == MSIM_INPUT_VALUE)
            note_read(n, ref.first.index, reader);
        return MSIM_OK;
    }
}

static enum msim_status note_reads(struct msim_names *n)
{
    const struct msim_program *p = n->fold->program;

    for (uint32_t i = 0; i < p->statements.n; i++) {
        const struct msim_statement *s = msim_program_statement(p, i);

        if (n->time[i] == MSIM_NONE)
            continue;
        for (uint32_t k = 0; k < s->n_in; k++) {
            struct msim_program_input o =
                *msim_program_operand(p, s->first_in + k);

            if (n->fold->loop_of[i] != MSIM_NONE)
                MSIM_TRY(note_loop_operand(n, n->fold->loop_of[i], i, k));
            else if (o.kind == MSIM_INPUT_VALUE)
                note_read(n, o.index, i);
        }
    }
    return MSIM_OK;
}

/* ---- what loops carry --------------------------------------------------- */

/* Does the loop read what it carries only up to where it writes it anew? */
static bool read_before_written(const struct msim_names *n,
                                const struct msim_carry *c)
{
    const struct msim_program *p = n->fold->program;
    const struct msim_loop *l = loop_at(n->fold, c->loop);
    uint32_t writer = msim_program_value(p, c->value)->statement - l->first;

    for (uint32_t j = writer + 1; j < l->period; j++) {
        const struct msim_statement *s =
            msim_program_statement(p, l->first + j);

        for (uint32_t k = 0; k < s->n_in; k++) {
            struct msim_loop_ref ref = msim_loops_operand(n->fold, l, j, k);

            if (ref.kind == MSIM_LOOP_CARRIED &&
                stand_in(n, ref.value) == c->value)
                return false;
        }
    }
    return true;
}

static bool is_list(const struct msim_names *n, uint32_t v)
{
    const struct msim_program *p = n->fold->program;

    return msim_names_list(
        p, msim_program_statement(p, msim_program_value(p, v)->statement));
}

/* Two things that a first run gets cannot both have the name of what comes
 * after them. */
static bool is_shared(const struct msim_names *n, const struct msim_carry *c)
{
    const struct msim_carry *all = n->carries.data;

    for (uint32_t i = 0; i < n->carries.n; i++)
        if (all[i].loop == c->loop && all[i].value == c->value &&
            !all[i].copied)
            return true;
    return false;
}

/* May what the first run gets have the name of what later runs get? Where
 * nobody else reads it once the loop has begun. */
static bool may_share(const struct msim_names *n, const struct msim_carry *c)
{
    const struct msim_loop *l = loop_at(n->fold, c->loop);
    uint32_t run, first, from, holder;
    const struct msim_program *p = n->fold->program;

    if (c->first.kind != MSIM_INPUT_VALUE || is_list(n, c->first.index) ||
        is_list(n, c->value) || is_shared(n, c) || !read_before_written(n, c))
        return false;
    from = n->fold->loop_of[msim_program_value(p, c->first.index)->statement];
    if (from != MSIM_NONE &&
        msim_loops_place(n->fold, c->first.index, &run, &first) &&
        run + 1 < loop_at(n->fold, from)->count)
        return false;
    holder = msim_names_holder(n, c->first.index);
    return n->end[holder] < 4 * (int64_t)n->time[l->first] &&
           msim_names_holder(n, c->value) != holder;
}

static void share(struct msim_names *n, struct msim_carry *c)
{
    uint32_t a = msim_names_holder(n, c->first.index);
    uint32_t b = msim_names_holder(n, c->value);

    n->same_as[b] = a;
    if (n->begin[b] < n->begin[a])
        n->begin[a] = n->begin[b];
    stretch(&n->end[a], n->end[b]);
    stretch(&n->end[a], loop_end(n, c->loop));
    c->holder = a;
    c->copied = false;
}

/* A name of its own, from before the loop to its end. */
static void copy(struct msim_names *n, struct msim_carry *c, uint32_t number)
{
    const struct msim_loop *l = loop_at(n->fold, c->loop);

    c->holder = n->n_values + number;
    n->begin[c->holder] = 4 * (int64_t)n->time[l->first] - 1;
    n->end[c->holder] = loop_end(n, c->loop);
    if (c->first.kind == MSIM_INPUT_VALUE) {
        uint32_t first = c->first.index;

        note_read(n, first, l->first);
        stretch(&n->end[msim_names_holder(n, first)],
                n->end[stand_in(n, first)]);
    }
}

static void place_carries(struct msim_names *n)
{
    struct msim_carry *c = n->carries.data;

    for (uint32_t i = 0; i < n->carries.n; i++)
        if (may_share(n, &c[i]))
            share(n, &c[i]);
        else
            copy(n, &c[i], i);
}

/* ---- all ---------------------------------------------------------------- */

static enum msim_status make_room(struct msim_names *n)
{
    uint32_t operands = n->fold->program->operands.n;
    /* A loop carries at most as many as it reads. */
    size_t size = (size_t)n->n_values + operands + 1;

    n->same_as = malloc(size * sizeof(*n->same_as));
    n->name = malloc(size * sizeof(*n->name));
    n->begin = calloc(size, sizeof(*n->begin));
    n->end = calloc(size, sizeof(*n->end));
    n->kept = calloc(size, sizeof(*n->kept));
    n->kept_end = calloc(size, sizeof(*n->kept_end));
    n->time =
        malloc(((size_t)n->fold->program->statements.n + 1) * sizeof(*n->time));
    if (!n->same_as || !n->name || !n->begin || !n->end || !n->kept ||
        !n->kept_end || !n->time)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < size; i++) {
        n->same_as[i] = i;
        n->name[i] = MSIM_NONE;
    }
    return MSIM_OK;
}

static void begin_values(struct msim_names *n)
{
    const struct msim_program *p = n->fold->program;

    for (uint32_t v = 0; v < n->n_values; v++) {
        uint32_t at = n->time[msim_program_value(p, v)->statement];

        if (at != MSIM_NONE)
            n->begin[v] = n->end[v] = 4 * (int64_t)at + 1;
    }
}

enum msim_status msim_names_find(struct msim_names *out,
                                 const struct msim_loops *fold)
{
    enum msim_status status;

    *out =
        (struct msim_names){.fold = fold, .n_values = fold->program->values.n};
    status = make_room(out);
    if (status == MSIM_OK) {
        number_statements(out);
        begin_values(out);
        status = note_reads(out);
    }
    if (status == MSIM_OK)
        place_carries(out);
    else
        msim_names_release(out);
    return status;
}

void msim_names_release(struct msim_names *n)
{
    free(n->same_as);
    free(n->name);
    free(n->begin);
    free(n->end);
    free(n->kept);
    free(n->kept_end);
    free(n->time);
    free(n->carries.data);
    *n = (struct msim_names){0};
}
