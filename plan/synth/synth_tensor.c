/*
 * plan/synth/synth_tensor.c - tensors of a rank, and the operators that all
 * parts call.
 */
#include "plan/synth/synth_internal.h"

#include <string.h>

int64_t msim_synth_scalar_type(enum msim_dtype t)
{
    switch (t) {
    case MSIM_DT_I32:
        return 3;
    case MSIM_DT_I64:
        return 4;
    case MSIM_DT_F16:
        return 5;
    case MSIM_DT_F32:
        return 6;
    case MSIM_DT_BOOL:
        return 11;
    case MSIM_DT_F8:
        return 24;
    default:
        return 15;
    }
}

void msim_synth_write_empty(struct msim_etw *e, const struct msim_etw_tensor *t)
{
    const struct msim_etw_arg in[] = {
        {MSIM_ETW_INTS, t->n, {.ints = t->dims}},
        msim_etw_int(msim_synth_scalar_type((enum msim_dtype)t->dtype)),
        msim_synth_none(),
        {MSIM_ETW_DEVICE, 0, {.text = {"cuda:0", NULL}}},
        msim_synth_flag(false),
        msim_synth_none()};

    msim_etw_leaf(e, "aten::empty",
                  "aten::empty.memory_format(SymInt[] size, *, ScalarType? "
                  "dtype=None, Layout? layout=None, Device? device=None, bool? "
                  "pin_memory=None, MemoryFormat? memory_format=None) -> "
                  "Tensor",
                  in, 6, t, 1);
}

struct msim_etw_tensor msim_synth_new2(const struct msim_synth_walk *w,
                                       int64_t rows, int64_t cols)
{
    return msim_etw_new(w->y->e, w->y->dtype, 2, rows, cols);
}

/* Memory that nothing said the content of. */
struct msim_etw_tensor msim_synth_empty(const struct msim_synth_walk *w,
                                        enum msim_dtype dtype, int64_t rows,
                                        int64_t cols)
{
    struct msim_etw_tensor t = msim_etw_new(w->y->e, dtype, 2, rows, cols);

    msim_synth_write_empty(w->y->e, &t);
    return t;
}

struct msim_etw_tensor msim_synth_view2(const struct msim_synth_walk *w,
                                        const struct msim_etw_tensor *of,
                                        int64_t rows, int64_t cols)
{
    struct msim_etw_tensor t;
    struct msim_etw_arg in[2];

    if (of->n == 2 && of->dims[0] == rows && of->dims[1] == cols)
        return *of;
    t = msim_etw_view(w->y->e, of, 2, rows, cols);
    in[0] = msim_etw_of(of);
    in[1] = (struct msim_etw_arg){MSIM_ETW_INTS, 2, {.ints = t.dims}};
    msim_etw_leaf(w->y->e, "aten::view",
                  "aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", in,
                  2, &t, 1);
    return t;
}

/* In one dimension. */
struct msim_etw_tensor msim_synth_flat(const struct msim_synth_walk *w,
                                       const struct msim_etw_tensor *of)
{
    struct msim_etw_tensor t =
        msim_etw_view(w->y->e, of, 1, (int64_t)msim_etw_elems(of));
    struct msim_etw_arg in[] = {msim_etw_of(of),
                                {MSIM_ETW_INTS, 1, {.ints = t.dims}}};

    msim_etw_leaf(w->y->e, "aten::view",
                  "aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", in,
                  2, &t, 1);
    return t;
}

bool msim_synth_has_elems(const struct msim_etw_tensor *t, int64_t rows,
                          int64_t cols)
{
    return t->id && msim_etw_elems(t) == (uint64_t)rows * (uint64_t)cols;
}

/* The first of those at hand that has as many elements, as [rows, cols]. */
struct msim_etw_tensor msim_synth_given(const struct msim_synth_walk *w,
                                        int64_t rows, int64_t cols)
{
    const struct msim_etw_tensor *const at_hand[] = {&w->cur, &w->normed,
                                                     &w->stream};

    for (size_t i = 0; i < sizeof(at_hand) / sizeof(*at_hand); i++)
        if (msim_synth_has_elems(at_hand[i], rows, cols))
            return msim_synth_view2(w, at_hand[i], rows, cols);
    return msim_synth_empty(w, w->y->dtype, rows, cols);
}

struct msim_etw_tensor msim_synth_transposed(const struct msim_synth_walk *w,
                                             const struct msim_etw_tensor *of)
{
    struct msim_etw_tensor t =
        msim_etw_view(w->y->e, of, 2, of->dims[1], of->dims[0]);
    struct msim_etw_arg in[] = {msim_etw_of(of)};

    t.transposed = true;
    msim_etw_leaf(w->y->e, "aten::t", "aten::t(Tensor(a) self) -> Tensor(a)",
                  in, 1, &t, 1);
    return t;
}

struct msim_etw_tensor msim_synth_add(const struct msim_synth_walk *w,
                                      const struct msim_etw_tensor *a,
                                      const struct msim_etw_tensor *b)
{
    struct msim_etw_tensor out =
        a->n == 3 ? msim_etw_new(w->y->e, w->y->dtype, 3, a->dims[0],
                                 a->dims[1], a->dims[2])
                  : msim_synth_new2(w, a->dims[0], a->dims[1]);
    struct msim_etw_arg in[] = {msim_etw_of(a), msim_etw_of(b),
                                msim_etw_int(1)};

    msim_etw_leaf(w->y->e, "aten::add",
                  "aten::add.Tensor(Tensor self, Tensor other, *, Scalar "
                  "alpha=1) -> Tensor",
                  in, 3, &out, 1);
    return out;
}

