/*
 * replay/fold/loops.c - repeated statements of a program as loops.
 *
 * From left to right: where a statement looks like a later one, the run of
 * equal looks between them says how often the part from one to the other
 * repeats. The candidate that saves most lines is taken. Candidates are the
 * next few statements of the same look, so that the work stays linear.
 */
#include "replay/fold/loops.h"

#include "core/base/containers.h"
#include "core/base/hash.h"

#include <stdlib.h>

#define MOST_CANDIDATES 24
#define LEAST_SAVED     3 /* lines; a loop costs a reader something too */

struct finder {
    struct msim_loops *f;
    const struct msim_program *p;
    uint64_t *look;
    uint32_t *next; /* statement of the same look, or NONE */
};

/* ---- looks -------------------------------------------------------------- */

/* Everything but which tensors and which numbers: those may differ by run. */
static uint64_t look_of(const struct msim_program *p, uint32_t i)
{
    const struct msim_statement *s = msim_program_statement(p, i);
    const struct msim_trace *t = p->trace;
    uint64_t head[] = {s->schema,   s->n_in, s->n_out,
                       s->recorded, s->kind, msim_program_group(p, s)};
    uint64_t h = msim_hash_bytes(MSIM_HASH_START, head, sizeof(head));
    uint32_t block = t->ops[s->op].args;

    if (s->kind == MSIM_STATEMENT_BACKWARD)
        return msim_hash_bytes(h, &i, sizeof(i)); /* like no other */
    if (s->kind == MSIM_STATEMENT_WAIT || block == MSIM_NONE)
        return h;
    for (uint32_t k = 0; k < t->blocks[block].count; k++) {
        const struct msim_arg *a = &t->args[t->blocks[block].first + k];
        uint32_t part[] = {a->kind, a->kind == MSIM_ARG_LIST ? a->n : 0};

        h = msim_hash_bytes(h, part, sizeof(part));
    }
    return h;
}

static enum msim_status find_looks(struct finder *x)
{
    uint32_t n = x->p->statements.n, *slot;
    struct msim_idmap last = {0};
    enum msim_status status = MSIM_OK;

    for (uint32_t i = 0; i < n && status == MSIM_OK; i++) {
        x->look[i] = look_of(x->p, i);
        x->next[i] = MSIM_NONE;
        status = msim_idmap_put(&last, x->look[i], MSIM_NONE, &slot);
        if (status != MSIM_OK)
            break;
        if (*slot != MSIM_NONE)
            x->next[*slot] = i;
        *slot = i;
    }
    msim_idmap_release(&last);
    return status;
}

/* ---- what operands are -------------------------------------------------- */

bool msim_loops_place(const struct msim_loops *f, uint32_t v, uint32_t *run,
                      uint32_t *first)
{
    const struct msim_program_value *value = msim_program_value(f->program, v);
    uint32_t number = f->loop_of[value->statement];
    const struct msim_loop *l;
    const struct msim_statement *s;

    if (number == MSIM_NONE)
        return false;
    l = (const struct msim_loop *)f->loops.data + number;
    *run = (value->statement - l->first) / l->period;
    s = msim_program_statement(f->program, value->statement - *run * l->period);
    *first = s->first_out + value->slot;
    return true;
}

/* The statement of run `run` and the value's place in it, if it is of `l`. */
static bool place_in(const struct msim_program *p, const struct msim_loop *l,
                     uint32_t v, uint32_t *run, uint32_t *first)
{
    const struct msim_program_value *value = msim_program_value(p, v);
    uint32_t at = value->statement;

    if (at < l->first || at >= l->first + l->period * l->count)
        return false;
    *run = (at - l->first) / l->period;
    *first = msim_program_statement(p, at - *run * l->period)->first_out +
             value->slot;
    return true;
}

static struct msim_program_input operand_of(const struct msim_program *p,
                                            const struct msim_loop *l,
                                            uint32_t run, uint32_t j,
                                            uint32_t k)
{
    const struct msim_statement *s =
        msim_program_statement(p, l->first + run * l->period + j);

    return *msim_program_operand(p, s->first_in + k);
}

/* All runs but the first read the result of a loop's statement: which, and how
 * many runs back? */
