/*
 * core/work/conv_shape.c - a convolution as the products that it is made of.
 */
#include "core/work/work.h"

static double at_least_1(int64_t v)
{
    return v > 1 ? (double)v : 1;
}

static enum msim_conv_pass other_way(enum msim_conv_pass pass)
{
    return pass == MSIM_CONV_FORWARD         ? MSIM_CONV_BACKWARD_DATA
           : pass == MSIM_CONV_BACKWARD_DATA ? MSIM_CONV_FORWARD
                                             : pass;
}

enum msim_conv_pass msim_conv_pass_of(const struct msim_work *w)
{
    return w->u.conv.transposed ? other_way(w->u.conv.pass) : w->u.conv.pass;
}

void msim_conv_shape_of(const struct msim_work *w, struct msim_conv_shape *s)
{
    double groups = at_least_1(w->u.conv.groups);
    double in = at_least_1(w->u.conv.c) / groups;
    double out = at_least_1(w->u.conv.k) / groups;
    bool back = w->u.conv.transposed;
    int64_t p, q;

    msim_conv_output(w, &p, &q);
    *s = (struct msim_conv_shape){
        .pass = msim_conv_pass_of(w),
        .n = at_least_1(w->u.conv.n),
        .c = back ? out : in,
        .h = at_least_1(back ? p : w->u.conv.h),
        .w = at_least_1(back ? q : w->u.conv.w),
        .k = back ? in : out,
        .p = at_least_1(back ? w->u.conv.h : p),
        .q = at_least_1(back ? w->u.conv.w : q),
        .r = at_least_1(w->u.conv.r),
        .s = at_least_1(w->u.conv.s),
        .stride_h = at_least_1(w->u.conv.stride_h),
        .stride_w = at_least_1(w->u.conv.stride_w),
        .groups = groups,
    };
}

void msim_conv_product_of(const struct msim_conv_shape *s,
                          struct msim_conv_product *out)
{
    out->batch = s->groups;
    switch (s->pass) {
    case MSIM_CONV_BACKWARD_DATA:
        out->m = s->n * s->h * s->w;
        out->n = s->c;
        out->k = s->n * s->p * s->q * s->k * s->r * s->s / out->m;
        break;
    case MSIM_CONV_BACKWARD_WEIGHT:
        out->m = s->k;
        out->n = s->c * s->r * s->s;
        out->k = s->n * s->p * s->q;
        break;
    case MSIM_CONV_FORWARD:
        out->m = s->n * s->p * s->q;
        out->n = s->k;
        out->k = s->c * s->r * s->s;
        break;
    }
}
