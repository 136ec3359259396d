/*
 * serving/watch/watch_history.h - what counters were in the last two minutes,
 * and what is usual.
 *
 * Times that are multiplied by what goes wrong are kept as logarithms, so that
 * a ramp is a line and a slow visit among few does not outweigh the rest. What
 * is usual is a median and a spread of all seconds kept but the last ten, in
 * which something may have begun: until 30 seconds are there, of all. The
 * spread is the standard deviation of normal noise with that median deviation,
 * or with that 95 % quantile where it is larger: waits of few visits have wild
 * outliers upwards, and nothing comes of them.
 */
#ifndef MSIM_SERVING_WATCH_WATCH_HISTORY_H
#define MSIM_SERVING_WATCH_WATCH_HISTORY_H
#include "serving/counters/counters_second.h"

enum msim_track {
    MSIM_TRACK_SELF,     /* log ms */
    MSIM_TRACK_NET,      /* ms */
    MSIM_TRACK_WAIT,     /* ms */
    MSIM_TRACK_WAIT_LOG, /* of the wait and a hundredth of the service */
    MSIM_TRACK_BUSY,     /* share of workers */
    MSIM_TRACK_RATE,     /* log of visits a second */
    MSIM_TRACK_QUEUE,
    MSIM_TRACK_PSI_CPU,
    MSIM_TRACK_PSI_MEM,
    MSIM_TRACK_PSI_IO,
    MSIM_TRACK_MEAN, /* log ms */
    MSIM_TRACK_P99,  /* log ms */
    MSIM_TRACK_MOST, /* log ms: the longest p99 of a window */
    MSIM_TRACK_REPLICAS,
    MSIM_TRACKS
};

#define MSIM_HISTORY_KEPT 128 /* seconds */

struct msim_usual {
    double median, spread; /* NAN: the counter is not known */
};

struct msim_history {
    uint32_t n_stages; /* e2e is stage n_stages */
    uint32_t seconds;  /* so far */
    double *v;         /* [stage][track][second % KEPT], NAN: not known */
    struct msim_usual *usual; /* [stage][track] */
};

/* ENOMEM. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_history_init(struct msim_history *h, uint32_t n_stages);
void msim_history_release(struct msim_history *h);

void msim_history_add(struct msim_history *h,
                      const struct msim_second_stage *stages);

static inline const struct msim_usual *
msim_history_usual(const struct msim_history *h, uint32_t stage,
                   enum msim_track track)
{
    return &h->usual[stage * MSIM_TRACKS + track];
}

/* The value `ago` seconds before the last one; NAN where there is none. */
double msim_history_at(const struct msim_history *h, uint32_t stage,
                       enum msim_track track, uint32_t ago);
/* The mean, and the largest, of the last `n` seconds; NAN where none is. */
double msim_history_mean(const struct msim_history *h, uint32_t stage,
                         enum msim_track track, uint32_t n);
double msim_history_most(const struct msim_history *h, uint32_t stage,
                         enum msim_track track, uint32_t n);
/* How much it grows a second: the line of least squares through the last `n`;
 * 0 where fewer than 3 are known. */
double msim_history_slope(const struct msim_history *h, uint32_t stage,
                          enum msim_track track, uint32_t n);

/*
 * How far a track is from what is usual, and how far it will be: of the last
 * second and the line through 4, and of the last 3 and the line through 6, the
 * one that says more. Both are shrunk towards 0 as noise would be.
 */
struct msim_deviation {
    double excess; /* now */
    double ahead;  /* as far ahead as was asked */
    double z;      /* of the last 3 s, in standard errors */
};
struct msim_deviation msim_history_deviation(const struct msim_history *h,
                                             uint32_t stage,
                                             enum msim_track track,
                                             double horizon);

#endif
