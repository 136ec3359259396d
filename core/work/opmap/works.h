/*
 * core/work/opmap/works.h - the works of all operators of one rank, made once:
 * the stage that plans, durations, explanations and conversion read.
 *
 * Works repeat, layer by layer and step by step, so that equal lists of them
 * are stored once: an operator costs four bytes, and a trace of a million
 * operators has some hundred lists. Example: of aten::mm, aten::view, aten::mm
 * with equal arguments the first and the third have list 3, the second has the
 * empty list 0.
 *
 * Not thread-safe while it is made; never changed afterwards.
 */
#ifndef MSIM_CORE_WORK_OPMAP_WORKS_H
#define MSIM_CORE_WORK_OPMAP_WORKS_H
#include "core/work/op_kernels.h"
#include "core/work/opmap/opmap.h"

/* What msim_opmap() answers: `n` works from `first` on. */
struct msim_work_list {
    uint32_t first;
    uint8_t n, result; /* msim_opmap_result */
};

struct msim_works {
    const struct msim_trace *trace;
    const struct msim_ops *user;    /* may be NULL */
    struct msim_op_kernels kernels; /* that the trace saw operators launch */
    uint32_t *list_of;              /* of each operator, into `lists` */
    struct msim_work_list *lists;
    struct msim_work *works;
    uint32_t n_lists, n_works, cap_lists, cap_works;
};

/*
 * Map every operator of `t`: by the kernels that it was seen to launch where
 * the trace has GPU events, else by what it would launch; `user` and `place`
 * as for msim_opmap(). Both `t` and `user` must live as long as the works. On
 * success `*out` is owned by the caller; ENOMEM, which leaves it NULL, is the
 * only failure.
 */
MSIM_MUST_CHECK
enum msim_status msim_works_new(struct msim_works **out,
                                const struct msim_trace *t,
                                const struct msim_ops *user,
                                enum msim_opmap_place place);
void msim_works_free(struct msim_works *w); /* accepts NULL */

/*
 * The works of `n` ranks, all on a platform that is a CPU or not: an array of
 * `n`, owned by the caller; release with msim_works_free_ranks().
 */
MSIM_MUST_CHECK
enum msim_status msim_works_new_ranks(struct msim_works ***out,
                                      struct msim_trace *const *ranks,
                                      uint32_t n, const struct msim_ops *user,
                                      bool on_cpu);
void msim_works_free_ranks(struct msim_works **works, uint32_t n);

/* The works of operator `op`: `*works` points to `*n` of them. */
enum msim_opmap_result msim_works_of(const struct msim_works *w, uint32_t op,
                                     const struct msim_work **works,
                                     uint32_t *n);

#endif
