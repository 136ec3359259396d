/*
 * core/work/rules/opmap_gemm.c - matrix products.
 *
 * Sizes come from the last two dimensions of the factors: (m x k)(k x n).
 * Each factor is read once, the product written once; a bias or addend is
 * read too.
 */
#include "core/work/rules/opmap_rules.h"

#include <math.h>
#include <string.h>

/* How many operators before a product may hold its views. */
#define LOOK_BACK 12

/*
 * Is a factor of these sizes the result of an aten::t or aten::transpose just
 * before? cuBLAS then reads it transposed. The views of a product are its
 * siblings, or those of the operator around it.
 */
static bool made_by_transpose(const struct msim_opmap_ctx *c,
                              const struct msim_operand *f)
{
    const struct msim_trace *t = c->t;

    for (uint32_t k = 1; k <= LOOK_BACK && k <= c->index; k++) {
        uint32_t j = c->index - k;
        const char *name = msim_trace_text(t, t->ops[j].name);
        struct msim_operand from;

        if (t->ops[j].thread != c->op->thread)
            return false;
        if (strcmp(name, "aten::t") != 0 &&
            strcmp(name, "aten::transpose") != 0)
            continue;
        if (msim_opmap_tensor_of(t, j, 0, &from) && from.rank == f->rank &&
            msim_operand_dim(&from, -1) == msim_operand_dim(f, -2) &&
            msim_operand_dim(&from, -2) == msim_operand_dim(f, -1))
            return true;
    }
    return false;
}

/*
 * A complex product is four real ones: one of twice the rows (real and
 * imaginary parts of the result) and twice the depth. Two numbers of four bits
 * lie in an element, side by side along the depth.
 */
struct msim_opmap_arithmetic msim_opmap_arithmetic_of(enum msim_dtype dtype)
{
    switch (dtype) {
    case MSIM_DT_C64:
        return (struct msim_opmap_arithmetic){MSIM_DT_F32, "", 2, 2, dtype};
    case MSIM_DT_C128:
        return (struct msim_opmap_arithmetic){MSIM_DT_F64, "", 2, 2, dtype};
    case MSIM_DT_F4X2:
        return (struct msim_opmap_arithmetic){MSIM_DT_F8, "nvfp4", 1, 2,
                                              MSIM_DT_BF16};
    default:
        return (struct msim_opmap_arithmetic){dtype, "", 1, 1, dtype};
    }
}

static void set_gemm(struct msim_opmap_ctx *c, const struct msim_operand *a,
                     const struct msim_operand *b, const int64_t mnkb[4])
{
    double mn = (double)mnkb[0] * (double)mnkb[1] * (double)mnkb[3];
    const struct msim_opmap_arithmetic as = msim_opmap_arithmetic_of(a->dtype);
    bool tf32 = as.dtype == MSIM_DT_F32 && msim_opmap_tf32(c);
    struct msim_work *w = msim_opmap_work(c, MSIM_FAMILY_GEMM, as.dtype,
                                          tf32 ? "tf32" : as.variant);
    struct msim_operand out;
    enum msim_dtype out_type = as.out;

    if (!w)
        return;
    if (msim_opmap_output(c, 0, &out))
        out_type = out.dtype;
    w->flops = 2 * mn * (double)mnkb[2] * (double)(as.rows * as.depth);
    w->bytes_read = a->bytes + b->bytes;
    w->bytes_written = mn * msim_dtype_bytes(out_type);
    w->u.gemm.m = msim_opmap_count((double)mnkb[0] * (double)as.rows);
    w->u.gemm.n = mnkb[1];
    w->u.gemm.k = msim_opmap_count((double)mnkb[2] * (double)as.depth);
    w->u.gemm.batch = mnkb[3];
    w->u.gemm.a_transposed = made_by_transpose(c, a);
    w->u.gemm.b_transposed = made_by_transpose(c, b);
}

/* (.. x m x k)(.. x k x n): row->arg is the first factor's argument; an
 * argument before it is the addend, which a beta of 0 leaves unread. */
