/*
 * core/work/axes.c - works that differ in one size alone.
 */
#include "core/work/axes.h"

#include "core/base/hash.h"

#include <assert.h>
#include <string.h>

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

/* A text by what it says, not where it lies. */
static uint64_t take_text(uint64_t h, const char **text)
{
    h = mix(h, *text ? msim_hash_text(MSIM_HASH_START, *text) : 0);
    *text = NULL;
    return h;
}

/* All that is left of a work: sizes that vary are 0 by then. */
static uint64_t kind_of(struct msim_work w, uint32_t axis)
{
    uint64_t h = mix(MSIM_HASH_START, axis), v;
    const char *texts[] = {w.framework, w.source, w.version, w.backend,
                           msim_work_variant(&w)};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        h = take_text(h, &texts[i]);
    w.framework = w.source = w.version = w.backend = w.variant = NULL;
    w.flops = w.bytes_read = w.bytes_written = 0;
    if (w.family == MSIM_FAMILY_COLLECTIVE) {
        h = take_text(h, &w.u.coll.interconnect);
        h = take_text(h, &w.u.coll.algorithm);
        h = take_text(h, &w.u.coll.setting);
    }
    if (w.family == MSIM_FAMILY_MOE)
        memset(&w.u.moe.load, 0, sizeof(w.u.moe.load));
    static_assert(sizeof(w) % sizeof(v) == 0, "whole words");
    for (size_t i = 0; i < sizeof(w); i += sizeof(v)) {
        memcpy(&v, (const char *)&w + i, sizeof(v));
        h = mix(h, v);
    }
    return h;
}

struct axes {
    const struct msim_work *w;
    struct msim_work_axis *of;
    uint32_t n;
};

/* An axis of the size `*at`, a member of `rest`, which is a copy of the work;
 * `also`, if not NULL, goes with it. */
static void add(struct axes *a, struct msim_work *rest, int64_t *at,
                int64_t *also)
{
    double size = (double)*at;

    *at = 0;
    if (also)
        *also = 0;
    a->of[a->n] = (struct msim_work_axis){kind_of(*rest, a->n), size};
    a->n++;
    *rest = *a->w;
}

/* All else that counts elements follows from rows and columns. */
static void add_vector(struct axes *a, struct msim_work *r)
{
    struct msim_work plain = *a->w;

    plain.u.vector.taps = plain.u.vector.turns = plain.u.vector.threads = 0;
    plain.u.vector.lookups = plain.u.vector.row_bytes = 0;
    a->w = &plain;
    *r = plain;
    add(a, r, &r->u.vector.cols, &r->u.vector.elems);
    if (plain.u.vector.rows > 1)
        add(a, r, &r->u.vector.rows, &r->u.vector.elems);
}

static void add_attention(struct axes *a, struct msim_work *r)
{
    bool square = a->w->u.attention.q_len == a->w->u.attention.kv_len;

    add(a, r, &r->u.attention.batch, NULL);
    add(a, r, &r->u.attention.kv_len, square ? &r->u.attention.q_len : NULL);
    if (!square)
        add(a, r, &r->u.attention.q_len, NULL);
    add(a, r, &r->u.attention.heads,
        a->w->u.attention.heads == a->w->u.attention.kv_heads
            ? &r->u.attention.kv_heads
            : NULL);
    add(a, r, &r->u.attention.head_dim, NULL);
}

uint32_t msim_work_axes(const struct msim_work *w,
                        struct msim_work_axis axes[MSIM_WORK_AXES])
{
    struct axes a = {.w = w, .of = axes};
    struct msim_work r = *w;
    int64_t bytes;

    switch (w->family) {
    case MSIM_FAMILY_GEMM:
        add(&a, &r, &r.u.gemm.m, NULL);
        add(&a, &r, &r.u.gemm.n, NULL);
        add(&a, &r, &r.u.gemm.k, NULL);
        add(&a, &r, &r.u.gemm.batch, NULL);
        break;
    case MSIM_FAMILY_ATTENTION:
        add_attention(&a, &r);
        break;
    case MSIM_FAMILY_CONV:
        add(&a, &r, &r.u.conv.n, NULL);
        add(&a, &r, &r.u.conv.c, NULL);
        add(&a, &r, &r.u.conv.h, NULL);
        add(&a, &r, &r.u.conv.w, NULL);
        add(&a, &r, &r.u.conv.k, NULL);
        break;
    case MSIM_FAMILY_COLLECTIVE:
        bytes = (int64_t)w->u.coll.bytes;
        r.u.coll.bytes = 0;
        add(&a, &r, &bytes, NULL);
        break;
    case MSIM_FAMILY_MOE:
        add(&a, &r, &r.u.moe.routing.tokens, NULL);
        break;
    case MSIM_FAMILY_DISPATCH:
        add(&a, &r, &r.u.dispatch.tokens, NULL);
        break;
    default:
        add_vector(&a, &r);
        break;
    }
    return a.n;
}
