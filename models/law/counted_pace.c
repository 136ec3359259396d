/*
 * models/law/counted_pace.c - what kernels take that load value by value, take
 * a block a pair of rows, or sort in shared memory, counted from their source
 * in PyTorch's aten/src/ATen/native/cuda. Nobody measured them.
 */
#include "models/law/law.h"

#include "core/base/texts.h"
#include "core/work/kernel_fact.h"

#include <math.h>
#include <string.h>

/* What a thread loads one after the other adds up, and threads beyond those
 * that run at once come after them. */
static double turns_us(const struct msim_data_sheet *s,
                       const struct msim_work *w)
{
    double waves = w->u.vector.threads / (s->sms * MSIM_FACT(s, SM_THREADS));

    return w->u.vector.turns * MSIM_FACT(s, LOAD_US) * fmax(waves, 1);
}

/* Distances: a block loads its share of a pair of rows, and adds up in shared
 * memory, waiting for all its threads after each of eight halvings. */
static double pairs_us(const struct msim_data_sheet *s,
                       const struct msim_work *w)
{
    double threads = MSIM_FACT(s, PAIR_THREADS);
    double blocks = s->sms * MSIM_FACT(s, SM_THREADS) / threads;
    double more = ceil((double)w->u.vector.cols / threads) - 1;

    return (double)w->u.vector.rows / blocks *
           (MSIM_FACT(s, PAIR_US) + more * MSIM_FACT(s, LOAD_US));
}

/* Keys that blocks sort in shared memory, some bits a pass. A row is filled up
 * to a power of two. */
static double sort_us(const struct msim_data_sheet *s,
                      const struct msim_work *w)
{
    double cols =
        fmax((double)w->u.vector.cols, MSIM_FACT(s, BLOCK_SORT_LEAST));
    double keys = (double)w->u.vector.rows * exp2(ceil(log2(cols)));
    double passes =
        8 * msim_dtype_bytes(w->dtype) / MSIM_FACT(s, BLOCK_SORT_BITS);

    return keys * passes * MSIM_FACT(s, BLOCK_SORT_WORDS) /
           (MSIM_FACT(s, BLOCK_SORT_WORDS_A_CYCLE) * s->sms) * 1e6 /
           msim_kernel_hz(s);
}

static bool is_variant(const struct msim_work *w, const char *name)
{
    return msim_same_text(msim_work_variant(w), name);
}

bool msim_is_counted(const struct msim_work *w)
{
    return w->u.vector.turns > 0 || is_variant(w, "distance") ||
           is_variant(w, "sort_in_block");
}

double msim_counted_us(const struct msim_data_sheet *s,
                       const struct msim_work *w)
{
    if (w->u.vector.turns > 0)
        return turns_us(s, w);
    return is_variant(w, "distance") ? pairs_us(s, w) : sort_us(s, w);
}
