/*
 * core/sizes/signature.c - which sizes of an operator's tensors are one, as a
 * row of letters.
 */
#include "core/sizes/sizes_internal.h"

#include <string.h>

/*
 * One term an argument, and one a result. A letter is a size, the same letter
 * the same size; '*' is any number of sizes, tied from the right; '.' is any
 * number that nothing is known of. Arguments without a term, or with an empty
 * one, are passed over; so is a tensor with another number of sizes. Letters
 * whose numbers differ are not tied (channels of groups, heads of keys): rows
 * of attention come twice, once with the heads of keys apart.
 */
#define TRANSPOSED " transposed" /* convolutions whose argument says so */

static const struct {
    const char *name, *in, *out;
} ROWS[] = {
    {"aten::linear", "*k,nk,n", "*n"},
    {"aten::linear_backward", "*k,*n,nk", "*k,nk,n"},
    {"aten::mm", "mk,kn", "mn"},
    {"aten::addmm", ".n,mk,kn", "mn"},
    {"aten::bmm", "bmk,bkn", "bmn"},
    {"aten::baddbmm", "bmn,bmk,bkn", "bmn"},
    {"aten::matmul", "*mk,*kn", "*mn"},
    {"aten::_scaled_mm", "mk,kn,,,n", "mn"},
    {"aten::_scaled_grouped_mm", ".k,bkn,,,b", ".n"},
    {"aten::_grouped_mm", ".k,bkn,b", ".n"},
    {"aten::glu_backward", ",*", "*"},
    {"aten::embedding", "vh,*", "*h"},
    {"aten::embedding_dense_backward", "*h,*", "vh"},
    {"aten::embedding_bag", "vh", "nh"},
    {"aten::nll_loss", "nv,n", ""},
    {"aten::nll_loss_nd", "nv,n", ""},
    {"aten::nll_loss_forward", "nv,n", ""},
    {"aten::nll_loss_backward", ",nv,n", "nv"},
    {"aten::cross_entropy_loss", "nv,n", ""},
    {"aten::conv1d", "ni.,oi.,o", "no."},
    {"aten::conv2d", "ni.,oi.,o", "no."},
    {"aten::conv3d", "ni.,oi.,o", "no."},
    {"aten::conv_transpose1d", "ni.,io.,o", "no."},
    {"aten::conv_transpose2d", "ni.,io.,o", "no."},
    {"aten::conv_transpose3d", "ni.,io.,o", "no."},
    {"aten::convolution", "ni.,oi.,o", "no."},
    {"aten::convolution" TRANSPOSED, "ni.,io.,o", "no."},
    {"aten::_convolution", "ni.,oi.,o", "no."},
    {"aten::_convolution" TRANSPOSED, "ni.,io.,o", "no."},
    {"aten::cudnn_convolution", "ni.,oi.", "no."},
    {"aten::miopen_convolution", "ni.,oi.", "no."},
    {"aten::mkldnn_convolution", "ni.,oi.,o", "no."},
    {"aten::thnn_conv2d", "ni.,oi.,,o", "no."},
    {"aten::_slow_conv2d_forward", "ni.,oi.,,o", "no."},
    {"aten::convolution_backward", "no.,ni.,oi.", "ni.,oi.,o"},
    {"aten::convolution_backward" TRANSPOSED, "no.,ni.,io.", "ni.,io.,o"},
    {"aten::batch_norm", "nc*,c,c,c,c", "nc*"},
    {"aten::native_batch_norm", "nc*,c,c,c,c", "nc*,c,c"},
    {"aten::cudnn_batch_norm", "nc*,c,c,c,c", "nc*,c,c"},
    {"aten::native_batch_norm_backward", "nc*,nc*,c,c,c,c,c", "nc*,c,c"},
    {"aten::cudnn_batch_norm_backward", "nc*,nc*,c,c,c,c,c", "nc*,c,c"},
    {"aten::group_norm", "nc*,,c,c", "nc*"},
    {"aten::native_group_norm", "nc*,c,c", "nc*"},
    {"aten::native_group_norm_backward", "nc*,nc*,,,c", "nc*,c,c"},
    {"aten::max_pool2d", "nc.", "nc."},
    {"aten::max_pool2d_with_indices", "nc.", "nc.,nc."},
    {"aten::avg_pool2d", "nc.", "nc."},
    {"aten::adaptive_avg_pool2d", "nc.", "nc."},
    {"aten::upsample_nearest2d", "nc.", "nc."},
    {"aten::upsample_bilinear2d", "nc.", "nc."},
    {"aten::index_put_", "*,.,.", "*"},
    {"aten::_index_put_impl_", "*,.,.", "*"},
    {"aten::index_add_", "*,,.,.", "*"},
    {"aten::scatter", "*,,.,.", "*"},
    {"aten::scatter_", "*,,.,.", "*"},
    {"aten::scatter_add", "*,,.,.", "*"},
    {"aten::scatter_add_", "*,,.,.", "*"},
    {"aten::scaled_dot_product_attention", "bhsd,bgtd,bgte,.st", "bhse"},
    {"aten::scaled_dot_product_attention", "bhsd,bhtd,bhtd", "bhsd"},
    {"aten::_scaled_dot_product_flash_attention", "bhsd,bgtd,bgte", "bhse,bhs"},
    {"aten::_scaled_dot_product_flash_attention", "bhsd,bhtd,bhtd", "bhsd,bhs"},
    {"aten::_scaled_dot_product_flash_attention_for_cpu", "bhsd,bgtd,bgte",
     "bhse,bhs"},
    {"aten::_scaled_dot_product_flash_attention_for_cpu", "bhsd,bhtd,bhtd",
     "bhsd,bhs"},
    {"aten::_scaled_dot_product_efficient_attention", "bhsd,bgtd,bgte,.st",
     "bhse,bhs"},
    {"aten::_scaled_dot_product_efficient_attention", "bhsd,bhtd,bhtd",
     "bhsd,bhs"},
    {"aten::_scaled_dot_product_cudnn_attention", "bhsd,bgtd,bgte,.st",
     "bhse,bhs"},
    {"aten::_scaled_dot_product_cudnn_attention", "bhsd,bhtd,bhtd", "bhsd,bhs"},
    {"aten::_scaled_dot_product_flash_attention_backward",
     "bhse,bhsd,bgtd,bgte,bhse,bhs", "bhsd,bgtd,bgte"},
    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward",
     "bhse,bhsd,bgtd,bgte,bhse,bhs", "bhsd,bgtd,bgte"},
    {"aten::_scaled_dot_product_cudnn_attention_backward",
     "bhse,bhsd,bgtd,bgte,bhse,bhs", "bhsd,bgtd,bgte"},
    {"aten::_scaled_dot_product_efficient_attention_backward",
     "bhse,bhsd,bgtd,bgte,.st,bhse,bhs", "bhsd,bgtd,bgte,.st"},
    {"aten::_flash_attention_forward", "bshd,btgd,btge", "bshe"},
    {"aten::_flash_attention_forward", "bshd,bthd,bthd", "bshd"},
    {"aten::_flash_attention_backward", "bshe,bshd,btgd,btge,bshe",
     "bshd,btgd,btge"},
    {"aten::expand", "*", "*"},
    {"aten::layer_norm", "*,,*,*", "*"},
    {"aten::native_layer_norm", "*,,*,*", "*,*,*"},
    {"aten::native_layer_norm_backward", "*,*,,*,*,*,*", "*,*,*"},
    {"aten::rms_norm", "*,,*", "*"},
    {"aten::_fused_rms_norm", "*,,*", "*,*"},
    {"aten::_fused_rms_norm_backward", "*,*,,*,*", "*,*"},
    {"aten::embedding_backward", "*h,*", "vh"},
    {"aten::einsum", "", ""},
    {"aten::tensordot", "", ""},
    {"aten::bilinear", "", ""},
    {"aten::cdist", "", ""},
    {"aten::new_zeros", ".", "."},
    {"aten::new_empty", ".", "."},
    {"aten::new_empty_strided", ".", "."},
    {"aten::new_full", ".", "."},
    {"aten::new_ones", ".", "."},
};

