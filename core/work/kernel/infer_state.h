/*
 * core/work/kernel/infer_state.h - what is known of the kernels of one rank,
 * and what the infer_*.c files ask of each other. core/work/kernel/infer.h is
 * the face of it.
 */
#ifndef MSIM_CORE_WORK_KERNEL_INFER_STATE_H
#define MSIM_CORE_WORK_KERNEL_INFER_STATE_H
#include "core/trace/trace.h"
#include "core/work/kernel/kernel_name.h"

/* A product (m x k)(k x n), `batch` times; m 0: none. */
struct msim_infer_product {
    double m, n, k, batch;
    double filter; /* convolutions: positions of the filter */
    bool related;  /* k from related products, else the usual */
};

/* What is known of the kernels of one rank. */
struct msim_infer {
    const struct msim_trace *t;
    struct msim_kernel_name *names;      /* of unlike kernels */
    uint32_t *name_of;                   /* of each GPU event, into `names` */
    uint32_t *order;                     /* GPU events as they were launched */
    uint32_t *place;                     /* of each GPU event in that order */
    double *elems;                       /* of each, after its own launch; 0 */
    struct msim_infer_product *products; /* of each */
    uint32_t n_names, cap_names;
    bool shapeless; /* no operator of the trace has a shape */
};

static inline const struct msim_kernel_name *
msim_infer_name(const struct msim_infer *l, uint32_t i)
{
    return &l->names[l->name_of[i]];
}

/* Blocks and threads of the launch; 0 where it is not recorded. */
double msim_infer_blocks(const struct msim_infer *l, uint32_t i);
double msim_infer_threads(const struct msim_infer *l, uint32_t i);

/* Sizes of all products of the rank. */
MSIM_MUST_CHECK
enum msim_status msim_infer_products(struct msim_infer *l);
/* Elements of the other kernels after their own launches. */
void msim_infer_elements(struct msim_infer *l);
/* Multiprocessors of the GPU that was traced; the usual where it is not said.
 */
uint32_t msim_infer_sms(const struct msim_infer *l);
/* Rows, columns and batch of kernel `i`, a product. */
void msim_infer_output(const struct msim_infer *l, uint32_t i,
                       struct msim_infer_product *p);
/* Elements of kernel `i`, after its launch or its neighbours; 0: no telling. */
double msim_infer_elems(const struct msim_infer *l, uint32_t i);
/* Those of the kernel before it, or else after it; 0 where neither says. */
double msim_infer_taken(const struct msim_infer *l, uint32_t i);
/* Does the size of kernel `i` follow from its own launch, or its layer's? */
bool msim_infer_own(const struct msim_infer *l, uint32_t i);

#endif