bool msim_rule_product(struct msim_opmap_ctx *c,
                       const struct msim_opmap_row *row)
{
    struct msim_operand a, b, addend;
    int64_t s[4] = {1, 1, 1, 1};
    double beta = 1;

    if (!msim_opmap_tensor(c, row->arg, &a) ||
        !msim_opmap_tensor(c, row->arg + 1, &b) || a.rank < 2 || b.rank < 2)
        return false;
    s[0] = msim_operand_dim(&a, -2);
    s[1] = msim_operand_dim(&b, -1);
    s[2] = msim_operand_dim(&a, -1);
    for (uint32_t k = 0; k + 2 < a.rank; k++)
        s[3] = msim_opmap_count((double)s[3] * (double)a.dims[k]);
    set_gemm(c, &a, &b, s);
    msim_opmap_real(c, 3, &beta);
    if (row->arg && beta != 0 && msim_opmap_tensor(c, 0, &addend))
        c->works[0].bytes_read += addend.bytes;
    return true;
}

/* x (.. x k) times the transpose of w (n x k): linear layers that are one
 * operator. */
bool msim_rule_linear(struct msim_opmap_ctx *c,
                      const struct msim_opmap_row *row)
{
    struct msim_operand x, w;
    int64_t s[4] = {1, 1, 1, 1};

    if (!msim_opmap_tensor(c, row->arg, &x) ||
        !msim_opmap_tensor(c, row->arg + 1, &w) || x.rank < 1 || w.rank < 2)
        return false;
    s[1] = msim_operand_dim(&w, 0);
    s[2] = msim_operand_dim(&x, -1);
    s[0] = s[2] ? msim_opmap_count(x.elems / (double)s[2]) : 0;
    set_gemm(c, &x, &w, s);
    c->works[0].u.gemm.b_transposed = true;
    return true;
}

/*
 * A linear layer of a library, an autograd function with its own order of
 * tensors (Transformer Engine): the weight is the first matrix whose columns
 * equal the last size of another tensor, which is the input.
 */
bool msim_rule_linear_function(struct msim_opmap_ctx *c,
                               const struct msim_opmap_row *row)
{
    struct msim_operand x, w;

    (void)row;
    for (uint32_t j = 0; msim_opmap_nth_tensor(c, j, &w); j++) {
        if (w.rank != 2)
            continue;
        for (uint32_t k = 0; msim_opmap_nth_tensor(c, k, &x); k++) {
            int64_t cols = msim_operand_dim(&x, -1);
            double rows = cols > 0 ? x.elems / (double)cols : 0;

            if (k == j || x.rank < 2 || cols != msim_operand_dim(&w, 1))
                continue;
            set_gemm(c, &x, &w,
                     (int64_t[4]){msim_opmap_count(rows),
                                  msim_operand_dim(&w, 0), cols, 1});
            return true;
        }
    }
    return false;
}

/* Matrix (m x k) times vector (k). */
bool msim_rule_matrix_vector(struct msim_opmap_ctx *c,
                             const struct msim_opmap_row *row)
{
    struct msim_operand a, x;

    if (!msim_opmap_tensor(c, row->arg, &a) ||
        !msim_opmap_tensor(c, row->arg + 1, &x) || a.rank < 2)
        return false;
    set_gemm(
        c, &a, &x,
        (int64_t[4]){msim_operand_dim(&a, 0), 1, msim_operand_dim(&a, 1), 1});
    return true;
}

/* Vector times vector: cuBLAS sums products in blocks, and a second kernel sums
 * those (dot_kernel and reduce_1Block_kernel in traces). */
bool msim_rule_dot(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    struct msim_operand a, x;
    struct msim_work *w;

    (void)row;
    if (!msim_opmap_tensor(c, 0, &a) || !msim_opmap_tensor(c, 1, &x))
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_REDUCTION, a.dtype, "dot");
    if (!w)
        return false;
    w->flops = 2 * a.elems;
    w->bytes_read = a.bytes + x.bytes;
    w->bytes_written = msim_dtype_bytes(a.dtype);
    w->kernels = 2;
    w->u.vector.elems = w->u.vector.cols = msim_opmap_count(a.elems);
    w->u.vector.rows = 1;
    w->u.vector.fold = MSIM_FOLD_ALONG;
    return true;
}

