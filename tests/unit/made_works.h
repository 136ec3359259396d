/*
 * tests/unit/made_works.h - what operators ask for, as short texts.
 *
 *     gemm fp32 2*8x5x4 bt 640/416/320; copy:cat fp16 1x18 0/36/36
 *
 * is a batch of 2 products of 8 x 5 with sums of 4 whose second factor lies
 * turned, and a copy of 18 elements: family and variant, type, sizes (rows x
 * columns where there is no product), FLOPs/bytes read/written, and what else
 * is set. "kernels 2" and "times 3" stand where they are not 1.
 */
#ifndef MSIM_TESTS_UNIT_MADE_WORKS_H
#define MSIM_TESTS_UNIT_MADE_WORKS_H
#include "core/base/status.h"
#include "core/work/opmap/opmap.h"
#include "tests/unit/made_ops.h"

#include <stdarg.h>

struct works_text {
    char s[1024];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static inline void
works_add(struct works_text *x, const char *format, ...)
{
    va_list ap;
    int n;

    va_start(ap, format);
    n = vsnprintf(x->s + x->n, sizeof(x->s) - x->n, format, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof(x->s) - x->n)
        abort();
    x->n += (size_t)n;
}

static inline void works_add_product(struct works_text *x,
                                     const struct msim_work *w)
{
    if (w->u.gemm.batch != 1)
        works_add(x, "%" PRId64 "*", w->u.gemm.batch);
    works_add(x, "%" PRId64 "x%" PRId64 "x%" PRId64 "%s%s", w->u.gemm.m,
              w->u.gemm.n, w->u.gemm.k, w->u.gemm.a_transposed ? " at" : "",
              w->u.gemm.b_transposed ? " bt" : "");
}

/* Input, filter; then what differs from a step of 1 without a border. */
static inline void works_add_conv(struct works_text *x,
                                  const struct msim_work *w)
{
    static const char *const passes[] = {"", " data", " weight"};

    works_add(x,
              "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 " by %" PRId64
              ",%" PRId64 ",%" PRId64 "%s",
              w->u.conv.n, w->u.conv.c, w->u.conv.h, w->u.conv.w, w->u.conv.k,
              w->u.conv.r, w->u.conv.s, passes[w->u.conv.pass]);
    works_add(x,
              " stride %" PRId64 ",%" PRId64 " pad %" PRId64 ",%" PRId64
              " dilation %" PRId64 ",%" PRId64 " groups %" PRId64,
              w->u.conv.stride_h, w->u.conv.stride_w, w->u.conv.pad_h,
              w->u.conv.pad_w, w->u.conv.dilation_h, w->u.conv.dilation_w,
              w->u.conv.groups);
    if (w->u.conv.depth)
        works_add(x, " depth %" PRId64, w->u.conv.depth);
    works_add(x, "%s%s%s", w->u.conv.transposed ? " transposed" : "",
              w->u.conv.channels_last ? " channels_last" : "",
              w->u.conv.deep ? " deep" : "");
}

static inline void works_add_attention(struct works_text *x,
                                       const struct msim_work *w)
{
    static const char *const phases[] = {"prefill", "decode", "encoder"};

    works_add(x,
              "%s%s %" PRId64 " of %" PRId64 "/%" PRId64 " heads %" PRId64
              "x%" PRId64 " of %" PRId64,
              phases[w->u.attention.phase],
              w->u.attention.backward ? " backward" : "", w->u.attention.batch,
              w->u.attention.heads, w->u.attention.kv_heads,
              w->u.attention.q_len, w->u.attention.kv_len,
              w->u.attention.head_dim);
    if (w->u.attention.v_dim)
        works_add(x, " values %" PRId64, w->u.attention.v_dim);
    if (w->u.attention.window)
        works_add(x, " window %" PRId64, w->u.attention.window);
    if (w->u.attention.kv_dtype != w->dtype)
        works_add(x, " keys %s", msim_dtype_text(w->u.attention.kv_dtype));
}

static inline void works_add_vector(struct works_text *x,
                                    const struct msim_work *w)
{
    static const char *const folds[] = {"", " along", " across"};
    const struct {
        const char *name;
        double v;
    } more[] = {{"lookups", w->u.vector.lookups},
                {"of", w->u.vector.table_rows},
                {"row_bytes", w->u.vector.row_bytes},
                {"segments", w->u.vector.segments},
                {"taps", w->u.vector.taps},
                {"turns", w->u.vector.turns},
                {"threads", w->u.vector.threads},
                {"most_flops", w->u.vector.most_flops}};

    works_add(x, "%" PRId64 "x%" PRId64 "%s", w->u.vector.rows,
              w->u.vector.cols, folds[w->u.vector.fold]);
    if (w->u.vector.elems != w->u.vector.rows * w->u.vector.cols)
        works_add(x, " elems %" PRId64, w->u.vector.elems);
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        if (more[i].v != 0)
            works_add(x, " %s %.10g", more[i].name, more[i].v);
    if (w->family == MSIM_FAMILY_COPY && w->u.vector.copy == MSIM_COPY_H2D)
        works_add(x, " from_host");
    if (w->family == MSIM_FAMILY_COPY && w->u.vector.copy == MSIM_COPY_D2H)
        works_add(x, " to_host");
    works_add(x, "%s%s%s", w->u.vector.pageable ? " pageable" : "",
              w->u.vector.strided ? " strided" : "",
              w->u.vector.addressed ? " addressed" : "");
}

static inline void works_add_moe(struct works_text *x,
                                 const struct msim_work *w)
{
    static const char *const kinds[] = {[MSIM_ROUTING_EVEN] = "even",
                                        [MSIM_ROUTING_RANDOM] = "random",
                                        [MSIM_ROUTING_POWER_LAW] = "power"};
    const struct msim_moe_routing *m = &w->u.moe.routing;

    works_add(x,
              "%" PRId64 " to %" PRId64 "/%" PRId64 " of %" PRId64 "x%" PRId64
              " tp %" PRId64 " ep %" PRId64 " %s",
              m->tokens, m->topk, m->experts, w->u.moe.hidden, w->u.moe.inter,
              w->u.moe.tp, m->ep, kinds[m->kind]);
    if (m->kind == MSIM_ROUTING_POWER_LAW)
        works_add(x, " %g", m->alpha);
    works_add(x, "%s", w->u.moe.plain ? " plain" : "");
}

static inline void works_add_transfer(struct works_text *x,
                                      const struct msim_work *w)
{
    const char *const more[] = {w->u.coll.interconnect, w->u.coll.algorithm,
                                w->u.coll.setting};

    works_add(x, "%d of %" PRIu64 " over %u on %u", (int)w->u.coll.collective,
              w->u.coll.bytes, w->u.coll.ranks, w->u.coll.nodes);
    for (int k = 0; k < 3; k++)
        if (more[k])
            works_add(x, " %s", more[k]);
}

static inline void works_add_dispatch(struct works_text *x,
                                      const struct msim_work *w)
{
    works_add(x,
              "%s%s %" PRId64 " of %" PRId64 " to %" PRId64 "/%" PRId64
              " over %" PRId64 " by %" PRId64,
              w->u.dispatch.combine ? "back" : "there",
              w->u.dispatch.low_latency ? " fast" : "", w->u.dispatch.tokens,
              w->u.dispatch.hidden, w->u.dispatch.topk, w->u.dispatch.experts,
              w->u.dispatch.ranks, w->u.dispatch.sms);
}

static inline void works_add_one(struct works_text *x,
                                 const struct msim_work *w)
{
    const char *variant = msim_work_variant(w);

    works_add(x, "%s%s%s %s ", msim_family_text(w->family), *variant ? ":" : "",
              variant, msim_dtype_text(w->dtype));
    switch (w->family) {
    case MSIM_FAMILY_GEMM:
        works_add_product(x, w);
        break;
    case MSIM_FAMILY_CONV:
        works_add_conv(x, w);
        break;
    case MSIM_FAMILY_ATTENTION:
        works_add_attention(x, w);
        break;
    case MSIM_FAMILY_MOE:
        works_add_moe(x, w);
        break;
    case MSIM_FAMILY_COLLECTIVE:
        works_add_transfer(x, w);
        break;
    case MSIM_FAMILY_DISPATCH:
        works_add_dispatch(x, w);
        break;
    case MSIM_FAMILY_COUNT:
        abort();
    default:
        works_add_vector(x, w);
    }
    works_add(x, " %.10g/%.10g/%.10g", w->flops, w->bytes_read,
              w->bytes_written);
    if (w->kernels != 1)
        works_add(x, " kernels %u", w->kernels);
    if (w->repeats > 1)
        works_add(x, " times %u", w->repeats);
    if (w->in_place)
        works_add(x, " in_place");
    if (w->nearest)
        works_add(x, " nearest");
}

/* The works of operator `i`; "none" where it launches nothing, and "unknown"
 * in front of a bound. */
static inline void works_of(struct works_text *x, const struct msim_trace *t,
                            uint32_t i, int launched,
                            enum msim_opmap_place place)
{
    struct msim_work w[MSIM_OPMAP_MAX];
    uint32_t n;
    enum msim_opmap_result r = msim_opmap(t, NULL, i, launched, place, w, &n);

