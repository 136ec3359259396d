/*
 * core/work/estimate.h - how long a work is predicted to take: a time, its
 * interval, and what the time stands on.
 */
#ifndef MSIM_CORE_WORK_ESTIMATE_H
#define MSIM_CORE_WORK_ESTIMATE_H
#include "core/guard/guard.h"
#include "core/work/work.h"

enum msim_source {
    MSIM_SOURCE_MEASURED,
    MSIM_SOURCE_TABLE,
    MSIM_SOURCE_LAW,
    MSIM_SOURCE_NOT_RUN,  /* a law, and curves of other numbers of ranks than a
                             collective has, or links of which nothing is
                             known: nobody ran it on this GPU */
    MSIM_SOURCE_SCALED,   /* measured on another GPU, times a ratio of laws */
    MSIM_SOURCE_INFERRED, /* from here on no law of its own kernel and no table
                             stands behind it: this is a law of sizes that are
                             guessed from a kernel's name, launch and
                             neighbours (core/work/kernel/infer.h) */
    MSIM_SOURCE_NEAREST,  /* the law of the nearest kind of kernel, by bytes */
    MSIM_SOURCE_BOUND,
    MSIM_SOURCE_CLASS, /* measured on another GPU, times a ratio of rates */
    MSIM_SOURCE_COUNT
};
/* The word in reports. */
const char *msim_source_text(enum msim_source s);

/* X(name, why an estimate was bounded: models/estimate/plausible.c) */
#define MSIM_BOUNDED_MAP(X)                                                    \
    X(NOT, "")                                                                 \
    X(MEMORY, "its sizes are more than the device's memory")                   \
    X(BELOW, "it was below half of what its bytes and FLOPs take at peak")     \
    X(ABOVE, "it was above 20 times what its blocks, bytes and FLOPs explain")

enum msim_bounded {
#define X(name, text) MSIM_BOUNDED_##name,
    MSIM_BOUNDED_MAP(X)
#undef X
        MSIM_BOUNDED_COUNT
};
const char *msim_bounded_text(enum msim_bounded b);

/* low_us..high_us is a 90 % interval; low_us <= us <= high_us. */
struct msim_estimate {
    double us, low_us, high_us;
    double start_us; /* of `us`, what launch and latency take, whatever the
                        size; 0: not known */
    enum msim_source source;
    enum msim_family family;   /* whose law it was */
    enum msim_bounded bounded; /* a bound, since the law's answer cannot be */
    msim_guard_marks marks;    /* guards that it trips */
};

#endif
