/*
 * models/estimate/attention_parts.c - attention that no kernel fuses.
 *
 * PyTorch has scaled_dot_product_attention since 2.0. Before, models multiplied
 * queries by keys, took a softmax of each row and multiplied it by the values;
 * in half precision mostly under autocast, which computes a softmax in fp32
 * (torch/csrc/autocast, fp32_set_opt_dtype) and casts its result for the
 * product. No mask is applied before the products: they compute all pairs.
 * A work does not say which library it is of: those of flash-attn or xFormers,
 * which ran on such versions too, are priced in parts as well.
 */
#include "models/estimate/model_internal.h"

#include "core/base/print.h"
#include "core/work/kernel_fact.h"
#include "models/estimate/model.h"
#include "models/platform/platform_data.h"

#include <math.h>

bool msim_attention_is_in_parts(const struct msim_platform *p,
                                const struct msim_work *w)
{
    return !p->is_host && !w->framework &&
           MSIM_FACT(&p->sheet, ATTENTION_UNFUSED) > 0;
}

struct part {
    struct msim_work work;
    double times; /* so often */
};

#define PARTS 4

/* Sizes of a broken trace may be any. */
static int64_t whole(double n)
{
    return (int64_t)fmin(n, 9e18);
}

static double heads(const struct msim_work *w)
{
    return (double)w->u.attention.batch * (double)w->u.attention.heads;
}

static struct msim_work product(const struct msim_work *w, int64_t n, int64_t k)
{
    struct msim_work v = {.family = MSIM_FAMILY_GEMM, .dtype = w->dtype};

    v.u.gemm.m = w->u.attention.q_len;
    v.u.gemm.n = n;
    v.u.gemm.k = k;
    v.u.gemm.batch = whole(heads(w));
    msim_work_count(&v);
    return v;
}

/* A work on all scores, a row for each query, with so many bytes a score. */
static struct msim_work on_scores(const struct msim_work *w,
                                  enum msim_family family, const char *variant,
                                  double read, double written)
{
    struct msim_work v = {
        .family = family, .dtype = w->dtype, .variant = variant};
    double rows = heads(w) * (double)w->u.attention.q_len;
    double scores = rows * (double)w->u.attention.kv_len;
    bool softmax = family == MSIM_FAMILY_SOFTMAX;

    v.flops = softmax ? 8 * scores : 0;
    v.bytes_read = read * scores;
    v.bytes_written = written * scores;
    v.u.vector.elems = whole(scores);
    v.u.vector.rows = softmax ? whole(rows) : 1;
    v.u.vector.cols = softmax ? w->u.attention.kv_len : whole(scores);
    v.u.vector.fold = softmax ? MSIM_FOLD_ALONG : MSIM_FOLD_UNKNOWN;
    return v;
}

/* The parts into `out`; returns how many. A gradient has two products for each
 * of the two, and reads the softmax's result beside its gradient. */
static uint32_t parts(const struct msim_work *w, struct part *out)
{
    double own = msim_dtype_bytes(w->dtype);
    double wide = own < 4 ? 4 : own; /* under autocast */
    bool back = w->u.attention.backward;
    double products = back ? 2 : 1;
    uint32_t n = 0;

    out[n++] = (struct part){
        product(w, w->u.attention.kv_len, w->u.attention.head_dim), products};
    out[n++] = (struct part){
        back ? on_scores(w, MSIM_FAMILY_SOFTMAX, "softmax_backward", 2 * wide,
                         wide)
             : on_scores(w, MSIM_FAMILY_SOFTMAX, "softmax", own, wide),
        1};
    if (wide > own)
        out[n++] = (struct part){
            on_scores(w, MSIM_FAMILY_COPY, "copy", wide, own), products};
    out[n++] = (struct part){
        product(w, w->u.attention.head_dim, w->u.attention.kv_len), products};
    return n;
}

enum msim_status msim_attention_parts(const struct msim_platform *p,
                                      const struct msim_work *w,
                                      struct msim_estimate *out)
{
    struct part part[PARTS];
    uint32_t n = parts(w, part);

    *out = (struct msim_estimate){.family = MSIM_FAMILY_ATTENTION,
                                  .source = MSIM_SOURCE_LAW};
    for (uint32_t i = 0; i < n; i++) {
        struct msim_estimate e;
        struct msim_error ignored;

        MSIM_TRY(msim_model_predict(p, &part[i].work, false, &e, &ignored));
        out->us += part[i].times * e.us;
        out->low_us += part[i].times * e.low_us;
        out->high_us += part[i].times * e.high_us;
        if (e.source > out->source)
            out->source = e.source;
    }
    return MSIM_OK;
}

void msim_attention_parts_explain(const struct msim_platform *p,
                                  const struct msim_work *w, FILE *out)
{
    struct part part[PARTS];
    uint32_t n = parts(w, part);

    fputs("law: products and a softmax, since nothing fuses them\n", out);
    for (uint32_t i = 0; i < n; i++) {
        msim_print(out, "part %u of %u, %g times: %s\n", i + 1, n,
                   part[i].times, msim_family_text(part[i].work.family));
        msim_model_explain(p, &part[i].work, out);
    }
}