#define LETTERS 128
#define STAR    16 /* sizes of a star that are tied */

struct letters {
    uint32_t place[LETTERS]; /* of the first that had it */
    uint32_t star[STAR];     /* from the right */
};

static void tie_letter(struct msim_size_learning *l, struct letters *k,
                       unsigned char letter, uint32_t place)
{
    if (msim_size_root(l, place) == MSIM_NONE || letter >= LETTERS)
        return;
    if (k->place[letter] == MSIM_NONE)
        k->place[letter] = place;
    else
        msim_size_unite(l, k->place[letter], place);
}

/* `n` sizes, the last of which is at `place`, - 1. */
static void tie_star(struct msim_size_learning *l, struct letters *k,
                     uint32_t end, uint32_t n)
{
    for (uint32_t i = 0; i < n && i < STAR; i++) {
        uint32_t place = end - 1 - i;

        if (msim_size_root(l, place) == MSIM_NONE)
            continue;
        if (k->star[i] == MSIM_NONE)
            k->star[i] = place;
        else
            msim_size_unite(l, k->star[i], place);
    }
}

/* How many letters have another number than where they were first. */
static uint32_t mismatches(struct msim_size_learning *l,
                           const struct letters *k,
                           const struct msim_size_tensor *x, const char *term,
                           size_t len, uint32_t many)
{
    uint32_t n = 0, place = x->at;

    for (size_t i = 0; i < len; i++) {
        unsigned char letter = (unsigned char)term[i];

        if (term[i] == '*' || term[i] == '.') {
            place += many;
            continue;
        }
        n += k->place[letter % LETTERS] != MSIM_NONE &&
             msim_size_root(l, place) != MSIM_NONE &&
             msim_size_at(l, place) !=
                 msim_size_at(l, k->place[letter % LETTERS]);
        place++;
    }
    return n;
}

