/*
 * replay/emit/python_operand.c - the tensors of a call as Python text:
 *
 *     x1          a result            X[4], G[2]   from outside, a gradient
 *     x1[3]       one of a list       X[2 + 3 * i] another one in each run
 *     k5[7 - i]   of another loop     X[0:148]     a row of them
 */
#include "replay/emit/emit_python_internal.h"

#include <stdlib.h>

/* The array that tensors which no statement makes are in. */
static const char *array_of(uint8_t kind)
{
    return kind == MSIM_INPUT_OUTSIDE ? "X" : "G";
}

/* The list of what result `v` of a loop's first run was in each run. */
void msim_body_kept(struct msim_body *b, struct msim_text *out, uint32_t v)
{
    const struct msim_statement *s =
        msim_program_statement(b->p, msim_program_value(b->p, v)->statement);

    msim_text_add(out, "k%u", msim_names_list(b->p, s) ? s->first_out : v);
}

/* Where a result of a list stands in it, once the list is named. */
static void add_slot(struct msim_body *b, struct msim_text *out, uint32_t v)
{
    const struct msim_program_value *value = msim_program_value(b->p, v);

    if (msim_names_list(b->p, msim_program_statement(b->p, value->statement)))
        msim_text_add(out, "[%u]", value->slot);
}

void msim_body_value(struct msim_body *b, struct msim_text *out, uint32_t v)
{
    msim_text_add(out, "x%u", b->names.name[msim_names_holder(&b->names, v)]);
    add_slot(b, out, v);
}

/* A result outside of its loop: of the last run by name, else from the list. */
static void add_result(struct msim_body *b, struct msim_text *out, uint32_t v)
{
    const struct msim_loop *loops = b->fold->loops.data;
    uint32_t run, first;

    if (msim_loops_place(b->fold, v, &run, &first)) {
        uint32_t statement = msim_program_value(b->p, v)->statement;

        if (run + 1 < loops[b->fold->loop_of[statement]].count) {
            msim_body_kept(b, out, first);
            msim_text_add(out, "[%u]", run);
            add_slot(b, out, first);
            return;
        }
    }
    msim_body_value(b, out, v);
}

void msim_body_plain(struct msim_body *b, struct msim_text *out,
                     struct msim_program_input o)
{
    const struct msim_arg *number;

    switch (o.kind) {
    case MSIM_INPUT_VALUE:
        add_result(b, out, o.index);
        break;
    case MSIM_INPUT_OUTSIDE:
        msim_text_add(out, "X[%u]", o.index);
        break;
    case MSIM_INPUT_GRADIENT:
        msim_text_add(out, "G[%u]", o.index);
        break;
    default:
        number = msim_program_number(b->p, o.index);
        msim_body_scalar(b, out, &(struct msim_schema_arg){0}, number);
    }
}

/* first + step * i, as short as it goes. */
static void add_index(struct msim_text *out, int64_t first, int64_t step)
{
    if (step < 0)
        msim_text_add(out, "%lld - ", (long long)first);
    else if (first != 0)
        msim_text_add(out, "%lld + ", (long long)first);
    if (step != 1 && step != -1)
        msim_text_add(out, "%lld * ", (long long)(step < 0 ? -step : step));
    msim_text_add(out, "i");
}

/* One operand of each run, which nothing but a list can say. */
static void add_by_run(struct msim_body *b, struct msim_text *out,
                       const struct msim_loop *l, struct msim_body_place at,
                       uint32_t k)
{
    int64_t *numbers = malloc(l->count * sizeof(*numbers));
    struct msim_program_input o = {0};
    uint32_t list;

    for (uint32_t r = 0; numbers && r < l->count; r++) {
        const struct msim_statement *s =
            msim_program_statement(b->p, at.statement + r * l->period);

        o = *msim_program_operand(b->p, s->first_in + k);
        numbers[r] = o.index;
    }
    if (!numbers)
        out->status = MSIM_ENOMEM;
    else if (o.kind == MSIM_INPUT_NUMBER) {
        msim_text_add(out, "(");
        for (uint32_t r = 0; r < l->count; r++) {
            o.index = (uint32_t)numbers[r];
            msim_body_plain(b, out, o);
            msim_text_add(out, ", ");
        }
        msim_text_add(out, ")[i]");
    } else {
        list = msim_body_list(b, numbers, l->count);
        msim_text_put(out, array_of(o.kind));
        msim_text_add(out, "[L[%u][i]]", list);
    }
    free(numbers);
}

void msim_body_operand(struct msim_body *b, struct msim_text *out,
                       struct msim_body_place at, uint32_t k)
{
    const struct msim_statement *s = msim_program_statement(b->p, at.statement);
    const struct msim_loop *l;
    const struct msim_carry *carry;
    struct msim_loop_ref ref;

