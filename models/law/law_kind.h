/*
 * models/law/law_kind.h - the kind of a work: its law, and which kernel PyTorch
 * or a library takes for its shape.
 *
 * Works of one kind are run by like kernels, so that what was measured of some
 * tells of the others: factors that are learned (models/factor/evidence.h) go
 * by kinds, and experiments are made for each
 * (profilers/torch/kernel_cases.py).
 */
#ifndef MSIM_MODELS_LAW_LAW_KIND_H
#define MSIM_MODELS_LAW_LAW_KIND_H
#include "models/law/law.h"

/*
 * Law, key and, on a GPU, the words for its kernel: "gemm half", "gemm half,
 * odd rows", "vector softmax, a warp a row"; "" where no law covers it.
 */
void msim_law_kind(const struct msim_work *w, bool host, char *text,
                   size_t size);

#endif
