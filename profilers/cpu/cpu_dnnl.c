/*
 * profilers/cpu/cpu_dnnl.c - an operation of oneDNN as a case.
 */
#include "profilers/cpu/cpu_dnnl.h"

#include <stdlib.h>

const char *msim_cpu_dnnl_version(void)
{
    static char text[32];
    const dnnl_version_t *v = dnnl_version();

    snprintf(text, sizeof(text), "%d.%d.%d", v->major, v->minor, v->patch);
    return text;
}

bool msim_dnnl_ok(struct msim_dnnl *d, dnnl_status_t next)
{
    if (d->status == dnnl_success)
        d->status = next;
    return d->status == dnnl_success;
}

static enum msim_status failed(const struct msim_dnnl *d,
                               struct msim_error *err)
{
    return msim_fail(err,
                     d->status == dnnl_out_of_memory   ? MSIM_ENOMEM
                     : d->status == dnnl_unimplemented ? MSIM_ENOMODEL
                                                       : MSIM_EINTERNAL,
                     NULL, MSIM_OFFSET_NONE, "oneDNN fails with status %d",
                     (int)d->status);
}

/* ---- timing -------------------------------------------------------------- */

static bool is_written(const struct msim_dnnl_tensor *t)
{
    return t->of == MSIM_OPERAND_OUT;
}

/* Those that are read before the operation, those that are written after it. */
static void reorder(struct msim_dnnl *d, bool written)
{
    for (int i = 0; i < d->n; i++) {
        const struct msim_dnnl_tensor *t = &d->tensors[i];
        const dnnl_exec_arg_t args[2] = {
            {DNNL_ARG_FROM, written ? t->own : t->user},
            {DNNL_ARG_TO, written ? t->user : t->own}};

        if (t->reorder && is_written(t) == written &&
            msim_dnnl_ok(d, dnnl_success))
            (void)msim_dnnl_ok(
                d, dnnl_primitive_execute(t->reorder, d->stream, 2, args));
    }
}

static void execute(struct msim_dnnl *d)
{
    dnnl_exec_arg_t args[MSIM_DNNL_TENSORS];

    for (int i = 0; i < d->n; i++) {
        const struct msim_dnnl_tensor *t = &d->tensors[i];

        args[i] = (dnnl_exec_arg_t){t->argument, t->own ? t->own : t->user};
    }
    reorder(d, false);
    if (msim_dnnl_ok(d, dnnl_success))
        (void)msim_dnnl_ok(
            d, dnnl_primitive_execute(d->primitive, d->stream, d->n, args));
    reorder(d, true);
    (void)msim_dnnl_ok(d, dnnl_stream_wait(d->stream));
}

static enum msim_status time_dnnl(void *state, double *us,
                                  struct msim_error *err)
{
    struct msim_dnnl *d = state;
    double begin;

    msim_operands_begin(&d->cpu->operands, d->warm);
    for (int i = 0; i < d->n; i++) {
        struct msim_dnnl_tensor *t = &d->tensors[i];
        void *at = msim_operands_take(&d->cpu->operands, t->of,
                                      dnnl_memory_desc_get_size(&t->plain));

        (void)msim_dnnl_ok(d, dnnl_memory_set_data_handle(t->user, at));
    }
    begin = msim_cpu_now_us();
    execute(d);
    *us = msim_cpu_now_us() - begin;
    return msim_dnnl_ok(d, dnnl_success) ? MSIM_OK : failed(d, err);
}

/* ---- making one ---------------------------------------------------------- */

/* All of it accepts NULL, which comes of a preparation that failed. */
static void release_dnnl(void *state)
{
    struct msim_dnnl *d = state;

    for (int i = 0; i < d->n; i++) {
        (void)dnnl_primitive_destroy(d->tensors[i].reorder);
        (void)dnnl_memory_destroy(d->tensors[i].own);
        (void)dnnl_memory_destroy(d->tensors[i].user);
    }
    (void)dnnl_primitive_destroy(d->primitive);
    (void)dnnl_stream_destroy(d->stream);
    (void)dnnl_engine_destroy(d->engine);
    free(d);
}

