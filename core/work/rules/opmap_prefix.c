/*
 * core/work/rules/opmap_prefix.c - operators whose names are made while a
 * program runs: wrappers with a name inside, generated kernels, labels.
 */
#include "core/work/rules/opmap_rule.h"
#include "core/work/rules/opmap_rules.h"

#include <string.h>

/* ---- generated kernels ------------------------------------------------- */

#define MAX_OPERANDS 32

/* What a generated kernel works on, as far as it is known. */
struct operands {
    struct msim_operand o[MAX_OPERANDS];
    uint32_t n;
    bool with_output; /* the last one is written, not read */
};

static void own_arguments(const struct msim_opmap_ctx *c, struct operands *s)
{
    while (s->n < MAX_OPERANDS && msim_opmap_nth_tensor(c, s->n, &s->o[s->n]))
        s->n++;
    /* arguments end with what is written; a kernel that works in place has
     * one tensor and does both */
    s->with_output = s->n > 1;
}

static bool empty_like(const char *name)
{
    return strcmp(name, "aten::empty") == 0 ||
           strcmp(name, "aten::empty_strided") == 0 ||
           strcmp(name, "aten::new_empty_strided") == 0;
}

/* The tensor that was made for the kernel to write: the last one allocated
 * in the same region before it. */
static bool allocated_before(const struct msim_opmap_ctx *c,
                             struct msim_operand *o)
{
    const struct msim_op *ops = c->t->ops;

    for (uint32_t j = c->index; j-- > c->op->parent + 1;) {
        struct msim_opmap_ctx maker = *c;

        if (ops[j].parent != c->op->parent ||
            !empty_like(msim_trace_text(c->t, ops[j].name)))
            continue;
        maker.index = j;
        maker.op = &ops[j];
        if (msim_opmap_output(&maker, 0, o))
            return true;
    }
    return false;
}

/* The tensors that a function around the compiled region took. */
static void region_inputs(const struct msim_opmap_ctx *c, struct operands *s)
{
    uint32_t p = c->op->parent;

    for (int up = 0; up < 4 && p != MSIM_NONE && s->n == 0;
         up++, p = c->t->ops[p].parent) {
        struct msim_opmap_ctx around = *c;

        around.index = p;
        around.op = &c->t->ops[p];
        if (around.op->kind == MSIM_OP_ROOT)
            return;
        own_arguments(&around, s);
    }
    s->with_output = false;
}

/*
 * Traces of early compilers record no arguments of generated kernels. Their
 * output is the tensor allocated just before. Their inputs are those of the
 * function around them, else two operands of that size: the usual kernel is a
 * sum or a product of two.
 */
static bool neighbours(const struct msim_opmap_ctx *c, struct operands *s)
{
    struct msim_operand out;

    if (c->op->parent == MSIM_NONE)
        return false;
    region_inputs(c, s);
    if (!allocated_before(c, &out))
        return s->n > 0;
    if (s->n == 0) {
        s->o[0] = s->o[1] = out;
        s->n = 2;
    }
    if (s->n < MAX_OPERANDS)
        s->o[s->n++] = out;
    s->with_output = true;
    return true;
}

static void set_traffic(struct msim_work *w, const struct operands *s)
{
    double most = 0;

    for (uint32_t j = 0; j < s->n; j++) {
        if (s->o[j].elems > most)
            most = s->o[j].elems;
        if (j + 1 < s->n || !s->with_output)
            w->bytes_read += s->o[j].bytes;
    }
    if (s->n)
        w->bytes_written =
            s->with_output ? s->o[s->n - 1].bytes : s->o[0].bytes;
    msim_opmap_set_rows(w, 1, most);
    w->flops = 4 * most;
}

/*
 * A kernel that a compiler made: it reads its tensors and writes the last of
 * them. row->arg: a reduction, whose rows are the smallest operand's elements.
 */
bool msim_rule_compiled_kernel(struct msim_opmap_ctx *c,
                               const struct msim_opmap_row *row)
{
    struct operands s = {.n = 0};
    struct msim_work *w;
    double rows;

    own_arguments(c, &s);
    if (s.n == 0 && !neighbours(c, &s))
        return false;
    w = msim_opmap_work(
        c, row->arg ? MSIM_FAMILY_REDUCTION : MSIM_FAMILY_POINTWISE,
        s.o[0].dtype, msim_opmap_variant(row));
    if (!w)
        return false;
    set_traffic(w, &s);
    if (row->arg) {
        rows = s.o[s.n - 1].elems;
        for (uint32_t j = 0; j < s.n; j++)
            if (s.o[j].elems > 1 && s.o[j].elems < rows)
                rows = s.o[j].elems;
        if (rows >= 1)
            msim_opmap_set_rows(w, rows, (double)w->u.vector.elems / rows);
    }
    return true;
}