static bool reads_own(const struct msim_program *p, const struct msim_loop *l,
                      uint32_t j, uint32_t k, uint32_t *back, uint32_t *first)
{
    uint32_t run, place;

    *back = *first = 0;
    for (uint32_t r = 1; r < l->count; r++) {
        struct msim_program_input o = operand_of(p, l, r, j, k);

        if (o.kind != MSIM_INPUT_VALUE ||
            !place_in(p, l, o.index, &run, &place))
            return false;
        if (r == 1) {
            *back = r - run;
            *first = place;
        }
        if (r - run != *back || place != *first)
            return false;
    }
    return *back <= 1;
}

static struct msim_loop_ref own_ref(const struct msim_program *p,
                                    const struct msim_loop *l, uint32_t back,
                                    uint32_t first, struct msim_program_input o)
{
    struct msim_loop_ref ref = {MSIM_LOOP_NONE, o, 0, first, 0};
    uint32_t run, place;

    if (back == 0) {
        if (o.kind == MSIM_INPUT_VALUE && o.index == first)
            ref.kind = MSIM_LOOP_LOCAL;
        return ref;
    }
    /* The first run reads what was there before the loop. */
    if (o.kind != MSIM_INPUT_VALUE || !place_in(p, l, o.index, &run, &place))
        ref.kind = MSIM_LOOP_CARRIED;
    return ref;
}

/* Results of another loop, one run further (or back) at each of ours. */
static struct msim_loop_ref kept_ref(const struct msim_loops *f,
                                     const struct msim_loop *l, uint32_t j,
                                     uint32_t k)
{
    const struct msim_program *p = f->program;
    struct msim_loop_ref ref = {MSIM_LOOP_NONE, operand_of(p, l, 0, j, k), 0, 0,
                                0};
    uint32_t run, first, from = 0, of = 0;

    for (uint32_t r = 0; r < l->count; r++) {
        struct msim_program_input o = operand_of(p, l, r, j, k);

        if (o.kind != MSIM_INPUT_VALUE ||
            !msim_loops_place(f, o.index, &run, &first))
            return ref;
        if (r == 0) {
            of = first;
            ref.run = run;
        } else if (r == 1)
            ref.step = (int64_t)run - (int64_t)from;
        if (first != of || (int64_t)run != ref.run + ref.step * r)
            return ref;
        from = run;
    }
    ref.value = of;
    ref.kind = MSIM_LOOP_KEPT;
    return ref;
}

/* Tensors of one kind: the same, evenly rising, or any. */
static struct msim_loop_ref plain_ref(const struct msim_program *p,
                                      const struct msim_loop *l, uint32_t j,
                                      uint32_t k)
{
    struct msim_program_input first = operand_of(p, l, 0, j, k), o;
    struct msim_loop_ref ref = {MSIM_LOOP_SAME, first, 0, 0, 0};
    bool even = true, same = true;
    uint32_t run, place;

    ref.step = (int64_t)operand_of(p, l, 1, j, k).index - first.index;
    for (uint32_t r = 1; r < l->count; r++) {
        o = operand_of(p, l, r, j, k);
        if (o.kind != first.kind) {
            ref.kind = MSIM_LOOP_NONE;
            return ref;
        }
        same &= o.index == first.index;
        even &= (int64_t)o.index == first.index + ref.step * r;
    }
    /* A result of this loop is another one in each run. */
    if (first.kind == MSIM_INPUT_VALUE &&
        (!same || place_in(p, l, first.index, &run, &place))) {
        ref.kind = MSIM_LOOP_NONE;
        return ref;
    }
    if (same)
        return ref;
    if (first.kind == MSIM_INPUT_NUMBER)
        ref.kind = MSIM_LOOP_LIST;
    else
        ref.kind = even ? MSIM_LOOP_STEP : MSIM_LOOP_LIST;
    return ref;
}

struct msim_loop_ref msim_loops_operand(const struct msim_loops *f,
                                        const struct msim_loop *loop,
                                        uint32_t j, uint32_t k)
{
    const struct msim_program *p = f->program;
    struct msim_program_input first = operand_of(p, loop, 0, j, k);
    struct msim_loop_ref ref;
    uint32_t back, place;

    if (reads_own(p, loop, j, k, &back, &place))
        return own_ref(p, loop, back, place, first);
    ref = plain_ref(p, loop, j, k);
    if (ref.kind == MSIM_LOOP_NONE)
        ref = kept_ref(f, loop, j, k);
    return ref;
}

