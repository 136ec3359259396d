/*
 * models/law/law_kind.c - kinds of works, by the rules of dispatch.
 */
#include "models/law/law.h"

#include "core/work/kernel_fact.h"

#include <string.h>

struct text {
    char *at;
    size_t size, used;
};

/* What does not fit is cut off. */
static void add(struct text *t, const char *word)
{
    while (*word && t->used + 1 < t->size)
        t->at[t->used++] = *word++;
    t->at[t->used] = '\0';
}

static void add_if(struct text *t, bool is, const char *word)
{
    if (is)
        add(t, word);
}

/* ---- products ------------------------------------------------------------ */

static bool is_on(const struct msim_work *w, int64_t elements, int bytes)
{
    return elements * (int64_t)msim_dtype_bytes(w->dtype) % bytes == 0;
}

/* Elements from one row of an operand as it is stored to the next. */
static int64_t row_of_a(const struct msim_work *w)
{
    return w->u.gemm.a_transposed ? w->u.gemm.m : w->u.gemm.k;
}

static int64_t row_of_b(const struct msim_work *w)
{
    return w->u.gemm.b_transposed ? w->u.gemm.k : w->u.gemm.n;
}

static bool rows_are_on(const struct msim_work *w, int bytes)
{
    return is_on(w, row_of_a(w), bytes) && is_on(w, row_of_b(w), bytes) &&
           is_on(w, w->u.gemm.n, bytes);
}

/* cuBLAS has kernels for rows that begin on 16 bytes, and slower ones for those
 * that begin on 4 or on 2 (the "align" of CUTLASS's names). */
static void add_alignment(struct text *t, const struct msim_work *w)
{
    if (rows_are_on(w, 16))
        return;
    add(t, rows_are_on(w, 4) && msim_dtype_bytes(w->dtype) < 4
               ? ", rows of pairs"
               : ", odd rows");
}

static void add_product(struct text *t, const struct msim_work *w)
{
    bool vector = w->u.gemm.m == 1 || w->u.gemm.n == 1;

    add_if(t, vector, ", a vector");
    add_if(t, w->u.gemm.batch > 1, ", many");
    if (!vector)
        add_alignment(t, w);
}

/* ---- convolutions -------------------------------------------------------- */

static void add_conv(struct text *t, const struct msim_work *w)
{
    bool own = w->u.conv.groups > 1 && w->u.conv.groups == w->u.conv.c;

    add_if(t, w->u.conv.deep, ", deep");
    add_if(t, w->u.conv.h == 1 && w->u.conv.r == 1, ", of rows");
    add_if(t, w->u.conv.transposed, ", transposed");
    add_if(t, own, ", a filter a channel");
    add_if(t, w->u.conv.groups > 1 && !own, ", in groups");
    add_if(t, w->u.conv.channels_last, ", channels last");
}

/* ---- what moves memory --------------------------------------------------- */

static const char *softmax_rows(const struct msim_work *w)
{
    double bytes = (double)w->u.vector.cols * msim_dtype_bytes(w->dtype);

    if (w->u.vector.fold == MSIM_FOLD_ACROSS)
        return ", across rows";
    if ((double)w->u.vector.cols <= MSIM_FACT(NULL, SOFTMAX_WARP_COLUMNS))
        return ", a warp a row";
    if (msim_rows_are_odd(w))
        return ", odd rows";
    return bytes <= MSIM_FACT(NULL, SOFTMAX_BLOCK_ROW_BYTES) ? ", a block a row"
                                                             : ", in passes";
}

static void add_vector(struct text *t, const struct msim_work *w)
{
    if (w->family == MSIM_FAMILY_SOFTMAX)
        add(t, softmax_rows(w));
    else
        add_if(t, w->u.vector.fold == MSIM_FOLD_ACROSS, ", across rows");
    add_if(t, w->u.vector.taps > 0, ", by windows");
    add_if(t, w->u.vector.addressed, ", addressed");
    add_if(t, w->u.vector.strided, ", out of order");
    add_if(t,
           w->u.vector.copy == MSIM_COPY_H2D ||
               w->u.vector.copy == MSIM_COPY_D2H,
           ", host");
}

/* ---- all ----------------------------------------------------------------- */

static void add_kernel(struct text *t, const struct msim_work *w)
{
    switch (w->family) {
    case MSIM_FAMILY_GEMM:
        add_product(t, w);
        break;
    case MSIM_FAMILY_CONV:
        add_conv(t, w);
        break;
    case MSIM_FAMILY_ATTENTION:
        add_if(t, w->u.attention.backward, ", backward");
        add_if(t, msim_dtype_bytes(w->dtype) > 2, ", full");
        break;
    case MSIM_FAMILY_MOE:
    case MSIM_FAMILY_COLLECTIVE:
    case MSIM_FAMILY_DISPATCH:
        break;
    default:
        add_vector(t, w);
    }
}

void msim_law_kind(const struct msim_work *w, bool host, char *text,
                   size_t size)
{
    const struct msim_law *law = msim_law_of(w->family, host);
    struct text t = {.at = text, .size = size};
    char key[72];

    text[0] = '\0';
    if (!law)
        return;
    law->key(w, key, sizeof(key));
    add(&t, law->name);
    add(&t, " ");
    add(&t, key);
    if (!host)
        add_kernel(&t, w);
}