void msim_synth_write_to_copy(struct msim_etw *e,
                              const struct msim_etw_tensor *of,
                              const struct msim_etw_tensor *out)
{
    struct msim_etw_arg in[] = {
        msim_etw_of(of),   msim_etw_int(msim_synth_scalar_type(out->dtype)),
        msim_synth_none(), msim_synth_none(),
        msim_synth_none(), msim_synth_flag(false),
        msim_synth_none()};
    struct msim_etw_arg copy[] = {msim_etw_of(out), msim_etw_of(of),
                                  msim_synth_flag(false)};

    msim_etw_open(e, "aten::_to_copy",
                  "aten::_to_copy(Tensor self, *, ScalarType? dtype=None, "
                  "Layout? layout=None, Device? device=None, bool? "
                  "pin_memory=None, bool non_blocking=False, MemoryFormat? "
                  "memory_format=None) -> Tensor",
                  in, 7);
    msim_synth_write_empty(e, out);
    msim_etw_leaf(e, "aten::copy_",
                  "aten::copy_(Tensor(a!) self, Tensor src, bool "
                  "non_blocking=False) -> Tensor(a!)",
                  copy, 3, out, 1);
    msim_etw_close(e, out, 1);
}

struct msim_etw_tensor msim_synth_to_type(const struct msim_synth_walk *w,
                                          const struct msim_etw_tensor *of,
                                          enum msim_dtype dtype)
{
    struct msim_etw_tensor out = *of;

    out.id = ++w->y->e->last;
    out.storage = ++w->y->e->last;
    out.dtype = dtype;
    out.transposed = false;
    msim_synth_write_to_copy(w->y->e, of, &out);
    return out;
}

struct msim_etw_tensor msim_synth_mm(const struct msim_synth_walk *w,
                                     const struct msim_etw_tensor *a,
                                     const struct msim_etw_tensor *b)
{
    struct msim_etw_tensor out = msim_synth_new2(w, a->dims[0], b->dims[1]);
    struct msim_etw_arg in[] = {msim_etw_of(a), msim_etw_of(b)};

    msim_etw_leaf(w->y->e, "aten::mm",
                  "aten::mm(Tensor self, Tensor mat2) -> Tensor", in, 2, &out,
                  1);
    return out;
}

struct msim_etw_tensor msim_synth_bmm(const struct msim_synth_walk *w,
                                      enum msim_synth_turned turned,
                                      int64_t batch, int64_t m, int64_t k,
                                      int64_t n,
                                      const struct msim_etw_tensor *a_of,
                                      const struct msim_etw_tensor *b_of)
{
    struct msim_etw_tensor a = msim_etw_view(w->y->e, a_of, 3, batch, m, k);
    struct msim_etw_tensor b = msim_etw_view(w->y->e, b_of, 3, batch, k, n);
    struct msim_etw_tensor out =
        msim_etw_new(w->y->e, w->y->dtype, 3, batch, m, n);
    struct msim_etw_arg in[] = {msim_etw_of(&a), msim_etw_of(&b)};

    a.transposed = turned == MSIM_SYNTH_FIRST_TURNED;
    b.transposed = turned == MSIM_SYNTH_SECOND_TURNED;
    msim_etw_leaf(w->y->e, "aten::bmm",
                  "aten::bmm(Tensor self, Tensor mat2) -> Tensor", in, 2, &out,
                  1);
    return out;
}

struct msim_etw_tensor msim_synth_addmm(const struct msim_synth_walk *w,
                                        const struct msim_etw_tensor *bias,
                                        const struct msim_etw_tensor *a,
                                        const struct msim_etw_tensor *b)
{
    struct msim_etw_tensor out;
    struct msim_etw_arg in[] = {msim_etw_of(bias), msim_etw_of(a),
                                msim_etw_of(b), msim_etw_int(1),
                                msim_etw_int(1)};

    if (!bias->id)
        return msim_synth_mm(w, a, b);
    out = msim_synth_new2(w, a->dims[0], b->dims[1]);
    msim_etw_leaf(w->y->e, "aten::addmm",
                  "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, "
                  "Scalar beta=1, Scalar alpha=1) -> Tensor",
                  in, 5, &out, 1);
    return out;
}

/* Over one dimension, which stays with size 1. */
struct msim_etw_tensor msim_synth_sum(const struct msim_synth_walk *w,
                                      const struct msim_etw_tensor *of,
                                      int64_t dim)
{
    struct msim_etw_tensor out = *of;
    struct msim_etw_arg in[] = {msim_etw_of(of),
                                {MSIM_ETW_INTS, 1, {.ints = &dim}},
                                msim_synth_flag(true),
                                msim_synth_none()};

    out.id = ++w->y->e->last;
    out.storage = ++w->y->e->last;
    out.transposed = false;
    out.dims[dim] = 1;
    msim_etw_leaf(w->y->e, "aten::sum",
                  "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool "
                  "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                  in, 4, &out, 1);
    return out;
}

struct msim_etw_tensor msim_synth_cat(const struct msim_synth_walk *w,
                                      const struct msim_etw_tensor *parts,
                                      uint32_t n, int64_t dim)
{
    struct msim_etw_tensor out = parts[0];
    struct msim_etw_arg in[] = {{MSIM_ETW_TENSORS, n, {.tensors = parts}},
                                msim_etw_int(dim)};

    out.id = ++w->y->e->last;
    out.storage = ++w->y->e->last;
    out.transposed = false;
    for (uint32_t i = 1; i < n; i++)
        out.dims[dim] += parts[i].dims[dim];
    msim_etw_leaf(w->y->e, "aten::cat",
                  "aten::cat(Tensor[] tensors, int dim=0) -> Tensor", in, 2,
                  &out, 1);
    return out;
}
