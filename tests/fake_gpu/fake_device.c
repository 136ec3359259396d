/*
 * tests/fake_gpu/fake_device.c - the made-up GPU: how long its work takes, what
 * its cache holds, and how hard it works.
 *
 * Work takes what its operations or its bytes take, whichever is more, the
 * floor of a kernel, and by its number up to 0.4 % more. The cache keeps what
 * fits of the last operand, and of what was written a part that goes to memory
 * when its place is wanted: so a run behind the reading of a large buffer is
 * cold, and one alone moves fewer bytes than it writes.
 */
#include "tests/fake_gpu/fake.h"

#include <math.h>
#include <stddef.h>

#define FLOOR_US    1.6
#define START_NS    3100 /* from a call to its start, the device idle */
#define GAP_NS      900  /* between two pieces of work on a stream */
#define JITTER      0.004
#define CACHE_SPEED 3.0 /* over memory's */
#define KEPT        0.7 /* share of the cache that operands find */
#define UNWRITTEN   0.6 /* share that holds what is not written back yet */
#define LOAD_NS     3e7 /* over which the load is seen */
#define IDLE        0.002
#define HOT         0.6
#define POWER_IDLE  90.0
#define POWER_MOST  700.0

struct device {
    const void *operand; /* whose data the cache has */
    double unwritten;    /* bytes */
    double load;
    uint64_t load_at;
    uint64_t number; /* of pieces of work */
    struct fake_figures sums;
};

static struct device devices[FAKE_GPUS];

/* ---- load, clock and power ----------------------------------------------- */

unsigned fake_mhz(double load)
{
    if (load < IDLE)
        return FAKE_MHZ_IDLE;
    if (load < HOT)
        return FAKE_MHZ;
    return (unsigned)(FAKE_MHZ -
                      (FAKE_MHZ - FAKE_MHZ_HOT) * (load - HOT) / (1 - HOT));
}

/* The load decays to that of what runs (0: nothing). */
static void load_until(struct device *d, uint64_t at, double load)
{
    double ns = at > d->load_at ? (double)(at - d->load_at) : 0;

    if (ns <= 0)
        return;
    d->load = load + (d->load - load) * exp(-ns / LOAD_NS);
    d->sums.joules +=
        1e-9 * ns * (POWER_IDLE + (POWER_MOST - POWER_IDLE) * d->load);
    d->load_at = at;
}

struct fake_figures fake_figures(int device)
{
    struct device *d = &devices[device];

    load_until(d, fake_now(), 0);
    d->sums.load = d->load;
    return d->sums;
}

/* ---- one piece of work --------------------------------------------------- */

/* Seconds for its bytes; what the cache holds changes. */
static double move(struct device *d, const struct fake_work *w)
{
    double all = w->read + w->written, room = UNWRITTEN * (double)FAKE_L2;
    bool kept =
        w->operand && w->operand == d->operand && all < KEPT * (double)FAKE_L2;
    double found = kept ? w->read : 0, read = w->read - found;
    double stays = fmin(w->written, room);
    double evicted = fmin(d->unwritten, kept ? stays : all);
    double written = w->written - stays + evicted;

    if (all <= 0)
        return 0;
    d->operand = w->operand;
    d->unwritten += stays - evicted;
    d->sums.read += read;
    d->sums.written += written;
    return (read + written) / FAKE_BANDWIDTH +
           (found + stays) / (CACHE_SPEED * FAKE_BANDWIDTH);
}

/* 0 to 1, the same in every run. */
static double mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static double duration_us(struct device *d, const struct fake_work *w)
{
    double slow = (double)FAKE_MHZ / fake_mhz(d->load);
    double compute = w->flops > 0 ? slow * w->flops / w->rate : 0;
    double link = w->beside > 0 ? w->beside / w->link_rate : 0;
    double us = 1e6 * fmax(fmax(compute, move(d, w)), link);

    us = fmax(us + FLOOR_US, w->least_us);
    return us * (1 + JITTER * mixed(++d->number + 0x9e3779b97f4a7c15));
}

uint64_t fake_submit_at(cudaStream_t stream, const struct fake_work *w,
                        uint64_t at)
{
    struct CUstream_st *s = fake_stream(stream);
    struct device *d = &devices[s->device];
    struct fake_activity a = {.work = *w,
                              .stream = s->id,
                              .device = (uint32_t)s->device,
                              .correlation = fake_correlation()};

    a.start = fake_now() + START_NS;
    if (a.start < s->free_at + GAP_NS)
        a.start = s->free_at + GAP_NS;
    if (a.start < at)
        a.start = at;
    load_until(d, a.start, 0);
    a.end = a.start + (uint64_t)(1e3 * duration_us(d, w));
    load_until(d, a.end, w->load);
    d->sums.busy_ns += (double)(a.end - a.start);
    d->sums.flops[w->flop_kind] += w->flops;
    s->free_at = a.end;
    fake_cupti_note(&a);
    return a.end;
}

void fake_submit(cudaStream_t stream, const struct fake_work *w)
{
    (void)fake_submit_at(stream, w, 0);
}
