/*
 * core/work/opmap/opmap.h - operators to works: the mapping, and the works of a
 * whole trace.
 */
#ifndef MSIM_CORE_WORK_OPMAP_OPMAP_H
#define MSIM_CORE_WORK_OPMAP_OPMAP_H
#include "core/work/rules/opmap_rule.h"
#include "core/work/work.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- known name ---------------------------------------------------------- */
/*
 * Is the name of a vector operator one that is known? The law of pointwise
 * operators would take any.
 */

/*
 * Names of traces are known ("aten::gelu", "gelu_backward", "add_"), and those
 * of tables of measured times (core/work/work.h: "addu", "ln", "emb").
 */
bool msim_vector_name_known(const char *op);

/* Whether it is known, and its kernels are not: MSIM_OPMAP_NEAREST. */
bool msim_vector_name_nearest(const char *op);

/* Why an unknown one cannot be predicted, with the one that is near. */
void msim_vector_name_unknown(const char *op, char *text, size_t size);

/* ---- opmap --------------------------------------------------------------- */
/*
 * From an operator of a trace to the works that it asks of a device.
 *
 * An operator is known to launch kernels of its own (aten::mm), known to launch
 * none (aten::view; aten::linear, which calls aten::addmm), or unknown. Works
 * describe an operator's own kernels, never its children's, so that the works
 * of a whole tree sum to its kernels.
 *
 * To map all operators of a trace use "works".
 */

struct msim_ops; /* core/work/opmap/ops_file.h */

enum msim_opmap_result {
    MSIM_OPMAP_NO_KERNEL, /* launches no kernel of its own */
    MSIM_OPMAP_WORKS,     /* `n` works */
    MSIM_OPMAP_UNKNOWN,   /* not known; works[0] is a BOUND from its tensors,
                             n = 0 where not even those are known */
    MSIM_OPMAP_COMPILED_REGION, /* generated code runs in it, whose kernels are
                                   no operators: each tells its own work
                                   (core/work/kernel/infer.h); n = 0 */
};

/* Where the tensors of trace `t` are on a platform that is a CPU (`on_cpu`) or
 * a GPU. */
enum msim_opmap_place msim_opmap_place_of(const struct msim_trace *t,
                                          bool on_cpu);

/*
 * The works of op `i`. `user` is the user's table, which comes before the
 * built-in one, or NULL. `launched` is the number of kernels that the operator
 * itself launched in the trace, or -1 where the trace has no GPU events: then
 * an unknown operator that touches GPU tensors and whose children launch
 * nothing counts as one kernel. `place` says where tensors are. Works are
 * zeroed before they are filled in, so that equal ones have equal bytes.
 */
enum msim_opmap_result msim_opmap(const struct msim_trace *t,
                                  const struct msim_ops *user, uint32_t i,
                                  int launched, enum msim_opmap_place place,
                                  struct msim_work works[MSIM_OPMAP_MAX],
                                  uint32_t *n);

/* The row for op `op`, that of the user's table first; NULL where neither has
 * one. */
const struct msim_opmap_row *msim_opmap_row_of(const struct msim_trace *t,
                                               const struct msim_ops *user,
                                               uint32_t op);

/* Whether `op` of a capture of a CPU is below an operator that the built-in
 * table has kernels of, so that a GPU does not call it. */
bool msim_opmap_is_in_kernel(const struct msim_trace *t, uint32_t op);

/* What copy or memset `e` of `t` moves: as recorded, else as the tensors of its
 * operator say; 0 where nothing tells. */
uint64_t msim_copied_bytes(const struct msim_trace *t,
                           const struct msim_gpu *e);

/* The work of a copy or memset that moves so much. */
struct msim_work msim_copy_work(const struct msim_gpu *e, uint64_t bytes);

/* ---- works --------------------------------------------------------------- */
/*
 * The works of all operators of one rank, made once: the stage that launch
 * plans, durations, explanations and conversion read.
 *
 * Works repeat, layer by layer and step by step, so that equal lists of works
 * are stored once: an operator costs four bytes, and a trace of a million
 * operators has a few hundred lists. Example: three operators aten::mm,
 * aten::view, aten::mm, where both products have equal arguments, refer to
 * lists 1, 0 and 1; list 0 is empty.
 *
 * Not thread-safe while works are made; afterwards they never change.
 */

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

/* ---- opmap family -------------------------------------------------------- */
/*
 * The family of each GPU activity of a trace.
 *
 * A measured duration needs no model, but a breakdown by family does need the
 * family: that of the works of the operator that launched the activity, or,
 * where its shapes are not recorded, that of the operator's name. BOUND means
 * not known.
 */

/* That of an operator's own kernels. */
enum msim_family msim_op_family(const struct msim_works *w, uint32_t op);

/* `family` has room for one msim_family a GPU activity of the trace of `w`. */
void msim_gpu_families(const struct msim_works *w, uint8_t *family);

#endif
