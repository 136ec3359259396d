/*
 * replay/emit/emit_json.c - a program as JSON, for other tools and for tests.
 */
#include "replay/emit/emit_python.h"

#include "core/base/json.h"
#include "replay/fold/loops.h"

#include <string.h>

static const char *kind_text(uint8_t kind)
{
    static const char *const text[] = {"value", "outside", "number",
                                       "gradient"};

    return text[kind];
}

static void write_inputs(struct msim_json *j, const struct msim_program *p,
                         const struct msim_statement *s)
{
    msim_json_open(j, "inputs", '[', false);
    for (uint32_t k = 0; k < s->n_in; k++) {
        const struct msim_program_input *o =
            msim_program_operand(p, s->first_in + k);

        msim_json_open(j, NULL, '[', false);
        msim_json_text(j, NULL, kind_text(o->kind));
        msim_json_unsigned(j, NULL, o->index);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_outputs(struct msim_json *j, const struct msim_statement *s)
{
    msim_json_open(j, "outputs", '[', false);
    for (uint32_t k = 0; k < s->n_out; k++)
        msim_json_unsigned(j, NULL, s->first_out + k);
    msim_json_close(j);
}

static void write_statement(struct msim_json *j, const struct msim_program *p,
                            uint32_t i)
{
    const struct msim_statement *s = msim_program_statement(p, i);
    const struct msim_op *op = &p->trace->ops[s->op];

    msim_json_open(j, NULL, '{', false);
    msim_json_unsigned(j, "node", op->et_id);
    if (s->schema == MSIM_NONE) {
        msim_json_text(j, "operator",
                       s->kind == MSIM_STATEMENT_BACKWARD ? "backward"
                       : s->kind == MSIM_STATEMENT_WAIT
                           ? "wait"
                           : msim_trace_text(p->trace, op->name));
    } else {
        msim_json_text(j, "operator", msim_program_schema(p, s->schema)->name);
        msim_json_text(j, "overload",
                       msim_program_schema(p, s->schema)->overload);
    }
    msim_json_bool(j, "recorded", s->recorded);
    write_inputs(j, p, s);
    write_outputs(j, s);
    msim_json_close(j);
}

static void write_outside(struct msim_json *j, const struct msim_program *p,
                          uint32_t i)
{
    const struct msim_outside *o = msim_program_outside(p, i);

    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "role", msim_tensor_role_text(o->role));
    msim_json_text(j, "dtype", msim_dtype_text(o->dtype));
    msim_json_open(j, "shape", '[', false);
    for (uint32_t k = 0; k < o->n_dims; k++)
        msim_json_integer(j, NULL, p->trace->dims[o->dims + k]);
    msim_json_close(j);
    if (o->base != MSIM_NONE)
        msim_json_unsigned(j, "base", o->base);
    msim_json_close(j);
}

static void write_loops(struct msim_json *j, const struct msim_loops *found)
{
    const struct msim_loop *l = found->loops.data;

    msim_json_open(j, "loops", '[', true);
    for (uint32_t i = 0; i < found->loops.n; i++) {
        msim_json_open(j, NULL, '{', false);
        msim_json_unsigned(j, "first", l[i].first);
        msim_json_unsigned(j, "statements", l[i].period);
        msim_json_unsigned(j, "runs", l[i].count);
        msim_json_close(j);
    }
    msim_json_close(j);
}

void msim_emit_left_out(struct msim_json *j, const struct msim_program *p)
{
    msim_json_open(j, "left_out", '[', true);
    for (uint32_t i = 0; i < p->left_out.n; i++) {
        const struct msim_left_out *l = msim_program_left_out(p, i);
        const struct msim_op *op = &p->trace->ops[l->op];

        msim_json_open(j, NULL, '{', false);
        msim_json_unsigned(j, "node", op->et_id);
        msim_json_text(j, "name", msim_trace_text(p->trace, op->name));
        msim_json_text(j, "reason", l->reason);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_program(struct msim_json *j, const struct msim_program *p,
                          const struct msim_loops *loops)
{
    msim_json_open(j, NULL, '{', true);
    msim_json_text(j, "schema", "mystique-sim/program/1");
    msim_json_text(j, "form",
                   p->form == MSIM_FORM_AUTOGRAD ? "autograd" : "direct");
    msim_json_text(j, "why_direct", p->why_direct);
    msim_json_unsigned(j, "gradients", p->n_gradients);
    msim_json_open(j, "statements", '[', true);
    for (uint32_t i = 0; i < p->statements.n; i++)
        write_statement(j, p, i);
    msim_json_close(j);
    msim_json_open(j, "outside", '[', true);
    for (uint32_t i = 0; i < p->outside.n; i++)
        write_outside(j, p, i);
    msim_json_close(j);
    write_loops(j, loops);
    msim_emit_left_out(j, p);
    msim_json_open(j, "inferred", '[', true);
    for (uint32_t i = 0; i < p->notes.n; i++)
        msim_json_text(j, NULL, ((char **)p->notes.data)[i]);
    msim_json_close(j);
    msim_json_close(j);
}

enum msim_status msim_emit_json(const struct msim_program *p, bool loops,
                                FILE *out)
{
    struct msim_loops found;
    struct msim_json j;

    MSIM_TRY(msim_loops_find(&found, p, loops));
    msim_json_begin(&j, msim_sink_file, out);
    write_program(&j, p, &found);
    msim_loops_release(&found);
    return msim_json_end(&j);
}
