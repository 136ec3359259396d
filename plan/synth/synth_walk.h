/*
 * plan/synth/synth_walk.h - what the files that write a layer share. Private to
 * plan/synth.
 *
 * `op` is the operator of the part, `at` the index of the one of forward that
 * it is or goes back through.
 */
#ifndef MSIM_PLAN_SYNTH_SYNTH_WALK_H
#define MSIM_PLAN_SYNTH_SYNTH_WALK_H
#include "plan/synth/synth_state.h"

/* One layer on its way. */
struct msim_synth_walk {
    struct msim_synth *y;
    struct msim_synth_layer *l;
    enum msim_synth_half half;
    struct msim_synth_kept *kept;  /* of the micro batch */
    struct msim_etw_tensor cur;    /* what the last operator made */
    struct msim_etw_tensor stream; /* what residuals add to */
    struct msim_etw_tensor normed; /* the last norm's output */
    struct msim_etw_tensor last;   /* of a head: what the layers made; backward
                                      its gradient by classes, id 0: none */
};

/* `of` in the type of `out`, which has as many elements. */
void msim_synth_write_to_copy(struct msim_etw *e,
                              const struct msim_etw_tensor *of,
                              const struct msim_etw_tensor *out);

/* plan/synth/synth_tensor.c */
struct msim_etw_tensor msim_synth_new2(const struct msim_synth_walk *w,
                                       int64_t rows, int64_t cols);
struct msim_etw_tensor msim_synth_empty(const struct msim_synth_walk *w,
                                        enum msim_dtype dtype, int64_t rows,
                                        int64_t cols);
struct msim_etw_tensor msim_synth_view2(const struct msim_synth_walk *w,
                                        const struct msim_etw_tensor *of,
                                        int64_t rows, int64_t cols);
struct msim_etw_tensor msim_synth_flat(const struct msim_synth_walk *w,
                                       const struct msim_etw_tensor *of);
bool msim_synth_has_elems(const struct msim_etw_tensor *t, int64_t rows,
                          int64_t cols);
struct msim_etw_tensor msim_synth_given(const struct msim_synth_walk *w,
                                        int64_t rows, int64_t cols);
struct msim_etw_tensor msim_synth_transposed(const struct msim_synth_walk *w,
                                             const struct msim_etw_tensor *of);
struct msim_etw_tensor msim_synth_add(const struct msim_synth_walk *w,
                                      const struct msim_etw_tensor *a,
                                      const struct msim_etw_tensor *b);
struct msim_etw_tensor msim_synth_to_type(const struct msim_synth_walk *w,
                                          const struct msim_etw_tensor *of,
                                          enum msim_dtype dtype);
struct msim_etw_tensor msim_synth_mm(const struct msim_synth_walk *w,
                                     const struct msim_etw_tensor *a,
                                     const struct msim_etw_tensor *b);
/* Which of two tensors of matrices is read in the other order. */
enum msim_synth_turned {
    MSIM_SYNTH_NONE_TURNED,
    MSIM_SYNTH_FIRST_TURNED,
    MSIM_SYNTH_SECOND_TURNED
};
struct msim_etw_tensor msim_synth_bmm(const struct msim_synth_walk *w,
                                      enum msim_synth_turned turned,
                                      int64_t batch, int64_t m, int64_t k,
                                      int64_t n,
                                      const struct msim_etw_tensor *a_of,
                                      const struct msim_etw_tensor *b_of);

struct msim_etw_tensor msim_synth_addmm(const struct msim_synth_walk *w,
                                        const struct msim_etw_tensor *bias,
                                        const struct msim_etw_tensor *a,
                                        const struct msim_etw_tensor *b);
struct msim_etw_tensor msim_synth_sum(const struct msim_synth_walk *w,
                                      const struct msim_etw_tensor *of,
                                      int64_t dim);
struct msim_etw_tensor msim_synth_cat(const struct msim_synth_walk *w,
                                      const struct msim_etw_tensor *parts,
                                      uint32_t n, int64_t dim);

/* plan/synth/synth_comm.c */
bool msim_synth_gather(struct msim_synth_walk *w, enum msim_pass pass,
                       struct msim_etw_tensor *t);
void msim_synth_reduce(struct msim_synth_walk *w, enum msim_pass pass,
                       struct msim_etw_tensor *t);
void msim_synth_sum_rows(struct msim_synth_walk *w, struct msim_etw_tensor *t);
void msim_synth_all_rows(struct msim_synth_walk *w, struct msim_etw_tensor *t);
void msim_synth_sum_numbers(struct msim_synth_walk *w, int64_t rows, int times);
void msim_synth_context(struct msim_synth_walk *w, enum msim_pass pass);
void msim_synth_expert_rows(struct msim_synth_walk *w, enum msim_pass pass,
                            bool exchanged, int64_t rows);
void msim_synth_expert_sum(struct msim_synth_walk *w, enum msim_pass pass,
                           bool exchanged, int64_t rows);
void msim_synth_dispatch(struct msim_synth_walk *w, enum msim_pass pass);
bool msim_synth_takes_whole(const struct msim_part_op *op);
bool msim_synth_makes_sum(const struct msim_part_op *op);

/* plan/synth/synth_linear.c */
void msim_synth_linear_forward(struct msim_synth_walk *w,
                               const struct msim_part_op *op, uint32_t at);
void msim_synth_accumulate(struct msim_synth_walk *w,
                           const struct msim_etw_tensor *gradient,
                           struct msim_synth_parameter *into);
void msim_synth_linear_backward(struct msim_synth_walk *w,
                                const struct msim_part_op *op, uint32_t at);
void msim_synth_permute(struct msim_synth_walk *w,
                        const struct msim_part_op *op);
void msim_synth_experts_forward(struct msim_synth_walk *w,
                                const struct msim_part_op *op, uint32_t at);
void msim_synth_experts_backward(struct msim_synth_walk *w,
                                 const struct msim_part_op *op, uint32_t at);

/* plan/synth/synth_attention.c */
void msim_synth_norm(struct msim_synth_walk *w, const struct msim_part_op *op,
                     uint32_t at);
void msim_synth_attention(struct msim_synth_walk *w,
                          const struct msim_part_op *op, uint32_t at);
void msim_synth_scores(struct msim_synth_walk *w,
                       const struct msim_part_op *op);

/* plan/synth/synth_pointwise.c */
void msim_synth_pointwise(struct msim_synth_walk *w,
                          const struct msim_part_op *op, uint32_t at);

/* plan/synth/synth_input.c */
void msim_synth_table(struct msim_synth *y, const struct msim_part_op *op,
                      struct msim_etw_tensor own[MSIM_SYNTH_OWN]);
void msim_synth_input(struct msim_synth_walk *w, const struct msim_part_op *op,
                      uint32_t at);

/* plan/synth/synth_loss.c */
void msim_synth_loss(struct msim_synth_walk *w, const struct msim_part_op *op,
                     uint32_t at);
void msim_synth_first_tokens(struct msim_synth_walk *w,
                             const struct msim_part_op *op);

#endif