    if (at.loop == MSIM_NONE) {
        msim_body_plain(b, out, *msim_program_operand(b->p, s->first_in + k));
        return;
    }
    l = (const struct msim_loop *)b->fold->loops.data + at.loop;
    ref = msim_loops_operand(b->fold, l, at.statement - l->first, k);
    switch (ref.kind) {
    case MSIM_LOOP_LOCAL:
        msim_body_value(b, out, ref.value);
        break;
    case MSIM_LOOP_CARRIED:
        carry = msim_names_carry(&b->names, at.loop, &ref);
        msim_text_add(
            out, "x%u",
            b->names.name[msim_names_holder(&b->names, carry->holder)]);
        break;
    case MSIM_LOOP_STEP:
        msim_text_put(out, array_of(ref.first.kind));
        msim_text_put(out, "[");
        add_index(out, ref.first.index, ref.step);
        msim_text_add(out, "]");
        break;
    case MSIM_LOOP_KEPT:
        msim_body_kept(b, out, ref.value);
        msim_text_add(out, "[");
        add_index(out, ref.run, ref.step);
        msim_text_add(out, "]");
        add_slot(b, out, ref.value);
        break;
    case MSIM_LOOP_LIST:
        add_by_run(b, out, l, at, k);
        break;
    default:
        msim_body_plain(b, out, ref.first);
    }
}

/* ---- lists of tensors --------------------------------------------------- */

#define SHORT_LIST 4

/* Operands first .. first + n - 1 outside of loops: do their numbers rise by a
 * constant step? */
static bool is_row(const struct msim_body *b, const struct msim_statement *s,
                   uint32_t first, uint32_t n, int64_t *step)
{
    const struct msim_program_input *o =
        msim_program_operand(b->p, s->first_in + first);

    *step = n > 1 ? (int64_t)o[1].index - o[0].index : 1;
    for (uint32_t i = 0; i < n; i++)
        if (o[i].kind != o[0].kind ||
            (int64_t)o[i].index != o[0].index + *step * i)
            return false;
    return true;
}

/* A row of a list that a statement returned, from its beginning to its end. */
static bool add_whole(struct msim_body *b, struct msim_text *out,
                      const struct msim_program_input *o, uint32_t n)
{
    const struct msim_program_value *v = msim_program_value(b->p, o->index);
    const struct msim_statement *s = msim_program_statement(b->p, v->statement);

    if (!msim_names_list(b->p, s) || v->slot != 0 || s->n_out != n)
        return false;
    msim_text_add(out, "x%u",
                  b->names.name[msim_names_holder(&b->names, o->index)]);
    return true;
}

static bool add_slice(struct msim_body *b, struct msim_text *out,
                      const struct msim_statement *s, uint32_t first,
                      uint32_t n)
{
    const struct msim_program_input *o =
        msim_program_operand(b->p, s->first_in + first);
    int64_t step;

    if (n < SHORT_LIST || !is_row(b, s, first, n, &step))
        return false;
    if (o->kind == MSIM_INPUT_VALUE)
        return step == 1 && add_whole(b, out, o, n);
    if (o->kind == MSIM_INPUT_NUMBER || step <= 0)
        return false;
    msim_text_put(out, array_of(o->kind));
    msim_text_add(out, "[%u:%lld", o->index,
                  (long long)(o->index + step * (n - 1) + 1));
    if (step != 1)
        msim_text_add(out, ":%lld", (long long)step);
    msim_text_add(out, "]");
    return true;
}

/* A long list of tensors of one kind, in any order, from the data file. */
static bool add_picked(struct msim_body *b, struct msim_text *out,
                       const struct msim_statement *s, uint32_t first,
                       uint32_t n)
{
    const struct msim_program_input *o =
        msim_program_operand(b->p, s->first_in + first);
    int64_t *numbers;
    uint32_t list;

    if (n < 2 * SHORT_LIST || o->kind == MSIM_INPUT_VALUE ||
        o->kind == MSIM_INPUT_NUMBER)
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (o[i].kind != o->kind)
            return false;
    numbers = malloc(n * sizeof(*numbers));
    if (!numbers) {
        out->status = MSIM_ENOMEM;
        return true;
    }
    for (uint32_t i = 0; i < n; i++)
        numbers[i] = o[i].index;
    list = msim_body_list(b, numbers, n);
    free(numbers);
    msim_text_put(out, "[");
    msim_text_put(out, array_of(o->kind));
    msim_text_add(out, "[j] for j in L[%u]]", list);
    return true;
}

bool msim_body_row(struct msim_body *b, struct msim_text *out,
                   const struct msim_statement *s, uint32_t first, uint32_t n)
{
    return add_slice(b, out, s, first, n) || add_picked(b, out, s, first, n);
}
