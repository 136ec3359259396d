/*
 * models/estimate/plausible.c - bounds for estimates that no kernel can reach.
 */
#include "models/estimate/model_internal.h"

#include "core/work/kernel_fact.h"
#include "models/law/law.h"
#include "models/platform/platform_data.h"

#include <math.h>

static bool is_checked(const struct msim_platform *p, const struct msim_work *w)
{
    bool to_host =
        w->family == MSIM_FAMILY_COPY && w->u.vector.copy != MSIM_COPY_D2D;

    return !p->is_host && !to_host && w->family != MSIM_FAMILY_COLLECTIVE &&
           w->family != MSIM_FAMILY_DISPATCH &&
           w->family != MSIM_FAMILY_BOUND && !w->user.origin;
}

static double rate_us(const struct msim_platform *p, const struct msim_work *w)
{
    return w->flops > 0 ? w->flops / msim_data_sheet_flops_per_us(&p->sheet, w)
                        : 0;
}

static double kernels_us(const struct msim_platform *p,
                         const struct msim_work *w)
{
    return p->sheet.floor_us * (w->kernels > 1 ? w->kernels : 1);
}

static double blocks(const struct msim_work *w)
{
    double tile = MSIM_FACT(NULL, BOUND_TILE);
    int64_t height, width;

    switch (w->family) {
    case MSIM_FAMILY_GEMM:
        return ceil((double)w->u.gemm.m / tile) *
               ceil((double)w->u.gemm.n / tile) * (double)w->u.gemm.batch;
    case MSIM_FAMILY_ATTENTION:
        return (double)w->u.attention.batch * (double)w->u.attention.heads *
               ceil((double)w->u.attention.q_len / tile);
    case MSIM_FAMILY_CONV:
        msim_conv_output(w, &height, &width);
        return ceil((double)w->u.conv.n * (double)height * (double)width /
                    tile) *
               ceil((double)w->u.conv.k / tile);
    case MSIM_FAMILY_MOE:
        return 1; /* one expert may have all tokens */
    default:
        return fmin(fmax((double)w->u.vector.rows, 1),
                    ceil((w->bytes_read + w->bytes_written) /
                         MSIM_FACT(NULL, BOUND_BLOCK_BYTES)));
    }
}

/* What threads wait for, one load after another, is known of vector kernels,
 * and of filters a channel, which multiply tap by tap without tensor cores. */
static double waits_us(const struct msim_platform *p, const struct msim_work *w)
{
    bool depthwise = w->family == MSIM_FAMILY_CONV && w->u.conv.groups > 1 &&
                     w->u.conv.groups == w->u.conv.c;
    bool vector = w->family != MSIM_FAMILY_GEMM &&
                  w->family != MSIM_FAMILY_ATTENTION &&
                  w->family != MSIM_FAMILY_CONV && w->family != MSIM_FAMILY_MOE;

    if (depthwise)
        return fmax(msim_conv_depthwise_us(p, w), 0);
    return vector ? fmax(msim_sm_pace_us(&p->sheet, w), 0) : 0;
}

/* By all multiprocessors. */
static double work_us(const struct msim_platform *p, const struct msim_work *w)
{
    double bytes = fmax(w->bytes_read + w->bytes_written, 0);

    return bytes * 1e6 / p->sheet.bandwidth + rate_us(p, w);
}

/* On the multiprocessors that its blocks fill; a block takes a load at least.
 */
static double explained_us(const struct msim_platform *p,
                           const struct msim_work *w)
{
    double waves = fmax(blocks(w), 1) / p->sheet.sms;

    return kernels_us(p, w) + msim_conv_way_us(p, w, w) + waits_us(p, w) +
           waves * MSIM_FACT(NULL, LOAD_US) + work_us(p, w) / fmin(waves, 1);
}

/* Whether `us` is beyond `times` what explains it, `*most`. Mostly a part of
 * that says that it is not. */
static bool is_beyond(const struct msim_platform *p, const struct msim_work *w,
                      double times, double us, double *most)
{
    if (us <= times * (kernels_us(p, w) + work_us(p, w)))
        return false;
    *most = times * explained_us(p, w);
    return us > *most;
}

/* Of so many bytes, those that device memory moves: a cache may still hold, or
 * keep, as much as it has room for; of what is much larger nothing is left in
 * it when it is read again. */
