/*
 * tests/fuzz/share.h - how much a fuzz test tries.
 *
 * MSIM_FUZZ_SHARE (default: 1) is the part of all runs that is made: CI makes
 * a twentieth, scripts/test.sh --all makes all. Sanitizers make a run several
 * times as long; builds with them make a fifth of the runs, of other seeds.
 */
#ifndef MSIM_TESTS_FUZZ_SHARE_H
#define MSIM_TESTS_FUZZ_SHARE_H
#include <math.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#define FUZZ_SANITIZED  5
#define FUZZ_FIRST_SEED 1000001
#else
#define FUZZ_SANITIZED  1
#define FUZZ_FIRST_SEED 1
#endif

/* Of `all` runs; at least one. */
static inline unsigned fuzz_share(unsigned all)
{
    const char *text = getenv("MSIM_FUZZ_SHARE");
    double share = text ? strtod(text, NULL) : 0;

    if (!(share > 0 && share < 1))
        share = 1;
    return (unsigned)fmax(1, ceil(all * share / FUZZ_SANITIZED));
}

#endif
