/*
 * models/law/vector_law.h - the law of operators that move bytes and compute
 * little.
 */
#ifndef MSIM_MODELS_LAW_VECTOR_LAW_H
#define MSIM_MODELS_LAW_VECTOR_LAW_H
#include "models/law/law.h"
#include "models/law/reduce_grid.h"

/* Whether it reads its input twice: statistics over a batch's channels are
 * wanted before the first result is written. */
bool msim_vector_is_read_twice(const struct msim_work *w);

/* Bytes that it moves, at least 1. */
double msim_vector_bytes(const struct msim_work *w);

/* The grid of a reduction whose direction (u.vector.fold) is known. */
struct msim_reduce_grid msim_vector_grid(const struct msim_data_sheet *s,
                                         const struct msim_work *w);

#endif
