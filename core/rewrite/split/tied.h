/*
 * core/rewrite/split/tied.h - parameters that two places share, such as a table
 * that embedding and head have in common.
 *
 * Autograd adds up what both make, and keeps the sum where the last of them is:
 *
 *     place 1    mm            a gradient of the table, from the head
 *     place 0    embedding_dense_backward, add, AccumulateGrad
 *
 * On stages each has a table of its own and adds up its own gradients; the two
 * stages reduce them before the step, so that both tables stay the same.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_TIED_H
#define MSIM_CORE_REWRITE_SPLIT_TIED_H
#include "core/rewrite/split/places.h"
#include "core/rewrite/split/rank_groups.h"

/* Crossings that are gradients of such parameters are no crossings, but tied.
 * ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_tied_find(struct msim_places *p);

/* The groups of both stages, and the storages of sums. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_tied_begin(struct msim_places *p,
                                 const struct msim_rank_layout *l);

/* Storages of micro batch `batch`, once those of all other lives are set. */
void msim_tied_put(const struct msim_places *p, uint32_t pass, uint32_t batch);

/* Is statement `s` one that adds up what two places make? It is left out. */
bool msim_tied_leaves_out(const struct msim_places *p, uint32_t s);

/* Behind statement `s` of micro batch `batch`: the sum. */
MSIM_MUST_CHECK
enum msim_status msim_tied_add(const struct msim_places *p, uint32_t s,
                               uint32_t batch);

/* Before the step: both stages reduce, and the optimizer has the sum. */
MSIM_MUST_CHECK
enum msim_status msim_tied_reduce(const struct msim_places *p,
                                  const struct msim_rank_layout *l,
                                  struct msim_draft_place at);

#endif
