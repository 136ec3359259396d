/*
 * core/turns/turns.h - the numbers 0 .. n - 1, taken by threads in turn.
 *
 *     static enum msim_status work(struct msim_turns *t, void *ctx,
 *                                  struct msim_error *err)
 *     {
 *         uint32_t i;
 *
 *         while (msim_turns_next(t, &i))
 *             MSIM_TRY(answer(ctx, i, err));
 *         return MSIM_OK;
 *     }
 *
 *     status = msim_turns_run(n, threads, work, &ctx, err);
 *
 * Numbers are taken in order. A worker that fails ends the others at their next
 * turn, and the failure at the smallest number is the one that is told: all
 * smaller ones were taken before, and are answered. So neither results nor
 * errors hang on how many threads there are, where an answer hangs on its
 * number alone.
 */
#ifndef MSIM_CORE_TURNS_TURNS_H
#define MSIM_CORE_TURNS_TURNS_H
#include "core/base/status.h"

#include <stdbool.h>

struct msim_turns; /* of one worker; opaque */

typedef enum msim_status msim_turns_work(struct msim_turns *t, void *ctx,
                                         struct msim_error *err);

/* The next number, in `*i`; false: none is left, or another worker failed. */
bool msim_turns_next(struct msim_turns *t, uint32_t *i);

/*
 * Let up to `threads` workers (the caller is one; at most 64, and no more than
 * n) take numbers. A thread that cannot be had leaves its share to the others.
 */
MSIM_MUST_CHECK
enum msim_status msim_turns_run(uint32_t n, uint32_t threads,
                                msim_turns_work *work, void *ctx,
                                struct msim_error *err);

#endif