static double moved(const struct msim_platform *p, double bytes)
{
    return bytes > MSIM_FACT(NULL, BOUND_MUCH_LARGER) * p->sheet.l2_bytes
               ? bytes
               : fmax(bytes - p->sheet.l2_bytes, 0);
}

/* Libraries have Winograd's algorithm for filters of 3 x 3. */
static bool may_be_winograds(const struct msim_work *w)
{
    return w->family == MSIM_FAMILY_CONV && w->u.conv.r == 3 &&
           w->u.conv.s == 3;
}

/* At rates that no kernel exceeds: of bytes, and of FLOPs, of which it does
 * `per_us`. */
static double at_rates_us(const struct msim_platform *p,
                          const struct msim_work *w, double per_us)
{
    double bytes = moved(p, w->bytes_read + w->bytes_written);
    double saves = may_be_winograds(w) ? MSIM_FACT(NULL, WINOGRAD_SAVES) : 1;

    if (w->family == MSIM_FAMILY_EMBEDDING)
        bytes = 0; /* rows that are fetched again hit the cache */
    return fmax(bytes * 1e6 / p->sheet.bandwidth,
                w->flops > 0 ? w->flops / per_us / saves : 0);
}

/* With the clock that products have for long. */
static double floor_us(const struct msim_platform *p, const struct msim_work *w)
{
    return fmax(p->sheet.floor_us,
                at_rates_us(p, w, msim_data_sheet_flops_per_us(&p->sheet, w)));
}

/* As the data sheet has it: no hardware can do less. */
static double peak_us(const struct msim_platform *p, const struct msim_work *w)
{
    return at_rates_us(p, w, msim_data_sheet_peak_per_us(&p->sheet, w));
}

/* One cap for all laws, fits and corrections. What is too short by a factor is
 * as uncertain above as it was. The lower end of an interval stays: it says how
 * far the law may be off, and is summed with others. */
static void cap(double least, struct msim_estimate *e)
{
    if (e->us >= least)
        return;
    e->high_us *= least / e->us;
    e->us = least;
}

/* Does what lies in memory at once exceed it? What is read and what is written
 * may be the same; a gather counts a row as often as it is fetched, and experts
 * count what they write for each other. */
static bool exceeds_memory(const struct msim_platform *p,
                           const struct msim_work *w)
{
    double memory = p->sheet.memory_bytes;
    double read = w->family == MSIM_FAMILY_EMBEDDING ? 0 : w->bytes_read;

    if (w->family == MSIM_FAMILY_MOE)
        return false;

    return memory > 0 && (w->bytes_written > memory || read > memory);
}

static void set_bound(enum msim_bounded why, struct msim_estimate *e)
{
    e->bounded = why;
    e->start_us = 0;
    e->source = MSIM_SOURCE_BOUND;
    e->family = MSIM_FAMILY_BOUND;
}

/* Nothing is known but that the work fits into memory: in the middle between
 * the shortest kernel and moving all of memory. */
static void within_memory(const struct msim_platform *p,
                          struct msim_estimate *e)
{
    e->low_us = p->sheet.floor_us;
    e->high_us = p->sheet.floor_us +
                 2 * p->sheet.memory_bytes * 1e6 / p->sheet.bandwidth;
    e->us = sqrt(e->low_us * e->high_us);
    set_bound(MSIM_BOUNDED_MEMORY, e);
}

void msim_plausible_bound(const struct msim_platform *p,
                          const struct msim_work *asked,
                          struct msim_estimate *e)
{
    struct msim_work w;
    double times = MSIM_FACT(NULL, BOUND_MOST), least, most;

    if (!is_checked(p, asked))
        return;
    w = msim_work_counted(asked);
    least = floor_us(p, &w);
    if (exceeds_memory(p, &w)) {
        e->marks |= MSIM_GUARD_BIT(MEMORY);
        if (!asked->asked && !asked->possible) {
            within_memory(p, e);
            return;
        }
    }
    if (e->us < MSIM_FACT(NULL, BOUND_LEAST) * least) {
        e->us = e->low_us = least;
        e->high_us = fmax(e->high_us, 8 * least);
        set_bound(MSIM_BOUNDED_BELOW, e);
    } else if (is_beyond(p, &w, times, e->us, &most)) {
        e->high_us = e->us;
        e->us = most;
        e->low_us = most / times;
        set_bound(MSIM_BOUNDED_ABOVE, e);
    }
    cap(peak_us(p, &w), e);
}