/* ---- loops -------------------------------------------------------------- */

/* Lines that `loop` saves; 0 where it cannot be said. */
static uint32_t saving(const struct finder *x, const struct msim_loop *loop)
{
    uint32_t cost = loop->period + 1;

    for (uint32_t j = 0; j < loop->period; j++) {
        const struct msim_statement *s =
            msim_program_statement(x->p, loop->first + j);

        for (uint32_t k = 0; k < s->n_in; k++) {
            struct msim_loop_ref ref = msim_loops_operand(x->f, loop, j, k);

            if (ref.kind == MSIM_LOOP_NONE)
                return 0;
            cost += ref.kind == MSIM_LOOP_LIST;
        }
    }
    return loop->period * loop->count > cost ? loop->period * loop->count - cost
                                             : 0;
}

/* How often the `period` statements from `first` on come in a row. */
static uint32_t count_runs(const struct finder *x, uint32_t first,
                           uint32_t period)
{
    uint32_t n = x->p->statements.n, equal = 0;

    while (first + period + equal < n &&
           x->look[first + equal] == x->look[first + period + equal])
        equal++;
    return equal / period + 1;
}

/* The best loop that starts at `first`; false: none pays. A shorter one is
 * tried where the last run ends otherwise than those before. */
static bool best_loop(const struct finder *x, uint32_t first,
                      struct msim_loop *best)
{
    uint32_t most = LEAST_SAVED - 1, tried = 0;

    for (uint32_t q = x->next[first]; q != MSIM_NONE && tried < MOST_CANDIDATES;
         q = x->next[q], tried++) {
        struct msim_loop loop = {first, q - first, 0};
        uint32_t saved = 0, runs = count_runs(x, first, loop.period);

        for (loop.count = runs; loop.count >= 2 && loop.count + 2 > runs;
             loop.count--) {
            saved = saving(x, &loop);
            if (saved)
                break;
        }
        if (saved > most) {
            most = saved;
            *best = loop;
        }
    }
    return most >= LEAST_SAVED;
}

static enum msim_status add_loop(struct msim_loops *f,
                                 const struct msim_loop *loop)
{
    struct msim_loop *row = msim_vec_add(&f->loops, sizeof(*row));

    if (!row)
        return MSIM_ENOMEM;
    *row = *loop;
    for (uint32_t i = 0; i < loop->period * loop->count; i++)
        f->loop_of[loop->first + i] = f->loops.n - 1;
    return MSIM_OK;
}

static enum msim_status find_loops(struct finder *x)
{
    struct msim_loop loop;
    uint32_t i = 0;

    while (i < x->p->statements.n) {
        if (!best_loop(x, i, &loop)) {
            i++;
            continue;
        }
        MSIM_TRY(add_loop(x->f, &loop));
        i += loop.period * loop.count;
    }
    return MSIM_OK;
}

enum msim_status msim_loops_find(struct msim_loops *out,
                                 const struct msim_program *p, bool enabled)
{
    struct finder x = {.f = out, .p = p};
    size_t n = (size_t)p->statements.n + 1;
    enum msim_status status = MSIM_OK;

    *out = (struct msim_loops){.program = p};
    out->loop_of = malloc(n * sizeof(*out->loop_of));
    x.look = malloc(n * sizeof(*x.look));
    x.next = malloc(n * sizeof(*x.next));
    if (!out->loop_of || !x.look || !x.next)
        status = MSIM_ENOMEM;
    for (uint32_t i = 0; status == MSIM_OK && i < n; i++)
        out->loop_of[i] = MSIM_NONE;
    if (status == MSIM_OK && enabled)
        status = find_looks(&x);
    if (status == MSIM_OK && enabled)
        status = find_loops(&x);
    free(x.look);
    free(x.next);
    if (status != MSIM_OK)
        msim_loops_release(out);
    return status;
}

void msim_loops_release(struct msim_loops *f)
{
    free(f->loops.data);
    free(f->loop_of);
    f->loops = (struct msim_vec){0};
    f->loop_of = NULL;
}
