/*
 * core/work/axes.c - works that differ in one size alone.
 */
#include "core/work/work.h"

#include "core/base/hash.h"

#include <assert.h>
#include <stddef.h>
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

#define WORDS (sizeof(struct msim_work) / sizeof(uint64_t))
static_assert(sizeof(struct msim_work) % sizeof(uint64_t) == 0, "whole words");

/* Of these rows and columns are axes; all else that counts elements follows
 * from them. */
static bool is_vector(const struct msim_work *w)
{
    switch (w->family) {
    case MSIM_FAMILY_GEMM:
    case MSIM_FAMILY_ATTENTION:
    case MSIM_FAMILY_CONV:
    case MSIM_FAMILY_COLLECTIVE:
    case MSIM_FAMILY_MOE:
    case MSIM_FAMILY_DISPATCH:
        return false;
    default:
        return true;
    }
}

/* Take the texts of a work to the hash `h`, and out of it; what follows from
 * its sizes, too. */
static uint64_t take_texts(uint64_t h, struct msim_work *w)
{
    const char *texts[] = {w->framework, w->source, w->version, w->backend,
                           msim_work_variant(w)};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        h = take_text(h, &texts[i]);
    w->framework = w->source = w->version = w->backend = w->variant = NULL;
    w->flops = w->bytes_read = w->bytes_written = 0;
    if (w->family == MSIM_FAMILY_COLLECTIVE) {
        h = take_text(h, &w->u.coll.interconnect);
        h = take_text(h, &w->u.coll.algorithm);
        h = take_text(h, &w->u.coll.setting);
    }
    if (w->family == MSIM_FAMILY_MOE)
        memset(&w->u.moe.load, 0, sizeof(w->u.moe.load));
    if (is_vector(w)) {
        w->u.vector.taps = w->u.vector.turns = w->u.vector.threads = 0;
        w->u.vector.lookups = w->u.vector.row_bytes = 0;
    }
    return h;
}

/* Sizes by their offset, which is above 0. */
struct axis {
    size_t at, also; /* what goes with it; 0: nothing does */
};
#define AT(member) offsetof(struct msim_work, u.member)

static uint32_t attention_axes(const struct msim_work *w, struct axis *axis)
{
    bool square = w->u.attention.q_len == w->u.attention.kv_len;
    bool alike = w->u.attention.heads == w->u.attention.kv_heads;
    uint32_t n = 0;

    axis[n++] = (struct axis){AT(attention.batch), 0};
    axis[n++] =
        (struct axis){AT(attention.kv_len), square ? AT(attention.q_len) : 0};
    if (!square)
        axis[n++] = (struct axis){AT(attention.q_len), 0};
    axis[n++] =
        (struct axis){AT(attention.heads), alike ? AT(attention.kv_heads) : 0};
    axis[n++] = (struct axis){AT(attention.head_dim), 0};
    return n;
}

static uint32_t axes_of(const struct msim_work *w,
                        struct axis axis[MSIM_WORK_AXES])
{
    static const struct axis GEMM[] = {
        {AT(gemm.m), 0}, {AT(gemm.n), 0}, {AT(gemm.k), 0}, {AT(gemm.batch), 0}};
    static const struct axis CONV[] = {{AT(conv.n), 0},
                                       {AT(conv.c), 0},
                                       {AT(conv.h), 0},
                                       {AT(conv.w), 0},
                                       {AT(conv.k), 0}};
    static const struct axis VECTOR[] = {{AT(vector.cols), AT(vector.elems)},
                                         {AT(vector.rows), AT(vector.elems)}};

    switch (w->family) {
    case MSIM_FAMILY_GEMM:
        memcpy(axis, GEMM, sizeof(GEMM));
        return sizeof(GEMM) / sizeof(*GEMM);
    case MSIM_FAMILY_ATTENTION:
        return attention_axes(w, axis);
    case MSIM_FAMILY_CONV:
        memcpy(axis, CONV, sizeof(CONV));
        return sizeof(CONV) / sizeof(*CONV);
    case MSIM_FAMILY_COLLECTIVE:
        axis[0] = (struct axis){AT(coll.bytes), 0};
        return 1;
    case MSIM_FAMILY_MOE:
        axis[0] = (struct axis){AT(moe.routing.tokens), 0};
        return 1;
    case MSIM_FAMILY_DISPATCH:
        axis[0] = (struct axis){AT(dispatch.tokens), 0};
        return 1;
    default:
        memcpy(axis, VECTOR, sizeof(VECTOR));
        return w->u.vector.rows > 1 ? 2 : 1;
    }
}

static int64_t size_at(const struct msim_work *w, size_t at)
{
    int64_t size;

    memcpy(&size, (const char *)w + at, sizeof(size));
    return size;
}

/* What a word adds to the hash of a work: nothing where it is 0, so that a size
 * is left out by taking its share off. */
static uint64_t share(size_t at, uint64_t v)
{
    uint64_t h = v * 0xff51afd7ed558ccdu;

    h = (h ^ h >> 32 ^ (at + 1) * 0x9e3779b97f4a7c15u) * MSIM_HASH_PRIME;
    return v ? h ^ h >> 29 : 0;
}

static uint64_t share_at(const struct msim_work *w, size_t at)
{
    return at ? share(at, (uint64_t)size_at(w, at)) : 0;
}

uint32_t msim_work_axes(const struct msim_work *w,
                        struct msim_work_axis axes[MSIM_WORK_AXES])
{
    struct axis axis[MSIM_WORK_AXES];
    struct msim_work rest = *w;
    uint64_t all = take_texts(MSIM_HASH_START, &rest), v[WORDS];
    uint32_t n = axes_of(w, axis);

    memcpy(v, &rest, sizeof(v));
    for (size_t i = 0; i < WORDS; i++)
        if (v[i])
            all += share(i * sizeof(*v), v[i]);
    for (uint32_t i = 0; i < n; i++)
        axes[i] = (struct msim_work_axis){
            mix(mix(MSIM_HASH_START, i),
                all - share_at(w, axis[i].at) - share_at(w, axis[i].also)),
            (double)size_at(w, axis[i].at)};
    return n;
}

uint64_t msim_work_axis_order(const struct msim_work *w, uint32_t i)
{
    struct axis axis[MSIM_WORK_AXES];
    struct msim_work rest = *w;
    uint64_t h = take_texts(mix(MSIM_HASH_START, i), &rest), v[WORDS];

    (void)axes_of(w, axis);
    memcpy(v, &rest, sizeof(v));
    v[axis[i].at / sizeof(*v)] = 0;
    if (axis[i].also)
        v[axis[i].also / sizeof(*v)] = 0;
    for (size_t k = 0; k < WORDS; k++)
        h = mix(h, v[k]);
    return h;
}
