/*
 * core/link/link_et.h - an execution trace and the Kineto trace of its rank:
 * what each of them tells the other.
 */
#ifndef MSIM_CORE_LINK_LINK_ET_H
#define MSIM_CORE_LINK_LINK_ET_H
#include "core/trace/trace.h"

/*
 * Give operators of `k` (Kineto) what the nodes of `e` (ET of the same rank)
 * know: inputs, outputs, tensor ids, collectives. Operators are matched by
 * record function id where the names agree, else by name and order per thread.
 * An ET of one iteration serves all iterations of `k`. `*linked` of `*total`
 * operators got their node. The log of `k` counts those that have other sizes
 * in both, found by id, with an example, of the job's `strings`.
 */
MSIM_MUST_CHECK
enum msim_status msim_link_et(struct msim_trace *k, const struct msim_trace *e,
                              struct msim_strtab *strings, uint64_t *linked,
                              uint64_t *total);

/*
 * Tell `k->et`, if there is one, what only `k` knows: steps, with the nodes
 * that ran in each, members of groups, the rank. Once `k` has the steps that
 * count.
 */
MSIM_MUST_CHECK
enum msim_status msim_link_back(struct msim_trace *k);

#endif