/* ---- templates of Inductor ---------------------------------------------- */

static bool has_size(const struct msim_operand *o, int64_t size)
{
    for (uint32_t k = 0; k < o->rank; k++)
        if (o->dims[k] == size)
            return true;
    return false;
}

/*
 * Are these the factors of the product `out`, of `batch` matrices? Arguments
 * are buffers, so that factors may lie turned or have more dimensions than two;
 * but
 *
 *     |a| |b| / |out| = (m k)(k n) / (m n) = k^2
 *
 * and both have k among their sizes. `s`: m, n, k and batch, as set_gemm() has
 * them.
 */
static bool are_factors(const struct msim_operand *a,
                        const struct msim_operand *b,
                        const struct msim_operand *out, double batch,
                        int64_t s[4])
{
    double k = round(sqrt(a->elems / out->elems * (b->elems / batch)));

    if (a->rank < 2 || b->rank < 2 || !(k >= 1) || k > 1e9 ||
        fabs(a->elems / out->elems * (b->elems / batch) / (k * k) - 1) > 1e-9)
        return false;
    s[0] = msim_opmap_count(a->elems / k / batch);
    s[1] = msim_opmap_count(b->elems / k / batch);
    s[2] = msim_opmap_count(k);
    s[3] = msim_opmap_count(batch);
    return s[0] && s[1] && has_size(a, s[2]) && has_size(b, s[2]);
}

/* Rows of groups, each times its own matrix: (rows x k)(groups x k x n). */
static bool grouped_factors(const struct msim_operand *a,
                            const struct msim_operand *b,
                            const struct msim_operand *out, int64_t s[4])
{
    int64_t k = msim_operand_dim(a, -1), n = msim_operand_dim(out, -1);
    int64_t groups = msim_operand_dim(b, 0);

    if (a->rank != 2 || b->rank != 3 || k < 1 || n < 1 || groups < 1 ||
        !has_size(b, k) || !has_size(b, n))
        return false;
    s[0] = msim_operand_dim(a, 0) / groups;
    s[1] = n;
    s[2] = k;
    s[3] = groups;
    return s[0] > 0;
}

/* Matrices of a batch: all sizes but the last two. */
static double batch_of(const char *name, const struct msim_operand *out)
{
    double matrix =
        (double)msim_operand_dim(out, -1) * (double)msim_operand_dim(out, -2);

    return strstr(name, "bmm") && matrix > 0 ? out->elems / matrix : 1;
}

/* How many arguments come before the result, the last matrix: behind it is room
 * to work in. */
static uint32_t before_result(const struct msim_opmap_ctx *c,
                              struct msim_operand *out)
{
    struct msim_operand o;
    uint32_t before = 0;

    *out = (struct msim_operand){.elems = 0};
    for (uint32_t n = 0; msim_opmap_nth_tensor(c, n, &o); n++)
        if (o.rank > 1) {
            *out = o;
            before = n;
        }
    return before;
}

/* The first two arguments that are factors of the result. All others before it
 * are read, too: what the product is added to, scales. */
bool msim_opmap_product_template(struct msim_opmap_ctx *c)
{
    bool grouped = strstr(c->name, "grouped") != NULL;
    struct msim_operand a, b, out, o;
    int64_t s[4] = {0};
    uint32_t n = before_result(c, &out), i, j = 0;
    bool found = false;

    for (i = 0; i + 1 < n && !found; i++)
        for (j = i + 1; j < n && !found; j++)
            found = msim_opmap_nth_tensor(c, i, &a) &&
                    msim_opmap_nth_tensor(c, j, &b) && out.elems > 0 &&
                    (grouped ? grouped_factors(&a, &b, &out, s)
                             : are_factors(&a, &b, &out,
                                           batch_of(c->name, &out), s));
    if (!found)
        return false;
    set_gemm(c, &a, &b, s);
    c->works[0].nearest = grouped; /* groups differ in size */
    for (uint32_t k = 0; k < n; k++)
        if (k != i - 1 && k != j - 1 && msim_opmap_nth_tensor(c, k, &o))
            c->works[0].bytes_read += o.bytes;
    return true;
}
