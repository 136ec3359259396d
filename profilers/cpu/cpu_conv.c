/*
 * profilers/cpu/cpu_conv.c - convolutions by oneDNN.
 *
 * As PyTorch calls them: tensors lie as users hold them, images of channels of
 * rows, and the library says in which layout it wants them. Bringing them there
 * and the result back is part of the time.
 */
#include "profilers/cpu/cpu.h"

#include <dnnl.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGE, FILTERS, PLACES, TENSORS };

/* What is read or written: as the user holds it, and as the library wants it,
 * which may be the same. */
struct tensor {
    size_t bytes; /* of the user's */
    dnnl_memory_desc_t plain;
    dnnl_memory_t user, own;
    dnnl_primitive_t reorder; /* from the one read to the one written; NULL:
                                 they are the same */
};

struct conv {
    struct msim_cpu *cpu;
    bool warm;
    int result; /* the tensor that is written */
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t convolution;
    struct tensor tensors[TENSORS];
};

/* The descriptions that oneDNN wants of a convolution. */
struct sizes {
    dnnl_memory_desc_t any[TENSORS];
    dnnl_dims_t strides, padding;
};

const char *const *msim_cpu_conv_kinds(void)
{
    static const char *const KINDS[] = {"conv2d_fwd:fp32",
                                        "conv2d_bwd_data:fp32",
                                        "conv2d_bwd_weight:fp32", NULL};

    return KINDS;
}

const char *msim_cpu_conv_version(void)
{
    static char text[32];
    const dnnl_version_t *v = dnnl_version();

    snprintf(text, sizeof(text), "%d.%d.%d", v->major, v->minor, v->patch);
    return text;
}

/* Whether all went well so far; what fails after a failure is not tried. */
static bool ok(dnnl_status_t *status, dnnl_status_t next)
{
    if (*status == dnnl_success)
        *status = next;
    return *status == dnnl_success;
}

static void describe(struct conv *c, struct sizes *s,
                     const struct msim_experiment *e, dnnl_status_t *status)
{
    int64_t g = e->u.conv.groups;
    const dnnl_dims_t dims[TENSORS] = {
        {e->u.conv.n, e->u.conv.c, e->u.conv.h, e->u.conv.w},
        {g, e->u.conv.k / g, e->u.conv.c / g, e->u.conv.r, e->u.conv.s},
        {e->u.conv.n, e->u.conv.k, e->u.conv.out_h, e->u.conv.out_w}};
    const dnnl_format_tag_t tags[TENSORS] = {dnnl_nchw, dnnl_goihw, dnnl_nchw};

    for (int i = 0; i < TENSORS; i++) {
        int n = i == FILTERS ? 5 : 4;

        (void)ok(status,
                 dnnl_memory_desc_init_by_tag(&c->tensors[i].plain, n, dims[i],
                                              dnnl_f32, tags[i]));
        (void)ok(status,
                 dnnl_memory_desc_init_by_tag(&s->any[i], n, dims[i], dnnl_f32,
                                              dnnl_format_tag_any));
        c->tensors[i].bytes = dnnl_memory_desc_get_size(&c->tensors[i].plain);
    }
    for (int i = 0; i < 2; i++) {
        s->strides[i] = e->u.conv.stride;
        s->padding[i] = e->u.conv.pad;
    }
}

/* The pass's primitive; `*out` NULL where that fails. */
static void choose(const struct conv *c, const struct sizes *s,
                   dnnl_primitive_desc_t *out, dnnl_status_t *status)
{
    const dnnl_memory_desc_t *x = s->any;
    dnnl_primitive_desc_t forward = NULL;
    dnnl_convolution_desc_t d;

    *out = NULL;
    if (ok(status, dnnl_convolution_forward_desc_init(
                       &d, dnnl_forward_training, dnnl_convolution_auto,
                       &x[IMAGE], &x[FILTERS], NULL, &x[PLACES], s->strides,
                       s->padding, s->padding)))
        (void)ok(status, dnnl_primitive_desc_create(&forward, &d, NULL,
                                                    c->engine, NULL));
    if (c->result == PLACES) {
        *out = forward;
        return;
    }
    /* The gradients want to know what the forward pass chose. */
    (void)ok(status,
             c->result == IMAGE
                 ? dnnl_convolution_backward_data_desc_init(
                       &d, dnnl_convolution_auto, &x[IMAGE], &x[FILTERS],
                       &x[PLACES], s->strides, s->padding, s->padding)
                 : dnnl_convolution_backward_weights_desc_init(
                       &d, dnnl_convolution_auto, &x[IMAGE], &x[FILTERS], NULL,
                       &x[PLACES], s->strides, s->padding, s->padding));
    if (*status == dnnl_success)
        (void)ok(status,
                 dnnl_primitive_desc_create(out, &d, NULL, c->engine, forward));
    if (forward)
        (void)dnnl_primitive_desc_destroy(forward);
}

/* Operands of a pass by what oneDNN calls them. */
static const int ARGUMENTS[TENSORS][TENSORS] = {
    [IMAGE] = {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
    [FILTERS] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
    [PLACES] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST}};

static void reorder(struct conv *c, struct tensor *t,
                    const dnnl_memory_desc_t *wanted, bool written,
                    dnnl_status_t *status)
{
    const dnnl_memory_desc_t *from = written ? wanted : &t->plain;
    const dnnl_memory_desc_t *to = written ? &t->plain : wanted;
    dnnl_primitive_desc_t d = NULL;

    if (dnnl_memory_desc_equal(wanted, &t->plain))
        return;
    if (ok(status, dnnl_memory_create(&t->own, wanted, c->engine,
                                      DNNL_MEMORY_ALLOCATE)) &&
        ok(status, dnnl_reorder_primitive_desc_create(&d, from, c->engine, to,
                                                      c->engine, NULL)))
        (void)ok(status, dnnl_primitive_create(&t->reorder, d));
    if (d)
        (void)dnnl_primitive_desc_destroy(d);
}

