/*
 * core/work/opmap/works.h - the works of all operators of one rank, made once:
 * the stage that launch plans, durations, explanations and conversion read.
 *
 * Works repeat, layer by layer and step by step, so that equal lists of works
 * are stored once: an operator costs four bytes, and a trace of a million
 * operators has a few hundred lists. Example: three operators aten::mm,
 * aten::view, aten::mm, where both products have equal arguments, refer to
 * lists 1, 0 and 1; list 0 is empty.
 *
 * Not thread-safe while works are made; afterwards they never change.
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
    struct msim_op_kernels kernels; /* that operators launched in the trace */
    uint32_t *list_of;              /* of each operator, into `lists` */
    struct msim_work_list *lists;
    struct msim_work *works;
    uint32_t n_lists, n_works, cap_lists, cap_works;
};

/*
 * Map every operator of `t`: by the kernels that it launched where the trace
 * has GPU events, else by what it would launch. `user` and `place` are those of
 * msim_opmap(); `t` and `user` must live as long as the works. On success the
 * caller owns `*out`; ENOMEM, which leaves it NULL, is the only failure.
 */
MSIM_MUST_CHECK
enum msim_status msim_works_new(struct msim_works **out,
                                const struct msim_trace *t,
                                const struct msim_ops *user,
                                enum msim_opmap_place place);
void msim_works_free(struct msim_works *w); /* accepts NULL */

/*
 * The works of `n` ranks on a platform that is a CPU (`on_cpu`) or a GPU. On
 * success the caller owns `*out`, an array of `n`; release it with
 * msim_works_free_ranks(). ENOMEM is the only failure.
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
