/*
 * replay/emit/python_data.c - data.json of a Python benchmark.
 */
#include "replay/emit/emit_python_internal.h"

#include "core/base/json.h"

#include <stdio.h>
#include <stdlib.h>

static const char *torch_dtype(uint8_t dtype)
{
    static const char *const name[] = {
        "float32",       "float64", "float32",   "float16",   "bfloat16",
        "float8_e4m3fn", "int64",   "int32",     "int16",     "int8",
        "uint8",         "bool",    "complex64", "complex128"};

    return name[dtype];
}

static void write_sizes(struct msim_json *j, const char *key,
                        const int64_t *sizes, uint32_t n)
{
    msim_json_open(j, key, '[', false);
    for (uint32_t i = 0; i < n; i++)
        msim_json_integer(j, NULL, sizes[i]);
    msim_json_close(j);
}

static bool is_contiguous(const struct msim_trace *t,
                          const struct msim_outside *o)
{
    int64_t size = 1;

    if (o->strides == MSIM_NONE)
        return true;
    for (uint32_t i = o->n_dims; i-- > 0;) {
        int64_t n = t->dims[o->dims + i];

        if (n > 1 && t->dims[o->strides + i] != size)
            return false;
        size *= n;
    }
    return true;
}

static void write_values(struct msim_json *j, const char *name, int n, double a,
                         double b)
{
    msim_json_open(j, "fill", '[', false);
    msim_json_text(j, NULL, name);
    if (n > 0)
        msim_json_number(j, NULL, a);
    if (n > 1)
        msim_json_number(j, NULL, b);
    msim_json_close(j);
}

/* What a tensor begins with: values that keep a training step finite. */
static void write_fill(struct msim_json *j, const struct msim_trace *t,
                       const struct msim_outside *o)
{
    int64_t row = o->n_dims ? t->dims[o->dims + o->n_dims - 1] : 1;
    bool real = (o->dtype >= MSIM_DT_F64 && o->dtype <= MSIM_DT_F8) ||
                o->dtype >= MSIM_DT_C64 || o->dtype == MSIM_DT_UNKNOWN;

    if (o->role == MSIM_ROLE_OFFSETS)
        write_values(j, "offsets", 2, (double)o->high, (double)row);
    else if (o->role == MSIM_ROLE_INDEX)
        write_values(j, "integers", 2, (double)o->low, (double)o->high);
    else if (o->positive || (o->n_dims == 0 && o->role != MSIM_ROLE_MEMORY))
        write_values(j, "full", 1, 1, 0);
    else if (!real)
        write_values(j, "integers", 2, (double)o->low,
                     o->dtype == MSIM_DT_BOOL ? 1 : (double)o->high);
    else if (o->role == MSIM_ROLE_STATE)
        write_values(j, "zeros", 0, 0, 0);
    else
        write_values(j, "normal", 1, o->role == MSIM_ROLE_INPUT ? 1 : 0.02, 0);
}

static void write_tensor(struct msim_json *j, const struct msim_trace *t,
                         const struct msim_outside *o, uint8_t batch_dim)
{
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "role", msim_tensor_role_text(o->role));
    msim_json_text(j, "dtype", torch_dtype(o->dtype));
    if (o->role == MSIM_ROLE_MEMORY)
        write_sizes(j, "shape", &o->elements, 1);
    else
        write_sizes(j, "shape", t->dims + o->dims, o->n_dims);
    if (o->role != MSIM_ROLE_MEMORY &&
        (!is_contiguous(t, o) ||
         (o->base != MSIM_NONE && o->strides != MSIM_NONE)))
        write_sizes(j, "stride", t->dims + o->strides, o->n_dims);
    if (o->base != MSIM_NONE) {
        msim_json_unsigned(j, "base", o->base);
        msim_json_integer(j, "offset", o->offset);
    } else
        write_fill(j, t, o);
    if (batch_dim != MSIM_BATCH_NONE)
        msim_json_unsigned(j, "batch", batch_dim);
    if (o->device == MSIM_DEV_CPU && !t->cpu_only)
        msim_json_bool(j, "cpu", true);
    msim_json_close(j);
}

static void write_tensors(struct msim_json *j, const struct msim_body *b)
{
    const struct msim_program *p = b->p;

    msim_json_open(j, "tensors", '[', true);
    for (uint32_t i = 0; i < p->outside.n; i++)
        write_tensor(j, p->trace, msim_program_outside(p, i), b->batch.dim[i]);
    msim_json_close(j);
    msim_json_open(j, "parameters", '[', false);
    for (uint32_t i = 0; i < p->outside.n; i++)
        if (msim_program_outside(p, i)->role == MSIM_ROLE_PARAMETER)
            msim_json_unsigned(j, NULL, i);
    msim_json_close(j);
}

static void write_lists(struct msim_json *j, const struct msim_body *b)
{
    const struct msim_number_list *list = b->lists.data;
    const int64_t *numbers = b->numbers.data;

    msim_json_open(j, "lists", '[', true);
    for (uint32_t i = 0; i < b->lists.n; i++)
        write_sizes(j, NULL, numbers + list[i].first, list[i].n);
    msim_json_close(j);
}

