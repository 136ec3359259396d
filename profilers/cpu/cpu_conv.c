/*
 * profilers/cpu/cpu_conv.c - convolutions by oneDNN.
 *
 * Images lie as rows of channels, as PyTorch's do by default; the library says
 * in which layout it wants them.
 */
#include "profilers/cpu/cpu_dnnl.h"

enum { IMAGE, FILTERS, PLACES, TENSORS };

/* The descriptions that oneDNN wants of a convolution. */
struct sizes {
    int result; /* the tensor that is written */
    dnnl_memory_desc_t plain[TENSORS], any[TENSORS];
    dnnl_dims_t strides, padding;
};

const char *const *msim_cpu_conv_kinds(void)
{
    static const char *const KINDS[] = {"conv2d_fwd:fp32",
                                        "conv2d_bwd_data:fp32",
                                        "conv2d_bwd_weight:fp32", NULL};

    return KINDS;
}

static void describe(struct msim_dnnl *d, struct sizes *s,
                     const struct msim_experiment *e)
{
    int64_t g = e->work.u.conv.groups;
    const dnnl_dims_t dims[TENSORS] = {
        {e->work.u.conv.n, e->work.u.conv.c, e->work.u.conv.h,
         e->work.u.conv.w},
        {g, e->work.u.conv.k / g, e->work.u.conv.c / g, e->work.u.conv.r,
         e->work.u.conv.s},
        {e->work.u.conv.n, e->work.u.conv.k, e->u.conv.out_h, e->u.conv.out_w}};
    const dnnl_format_tag_t tags[TENSORS] = {dnnl_nchw, dnnl_goihw, dnnl_nchw};

    for (int i = 0; i < TENSORS; i++) {
        int n = i == FILTERS ? 5 : 4;

        (void)msim_dnnl_ok(d, dnnl_memory_desc_init_by_tag(
                                  &s->plain[i], n, dims[i], dnnl_f32, tags[i]));
        (void)msim_dnnl_ok(
            d, dnnl_memory_desc_init_by_tag(&s->any[i], n, dims[i], dnnl_f32,
                                            dnnl_format_tag_any));
    }
    for (int i = 0; i < 2; i++) {
        s->strides[i] = e->work.u.conv.stride_h;
        s->padding[i] = e->work.u.conv.pad_h;
    }
}

/* The pass's primitive; NULL where that fails. */
static dnnl_primitive_desc_t choose(struct msim_dnnl *d, const struct sizes *s)
{
    const dnnl_memory_desc_t *x = s->any;
    dnnl_primitive_desc_t forward = NULL, backward = NULL;
    dnnl_convolution_desc_t c;

    if (msim_dnnl_ok(d, dnnl_convolution_forward_desc_init(
                            &c, dnnl_forward_training, dnnl_convolution_auto,
                            &x[IMAGE], &x[FILTERS], NULL, &x[PLACES],
                            s->strides, s->padding, s->padding)))
        (void)msim_dnnl_ok(
            d, dnnl_primitive_desc_create(&forward, &c, NULL, d->engine, NULL));
    if (s->result == PLACES || !msim_dnnl_ok(d, dnnl_success))
        return forward;
    /* The gradients want to know what the forward pass chose. */
    (void)msim_dnnl_ok(
        d, s->result == IMAGE
               ? dnnl_convolution_backward_data_desc_init(
                     &c, dnnl_convolution_auto, &x[IMAGE], &x[FILTERS],
                     &x[PLACES], s->strides, s->padding, s->padding)
               : dnnl_convolution_backward_weights_desc_init(
                     &c, dnnl_convolution_auto, &x[IMAGE], &x[FILTERS], NULL,
                     &x[PLACES], s->strides, s->padding, s->padding));
    if (msim_dnnl_ok(d, dnnl_success))
        (void)msim_dnnl_ok(d, dnnl_primitive_desc_create(&backward, &c, NULL,
                                                         d->engine, forward));
    (void)dnnl_primitive_desc_destroy(forward);
    return backward;
}

/* Operands of a pass by what oneDNN calls them. */
static const int ARGUMENTS[TENSORS][TENSORS] = {
    [IMAGE] = {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
    [FILTERS] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
    [PLACES] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST}};

enum msim_status msim_cpu_conv(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err)
{
    static const int RESULTS[] = {[MSIM_CONV_FORWARD] = PLACES,
                                  [MSIM_CONV_BACKWARD_DATA] = IMAGE,
                                  [MSIM_CONV_BACKWARD_WEIGHT] = FILTERS};
    struct sizes s = {.result = RESULTS[e->work.u.conv.pass]};
    struct msim_dnnl *d;

    if (e->dtype != MSIM_DT_F32)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no convolutions of '%s' here, want fp32",
                         msim_experiment_dtype(e));
    d = msim_dnnl_begin(cpu, e, out);
    if (!d)
        return MSIM_ENOMEM;
    describe(d, &s, e);
    for (int i = 0; i < TENSORS; i++)
        msim_dnnl_tensor(d, ARGUMENTS[s.result][i],
                         i == s.result ? MSIM_OPERAND_OUT : MSIM_OPERAND_F32,
                         &s.plain[i]);
    return msim_dnnl_end(d, choose(d, &s), err);
}
