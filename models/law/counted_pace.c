/*
 * models/law/counted_pace.c - what kernels take that load value by value, take
 * a block a pair of rows, or sort in shared memory, counted from their source
 * in PyTorch's aten/src/ATen/native/cuda. Nobody measured them.
 */
#include "models/law/counted_pace.h"

#include <math.h>
#include <string.h>

#define TYPICAL_HZ 1.5e9
#define SM_THREADS 2048.0

/* A load of device memory takes so long where warps load, too
 * (models/law/vector_law.c); what a thread loads one after the other adds up,
 * and threads beyond those that run at once come after them. Not fitted. */
#define TURN_US 0.5

static double turns_us(const struct msim_data_sheet *s,
                       const struct msim_work *w)
{
    double waves = w->u.vector.threads / (s->sms * SM_THREADS);

    return w->u.vector.turns * TURN_US * fmax(waves, 1);
}

/*
 * Distances: a block of 256 threads loads its share of a pair of rows, and adds
 * up in shared memory, waiting for all after each of eight halvings: about 30
 * cycles each, and two loads in turn. So many blocks an SM run at once.
 */
#define PAIR_THREADS 256.0
#define PAIR_US      1.2

static double pairs_us(const struct msim_data_sheet *s,
                       const struct msim_work *w)
{
    double blocks = s->sms * SM_THREADS / PAIR_THREADS;
    double more = ceil((double)w->u.vector.cols / PAIR_THREADS) - 1;

    return (double)w->u.vector.rows / blocks * (PAIR_US + more * TURN_US);
}

/*
 * Keys that blocks sort in shared memory, a cycle and SM: each four bits of a
 * key move it and its place, of eight bytes, through shared memory twice, about
 * ten words of the 32 that it gives a cycle, half of them in conflict. Counted,
 * not measured. A row is filled up to a power of two.
 */
#define SORT_BITS  4.0
#define SORT_WORDS 20.0
#define SORT_LEAST 32.0

static double sort_us(const struct msim_data_sheet *s,
                      const struct msim_work *w)
{
    double cols = fmax((double)w->u.vector.cols, SORT_LEAST);
    double keys = (double)w->u.vector.rows * exp2(ceil(log2(cols)));
    double passes = 8 * msim_dtype_bytes(w->dtype) / SORT_BITS;

    return keys * passes * SORT_WORDS / (32 * s->sms) * 1e6 /
           (s->clock_hz > 0 ? s->clock_hz : TYPICAL_HZ);
}

static bool is_variant(const struct msim_work *w, const char *name)
{
    return strcmp(msim_work_variant(w), name) == 0;
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