static enum msim_status write_operators(struct msim_json *j,
                                        const struct msim_program *p)
{
    bool *used = calloc((size_t)p->schemas.n + 1, sizeof(*used));

    if (!used)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < p->statements.n; i++)
        if (msim_program_statement(p, i)->schema != MSIM_NONE)
            used[msim_program_statement(p, i)->schema] = true;
    msim_json_open(j, "operators", '[', true);
    for (uint32_t i = 0; i < p->schemas.n; i++) {
        const struct msim_schema *s = msim_program_schema(p, i);
        char name[192];

        snprintf(name, sizeof(name), "%s.%s", s->name,
                 s->overload[0] ? s->overload : "default");
        if (used[i])
            msim_json_text(j, NULL, name);
    }
    msim_json_close(j);
    free(used);
    return MSIM_OK;
}

static void write_range(struct msim_json *j, uint32_t first, uint32_t last)
{
    msim_json_open(j, NULL, '[', false);
    msim_json_unsigned(j, NULL, first);
    msim_json_unsigned(j, NULL, last);
    msim_json_close(j);
}

/*
 * What a certificate is about: the mark of the step, by its name, since other
 * ranks and other recordings have it, too; nodes of the ET, first to last, of a
 * part, or of a step that the ET does not mark itself.
 */
static void write_step(struct msim_json *j, const struct msim_program *p)
{
    const struct msim_trace *t = p->trace;
    const struct msim_step *s =
        p->step == MSIM_NONE ? NULL : &t->steps[p->step];
    bool marked = s && s->op != MSIM_NONE;

    msim_json_text(j, "step",
                   marked ? msim_trace_text(t, t->ops[s->op].name) : NULL);
    if (!p->part && (!s || marked)) {
        msim_json_text(j, "nodes", NULL);
        return;
    }
    msim_json_open(j, "nodes", '[', false);
    if (!p->part)
        write_range(j, s->node_from, s->node_to - 1);
    for (uint32_t i = 0; p->part && i < p->statements.n; i++) {
        uint32_t op = msim_program_statement(p, i)->op;

        write_range(j, t->ops[op].et_id, t->ops[t->ops[op].end - 1].et_id);
    }
    msim_json_close(j);
}

static void write_coverage(struct msim_json *j, const struct msim_program *p)
{
    msim_json_open(j, "coverage", '{', false);
    msim_json_unsigned(j, "emitted", p->statements.n - p->n_waits);
    msim_json_unsigned(j, "selected",
                       p->statements.n - p->n_waits + p->left_out.n);
    msim_json_text(j, "device_time", NULL);
    msim_emit_left_out(j, p);
    msim_json_close(j);
}

static void write_delays(struct msim_json *j, const struct msim_program *p,
                         const double *us, const char *from)
{
    if (!us)
        return;
    msim_json_text(j, "delays_from", from);
    msim_json_open(j, "delays_us", '[', false);
    for (uint32_t i = 0, n = 0; i < p->statements.n; i++)
        if (msim_program_statement(p, i)->kind == MSIM_STATEMENT_COLLECTIVE)
            msim_json_number(j, NULL, us[n++]);
    msim_json_close(j);
}

/* Ranks of each group of the trace: as listed, else those around this rank. */
static void write_groups(struct msim_json *j, const struct msim_trace *t)
{
    msim_json_open(j, "groups", '[', true);
    for (uint32_t i = 0; i < t->n_groups; i++) {
        const struct msim_group *g = &t->groups[i];
        int64_t rank = t->rank > 0 ? t->rank : 0;
        int64_t first = g->size ? rank / g->size * g->size : 0;

        msim_json_open(j, NULL, '[', false);
        for (uint32_t k = 0; k < g->size; k++)
            msim_json_integer(j, NULL,
                              g->count == g->size ? t->group_ranks[g->first + k]
                                                  : first + k);
        msim_json_close(j);
    }
    msim_json_close(j);
}

enum msim_status msim_data_write(struct msim_file *f, const struct msim_body *b,
                                 uint32_t rank,
                                 const struct msim_emit_options *options)
{
    const struct msim_program *p = b->p;
    struct msim_json j;
    enum msim_status status;

    msim_json_begin(&j, msim_file_write, f);
    msim_json_open(&j, NULL, '{', true);
    msim_json_text(&j, "schema", "mystique-sim/benchmark/1");
    msim_json_text(&j, "made_by", options->version);
    msim_json_text(&j, "title", options->title);
    msim_json_text(&j, "form",
                   p->form == MSIM_FORM_AUTOGRAD ? "autograd" : "direct");
    write_step(&j, p);
    msim_json_bool(&j, "gpu", !p->trace->cpu_only);
    msim_json_unsigned(&j, "world", p->trace->world_size);
    if (p->n_collectives)
        write_groups(&j, p->trace);
    write_delays(&j, p, options->delays_us ? options->delays_us[rank] : NULL,
                 options->delays_from);
    write_coverage(&j, p);
    status = write_operators(&j, p);
    write_lists(&j, b);
    msim_json_open(&j, "inferred", '[', true);
    for (uint32_t i = 0; i < p->notes.n; i++)
        msim_json_text(&j, NULL, ((char **)p->notes.data)[i]);
    msim_json_close(&j);
    msim_json_integer(&j, "batch", b->batch.size);
    write_tensors(&j, b);
    return status == MSIM_OK ? msim_json_end(&j) : status;
}
