/*
 * serving/llm/step_table.c - times of the parts of a step, tabulated.
 *
 * Points are 2^o (1 + s / S) for octaves o and S of them an octave: which two a
 * size lies between follows from the bits of its integer part, without a
 * logarithm.
 */
#include "serving/llm/llm_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT      16 /* sizes up to here are points, each of them */
#define FINE_BITS  3  /* 8 an octave */
#define ROUGH_BITS 2  /* 4 an octave */
/* Contexts begin with 0 and 16. */
#define CONTEXT_LEAST 16

/* Between which points: index of the lower, and how far to the next. */
struct place {
    uint32_t i;
    double share;
};

static struct place place_in(double v, uint32_t first, int first_octave,
                             int bits, uint32_t most)
{
    uint64_t n = (uint64_t)v;
    int octave = 63 - __builtin_clzll(n);
    int shift = octave - bits;
    uint64_t sub = (n >> shift) & ((1u << bits) - 1);
    double low = ldexp((double)((1u << bits) + sub), shift);
    struct place at = {first + ((uint32_t)(octave - first_octave) << bits) +
                           (uint32_t)sub,
                       (v - low) * ldexp(1, -shift)};

    if (at.i + 1 >= most)
        at = (struct place){most - 2, 1};
    return at;
}

static struct place tokens_place(double v)
{
    struct place at;

    if (v >= EXACT)
        return place_in(v, EXACT, 4, FINE_BITS, MSIM_LLM_GRID_TOKENS);
    at.i = v > 0 ? (uint32_t)v : 0;
    at.share = v > 0 ? v - (double)at.i : 0;
    return at;
}

static struct place context_place(double v)
{
    if (v >= CONTEXT_LEAST)
        return place_in(v, 1, 4, ROUGH_BITS, MSIM_LLM_GRID_CONTEXTS);
    return (struct place){0, v > 0 ? v / CONTEXT_LEAST : 0};
}

double msim_llm_grid_tokens(uint32_t i)
{
    uint32_t n = i - EXACT;

    if (i < EXACT)
        return i;
    return ldexp((double)((1u << FINE_BITS) + (n & 7)),
                 (int)(n >> FINE_BITS) + 4 - FINE_BITS);
}

double msim_llm_grid_context(uint32_t i)
{
    uint32_t n = i - 1;

    if (i == 0)
        return 0;
    return ldexp((double)((1u << ROUGH_BITS) + (n & 3)),
                 (int)(n >> ROUGH_BITS) + 4 - ROUGH_BITS);
}

/* ---- points -------------------------------------------------------------- */

static bool has_context(enum msim_llm_part part)
{
    return part == MSIM_LLM_PART_DECODE || part == MSIM_LLM_PART_CHUNK;
}

static size_t points(enum msim_llm_part part)
{
    return (size_t)MSIM_LLM_GRID_TOKENS *
           (has_context(part) ? MSIM_LLM_GRID_CONTEXTS : 1);
}

enum msim_status msim_llm_table_init(struct msim_llm_table *t,
                                     const struct msim_llm_rank *r,
                                     const struct msim_llm_law *law)
{
    memset(t, 0, sizeof(*t));
    t->r = r;
    t->law = law;
    for (int part = 0; part < MSIM_LLM_PARTS; part++) {
        size_t n = points((enum msim_llm_part)part);

        t->us[part] = malloc(n * sizeof(double));
        if (!t->us[part])
            return MSIM_ENOMEM;
        for (size_t i = 0; i < n; i++)
            t->us[part][i] = NAN;
    }
    return MSIM_OK;
}

void msim_llm_table_release(struct msim_llm_table *t)
{
    for (int part = 0; part < MSIM_LLM_PARTS; part++)
        free(t->us[part]);
    msim_estimate_cache_release(&t->cache);
    memset(t, 0, sizeof(*t));
}

static double price(struct msim_llm_table *t, enum msim_llm_part part, double a,
                    double b)
{
    struct msim_llm_pieces pieces;
    enum msim_status status;

    if (a <= 0)
        return 0;
    status = msim_llm_price_part(&pieces, t->r, &t->cache, part, a, b, &t->err);
    if (status == MSIM_OK)
        return msim_llm_law_us(t->law, t->r->s.engine, &pieces);
    if (t->status == MSIM_OK)
        t->status = status;
    return 0;
}

static double at_point(struct msim_llm_table *t, enum msim_llm_part part,
                       uint32_t i, uint32_t j)
{
    uint32_t columns = has_context(part) ? MSIM_LLM_GRID_CONTEXTS : 1;
    double *us = &t->us[part][(size_t)i * columns + j];

    if (isnan(*us))
        *us = price(t, part, msim_llm_grid_tokens(i), msim_llm_grid_context(j));
    return *us;
}

/* Points that have no share are not asked for. */
static double along_tokens(struct msim_llm_table *t, enum msim_llm_part part,
                           struct place a, uint32_t j)
{
    double low = at_point(t, part, a.i, j);

    if (a.share <= 0)
        return low;
    return low + a.share * (at_point(t, part, a.i + 1, j) - low);
}

double msim_llm_table_us(struct msim_llm_table *t, enum msim_llm_part part,
                         double a, double b)
{
    struct place at = tokens_place(a), in;
    double low;

    if (!has_context(part))
        return along_tokens(t, part, at, 0);
    in = context_place(b);
    low = along_tokens(t, part, at, in.i);
    if (in.share <= 0)
        return low;
    return low + in.share * (along_tokens(t, part, at, in.i + 1) - low);
}
