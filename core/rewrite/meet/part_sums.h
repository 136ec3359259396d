/*
 * core/rewrite/meet/part_sums.h - parts of sums that tensor parallel ranks add
 * before they are reduced.
 *
 *     gradient of q  = mm   a part of a sum      32 x 64
 *     gradient of k  = mm   another one          32 x 64
 *     add of both           a part of their sum  32 x 64
 *     reduce and scatter    once                  8 x 64
 *
 * Rows that were gathered once are so reduced and scattered once.
 */
#ifndef MSIM_CORE_REWRITE_MEET_PART_SUMS_H
#define MSIM_CORE_REWRITE_MEET_PART_SUMS_H
#include "core/rewrite/split/experts.h"

struct msim_part_sums {
    const struct msim_shares *s;
    const struct msim_weave *w;
    uint8_t *waits; /* by life: it is a part that waits for others */
};

/* Release in any case; `s` and `w` must live as long. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_part_sums_begin(struct msim_part_sums *p,
                                      const struct msim_shares *s,
                                      const struct msim_weave *w);
void msim_part_sums_release(struct msim_part_sums *p);

/* Does operator `op` make a part of a sum, of a product or of parts that it
 * adds? `*made` is that then. */
bool msim_part_sums_makes(const struct msim_part_sums *p, uint32_t op,
                          struct msim_lives_each *made);

/* `op` has made it, of parts that wait no more. Does it wait itself, since it
 * is added to others before anything else reads it? Only parts in rows do. */
bool msim_part_sums_made(struct msim_part_sums *p, uint32_t op, uint32_t life);

#endif
