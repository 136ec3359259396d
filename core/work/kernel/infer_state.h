/*
 * core/work/kernel/infer_state.h - what is known of the kernels of one rank.
 * Private to infer_*.c, which share it; core/work/kernel/infer.h is its public
 * face.
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
    struct msim_kernel_name *names; /* that differ */
    uint32_t *name_of;              /* of each GPU event, into `names` */
    uint32_t *order;                /* GPU events as they were launched */
    uint32_t *place;                /* of each GPU event in that order */
    double *elems; /* of each, by its own launch or its forward pass; 0 */
    struct msim_infer_product *products; /* of each */
    double width; /* of rows, where a norm's name states it; else the usual */
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

/* The autograd node of GPU event `gpu` and whether its pass is the backward
 * one: that of the next operator around it that has a sequence number. False
 * where there is none. */
bool msim_infer_node(const struct msim_trace *t, uint32_t gpu, int64_t *node,
                     bool *backward);

/* Fill in `products`: the sizes of all products of the rank. */
MSIM_MUST_CHECK
enum msim_status msim_infer_products(struct msim_infer *l);
/* Fill in `elems`: the elements of the other kernels by their own launches, of
 * norms and softmax by the other pass of their layer. */
MSIM_MUST_CHECK
enum msim_status msim_infer_elements(struct msim_infer *l);
/* Multiprocessors of the GPU that was traced; the usual number where the trace
 * does not record it. */
uint32_t msim_infer_sms(const struct msim_infer *l);
/* Rows, columns and batch of kernel `i`, a product. */
void msim_infer_output(const struct msim_infer *l, uint32_t i,
                       struct msim_infer_product *p);
/* Elements of kernel `i` by its launch or its neighbours; 0: not known. */
double msim_infer_elems(const struct msim_infer *l, uint32_t i);
/* Elements of the kernel before it, else of the one after it; 0: not known. */
double msim_infer_taken(const struct msim_infer *l, uint32_t i);
/* Does the size of kernel `i` follow from its own launch or its layer, rather
 * than from its neighbours? */
bool msim_infer_own(const struct msim_infer *l, uint32_t i);

#endif