    x->n = 0;
    x->s[0] = '\0';
    if (r == MSIM_OPMAP_NO_KERNEL)
        works_add(x, "none");
    if (r == MSIM_OPMAP_COMPILED_REGION)
        works_add(x, "compiled");
    if (r == MSIM_OPMAP_UNKNOWN)
        works_add(x, "unknown");
    for (uint32_t k = 0; r == MSIM_OPMAP_WORKS && k < n; k++) {
        works_add(x, "%s", k ? "; " : "");
        works_add_one(x, &w[k]);
    }
}

/* What operator `i` asks for, of a trace without GPU events. */
static inline void works_check(const struct msim_trace *t, uint32_t i,
                               const char *want)
{
    struct works_text x;

    works_of(&x, t, i, -1, MSIM_OPMAP_AS_TRACED);
    if (!CHECK_STR(x.s, want))
        fprintf(stderr, "  of %s\n", msim_trace_text(t, t->ops[i].name));
}

/* One operator alone, and what it asks for. */
struct works_row {
    const char *name, *args, *outs, *want;
};

static inline void works_check_rows(const struct works_row *rows, size_t n)
{
    static struct build b;

    for (size_t i = 0; i < n; i++) {
        build_init(&b);
        build_op(&b, 0, rows[i].name, rows[i].args, rows[i].outs);
        works_check(&b.t, 0, rows[i].want);
        build_release(&b);
    }
}
#define WORKS_CHECK(rows) works_check_rows(rows, sizeof(rows) / sizeof(rows[0]))

#endif
