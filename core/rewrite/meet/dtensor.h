/*
 * core/rewrite/meet/dtensor.h - which operators of a step PyTorch's DTensor
 * runs, and what it runs around them.
 *
 * parallelize_module makes DTensors of the parameters of modules that are
 * shared out. Each operator that is given one is dispatched in Python
 * (PythonSubclass), and what goes in and out of such a module is made one and
 * unmade:
 *
 *     aten::linear                 aten::linear
 *         aten::t                      _FromTorchTensor
 *         aten::addmm                  aten::t
 *                                          PythonSubclass
 *                                              aten::t
 *                                      aten::addmm
 *                                          PythonSubclass
 *                                              aten::addmm
 *                                      Redistribute
 *                                      _ToTorchTensor
 *
 * Backward of such a module is dispatched likewise, and so are steps of the
 * optimizer on its parameters. All are named as PyTorch records them; a host
 * file has what they take.
 */
#ifndef MSIM_CORE_REWRITE_MEET_DTENSOR_H
#define MSIM_CORE_REWRITE_MEET_DTENSOR_H
#include "core/rewrite/split/experts.h"

struct msim_dtensor {
    const struct msim_shares *s;
    struct msim_weave *w;
    uint8_t *shared;   /* by life: it is a DTensor between operators */
    uint8_t *calls;    /* by statement: a call of such a module, its backward */
    uint32_t *forward; /* by statement: the forward one of a backward one */
    uint32_t *first, *last; /* by forward statement: its backward; NONE */
};

/* Release in any case; `s`, whose rows are known, and `w` must live as long.
 * ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_dtensor_find(struct msim_dtensor *x,
                                   const struct msim_shares *s,
                                   struct msim_weave *w);
void msim_dtensor_release(struct msim_dtensor *x);

/* As msim_weave_copy_as(), with all that is dispatched. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_dtensor_copy(const struct msim_dtensor *x,
                                   uint32_t statement,
                                   const struct msim_draft_how *how);

#endif