/* ---- templates of Inductor ---------------------------------------------- */

/* Of one side: strides divide the sizes, and padding makes up for the rest. */
static void conv_side(int64_t in, int64_t out, int64_t filter, int64_t *stride,
                      int64_t *pad)
{
    int64_t span;

    *stride = out > 0 && in / out > 1 ? in / out : 1;
    span = (out - 1) * *stride + filter - in;
    *pad = span > 0 ? (span + 1) / 2 : 0;
}

/* No size is 0, or so large that sums of them overflow. */
static bool is_sane(const struct msim_operand *o)
{
    return o->elems > 0 && o->elems < 1e15;
}

/* Input and filter, then what is fused, last the result: strides and padding
 * follow from its sizes. */
static bool conv_template(struct msim_opmap_ctx *c)
{
    struct msim_operand x, filter, out;
    struct msim_work *w;
    uint32_t n = 0;

    while (msim_opmap_nth_tensor(c, n, &out))
        n++;
    if (n < 3 || !msim_opmap_nth_tensor(c, 0, &x) ||
        !msim_opmap_nth_tensor(c, 1, &filter) || x.rank != 4 ||
        filter.rank != 4 || out.rank != 4 || !is_sane(&x) ||
        !is_sane(&filter) || !is_sane(&out) || x.dims[0] != out.dims[0] ||
        filter.dims[0] != out.dims[1] || x.dims[1] % filter.dims[1] != 0)
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_CONV, x.dtype, "");
    if (!w)
        return false;
    w->u.conv.n = x.dims[0];
    w->u.conv.c = x.dims[1];
    w->u.conv.h = x.dims[2];
    w->u.conv.w = x.dims[3];
    w->u.conv.k = filter.dims[0];
    w->u.conv.r = filter.dims[2];
    w->u.conv.s = filter.dims[3];
    w->u.conv.dilation_h = w->u.conv.dilation_w = 1;
    w->u.conv.groups = x.dims[1] / filter.dims[1];
    w->u.conv.channels_last = true;
    conv_side(x.dims[2], out.dims[2], filter.dims[2], &w->u.conv.stride_h,
              &w->u.conv.pad_h);
    conv_side(x.dims[3], out.dims[3], filter.dims[3], &w->u.conv.stride_w,
              &w->u.conv.pad_w);
    msim_work_count(w);
    return true;
}

/*
 * A kernel of a template is a product, a convolution or attention, with what is
 * fused around it. Its name says which: triton_tem_fused_addmm_relu_0. One
 * whose name says none is not known.
 */
bool msim_rule_template(struct msim_opmap_ctx *c,
                        const struct msim_opmap_row *row)
{
    if (strstr(c->name, "flex"))
        return msim_opmap_attention_template(c, row);
    if (strstr(c->name, "conv"))
        return conv_template(c);
    return strstr(c->name, "mm") && msim_opmap_product_template(c);
}

/* Every tensor, in lists too, is moved to another place: it is read, and what
 * the results take is written. */
bool msim_rule_regroup(struct msim_opmap_ctx *c,
                       const struct msim_opmap_row *row)
{
    uint32_t n = msim_args_count(c->t, c->op->args);
    double read = 0, written = 0, elems = 0;
    enum msim_dtype dtype = MSIM_DT_F32;
    struct msim_tensor_list l;
    struct msim_operand o;
    struct msim_work *w;

    for (uint32_t k = 0; k < n; k++)
        if (msim_opmap_list(c, k, &l) && l.n > 0) {
            read += l.bytes;
            elems += l.elems;
            dtype = l.dtype;
        }
    for (uint32_t k = 0; msim_opmap_nth_tensor(c, k, &o); k++) {
        read += o.bytes;
        elems += o.elems;
    }
    for (uint32_t k = 0; msim_opmap_output(c, k, &o); k++)
        written += o.bytes;
    if (!(elems > 0))
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_POINTWISE, dtype,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    msim_opmap_set_rows(w, 1, elems);
    w->bytes_read = read;
    w->bytes_written = written > 0 ? written : read;
    return true;
}