static void prepare(struct conv *c, const struct msim_experiment *e,
                    dnnl_status_t *status)
{
    dnnl_primitive_desc_t d = NULL;
    struct sizes s;

    if (!ok(status, dnnl_engine_create(&c->engine, dnnl_cpu, 0)) ||
        !ok(status, dnnl_stream_create(&c->stream, c->engine,
                                       dnnl_stream_default_flags)))
        return;
    describe(c, &s, e, status);
    choose(c, &s, &d, status);
    if (*status == dnnl_success)
        (void)ok(status, dnnl_primitive_create(&c->convolution, d));
    for (int i = 0; i < TENSORS && *status == dnnl_success; i++) {
        const dnnl_memory_desc_t *wanted = dnnl_primitive_desc_query_md(
            d, dnnl_query_exec_arg_md, ARGUMENTS[c->result][i]);

        if (ok(status,
               dnnl_memory_create(&c->tensors[i].user, &c->tensors[i].plain,
                                  c->engine, DNNL_MEMORY_NONE)))
            reorder(c, &c->tensors[i], wanted, i == c->result, status);
    }
    if (d)
        (void)dnnl_primitive_desc_destroy(d);
}

/* ---- timing -------------------------------------------------------------- */

static void move(struct conv *c, int i, dnnl_status_t *status)
{
    const struct tensor *t = &c->tensors[i];
    bool written = i == c->result;
    const dnnl_exec_arg_t args[2] = {
        {DNNL_ARG_FROM, written ? t->own : t->user},
        {DNNL_ARG_TO, written ? t->user : t->own}};

    if (t->reorder && *status == dnnl_success)
        (void)ok(status,
                 dnnl_primitive_execute(t->reorder, c->stream, 2, args));
}

static void convolve(struct conv *c, dnnl_status_t *status)
{
    dnnl_exec_arg_t args[TENSORS];

    for (int i = 0; i < TENSORS; i++) {
        const struct tensor *t = &c->tensors[i];

        args[i] = (dnnl_exec_arg_t){ARGUMENTS[c->result][i],
                                    t->own ? t->own : t->user};
        if (i != c->result)
            move(c, i, status);
    }
    if (*status == dnnl_success)
        (void)ok(status, dnnl_primitive_execute(c->convolution, c->stream,
                                                TENSORS, args));
    move(c, c->result, status);
    (void)ok(status, dnnl_stream_wait(c->stream));
}

static enum msim_status failed(dnnl_status_t status, struct msim_error *err)
{
    return msim_fail(err,
                     status == dnnl_out_of_memory   ? MSIM_ENOMEM
                     : status == dnnl_unimplemented ? MSIM_ENOMODEL
                                                    : MSIM_EINTERNAL,
                     NULL, MSIM_OFFSET_NONE, "oneDNN fails with status %d",
                     (int)status);
}

static enum msim_status time_conv(void *state, double *us,
                                  struct msim_error *err)
{
    struct conv *c = state;
    struct msim_operands *o = &c->cpu->operands;
    dnnl_status_t status = dnnl_success;
    double begin;

    msim_operands_begin(o, c->warm);
    for (int i = 0; i < TENSORS; i++) {
        struct tensor *t = &c->tensors[i];
        void *at = msim_operands_take(
            o, i == c->result ? MSIM_OPERAND_OUT : MSIM_OPERAND_F32, t->bytes);

        (void)ok(&status, dnnl_memory_set_data_handle(t->user, at));
    }
    begin = msim_cpu_now_us();
    convolve(c, &status);
    *us = msim_cpu_now_us() - begin;
    return status == dnnl_success ? MSIM_OK : failed(status, err);
}

/* All of it accepts NULL, which comes of a preparation that failed. */
static void release_conv(void *state)
{
    struct conv *c = state;

    for (int i = 0; i < TENSORS; i++) {
        (void)dnnl_primitive_destroy(c->tensors[i].reorder);
        (void)dnnl_memory_destroy(c->tensors[i].own);
        (void)dnnl_memory_destroy(c->tensors[i].user);
    }
    (void)dnnl_primitive_destroy(c->convolution);
    (void)dnnl_stream_destroy(c->stream);
    (void)dnnl_engine_destroy(c->engine);
    free(c);
}

enum msim_status msim_cpu_conv(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err)
{
    static const int RESULTS[] = {[MSIM_CONV_WAY_FORWARD] = PLACES,
                                  [MSIM_CONV_WAY_DATA] = IMAGE,
                                  [MSIM_CONV_WAY_WEIGHT] = FILTERS};
    dnnl_status_t status = dnnl_success;
    struct conv *c;
    size_t all = 0;

    if (e->dtype != MSIM_DT_F32)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no convolutions of '%s' here, want fp32",
                         msim_experiment_dtype(e));
    c = calloc(1, sizeof(*c));
    if (!c)
        return MSIM_ENOMEM;
    *out = (struct msim_case){c, time_conv, release_conv};
    c->cpu = cpu;
    c->warm = e->warm;
    c->result = RESULTS[e->u.conv.way];
    prepare(c, e, &status);
    if (status != dnnl_success)
        return failed(status, err);
    for (int i = 0; i < TENSORS; i++)
        all += c->tensors[i].bytes + 64;
    MSIM_TRY(msim_operands_reserve(&cpu->operands, MSIM_OPERAND_F32, all));
    return msim_operands_reserve(&cpu->operands, MSIM_OPERAND_OUT, all);
}