/* The letter of `term` whose number is `size`, if it is the only one. */
static uint32_t only_letter(struct msim_size_learning *l,
                            const struct letters *k, const char *term,
                            size_t len, int64_t size)
{
    uint32_t only = MSIM_NONE;

    for (size_t i = 0; i < len; i++) {
        uint32_t place = k->place[(unsigned char)term[i] % LETTERS];

        if (place == MSIM_NONE || msim_size_at(l, place) != size)
            continue;
        if (only != MSIM_NONE)
            return MSIM_NONE;
        only = place;
    }
    return only;
}

/* A tensor that differs in two letters has its sizes in another order: what
 * numbers tell apart is tied. */
static void tie_turned(struct msim_size_learning *l, const struct letters *k,
                       const struct msim_size_tensor *x, const char *term,
                       size_t len)
{
    for (uint32_t i = 0; i < x->n; i++) {
        uint32_t only = only_letter(l, k, term, len, x->dims[i]);

        if (only != MSIM_NONE && x->dims[i] != 1)
            msim_size_unite(l, only, x->at + i);
    }
}

static void tie_term(struct msim_size_learning *l, struct letters *k,
                     const struct msim_size_tensor *x, const char *term,
                     size_t len)
{
    const char *star = memchr(term, '*', len), *any = memchr(term, '.', len);
    uint32_t letters = (uint32_t)len - (star || any), place = x->at;

    if (x->at == MSIM_NONE || x->n < letters ||
        (!star && !any && x->n != letters))
        return;
    if (mismatches(l, k, x, term, len, x->n - letters) > 1) {
        if (!star && !any)
            tie_turned(l, k, x, term, len);
        return;
    }
    for (size_t i = 0; i < len; i++) {
        uint32_t many = x->n - letters;

        if (term[i] == '*')
            tie_star(l, k, place + many, many);
        if (term[i] == '*' || term[i] == '.')
            place += many;
        else
            tie_letter(l, k, (unsigned char)term[i], place++);
    }
}

static void tie_terms(struct msim_size_learning *l, struct letters *k,
                      const struct msim_size_tensor *x, uint32_t n,
                      const char *terms)
{
    for (uint32_t top = 0; *terms; top++) {
        size_t len = strcspn(terms, ",");

        for (uint32_t i = 0; i < n && len; i++)
            if (x[i].top == top && x[i].item == MSIM_NONE)
                tie_term(l, k, &x[i], terms, len);
        terms += len;
        terms += *terms == ',';
    }
}

/* The argument that says so stands behind stride, padding and dilation, and
 * behind the sizes of a bias going back. */
static bool is_transposed(const struct msim_size_call *c)
{
    uint32_t at = strstr(c->name, "convolution_backward") ? 7 : 6;
    const struct msim_arg *a = strstr(c->name, "convolution")
                                   ? msim_args_get(c->t, c->op->args, at)
                                   : NULL;

    return a && a->kind == MSIM_ARG_BOOL && a->v.i;
}

/* Is the row of that name, and of that kind of convolution? */
static bool is_row_of(const char *row, const char *name, bool transposed)
{
    size_t n = strlen(name);

    return strncmp(row, name, n) == 0 &&
           strcmp(row + n, transposed ? TRANSPOSED : "") == 0;
}

bool msim_size_signature(struct msim_size_learning *l,
                         const struct msim_size_call *c)
{
    bool found = false, transposed = is_transposed(c);

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct letters k;

        if (!is_row_of(ROWS[i].name, c->name, transposed))
            continue;
        memset(&k, 0xff, sizeof(k));
        tie_terms(l, &k, c->out, c->n_out, ROWS[i].out);
        tie_terms(l, &k, c->in, c->n_in, ROWS[i].in);
        found = true;
    }
    return found;
}

/* Is the first result as large as what is given, spread over each other? */
static bool is_spread(const struct msim_size_call *c)
{
    const struct msim_size_tensor *y = c->out;

    if (!c->n_in || !c->n_out)
        return false;
    for (uint32_t i = 0; i < y->n; i++) {
        int64_t most = 0;

        for (uint32_t k = 0; k < c->n_in; k++)
            if (c->in[k].n > i && c->in[k].dims[c->in[k].n - 1 - i] > most)
                most = c->in[k].dims[c->in[k].n - 1 - i];
        if (most != y->dims[y->n - 1 - i])
            return false;
    }
    for (uint32_t k = 0; k < c->n_in; k++)
        if (c->in[k].n > y->n)
            return false;
    return true;
}

void msim_size_spread(struct msim_size_learning *l,
                      const struct msim_size_call *c)
{
    struct letters k;

    if (c->n_out && !is_spread(c))
        return;

    memset(&k, 0xff, sizeof(k));
    for (uint32_t i = 0; i < c->n_in; i++)
        if (c->in[i].at != MSIM_NONE)
            tie_star(l, &k, c->in[i].at + c->in[i].n, c->in[i].n);
    for (uint32_t i = 0; i < c->n_out; i++)
        if (c->out[i].at != MSIM_NONE)
            tie_star(l, &k, c->out[i].at + c->out[i].n, c->out[i].n);
}