struct msim_dnnl *msim_dnnl_begin(struct msim_cpu *cpu,
                                  const struct msim_experiment *e,
                                  struct msim_case *out)
{
    struct msim_dnnl *d = calloc(1, sizeof(*d));

    if (!d)
        return NULL;
    *out = (struct msim_case){
        .state = d, .time = time_dnnl, .release = release_dnnl};
    d->cpu = cpu;
    d->warm = e->warm;
    if (msim_dnnl_ok(d, dnnl_engine_create(&d->engine, dnnl_cpu, 0)))
        (void)msim_dnnl_ok(d, dnnl_stream_create(&d->stream, d->engine,
                                                 dnnl_stream_default_flags));
    return d;
}

void msim_dnnl_tensor(struct msim_dnnl *d, int argument,
                      enum msim_operand_kind of,
                      const dnnl_memory_desc_t *plain)
{
    d->tensors[d->n++] = (struct msim_dnnl_tensor){
        .argument = argument, .of = of, .plain = *plain};
}

/* The layout that the library wants, where that is another. */
static void make_own(struct msim_dnnl *d, struct msim_dnnl_tensor *t,
                     const dnnl_memory_desc_t *wanted)
{
    const dnnl_memory_desc_t *from = is_written(t) ? wanted : &t->plain;
    const dnnl_memory_desc_t *to = is_written(t) ? &t->plain : wanted;
    dnnl_primitive_desc_t p = NULL;

    if (dnnl_memory_desc_equal(wanted, &t->plain))
        return;
    if (msim_dnnl_ok(d, dnnl_memory_create(&t->own, wanted, d->engine,
                                           DNNL_MEMORY_ALLOCATE)) &&
        msim_dnnl_ok(d, dnnl_reorder_primitive_desc_create(
                            &p, from, d->engine, to, d->engine, NULL)))
        (void)msim_dnnl_ok(d, dnnl_primitive_create(&t->reorder, p));
    if (p)
        (void)dnnl_primitive_desc_destroy(p);
}

static void make_tensors(struct msim_dnnl *d, const_dnnl_primitive_desc_t p)
{
    for (int i = 0; i < d->n && msim_dnnl_ok(d, dnnl_success); i++) {
        struct msim_dnnl_tensor *t = &d->tensors[i];

        if (msim_dnnl_ok(d, dnnl_memory_create(&t->user, &t->plain, d->engine,
                                               DNNL_MEMORY_NONE)))
            make_own(d, t,
                     dnnl_primitive_desc_query_md(p, dnnl_query_exec_arg_md,
                                                  t->argument));
    }
}

/* Room for all tensors of a sort. */
static enum msim_status reserve(struct msim_dnnl *d, enum msim_operand_kind of)
{
    size_t bytes = 0;

    for (int i = 0; i < d->n; i++)
        if (d->tensors[i].of == of)
            bytes += dnnl_memory_desc_get_size(&d->tensors[i].plain);
    return bytes ? msim_operands_reserve(&d->cpu->operands, of, bytes)
                 : MSIM_OK;
}

enum msim_status msim_dnnl_end(struct msim_dnnl *d, dnnl_primitive_desc_t p,
                               struct msim_error *err)
{
    if (msim_dnnl_ok(d, dnnl_success) &&
        msim_dnnl_ok(d, dnnl_primitive_create(&d->primitive, p)))
        make_tensors(d, p);
    if (p)
        (void)dnnl_primitive_desc_destroy(p);
    if (!msim_dnnl_ok(d, dnnl_success))
        return failed(d, err);
    for (int of = 0; of < MSIM_OPERANDS; of++)
        MSIM_TRY(reserve(d, (enum msim_operand_kind)of));
    return MSIM_OK;
}
